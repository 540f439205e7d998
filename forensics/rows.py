"""Rows of Arrow that are objects only while one looks at them.

Here: a table as a sequence of rows. Not here: which rows there are (forensics.judge), or what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import pyarrow as pa

from spark.events import values

CHUNK = 1024
"""Rows of which a column is decoded at once."""


class Rows(Sequence[Mapping[str, Any]]):
    """Rows of a table. What is not asked for is not decoded, and nothing is kept of what was, unless the rows are few."""

    def __init__(self, table: pa.Table, names: Sequence[str] | None = None, decoded: dict[str, list[Any]] | None = None) -> None:
        self._whole, self._names = table, names
        self._decoded = decoded if decoded is not None else {}

    def of(self, *names: str) -> Rows:
        """The same rows with these columns alone."""
        return Rows(self._whole, names, self._decoded)

    @cached_property
    def table(self) -> pa.Table:
        return self._whole if self._names is None else self._whole.select(self._names)

    def __len__(self) -> int:
        return self._whole.num_rows  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        batches = self.table.to_batches(max_chunksize=CHUNK)
        for batch in batches:
            chunk = _Chunk(batch, self._decoded if len(batches) == 1 else {})
            yield from (_Row(chunk, at) for at in range(batch.num_rows))

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        return list(self)[at]


class _Chunk(dict[str, list[Any]]):
    """Columns of a batch, each decoded when it is first asked for, by whichever view of the rows."""

    def __init__(self, batch: pa.RecordBatch, decoded: dict[str, list[Any]]) -> None:
        self.batch, self._decoded = batch, decoded

    def __missing__(self, name: str) -> list[Any]:
        column = self.batch.column(name)  # KeyError of one that this view has not
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
