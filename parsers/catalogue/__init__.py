"""Applies the catalogue of log lines to log files: the events in them, and the lines that no pattern recognises.

Here: the walk over a file (log_file), the reading of its lines one by one (reading) or many at once (columnar), in wrappers (unwrapped) and
in pieces (piece), the layouts they are in (layouts_in_use), and the count of unrecognised lines (survey). Not here: the patterns
(parsers.patterns), how they are searched for (parsers.matching), record layouts (parsers.layouts, parsers.learning), wrappers around
records (parsers.wrappers) or which file is a log (parsers.sniff).
"""
