"""One broker's events in the order they happened: each file in its own order, files merged by time, ties by cause.

Here: the merge. Not here: the order between brokers, which is that of epochs (timeline), or the correction of clocks (clocks).

Two files of a broker often tell one change in the same moment, and where a layout keeps whole seconds only, all of a failover is one
moment. What Kafka cannot do then decides: a follower neither changes an ISR nor a leader truncates, and a log is loaded before it leads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

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
    files = [_timed(by_source[source]) for source in sorted(by_source)]
    return [t.event for t in files[0]] if len(files) == 1 else _merged(files)


class _Timed(NamedTuple):
    moment: datetime
    """The latest time read in the file so far."""
    event: Event
    decides: Event
    """This event, or the next of the file in the same moment whose place can be told: what stands before it goes with it."""


def _timed(own: list[Event]) -> list[_Timed]:
    own.sort(key=lambda e: (e.line or 0, e.byte or 0, e.metadata_offset or 0))
    latest = datetime.min
    moments = [latest := max(latest, e.at) if e.at is not None else latest for e in own]
    timed: list[_Timed] = []
    for moment, event in zip(reversed(moments), reversed(own), strict=True):
        follows = timed[-1] if timed and timed[-1].moment == moment else None
        timed.append(_Timed(moment, event, follows.decides if follows is not None and event.event not in _PLACED else event))
    return timed[::-1]


def _merged(files: list[list[_Timed]]) -> list[Event]:
    merged: list[Event] = []
    heads = [0] * len(files)
    live = list(range(len(files)))
    role: str | None = None
    while live:
        now = min(files[f][heads[f]].moment for f in live)
        tied = [f for f in live if files[f][heads[f]].moment == now]
        taken = tied[0] if len(tied) == 1 else _next([files[f][heads[f]].decides for f in tied], tied, role)
        event = files[taken][heads[taken]].event
        role = _role(event, role)
        merged.append(event)
        heads[taken] += 1
        if heads[taken] == len(files[taken]):
            live.remove(taken)
    return merged


def _next(heads: list[Event], files: list[int], role: str | None) -> int:
    """The file whose event comes first of those at one moment."""
    return min(zip(heads, files, strict=True), key=lambda head: (_rank(head[0], heads, role), head[1]))[1]


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


def _role(event: Event, role: str | None) -> str | None:
    if event.event == "log-load":
        return None
    if event.event == "leader-start":
        return "leader"
    if event.event == "follower-start":
        return "follower"
    if event.event == "partition-state" and event.reason == "received" and event.leader is not None:
        return "leader" if event.leader == event.writer else "follower"
    return role
