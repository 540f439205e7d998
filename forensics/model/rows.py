"""Rows of Arrow that become objects only while they are read, and that wait on disk until then.

Here: batches as a sequence of rows, whose columns are read one by one; few rows stay in memory, many are in a file without a name; and rows
by the value of a column. Not here: which rows exist (forensics.incidents), or what they mean.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from tempfile import TemporaryFile
from typing import IO, Any, Protocol, overload
from weakref import finalize

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.events import values
from forensics.model.times import grouped
from parsers.cached import cached_property
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
        by_batch = grouped((bisect_right(ends, number), number) for number in numbers)
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
