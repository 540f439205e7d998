"""What is known of the cluster as a whole: nodes, their lives, settings, topics, and what was collected.

Here: the facts every partition's timeline needs from outside it, gathered from the events that belong to no partition. They
are few (restarts, elections of controllers, settings) and fit the driver. Not here: partitions, or any verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from spark.clocks import Clock
from spark.events import Event
from spark.identity import Conflict

CLUSTER_EVENTS = frozenset(
    {
        "broker-starting",
        "broker-started",
        "broker-signal",
        "broker-stopping",
        "broker-stopped",
        "controlled-shutdown",
        "kafka-version",
        "clean-start",
        "unclean-start",
        "broker-registered",
        "broker-fenced",
        "broker-unfenced",
        "broker-state",
        "session-expired",
        "brokers-changed",
        "log-dir-offline",
        "fatal-error",
        "controller-elected",
        "controller-resigned",
        "shutdown-seen",
        "topic-created",
        "topic-deletion",
        "topic-deleted",
        "metadata-topic",
        "metadata-topic-removed",
        "metadata-config",
        "metadata-broker",
        "metadata-broker-change",
        "metadata-feature",
        "metadata-leader",
        "log-directory-identity",
        "clean-shutdown-file",
        "quorum-state",
        "config",
        "describe-topic",
        "problem",
    }
)
"""Kinds that are gathered; the others belong to partitions."""


@dataclass
class Incarnation:
    """One life of a broker process, from its first line to its last."""

    node: int
    begin: Event | None
    """First event of this life; None when the log begins in the middle of it."""
    end: Event | None = None
    """The event that closed it: the end of an orderly stop, or the start that follows a crash."""
    outcome: str = "running"
    """'running', 'stopped' (orderly), 'crashed' (the next start found no orderly stop)."""
    stopping: Event | None = None
    controlled: Event | None = None
    last_seen: Event | None = None
    evidence: list[Event] = field(default_factory=list)

    @property
    def begin_at(self) -> datetime | None:
        return self.begin.at if self.begin else None

    @property
    def end_at(self) -> datetime | None:
        return self.end.at if self.end else None


@dataclass
class Node:
    id: int
    clock: Clock = field(default_factory=Clock)
    version: str | None = None
    lives: list[Incarnation] = field(default_factory=list)
    collections: list[str] = field(default_factory=list)
    """Oldest first; more than one when the same broker was collected again."""
    broker: bool = True
    """False for a KRaft node that is only a controller."""


@dataclass
class Source:
    """A row of the report's list of sources."""

    path: str
    kind: str
    node: int | None
    collection: str
    bytes: int | None
    sha256: str | None
    modified: datetime | None
    lines: int | None
    unrecognised: int | None
    samples: Sequence[str]
    first: datetime | None
    last: datetime | None
    problem: str | None


@dataclass
class Cluster:
    mode: str = "unknown"
    """'kraft', 'zookeeper' or 'unknown'."""
    nodes: dict[int, Node] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    """Events of no single partition, in time order."""
    broker_settings: dict[int, dict[str, str]] = field(default_factory=dict)
    topic_settings: dict[str, dict[str, str]] = field(default_factory=dict)
    recreated: dict[str, list[datetime | None]] = field(default_factory=dict)
    """Topics whose deletion is in evidence, with the times of it."""
    topic_ids: dict[str, str] = field(default_factory=dict)

    def of(self, *kinds: str) -> list[Event]:
        return [e for e in self.events if e.event in kinds]

    def setting(self, topic: str, key: str, default: str, *, node: int | None = None) -> str:
        """Effective value of a topic setting: the topic's, else the broker's (any broker's when `node` is None)."""
        if (value := self.topic_settings.get(topic, {}).get(key)) is not None:
            return value
        brokers = [self.broker_settings[node]] if node in self.broker_settings else self.broker_settings.values()
        return next((s[key] for s in brokers if key in s), default)

    def min_isr(self, topic: str) -> int:
        """Effective min.insync.replicas, Kafka's default 1."""
        value = self.setting(topic, "min.insync.replicas", "1")
        return int(value) if value.isdigit() else 1

    def lag_time_ms(self) -> int:
        """replica.lag.time.max.ms: 30 s since 2.5 (KIP-537), where no broker says otherwise."""
        values = [s["replica.lag.time.max.ms"] for s in self.broker_settings.values() if "replica.lag.time.max.ms" in s]
        return max((int(v) for v in values if v.isdigit()), default=30_000)


def lives(node: int, events: Iterable[Event]) -> list[Incarnation]:
    """A broker's incarnations from its own lines, in file order.

    A start with no completed stop before it is a crash (Kafka prints nothing when it is killed), unless the start itself
    found the marker of a clean shutdown: then the stop happened and only its lines are missing.
    """
    found: list[Incarnation] = []
    current: Incarnation | None = None
    phase = "up"
    for event in events:
        kind = event.event
        # KRaft brokers (3.1+) print "Transition from SHUTDOWN to STARTING" before, and their life cycle's STARTING after "Starting broker"
        starting = kind == "broker-state" and event.reason == "STARTING"
        if starting and phase != "up":
            continue
        if kind == "broker-starting" and phase == "announced" and current is not None:
            phase = "starting"
            current.evidence.append(event)
        elif kind == "broker-starting" or starting:
            phase = "announced" if starting else "starting"
            if current is not None and current.outcome == "running" and _alive(current):
                current.outcome, current.end = "crashed", event
                current.evidence.append(event)
            current = Incarnation(node, begin=event, evidence=[event])
            found.append(current)
        elif kind in ("broker-started", "broker-stopping", "broker-stopped", "controlled-shutdown", "broker-signal", "broker-state"):
            if current is None:
                current = Incarnation(node, begin=None)
                found.append(current)
            phase = "up" if kind != "broker-state" else phase
            if kind == "broker-stopping":
                current.stopping = current.stopping or event
                current.evidence.append(event)
            elif kind == "broker-stopped":
                current.outcome, current.end = "stopped", event
                current.evidence.append(event)
            elif kind == "controlled-shutdown":
                current.controlled = event if event.reason != "retry" else current.controlled or event
                current.evidence.append(event)
        elif kind in ("clean-start", "unclean-start") and current is not None:
            _settle_by_marker(found, current, event)
        if current is not None and current.outcome == "running" and _spoken(event):
            current.last_seen = event
    return found


_OF_FILES = frozenset({"config", "log-directory-identity", "quorum-state", "clean-shutdown-file", "problem"})


def _spoken(event: Event) -> bool:
    """A line the process printed itself. Its copy of the metadata log holds the controller's words, some fetched after its return."""
    return event.line is not None and event.event not in _OF_FILES and not event.event.startswith("metadata-")


def _alive(life: Incarnation) -> bool:
    return life.begin is not None or life.last_seen is not None


def _settle_by_marker(found: list[Incarnation], current: Incarnation, marker: Event) -> None:
    current.evidence.append(marker)
    before = found[-2] if len(found) > 1 else None
    if marker.event == "clean-start" and before is not None and before.outcome == "crashed":
        before.outcome, before.end = "stopped", marker
    elif before is not None and before.outcome == "crashed" and marker.event == "unclean-start":
        before.evidence.append(marker)


def recreated_topics(events: Iterable[Event]) -> dict[str, list[datetime | None]]:
    """Topics that were deleted, by the controller's lines or the metadata log."""
    found: dict[str, list[datetime | None]] = defaultdict(list)
    for event in events:
        if event.topic and event.event in ("topic-deletion", "topic-deleted", "metadata-topic-removed"):
            found[event.topic].append(event.at)
    return dict(found)
