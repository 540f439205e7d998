"""Conversion patterns learned from the lines of a file."""
