"""The two Spark jobs of an analysis: one reads the evidence, one judges the partitions.

The first job reads everything once, keeps the events in Spark and brings to the driver only what describes the cluster as a whole. The
second brings the events of each partition together in one task and judges them there. Here: how the work is divided into tasks. Not here:
how a file is read (parsers), and what is made of the events: the functions that identify, fold and judge them are arguments.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import heapreplace
from itertools import chain, groupby
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from parsers import pieces
from parsers.cached import cached_property
from parsers.containers.walk import hands
from parsers.log_pattern import compiled
from parsers.pieces import put_together
from parsers.schemas import EVENTS, batches, equal_rows, filled, filtered, release, whole
from spark.datasets import Backend, Dataset, backend
from spark.ipc import Packed, opened, packed
from spark.progress import announced, metered

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from parsers.containers.units import Unit

Mask = Callable[[pa.Table], pa.ChunkedArray]
"""Marks events (rows of parsers.schemas.EVENTS)."""
Change = Callable[[pa.Table], pa.Table]
"""Changes identified events before they are judged, for example leaves some of them out."""
Slices = Sequence[Callable[[], pa.Table]]
"""Events in parts, for example those of one bucket; each opens a part, which lacks the columns without a value."""
Sort = Callable[[Slices, Any], Iterable[pa.RecordBatch]]
"""Sorts the events of a bucket by topic and partition."""
Work = Callable[[Iterator[pa.RecordBatch], Any], Iterator[pa.RecordBatch]]
"""Results for sorted events."""


class Masks(NamedTuple):
    """Which events are kept apart when they are read."""

    of_cluster: Mask
    """Those that the driver needs to describe the cluster as a whole."""
    routine: Mask
    """Those of partitions of which most can be left out if there are very many (Thinning)."""


class Thinning(Protocol):
    """Leaves out events before they travel to the tasks that judge them."""

    def around(self, events: pa.Table) -> pa.Table:
        """What identified events that are not routine show of where others may be left out."""

    def knowing(self, around: Sequence[pa.Table]) -> Change:
        """Leaves out identified routine events. `around`: what all other events show; columns without a value are missing."""


class Resolver(Protocol):
    """Adds writer, collection and corrected time to events."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch: ...


SPLIT_BYTES = 32 << 20
"""Evidence that one task reads, about."""
LEAST_BYTES = 2 << 20
"""Evidence that is worth a task of its own while cores are free."""
READ_A_CORE = 2
"""Tasks per core that read, if there is not evidence for more. With three tasks on two cores, one ran alone for a third of the time."""
HAND_BYTES = 32 << 20
MOST_HANDS = 8
"""Most tasks that read one compressed tar together, and the least that each should read: each of them decompresses the whole tar."""
BLOCK_ROWS = 1 << 14
"""Events that travel together, about."""
THINNED_ROWS = 1 << 16
"""Routine events of which those that are left out are found together, about. With few, more remain at the ends of the parts."""
DEALT_ROWS = 1 << 17
"""Events that are distributed to buckets together, about. With fewer, packing what goes to one bucket costs more than judging it."""
JUDGED_ROWS, LEAST_JUDGED, LEAST_A_CORE = 200_000, 20_000, 7_000
"""Events that one task judges, about, events that are worth a task of their own, and those that are worth one while a core is free."""
MANY_EVENTS = 1_000_000
"""The results of more events come to the driver one Spark partition after another. Up to here, all at once are faster, and small: packed,
they take 15 MB for half a million events."""
TASKS_A_CORE = 4
"""Tasks per core that judge. The number of events of a partition is known in advance, the time to judge them is not; with several tasks per
core, all cores finish at about the same time."""
BUCKETS = 256
BUCKET_ROWS = 50_000
"""The least number of buckets, and the events of one bucket, about. A bucket holds all events of its partitions; a task holds one at a
time."""
SPOOLED_BYTES, SLICE_BYTES = 64 << 20, 2 << 20
"""Packed events that a task keeps in memory (more wait on disk), and the packed size of the part of a bucket that is open at a time."""
CELLS = 4096
"""Number of groups in which events of partitions are counted before all files are read."""

MOSTLY = 2
"""Routine events are thinned before they travel if they are so many times as many as other events of partitions, and worth several
tasks."""

CLUSTER, PARTITION, ROUTINE, OTHER, ACCOUNT = "cluster", "partition", "routine", "other", "account"
"""What a block holds: events that describe the cluster, events of partitions (an event that is both is in both) that are not routine, and
those that are, other events, and the accounts of files that were read in pieces."""
OF_PARTITIONS = (PARTITION, ROUTINE)


