"""The engine in this process, one task after another: for small evidence on a machine without Java.

Here: what replaces a session, its datasets and its sorting. Not here: when it is used (forensics.commands.evidence).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc

from spark.datasets import Backend, Dataset, use
from spark.session import DIRECTORY
from spark.sorting import ORDER, Pack, Unsorted
from spark.temporary import temporary_directory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from parsers.containers.units import Unit

T = TypeVar("T")
U = TypeVar("U")
MOST_BYTES = 64 << 20
"""Evidence that is worth a run on one core, whose events stay in memory."""


def suits(units: Iterable[Unit]) -> bool:
    """Whether these units are few enough."""
    return sum(unit.size for unit in units) <= MOST_BYTES


@cache
def in_process() -> SparkSession:
    """The replacement for a session without Spark, the same in each call."""
    session = cast("SparkSession", _NoSession())
    use(session, InProcessBackend(session))
    return session


class _NoSession:
    def __init__(self) -> None:
        self.conf = {DIRECTORY: str(temporary_directory())}


class _Task:
    """The objects of a task, computed when they are needed, or once if they are kept."""

    def __init__(self, compute: Callable[[], Iterable[Any]]) -> None:
        self._compute, self.kept = compute, False
        self._objects: list[Any] | None = None

    def __call__(self) -> Iterator[Any]:
        if not self.kept:
            return iter(self._compute())
        if self._objects is None:
            self._objects = list(self._compute())
        return iter(self._objects)

    def forget(self) -> None:
        self.kept, self._objects = False, None


class InProcessDataset(Dataset[T]):
    """Objects in the tasks of this process."""

    def __init__(self, tasks: Sequence[_Task]) -> None:
        self._tasks = tasks

    def map_tasks(self, do: Callable[[Iterable[T]], Iterable[U]]) -> Dataset[U]:
        return InProcessDataset([_Task(partial(_done, do, task)) for task in self._tasks])

    def deal(self, ways: int, task_of: Sequence[int]) -> Dataset[T]:
        dealt = _Task(partial(self._dealt, task_of))
        dealt.kept = True
        return InProcessDataset([_Task(partial(_own, way, dealt)) for way in range(ways)])

    def _dealt(self, task_of: Sequence[int]) -> list[dict[int, list[Any]]]:
        by_task: dict[int, list[Any]] = defaultdict(list)
        for pair in cast("Iterable[tuple[int, Any]]", self.iterate()):
            by_task[task_of[pair[0]]].append(pair)
        return [by_task]

    def union(self, other: Dataset[T]) -> Dataset[T]:
        assert isinstance(other, InProcessDataset)
        return InProcessDataset([*self._tasks, *other._tasks])

    def keep(self, *, on_disk: bool = False) -> Dataset[T]:
        for task in self._tasks:
            task.kept = True
        return self

    def forget(self) -> None:
        for task in self._tasks:
            task.forget()

    def collect(self) -> list[T]:
        return list(self.iterate())

    def iterate(self) -> Iterator[T]:
        return chain.from_iterable(task() for task in self._tasks)


def _done(do: Callable[[Iterable[Any]], Iterable[U]], task: _Task) -> Iterable[U]:
    return do(task())


def _own(way: int, dealt: _Task) -> list[Any]:
    (by_task,) = dealt()
    return by_task.get(way, [])  # type: ignore[no-any-return]


class InProcessBackend(Backend):
    """Runs the functions of the tasks in this process, one after another."""

    @property
    def cores(self) -> int:
        return 1

    def dataset(self, objects: Sequence[T]) -> Dataset[T]:
        return InProcessDataset([_Task(partial(list, (one,))) for one in objects])

    def share(self, value: U) -> Callable[[], U]:
        return lambda: value

    def in_order(self, rows: Unsorted, pack: Pack) -> Iterator[bytes]:
        read = pa.Table.from_batches(chain.from_iterable(map(rows.read, rows.splits)), rows.schema)
        own = read.filter(_lowest(read)) if rows.copies else read
        ordered = own.drop_columns("twin").sort_by([(name, "ascending") for name in ORDER])
        yield from (bytes(piece) for piece in pack(iter(ordered.to_batches())))

    def stages(self, known: Collection[int]) -> Mapping[int, tuple[int, int]]:
        return {}


def _lowest(rows: pa.Table) -> pa.ChunkedArray:
    """Whether a record is the one of its copies from the source with the lowest rank."""
    twin = rows["twin"].combine_chunks().dictionary_encode().indices
    lowest = pa.table({"twin": twin, "rank": rows["rank"]}).group_by("twin").aggregate([("rank", "min")]).sort_by("twin")
    return pc.equal(rows["rank"], lowest["rank_min"].take(twin))
