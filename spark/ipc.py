"""Rows on their way through Spark, packed: between its tasks, and from them to the driver a piece at a time.

Here: the packing and the iterators. Not here: which rows they are, or in what order (pipeline, merge).

Spark sees bytes. Of an event's fifty columns most are null; rows of its own, and columns of these again at each step, cost it more than
reading the logs, and a plan over columns takes a JVM that just started longer than the work on small evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import zstandard

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame

Pack = Callable[[Iterator[pa.RecordBatch]], Iterable[bytes]]


def packed(rows: pa.Table) -> bytes:
    """Rows without the columns that say nothing."""
    told = rows.select([name for name in rows.schema.names if rows[name].null_count < rows.num_rows])
    return zstandard.ZstdCompressor(level=1).compress(_stream(told.replace_schema_metadata(None)))


def opened(piece: bytes) -> pa.Table:
    """The rows again, with the columns that say something."""
    return pa.ipc.open_stream(zstandard.ZstdDecompressor().decompress(piece)).read_all()


def whole(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with all columns of the schema."""
    there = set(rows.schema.names)
    columns = [rows[f.name] if f.name in there else pa.nulls(rows.num_rows, f.type) for f in schema]
    return pa.Table.from_arrays(columns, schema=schema)


class Packed:
    """Rows of a schema in Spark."""

    def __init__(self, packed_rows: RDD[bytes], schema: pa.Schema) -> None:
        self._packed, self._schema = packed_rows, schema

    def table(self) -> pa.Table:
        found = [whole(opened(piece), self._schema) for piece in self._packed.collect()]
        return pa.concat_tables(found) if found else self._schema.empty_table()

    def keep(self) -> None:
        """Makes all of them, on all tasks at once, which an iterator over them is not, for `batches` to read from disk."""
        from pyspark import StorageLevel

        self._packed.persist(StorageLevel.DISK_ONLY).count()

    def forget(self) -> None:
        self._packed.unpersist()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """One of Spark's partitions after the other."""
        for piece in self._packed.toLocalIterator(prefetchPartitions=True):
            yield from whole(opened(piece), self._schema).to_batches()


def carried(frame: DataFrame, pack: Pack, *, prefetch: bool) -> Iterator[bytes]:
    """What `pack` makes of the rows of each of Spark's partitions, in their order. One partition at a time is worked on, with `prefetch` the
    next one beside it."""

    def apply(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shrink = zstandard.ZstdCompressor(level=1).compress
        for piece in pack(given):
            yield pa.RecordBatch.from_pydict({"piece": [shrink(piece)]})

    unpack = zstandard.ZstdDecompressor().decompress
    # Not the DataFrame's own iterator: Spark 4.3 counts its jobs, with their results, as the query's until the JVM ends.
    for row in frame.mapInArrow(apply, "piece binary").rdd.toLocalIterator(prefetchPartitions=prefetch):
        yield unpack(row[0])


def batches(frame: DataFrame, schema: pa.Schema, *, prefetch: bool) -> Iterator[pa.RecordBatch]:
    """The rows as batches of `schema`."""
    for piece in carried(frame, lambda given: map(_stream, given), prefetch=prefetch):
        for batch in pa.ipc.open_stream(piece):
            yield from pa.Table.from_batches([batch]).cast(schema).to_batches()


def _stream(rows: pa.RecordBatch | pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write(rows)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
