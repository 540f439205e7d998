"""The report: one document, and its output formats."""
