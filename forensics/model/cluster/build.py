"""Builds the Cluster from the events of no partition, and identifies all events with its help.

Here: the owner of each source, each broker's clock and runs, settings and topics, assembled once on the driver; and the vectorised step
that adds broker, collection and corrected time to every event. Not here: Spark, partitions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from posixpath import commonprefix
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.clock.clocks import Clock, estimate
from forensics.model.clock.cluster_history import CLUSTER_ID, OF_CLUSTERS, ClusterHistory, cluster_history
from forensics.model.clock.comparisons import DECIDED, LEADERSHIPS, RELATING, FileSpans, relations
from forensics.model.clock.copies import LOG_SUFFIX, Copies
from forensics.model.clock.directions import EpochLine, reorder_joined_logs
from forensics.model.clock.excluded import EXCLUDED_KIND, excluded_files
from forensics.model.clock.gathered import Gathered, Mask, but, of_kinds, one_of
from forensics.model.clock.identity import Clues, Conflict, identify
from forensics.model.clock.replays import without_repeats
from forensics.model.clock.shared_logs import SharedLogs, hosts, shared_logs
from forensics.model.clock.shifted_copies import READ, shifts
from forensics.model.clock.sources import Archive, Source
from forensics.model.clock.zones import (
    MINUTE_MS,
    QUARTER_MS,
    ClockEvidence,
    ClockOffset,
    Jump,
    PrintedUtc,
    ZoneStep,
    anchor,
    changes,
    changes_in,
    floor,
    in_zone,
    meaningless,
    nearest_zone,
    offset_changes,
    steps,
)
from forensics.model.cluster.facts import OF_BROKERS, Cluster, ClusterJoin, Node, recreated_topics
from forensics.model.events import IDENTIFIED, Event, compact, kept_together, latest_times, place_in
from forensics.model.presence.availability import BrokerRun, by_time, of_controller, runs
from forensics.model.settings.settings import LOG_DIRECTORIES, Settings, process_roles
from forensics.thresholds import COPIED_TIME, FARTHEST_SHIFT, SETTINGS_FIRST
from parsers.containers.names import IGNORED
from parsers.kinds import GATHERED, RECORDS, Role, named, of
from parsers.line_order import LineOrder
from parsers.paths import directories_above
from parsers.schemas import equal_rows, release

AUTHORITATIVE = frozenset({"meta-properties", "server-properties"})
SHARED = frozenset({"znode"})
"""Kinds whose paths contain numbers that are not broker ids: partitions/0/state."""
DISK_KINDS = frozenset(
    {"hw-checkpoint", "recovery-point-checkpoint", "log-start-checkpoint", "cleaner-checkpoint", "epoch-checkpoint", "segment"}
    | {"partition-metadata", "meta-properties"}
)
ROWS = 4096
"""Rows that are identified, or become objects, at once on the driver."""
MOST_COMPARED = 100_000
"""Lines about leader epochs that compare clocks, at most twice as many: as objects, this number takes 50 MB."""
CALENDAR = (datetime(3, 1, 1), datetime(9998, 1, 1))
"""Times outside this range are invalid and stay unchanged."""
_CALENDAR_MS = range(10**14)
"""Milliseconds since 1970 that are valid as a start time of Kafka."""
_STARTS = of(role=Role.BEGINS)
_SET = of(role=Role.SETTING | Role.TOPIC_GONE)
_OF_CONTROLLERS = named("controller-starting")
_OF_FILES = named("source", "archive")
_IDENTIFYING = named("log-directory-identity", "config", "broker-id-mismatch")
_UNSUITED = LEADERSHIPS | named("config", "last-line")
"""Kinds of events that show no copy, or are too many: a start prints hundreds of settings at one moment, and each file has a last line."""


@dataclass(frozen=True)
class Options:
    """The user's clock options; they override every estimate."""

    zone_offset_ms: int | None = None
    """--timezone as an offset: wall clock of all brokers minus UTC."""
    zone_name: str | None = None
    """--timezone as a name of the time zone database, whose offset changes with the seasons."""
    clock_offsets_ms: Mapping[int, int] = field(default_factory=dict)
    """--clock-offset BROKER=±S: error of one broker's clock, on top of its zone."""

    @property
    def gives_zone(self) -> bool:
        return self.zone_offset_ms is not None or self.zone_name is not None


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


def _collected(gathered: Gathered) -> Iterator[Mapping[str, Any]]:
    """The rows about sources, only with what is known: a collection may have hundreds of thousands of small files."""
    for table in gathered.tables(of_kinds(("source",)), ("source", "collected")):
        for batch in table.to_batches(max_chunksize=ROWS):
            for row in batch.to_pylist():
                yield {**row, "collected": {name: value for name, value in (row["collected"] or {}).items() if value not in (None, [])}}


def _epoch_lines(gathered: Gathered, paths: Collection[str]) -> dict[str, list[EpochLine]]:
    """The lines of these logs with the leader epoch of a replica, without those in which a controller decides."""
    leaderships = _naming(LEADERSHIPS, "leader_epoch")
    of_these, decided = pa.array(sorted(paths), pa.string()), pa.array(sorted(DECIDED), pa.string())

    def of_replicas(events: pa.Table) -> pa.ChunkedArray:
        own = pc.and_(pc.is_in(events["source"], of_these), pc.invert(pc.is_in(events["reason"], decided)))
        return pc.and_(leaderships(events), own)

    columns = ("source", "line", "time", "topic", "topic_id", "partition", "leader_epoch")
    found: dict[str, list[EpochLine]] = defaultdict(list)
    for row in gathered.rows(of_replicas, *columns).to_pylist():
        if row["line"] is not None and row["time"] is not None:
            replica = (row["topic"], row["topic_id"], row["partition"])
            found[row["source"]].append(EpochLine(row["line"], row["time"], replica, row["leader_epoch"]))
    return found


