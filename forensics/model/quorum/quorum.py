"""The metadata quorum of a KRaft cluster over time: its voters, who led it, and the spans in which it had no leader.

Here: what nodes and records state about the leader (KafkaRaftClient, QuorumState), and what follows from controllers that were down. Not
here: the runs of controllers (availability), what an active controller decides, and the findings.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import reduce
from itertools import pairwise
from operator import attrgetter

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event, lasting
from forensics.model.presence.availability import Outage
from forensics.model.times import Span, contains, grouped, runs, within
from forensics.thresholds import NO_QUORUM, NO_QUORUM_AT_START, STOP_NOTICED_EARLY
from parsers.kinds import named

RECORDS, DOWN, SEARCHED, UNREACHED = "records", "down", "searched", "unreached"
"""What shows a span without a leader: the metadata log has no record of it; most voters were down; nodes looked for a leader; brokers could
not reach a controller."""

_LEADS = frozenset({"leader", "follower"})
_SEEKS = frozenset({"candidate", "prospective"})
_NONE = frozenset({"unattached", "voted", "resigned", "leaderless"})
_FAILURES = named("broker-state", "connection-failed")
_ELECTED = named("controller-elected", "metadata-leader")
_ID = re.compile(r"(?<![\w.:-])(\d{1,9})(?=@)")


@dataclass(frozen=True, slots=True)
class QuorumStatement:
    """A statement about the leader of the quorum in an epoch."""

    at: datetime
    epoch: int
    leader: int | None
    """None: no leader is known in this epoch."""
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class NoLeader:
    """A span without a leader of the quorum."""

    start: datetime
    """Not before this time, at which the last leader was still at work."""
    latest: datetime
    """The quorum had no leader at this time, or had lost its majority."""
    known_until: datetime
    """The last time at which evidence shows the quorum without leader."""
    voters: tuple[int, ...]
    shown_by: frozenset[str]
    evidence: tuple[Event, ...]
    end: datetime | None = None
    """When a leader was known again; None: no line states it."""
    epoch: int | None = None
    leader: int | None = None
    """The leader of the last epoch before; None if unknown."""
    following: int | None = None
    """The next leader."""
    down: tuple[Outage, ...] = ()
    """Outages of voters in the span, by time."""
    searching: tuple[int, ...] = ()
    """Nodes that looked for a leader, or knew none."""
    searched: datetime | None = None
    """When the first of them did."""
    attempts: int = 0
    """How often a voter asked for votes in vain."""
    epochs: int = 0
    """The number of epochs in which nodes knew no leader."""

    @property
    def gone(self) -> tuple[int, ...]:
        """The voters that were down."""
        return tuple(sorted({a.run.node for a in self.down if a.run is not None}))

    @property
    def majority(self) -> int:
        return len(self.voters) // 2 + 1

    def covers(self, at: datetime) -> bool:
        return contains(Span(self.latest, self.end), at)


@dataclass(slots=True)
class _Window:
    """A span in which signs name no leader."""

    first: QuorumStatement
    before: QuorumStatement | None
    top: int
    """Highest epoch in which no leader is known."""
    statements: list[QuorumStatement] = field(default_factory=list)
    over: QuorumStatement | None = None


@cached_on_cluster
def voters(cluster: Cluster) -> tuple[int, ...]:
    """The voters of the quorum, by the settings of nodes, else by what the last leader or a node stated; empty if unknown."""
    for node in cluster.settings.brokers():
        value = cluster.settings.value("controller.quorum.voters", broker=node) or ""
        if "@" in value and (ids := tuple(sorted({int(n) for n in _ID.findall(value)}))):
            return ids
    for e in reversed(cluster.of("metadata-leader", "quorum-role")):
        if e.brokers:
            return tuple(sorted(set(e.brokers)))
    return ()


@cached_on_cluster
def statements(cluster: Cluster) -> Sequence[QuorumStatement]:
    """All statements about the leader of the quorum, by time. The first role of a process is left out: it is what its disk said, and the
    process has heard of no leader yet. From 3.5 on the line says what the role was before."""
    fresh: set[int | None] = set()
    found: list[QuorumStatement] = []
    for e in cluster.events:
        if e.event == "process-starting":
            fresh.add(e.writer)
        elif e.event == "quorum-role" and e.reason != "leaderless" and (e.value == "first" or e.writer in fresh):
            fresh.discard(e.writer)
        elif (sign := _statement(e)) is not None:
            found.append(sign)
    return found


def _statement(e: Event) -> QuorumStatement | None:
    if e.at is None or e.controller_epoch is None:
        return None
    if e.event == "quorum-role":
        leads = e.reason in _LEADS and e.controller is not None
        none = e.reason in _SEEKS or (e.reason in _NONE and e.controller is None)
        return QuorumStatement(e.at, e.controller_epoch, e.controller if leads else None, e) if leads or none else None
    if e.event in _ELECTED and e.mode != "zookeeper" and e.controller is not None:
        return QuorumStatement(e.at, e.controller_epoch, e.controller, e)
    return None


@cached_on_cluster
def leaders(cluster: Cluster) -> Mapping[int, int]:
    return {s.epoch: s.leader for s in statements(cluster) if s.leader is not None}


@cached_on_cluster
def last_records(cluster: Cluster) -> Mapping[int, Event]:
    """By epoch, the last record that its leader wrote to the metadata log."""
    found: dict[int, Event] = {}
    for e in cluster.of("metadata-written"):
        if e.controller_epoch is not None and e.at is not None:
            known = found.get(e.controller_epoch)
            if known is None or known.at is None or e.at > known.at:
                found[e.controller_epoch] = e
    return found


def first_without(cluster: Cluster, leader: int, after: datetime, until: datetime) -> datetime | None:
    """When a node first stated that it has lost this leader."""
    epochs = {epoch for epoch, node in leaders(cluster).items() if node == leader}
    known = statements(cluster)
    for s in known[bisect_left(known, after, key=lambda s: s.at) :]:
        if s.at > until:
            return None
        if s.leader is None and s.event.writer != leader and s.epoch - 1 in epochs:
            return s.at
    return None


@cached_on_cluster
def without_leader(cluster: Cluster) -> tuple[NoLeader, ...]:
    """The spans without a leader that lasted longer than an election, by time."""
    if cluster.mode == "zookeeper" and not statements(cluster):
        return ()
    found = [*_searched(cluster), *_majority_down(cluster), *_unrecorded(cluster)]
    if not _known_to_voters(cluster):
        found.extend(_unreached(cluster))
    return tuple(w for w in _joined(sorted(found, key=lambda w: w.latest)) if _counts(w, cluster))


def _known_to_voters(cluster: Cluster) -> bool:
    """Whether a voter stated its role, or the metadata log was collected: then brokers that cannot reach a controller show nothing more."""
    every = voters(cluster)
    return bool(last_records(cluster)) or any(s.event.writer in every for s in statements(cluster))


def _counts(w: NoLeader, cluster: Cluster) -> bool:
    lasts = (w.end or w.known_until) - w.latest
    if w.end is None and w.epochs > 1 and not w.down and cluster.until is not None and cluster.until - w.known_until < NO_QUORUM:
        return True  # one election after the other without a leader, at the end of the evidence
    if lasts < NO_QUORUM or (w.leader is None and w.shown_by == {SEARCHED} and _starts(w, cluster)):
        return False
    brokers = [n.id for n in cluster.nodes.values() if n.broker and n.id in cluster.named]  # others may be of another cluster
    return not brokers or any(_ran(cluster, b, w.latest, w.end or w.known_until, NO_QUORUM_AT_START) >= NO_QUORUM for b in brokers)


def _starts(w: NoLeader, cluster: Cluster) -> bool:
    """Whether no leader was known before, and the nodes that look for one had been started shortly before."""
    begun = [at for n in w.searching for at in cluster.availability(n).begun(datetime.min, w.end or w.known_until)[-1:]]
    return bool(begun) and (w.end or w.known_until) - min(begun) < NO_QUORUM_AT_START


def _ran(cluster: Cluster, node: int, start: datetime, end: datetime, starting: timedelta = timedelta()) -> timedelta:
    """How long a node ran in a span, without the time that each start takes; where its runs are unknown, it ran."""
    away = timedelta()
    for a in cluster.availability(node).outages:
        since, until = max(a.since or start, start), min(a.until + starting if a.until else end, end)
        away += max(until - since, timedelta())
    return (end - start) - away


# nodes that know no leader


def _searched(cluster: Cluster) -> Iterator[NoLeader]:
    yield from (found for w in _windows(statements(cluster)) if (found := _judged(w, cluster)) is not None)


def _windows(found: Iterable[QuorumStatement]) -> Iterator[_Window]:
    """Each span from the first statement that the leader is gone to the first one of a new leader, or of nodes that follow the last one
    again. A node that asks for votes in vain follows the last leader it knew (KIP-996), and soon asks again."""
    led: QuorumStatement | None = None
    window: _Window | None = None
    again: QuorumStatement | None = None
    """The last leader is followed again."""
    for s in found:
        if s.leader is None:
            if window is not None and again is not None and s.at - again.at > NO_QUORUM:
                window.over = again
                yield window
                window = None
            again = None
            if window is not None:
                window.statements.append(s)
                window.top = max(window.top, s.epoch)
            elif led is None or s.epoch > led.epoch or (s.epoch == led.epoch and s.event.reason in _SEEKS | {"resigned"}):
                window = _Window(s, led, s.epoch, [s])
        elif window is None or s.epoch > window.top or (s.epoch == window.top and (led is None or s.epoch > led.epoch)):
            if window is not None:
                window.over = s
                yield window
                window, again = None, None
            led = s if led is None or s.epoch > led.epoch else led
        elif s.epoch == window.top and again is None:
            again = s
    if window is not None:
        window.over = again
        yield window


def _judged(w: _Window, cluster: Cluster) -> NoLeader | None:
    """The span, unless the last leader went on."""
    before = w.before
    written = last_records(cluster).get(before.epoch) if before is not None else None
    latest, end = w.first.at, w.over.at if w.over is not None else None
    known_until = end or w.statements[-1].at
    start = before.at if before is not None else latest
    if written is not None and written.at is not None:
        start, latest = max(start, written.at), max(latest, written.at)
    elif before is not None and _led_on(before, w, cluster):
        return None
    if latest >= known_until and end is not None:
        return None
    candidates = [s for s in w.statements if s.event.reason in _SEEKS]
    return NoLeader(
        start=min(start, latest),
        latest=latest,
        end=end,
        known_until=known_until,
        epoch=before.epoch if before is not None else None,
        leader=before.leader if before is not None else None,
        following=w.over.leader if w.over is not None else None,
        voters=voters(cluster),
        down=_down(cluster, latest, known_until),
        searching=tuple(sorted({s.event.writer for s in w.statements if s.event.writer is not None})),
        searched=w.first.at,
        attempts=len(candidates) - (w.over is not None and any(s.event.writer == w.over.leader for s in candidates[-1:])),
        epochs=len({s.epoch for s in w.statements}),
        shown_by=frozenset({SEARCHED}),
        evidence=tuple(e for e in (written, w.first.event, *[s.event for s in candidates[:1]], w.over.event if w.over else None) if e),
    )


def _led_on(before: QuorumStatement, w: _Window, cluster: Cluster) -> bool:
    """Whether a node that ran shows that the last leader went on: it followed or led in that epoch, and stated no change."""
    end = w.over.at if w.over is not None else w.statements[-1].at
    changed = {s.event.writer for s in w.statements}
    last: dict[int, QuorumStatement] = {}
    for s in statements(cluster):
        if s.at < w.first.at and s.event.event == "quorum-role" and s.event.writer is not None:
            last[s.event.writer] = s
    for node, s in last.items():
        if node in changed or s.leader is None or s.epoch != before.epoch:
            continue
        if _ran(cluster, node, w.first.at, end) >= (end - w.first.at) - STOP_NOTICED_EARLY and not _failing(cluster, node, w.first.at, end):
            return True
    return False


def _failing(cluster: Cluster, node: int, start: datetime, end: datetime) -> bool:
    return any(e.writer == node for kind in _FAILURES for e in _unreachable(cluster, kind, start, end))


def _unreachable(cluster: Cluster, kind: str, start: datetime, end: datetime) -> Iterator[Event]:
    for e in cluster.between(kind, start, end):
        if kind != "broker-state" or e.reason == "controller-unreachable":
            yield e


# the metadata log


def _unrecorded(cluster: Cluster) -> Iterator[NoLeader]:
    """The spans between the last record of a leader and the election of the next one. A leader that writes records when nothing happens is
    never silent for longer than it was before."""
    written, elected = last_records(cluster), {e.controller_epoch: e for e in cluster.of("metadata-leader") if e.at is not None}
    epochs = sorted(e for e in written.keys() | elected.keys() if e is not None)
    for before, epoch in pairwise(epochs):
        last, first = written.get(before), elected.get(epoch)
        if last is None or first is None or last.at is None or first.at is None or last.reason != "idle" or not _adjacent(last, first):
            continue
        if first.at - last.at > max(NO_QUORUM, 2 * lasting(last)):
            leader = elected.get(before)
            yield NoLeader(
                start=last.at,
                latest=last.at + 2 * lasting(last),
                end=first.at,
                known_until=first.at,
                epoch=before,
                leader=leader.controller if leader is not None else None,
                following=first.controller,
                voters=voters(cluster),
                down=_down(cluster, last.at, first.at),
                shown_by=frozenset({RECORDS}),
                evidence=(last, first),
            )


def _adjacent(last: Event, first: Event) -> bool:
    """Whether no segment between the two records is missing."""
    return last.metadata_offset is not None and first.metadata_offset == last.metadata_offset + 1


# voters that were down


def _down(cluster: Cluster, start: datetime, end: datetime) -> tuple[Outage, ...]:
    found = (a for v in voters(cluster) for a in cluster.availability(v).outages if a.run is not None and a.overlaps(start, end))
    return tuple(sorted(found, key=lambda a: a.since or datetime.min))


def _majority_down(cluster: Cluster) -> Iterator[NoLeader]:
    """The spans in which fewer voters ran than a majority."""
    every = voters(cluster)
    outages = _down(cluster, datetime.min, datetime.max)
    allowed = len(every) - len(every) // 2 - 1
    over: datetime | None = None
    for at in sorted({at for a in outages if (at := a.down_from) is not None}):
        if over is not None and at <= over:
            continue
        away = [a for a in outages if _gone(a, at)]
        if len({a.run.node for a in away if a.run is not None}) <= allowed or not away:
            continue
        since = sorted(a.since for a in away if a.since is not None)
        back = _back(away, allowed)
        over = back or datetime.max
        led = max((s for s in statements(cluster) if s.leader is not None and s.at <= at), key=lambda s: s.epoch, default=None)
        following = next((s for s in statements(cluster) if s.leader is not None and back is not None and s.at >= back), None)
        yield NoLeader(
            start=min(since[allowed] if len(since) > allowed else since[-1], at),
            latest=at,
            end=following.at if following is not None else None,
            known_until=following.at if following is not None else back or cluster.until or at,
            epoch=led.epoch if led is not None else None,
            leader=led.leader if led is not None else None,
            following=following.leader if following is not None else None,
            voters=every,
            down=tuple(away),
            shown_by=frozenset({DOWN}),
            evidence=tuple(dict.fromkeys(a.event for a in away)),
        )


def _gone(a: Outage, at: datetime) -> bool:
    since = a.down_from
    return since is not None and since <= at and (a.until is None or a.until > at)


def _back(away: Sequence[Outage], allowed: int) -> datetime | None:
    """When enough voters ran again."""
    returns = sorted(a.until for a in away if a.until is not None)
    needed = len({a.run.node for a in away if a.run is not None}) - allowed
    return returns[needed - 1] if len(returns) >= needed else None


def _joined(found: Sequence[NoLeader]) -> list[NoLeader]:
    """Spans that overlap are one: each may show a part of it."""

    def joins(run: Sequence[NoLeader], w: NoLeader) -> bool:
        ended = [before.end for before in run if before.end is not None]
        return not ended or w.latest <= max(ended)

    return [reduce(_both, run) for run in runs(found, joins)]


def _both(one: NoLeader, other: NoLeader) -> NoLeader:
    if DOWN in one.shown_by and SEARCHED in other.shown_by:
        one, other = other, one
    latest = min(one.latest, other.latest)
    starts = [w.start for w in (one, other) if w.start <= latest]
    ends = [w.end for w in (one, other) if w.end is not None]
    return NoLeader(
        start=max(starts, default=latest),
        latest=latest,
        end=max(ends, default=None),
        known_until=max(one.known_until, other.known_until),
        epoch=one.epoch if one.epoch is not None else other.epoch,
        leader=one.leader if one.leader is not None else other.leader,
        following=one.following if one.following is not None else other.following,
        voters=one.voters or other.voters,
        down=tuple({id(a): a for a in sorted((*one.down, *other.down), key=lambda a: a.since or datetime.min)}.values()),
        searching=tuple(sorted({*one.searching, *other.searching})),
        searched=min((at for at in (one.searched, other.searched) if at is not None), default=None),
        attempts=one.attempts + other.attempts,
        epochs=one.epochs + other.epochs,
        shown_by=one.shown_by | other.shown_by,
        evidence=tuple(dict.fromkeys((*one.evidence, *other.evidence))),
    )


# brokers that cannot reach a controller


def _unreached(cluster: Cluster) -> Iterator[NoLeader]:
    """If no evidence names a leader of the quorum: the spans in which every broker whose log was collected could not send heartbeats."""
    brokers = {n.id for n in cluster.nodes.values() if n.broker and n.id in cluster.collected}
    of_brokers = grouped(
        (e.writer, e)
        for e in _unreachable(cluster, "broker-state", datetime.min, datetime.max)
        if e.writer in brokers and e.writer is not None and e.at is not None
    )
    if not of_brokers:
        return
    unheard = {broker: list(runs(own, within(NO_QUORUM, attrgetter("at"), attrgetter("at")))) for broker, own in of_brokers.items()}
    for first in unheard[min(unheard)]:
        together = [first, *(r for b, own in unheard.items() if b != min(unheard) for r in own if _overlap(r, first))]
        start, end = (max(r[0].at for r in together if r[0].at), min(r[-1].at for r in together if r[-1].at))
        heard = {r[0].writer for r in together}
        if brokers == heard and start < end:
            yield NoLeader(
                start=start,
                latest=start,
                known_until=end,
                voters=voters(cluster),
                searching=tuple(sorted(b for b in heard if b is not None)),
                searched=start,
                shown_by=frozenset({UNREACHED}),
                evidence=tuple(e for r in together for e in (r[0], r[-1])),
            )


def _overlap(one: Sequence[Event], other: Sequence[Event]) -> bool:
    a, b, c, d = one[0].at, one[-1].at, other[0].at, other[-1].at
    return a is not None and b is not None and c is not None and d is not None and a <= d and c <= b
