"""Kafka's binary encodings: wire types, record batches, records, and the records of internal topics."""
