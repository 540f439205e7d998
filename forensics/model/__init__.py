"""The domain model: events, brokers, clocks, settings, and the timeline of a partition. It reads no files and imports no Spark."""
