"""The engine: a Spark session, a data source over evidence, timelines of partitions.

Here: how evidence is split, ordered and joined. Not here: the formats of files and log lines (parsers), and what counts as a loss
(forensics): functions that judge are passed in as arguments.
"""

PART_OF = "kafka-forensics"
"""forensics.start looks for this line: other programs have packages of this name, too."""
