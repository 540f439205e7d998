"""The engine: a Spark session, a data source over evidence, timelines of partitions.

Here: how evidence is split, ordered and joined. Not here: the formats of files and log lines (parsers), and what counts as a loss
(forensics): functions that judge are passed in as arguments.
"""
