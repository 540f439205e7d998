"""The run on Spark: evidence to events, events to timelines, timelines to whatever a judge makes of them.

Here: the DataFrames and how few jobs they take: one that reads everything once and gathers what belongs to no partition, one
that shuffles the rest by partition and judges it. Not here: what is read, and what is judged; the judge is an argument.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from parsers import pieces
from parsers.containers.walk import hands
from parsers.kinds import GATHERED
from parsers.log_pattern import compiled
from parsers.pieces import put_together
from parsers.schemas import EVENTS, batches
from spark.cluster.comparisons import LEADERSHIPS
from spark.cluster.facts import Cluster
from spark.cluster.gather import Identifier, Options, gather
from spark.events import IDENTIFIED, Event, rows
from spark.partition.timeline import PartitionTimeline, build

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from parsers.containers.units import Unit

Judge = Callable[[PartitionTimeline, Cluster], Iterable[Mapping[str, Any]]]

SPLIT_BYTES = 64 << 20
"""Evidence a task reads, about."""
LEAST_BYTES = 2 << 20
"""Evidence worth a task of its own, where there are cores for it."""
HAND_BYTES = 32 << 20
MOST_HANDS = 8
"""Tasks that read one compressed tar, each its own members, and what each should have at least: each decompresses all of it."""


def tasks(session: SparkSession, size: int) -> int:
    """How many tasks so many bytes of evidence are worth."""
    return max(size // SPLIT_BYTES, min(session.sparkContext.defaultParallelism, size // LEAST_BYTES), 1)


def read(session: SparkSession, units: list[Unit], log_patterns: Sequence[str] = (), *, cut: bool = True) -> DataFrame:
    """Events (schema parsers.schemas.EVENTS) of the units, kept for the passes that follow. Large logs are read in pieces, side by side,
    unless `cut` is false: that reads everything at once, to know whether the pieces fit."""
    layouts = [compiled(pattern) for pattern in log_patterns]
    cores = session.sparkContext.defaultParallelism
    dealt = [hand for unit in units for hand in hands(unit, min(cores, MOST_HANDS, unit.size // HAND_BYTES))]
    planned = [piece for unit in dealt for piece in (pieces.cut(unit, layouts) if cut else [unit])]
    parts = [unit for unit in planned if unit.piece is not None]
    if not parts:
        return _loaded(session, planned, log_patterns)
    counts = session.sparkContext.parallelize(parts, len(parts)).map(pieces.line_feeds).collect()
    parts = pieces.numbered(parts, counts)
    events = _loaded(session, [*(unit for unit in planned if unit.piece is None), *parts], log_patterns)
    return _put_together(events, [unit for unit in parts if unit.piece is not None], log_patterns)


def _loaded(session: SparkSession, units: list[Unit], log_patterns: Sequence[str]) -> DataFrame:
    from spark.engine.progress import announced
    from spark.engine.session import directory
    from spark.engine.source import NAME, EvidenceSource, balance, write_plan

    session.dataSource.register(EvidenceSource)
    size = sum(unit.size for unit in units)
    plan = write_plan(balance(units, tasks(session, size)), directory(session))
    reader = session.read.format(NAME).option("plan", str(plan)).option("told", str(announced(directory(session), size)))
    return reader.option("log_patterns", json.dumps(list(log_patterns))).load().persist()


def _put_together(events: DataFrame, parts: Sequence[Unit], log_patterns: Sequence[str]) -> DataFrame:
    """The events with what is to be said of each file that was read in pieces; where they do not fit, those of one reader."""
    from pyspark.sql import functions as F

    accounts = events.where(F.col("event") == pieces.EVENT).select("value").toArrow()["value"].to_pylist()
    last, torn = put_together(parts, accounts, [compiled(pattern) for pattern in log_patterns])
    told = events.where(F.col("event") != pieces.EVENT)
    if torn:
        told = told.where(~F.col("source").isin([pieces.source_of(unit) for unit in torn]))
        told = told.unionByName(_loaded(events.sparkSession, torn, log_patterns))
    rows = pa.Table.from_batches(list(batches(last)), schema=EVENTS)
    return told.unionByName(events.sparkSession.createDataFrame(rows, events.schema)) if last else told


ALL_EPOCHS = 64
ONE_OF = 32
"""Leader epochs of which all lines go to the driver, and of how many later ones one: few are enough to compare clocks, and a partition
may have a million."""


def gathered(events: DataFrame, options: Options | None = None) -> tuple[Cluster, Identifier]:
    """Job one: the cluster as a whole."""
    return gather(of_cluster(events), options)


def of_cluster(events: DataFrame) -> pa.Table:
    """What is gathered: restarts, settings, topics and one row a source; of partitions only what compares clocks."""
    from pyspark.sql import functions as F

    few = (F.col("leader_epoch") < ALL_EPOCHS) | (F.pmod("leader_epoch", F.lit(ONE_OF)) == 0)
    told = F.col("reason").isNull() | (F.col("reason") != "cached")
    leaderships = F.col("event").isin(*sorted(LEADERSHIPS)) & (F.col("partition") == 0) & told & few
    wanted = events.where(F.col("event").isin(*sorted(GATHERED)) | leaderships)
    return wanted.toArrow()


def of_cluster_here(events: pa.Table) -> pa.Table:
    """The same of events that are in this process."""
    epoch = events["leader_epoch"]
    sampled = pc.equal(pc.bit_wise_and(epoch, ONE_OF - 1), 0)
    told = pc.fill_null(pc.not_equal(events["reason"], "cached"), True)
    of_first = pc.and_(pc.is_in(events["event"], pa.array(sorted(LEADERSHIPS))), pc.equal(events["partition"], 0))
    leaderships = pc.and_(pc.and_(of_first, told), pc.or_(pc.less(epoch, ALL_EPOCHS), sampled))
    return events.filter(pc.or_(pc.is_in(events["event"], pa.array(sorted(GATHERED))), pc.fill_null(leaderships, False)))


def identified_here(events: pa.Table, identifier: Identifier) -> list[pa.RecordBatch]:
    """The identified events of partitions, in their order, of events that are in this process."""
    whole = pa.Table.from_batches([identifier.apply(batch) for batch in events.to_batches()], schema=IDENTIFIED)
    whole = whole.filter(pc.and_(pc.is_valid(whole["topic"]), pc.is_valid(whole["partition"])))
    return whole.sort_by([("topic", "ascending"), ("partition", "ascending")]).to_batches()  # type: ignore[no-any-return]


def identified(events: DataFrame, identifier: Identifier) -> DataFrame:
    """Events with writer, collection and corrected time (schema spark.events.IDENTIFIED)."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def apply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield identifier.apply(plain(batch))

    return events.mapInArrow(apply, from_arrow_schema(IDENTIFIED, prefer_timestamp_ntz=True))


