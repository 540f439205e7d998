"""Leaves out what a broker prints about a partition in quiet times: in an archive of months, nearly all lines say that a segment was rolled or
a producer snapshot was written, and to make an object of each takes most of the time of judging.

Here: which of these lines can be left out. Not here: repeated facts (runs), or events that are left out with loss (floods).

A time is quiet if within an hour nothing but the upkeep of logs happened to the partition, and nothing that is known to the cluster as a whole. Of
the lines of one file in a quiet time the first remains, and what is said of the last offset, and with them the bounds of the log end
before and after everything that happened. The lines before and after an offset that anything else gives remain, too: they show when the
log reached it. Each line that remains counts those after it that are left out.
"""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.partition.numbers import Numbers, below, up_to, within
from forensics.model.partition.runs import copies
from parsers.kinds import named

LEFT_OUT = named("segment-roll", "producer-snapshot")
"""Kinds whose events only show that the log end has moved on."""
_UPKEEP = named("segment-delete", "log-start-move")
_BY_RETENTION = ("retention", "retention-time", "retention-size", "log-start", "leader")
"""Reasons of _UPKEEP that have no cause outside the log."""
FEW = 2_000
"""Minimum number of lines: fewer are made into objects sooner than they are compared."""
_OFFSETS = ("offset", "previous_offset", "log_end_offset", "high_watermark", "log_start_offset")
_HOUR = 3600 * 10**6
_PARTITION, _FILE = ("topic", "partition", "cluster"), ("topic", "partition", "cluster", "writer", "source")


def without_middle(events: pa.Table, cluster: Cluster) -> pa.Table:
    """Identified events, all of their partitions, without those in the middle of quiet times: the line before has `repeats` and `last_at`."""
    candidates = _candidates(events, cluster)
    if (pc.sum(candidates).as_py() or 0) < FEW:
        return events
    rows = _light(events, candidates, cluster)
    middle = _middle(rows)
    if not pc.any(middle).as_py():
        return events
    kept = pc.indices_nonzero(pc.invert(middle)).cast(pa.int64())
    after = pa.concat_arrays([kept[1:], pa.array([rows.num_rows], pa.int64())])
    counted = pa.table(
        {
            "row": rows["row"].take(kept),
            "repeats": pc.subtract(after, kept),
            "last_at": rows["at"].take(pc.subtract(after, 1)).cast(pa.timestamp("us")),
        }
    )
    return _marked(events, rows["row"].filter(middle), counted)


def _candidates(events: pa.Table, cluster: Cluster) -> pa.ChunkedArray:
    """Mask of the lines that may be left out."""
    found = pc.is_in(events["event"], pa.array(sorted(LEFT_OUT)))
    for name in ("line", "at", "offset"):
        found = pc.and_(found, pc.is_valid(events[name]) if name in events.schema.names else False)
    return pc.and_not(found, pc.is_in(events["source"], pa.array(copies(cluster), pa.string())))


def _light(events: pa.Table, candidates: pa.ChunkedArray, cluster: Cluster) -> pa.Table:
    """The lines but for those of upkeep, each file's in its order: whether it may be left out, and how many busy hours were before it and how
    many of the offsets that anything else gives are below its own."""
    partitions = Numbers().of(events, _PARTITION).cast(pa.int64())
    at = _column(events, "at", pa.timestamp("us")).cast(pa.int64())
    line = _column(events, "line", pa.int64()).cast(pa.int64())
    upkeep = pc.or_(candidates.combine_chunks(), _of_upkeep(events))
    hours = within(partitions, pc.divide(at, _HOUR))
    other = pc.invert(upkeep)
    busy, always = pc.drop_null(hours.filter(other)), pa.array(_busy(cluster), pa.int64())
    printed = pc.fill_null(pc.equal(_column(events, "clock", pa.string()), "line"), False)
    undated = partitions.filter(pc.and_(other, pc.and_(printed, pc.is_null(at))))
    quiet = pc.and_(candidates.combine_chunks(), pc.invert(pc.is_in(partitions, value_set=undated)))
    before = up_to(busy, hours)
    for near in (-1, 0, 1):
        quiet = pc.and_not(quiet, pc.is_in(pc.add(hours, near), value_set=busy))
        quiet = pc.and_not(quiet, pc.is_in(pc.add(pc.divide(at, _HOUR), near), value_set=always))
    rows = pa.table(
        {
            "file": Numbers().of(events, _FILE),
            "line": line,
            "at": at,
            "offset": _column(events, "offset", pa.int64()),
            "quiet": quiet,
            "busy": before,
            "always": up_to(always, pc.divide(at, _HOUR)),
            "given": _given(events, partitions, other, before),
            "row": pc.indices_nonzero(pa.repeat(pa.scalar(True), events.num_rows)).cast(pa.int64()),
        }
    ).filter(pc.and_(pc.is_valid(line), pc.or_(candidates.combine_chunks(), other)))
    return rows.sort_by([("file", "ascending"), ("line", "ascending"), ("row", "ascending")]).combine_chunks()


