"""What is known of the cluster as a whole: nodes, their lives, settings, topics, and what was collected.

Here: the facts every partition's timeline needs from outside it, gathered from the events that belong to no partition. They
are few (restarts, elections of controllers, settings) and fit the driver. Not here: partitions, or any verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from spark.clocks import Clock
from spark.events import Event
from spark.identity import Conflict
from spark.settings import LOG_DIRECTORIES, Settings

CLUSTER_EVENTS = frozenset(
    {
        "broker-starting",
        "controller-starting",
        "broker-started",
        "broker-signal",
        "broker-stopping",
        "broker-stopped",
        "controlled-shutdown",
        "kafka-version",
        "start-time",
        "clean-start",
        "unclean-start",
        "broker-registered",
        "broker-fenced",
        "broker-unfenced",
        "broker-state",
        "session-expired",
        "brokers-changed",
        "log-dir-offline",
        "log-file-refused",
        "fatal-error",
        "controller-elected",
        "controller-resigned",
        "controller-thread",
        "controller-refused",
        "balance-checked",
        "truncation-refused",
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
        "cluster-id-mismatch",
        "broker-id-mismatch",
        "clean-shutdown-file",
        "quorum-state",
        "config",
        "describe-topic",
        "jvm-pause",
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
    """'running', 'stopped' (orderly), 'crashed' (the next start found no orderly stop, or it halted), 'failed' (it gave up while it started)."""
    halted: Event | None = None
    """Its own last word before it halted over its disks, with no shutdown; `end` is the start that follows, if there is one."""
    stopping: Event | None = None
    controlled: Event | None = None
    last_seen: Event | None = None
    evidence: list[Event] = field(default_factory=list)

    @property
    def cluster(self) -> int | None:
        """The cluster it was of, where a line of it tells."""
        told = self.begin if self.begin is not None else self.last_seen
        return told.cluster if told is not None else None

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
    """None where nobody knows, and of a log that several brokers write to."""
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
    shared: tuple[int, ...] = ()
    """Those who write to it together."""

    layout: str | None = None
    """Conversion patterns learned from its lines, one a line."""

    @property
    def nodes(self) -> tuple[int, ...]:
        """Who wrote it."""
        return self.shared or (() if self.node is None else (self.node,))


@dataclass(frozen=True, slots=True)
class Measure:
    """What a file of load metrics says of one metric of one broker: the mean of its values."""

    broker: int
    metric: str
    mean: float
    count: int
    source: str
    line: int | None
    byte: int | None
    text: str | None
    """`source`, `line`, `byte` and `text`: the first of the values."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """A node's stay in a cluster begins."""

    node: int
    at: datetime
    how: str
    """As spark.incarnations.Span has it."""
    before: int | None
    """Number of the cluster it was in before."""
    again: bool
    """It had been in this cluster before that."""
    evidence: tuple[Event, ...]


@dataclass
class Cluster:
    number: int = 0
    """0: the cluster that stands at the end; -1 the one that ended before it on the same brokers, and so on."""
    id: str | None = None
    """Cluster id, where it is known."""
    sources: list[Source] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    mode: str = "unknown"
    """'kraft', 'zookeeper' or 'unknown'."""
    nodes: dict[int, Node] = field(default_factory=dict)
    begun: tuple[Beginning, ...] = ()
    """When the brokers came to this cluster, in order; empty where the evidence holds but one."""
    whole: tuple[Cluster, ...] = field(default=(), repr=False, compare=False)
    """All clusters of the collection, oldest first; empty where this one was made alone."""
    events: list[Event] = field(default_factory=list)
    """Events of no single partition, in time order."""
    settings: Settings = field(default_factory=Settings)
    """What was set, and since when."""
    recreated: dict[str, list[datetime | None]] = field(default_factory=dict)
    """Topics whose deletion is in evidence, with the times of it."""
    copies: frozenset[str] = frozenset()
    """Sources that may hold lines of another one: logs of one kind, one broker and the same hours."""
    topic_ids: dict[str, str] = field(default_factory=dict)

    measures: Sequence[Measure] = ()
    """Load of brokers as the user measured it."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """How much a metric of load counts, where the user said so; 1 otherwise."""

    def of(self, *kinds: str) -> list[Event]:
        return [e for e in self.events if e.event in kinds]

    @property
    def ended(self) -> tuple[Cluster, ...]:
        """Those that lived on these brokers before, oldest first: nothing of theirs is this one's."""
        return tuple(c for c in self.whole if c.number < self.number)

    @property
    def later(self) -> tuple[Cluster, ...]:
        """Those that lived on these brokers after it, oldest first."""
        return tuple(c for c in self.whole if c.number > self.number)

    @property
    def lives(self) -> tuple[Cluster, ...]:
        """All clusters of the collection, the one that stands last."""
        return (*self.ended, self)

    def next_of(self, node: int, at: datetime | None, *kinds: str) -> Event | None:
        """The node's first event of these kinds after `at`, in whatever cluster it is then."""
        if at is None:
            return None
        told = (e for c in (self, *self.later) for e in c.of(*kinds))
        return next((e for e in told if e.writer == node and e.at is not None and e.at > at), None)

    @property
    def collected(self) -> set[int]:
        """The nodes of which anything was collected."""
        return {n for s in self.sources for n in s.nodes}

    def last_line(self, node: int) -> datetime | None:
        """The time of the last line in any log of the node's."""
        return max((s.last for s in self.sources if node in s.nodes and s.last is not None), default=None)

    @cached_property
    def until(self) -> datetime | None:
        """Where the evidence ends: the last line of any log, else (and of a cluster that ended) the last event of no partition."""
        lines = (s.last for s in self.sources if s.last is not None and not self.number)
        return max(lines, default=max((e.at for e in self.events if e.at is not None), default=None))

    @cached_property
    def version_lines(self) -> Mapping[int | None, Sequence[Event]]:
        """The lines of each node that tell its Kafka version, in order of time."""
        found: dict[int | None, list[Event]] = defaultdict(list)
        for e in self.of("kafka-version"):
            if e.value:
                found[e.writer].append(e)
        return dict(found)

    @cached_property
    def described(self) -> frozenset[str]:
        """Topics whose own settings are in evidence, even if there are none."""
        kinds = ("describe-topic", "topic-created", "metadata-topic", "config", "metadata-config")
        return frozenset(e.topic for e in self.of(*kinds) if e.topic is not None)

    def setting(self, topic: str, key: str, default: str, *, node: int | None = None, at: datetime | None = None) -> str:
        """Effective value of a topic's setting: the topic's, else the broker's (any broker's when `node` is None); the last one when
        `at` is None."""
        value = self.settings.value(key, topic=topic, broker=node, at=at)
        return value if value is not None else default

    def log_dirs(self, node: int, at: datetime | None = None) -> tuple[str, ...]:
        """The node's log directories; empty where no evidence tells them."""
        for key in LOG_DIRECTORIES if node in self.settings.brokers() else ():
            value = self.settings.value(key, broker=node, at=at)
            if value and value != "null":
                return tuple(d.strip() for d in value.strip("[]").split(",") if d.strip())
        return ()


