"""Spans in which no broker had a connection to ZooKeeper: it was down, had no quorum, or could not be reached.

Here: what the ZooKeeper clients of the brokers state. Not here: the session of one broker (broker_fenced), or a metadata quorum
(forensics.model.quorum.quorum).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event, lasting
from forensics.model.quorum.migration import migration
from forensics.thresholds import NO_QUORUM


@dataclass(frozen=True, slots=True)
class NoZooKeeper:
    """A span in which all running brokers whose logs were collected were without a connection to ZooKeeper."""

    latest: datetime
    """When the last of them lost it."""
    end: datetime | None
    """When the first of them had one again; None: no line states it."""
    known_until: datetime
    """The last time at which the evidence shows it."""
    brokers: tuple[int, ...]
    evidence: tuple[Event, ...]

    @property
    def lasted(self) -> timedelta:
        return self.known_until - self.latest


@dataclass(frozen=True, slots=True)
class _ConnectionChange:
    """From `at` on the broker is connected, or is not; `event` None: its process ended."""

    at: datetime
    broker: int
    connected: bool
    event: Event | None


@dataclass(slots=True)
class _Span:
    begin: datetime
    lost: dict[int, Event]
    """Brokers with the statement that each lost its connection."""


@cached_on_cluster
def without_zookeeper(cluster: Cluster) -> Sequence[NoZooKeeper]:
    """The spans by time, without short ones, as when a server restarts, and those after a metadata quorum had taken over."""
    moved = migration(cluster)
    control = moved.control.at if moved is not None and moved.control is not None else None
    return [w for w in _spans(cluster) if w.lasted >= NO_QUORUM and (control is None or w.latest < control)]


def _changes(cluster: Cluster) -> Iterator[_ConnectionChange]:
    """Each time at which a broker states whether it is connected, or its process ended."""
    for broker, own in _stated(cluster).items():
        yield from (_ConnectionChange(at, broker, e.event == "zookeeper-connected", e) for at, e in own)
        ended = (a.since for a in cluster.availability(broker).outages)
        yield from (_ConnectionChange(at, broker, connected=False, event=None) for at in ended if at is not None)


def _stated(cluster: Cluster) -> Mapping[int, Sequence[tuple[datetime, Event]]]:
    """By broker, its statements with their times. A silent connection is closed at the end of the silence. Without any statement about a
    new connection, which is below level WARN, a lost one may have lasted a moment only."""
    found: dict[int, list[tuple[datetime, Event]]] = defaultdict(list)
    for e in cluster.of("zookeeper-silent", "zookeeper-disconnected", "zookeeper-connected"):
        if e.at is not None and e.writer in cluster.collected:
            found[e.writer].append((e.at + (lasting(e) if e.event == "zookeeper-silent" else timedelta(0)), e))
    states_both = {n: own for n, own in found.items() if cluster.nodes[n].broker and any(e.event == "zookeeper-connected" for _, e in own)}
    return {n: sorted(own, key=lambda stated: stated[0]) for n, own in states_both.items()}


def _spans(cluster: Cluster) -> Iterator[NoZooKeeper]:
    """A broker whose log does not say counts as connected."""
    brokers = {n.id for n in cluster.nodes.values() if n.broker and n.id in cluster.collected}
    connected, lost = set(brokers), dict[int, Event]()
    span: _Span | None = None
    for c in sorted(_changes(cluster), key=lambda c: (c.at, c.event is not None)):
        (connected.add if c.connected else connected.discard)(c.broker)
        if c.connected or c.event is None:
            lost.pop(c.broker, None)
        else:
            lost.setdefault(c.broker, c.event)
        if lost and not any(_runs(b, c.at, cluster) for b in connected):
            span = span or _Span(c.at, {})
            span.lost.update(lost)
        elif span is not None:
            yield from _ended(span, c.at, c.event if c.connected else None)
            span = None
    if span is not None:
        lines = (at for b in lost if (at := cluster.last_own_line(b)) is not None)
        yield from _ended(span, max((span.begin, *lines)), None)


def _runs(broker: int, at: datetime, cluster: Cluster) -> bool:
    """Whether it may be running: it did not start later for the first time, and is not down."""
    availability = cluster.availability(broker)
    begun = availability.unbegun or not availability.runs or bool(availability.begun(datetime.min, at))
    return begun and availability.outage(at, timedelta(0)) is None


def _ended(span: _Span, at: datetime, by: Event | None) -> Iterator[NoZooKeeper]:
    """The span that ended with the connection of a broker, or else with the last process that knew nothing of ZooKeeper. For one broker
    alone it shows nothing about ZooKeeper."""
    if len(span.lost) > 1:
        evidence = (*span.lost.values(), *((by,) if by is not None else ()))
        yield NoZooKeeper(span.begin, at if by is not None else None, at, tuple(sorted(span.lost)), evidence)
