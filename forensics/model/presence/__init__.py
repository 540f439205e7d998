"""For each node: when its processes began, how they ended, how that is known, and whether it was in service."""
