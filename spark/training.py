"""Makes the archive of Spark classes: runs the kinds of jobs that an analysis runs, and has the JVM record which classes they load.

The jobs run on generated rows and read no evidence. class_archive starts `python -m spark.training JAVA_HOME` as a detached process with
the lowest priority.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import Broadcast, StorageLevel
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from spark.class_archive import archive_for, prune
from spark.java import Java, Jvm, java_at
from spark.session import embedded, jvm_options

SCHEMA = "broker int, topic string, partition int, offset bigint, time timestamp, isr array<int>"


class TrainingRows(DataSource):
    """A data source with a few rows like events, in two splits."""

    @classmethod
    def name(cls) -> str:
        return "kafka_forensics_training"

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        return RowsReader()


class RowsReader(DataSourceReader):
    """Generates the rows."""

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(split) for split in range(2)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        numbers = pa.array(range(partition.value, 64, 2), pa.int64())
        columns: dict[str, Any] = {
            "broker": pa.array([number % 3 for number in numbers.to_pylist()], pa.int32()),
            "topic": pa.array(["orders"] * len(numbers)),
            "partition": pa.array([number % 5 for number in numbers.to_pylist()], pa.int32()),
            "offset": numbers,
            "time": numbers.cast(pa.timestamp("us", "UTC")),
            "isr": pa.array([[1, 2, 3]] * len(numbers), pa.list_(pa.int32())),
        }
        yield pa.RecordBatch.from_pydict(columns)


def jobs(session: SparkSession) -> int:
    """Runs the operations that the pipeline uses: RDDs of bytes, data source, map, group, window, join, sort, union. Returns the number of
    rows."""
    context = session.sparkContext
    known: Broadcast[list[Any]] = context.broadcast([])
    packed_rows = context.parallelize(range(64), 2).map(lambda number: (number, b"")).persist(StorageLevel.MEMORY_AND_DISK)
    packed_rows.collect()
    list(
        packed_rows.partitionBy(2, int).mapPartitions(lambda given: [known.value, *given]).persist(StorageLevel.DISK_ONLY).toLocalIterator()
    )
    session.dataSource.register(TrainingRows)
    rows = session.read.format(TrainingRows.name()).load()
    same = rows.mapInArrow(_same, SCHEMA).persist()
    grouped = same.groupBy("topic", "partition").applyInArrow(_count, "topic string, partition int, rows bigint")
    grouped.orderBy("partition").toArrow()
    ordered = Window.partitionBy("topic", "partition").orderBy("offset", "time")
    windowed = same.withColumn("last", F.lag("offset").over(ordered)).withColumn("first", F.min("offset").over(ordered))
    _collect(windowed.join(F.broadcast(grouped), ["topic", "partition"]).filter(F.col("last").isNotNull()).sort("time"))
    _collect(same.groupBy("broker").agg(F.count("*"), F.max("time"), F.collect_list("offset"), F.countDistinct("topic")))
    _collect(same.repartitionByRange(2, "offset").sortWithinPartitions("offset").mapInArrow(_same, SCHEMA).union(rows).distinct())
    local = session.createDataFrame(pa.table({"broker": pa.array([1, 2], pa.int32())}))
    _collect(same.select("broker", F.explode("isr").alias("replica")).join(local, "broker", "left"))
    return same.count()


def _collect(frame: DataFrame) -> None:
    frame.toArrow()
    frame.limit(1).collect()


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _count(key: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
    values = [[value.as_py()] for value in key]
    return pa.table({"topic": values[0], "partition": pa.array(values[1], pa.int32()), "rows": [rows.num_rows]})


def make(java: Java) -> bool:
    """Makes the archive for `java`, unless another process is making it. Returns whether the archive exists now. Raises what Spark
    raises."""
    archive = archive_for(java)
    if archive is None:
        return False
    with archive.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        prune(archive.path.parent)
        part = archive.path.with_name(f"part-{archive.path.name}")
        if not archive.path.exists():
            try:
                _record(java, archive.recording(part))
                part.replace(archive.path)
            except Exception:
                archive.failed.touch()
                raise
        prune(archive.path.parent)
    return archive.path.exists()


def _record(java: Java, recording: list[str]) -> None:
    jvm = Jvm(java, [*jvm_options({}, recording)], orderly=True)
    try:
        session = embedded(jvm, "local[2]")
        jobs(session)
        session.stop()
    finally:
        jvm.stop()


if __name__ == "__main__":
    os.nice(19)
    java = java_at(Path(sys.argv[1]))
    sys.exit(0 if java and make(java) else 1)
