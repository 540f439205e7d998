"""The run on Spark: evidence to events, events to timelines, timelines to whatever a judge makes of them.

Here: how the work is divided, and how few jobs it takes: one that reads everything once and gathers what belongs to no partition, one
that brings the rest together by partition and judges it. Not here: what is read, and what is judged; the judge is an argument.
"""

from __future__ import annotations

import gc
import os
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from heapq import heapreplace
from itertools import groupby, pairwise
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.cluster.build import EventResolver, Options, build_cluster, is_gathered
from forensics.model.cluster.facts import Cluster
from forensics.model.events import IDENTIFIED, Event, rows
from forensics.model.partition.runs import folded
from forensics.model.partition.timeline import PartitionTimeline, build
from parsers import pieces
from parsers.cached import cached_property
from parsers.containers.walk import hands
from parsers.log_pattern import compiled
from parsers.pieces import put_together
from parsers.schemas import EVENTS, batches
from spark.ipc import Packed, opened, packed, whole
from spark.progress import announced, metered

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark import RDD
    from pyspark.sql import SparkSession

    from parsers.containers.units import Unit

Judge = Callable[[PartitionTimeline, Cluster], Iterable[Mapping[str, Any]]]
Change = Callable[[pa.Table], pa.Table]
"""Identified events as they are to be judged: some of them, or told apart."""

SPLIT_BYTES = 64 << 20
"""Evidence a task reads, about."""
LEAST_BYTES = 2 << 20
"""Evidence worth a task of its own, where there are cores for it."""
READ_A_CORE = 2
"""Tasks that read, for each core, where there is not evidence for more: with three for two cores one was alone for a third of the time."""
HAND_BYTES = 32 << 20
MOST_HANDS = 8
"""Tasks that read one compressed tar, each its own members, and what each should have at least: each decompresses all of it."""
BLOCK_ROWS = 1 << 14
"""Events that travel together, about."""
DEALT_ROWS = 1 << 17
"""Events that are dealt to buckets together, about: what of fewer goes to one bucket costs more to pack and open than to judge."""
JUDGED_ROWS, LEAST_JUDGED = 200_000, 20_000
"""Events that a task judges, about, and that are worth a task of their own, where there are cores for it."""
TASKS_A_CORE = 4
"""The cores end together if each judges several tasks: of a partition it is known how much is told of it, and not how long that takes."""
BUCKETS = 256
BUCKET_ROWS = 50_000
"""Partitions are brought together by buckets, of which one at a time is held in memory: at least so many, and of so many events about."""
SPOOLED_BYTES, SLICE_BYTES = 64 << 20, 2 << 20
"""What a task is to judge, packed: more waits on disk. So much of a bucket is open at a time while its events are folded."""
CELLS = 4096
"""Buckets by which it is counted, before all is read, how much is told of partitions."""

GATHERED, PLACED, OTHER, ACCOUNT = "gathered", "placed", "other", "account"
"""What a parcel holds: events that are gathered, those of partitions (some are both, and in both), neither, and accounts of pieces."""


class EventBlock(NamedTuple):
    """Events of one task in the order in which they were read."""

    what: str
    file: str | None
    """The one they are of, where it was read in pieces."""
    weights: Mapping[int, int]
    """How many there are in each of the CELLS, where they are of partitions."""
    data: bytes


def tasks(session: SparkSession, size: int) -> int:
    """How many tasks so many bytes of evidence are worth."""
    return _ways(session.sparkContext.defaultParallelism * READ_A_CORE, size, SPLIT_BYTES, LEAST_BYTES)


