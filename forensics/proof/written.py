"""When lost records were written: the span of time in which they were appended to the log that had them.

Here: the bounds of that span. Not here: which records are lost (losses), or when they were lost, which is the begin of the next term.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime

from forensics.model.findings import Salvageable, Written
from forensics.model.message import Range
from forensics.model.partition.replicas import AT_LEAST, AT_MOST, EXACT, Observation
from forensics.model.presence.availability import KILLED, PRESUMED_CRASHED
from forensics.model.times import is_later
from forensics.proof.acknowledged import accepted_until
from forensics.proof.transition import LeaderTransition
from forensics.thresholds import PRODUCER_CLOCK_TOLERANCE
from parsers.kinds import named
from parsers.schemas import moment as of_record

_NEXT = named("segment-roll", "producer-snapshot")


def written(part: Range, transition: LeaderTransition, saved: Salvageable) -> Written:
    """When the offsets of `part`, which are missing in the term of `transition`, were appended. Copies of all of these records show it
    best, then the last record before them, then the brokers' lines. Bounds that contradict each other are not known."""
    begin, end = _bounds(part, transition)
    if saved.held and not saved.missing:
        first = min((p.first for p in saved.producers if p.first is not None), default=None)
        last = max((p.last for p in saved.producers if p.last is not None), default=None)
        if first is not None and last is not None and _plausible(first, begin, end) and _plausible(last, begin, end):
            return Written(first, last)
    before = _last_before(part.start, transition, begin, end)
    since = max((at for at in (begin, before) if at is not None), default=None)
    return Written(None, None) if is_later(since, end) else Written(since, end)


def _bounds(part: Range, transition: LeaderTransition) -> tuple[datetime | None, datetime | None]:
    """By the brokers' lines: after the log was seen to end at or below the first offset, or the term began there; and before it was seen to
    end above the last one, or stopped accepting records."""
    stopped = accepted_until(transition, (KILLED, PRESUMED_CRASHED))
    end = _not_before_its_term(stopped[1], transition) if stopped is not None else transition.term.at
    again = _restarted(transition)
    end = min((at for at in (end, again) if at is not None), default=None)
    own = [o for o in _ends_of_log(transition) if again is None or (o.at is not None and o.at <= again)]
    below = [o.at for o in own if _at_most(o) <= part.start and _by(o.at, end)]
    begin = max((at for at in (_began(part.start, transition), *below) if at is not None), default=None)
    if part.end is not None:
        beyond = [o.at for o in own if o.bound in (EXACT, AT_LEAST) and o.offset >= part.end and o.at is not None]
        end = min((at for at in beyond if (begin is None or at >= begin) and _by(at, end)), default=end)
    return begin, end


def _restarted(transition: LeaderTransition) -> datetime | None:
    """If the leader is the one before, in another process: when the process before had ended. From then on its log is another one."""
    if transition.earlier is None or transition.earlier.leader != transition.leader or transition.term.at is None:
        return None
    ran = (r for r in transition.cluster.availability(transition.leader).runs if r.outcome != "failed")
    runs = [r for r in ran if r.begin_at is None or r.begin_at <= transition.term.at]
    now = runs[-1].begin_at if runs else None
    if now is None or (transition.earlier.at is not None and now <= transition.earlier.at):
        return None
    ended = runs[-2].end_at if len(runs) > 1 and runs[-2].outcome == "stopped" else None
    return min(now, ended) if ended is not None else now


def _not_before_its_term(stopped: datetime, transition: LeaderTransition) -> datetime:
    """A broker may be elected after it has ended, if nothing has shown its end yet: until then another leader accepted records."""
    elected = transition.earlier.at if transition.earlier is not None else None
    return stopped if elected is None else max(stopped, elected)


def _at_most(seen: Observation) -> float:
    """Upper bound of the end of the log at that moment. A segment begins with the next record, although more may follow at once."""
    return seen.offset if seen.bound in (EXACT, AT_MOST) or seen.event.event in _NEXT else math.inf


def _by(at: datetime | None, end: datetime | None) -> bool:
    return at is not None and (end is None or at <= end)


def _ends_of_log(transition: LeaderTransition) -> Iterator[Observation]:
    """Observations of the end of the log that the leader before had."""
    replica = transition.timeline.replicas.get(transition.earlier.leader) if transition.earlier is not None else None
    return (o for o in (replica.observations if replica is not None else ()) if o.quantity == "log-end-offset")


def _began(start: int, transition: LeaderTransition) -> datetime | None:
    """The begin of the last term before that began at or below the offset."""
    return next((t.at for t in transition.timeline.terms_before(transition.term) if t.at_most is not None and t.at_most <= start), None)


def _last_before(start: int, transition: LeaderTransition, begin: datetime | None, end: datetime | None) -> datetime | None:
    """The timestamp of the record before the first lost one, if the timestamps of all records of its epoch are times of that term."""
    for disk in transition.timeline.collected_logs.values():
        kept = [b for b in disk.batches() if b["last_offset"] < start and 0 <= b["leader_epoch"] < transition.term.epoch]
        if kept and kept[-1]["last_offset"] == start - 1:
            of_epoch = [of_record(b["max_timestamp"]) for b in kept if b["leader_epoch"] == kept[-1]["leader_epoch"]]
            began = _began(kept[0]["base_offset"], transition)
            if all(at is not None and _plausible(at, began, end) for at in of_epoch):
                return of_epoch[-1]
    return None


def _plausible(at: datetime, begin: datetime | None, end: datetime | None) -> bool:
    return (begin is None or at >= begin - PRODUCER_CLOCK_TOLERANCE) and (end is None or at <= end + PRODUCER_CLOCK_TOLERANCE)
