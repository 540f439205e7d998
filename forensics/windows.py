"""Windows of a partition's life: how long a condition on leader and ISR held, and why a replica was missing.

Here: the windows over the chain of states and the causes of an absence as the brokers' lives tell them. Not here: how a broker
that lived fell behind (absences), or which conditions are worth a finding (rules).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
        yield Window(run[0].at, None, tuple(run))


def condensed(found: Sequence[Window]) -> Sequence[Window]:
    """The windows, or one for all of them when they are too many to be told one by one."""
    if len(found) <= MANY:
        return found
    first, last = found[0], found[-1]
    smallest = min((s for w in found for s in w.states), key=lambda s: len(s.isr))
    return [Window(first.start, last.end, tuple(dict.fromkeys((first.states[0], smallest, last.states[-1]))), len(found))]


def lasted(window: Window) -> str:
    if window.times > 1:
        return f"{window.times} times"
    seconds = window.seconds
    if seconds is None:
        return "until the evidence ends"
    if seconds < 60:
        return f"for {max(seconds, 0):.1f} s"
    return f"for {seconds / 60:.1f} min"


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a broker is missing: 'crash', 'stop' (orderly), 'starting', 'log-dir', 'reassignment' or 'running' (alive, not in sync)."""

    broker: int
    why: str
    words: str
    event: Event | None


class Words:
    """What the events of no partition say of each broker's absence, in time order; events without a time are left out."""

    def __init__(self, cluster: Cluster) -> None:
        self._by_broker: dict[tuple[str, int], list[Event]] = defaultdict(list)
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
        for index, life in enumerate(node.lives):
            following = node.lives[index + 1].begin_at if index + 1 < len(node.lives) else None
            found = _ended_near(broker, life, at, following, words_of(cluster))
            if found is not None and not (found.why == "crash" and _outlived(broker, at, life.end_at, timeline)):
                return found
    if (failed := _log_dir(broker, at, timeline, cluster)) is not None:
        return Absence(broker, "log-dir", f"a log directory of broker {broker} had failed", failed)
    if at is not None and (seen := words_of(cluster).between("stop", broker, at - DETECTION, at + SLACK)):
        return Absence(broker, "stop", f"broker {broker} was being shut down in order", seen[-1])
    if node is None or not node.lives:
        return Absence(broker, "unknown", f"nothing was collected from broker {broker} to say why", None)
    begin = node.lives[0].begin_at
    if at is not None and begin is not None and at < begin - SLACK:
        return Absence(
            broker, "unknown", f"the log of broker {broker} begins with its start at {moment(begin)}, after that", node.lives[0].begin
        )
    return Absence(broker, "running", f"broker {broker} was running but not in sync", None)


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
    if life.outcome == "stopped" and life.end is not None:
        begin = life.stopping.at if life.stopping is not None else life.end.at
        noticed = max(following + SLACK, life.end_at + SLACK) if following is not None and life.end_at is not None else None
        until = noticed if noticed is not None else life.end_at + DETECTION if life.end_at is not None else None
        if begin is not None and begin - SLACK <= at and (until is None or at <= until):
            return Absence(broker, "stop", f"broker {broker} was being shut down in order", life.stopping or life.end)
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
