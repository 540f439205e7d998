"""The interface of datasets with DataFrames alone: for Spark Connect, which has no RDDs.

Here: each object is a row with one binary column, and steps that follow each other run as one mapInArrow. Not here: the interface, and RDDs
(datasets).
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyarrow as pa
import zstandard

from parsers.cached import cached_property
from spark.datasets import Dataset, SparkBackend, stages_of
from spark.failures import TooLarge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
U = TypeVar("U")
Step = Callable[[Iterable[Any]], Iterable[Any]]

BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
BLOCKS_A_BATCH = "16"
"""Rows of objects in one Arrow batch: an object has up to some megabytes, and Arrow's binary column at most 2 GiB."""
ROWS_A_BATCH = "4096"
"""Rows in one Arrow batch of other DataFrames."""
MOST_SHARED = 100 << 20
"""Bytes of a shared value that a Connect server accepts: one message has at most 128 MiB."""
CORE_PROBES = 1 << 12


def _pickled(objects: Iterable[Any]) -> Iterator[pa.RecordBatch]:
    for one in objects:
        yield pa.RecordBatch.from_pydict({"data": pa.array([pickle.dumps(one, 5)], pa.binary())})


def _pickled_pairs(pairs: Iterable[Any], task_of: Sequence[int]) -> Iterator[pa.RecordBatch]:
    for pair in pairs:
        task, data = pa.array([task_of[pair[0]]], pa.int32()), pa.array([pickle.dumps(pair, 5)], pa.binary())
        yield pa.RecordBatch.from_pydict({"task": task, "data": data})


def _unpickled(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    for batch in batches:
        for data in batch.column("data"):
            yield pickle.loads(data.as_buffer())  # noqa: S301 - objects that tasks of this run pickled, above


class FrameDataset(Dataset[T]):
    """The objects that `steps` make of those in the rows of a DataFrame."""

    def __init__(self, backend: FrameBackend, frame: DataFrame, steps: tuple[Step, ...] = ()) -> None:
        self._backend, self._frame, self._steps = backend, frame, steps
        self._before = (frame, steps)

    def _computed(self, pickled: Callable[[Iterable[Any]], Iterator[pa.RecordBatch]] = _pickled, schema: str = "data binary") -> DataFrame:
        if not self._steps and pickled is _pickled:
            return self._frame
        steps = self._steps

        def apply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            objects: Iterable[Any] = _unpickled(batches)
            for step in steps:
                objects = iter(step(objects))
            return pickled(objects)

        return self._frame.mapInArrow(apply, schema)

    def map_tasks(self, do: Callable[[Iterable[T]], Iterable[U]]) -> Dataset[U]:
        return FrameDataset(self._backend, self._frame, (*self._steps, do))

    def deal(self, ways: int, task_of: Sequence[int]) -> Dataset[T]:
        placed = self._computed(partial(_pickled_pairs, task_of=task_of), "task int, data binary")
        return FrameDataset(self._backend, placed.repartitionById(ways, "task").select("data"))

    def union(self, other: Dataset[T]) -> Dataset[T]:
        assert isinstance(other, FrameDataset)
        return FrameDataset(self._backend, self._computed().union(other._computed()))

    def keep(self, *, on_disk: bool = False) -> Dataset[T]:
        from pyspark import StorageLevel

        # A DataFrame that is persisted through a Connect server outlives the session. A local checkpoint ends with the session.
        level = StorageLevel.DISK_ONLY if on_disk else StorageLevel.MEMORY_AND_DISK
        self._before = (self._frame, self._steps)
        self._frame, self._steps = self._computed().localCheckpoint(eager=False, storageLevel=level), ()
        return self

    def forget(self) -> None:
        self._frame, self._steps = self._before

    def collect(self) -> list[T]:
        self._backend.set_batch_rows(BLOCKS_A_BATCH)
        return list(_unpickled(self._computed().toArrow().to_batches()))

    def iterate(self) -> Iterator[T]:
        self._backend.set_batch_rows(BLOCKS_A_BATCH)
        for piece in self._backend.binary(self._computed(), prefetch=True):
            yield pickle.loads(piece)  # noqa: S301 - objects that tasks of this run pickled, above


class FrameBackend(SparkBackend):
    """Uses DataFrames of a session with a SparkContext: the same plans as over Spark Connect, without a server."""

    def set_batch_rows(self, rows: str) -> None:
        """Sets the number of rows in a batch for the queries that start from now on."""
        self.session.conf.set(BATCH_ROWS, rows)

    @cached_property
    def cores(self) -> int:
        from pyspark.sql import functions as F

        return self.session.range(CORE_PROBES).select(F.spark_partition_id()).distinct().count()

    def dataset(self, objects: Sequence[T]) -> Dataset[T]:
        return FrameDataset(self, self.frame([pickle.dumps(one, 5) for one in objects]))

    def share(self, value: U) -> Callable[[], U]:
        return partial(_opened, self._packed(value))

    def _packed(self, value: Any) -> bytes:
        return zstandard.ZstdCompressor(level=1).compress(pickle.dumps(value, 5))

    def frame(self, pieces: Sequence[bytes]) -> DataFrame:
        rows = pa.table({"task": pa.array(range(len(pieces)), pa.int32()), "data": pa.array(pieces, pa.binary())})
        return self.session.createDataFrame(rows).repartitionById(max(len(pieces), 1), "task").select("data")

    def keep_frame(self, frame: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        self.set_batch_rows(ROWS_A_BATCH)
        return frame.localCheckpoint(eager=False, storageLevel=StorageLevel.DISK_ONLY)

    def pieces(self, frame: DataFrame, *, prefetch: bool) -> Iterator[bytes]:
        self.set_batch_rows(ROWS_A_BATCH)
        yield from self.binary(frame, prefetch=prefetch)

    def binary(self, frame: DataFrame, *, prefetch: bool) -> Iterator[bytes]:
        """As `pieces`, with the present number of rows in a batch."""
        return (row[0] for row in frame.rdd.toLocalIterator(prefetchPartitions=prefetch))

    def stages(self, known: Collection[int]) -> Mapping[int, tuple[int, int]]:
        return stages_of(self.session, known)


class ConnectBackend(FrameBackend):
    """Uses the driver of a Spark Connect server."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__(session)
        self._lock = threading.Lock()
        self._stages: dict[int, tuple[int, int]] = {}
        session.registerProgressHandler(cast("Any", self._record))

    def _record(self, stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        with self._lock:
            self._stages.update({stage.stage_id: (stage.num_completed_tasks, stage.num_tasks) for stage in stages or ()})

    def _packed(self, value: Any) -> bytes:
        data = super()._packed(value)
        if len(data) > MOST_SHARED:
            size = f"{len(data) >> 20} MiB"
            raise TooLarge(f"the facts about the cluster have {size}, more than a Spark Connect server accepts; use another --master")
        return data

    def binary(self, frame: DataFrame, *, prefetch: bool) -> Iterator[bytes]:
        return (bytes(row[0]) for row in frame.toLocalIterator())

    def stages(self, known: Collection[int]) -> Mapping[int, tuple[int, int]]:
        with self._lock:
            return dict(self._stages)


@lru_cache(maxsize=4)
def _opened(data: bytes) -> Any:
    """A shared value, unpacked once in each worker."""
    return pickle.loads(zstandard.ZstdDecompressor().decompress(data))  # noqa: S301 - a value that the driver of this run pickled
