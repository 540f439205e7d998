"""Windows of a partition's life: how long a condition on leader and ISR held, and why a replica was missing.

Here: the windows over the chain of states and the causes of an absence as the brokers' lives tell them. Not here: which
conditions are worth a finding (rules).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from spark.cluster import Cluster, Incarnation
from spark.events import Event
from spark.timeline import PartitionTimeline, State

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
    """Why a broker is missing: 'crash', 'stop' (orderly), 'log-dir', 'reassignment' or 'running' (alive, not in sync)."""

    broker: int
    why: str
    words: str
    event: Event | None


def absence(broker: int, at: datetime | None, timeline: PartitionTimeline, cluster: Cluster) -> Absence:
    """The reason a broker left the ISR at a time, from its own life."""
    node = cluster.nodes.get(broker)
    if at is not None and node is not None:
        for life in node.lives:
            if (found := _ended_near(broker, life, at)) is not None:
                return found
    for e in cluster.of("log-dir-offline"):
        if e.writer == broker and (e.at is None or at is None or abs(e.at - at) <= DETECTION):
            return Absence(broker, "log-dir", f"a log directory of broker {broker} had failed", e)
    for e in timeline.of("log-dir-partitions"):
        if e.writer == broker:
            return Absence(broker, "log-dir", f"a log directory of broker {broker} had failed", e)
    if node is None or not node.lives:
        return Absence(broker, "unknown", f"nothing was collected from broker {broker} to say why", None)
    return Absence(broker, "running", f"broker {broker} was running but not in sync", None)


def _ended_near(broker: int, life: Incarnation, at: datetime) -> Absence | None:
    last = life.last_seen.at if life.last_seen is not None else None
    if life.outcome == "stopped" and life.end is not None:
        begin = life.stopping.at if life.stopping is not None else life.end.at
        if begin is not None and begin - SLACK <= at and (life.end_at is None or at <= life.end_at + DETECTION):
            return Absence(broker, "stop", f"broker {broker} was being shut down in order", life.stopping or life.end)
    died = life.outcome == "crashed" and life.end is not None and life.end.at is not None and at <= life.end.at + SLACK
    if died and (last is None or last <= at + DETECTION):
        return Absence(broker, "crash", f"broker {broker} had died without a shutdown", life.end)
    return None


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
