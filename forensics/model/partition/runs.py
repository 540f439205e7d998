"""Folds repeated lines of a broker's log while they are columns: a million refusals of one write do not become a million objects.

Here: which rows of runs can be dropped without changing the timeline. Not here: which kinds are folded and which columns identify one
fact, or runs that appear only after a broker's files are ordered (folding); events that are dropped with loss (floods).

Each file's rows are read in their own order, before a broker's files are ordered and a topic's generations are separated. So a run is
folded only if neither step can split it: no other file of the broker reports on the partition at that time, and no event at that time
may end a generation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.partition import floods
from forensics.model.partition.folding import FOLDED, FOLDED_BY, joins
from forensics.model.partition.generations import MARKS
from forensics.model.partition.numbers import BETWEEN, Numbers, Open, below, by_slice, copied, counted, in_order, up_to, within
from forensics.model.times import grouped
from parsers.kinds import OF_DELETION

_KINDS = FOLDED - MARKS
_FILE = ("topic", "partition", "writer", "source")
_PLACE = ("file", "line", "byte", "metadata_offset")
_FACT = (*FOLDED_BY, "topic_id", "cluster")
FEW = 5_000
"""Minimum number of foldable rows in a single slice: for fewer, creating all objects is cheaper than finding the repeats."""
_OTHER, _MARK = -1, -2
"""Used in place of a fact's number: for rows that are not folded, and for rows of MARKS."""
_NEVER = -(1 << 62)
PIECE = 64
"""Rows of a run that are kept or dropped together."""


def folded(slices: Sequence[Open], cluster: Cluster) -> pa.Table:
    """Identified events, all of their partitions, without those that repeat the previous one in their file: that one gets `repeats` and
    `last_at`. If too many remain to hold, the middle of floods is dropped as well (floods). Each slice is opened twice: to read its
    rows, and to take the remaining ones."""
    files, facts = _Files(), Numbers()
    opened = [one() for one in slices] if len(slices) == 1 else None
    if opened and opened[0].num_rows <= floods.MOST and (pc.sum(_repeatable(opened[0], cluster)).as_py() or 0) < FEW:
        return _together(opened)
    rows = [_light(table, files, facts, cluster) for table in opened or (one() for one in slices)]
    begins = [0, *accumulate(own.num_rows for own in rows)]
    found = _runs(rows, files, cluster)
    if (begins[-1] if found is None else found.num_rows) > floods.MOST:
        found = floods.cut(slices, begins, found)
    if found is None:
        return _together(opened or [one() for one in slices])
    left = []
    for one, own in zip(slices, by_slice(found, begins), strict=True):
        table = (opened[0] if opened else one()).take(own["row"])
        table = floods.marked(table, own["left_out"]) if "left_out" in own.schema.names else table
        left.append(counted(table, own["repeats"], own["last_at"]))
    return _together(left)


def _together(slices: Sequence[pa.Table]) -> pa.Table:
    """All rows; if some represent several events, with counts in every row."""
    events = pa.concat_tables(slices, promote_options="default")
    return counted(events) if "repeats" in events.schema.names else events


class _Files(Numbers):
    """Numbers for the parts of files: one broker's lines about one partition in one file."""

    def topics(self) -> list[str]:
        return [name.split(BETWEEN)[0] for name in self]

    def partitions(self) -> pa.Array:
        """Partition of each file, in the order of the files' numbers, as below."""
        return _same(BETWEEN.join(name.split(BETWEEN)[:2]) for name in self)

    def brokers(self) -> pa.Array:
        return _same(BETWEEN.join(name.split(BETWEEN)[:3]) for name in self)


def _same(values: Iterable[str]) -> pa.Array:
    numbers = Numbers()
    return pa.array([numbers[value] for value in values], pa.int64())


def _light(events: pa.Table, files: _Files, facts: Numbers, cluster: Cluster) -> pa.Table:
    """Place, time and fact number of each row."""
    events = events.select([name for name in dict.fromkeys((*_FILE, *_PLACE[1:], *_FACT, "at")) if name in events.schema.names])
    events = events.combine_chunks()
    repeatable, marks = _repeatable(events, cluster), pc.is_in(events["event"], pa.array(sorted(MARKS)))
    numbers = facts.of(events.filter(repeatable), _FACT)
    of_facts = pc.replace_with_mask(
        pc.if_else(marks, _MARK, _OTHER).cast(pa.int32()).combine_chunks(), repeatable.combine_chunks(), numbers
    )
    columns = {name: copied(events[name]) for name in _PLACE[1:] if name in events.schema.names}
    columns["at"] = copied(events["at"]).cast(pa.int64()) if "at" in events.schema.names else pa.nulls(events.num_rows, pa.int64())
    return pa.table({"file": files.of(events, _FILE), "fact": of_facts, **columns})


def _repeatable(events: pa.Table, cluster: Cluster) -> pa.ChunkedArray:
    """Mask of rows that may be part of a run."""
    found = pc.is_in(events["event"], pa.array(sorted(_KINDS)))
    for name in ("line", "at"):
        found = pc.and_(found, pc.is_valid(events[name]) if name in events.schema.names else False)
    return pc.and_not(found, pc.is_in(events["source"], pa.array(copies(cluster), pa.string())))


@cached_on_cluster
def copies(cluster: Cluster) -> list[str]:
    """Sources that may repeat lines of others, or their own; all their rows are needed."""
    return sorted(frozenset(joins(cluster)).union(*(own.copies.sources for own in cluster.by_number.values())))