def _sources(table: Iterable[Mapping[str, Any]]) -> list[Source]:
    found = []
    for row in table:
        c = row["collected"] or {}
        known: dict[str, Any] = {name: c.get(name) for name in _AS_READ} | {name: c.get(name) or 0 for name in _COUNTS}
        source = Source(
            path=row["source"],
            kind=c.get("kind") or "unknown",
            node=None,
            collection="",
            samples=c.get("samples") or (),
            printed=_printed(c.get("printed") or ()),
            steps_back=tuple((j["line"], j["before"], j["after"]) for j in c.get("steps_back") or () if None not in j.values()),
            informed=c.get("informed") is not False,
            common_words=tuple(c.get("common_words") or ()),
            of_seconds=all(at is not None and not at.microsecond for at in (c.get("first"), c.get("last"))),
            **known,
        )
        found.append(source)
    twice = {path for path, count in Counter(s.path for s in found).items() if count > 1}
    return sorted(found, key=lambda s: (s.path, repr(s) if s.path in twice else ""))


_COUNTS = ("ascents", "descents", "repeated", "suppressed")
_AS_READ = (
    "bytes",
    "sha256",
    "modified",
    "lines",
    "unrecognised",
    "understood",
    "first",
    "last",
    "last_own",
    "problem",
    "layout",
    "cut_at",
    "parts",
)


def _naming(kinds: Iterable[str], column: str) -> Mask:
    """Marks the events of these kinds with a value in this column."""
    of_these = of_kinds(kinds)
    return lambda events: pc.and_(of_these(events), pc.is_valid(events[column]))


def _printed(places: Iterable[Mapping[str, Any]]) -> Mapping[str, Sequence[tuple[int, datetime | None]]]:
    """Lines by facet, with the times they print."""
    found: dict[str, list[tuple[int, datetime | None]]] = defaultdict(list)
    for place in places:
        if place["line"] is not None and place["facet"] is not None:
            found[place["facet"]].append((place["line"], place["time"]))
    return dict(found)


def _clues(gathered: Gathered, collected: Iterable[Mapping[str, Any]], sources: Sequence[Source]) -> list[Clues]:
    named: dict[str, list[int]] = defaultdict(list)
    for row in collected:
        named[row["source"]].extend((row["collected"] or {}).get("nodes") or ())
    identities = gathered.rows(_naming(_IDENTIFYING, "node"), "source", "node")
    for row in identities.group_by(["source", "node"], use_threads=False).aggregate([]).to_pylist():
        if row["node"] not in named[row["source"]]:
            named[row["source"]].append(row["node"])
    return [Clues(s.path, tuple(named.get(s.path, ())), s.kind in AUTHORITATIVE) for s in sources]


def _witnesses(
    table: Iterable[Mapping[str, Any]], nodes: Mapping[str, Sequence[int]], owned: EventResolver
) -> dict[int | None, list[ClockEvidence]]:
    """Clock evidence from each node's log files, from the rows about sources. UTC logs are used only if the node has no others, copies with
    other times only for the times in UTC that their lines contain."""
    found: dict[int | None, list[ClockEvidence]] = defaultdict(list)
    absolute: dict[int | None, list[ClockEvidence]] = defaultdict(list)
    for row in table:
        c = row["collected"] or {}
        if row["source"] in owned.shifts_ms:
            found[owned.nodes[row["source"]]].append(ClockEvidence(None, None, source=row["source"]))
        elif (c.get("kind") or "").endswith(LOG_SUFFIX) and c.get("last") is not None:
            jumps = tuple(Jump(j["line"], j["before"], j["after"]) for j in c.get("jumps") or () if None not in j.values())
            utc = c.get("clock") == "utc"
            stated = 0 if utc else c.get("wall_minus_utc_ms")
            stamped = row["source"] not in owned.unstamped and not c.get("parts")  # a joined file is as old as the joining
            modified = c.get("modified") if stamped else None
            witness = ClockEvidence(c["last"], modified, stated, row["source"], jumps, c.get("first"))
            for node in nodes[row["source"]] or (None,):
                (absolute if utc else found)[node].append(witness)
    return {**absolute, **found}


def _clocks(
    witnesses: Mapping[int | None, Sequence[ClockEvidence]],
    events: Sequence[Event],
    options: Options,
    hosts: Mapping[int, int],
    spans: FileSpans,
) -> dict[int | None, Clock]:
    """The clock of each node. `hosts`: nodes that share a host, and so a clock, mapped to one node per host."""
    nodes = {n for n in witnesses if n is not None} | {e.writer for e in events if e.writer is not None}
    of_host = _of_hosts(witnesses, hosts)
    anchors = {n: a for n, of_clock in of_host.items() if (a := _anchor(of_clock, options)) is not None}
    errors_ms = {hosts.get(n, n): error for n, error in options.clock_offsets_ms.items()}
    known = {n: replace(a, offset_ms=a.offset_ms + errors_ms.get(n, 0)) for n, a in anchors.items() if n is not None}
    host_of = {n: hosts.get(n, n) for n in nodes | errors_ms.keys()}
    all_hosts = sorted(set(host_of.values()))
    floors = {n: low for n in all_hosts if (low := floor(of_host.get(n, ()))) is not None}
    compared = relations(events, {n: known[host] for n, host in host_of.items() if host in known}, hosts, spans)
    clocks: dict[int | None, Clock] = dict(estimate(known, compared, all_hosts, floors).items())
    if (unowned := anchors.get(None)) is not None:
        clocks[None] = Clock.at_offset(unowned.offset_ms, unowned.uncertainty_ms, unowned.basis)
    for node, error in errors_ms.items():
        clocks[node] = _given_clock(clocks.get(node, Clock()), anchors.get(node), error)
    if options.gives_zone:
        clocks = {n: replace(c, shown_zone=_contradicting(c, of_host.get(n, ()))) for n, c in clocks.items()}
    changing = {n: _changing(c, of_host.get(n, ()), options) for n, c in clocks.items()}
    return {**changing, **{n: changing[host] for n, host in host_of.items()}}


