"""A case: what was found in evidence, kept as Parquet tables from which every command answers without Spark.

Here: the tables and their schemas (tables), what a partition adds to them (judge), the way to disk (write) and back (read), and the page
that documents them (reference). Not here: what is found, or how it is told.
"""
