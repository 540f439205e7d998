"""What a missing line proves: whether a node's logs would show a statement at a time."""
