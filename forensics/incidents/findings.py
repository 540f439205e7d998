"""The findings of a cluster on the driver: by kind, as rows of Arrow, whose words are decoded only on request.

Here: the statements of a kind, sorted, and the whole findings behind them. Not here: how they become fewer (folding), or which incident
they belong to (incidents).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any

import pyarrow as pa

from forensics.model.events import values
from forensics.model.findings import LEVELS, Client, Evidence, Finding, Range, Records, Salvageable, Statement, Written
from forensics.model.rows import CHUNK

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
_WORDS = ("summary", "explanation", "next_steps", "evidence")


class _Rows:
    """Findings of partitions: their statements, decoded, and their words, which are not decoded for large tables."""

    def __init__(self, rows: pa.StructArray, *, few: bool) -> None:
        columns = dict(zip((f.name for f in rows.type), rows.flatten(), strict=True))
        self._words = {name: columns[name].to_pylist() if few else columns[name] for name in _WORDS}
        alike: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._stated: dict[str, list[Any]] = {name: values(columns[name]) for name in _PLAIN}
        for name in _LISTS:
            self._stated[name] = [alike.setdefault(own := tuple(row or ()), own) for row in columns[name].to_pylist()]
        for name, decode in _DECODERS.items():
            column = columns[name]  # few kinds have any
            none = column.null_count == len(column)
            self._stated[name] = [decode(None)] * len(column) if none else list(map(decode, column.to_pylist()))
        self.by_kind: dict[str, list[int]] = defaultdict(list)
        for at, kind in enumerate(self._stated["kind"]):
            if kind is not None:
                self.by_kind[kind].append(at)

    def words(self, name: str, at: int) -> Any:
        found = self._words[name][at]
        return found.as_py() if isinstance(found, pa.Scalar) else found

    def statements(self, kind: str) -> list[_StoredFinding]:
        """Built column by column: there are hundreds of thousands, and __init__ of a frozen class takes five times as long."""
        at = self.by_kind.get(kind, ())
        found = [_StoredFinding.__new__(_StoredFinding) for _ in at]
        columns: dict[str, Iterable[Any]] = {name: map(column.__getitem__, at) for name, column in self._stated.items()}
        for name, column in {**columns, "places": repeat(()), "incident": repeat(None), "_rows": repeat(self), "_at": at}.items():
            for _ in map(getattr(_StoredFinding, name).__set__, found, column):
                pass
        return found


class _StoredFinding(Statement):
    """A finding of which only the statement is decoded."""

    __slots__ = ("_at", "_rows")
    _at: int
    _rows: _Rows

    @property
    def next_steps(self) -> tuple[str, ...]:
        return tuple(self._rows.words("next_steps", self._at) or ())

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(Evidence(**e) for e in self._rows.words("evidence", self._at) or ())

    @property
    def whole(self) -> Finding:
        return Finding(
            **{name: getattr(self, name) for name in _STATED},
            incident=self.incident,
            summary=self._rows.words("summary", self._at),
            explanation=self._rows.words("explanation", self._at),
            next_steps=self.next_steps,
            evidence=self.evidence,
        )


class Findings(Mapping[str, Sequence[Statement]]):
    """The findings of one cluster by kind: those of its partitions as rows of model.findings.FINDING, those of the cluster as objects.

    The statements of each kind are made again on each request: with 20,000 partitions, keeping those of all kinds would be the largest
    object in memory.
    """

    def __init__(self, rows: Sequence[pa.StructArray] = (), asked: Callable[[str | None, int | None], bool] | None = None) -> None:
        self._rows = [_Rows(own, few=sum(map(len, rows)) <= CHUNK) for own in rows]
        self._found: dict[str, list[Finding]] = {}
        self._asked = asked

    def add(self, findings: Iterable[Finding]) -> None:
        for f in findings:
            self._found.setdefault(f.kind, []).append(f)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*(kind for rows in self._rows for kind in rows.by_kind), *self._found)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, kind: object) -> bool:
        return kind in self._found or any(kind in rows.by_kind for rows in self._rows)

    def __getitem__(self, kind: str) -> list[Statement]:
        """The worst first, then by place and time."""
        if kind not in self:
            raise KeyError(kind)
        found: list[Statement] = [*(f for rows in self._rows for f in rows.statements(kind)), *self._found.get(kind, ())]
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