def lives(node: int, events: Iterable[Event]) -> list[Incarnation]:
    """A broker's incarnations from its own lines, in file order.

    A start with no completed stop before it is a crash (Kafka prints nothing when it is killed), unless the start itself
    found the marker of a clean shutdown: then the stop happened and only its lines are missing. One that finds the directories
    locked is no start, and its end no stop.
    """
    found: list[Incarnation] = []
    current: Incarnation | None = None
    phase = "up"
    ending: datetime | None = None
    for event in events:
        kind = event.event
        if kind == "fatal-error" and event.reason == "locked":
            current = _without_the_last(found) if found and phase != "up" else current
            phase, ending = "up", event.at + GIVING_UP if event.at is not None else None
        if kind in _ENDING and ending is not None and event.at is not None and event.at < ending:
            ending = event.at + EXITING if kind == "broker-stopped" else ending
            continue
        # KRaft brokers (3.1+) print "Transition from SHUTDOWN to STARTING" before, and their life cycle's STARTING after "Starting broker"
        starting = kind == "broker-state" and event.reason == "STARTING"
        if starting and phase not in ("up", "given up"):
            continue
        if kind == "broker-starting" and phase == "announced" and current is not None:
            phase = "starting"
            current.evidence.append(event)
        elif kind == "broker-starting" or starting or (kind == "controller-starting" and current is not None):
            # a process of both roles starts its controller before its broker: what stands between is the new life's
            phase = "starting" if kind == "broker-starting" else "announced"
            if current is not None and (current.halted is not None or (current.outcome == "running" and _alive(current))):
                current.outcome, current.end = "crashed", event
                current.evidence.append(event)
            current = Incarnation(node, begin=event, evidence=[event])
            found.append(current)
        elif kind in ("broker-started", "broker-stopping", "broker-stopped", "controlled-shutdown", "broker-signal", "broker-state"):
            if current is None:
                current = Incarnation(node, begin=None)
                found.append(current)
            phase = phase if kind == "broker-state" or phase == "given up" else "up"
            if kind == "broker-stopping":
                current.stopping = current.stopping or event
                current.evidence.append(event)
            elif kind == "broker-stopped":
                current.outcome, current.end = "failed" if phase == "given up" else "stopped", event
                current.evidence.append(event)
            elif kind == "controlled-shutdown":
                current.controlled = event if event.reason != "retry" else current.controlled or event
                current.evidence.append(event)
        elif kind == "fatal-error" and event.reason in _HALTING:
            if current is None:
                current = Incarnation(node, begin=None)
                found.append(current)
            current.outcome, current.end, current.halted, current.last_seen = "crashed", event, event, event
            current.evidence.append(event)
        elif kind in ("clean-start", "unclean-start") and current is not None:
            _settle_by_marker(found, current, event)
        elif kind == "fatal-error" and phase in ("starting", "announced"):
            phase = "given up"
        if current is not None and current.outcome == "running" and _spoken(event):
            current.last_seen = event
    return found


_HALTING = frozenset({"log-dir", "disk"})
"""Kafka calls Runtime.halt over them: no shutdown hook runs, nothing more is printed."""


GIVING_UP = timedelta(minutes=1)
"""A process that could not start has ended after so much."""
EXITING = timedelta(seconds=1)
"""Once it has stopped, its shutdown hook says again that it shuts down."""
_ENDING = frozenset({"broker-stopping", "broker-stopped", "controlled-shutdown", "broker-signal", "broker-state"})


def _without_the_last(found: list[Incarnation]) -> Incarnation | None:
    """A process that finds the log directories locked is none but a second one: the one before it goes on."""
    second = found.pop()
    first = found[-1] if found else None
    if first is not None and first.end is not None and first.end is second.begin:
        first.outcome, first.end = "running", None
        first.evidence.remove(second.begin)
    return first


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
