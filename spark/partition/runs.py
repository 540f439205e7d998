"""Statements that a broker's log repeats, folded while they are columns: of a million refusals of one write no million objects are made.

Here: which rows of runs can be left out so that the timeline is the same as with them. Not here: which kinds are folded and what makes them
one fact, or the runs that are seen when a broker's files are in order (folding).

Each file's rows are looked at in its own order, before a broker's files are put in order and a topic's lives are told apart. So a run is
folded where neither can part it: no other file of the broker tells of the partition at that time, and nobody what may end a life.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from parsers.kinds import OF_DELETION
from spark.cluster.facts import Cluster, once
from spark.partition.folding import FOLDED, FOLDED_BY
from spark.partition.generations import MARKS

_KINDS = FOLDED - MARKS
_FILE = ("topic", "partition", "writer", "source")
_PLACE = ("line", "byte", "metadata_offset")
_FACT = (*FOLDED_BY, "topic_id", "cluster")
_UNTOLD = -(1 << 62)
_MOST = 1 << 32
"""More rows than are looked at together."""


def folded(events: pa.Table, cluster: Cluster) -> pa.Table:
    """Identified events, all there are of their partitions, without those that repeat the one before them in their file: that one has
    `repeats` and `last_at`."""
    repeatable = _repeatable(events, cluster)
    if not _several(events.filter(repeatable)):
        return events
    columns = {name: _coded(events[name]) for name in dict.fromkeys((*_FILE, *_PLACE, *_FACT, "at")) if name in events.schema.names}
    by = [(name, "ascending") for name in (*_FILE, *_PLACE) if name in columns]
    order = pc.sort_indices(pa.table({name: columns[name] for name, _ in by}), by)
    columns = {name: column.take(order) for name, column in columns.items()}
    marks = pc.is_in(events["event"], pa.array(sorted(MARKS))).take(order).combine_chunks()
    again = _again(columns, repeatable.take(order).combine_chunks(), marks, events["topic"].take(order), _of_topics(cluster))
    firsts = pc.indices_nonzero(pc.invert(again)).cast(pa.int64())
    nexts = pa.concat_arrays([firsts[1:], pa.array([len(again)], pa.int64())])
    kept = order.take(firsts)
    back = pc.sort_indices(kept)
    told = events.take(kept.take(back))
    last = events["at"].take(order.take(pc.subtract(nexts, 1)).take(back))
    repeats = pc.subtract(nexts, firsts).take(back)
    return told.append_column("repeats", repeats).append_column("last_at", last)


def _repeatable(events: pa.Table, cluster: Cluster) -> pa.ChunkedArray:
    found = pc.is_in(events["event"], pa.array(sorted(_KINDS)))
    for name in ("line", "at"):
        found = pc.and_(found, pc.is_valid(events[name]) if name in events.schema.names else False)
    return pc.and_not(found, pc.is_in(events["source"], pa.array(_copies(cluster), pa.string())))


@once
def _copies(cluster: Cluster) -> list[str]:
    """Sources that may hold lines of others, each of which has to be seen."""
    return sorted(frozenset[str]().union(*(own.copies for own in cluster.by_number.values())))


@once
def _of_topics(cluster: Cluster) -> dict[str, list[datetime]]:
    """When they were made and deleted."""
    found: dict[str, list[datetime]] = defaultdict(list)
    for own in cluster.by_number.values():
        for e in own.of("topic-created", *OF_DELETION):
            if e.topic is not None and e.at is not None:
                found[e.topic].append(e.at)
    return found


def _several(events: pa.Table) -> bool:
    """Any of them repeats another, as far as is quickly seen."""
    by = [name for name in (*_FILE, *_FACT) if name in events.schema.names and not pa.types.is_list(events.schema.field(name).type)]
    return bool(events.num_rows > 1 and events.group_by(by, use_threads=False).aggregate([]).num_rows < events.num_rows)


def _again(
    columns: Mapping[str, pa.Array],
    repeatable: pa.Array,
    marks: pa.Array,
    topics: pa.ChunkedArray,
    of_topics: Mapping[str, Sequence[datetime]],
) -> pa.Array:
    """Which rows, in the order of their files, repeat the one before."""
    partition, broker, file = (_numbered([columns[name] for name in names if name in columns]) for names in (_FILE[:2], _FILE[:3], _FILE))
    begins = pc.indices_nonzero(pc.not_equal(partition, pa.concat_arrays([pa.array([-1], pa.int64()), partition[:-1]])))
    ends = [(number, at) for number, topic in enumerate(topics.take(begins).to_pylist()) for at in of_topics.get(topic, ())]
    moments = pa.concat_arrays([columns["at"], pa.array([at for _, at in ends], pa.timestamp("us")).cast(pa.int64())])
    ranks = pc.rank(moments, tiebreaker="dense").cast(pa.int64())
    at = ranks[: len(file)]
    reached = pc.subtract(pc.cumulative_max(_within(file, at)), _within(file, 0))  # a clock that jumps back does not reorder the file
    again = pc.and_(repeatable[1:], repeatable[:-1])
    for name in (*_FILE, *_FACT):
        if name in columns:
            again = pc.and_(again, pc.equal(columns[name][1:], columns[name][:-1]))
    straight = pc.equal(at, reached)
    again = pc.and_(again, pc.and_(straight[1:], straight[:-1]))
    # A row is somewhere between its own time and the latest before it in its file, where only some of the file's rows are of one life.
    of_file, of_broker = (_between(_within(group, at), _within(group, reached)) for group in (file, broker))
    again = pc.and_(again, pc.equal(of_file, of_broker))
    everywhere = pa.concat_arrays([partition, pa.array([number for number, _ in ends], pa.int64())])
    marked = pa.concat_arrays([marks, pa.array([True] * len(ends), pa.bool_())])
    again = pc.and_not(again, _parted(_within(everywhere, ranks), marked)[: len(again)])
    return pa.concat_arrays([pa.array([False]), again])


def _numbered(columns: Sequence[pa.Array]) -> pa.Array:
    """Numbers of the groups of rows that are equal in these columns, which are sorted by them."""
    starts = pa.array([False] * (len(columns[0]) - 1))
    for column in columns:
        starts = pc.or_(starts, pc.not_equal(column[1:], column[:-1]))
    return pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(starts.cast(pa.int64()))])


def _within(group: pa.Array, rank: pa.Array | int) -> pa.Array:
    """Sorted by group, and in each by rank."""
    return pc.add(pc.multiply(group, _MOST), rank)


def _between(begins: pa.Array, ends: pa.Array) -> pa.Array:
    """How many rows there are, from beginning to end, in the time between each row but the first and the one before it, these included."""
    return pc.subtract(pc.rank(begins, tiebreaker="max")[1:].cast(pa.int64()), pc.rank(ends, tiebreaker="min")[:-1].cast(pa.int64()))


def _parted(moments: pa.Array, marks: pa.Array) -> pa.Array:
    """Whether between the moments of each row but the first and the one before it there is a mark."""
    counted = marks.cast(pa.int64())
    until, before = (_running(moments, counted, direction) for direction in ("descending", "ascending"))
    return pc.greater(until[1:], before[:-1])


def _running(moments: pa.Array, marks: pa.Array, direction: str) -> pa.Array:
    """How many marks there are up to each row's moment; at it, with the marks first or last."""
    order = pc.sort_indices(pa.table({"moment": moments, "mark": marks}), [("moment", "ascending"), ("mark", direction)])
    return pc.cumulative_sum(marks.take(order)).take(pc.sort_indices(order))


def _coded(column: pa.ChunkedArray) -> pa.Array:
    """Integers that are equal where the values are."""
    if pa.types.is_list(column.type):
        column = pc.binary_join(column.cast(pa.list_(pa.string())), ",")
    if pa.types.is_string(column.type):
        column = column.combine_chunks().dictionary_encode().indices
    coded = column.cast(pa.int64()).fill_null(_UNTOLD)
    return coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
