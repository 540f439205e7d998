"""A replica that left the ISR, and what the cluster's evidence says about its broker, and about the leader that removed it, around that
time.

Here: the questions about the cluster that a judgement on an absence needs, each answered on first use. Not here: the conclusions,
and the partition's own lines (absences).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event, lasting
from forensics.model.message import Message, said
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.presence.availability import CONTROLLED, PRESUMED_CRASHED, Outage
from forensics.model.settings.effective import effective, newest, number
from forensics.model.settings.settings import BROKER, TOPIC, SettingChange
from forensics.model.settings.versions import versions
from forensics.model.times import is_later
from forensics.thresholds import CRASH_NOTICED, SHRINK_TAKES_EFFECT, STOP_NOTICED_EARLY
from parsers.cached import cached_property
from parsers.frozen import dataclass

LAG_TIME_MS = int(newest("replica.lag.time.max.ms"))
"""Used if the settings of a broker are unknown, or if versions differ."""
LAG_BY_MESSAGES_UNTIL = (0, 9)
"""Before 0.9 a replica was also out of sync when it was replica.lag.max.messages (4000) behind (KIP-16)."""
SESSION_MS = int(newest("zookeeper.session.timeout.ms"))


class IsrRemoval:
    def __init__(self, broker: int, state: State, timeline: PartitionTimeline, cluster: Cluster) -> None:
        self.broker, self.leader, self.at = broker, state.leader, state.at
        self.availability = cluster.availability(broker)
        self._timeline, self._cluster = timeline, cluster

    @cached_property
    def heard(self) -> bool:
        """Its own lines are in the evidence, and begin no later."""
        runs = self.availability.runs
        begin = runs[0].begin_at if runs else None
        return bool(runs) and not is_later(begin, self.at, STOP_NOTICED_EARLY)

    @cached_property
    def starting(self) -> bool:
        """A partition is created with the replicas whose brokers the controller knows: a broker that had only just started may be missing,
        whatever happened to it later."""
        at = self.at
        if at is None:
            return False
        stopped = (a for a in self.availability.outages if a.how == CONTROLLED and a.since is not None and a.since <= at)
        return bool(self.availability.begun(at - CRASH_NOTICED, at)) and all(a.until is not None and a.until <= at for a in stopped)

    @cached_property
    def outage(self) -> Outage | None:
        """The span in which it was stopping or gone."""
        return self.availability.outage(self.at) if self.at is not None else None

    def ended_since(self, before: datetime | None) -> Outage | None:
        """The latest end of its process between two states with a gap between them: it may have been absent since then."""
        if self.at is None:
            return None
        ended = ((a, a.event.at) for a in reversed(self.availability.outages) if a.how != PRESUMED_CRASHED and a.run is not None)
        return next((a for a, at in ended if at is not None and (before or datetime.min) < at <= self.at + STOP_NOTICED_EARLY), None)

    @cached_property
    def log_dirs(self) -> Sequence[Event]:
        """Failures of its log directories around that time: as the broker printed them, else as others did, who may know only their ids."""
        found = (
            self.availability.said("log-dir")
            if self.at is None
            else self.availability.between("log-dir", self.at - CRASH_NOTICED, self.at + CRASH_NOTICED)
        )
        return [e for e in found if e.writer == self.broker] or found

    @cached_property
    def lost(self) -> Event | None:
        """The controller noticed at that time that the broker was gone."""
        found = self.availability.fenced(self.at - SHRINK_TAKES_EFFECT, self.at + SHRINK_TAKES_EFFECT) if self.at is not None else ()
        return next(iter(found), None)

    def session_lost(self, end: datetime | None) -> Event | None:
        """It was fenced, or its session expired: reported by the controller then, or by the broker itself once it could print again."""
        if self.at is None:
            return None
        at, until = self.at, min(self.at + CRASH_NOTICED, end + STOP_NOTICED_EARLY) if end is not None else self.at + CRASH_NOTICED
        lost = self.availability.fenced(at - SHRINK_TAKES_EFFECT, at + CRASH_NOTICED)
        seen = [e for e in lost if e.writer != self.broker and e.at is not None and e.at <= at + STOP_NOTICED_EARLY]
        own = [e for e in lost if e.writer == self.broker and e.at is not None and at - STOP_NOTICED_EARLY <= e.at <= until]
        return next(iter((*seen, *own)), None)

    @cached_property
    def lag(self) -> timedelta:
        return lag_time(self._cluster, self.leader, self.at)

    @cached_property
    def lag_by_messages(self) -> bool:
        """Its leader also removes replicas that are too many records behind."""
        return any(v < LAG_BY_MESSAGES_UNTIL for v in versions(self._cluster, self.leader))

    @cached_property
    def skew(self) -> timedelta:
        """The amount by which the leader's clock was fast."""
        node = self._cluster.nodes.get(self.leader)
        return timedelta(milliseconds=node.clock.skew_ms) if node is not None else timedelta(0)

    @cached_property
    def pause(self) -> Event | None:
        """The longest JVM pause before its removal that took at least half of the lag time."""
        if self.at is None:
            return None
        at, begin, enough = self.at, self.at - self.lag * 1.5, min(self.lag / 2, timedelta(seconds=5))
        near = self.availability.between("pause", begin - timedelta(minutes=10), at)
        long = [e for e in near if e.at is not None and min(e.at + lasting(e), at) - max(e.at, begin) >= enough]
        return max(long, key=lasting, default=None)

    @cached_property
    def suspension(self) -> Suspension | None:
        """Replicas of brokers that were suspended together fall out just after the brokers resume: the clocks had gone on."""
        at = self.at
        found = suspensions(self._cluster) if at is not None else ()
        return next(
            (s for s in found if at is not None and s.at - SHRINK_TAKES_EFFECT <= at <= s.at + self.lag * 2 + SHRINK_TAKES_EFFECT), None
        )

    def throttle(self, side: str, broker: int, begin: datetime | None, until: datetime | None) -> SettingChange | None:
        """The throttle on a broker's replica of this partition (KIP-73, 0.10.1), the first in force between the two times."""
        settings = self._cluster.settings
        if not settings.knows(broker):
            return None
        rates = [c for c in settings.history(f"{side}.replication.throttled.rate", broker=broker) if c.source == BROKER]
        if not rates:
            return None
        lists = [c for c in settings.history(f"{side}.replication.throttled.replicas", topic=self._timeline.topic) if c.source == TOPIC]
        start, stop = begin or datetime.min, until or datetime.max
        for at in sorted({start, *(c.at for c in (*rates, *lists) if start < c.at < stop)}):
            rate, named = _latest(rates, at), _latest(lists, at)
            if rate is not None and named is not None and self._names(named.value or "", broker):
                return rate
        return None

    def _names(self, replicas: str, broker: int) -> bool:
        return replicas.strip() == "*" or f"{self._timeline.partition}:{broker}" in (part.strip() for part in replicas.split(","))


