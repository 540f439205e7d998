"""Leaves out what a broker prints about a partition in quiet times: in an archive of months, nearly all lines say that a segment was rolled
or a producer snapshot was written, and to bring them together and make objects of them takes most of the time of judging.

Here: which of these lines can be left out. Not here: repeated facts (runs), or events that are left out with loss (floods).

A time is quiet if within an hour nothing but the upkeep of logs happened to the partition, and nothing that is known to the cluster as a
whole. Of the lines of one file in a quiet time the first remains, and what is said of the last offset, and with them the bounds of the log
end before and after everything that happened. The lines before and after an offset that anything else gives remain, too: they show when the
log reached it. Each line that remains counts those after it that are left out.

In large archives, lines are left out twice. First each task does it with the events that it has read, before they travel to the tasks that
judge them; for this, it knows what happened in all files. Where a partition is judged, all its lines are together, and those that remained
at the ends of the parts are left out as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import partial, reduce

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import IDENTIFIED
from forensics.model.partition.numbers import Numbers, below, column, counted, up_to, within
from forensics.model.partition.runs import copies
from parsers.cached import cached_property
from parsers.kinds import RETENTION, named
from parsers.schemas import numbered, whole

ROUTINE = named("segment-roll", "producer-snapshot")
"""Kinds whose events only show that the log end has moved on."""
_UPKEEP = named("segment-delete", "log-start-move")
_BY_RETENTION = ("retention", *RETENTION, "log-start", "leader")
"""Reasons of _UPKEEP that have no cause outside the log."""
FEW = 2_000
"""Minimum number of lines: fewer are made into objects sooner than they are compared."""
_OFFSETS = ("offset", "previous_offset", "log_end_offset", "high_watermark", "log_start_offset")
_HOUR = 3600 * 10**6
_PARTITION, _FILE = ("topic", "partition", "cluster"), ("writer", "source")


def is_routine(events: pa.Table) -> pa.ChunkedArray:
    """Mask of the events of ROUTINE."""
    return pc.is_in(events["event"], pa.array(sorted(ROUTINE)))


def drop_routine_lines(events: pa.Table, cluster: Cluster) -> pa.Table:
    """Identified events, all of their partitions, without those in the middle of quiet times: the line before has `repeats` and
    `last_at`."""
    return _routine_filter(cluster).drop_routine_lines(events)


AROUND = pa.schema([*(IDENTIFIED.field(name) for name in _PARTITION), ("hour", pa.int64()), ("offset", pa.int64())])
"""What shows where times are quiet, by partition:

- only `hour`: something happened in this hour (since 1970);
- only `offset`: something other than routine gives this offset;
- both: the upkeep of the log shows this log start in this hour;
- neither: a line without a time shows that something happened.
"""


def _shown(events: pa.Table) -> pa.Table:
    """Rows of AROUND that identified events show."""
    upkeep, other, hour = _of_upkeep(events), _other(events), _hours(events)
    printed = pc.is_in(column(events, "clock", pa.string()), value_set=pa.array(["line", "utc"]))
    start = column(events, "log_start_offset", pa.int64())
    parts = [
        _found(pc.and_(other, pc.or_(pc.is_valid(hour), printed)), hour=hour),
        _found(pc.and_(upkeep, pc.is_valid(start)), hour=hour, offset=start),
    ]
    for name in _OFFSETS:
        given = column(events, name, pa.int64())
        parts.append(_found(pc.and_(other, pc.is_valid(given)), offset=given))
    if "replica_offsets" in events.schema.names:
        of_replicas = events["replica_offsets"].combine_chunks()
        ends = of_replicas.flatten().field("log_end_offset")
        parts.append(pa.table({"row": pc.list_parent_indices(of_replicas).cast(pa.int64()), "offset": ends}).drop_null())
    found = pa.concat_tables(parts, promote_options="default")
    own = [column(events, name, IDENTIFIED.field(name).type).take(found["row"]) for name in _PARTITION]
    rows = pa.table([*own, found["hour"], found["offset"]], schema=AROUND)
    return rows.group_by(rows.schema.names, use_threads=False).aggregate([])


def _found(mask: pa.Array, **columns: pa.Array) -> pa.Table:
    """The numbers of the marked rows, with these columns."""
    return pa.table({"row": numbered(mask), **columns}).filter(mask)


class Around:
    """What happened around the events that are thinned."""

    def __init__(self, tables: Sequence[pa.Table]) -> None:
        """`tables`: rows of AROUND; columns without a value may be missing."""
        self._rows = pa.concat_tables([AROUND.empty_table(), *(whole(table, AROUND) for table in tables)])

    @cached_property
    def _numbered(self) -> tuple[Numbers, pa.Table]:
        numbers = Numbers()
        partition = numbers.of(self._rows, _PARTITION).cast(pa.int64())
        return numbers, pa.table({"partition": partition, "hour": self._rows["hour"], "offset": self._rows["offset"]})

    def of(self, events: pa.Table) -> tuple[pa.Array, pa.Table]:
        """The number of each event's partition, and the rows of these partitions with their numbers (partition, hour, offset)."""
        numbers, rows = self._numbered
        partitions = numbers.of(events, _PARTITION).cast(pa.int64())
        return partitions, rows.filter(pc.is_in(rows["partition"], value_set=pc.unique(partitions))).combine_chunks()


