"""The verdicts: rules over timelines, the report, the command line."""
