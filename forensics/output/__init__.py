"""What every room needs to write: complete files, escaped JSON, sanitised text, the version."""
