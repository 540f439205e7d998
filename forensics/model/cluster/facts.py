"""Facts about the cluster as a whole: nodes, settings and topics.

Here: the facts that every partition's timeline needs from outside the partition, from events that belong to no partition. These events are
few (restarts, controller elections, settings) and fit on the driver. Not here: the collected files (sources), broker runs (availability),
partitions, or any verdict.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import wraps
from operator import attrgetter
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

from forensics.model.clock.clocks import Clock
from forensics.model.clock.copies import NONE, Copies
from forensics.model.clock.identity import Conflict
from forensics.model.clock.sources import Archive, ExcludedFiles, Source
from forensics.model.events import Event
from forensics.model.presence.availability import Availability, BrokerRun, availabilities
from forensics.model.record import Int32, Record
from forensics.model.settings.settings import LOG_DIRECTORIES, Settings
from forensics.model.times import grouped
from parsers.cached import cached_property
from parsers.kinds import OF_DELETION, By, Role, of
from parsers.sniff import NOT_EVIDENCE

_DESCRIBING = of(role=Role.TOPIC_MADE | Role.SETTING | Role.DESCRIPTION)
_WITHOUT_SETTINGS = frozenset({"controller-topics-changed", "topic-assignment-written"})
"""Patterns of lines about a new topic that do not show its settings: a ZooKeeper controller does not know them."""
_NUMBER = attrgetter("number")
P = ParamSpec("P")
T = TypeVar("T")

_OF_ONE_TASK = frozenset({"log-cleaner-log", "request-log", "authorizer-log", "gc-log"})
"""Kinds of logs with the lines of one task of a broker: a restart of the process between two of them would not show."""
_FOR_CONTROLLER = re.compile(r"\[RaftManager |-to-controller-|(?:NodeTo|BrokerTo)ControllerChannelManager ")
"""Lines of clients that ask for a controller. Other clients in the same log ask for any broker."""
OF_BROKERS = of(role=Role.BEGINS | Role.UP | Role.ENDS) - of(by=By.CONTROLLER)
"""Lines that only the process of a broker prints."""
OF_METADATA = frozenset({"metadata-segment", "metadata-snapshot"})
"""Kinds of sources that hold the metadata log."""


def asked_for_controller(failed: Event) -> bool:
    """Whether the client of a failed connection asked for a controller."""
    return _FOR_CONTROLLER.search(failed.text or "") is not None


@dataclass
class Node:
    id: int
    clock: Clock = field(default_factory=Clock)
    version: str | None = None
    runs: list[BrokerRun] = field(default_factory=list)
    collections: list[str] = field(default_factory=list)
    """Oldest first; more than one if the same broker was collected again."""
    broker: bool = True
    """False for a KRaft node that is only a controller."""


@dataclass(frozen=True, slots=True)
class Measure(Record):
    """One metric of one broker from a file of load metrics: the mean of its values."""

    broker: Annotated[Int32, "broker"]
    metric: Annotated[str, "column of the CSV of load metrics"]
    mean: Annotated[float, "mean of its values"]
    count: Annotated[int, "number of values"]
    source: Annotated[str, "file of the first value"]
    line: Annotated[int | None, "line of the first value"]
    byte: Annotated[int | None, "byte offset of the first value"]
    text: Annotated[str | None, "text of the first value"]


@dataclass(frozen=True, slots=True)
class ClusterJoin:
    """A node joined a cluster."""

    node: int
    at: datetime
    how: str
    """As in forensics.model.clock.cluster_history.Span."""
    before: int | None
    """Number of the node's previous cluster."""
    again: bool
    """The node had been in this cluster before its previous one."""
    evidence: tuple[Event, ...]


