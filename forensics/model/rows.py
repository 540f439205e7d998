"""Rows of an Arrow table that become objects only while they are read.

Here: a table as a sequence of rows. Not here: which rows exist (forensics.incidents.judging), or what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

import pyarrow as pa

from forensics.model.events import values
from parsers.cached import cached_property

CHUNK = 1024
"""Number of rows of a column that are decoded at once."""


Late = Mapping[str, Callable[[], pa.ChunkedArray]]
"""Columns that are read on first use."""


class Rows(Sequence[Mapping[str, Any]]):
    """Rows of a table. Columns are decoded on first use, and decoded rows are not kept unless the table is small."""

    def __init__(
        self, table: pa.Table, names: Sequence[str] | None = None, decoded: dict[str, list[Any]] | None = None, late: Late | None = None
    ) -> None:
        self._whole, self._names = table, names
        self._decoded = decoded if decoded is not None else {}
        self._late = late or {}

    def of(self, *names: str) -> Rows:
        """The same rows with these columns only."""
        return Rows(self._whole, names, self._decoded, self._late)

    def later(self, **columns: Callable[[], pa.ChunkedArray]) -> Rows:
        """The same rows with columns that are read on first use, in place of those of the same name."""
        kept = [name for name in self.table.column_names if name not in columns]
        return Rows(self._whole, kept, self._decoded, {**self._late, **columns})

    @cached_property
    def table(self) -> pa.Table:
        """The table without the columns that are read later."""
        return self._whole if self._names is None else self._whole.select([n for n in self._names if n not in self._late])

    def column(self, name: str) -> pa.ChunkedArray:
        return self._late[name]() if name in self._late else self.table[name]

    def __len__(self) -> int:
        return self._whole.num_rows  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        batches = self.table.to_batches(max_chunksize=CHUNK)
        begin = 0
        for batch in batches:
            chunk = _Chunk(batch, self._decoded if len(batches) == 1 else {}, self._late, begin)
            yield from (_Row(chunk, at) for at in range(batch.num_rows))
            begin += batch.num_rows

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        return list(self)[at]


class _Chunk(dict[str, list[Any]]):
    """Columns of a batch. Each is decoded on first use, by any view of the rows."""

    def __init__(self, batch: pa.RecordBatch, decoded: dict[str, list[Any]], late: Late, begin: int) -> None:
        self.batch, self._decoded, self._late, self._begin = batch, decoded, late, begin

    def __missing__(self, name: str) -> list[Any]:
        if name in self._late:
            self[name] = self._late[name]().slice(self._begin, self.batch.num_rows).to_pylist()
            return self[name]
        column = self.batch.column(name)  # KeyError if this view does not have the column
        if name not in self._decoded:
            self._decoded[name] = values(column)
        self[name] = self._decoded[name]
        return self[name]


class _Row(Mapping[str, Any]):
    __slots__ = ("at", "chunk")

    def __init__(self, chunk: _Chunk, at: int) -> None:
        self.chunk, self.at = chunk, at

    def __getitem__(self, name: str) -> Any:
        return self.chunk[name][self.at]

    def __iter__(self) -> Iterator[str]:
        return iter(self.chunk.batch.schema.names)

    def __len__(self) -> int:
        return self.chunk.batch.num_columns  # type: ignore[no-any-return]
