"""Sorts the log records of all brokers by time and hands them to the driver piece by piece.

Here: the DataFrame, which spills to disk. Not here: which records there are, and their sort keys (forensics.tools.ordered_records). Rows
have at least the columns of ORDER, `twin` (the same in all copies of a record, or null) and `text`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import zstandard

from parsers.containers.units import Unit
from spark.datasets import SparkBackend, backend
from spark.ipc import streamed
from spark.pipeline import balance, tasks
from spark.progress import announced, metered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDER = ("key", "rank", "number")
"""The columns by which records are sorted."""
PART_BYTES = 16 << 20
"""Text of one piece of the result, about. The driver holds one piece at a time."""
Read = Callable[[Iterable[Unit]], Iterator[pa.RecordBatch]]
"""Reads the records of units."""
Pack = Callable[[Iterator[pa.RecordBatch]], Iterable[bytes | pa.Buffer]]
"""Turns sorted rows into pieces of bytes."""


class Unsorted(NamedTuple):
    """Records in no order, not yet read."""

    session: SparkSession
    splits: Sequence[Any]
    """What one task reads each."""
    read: Callable[[Any], Iterable[pa.RecordBatch]]
    schema: pa.Schema
    copies: bool
    """There are several copies of a log, and each of their records is wanted once: from the source with the lowest rank."""


def records(session: SparkSession, units: Sequence[Unit], read: Read, schema: pa.Schema, *, copies: bool) -> Unsorted:
    """The records of the units."""
    from spark.session import directory

    size = sum(unit.size for unit in units)
    progress = announced(directory(session), units)
    return Unsorted(session, balance(units, tasks(session, size)), lambda split: read(metered(split, progress)), schema, copies)


def text(rows: Unsorted, blocks: Callable[[Iterator[pa.RecordBatch]], Iterator[str]]) -> Iterator[str]:
    """The sorted rows as blocks of text. The first block comes when all rows are sorted."""

    def pack(given: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
        for block in blocks(given):
            yield block.encode()

    for piece in backend(rows.session).in_order(rows, pack):
        yield piece.decode()


def in_order(rows: Unsorted, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The sorted rows, in batches of `schema`."""
    for piece in backend(rows.session).in_order(rows, lambda given: map(streamed, given)):
        for batch in pa.ipc.open_stream(piece):
            yield from pa.Table.from_batches([batch]).cast(schema).to_batches()


def sorted_by_spark(spark: SparkBackend, rows: Unsorted, pack: Pack) -> Iterator[bytes]:
    """As Backend.in_order."""
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    read = rows.read

    def apply(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in given:
            for split in batch.column("data").to_pylist():
                yield from read(pickle.loads(split))  # noqa: S301 - what the driver pickled, below

    # As rows of a DataFrame: in the closure of the function, every task would get the names of all files.
    splits = [pickle.dumps(split) for split in rows.splits]
    frame = spark.frame(splits).mapInArrow(apply, from_arrow_schema(rows.schema, prefer_timestamp_ntz=True))
    if rows.copies:
        frame = _without_copies(frame, len(splits))
    kept = spark.keep_frame(frame.drop("twin"))  # otherwise finding the bounds of the pieces reads the evidence again
    (size,) = kept.agg(F.sum(F.length("text") + 200)).first() or (None,)
    if parts := -(-int(size or 0) // PART_BYTES):
        ranged = kept.repartitionByRange(parts, *ORDER) if parts > 1 else kept.coalesce(1)
        yield from _carried(spark, ranged.sortWithinPartitions(*ORDER), pack, prefetch=parts > 1)


def _without_copies(rows: DataFrame, ways: int) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    lowest = F.min("rank").over(Window.partitionBy("twin"))
    return rows.repartition(ways, "twin").withColumn("lowest", lowest).where(F.col("rank") == F.col("lowest")).drop("lowest")


def _carried(spark: SparkBackend, frame: DataFrame, pack: Pack, *, prefetch: bool) -> Iterator[bytes]:
    """The pieces that `pack` returns for each Spark partition, in the order of the partitions. Spark computes one partition at a time; with
    `prefetch` it also computes the next one meanwhile."""

    def apply(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        compress = zstandard.ZstdCompressor(level=1).compress
        for piece in pack(given):
            yield pa.RecordBatch.from_pydict({"piece": [compress(piece)]})

    decompress = zstandard.ZstdDecompressor().decompress
    for piece in spark.pieces(frame.mapInArrow(apply, "piece binary"), prefetch=prefetch):
        yield decompress(piece)
