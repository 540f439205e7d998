"""The Spark jobs of an audit: digests of files, files read once and kept, and kept files read again.

Here: how the work is divided into tasks. Not here: the kept files, which the functions that are passed in write and read
(forensics.audit.kept), or which files and clusters there are (forensics.audit.archive).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa

from parsers import pieces
from parsers.containers.storage import Version, storage
from parsers.containers.units import Unit
from parsers.log_pattern import compiled
from parsers.schemas import Row
from spark.datasets import backend
from spark.pipeline import EventBlock, Masks, SparkEvents, balance, blocks, of_block, read, spread, tasks
from spark.progress import announced, metered
from spark.session import directory
from spark.sorting import Read, Unsorted, in_order

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHUNK = 1 << 20
FILES_A_TASK = 1000
"""Files that one task digests."""
HELD_BYTES = 64 << 20
"""Content of objects that a task keeps while it reads their events and their log records."""
Keep = Callable[[Iterator[Unit]], Iterable[Row]]
"""Reads units, writes what was read to kept files, and describes these files."""
Write = Callable[[Iterable[pa.RecordBatch]], list[Row]]
"""Writes batches to kept files and describes these files."""
Part = TypeVar("Part")
Open = Callable[[Part], Iterable[pa.RecordBatch]]
"""Reads a part of a kept file."""
Work = TypeVar("Work")
Done = TypeVar("Done")


class ArchiveFile(NamedTuple):
    """A file of the archive."""

    path: str
    """The argument of the command to which it belongs."""
    name: str
    version: Version | None


def digests(session: SparkSession, files: Sequence[ArchiveFile]) -> list[str | None]:
    """SHA-256 of each file; None if it cannot be read."""
    if not files:
        return []
    spark = backend(session)
    ways = max(min(len(files), spark.cores), len(files) // FILES_A_TASK)
    return spark.split(files, ways).map_tasks(partial(map, _digest)).collect()


def _digest(file: ArchiveFile) -> str | None:
    digest = hashlib.sha256()
    try:
        with storage(file.path).open(file.name, file.version) as stream:
            while data := stream.read(CHUNK):
                digest.update(data)
    except (OSError, EOFError):
        return None
    return digest.hexdigest()


def undivided(session: SparkSession, units: Sequence[Unit], log_patterns: Sequence[str]) -> tuple[list[Unit], list[Unit]]:
    """The units that one task reads each, and those that several tasks read together. A unit of many objects becomes units of up to
    HELD_BYTES, whose content a task can keep."""
    layouts = [compiled(pattern) for pattern in log_patterns]
    ways = backend(session).cores
    alone: list[Unit] = []
    others: list[Unit] = []
    for unit in units:
        by_one = spread(unit, ways) == [unit] and pieces.cut(unit, layouts) == [unit]
        if by_one:
            alone += _of_few_bytes(unit)
        else:
            others.append(unit)
    return alone, others


def _of_few_bytes(unit: Unit) -> list[Unit]:
    if unit.select is None or not unit.versions or len(unit.select) != len(unit.versions):
        return [unit]
    groups: list[list[tuple[str, Version | None]]] = [[]]
    size = 0
    for name, version in zip(unit.select, unit.versions, strict=True):
        own = version.size if version is not None else 0
        if groups[-1] and size + own > HELD_BYTES:
            groups.append([])
            size = 0
        groups[-1].append((name, version))
        size += own
    share = unit.size // len(groups)
    return [replace(unit, select=tuple(n for n, _ in group), versions=tuple(v for _, v in group), size=share) for group in groups]


def keep_undivided(session: SparkSession, units: Sequence[Unit], keep: Keep, *, times: int) -> list[Row]:
    """What `keep` returns for the units, in whose tasks it reads and writes them. It is given each unit so many times in a row, as often as
    it reads the unit."""
    size = times * sum(unit.size for unit in units)
    progress = announced(directory(session), units, times)

    def apply(given: Iterable[Sequence[Unit]]) -> Iterator[Row]:
        return (row for split in given for row in keep(metered((unit for unit in split for _ in range(times)), progress)))

    spark = backend(session)
    return spark.dataset(balance(units, tasks(session, size))).map_tasks(apply).collect() if units else []


def keep_events(session: SparkSession, units: list[Unit], log_patterns: Sequence[str], masks: Masks, write: Write) -> list[Row]:
    """Reads the events of the units once and writes them in the tasks. Returns what `write` returns."""
    events = read(session, units, log_patterns, masks)
    events.unpersist()  # they are read once; Spark keeps only the pieces of large logs, which are compared first
    return events.blocks.map_tasks(lambda given: write(_together(given))).collect()


def _together(given: Iterable[EventBlock]) -> Iterator[pa.RecordBatch]:
    """The events of the blocks. Blocks that were packed together become one batch, so that a batch is of few files."""
    waiting: list[EventBlock] = []
    for block in given:
        if any(other.what == block.what for other in waiting):
            yield from _events_of(waiting)
            waiting = []
        waiting.append(block)
    if waiting:
        yield from _events_of(waiting)


def _events_of(together: Iterable[EventBlock]) -> list[pa.RecordBatch]:
    return pa.concat_tables(map(of_block, together)).combine_chunks().to_batches()  # type: ignore[no-any-return]


def keep_records(session: SparkSession, units: list[Unit], read: Read, write: Write) -> list[Row]:
    """Reads the log records of the units once and writes them in the tasks. Returns what `write` returns."""
    spark = backend(session)
    size = sum(unit.size for unit in units)
    progress = announced(directory(session), units)
    splits = balance(units, tasks(session, size))
    known = spark.share((read, write))

    def apply(given: Iterable[Sequence[Unit]]) -> Iterator[Row]:
        read, write = known()
        return (row for split in given for row in write(read(metered(split, progress))))

    return spark.dataset(splits).map_tasks(apply).collect()


def kept_events(session: SparkSession, parts: Sequence[Part], open_part: Open[Part], masks: Masks) -> SparkEvents:
    """The events of a cluster from kept files."""
    spark = backend(session)
    return SparkEvents(spark.dataset(parts).map_tasks(lambda given: (b for part in given for b in blocks(open_part(part), masks))), spark)


def kept_records(
    session: SparkSession, parts: Sequence[Part], open_part: Open[Part], schema: pa.Schema, result: pa.Schema, *, copies: bool
) -> Iterator[pa.RecordBatch]:
    """The records of a cluster from kept files, sorted, in batches of `result`. `open_part` gives rows of `schema`."""
    return in_order(Unsorted(session, parts, open_part, schema, copies), result)


def each(session: SparkSession, work: Sequence[Work], do: Callable[[Work], Done]) -> list[Done]:
    """The result of `do` for each piece of work: one job with a task for each."""
    results: list[Any] = backend(session).dataset(work).map_tasks(partial(map, do)).collect() if work else []
    return results
