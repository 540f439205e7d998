"""Layouts that no list contains, learned from the lines of a file as a log4j conversion pattern.

The first lines (sample) are divided into a message and the text around it (pieces). Lines with the same text around their messages give a
pattern (rendering), dates show which field is the day (dates), and the pattern that explains most lines is the layout (worth, layout).
"""
