"""Kafka's evidence, bytes in and Arrow out.

Containers, sniffing, line layouts, the catalogue of line patterns, checkpoint files, record batches and KRaft metadata.
Works on an open binary stream in bounded memory. Knows nothing of Spark, of the command line, or of what an incident is.
"""

PART_OF = "kafka-forensics"
"""forensics.start looks for this line: other programs have packages of this name, too."""
