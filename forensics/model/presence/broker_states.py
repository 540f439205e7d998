"""The states of each node over time: up, starting, recovering, stopping, ended, down, fenced, paused, controller, or unknown.

Here: the spans of each node, from its availability, the elections of controllers and its collected logs. They may overlap: a broker that is
up may be fenced, and be the controller. Not here: the runs of brokers (forensics.model.presence.availability), or how spans are drawn
(forensics.views.html).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Annotated, Any

from forensics.model.clock.clocks import Clock
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.events import Event, lasting
from forensics.model.findings import CLUSTER_DOC, Evidence, Fact, quote
from forensics.model.message import PACKED, Message, said
from forensics.model.partition.windows import OFFLINE
from forensics.model.presence import crash_times
from forensics.model.presence.availability import KILLED, PRESUMED_CRASHED, Availability, BrokerRun, Outage
from forensics.model.presence.crash_times import CrashTime, CrashTimes
from forensics.model.record import Int32, Record
from forensics.model.times import begins, grouped, is_later
from forensics.thresholds import LOG_GAP, NOTICEABLE_PAUSE
from parsers.kinds import Role, of

UP, STARTING, RECOVERING, STOPPING, ENDED, DOWN = "up", "starting", "recovering", "stopping", "ended", "down"
FENCED, PAUSED, CONTROLLER, UNSTATED, CLOCK = "fenced", "paused", "controller", "not-covered", "clock"
STATES = (UP, STARTING, RECOVERING, STOPPING, ENDED, DOWN, FENCED, PAUSED, CONTROLLER, UNSTATED, CLOCK)
"""States, in the order of a legend."""

MOST_PAUSES = 50
"""Maximum number of pauses of a node; the longest are kept."""

_UP = of(role=Role.UP)
_ELECTED = of(role=Role.ELECTED)


@dataclass(frozen=True, slots=True)
class StateSpan(Record):
    """A state of a node."""

    broker: Annotated[Int32, "node id"]
    state: Annotated[str, "state of the node"]
    start: Annotated[datetime | None, "begin (UTC); null: before the evidence"]
    end: Annotated[datetime | None, "end (UTC); null: the end of the evidence"]
    detail: Annotated[Message | None, PACKED, "details; null if there are none"] = None
    evidence: Annotated[tuple[Evidence, ...], "quotes: source, line, byte and text"] = ()
    cluster: Annotated[Int32, CLUSTER_DOC] = 0


FACTS: tuple[Fact, ...] = (OFFLINE, *crash_times.FACTS)
"""Facts that the spans are made from, besides the cluster."""


def spans(cluster: Cluster, partitions: Sequence[Mapping[str, Any]] = ()) -> list[StateSpan]:
    """The spans of all nodes, by node and time, in all clusters they were in. `partitions`: rows of the partitions that exist at the end. A
    partition that has no leader from some time on shows that its broker is down if no other broker could report it."""
    leaderless, times = _leaderless(partitions), CrashTimes(cluster, partitions)
    found = [
        *_controllers(cluster),
        *(s for node in cluster.nodes.values() for s in _of_node(node, cluster, leaderless.get(node.id, ()), times)),
    ]
    begun: dict[int, datetime] = {}
    _begin(begun, found)
    for run in reversed(cluster.ended):
        own = _before(run, begun)
        _begin(begun, own)
        found.extend(own)
    order = {state: n for n, state in enumerate(STATES)}
    return sorted(found, key=lambda s: (s.broker, begins(s), order[s.state]))


def running(known: Iterable[StateSpan]) -> set[int]:
    """The nodes that were running when the evidence ends."""
    return {s.broker for s in known if s.state == UP and s.end is None and not s.cluster}


def _leaderless(partitions: Iterable[Mapping[str, Any]]) -> dict[int, list[datetime]]:
    """By broker, since when the partitions it was last in sync with have had no leader until the end."""
    return grouped(
        (broker, window["start"])
        for p in partitions
        for window in (p.get("offline") or ())[-1:]
        if window["end"] is None and not window["deleted"] and window["start"] is not None
        for broker in p["isr"] or ()
    )


def _begin(begun: dict[int, datetime], of_cluster: Iterable[StateSpan]) -> None:
    """The earliest time at which each node began."""
    for s in of_cluster:
        if s.start is not None and s.state not in (UNSTATED, CLOCK):
            begun[s.broker] = min(s.start, begun.get(s.broker, s.start))


def _before(run: Cluster, begun: Mapping[int, datetime]) -> list[StateSpan]:
    """Spans in a cluster that has ended, up to the time at which each node began in a later one. Coverage by logs is left to the cluster
    that exists at the end."""
    own = [
        *_controllers(run),
        *(s for node in run.nodes.values() for s in _of_node(node, run, (), CrashTimes(run, ())) if s.state not in (UNSTATED, CLOCK)),
    ]
    ended = ((s, min((at for at in (s.end or run.until, begun.get(s.broker)) if at is not None), default=None)) for s in own)
    return [replace(s, end=end, cluster=run.number) for s, end in ended if s.start is None or end is None or s.start <= end]


def _of_node(node: Node, cluster: Cluster, leaderless: Sequence[datetime], times: CrashTimes) -> Iterator[StateSpan]:
    availability = cluster.availability(node.id)
    yield from _of_runs(node, cluster, availability, availability.unreported_outage_start(leaderless), times)
    yield from _seen_by_controller(availability)
    yield from _fenced(availability)
    yield from _pauses(availability)
    for change in node.clock.changes:
        before, after = (Clock.at_offset(ms).zone for ms in (change.before_ms, change.after_ms))
        yield StateSpan(node.id, CLOCK, change.at, change.at, said("broker/zones", before=before, after=after))
    yield from _unknown(node, cluster, availability)


def _of_runs(
    node: Node, cluster: Cluster, availability: Availability, unreported_outage_start: datetime | None, times: CrashTimes
) -> Iterator[StateSpan]:
    started = _times(cluster.of(*_UP), node)
    unclean = _times((e for e in cluster.of("unclean-start") if e.count), node)
    crashed = False
    for run, after in zip_longest(availability.runs, availability.runs[1:]):
        outage = availability.end_of(run)
        crash = times.of(outage, node.id) if outage is not None and outage.how in (KILLED, PRESUMED_CRASHED) else None
        over = (crash.start if crash is not None else run.end_at) or (unreported_outage_start if run is availability.running else None)
        starting = _starting(node, run, over, started, unclean, after_crash=crashed)
        crashed = run.outcome == "crashed"
        if starting is not None:
            yield starting
        if run.outcome != "failed":
            yield from _up_and_stopping(node, run, starting.end if starting is not None else run.begin_at, over)
        if over is not None:
            yield from _down(availability, run, outage, crash, over, after.begin_at if after is not None else None)


def _seen_by_controller(availability: Availability) -> Iterator[StateSpan]:
    """Shutdowns that only the controller saw."""
    for a in availability.outages:
        if a.run is None:
            yield StateSpan(availability.broker, DOWN, a.since, a.until, said("broker/shutdown-seen"), quote(a.event))


def _times(events: Iterable[Event], node: Node) -> list[datetime]:
    """Times of the node's own events."""
    return [e.at for e in events if e.writer == node.id and e.at is not None]


