"""The search of lines for literals of patterns, and the match of a pattern with a message."""