class EventBlock(NamedTuple):
    """Events of one task, packed, in the order in which they were read."""

    what: str
    file: str | None
    """The file, if it was read in pieces."""
    weights: Mapping[int, int]
    """Number of events in each of the CELLS; for events of partitions only."""
    data: bytes


def tasks(session: SparkSession, size: int) -> int:
    """Number of tasks for `size` bytes of evidence."""
    cores = backend(session).cores
    return _even(_ways(cores * READ_A_CORE, size, SPLIT_BYTES, LEAST_BYTES), cores)


def _ways(most: int, size: int, each: int, least: int) -> int:
    """Number of tasks for a size: each of about `each`, or if these are few, up to `most` of at least `least`."""
    return max(size // each, min(most, size // least), 1)


def _even(ways: int, cores: int) -> int:
    """As many tasks for each core: they take about the same time, and a last one would run alone."""
    return ways if ways <= cores else -(-ways // cores) * cores


def balance(units: Sequence[Unit], ways: int) -> list[list[Unit]]:
    """Units distributed over `ways` tasks: the largest first, each to the task with the least work."""
    splits: list[list[Unit]] = [[] for _ in range(max(1, min(ways, len(units))))]
    ordered = sorted(units, key=lambda u: (-u.size, u.path, u.select or ()))
    for unit, split in zip(ordered, _lightest((u.size for u in ordered), len(splits)), strict=True):
        splits[split].append(unit)
    return splits


def _lightest(weights: Iterable[int], ways: int) -> Iterator[int]:
    """For each weight the one of `ways` that has the least so far."""
    loads = [(0, way) for way in range(ways)]
    for weight in weights:
        load, lightest = loads[0]
        heapreplace(loads, (load + weight, lightest))
        yield lightest


class SparkEvents:
    """The events of the evidence, in Spark."""

    def __init__(self, blocks: Dataset[EventBlock], backend: Backend) -> None:
        self.blocks, self.backend = blocks, backend

    @cached_property
    def _collected(self) -> Sequence[EventBlock]:
        return self.blocks.map_tasks(_of_cluster_and_weights).collect()

    @property
    def parts_of_cluster(self) -> Slices:
        """The events that describe the cluster; each opens a part of them."""
        return [partial(opened, block.data) for block in self._collected if block.what == CLUSTER]

    @property
    def of_cluster(self) -> pa.Table:
        """The events that describe the cluster (schema parsers.schemas.EVENTS)."""
        tables = [whole(part(), EVENTS) for part in self.parts_of_cluster]
        release()
        return pa.concat_tables(tables) if tables else EVENTS.empty_table()

    @cached_property
    def weights(self) -> Mapping[str, Counter[int]]:
        """Number of events of partitions in each of the CELLS, for routine events and others."""
        weights = {what: Counter[int]() for what in OF_PARTITIONS}
        for block in self._collected:
            if block.what in OF_PARTITIONS:
                weights[block.what].update(block.weights)
        return weights

    def unpersist(self) -> None:
        """Lets Spark drop the events; it reads the evidence again when they are needed."""
        self.blocks.forget()


def _of_cluster_and_weights(blocks: Iterable[EventBlock]) -> Iterator[EventBlock]:
    """The blocks that describe the cluster, and empty blocks with the weights of the others."""
    weights = {what: Counter[int]() for what in OF_PARTITIONS}
    for block in blocks:
        if block.what in OF_PARTITIONS:
            weights[block.what].update(block.weights)
        if block.what == CLUSTER:
            yield block
    for what, own in weights.items():
        yield EventBlock(what, None, own, b"")


class UnitReader(NamedTuple):
    """What a task needs to read units."""

    log_patterns: tuple[str, ...]
    masks: Masks

    def read(self, split: Iterable[Unit], progress: Path) -> Iterator[EventBlock]:
        """The events of the units; never fails: what cannot be read is a row."""
        for file, units in groupby(metered(split, progress), key=lambda unit: pieces.source_of(unit) if unit.piece is not None else None):
            yield from blocks((batch for unit in units for batch in pieces.events(unit, self.log_patterns)), self.masks, file)


def read(session: SparkSession, units: list[Unit], log_patterns: Sequence[str], masks: Masks, *, cut: bool = True) -> SparkEvents:
    """Events of the units, kept in Spark for later passes. Large logs are read in pieces, in parallel, unless `cut` is false: then all
    files are read at once, to find out whether they can be put together."""
    reader = UnitReader(tuple(log_patterns), masks)
    layouts = [compiled(pattern) for pattern in log_patterns]
    spark = backend(session)
    cores = spark.cores
    by_hand = [hand for unit in units for hand in spread(unit, cores)]
    planned = [piece for unit in by_hand for piece in (pieces.cut(unit, layouts) if cut else [unit])]
    parts = [unit for unit in planned if unit.piece is not None]
    if not parts:
        return SparkEvents(_loaded(session, planned, reader), spark)
    counts = spark.dataset(parts).map_tasks(partial(map, pieces.line_feeds)).collect()
    parts = pieces.numbered(parts, counts)
    loaded = _loaded(session, [*(unit for unit in planned if unit.piece is None), *parts], reader)
    return SparkEvents(_put_together(session, loaded, [unit for unit in parts if unit.piece is not None], reader), spark)


def spread(unit: Unit, cores: int) -> list[Unit]:
    """The shares of a unit that is one large compressed tar; otherwise the unit itself."""
    return hands(unit, min(cores, MOST_HANDS, unit.size // HAND_BYTES))


def _loaded(session: SparkSession, units: list[Unit], reader: UnitReader) -> Dataset[EventBlock]:
    from spark.session import directory

    size = sum(unit.size for unit in units)
    splits = balance(units, tasks(session, size))
    reading = partial(reader.read, progress=announced(directory(session), units))
    return backend(session).dataset(splits).map_tasks(partial(_flat, reading)).keep()


def _flat(do: Callable[[Any], Iterable[Any]], given: Iterable[Any]) -> Iterator[Any]:
    return chain.from_iterable(map(do, given))


def blocks(events: Iterable[pa.RecordBatch], masks: Masks, file: str | None = None) -> Iterator[EventBlock]:
    """Batches of events as blocks."""
    for table in _joined(events):
        account = pc.equal(table["event"], pieces.EVENT)
        cluster, partition = masks.of_cluster(table), _has_partition(table)
        routine = pc.and_(partition, masks.routine(table))
        other = pc.invert(pc.or_(pc.or_(cluster, partition), account))
        of_blocks = {CLUSTER: cluster, PARTITION: pc.and_not(partition, routine), ROUTINE: routine, OTHER: other, ACCOUNT: account}
        for what, mask in of_blocks.items():
            selected = filtered(table, mask)
            if selected.num_rows:
                yield EventBlock(what, file, _weights(selected) if what in OF_PARTITIONS else {}, packed(selected))


def of_block(block: EventBlock) -> pa.Table:
    """The events of a block (schema parsers.schemas.EVENTS), without those that another block holds as well."""
    events = whole(opened(block.data), EVENTS)
    return events.filter(pc.invert(_has_partition(events))) if block.what == CLUSTER else events


def _joined(parts: Iterable[pa.RecordBatch | pa.Table], least: int = BLOCK_ROWS) -> Iterator[pa.Table]:
    """The same rows in tables of at least `least` rows."""
    waiting: list[pa.Table] = []
    count = 0
    for part in parts:
        waiting.append(pa.Table.from_batches([part]) if isinstance(part, pa.RecordBatch) else part)
        count += part.num_rows
        if count >= least:
            yield pa.concat_tables(waiting, promote_options="default")
            waiting, count = [], 0
    if waiting:
        yield pa.concat_tables(waiting, promote_options="default")


def _has_partition(events: pa.Table) -> pa.ChunkedArray:
    """Mask of the events of a partition. Topics known only by their id count: they are named later."""
    return pc.and_(pc.is_valid(events["partition"]), pc.or_(pc.is_valid(events["topic"]), pc.is_valid(events["topic_id"])))


def _weights(events: pa.Table) -> dict[int, int]:
    """Number of events in each of the CELLS. A topic known only by its id is counted in the cell of its id."""
    named = events.set_column(events.schema.get_field_index("topic"), "topic", pc.coalesce(events["topic"], events["topic_id"]))
    counts = _bucket_of(named, CELLS).value_counts()
    return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))


def _put_together(session: SparkSession, loaded: Dataset[EventBlock], parts: Sequence[Unit], reader: UnitReader) -> Dataset[EventBlock]:
    """The events with the closing rows of each file that was read in pieces. Files whose pieces do not fit together are read again
    whole."""
    accounts = loaded.map_tasks(_accounts)
    last, torn = put_together(parts, accounts.collect(), [compiled(pattern) for pattern in reader.log_patterns])
    files = frozenset(pieces.source_of(unit) for unit in torn)
    kept = loaded.map_tasks(lambda given: (block for block in given if block.what != ACCOUNT and block.file not in files))
    if torn:
        kept = kept.union(_loaded(session, torn, reader))
    closing = list(blocks(batches(last), reader.masks)) if last else []
    return kept.union(backend(session).split(closing, 1)) if closing else kept


def _accounts(given: Iterable[EventBlock]) -> Iterator[str]:
    """The accounts of files that were read in pieces."""
    return (account for block in given if block.what == ACCOUNT for account in opened(block.data)["value"].to_pylist())


class Identified(NamedTuple):
    """Identified events of partitions, packed, in buckets. A bucket holds all events of each of its partitions."""

    data: Dataset[tuple[int, bytes]]
    backend: Backend
    buckets: int
    weights: Mapping[int, int]
    """Number of events in each of the CELLS, about."""

    def union(self, other: Identified) -> Identified:
        """Both together; `other` must have the same number of buckets."""
        return Identified(self.data.union(other.data), self.backend, self.buckets, Counter(self.weights) + Counter(other.weights))

    def dealt(self, ways: int) -> Sequence[int]:
        """For each bucket the task that judges it: heavy buckets first, each to the task with the least work. Buckets that share a cell
        each count as if they held all of it, and no bucket counts as empty: topics known only by their id are named later."""
        cells = Counter[int]()
        for cell, events in self.weights.items():
            cells[cell % self.buckets] += events
        weights = [cells[bucket % CELLS] + 1 for bucket in range(self.buckets)]
        ordered = sorted(range(self.buckets), key=lambda bucket: -weights[bucket])
        tasks = dict(zip(ordered, _lightest((weights[bucket] for bucket in ordered), ways), strict=True))
        return [tasks[bucket] for bucket in range(self.buckets)]

    def partitions(self) -> set[tuple[str, int]]:
        """Topic and partition of all that have events."""
        return set().union(*self.data.map_tasks(partial(map, _names)).collect())


def _names(bucket: tuple[int, bytes]) -> set[tuple[str, int]]:
    named = opened(bucket[1]).group_by(["topic", "partition"]).aggregate([])
    return set(zip(named["topic"].to_pylist(), named["partition"].to_pylist(), strict=True))


def identified(
    events: SparkEvents,
    resolver: Resolver,
    change: Change | None = None,
    *,
    like: SparkEvents | None = None,
    thinning: Thinning | None = None,
) -> Identified:
    """Events of partitions, identified. With `like`, other events that are judged together with these: the buckets are the same for
    both."""
    routine, others = events.weights[ROUTINE], events.weights[PARTITION]
    known = events.backend.share(resolver)
    thin = thinning if routine.total() > max(MOSTLY * others.total(), JUDGED_ROWS) else None
    leave_out = events.backend.share(thin.knowing(_around(events, known, change, thin))) if thin is not None else None
    weights = others if thin is not None else others + routine
    total = weights.total() + (sum(own.total() for own in like.weights.values()) if like is not None else 0)
    buckets = max(BUCKETS, 1 << (total // BUCKET_ROWS).bit_length())

    def tables(given: Iterable[EventBlock]) -> Iterator[pa.Table]:
        routine: list[pa.Table] = []
        for block in given:
            if block.what == ROUTINE and leave_out is not None:
                routine.append(opened(block.data))
                if sum(table.num_rows for table in routine) >= THINNED_ROWS:
                    yield thinned(routine)
                    routine.clear()
            elif block.what in OF_PARTITIONS:
                yield _resolved(opened(block.data), known(), change)
        if routine:
            yield thinned(routine)

    def thinned(routine: Sequence[pa.Table]) -> pa.Table:
        assert leave_out is not None
        return leave_out()(_resolved(pa.concat_tables(routine, promote_options="default"), known(), change))

    def apply(given: Iterable[EventBlock]) -> Iterator[tuple[int, bytes]]:
        for table in _joined((table for table in tables(given) if table.num_rows), DEALT_ROWS):
            yield from _in_buckets(table, buckets)

    return Identified(events.blocks.map_tasks(apply), events.backend, buckets, weights)


def _around(events: SparkEvents, known: Callable[[], Resolver], change: Change | None, thinning: Thinning) -> list[pa.Table]:
    """What all events that are not routine show."""

    def apply(given: Iterable[EventBlock]) -> Iterator[bytes]:
        tables = (_resolved(opened(block.data), known(), change) for block in given if block.what == PARTITION)
        return (packed(thinning.around(table)) for table in tables)

    return list(map(opened, events.blocks.map_tasks(apply).collect()))


def _resolved(events: pa.Table, resolver: Resolver, change: Change | None) -> pa.Table:
    batch = whole(events, EVENTS).combine_chunks().to_batches()[0]
    resolved = pa.Table.from_batches([resolver.apply(batch)])
    if resolved["topic"].null_count:
        resolved = filtered(resolved, pc.is_valid(resolved["topic"]))
    return change(resolved) if change is not None else resolved


def _in_buckets(events: pa.Table, buckets: int) -> Iterator[tuple[int, bytes]]:
    number = _bucket_of(events, buckets)
    order = pc.sort_indices(number)  # a stable sort: the events of one file stay in their order
    events = filled(events).take(order).combine_chunks()
    for bucket, begin, end in equal_rows(number.take(order)):
        yield bucket, packed(events.slice(begin, end - begin))


def _bucket_of(events: pa.Table, buckets: int) -> pa.Array:
    """The bucket of each event. `buckets` is a power of two: a bucket of fewer is several buckets of more."""
    topics = events["topic"].combine_chunks().dictionary_encode()
    of_topics = pa.array([zlib.crc32(topic.encode()) for topic in topics.dictionary.to_pylist()], pa.int64())
    numbers = pc.add(of_topics.take(topics.indices), events["partition"].combine_chunks().cast(pa.int64()))
    return pc.bit_wise_and(numbers, buckets - 1)


def unplaced(
    events: SparkEvents, resolver: Resolver, work: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: pa.Schema
) -> Packed:
    """Rows of `schema` that `work` makes of identified events that neither belong to a partition nor describe the cluster, in the tasks
    that hold these events."""
    known = events.backend.share(resolver)

    def apply(given: Iterable[EventBlock]) -> Iterator[bytes]:
        tables = (whole(opened(block.data), EVENTS).combine_chunks() for block in given if block.what == OTHER)
        yield from (packed(pa.Table.from_batches([b])) for b in work(known().apply(b) for t in tables for b in t.to_batches()))

    return Packed(events.blocks.map_tasks(apply), schema)


def by_partition(events: Identified, shared: Any, sort: Sort, work: Work, schema: pa.Schema, *, ways: int | None = None) -> Packed:
    """Rows of `schema` that `work` makes of the sorted events of each partition. `shared` is sent to every task once and handed to `sort`
    and `work`. `ways`: number of tasks."""
    ways = ways or judging_tasks(events.backend.cores, sum(events.weights.values()))
    known = events.backend.share(shared)

    def apply(given: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        shared_here = known()
        for batch in work(_sorted(given, lambda slices: sort(slices, shared_here)), shared_here):
            yield packed(pa.Table.from_batches([batch]))

    rows = events.data.deal(ways, events.dealt(ways)).map_tasks(apply)
    return Packed(rows, schema, many=sum(events.weights.values()) > MANY_EVENTS)


def judging_tasks(cores: int, events: int) -> int:
    """Number of tasks that judge."""
    many = _ways(cores * TASKS_A_CORE, events, JUDGED_ROWS, LEAST_JUDGED)
    return _even(max(many, _ways(cores, events, JUDGED_ROWS, LEAST_A_CORE)), cores)


def _sorted(given: Iterable[tuple[int, bytes]], sort: Callable[[Slices], Iterable[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Events by topic and partition. One bucket is open at a time, and of a large bucket one slice."""
    places: dict[int, list[list[tuple[int, int]]]] = defaultdict(list)
    room = Counter[int]()
    with SpooledTemporaryFile(SPOOLED_BYTES, dir=os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None) as spool:
        for bucket, data in given:
            if room[bucket] <= 0:
                places[bucket].append([])
                room[bucket] = SLICE_BYTES
            places[bucket][-1].append((spool.tell(), len(data)))
            room[bucket] -= len(data)
            spool.write(data)
        for bucket in sorted(places):
            yield from sort([partial(_slice, spool, of_slice) for of_slice in places.pop(bucket)])


def _slice(spool: IO[bytes], places: Iterable[tuple[int, int]]) -> pa.Table:
    tables = []
    for begin, size in places:
        spool.seek(begin)
        tables.append(opened(spool.read(size)))
    return pa.concat_tables(tables, promote_options="default")
