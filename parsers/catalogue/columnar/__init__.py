"""The log reader that reads many lines at once. It gives the same events as the reader of single lines (parsers.catalogue.reading), several
times faster, for the lines that make up most of a log: whole records in the layout of the lines before.

A chunk passes through five modules:

- `vectorised` collects the lines with literals in blocks, returns the events in file order, and leaves all other lines to `reading`.
- `heads` reads time, level, logger and component of all lines of a block. Most lines share them with the line before.
- `block` matches lines with the same literals and logger against the same expressions.
- `columns` makes Arrow columns from the text of the groups, without a dict for each event.
- `computed` does so for statements that compute their events: one computation for all lines with the same inputs.

Why: a dict for each event took most of the time of reading (docs/decisions.md). tests/parsers/catalogue/columnar/test_columns.py compares
the two readers.
"""
