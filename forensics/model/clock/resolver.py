"""Adds broker, collection, cluster and corrected time to every event.

Here: the vectorised step, and the data about every source that it needs. Not here: how these data are found (node_clocks,
collection_order, identity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.clock.cluster_history import ClusterHistory
from forensics.model.clock.gathered import but
from forensics.model.clock.shared_logs import SharedLogs
from forensics.model.clock.zones import ZoneStep
from forensics.model.events import IDENTIFIED
from parsers.kinds import RECORDS

CALENDAR = (datetime(3, 1, 1), datetime(9998, 1, 1))
"""Times outside this range are invalid and stay unchanged."""


@dataclass(frozen=True)
class EventResolver:
    """The data that identification needs about every source; small, and sent to every task."""

    nodes: Mapping[str, int | None]
    collections: Mapping[str, str]
    offsets_ms: Mapping[str, int]
    topics: Mapping[str, str]
    """Topic names by topic id, for facts that contain only the id."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Topic names by the names that replace them in some of the logs."""
    steps: Mapping[str, tuple[ZoneStep, ...]] = field(default_factory=dict)
    """Sources in which the zone's offset changes; `offsets_ms` holds the offset of their last lines."""
    files_ms: Mapping[str, int] = field(default_factory=dict)
    """Error of the modification times of sources whose machine's clock was wrong."""
    skews_ms: Mapping[str, int] = field(default_factory=dict)
    """Clock error of sources whose lines are in UTC."""
    stamps_ms: Mapping[int, int] = field(default_factory=dict)
    """Error of the times in the metadata log, by the epoch of the controller that wrote them."""
    root: str = ""
    """Directory that all sources share; the report omits it from source names."""
    saved: Mapping[str, datetime] = field(default_factory=dict)
    """Latest UTC time at which files of an earlier collection were saved, if their modification times do not show it."""
    unstamped: frozenset[str] = frozenset()
    """Files whose modification times are meaningless."""
    shared: SharedLogs = field(default_factory=SharedLogs)
    clusters: ClusterHistory = field(default_factory=ClusterHistory)
    excluded: frozenset[str] = frozenset()
    """Files that are not used."""
    on_disk: Mapping[str, int] = field(default_factory=dict)
    """Cluster of each file that is not a log (index into `clusters.ids`), if it is not the last."""
    shifts_ms: Mapping[str, int] = field(default_factory=dict)
    """By how much the times of a copy of a log are later than those of the log (shifted_copies)."""

    def shown(self, path: str | None) -> str:
        """A source's path as the report names it."""
        return (path or "").removeprefix(self.root)

    def wall(self, path: str, time: datetime) -> datetime:
        """The wall clock of the broker at a time that a source shows."""
        return time - timedelta(milliseconds=self.shifts_ms.get(path, 0)) if CALENDAR[0] <= time < CALENDAR[1] else time

    def utc(self, path: str, wall: datetime, line: int) -> datetime:
        """UTC time for a wall-clock time of the broker at a line of a source."""
        if not CALENDAR[0] <= wall < CALENDAR[1]:
            return wall
        earlier = (t.before_ms for t in self.steps.get(path, ()) if (line < t.line if t.line is not None else wall < t.wall))
        return wall - timedelta(milliseconds=next(earlier, self.offsets_ms.get(path, 0)))

    def used(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of a batch, without those of files that were set aside."""
        return batch.filter(but(batch.column("source"), self.excluded)) if self.excluded else batch

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Converts a batch of EVENTS to a batch of IDENTIFIED, without the rows of files that were set aside."""
        batch = self.used(batch)
        sources = batch.column("source")
        distinct = pc.unique(sources)
        index = pc.index_in(sources, value_set=distinct)
        names = distinct.to_pylist()
        owner = pc.take(pa.array([self.nodes.get(s) for s in names], pa.int32()), index)
        writer = pc.coalesce(owner, batch.column("node"))
        for name in self.shared.starts.keys() & set(names):
            writer = pc.if_else(pc.equal(sources, name), self.shared.writers(batch, name), writer)
        collection = pc.take(pa.array([self.collections.get(s, "") for s in names], pa.string()), index)
        shown = pc.take(pa.array([self.shown(s) for s in names], pa.string()), index)
        replaced = {"topic": self._topics(batch), "source": shown}
        columns = [replaced.get(name, batch.column(name)) for name in batch.schema.names]
        walls = self._with_walls(batch, index, names)
        cluster = self._clusters(walls, writer, index, names)
        at = self._utc(walls, index, names)
        return pa.RecordBatch.from_arrays([*columns, writer, collection, cluster, at], schema=IDENTIFIED)

    def _with_walls(self, batch: pa.RecordBatch, index: pa.Array, names: Sequence[str]) -> pa.RecordBatch:
        """The batch with the wall clock of the broker as the time of each line."""
        if self.shifts_ms.keys().isdisjoint(names):
            return batch
        time = batch.column("time")
        shift = pc.take(pa.array([-1000 * self.shifts_ms.get(s, 0) for s in names], pa.duration("us")), index)
        shifted = pc.and_(_correctable(time), pc.fill_null(pc.equal(batch.column("clock"), "line"), False))
        walls = pc.if_else(shifted, pc.add(pc.if_else(shifted, time, None), shift), time)
        return batch.set_column(batch.schema.get_field_index("time"), batch.schema.field("time"), walls)

    def _topics(self, batch: pa.RecordBatch) -> pa.Array:
        """Topic of each row, by its topic id if the row has no name or not the topic's own."""
        topic = batch.column("topic")
        if self.renamed:
            known = pc.index_in(topic, value_set=pa.array(list(self.renamed), pa.string()))
            topic = pc.coalesce(pc.take(pa.array(list(self.renamed.values()), pa.string()), known), topic)
        if not topic.null_count or not self.topics:
            return topic
        ids = batch.column("topic_id")
        known = pc.unique(ids)
        named = pa.array([self.topics.get(i) if i else None for i in known.to_pylist()], pa.string())
        return pc.coalesce(topic, pc.take(named, pc.index_in(ids, value_set=known)))

    def _utc(self, batch: pa.RecordBatch, index: pa.Array, names: Sequence[str]) -> pa.Array:
        """UTC time of each row."""
        sources, time, clock = batch.column("source"), batch.column("time"), batch.column("clock")
        shift = pc.take(pa.array([-1000 * self.offsets_ms.get(s, 0) for s in names], pa.duration("us")), index)
        for name in names:
            for step in reversed(self.steps.get(name, ())):
                before = pc.and_(pc.equal(sources, name), _before(batch, step))
                shift = pc.if_else(before, pa.scalar(timedelta(milliseconds=-step.before_ms), pa.duration("us")), shift)
        local = pc.fill_null(pc.equal(clock, "line"), False)
        shift = pc.if_else(local, shift, self._of_machines(batch, index, names))
        at = pc.add(pc.if_else(_correctable(time), time, None), shift).cast(pa.timestamp("us"))
        if self.unstamped:
            stamped = pc.take(pa.array([s not in self.unstamped for s in names], pa.bool_()), index)
            at = pc.if_else(pc.or_(stamped, pc.fill_null(pc.not_equal(clock, "mtime"), True)), at, None)
        if self.saved:
            saved = pc.take(pa.array([self.saved.get(s) for s in names], pa.timestamp("us")), index)
            of_file = pc.fill_null(pc.is_in(clock, value_set=pa.array(["mtime"])), False)
            at = pc.if_else(pc.and_(pc.or_(of_file, pc.is_null(clock)), pc.is_valid(saved)), saved, at)
        return at

    def _clusters(self, batch: pa.RecordBatch, writer: pa.Array, index: pa.Array, names: Sequence[str]) -> pa.Array:
        """Cluster of each row: for a file, that of its disk; for a line, that of its broker at the time."""
        last = self.clusters.last
        if not last:
            return pa.array([0] * batch.num_rows, pa.int32())
        found = pc.take(pa.array([self.on_disk.get(s, last) - last for s in names], pa.int32()), index)
        time, clock = batch.column("time"), batch.column("clock")
        printed = pc.and_(
            pc.is_in(clock, value_set=pa.array(["line", "utc"])), pc.and_(pc.is_valid(time), pc.is_valid(batch.column("line")))
        )
        for node in pc.unique(writer).to_pylist():
            own = pc.fill_null(pc.equal(writer, node), False) if node is not None else pc.is_null(writer)
            own = pc.and_(pc.fill_null(printed, False), own)
            spans = self.clusters.between(node, *pc.min_max(time.filter(own)).as_py().values())
            for number, span in enumerate(spans):
                since = pc.fill_null(pc.greater_equal(time, pa.scalar(span.since, pa.timestamp("us"))), False)
                reached = pc.and_(own, since) if number else own
                found = pc.if_else(reached, pa.scalar(span.cluster - last, pa.int32()), found)
        return found

    def _of_machines(self, batch: pa.RecordBatch, index: pa.Array, names: Sequence[str]) -> pa.Array:
        """Correction of UTC times: zero, unless the clock of the machine that stamped the file or record was wrong."""
        none = pa.scalar(timedelta(0), pa.duration("us"))
        shift = pa.array([timedelta(0)] * batch.num_rows, pa.duration("us"))
        clock = batch.column("clock")
        for stated_by, errors_ms in (("mtime", self.files_ms), ("utc", self.skews_ms)):
            if any(errors_ms.get(s) for s in names):
                error = pc.take(pa.array([-1000 * errors_ms.get(s, 0) for s in names], pa.duration("us")), index)
                shift = pc.if_else(pc.fill_null(pc.equal(clock, stated_by), False), error, shift)
        if self.stamps_ms:
            epochs = pa.array(sorted(self.stamps_ms), pa.int32())
            errors = pa.array([-1000 * self.stamps_ms[e] for e in sorted(self.stamps_ms)], pa.duration("us"))
            stamped = pc.and_(pc.equal(clock, "batch"), pc.is_in(batch.column("event"), value_set=pa.array(sorted(RECORDS))))
            of_records = pc.fill_null(pc.take(errors, pc.index_in(batch.column("controller_epoch"), value_set=epochs)), none)
            shift = pc.if_else(pc.fill_null(stamped, False), of_records, shift)
        return shift


def _correctable(time: pa.Array) -> pa.Array:
    """Mask of times that stay within the calendar after a correction."""
    first, last = (pa.scalar(at, pa.timestamp("us")) for at in CALENDAR)
    return pc.fill_null(pc.and_(pc.greater_equal(time, first), pc.less(time, last)), False)


def _before(batch: pa.RecordBatch, step: ZoneStep) -> pa.Array:
    """Mask of the rows before the change."""
    if step.line is not None:
        return pc.fill_null(pc.less(batch.column("line"), step.line), False)
    return pc.fill_null(pc.less(batch.column("time"), pa.scalar(step.wall, pa.timestamp("us"))), False)
