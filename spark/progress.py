"""How far Spark is: the bytes its tasks have read, or else how many of its tasks are done.

Here: what a reading task leaves behind as it reads, and what the driver makes of that. Not here: what is shown (forensics.commands).

An accumulator is brought up to date when a task ends, and one task may read a large archive for minutes. So there is a file for each job
that reads evidence, to which the tasks of this machine append what they have read, a number at a time; on other machines there is none,
and the tasks that are done stand for their share of the bytes.
"""

from __future__ import annotations

import os
import struct
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from parsers.containers.storage import File

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from parsers.containers.units import Unit

PERIOD_S = 0.2
"""A task tells no more often."""
_NUMBER = struct.Struct("<q")
_NAME = "read-"


class Seen(NamedTuple):
    """How much is done, of how much; both grow."""

    done: int
    total: int
    bytes: bool
    """As units of evidence estimate them (Unit.size); else these are tasks."""


def announced(directory: Path, size: int) -> Path:
    """A new file for tasks that will read so many bytes."""
    handle, name = tempfile.mkstemp(prefix=_NAME, dir=directory)
    with open(handle, "wb") as file:
        file.write(_NUMBER.pack(size))
    return Path(name)


def metered(units: Iterable[Unit], told: Path) -> Iterator[Unit]:
    """In a task: the units one after another, each until it is read; what is read of them is appended to the file."""
    with Meter(told) as meter:
        for unit in units:
            with meter.of(unit):
                yield unit


class Meter:
    """What a task has read of its units, told now and then."""

    def __init__(self, told: Path) -> None:
        try:
            self._file: int | None = os.open(told, os.O_WRONLY | os.O_APPEND)
        except OSError:  # it is on another machine
            self._file = None
        self._told_at = time.monotonic()
        self._unit: Unit | None = None
        self._left = self._untold = 0

    def __enter__(self) -> Meter:
        File.meter = self._read
        return self

    def __exit__(self, *_: object) -> None:
        File.meter = None
        if self._file is not None:
            self._tell(self._file)
            os.close(self._file)

    @contextmanager
    def of(self, unit: Unit) -> Iterator[None]:
        """While this unit is read: no more than its size is told of it, and all of that in the end."""
        self._unit, self._left = unit, unit.size
        yield
        self._add(self._left)

    def _read(self, file: File, size: int) -> None:
        unit = self._unit
        if unit is not None and file.size and (unit.select is None or len(unit.select) == 1) and (unit.dealt or unit.size > file.size):
            size = size * unit.size // file.size  # compressed bytes count for more, those that several tasks read for less
        self._add(size)

    def _add(self, size: int) -> None:
        size = min(size, self._left)
        self._left -= size
        self._untold += size
        if self._file is not None and (now := time.monotonic()) - self._told_at >= PERIOD_S:
            self._told_at = now
            self._tell(self._file)

    def _tell(self, file: int) -> None:
        if self._untold:
            os.write(file, _NUMBER.pack(self._untold))  # one append of few bytes: tasks do not mix theirs
            self._untold = 0


class Watch:
    """What has been done since it was made; for a thread of its own."""

    def __init__(self, session: SparkSession, directory: Path) -> None:
        self._tracker = session.sparkContext.statusTracker()
        self._directory = directory
        self._before = set(self._files())
        self._stages: dict[int, tuple[int, int]] = {}

    def _files(self) -> Iterator[Path]:
        yield from self._directory.glob(f"{_NAME}*")

    def seen(self) -> Seen:
        """Bytes while evidence is read, else tasks."""
        done = total = 0
        for file in self._files():
            if file not in self._before:
                size, *told = (number for (number,) in _NUMBER.iter_unpack(_whole(file)))
                done, total = done + sum(told), total + size
        if 0 < done < total:
            return Seen(done, total, True)
        tasks = self._tasks()
        if total and not done:
            return Seen(total * tasks.done // max(tasks.total, 1), total, True)
        return tasks if tasks.total else Seen(total, total, True)

    def _tasks(self) -> Seen:
        active = set(self._tracker.getActiveStageIds())
        for stage in active | {known for known, (done, total) in self._stages.items() if done < total}:
            if told := self._tracker.getStageInfo(stage):
                self._stages[stage] = (told.numCompletedTasks, told.numTasks)
        return Seen(sum(done for done, _ in self._stages.values()), sum(total for _, total in self._stages.values()), False)


def _whole(file: Path) -> bytes:
    data = file.read_bytes()
    return data[: len(data) - len(data) % _NUMBER.size]
