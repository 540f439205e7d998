"""The catalogue of Kafka's log lines applied to log files: which lines match a pattern, and which events they give.

Here: the search for literals (literals), which pattern matches a line (matching), the walk over a file (log_file, reading, unwrapped), the
vectorised reading of most lines (quickly, heads), the batches made of them (columns, computed), and the count of unrecognised lines
(survey). Not here: the patterns themselves (parsers.patterns), record layouts (parsers.layouts), wrappers around records (parsers.wrappers)
or which file is a log (parsers.sniff).
"""
