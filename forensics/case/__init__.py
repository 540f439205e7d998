"""A case: the results of an analysis, stored as Parquet tables from which every command answers without Spark.

Here: the tables and their schemas (tables), the rows of a partition (judge), writing (write) and reading (read), and copies under other
names (redacted). Not here: the analysis, or its presentation.
"""