@cached_on_cluster
def _of_topics(cluster: Cluster) -> dict[str, list[datetime]]:
    """Times of creation and deletion by topic."""
    return grouped(
        (e.topic, e.at)
        for own in cluster.by_number.values()
        for e in own.of("topic-created", *OF_DELETION)
        if e.topic is not None and e.at is not None
    )


def _runs(slices: list[pa.Table], files: _Files, cluster: Cluster) -> pa.Table | None:
    """The remaining rows in order, with the number and end of each one's repeats; None: all rows remain."""
    rows = pa.concat_tables(slices, promote_options="default")
    slices.clear()
    places = {name: pc.fill_null(rows[name], 0) if rows[name].null_count else rows[name] for name in _PLACE if name in rows.schema.names}
    rows = rows.select(["file", "fact", "at"])
    order = pc.sort_indices(pa.table(places), [(name, "ascending") for name in places])
    del places
    rows = in_order(rows, order)
    begins = _begins(*(column.combine_chunks() for column in rows.columns))
    starts = pc.indices_nonzero(begins).cast(pa.int64())
    if len(starts) == len(begins):
        return None
    ends = pa.concat_arrays([starts[1:], pa.array([len(begins)], pa.int64())])
    pieces = rows.take(starts).append_column("last", rows["at"].take(pc.subtract(ends, 1)))
    joins, sound = _joined(pieces, files, _of_topics(cluster))
    # A piece with other events inside is split into its rows again.
    apart = pc.and_not(pc.greater(pc.subtract(ends, starts), 1), sound)
    piece = pc.subtract(pc.cumulative_sum(begins.cast(pa.int64())), 1)
    first = pc.indices_nonzero(pc.or_(pc.and_not(begins, joins.take(piece)), apart.take(piece))).cast(pa.int64())
    nexts = pa.concat_arrays([first[1:], pa.array([len(begins)], pa.int64())])
    last = rows["at"].take(pc.subtract(nexts, 1)).cast(pa.timestamp("us"))
    return pa.table({"row": order.take(first), "repeats": pc.subtract(nexts, first), "last_at": last}).sort_by("row")


def _begins(file: pa.Array, fact: pa.Array, at: pa.Array) -> pa.Array:
    """Mask of the rows, in file order, at which a piece of a run begins."""
    again = pc.and_(pc.greater_equal(fact[1:], 0), pc.and_(pc.equal(fact[1:], fact[:-1]), pc.equal(file[1:], file[:-1])))
    again = pc.and_(again, pc.fill_null(pc.greater_equal(at[1:], at[:-1]), False))
    begins = pa.concat_arrays([pa.array([True]), pc.invert(again)])
    cut = pa.array(([True] + [False] * (PIECE - 1)) * (len(begins) // PIECE + 1))
    return pc.or_(begins, cut[: len(begins)])


def _joined(pieces: pa.Table, files: _Files, of_topics: Mapping[str, Sequence[datetime]]) -> tuple[pa.Array, pa.Array]:
    """Which pieces, in file order, continue the previous run, and which pieces have no other events inside."""
    file, fact = (pieces[name].combine_chunks() for name in ("file", "fact"))
    partitions, brokers, file = files.partitions(), files.brokers(), file.cast(pa.int64())
    numbers = dict(zip(partitions.to_pylist(), files.topics(), strict=True))
    ends = [(number, at) for number, topic in numbers.items() for at in of_topics.get(topic, ())]
    times = [pc.fill_null(pieces[name].combine_chunks(), _NEVER) for name in ("at", "last")]
    times.append(pa.array([at for _, at in ends], pa.timestamp("us")).cast(pa.int64()))
    ranks = pc.rank(pa.concat_arrays(times), tiebreaker="dense").cast(pa.int64())
    at, last, ended = ranks[: len(file)], ranks[len(file) : 2 * len(file)], ranks[2 * len(file) :]
    # A clock that jumps back does not reorder a file: a row happened between its own time and the latest time before it in its file. If
    # only some of the file's rows are of one generation, it may be anywhere in that range.
    reached = pc.subtract(pc.cumulative_max(within(file, last)), within(file, 0))
    other = pa.concat_arrays([pa.array([True]), pc.not_equal(file[1:], file[:-1])])
    straight = pc.or_(other, pc.greater_equal(at, pa.concat_arrays([at[:1], reached[:-1]])))
    same = pa.concat_arrays([pa.array([False]), pc.and_(pc.greater_equal(fact[1:], 0), pc.equal(fact[1:], fact[:-1]))])
    joins = pc.and_(pc.and_not(same, other), pc.and_(straight, _before(straight)))
    own, all_of_broker = ((within(group, at), within(group, reached)) for group in (file, brokers.take(file)))
    of_partition = partitions.take(file)
    marked = pc.equal(fact, _MARK)
    marks = pa.concat_arrays([within(of_partition, at).filter(marked), within(pa.array([number for number, _ in ends], pa.int64()), ended)])
    until = pc.subtract(up_to(*own), up_to(*all_of_broker))
    since = pc.subtract(below(*reversed(own)), below(*reversed(all_of_broker)))
    marks_until, marks_since = up_to(marks, within(of_partition, reached)), below(marks, within(of_partition, at))
    joins = pc.and_(joins, pc.and_(pc.equal(until, _before(since)), pc.equal(marks_until, _before(marks_since))))
    sound = pc.and_(straight, pc.and_(pc.equal(until, since), pc.equal(marks_until, marks_since)))
    return joins, sound


def _before(values: pa.Array) -> pa.Array:
    """The value of the previous row; the first row has its own."""
    return pa.concat_arrays([values[:1], values[:-1]])
