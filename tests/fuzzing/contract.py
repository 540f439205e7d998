"""What every reader promises of any bytes: rows that the table can hold or a named problem, never an error, a crash or silence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from parsers.kinds import KINDS
from parsers.schemas import Rows, batches


def kept(told: Iterable[Rows]) -> list[Rows]:
    """What was told, all of which the table holds: each of a known kind, and a problem says what it is."""
    found = list(told)
    made = list(batches(found))
    for batch in made:
        batch.validate(full=True)
        assert KINDS.keys() >= set(batch["event"].unique().to_pylist())
    assert sum(map(len, made)) == sum(len(one) if isinstance(one, pa.RecordBatch) else 1 for one in found)
    assert all(one["reason"] and one["text"] for one in found if isinstance(one, dict) and one["event"] == "problem")
    return found


def not_silent(told: Sequence[Rows], data: bytes) -> None:
    """What holds anything gives a row."""
    assert told or not data.strip(b"\0 \t\r\n\x0b\x0c"), "silence"