def _contradicting(clock: Clock, found: Sequence[ClockEvidence]) -> int | None:
    """The zone in minutes that times in UTC show, if the user gave another one: printed by the node's processes or a container
    runtime, or of the metadata log's records. Modification times may be in any zone."""
    own = anchor(found)
    if own is not None and own.basis.split("+")[0] in ("start", "container"):
        shown = nearest_zone(own.offset_ms)
    elif "metadata" in clock.basis.split("+") and clock.uncertainty_ms is not None and clock.uncertainty_ms < QUARTER_MS:
        shown = nearest_zone(clock.offset_ms)
    else:
        return None
    return shown if abs(shown - clock.zone_minutes) * MINUTE_MS >= QUARTER_MS else None


def _given_clock(estimated: Clock, anchor: ClockOffset | None, error_ms: int) -> Clock:
    """The clock whose error the user gave."""
    zone = nearest_zone(anchor.offset_ms) if anchor is not None else estimated.zone_minutes
    return Clock(zone, error_ms, 0, "given", compared=estimated.compared)


def _of_hosts(witnesses: Mapping[int | None, Sequence[ClockEvidence]], hosts: Mapping[int, int]) -> dict[int | None, list[ClockEvidence]]:
    """Clock evidence by host. A file that several nodes write to counts once."""
    found: dict[int | None, dict[str, ClockEvidence]] = defaultdict(dict)
    for node, own in witnesses.items():
        host = hosts.get(node, node) if node is not None else None
        found[host].update({f"{w.source} {n}": w for n, w in enumerate(own) if w.source not in found[host]})
    return {host: list(own.values()) for host, own in found.items()}


def _anchor(found: Sequence[ClockEvidence], options: Options) -> ClockOffset | None:
    last = max((w.last for w in found if w.last is not None), default=None)
    if options.zone_name is not None and last is not None:
        return ClockOffset(in_zone(options.zone_name, last), 0, "given")
    if options.zone_offset_ms is not None:
        return ClockOffset(options.zone_offset_ms, 0, "given")
    return anchor(found)


def _changing(clock: Clock, found: Sequence[ClockEvidence], options: Options) -> Clock:
    """The clock with the changes of its zone's offset; a zone that the user gives as an offset has none."""
    if options.zone_name is not None:
        return replace(clock, changes=changes_in(options.zone_name, found, clock.skew_ms))
    if options.zone_offset_ms is not None:
        return clock
    return replace(clock, changes=changes(found, clock.offset_ms, clock.files_ms))


def _identified(tables: Iterable[pa.Table], resolver: EventResolver) -> list[Event]:
    """The events of the tables, in their order. They are identified in batches of ROWS, since identification costs as much for a small piece as
    for a large one, and made kind by kind, since those of one kind have few columns."""
    found: list[Any] = []
    for table in tables:
        order, before = pc.sort_indices(table["event"]), len(found)
        found += [None] * table.num_rows
        for first in range(0, len(order), ROWS):
            own = order.slice(first, ROWS)
            (batch,) = table.take(own).combine_chunks().to_batches()
            batch, places = resolver.apply(batch), own.to_pylist()
            batch = batch.select([name for name in batch.schema.names if batch[name].null_count < len(batch)])
            for _, begin, end in equal_rows(batch["event"]):
                for place, event in zip(places[begin:end], compact(batch.slice(begin, end - begin)), strict=True):
                    found[before + place] = event
    return found


def _raw(gathered: Gathered, resolver: EventResolver, sources: Sequence[Source]) -> list[Event]:
    """Events that compare clocks, with uncorrected times, each file's in its own order. Snapshots are excluded, since their records have
    the time of the snapshot. UTC lines are used only if the node has no others."""
    snapshots = [s.path for s in sources if s.kind == "metadata-snapshot"]
    relating = _relating(gathered, snapshots)
    local = gathered.rows(lambda t: pc.and_(relating(t), pc.fill_null(pc.equal(t["clock"], "line"), False)), "source")
    nodes = {resolver.nodes.get(path) for path in pc.unique(local["source"]).to_pylist()}
    mixed = pa.array([s.path for s in sources if s.node in nodes], pa.string())

    def comparing(events: pa.Table) -> pa.ChunkedArray:
        utc = pc.and_(pc.fill_null(pc.equal(events["clock"], "utc"), False), pc.is_in(events["source"], mixed))
        return pc.and_(relating(events), pc.invert(utc))

    found = _identified(gathered.tables(comparing), resolver)
    copies = Copies.of(sources, resolver.shown)  # they would pair wrong lines
    joined = {resolver.shown(s.path) for s in sources if s.parts}

    def place(e: Event) -> tuple[str, datetime, int, int]:
        """Place in the order in which the lines of each file were written."""
        return e.source, (e.at if e.source in joined else None) or datetime.min, e.line or 0, e.byte or 0

    return copies.without_twins(sorted(found, key=place))


