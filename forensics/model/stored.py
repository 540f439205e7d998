"""Rows of Arrow that wait on disk until they are read.

Here: batches of rows whose columns are read one by one; few rows stay in memory, many are in a file without a name; and rows by the value
of a column. Not here: rows as objects (rows), or which rows there are (forensics.incidents).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from tempfile import TemporaryFile
from typing import IO, Any, Protocol
from weakref import finalize

import pyarrow as pa
import pyarrow.compute as pc

from parsers.schemas import equal_rows

CHUNK = 1024
"""Rows of a batch. Those of one column are decoded at once."""
IN_MEMORY_BYTES = 16 << 20
"""Rows of this size stay in memory, and larger ones are sorted in pieces of this size."""
OPEN = 16
"""Columns of batches that are kept while single values are read."""


def by_value(rows: pa.RecordBatch, column: str) -> Iterator[tuple[Any, pa.RecordBatch]]:
    """Each value of a column with copies of its rows: a slice would keep all rows in memory."""
    order = pc.sort_indices(rows[column])  # a stable sort
    for value, begin, end in equal_rows(rows[column].take(order)):
        yield value, rows.take(order.slice(begin, end - begin))


class Batches(Protocol):
    """Rows in batches."""

    schema: pa.Schema
    sizes: Sequence[int]
    """Number of rows of each batch."""

    def column(self, batch: int, name: str) -> pa.Array: ...


class InMemory:
    """Batches in memory."""

    def __init__(self, batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> None:
        self._batches, self.schema = batches, schema
        self.sizes: Sequence[int] = [batch.num_rows for batch in batches]

    @classmethod
    def of(cls, table: pa.Table) -> InMemory:
        return cls(table.to_batches(max_chunksize=CHUNK), table.schema)

    def column(self, batch: int, name: str) -> pa.Array:
        return self._batches[batch].column(name)


class _NamelessFile:
    """A file without a name. It is closed, and with that deleted, when its last user is gone."""

    def __init__(self) -> None:
        self.open: IO[bytes] = TemporaryFile(prefix="kafka-forensics-")  # noqa: SIM115 - see above
        finalize(self, self.open.close)


class OnDisk:
    """Batches in a file, each column as a message of its own in Arrow's format: a reader gets exactly the column that it asks for."""

    def __init__(self, file: _NamelessFile, schema: pa.Schema, sizes: Sequence[int], places: Sequence[Sequence[tuple[int, int]]]) -> None:
        """`places`: for each batch, where each column begins and its length in bytes."""
        self._file, self.schema, self.sizes, self._places = file, schema, sizes, places

    def column(self, batch: int, name: str) -> pa.Array:
        number = self.schema.get_field_index(name)
        begin, length = self._places[batch][number]
        self._file.open.seek(begin)
        message = pa.allocate_buffer(length)
        self._file.open.readinto(message)  # type: ignore[attr-defined]
        return pa.ipc.read_record_batch(message, pa.schema([self.schema.field(number)])).column(0)


class Store:
    """Takes rows of one schema, until they are `kept`."""

    def __init__(self, schema: pa.Schema, chunk: int = CHUNK, room: int | None = None) -> None:
        """`chunk`: rows of a batch; `room`: bytes of rows that stay in memory, IN_MEMORY_BYTES if not given."""
        self._schema, self._chunk = schema, chunk
        self._room = IN_MEMORY_BYTES if room is None else room
        self._added: list[pa.RecordBatch] = []
        self._batches: list[pa.RecordBatch] = []
        self._sizes: list[int] = []
        self._bytes = 0
        self._file: _NamelessFile | None = None
        self._places: list[list[tuple[int, int]]] = []

    def add(self, rows: pa.RecordBatch) -> None:
        self._added.append(rows)
        if sum(batch.num_rows for batch in self._added) >= self._chunk:
            self._put()

    def _put(self) -> None:
        for batch in pa.Table.from_batches(self._added, self._schema).combine_chunks().to_batches(max_chunksize=self._chunk):
            self._batches.append(batch)
            self._sizes.append(batch.num_rows)
            self._bytes += batch.nbytes
        self._added = []
        if self._bytes > self._room:
            self._write()

    def _write(self) -> None:
        if self._file is None:
            self._file = _NamelessFile()
        out = self._file.open
        for batch in self._batches:
            self._places.append([(out.tell(), out.write(batch.select([name]).serialize())) for name in self._schema.names])
        self._batches = []

    def kept(self) -> Stored:
        """All rows that were added."""
        if self._added:
            self._put()
        if self._file is None:
            return Stored(InMemory(self._batches, self._schema), self._bytes)
        self._write()
        return Stored(OnDisk(self._file, self._schema, self._sizes, self._places), self._bytes)


