"""The cluster as a whole: who wrote what, clocks, settings with version defaults, presence of brokers."""
