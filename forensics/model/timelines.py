"""From identified events to timelines and to what a judge makes of them, one partition at a time.

Here: the timelines of sorted events, and the loop that judges them; a Spark task and a process without Spark run the same functions. Not
here: how events reach the task (spark.pipeline), or a judge (forensics.incidents.judging, forensics.case.judge).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.clock.resolver import EventResolver
from forensics.model.cluster.facts import Cluster
from forensics.model.events import IDENTIFIED, Event, rows
from forensics.model.partition.quiet_times import drop_routine_lines
from forensics.model.partition.runs import folded
from forensics.model.partition.timeline import PartitionTimeline, build
from forensics.model.times import grouped

Judge = Callable[[PartitionTimeline, Cluster], Iterable[Mapping[str, Any]]]
"""Gives rows of one schema for a timeline of the cluster."""
ROWS = 1024
"""Rows of a batch of results."""


def judged(batches: Iterable[pa.RecordBatch], cluster: Cluster, judge: Judge, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of `schema` that `judge` gives for batches of IDENTIFIED sorted by topic and partition. Holds one partition at a time."""
    pending: list[Mapping[str, Any]] = []
    with _rarely_collected():
        for topic, partition, events in by_partition(batches):
            for timeline, cluster_of_timeline in timelines(topic, partition, events, cluster):
                for row in judge(timeline, cluster_of_timeline):
                    pending.append(row)
                    if len(pending) >= ROWS:
                        yield pa.RecordBatch.from_pylist(pending, schema=schema)
                        pending = []
                timeline.cache.clear()  # it refers to the timeline: else only the search for cycles would free both
    if pending:
        yield pa.RecordBatch.from_pylist(pending, schema=schema)


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """A timeline is thousands of objects with a short life. With Python's default thresholds, the search for cycles among them takes a
    fifth of the time of judging."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def timelines(topic: str, partition: int, events: Sequence[Event], cluster: Cluster) -> Iterator[tuple[PartitionTimeline, Cluster]]:
    """The timelines of a partition with their cluster, oldest first: brokers can have been in several clusters, one after the other."""
    if len(cluster.by_number) == 1:
        yield from ((timeline, cluster) for timeline in build(topic, partition, events, cluster))
        return
    by_cluster = grouped((event.cluster or 0, event) for event in events)
    for number in sorted(by_cluster):
        numbered = cluster.by_number[number]
        yield from ((timeline, numbered) for timeline in build(topic, partition, by_cluster[number], numbered))


def sorted_partitions(slices: Sequence[Callable[[], pa.Table]], cluster: Cluster) -> list[pa.RecordBatch]:
    """Identified events with repeated lines folded and without those in the middle of quiet times, sorted by topic and partition. Each
    slice opens one part of the events."""
    events = drop_routine_lines(folded(slices, cluster), cluster).sort_by([("topic", "ascending"), ("partition", "ascending")])
    return events.to_batches(max_chunksize=4096)  # type: ignore[no-any-return]


def identified(events: pa.Table, resolver: EventResolver, cluster: Cluster) -> list[pa.RecordBatch]:
    """The identified events of partitions, sorted by topic and partition, from a table of EVENTS in this process."""
    resolved = pa.Table.from_batches([resolver.apply(batch) for batch in events.to_batches()], schema=IDENTIFIED)
    resolved = resolved.filter(pc.and_(pc.is_valid(resolved["topic"]), pc.is_valid(resolved["partition"])))
    return sorted_partitions([lambda: resolved], cluster)


def by_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, int, list[Event]]]:
    """Topic, partition and events of each group of consecutive rows of one partition."""
    current: tuple[str, int] | None = None
    group: list[Event] = []
    for batch in batches:
        for event in rows(batch):
            key = (event.topic, event.partition)
            if key != current:
                if current is not None:
                    yield (*current, group)
                current, group = key, []  # type: ignore[assignment]
            group.append(event)
    if current is not None:
        yield (*current, group)