class Stored:
    """Rows in batches, with their size in bytes."""

    def __init__(self, batches: Batches, size: int) -> None:
        self.batches, self.bytes = batches, size
        self._ends = list(accumulate(batches.sizes))
        self._recent = lru_cache(OPEN)(batches.column)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def column(self, name: str) -> pa.ChunkedArray:
        return pa.chunked_array([self.batches.column(n, name) for n in range(len(self._ends))], self.batches.schema.field(name).type)

    def value(self, row: int, name: str) -> pa.Scalar:
        batch = bisect_right(self._ends, row)
        return self._recent(batch, name)[row - self._begin(batch)]

    def part(self, begin: int, end: int) -> Stored:
        """The rows from `begin` on, and before `end`."""
        return Stored(_Between(self.batches, self._ends, begin, end), self.bytes * (end - begin) // max(len(self), 1))

    def ordered(self, rows: pa.Array, store: Store) -> Stored:
        """The rows with these numbers, in this order, kept in a new store."""
        for batch in self.taken(rows):
            store.add(batch)
        return store.kept()

    def taken(self, rows: pa.Array) -> Iterator[pa.RecordBatch]:
        """The rows with these numbers, in this order."""
        at_once = max(CHUNK, IN_MEMORY_BYTES * len(self) // max(self.bytes, 1))
        for begin in range(0, len(rows), at_once):
            yield from self._at_once(rows.slice(begin, at_once))

    def _at_once(self, rows: pa.Array) -> Iterator[pa.RecordBatch]:
        """Reads each batch once."""
        ascending = pc.sort_indices(rows)
        numbers = rows.take(ascending).to_pylist()
        found, place = [], 0
        while place < len(numbers):
            batch = bisect_right(self._ends, numbers[place])
            after = bisect_left(numbers, self._ends[batch], place)
            own = pa.array([n - self._begin(batch) for n in numbers[place:after]], pa.int64())
            columns = [self.batches.column(batch, name).take(own) for name in self.batches.schema.names]
            found.append(pa.RecordBatch.from_arrays(columns, schema=self.batches.schema))
            place = after
        if found:
            ordered = pa.Table.from_batches(found).combine_chunks().take(pc.sort_indices(ascending))
            yield from ordered.to_batches(max_chunksize=CHUNK)

    def _begin(self, batch: int) -> int:
        return self._ends[batch - 1] if batch else 0


class _Between:
    """Some rows of other batches, one after the other."""

    def __init__(self, of: Batches, ends: Sequence[int], begin: int, end: int) -> None:
        self._of, self.schema = of, of.schema
        batches = range(bisect_right(ends, begin), bisect_left(ends, end) + 1) if begin < end else ()
        within = [(batch, max(begin, ends[batch] - of.sizes[batch]), min(end, ends[batch])) for batch in batches]
        self._places = [(batch, first - ends[batch] + of.sizes[batch], after - first) for batch, first, after in within]
        self.sizes: Sequence[int] = [size for _, _, size in self._places]

    def column(self, batch: int, name: str) -> pa.Array:
        number, first, size = self._places[batch]
        return self._of.column(number, name).slice(first, size)
