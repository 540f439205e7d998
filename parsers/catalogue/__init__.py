"""The catalogue of Kafka's lines put to log files: which of a file's lines the patterns know, and what events they are.

Here: the search for literals (literals), which pattern claims a line (matching), the walk over a file (log_file, reading,
unwrapped), how most of its lines are read many at a time (quickly, heads), the batches made of them (columns, computed), and the account
of what was not recognised (survey). Not here: the lines themselves (parsers.patterns), how a record is laid out (parsers.layouts), what
is around it (parsers.wrappers) or which file is a log (parsers.sniff).
"""
