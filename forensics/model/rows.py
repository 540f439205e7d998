"""Rows of Arrow that become objects only while they are read.

Here: batches as a sequence of rows. Not here: where the batches are (stored), which rows exist (forensics.incidents.judging), or what they
mean.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, overload

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.events import values
from forensics.model.stored import Batches, InMemory
from parsers.cached import cached_property

Late = Mapping[str, Callable[[], pa.ChunkedArray]]
"""Columns that are read on first use."""


class Rows(Sequence[Mapping[str, Any]]):
    """Rows in batches. Columns are decoded on first use, and decoded rows are not kept unless they are few."""

    def __init__(
        self,
        rows: pa.Table | Batches,
        names: Sequence[str] | None = None,
        decoded: dict[str, list[Any]] | None = None,
        late: Late | None = None,
    ) -> None:
        self._batches = InMemory.of(rows) if isinstance(rows, pa.Table) else rows
        self._late = late or {}
        self._names = self._batches.schema.names if names is None else names
        self._decoded = decoded if decoded is not None else {}

    def of(self, *names: str) -> Rows:
        """The same rows with these columns only."""
        return Rows(self._batches, names, self._decoded, self._late)

    def later(self, **columns: Callable[[], pa.ChunkedArray]) -> Rows:
        """The same rows with columns that are read on first use, in place of those of the same name."""
        return Rows(self._batches, self._names, self._decoded, {**self._late, **columns})

    @cached_property
    def names(self) -> Mapping[str, None]:
        """The columns that are not read later, in order."""
        return dict.fromkeys(name for name in self._names if name not in self._late)

    def table(self, *names: str) -> pa.Table:
        """Columns of all rows."""
        return pa.table({name: self.column(name) for name in names})

    def batches(self, *names: str) -> Iterator[pa.RecordBatch]:
        """Columns of all rows, some rows at a time."""
        for n in range(len(self._batches.sizes)):
            yield pa.RecordBatch.from_arrays([self._batches.column(n, name) for name in names], names)

    def column(self, name: str) -> pa.ChunkedArray:
        if name in self._late:
            return self._late[name]()
        return pa.chunked_array(list(self._parts(name)), self._batches.schema.field(name).type)

    def _parts(self, name: str) -> Iterable[pa.Array]:
        if name in self._late:
            return self._late[name]().chunks  # type: ignore[no-any-return]
        return (self._batches.column(n, name) for n in range(len(self._batches.sizes)))

    def lengths(self, name: str) -> list[int]:
        """Length of each value of a column of lists; 0 for null."""
        return [length for part in self._parts(name) for length in pc.fill_null(pc.list_value_length(part), 0).to_pylist()]

    def at(self, name: str, numbers: Sequence[int]) -> list[Any]:
        """Values of a column in the rows with these numbers."""
        if name in self._late:
            return self._late[name]().take(pa.array(numbers, pa.int64())).to_pylist()  # type: ignore[no-any-return]
        ends = list(accumulate(self._batches.sizes))
        by_batch: dict[int, list[int]] = defaultdict(list)
        for number in numbers:
            by_batch[bisect_right(ends, number)].append(number)
        found: dict[int, Any] = {}
        for batch, own in by_batch.items():
            begin = ends[batch - 1] if batch else 0
            column = self._batches.column(batch, name).take(pa.array([n - begin for n in own], pa.int64()))
            found.update(zip(own, column.to_pylist(), strict=True))
        return [found[number] for number in numbers]

    def __len__(self) -> int:
        return sum(self._batches.sizes)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        begin = 0
        for n, size in enumerate(self._batches.sizes):
            chunk = _Chunk(self, n, begin)
            yield from (_Row(chunk, at) for at in range(size))
            begin += size

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        return list(self)[at]

    def decoded(self, batch: int, begin: int, name: str) -> list[Any]:
        """Values of a column in a batch, which begins at this row. Raises KeyError if this view does not have the column."""
        if name in self._late:
            return self._late[name]().slice(begin, self._batches.sizes[batch]).to_pylist()  # type: ignore[no-any-return]
        if name not in self.names:
            raise KeyError(name)
        kept = self._decoded if len(self._batches.sizes) == 1 else {}
        if name not in kept:
            kept[name] = values(self._batches.column(batch, name))
        return kept[name]


class _Chunk(dict[str, list[Any]]):
    """Columns of a batch. Each is decoded on first use, by any view of the rows."""

    def __init__(self, rows: Rows, batch: int, begin: int) -> None:
        self.rows, self._batch, self._begin = rows, batch, begin

    def __missing__(self, name: str) -> list[Any]:
        self[name] = self.rows.decoded(self._batch, self._begin, name)
        return self[name]


class _Row(Mapping[str, Any]):
    __slots__ = ("at", "chunk")

    def __init__(self, chunk: _Chunk, at: int) -> None:
        self.chunk, self.at = chunk, at

    def __getitem__(self, name: str) -> Any:
        return self.chunk[name][self.at]

    def __iter__(self) -> Iterator[str]:
        return iter(self.chunk.rows.names)

    def __len__(self) -> int:
        return len(self.chunk.rows.names)
