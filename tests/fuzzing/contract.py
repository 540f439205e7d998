"""What every reader promises of any bytes: rows that the table can hold or a named problem, never an error, a crash or silence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import pyarrow as pa

from parsers.kinds import KINDS
from parsers.schemas import EVENTS, Row, Rows

_TYPES = {field.name: field.type for field in EVENTS}


def kept(given: Iterable[Rows]) -> list[Rows]:
    """What was told, all of which the table holds: each of a known kind, and a problem says what it is."""
    found = list(given)
    rows = [one for one in found if isinstance(one, dict)]
    for batch in (one for one in found if isinstance(one, pa.RecordBatch)):
        assert batch.schema == EVENTS
        known(batch)
    _held(rows)
    assert all(row["reason"] and row["text"] for row in rows if row["event"] == "problem")
    return found


def known(events: pa.RecordBatch | pa.Table) -> None:
    """Valid columns, and events of known kinds."""
    events.validate(full=True)
    assert KINDS.keys() >= set(events["event"].unique().to_pylist())


def _held(rows: Sequence[Row]) -> None:
    """The table has the columns of these rows, and their values are of its types; only columns with values are made, for speed."""
    for name in dict.fromkeys(chain.from_iterable(rows)):
        pa.array([row.get(name) for row in rows], _TYPES[name]).validate(full=True)
    assert KINDS.keys() >= {row["event"] for row in rows}


def not_silent(given: Sequence[Rows], data: bytes) -> None:
    """What holds anything gives a row."""
    assert given or not data.strip(b"\0 \t\r\n\x0b\x0c"), "silence"
