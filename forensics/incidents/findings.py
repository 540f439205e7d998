"""The findings of a cluster on the driver: by kind, as rows of Arrow, whose words are decoded only on request.

Here: the statements of a kind, sorted, and the whole findings behind them. Not here: how they become fewer (folding), or which incident
they belong to (incidents).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count, repeat
from typing import Any

import pyarrow as pa

from forensics.model.events import values
from forensics.model.findings import FINDING, FOLDED, LEVELS, Evidence, Finding, Statement
from forensics.model.message import decoded
from forensics.model.record import reader, readers
from forensics.model.stored import Store, Stored, by_value
from parsers.frozen import made

_WORDS = ("message", "values", "evidence")
_READERS = readers(Finding, *_WORDS, *FOLDED)
"""By column that belongs to the statement of a partition's finding."""
_OF_WORDS = pa.struct([FINDING.field(name) for name in _WORDS])
NEAR = 64
"""Findings whose words are read together: one needs those of one finding in some hundred, in the order of time."""
ROOM = 1 << 20
"""Bytes of the statements, and of the words, of a kind that stay in memory."""
MANY = 512
"""Findings of the cluster, of one kind, that wait as rows together."""
_SCHEMA = pa.schema(list(FINDING))


class _OfKind:
    """The findings of one kind, whose columns may be on disk."""

    def __init__(self, schema: pa.Schema) -> None:
        self._names = [name for name in schema.names if name not in _WORDS]
        self._stated = Store(pa.schema([schema.field(name) for name in self._names]), room=ROOM)
        self._words = Store(pa.schema([("words", _OF_WORDS)]), NEAR, ROOM)
        self._kept: tuple[Stored, Stored] | None = None

    def add(self, rows: pa.RecordBatch) -> None:
        self._stated.add(rows.select(self._names))
        self._words.add(pa.RecordBatch.from_arrays([rows.select(_WORDS).to_struct_array()], ["words"]))
        self._kept = None

    def kept(self) -> tuple[Stored, Stored]:
        """Their statements and their words, of all that were added until now."""
        if self._kept is None:
            self._kept = self._stated.kept(), self._words.kept()
        return self._kept


class FindingRows:
    """Findings as rows of FINDING, by kind."""

    def __init__(self) -> None:
        self._by_kind: dict[str, _OfKind] = {}

    def add(self, rows: pa.RecordBatch) -> None:
        for kind, own in by_value(rows, "kind"):
            if kind not in self._by_kind:
                self._by_kind[kind] = _OfKind(rows.schema)
            self._by_kind[kind].add(own)

    @property
    def kinds(self) -> Collection[str]:
        return self._by_kind.keys()

    def statements(self, kind: str) -> list[_StoredFinding]:
        if (rows := self._by_kind.get(kind)) is None:
            return []
        stated, _ = rows.kept()
        columns: dict[str, Iterable[Any]] = {name: _decoded(name, stated.column(name).combine_chunks()) for name in _READERS}
        columns |= {"places": repeat(()), "incident": repeat(None), "_rows": repeat(rows), "_at": count()}
        return made(_StoredFinding, columns, len(stated))


def _decoded(name: str, column: pa.Array) -> list[Any]:
    if (read := _READERS[name]) is None:
        return values(column)
    if column.null_count == len(column) or (pa.types.is_list(column.type) and not len(column.flatten())):  # few kinds have any
        return [read(None)] * len(column)
    made = map(read, column.to_pylist())
    if pa.types.is_list(column.type) and pa.types.is_integer(column.type.value_type):
        alike: dict[Any, Any] = {}
        return [alike.setdefault(own, own) for own in made]
    return list(made)


class _StoredFinding(Statement):
    """A finding of which only the statement is decoded."""

    __slots__ = ("_at", "_rows")
    _at: int
    _rows: _OfKind

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(map(reader(Evidence), self._words("evidence") or ()))

    def _words(self, name: str) -> Any:
        _, words = self._rows.kept()
        return words.value(self._at, "words")[name].as_py()

    @property
    def whole(self) -> Finding:
        return Finding(
            **{name: getattr(self, name) for name in _READERS},
            incident=self.incident,
            message=self._words("message"),
            values=decoded(self._words("values")),
            evidence=self.evidence,
        )


class Findings(Mapping[str, Sequence[Statement]]):
    """The findings of one cluster by kind.

    The statements of each kind are made again on each request: with 20,000 partitions, keeping those of all kinds would be the largest
    object in memory.
    """

    def __init__(self, rows: FindingRows | None = None, asked: Callable[[str | None, int | None], bool] | None = None) -> None:
        """`rows`: the findings of partitions; `asked`: which partitions count."""
        self._rows = rows if rows is not None else FindingRows()
        self._objects: dict[str, list[Finding]] = defaultdict(list)
        """Findings of the cluster that are not rows: the last ones, and those with places, which rows do not have."""
        self._asked = asked

    def add(self, findings: Iterable[Finding]) -> None:
        """Adds findings of the cluster."""
        for f in findings:
            own = self._objects[f.kind]
            own.append(f)
            if len(own) % MANY == 0:
                self._rows.add(pa.RecordBatch.from_pylist([few.row() for few in own if not few.places], _SCHEMA))
                self._objects[f.kind] = [few for few in own if few.places]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._rows.kinds, *self._objects)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, kind: object) -> bool:
        return kind in self._objects or kind in self._rows.kinds

    def __getitem__(self, kind: str) -> list[Statement]:
        """The worst first, then by place and time."""
        if kind not in self:
            raise KeyError(kind)
        found: list[Statement] = [*self._rows.statements(kind), *self._objects.get(kind, ())]
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
