"""The engine: a Spark session, a data source over evidence, timelines of partitions.

Knows how evidence is split, ordered and joined. Knows no line format of Kafka's (parsers) and nothing of what counts as a
loss (forensics): verdict functions come in as arguments.
"""
