"""Python objects in Spark's tasks, and what a session offers to move them.

Here: the interface, and its implementation with RDDs, which serves every session whose driver this process controls. Not here: the
implementations with DataFrames, which also serves Spark Connect (frames), and without Spark (in_process), or what the objects are
(pipeline, sorting, audit).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

    from spark.sorting import Pack, Unsorted

T = TypeVar("T")
U = TypeVar("U")


class Dataset(ABC, Generic[T]):
    """Objects in Spark, computed when they are needed. The objects of one task have an order, and the tasks have one."""

    @abstractmethod
    def map_tasks(self, do: Callable[[Iterable[T]], Iterable[U]]) -> Dataset[U]:
        """What `do` returns for the objects of each task."""

    @abstractmethod
    def deal(self, ways: int, task_of: Sequence[int]) -> Dataset[T]:
        """The same objects in `ways` tasks. Each object is a pair of a number and a value; `task_of[number]` is its task."""

    @abstractmethod
    def union(self, other: Dataset[T]) -> Dataset[T]:
        """The tasks of both."""

    @abstractmethod
    def keep(self, *, on_disk: bool = False) -> Dataset[T]:
        """The same dataset, whose objects are computed once and kept in memory or on disk until `forget`."""

    @abstractmethod
    def forget(self) -> None:
        """Lets Spark drop kept objects. It computes them again when they are needed."""

    @abstractmethod
    def collect(self) -> list[T]:
        """All objects, computed in parallel."""

    @abstractmethod
    def iterate(self) -> Iterator[T]:
        """All objects, one task after another; the driver holds the objects of a few tasks at a time."""

    def count(self) -> int:
        """Number of objects."""
        return sum(self.map_tasks(_count).collect())


def _count(objects: Iterable[Any]) -> list[int]:
    return [sum(1 for _ in objects)]


class Backend(ABC):
    """The operations of a session that the engine needs."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session

    @property
    @abstractmethod
    def cores(self) -> int:
        """Number of tasks that run in parallel."""

    @abstractmethod
    def dataset(self, objects: Sequence[T]) -> Dataset[T]:
        """One task for each object."""

    @abstractmethod
    def share(self, value: U) -> Callable[[], U]:
        """A function that returns the value in every task."""

    @abstractmethod
    def in_order(self, rows: Unsorted, pack: Pack) -> Iterator[bytes]:
        """What `pack` makes of the sorted rows (without `twin`), a piece at a time."""

    @abstractmethod
    def stages(self, known: Collection[int]) -> Mapping[int, tuple[int, int]]:
        """Finished tasks and all tasks of the running stages and of the known ones, by the number of the stage."""

    def split(self, objects: Sequence[T], ways: int) -> Dataset[T]:
        """The objects in `ways` tasks, consecutive ones together."""
        ends = [len(objects) * way // ways for way in range(ways + 1)]
        return self.dataset([objects[begin:end] for begin, end in pairwise(ends)]).map_tasks(chain.from_iterable)


class SparkBackend(Backend):
    """A session of Spark, which has DataFrames."""

    @abstractmethod
    def frame(self, pieces: Sequence[bytes]) -> DataFrame:
        """A DataFrame with one binary column `data` and one task for each piece."""

    @abstractmethod
    def keep_frame(self, frame: DataFrame) -> DataFrame:
        """The same rows, computed once and kept on disk."""

    @abstractmethod
    def pieces(self, frame: DataFrame, *, prefetch: bool) -> Iterator[bytes]:
        """The values of a DataFrame with one binary column, one task after another. With `prefetch`, the next task is computed
        meanwhile."""

    def in_order(self, rows: Unsorted, pack: Pack) -> Iterator[bytes]:
        from spark.sorting import sorted_by_spark

        return sorted_by_spark(self, rows, pack)


def backend(session: SparkSession) -> Backend:
    """The backend of the session, the same in each call."""
    found = getattr(session, "_kafka_forensics_backend", None)
    if found is None:
        found = _new(session)
        use(session, found)
    return found


def use(session: SparkSession, chosen: Backend) -> None:
    """Makes this the backend of the session."""
    session._kafka_forensics_backend = chosen  # type: ignore[attr-defined]


def is_connect(session: SparkSession) -> bool:
    """Whether the session is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def _new(session: SparkSession) -> Backend:
    if not is_connect(session):
        return RddBackend(session)
    from spark.frames import ConnectBackend

    return ConnectBackend(session)


class RddDataset(Dataset[T]):
    """The objects of an RDD."""

    def __init__(self, rdd: RDD[T]) -> None:
        self._rdd = rdd

    def map_tasks(self, do: Callable[[Iterable[T]], Iterable[U]]) -> Dataset[U]:
        return RddDataset(self._rdd.mapPartitions(do))

    def deal(self, ways: int, task_of: Sequence[int]) -> Dataset[T]:
        pairs: Any = self._rdd
        return RddDataset(pairs.partitionBy(ways, task_of.__getitem__))

    def union(self, other: Dataset[T]) -> Dataset[T]:
        assert isinstance(other, RddDataset)
        return RddDataset(self._rdd.union(other._rdd))

    def keep(self, *, on_disk: bool = False) -> Dataset[T]:
        from pyspark import StorageLevel

        self._rdd.persist(StorageLevel.DISK_ONLY if on_disk else StorageLevel.MEMORY_AND_DISK)
        return self

    def forget(self) -> None:
        self._rdd.unpersist()

    def collect(self) -> list[T]:
        return self._rdd.collect()

    def iterate(self) -> Iterator[T]:
        return self._rdd.toLocalIterator(prefetchPartitions=True)


class RddBackend(SparkBackend):
    """Uses RDDs, whose small jobs start faster than queries over DataFrames (docs/decisions.md)."""

    @property
    def cores(self) -> int:
        return self.session.sparkContext.defaultParallelism

    def dataset(self, objects: Sequence[T]) -> Dataset[T]:
        return RddDataset(self.session.sparkContext.parallelize(objects, max(len(objects), 1)))

    def share(self, value: U) -> Callable[[], U]:
        sent = self.session.sparkContext.broadcast(value)
        return lambda: sent.value

    def frame(self, pieces: Sequence[bytes]) -> DataFrame:
        rows = self.session.sparkContext.parallelize([(piece,) for piece in pieces], max(len(pieces), 1))
        return self.session.createDataFrame(rows, "data binary")

    def keep_frame(self, frame: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        return frame.persist(StorageLevel.DISK_ONLY)

    def pieces(self, frame: DataFrame, *, prefetch: bool) -> Iterator[bytes]:
        # The iterator of the RDD, not of the DataFrame: Spark 4.3 keeps the jobs of the latter, with their results, until the JVM ends.
        return (row[0] for row in frame.rdd.toLocalIterator(prefetchPartitions=prefetch))

    def stages(self, known: Collection[int]) -> Mapping[int, tuple[int, int]]:
        return stages_of(self.session, known)


def stages_of(session: SparkSession, known: Collection[int]) -> Mapping[int, tuple[int, int]]:
    """As Backend.stages, for a session with a SparkContext."""
    tracker = session.sparkContext.statusTracker()
    wanted = {*tracker.getActiveStageIds(), *known}
    return {stage: (info.numCompletedTasks, info.numTasks) for stage in wanted if (info := tracker.getStageInfo(stage))}
