"""From the events of no partition to the Cluster, and from there to identified events.

Here: whose each source is, each broker's clock and lives, settings and topics, put together once on the driver; and the
vectorised step that writes broker, collection and corrected time into every event. Not here: Spark (pipeline), partitions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from spark.clocks import Clock, Witness, estimate
from spark.cluster import Cluster, Node, Source, lives, recreated_topics
from spark.events import IDENTIFIED, Event, rows
from spark.identity import Clues, identify

AUTHORITATIVE = frozenset({"meta-properties", "server-properties"})
LOG_SUFFIX = "-log"
BROKER_EVENTS = frozenset({"broker-starting", "broker-started", "broker-stopping", "broker-stopped", "controlled-shutdown"})


@dataclass(frozen=True)
class Options:
    """What the user tells about clocks; it overrides every estimate."""

    zone_offset_ms: int | None = None
    """--timezone: wall clock of all brokers minus UTC."""
    clock_offsets_ms: Mapping[int, int] = field(default_factory=dict)
    """--clock-offset BROKER=±S: error of one broker's clock, on top of its zone."""


@dataclass(frozen=True)
class Identifier:
    """What identification needs of every source; small, and sent to every task."""

    nodes: Mapping[str, int | None]
    collections: Mapping[str, str]
    offsets_ms: Mapping[str, int]
    topics: Mapping[str, str]
    """Topic names by topic id, for facts that know only the id."""
    root: str = ""
    """Directory that all sources share; evidence names its sources without it."""

    def shown(self, path: str | None) -> str:
        """A source's path as the report names it."""
        return (path or "").removeprefix(self.root)

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of EVENTS as a batch of IDENTIFIED."""
        sources = batch.column("source")
        distinct = pc.unique(sources)
        index = pc.index_in(sources, value_set=distinct)
        names = distinct.to_pylist()
        owner = pc.take(pa.array([self.nodes.get(s) for s in names], pa.int32()), index)
        writer = pc.coalesce(owner, batch.column("node"))
        collection = pc.take(pa.array([self.collections.get(s, "") for s in names], pa.string()), index)
        shift = pc.take(pa.array([-1000 * self.offsets_ms.get(s, 0) for s in names], pa.duration("us")), index)
        time = batch.column("time")
        local = pc.equal(batch.column("clock"), "line")
        at = pc.if_else(pc.fill_null(local, False), pc.add(time, shift), time).cast(pa.timestamp("us"))
        topic = batch.column("topic")
        if topic.null_count and self.topics:
            ids = batch.column("topic_id")
            known = pc.unique(ids)
            named = pa.array([self.topics.get(i) if i else None for i in known.to_pylist()], pa.string())
            topic = pc.coalesce(topic, pc.take(named, pc.index_in(ids, value_set=known)))
        shown = pc.take(pa.array([self.shown(s) for s in names], pa.string()), index)
        replaced = {"topic": topic, "source": shown}
        columns = [replaced.get(name, batch.column(name)) for name in batch.schema.names]
        return pa.RecordBatch.from_arrays([*columns, writer, collection, at], schema=IDENTIFIED)


def _sources(table: Iterable[Mapping[str, Any]]) -> list[Source]:
    found = []
    for row in table:
        c = row["collected"] or {}
        found.append(
            Source(
                path=row["source"],
                kind=c.get("kind") or "unknown",
                node=None,
                collection="",
                bytes=c.get("bytes"),
                sha256=c.get("sha256"),
                modified=c.get("modified"),
                lines=c.get("lines"),
                unrecognised=c.get("unrecognised"),
                samples=c.get("samples") or (),
                first=c.get("first"),
                last=c.get("last"),
                problem=c.get("problem"),
            )
        )
    return sorted(found, key=lambda s: s.path)


def _clues(batch: pa.Table, sources: Sequence[Source]) -> list[Clues]:
    named: dict[str, list[int]] = defaultdict(list)
    for row in batch.filter(pc.equal(batch["event"], "source")).select(["source", "collected"]).to_pylist():
        named[row["source"]].extend((row["collected"] or {}).get("nodes") or ())
    identities = batch.filter(pc.is_in(batch["event"], pa.array(["log-directory-identity", "config"])))
    for row in identities.select(["source", "node", "event"]).to_pylist():
        if row["node"] is not None and row["node"] not in named[row["source"]]:
            named[row["source"]].append(row["node"])
    return [Clues(s.path, tuple(named.get(s.path, ())), s.kind in AUTHORITATIVE) for s in sources]


def _clocks(sources: Sequence[Source], options: Options) -> dict[int | None, Clock]:
    witnesses: dict[int | None, list[Witness]] = defaultdict(list)
    for s in sources:
        if s.kind.endswith(LOG_SUFFIX) and s.last is not None and s.modified is not None:
            witnesses[s.node].append(Witness(s.last, s.modified))
    clocks = {node: estimate(found) for node, found in witnesses.items()}
    for node in {s.node for s in sources}:
        zone = options.zone_offset_ms
        error = options.clock_offsets_ms.get(node, 0) if node is not None else 0
        if zone is not None or error:
            base = zone if zone is not None else clocks.get(node, Clock()).zone_minutes * 60_000
            clocks[node] = Clock(base + error, 0, "given")
    return clocks


def _root(sources: Sequence[Source]) -> str:
    """The directory, if any, under which the whole bundle lies."""
    tops = {s.path.split("/", 1)[0] for s in sources if "/" in s.path}
    return f"{tops.pop()}/" if len(tops) == 1 and len(sources) > 1 and all("/" in s.path for s in sources) else ""


def _order_collections(sources: Sequence[Source]) -> dict[int, list[str]]:
    """Collections of each node, oldest first, by the newest file in each."""
    newest: dict[tuple[int, str], datetime] = {}
    for s in sources:
        if s.node is not None:
            key = (s.node, s.collection)
            newest[key] = max(newest.get(key, datetime.min), s.modified or s.last or datetime.min)
    found: dict[int, list[str]] = defaultdict(list)
    for (node, collection), _ in sorted(newest.items(), key=lambda item: (item[1], item[0][1])):
        found[node].append(collection)
    return found


def gather(table: pa.Table, options: Options | None = None) -> tuple[Cluster, Identifier]:
    """The Cluster and the Identifier from the rows of EVENTS that belong to no partition (CLUSTER_EVENTS and 'source')."""
    options = options or Options()
    told = table.filter(pc.equal(table["event"], "source"))
    sources = _sources(told.select(["source", "collected"]).to_pylist())
    identity = identify(_clues(table, sources))
    for s in sources:
        owner = identity.owners[s.path]
        s.node, s.collection = owner.node, owner.collection
    clocks = _clocks(sources, options)
    topics = table.filter(pc.and_(pc.is_in(table["event"], pa.array(["metadata-topic", "topic-created"])), pc.is_valid(table["topic_id"])))
    identifier = Identifier(
        nodes={s.path: s.node for s in sources},
        collections={s.path: s.collection for s in sources},
        offsets_ms={s.path: clocks.get(s.node, Clock()).offset_ms for s in sources},
        topics={r["topic_id"]: r["topic"] for r in topics.select(["topic_id", "topic"]).to_pylist()},
        root=_root(sources),
    )
    events = [e for batch in table.to_batches() for e in rows(identifier.apply(batch)) if e.event != "source"]
    cluster = Cluster(sources=sources, conflicts=identity.conflicts, topic_ids=dict(identifier.topics))
    _fill(cluster, events, clocks)
    for s in sources:
        shift = timedelta(milliseconds=identifier.offsets_ms[s.path])
        s.first = s.first - shift if s.first is not None else None
        s.last = s.last - shift if s.last is not None else None
        s.path = identifier.shown(s.path)
    return cluster, identifier


def _fill(cluster: Cluster, events: list[Event], clocks: Mapping[int | None, Clock]) -> None:
    streams: dict[int, list[Event]] = defaultdict(list)
    for e in sorted(events, key=lambda e: (e.at or datetime.min, e.source, e.line or 0, e.byte or 0)):
        cluster.events.append(e)
        if e.writer is not None:
            streams[e.writer].append(e)
    cluster.events = _without_twins(cluster.events)
    ordered = _order_collections(cluster.sources)
    for node in sorted({s.node for s in cluster.sources if s.node is not None} | set(streams)):
        own = _without_twins(streams.get(node, []))
        known = Node(node, clock=clocks.get(node, Clock()), collections=ordered.get(node, []))
        known.version = next((e.value for e in reversed(own) if e.event == "kafka-version" and e.value), None)
        known.lives = lives(node, own)
        known.broker = any(e.event in BROKER_EVENTS for e in own) or not _controller_only(own)
        cluster.nodes[node] = known
    _settings(cluster)
    cluster.recreated = recreated_topics(cluster.events)
    cluster.mode = _mode(cluster)


def _without_twins(events: Iterable[Event]) -> list[Event]:
    """An earlier collection of a broker holds the beginning of the same logs; each line counts once."""
    seen: dict[tuple[str, datetime | None, int | None], str | None] = {}
    kept = []
    for e in events:
        if e.line is not None and e.text:
            key = (e.text, e.at, e.writer)
            if seen.setdefault(key, e.collection) != e.collection:
                continue
        kept.append(e)
    return kept


def _controller_only(events: Iterable[Event]) -> bool:
    roles = {_roles(e.value) for e in events if e.event == "config" and e.key == "process.roles"}
    return roles == {"controller"}


def _roles(value: str | None) -> str:
    """process.roles as server.properties has it; the dump of a broker's settings prints a list, '[]' in ZooKeeper mode."""
    return (value or "").strip("[] ")


def _settings(cluster: Cluster) -> None:
    for e in cluster.of("config", "metadata-config"):
        if e.key is None or e.value is None:
            continue
        if e.topic is not None:
            cluster.topic_settings.setdefault(e.topic, {})[e.key] = e.value
        elif e.event == "config" and e.writer is not None:
            cluster.broker_settings.setdefault(e.writer, {})[e.key] = e.value


_KRAFT = frozenset({"metadata-segment", "metadata-snapshot", "quorum-state"})


def _mode(cluster: Cluster) -> str:
    if any(s.kind in _KRAFT for s in cluster.sources) or any(_roles(s.get("process.roles")) for s in cluster.broker_settings.values()):
        return "kraft"
    if any("zookeeper.connect" in s for s in cluster.broker_settings.values()):
        return "zookeeper"
    for e in cluster.events:
        if e.event == "controller-elected":
            return "kraft" if "QuorumController" in (e.text or "") or e.event.startswith("metadata") else "zookeeper"
        if e.event in ("broker-state", "metadata-broker"):
            return "kraft"
    return "unknown"
