"""Statements that a broker's log repeats, folded while they are columns: of a million refusals of one write no million objects are made.

Here: which rows of runs can be left out so that the timeline is the same as with them. Not here: which kinds are folded and what makes them
one fact, or the runs that are seen when a broker's files are in order (folding).

Each file's rows are looked at in its own order, before a broker's files are put in order and a topic's lives are told apart. So a run is
folded where neither can part it: no other file of the broker tells of the partition at that time, and nobody what may end a life.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from parsers.kinds import OF_DELETION
from spark.cluster.facts import Cluster, once
from spark.partition.folding import FOLDED, FOLDED_BY
from spark.partition.generations import MARKS

_KINDS = FOLDED - MARKS
_FILE = ("topic", "partition", "writer", "source")
_PLACE = ("file", "line", "byte", "metadata_offset")
_FACT = (*FOLDED_BY, "topic_id", "cluster")
FEW = 5_000
"""Statements that may be repeated, in one slice: the objects of so many cost less than finding out which are."""
_OTHER, _MARK = -1, -2
"""Instead of the number of a fact: rows that are not folded, and those of MARKS."""
_MOST = 1 << 32
"""More rows than are looked at together."""
_NEVER = -(1 << 62)

Open = Callable[[], pa.Table]


def folded(slices: Sequence[Open], cluster: Cluster) -> pa.Table:
    """Identified events, all there are of their partitions, without those that repeat the one before them in their file: that one has
    `repeats` and `last_at`. A slice is open while its rows are looked at, and again to take those that are left."""
    files, facts = _Files(), _Numbers()
    opened = [one() for one in slices] if len(slices) == 1 else None
    if opened and (pc.sum(_repeatable(opened[0], cluster)).as_py() or 0) < FEW:
        return opened[0]
    rows = [_light(table, files, facts, cluster) for table in opened or (one() for one in slices)]
    begins = [0]
    for own in rows:
        begins.append(begins[-1] + own.num_rows)
    found = _runs(rows, files, cluster)
    if found is None:
        return pa.concat_tables(opened or [one() for one in slices], promote_options="default")
    left = []
    for begin, end, one in zip(begins, begins[1:], slices, strict=False):
        own = found.filter(pc.and_(pc.greater_equal(found["row"], begin), pc.less(found["row"], end)))
        table = (opened[0] if opened else one()).take(pc.subtract(own["row"], begin))
        left.append(table.append_column("repeats", own["repeats"]).append_column("last_at", own["last_at"]))
    return pa.concat_tables(left, promote_options="default")


class _Numbers(dict[str, int]):
    """Of values as they are met."""

    def __missing__(self, value: str) -> int:
        number = self[value] = len(self)
        return number

    def of(self, rows: pa.Table, names: Sequence[str]) -> pa.Array:
        """One for each row, the same where all columns of these names are."""
        told = [_plain(rows[name]) if name in rows.schema.names else pa.scalar(_NULL) for name in names]
        coded = pc.binary_join_element_wise(*told, _BETWEEN).dictionary_encode()
        return pa.array([self[value] for value in coded.dictionary.to_pylist()], pa.int32()).take(coded.indices)


_BETWEEN, _NULL = "\x1f", "\x1e"


class _Files(_Numbers):
    """The part of a file that one broker tells of one partition."""

    def topics(self) -> list[str]:
        return [name.split(_BETWEEN)[0] for name in self]

    def partitions(self) -> pa.Array:
        """Of the files in the order of their numbers, as those below."""
        return _same(_BETWEEN.join(name.split(_BETWEEN)[:2]) for name in self)

    def brokers(self) -> pa.Array:
        return _same(_BETWEEN.join(name.split(_BETWEEN)[:3]) for name in self)


def _same(values: Iterable[str]) -> pa.Array:
    numbers = _Numbers()
    return pa.array([numbers[value] for value in values], pa.int64())


def _light(events: pa.Table, files: _Files, facts: _Numbers, cluster: Cluster) -> pa.Table:
    """Of each row its place and time, and the number of its fact."""
    events = events.select([name for name in dict.fromkeys((*_FILE, *_PLACE[1:], *_FACT, "at")) if name in events.schema.names])
    events = events.combine_chunks()
    repeatable, marks = _repeatable(events, cluster), pc.is_in(events["event"], pa.array(sorted(MARKS)))
    numbers = facts.of(events.filter(repeatable), _FACT)
    of_facts = pc.replace_with_mask(
        pc.if_else(marks, _MARK, _OTHER).cast(pa.int32()).combine_chunks(), repeatable.combine_chunks(), numbers
    )
    columns = {name: events[name] for name in (*_PLACE[1:], "at") if name in events.schema.names}
    columns["at"] = columns["at"].cast(pa.int64()) if "at" in columns else pa.nulls(events.num_rows, pa.int64())
    return pa.table({"file": files.of(events, _FILE), "fact": of_facts, **columns})


def _repeatable(events: pa.Table, cluster: Cluster) -> pa.ChunkedArray:
    """Rows that may be of a run."""
    found = pc.is_in(events["event"], pa.array(sorted(_KINDS)))
    for name in ("line", "at"):
        found = pc.and_(found, pc.is_valid(events[name]) if name in events.schema.names else False)
    return pc.and_not(found, pc.is_in(events["source"], pa.array(_copies(cluster), pa.string())))


def _plain(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_list(column.type):
        column = pc.binary_join(column.cast(pa.list_(pa.string())), ",")
    return pc.fill_null(column.cast(pa.string()), _NULL).combine_chunks()


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


def _runs(slices: Sequence[pa.Table], files: _Files, cluster: Cluster) -> pa.Table | None:
    """The rows that are left, in their order, with how often and until when each is repeated; None: all."""
    rows = pa.concat_tables(slices, promote_options="default")
    repeatable = rows.select(["file", "fact"]).filter(pc.greater_equal(rows["fact"], 0))
    if repeatable.group_by(["file", "fact"], use_threads=False).aggregate([]).num_rows == repeatable.num_rows:
        return None
    places = {name: pc.fill_null(rows[name], 0) for name in _PLACE if name in rows.schema.names}
    order = pc.sort_indices(pa.table(places), [(name, "ascending") for name in places])
    rows = rows.select(["file", "fact", "at"]).take(order).combine_chunks()
    again = _again(rows, files, _of_topics(cluster))
    firsts = pc.indices_nonzero(pc.invert(again)).cast(pa.int64())
    nexts = pa.concat_arrays([firsts[1:], pa.array([len(again)], pa.int64())])
    last = rows["at"].take(pc.subtract(nexts, 1)).cast(pa.timestamp("us"))
    return pa.table({"row": order.take(firsts), "repeats": pc.subtract(nexts, firsts), "last_at": last}).sort_by("row")


def _again(rows: pa.Table, files: _Files, of_topics: dict[str, list[datetime]]) -> pa.Array:
    """Which rows, in the order of their files, repeat the one before."""
    file, fact = (rows[name].combine_chunks() for name in ("file", "fact"))
    again = pc.and_(pc.greater_equal(fact[1:], 0), pc.and_(pc.equal(fact[1:], fact[:-1]), pc.equal(file[1:], file[:-1])))
    partitions, brokers, file = files.partitions(), files.brokers(), file.cast(pa.int64())
    ends = [
        (number, at)
        for number, topic in dict(zip(partitions.to_pylist(), files.topics(), strict=True)).items()
        for at in of_topics.get(topic, ())
    ]
    known = pc.fill_null(rows["at"].combine_chunks(), _NEVER)
    moments = pa.concat_arrays([known, pa.array([at for _, at in ends], pa.timestamp("us")).cast(pa.int64())])
    ranks = pc.rank(moments, tiebreaker="dense").cast(pa.int64())
    at = ranks[: len(file)]
    reached = pc.subtract(pc.cumulative_max(_within(file, at)), _within(file, 0))  # a clock that jumps back does not reorder the file
    straight = pc.equal(at, reached)
    again = pc.and_(again, pc.and_(straight[1:], straight[:-1]))
    # A row is somewhere between its own time and the latest before it in its file, where only some of the file's rows are of one life.
    of_file, of_broker = (_between(_within(group, at), _within(group, reached)) for group in (file, brokers.take(file)))
    again = pc.and_(again, pc.equal(of_file, of_broker))
    everywhere = pa.concat_arrays([partitions.take(file), pa.array([number for number, _ in ends], pa.int64())])
    marks = pa.concat_arrays([pc.equal(fact, _MARK), pa.array([True] * len(ends), pa.bool_())])
    again = pc.and_not(again, _parted(_within(everywhere, ranks), marks)[: len(again)])
    return pa.concat_arrays([pa.array([False]), again])


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