@dataclass
class Cluster:
    number: int = 0
    """0: the last cluster on these brokers; -1: the one before it, and so on."""
    id: str | None = None
    """Cluster id, if known."""
    sources: list[Source] = field(default_factory=list)
    archives: Sequence[Archive] = ()
    """The archives that contained the sources."""
    ignored: Sequence[Archive] = ()
    """Files that were not read, by their full paths: files of file managers, and entries of archives that a later one replaces."""
    excluded: Sequence[ExcludedFiles] = ()
    """Files in the same call that were set aside."""
    conflicts: list[Conflict] = field(default_factory=list)
    mode: str = "unknown"
    """'kraft', 'zookeeper' or 'unknown'."""
    nodes: dict[int, Node] = field(default_factory=dict)
    begun: tuple[ClusterJoin, ...] = ()
    """When the brokers joined this cluster, in order of time; empty if the evidence contains only one cluster."""
    whole: Sequence[Cluster] = field(default=(), repr=False, compare=False)
    """All clusters of the collection, oldest first; empty if this one was created alone. All clusters share one list object, which
    pickle stores once: a tuple would make pickle recurse once per cluster."""
    events: list[Event] = field(default_factory=list)
    """Events that belong to no single partition, in order of time."""
    settings: Settings = field(default_factory=Settings)
    """Settings and their changes over time."""
    recreated: dict[str, list[datetime | None]] = field(default_factory=dict)
    """Topics with a deletion in the evidence, with the times of deletion."""
    copies: Copies = NONE
    """Sources that may repeat lines of others."""
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """Names of topics by their ids."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Names of topics by the names that replace them in logs."""

    measures: Sequence[Measure] = ()
    """Load of brokers as the user measured it."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weight of a load metric, if the user set one; otherwise 1."""

    def __getstate__(self) -> dict[str, Any]:
        """The fields without cached values: each task computes those it needs."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @cached_property
    def cache(self) -> dict[Any, Any]:
        """Cached values; see `cached_on_cluster`."""
        return {}

    @property
    def usable(self) -> bool:
        """Whether any Kafka file was collected."""
        nothing_said = all(e.event == "problem" for e in self.events)
        return any(s.kind not in NOT_EVIDENCE and not (s.of_other_process and nothing_said) for s in self.sources)

    @property
    def not_judged(self) -> list[ExcludedFiles]:
        """Other clusters whose files were in the same call, and were set aside."""
        return [other for other in self.excluded if other.why == "cluster"]

    def of(self, *kinds: str, topic: str | None = None) -> list[Event]:
        """Events of these kinds in order of time; of one topic if `topic` is given."""
        known = self._by_kind if topic is None else self._by_topic.get(topic, {})
        found = [numbered for kind in dict.fromkeys(kinds) for numbered in known.get(kind, ())]
        return [self.events[n] for n in (found if len(kinds) == 1 else sorted(found))]

    def between(self, kind: str, since: datetime, until: datetime) -> list[Event]:
        """Events of a kind in a time span."""
        known = self._by_kind.get(kind, ())
        times = self._times.get(kind, ())
        return [self.events[n] for n in known[bisect_left(times, since) : bisect_right(times, until)]]

    @cached_property
    def _times(self) -> Mapping[str, Sequence[datetime]]:
        """The times of the events of each kind."""
        return {kind: [self.events[n].at or datetime.min for n in own] for kind, own in self._by_kind.items()}

    @cached_property
    def _by_kind(self) -> Mapping[str, Sequence[int]]:
        found = grouped((e.event, n) for n, e in enumerate(self.events))
        return dict(found)

    @cached_property
    def _by_topic(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for n, e in enumerate(self.events):
            if e.topic is not None:
                found[e.topic][e.event].append(n)
        return dict(found)

    @property
    def redacted(self) -> bool:
        """Whether names in the evidence were replaced before the evidence was provided."""
        return any(s.kind == "redaction" for s in self.sources)

    @cached_property
    def ended(self) -> tuple[Cluster, ...]:
        """Earlier clusters on these brokers, oldest first. They share no data with this one."""
        return tuple(self.whole[: bisect_left(self.whole, self.number, key=_NUMBER)])

    @cached_property
    def later(self) -> tuple[Cluster, ...]:
        """Later clusters on these brokers, oldest first."""
        return tuple(self.whole[bisect_right(self.whole, self.number, key=_NUMBER) :])

    @property
    def clusters_until_now(self) -> tuple[Cluster, ...]:
        """The earlier clusters, oldest first, and this one."""
        return (*self.ended, self)

    @cached_property
    def by_number(self) -> Mapping[int, Cluster]:
        """The clusters of `clusters_until_now` by number."""
        return {c.number: c for c in self.clusters_until_now}

    @cached_property
    def named(self) -> frozenset[int]:
        """The nodes that a line of the time of this cluster names; all if no line names any. `nodes` has those of all clusters in the evidence,
        and those that only a meta.properties names, which may be a copy from elsewhere."""
        lines = (e for e in self.events if e.at is not None and e.line is not None and e.event != "log-directory-identity")
        found = frozenset(n for e in lines for n in (e.writer, e.node, e.broker, *(e.brokers or ())) if n is not None)
        return found or frozenset(self.nodes)

    def next_of(self, node: int, at: datetime | None, *kinds: str) -> Event | None:
        """The node's first event of these kinds after `at`, in this cluster or a later one."""
        if at is None:
            return None
        events = (e for c in (self, *self.later) for e in c.of(*kinds))
        return next((e for e in events if e.writer == node and e.at is not None and e.at > at), None)

    @cached_property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        """By path, the parts of the logs whose lines are not in the order in which they were written (Source.parts)."""
        return {s.path: s.parts for s in self.sources if s.parts is not None}

    @cached_property
    def steps_back(self) -> Mapping[str, Sequence[tuple[int, datetime]]]:
        """By path, where the clock of a log was set back: the line, and the time of the line before."""
        return {s.path: [(line, before) for line, before, _ in s.steps_back] for s in self.sources if s.clock_set_back}

    @property
    def collected(self) -> set[int]:
        """The nodes with collected sources."""
        return set(self._sources)

    def sources_of(self, node: int) -> Sequence[Source]:
        """The node's collected sources."""
        return self._sources.get(node, ())

    @cached_property
    def _sources(self) -> Mapping[int, Sequence[Source]]:
        found = grouped((node, s) for s in self.sources for node in dict.fromkeys(s.nodes))
        return dict(found)

    @cached_property
    def _telling(self) -> Mapping[int, Sequence[Source]]:
        """By node, its sources without those of one task."""
        return {node: [s for s in own if s.kind not in _OF_ONE_TASK] for node, own in self._sources.items()}

    @cached_property
    def holds_metadata(self) -> bool:
        """Whether the metadata log or a part of it was collected."""
        return any(s.kind in OF_METADATA for s in self.sources)

    def last_line(self, node: int) -> datetime | None:
        """Time of the last line in any of the node's logs that would show a restart before it."""
        return max(self._last_lines.get(node, ()), default=None)

    def last_own_line(self, node: int) -> datetime | None:
        """Time of the last line that is known to be the node's own."""
        return max(self._last_own_lines.get(node, ()), default=None)

    @cached_property
    def _last_lines(self) -> Mapping[int, Sequence[datetime]]:
        """By node, the times of the last line in each of its logs, ascending."""
        return {node: sorted(s.last for s in own if s.last is not None) for node, own in self._telling.items()}

    @cached_property
    def _last_own_lines(self) -> Mapping[int, Sequence[datetime]]:
        """By node, the times of the last line in each of its logs that is its own, ascending. In a log of several brokers, only events show
        who wrote a line."""
        found: dict[int, list[datetime]] = {}
        for node, own in self._telling.items():
            alone = (s.last_own or s.last for s in own if not s.shared)
            runs = self.nodes[node].runs if node in self.nodes and any(s.shared for s in own) else ()
            said = (run.last_seen.at for run in runs if run.last_seen is not None)
            found[node] = sorted(at for at in (*alone, *said) if at is not None)
        return found

    @cached_property
    def last_written(self) -> Mapping[int, Sequence[datetime]]:
        """By node, when it wrote its last record to the metadata log in each epoch in which it led the quorum, ascending."""
        led = {e.controller_epoch: e.controller for e in self.of("metadata-leader")}
        found = ((led.get(e.controller_epoch), e.at) for e in self.of("metadata-written") if e.at is not None)
        return {node: sorted(set(own)) for node, own in grouped(found).items() if node is not None}

    @cached_property
    def _presences(self) -> Mapping[int, Availability]:
        runs = {node.id: node.runs for node in self.nodes.values()}
        last = {n: sorted((*self._last_own_lines.get(n, ()), *self.last_written.get(n, ()))) for n in runs}
        return availabilities(self.events, runs, last)

    @cached_property
    def controllers(self) -> frozenset[int]:
        """The nodes that are only controllers, and those without lines that others asked as controllers."""
        asked = {e.broker for e in self.of("connection-failed") if e.broker is not None and asked_for_controller(e)}
        brokers = {e.broker for e in self.of("broker-registered", "metadata-broker")}
        return frozenset((*(n.id for n in self.nodes.values() if not n.broker), *(asked - self.nodes.keys() - brokers)))

    def availability(self, broker: int) -> Availability:
        return self._presences.get(broker) or Availability(broker, (), {}, ())

    @cached_property
    def until(self) -> datetime | None:
        """End of the evidence: the last line of any log, else (and for an earlier cluster) the last event without a partition."""
        lines = (s.last for s in self.sources if s.last is not None and not self.number)
        return max(lines, default=max((e.at for e in self.events if e.at is not None), default=None))

    @cached_property
    def configured(self) -> tuple[Sequence[int], Sequence[int]]:
        """The nodes whose settings are known: controller-only nodes, and the others."""
        known = self.settings.brokers()
        controllers = {n for n in known if n in self.nodes and not self.nodes[n].broker}
        return sorted(controllers), [n for n in known if n not in controllers]

    @cached_property
    def version_lines(self) -> Mapping[int | None, Sequence[Event]]:
        """The lines of each node with its Kafka version, in order of time."""
        found = grouped((e.writer, e) for e in self.of("kafka-version") if e.value)
        return dict(found)

    @cached_property
    def version_texts(self) -> frozenset[str]:
        """All versions that nodes printed."""
        printed = (e.value for own in self.version_lines.values() for e in own if e.value)
        return frozenset((*printed, *(n.version for n in self.nodes.values() if n.version)))

    @cached_property
    def described(self) -> frozenset[str]:
        """Topics whose own settings are in the evidence, even if they have none."""
        return frozenset(e.topic for e in self.of(*_DESCRIBING) if e.topic is not None and e.pattern not in _WITHOUT_SETTINGS)

    def log_dirs(self, node: int, at: datetime | None = None) -> tuple[str, ...]:
        """The node's log directories; empty if unknown."""
        for key in LOG_DIRECTORIES if node in self.settings.brokers() else ():
            value = self.settings.value(key, broker=node, at=at)
            if value and value != "null":
                return tuple(d.strip() for d in value.strip("[]").split(",") if d.strip())
        return ()


def cached_on_cluster(compute: Callable[Concatenate[Cluster, P], T]) -> Callable[Concatenate[Cluster, P], T]:
    """Caches `compute` on the cluster per arguments. The cluster must not change any more."""

    @wraps(compute)
    def answer(cluster: Cluster, /, *of: P.args, **named: P.kwargs) -> T:
        kept: dict[Any, T] = cluster.cache
        asked = (compute, *of, *named.values()) if of or named else compute
        try:
            return kept[asked]
        except KeyError:
            found = kept[asked] = compute(cluster, *of, **named)
            return found

    return answer


def by_role(ids: Iterable[int], controllers: Collection[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The brokers, and the nodes that are only controllers."""
    ids = tuple(ids)
    return tuple(i for i in ids if i not in controllers), tuple(i for i in ids if i in controllers)


def recreated_topics(events: Iterable[Event]) -> dict[str, list[datetime | None]]:
    """Deleted topics with the times of deletion, from the controller's lines or the metadata log."""
    found = grouped((event.topic, event.at) for event in events if event.topic and event.event in OF_DELETION)
    return dict(found)
