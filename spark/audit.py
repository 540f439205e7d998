"""The Spark jobs of an audit: digests of files, files read once and kept, and kept files read again.

Here: how the work is divided into tasks. Not here: the kept files, which the functions that are passed in write and read
(forensics.audit.kept), or which files and clusters there are (forensics.audit.archive).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa

from parsers.containers.storage import Version, storage
from parsers.containers.units import Unit
from parsers.schemas import Row
from spark.datasets import backend
from spark.pipeline import EventBlock, Events, Mask, balance, blocks, of_block, read, tasks
from spark.sorting import Read, in_order, without_copies

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHUNK = 1 << 20
FILES_A_TASK = 1000
"""Files that one task digests."""
Write = Callable[[Iterable[pa.RecordBatch]], list[Row]]
"""Writes batches to kept files and describes these files."""
Part = TypeVar("Part")
Open = Callable[[Part], Iterable[pa.RecordBatch]]
"""Reads a part of a kept file."""
Work = TypeVar("Work")
Done = TypeVar("Done")


class File(NamedTuple):
    """A file of the archive."""

    path: str
    """The argument of the command to which it belongs."""
    name: str
    version: Version | None


def digests(session: SparkSession, files: Sequence[File]) -> list[str | None]:
    """SHA-256 of each file; None if it cannot be read."""
    if not files:
        return []
    spark = backend(session)
    ways = max(min(len(files), spark.cores), len(files) // FILES_A_TASK)
    return spark.split(files, ways).map_tasks(partial(map, _digest)).collect()


def _digest(file: File) -> str | None:
    digest = hashlib.sha256()
    try:
        with storage(file.path).open(file.name, file.version) as stream:
            while data := stream.read(CHUNK):
                digest.update(data)
    except (OSError, EOFError):
        return None
    return digest.hexdigest()


def keep_events(session: SparkSession, units: list[Unit], log_patterns: Sequence[str], of_cluster: Mask, write: Write) -> list[Row]:
    """Reads the events of the units once and writes them in the tasks. Returns what `write` returns."""
    events = read(session, units, log_patterns, of_cluster)
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
    from spark.progress import announced, metered
    from spark.session import directory

    spark = backend(session)
    size = sum(unit.size for unit in units)
    progress = announced(directory(session), size)
    splits = balance(units, tasks(session, size))
    known = spark.share((read, write))

    def apply(given: Iterable[Sequence[Unit]]) -> Iterator[Row]:
        read, write = known()
        return (row for split in given for row in write(read(metered(split, progress))))

    return spark.dataset(splits).map_tasks(apply).collect()


def kept_events(session: SparkSession, parts: Sequence[Part], open_part: Open[Part], of_cluster: Mask) -> Events:
    """The events of a cluster from kept files."""
    spark = backend(session)
    return Events(spark.dataset(parts).map_tasks(lambda given: (b for part in given for b in blocks(open_part(part), of_cluster))), spark)


def kept_records(
    session: SparkSession, parts: Sequence[Part], open_part: Open[Part], schema: pa.Schema, result: pa.Schema, *, copies: bool
) -> Iterator[pa.RecordBatch]:
    """The records of a cluster from kept files, sorted, in batches of `result`. `open_part` gives rows of `schema`."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def apply(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in given:
            for number in batch.column("id").to_pylist():
                yield from open_part(parts[number])

    rows = session.range(0, len(parts), 1, len(parts)).mapInArrow(apply, from_arrow_schema(schema, prefer_timestamp_ntz=True))
    return in_order(without_copies(rows, backend(session).cores) if copies else rows, result)


def each(session: SparkSession, work: Sequence[Work], do: Callable[[Work], Done]) -> list[Done]:
    """The result of `do` for each piece of work: one job with a task for each."""
    results: list[Any] = backend(session).dataset(work).map_tasks(partial(map, do)).collect() if work else []
    return results
