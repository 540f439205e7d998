"""What happened to a partition's records: a table of hand-overs, and the verdict computed from that table alone."""
