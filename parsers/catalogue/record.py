"""The catalogue applied to one record: the check of samples.

Here: its events. Not here: records in files (log_file).
"""

from __future__ import annotations

from io import BytesIO

from parsers.catalogue.log_file import LogFile
from parsers.schemas import Member, Row


def search_all(line: str) -> list[Row]:
    """All events of one record (its first line and those after it), 'irrelevant' ones included."""
    reading = LogFile(Member("", None, None), "", irrelevant=True)
    return [
        row
        for row in reading.rows(BytesIO(line.encode()))
        if row["event"] not in ("source", "problem") or row.get("reason") == "out-of-range"
    ]
