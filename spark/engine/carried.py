"""Rows on their way from Spark's tasks to the driver, a packed piece at a time.

Here: the packing and the iterator. Not here: which rows they are, or in what order (pipeline, merge).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import zstandard

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Pack = Callable[[Iterator[pa.RecordBatch]], Iterable[bytes]]


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
    for piece in carried(frame, _packed, prefetch=prefetch):
        for batch in pa.ipc.open_stream(piece):
            yield from pa.Table.from_batches([batch]).cast(schema).to_batches()


def _packed(given: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    for batch in given:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield sink.getvalue().to_pybytes()
