"""What was lost: removed records that no later leader's log held.

Here: the join of replicas' removals with leader terms, which gives lost offset ranges with cause, commitment and certainty; and
the windows in which a loss cannot be excluded. Not here: how a removal is read from a log (spark.partition.replicas) or reported (rules).

The reasoning is Kafka's own (KIP-101): a record is known by its leader epoch and offset. A leader that begins at log end
offset O holds no record of an earlier term at O or above, so whatever an earlier term's log held there is gone with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import pairwise
from typing import Any

from forensics.model import Range
from forensics.partition.before_epochs import (
    cut_after,
    cut_before_leading,
    cut_further,
    ends_today,
    reached_by_isr,
    told_at_election,
    told_high_watermark,
)
from forensics.partition.came_through import came_through, knew
from forensics.partition.durability import required
from forensics.partition.elections import Election, elections
from forensics.partition.handovers import Handover, handover
from forensics.partition.inheritance import inherited
from forensics.partition.remembered import last_kept
from forensics.partition.witnesses import tells_isr
from parsers.kinds import ON_DISK, TAKES_PART, Role, named, of
from spark.cluster.effective import strict
from spark.cluster.facts import Cluster
from spark.cluster.presence import DETECTION, SLACK
from spark.events import Event
from spark.partition.continuity import Gap, between
from spark.partition.replicas import AT_LEAST, AT_MOST, Disk, Load, Removal, Replica
from spark.partition.timeline import PartitionTimeline, Term


@dataclass(frozen=True, slots=True)
class Earlier:
    """What else may be gone right below a range that is proven to be: the new leader may have had it, or has replaced it."""

    range: Range
    confidence: str
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
    committed: bool | None
    confidence: str
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
    committed: bool | None
    evidence: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    term: Term
    removal: Removal
    proven: bool = False
    """The term began at `start` or below."""
    several: bool = False
    """It may have been a later one."""
    seen: tuple[Event, ...] = ()


@last_kept
def losses(timeline: PartitionTimeline, cluster: Cluster) -> list[Loss]:
    """All losses of a partition, in the order of the terms they came with."""
    judged = {e.term.order: e for e in elections(timeline, cluster)}
    pieces: dict[tuple[int, int], list[_Piece]] = defaultdict(list)
    overwritten = () if timeline.has_epochs else _overwritten(timeline)
    for removal in (*_removals(timeline), *_left_behind(timeline, cluster), *_discarded(timeline), *overwritten):
        for piece in _pieces(removal, timeline):
            pieces[piece.term.order].append(piece)
    found: list[Loss] = []
    for order in sorted(pieces):
        found.extend(_told(pieces[order], timeline, cluster, judged.get(order)))
    return found


def _removals(timeline: PartitionTimeline) -> list[Removal]:
    return [replace(r, epoch=_written_up_to(r, timeline)) for replica in timeline.replicas.values() for r in replica.removals]


def _written_up_to(removal: Removal, timeline: PartitionTimeline) -> int | None:
    """The last leader epoch of what was removed: the last of which the broker's own log knows, below the cut, too, since epochs rise in a
    log; or in which it led or came into the ISR by what others say. With that its log was that leader's."""
    if removal.epoch is None or removal.under_epoch is None:
        return removal.epoch
    led = [t.epoch for t in timeline.terms if t.leader == removal.broker]
    joined = [s.leader_epoch for before, s in pairwise(timeline.states) if removal.broker in s.isr and removal.broker not in before.isr]
    kept = timeline.lineages[removal.broker].epoch_at(removal.start - 1) if removal.broker in timeline.lineages else None
    known = [*led, *joined, *((kept,) if kept is not None else ())]
    return max((e for e in known if removal.epoch < e < removal.under_epoch), default=removal.epoch)


def _overwritten(timeline: PartitionTimeline) -> list[Removal]:
    """Before leader epochs a returning replica kept what another leader had replaced, if its high watermark allowed."""
    found = []
    for replica in timeline.replicas.values():
        for load in replica.loads:
            if load.epoch is not None:
                cause = "overwritten"
                found.append(Removal(replica.broker, load.offset, load.offset, True, True, cause, load.epoch, None, load.at, (load.event,)))
    return found