def _shifts(gathered: Gathered, sources: Sequence[Source]) -> dict[str, int]:
    """By path of a copy with other times, by how much they are later."""
    copies = pa.array(sorted(Copies.of(sources, apart=FARTHEST_SHIFT).sources), pa.string())
    if not copies:
        return {}
    relating, others = _relating(gathered, ()), of_kinds(GATHERED - _UNSUITED)

    def dated(events: pa.Table) -> pa.ChunkedArray:
        timed = pc.and_(pc.fill_null(pc.equal(events["clock"], "line"), False), pc.is_valid(events["time"]))
        return pc.and_(pc.is_in(events["source"], value_set=copies), timed)

    def stating(events: pa.Table) -> pa.ChunkedArray:
        return pc.and_(dated(events), pc.or_(relating(events), others(events)))

    def comparing(events: pa.Table) -> pa.ChunkedArray:
        return pc.and_(dated(events), relating(events))

    return shifts(gathered.rows(stating if gathered.count(stating) <= MOST_COMPARED else comparing, *READ), sources)


def _relating(gathered: Gathered, snapshots: Sequence[str]) -> Mask:
    """Marks the events that compare clocks. If there are very many leader epochs, some are enough."""
    leaderships, others = of_kinds(LEADERSHIPS), of_kinds({*RELATING, "start-time"} - LEADERSHIPS)
    steps = gathered.count(leaderships) // MOST_COMPARED
    number = 1 << steps.bit_length()

    def relating(events: pa.Table) -> pa.ChunkedArray:
        compared = pc.and_(leaderships(events), one_of(events, number)) if steps else leaderships(events)
        return pc.and_(pc.or_(compared, others(events)), but(events["source"], snapshots))

    return relating


def _starts(events: Iterable[Event]) -> dict[str, list[PrintedUtc]]:
    """Lines of each file that state the UTC time of their printing. `events` have uncorrected times and are in file order."""
    found: dict[str, list[PrintedUtc]] = defaultdict(list)
    first: Event | None = None
    for e in events:
        if e.at is None or e.line is None:
            continue
        if e.event == "broker-starting":
            first = e
        elif e.event == "start-time" and e.count is not None and e.count in _CALENDAR_MS:
            own = first if first is not None and first.source == e.source else e
            utc = datetime(1970, 1, 1) + timedelta(milliseconds=e.count)
            found[e.source].append(PrintedUtc(utc, e.at, own.line, own.at or e.at))
            first = None
    return found


def _stamps(events: Iterable[Event], clocks: Mapping[int | None, Clock]) -> dict[int, int]:
    """By controller epoch, the clock error of the controller that was active."""
    led = {e.controller_epoch: e.controller for e in events if e.event == "metadata-leader"}
    wrong = {epoch: clocks.get(node, Clock()).stamps_ms for epoch, node in led.items() if epoch is not None and node is not None}
    return {epoch: error for epoch, error in wrong.items() if error}


def _root(sources: Sequence[Source]) -> str:
    """The top directory that contains the whole bundle, if there is one."""
    tops = {s.path.split("/", 1)[0] for s in sources if "/" in s.path}
    return f"{tops.pop()}/" if len(tops) == 1 and len(sources) > 1 and all("/" in s.path for s in sources) else ""


def _begins(raw: Iterable[Event], resolver: EventResolver) -> dict[int, datetime]:
    """Last start of each node's process, UTC. `raw` has uncorrected times."""
    own = ((e.writer, e.source, e.at, e.line or 0) for e in raw if e.event in _STARTS and e.writer is not None and e.at is not None)
    return dict(sorted((node, resolver.utc(resolver.root + source, at, line)) for node, source, at, line in own))


def _set_apart(sources: Iterable[Source], begins: Mapping[int, datetime]) -> None:
    """Moves sources outside a collection's directory, which were assigned to it as the node's only collection, into a collection of
    their own if the process was restarted after the collection's disks were saved: those disks do not show the current state."""
    for (node, _), own in _members(sources).items():
        saved = _disks_saved(own)
        outside = [s for s in own if not _inside(s)]
        if outside and saved is not None and saved < begins.get(node, saved) and _written(own):
            apart = commonprefix([s.path for s in outside]).rpartition("/")[0]
            for s in outside:
                s.collection = apart


def _disks_saved(sources: Iterable[Source]) -> datetime | None:
    """When the disks of a collection were saved; None if unknown, or if some are outside the collection's directory."""
    disks = [s for s in sources if s.kind in DISK_KINDS]
    return max((s.modified for s in disks if s.modified is not None), default=None) if all(map(_inside, disks)) else None


def _members(sources: Iterable[Source]) -> dict[tuple[int, str], list[Source]]:
    found: dict[tuple[int, str], list[Source]] = defaultdict(list)
    for s in sources:
        if s.node is not None:
            found[(s.node, s.collection)].append(s)
    return found


def _written(sources: Iterable[Source]) -> bool:
    """Whether modification times are write times: each log's own equals that of its last line."""
    times = ((s.modified, s.last) for s in sources if s.last is not None)
    return all(modified is None or abs(modified - last) <= COPIED_TIME for modified, last in times)


def _inside(source: Source) -> bool:
    return source.path.startswith(f"{source.collection}/" if source.collection else "")


