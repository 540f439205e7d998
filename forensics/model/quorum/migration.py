"""The migration of a cluster from ZooKeeper to KRaft (KIP-866): its phases, with their times and nodes.

Here: what controllers, brokers and the metadata log state about it. Not here: findings, or what the metadata contain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.times import contains, undated_last
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
        return at is not None and self.start is not None and contains(self, at)


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
