"""What was lost: removed records that no later leader's log held.

Here: the join of replicas' removals with leader terms, which gives lost offset ranges with cause, commitment and certainty; and
the windows in which a loss cannot be excluded. Not here: how a removal is read from a log (spark.partition.replicas) or reported (rules), what
a leader had when it began (succession), or who may have been told of the records (acknowledged).

The reasoning is Kafka's own (KIP-101): a record is known by its leader epoch and offset. A leader that begins at log end
offset O holds no record of an earlier term at O or above, so whatever an earlier term's log held there is gone with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from forensics.model import Range
from forensics.partition.acknowledged import excuse
from forensics.partition.before_epochs import (
    cut_after,
    reached_by_isr,
    told_at_election,
    told_high_watermark,
)
from forensics.partition.elections import Election, Proof, elections
from forensics.partition.handovers import Handover
from forensics.partition.remembered import last_kept
from forensics.partition.removed import Piece, removed
from forensics.partition.succession import Succession
from spark.cluster.facts import Cluster
from spark.cluster.presence import SLACK
from spark.events import Event
from spark.partition.continuity import Unsure
from spark.partition.replicas import Removal
from spark.partition.timeline import PartitionTimeline, Term


@dataclass(frozen=True, slots=True)
class Committed:
    """All of it was below a high watermark that was seen, or in the logs of a whole ISR."""

    told: Event


@dataclass(frozen=True, slots=True)
class NeverCommitted:
    """The new leader was in the ISR right before, with all of its log: the high watermark cannot have passed its log end offset."""

    ground: Proof


Commitment = Committed | NeverCommitted | None
"""Whether the records were committed; None: not in evidence."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Both ends are in evidence: how far the log went that had it, and where the new leader began, or what stands in its place."""

    reached: Removal
    began: Term | tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What else may be gone right below a range that is proven to be: the new leader may have had it, or has replaced it."""

    range: Range
    confidence: Unsure
    """'probable' where the high watermark stood still at its start until the old leader died, else 'possible'."""
    evidence: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """Offsets gone at the beginning of `term`. With an open range, which begins at `reached` where what is below is a loss of its own, offsets
    up to `reached` are gone for sure."""

    range: Range
    reached: int
    term: Term
    cause: str
    commitment: Commitment
    grade: Measured | Unsure
    at_least: bool
    """The end is the last checkpoint before the broker died: a little more may have been there."""
    excuse: str | None
    """Why nobody may have been told that these records were written; None when somebody was, for all the evidence tells."""
    weighed: bool
    """What would excuse it, were it so, is in evidence; else that anybody misses them is no more than possible either."""
    removals: tuple[Removal, ...]
    high_watermark: int | None
    evidence: tuple[Event, ...]
    election: Election | None
    handover: Handover | None
    """How the leader before gave way, where it lived."""
    still_on: tuple[int, ...]
    """Brokers on whose disks the records still lie."""
    proven: bool = False
    """Where the term began is not in evidence: the range is what is proven to be gone, and more below it may be."""
    earlier: Earlier | None = None

    @property
    def committed(self) -> bool | None:
        return None if self.commitment is None else isinstance(self.commitment, Committed)

    @property
    def confidence(self) -> str:
        return "certain" if isinstance(self.grade, Measured) else self.grade


@dataclass(frozen=True, slots=True)
class Doubt:
    """A loss that cannot be excluded: every in-sync replica stopped uncleanly before `term` began at `start`."""

    start: int
    term: Term
    brokers: tuple[int, ...]
    cut: bool
    alone: bool
    evidence: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Deposed:
    """A leader that lived on after another was elected cut its log to its high watermark `start` when it obeyed: what it had taken alone
    is gone, and no line before leader epochs says whether there was any, or how far it went."""

    start: int
    term: Term
    broker: int
    commitment: NeverCommitted | None
    evidence: tuple[Event, ...]


@last_kept
def losses(timeline: PartitionTimeline, cluster: Cluster) -> list[Loss]:
    """All losses of a partition, in the order of the terms they came with."""
    found = removed(timeline, cluster)
    return [loss for order in sorted(found) for loss in _told(found[order], Succession(found[order][0].term, timeline, cluster))]


def _told(pieces: Sequence[Piece], s: Succession) -> list[Loss]:
    term = s.term
    longest = max(pieces, key=lambda p: (p.end, p.removal.settled, -p.start)).removal
    first = min(pieces, key=lambda p: (p.start, p.proven))
    start, end = first.start, longest.end
    removals = tuple(dict.fromkeys(p.removal for p in sorted(pieces, key=lambda p: (-p.end, not p.removal.settled))))
    alone = s.lost_alone(removals)
    bounded = longest.settled and not alone and not s.untold_since
    parts = _by_commitment(Range(start, end), longest, removals, s)
    had = any(isinstance(commitment, Committed) for _, commitment, _ in parts)
    found = []
    for part, commitment, hw in parts:
        cause = _cause(s, removals, commitment, had)
        if cause == "inherited-log" and _brought_again(part, s):
            continue
        why, weighed = None, True
        never = isinstance(commitment, NeverCommitted)
        if never or (commitment is None and (not s.unclean or s.perhaps_unclean)):
            why, weighed = excuse(part, longest.exact, never, s)
            weighed = weighed or cause not in (*_TAILS, "unclean-election")
        involved = removals if cause != "hw-truncation" or s.cut is None or s.cut in removals else (*removals, s.cut)
        grade = _grade(longest, s)
        if cause == "inherited-log" and not s.tells_start:
            commitment, grade = None, "possible"  # the leader may have brought them, too
        if first.seen:
            grade = Measured(longest, first.seen) if longest.exact and not first.several else "probable"
        if first.several:
            commitment, cause = None, "unknown"
        told = (*longest.evidence, *term.evidence, *([hw[1]] if hw else []), *(e for r in involved[1:] for e in r.evidence), *first.seen)
        found.append(
            Loss(
                range=part,
                reached=end,
                term=term,
                cause=cause,
                commitment=commitment,
                grade=grade if why is None and weighed else "possible",
                at_least=bounded and not longest.exact,
                excuse=why,
                weighed=weighed,
                removals=involved,
                high_watermark=hw[0] if hw else None,
                evidence=tuple(dict.fromkeys(told)),
                election=s.election,
                handover=s.gave_way,
                still_on=tuple(sorted({r.broker for r in removals if r.cause in ("left-behind", "stray")})),
                proven=first.proven,
                earlier=_below_the_proven(first, commitment, hw, why, s) if part.start == start else None,
            )
        )
    if alone and found:
        return [replace(found[0], range=Range(start, None), grade="possible")]
    if not bounded and found:
        found.append(replace(found[-1], range=Range(end, None), grade="possible", earlier=None))
    return found


_TAILS = ("uncommitted-tail", "unknown")
"""Causes with which no other replica is known to have had what was cut: whether anybody was told of it, only the producers' batches tell."""


