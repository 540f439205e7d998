"""Sorts the log records of all brokers by time and hands them to the driver piece by piece.

Here: the DataFrame, which spills to disk. Not here: which records there are, and their sort keys (forensics.tools.ordered_records). Rows
have at least the columns of ORDER, `twin` (the same in all copies of a record, or null) and `text`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from parsers.containers.units import Unit
from spark.datasets import backend
from spark.ipc import batches, carried
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


def records(session: SparkSession, units: Sequence[Unit], read: Read, schema: pa.Schema, *, copies: bool) -> DataFrame:
    """The records of the units, in no order. With `copies`, each record of several copies of a log is there once."""
    from pyspark.sql.pandas.types import from_arrow_schema

    from spark.session import directory

    size = sum(unit.size for unit in units)
    ways = tasks(session, size)
    progress = announced(directory(session), units)

    def apply(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in given:
            for split in batch.column("data").to_pylist():
                units_of_split = pickle.loads(split)  # noqa: S301 - units that the driver pickled, below
                yield from read(metered(units_of_split, progress))

    # As rows of a DataFrame: in the closure of the function, every task would get the names of all files.
    splits = [pickle.dumps(split) for split in balance(list(units), ways)]
    rows = backend(session).frame(splits).mapInArrow(apply, from_arrow_schema(schema, prefer_timestamp_ntz=True))
    return without_copies(rows, ways) if copies else rows


def without_copies(rows: DataFrame, ways: int) -> DataFrame:
    """Of each record with copies the one from the source with the lowest rank."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    lowest = F.min("rank").over(Window.partitionBy("twin"))
    return rows.repartition(ways, "twin").withColumn("lowest", lowest).where(F.col("rank") == F.col("lowest")).drop("lowest")


def text(rows: DataFrame, blocks: Callable[[Iterator[pa.RecordBatch]], Iterator[str]]) -> Iterator[str]:
    """The sorted rows as blocks of text. The first block comes when all rows are sorted."""

    def pack(given: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
        for block in blocks(given):
            yield block.encode()

    ordered, parts = _in_order(rows)
    for piece in carried(ordered, pack, prefetch=parts > 1) if parts else ():
        yield piece.decode()


def in_order(rows: DataFrame, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The sorted rows, in batches of `schema`."""
    ordered, parts = _in_order(rows)
    yield from batches(ordered, schema, prefetch=parts > 1) if parts else ()


def _in_order(rows: DataFrame) -> tuple[DataFrame, int]:
    """The sorted rows without `twin`, and the number of Spark partitions they are in."""
    from pyspark.sql import functions as F

    rows = backend(rows.sparkSession).keep_frame(rows.drop("twin"))  # otherwise finding the bounds of the pieces reads the evidence again
    (size,) = rows.agg(F.sum(F.length("text") + 200)).first() or (None,)
    parts = -(-int(size or 0) // PART_BYTES)
    ranged = rows.repartitionByRange(parts, *ORDER) if parts > 1 else rows.coalesce(1)
    return ranged.sortWithinPartitions(*ORDER), parts