def _ways(cores: int, size: int, each: int, least: int) -> int:
    return max(size // each, min(cores, size // least), 1)


def balance(units: Sequence[Unit], ways: int) -> list[list[Unit]]:
    """Units dealt to `ways` splits, largest first to the lightest, so that no task is left with the whole archive."""
    splits: list[list[Unit]] = [[] for _ in range(max(1, min(ways, len(units))))]
    ordered = sorted(units, key=lambda u: (-u.size, u.path, u.select or ()))
    for unit, split in zip(ordered, _dealt((u.size for u in ordered), len(splits)), strict=True):
        splits[split].append(unit)
    return splits


def _dealt(weights: Iterable[int], ways: int) -> Iterator[int]:
    """To which of `ways` each goes: to the lightest."""
    loads = [(0, way) for way in range(ways)]
    for weight in weights:
        load, lightest = loads[0]
        heapreplace(loads, (load + weight, lightest))
        yield lightest


class Events:
    """What units tell, in Spark."""

    def __init__(self, event_blocks: RDD[EventBlock]) -> None:
        self.event_blocks = event_blocks

    @cached_property
    def _gathered(self) -> Sequence[EventBlock]:
        return self.event_blocks.mapPartitions(_weighed).collect()

    @property
    def of_cluster(self) -> pa.Table:
        """What is gathered: restarts, settings, topics and one row a source; of partitions only what compares clocks."""
        found = [whole(opened(parcel.data), EVENTS) for parcel in self._gathered if parcel.what == GATHERED]
        return pa.concat_tables(found) if found else EVENTS.empty_table()

    @cached_property
    def weights(self) -> Mapping[int, int]:
        """How many are of partitions, in each of the CELLS."""
        found = Counter[int]()
        for parcel in self._gathered:
            found.update(parcel.weights)
        return found

    def unpersist(self) -> None:
        """Spark forgets them, and reads anew where they are asked for."""
        self.event_blocks.unpersist()


def _weighed(given: Iterable[EventBlock]) -> Iterator[EventBlock]:
    """What is gathered, and how much else there is."""
    weights = Counter[int]()
    for parcel in given:
        weights.update(parcel.weights)
        if parcel.what == GATHERED:
            yield parcel
    yield EventBlock(PLACED, None, weights, b"")


def read(session: SparkSession, units: list[Unit], log_patterns: Sequence[str] = (), *, cut: bool = True) -> Events:
    """Events of the units, kept for the passes that follow. Large logs are read in pieces, side by side, unless `cut` is false: that reads
    everything at once, to know whether the pieces fit."""
    layouts = [compiled(pattern) for pattern in log_patterns]
    cores = session.sparkContext.defaultParallelism
    dealt = [hand for unit in units for hand in hands(unit, min(cores, MOST_HANDS, unit.size // HAND_BYTES))]
    planned = [piece for unit in dealt for piece in (pieces.cut(unit, layouts) if cut else [unit])]
    parts = [unit for unit in planned if unit.piece is not None]
    if not parts:
        return Events(_loaded(session, planned, log_patterns))
    counts = session.sparkContext.parallelize(parts, len(parts)).map(pieces.line_feeds).collect()
    parts = pieces.numbered(parts, counts)
    told = _loaded(session, [*(unit for unit in planned if unit.piece is None), *parts], log_patterns)
    return Events(_put_together(session, told, [unit for unit in parts if unit.piece is not None], log_patterns))


def _loaded(session: SparkSession, units: list[Unit], log_patterns: Sequence[str]) -> RDD[EventBlock]:
    from pyspark import StorageLevel

    from spark.session import directory

    size = sum(unit.size for unit in units)
    splits = balance(units, tasks(session, size))
    reading = partial(_read, log_patterns=tuple(log_patterns), progress=announced(directory(session), size))
    return session.sparkContext.parallelize(splits, len(splits)).flatMap(reading).persist(StorageLevel.MEMORY_AND_DISK)


def _read(split: Iterable[Unit], log_patterns: Sequence[str], progress: Path) -> Iterator[EventBlock]:
    """What a task reads; a unit never fails, what it could not read is a row."""
    for file, own in groupby(metered(split, progress), key=lambda unit: pieces.source_of(unit) if unit.piece is not None else None):
        told = (batch for unit in own for batch in pieces.events(unit, log_patterns))
        yield from event_blocks(told, file)


def event_blocks(told: Iterable[pa.RecordBatch], file: str | None = None) -> Iterator[EventBlock]:
    """Batches of events as parcels."""
    for events in _joined(told):
        account = pc.equal(events["event"], pieces.EVENT)
        gathered, placed = is_gathered(events), _placed(events)
        other = pc.invert(pc.or_(pc.or_(gathered, placed), account))
        for what, wanted in ((GATHERED, gathered), (PLACED, placed), (OTHER, other), (ACCOUNT, account)):
            own = events.filter(wanted)
            if own.num_rows:
                yield EventBlock(what, file, _weights(own) if what == PLACED else {}, packed(own))


def of_block(parcel: EventBlock) -> pa.Table:
    """Its events (schema parsers.schemas.EVENTS), without those that are in another parcel too."""
    events = whole(opened(parcel.data), EVENTS)
    return events.filter(pc.invert(_placed(events))) if parcel.what == GATHERED else events


def _joined(told: Iterable[pa.RecordBatch | pa.Table], least: int = BLOCK_ROWS) -> Iterator[pa.Table]:
    """The same rows, at least so many together."""
    waiting: list[pa.Table] = []
    count = 0
    for batch in told:
        waiting.append(pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch)
        count += batch.num_rows
        if count >= least:
            yield pa.concat_tables(waiting)
            waiting, count = [], 0
    if waiting:
        yield pa.concat_tables(waiting)


def _placed(events: pa.Table) -> pa.ChunkedArray:
    """Which are of a partition, as far as is known before topics are named by their ids."""
    return pc.and_(pc.is_valid(events["partition"]), pc.or_(pc.is_valid(events["topic"]), pc.is_valid(events["topic_id"])))


def _weights(events: pa.Table) -> dict[int, int]:
    """A topic of which only the id is told counts somewhere."""
    named = events.set_column(events.schema.get_field_index("topic"), "topic", pc.coalesce(events["topic"], events["topic_id"]))
    counted = _bucket_of(named, CELLS).value_counts()
    return dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))


def _put_together(session: SparkSession, told: RDD[EventBlock], parts: Sequence[Unit], log_patterns: Sequence[str]) -> RDD[EventBlock]:
    """The events with what is to be said of each file that was read in pieces; where they do not fit, those of one reader."""
    accounts = told.filter(lambda parcel: parcel.what == ACCOUNT).flatMap(lambda parcel: opened(parcel.data)["value"].to_pylist())
    last, torn = put_together(parts, accounts.collect(), [compiled(pattern) for pattern in log_patterns])
    files = frozenset(pieces.source_of(unit) for unit in torn)
    found = told.filter(lambda parcel: parcel.what != ACCOUNT and parcel.file not in files)
    if torn:
        found = found.union(_loaded(session, torn, log_patterns))
    return found.union(session.sparkContext.parallelize(list(event_blocks(batches(last))), 1)) if last else found


def gathered(events: Events, options: Options | None = None) -> tuple[Cluster, EventResolver]:
    """Job one: the cluster as a whole."""
    return build_cluster(events.of_cluster, options)


class Identified(NamedTuple):
    """Events of partitions with writer, collection and corrected time (schema forensics.model.events.IDENTIFIED), by buckets in which all events of a
    partition are."""

    told: RDD[tuple[int, bytes]]
    buckets: int
    weights: Mapping[int, int]
    """How many there are in each of the CELLS, about."""

    def union(self, other: Identified) -> Identified:
        """`other` has to have the same buckets."""
        return Identified(self.told.union(other.told), self.buckets, Counter(self.weights) + Counter(other.weights))

    def dealt(self, ways: int) -> Sequence[int]:
        """Which of `ways` tasks each bucket is for: the heavy ones first, with as few others as can be. Of buckets that share a cell each may
        hold all of it, and none is known to be empty: topics of which only the id is told are named later."""
        cells = Counter[int]()
        for cell, events in self.weights.items():
            cells[cell % self.buckets] += events
        weights = [cells[bucket % CELLS] + 1 for bucket in range(self.buckets)]
        ordered = sorted(range(self.buckets), key=lambda bucket: -weights[bucket])
        tasks = dict(zip(ordered, _dealt((weights[bucket] for bucket in ordered), ways), strict=True))
        return [tasks[bucket] for bucket in range(self.buckets)]

    def partitions(self) -> set[tuple[str, int]]:
        """Names of those that anything is told of."""
        return set().union(*self.told.map(_names).collect())


def _names(bucket: tuple[int, bytes]) -> set[tuple[str, int]]:
    named = opened(bucket[1]).group_by(["topic", "partition"]).aggregate([])
    return set(zip(named["topic"].to_pylist(), named["partition"].to_pylist(), strict=True))


def identified(events: Events, resolver: EventResolver, change: Change | None = None, *, like: Events | None = None) -> Identified:
    """Events of partitions, identified. `like`: other events beside which they are judged."""
    of_all = sum(events.weights.values()) + (sum(like.weights.values()) if like is not None else 0)
    buckets = max(BUCKETS, 1 << (of_all // BUCKET_ROWS).bit_length())
    known = events.event_blocks.context.broadcast(resolver)

    def apply(given: Iterable[EventBlock]) -> Iterator[tuple[int, bytes]]:
        told = (opened(parcel.data) for parcel in given if parcel.what == PLACED)
        named = (_named(table, known.value, change) for table in told)
        for table in _joined((table for table in named if table.num_rows), DEALT_ROWS):
            yield from _in_buckets(table, buckets)

    return Identified(events.event_blocks.mapPartitions(apply), buckets, events.weights)


def _named(told: pa.Table, resolver: EventResolver, change: Change | None) -> pa.Table:
    batch = whole(told, EVENTS).combine_chunks().to_batches()[0]
    named = pa.Table.from_batches([resolver.apply(batch)])
    named = named.filter(pc.is_valid(named["topic"]))
    return change(named) if change is not None else named


def _in_buckets(events: pa.Table, buckets: int) -> Iterator[tuple[int, bytes]]:
    number = _bucket_of(events, buckets)
    order = pc.sort_indices(number)  # stable: what one file tells stays in its order
    told = events.take(order).combine_chunks()
    runs = pc.run_end_encode(number.take(order))
    for bucket, (begin, end) in zip(runs.values.to_pylist(), pairwise([0, *runs.run_ends.to_pylist()]), strict=True):
        yield bucket, packed(told.slice(begin, end - begin))


def _bucket_of(events: pa.Table, buckets: int) -> pa.Array:
    """Of a power of two; of fewer each is several of more."""
    topics = events["topic"].combine_chunks().dictionary_encode()
    of_topics = pa.array([zlib.crc32(topic.encode()) for topic in topics.dictionary.to_pylist()], pa.int64())
    mixed = pc.add(of_topics.take(topics.indices), events["partition"].combine_chunks().cast(pa.int64()))
    return pc.bit_wise_and(mixed, buckets - 1)


def unplaced(
    events: Events, resolver: EventResolver, work: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: pa.Schema
) -> Packed:
    """Rows of `schema`: what `work` makes of identified events that are of no partition and not gathered, on the tasks that have them."""
    known = events.event_blocks.context.broadcast(resolver)

    def apply(given: Iterable[EventBlock]) -> Iterator[bytes]:
        told = (whole(opened(parcel.data), EVENTS).combine_chunks() for parcel in given if parcel.what == OTHER)
        yield from (packed(pa.Table.from_batches([b])) for b in work(known.value.apply(b) for t in told for b in t.to_batches()))

    return Packed(events.event_blocks.mapPartitions(apply), schema)


def verdicts(events: Identified, cluster: Cluster, judge: Judge, schema: pa.Schema, *, ways: int | None = None) -> Packed:
    """Job two: rows of `schema`, as `judge` makes them of each partition's timeline."""
    context = events.told.context
    ways = ways or _ways(context.defaultParallelism * TASKS_A_CORE, sum(events.weights.values()), JUDGED_ROWS, LEAST_JUDGED)
    known = context.broadcast(cluster)

    def apply(given: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        for batch in judged(_sorted(given, known.value), known.value, judge, schema):
            yield packed(pa.Table.from_batches([batch]))

    return Packed(events.told.partitionBy(ways, events.dealt(ways).__getitem__).mapPartitions(apply), schema)


def _sorted(given: Iterable[tuple[int, bytes]], cluster: Cluster) -> Iterator[pa.RecordBatch]:
    """Events by topic and partition; of the buckets one is open at a time, and of a large one slices until it is folded."""
    found: dict[int, list[list[tuple[int, int]]]] = defaultdict(list)
    room = Counter[int]()
    with SpooledTemporaryFile(SPOOLED_BYTES, dir=os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None) as spool:
        for bucket, data in given:
            if room[bucket] <= 0:
                found[bucket].append([])
                room[bucket] = SLICE_BYTES
            found[bucket][-1].append((spool.tell(), len(data)))
            room[bucket] -= len(data)
            spool.write(data)
        for bucket in sorted(found):
            slices = [partial(_slice, spool, places) for places in found.pop(bucket)]
            yield from _together(folded(slices, cluster))


def _together(events: pa.Table) -> list[pa.RecordBatch]:
    return events.sort_by([("topic", "ascending"), ("partition", "ascending")]).to_batches(max_chunksize=4096)  # type: ignore[no-any-return]


def _slice(spool: IO[bytes], places: Iterable[tuple[int, int]]) -> pa.Table:
    tables = []
    for begin, size in places:
        spool.seek(begin)
        tables.append(opened(spool.read(size)))
    return pa.concat_tables(tables, promote_options="default")


def judged(batches: Iterable[pa.RecordBatch], cluster: Cluster, judge: Judge, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Judges batches sorted by topic and partition, holding one partition at a time."""
    made: list[Mapping[str, Any]] = []
    with _seldom_collected():
        for topic, partition, events in by_partition(batches):
            for timeline, own in timelines(topic, partition, events, cluster):
                for row in judge(timeline, own):
                    made.append(row)
                    if len(made) >= 1024:
                        yield pa.RecordBatch.from_pylist(made, schema=schema)
                        made = []
    if made:
        yield pa.RecordBatch.from_pylist(made, schema=schema)


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """A timeline is thousands of objects that live for a moment: to look for cycles among them every 700 takes a fifth of the judging."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def timelines(topic: str, partition: int, events: Sequence[Event], cluster: Cluster) -> Iterator[tuple[PartitionTimeline, Cluster]]:
    """The timelines of a topic-partition in each of the clusters it lived in, with the cluster, oldest first."""
    if len(cluster.by_number) == 1:
        yield from ((timeline, cluster) for timeline in build(topic, partition, events, cluster))
        return
    told: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        told[event.cluster or 0].append(event)
    for number in sorted(told):
        own = cluster.by_number[number]
        yield from ((timeline, own) for timeline in build(topic, partition, told[number], own))


def identified_here(events: pa.Table, resolver: EventResolver, cluster: Cluster) -> list[pa.RecordBatch]:
    """The identified events of partitions, by topic and partition, of events that are in this process."""
    named = pa.Table.from_batches([resolver.apply(batch) for batch in events.to_batches()], schema=IDENTIFIED)
    named = named.filter(pc.and_(pc.is_valid(named["topic"]), pc.is_valid(named["partition"])))
    return _together(folded([lambda: named], cluster))


def by_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, int, list[Event]]]:
    """Groups of consecutive rows of one topic-partition."""
    key: tuple[str, int] | None = None
    group: list[Event] = []
    for batch in batches:
        for event in rows(batch):
            now = (event.topic, event.partition)
            if now != key:
                if key is not None:
                    yield (*key, group)
                key, group = now, []  # type: ignore[assignment]
            group.append(event)
    if key is not None:
        yield (*key, group)
