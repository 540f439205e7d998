"""Progress of a Spark job: the bytes that its tasks have read, or else the number of finished tasks.

Here: how tasks record what they have read, and how the driver adds it up. Not here: how progress is shown (forensics.commands).

Spark updates an accumulator only when a task ends, and one task may read a large archive for minutes. So each job that reads evidence has a
progress file, and the tasks on the driver's machine append to it how many bytes they have read. Tasks on other machines cannot write to
this file; then bytes are estimated from the share of tasks that have finished.
"""

from __future__ import annotations

import os
import struct
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from parsers.containers.storage import EvidenceFile, storage
from spark.datasets import backend

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from parsers.containers.units import Unit

PERIOD_S = 0.2
"""Least time between two writes of a task to the progress file."""
_ENTRY = struct.Struct("<qq")
"""An entry of a progress file: bytes and files. The first entry is what is to be read, each further entry what was read since."""
_NAME = "read-"
"""How the names of progress files begin."""


class DoneSoFar(NamedTuple):
    """How much is done, and the total. The total grows too, with each job that begins."""

    done: int
    total: int
    bytes: bool
    """True if `done` and `total` are bytes as estimated by Unit.size, false if they are tasks."""
    files: tuple[int, int] = (0, 0)
    """How many files on disk were opened, and the total. An archive is one."""


def announced(directory: Path, units: Sequence[Unit], times: int = 1) -> Path:
    """Creates the progress file of a job that will read these units so many times, and returns its path."""
    handle, name = tempfile.mkstemp(prefix=_NAME, dir=directory)
    with open(handle, "wb") as file:
        file.write(_ENTRY.pack(times * sum(unit.size for unit in units), times * len({file for unit in units for file in _files_of(unit)})))
    return Path(name)


def _files_of(unit: Unit) -> Iterator[tuple[str, str]]:
    names = unit.select if unit.select is not None and storage(unit.path).is_directory() else ("",)
    return ((unit.path, name) for name in names)


def metered(units: Iterable[Unit], progress: Path) -> Iterator[Unit]:
    """The units, one after another, for a task to read. Bytes read from the current unit are recorded in the progress file."""
    with Meter(progress) as meter:
        for unit in units:
            with meter.of(unit):
                yield unit


class Meter:
    """Counts the bytes that a task reads and writes the count to the progress file, at most once per PERIOD_S."""

    def __init__(self, progress: Path) -> None:
        try:
            self._file: int | None = os.open(progress, os.O_WRONLY | os.O_APPEND)
        except OSError:  # the file is on another machine
            self._file = None
        self._written_at = time.monotonic()
        self._unit: Unit | None = None
        self._left = self._unwritten = self._opened = 0
        self._file_read: EvidenceFile | None = None

    def __enter__(self) -> Meter:
        EvidenceFile.meter = self._read
        return self

    def __exit__(self, *_: object) -> None:
        EvidenceFile.meter = None
        if self._file is not None:
            self._write(self._file)
            os.close(self._file)

    @contextmanager
    def of(self, unit: Unit) -> Iterator[None]:
        """A context in which bytes count for `unit`: never more than its size, and at the end exactly its size."""
        self._unit, self._left = unit, unit.size
        yield
        self._add(self._left)

    def _read(self, file: EvidenceFile, size: int) -> None:
        if file is not self._file_read:
            self._file_read, self._opened = file, self._opened + 1
        unit = self._unit
        if unit is not None and file.size and (unit.select is None or len(unit.select) == 1) and (unit.dealt or unit.size > file.size):
            size = size * unit.size // file.size  # compressed bytes count for more; bytes that several tasks read count for less
        self._add(size)

    def _add(self, size: int) -> None:
        size = min(size, self._left)
        self._left -= size
        self._unwritten += size
        if self._file is not None and (now := time.monotonic()) - self._written_at >= PERIOD_S:
            self._written_at = now
            self._write(self._file)

    def _write(self, file: int) -> None:
        if self._unwritten or self._opened:
            os.write(file, _ENTRY.pack(self._unwritten, self._opened))  # so short an append is atomic: entries of several tasks do not mix
            self._unwritten = self._opened = 0


class Watch:
    """Progress of the jobs that began after this object was created. Used from a separate thread while the jobs run."""

    def __init__(self, session: SparkSession, directory: Path) -> None:
        self._backend = backend(session)
        self._directory = directory
        self._before = set(self._files())
        self._stages: dict[int, tuple[int, int]] = {}

    def _files(self) -> Iterator[Path]:
        yield from self._directory.glob(f"{_NAME}*")

    def seen(self) -> DoneSoFar:
        """The progress so far: bytes while evidence is read, otherwise tasks."""
        done = total = opened = files = 0
        for file in self._files():
            if file not in self._before:
                (size, number), *reads = _ENTRY.iter_unpack(_complete_entries(file))
                done, total = done + sum(n for n, _ in reads), total + size
                opened, files = opened + min(sum(n for _, n in reads), number), files + number
        if 0 < done < total:
            return DoneSoFar(done, total, True, (opened, files))
        tasks = self._tasks()
        if total and not done:
            return DoneSoFar(total * tasks.done // max(tasks.total, 1), total, True)
        return tasks if tasks.total else DoneSoFar(total, total, True)

    def _tasks(self) -> DoneSoFar:
        self._stages.update(self._backend.stages({stage for stage, (done, total) in self._stages.items() if done < total}))
        return DoneSoFar(sum(done for done, _ in self._stages.values()), sum(total for _, total in self._stages.values()), False)


def _complete_entries(file: Path) -> bytes:
    data = file.read_bytes()
    return data[: len(data) - len(data) % _ENTRY.size]