class RoutineFilter:
    """What is known of the cluster that decides where times are quiet; small, and sent to every task."""

    def __init__(self, busy: Collection[int], doubtful: Collection[str]) -> None:
        """`busy`: the hours in which no partition is quiet; `doubtful`: files of which nothing is left out."""
        self._busy, self._doubtful = pa.array(sorted(busy), pa.int64()), pa.array(sorted(doubtful), pa.string())

    @classmethod
    def of_parts(cls, cluster: Cluster) -> RoutineFilter:
        """For events without the other events of their partitions. Files whose times go back are doubtful: another line that would have to
        be near by its time may be between two lines of routine."""
        repeated = {s.path for own in cluster.by_number.values() for s in own.sources if s.repeated}
        return cls(_busy(cluster), repeated.union(copies(cluster)))

    around = staticmethod(_shown)

    def knowing(self, around: Sequence[pa.Table]) -> Callable[[pa.Table], pa.Table]:
        """As `drop_routine_lines`, for parts of the events. `around`: rows of AROUND that all events together show."""
        return partial(self.drop_routine_lines, known=Around(around))

    def drop_routine_lines(self, events: pa.Table, known: Around | None = None) -> pa.Table:
        """Identified events without those in the middle of quiet times: the line before has `repeats` and `last_at`. Without `known`, these
        are all events of their partitions."""
        candidates = self._candidates(events).combine_chunks()
        if (pc.sum(candidates).as_py() or 0) < FEW:
            return events
        events = counted(events)
        rows = self._light(events, candidates, known or Around([_shown(events)]))
        remains = pc.indices_nonzero(pc.invert(_middle(rows))).cast(pa.int64())
        last = pc.subtract(pa.concat_arrays([remains[1:], pa.array([rows.num_rows], pa.int64())]), 1)
        repeats = rows["repeats"].combine_chunks()
        up_to_each = pc.cumulative_sum(repeats)
        before = pc.subtract(up_to_each, repeats)
        left = pa.table(
            {
                "row": rows["row"].take(remains),
                "repeats": pc.subtract(up_to_each.take(last), before.take(remains)),
                "last_at": rows["last_at"].take(last),
            }
        )
        return _marked(events, rows["row"].combine_chunks(), left)

    def _candidates(self, events: pa.Table) -> pa.ChunkedArray:
        """Mask of the lines that may be left out."""
        found = is_routine(events)
        for name in ("line", "at", "offset"):
            found = pc.and_(found, pc.is_valid(events[name]) if name in events.schema.names else False)
        return pc.and_not(found, pc.is_in(events["source"], self._doubtful))

    def _light(self, events: pa.Table, candidates: pa.Array, around: Around) -> pa.Table:
        """The lines but for those of upkeep, each file's in its order: whether it may be left out, and how many busy hours were before it
        and how many of the offsets that anything else gives are below its own."""
        chosen = pc.and_(pc.is_valid(column(events, "line", pa.int64())), pc.or_(candidates, _other(events)))
        row = numbered(chosen).filter(chosen)
        names = {"line", "at", "offset", "repeats", "last_at", *_PARTITION, *_FILE} & set(events.schema.names)
        rows = events.select(sorted(names))
        rows = (rows.take(row) if len(row) < len(rows) else rows).combine_chunks()
        partitions, known = around.of(rows)
        file = within(partitions, Numbers().of(rows, _FILE).cast(pa.int64())).dictionary_encode().indices.cast(pa.int64())
        hour, hours = _hours(rows).dictionary_encode(), within(partitions, _hours(rows)).dictionary_encode()
        happened = pc.and_(pc.is_valid(known["hour"]), pc.is_null(known["offset"]))
        busy = within(known["partition"], known["hour"]).filter(happened).combine_chunks()
        undated = known["partition"].filter(pc.and_(pc.is_null(known["hour"]), pc.is_null(known["offset"])))
        quiet = pc.and_not(candidates.filter(chosen), pc.is_in(partitions, value_set=undated.combine_chunks()))
        for own, busy_ones in ((hours, busy), (hour, self._busy)):
            quiet = pc.and_(quiet, _far(own.dictionary, busy_ones).take(own.indices))
        return pa.table(
            {
                "file": file,
                "at": rows["at"].cast(pa.int64()),
                "offset": rows["offset"],
                "repeats": rows["repeats"],
                "last_at": rows["last_at"],
                "quiet": quiet,
                "busy": up_to(busy, hours.dictionary).take(hours.indices),
                "always": up_to(self._busy, hour.dictionary).take(hour.indices),
                "given": _given(partitions, rows["offset"].combine_chunks(), known, busy),
                "row": row.cast(pa.int64()),
            }
        ).take(pc.sort_indices(within(file, rows["line"].cast(pa.int64()))))


