"""Kafka's evidence, bytes in and Arrow out.

Containers, sniffing, line layouts, the catalogue of line patterns, checkpoint files, record batches and KRaft metadata.
Works on an open binary stream in bounded memory. Knows nothing of Spark, of the command line, or of what an incident is.
"""
