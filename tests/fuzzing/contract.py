"""What every reader promises of any bytes: rows that the table can hold or a named problem, never an error, a crash or silence."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from parsers.kinds import KINDS
from parsers.schemas import EVENTS, Row, Told, batches


def kept(told: Iterable[Told]) -> list[Row]:
    """The rows as the table has them: none is lost, each is of a known kind, and a problem says what it is."""
    found = list(told)
    made = list(batches(found))
    for batch in made:
        batch.validate(full=True)
    rows: list[Row] = pa.Table.from_batches(made, EVENTS).to_pylist()
    assert len(rows) == sum(len(one) if isinstance(one, pa.RecordBatch) else 1 for one in found)
    for row in rows:
        assert row["event"] in KINDS, row["event"]
        assert row["event"] != "problem" or (row["reason"] and row["text"]), row
    return rows


def not_silent(rows: list[Row], data: bytes) -> None:
    """What holds anything gives a row."""
    assert rows or not data.strip(b"\0 \t\r\n\x0b\x0c"), "silence"
