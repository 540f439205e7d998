"""A broker's events of a partition, without repetitions and without those of other copies of the replica.

Here: lines that a log or a second copy of it repeats, runs of one line, and the lines of the temporary log of a move between directories.
Not here: the order of events (order).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from forensics.model.clock.copies import NONE, Copies
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
_TRIED_AGAIN = of(role=Role.FETCH_FAILS)
"""Failures of what is tried all the time: after a pause, they are other failures."""


@cached_on_cluster
def joins(cluster: Cluster) -> dict[str, list[int]]:
    """The lines at which the time of a file steps back, by file: parts of logs that were put together may overlap there."""
    sources = (s for own in cluster.by_number.values() for s in own.sources if s.steps_back)
    return {s.path: sorted(line for line, *_ in s.steps_back) for s in sources}


def fold(events: Sequence[Event], copies: Copies = NONE) -> list[Event]:
    """Drops lines that another copy of the same log repeats, and folds runs of one fact within one file."""
    events = copies.in_originals(events)
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
