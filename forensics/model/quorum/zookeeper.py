"""ZooKeeper as the evidence shows it: spans in which no broker had a connection to it (it was down, had no quorum, or could not be reached), and
the migration of a cluster from it to KRaft (KIP-866), with the times and nodes of each phase.

Here: what the ZooKeeper clients of the brokers state, and what controllers, brokers and the metadata log state about the migration. Not
here: findings, the session of one broker (broker_fenced), or a metadata quorum (forensics.model.quorum.quorum).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event, lasting
from forensics.model.times import contains, grouped, undated_last
from forensics.thresholds import NO_QUORUM
from parsers.kinds import named

MIGRATION, POST_MIGRATION = "MIGRATION", "POST_MIGRATION"
"""States that the quorum keeps (ZkMigrationState)."""
DUAL_WRITE = "DUAL_WRITE"
"""State of the driver in which it writes all changes to ZooKeeper as well (MigrationDriverState)."""
_STATED = named("metadata-migration", "migration-state")


@dataclass(frozen=True, slots=True)
class Migration:
    """A migration; events are None, or missing, if the evidence does not show the phase."""

    controllers: Mapping[int, Event]
    """Controllers that started in migration mode, by their first such start."""
    waiting: tuple[Event, ...]
    """What the driver waited for before it copied the metadata."""
    brokers: Mapping[int, Event]
    """Brokers that started in migration mode, by their first such start."""
    copying: Event | None
    copied: Event | None
    """All metadata are in the quorum: its leader is the controller from then on."""
    dual_write: Event | None
    kraft: Mapping[int, Event]
    """Brokers that had been in ZooKeeper mode, by their first start as KRaft brokers."""
    zookeeper: tuple[int, ...]
    """Brokers that are still in ZooKeeper mode at the end of the evidence."""
    finished: Event | None
    """The quorum left the migration: nothing is written to ZooKeeper any more."""
    end: datetime | None
    """When it was finished, and the controllers that were still in migration mode had been restarted without it."""
    failed: tuple[Event, ...] = field(default=())
    """Refusals, and copies that were aborted."""

    @property
    def events(self) -> list[Event]:
        """The events of all phases, in order of time."""
        several = (*self.controllers.values(), *self.waiting[:1], *self.brokers.values(), *self.kraft.values(), *self.failed)
        single = (e for e in (self.copying, self.copied, self.dual_write, self.finished) if e is not None)
        return sorted((e for e in (*several, *single) if e.at is not None), key=undated_last)

    @property
    def start(self) -> datetime | None:
        return self.events[0].at if self.events else None

    @property
    def control(self) -> Event | None:
        """When the quorum became the controller of the cluster."""
        return self.copied or self.dual_write

    def covers(self, at: datetime | None) -> bool:
        return self.start is not None and contains(self, at)


@cached_on_cluster
def migration(cluster: Cluster) -> Migration | None:
    """The migration in the evidence, if a node took part in it. A state that a controller repeats from its log after a restart, or that a
    snapshot keeps, is of an earlier one."""
    steps = cluster.of("migration-step")
    controllers, brokers = _first(e for e in steps if e.reason == "enabled"), _migrating(cluster)
    states = _states(cluster)
    driven = [e for e in steps if e.reason != "enabled"]
    if not (controllers or brokers or driven or any(e.event == "metadata-migration" for e in states.values())):
        return None
    dual = next((e for e in driven if e.reason == DUAL_WRITE), None)
    kraft = dict(_turned(cluster, brokers))
    finished = states.get(POST_MIGRATION)
    return Migration(
        controllers=controllers,
        waiting=tuple(e for e in driven if e.reason == "waiting"),
        brokers=brokers,
        copying=next((e for e in driven if e.reason == "copying"), None),
        copied=next((e for e in driven if e.reason == "copied"), states.get(MIGRATION)),
        dual_write=dual,
        kraft=kraft,
        zookeeper=tuple(n for n in _in_zookeeper_mode(cluster) if n not in kraft),
        finished=finished,
        end=_end(cluster, finished.at, controllers) if finished is not None and finished.at is not None else None,
        failed=tuple(e for e in driven if e.reason in ("aborted", "refused")),
    )


def _first(events: Iterable[Event]) -> dict[int, Event]:
    found: dict[int, Event] = {}
    for e in events:
        if e.writer is not None and e.at is not None:
            found.setdefault(e.writer, e)
    return found


def _migrating(cluster: Cluster) -> dict[int, Event]:
    """Brokers that started in migration mode: by their own line, or as the metadata log registers them."""
    found = _first(cluster.of("broker-migrating"))
    for e in cluster.of("metadata-broker"):
        if e.key == "zookeeper" and e.reason != "snapshot" and e.broker is not None and e.at is not None:
            known = found.get(e.broker)
            if known is None or (known.at is not None and e.at < known.at):
                found[e.broker] = known or e
    return found


def _states(cluster: Cluster) -> dict[str, Event]:
    """The first statement of each state, from the records if they were collected, as those have the time of the change."""
    found: dict[str, Event] = {}
    stated = [e for e in cluster.of(*_STATED) if e.at is not None and e.value and e.reason != "snapshot"]
    for e in sorted(stated, key=lambda e: (e.event != "metadata-migration", undated_last(e))):
        assert e.value is not None
        found.setdefault(e.value, e)
    return found


def _end(cluster: Cluster, finished: datetime, controllers: Iterable[int]) -> datetime:
    restarts = (cluster.availability(node).begun(finished, datetime.max)[:1] for node in controllers)
    return max((finished, *(at for first in restarts for at in first)))


def _starts(cluster: Cluster) -> list[tuple[int, Event, bool]]:
    """Starts of brokers, in order of time: node, event, and whether it is in ZooKeeper mode. A registration in the metadata log counts as
    a start, too: the broker's own log may be missing."""
    found: dict[tuple[int, bool], list[tuple[int, Event, bool]]] = {}
    for e in cluster.of("broker-starting", "metadata-broker"):
        own = e.event == "broker-starting"
        node, zookeeper = (e.writer, e.mode == "zookeeper") if own else (e.broker, e.key == "zookeeper")
        if node is not None and e.at is not None and e.reason != "snapshot":
            found.setdefault((node, own), []).append((node, e, zookeeper))
    printed = {node for node, own in found if own}
    starts = (start for (node, own), starts in found.items() if own or node not in printed for start in starts)
    return sorted(starts, key=lambda start: undated_last(start[1]))


def _turned(cluster: Cluster, brokers: Mapping[int, Event]) -> Iterator[tuple[int, Event]]:
    """The first start of each broker as a KRaft broker, after one in ZooKeeper mode."""
    before: set[int] = set()
    done: set[int] = set()
    for node, e, zookeeper in _starts(cluster):
        migrated = node in brokers and undated_last(e) > undated_last(brokers[node])
        if zookeeper:
            before.add(node)
        elif (node in before or migrated) and node not in done:
            done.add(node)
            yield node, e


def _in_zookeeper_mode(cluster: Cluster) -> Sequence[int]:
    """Brokers whose last start was in ZooKeeper mode."""
    last = {node: zookeeper for node, _, zookeeper in _starts(cluster)}
    return sorted(node for node, zookeeper in last.items() if zookeeper)


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
    found = grouped(
        (e.writer, (e.at + (lasting(e) if e.event == "zookeeper-silent" else timedelta(0)), e))
        for e in cluster.of("zookeeper-silent", "zookeeper-disconnected", "zookeeper-connected")
        if e.at is not None and e.writer in cluster.collected
    )
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