def _below_the_proven(
    piece: Piece, commitment: Commitment, hw: tuple[int, Event] | None, excused: str | None, s: Succession
) -> Earlier | None:
    """A clean leader had everything below the high watermark, and any leader what its own log is known to have held. From there to where
    the loss is proven the new leader may have had the records of the old one, or have written others."""
    term, removal, end = piece.term, piece.removal, piece.start
    if not piece.proven or piece.several or not (isinstance(commitment, NeverCommitted) or s.unclean) or _unwritten(piece):
        return None
    own = told_high_watermark(removal, s.timeline)
    told = [] if s.unclean else [*told_at_election(term, s.timeline), *(t for t in (hw, own) if t is not None)]
    start = max(term.at_least, removal.start if s.timeline.has_epochs else 0, *(offset for offset, _ in told))
    if start >= end:
        return None
    there = tuple(dict.fromkeys(event for offset, event in told if offset == start))
    stood = not s.unclean and excused is None and own is not None and own[0] == start and len({event.writer for event in there}) > 1
    return Earlier(Range(start, end), "probable" if stood else "possible", there)


def _unwritten(piece: Piece) -> bool:
    """Nothing was written since the term began: it began where the log ends today."""
    written = max((e.at for e in piece.seen if e.event == "segment" and e.at is not None), default=None)
    return written is not None and piece.term.at is not None and written < piece.term.at


