"""The states of each node over time: up, starting, recovering, stopping, ended, down, fenced, paused, controller, or unknown.

Here: the spans of each node, from its presence, the elections of controllers and its collected logs. They may overlap: a broker that is up
may be fenced, and be the controller. Not here: the runs of brokers (forensics.model.cluster.availability), or how spans are drawn
(forensics.views.html).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from forensics.model.cluster.availability import KILLED, MISSED, Availability, BrokerRun, Outage
from forensics.model.cluster.clocks import Clock
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.events import Event
from forensics.model.findings import Evidence, Fact, moment, quote
from forensics.model.partition.last_events import LAST_WORDS, latest
from forensics.model.partition.leaderless import OFFLINE
from parsers.kinds import Role, of

UP, STARTING, RECOVERING, STOPPING, ENDED, DOWN = "up", "starting", "recovering", "stopping", "ended", "down"
FENCED, PAUSED, CONTROLLER, UNTOLD, CLOCK = "fenced", "paused", "controller", "untold", "clock"
STATES: Mapping[str, str] = {
    UP: "its process runs",
    STARTING: "it starts",
    RECOVERING: "it starts after an unclean stop, and recovers its logs",
    STOPPING: "it shuts down in order",
    ENDED: "its process ended without a shutdown somewhere in here: after its last word, and before it was missed or began again",
    DOWN: "its process is not there",
    FENCED: "the controller fenced it, or its ZooKeeper session expired, while its process went on",
    PAUSED: "all its threads stood still",
    CONTROLLER: "it is the active controller, or leads the metadata quorum",
    UNTOLD: "no log that was collected tells of it",
    CLOCK: "its clock was set, or changed to or from summer time",
}
"""States with their descriptions."""

PAUSE = timedelta(seconds=1)
"""Shorter pauses have no noticeable effect."""
MOST_PAUSES = 50
"""Maximum number of pauses of a node; the longest are kept."""
SILENT = timedelta(hours=1)
"""A longer gap between two log files of a broker is a silence: a running broker prints something every hour."""

_UP = of(role=Role.UP)
_ELECTED = of(role=Role.ELECTED)


@dataclass(frozen=True, slots=True)
class Span:
    """`start` None: since before the evidence; `end` None: to the end of the evidence."""

    broker: int
    state: str
    start: datetime | None
    end: datetime | None
    words: str = ""
    evidence: tuple[Evidence, ...] = ()
    cluster: int = 0
    """The cluster that the node was in, among those that used these brokers: 0 is the one at the end, -1 the one before, and so on."""


FACTS: tuple[Fact, ...] = (OFFLINE, LAST_WORDS)
"""Facts that the spans are made from, besides the cluster."""


def spans(cluster: Cluster, partitions: Iterable[Mapping[str, Any]] = ()) -> list[Span]:
    """The spans of all nodes, by node and time, in all clusters they were in. `partitions`: rows of the partitions that exist at the end. A
    partition that has no leader from some time on shows that its broker is down if no other broker could report it. The last lines of a
    broker before a crash may all be about its partitions."""
    left: dict[int, list[datetime]] = {}
    heard: dict[tuple[int, datetime], datetime] = {}
    for p in partitions:
        latest(p.get("last_words") or (), heard)
        for window in (p.get("offline") or ())[-1:]:
            if window["end"] is None and not window["deleted"] and window["start"] is not None:
                for broker in p["isr"] or ():
                    left.setdefault(broker, []).append(window["start"])
    found = [
        *_controllers(cluster),
        *(s for node in cluster.nodes.values() for s in _of_node(node, cluster, left.get(node.id, ()), heard)),
    ]
    begun: dict[int, datetime] = {}
    _begin(begun, found)
    for life in reversed(cluster.ended):
        own = _before(life, begun)
        _begin(begun, own)
        found.extend(own)
    order = {state: n for n, state in enumerate(STATES)}
    return sorted(found, key=lambda s: (s.broker, s.start is not None, s.start or datetime.min, order[s.state]))


def _begin(begun: dict[int, datetime], told: Iterable[Span]) -> None:
    """The earliest time at which each node began."""
    for s in told:
        if s.start is not None and s.state not in (UNTOLD, CLOCK):
            begun[s.broker] = min(s.start, begun.get(s.broker, s.start))


def _before(life: Cluster, begun: Mapping[int, datetime]) -> list[Span]:
    """Spans in a cluster that has ended, up to the time at which each node began in a later one. Coverage by logs is left to the cluster
    that exists at the end."""
    own = [
        *_controllers(life),
        *(s for node in life.nodes.values() for s in _of_node(node, life, (), {}) if s.state not in (UNTOLD, CLOCK)),
    ]
    ended = ((s, min((at for at in (s.end or life.until, begun.get(s.broker)) if at is not None), default=None)) for s in own)
    return [replace(s, end=end, cluster=life.number) for s, end in ended if s.start is None or end is None or s.start <= end]


def _of_node(node: Node, cluster: Cluster, left: Sequence[datetime], heard: Mapping[tuple[int, datetime], datetime]) -> Iterator[Span]:
    availability = cluster.availability(node.id)
    yield from _lives(node, cluster, availability, availability.unmissed(left), heard)
    yield from _fenced(availability)
    yield from _pauses(availability)
    for change in node.clock.changes:
        words = f"from {Clock.at_offset(change.before_ms).zone} to {Clock.at_offset(change.after_ms).zone}"
        yield Span(node.id, CLOCK, change.at, change.at, words)
    yield from _untold(node, cluster, availability)


def _lives(
    node: Node, cluster: Cluster, availability: Availability, unmissed: datetime | None, heard: Mapping[tuple[int, datetime], datetime]
) -> Iterator[Span]:
    started = [e for e in cluster.of(*_UP) if e.writer == node.id]
    unclean = [e for e in cluster.of("unclean-start") if e.writer == node.id and e.count]
    gone = {id(a.life): a for a in availability.outages if a.life is not None}
    for n, life in enumerate(availability.lives):
        before = availability.lives[n - 1] if n else None
        outage = gone.get(id(life))
        over = _over(node, life, outage, heard) or (unmissed if life is availability.running else None)
        begin = life.begin_at
        if life.begin is not None and begin is not None:
            up = next((e.at for e in started if e.at is not None and e.at >= begin and (over is None or e.at <= over)), None)
            recovers = (before is not None and before.outcome == "crashed") or any(
                e.at is not None and begin <= e.at <= (up or over or e.at) for e in unclean
            )
            if node.broker and (up is not None or life.outcome == "failed"):
                yield Span(node.id, RECOVERING if recovers else STARTING, begin, up or over, evidence=quote(life.begin))
                begin = up
        if life.outcome != "failed":
            stop = life.stop.at if life.stop is not None and life.stop is not life.end else None
            end = stop if stop is not None and (begin is None or stop >= begin) else over
            yield Span(node.id, UP, begin, end, evidence=quote(life.begin, life.last_seen))
            if end is not over and end is not None and over is not None and over > end:
                yield Span(node.id, STOPPING, end, over, evidence=quote(life.stopping, life.end))
        if over is not None and (life.outcome != "failed" or n + 1 == len(availability.lives)):
            yield from _gone(availability, life, outage, over, availability.lives[n + 1 :])
    for a in availability.outages:
        if a.life is None:  # a shutdown that only the controller saw
            yield Span(node.id, DOWN, a.since, a.until, "the controller saw its shutdown", quote(a.event))


def _over(node: Node, life: BrokerRun, outage: Outage | None, heard: Mapping[tuple[int, datetime], datetime]) -> datetime | None:
    """The end of the process; after a crash, which prints nothing, the time of the last line."""
    if outage is None or outage.how not in (KILLED, MISSED) or outage.since is None:
        return life.end_at
    return max(outage.since, heard.get((node.id, outage.until), outage.since)) if outage.until is not None else outage.since


def _gone(
    availability: Availability, life: BrokerRun, outage: Outage | None, since: datetime, later: Sequence[BrokerRun]
) -> Iterator[Span]:
    until = next((x.begin_at for x in later), None)
    told = quote(life.last_seen if life.outcome != "stopped" else None, outage.event if outage is not None else life.end)
    if outage is None or outage.how not in (KILLED, MISSED):
        words = "it could not start" if life.outcome == "failed" else "shut down in order"
        yield Span(availability.broker, DOWN, since, until, words, told)
        return
    missed = [e.at for e in availability.between("lost", since, until or datetime.max) if e.at is not None]
    known = min((*missed, *(at for at in (until, outage.event.at) if at is not None)), default=since)
    if known > since:
        yield Span(availability.broker, ENDED, since, known, f"its last word is of {moment(since)}", told)
    if until is None or known < until:
        yield Span(availability.broker, DOWN, known, until, "it ended without a shutdown", told)


def _fenced(availability: Availability) -> Iterator[Span]:
    """Several nodes may report it: each has a copy of the metadata log, or replays it."""
    found: list[Span] = []
    for event in availability.fenced(datetime.min, datetime.max):
        if event.at is None or (found and (found[-1].end is None or event.at <= found[-1].end)):
            continue
        again = [e.at for e in availability.between("back", event.at, datetime.max)[:1] if e.at is not None]
        if availability.went_on(event) or not again:
            until = min((*again, *availability.begun(event.at, datetime.max)[:1]), default=None)
            found.append(Span(availability.broker, FENCED, event.at, until, event.reason or "", quote(event)))
    yield from found


def _pauses(availability: Availability) -> Iterator[Span]:
    told = [(e, timedelta(milliseconds=e.duration_ms)) for e in availability.said("pause") if e.duration_ms and e.at is not None]
    long = sorted((t for t in told if t[1] >= PAUSE), key=lambda t: (-t[1], t[0].at))[:MOST_PAUSES]
    for e, length in long:
        if e.at is not None:
            yield Span(
                availability.broker, PAUSED, e.at, e.at + length, f"{length.total_seconds():.1f} s ({e.reason or 'pause'})", quote(e)
            )


def _controllers(cluster: Cluster) -> Iterator[Span]:
    """From each election to the next of another node, or to the end of its own process."""
    told: list[Event] = []
    for e in cluster.of(*_ELECTED):
        if e.at is not None and e.controller is not None and e.controller >= 0 and (not told or told[-1].controller != e.controller):
            told.append(e)
    resigned = [e for e in cluster.of("controller-resigned") if e.at is not None]
    for e, following in [*pairwise(told), *((e, None) for e in told[-1:])]:
        if e.controller is None or e.at is None:
            continue
        until = following.at if following is not None and following.at is not None else datetime.max
        ends = [a.since for a in cluster.availability(e.controller).outages if a.since is not None and e.at < a.since]
        ends += [r.at for r in resigned if r.writer == e.controller and r.at is not None and e.at < r.at]
        until = min(until, *ends, datetime.max)
        epoch = f"epoch {e.controller_epoch}" if e.controller_epoch is not None else ""
        yield Span(e.controller, CONTROLLER, e.at, until if until != datetime.max else None, epoch, quote(e))


def _untold(node: Node, cluster: Cluster, availability: Availability) -> Iterator[Span]:
    """Stretches that none of its logs covers, and in which it was not known to be down."""
    covered = sorted((s.first, s.last) for s in cluster.sources_of(node.id) if s.first is not None and s.last is not None and s.lines)
    if not covered:
        yield Span(node.id, UNTOLD, None, None, "none of its logs was collected")
        return
    yield Span(node.id, UNTOLD, None, covered[0][0], "before its first line")
    reached = covered[0][1]
    for first, last in covered:
        if first - reached >= SILENT and not any(a.overlaps(reached, first) for a in availability.outages):
            yield Span(node.id, UNTOLD, reached, first, "between two of its logs")
        reached = max(reached, last)
    if (running := availability.running) is None or running.end_at is None:
        yield Span(node.id, UNTOLD, reached, None, "after its last line")
