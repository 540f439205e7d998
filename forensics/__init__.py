"""The verdicts: rules over timelines, the report, and the command line."""