def _high_watermark(removal: Removal, timeline: PartitionTimeline) -> tuple[int, Event] | None:
    """The highest HW anybody saw while the removed records' epoch was the latest known."""
    last = removal.epoch if removal.epoch is not None or removal.under_epoch is None else removal.under_epoch - 1
    seen = [
        (o.offset, o.event)
        for replica in timeline.replicas.values()
        for o in replica.observations
        if o.quantity == "high-watermark"
        and (last is None or o.epoch is None or o.epoch <= last)
        and (o.event not in removal.evidence[-1:] or removal.cause == "left-behind")
        and o.offset <= removal.end
    ]
    disk = timeline.disks.get(removal.broker)
    if removal.cause == "left-behind" and disk is not None and disk.high_watermark is not None and disk.high_watermark.offset is not None:
        seen.append((disk.high_watermark.offset, disk.high_watermark))
    return max(seen, key=lambda s: s[0], default=None)


_Part = tuple[Range, Commitment, tuple[int, Event] | None]


def _by_commitment(whole: Range, removal: Removal, removals: Sequence[Removal], s: Succession) -> list[_Part]:
    """The range, split where it is known to: below the HW, or where the whole ISR had it, committed, above not or unknown."""
    assert whole.end is not None
    told = (_high_watermark(removal, s.timeline), *(told_high_watermark(r, s.timeline) for r in removals))
    hw = max((t for t in told if t is not None), key=lambda t: t[0], default=None)
    before = s.term.before
    if before is None:
        marks, above = [hw], None
    elif s.commits_alone:
        return [(whole, Committed(before.event), hw)]
    else:
        reached = reached_by_isr(s.term, s.timeline)
        marks = [hw, (reached, before.event) if reached is not None else None]
        held_all = s.term.leader in (*before.isr, *before.eligible) and s.whole and not s.came_back and not s.once_had(whole.start)
        dated = removal.epoch is not None  # else they may have been gone before this term
        above = NeverCommitted(s.clean) if held_all and dated and s.clean is not None else None
    safe, by = max((mark for mark in marks if mark is not None), key=lambda mark: mark[0], default=(0, None))
    if by is None or safe <= whole.start:
        return [(whole, above, hw)]
    if safe >= whole.end:
        return [(whole, Committed(by), hw)]
    return [(Range(whole.start, safe), Committed(by), hw), (Range(safe, whole.end), above, hw)]


def _cause(s: Succession, removals: Sequence[Removal], commitment: Commitment, had: bool) -> str:
    """`had`: some of the records were committed, so that a leader that was in sync once had them."""
    term, never = s.term, isinstance(commitment, NeverCommitted)
    if s.unclean:
        return "unclean-election"
    if term.epoch == 0 and not term.restart and s.timeline.created():
        return "inherited-log"  # before its first term the partition had no records: what was cut is of another of that name
    if any(r.broker in s.brought and r.end == s.brought[r.broker].log_end_offset for r in removals):
        return "inherited-log"
    if s.came_back_empty:
        return "empty-replica"
    if s.cut is not None and not never:
        return "hw-truncation"
    if s.recovered:
        return "corruption" if s.corrupted else "unflushed-log" if had or s.shorter(term.leader) else "unknown"
    if never:
        return "uncommitted-tail"
    if any(r.cause == "high-watermark" and r.broker == term.leader for r in removals):
        return "hw-truncation"
    in_sync = s.election is not None and s.election.clean is not None and not s.came_back
    return "uncommitted-tail" if in_sync and commitment is None else "unknown"


def _brought_again(part: Range, s: Succession) -> bool:
    """A later leader had brought as much of the partition of that name before, and cut nothing of it: they are there again."""
    end = part.end or part.start
    kept = {b for b, load in s.brought.items() if (load.log_end_offset or 0) >= end > 0}
    kept = {b for b in kept if all(r.start >= end for r in s.timeline.removals_of(b))}
    return any(t.leader in kept for t in s.timeline.terms if t.order > s.term.order)


