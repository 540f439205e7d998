"""The catalogue applied to one record, for tests of patterns and of their coverage.

Here: its events, and every pattern that matches it. Not here: records in files (log_file).
"""

from __future__ import annotations

from io import BytesIO

from parsers.catalogue.log_file import LogFile
from parsers.layouts import LOG4J, Record, prefix
from parsers.matching.literals import literals_of
from parsers.matching.messages import apply, whole_message
from parsers.patterns.pattern import Pattern
from parsers.schemas import Member, Row


def search(line: str) -> Row | None:
    """The first event of one record (its first line and those after it), 'irrelevant' ones included; None if unknown."""
    return next(iter(search_all(line)), None)


def search_all(line: str) -> list[Row]:
    """All events of one record, 'irrelevant' ones included."""
    reading = LogFile(Member("", None, None), "", irrelevant=True)
    return [
        row
        for row in reading.rows(BytesIO(line.encode()))
        if row["event"] not in ("source", "problem") or row.get("reason") == "out-of-range"
    ]


def matching(line: str) -> list[Pattern]:
    """Every pattern whose literal and expression match the record; more than one is a defect of the catalogue."""
    literals = literals_of()
    hits = tuple(hit for hit, _, _ in literals.find(line.encode()))
    first, _, rest = line.partition("\n")
    record = LOG4J.read(first)
    return [p for p in literals.candidates(hits) if _matches(p, record, first, rest)]


def _matches(pattern: Pattern, record: Record | None, first: str, rest: str) -> bool:
    if record is not None and pattern.multiline:
        message, logger = whole_message(record, rest, LOG4J)
    elif record is not None:
        message, logger = record.message, record.logger
    else:
        message, logger = first, None
    return apply(pattern, prefix(message, logger)[1], logger) is not None
