"""The engine: the session, the data source over evidence, the jobs. All that imports pyspark."""