def _grade(removal: Removal, s: Succession) -> Measured | Unsure:
    """Up to where the log was seen it is all gone, whether it ended there or went on."""
    if _grown_since(removal, s) or s.timeline.mixed is not None:
        return "possible"
    if s.perhaps_unclean or s.term.at_most is None:
        return "probable"
    return Measured(removal, s.term)


def _grown_since(removal: Removal, s: Succession) -> bool:
    """A follower that came back empty had told of its log's end last when the term had long begun: it may have had those records from the
    leader of that term, in a time that is not in evidence."""
    if removal.cause not in ("empty", "restart") or not removal.evidence:
        return False
    led = any(t.leader == removal.broker and t.epoch == removal.epoch for t in s.timeline.terms)
    told = removal.evidence[0].at
    return not led and removal.broker != s.term.leader and told is not None and s.term.at is not None and told > s.term.at + SLACK


def deposed(timeline: PartitionTimeline, cluster: Cluster) -> list[Deposed]:
    """Leaders before leader epochs that were alive, and were refused to change the ISR, when another had been elected."""
    if timeline.has_epochs:
        return []
    told = {(loss.term.epoch, r.broker) for loss in losses(timeline, cluster) for r in loss.removals}
    judged = {e.term.order: e for e in elections(timeline, cluster)}
    found = []
    for before, term in pairwise(t for t in timeline.terms if not t.restart):
        old = timeline.replicas.get(before.leader) if before.leader != term.leader else None
        obeyed = next((f for f in old.follower_starts if f.epoch >= term.epoch), None) if old is not None else None
        if obeyed is None or (term.epoch, before.leader) in told:
            continue
        refused = _refused(before.leader, obeyed.event, timeline)
        cut = cut_after(before.leader, obeyed.event, timeline)
        if not refused or cut is None or cut.offset is None:
            continue
        clean = judged.get(term.order)
        ground = clean.clean if clean is not None else None
        evidence = (*before.evidence[-1:], *term.evidence, *refused[:2], obeyed.event, cut)
        found.append(
            Deposed(
                max(cut.offset, term.start_offset or 0),
                term,
                before.leader,
                NeverCommitted(ground) if ground is not None else None,
                evidence,
            )
        )
    return found


def _refused(broker: int, obeyed: Event, timeline: PartitionTimeline) -> list[Event]:
    """ISR changes that a leader was refused in its last leadership before it obeyed, by the process that obeyed. Told by its own log alone:
    no clock but its own."""
    old = timeline.replicas[broker]
    begins = {*(s.event for s in old.leader_starts), *(load.event for load in old.loads)}
    before = old.events[: old.events.index(obeyed)]
    start = next((n for n in reversed(range(len(before))) if before[n] in begins), None)
    if start is None or before[start].event == "log-load":
        return []
    return [e for e in before[start:] if e.event == "isr-rejected"]


def doubts(timeline: PartitionTimeline, cluster: Cluster) -> list[Doubt]:
    """Terms at whose beginning records may be missing and no file can tell.

    All replicas of the last ISR were restarted after an unclean stop. If only the processes died, the page cache kept every
    record; if the machines lost power, what was not flushed is gone, and the recovered log looks the same in both cases.
    """
    told = {loss.term.order for loss in losses(timeline, cluster)}
    found: list[Doubt] = []
    for term in timeline.terms:
        before = term.before
        if before is None or not before.isr or term.start_offset is None or term.order in told:
            continue
        if any(other.start_offset == term.start_offset and other.leader == term.leader and other.order in told for other in timeline.terms):
            continue
        if found and (found[-1].start, found[-1].term.leader) == (term.start_offset, term.leader):
            continue
        s = Succession(term, timeline, cluster)
        if term.leader not in before.isr or not all(map(s.recovered_by, before.isr)):
            continue
        loads = [load for b in before.isr for load in s.unclean_loads(b)]
        evidence = (before.event, *(load.event for load in loads), *term.evidence)
        found.append(Doubt(term.at_least, term, before.isr, any(x.cut for x in loads), len(before.isr) == 1, evidence))
    return found
