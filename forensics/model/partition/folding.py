"""A broker's events of a partition, without repetitions and without those of other copies of the replica.

Here: lines that a log or a second copy of it repeats, runs of one line, and the lines of the temporary log of a move between directories.
Not here: the order of events (order).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType

from forensics.model.cluster.copies import NONE, Copies
from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.thresholds import SAME_FETCH_FAILURE
from parsers.kinds import ON_DISK, By, Role, named, of

FOLDED = of(
    role=Role.STATE | Role.REFUSED | Role.ISR_REFUSED | Role.APPEND | Role.FETCHING_ENDS | Role.FETCH_FAILS,
    by=By.LEADER | By.FOLLOWER | By.REPLICA,
)
FOLDED_BY = ("event", "leader", "leader_epoch", "partition_epoch", "offset", "log_end_offset", "high_watermark", "broker", "reason", "isr")
"""Columns that must be equal for two events of a kind in FOLDED to count as one fact."""
_fact = attrgetter(*FOLDED_BY)
ATTEMPTS = of(role=Role.REFUSED | Role.ISR_REFUSED | Role.APPEND | Role.FETCH_FAILS)
"""What was tried and failed: the report says how often."""
_TRIED_AGAIN = of(role=Role.FETCH_FAILS)
"""Failures of what is tried all the time: after a pause, they are other failures."""


@cached_on_cluster
def joins(cluster: Cluster) -> dict[str, list[int]]:
    """The lines at which the time of a file steps back, by file: parts of logs that were put together may overlap there."""
    sources = (s for own in cluster.by_number.values() for s in own.sources if s.steps_back)
    return {s.path: sorted(line for line, *_ in s.steps_back) for s in sources}


def fold(events: Sequence[Event], copies: Copies = NONE) -> list[Event]:
    """Drops lines that another copy of the same log repeats, and folds runs of one fact within one file."""
    repeated = copies.stated_elsewhere([e for e in events if e.source in copies.sources and e.line is not None and e.event not in ON_DISK])
    kept: list[Event] = []
    last: dict[str, tuple[object, Event]] = {}
    for e in events:
        if id(e) in repeated:
            continue
        key = _fact(e)
        previous = last.get(e.source)
        if previous is not None and e.event in FOLDED and previous[0] == key and not _apart(previous[1], e):
            previous[1].repeats += e.repeats
            previous[1].last_at = e.last_at
            continue
        last[e.source] = (key, e)
        kept.append(e)
    return kept


def once(
    events: Sequence[Event], of_seconds: Collection[str] = (), joins: Mapping[str, Sequence[int]] = MappingProxyType({})
) -> Sequence[Event]:
    """Of lines that are in a file twice, the first: overlapping parts of a log were put together, or two appenders write to it. In a file with
    whole seconds (`of_seconds`), other lines may print the same. Attempts, which are counted, are made many times in a millisecond: theirs are
    repeated only from one part of a file to another (`joins`: the lines where its time steps back), and the part with most of them counts."""
    printed = [
        ((e.text, e.at, e.source), bisect_right(joins.get(e.source, ()), e.line) if e.event in ATTEMPTS else e.line)
        if e.line is not None and e.at is not None and e.text and e.source not in of_seconds
        else None
        for e in events
    ]
    lines = Counter(filter(None, printed))
    counts: dict[tuple[str, datetime, str], int] = {}
    for (key, part), number in lines.items():
        if (number, -part) > (lines[key, known := counts.setdefault(key, part)], -known):
            counts[key] = part
    if len(counts) == len(lines):
        return events
    return [e for e, of in zip(events, printed, strict=True) if of is None or counts[of[0]] == of[1]]


def _apart(before: Event, e: Event) -> bool:
    """Whether what failed worked between the two."""
    if e.event not in _TRIED_AGAIN or e.at is None or before.last_at is None:
        return False
    return e.at - before.last_at > SAME_FETCH_FAILURE


_OF_A_LOG = of(by=By.LOG)
MADE = named("log-created", "log-load")
"""The log exists, created or loaded, from this event on."""


def without_future_logs(events: Sequence[Event]) -> list[Event]:
    """A broker's events of a partition, in its own order, without those of a future log: a move between log directories (KIP-113, 1.1)
    fills a copy. The copy prints the same lines as the replica's own log, in another directory, until it replaces that log.

    Before 2.8 no line says that a log is created as a copy: it is one if the replica has a log elsewhere that still exists afterwards.
    """
    kept: list[Event] = []
    own: str | None = None
    future: str | None = None
    for place, e in enumerate(events):
        if e.event == "log-moved":
            own, future = future or own, None
        elif e.line is not None and e.directory is not None and e.event in _OF_A_LOG:
            if e.reason == "future" or _creates_copy(e, own, events, place):
                future = e.directory
            elif e.directory == future and e.pattern == "log-loaded":
                future = None  # it replaced the replica's log without a line
            if e.directory == future:
                future = None if e.event == "log-deleted" else future
                continue
            own = None if e.event == "log-deleted" else e.directory
        kept.append(e)
    return kept


def _creates_copy(e: Event, own: str | None, events: Sequence[Event], place: int) -> bool:
    """Whether a log is created while the replica's own log continues to exist in another directory."""
    return e.event == "log-created" and own not in (None, e.directory) and _goes_on(events[place + 1 :], own)


def _goes_on(later: Sequence[Event], own: str | None) -> bool:
    """Whether the replica's own log still exists after another was created."""
    for e in later:
        if e.event == "log-moved":
            return True
        if e.line is not None and e.event in _OF_A_LOG and e.directory is not None:
            if e.directory == own:
                return True
            if e.event in MADE:
                return False
    return False