def verdicts(events: DataFrame, cluster: Cluster, judge: Judge, schema: pa.Schema, *, ways: int | None = None) -> DataFrame:
    """Job two: rows of `schema`, as `judge` makes them of each partition's timeline. `events` are identified."""
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    def apply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from judged(batches, cluster, judge, schema)

    key = ["topic", "partition"]
    of_partitions = events.where(F.col("topic").isNotNull() & F.col("partition").isNotNull())
    ways = ways or events.sparkSession.sparkContext.defaultParallelism
    return (
        of_partitions.repartition(ways, *key)
        .sortWithinPartitions(*key)
        .mapInArrow(apply, from_arrow_schema(schema, prefer_timestamp_ntz=True))
    )


def judged(batches: Iterable[pa.RecordBatch], cluster: Cluster, judge: Judge, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Judges batches sorted by topic and partition, holding one partition at a time."""
    made: list[Mapping[str, Any]] = []
    for topic, partition, events in by_partition(batches):
        for timeline, own in timelines(topic, partition, events, cluster):
            for row in judge(timeline, own):
                made.append(row)
                if len(made) >= 1024:
                    yield pa.RecordBatch.from_pylist(made, schema=schema)
                    made = []
    if made:
        yield pa.RecordBatch.from_pylist(made, schema=schema)


def timelines(topic: str, partition: int, events: Sequence[Event], cluster: Cluster) -> Iterator[tuple[PartitionTimeline, Cluster]]:
    """The timelines of a topic-partition in each of the clusters it lived in, with the cluster, oldest first."""
    for own in cluster.lives:
        told = [e for e in events if (e.cluster or 0) == own.number] if cluster.ended else events
        if told:
            yield from ((timeline, own) for timeline in build(topic, partition, told, own))


def by_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, int, list[Event]]]:
    """Groups of consecutive rows of one topic-partition."""
    key: tuple[str, int] | None = None
    group: list[Event] = []
    for batch in batches:
        for event in rows(plain(batch)):
            now = (event.topic, event.partition)
            if now != key:
                if key is not None:
                    yield (*key, group)
                key, group = now, []  # type: ignore[assignment]
            group.append(event)
    if key is not None:
        yield (*key, group)


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Spark hands timestamps back with its own unit and zone; the columns' own types are restored."""
    target = IDENTIFIED if "writer" in batch.schema.names else pa.schema([IDENTIFIED.field(n) for n in batch.schema.names])
    return batch if batch.schema.equals(target) else batch.cast(target)
