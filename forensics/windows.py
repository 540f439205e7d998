"""Windows of a partition's life: how long a condition on leader and ISR held, and why a replica was missing.

Here: the windows over the chain of states and the causes of an absence as the brokers' lives tell them. Not here: how a broker
that lived fell behind (absences), or which conditions are worth a finding (rules).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from forensics.model import moment
from forensics.remembered import last_kept
from spark.cluster import Cluster, Incarnation, Node
from spark.events import Event
from spark.replicas import DISK_EVENTS
from spark.states import State
from spark.timeline import PartitionTimeline

SLACK = timedelta(seconds=2)
"""A controller notices a stop a little before the broker's last line, or after."""
MANY = 20
"""Windows of one kind in one partition that are told one by one."""
CLOSING = timedelta(minutes=5)
"""Brokers that are stopped in order within it are stopped together: each stop waits for controlled shutdowns and open logs."""
APART = timedelta(milliseconds=200)
"""As far as estimated clocks of two machines may be apart."""
DETECTION = timedelta(seconds=60)
"""No session or heartbeat time-out in use is longer; a crash is noticed within it."""


@dataclass(frozen=True, slots=True)
class Window:
    """`states` hold one after the other from `start` to `end`; `end` None: to the end of the evidence."""

    start: datetime | None
    end: datetime | None
    states: tuple[State, ...]
    times: int = 1
    """More than one: so many windows told as one, with the states of the first and the last."""
    deleted: bool = False
    """It ended with the deletion of its topic; `end` None: nobody says when that was."""
    seen: bool = False
    """`end` is when --describe saw it over."""

    @property
    def seconds(self) -> float | None:
        return (self.end - self.start).total_seconds() if self.start is not None and self.end is not None else None


def windows(timeline: PartitionTimeline, holds: Callable[[State], bool]) -> Iterator[Window]:
    """Maximal runs of states for which the condition holds."""
    run: list[State] = []
    for state in timeline.states:
        if holds(state):
            run.append(state)
        elif run:
            yield Window(run[0].at, state.at, tuple(run))
            run = []
    if run:
        over = next((s for s in timeline.told[len(timeline.states) :] if not holds(s)), None)
        yield Window(run[0].at, over.at if over is not None else None, tuple(run), seen=over is not None)


def condensed(found: Sequence[Window]) -> Sequence[Window]:
    """The windows, or one for all of them when they are too many to be told one by one."""
    if len(found) <= MANY:
        return found
    first, last = found[0], found[-1]
    smallest = min((s for w in found for s in w.states), key=lambda s: len(s.isr))
    return [Window(first.start, last.end, tuple(dict.fromkeys((first.states[0], smallest, last.states[-1]))), len(found))]


def lasted(window: Window, cluster: Cluster) -> str:
    if window.times > 1:
        return f"{window.times} times"
    seconds = window.seconds
    if seconds is None and window.deleted:
        return "until the topic was deleted"
    if seconds is None:
        return f"until {ending(cluster)}"
    if seconds < 60:
        return f"for {max(seconds, 0):.1f} s"
    return f"for {seconds / 60:.1f} min"


def ending(cluster: Cluster) -> str:
    """What ends all that is still open."""
    return "the cluster ended" if cluster.number < 0 else "the evidence ends"


def until(window: Window, cluster: Cluster) -> str:
    """How long it held, as an explanation goes on after its start."""
    if window.end is not None:
        return f"to {moment(window.end)}{', when the topic was deleted,' if window.deleted else ', when it was seen to be over,' if window.seen else ''}"
    if window.deleted:
        return "until the topic was deleted and made anew"
    return "until the cluster ended" if cluster.number < 0 else "to the end of the evidence"


def lived(found: Iterable[Window], timeline: PartitionTimeline, cluster: Cluster) -> list[Window]:
    """The windows as long as their topic lived, without those that are only its deletion."""
    return [own for window in found if (own := within_life(window, timeline, cluster)) is not None]


