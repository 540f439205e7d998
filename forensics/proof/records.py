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
from forensics.model.findings import Evidence
from forensics.model.message import Message, said
from forensics.proof.judgement import Judgement, note_of
from forensics.proof.verdict import CELLS, INTACT, Handover, Interval, Open, Possible, Removed

QUOTED = pa.struct([("source", pa.string()), ("line", pa.int64()), ("byte", pa.int64()), ("text", pa.string())])
"""The place that a bound is from. `text` only for partitions that are not intact, because those are looked at."""
INTERVAL = pa.struct([("at_least", pa.int64()), ("at_most", pa.int64()), ("evidence", pa.list_(QUOTED))])
"""Offsets, or a count, that are still possible, both bounds included; `at_most` null: no upper bound."""
WORDS = pa.list_(pa.string())
"""The values of a cell that are still possible."""
REMOVED = pa.struct(
    [
        ("broker", pa.int32()),
        ("how", pa.string()),
        ("start", INTERVAL),
        ("end", INTERVAL),
        ("exact_end", pa.bool_()),
        ("earlier", WORDS),
        ("here", WORDS),
        ("foreign", WORDS),
        ("likely_start", pa.int64()),
    ]
)
PREMISE = pa.struct([("premise", pa.string()), ("reason", pa.string())])
HANDOVER = pa.struct(
    [
        ("row", pa.int32()),
        ("kind", pa.string()),
        ("at", pa.timestamp("us")),
        ("leader_epoch", pa.int32()),
        ("restart", pa.int32()),
        ("old_leader", pa.int32()),
        ("new_leader", pa.int32()),
        *((f, INTERVAL) for f in ("unseen", "old_log_end", "new_log_end", "high_watermark")),
        *((f, WORDS) for f in CELLS if f not in ("unseen", "old_log_end", "new_log_end", "high_watermark")),
        ("removed", pa.list_(REMOVED)),
        ("resent_because", pa.string()),
        ("premises", pa.list_(PREMISE)),
        ("contradictions", WORDS),
        ("decides", WORDS),
    ]
)
"""One row of the table: forensics.proof.verdict.Handover. `decides`: its cells that leave the verdict open, as `cell: what is missing`."""
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
        "decides": [_decides(row, left) for left in decides],
    }


def _decides(row: Handover, left: Open) -> Message:
    return said("handover/decides", cell=left.cell, note=note_of(row, left.cell))


def _removed(removed: Removed, *, texts: bool) -> dict[str, Any]:
    cells = {name: _cell(getattr(removed, name), texts=texts) for name in ("start", "end", "earlier", "here", "foreign")}
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