def lag_time(cluster: Cluster, leader: int, at: datetime | None) -> timedelta:
    """replica.lag.time.max.ms of a leader, else its version's default."""
    value = number(effective(cluster, "replica.lag.time.max.ms", broker=leader, at=at).value, LAG_TIME_MS)
    return timedelta(milliseconds=value if 0 < value < 1 << 40 else LAG_TIME_MS)


@dataclass(frozen=True, slots=True)
class Suspension:
    """All brokers with lines in the evidence were suspended from `since` to `at`."""

    since: datetime
    at: datetime
    brokers: tuple[int, ...]
    events: tuple[Event, ...]

    @property
    def clause(self) -> Message:
        return said("absence/suspended", brokers=self.brokers, since=self.since, at=self.at)


@cached_on_cluster
def suspensions(cluster: Cluster) -> list[Suspension]:
    """Times at which sessions of several brokers expired together after no broker had printed anything for longer than a session lasts. A
    single process may stall alone, and brokers print errors if ZooKeeper is unreachable."""
    expired = [(e.at, e.writer, e) for e in cluster.of("session-expired") if e.at is not None and e.writer is not None]
    printed = _line_times(cluster)
    found: list[Suspension] = []
    for first, _, _ in expired:
        if found and first <= found[-1].at + CRASH_NOTICED:
            continue
        together = [(writer, e) for at, writer, e in expired if first <= at <= first + STOP_NOTICED_EARLY]
        brokers = tuple(sorted({writer for writer, _ in together}))
        resumed = first - SHRINK_TAKES_EFFECT  # a resumed process prints lines before its session expires
        earlier = bisect_left(printed, resumed)
        if len(brokers) > 1 and earlier and resumed - printed[earlier - 1] > session_time(brokers, first, cluster):
            found.append(Suspension(printed[earlier - 1], first, brokers, tuple(e for _, e in together)))
    return found


def _line_times(cluster: Cluster) -> list[datetime]:
    """The times of all lines about no partition, without those that a process prints after a pause."""
    return sorted(e.at for e in cluster.events if e.at is not None and e.line is not None and e.duration_ms is None)


def session_time(brokers: Sequence[int], at: datetime, cluster: Cluster) -> timedelta:
    """The longest zookeeper.session.timeout.ms of the brokers."""
    timeouts = (number(effective(cluster, "zookeeper.session.timeout.ms", broker=b, at=at).value, SESSION_MS) for b in brokers)
    return timedelta(milliseconds=max(timeouts))


def _latest(changes: Sequence[SettingChange], at: datetime) -> SettingChange | None:
    """The last value set before a time, None if it was removed since. A value that was only set later is not in force."""
    index = bisect_right(changes, at, key=lambda c: c.at)
    return changes[index - 1] if index and changes[index - 1].value is not None else None
