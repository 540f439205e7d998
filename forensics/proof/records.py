"""Hand-overs as records: the part of the proof that a case keeps in its table `handovers` and that reports show.

Here: the Arrow type of a row with its evidence, and rows made into records. `forensics.proof.verdict.rows_of` reads them back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import Any

import pyarrow as pa

from forensics.model.events import Event
from forensics.model.findings import EVIDENCE, Evidence
from forensics.model.message import said
from forensics.model.record import declared, inner_of
from forensics.proof.judgement import Judgement, note_of
from forensics.proof.verdict import CELLS, INTACT, REMOVED_CELLS, Handover, Interval, Open, Possible, Removed
from parsers.schemas import documented

INTERVAL = pa.struct(
    [
        documented("at_least", pa.int64(), "lowest value that is possible"),
        documented("at_most", pa.int64(), "highest value that is possible; null: no upper bound"),
        documented("evidence", pa.list_(EVIDENCE), "lines that show the bounds; their `text` is null if the partition is intact"),
    ]
)
"""Offsets, or a count, that are still possible, both bounds included; `at_most` null: no upper bound. The evidence is quoted only for
partitions that are not intact, because those are looked at; for the others its `text` is null."""
WORDS = pa.list_(pa.string())
"""The values of a cell that are still possible."""
_STORED = {
    Interval: INTERVAL,
    Possible: WORDS,
    int: pa.int32(),
    str: pa.string(),
    bool: pa.bool_(),
    object: pa.string(),
    Any: pa.timestamp("us"),
}


def _columns(cls: type, **types: pa.DataType) -> list[pa.Field]:
    """The columns of a row of the proof; `types`: those that the types of its fields do not say."""
    return [pa.field(f.name, types.get(f.name) or _STORED[inner_of(f.hint)], metadata={"doc": f.doc}) for f in declared(cls)]


REMOVED = pa.struct(_columns(Removed, likely_start=pa.int64()))
PREMISE = pa.struct(
    [documented("premise", pa.string(), "the broker"), documented("reason", pa.string(), "why its log does not show everything")]
)
HANDOVER = pa.struct(
    [
        documented("row", pa.int32(), "number of the hand-over within the partition, from 0, in the order of leader epochs"),
        *_columns(Handover, removed=pa.list_(REMOVED), premises=pa.list_(PREMISE), contradictions=WORDS),
        documented("decides", WORDS, "cells of this row that leave the verdict open, each as `cell: what is missing`"),
    ]
)
"""One row of the table."""
_PLAIN = ("kind", "at", "leader_epoch", "restart", "old_leader", "new_leader", "resent_because")
_plain, _cells = attrgetter(*_PLAIN), attrgetter(*CELLS)
MAX_QUOTED = 3
"""Maximum number of pieces of evidence for a bound."""


def records(judged: Judgement) -> list[dict[str, Any]]:
    """The rows of a partition as records of HANDOVER. Their messages are not words yet."""
    texts, left = judged.verdict != INTACT, defaultdict[int, list[Open]](list)
    for cell in judged.decides:
        left[cell.row].append(cell)
    return [_record(number, row, left.get(number, ()), texts=texts) for number, row in enumerate(judged.rows)]


def _record(number: int, row: Handover, decides: Iterable[Open], *, texts: bool) -> dict[str, Any]:
    return {
        "row": number,
        **dict(zip(_PLAIN, _plain(row), strict=True)),
        **{name: _cell(cell, texts=texts) for name, cell in zip(CELLS, _cells(row), strict=True)},
        "removed": [_removed(r, texts=texts) for r in row.removed],
        "premises": [{"premise": said("node/broker", id=broker), "reason": reason} for broker, reason in row.premises.items()],
        "contradictions": list(row.contradictions),
        "decides": [said("handover/decides", cell=left.cell, note=note_of(row, left.cell)) for left in decides],
    }


def _removed(removed: Removed, *, texts: bool) -> dict[str, Any]:
    cells = {name: _cell(getattr(removed, name), texts=texts) for name in REMOVED_CELLS}
    return {**cells, **{name: getattr(removed, name) for name in ("broker", "how", "exact_end", "likely_start")}}


def _cell(cell: Interval | Possible, *, texts: bool) -> Any:
    if isinstance(cell, Possible):
        return _words(cell.values)
    evidence = _quoted((*cell.low, *cell.high), texts=texts) if cell.low or cell.high else ()
    return {"at_least": cell.at_least, "at_most": cell.at_most, "evidence": evidence}


@cache
def _words(values: frozenset[str]) -> Sequence[str]:
    return sorted(values)


def _quoted(events: Iterable[Event], *, texts: bool) -> Sequence[dict[str, Any]]:
    found = islice(dict.fromkeys(events), MAX_QUOTED)
    return [{"source": e.source, "line": e.line, "byte": e.byte, "text": Evidence.of(e).text if texts else None} for e in found]