def within_life(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> Window | None:
    """The window as long as its topic lived; None when it is only the topic's deletion: a ZooKeeper controller takes the replicas of
    a topic that is being deleted offline one by one."""
    if window.end is not None or window.start is None:
        return window
    for at in _deletions(window.start, timeline, cluster):
        if not _lived_on(at, window.start, timeline):
            return None if at <= window.start + SLACK else replace(window, end=at, deleted=True)
    return replace(window, deleted=True) if timeline.generation < 0 else window


def _deletions(start: datetime, timeline: PartitionTimeline, cluster: Cluster) -> list[datetime]:
    """When the topic was being deleted by the controller's word; where that is missing, by what became of its leaderless replica."""
    told = [at for at in cluster.recreated.get(timeline.topic, ()) if at is not None]
    gone = [
        e.at
        for e in timeline.of("log-deleted")
        if e.reason != "stray"
        and e.at is not None
        and e.at >= start - SLACK
        and timeline.states[-1].leader < 0
        and e.writer in timeline.states[-1].isr
    ]
    return sorted({*told, *gone})


def _lived_on(deleted: datetime, start: datetime, timeline: PartitionTimeline) -> bool:
    """The topic was made anew between the deletion and the window, or had leaders: none is elected for one that is being deleted."""
    between = [s for s in timeline.states if s.at is not None and deleted < s.at <= start]
    anew = timeline.created() and timeline.states[0] in between
    return anew or any(s.leader >= 0 and s.at is not None and s.at > deleted + DETECTION for s in between)


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a broker is missing: 'crash', 'stop' (orderly), 'starting', 'log-dir', 'reassignment', 'gone' (the controller did not count it
    as alive, and nothing tells how it had ended) or 'running' (alive, not in sync)."""

    broker: int
    why: str
    words: str
    event: Event | None


class Words:
    """What the events of no partition say of each broker's absence, in time order; events without a time are left out."""

    def __init__(self, cluster: Cluster) -> None:
        self._by_broker: dict[tuple[str, int], list[Event]] = defaultdict(list)
        self.heard = frozenset(e.writer for e in cluster.events if e.line is not None and e.writer is not None)
        """Brokers that printed anything in this cluster; others may be of one that lived before it."""
        self.refused = [e for e in cluster.events if e.event == "cluster-id-mismatch"]
        for event in cluster.events:
            if event.at is not None and (word := _WORDS.get(event.event)) is not None:
                self._note(word, event)
        for own in self._by_broker.values():
            own.sort(key=_when)

    def _note(self, word: str, event: Event) -> None:
        named: Sequence[int | None]
        if event.event == "brokers-changed":
            named, word = event.brokers or (), "lost" if event.reason == "deleted" else "back" if event.reason == "added" else ""
        elif event.event == "metadata-broker-change":
            named, word = (event.broker,), _CHANGES.get(event.reason or "", "")
        elif event.event in ("session-expired", "jvm-pause"):
            named = (event.writer,)
        else:
            named = (event.broker if event.broker is not None else event.writer,)
        for broker in named:
            if broker is not None and word:
                self._by_broker[word, broker].append(event)

    def of(self, word: str, broker: int) -> Sequence[Event]:
        """'log-dir', 'lost' (its session), 'back', 'registered', 'stop' (its controlled shutdown, as the controller saw it) or 'pause'."""
        return self._by_broker.get((word, broker), ())

    def between(self, word: str, broker: int, start: datetime, end: datetime) -> Sequence[Event]:
        own = self.of(word, broker)
        return own[bisect_left(own, start, key=_when) : bisect_right(own, end, key=_when)]


_WORDS = {
    "log-dir-offline": "log-dir",
    "broker-fenced": "lost",
    "session-expired": "lost",
    "broker-unfenced": "back",
    "broker-registered": "registered",
    "metadata-broker": "registered",
    "brokers-changed": "changed",
    "metadata-broker-change": "changed",
    "shutdown-seen": "stop",
    "jvm-pause": "pause",
}
_CHANGES = {"fenced": "lost", "unfenced": "back", "shutdown": "stop"}


@last_kept
def words_of(cluster: Cluster) -> Words:
    """The index of a cluster's events, made once for all partitions that are judged with it."""
    return Words(cluster)


def _when(event: Event) -> datetime:
    return event.at or datetime.min


def absence(broker: int, at: datetime | None, timeline: PartitionTimeline, cluster: Cluster) -> Absence:
    """The reason a broker left the ISR at a time, from its own life and what controllers said of it."""
    node = cluster.nodes.get(broker)
    if at is not None and node is not None:
        if (starting := _at_creation(broker, at, node, timeline)) is not None:
            return starting
        found = _ended_before(broker, at, node, timeline, cluster)
        if found is not None and (found.why == "stop" or not _outlived(broker, at, found.event.at if found.event else None, timeline)):
            return found
    if (failed := _log_dir(broker, at, timeline, cluster)) is not None:
        return Absence(broker, "log-dir", f"a log directory of broker {broker} had failed", failed)
    if at is not None and (seen := _asked_to_leave(broker, at, cluster)) is not None:
        return Absence(broker, "stop", f"broker {broker} was being shut down in order", seen)
    if node is None or not node.lives:
        return Absence(broker, "unknown", f"nothing was collected from broker {broker} to say why", None)
    begin = node.lives[0].begin_at
    if at is not None and begin is not None and at < begin - SLACK:
        return Absence(
            broker, "unknown", f"the log of broker {broker} begins with its start at {moment(begin)}, after that", node.lives[0].begin
        )
    if (taken := _taken_out(broker, at, timeline, cluster)) is not None:
        return Absence(
            broker, "gone", f"the controller did not count broker {broker} as alive, and no end of its process is in evidence", taken
        )
    return Absence(broker, "running", f"broker {broker} was running but not in sync", None)


def _asked_to_leave(broker: int, at: datetime, cluster: Cluster) -> Event | None:
    """The controlled shutdown a controller saw last, unless the broker was started again since. It comes before what it causes."""
    seen = words_of(cluster).between("stop", broker, at - DETECTION, at + APART)
    begun = [life.begin_at for life in cluster.nodes[broker].lives] if broker in cluster.nodes else []
    return next((e for e in reversed(seen) if not any(b is not None and e.at is not None and e.at < b <= at for b in begun)), None)


def _ended_before(broker: int, at: datetime, node: Node, timeline: PartitionTimeline, cluster: Cluster) -> Absence | None:
    """The end of a life that left the broker absent then: of several the last."""
    for index in range(len(node.lives) - 1, -1, -1):
        following = node.lives[index + 1].begin_at if index + 1 < len(node.lives) else None
        found = _ended_near(broker, node.lives[index], at, following, words_of(cluster))
        if found is None:
            continue
        end = node.lives[index].end or found.event
        ended = end.at if end is not None else None
        if found.why == "stop" and ended is not None and at > ended + DETECTION:
            if _signs(timeline).between(broker, ended, at):
                return None  # it lived again, in a part of its log that was not collected
            how = f"broker {broker} had been stopped in order at {moment(ended)} and was not started again before"
            return Absence(broker, "stop", how, end)
        return found
    return None


def _taken_out(broker: int, at: datetime | None, timeline: PartitionTimeline, cluster: Cluster) -> Event | None:
    """A controller's word that the broker was not there: it takes a replica out of an ISR, or a leader away, when that is not registered
    (ReplicaStateMachine, PartitionStateMachine). What a leader takes out leaves the leader epoch as it is with ZooKeeper."""
    for before, state in zip([None, *timeline.states], timeline.states, strict=False):
        if state.at != at or at is None:
            continue
        for event in (state.event, *state.also):
            if event.value == "OfflineReplica" and event.broker == broker:
                return event
        led = before is None or before.leader == broker
        if state.leader < 0 and (broker in state.isr or led):
            return state.event
        if cluster.mode == "zookeeper" and before is not None and broker in before.isr and broker not in state.isr and _next(before, state):
            return state.event
    return None


def _next(before: State, state: State) -> bool:
    """The state is the one that a controller's own change of the other one made."""
    epochs = before.partition_epoch, state.partition_epoch
    follows = epochs[0] is None or epochs[1] is None or epochs[1] == epochs[0] + 1
    return before.known_epoch is not None and state.leader_epoch == before.leader_epoch + 1 and follows


def _at_creation(broker: int, at: datetime, node: Node, timeline: PartitionTimeline) -> Absence | None:
    """A partition is created with the replicas whose brokers the controller knows: one that had only just begun may not be among them,
    whatever became of it later."""
    if not timeline.created() or timeline.states[0].at != at:
        return None
    for life in node.lives:
        over = life.stopping or life.end
        ended = over is not None and over.at is not None and over.at <= at
        if life.begin_at is not None and life.begin_at <= at <= life.begin_at + DETECTION and not ended:
            words = f"broker {broker} was not yet known to the controller when the partition was created"
            return Absence(broker, "starting", words, life.begin)
    return None


def _log_dir(broker: int, at: datetime | None, timeline: PartitionTimeline, cluster: Cluster) -> Event | None:
    """The failure of the directory this replica lay in: its own partitions are named, or it failed within a minute."""
    for e in timeline.of("log-dir-partitions"):
        if e.writer == broker and (e.at is None or at is None or e.at <= at + DETECTION):
            return e
    if at is None:
        return next(iter(words_of(cluster).of("log-dir", broker)), None)
    return next(iter(words_of(cluster).between("log-dir", broker, at - DETECTION, at + DETECTION)), None)


def _ended_near(broker: int, life: Incarnation, at: datetime, following: datetime | None, words: Words) -> Absence | None:
    """The end of this life, if a replica that left at that time can have left for it. `following`: when the next life began."""
    last = life.last_seen.at if life.last_seen is not None else None
    stop = life.stopping or (life.end if life.outcome == "stopped" else None)
    if stop is not None and life.outcome != "crashed":
        begin = stop.at
        noticed = max(following + SLACK, life.end_at + SLACK) if following is not None and life.end_at is not None else None
        if begin is not None and begin - SLACK <= at and (noticed is None or at <= noticed):
            return Absence(broker, "stop", f"broker {broker} was being shut down in order", stop)
    died = life.outcome == "crashed" and life.end_at is not None and at <= _noticed(broker, life.end_at, words) + SLACK
    if died and (last is None or last <= at + DETECTION):
        return Absence(broker, "crash", f"broker {broker} had died without a shutdown", life.end)
    return None


class _Signs:
    """When each broker gave a sign of life in one partition: a line of its own, or that it was back in the ISR."""

    def __init__(self, timeline: PartitionTimeline) -> None:
        self._lines: dict[int, list[datetime]] = defaultdict(list)
        self._returns: dict[int, list[datetime]] = defaultdict(list)
        for event in timeline.events:
            if event.line is not None and event.event not in DISK_EVENTS and event.writer is not None and event.at is not None:
                self._lines[event.writer].append(event.at)
        for before, state in pairwise(timeline.states):
            if state.at is not None:
                for broker in set(state.isr) - set(before.isr):
                    self._returns[broker].append(state.at)
        for own in (*self._lines.values(), *self._returns.values()):
            own.sort()

    def between(self, broker: int, left: datetime, end: datetime) -> bool:
        """After it had left the ISR and before the end; clocks of two brokers differ a little."""
        return _any(self._returns.get(broker, ()), left, end) or _any(self._lines.get(broker, ()), left + SLACK, end)


def _any(times: Sequence[datetime], start: datetime, end: datetime) -> bool:
    index = bisect_right(times, start)
    return index < len(times) and times[index] < end


@last_kept
def _signs(timeline: PartitionTimeline) -> _Signs:
    return _Signs(timeline)


def _outlived(broker: int, left: datetime, restarted: datetime | None, timeline: PartitionTimeline) -> bool:
    """It gave signs of life after it had left the ISR and before the start that shows its death: it did not leave for that."""
    return restarted is not None and _signs(timeline).between(broker, left, restarted - SLACK)


def _noticed(broker: int, restarted: datetime, words: Words) -> datetime:
    """When a controller knew at the latest of a death: a new process that is quicker than the old one's session may register only when
    that is over, and what the old one leaves behind is cleaned up then (ReplicationControlManager#handleBrokerUncleanShutdown)."""
    registered = words.between("registered", broker, restarted, restarted + DETECTION)
    return next((e.at for e in registered if e.at is not None), restarted)


def closing(window: Window, gone: Sequence[int], cluster: Cluster) -> str:
    """That the window lasts to the end because the whole cluster was stopped in order then; '' when it was not."""
    if window.end is not None or window.start is None or window.times > 1:
        return ""
    heard = words_of(cluster).heard
    brokers = {n.id for n in cluster.nodes.values() if n.broker and n.id in heard} | set(gone)
    brokers |= {b for s in window.states for b in s.replicas or ()}
    stops = {b: _last_stop(b, cluster) for b in brokers}
    known = [at for at in stops.values() if at is not None]
    near = all((at := stops[b]) is not None and at >= window.start - CLOSING for b in gone)
    if len(known) < len(brokers) or not near or not window.start - DETECTION <= max(known) <= window.start + CLOSING:
        return ""
    return f" The cluster was being stopped: all of its brokers were shut down in order, the last at {moment(max(known))}."


def _last_stop(broker: int, cluster: Cluster) -> datetime | None:
    """When it was stopped in order with no start since."""
    node = cluster.nodes.get(broker)
    lives = [life for life in node.lives if not _refused(life, cluster)] if node is not None else []
    life = lives[-1] if lives else None
    seen = words_of(cluster).of("stop", broker)
    if life is None:
        return seen[-1].at if seen else None
    stop = life.stopping or (life.end if life.outcome == "stopped" else None)
    if stop is not None:
        return stop.at
    return next((e.at for e in seen if e.at is not None and (life.begin_at is None or e.at > life.begin_at)), None)


def _refused(life: Incarnation, cluster: Cluster) -> bool:
    """A start that found the disk to be another cluster's ended before the broker was up."""
    begin, end = life.begin_at, life.end_at
    refused = words_of(cluster).refused
    return any(begin and end and e.at and e.writer == life.node and begin <= e.at <= end for e in refused)


def missing(states: Sequence[State]) -> tuple[int, ...]:
    """Assigned replicas outside the ISR in any of the states, the most often missing first."""
    counts: dict[int, int] = {}
    for state in states:
        for broker in state.replicas or ():
            if broker not in state.isr:
                counts[broker] = counts.get(broker, 0) + 1
    return tuple(sorted(counts, key=lambda b: (-counts[b], b)))


def reassigning(state: State) -> bool:
    return bool(state.adding or state.removing)
