"""The findings of a cluster on the driver: by kind, as rows of Arrow, whose words are decoded only on request.

Here: the statements of a kind, sorted, the whole findings behind them, and how urgent each is. Not here: how they become fewer (folding),
or which incident they belong to (incidents).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count, repeat
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.events import values
from forensics.model.findings import CUT, FINDING, FOLDED, LEVELS, MINOR, Evidence, Finding, Rule, Statement, Urgency, lost_parts
from forensics.model.message import Value, decoded
from forensics.model.record import reader, readers
from forensics.model.rows import Store, Stored, by_value
from parsers.frozen import made
from parsers.schemas import equal_rows

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
_STATED = pa.schema([own for own in FINDING if own.name not in _WORDS])


class _OfKind:
    """The findings of one kind, by cluster; their columns may be on disk."""

    def __init__(self) -> None:
        self._added = _stores()
        self._kept: tuple[Stored, Stored, Mapping[int, tuple[int, int]]] | None = None

    def add(self, rows: pa.RecordBatch) -> None:
        stated, words = self._added
        stated.add(rows.select(_STATED.names))
        words.add(pa.RecordBatch.from_arrays([rows.select(_WORDS).to_struct_array()], ["words"]))
        self._kept = None

    def kept(self) -> tuple[Stored, Stored, Mapping[int, tuple[int, int]]]:
        """The statements and the words of all that were added until now, and which rows belong to which cluster."""
        if self._kept is None:
            stated, words = (store.kept() for store in self._added)
            clusters = stated.column("cluster").combine_chunks()
            if len(clusters.unique()) > 1:
                order = pc.sort_indices(clusters)  # a stable sort
                stated, words = (rows.ordered(order, store) for rows, store in zip((stated, words), _stores(), strict=True))
                clusters = clusters.take(order)
            self._kept = stated, words, {cluster: (begin, end) for cluster, begin, end in equal_rows(clusters)}
        return self._kept


def _stores() -> tuple[Store, Store]:
    """Of statements, and of words."""
    return Store(_STATED, room=ROOM), Store(pa.schema([("words", _OF_WORDS)]), NEAR, ROOM)


class FindingRows:
    """Findings as rows of FINDING, by kind and cluster."""

    def __init__(self) -> None:
        self._by_kind: dict[str, _OfKind] = defaultdict(_OfKind)

    def add(self, rows: pa.RecordBatch) -> None:
        for kind, own in by_value(rows, "kind"):
            self._by_kind[kind].add(own)

    def kinds(self, cluster: int) -> Collection[str]:
        return {kind: None for kind, rows in self._by_kind.items() if cluster in rows.kept()[2]}

    def statements(self, kind: str, cluster: int) -> list[_StoredFinding]:
        if kind not in self._by_kind:
            return []
        stated, words, places = self._by_kind[kind].kept()
        begin, end = places.get(cluster, (0, 0))
        own = stated.part(begin, end)
        columns: dict[str, Iterable[Any]] = {name: _decoded(name, own.column(name).combine_chunks()) for name in _READERS}
        columns |= {"places": repeat(()), "incident": repeat(None), "_rows": repeat(words), "_at": count(begin)}
        return made(_StoredFinding, columns, len(own))


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
    _rows: Stored

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(map(reader(Evidence), self._words("evidence") or ()))

    def _words(self, name: str) -> Any:
        return self._rows.value(self._at, "words")[name].as_py()

    @property
    def message_id(self) -> str:
        return self.id_of(self._words("message"))

    def known_of(self, names: Collection[str]) -> dict[str, Value]:
        own = dict(decoded(self._words("values"), names)) if names else {}
        known = own if len(own) == len(names) else self.stated | own
        return {name: known[name] for name in names if name in known}

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

    def __init__(
        self, rows: FindingRows | None = None, cluster: int = 0, asked: Callable[[str | None, int | None], bool] | None = None
    ) -> None:
        """`rows`: the findings of partitions, those of other clusters among them; `asked`: which partitions count."""
        self._sources = [(FindingRows() if rows is None else rows, cluster), (FindingRows(), 0)]
        """Rows of partitions, and of the cluster itself."""
        self._objects: dict[str, list[Finding]] = defaultdict(list)
        """Findings of the cluster that are not rows: the last ones, and those with places, which rows do not have."""
        self._asked = asked

    def add(self, findings: Iterable[Finding]) -> None:
        """Adds findings of the cluster."""
        for f in findings:
            own = self._objects[f.kind]
            own.append(f)
            if len(own) % MANY == 0:
                self._sources[-1][0].add(pa.RecordBatch.from_pylist([few.row() for few in own if not few.places], _SCHEMA))
                self._objects[f.kind] = [few for few in own if few.places]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*(kind for rows, cluster in self._sources for kind in rows.kinds(cluster)), *self._objects)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, kind: object) -> bool:
        return kind in self._objects or any(kind in rows.kinds(cluster) for rows, cluster in self._sources)

    def __getitem__(self, kind: str) -> list[Statement]:
        """The worst first, then by place and time."""
        if kind not in self:
            raise KeyError(kind)
        rows = (own for source, cluster in self._sources for own in source.statements(kind, cluster))
        found: list[Statement] = [*rows, *self._objects.get(kind, ())]
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


def urgency(f: Statement, rule: Rule) -> Urgency:
    """A finding of an earlier cluster is over. A loss that is only possible comes after what clients cannot use now."""
    if f.severity in MINOR:
        return Urgency.MINOR
    if rule.urgency is not Urgency.LOST:
        return Urgency.OVER if f.end is not None or f.cluster else rule.urgency
    if f.loss and all(part.kind == CUT for *_, part in lost_parts([f])):
        return Urgency.OVER
    if f.confidence == "possible":
        return Urgency.OVER if f.cluster else Urgency.BROKEN
    return Urgency.LOST