def _starting(
    node: Node, run: BrokerRun, over: datetime | None, started: Sequence[datetime], unclean: Sequence[datetime], *, after_crash: bool
) -> StateSpan | None:
    """The start of a broker's run, until it is up or has failed. `started`, `unclean`: times of the lines that it is up, and that it
    recovers its logs."""
    begin = run.begin_at
    if begin is None or not node.broker:
        return None
    up = next((at for at in started if at >= begin and (over is None or at <= over)), None)
    if up is None and run.outcome != "failed":
        return None
    end = up or over
    recovers = after_crash or any(begin <= at <= (end or at) for at in unclean)
    return StateSpan(node.id, RECOVERING if recovers else STARTING, begin, end, evidence=quote(run.begin))


def _up_and_stopping(node: Node, run: BrokerRun, begin: datetime | None, over: datetime | None) -> Iterator[StateSpan]:
    stop = run.stop.at if run.stop is not None and run.stop is not run.end else None
    end = stop if stop is not None and (begin is None or stop >= begin) else over
    yield StateSpan(node.id, UP, begin, end, evidence=quote(run.begin, run.last_seen))
    if end is not over and is_later(over, end):
        yield StateSpan(node.id, STOPPING, end, over, evidence=quote(run.stopping, run.end))


def _down(
    availability: Availability, run: BrokerRun, outage: Outage | None, crash: CrashTime | None, since: datetime, until: datetime | None
) -> Iterator[StateSpan]:
    """From the end of a run to the start of the next."""
    evidence = quote(run.last_seen if run.outcome != "stopped" else None, outage.event if outage is not None else run.end)
    if crash is None:
        detail = said(f"broker/{'could-not-start' if run.outcome == 'failed' else 'shut-down'}")
        yield StateSpan(availability.broker, DOWN, since, until, detail, evidence)
        return
    known = crash.latest or since
    if known > since:
        last = said("broker/last-sign", wrote=crash.wrote, at=since)
        yield StateSpan(availability.broker, ENDED, since, known, last, evidence)
    if until is None or known < until:
        yield StateSpan(availability.broker, DOWN, known, until, said("broker/crashed"), evidence)