def _column(events: pa.Table, name: str, of_type: pa.DataType) -> pa.Array:
    return events[name].combine_chunks() if name in events.schema.names else pa.nulls(events.num_rows, of_type)


def _of_upkeep(events: pa.Table) -> pa.Array:
    """Mask of what a broker does to its log without a cause elsewhere."""
    if "reason" not in events.schema.names:
        return pa.repeat(pa.scalar(False), events.num_rows)
    kind, reason = (pc.is_in(events[name], pa.array(sorted(known))) for name, known in (("event", _UPKEEP), ("reason", _BY_RETENTION)))
    return pc.and_(kind, reason).combine_chunks()


def _given(events: pa.Table, partitions: pa.Array, other: pa.Array, busy: pa.Array) -> pa.Array:
    """For each row a number that rises from one of its offsets to the next if another row of the partition gives an offset from the one to the
    other. The last log start of a quiet time is given, too."""
    starts = pa.table({"partition": partitions, "busy": busy, "offset": _column(events, "log_start_offset", pa.int64())})
    last = starts.filter(pc.invert(other)).group_by(["partition", "busy"]).aggregate([("offset", "max")])
    found = [last.select(["partition", "offset_max"]).rename_columns(["partition", "offset"])]
    for name in _OFFSETS:
        found.append(pa.table({"partition": partitions, "offset": _column(events, name, pa.int64())}).filter(other))
    if "replica_offsets" in events.schema.names:
        of_replicas = events["replica_offsets"].combine_chunks()
        ends = of_replicas.flatten().field("log_end_offset")
        found.append(pa.table({"partition": partitions.take(pc.list_parent_indices(of_replicas)), "offset": ends}))
    given = pa.concat_tables(found).drop_null().combine_chunks()
    own = pc.fill_null(_column(events, "offset", pa.int64()), 0)
    ranks = pc.rank(pa.concat_arrays([given["offset"].combine_chunks(), own]), tiebreaker="dense").cast(pa.int64())
    points, places = within(given["partition"].combine_chunks(), ranks[: given.num_rows]), within(partitions, ranks[given.num_rows :])
    return pc.add(below(points, places), up_to(points, places))


@cached_on_cluster
def _busy(cluster: Cluster) -> list[int]:
    """The hours in which something is known of the cluster as a whole, or of one of its nodes."""
    times = {e.at.replace(minute=0, second=0, microsecond=0) for own in cluster.by_number.values() for e in own.events if e.at is not None}
    return sorted({(at - datetime(1970, 1, 1)) // _AN_HOUR for at in times})


_AN_HOUR = datetime(1970, 1, 1, 1) - datetime(1970, 1, 1)


def _middle(rows: pa.Table) -> pa.Array:
    """Mask of the lines between two others of their file in the same quiet time, without a last pair of lines about one offset."""
    columns = {name: rows[name].combine_chunks() for name in ("file", "busy", "always", "given", "quiet", "at", "offset")}
    none = pa.array([False][: rows.num_rows])
    with_next = pc.and_(columns["quiet"][1:], columns["quiet"][:-1])
    for name in ("file", "busy", "always", "given"):
        with_next = pc.and_(with_next, pc.equal(columns[name][1:], columns[name][:-1]))
    with_next = pc.fill_null(pc.and_(with_next, pc.greater_equal(columns["at"][1:], columns["at"][:-1])), False)
    before, after = pa.concat_arrays([none, with_next]), pa.concat_arrays([with_next, none])
    moves = pc.fill_null(pc.not_equal(columns["offset"][1:], columns["offset"][:-1]), False)
    goes_on = pa.concat_arrays([pc.or_(moves, after[1:]), none])
    return pc.and_(pc.and_(before, after), goes_on)


def _marked(events: pa.Table, left_out: pa.ChunkedArray, counted: pa.Table) -> pa.Table:
    """The events without those rows; `counted`: the rows of lines that remain, with the number of lines up to the next of them."""
    numbers = pc.indices_nonzero(pa.repeat(pa.scalar(True), events.num_rows)).cast(pa.int64())
    several = counted.filter(pc.greater(counted["repeats"], 1))
    place = pc.index_in(numbers, value_set=several["row"].combine_chunks())
    columns = {"repeats": _column(events, "repeats", pa.int64()), "last_at": _column(events, "last_at", pa.timestamp("us"))}
    if "repeats" not in events.schema.names:
        columns = {"repeats": pa.repeat(pa.scalar(1, pa.int64()), events.num_rows), "last_at": _column(events, "at", pa.timestamp("us"))}
    for name, before in columns.items():
        new = pc.coalesce(several[name].combine_chunks().take(place), before)
        at = events.schema.get_field_index(name)
        events = events.set_column(at, name, new) if at >= 0 else events.append_column(name, new)
    return events.filter(pc.invert(pc.is_in(numbers, value_set=left_out.combine_chunks())))
