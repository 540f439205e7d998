"""The verdicts of a case recomputed from its table of hand-overs alone, and compared with the stored ones.

Here: the rows of each partition, whether they are a whole table, and the comparison. Not here: the verdict itself
(forensics.proof.verdict), or the output (forensics.commands.verify). Columns that do not affect the verdict (evidence, premises, notes) are
not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

from forensics.case.read import Case
from forensics.case.tables import BY_NAME, CLUSTER_NUMBER, PROOF
from forensics.model.message import Range
from forensics.proof.verdict import BEGIN, CELLS, END, Handover, Lost, Verdict, rows_of, verdict

KEY = ("topic", "partition", CLUSTER_NUMBER)
Key = tuple[str, int, int]
INVALID = "invalid"
"""Replaces a verdict: the rows are not a table of hand-overs."""
READ = frozenset({*KEY, "row", "kind", "leader_epoch", "restart", "old_leader", "new_leader", *CELLS, "removed", "contradictions"})
"""Columns that a verdict depends on."""


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A partition with the verdict stored in the case and the one recomputed from its hand-overs; None: the case has none."""

    topic: str
    partition: int
    cluster_number: int
    said: str | None
    recomputed: str | None
    decides: tuple[str, ...] = ()
    """What decides the recomputed verdict: rows and cells, or what is wrong with the rows."""

    @property
    def same(self) -> bool:
        return self.said == self.recomputed


def recheck(case: Case) -> list[Rechecked]:
    """All partitions of a case, in its order."""
    said = {_key(r): r["verdict"] for r in _records(case, "partitions", [*KEY, "verdict"])}
    rows: dict[Key, list[Mapping[str, Any]]] = {key: [] for key in said}
    for record in _records(case, PROOF, list(_columns(f for f in BY_NAME[PROOF].schema if f.name in READ))):
        rows.setdefault(_key(record), []).append(record)
    return [_rechecked(key, said.get(key), records) for key, records in rows.items()]


def _key(record: Mapping[str, Any]) -> Key:
    return record["topic"], record["partition"], record[CLUSTER_NUMBER]


def _records(case: Case, table: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for batch in case.batches(table, columns):
        yield from batch.to_pylist()


def _columns(fields: Iterable[pa.Field], path: str = "") -> Iterator[str]:
    """Paths of columns without their evidence, as Parquet names them."""
    for f in fields:
        if f.name == "evidence":
            continue
        inner = f.type.value_type if pa.types.is_list(f.type) else f.type
        if pa.types.is_struct(inner):
            item = ".list.element" if pa.types.is_list(f.type) else ""
            yield from _columns(inner, f"{path}{f.name}{item}.")
        else:
            yield f"{path}{f.name}"


def _rechecked(key: Key, said: str | None, records: Sequence[Mapping[str, Any]]) -> Rechecked:
    if said is None:
        return Rechecked(*key, None, INVALID, (f"the table {PROOF!r} has this partition, and the table 'partitions' does not",))
    try:
        ordered = sorted(records, key=lambda r: r["row"])
        rows = rows_of(ordered)
        wrong = _wrong([r["row"] for r in ordered], rows)
        found = None if wrong else verdict(rows)
    except (TypeError, ValueError, KeyError, AttributeError, AssertionError) as error:
        wrong, found = f"a cell cannot be read ({type(error).__name__}: {error})", None
    if found is None:
        return Rechecked(*key, said, INVALID, (wrong or "",))
    return Rechecked(*key, said, found.verdict, tuple(_decides(found)))


def _wrong(numbers: Sequence[int], rows: Sequence[Handover]) -> str | None:
    """Why these are not all rows of one table: a row is missing, or two do not follow each other."""
    if numbers != list(range(len(numbers))):
        return f"rows are missing or there twice: the numbers are {', '.join(map(str, numbers[:20]))}"
    if not rows:
        return None
    if [n for n, row in enumerate(rows) if row.kind == BEGIN] != [0] or [n for n, row in enumerate(rows) if row.kind == END] != [
        len(rows) - 1
    ]:
        return f"the first row must be of kind {BEGIN!r}, the last one of kind {END!r}, and no other row"
    for number, (one, other) in enumerate(pairwise(rows), 1):
        if other.old_leader != one.new_leader:
            return f"row {number} hands over from broker {other.old_leader}, but broker {one.new_leader} led in row {number - 1}"
    return None


def _decides(found: Verdict) -> Iterator[str]:
    for lost in found.lost:
        yield f"row {lost.row}, removed and high_watermark: {_range(lost)}"
    for left in found.decides:
        yield f"row {left.row}, {left.cell}"


def _range(lost: Lost) -> str:
    committed = {True: "committed", False: "never committed", None: "commit status unknown"}[lost.committed]
    return f"offsets {Range(lost.start, lost.end)} gone, {committed}, {lost.confidence}"