def _age(sources: Iterable[Source], last_line: datetime | None) -> datetime | None:
    """When the last of these sources was written: the newest modification time, or the last log line if all modification times are later
    (copies)."""
    times = [s.modified for s in sources if s.modified is not None]
    if last_line is None or not times:
        return max(times, default=last_line)
    return max(*times, last_line) if min(times) <= last_line + COPIED_TIME else last_line


def _order_collections(sources: Iterable[Source], begins: Mapping[int, datetime]) -> dict[int, list[str]]:
    """Collections of each node, oldest first, by the last write in each. A collection with disks saved since the last process start
    sorts after those without: the latest collection must be the one with the current disks. If times are equal, as after a copy, the
    last log lines decide. Files outside of the directory that joined it,
    such as the output of a container, show nothing about when it was made."""
    members = _members(sources)

    def age(key: tuple[int, str]) -> tuple[bool, datetime, datetime, str]:
        own = [s for s in members[key] if _inside(s)] or members[key]
        line = _last_line(own)
        last = _age(own, line)
        now = any(s.kind in DISK_KINDS for s in own) and (last is None or last >= begins.get(key[0], last))
        return now, last or datetime.min, line or datetime.min, key[1]

    found: dict[int, list[str]] = defaultdict(list)
    for node, collection in sorted(members, key=age):
        found[node].append(collection)
    return found


def _last_line(sources: Iterable[Source]) -> datetime | None:
    """Time of the last log line in a collection's own directory."""
    return max((s.last for s in sources if s.last is not None and _inside(s)), default=None)


def _saved(sources: Sequence[Source], ordered: Mapping[int, Sequence[str]]) -> dict[str, datetime]:
    """Files of earlier collections whose modification times are lost or were set by a copy: all are later than the last line of the logs
    next to them, which is impossible for the log itself. Those files were saved with that line at the latest."""
    found: dict[str, datetime] = {}
    for own in (own for (node, collection), own in _members(sources).items() if collection in ordered[node][:-1]):
        end = _last_line(own)
        kept = min((s.modified for s in own if s.modified is not None), default=None)
        if end is not None and (kept is None or kept > end + COPIED_TIME):
            found.update((s.path, end + timedelta(microseconds=1)) for s in own if not s.kind.endswith(LOG_SUFFIX))
    return found


def _shared(gathered: Gathered, named: Mapping[str, Sequence[int]], owners: Mapping[str, int | None]) -> SharedLogs:
    several = pa.array([path for path, nodes in named.items() if len(nodes) > 1], pa.string())
    if not len(several):
        return SharedLogs()
    of_files = of_kinds(_OF_FILES)

    def of_use(events: pa.Table) -> pa.ChunkedArray:
        settings = pc.fill_null(pc.is_in(events["key"], pa.array(LOG_DIRECTORIES)), False)
        unnamed = pc.and_(pc.is_null(events["node"]), pc.equal(events["clock"], "line"))
        used = pc.or_(pc.or_(settings, pc.is_in(events["source"], several)), pc.fill_null(unnamed, False))
        return pc.and_(pc.invert(of_files(events)), used)

    lines = gathered.rows(of_use, "source", "line", "byte", "time", "event", "node", "key", "value", "text")
    text = pc.if_else(pc.is_null(lines["node"]), lines["text"], None)  # a dump of settings has hundreds of rows, each with the whole text
    return shared_logs(lines.set_column(lines.schema.get_field_index("text"), "text", text).to_pylist(), named, owners)


def _with_clusters(known: EventResolver, gathered: Gathered, sources: Sequence[Source]) -> EventResolver:
    """Adds the clusters in the collection, and the cluster of each file: that of the disk it is on."""
    of_these = of_kinds(OF_CLUSTERS | {"partition-state"})

    def naming(events: pa.Table) -> pa.ChunkedArray:
        names = pc.or_(pc.not_equal(events["event"], "config"), pc.fill_null(pc.equal(events["key"], CLUSTER_ID), False))
        return pc.and_(of_these(events), names)

    of_clusters = _identified(gathered.tables(naming), known)
    for e, wall in zip(of_clusters, gathered.rows(naming, "time")["time"].to_pylist(), strict=True):
        e.at = known.wall(known.root + e.source, wall) if wall is not None and e.line is not None else wall
    identities = gathered.rows(_naming(("log-directory-identity",), "value"), "source", "value", "time").to_pylist()
    latest = _latest_times(of_clusters, {s.path for s in sources if s.clock_set_back})
    clusters = cluster_history(of_clusters, [(r["value"], r["time"]) for r in identities], latest)
    if not clusters.last:
        return replace(known, clusters=clusters)
    ids = {r["source"].rpartition("/")[0]: r["value"] for r in identities}
    on_disk = {}
    for s in sources:
        if not s.kind.endswith(LOG_SUFFIX):
            directory = next((d for d in directories_above(s.path) if d in ids), None)
            on_disk[s.path] = clusters.of_id(ids[directory] if directory is not None else None)
    return replace(known, clusters=clusters, on_disk=on_disk)


def _digests(gathered: Gathered) -> tuple[set[Archive], set[Archive]]:
    """Archives and ignored files."""
    rows = gathered.rows(of_kinds(("archive",)), "source", "bytes", "value", "reason").to_pylist()
    found = {(r["reason"] == IGNORED, Archive(r["source"], r["bytes"] or 0, r["value"] or "")) for r in rows}
    return {a for ignored, a in found if not ignored}, {a for ignored, a in found if ignored}