def _left_behind(timeline: PartitionTimeline, cluster: Cluster) -> list[Removal]:
    """Tails on replicas that never came back to follow a later leader: gone from the partition, not from the disk."""
    found = []
    for broker in sorted({*timeline.replicas, *timeline.disks}):
        replica, disk = timeline.replicas.get(broker), timeline.disks.get(broker)
        told = disk.last_epoch if disk is not None else None
        known = [e for e in (replica.epoch if replica else None, told) if e is not None]
        if not known or not timeline.terms:
            continue
        epoch = max(known)
        last = timeline.terms[-1]
        if last.leader == broker or last.epoch <= epoch or _joined(broker, epoch, timeline) or _copied(disk, timeline):
            continue
        end, event, exact = _extent(replica, disk)
        if end is None or event is None or _follows(broker, event, timeline, cluster):
            continue
        found.append(
            Removal(broker, 0, end, exact, exact or event.event == "hw-checkpoint", "left-behind", epoch, None, event.at, (event,))
        )
    return found


def _joined(broker: int, epoch: int, timeline: PartitionTimeline) -> bool:
    """It came back into the ISR of a later leader, so it followed that one, though its own log does not tell."""
    return any(s.leader_epoch > epoch and broker in s.isr and broker not in before.isr for before, s in pairwise(timeline.states))


