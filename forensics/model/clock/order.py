"""One broker's events in the order they happened: each file in its own order, files merged by time, ties by cause.

Here: the merge. Not here: the order between brokers, which is that of epochs (timeline), or the correction of clocks (clocks).

Two files of a broker often report one change at the same time, and if a layout has whole seconds only, a whole failover has one time.
Ties are resolved by Kafka's rules: a follower does not change the ISR, a leader does not truncate, and a log is loaded before the broker
leads.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType

from forensics.model.events import Event, latest_times, place_in
from forensics.model.times import grouped
from parsers.kinds import STARTS, By, Role, named, of

_LOADS = of(role=Role.LOAD)
_CUTS = of(role=Role.CUT | Role.PLAN)
_OF_A_LEADER = of(role=Role.ISR_INTENT | Role.ISR | Role.ISR_REFUSED | Role.APPEND, by=By.LEADER)
_FETCHES = of(role=Role.FETCHING | Role.FETCH_FAILS)
_REQUESTS = of(role=Role.STATE | Role.FETCHING_ENDS, by=By.FOLLOWER | By.REPLICA)
_PLACED = _LOADS | STARTS | _CUTS | _OF_A_LEADER | _FETCHES | _REQUESTS

Parts = Mapping[str, Sequence[int]]
Steps = Mapping[str, Sequence[tuple[int, datetime]]]
_NONE: Steps = MappingProxyType({})

_FIRST, _REQUEST, _START, _FETCH, _LATER, _LAST = range(6)


class FileOrders:
    """Cache of the order of each broker's events of one partition."""

    def __init__(self, parts: Parts = MappingProxyType({}), steps: Steps = _NONE) -> None:
        self._parts, self._steps = parts, steps
        self._found: dict[int | None, tuple[Sequence[Event], Sequence[Event]]] = {}

    def of(self, events: Sequence[Event]) -> Sequence[Event]:
        """Events of one broker and partition in their order."""
        writer = events[0].writer if events else None
        events_before, order = self._found.get(writer, ((), ()))
        if events_before != events:
            order = file_order(events, self._parts, self._steps)
            self._found[writer] = events, order
        return order


def file_order(events: Iterable[Event], parts: Parts = MappingProxyType({}), steps: Steps = _NONE) -> list[Event]:
    """Events of one broker and partition in order. A clock that jumps back inside a file does not reorder the file. `parts`: Cluster.parts;
    the parts of a joined log are merged like files. `steps`: Cluster.steps_back."""
    by_source = grouped(((event.source, bisect_right(parts.get(event.source, ()), event.line or 0)), event) for event in events)
    files = [_placed(by_source[source], parts) for source in sorted(by_source)]
    return _merged(files, steps) if len(files) > 1 else [event for own in files for event in own]


def _placed(file: list[Event], parts: Parts) -> list[Event]:
    if file[0].source in parts:
        return sorted(file, key=lambda e: place_in(e, parts))
    try:
        return sorted(file, key=_PLACE)
    except TypeError:  # some positions are unknown
        return sorted(file, key=place_in)


_PLACE = attrgetter("line", "byte", "metadata_offset")


def _merged(files: Sequence[Sequence[Event]], steps: Steps) -> list[Event]:
    events: list[Event] = []
    moments: list[datetime] = []
    of: list[int] = []
    for number, own in enumerate(files):
        moments += latest_times(own, steps.get(own[0].source, ()))
        events += own
        of += [number] * len(own)
    merged: list[Event] = []
    role: str | None = None
    known = 0
    for _, places_at in groupby(sorted(range(len(events)), key=moments.__getitem__), moments.__getitem__):
        places = list(places_at)
        if of[places[0]] == of[places[-1]]:
            merged += [events[place] for place in places]
            continue
        role = _role(merged[known:], role)
        known = len(merged)
        tied = [_Tied([events[place] for place in own]) for _, own in groupby(places, of.__getitem__)]
        while len(tied) > 1:
            first = _next(tied, role)
            event = first.events[first.taken]
            first.taken += 1
            merged.append(event)
            role = _role((event,), role)
            known += 1
            if first.taken == len(first.events):
                tied.remove(first)
        merged += tied[0].events[tied[0].taken :]
    return merged


class _Tied:
    """A file's events with the same time, in file order, and how many of them were merged."""

    __slots__ = ("_decides", "events", "taken")

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self.taken = 0
        self._decides = -1

    @property
    def decides(self) -> Event:
        """The next event whose kind determines its place, else the last; the events before it go with it."""
        if self._decides < self.taken:
            self._decides, last = self.taken, len(self.events) - 1
            while self._decides < last and self.events[self._decides].event not in _PLACED:
                self._decides += 1
        return self.events[self._decides]


def _next(tied: Sequence[_Tied], role: str | None) -> _Tied:
    """The file whose event comes first."""
    heads = [f.decides for f in tied]
    ranks = [_rank(head, heads, role) for head in heads]
    return tied[ranks.index(min(ranks))]


def _rank(event: Event, heads: list[Event], role: str | None) -> int:
    kind = event.event
    if kind in _LOADS:
        return _FIRST
    if kind in _OF_A_LEADER:
        return _FIRST if role == "leader" else _LAST
    if kind in _CUTS:
        return _FIRST if role == "follower" and not _cut_later(event, heads) else _LAST
    if kind in STARTS:
        return _START
    if kind in _REQUESTS:
        return _REQUEST
    return _FETCH if kind in _FETCHES else _LATER


def _cut_later(cut: Event, heads: list[Event]) -> bool:
    """Whether a follower starts at the same time with a longer log than the truncation leaves, or without its log end: the truncation
    follows from that start."""
    starts = [e for e in heads if e.event == "follower-start"]
    return any(s.log_end_offset is None or cut.offset is None or s.log_end_offset > cut.offset for s in starts)


_OF_ROLES = STARTS | named("log-load", "partition-state")


def _role(events: Sequence[Event], role: str | None) -> str | None:
    """The broker's role after these events; `role` is its role before them."""
    for event in reversed(events):
        kind = event.event
        if kind not in _OF_ROLES:
            continue
        if kind in STARTS:
            return "leader" if kind == "leader-start" else "follower"
        if kind == "log-load":
            return None
        if event.reason == "received" and event.leader is not None:
            return "leader" if event.leader == event.writer else "follower"
    return role