def _with_topics(known: EventResolver, gathered: Gathered) -> EventResolver:
    """Adds the topic ids. Kafka renames no topic: if an id has several names, they were replaced in logs, and the metadata log has its own."""
    made = gathered.rows(_naming(of(role=Role.TOPIC_MADE), "topic_id"), "topic_id", "topic", "line").to_pylist()
    topics = {row["topic_id"]: row["topic"] for row in sorted(made, key=lambda row: row["line"] is None)}
    renamed = {row["topic"]: topics[row["topic_id"]] for row in made if row["topic"] not in topics.values()}
    return replace(known, topics=topics, renamed=renamed)


def build_cluster(gathered: Gathered, options: Options | None = None) -> tuple[Cluster, EventResolver]:
    """The cluster at the end of the evidence and the EventResolver."""
    archives, ignored = _digests(gathered)
    collected = reorder_joined_logs(list(_collected(gathered)), partial(_epoch_lines, gathered))
    sources = _sources(collected)
    excluded = excluded_files(gathered, collected, sources)
    others = frozenset(path for other in excluded for path in other.paths)
    if others:
        gathered = gathered.without(others)
        collected = [row for row in collected if row["source"] not in others]
        elsewhere = [replace(s, kind=EXCLUDED_KIND) for s in sources if s.path in others]
        sources = [s for s in sources if s.path not in others]
    owned, conflicts, hosts_of = _with_owners(gathered, collected, sources)
    owned = replace(owned, excluded=others, shifts_ms=_shifts(gathered, sources))
    for s in (s for s in sources if s.path in owned.shifts_ms):
        s.shifted_ms = owned.shifts_ms[s.path]
        _retime(s, lambda path, time, line: owned.wall(path, time))
    owned = _with_clusters(owned, gathered, sources)
    release()
    raw = _raw(gathered, owned, sources)
    owned = _with_topics(owned, gathered)
    resolver, clocks = _with_clocks(owned, collected, sources, raw, options or Options(), hosts_of)
    modes, begins = {(e.cluster, e.mode) for e in raw}, _begins(raw, resolver)
    del raw  # as many events again follow
    release()
    for s in sources:
        _retime(s, resolver.utc)
    resolver, ordered = _with_collections(resolver, sources, begins)
    copies = Copies.of(sources, resolver.shown)
    evidence = partial(
        Cluster,
        sources=sources,
        archives=sorted({replace(archive, path=resolver.shown(archive.path)) for archive in archives}),
        ignored=sorted(ignored),
        conflicts=conflicts,
        topic_ids=dict(resolver.topics),
        renamed=resolver.renamed,
        copies=copies,
        excluded=excluded,
    )
    comparing = of_kinds(LEADERSHIPS | _OF_FILES)
    events = _identified(gathered.tables(lambda t: pc.invert(comparing(t))), resolver)
    parts = {resolver.shown(s.path): s.parts for s in sources if s.parts is not None}
    times = _latest_times(events, {resolver.shown(s.path) for s in sources if s.clock_set_back})
    events.sort(key=lambda e: (times.get(id(e), e.at or datetime.min), e.source, *place_in(e, parts)))
    events = copies.without_twins(events)
    for s in sources:
        s.path = resolver.shown(s.path)
    if others:
        sources += elsewhere
    release()
    return _clusters(evidence, events, resolver, clocks, ordered, modes)[-1], resolver


def _latest_times(events: Iterable[Event], set_back: Container[str]) -> dict[int, datetime]:
    """By the id of each event in a log whose clock was set back, the latest time read up to it. Sorted by these, it keeps its order."""
    files: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event.source in set_back:
            files[event.source].append(event)
    found: dict[int, datetime] = {}
    for file in files.values():
        file.sort(key=place_in)
        found.update(zip(map(id, file), latest_times(file), strict=True))
    return found


def _with_owners(
    gathered: Gathered, collected: Sequence[Mapping[str, Any]], sources: Sequence[Source]
) -> tuple[EventResolver, list[Conflict], Mapping[int, int]]:
    """Sets the node and collection of each source. Returns the resolver that knows them, the conflicts between signs of ownership, and
    the nodes that share a host (shared_logs.hosts)."""
    clues = _clues(gathered, collected, sources)
    identity = identify(clues)
    named = {s.path: clue.nodes for s, clue in zip(sources, clues, strict=True) if s.kind.endswith(LOG_SUFFIX)}
    shared = _shared(gathered, named, {path: identity.owners[path].node for path in named})
    for s, clue in zip(sources, clues, strict=True):
        owner = identity.owners[s.path]
        s.node, s.collection = None if s.kind in SHARED or s.path in shared.starts else owner.node, owner.collection
        s.shared = clue.nodes if s.path in shared.starts else ()
    unstamped = meaningless(sources, LOG_SUFFIX)
    for s in sources:
        s.modified = None if s.path in unstamped else s.modified
    nodes, collections = {s.path: s.node for s in sources}, {s.path: s.collection for s in sources}
    resolver = EventResolver(nodes, collections, {}, {}, root=_root(sources), unstamped=unstamped, shared=shared)
    return resolver, identity.conflicts, hosts(named)


