"""The findings of a cluster as the driver holds them: by kind, as rows of Arrow, without their words until somebody asks for them.

Here: the statements of a kind, in order, and the whole findings behind them. Not here: how they become fewer (folding), or whose they are
(incidents).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model import LEVELS, Client, Evidence, Finding, Range, Salvageable, Statement
from spark.events import values


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held(Statement):
    """A finding of which only the statement is decoded."""

    rows: pa.StructArray = field(compare=False, repr=False)
    at: int = field(compare=False)

    @property
    def next_steps(self) -> tuple[str, ...]:
        return tuple(self.rows.field("next_steps")[self.at].as_py() or ())

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(Evidence(**e) for e in self.rows.field("evidence")[self.at].as_py() or ())

    @property
    def whole(self) -> Finding:
        return replace(Finding.of(self.rows[self.at].as_py()), incident=self.incident)


_PLAIN = ("kind", "severity", "confidence", "topic", "partition", "leader_epoch", "start", "end", "committed", "cause", "cluster")
_LISTS = ("brokers", "still_on", "offsets", "salvageable", "clients")


class Findings(Mapping[str, Sequence[Statement]]):
    """The findings of one cluster by kind: those of its partitions as rows of model.FINDING, those of the cluster as they were found.

    Each kind is decoded anew when it is asked for: of 20,000 partitions the statements of all kinds together would be the largest thing there is.
    """

    def __init__(self, rows: Iterable[pa.StructArray] = (), asked: Callable[[str | None, int | None], bool] | None = None) -> None:
        self._rows: dict[str, list[tuple[pa.StructArray, pa.Array]]] = {}
        self._found: dict[str, list[Finding]] = {}
        self._asked = asked
        for own in rows:
            kinds = pc.struct_field(own, "kind")
            for kind in kinds.unique().drop_null().to_pylist():
                self._rows.setdefault(kind, []).append((own, pc.indices_nonzero(pc.equal(kinds, kind))))

    def add(self, findings: Iterable[Finding]) -> None:
        for f in findings:
            self._found.setdefault(f.kind, []).append(f)

    def __iter__(self) -> Iterator[str]:
        return iter({**self._rows, **self._found})

    def __len__(self) -> int:
        return len({**self._rows, **self._found})

    def __contains__(self, kind: object) -> bool:
        return kind in self._rows or kind in self._found

    def __getitem__(self, kind: str) -> list[Statement]:
        """The worst first, then by place and time."""
        if kind not in self:
            raise KeyError(kind)
        found = [*(f for rows, at in self._rows.get(kind, ()) for f in _statements(rows, at)), *self._found.get(kind, ())]
        return sorted(
            (f for f in found if self._asked is None or f.partition is None or self._asked(f.topic, f.partition)), key=worst_first
        )


def _statements(rows: pa.StructArray, at: pa.Array) -> Iterator[_Held]:
    wanted = pa.StructArray.from_arrays([rows.field(name) for name in (*_PLAIN, *_LISTS)], (*_PLAIN, *_LISTS)).take(at)
    plain = {name: values(wanted.field(name)) for name in _PLAIN}
    lists = (_decoded(wanted.field(name)) for name in _LISTS)
    alike: dict[tuple[int, ...], tuple[int, ...]] = {}
    for index, brokers, still_on, offsets, salvageable, clients, *told in zip(at.to_pylist(), *lists, *plain.values(), strict=True):
        yield _Held(
            rows=rows,
            at=index,
            brokers=alike.setdefault(own := tuple(brokers or ()), own),
            still_on=alike.setdefault(own := tuple(still_on or ()), own),
            offsets=tuple(Range(r["start"], r["end"]) for r in offsets or ()),
            salvageable=Salvageable.of(salvageable),
            clients=tuple(map(Client.of, clients or ())),
            **dict(zip(plain, told, strict=True)),
        )


def _decoded(column: pa.Array) -> list[Any]:
    """Few kinds have all of them."""
    return [None] * len(column) if column.null_count == len(column) else column.to_pylist()


def worst_first(f: Statement) -> tuple[Any, ...]:
    """The order of findings of one kind."""
    partition = f.partition if f.partition is not None else -1
    return -LEVELS.index(f.severity), f.topic or "", partition, str(f.start or ""), f.brokers, _ById(f)


class _ById:
    """Asked only where all else is equal: an id is a digest."""

    __slots__ = ("of",)

    def __init__(self, of: Statement) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.of.id == other.of.id

    def __lt__(self, other: _ById) -> bool:
        return self.of.id < other.of.id
