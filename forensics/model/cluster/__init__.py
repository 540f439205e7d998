"""The cluster as a whole: the writer of each source, clocks, settings with version defaults, availability of brokers."""
