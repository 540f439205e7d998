"""A broker's events of a partition, each told once and of the replica only.

Here: what a second copy of a log repeats, runs of one line, and the lines of a log that is only the copy of a move between directories.
Not here: the order of events (order).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from operator import attrgetter

from parsers.kinds import ON_DISK, By, Role, named, of
from spark.events import Event

FOLDED = of(
    role=Role.STATE | Role.REFUSED | Role.ISR_REFUSED | Role.APPEND | Role.FETCHING_ENDS | Role.FETCH_FAILS,
    by=By.LEADER | By.FOLLOWER | By.REPLICA,
)
FOLDED_BY = ("event", "leader", "leader_epoch", "partition_epoch", "offset", "log_end_offset", "high_watermark", "broker", "reason", "isr")
"""Kinds that are folded, and what makes two of a kind one fact."""
_fact = attrgetter(*FOLDED_BY)


def fold(events: Sequence[Event], copies: Collection[str] = ()) -> list[Event]:
    """Drops what another copy of the same log repeats (`copies`: sources that may hold lines of others), and folds runs of one
    and the same fact of one file."""
    seen: dict[tuple[str | None, datetime | None], str] = {}
    kept: list[Event] = []
    last: dict[str, tuple[object, Event]] = {}
    for e in events:
        copied = e.line is not None and e.text and e.source in copies and e.event not in ON_DISK
        if copied and seen.setdefault((e.text, e.at), e.source) != e.source:
            continue
        key = _fact(e)
        previous = last.get(e.source)
        if previous is not None and e.event in FOLDED and previous[0] == key:
            previous[1].repeats += e.repeats
            previous[1].last_at = e.last_at
            continue
        last[e.source] = (key, e)
        kept.append(e)
    return kept


_OF_A_LOG = of(by=By.LOG)
MADE = named("log-created", "log-load")
"""A log is there, made or loaded, from then on."""


def without_future_logs(events: Sequence[Event]) -> list[Event]:
    """A broker's events of a partition, in its own order, less those of a future log: the copy that a move between its log directories
    (KIP-113, 1.1) fills prints the lines that the replica's own log prints, in another directory, until it takes its place.

    Before 2.8 nothing says that a log is created as a copy: it is one if the replica has a log elsewhere that is there afterwards.
    """
    kept: list[Event] = []
    own: str | None = None
    future: str | None = None
    for place, e in enumerate(events):
        if e.event == "log-moved":
            own, future = future or own, None
        elif e.line is not None and e.directory is not None and e.event in _OF_A_LOG:
            if e.reason == "future" or (e.event == "log-created" and own not in (None, e.directory) and _goes_on(events[place + 1 :], own)):
                future = e.directory
            elif e.directory == future and e.pattern == "log-loaded":
                future = None  # it took the replica's place where no line tells
            if e.directory == future:
                future = None if e.event == "log-deleted" else future
                continue
            own = None if e.event == "log-deleted" else e.directory
        kept.append(e)
    return kept


def _goes_on(later: Sequence[Event], own: str | None) -> bool:
    """The log the replica had when another was created is still there after it."""
    for e in later:
        if e.event == "log-moved":
            return True
        if e.line is not None and e.event in _OF_A_LOG and e.directory is not None:
            if e.directory == own:
                return True
            if e.event in MADE:
                return False
    return False
