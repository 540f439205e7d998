"""Under-replicated partitions and partitions without a leader over time: their number, for each leader and for the cluster, as step series.

Here: the series from the windows that each partition's row carries (absences.UNDER_REPLICATED, windows.OFFLINE), and the part of a long
series that is kept. A partition counts for the broker that leads it, as kafka.server:UnderReplicatedPartitions does; replicas that a
reassignment adds or removes are counted separately, which the metric did only from 2.5 on (KIP-455). Not here: why a replica was missing
(absences), what the counts mean (rules).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any, TypeVar

from forensics.model.findings import Fact
from forensics.model.partition.absences import UNDER_REPLICATED, UNDER_REPLICATED_OMITTED
from forensics.model.partition.windows import OFFLINE
from forensics.model.times import not_after

FACTS: tuple[Fact, ...] = (UNDER_REPLICATED, UNDER_REPLICATED_OMITTED, OFFLINE)
"""Facts that the series are made from."""

MAX_STEPS = 500
"""Maximum number of steps of a series in the report; of more, the highest of each stretch are kept."""
MAX_LEADERS = 100
"""Number of leaders whose series a report contains: those with the highest counts."""
OF_LEADERS = 10 * MAX_STEPS
"""Maximum number of steps of the series of all leaders together."""


@dataclass(frozen=True, slots=True)
class CountStep:
    """The number of under-replicated partitions from `at` (None: since before the evidence) until the next step."""

    at: datetime | None
    under_replicated: int
    reassigning: int
    """Partitions of which only replicas being added or removed were missing; not among `under_replicated`."""

    @property
    def missing(self) -> int:
        """Partitions of which any replica was missing."""
        return self.under_replicated + self.reassigning


@dataclass(frozen=True, slots=True)
class Series:
    """`leader` None: the whole cluster; -1: partitions without a leader."""

    leader: int | None
    steps: tuple[CountStep, ...]

    @property
    def peak(self) -> int:
        return max((s.under_replicated for s in self.steps), default=0)

    def at(self, start: datetime | None, end: datetime | None) -> int:
        """The highest count between two times."""
        worst = 0
        for step, following in zip_longest(self.steps, self.steps[1:]):
            over = following is not None and not_after(following.at, start)
            ahead = not_after(end, step.at)
            if not over and not ahead:
                worst = max(worst, step.under_replicated)
        return worst


def series(partitions: Iterable[Mapping[str, Any]], *, leaders: bool = True) -> list[Series]:
    """The cluster's series, then (with `leaders`) one for each leader by id; empty when nothing was ever under-replicated."""
    changes: dict[int | None, dict[datetime | None, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for row in partitions:
        for short in row.get("under_replicated_windows") or ():
            kind = 1 if short["planned"] else 0
            start, end = short["start"], short["end"]
            for key in (None, short["leader"]) if leaders else (None,):
                changes[key][start][kind] += 1
                if end is not None:  # states are sorted by cause, which clocks may contradict
                    changes[key][max(start or end, end)][kind] -= 1
    keys = sorted(changes, key=lambda k: (k is not None, k or 0))
    return [Series(key, _steps(changes[key])) for key in keys]


@dataclass(frozen=True, slots=True)
class Offline:
    """The number of partitions without a leader from `at` (None: since before the evidence) until the next step."""

    at: datetime | None
    offline: int


def offline(partitions: Iterable[Mapping[str, Any]]) -> list[Offline]:
    """The number without a leader, as kafka.controller:OfflinePartitionsCount."""
    changes: dict[datetime | None, int] = defaultdict(int)
    for row in partitions:
        for window in row.get("offline") or ():
            if window["end"] is not None or not window["deleted"]:  # else it ended with its topic, at an unknown time
                changes[window["start"]] += 1
                if window["end"] is not None:
                    changes[max(window["start"] or window["end"], window["end"])] -= 1
    count = 0
    found: list[Offline] = []
    for at in _in_order(changes):
        if changes[at]:
            count += changes[at]
            found.append(Offline(at, count))
    return found


def _in_order(moments: Collection[datetime | None]) -> list[datetime | None]:
    """Sorted; `None` (before the evidence) first."""
    return [*((None,) if None in moments else ()), *sorted(at for at in moments if at is not None)]


def _steps(changes: Mapping[datetime | None, Sequence[int]]) -> tuple[CountStep, ...]:
    under = moving = 0
    found: list[CountStep] = []
    for at in _in_order(changes):
        more = changes[at]
        under, moving = under + more[0], moving + more[1]
        if not found or more != [0, 0]:
            found.append(CountStep(at, under, moving))
    return tuple(found)


T = TypeVar("T")


def capped(steps: Sequence[T], count: Callable[[T], int], most: int = MAX_STEPS) -> Sequence[T]:
    """At most this many steps: the highest of each stretch, and the last of all."""
    if len(steps) <= most:
        return steps
    width = -(-len(steps) // (most - 1))
    highest = [max(steps[i : i + width], key=count) for i in range(0, len(steps), width)]
    return highest if highest[-1] == steps[-1] else [*highest, steps[-1]]
