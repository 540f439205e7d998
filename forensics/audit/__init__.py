"""Many clusters in one run: the archive of files already read, and the tables of every cluster."""
