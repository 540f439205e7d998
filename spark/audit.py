"""Many clusters in one run: what files tell is read once and kept, and clusters are judged from what is kept.

Here: the jobs that digest files, read them into kept files and work on cluster after cluster, and kept files read again, in a task or as
DataFrames. Not here: which files and clusters there are, or the tables (forensics.case).

What a kept file holds is rows of parsers.schemas.EVENTS or parsers.records.RECORDS as parsers made them: whose they are and when they were
in UTC is known only from all files of a cluster together, so that it is found anew each time a cluster is judged.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from forensics.model.cluster.cluster_history import CLUSTER_ID
from parsers.containers.storage import Version, storage
from parsers.containers.units import Unit
from parsers.containers.walk import read_unit
from parsers.log_pattern import compiled
from parsers.records import RECORDS, batches, records
from parsers.schemas import EVENTS, Row
from spark.merge import KEPT, ORDER, Merger, kept, once
from spark.pipeline import EventBlock, Events, balance, event_blocks, of_block, read, tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 20_000
"""Of a row group of a kept file."""
CHUNK = 1 << 20
FILES_A_TASK = 1000
"""Files that one task digests."""
Group = Callable[[str], str]
"""The same for paths whose rows are kept together."""
Work = TypeVar("Work")
Done = TypeVar("Done")

TOLD = pa.schema(
    [
        ("file", pa.string()),
        ("source", pa.string()),
        ("rows", pa.int64()),
        ("kind", pa.string()),
        ("problem", pa.string()),
        ("ids", pa.list_(pa.struct([("id", pa.string()), ("at", pa.timestamp("us"))]))),
    ]
)
"""What of a source a kept file holds, and what that says of the source: its kind, what is wrong with it, the cluster ids it tells."""


class Part(NamedTuple):
    """What of a kept file is wanted."""

    file: str
    names: Mapping[str, str]
    """The sources, and what they are called."""


class File(NamedTuple):
    """A file of the archive."""

    path: str
    """The argument it is of."""
    name: str
    version: Version | None


# reading


def digests(session: SparkSession, files: Sequence[File]) -> list[str | None]:
    """SHA-256 of each; None where it cannot be read."""
    if not files:
        return []
    context = session.sparkContext
    ways = max(min(len(files), context.defaultParallelism), len(files) // FILES_A_TASK)
    return context.parallelize(files, ways).map(_digest).collect()


def _digest(file: File) -> str | None:
    digest = hashlib.sha256()
    try:
        with storage(file.path).open(file.name, file.version) as stream:
            while data := stream.read(CHUNK):
                digest.update(data)
    except (OSError, EOFError):
        return None
    return digest.hexdigest()


def keep_events(session: SparkSession, units: list[Unit], log_patterns: Sequence[str], group: Group, directory: Path) -> list[Row]:
    """Reads the units once, and keeps what they tell in new files of a directory that all workers see. Gives rows of TOLD."""

    def apply(given: Iterable[EventBlock]) -> list[Row]:
        return _kept(_together(given), EVENTS, group, directory).to_pylist()  # type: ignore[no-any-return]

    events = read(session, units, log_patterns)
    events.unpersist()  # it is read once; pieces of large logs stay, since whether they fit is looked at first
    return events.event_blocks.mapPartitions(apply).collect()


def _together(given: Iterable[EventBlock]) -> Iterator[pa.RecordBatch]:
    """Their events, those of parcels that were packed together in one batch: a batch is of few files, the next one of later ones."""
    waiting: list[EventBlock] = []
    for parcel in given:
        if any(other.what == parcel.what for other in waiting):
            yield from _events_of(waiting)
            waiting = []
        waiting.append(parcel)
    if waiting:
        yield from _events_of(waiting)


def _events_of(together: Iterable[EventBlock]) -> list[pa.RecordBatch]:
    return pa.concat_tables(map(of_block, together)).combine_chunks().to_batches()  # type: ignore[no-any-return]


def keep_records(
    session: SparkSession, units: list[Unit], kinds: Mapping[str, str], log_patterns: Sequence[str], group: Group, directory: Path
) -> list[Row]:
    """The same of the records of the logs, of which `kinds` has the kinds."""
    from spark.progress import announced, metered
    from spark.session import directory as own_directory

    context = session.sparkContext
    size = sum(unit.size for unit in units)
    told = announced(own_directory(session), size)
    splits = balance(units, tasks(session, size))
    known = context.broadcast(kinds)

    def apply(split: Sequence[Unit]) -> list[Row]:
        layouts = [compiled(pattern) for pattern in log_patterns]
        rows = (
            row
            for unit in metered(split, told)
            for member, stream, _ in read_unit(unit)
            if stream is not None and member.path in known.value
            for row in records(stream, member, known.value[member.path], layouts)
        )
        return _kept(batches(rows), RECORDS, group, directory).to_pylist()  # type: ignore[no-any-return]

    return context.parallelize(splits, len(splits)).flatMap(apply).collect()


def _kept(given: Iterable[pa.RecordBatch], schema: pa.Schema, group: Group, directory: Path) -> pa.RecordBatch:
    """Writes rows into files of a group each, and tells what they hold. Rows of a group come one after the other, nearly."""
    writers: dict[str, _Writer] = {}
    told: list[Row] = []
    for batch in given:
        if "event" in batch.schema.names:
            batch = batch.filter(pc.not_equal(batch["event"], "archive"))  # the manifest has the digest of each file of the archive
            if not batch.num_rows:
                continue
        index = batch["source"].dictionary_encode()
        names = index.dictionary.to_pylist()
        groups = [group(name) for name in names]
        for over in writers.keys() - set(groups):
            told.extend(writers.pop(over).close())
        for own in dict.fromkeys(groups):
            if own not in writers:
                writers[own] = _Writer(directory, schema)
            if len(set(groups)) > 1:
                wanted = pa.array([g == own for g in groups], pa.bool_())
                writers[own].add(batch.filter(wanted.take(index.indices)))
            else:
                writers[own].add(batch)
    for writer in writers.values():
        told.extend(writer.close())
    return pa.RecordBatch.from_pylist(told, schema=TOLD)


class _Writer:
    """A kept file on its way to disk."""

    def __init__(self, directory: Path, schema: pa.Schema) -> None:
        self._name = f"{uuid.uuid4().hex}.parquet"
        self._out = pq.ParquetWriter(directory / self._name, schema, compression="zstd", write_page_checksum=True)
        self._schema = schema
        self._pending: list[pa.RecordBatch] = []
        self._told: dict[str, Row] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        self._pending.append(batch)
        for count in batch["source"].value_counts().to_pylist():
            none = {**dict.fromkeys(TOLD.names), "file": self._name, "source": count["values"], "rows": 0, "ids": []}
            self._told.setdefault(count["values"], none)["rows"] += count["counts"]
        if self._schema is EVENTS or self._schema.equals(EVENTS):
            self._look_at(batch)
        if sum(b.num_rows for b in self._pending) >= ROWS:
            self._flush()

    def _look_at(self, batch: pa.RecordBatch) -> None:
        wholes = batch.filter(pc.equal(batch["event"], "source")).select(["source", "collected"])
        for row in wholes.to_pylist():
            collected = row["collected"] or {}
            self._told[row["source"]].update(kind=collected.get("kind"), problem=collected.get("problem"))
        printed = pc.and_(pc.equal(batch["event"], "config"), pc.equal(batch["key"], CLUSTER_ID))
        named = pc.or_(pc.fill_null(printed, False), pc.equal(batch["event"], "log-directory-identity"))
        for row in batch.filter(pc.and_(named, pc.is_valid(batch["value"]))).select(["source", "value", "time"]).to_pylist():
            self._told[row["source"]]["ids"].append({"id": row["value"], "at": row["time"]})

    def _flush(self) -> None:
        self._out.write_table(pa.Table.from_batches(self._pending, schema=self._schema).combine_chunks(), row_group_size=ROWS)
        self._pending = []

    def close(self) -> Iterable[Row]:
        if self._pending:
            self._flush()
        self._out.close()
        for row in self._told.values():
            last: dict[str, datetime | None] = {}
            for one in row["ids"]:
                last[one["id"]] = max(filter(None, (one["at"], last.get(one["id"]))), default=None)
            row["ids"] = [{"id": cluster_id, "at": at} for cluster_id, at in last.items()]
        return self._told.values()


# what is kept, again


def rows_of(part: Part, directory: str) -> Iterator[pa.RecordBatch]:
    """The rows of a part, in their order, by the names its sources have in their cluster."""
    wanted = pa.array(sorted(part.names), pa.string())
    called = pa.array([part.names[name] for name in wanted.to_pylist()], pa.string())
    with pq.ParquetFile(os.path.join(directory, part.file), page_checksum_verification=True) as file:
        for batch in file.iter_batches(batch_size=4096):
            at = pc.index_in(batch["source"], value_set=wanted)
            if at.null_count:
                batch = batch.filter(pc.is_valid(at))
                at = at.drop_null()
            if batch.num_rows:
                yield batch.set_column(batch.schema.get_field_index("source"), batch.schema.field("source"), called.take(at))


def events_of(parts: Sequence[Part], directory: str) -> pa.Table:
    """The events of a cluster, in one order, however they were read."""
    found = [batch for part in parts for batch in rows_of(part, directory)]
    whole = pa.Table.from_batches(found).cast(EVENTS) if found else EVENTS.empty_table()
    return whole.sort_by([(name, "ascending") for name in ("source", "line", "byte")]).combine_chunks()


def records_of(parts: Sequence[Part], directory: str, merger: Merger) -> Iterator[pa.RecordBatch]:
    """The records of a cluster, rows of spark.merge.KEPT in their order."""
    placed = merger.placed(row for part in parts for batch in rows_of(part, directory) for row in batch.to_pylist())
    found = pa.Table.from_batches(batches(placed, merger.schema), schema=merger.schema).combine_chunks()
    if merger.copies and found.num_rows:
        twins = found["twin"].combine_chunks().dictionary_encode()
        ranks = pa.table({"twin": twins.indices, "rank": found["rank"]}).group_by("twin").aggregate([("rank", "min")]).sort_by("twin")
        found = found.filter(pc.equal(found["rank"], ranks["rank_min"].combine_chunks().take(twins.indices)))
    ordered = found.sort_by([(name, "ascending") for name in ORDER]).select(KEPT.names)
    return iter(ordered.cast(KEPT).to_batches())


def kept_events(session: SparkSession, parts: Sequence[Part], directory: str) -> Events:
    """The events of a cluster."""
    return Events(session.sparkContext.parallelize(parts, len(parts)).flatMap(lambda part: event_blocks(rows_of(part, directory))))


def kept_records(session: SparkSession, parts: Sequence[Part], directory: str, merger: Merger, ways: int) -> Iterator[pa.RecordBatch]:
    """The records of a cluster, rows of spark.merge.KEPT in their order."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def placed(part: Part) -> Iterator[pa.RecordBatch]:
        yield from batches(merger.placed(row for batch in rows_of(part, directory) for row in batch.to_pylist()), merger.schema)

    def apply(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in given:
            for number in batch.column("id").to_pylist():
                yield from placed(parts[number])

    of_parts = session.range(0, len(parts), 1, len(parts))
    return kept(once(of_parts.mapInArrow(apply, from_arrow_schema(merger.schema, prefer_timestamp_ntz=True)), merger, ways))


def each(session: SparkSession, work: Sequence[Work], do: Callable[[Work], Done]) -> list[Done]:
    """What is made of each piece of work, a task for each, in one job."""
    found: list[Any] = session.sparkContext.parallelize(work, len(work)).map(do).collect() if work else []
    return found
