"""Losses as findings report them: the parts of a row's removed records with cause, commitment and confidence, computed from the rows.

Here: losses, two kinds of losses that cannot be excluded, and the span of time in which lost records were appended to the log that had them.
Not here: when they were lost, which is the begin of the next term, the rows (handovers), the verdict (verdict), or the words of a finding
(forensics.rules.data_loss).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise, takewhile
from operator import itemgetter

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import LostPart, Salvageable, Written
from forensics.model.message import Message, Range
from forensics.model.partition.replicas import AT_LEAST, AT_MOST, EXACT, Observation, Removal
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline, Term, cached_on_timeline
from forensics.model.presence.availability import KILLED, PRESUMED_CRASHED
from forensics.model.times import is_later
from forensics.proof.acknowledged import accepted_until
from forensics.proof.handovers import transitions
from forensics.proof.pre_kip101 import cut_after
from forensics.proof.transition import LeaderTransition
from forensics.proof.verdict import (
    EMPTY,
    FOREIGN,
    HW_TRUNCATION,
    POSSIBLE,
    PROBABLE,
    STRENGTH,
    TAIL,
    UNFLUSHED,
    UNKNOWN,
    Cell,
    Handover,
    Lost,
    cause,
    removed_range,
    suspected_outside,
)
from forensics.proof.verdict import losses as lost_in
from forensics.thresholds import PRODUCER_CLOCK_TOLERANCE
from parsers.frozen import dataclass
from parsers.kinds import named
from parsers.schemas import moment as of_record


@dataclass(frozen=True, slots=True)
class Below:
    """Records right below a loss that is only proven from its start on; they are probably or possibly gone as well."""

    range: Range
    confidence: str
    evidence: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """What one hand-over lost: offsets that were in a log of an earlier leader and not in that of the new one. The log was cut once and at
    one place, whatever is known of the records above."""

    parts: tuple[LostPart, ...]
    """By what is known of them, rising."""
    reached: int
    """Offset (exclusive) that the lost log is known to have reached."""
    cause: str
    row: Handover
    transition: LeaderTransition
    below: Below | None = None

    @property
    def sure(self) -> Sequence[LostPart]:
        """The parts that are at least probable; if there are none, all."""
        return [p for p in self.parts if p.confidence != POSSIBLE] or self.parts

    @property
    def worst(self) -> LostPart:
        """Its worst part: a committed part, else a part that may have been committed."""
        return _worst(self.sure)

    @property
    def _cut(self) -> Sequence[LostPart]:
        """Those that are surely gone, without those that were never committed if others were."""
        return [p for p in self.sure if p.committed is not False] or self.sure

    @property
    def committed(self) -> bool | None:
        """Whether the records of the range, as far as it is known, were committed; None if unknown for some."""
        known = [p for p in self._cut if p.offsets.end is not None] or self._cut
        return self.worst.committed if len({p.committed for p in known}) == 1 else None

    @property
    def confidence(self) -> str:
        return self.worst.confidence

    @property
    def range(self) -> Range:
        """From where the log was cut to the last of those that are surely gone, without those that were never committed if others were."""
        return Range(self.parts[0].offsets.start, self._cut[-1].offsets.end)

    @property
    def term(self) -> Term:
        """The term that began without these records."""
        return self.transition.term

    @property
    def removals(self) -> tuple[Removal, ...]:
        """The removals from logs that had some of these records, or may have had some, the furthest first."""
        cut = self.transition.cut if self.cause == HW_TRUNCATION else None
        found = dict.fromkeys((*self.transition.removals, *((cut,) if cut is not None else ())))
        return tuple(r for r in found if _reaches(r, self.parts[0].offsets))

    @property
    def proven(self) -> bool:
        """The start of the term is unknown: the range is what is proven to be gone, and records below it may be gone, too."""
        found = removed_range(self.row)
        return found is not None and not found[0].start.exact

    @property
    def open(self) -> bool:
        """No evidence shows where the lost log ended."""
        return self.parts[-1].offsets.end is None

    @property
    def excuse(self) -> Message | None:
        """Why those records that are not known to be committed may not have been acknowledged to any producer."""
        because = self.row.resent_because
        return because if any(p.committed is not True for p in self.parts) and isinstance(because, Message) else None

    @property
    def weighed(self) -> bool:
        """Whether it could be decided if the records had been acknowledged to a producer."""
        return self.row.resent.only(Cell.NO) or self.row.resent_because is not None

    @property
    def high_watermark(self) -> int | None:
        """The highest one observed before; None if it follows from the ISR alone."""
        mark, before = self.row.high_watermark, self.term.before
        return mark.at_least if mark.low and (before is None or mark.low[0] is not before.event) else None

    @property
    def evidence(self) -> tuple[Event, ...]:
        seen = tuple(e for piece in self.transition.pieces for e in piece.seen)[:2]
        others = (e for r in self.removals[1:] for e in r.evidence)
        return tuple(dict.fromkeys((*self.removals[0].evidence, *self.term.evidence, *self.row.high_watermark.low, *others, *seen)))


@cached_on_timeline
def losses(timeline: PartitionTimeline, cluster: Cluster) -> tuple[Loss, ...]:
    """All losses of a partition, in the order of the rows."""
    return tuple(loss for row, transition in transitions(timeline, cluster) if (loss := loss_of(row, transition)) is not None)


def _worst(parts: Iterable[LostPart]) -> LostPart:
    return min(parts, key=lambda p: ((True, None, False).index(p.committed), -STRENGTH.index(p.confidence)))


def _reaches(removal: Removal, part: Range) -> bool:
    return removal.end > part.start or (part.end is None and removal.end == part.start)


def holders(transition: LeaderTransition) -> Iterator[tuple[int, int, int]]:
    """Brokers whose logs were not cut, each with the offset up to which its disk surely has the log, and that up to which it may have it.
    By the collected files. A log that was not collected is as its lines say if its process did not crash since: a power loss takes what was
    not flushed."""
    for removal in transition.removals:
        if removal.cause in ("left-behind", "stray"):
            broker, left = removal.broker, removal.cause == "left-behind"
            disk = transition.timeline.collected_logs.get(broker) if left else None
            if disk is not None and disk.reach is not None:
                yield broker, min(removal.end, disk.reach), min(removal.end, disk.reach)
            else:
                flushed = disk.recovery_point.offset if disk is not None and disk.recovery_point is not None else None
                yield broker, removal.end if not left or _intact(broker, transition.cluster) else flushed or 0, removal.end


def _intact(broker: int, cluster: Cluster) -> bool:
    """Its last process stopped cleanly, or runs when the evidence ends."""
    availability = cluster.availability(broker)
    return availability.running is not None or (bool(availability.runs) and availability.runs[-1].outcome == "stopped")


def loss_of(row: Handover, transition: LeaderTransition) -> Loss | None:
    """The loss in a hand-over; None if nothing is known to be lost."""
    lost = list(lost_in(0, row))
    known = (LostPart(Range(x.start, x.end), x.committed, x.confidence) for x in lost)
    parts = [p for part in known for p in _by_holder(part, transition)]
    if not parts:
        return None
    worst, had = _worst([p for p in parts if p.confidence != POSSIBLE] or parts), any(part.committed for part in lost)
    why = cause(row, worst.committed, any_committed=had)
    if why == FOREIGN:
        start = parts[0].offsets.start if parts[-1].offsets.end is None else None
        parts = [p for p in parts if not _brought_again(start if start is not None else p.offsets.end or 0, transition)]
    if not parts:
        return None
    closed = [n for n, p in enumerate(parts) if p.offsets.end is not None]
    last = max((n for n in closed if parts[n].confidence != POSSIBLE), default=max(closed, default=None))
    if last is not None and parts[-1].offsets.end is None:
        parts[last] = replace(parts[last], at_least=True)
    below = _below(row, lost[0]) if parts[0].offsets.start == lost[0].start else None
    return Loss(tuple(parts), max(x.end if x.end is not None else x.start for x in lost), why, row, transition, below)


def _by_holder(part: LostPart, transition: LeaderTransition) -> Iterator[LostPart]:
    """The part, split where a disk that still has some of it ends, each with those that have all of it. If its own end is open, more than
    is known may be on that disk."""
    disks, end = list(holders(transition)), part.offsets.end
    inside = sorted({to for _, *both in disks for to in both if end is not None and part.offsets.start < to < end})
    for start, stop in pairwise((part.offsets.start, *inside, end)):
        known = stop if stop is not None else (start or 0) + 1
        surely = {broker for broker, to, _ in disks if to >= known}
        perhaps = {broker for broker, to, most in disks if to < known <= most}
        yield replace(part, offsets=Range(start or 0, stop), still_on=tuple(sorted(surely)), perhaps_on=tuple(sorted(perhaps)))


def _below(row: Handover, part: Lost) -> Below | None:
    """Records that may be gone below the proven start: down to the offset up to which the new leader is known to have had the log."""
    found = removed_range(row)
    if found is None or found[0].start.exact or not found[0].lost_in_this_handover.only(Cell.YES) or found[0].start.at_least >= part.start:
        return None
    if part.committed is not False and not suspected_outside(row):
        return None
    likely = found[0].likely_start is not None and row.resent_because is None
    start = found[0].start
    return Below(Range(start.at_least, part.start), PROBABLE if likely else POSSIBLE, start.low)


def _brought_again(end: int, transition: LeaderTransition) -> bool:
    """A later leader had brought as much of the partition of that name from an earlier cluster, and cut nothing of it: the records are
    there again."""
    kept = {b for b, load in transition.brought.items() if (load.log_end_offset or 0) >= end > 0}
    kept = {b for b in kept if all(r.start >= end for r in transition.timeline.removals_of(b))}
    return any(t.leader in kept for t in transition.timeline.terms if t.order > transition.term.order)


# losses that cannot be excluded


@dataclass(frozen=True, slots=True)
class Doubt:
    """Records from `start` on may be gone with the term of `transition`. No evidence shows whether there were any, or how far they went."""

    how: str
    """'alone': a leader that kept running after another was elected cut its log to its high watermark when it followed. Before leader
    epochs no line shows what only it had appended. 'unflushed': every in-sync replica stopped uncleanly. 'emptied': the only in-sync
    replica led on with an empty log that had begun at `start`."""
    start: int
    transition: LeaderTransition
    brokers: tuple[int, ...]
    evidence: tuple[Event, ...]
    cause: str
    committed: bool | None = None
    reached: int | None = None
    """An offset that the log had reached, without a line that shows what retention had kept below."""


def doubts(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Doubt]:
    """Losses that cannot be excluded."""
    yield from deposed(timeline, cluster)
    yield from unflushed(timeline, cluster)
    yield from emptied(timeline, cluster)


def deposed(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Doubt]:
    """Leaders before leader epochs that were running, and whose ISR changes were refused, when another leader had been elected."""
    for row, transition in transitions(timeline, cluster) if not timeline.has_epochs else ():
        before = transition.before
        if before is None or before.leader == transition.leader or any(r.broker == before.leader for r in row.removed):
            continue
        old = timeline.replicas.get(before.leader)
        follows = next((f.event for f in old.follower_starts if f.epoch >= transition.term.epoch), None) if old is not None else None
        if follows is not None:
            yield from _deposed(row, transition, before, follows)


def _deposed(row: Handover, transition: LeaderTransition, before: Term, follows: Event) -> Iterator[Doubt]:
    refused = _refused(before.leader, follows, transition.timeline)
    cut = cut_after(before.leader, follows, transition.timeline)
    if refused and cut is not None and cut.offset is not None:
        evidence = (*before.evidence[-1:], *transition.term.evidence, *refused[:2], follows, cut)
        committed = False if row.election.only(Cell.IN_ISR, Cell.ELIGIBLE) and transition.joined_behind is None else None
        start, why = max(cut.offset, transition.term.start_offset or 0), TAIL if committed is False else UNKNOWN
        yield Doubt("alone", start, transition, (before.leader, transition.leader), evidence, why, committed)


def _refused(broker: int, follows: Event, timeline: PartitionTimeline) -> list[Event]:
    """Refused ISR changes of a leader in its last leadership before it followed, by the process that followed."""
    old = timeline.replicas[broker]
    begins = {*(s.event for s in old.leader_starts), *(load.event for load in old.loads)}
    before = old.events[: old.events.index(follows)]
    start = next((n for n in reversed(range(len(before))) if before[n] in begins), None)
    if start is None or before[start].event == "log-load":
        return []
    return [e for e in before[start:] if e.event == "isr-rejected"]


def unflushed(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Doubt]:
    """Terms at whose begin records may be missing without a trace. If only the processes crashed, the page cache kept every record. If the
    machines lost power, unflushed records are gone, and the recovered log looks the same."""
    hops = list(transitions(timeline, cluster))
    lost = {(row.new_leader, row.new_log_end.at_least) for row, _ in hops if removed_range(row) is not None}
    last: tuple[int, int | None] | None = None
    for row, transition in hops:
        start = (transition.leader, transition.term.start_offset)
        before = _last_in_sync(transition)
        if before is None or removed_range(row) is not None or start == last or start in lost or not _all_recovered(transition):
            continue
        loads = [load.event for b in before.isr for load in transition.unclean_loads(b)]
        last = start
        yield Doubt(
            "unflushed", transition.term.at_least, transition, before.isr, (before.event, *loads, *transition.term.evidence), UNFLUSHED
        )


def emptied(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Doubt]:
    """Terms at whose begin the only in-sync replica had lost its whole log, if no removal shows what the log held."""
    for row, transition in transitions(timeline, cluster):
        before = _last_in_sync(transition)
        if (
            row.log.only(Cell.WIPED)
            and before is not None
            and transition.before is not None
            and before.isr == (transition.leader,)
            and not row.removed
        ):
            evidence = (before.event, *transition.created_again[-1:], *transition.term.evidence)
            yield Doubt(
                "emptied", transition.log_start_before, transition, (transition.leader,), evidence, EMPTY, reached=transition.reached_before
            )


def _last_in_sync(transition: LeaderTransition) -> State | None:
    """The last state before the term with a replica in sync. With KIP-966 the ISR is empty while its last member is down; None if another
    replica was eligible then."""
    before = transition.term.before
    if before is None or before.isr:
        return before
    earlier = takewhile(lambda state: state is not before, transition.timeline.states)
    last = max(((n, state) for n, state in enumerate(earlier) if state.isr), default=(0, None), key=itemgetter(0))[1]
    return last if not set(before.eligible) - {transition.leader} else None


def _all_recovered(transition: LeaderTransition) -> bool:
    """The leader was in the ISR, and every member of it recovered its log after an unclean stop."""
    before = _last_in_sync(transition)
    if before is None or transition.term.start_offset is None or transition.leader not in before.isr:
        return False
    return all(map(transition.recovered, before.isr))


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