def _fenced(availability: Availability) -> Iterator[StateSpan]:
    """Several nodes may report it: each has a copy of the metadata log, or replays it."""
    found: list[StateSpan] = []
    for event in availability.fenced(datetime.min, datetime.max):
        if event.at is None or (found and (found[-1].end is None or event.at <= found[-1].end)):
            continue
        again = [e.at for e in availability.between("back", event.at, datetime.max)[:1] if e.at is not None]
        if availability.survived_session_loss(event) or not again:
            until = min((*again, *availability.begun(event.at, datetime.max)[:1]), default=None)
            found.append(StateSpan(availability.broker, FENCED, event.at, until, _reason(event), quote(event)))
    yield from found


def _reason(event: Event) -> Message | None:
    return said("broker/reason", reason=event.reason) if event.reason else None


def _pauses(availability: Availability) -> Iterator[StateSpan]:
    pauses = [(e, lasting(e)) for e in availability.said("pause") if e.duration_ms and e.at is not None]
    long = sorted((t for t in pauses if t[1] >= NOTICEABLE_PAUSE), key=lambda t: (-t[1], t[0].at))[:MOST_PAUSES]
    for e, length in long:
        if e.at is not None:
            detail = said("broker/paused", seconds=length.total_seconds(), reason=e.reason or "pause")
            yield StateSpan(availability.broker, PAUSED, e.at, e.at + length, detail, quote(e))


def _controllers(cluster: Cluster) -> Iterator[StateSpan]:
    """From each election to the next of another node, or to the end of its own process."""
    elected: list[Event] = []
    for e in cluster.of(*_ELECTED):
        if e.at is not None and e.controller is not None and e.controller >= 0 and (not elected or elected[-1].controller != e.controller):
            elected.append(e)
    for e, following in zip_longest(elected, elected[1:]):
        assert e.controller is not None and e.at is not None
        until = _replaced(cluster, e.controller, e.at, following.at if following is not None else None)
        epoch = said("broker/epoch", epoch=e.controller_epoch) if e.controller_epoch is not None else None
        yield StateSpan(e.controller, CONTROLLER, e.at, until, epoch, quote(e))


def _replaced(cluster: Cluster, controller: int, elected: datetime, following: datetime | None) -> datetime | None:
    """When a controller's term ended: at the next election, at the end of its process, or when it resigned. None: at the end of the
    evidence."""
    ended = (a.since for a in cluster.availability(controller).outages)
    resigned = (e.at for e in cluster.of("controller-resigned") if e.writer == controller)
    ends = [at for at in (*ended, *resigned) if at is not None and elected < at]
    return min((*ends, *([following] if following is not None else [])), default=None)


def _unknown(node: Node, cluster: Cluster, availability: Availability) -> Iterator[StateSpan]:
    """Stretches that none of its logs covers, and in which it was not known to be down."""
    covered = sorted((s.first, s.last) for s in cluster.sources_of(node.id) if s.first is not None and s.last is not None and s.lines)
    if not covered:
        yield StateSpan(node.id, UNSTATED, None, None, said("broker/none-collected"))
        return
    yield StateSpan(node.id, UNSTATED, None, covered[0][0], said("broker/before-first"))
    reached = covered[0][1]
    for first, last in covered:
        if first - reached >= LOG_GAP and not availability.away(reached, first):
            yield StateSpan(node.id, UNSTATED, reached, first, said("broker/between-logs"))
        reached = max(reached, last)
    if (running := availability.running) is None or running.end_at is None:
        yield StateSpan(node.id, UNSTATED, reached, None, said("broker/after-last"))