@cached_on_cluster
def _routine_filter(cluster: Cluster) -> RoutineFilter:
    return RoutineFilter(_busy(cluster), copies(cluster))


def _hours(events: pa.Table) -> pa.Array:
    return pc.divide(column(events, "at", pa.timestamp("us")).cast(pa.int64()), _HOUR)


def _far(hours: pa.Array, busy: pa.Array) -> pa.Array:
    """Mask of the hours that are not next to a busy one."""
    near = [pc.is_in(pc.add(hours, by), value_set=busy) for by in (-1, 0, 1)]
    return pc.invert(reduce(pc.or_, near))


def _of_upkeep(events: pa.Table) -> pa.Array:
    """Mask of what a broker does to its log without a cause elsewhere."""
    if "reason" not in events.schema.names:
        return pa.repeat(pa.scalar(False), events.num_rows)
    kind, reason = (pc.is_in(events[name], pa.array(sorted(known))) for name, known in (("event", _UPKEEP), ("reason", _BY_RETENTION)))
    return pc.and_(kind, reason).combine_chunks()


def _other(events: pa.Table) -> pa.Array:
    """Mask of the events that are neither routine nor upkeep."""
    return pc.invert(pc.or_(_of_upkeep(events), is_routine(events).combine_chunks()))


def _given(partitions: pa.Array, offsets: pa.Array, known: pa.Table, busy: pa.Array) -> pa.Array:
    """For each row a number that rises from one of its offsets to the next if another event of the partition gives an offset from the one
    to the other. The last log start of a quiet time is given, too."""
    given = known.filter(pc.is_valid(known["offset"]))
    others, starts = given.filter(pc.is_null(given["hour"])), given.filter(pc.is_valid(given["hour"]))
    time = up_to(busy, within(starts["partition"].combine_chunks(), starts["hour"].combine_chunks()))
    last = starts.append_column("time", time).group_by(["partition", "time"], use_threads=False).aggregate([("offset", "max")])
    of_partition = pa.concat_arrays([last["partition"].combine_chunks(), others["partition"].combine_chunks()])
    points = pa.concat_arrays([last["offset_max"].combine_chunks(), others["offset"].combine_chunks()])
    between = _between(of_partition, points, partitions, offsets)
    if not pc.any(between).as_py():
        return pa.repeat(pa.scalar(0), len(offsets))
    of_partition, points = of_partition.filter(between), points.filter(between)
    ranks = pc.rank(pa.concat_arrays([points, pc.fill_null(offsets, 0)]), tiebreaker="dense").cast(pa.int64())
    moments, places = within(of_partition, ranks[: len(points)]), within(partitions, ranks[len(points) :])
    return pc.add(below(moments, places), up_to(moments, places))


def _between(of_partition: pa.Array, points: pa.Array, partitions: pa.Array, offsets: pa.Array) -> pa.Array:
    """Mask of the points that are between two of the offsets of their partition."""
    spans = pa.table({"partition": partitions, "offset": offsets}).group_by("partition", use_threads=False)
    ends = spans.aggregate([("offset", "min"), ("offset", "max")]).combine_chunks()
    place = pc.index_in(of_partition, value_set=ends["partition"].combine_chunks())
    least, most = (ends[name].combine_chunks().take(place) for name in ("offset_min", "offset_max"))
    return pc.fill_null(pc.and_(pc.greater_equal(points, least), pc.less_equal(points, most)), False)


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


def _marked(events: pa.Table, lines: pa.Array, left: pa.Table) -> pa.Table:
    """The events without those of the lines (rows of the events) that are not in `left`: those that remain, with their counts."""
    row = numbered(events)
    others = row.filter(pc.invert(pc.is_in(row, value_set=lines))) if len(lines) < len(row) else row[:0]
    kept = pa.concat_arrays([left["row"].combine_chunks(), others])
    kept = kept.take(pc.sort_indices(kept))
    events, place = events.take(kept), pc.index_in(kept, value_set=left["row"].combine_chunks())
    for name in ("repeats", "last_at"):
        at = events.schema.get_field_index(name)
        events = events.set_column(at, name, pc.coalesce(left[name].combine_chunks().take(place), events[name]))
    return events
