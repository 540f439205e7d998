"""When nodes crashed: a crash prints nothing, so it lies between the last line that the node wrote and the moment others noticed.

Here: that span of each crash, from the node's availability, from other nodes and from the last lines about its partitions. Not here:
whether a broker crashed (forensics.model.presence.availability), or why a replica left an ISR (forensics.model.partition.absences).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.findings import Fact
from forensics.model.message import Message, Value, said
from forensics.model.partition.absences import ABSENCES, LOG_DIR, NEW, REASSIGNED
from forensics.model.partition.placement import STEPS
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.presence.availability import KILLED, Outage, is_own_log_line
from forensics.model.presence.process_errors import who
from forensics.model.quorum.quorum import first_without
from forensics.model.times import Span, grouped, overlap
from forensics.thresholds import CLOCK_TOLERANCE, CRASH_NOTICED, STOP_NOTICED_EARLY
from parsers.cached import cached_property
from parsers.frozen import dataclass
from parsers.kinds import Role, of

T = TypeVar("T")

# the last lines about partitions

_NEXT_START = itemgetter(1)


def last_events(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[dict[str, Any]]:
    """A killed process prints nothing at its end, and may not have printed anything about itself for months, but it prints lines about its
    partitions."""
    for broker, replica in sorted(timeline.replicas.items()):
        crashes = killed(cluster).get(broker, ())
        own = sorted(e.at for e in replica.events if e.at is not None and is_own_log_line(e)) if crashes else []
        line = 0
        while line < len(own) and (place := bisect_right(crashes, own[line], key=_NEXT_START)) < len(crashes):
            since, next_start = crashes[place]
            line = bisect_left(own, next_start, line)
            if own[line - 1] > since:
                yield {"broker": broker, "next_start": next_start, "at": own[line - 1]}


def led_again(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[dict[str, Any]]:
    """A controller elects a broker that is registered: after another leader, its process ran on, or a next one began. Lines of the broker
    from then on show that it ran on."""
    for e in timeline.of("fetcher-added"):
        crashes = killed(cluster).get(e.broker, ()) if e.broker is not None else ()
        if e.at is None or e.leader_epoch is None or (place := bisect_right(crashes, e.at, key=_NEXT_START)) == len(crashes):
            continue
        since, next_start = crashes[place]
        own = timeline.replicas[e.broker].events if e.broker in timeline.replicas else ()
        lines = (line.at for line in own if line.at is not None and line.at < next_start and is_own_log_line(line))
        last = max((since, *lines))
        others = (t.at for t in timeline.terms if t.leader not in (e.broker, -1) and t.epoch < e.leader_epoch)
        if any(at is not None and last < at < e.at for at in others):
            yield {"broker": e.broker, "next_start": next_start, "at": e.at}


@cached_on_cluster
def killed(cluster: Cluster) -> dict[int, list[tuple[datetime, datetime]]]:
    """The crashes of each node by time: the last line about its process, and when the next process began."""
    found: dict[int, list[tuple[datetime, datetime]]] = {}
    for node in cluster.nodes:
        outages = (a for a in cluster.availability(node).outages if a.how == KILLED)
        if own := [(a.since, a.followed) for a in outages if a.since is not None and a.followed is not None]:
            found[node] = sorted(own, key=_NEXT_START)
    return found


def _latest(rows: Iterable[Mapping[str, Any]], found: dict[tuple[int, datetime], datetime]) -> None:
    """For each crash in these rows, updates `found` with the time of the last line."""
    for r in rows:
        key = (r["broker"], r["next_start"])
        found[key] = max(r["at"], found.get(key, r["at"]))


_OF_CRASHES = pa.list_(pa.struct([("broker", pa.int32()), ("next_start", pa.timestamp("us")), ("at", pa.timestamp("us"))]))
LAST_LINES = Fact(
    "last_lines_before_crash",
    _OF_CRASHES,
    "the last lines about it that brokers printed before they crashed; `next_start`: when the next process began",
    lambda timeline, cluster: list(last_events(timeline, cluster)),
)
LED_AGAIN = Fact(
    "led_again_before_start",
    _OF_CRASHES,
    "brokers from which followers fetched in a later term of the broker, after others led and before `next_start`, the first start in its log",
    lambda timeline, cluster: list(led_again(timeline, cluster)),
)
FACTS: tuple[Fact, ...] = (ABSENCES, STEPS, LAST_LINES, LED_AGAIN)
"""Facts about partitions that the times are read from."""

_WITHOUT_CRASH = frozenset({LOG_DIR, NEW, REASSIGNED})
"""Causes of absences that a running broker has."""

# crashes


@dataclass(frozen=True, slots=True)
class CrashTime:
    """A crash at or after `start` and at or before `latest`; `latest` None: at `start`."""

    start: datetime | None
    latest: datetime | None
    noticed: Message | None
    """When and how others noticed the crash, which may be a little before `latest` by their clocks."""
    wrote: bool = False
    """At `start` it wrote its last record to the metadata log; otherwise its last line is from then."""
    again: datetime | None = None
    """When a follower fetched from it after others had taken over: by the same process or by one without lines in the evidence."""


class _Absence(NamedTuple):
    """What is read of an absence, a row of forensics.model.partition.absences: there may be millions."""

    name: str
    """Of the partition."""
    start: datetime
    end: datetime | None
    leader: int | None
    times: int


class CrashTimes:
    """The evidence of crashes in the cluster and in its partitions, grouped by broker once for all crashes."""

    def __init__(self, cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> None:
        self._cluster, self._partitions = cluster, partitions

    def of(self, outage: Outage, broker: int) -> CrashTime:
        start, back = self._last_line(outage, broker), outage.until
        if outage.latest is None or start is None:
            return CrashTime(start, None, None)
        again = self._of("led_again_before_start", outage, broker)
        again = again if again is not None and again > start else None
        shown = [*self._by_others(outage, broker), *self._noticed(broker, start, back)]
        shown = [s for s in shown if s[0] >= (again or start)]
        if again is not None and outage.followed is not None and not shown:
            shown = [(outage.followed, said("crash/new-process", who=who(broker, self._cluster), at=outage.followed))]
        last, noticed = min(shown, default=(start, None), key=itemgetter(0))
        return CrashTime(start, last, noticed, wrote=start in self._cluster.last_written.get(broker, ()), again=again)

    def _last_line(self, outage: Outage, broker: int) -> datetime | None:
        return max((at for at in (outage.since, self._of("last_lines_before_crash", outage, broker)) if at is not None), default=None)

    def _of(self, fact: str, outage: Outage, broker: int) -> datetime | None:
        return self._lines[fact].get((broker, outage.followed)) if outage.followed is not None else None

    def _noticed(self, broker: int, start: datetime, back: datetime | None) -> Iterator[tuple[datetime, Message]]:
        """When an ISR lost the broker that it had not rejoined before its restart, and when a partition lost the broker as its leader: a
        process may print nothing about itself for months before it crashes."""
        for a in self._left(broker, start, back):
            if a.times == 1 and a.start > start and _lasted(a, back):
                yield a.start + CLOCK_TOLERANCE, said("crash/removed-from-isr", broker=broker, partition=a.name, at=a.start)
        failed = self._cluster.availability(broker).between
        for name, at in self._lost(broker, start, back):
            if at > start and not failed("log-dir", at - CRASH_NOTICED, at + STOP_NOTICED_EARLY):
                yield at + CLOCK_TOLERANCE, said("crash/left-leaderless", broker=broker, partition=name, at=at)

    def _by_others(self, outage: Outage, node: int) -> Iterator[tuple[datetime, Message]]:
        """When other nodes noticed the crash, or a new process began."""
        latest, named = outage.latest, who(node, self._cluster)
        if latest is None or outage.since is None:
            return
        yield latest, _noticed(outage, named)
        if (lost := first_without(self._cluster, node, outage.since, latest)) is not None:
            yield lost + CLOCK_TOLERANCE, said("crash/lost-as-leader", who=named, at=lost)

    def left(self, broker: int, start: datetime | None, back: datetime | None) -> list[str]:
        """Partitions whose ISR lost the broker between its last line and its restart."""
        return sorted({a.name for a in self._left(broker, start, back)})

    def left_leaderless(self, broker: int, start: datetime | None, back: datetime | None) -> list[str]:
        """Partitions that had no leader after the broker led them."""
        return sorted({name for name, _ in self._lost(broker, start, back)})

    def effects(self, broker: int, start: datetime | None, end: datetime | None) -> Iterator[Message]:
        """The partitions that lost the broker in this time, as a follower or as their leader."""
        if dropped := self.left(broker, start, end):
            yield _of(broker, "dropped-out", dropped)
        if left_leaderless := self.left_leaderless(broker, start, end):
            yield _of(broker, "without-leader", left_leaderless)

    def meanwhile(self, broker: int, start: datetime | None, end: datetime | None) -> Iterator[Message]:
        """The partitions that lacked the broker in this time, whenever that began, or that it left without a leader."""
        if absent := sorted({a.name for a in self._absences.get(broker, ()) if _overlaps(a, start, end)}):
            yield _of(broker, "missing", absent)
        if left_leaderless := self.left_leaderless(broker, start, end):
            yield _of(broker, "without-leader", left_leaderless)

    def unreached(self, broker: int, by: Sequence[int], start: datetime | None, end: datetime | None) -> Iterator[Message]:
        """The partitions that lacked a replica while these nodes could not connect to the broker: replicas on these nodes that fetch from
        the broker, and its own, which may not have learned whom to fetch from."""
        yield from self.followers(broker, start, end, by)
        if own := self._without(broker, start, end):
            yield _of(broker, "missing", sorted(own))

    def followers(self, broker: int, start: datetime | None, end: datetime | None, by: Sequence[int] | None = None) -> Iterator[Message]:
        """The partitions whose ISR lacked another broker while this one led them."""
        missing = {b: self._without(b, start, end, leader=broker) for b in (self._absences if by is None else by) if b != broker}
        absent, led = sorted(b for b, of in missing.items() if of), sorted({name for of in missing.values() for name in of})
        if led:
            yield _of(broker, "followers-missing", led, absent=tuple(absent))

    def _without(self, broker: int, start: datetime | None, end: datetime | None, leader: int | None = None) -> set[str]:
        """Partitions whose ISR lacked the broker at some time strictly within this time."""
        own = (a for a in self._absences.get(broker, ()) if leader in (None, a.leader))
        return {a.name for a in own if overlap(a, Span(start, end))}

    def _left(self, broker: int, start: datetime | None, back: datetime | None) -> Sequence[_Absence]:
        return _within(self._absences.get(broker, ()), _start, start, back)

    def _lost(self, broker: int, start: datetime | None, back: datetime | None) -> Sequence[tuple[str, datetime]]:
        return _within(self._losses.get(broker, ()), _LOST, start, back)

    @cached_property
    def _lines(self) -> Mapping[str, Mapping[tuple[int, datetime], datetime]]:
        """By fact, broker and time of its next start, the last such line before a crash."""
        found: dict[str, dict[tuple[int, datetime], datetime]] = {fact.name: {} for fact in (LAST_LINES, LED_AGAIN)}
        for p in self._partitions:
            for fact, own in found.items():
                _latest(p.get(fact) or (), own)
        return found

    @cached_property
    def _absences(self) -> Mapping[int, Sequence[_Absence]]:
        """Absences from an ISR that a crash may have caused, sorted by their start."""
        found = grouped(
            (a["broker"], _Absence(f"{p['topic']}-{p['partition']}", a["start"], a["end"], a["leader"], a["times"]))
            for p in self._partitions
            for a in p.get("absences") or ()
            if a["start"] is not None and a["cause"] not in _WITHOUT_CRASH
        )
        for absences in found.values():
            absences.sort(key=_start)
        return found

    @cached_property
    def _losses(self) -> Mapping[int, Sequence[tuple[str, datetime]]]:
        """Partitions that had no leader after the broker led them, sorted by the time of the loss."""
        found = grouped(
            (was["leader"], (f"{p['topic']}-{p['partition']}", now["at"]))
            for p in self._partitions
            for was, now in pairwise(p.get("steps") or ())
            if now["leader"] == -1 and now["at"] is not None
        )
        for losses in found.values():
            losses.sort(key=_LOST)
        return found


def _of(broker: int, what: str, names: Sequence[str], **more: Value) -> Message:
    return said(
        f"crash/{what}", broker=broker, names=tuple(names[:_SHOWN]), others=len(names) - _SHOWN if len(names) > _SHOWN else None, **more
    )


_SHOWN = 6
"""Partitions that a sentence names."""


def _noticed(outage: Outage, named: Message) -> Message:
    noticed, followed = outage.noticed, outage.run.followed if outage.run is not None else None
    at = noticed.at if noticed is not None else None
    if noticed is None or noticed is followed:
        return said("crash/new-process", who=named, at=at)
    if noticed.event in of(role=Role.UNREACHABLE) and noticed.writer is not None:
        return said("crash/connection-lost", node=noticed.writer, who=named, at=at)
    return said("crash/absence", who=named, at=at)


_start: Callable[[_Absence], datetime] = attrgetter("start")
_LOST: Callable[[tuple[str, datetime]], datetime] = itemgetter(1)


def _within(items: Sequence[T], when: Callable[[T], datetime], begin: datetime | None, end: datetime | None) -> Sequence[T]:
    """The part of a list sorted by time between begin and end, with tolerances."""
    first = 0 if begin is None else bisect_left(items, begin - STOP_NOTICED_EARLY, key=when)
    return items[first : len(items) if end is None else bisect_right(items, end + CRASH_NOTICED, key=when)]


def _overlaps(absence: _Absence, start: datetime | None, end: datetime | None) -> bool:
    begins_before = end is None or absence.start <= end + CRASH_NOTICED
    return begins_before and (start is None or absence.end is None or absence.end >= start)


def _lasted(absence: _Absence, returned: datetime | None) -> bool:
    over = absence.end
    return over is None or (returned is not None and absence.start <= returned <= over)