def _follows(broker: int, told: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """It was in sync when it told of its log, long after the last election: whoever does not follow the new leader leaves the ISR before."""
    last = timeline.terms[-1]
    if told.line is None or told.at is None or last.at is None or broker not in timeline.standing.isr:
        return False
    return told.at > last.at + DETECTION and tells_isr(last.leader, timeline, cluster, last.at)


def _copied(disk: Disk | None, timeline: PartitionTimeline) -> bool:
    """The last batch of its log stands in the last leader's as well: nothing of it is gone, whatever its broker's log tells."""
    led = timeline.disks.get(timeline.terms[-1].leader)
    own = list(disk.batches()) if disk is not None else []
    if not own or led is None or own[-1]["max_timestamp"] <= 0:
        return False
    return any(b == own[-1] for b in led.batches())


def _discarded(timeline: PartitionTimeline) -> list[Removal]:
    """Logs of replicas that a reassignment took away before they followed a later leader: deleted with a tail nobody else has."""
    return [r for replica in timeline.replicas.values() for r in replica.discarded if r.epoch is not None]


def _extent(replica: Replica | None, disk: Disk | None) -> tuple[int | None, Event | None, bool]:
    if disk is not None and disk.log_end_offset is not None:
        return disk.log_end_offset, disk.end_event(), True
    candidates: list[tuple[int, Event]] = []
    if disk is not None and disk.high_watermark is not None and disk.high_watermark.offset is not None:
        candidates.append((disk.high_watermark.offset, disk.high_watermark))
    if replica is not None and replica.reach is not None:
        candidates.append((replica.reach.offset, replica.reach.event))
    if not candidates:
        return None, None, False
    end, event = max(candidates, key=lambda c: c[0])
    return end, event, replica is not None and replica.ends_there and replica.log_end_offset == end


def later_terms(removal: Removal, timeline: PartitionTimeline) -> list[Term]:
    """Terms that began after the removed records were written, in order."""
    terms = timeline.terms
    if removal.epoch is None:
        under = removal.under_epoch
        own = removal.cause in ("restart", "empty")  # what only this disk lacks is gone if its broker led with the rest
        candidates = [t for t in terms if (under is None or t.epoch <= under) and (t.leader == removal.broker or not own)]
        exact = [t for t in candidates if t.start_offset == removal.start]
        return exact[-1:] or [t for t in candidates if t.epoch == under][:1]
    later = []
    for t in terms:
        if t.epoch > removal.epoch:
            later.append(t)
        elif t.epoch == removal.epoch and t.restart:
            own = removal.broker == t.leader and removal.cause in ("restart", "empty")
            if (t.start_offset == removal.start and (own or removal.broker != t.leader)) or (
                not timeline.has_epochs and removal.broker != t.leader and _silent(removal, t, timeline)
            ):
                later.append(t)
    return later


def _silent(removal: Removal, term: Term, timeline: PartitionTimeline) -> bool:
    """The replica was down from the beginning of the term until it told of its log: what it holds is from before."""
    told = next((load.at for load in timeline.replicas[removal.broker].loads if load.event in removal.evidence), None)
    if told is None or term.at is None:
        return False
    return not any(
        e.at is not None and term.at <= e.at < told and e.line is not None
        for e in timeline.replicas[removal.broker].events
        if e.event != "log-recovery"
    )


def _pieces(removal: Removal, timeline: PartitionTimeline) -> list[_Piece]:
    """The parts of a removal that later leaders did not have. With leader epochs a truncation starts where the lineages part;
    before them it starts at a high watermark, and the whole log above the new leader's end is other than the new leader's."""
    found = []
    end = removal.end
    later = later_terms(removal, timeline)
    for known in later:
        term = _begun(known, removal, timeline)
        sure = term.exact or timeline.has_epochs or term is not known
        if term.start_offset is None or not sure:
            continue
        if timeline.has_epochs and term.bound == AT_LEAST and removal.cause == "latest":
            continue  # its leader may have held all of it: by which term it went, this does not tell
        start = max(removal.start, term.start_offset) if timeline.has_epochs else term.start_offset
        if start < end:
            found.append(_Piece(start, end, term, removal, proven=term.bound == AT_MOST))
            end = start
    unsure = [t for t in later if not t.exact]
    if removal.cause == "leader-epoch" and removal.start < end and unsure and timeline.has_epochs:
        found.append(_Piece(removal.start, end, unsure[0], removal, several=len(later) > 1))
    if not found and later and not timeline.has_epochs and (removal.cause == "latest" or cut_further(removal, timeline)):
        found.append(_Piece(removal.start, removal.end, later[-1], removal, proven=not later[-1].exact))
    if not found and later and not timeline.has_epochs and removal.epoch is not None:
        found.extend(_past_the_end(removal, later, timeline))
    return found


def _past_the_end(removal: Removal, later: Sequence[Term], timeline: PartitionTimeline) -> Iterator[_Piece]:
    """No line says where a leader began, but its log has not even today come as far as the removed records did."""
    own = timeline.replicas[removal.broker].removals if removal.broker in timeline.replicas else []
    if removal.cause == "overwritten" and any(removal.evidence[0] in r.evidence for r in own):
        return  # it did not keep them: it cut them off
    today = ends_today(later[-1], timeline)
    cut_to = removal.start if removal.cause == "truncation" else 0
    if today is not None and cut_to <= today.offset < removal.end:  # a leader that ends below the cut has the fetch offset reset
        several = later[-1].epoch > later[0].epoch
        yield _Piece(today.offset, removal.end, later[0], removal, proven=True, several=several, seen=today.evidence)


def _begun(term: Term, removal: Removal, timeline: PartitionTimeline) -> Term:
    """The term with the offset it began at, where only the records say: no line before leader epochs does, but of those in place of the
    removed ones the first that was created in the term does (message format v1, 0.10). While there was no leader nothing was written:
    between no other two of them lies so much time. Else the producers' clocks were ahead, and what was cut was copied again."""
    if timeline.has_epochs or term.exact or term.at is None:
        return term
    began = term.at.replace(tzinfo=timezone.utc).timestamp() * 1000
    leader = timeline.standing.leader
    for disk in sorted(timeline.disks.values(), key=lambda d: (d.broker != leader, d.broker)):
        held = ((b, segment) for segment in disk.segments for b in segment.batches or ())
        near = [(a, b, s) for (a, _), (b, s) in pairwise(held) if removal.start <= b["base_offset"] <= removal.end]
        longest = max((b["base_timestamp"] - a["max_timestamp"] for a, b, _ in near), default=0)
        for before, batch, segment in near:
            if batch["base_offset"] < removal.end and 0 < before["max_timestamp"] < began <= batch["base_timestamp"]:
                pause = batch["base_timestamp"] - before["max_timestamp"]
                return replace(term, start_offset=batch["base_offset"], evidence=(*term.evidence, segment)) if pause == longest else term
    return term


def _told(pieces: Sequence[_Piece], timeline: PartitionTimeline, cluster: Cluster, election: Election | None) -> list[Loss]:
    term = pieces[0].term
    longest = max(pieces, key=lambda p: (p.end, p.removal.settled, -p.start))
    first = min(pieces, key=lambda p: (p.start, p.proven))
    start, end = first.start, longest.end
    removals = tuple(dict.fromkeys(p.removal for p in sorted(pieces, key=lambda p: (-p.end, not p.removal.settled))))
    alone = _lost_alone(term, removals, timeline)
    bounded = longest.removal.settled and not alone and not _untold_since(term, timeline)
    gave_way = handover(term, timeline, cluster)
    parts = _by_commitment(Range(start, end), longest.removal, removals, term, election, timeline, cluster)
    had = any(committed for _, committed, _ in parts)
    found = []
    for part, committed, hw in parts:
        cause = _cause(term, election, removals, committed, had, timeline, cluster)
        if cause == "inherited-log" and _brought_again(part, term, timeline, cluster):
            continue
        excuse, weighed = None, True
        sure_unclean = election is not None and election.unclean and election.confidence != "possible"
        if committed is False or (committed is None and not sure_unclean):
            excuse, weighed = _excuse(part, longest.removal.exact, committed, term, gave_way, timeline, cluster)
            weighed = weighed or cause not in (*_TAILS, "unclean-election")
        cut = cut_before_leading(term, timeline) if cause == "hw-truncation" else None
        involved = removals if cut is None or cut in removals else (*removals, cut)
        confidence = _confidence(term, longest.removal.exact or not bounded, election)
        if _grown_since(longest.removal, term, timeline) or timeline.mixed is not None:
            confidence = "possible"
        if cause == "inherited-log" and not tells_start(term, timeline):
            committed, confidence = None, "possible"  # the leader may have brought them, too
        if first.seen:
            confidence = "certain" if longest.removal.exact and not first.several else "probable"
        if first.several:
            committed, cause = None, "unknown"
        found.append(
            Loss(
                range=part,
                reached=end,
                term=term,
                cause=cause,
                committed=committed,
                confidence=confidence if excuse is None and weighed else "possible",
                at_least=bounded and not longest.removal.exact,
                excuse=excuse,
                weighed=weighed,
                removals=involved,
                high_watermark=hw[0] if hw else None,
                evidence=tuple(
                    dict.fromkeys((*longest.removal.evidence, *term.evidence, *((hw[1],) if hw else ()), *_more(involved), *first.seen))
                ),
                election=election,
                handover=gave_way,
                still_on=tuple(sorted({r.broker for r in removals if r.cause in ("left-behind", "stray")})),
                proven=first.proven,
                earlier=_below_the_proven(part.start, first, committed, hw, excuse, election, timeline) if part.start == start else None,
            )
        )
    if alone and found:
        return [replace(found[0], range=Range(start, None), confidence="possible")]
    if not bounded and found:
        found.append(replace(found[-1], range=Range(end, None), confidence="possible", earlier=None))
    return found


_TAILS = ("uncommitted-tail", "unknown")
"""Causes with which no other replica is known to have had what was cut: whether anybody was told of it, only the producers' batches tell."""


def _below_the_proven(
    end: int,
    piece: _Piece,
    committed: bool | None,
    hw: tuple[int, Event] | None,
    excuse: str | None,
    election: Election | None,
    timeline: PartitionTimeline,
) -> Earlier | None:
    """A clean leader had everything below the high watermark, and any leader what its own log is known to have held. From there to where
    the loss is proven the new leader may have had the records of the old one, or have written others."""
    term, removal = piece.term, piece.removal
    unclean = election is not None and election.unclean
    if not piece.proven or piece.several or not (committed is False or unclean) or _unwritten(piece):
        return None
    own = told_high_watermark(removal, timeline)
    told = [] if unclean else [*told_at_election(term, timeline), *(t for t in (hw, own) if t is not None)]
    cut_to = removal.start if timeline.has_epochs else 0
    start = max(term.at_least, cut_to, *(offset for offset, _ in told))
    if start >= end:
        return None
    there = tuple(dict.fromkeys(event for offset, event in told if offset == start))
    stood = not unclean and excuse is None and own is not None and own[0] == start and len({event.writer for event in there}) > 1
    return Earlier(Range(start, end), "probable" if stood else "possible", there)


def _unwritten(piece: _Piece) -> bool:
    """Nothing was written since the term began: it began where the log ends today."""
    written = max((e.at for e in piece.seen if e.event == "segment" and e.at is not None), default=None)
    return written is not None and piece.term.at is not None and written < piece.term.at


def _lost_alone(term: Term, removals: Sequence[Removal], timeline: PartitionTimeline) -> bool:
    """The leader had gone on alone after the replicas that tell of the loss had dropped out, and lost its own log's end: the loss is one, of
    its own records, of which what the others still had is the beginning. Only its own disk could say how far it had come.

    It is not split: a range is sure by what its end is measured with, and an end that others tell from before they dropped out measures
    where they stood, not what the leader lost; the verdict is `lost` all the same, for what they had was committed."""
    if _sole(term, timeline) != term.leader or (term.leader in timeline.replicas and not _recovered(term.leader, term, timeline)):
        return False
    return not any(r.broker == term.leader and r.settled and r.cause in ("restart", "empty") for r in removals)


def _untold_since(term: Term, timeline: PartitionTimeline) -> bool:
    """The leader may have gone on after the replicas that tell of the loss had dropped out, and what it told then is not in evidence."""
    return _begins_anew(term, timeline) or (_sole(term, timeline) == term.leader and term.leader not in timeline.replicas)


def _begins_anew(term: Term, timeline: PartitionTimeline) -> bool:
    """The leader had led before, or may have in a time of which nothing is known, and what it told then is gone: its machine was
    replaced, or its older logs are not in evidence."""
    replica, before = timeline.replicas.get(term.leader), term.before
    if replica is None or before is None or term.restart:
        return False
    missed = between(before, term.state, isr_told=True) if term.state is not None else None
    if before.leader != term.leader and not (isinstance(missed, Gap) and term.leader in before.isr):
        return False
    for event in replica.events:
        leads = event.event == "leader-start" or (event.event == "partition-state" and event.leader == term.leader)
        if leads and event.leader_epoch == term.epoch:
            return not knew(event)
        told = event.event == "partition-state" and event.reason == "received" and event.leader_epoch is not None
        if event.event in _OF_A_LIFE or told:
            return False
    return True


_OF_A_LIFE = (TAKES_PART - named("partition-state")) | of(role=Role.CUT) | ON_DISK
"""What a broker tells of its log once it has loaded it."""


def _excuse(
    part: Range,
    exact: bool,
    committed: bool | None,
    term: Term,
    gave_way: Handover | None,
    timeline: PartitionTimeline,
    cluster: Cluster,
) -> tuple[str | None, bool]:
    """A clause that says why these records may have been acknowledged to nobody, and whether that could be judged. What min.insync.replicas
    asks for is no reason: it binds only producers that ask for acks=all, and these are told of what was committed."""
    batches = [b for d in timeline.disks.values() for b in d.batches() if not b["control"]]
    end = part.end if part.end is not None else part.start
    kept = [b for b in batches if part.start <= b["base_offset"] < end and 0 <= b["leader_epoch"] < term.epoch]
    if batches and all(b["producer_id"] >= 0 for b in kept or batches):
        why = "all producers of this partition are idempotent or transactional, which implies acks=all (KIP-98)"
        return (why, True) if committed is False else (None, False)
    again = _sent_again(part, exact, term, gave_way, timeline, cluster)
    why = "the first batch in their place has as many records, created before the leader gave way, so a producer was waiting and sent it again"
    return why if again else None, again is not None


def _sent_again(
    part: Range, exact: bool, term: Term, gave_way: Handover | None, timeline: PartitionTimeline, cluster: Cluster
) -> bool | None:
    """The new leader's first batch has as many records as were cut, and was begun before it led and created before the old leader ceased to
    take any, which would have had it. A producer that waits for its acknowledgement has one batch of a partition with a leader: a broker
    takes up no request of a connection before it has answered the one before (SocketServer). It is sent again as it was (Sender).
    None: the batch, or when the old leader ceased, is not in evidence."""
    begun = part.start if term.start_offset is None or not timeline.has_epochs else term.start_offset
    firsts = (next((b for b in d.batches() if _since(b, term, part)), None) for d in timeline.disks.values())
    first = next((b for b in firsts if b is not None and b["base_offset"] == begun), None)
    if first is None or part.end is None:
        return None
    reached = first["last_offset"] + 1
    if reached < part.end or (exact and reached > part.end) or first["append_time"] or first["base_timestamp"] <= 0:
        return False
    ceased = (gave_way.at, gave_way.at) if gave_way is not None else _died(term, timeline, cluster)
    began = next((e.at for e in term.evidence if e.event == "leader-start"), None)
    if ceased is None or term.at is None or term.start_offset is None:
        return None
    alive, dead = map(_millis, ceased)
    if first["base_timestamp"] < _millis(began or term.at) and first["max_timestamp"] < alive:
        return True
    return False if first["max_timestamp"] >= dead or (began is not None and first["base_timestamp"] >= _millis(began)) else None


def _millis(at: datetime) -> float:
    return at.replace(tzinfo=timezone.utc).timestamp() * 1000


def _since(batch: Mapping[str, Any], term: Term, part: Range) -> bool:
    """Written in the term or later; before message format v2 (0.11) a batch has no leader epoch, and what stands there now does."""
    epoch = batch["leader_epoch"]
    return bool(epoch >= term.epoch if epoch >= 0 else batch["base_offset"] >= part.start)


def _died(term: Term, timeline: PartitionTimeline, cluster: Cluster) -> tuple[datetime, datetime] | None:
    """Between when and when the process that led before this term died: when the first of its followers lost it in the midst of a fetch for
    good, else after its last line and before the next was elected."""
    before = next((t for t in reversed(timeline.terms) if t.order < term.order and not _unheard(t, term)), None)
    node = cluster.nodes.get(before.leader) if before is not None else None
    if before is None or node is None or term.at is None:
        return None
    led = before.at or term.at
    life = next((x for x in reversed(node.lives) if x.begin_at is not None and x.begin_at < led), None)
    last = life.last_seen if life is not None and life.outcome == "crashed" else None
    if last is None or last.at is None or last.at >= term.at:
        return None
    broken = ((e.writer, e.at) for e in cluster.of("fetch-broken-off") if e.broker == node.id and e.at is not None)
    lost = min({writer: at for writer, at in broken if last.at < at <= term.at}.values(), default=None)
    return (lost, lost) if lost is not None else (last.at, term.at)


def _more(removals: Iterable[Removal]) -> list[Event]:
    return [e for r in list(removals)[1:] for e in r.evidence]


def _sole(term: Term, timeline: PartitionTimeline) -> int | None:
    """The only in-sync replica when the term before this one ended, if it led on alone.

    A controller that finds all replicas of an ISR dead takes them out one after the other: the last one left in it need not
    have written anything alone. So the leader's own log must know that it was alone, where there is such a log.
    """
    before = term.before
    if before is None or len(before.isr) != 1:
        return None
    if term.state is not None and term.state is not before and isinstance(between(before, term.state, isr_told=True), Gap):
        return None
    broker = before.isr[0]
    replica = timeline.replicas.get(broker)
    if replica is None or not replica.leader_starts:
        led = any(s.leader == broker and s.isr == before.isr for s in timeline.states)
        return broker if led and replica is None else None
    return broker if any(_alone(e, broker, term) for e in _before_restart(replica, term)) else None


def _alone(event: Event, broker: int, term: Term) -> bool:
    mine = event.leader in (None, broker) and event.reason in (None, "received")
    earlier = event.leader_epoch is None or event.leader_epoch < term.epoch or (term.restart > 0 and event.leader_epoch == term.epoch)
    return event.event in TAKES_PART and mine and earlier and event.isr == [broker]


def _before_restart(replica: Replica, term: Term) -> list[Event]:
    """A broker's events up to the restart after which it took a term; all of them if it took none."""
    found: list[Event] = []
    before_load: list[Event] | None = None
    for event in replica.events:
        if event.event == "log-load":
            before_load = list(found)
        if event in term.evidence and before_load is not None:
            return before_load
        found.append(event)
    return found


def _recovered(broker: int, term: Term, timeline: PartitionTimeline) -> bool:
    """The broker's log went through an unclean restart, or came back shorter, before it took this term, and it has not come into the ISR
    since."""
    return bool(_shorter(broker, term, timeline) or _unclean_loads(broker, term, timeline))


def _shorter(broker: int, term: Term, timeline: PartitionTimeline) -> list[Removal]:
    """What its own log held and came back without."""
    own = timeline.replicas[broker].removals if broker in timeline.replicas else []
    back = [r for r in own if r.cause in ("restart", "empty") and _earlier(r.epoch, term)]
    return [r for r in back if not _in_sync_since(r.at, broker, term, timeline)]


def _unclean_loads(broker: int, term: Term, timeline: PartitionTimeline) -> list[Load]:
    own = timeline.replicas[broker].loads if broker in timeline.replicas else []
    near = [load for load in own if (load.unclean or load.cut) and _near(load.epoch, term, timeline)]
    return [load for load in near if not _in_sync_since(load.at, broker, term, timeline)]


def _in_sync_since(moment: datetime | None, broker: int, term: Term, timeline: PartitionTimeline) -> bool:
    """Its leader took the broker into the ISR after that moment and before this term: then it had all that was committed
    (Partition#maybeExpandIsr)."""
    led = [s for s in timeline.states if s.leader_epoch <= term.epoch and s is not term.state]
    return any(
        broker in s.isr
        and broker not in prior.isr
        and moment is not None
        and s.at is not None
        and s.at > moment
        and not isinstance(between(prior, s, isr_told=True), Gap)
        for prior, s in pairwise(led)
        if s.leader not in (-1, broker) and s.leader_epoch < term.epoch
    )


def _earlier(epoch: int | None, term: Term) -> bool:
    """What happened under this epoch lies before the term."""
    return epoch is None or epoch < term.epoch or (term.restart > 0 and epoch == term.epoch)


def _up_to(epoch: int | None, term: Term) -> bool:
    return epoch is None or epoch <= term.epoch


def _led_before(term: Term, timeline: PartitionTimeline) -> int | None:
    """Leader epoch of the last term before this one, but for elections of the same broker that it did not live to hear of."""
    if term.restart:
        return term.epoch
    earlier = [t for t in timeline.terms if t.order < term.order and not _unheard(t, term)]
    return earlier[-1].epoch if earlier else None


def _unheard(earlier: Term, term: Term) -> bool:
    """An election of the same broker that it did not live to hear of."""
    return earlier.leader == term.leader and earlier.start_offset is None


def _near(epoch: int | None, term: Term, timeline: PartitionTimeline) -> bool:
    """A restart with this epoch in mind lies between the term before and this one."""
    led = _led_before(term, timeline)
    return epoch is not None and epoch <= term.epoch and (led is None or epoch >= led) and (epoch < term.epoch or term.restart > 0)


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


_Part = tuple[Range, bool | None, tuple[int, Event] | None]


def _by_commitment(
    whole: Range,
    removal: Removal,
    removals: Sequence[Removal],
    term: Term,
    election: Election | None,
    timeline: PartitionTimeline,
    cluster: Cluster,
) -> list[_Part]:
    """The range, split where it is known to: below the HW, or where the whole ISR had it, committed, above not or unknown."""
    assert whole.end is not None
    told = (_high_watermark(removal, timeline), *(told_high_watermark(r, timeline) for r in removals))
    hw = max((t for t in told if t is not None), key=lambda t: t[0], default=None)
    sole = _sole(term, timeline)
    if (
        sole is not None
        and _commits_alone(sole, term, timeline, cluster)
        and (sole != term.leader or term.restart or _recovered(sole, term, timeline))
    ):
        return [(whole, True, hw)]
    clean = election is None or election.clean
    above: bool | None = None
    held_all = term.before is not None and term.leader in (*term.before.isr, *term.before.eligible)
    whole_log = came_through(term, timeline, cluster) and not _recovered(term.leader, term, timeline) and not _emptied(term, timeline)
    if clean and held_all and whole_log and cut_before_leading(term, timeline) is None and not _once_had(term, whole, timeline):
        above = False
    safe = max(hw[0] if hw is not None else whole.start, reached_by_isr(term, timeline) or 0)
    if safe <= whole.start:
        return [(whole, above, hw)]
    if safe >= whole.end:
        return [(whole, True, hw)]
    return [(Range(whole.start, safe), True, hw), (Range(safe, whole.end), above, hw)]


def _once_had(term: Term, whole: Range, timeline: PartitionTimeline) -> bool:
    """The leader's own log had come further than it began with, and what cut it is not in evidence: it may have had these records."""
    replica = timeline.replicas.get(term.leader)
    if replica is None or term.restart:
        return False
    begun = next((n for n, e in enumerate(replica.events) if e in term.evidence), len(replica.events))
    before = set(replica.events[:begun])
    seen = [o for o in replica.observations if o.quantity == "log-end-offset" and o.offset > whole.start and o.event in before]
    return bool(seen) and not any(r.start <= whole.start and r.end >= seen[-1].offset for r in replica.removals)


def _commits_alone(sole: int, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """A leader that is the whole ISR commits all that it takes: up to 3.6 always, from 3.7 on unless min.insync.replicas asks for more
    (Partition#maybeIncrementLeaderHW, KAFKA-15583)."""
    assert term.before is not None
    before = replace(term.before, leader=sole)
    asked = required(before, timeline, cluster)
    return strict(cluster, sole, before.at) is False or (asked is not None and len(before.isr) >= asked)


def _cause(
    term: Term,
    election: Election | None,
    removals: Sequence[Removal],
    committed: bool | None,
    had: bool,
    timeline: PartitionTimeline,
    cluster: Cluster,
) -> str:
    """`had`: some of the records were committed, so that a leader that was in sync once had them."""
    if election is not None and election.unclean:
        return "unclean-election"
    if term.epoch == 0 and not term.restart and timeline.created():
        return "inherited-log"  # before its first term the partition had no records: what was cut is of another of that name
    brought = inherited(timeline, cluster)
    if any(r.broker in brought and r.end == brought[r.broker].log_end_offset for r in removals):
        return "inherited-log"
    own = [r for r in timeline.replicas[term.leader].removals if _up_to(r.epoch, term)] if term.leader in timeline.replicas else []
    at_start = [r for r in own if r.start == term.start_offset]
    if any(r.cause == "empty" for r in at_start) or _emptied(term, timeline):
        return "empty-replica"
    if cut_before_leading(term, timeline) is not None and committed is not False:
        return "hw-truncation"
    if _recovered(term.leader, term, timeline):
        if _corrupted(term, timeline):
            return "corruption"
        return "unflushed-log" if had or _shorter(term.leader, term, timeline) else "unknown"
    if committed is False:
        return "uncommitted-tail"
    if any(r.cause == "high-watermark" and r.broker == term.leader for r in removals):
        return "hw-truncation"
    if election is not None and election.clean and committed is None:
        return "uncommitted-tail"
    return "unknown"


def _brought_again(part: Range, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """A later leader had brought as much of the partition of that name before, and cut nothing of it: they are there again."""
    brought, end = inherited(timeline, cluster), part.end or part.start
    kept = {b for b, load in brought.items() if (load.log_end_offset or 0) >= end > 0 and not _cut_below(end, timeline.replicas[b])}
    return any(t.leader in kept for t in timeline.terms if t.order > term.order)


def tells_start(term: Term, timeline: PartitionTimeline) -> bool:
    replica = timeline.replicas.get(term.leader)
    return replica is not None and any(s.epoch == term.epoch for s in replica.leader_starts)


def _cut_below(offset: int, replica: Replica) -> bool:
    return any(r.start < offset for r in replica.removals)


def _emptied(term: Term, timeline: PartitionTimeline) -> bool:
    """The leader began at 0 after it had created anew a log whose end is not in evidence, as that of a follower that only fetched."""
    replica = timeline.replicas.get(term.leader)
    return replica is not None and term.start_offset == 0 and any(_earlier(epoch, term) for epoch, _ in replica.recreated)


def _corrupted(term: Term, timeline: PartitionTimeline) -> bool:
    replica = timeline.replicas[term.leader]
    return any(load.cut and _near(load.epoch, term, timeline) and _damaged(load.event, replica) for load in replica.loads)


def _damaged(load: Event, replica: Replica) -> bool:
    """Recovery met bytes that are no record. A torn tail after power loss prints the same, and is by far the usual reason;
    only a cut below the flushed part of the log is damage of what was safe."""
    flushed = max((e.offset or 0 for e in replica.events if e.event == "recovery-point"), default=0)
    return load.log_end_offset is not None and load.log_end_offset < flushed


def _grown_since(removal: Removal, term: Term, timeline: PartitionTimeline) -> bool:
    """A follower that came back empty had told of its log's end last when the term had long begun: it may have had those records from the
    leader of that term, in a time that is not in evidence."""
    if removal.cause not in ("empty", "restart") or not removal.evidence:
        return False
    led = any(t.leader == removal.broker and t.epoch == removal.epoch for t in timeline.terms)
    told = removal.evidence[0].at
    return not led and removal.broker != term.leader and told is not None and term.at is not None and told > term.at + SLACK


def _confidence(term: Term, exact: bool, election: Election | None) -> str:
    if election is not None and election.unclean and election.confidence == "possible":
        return "probable"
    return "certain" if exact and (term.exact or term.bound == AT_MOST) and term.start_offset is not None else "probable"


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
        committed = False if clean is not None and clean.clean else None
        evidence = (*before.evidence[-1:], *term.evidence, *refused[:2], obeyed.event, cut)
        found.append(Deposed(max(cut.offset, term.start_offset or 0), term, before.leader, committed, evidence))
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
        if term.leader not in before.isr or not all(_recovered(b, term, timeline) for b in before.isr):
            continue
        loads = [load for b in before.isr for load in _unclean_loads(b, term, timeline)]
        evidence = (before.event, *(load.event for load in loads), *term.evidence)
        found.append(Doubt(term.at_least, term, before.isr, any(x.cut for x in loads), len(before.isr) == 1, evidence))
    return found
