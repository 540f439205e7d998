"""The findings of a cluster on the driver: by kind, as rows of Arrow, whose words are decoded only on request.

Here: the statements of a kind, sorted, and the whole findings behind them. Not here: how they become fewer (folding), or which incident
they belong to (incidents).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.events import values
from forensics.model.findings import FINDING, LEVELS, Client, Evidence, Finding, Range, Records, Salvageable, Statement, Written
from forensics.model.stored import Store, Stored
from parsers.cached import cached_property

_PLAIN = (
    "kind",
    "severity",
    "confidence",
    "topic",
    "partition",
    "leader_epoch",
    "start",
    "start_latest",
    "end",
    "committed",
    "cause",
    "cluster",
)
_LISTS = ("brokers", "still_on")
_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "offsets": lambda ranges: tuple(Range(r["start"], r["end"]) for r in ranges or ()),
    "salvageable": Salvageable.of,
    "clients": lambda clients: tuple(map(Client.of, clients or ())),
    "written": Written.of,
    "records": Records.of,
}
_STATED = (*_PLAIN, *_LISTS, *_DECODERS)
"""Columns of a partition's finding that belong to its statement."""
_WORDS = ("summary", "explanation", "evidence")
_OF_WORDS = pa.struct([FINDING.field(name) for name in _WORDS])
NEAR = 64
"""Findings whose words are read together: one needs those of one finding in some hundred, in the order of time."""


class FindingRows:
    """Findings of partitions, rows of FINDING: their statements in columns, and their words and quotes, which may be on disk."""

    def __init__(self) -> None:
        self._stated: list[pa.RecordBatch] = []
        self._words = Store(pa.schema([("words", _OF_WORDS)]), NEAR)

    def add(self, rows: pa.RecordBatch) -> None:
        self._stated.append(rows.select([name for name in rows.schema.names if name not in _WORDS]))
        self._words.add(pa.RecordBatch.from_arrays([rows.select(_WORDS).to_struct_array()], ["words"]))

    @cached_property
    def stated(self) -> pa.RecordBatch:
        """All of them. The text of a column is there once."""
        table = pa.Table.from_batches(self._stated).combine_chunks()
        self._stated = []
        return _coded(table).to_batches()[0]

    @cached_property
    def words(self) -> Stored:
        return self._words.kept()

    @cached_property
    def kinds(self) -> Sequence[str]:
        return pc.unique(self.stated["kind"]).to_pylist()  # type: ignore[no-any-return]

    def statements(self, kind: str) -> list[_StoredFinding]:
        """Built column by column: there are hundreds of thousands, and __init__ of a frozen class takes five times as long."""
        if kind not in self.kinds:
            return []
        at = pc.indices_nonzero(pc.equal(self.stated["kind"], kind))
        found = [_StoredFinding.__new__(_StoredFinding) for _ in range(len(at))]
        columns: dict[str, Iterable[Any]] = {name: _decoded(name, self.stated[name].take(at)) for name in _STATED}
        for name, column in {
            **columns,
            "places": repeat(()),
            "incident": repeat(None),
            "_rows": repeat(self),
            "_at": at.to_pylist(),
        }.items():
            for _ in map(getattr(_StoredFinding, name).__set__, found, column):
                pass
        return found


def _coded(rows: pa.Table) -> pa.Table:
    """The rows with columns of text as codes."""
    for n, field in enumerate(rows.schema):
        if pa.types.is_string(field.type):
            rows = rows.set_column(n, field.name, rows[field.name].dictionary_encode())
    return rows


def _decoded(name: str, column: pa.Array) -> list[Any]:
    if name in _LISTS:
        alike: dict[tuple[int, ...], tuple[int, ...]] = {}
        return [alike.setdefault(own := tuple(row or ()), own) for row in column.to_pylist()]
    if (decode := _DECODERS.get(name)) is not None:
        none = column.null_count == len(column)  # few kinds have any
        return [decode(None)] * len(column) if none else list(map(decode, column.to_pylist()))
    if pa.types.is_dictionary(column.type):
        texts = column.dictionary.to_pylist()
        return [None if code is None else texts[code] for code in column.indices.to_pylist()]
    return values(column)


class _StoredFinding(Statement):
    """A finding of which only the statement is decoded."""

    __slots__ = ("_at", "_rows")
    _at: int
    _rows: FindingRows

    @property
    def next_steps(self) -> tuple[str, ...]:
        return tuple(self._rows.stated["next_steps"][self._at].as_py() or ())

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(Evidence(**e) for e in self._words("evidence") or ())

    def _words(self, name: str) -> Any:
        return self._rows.words.value(self._at, "words")[name].as_py()

    @property
    def whole(self) -> Finding:
        return Finding(
            **{name: getattr(self, name) for name in _STATED},
            incident=self.incident,
            summary=self._words("summary"),
            explanation=self._words("explanation"),
            next_steps=self.next_steps,
            evidence=self.evidence,
        )


class Findings(Mapping[str, Sequence[Statement]]):
    """The findings of one cluster by kind: those of its partitions as rows of model.findings.FINDING, those of the cluster as objects.

    The statements of each kind are made again on each request: with 20,000 partitions, keeping those of all kinds would be the largest
    object in memory.
    """

    def __init__(self, rows: FindingRows | None = None, asked: Callable[[str | None, int | None], bool] | None = None) -> None:
        self._rows = rows
        self._found: dict[str, list[Finding]] = {}
        self._asked = asked

    def add(self, findings: Iterable[Finding]) -> None:
        for f in findings:
            self._found.setdefault(f.kind, []).append(f)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*(self._rows.kinds if self._rows is not None else ()), *self._found)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, kind: object) -> bool:
        return kind in self._found or (self._rows is not None and kind in self._rows.kinds)

    def __getitem__(self, kind: str) -> list[Statement]:
        """The worst first, then by place and time."""
        if kind not in self:
            raise KeyError(kind)
        found: list[Statement] = [*(self._rows.statements(kind) if self._rows is not None else ()), *self._found.get(kind, ())]
        if (asked := self._asked) is not None:
            found = [f for f in found if f.partition is None or asked(f.topic, f.partition)]
        return sorted(found, key=worst_first)


def worst_first(f: Statement) -> tuple[Any, ...]:
    """The order of findings of one kind."""
    partition = f.partition if f.partition is not None else -1
    return _GRAVITY[f.severity], f.topic or "", partition, f.start or datetime.min, f.brokers, _ById(f)


_GRAVITY = {level: -n for n, level in enumerate(LEVELS)}


class _ById:
    """Compared only if all else is equal: an id is a digest."""

    __slots__ = ("of",)

    def __init__(self, of: Statement) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.of.id == other.of.id

    def __lt__(self, other: _ById) -> bool:
        return self.of.id < other.of.id
