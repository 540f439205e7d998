"""One broker's events in the order they happened: each file in its own order, files merged by time, ties by cause.

Here: the merge. Not here: the order between brokers, which is that of epochs (timeline), or the correction of clocks (clocks).

Two files of a broker often tell one change in the same moment, and where a layout keeps whole seconds only, all of a failover is one
moment. What Kafka cannot do then decides: a follower neither changes an ISR nor a leader truncates, and a log is loaded before it leads.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from parsers.kinds import STARTS, By, Role, of
from spark.events import Event

_LOADS = of(role=Role.LOAD)
_CUTS = of(role=Role.CUT | Role.PLAN)
_OF_A_LEADER = of(role=Role.ISR_INTENT | Role.ISR | Role.ISR_REFUSED | Role.APPEND, by=By.LEADER)
_FETCHES = of(role=Role.FETCHING | Role.FETCH_FAILS)
_REQUESTS = of(role=Role.STATE | Role.FETCHING_ENDS, by=By.FOLLOWER | By.REPLICA)
_PLACED = _LOADS | STARTS | _CUTS | _OF_A_LEADER | _FETCHES | _REQUESTS

_FIRST, _REQUEST, _START, _FETCH, _LATER, _LAST = range(6)


def file_order(events: Iterable[Event]) -> list[Event]:
    """Events of one broker and partition. A clock that jumps back inside a file does not reorder the file."""
    by_source: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_source[event.source].append(event)
    files = [sorted(by_source[source], key=_place) for source in sorted(by_source)]
    return _merged([_File(own) for own in files]) if len(files) > 1 else [event for own in files for event in own]


def _place(event: Event) -> tuple[int, int, int]:
    return (event.line or 0, event.byte or 0, event.metadata_offset or 0)


class _File:
    """A file's events in its order, and how many of them were taken."""

    def __init__(self, own: list[Event]) -> None:
        self.own = own
        self.moments: list[datetime] = []
        """The latest time read in the file up to each."""
        latest = datetime.min
        for e in own:
            if e.at is not None and e.at > latest:
                latest = e.at
            self.moments.append(latest)
            if e.repeats > 1 and e.last_at is not None and e.last_at > latest:
                latest = e.last_at
        self.taken = 0

    @property
    def now(self) -> datetime:
        return self.moments[self.taken]

    @property
    def decides(self) -> Event:
        """The next event, or the next after it in the same moment whose place can be told: what stands before it goes with it."""
        end = bisect_right(self.moments, self.now, self.taken)
        return next((e for e in self.own[self.taken : end] if e.event in _PLACED), self.own[end - 1])

    def take(self, end: int) -> list[Event]:
        begin, self.taken = self.taken, end
        return self.own[begin:end]


def _merged(files: list[_File]) -> list[Event]:
    merged: list[Event] = []
    role: str | None = None
    while len(files) > 1:
        moments = [f.now for f in files]
        now = min(moments)
        tied = [f for f, moment in zip(files, moments, strict=True) if moment == now]
        if len(tied) == 1:
            first = tied[0]
            events = first.take(bisect_left(first.moments, min(f.now for f in files if f is not first), first.taken))
        else:
            first = _next(tied, role)
            events = first.take(first.taken + 1)
        role = _role(events, role)
        merged += events
        if first.taken == len(first.own):
            files = [f for f in files if f is not first]
    return merged + files[0].own[files[0].taken :]


def _next(tied: list[_File], role: str | None) -> _File:
    """The file whose event comes first of those at one moment."""
    heads = [f.decides for f in tied]
    return min(zip(heads, tied, strict=True), key=lambda head: _rank(head[0], heads, role))[1]


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
    """A follower starts in the same moment with a longer log than the cut leaves, or without saying how long it is: the cut
    follows from it."""
    starts = [e for e in heads if e.event == "follower-start"]
    return any(s.log_end_offset is None or cut.offset is None or s.log_end_offset > cut.offset for s in starts)


def _role(events: Sequence[Event], role: str | None) -> str | None:
    """The broker's role after events of one file, before which it had `role`."""
    for event in reversed(events):
        if event.event == "log-load":
            return None
        if event.event == "leader-start":
            return "leader"
        if event.event == "follower-start":
            return "follower"
        if event.event == "partition-state" and event.reason == "received" and event.leader is not None:
            return "leader" if event.leader == event.writer else "follower"
    return role
