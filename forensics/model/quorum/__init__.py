"""The metadata quorum, ZooKeeper, and the migration from one to the other."""