def _with_clocks(
    owned: EventResolver,
    collected: Sequence[Mapping[str, Any]],
    sources: Sequence[Source],
    raw: Sequence[Event],
    options: Options,
    hosts: Mapping[int, int],
) -> tuple[EventResolver, dict[int | None, Clock]]:
    """The resolver with the corrections of all times, and the clock of each node; also corrects the modification times of `sources`."""
    starts = _starts(raw)
    uncertain = _witnesses(collected, {s.path: s.nodes for s in sources}, owned)
    witnesses = {n: [replace(w, starts=tuple(starts.get(owned.shown(w.source), ()))) for w in of_node] for n, of_node in uncertain.items()}
    spans = {owned.shown(s.path): (s.first, s.last) for s in sources if s.first is not None and s.last is not None}
    clocks = _clocks(witnesses, raw, options, hosts, spans)
    for s in (s for s in sources if s.shifted_ms):  # its logs show two times
        if (clock := clocks.setdefault(s.node, Clock())).assumed:
            clocks[s.node] = replace(clock, uncertainty_ms=max(clock.uncertainty_ms or 0, abs(s.shifted_ms)))
    jumps = {w.source: w.jumps for of_node in witnesses.values() for w in of_node}
    absolute = {row["source"] for row in collected if (row["collected"] or {}).get("clock") == "utc"}
    clock_of = {s.path: clocks.get(s.nodes[0] if s.nodes else None, Clock()) for s in sources}  # nodes that share a log share a host
    for s in sources:
        s.modified = s.modified - timedelta(milliseconds=clock_of[s.path].files_ms) if s.modified is not None else None
    steps_of = {s.path: _steps(s, clock_of[s.path], jumps.get(s.path, ())) for s in sources if s.path not in absolute}
    resolver = replace(
        owned,
        offsets_ms={path: c.skew_ms if path in absolute else c.offset_ms for path, c in clock_of.items()},
        steps={path: of_log for path, of_log in steps_of.items() if of_log},
        skews_ms={path: c.skew_ms for path, c in clock_of.items() if c.skew_ms},
        files_ms={path: c.files_ms for path, c in clock_of.items() if c.files_ms},
        stamps_ms=_stamps(raw, clocks),
    )
    return resolver, clocks


def _with_collections(
    resolver: EventResolver, sources: Sequence[Source], begins: Mapping[int, datetime]
) -> tuple[EventResolver, dict[int, list[str]]]:
    """The resolver with the collection of each source and the times at which earlier collections were saved, and each node's collections,
    oldest first; also sets the collections of `sources`."""
    _set_apart(sources, begins)
    ordered = _order_collections(sources, begins)
    collections = {s.path: s.collection for s in sources}
    return replace(resolver, collections=collections, saved=_saved(sources, ordered)), ordered


def _clusters(
    evidence: Callable[[int, str | None], Cluster],
    events: Sequence[Event],
    resolver: EventResolver,
    clocks: Mapping[int | None, Clock],
    ordered: Mapping[int, list[str]],
    modes: Collection[tuple[int | None, str | None]],
) -> list[Cluster]:
    """The clusters of the collection, oldest first. `evidence` creates a cluster with what all of them share."""
    numbers = dict(enumerate(resolver.clusters.ids, -resolver.clusters.last))
    runs = _by_cluster(_lived(events), numbers)
    joins = _joins(clocks, resolver)
    by_cluster = _events_by_cluster(events, evidence(0, None).sources, {n: joins.get(n, ()) for n in numbers})
    clusters: list[Cluster] = []
    for number, cluster_id in numbers.items():
        cluster = evidence(number, cluster_id)
        _fill(cluster, by_cluster[number], clocks, ordered, runs[number])
        cluster.begun = joins.get(number, ())
        cluster.mode = _mode(cluster, {e.mode for e in cluster.events}.union(mode for of, mode in modes if of == number))
        clusters.append(cluster)
    for cluster in clusters:
        cluster.whole = clusters
        kept_together(cluster.events)
    return clusters


def _events_by_cluster(
    events: Iterable[Event], sources: Iterable[Source], joins: Mapping[int, Sequence[ClusterJoin]]
) -> dict[int | None, list[Event]]:
    """Events by cluster. server.properties files have no time: their settings count for all clusters. `joins`: the clusters, oldest first."""
    undated = {s.path for s in sources if s.kind == "server-properties"} if len(joins) > 1 else set()
    found: dict[int | None, list[Event]] = {number: [] for number in joins}
    for e in events:
        set_in = _set_in(e, joins) if e.event == "config" and len(joins) > 1 else e.cluster
        for number in joins if e.source in undated else (set_in,):
            found[number].append(e)
    return found


def _set_in(e: Event, joins: Mapping[int, Sequence[ClusterJoin]]) -> int | None:
    """The cluster of a setting. A process prints its settings before it says that it starts. The output of a tool is of the cluster of its
    time: a copy has a later time, none an earlier one."""
    if e.at is None:
        return e.cluster
    if e.writer is not None:
        begun = (n for n, own in joins.items() if any(j.node == e.writer and e.at < j.at <= e.at + SETTINGS_FIRST for j in own))
        return next(begun, e.cluster)
    begins = {n: min(j.at for j in own) for n, own in joins.items() if own}
    earlier = [n for n, begin in begins.items() if begin <= e.at] if e.at < begins.get(e.cluster or 0, e.at) else []
    return earlier[-1] if earlier else e.cluster


def _retime(source: Source, corrected: Callable[[str, datetime, int], datetime]) -> None:
    """Corrects the times of a source's lines. `corrected`: the time for a path, a time and a line."""

    def at(time: datetime | None, line: int) -> datetime | None:
        return corrected(source.path, time, line) if time is not None else None

    source.first, source.last = at(source.first, 1), at(source.last, source.lines or 1)
    source.last_own = at(source.last_own, source.lines or 1)
    source.printed = {facet: [(line, at(time, line)) for line, time in places] for facet, places in source.printed.items()}
    steps = (
        (line, corrected(source.path, before, line - 1), corrected(source.path, after, line)) for line, before, after in source.steps_back
    )
    source.steps_back = tuple((line, before, after) for line, before, after in steps if before - after > LineOrder.BACK)


