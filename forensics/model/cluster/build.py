"""Builds the Cluster from the events of no partition.

Here: the owner of each source, the runs of each node, settings and topics, assembled once on the driver. Not here: clocks and the corrected
time of each event (forensics.model.clock), Spark, partitions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.clock.clocks import Clock
from forensics.model.clock.cluster_history import CLUSTER_ID, OF_CLUSTERS, cluster_history
from forensics.model.clock.collection_order import last_starts, with_collections
from forensics.model.clock.comparisons import DECIDED, LEADERSHIPS, RELATING
from forensics.model.clock.copies import LOG_SUFFIX, Copies
from forensics.model.clock.directions import EpochLine, reorder_joined_logs
from forensics.model.clock.excluded import EXCLUDED_KIND, excluded_files
from forensics.model.clock.gathered import Gathered, Mask, but, of_kinds, one_of
from forensics.model.clock.identity import Clues, Conflict, identify
from forensics.model.clock.node_clocks import Options, with_clocks
from forensics.model.clock.replays import without_repeats
from forensics.model.clock.resolver import EventResolver
from forensics.model.clock.shared_logs import SharedLogs, hosts, shared_logs
from forensics.model.clock.shifted_copies import READ, originals, shifts
from forensics.model.clock.sources import Archive, Source
from forensics.model.clock.zones import meaningless
from forensics.model.cluster.facts import OF_BROKERS, Cluster, ClusterJoin, Node, recreated_topics
from forensics.model.events import Event, compact, kept_together, latest_times, place_in
from forensics.model.presence.availability import BrokerRun, broker_runs, by_time, of_controller
from forensics.model.settings.settings import LOG_DIRECTORIES, Settings, process_roles
from forensics.model.times import grouped
from forensics.thresholds import FARTHEST_SHIFT, SETTINGS_FIRST
from parsers.containers.names import IGNORED
from parsers.kinds import GATHERED, Role, named, of
from parsers.line_order import LineOrder
from parsers.paths import directories_above
from parsers.schemas import equal_rows, release

AUTHORITATIVE = frozenset({"meta-properties", "server-properties"})
SHARED = frozenset({"znode"})
"""Kinds whose paths contain numbers that are not broker ids: partitions/0/state."""
ROWS = 4096
"""Rows that are identified, or become objects, at once on the driver."""
MOST_COMPARED = 100_000
"""Lines about leader epochs that compare clocks, at most twice as many: as objects, this number takes 50 MB."""
_SET = of(role=Role.SETTING | Role.TOPIC_GONE)
_OF_CONTROLLERS = named("controller-starting")
_OF_FILES = named("source", "archive")
_IDENTIFYING = named("log-directory-identity", "config", "broker-id-mismatch")
_UNSUITED = LEADERSHIPS | named("config", "last-line")
"""Kinds of events that show no copy, or are too many: a start prints hundreds of settings at one moment, and each file has a last line."""


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
    return grouped(
        (r["source"], EpochLine(r["line"], r["time"], (r["topic"], r["topic_id"], r["partition"]), r["leader_epoch"]))
        for r in gathered.rows(of_replicas, *columns).to_pylist()
        if r["line"] is not None and r["time"] is not None
    )


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
            errors=tuple(c.get("errors") or ()),
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
    found = grouped(
        (place["facet"], (place["line"], place["time"])) for place in places if place["line"] is not None and place["facet"] is not None
    )
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


def _identified(tables: Iterable[pa.Table], resolver: EventResolver) -> list[Event]:
    """The events of the tables, in their order. They are identified in batches of ROWS, since identification costs as much for a small
    piece as for a large one, and made kind by kind, since those of one kind have few columns."""
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


def _raw(gathered: Gathered, resolver: EventResolver, sources: Sequence[Source], copies: Copies) -> list[Event]:
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
    joined = {resolver.shown(s.path) for s in sources if s.parts}

    def place(e: Event) -> tuple[str, datetime, int, int]:
        """Place in the order in which the lines of each file were written."""
        return e.source, (e.at if e.source in joined else None) or datetime.min, e.line or 0, e.byte or 0

    return copies.without_twins(sorted(found, key=place))  # they would pair wrong lines


def _copied(gathered: Gathered, sources: Sequence[Source]) -> tuple[dict[str, int], tuple[dict[str, str], set[str]]]:
    """By path of a copy with other times, by how much they are later; and what `originals` finds."""
    copies = pa.array(sorted(Copies.of(sources, apart=FARTHEST_SHIFT).sources), pa.string())
    if not copies:
        return {}, ({}, set())
    relating, others = _relating(gathered, ()), of_kinds(GATHERED - _UNSUITED)

    def dated(events: pa.Table) -> pa.ChunkedArray:
        timed = pc.and_(pc.fill_null(pc.equal(events["clock"], "line"), False), pc.is_valid(events["time"]))
        return pc.and_(pc.is_in(events["source"], value_set=copies), timed)

    def stating(events: pa.Table) -> pa.ChunkedArray:
        return pc.and_(dated(events), pc.or_(relating(events), others(events)))

    def comparing(events: pa.Table) -> pa.ChunkedArray:
        return pc.and_(dated(events), relating(events))

    lines = gathered.rows(stating if gathered.count(stating) <= MOST_COMPARED else comparing, *READ)
    return shifts(lines, sources), originals(lines, sources)


def _relating(gathered: Gathered, snapshots: Sequence[str]) -> Mask:
    """Marks the events that compare clocks. If there are very many leader epochs, some are enough."""
    leaderships, others = of_kinds(LEADERSHIPS), of_kinds((RELATING | named("process-starting", "start-time")) - LEADERSHIPS)
    steps = gathered.count(leaderships) // MOST_COMPARED
    number = 1 << steps.bit_length()

    def relating(events: pa.Table) -> pa.ChunkedArray:
        compared = pc.and_(leaderships(events), one_of(events, number)) if steps else leaderships(events)
        return pc.and_(pc.or_(compared, others(events)), but(events["source"], snapshots))

    return relating


def _root(sources: Sequence[Source]) -> str:
    """The top directory that contains the whole bundle, if there is one."""
    tops = {s.path.split("/", 1)[0] for s in sources if "/" in s.path}
    return f"{tops.pop()}/" if len(tops) == 1 and len(sources) > 1 and all("/" in s.path for s in sources) else ""


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


def _with_clusters(known: EventResolver, gathered: Gathered, sources: Sequence[Source], copies: Copies) -> EventResolver:
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
    clusters = cluster_history(copies.in_originals(of_clusters), [(r["value"], r["time"]) for r in identities], latest)
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
    """Adds the topic ids. Kafka renames no topic: if the metadata log has an id with one name, and logs have it with another, the name was
    replaced in logs. If logs alone have several names of an id, the id was replaced, and shows nothing."""
    made = gathered.rows(_naming(of(role=Role.TOPIC_MADE), "topic_id"), "topic_id", "topic", "line").to_pylist()
    recorded = {row["topic_id"]: row["topic"] for row in made if row["line"] is None}
    names: dict[str, set[str]] = defaultdict(set)
    for row in made:
        names[row["topic_id"]].add(row["topic"])
    topics = {i: own.pop() for i, own in names.items() if len(own) == 1 and i not in recorded} | recorded
    renamed = {
        row["topic"]: recorded[row["topic_id"]] for row in made if row["topic_id"] in recorded and row["topic"] not in topics.values()
    }
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
    shifts_ms, copied = _copied(gathered, sources)
    owned = replace(owned, excluded=others, shifts_ms=shifts_ms)
    for s in (s for s in sources if s.path in owned.shifts_ms):
        s.shifted_ms = owned.shifts_ms[s.path]
        _retime(s, lambda path, time, line: owned.wall(path, time))
    copies = Copies.of(sources, owned.shown, *copied)
    owned = _with_clusters(owned, gathered, sources, copies)
    release()
    raw = _raw(gathered, owned, sources, copies)
    owned = _with_topics(owned, gathered)
    resolver, clocks = with_clocks(owned, collected, sources, raw, options or Options(), hosts_of)
    modes, begins = {(e.cluster, e.mode) for e in raw}, last_starts(raw, resolver)
    del raw  # as many events again follow
    release()
    for s in sources:
        _retime(s, resolver.utc)
    resolver, ordered = with_collections(resolver, sources, begins)
    copies = Copies.of(sources, resolver.shown, *copied)
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
    files = grouped((event.source, event) for event in events if event.source in set_back)
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
    """Events by cluster. server.properties files have no time: their settings count for all clusters. `joins`: the clusters, oldest
    first."""
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
    found = {node: broker_runs(node, own) for node, own in _streams(events).items()}
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
    return grouped((e.writer, e) for e in events if e.writer is not None)


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