def _steps(source: Source, clock: Clock, jumps: Sequence[Jump]) -> tuple[ZoneStep, ...]:
    """The lines at which the offset changes in a source."""
    if source.shared and source.last is not None and (found := offset_changes(jumps, clock.offset_ms, (source.lines or 1, source.last))):
        return found
    return steps(clock.changes, source.first, jumps, source.path)


def _joins(clocks: Mapping[int | None, Clock], resolver: EventResolver) -> dict[int, tuple[ClusterJoin, ...]]:
    """By cluster, when each node joined it, UTC."""
    clusters = resolver.clusters
    found: dict[int, list[ClusterJoin]] = defaultdict(list)
    for node, spans in clusters.spans.items():
        before: int | None = None
        known: set[int] = set()
        for span in spans if node is not None else ():
            assert node is not None
            number = span.cluster - clusters.last
            shown = next((e for e in span.evidence if e.writer == node and e.line is not None), None)
            wall = shown.at if shown is not None and shown.at is not None and span.how == "under-way" else span.since
            at = wall - timedelta(milliseconds=clocks.get(node, Clock()).offset_ms)
            if shown is not None:  # its zone may have changed since
                at = resolver.utc(resolver.root + shown.source, wall, shown.line or 1)
            found[number].append(ClusterJoin(node, at, span.how, before, number in known, span.evidence))
            before = number
            known.add(number)
    return {number: tuple(sorted(own, key=lambda b: (b.at, b.node))) for number, own in found.items()}


def _lived(events: Sequence[Event]) -> dict[int, list[BrokerRun]]:
    """Each node's runs across all clusters: the start in one cluster may show how the run in the previous one ended."""
    found = {node: runs(node, own) for node, own in _streams(events).items()}
    counted = {node: by_time(own) for node, own in found.items()}
    for e in events:  # a process that ran on into the next cluster belongs to it once that cluster's controller lists the broker
        if e.event == "brokers-changed" and e.reason != "deleted" and e.at is not None:
            for run in (run for broker in e.brokers or () if broker in counted for run in counted[broker].within(e.at, e.at)):
                run.seen.setdefault(e.cluster, e)
    return found


def _by_cluster(lived: Mapping[int, Sequence[BrokerRun]], numbers: Iterable[int]) -> Mapping[int | None, Mapping[int, Sequence[BrokerRun]]]:
    """Each node's runs by cluster. A run with no known cluster may belong to any."""
    found: dict[int | None, dict[int, list[BrokerRun]]] = {number: defaultdict(list) for number in numbers}
    for node, own in lived.items():
        for run in own:
            for number in run.clusters or numbers:
                found[number][node].append(run.within(number))
    return found


def _streams(events: Iterable[Event]) -> dict[int, list[Event]]:
    found: dict[int, list[Event]] = defaultdict(list)
    for e in events:
        if e.writer is not None:
            found[e.writer].append(e)
    return found


def _fill(
    cluster: Cluster,
    events: list[Event],
    clocks: Mapping[int | None, Clock],
    ordered: Mapping[int, list[str]],
    lived: Mapping[int, Sequence[BrokerRun]],
) -> None:
    streams = _streams(events)
    cluster.events = without_repeats(events, lived)
    registered = {e.broker for e in events if e.event == "metadata-broker"}
    for node in sorted((cluster.collected if not cluster.number else set()) | set(streams)):
        own = streams.get(node, [])
        known = Node(node, clock=clocks.get(node, Clock()), collections=ordered.get(node, []))
        known.version = next((e.value for e in reversed(own) if e.event == "kafka-version" and e.value), None)
        known.runs = list(lived.get(node, ()))
        known.broker = any(e.event in OF_BROKERS for e in own) or not _controller_only(node, own, registered)
        if not known.broker:
            known.runs = [of_controller(run) for run in known.runs]
        cluster.nodes[node] = known
    cluster.settings = Settings(cluster.of(*_SET))
    cluster.recreated = recreated_topics(cluster.events)


def _controller_only(node: int, events: Iterable[Event], registered: Collection[int | None]) -> bool:
    """By the node's own settings; if they were not collected, a node that never registered as a broker; if no registrations were collected
    either, a node whose controller started."""
    own = list(events)
    roles = {process_roles(e.value) for e in own if e.event == "config" and e.key == "process.roles"}
    if roles or registered:
        return roles == {"controller"} if roles else node not in registered
    return any(e.event in _OF_CONTROLLERS for e in own)


_KRAFT = frozenset({"metadata-segment", "metadata-snapshot", "quorum-state"})


def _mode(cluster: Cluster, modes: Collection[str | None]) -> str:
    """The mode from the start settings, else from the events. Brokers in migration (KIP-866) log events of both modes; their cluster has
    a quorum."""
    started = [cluster.settings.of_broker(b) for b in cluster.settings.brokers()]
    if any(s.kind in _KRAFT for s in cluster.sources) or any(process_roles(s.get("process.roles")) for s in started):
        return "kraft"
    if any("zookeeper.connect" in s for s in started):
        return "zookeeper"
    return next((mode for mode in ("kraft", "zookeeper") if mode in modes), "unknown")
