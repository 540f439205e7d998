"""Records in logs that no later leader began with, in pieces: one for each removal and each term that lacked a part of it.

Here: the removals that replicas show, those that no replica shows, and the later term whose beginning each is compared with. Not here: how
a removal is read from a log (forensics.model.partition.replicas), or what the pieces result in (losses).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from itertools import pairwise
from typing import Any, NamedTuple

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import CLOCK, ORDER, isr_changes_observable, would_show
from forensics.model.events import Event
from forensics.model.partition.replicas import AT_LEAST, AT_MOST, OWN_LOSS, Disk, Observation, Removal, Replica
from forensics.model.partition.salvageable import outside_logs, runs_of
from forensics.model.partition.timeline import PartitionTimeline, Term, cached_on_timeline
from forensics.model.times import is_later, not_after
from forensics.proof.lineage import LINES, lineages
from forensics.proof.observed import exact_end, within_epoch
from forensics.proof.pre_kip101 import cut_further, ends_today, high_watermark_of_cut, marks_at_election
from forensics.thresholds import CRASH_NOTICED, STOP_NOTICED_EARLY
from parsers.frozen import dataclass
from parsers.kinds import named


@dataclass(frozen=True, slots=True)
class RemovedRange:
    start: int
    end: int
    term: Term
    removal: Removal
    proven: bool = False
    """The term began at `start` or below."""
    several: bool = False
    """It may have been another one."""
    seen: tuple[Event, ...] = ()
    replaced_by: int | None = None
    """Leader epoch, older than that of the removed records, of the records at these offsets in the log of the new leader."""


@cached_on_timeline
def removed(timeline: PartitionTimeline, cluster: Cluster) -> Mapping[tuple[int, int], Sequence[RemovedRange]]:
    """The pieces, by the order of their terms."""
    replicas = timeline.replicas.values()
    of_replicas = [r for replica in replicas for r in replica.removals]
    shown = [replace(r, epoch=_written_up_to(r, timeline)) for r in of_replicas]
    by_clocks = {
        id(after): before
        for before, after in zip(of_replicas, shown, strict=True)
        if after.epoch != before.epoch and after.under_epoch is None
    }
    # If a reassignment removes a replica before it follows a later leader, its log is deleted with a tail that no other log has
    discarded = [r for replica in replicas for r in replica.deleted_logs if r.epoch is not None]
    overwritten = () if timeline.has_epochs else _overwritten(timeline)
    found: dict[tuple[int, int], list[RemovedRange]] = defaultdict(list)
    renamed = [r for r in _in_renamed_files(timeline) if not any(_includes(x, r) for x in (*shown, *discarded))]
    for removal in (*shown, *_left_behind(timeline, cluster), *discarded, *renamed, *overwritten):
        pieces = _pieces(removal, timeline)
        if (by_own_lines := by_clocks.get(id(removal))) is not None:
            sure = set(map(_place, _pieces(by_own_lines, timeline)))
            pieces = [piece if _place(piece) in sure else replace(piece, several=True) for piece in pieces]
        for piece in pieces:
            found[piece.term.order].append(piece)
    return found


def _place(piece: RemovedRange) -> tuple[int, int, tuple[int, int]]:
    return piece.start, piece.end, piece.term.order


def _written_up_to(removal: Removal, timeline: PartitionTimeline) -> int | None:
    """The last leader epoch of the removed records: the last in the broker's own log (below the cut, too, because epochs only rise in a
    log), or the last in which the broker led or joined the ISR according to others, because then its log was that leader's."""
    if removal.epoch is None:
        return None
    epoch, under, at = removal.epoch, removal.under_epoch, removal.at
    known = [e for e, begun in _epochs_with_leader(removal.broker, timeline) if (e < under if under is not None else not_after(begun, at))]
    lineage = timeline.lineages.get(removal.broker)
    kept = lineage.epoch_at(removal.start - 1) if lineage is not None else None
    later = (e for e in (*known, kept) if e is not None and epoch < e)
    return max((e for e in later if under is None or e < under), default=epoch)


def _epochs_with_leader(broker: int, timeline: PartitionTimeline) -> Iterator[tuple[int, datetime | None]]:
    """Leader epochs in which the broker led or joined the ISR, with the times."""
    yield from ((t.epoch, t.at) for t in timeline.terms if t.leader == broker)
    for before, state in pairwise(timeline.states):
        if broker in state.isr and broker not in before.isr:
            yield state.leader_epoch, state.at


def _overwritten(timeline: PartitionTimeline) -> list[Removal]:
    """Before leader epochs, a returning replica kept records that another leader had replaced, if they were below its high watermark."""
    found = []
    for replica in timeline.replicas.values():
        for load in replica.loads:
            if load.epoch is not None:
                cause = "overwritten"
                found.append(Removal(replica.broker, load.offset, load.offset, True, cause, load.epoch, None, load.at, (load.event,)))
    return found


def _left_behind(timeline: PartitionTimeline, cluster: Cluster) -> list[Removal]:
    """Tails on replicas that never followed a later leader: gone from the partition, but still on the disk."""
    brokers = sorted({*timeline.replicas, *timeline.collected_logs}) if timeline.terms else ()
    tails = (_tail(broker, timeline, cluster) for broker in brokers)
    return [tail for tail in tails if tail is not None]


def _in_renamed_files(timeline: PartitionTimeline) -> Iterator[Removal]:
    """Records that were in a log according to a file that Kafka renamed, and that no collected log has. Kafka renames whole segments, and
    deletes those of one cut together, the last one last: so an undamaged file shows where the log ended. Copies may end earlier."""
    for run in runs_of([b for b in outside_logs(timeline) if b.epoch >= 0 and not b.other_topic]):
        first, end = run[0], run[-1].end
        if first.segment.writer is not None:
            whole = all(b.segment.reason in _WHOLE_LOGS and not b.segment.value for b in run)
            yield Removal(first.segment.writer, first.start, end, whole, "renamed", first.epoch, None, None, (first.segment,))


_WHOLE_LOGS = ("deleted", "delete", "stray")
"""Marks of files that are not copies of others."""


def _includes(removal: Removal, other: Removal) -> bool:
    """The removal explains why the log lacks the records of the other one."""
    reaches = removal.epoch is None or other.epoch is None or removal.epoch >= other.epoch
    return removal.broker == other.broker and removal.start <= other.start and removal.end >= other.end and reaches


def _tail(broker: int, timeline: PartitionTimeline, cluster: Cluster) -> Removal | None:
    """The log of a broker that never followed the last leader; None if it did, or if its end is unknown."""
    replica, disk, last = timeline.replicas.get(broker), timeline.collected_logs.get(broker), timeline.terms[-1]
    epoch = _last_epoch(replica, disk)
    if epoch is None or last.leader == broker or last.epoch <= epoch or _joined(broker, epoch, timeline) or _copied(disk, timeline):
        return None
    end, event, exact = _extent(replica, disk, timeline)
    if end is None or event is None or _follows(broker, event, timeline, cluster):
        return None
    if _epoch_on_disk(disk) is None and not within_epoch(epoch, event, timeline, cluster):
        return None
    return Removal(broker, 0, end, exact, "left-behind", epoch, None, event.at, (event,))


def _last_epoch(replica: Replica | None, disk: Disk | None) -> int | None:
    """The last leader epoch of a log."""
    return max((e for e in (replica.epoch if replica else None, _epoch_on_disk(disk)) if e is not None), default=None)


def _epoch_on_disk(disk: Disk | None) -> int | None:
    """The epochs of unreadable batches are not in the other batches of the log, but in its epoch file."""
    return disk.last_epoch if disk is not None and (disk.epochs or not disk.end_unknown) else None


def _joined(broker: int, epoch: int, timeline: PartitionTimeline) -> bool:
    """It joined the ISR of a later leader, so it followed that leader, even if its own log does not show it."""
    return any(s.leader_epoch > epoch and broker in s.isr and broker not in before.isr for before, s in pairwise(timeline.states))


def _follows(broker: int, shown: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """It was in sync when it printed the state of its log, long after the last election: a replica that does not follow the new leader
    leaves the ISR earlier."""
    last = timeline.terms[-1]
    if shown.line is None or shown.at is None or last.at is None or broker not in timeline.standing.isr:
        return False
    return shown.at > last.at + CRASH_NOTICED and isr_changes_observable(last.leader, timeline, cluster, last.at)


def _copied(disk: Disk | None, timeline: PartitionTimeline) -> bool:
    """The last batch of its log is in the last leader's log too; or, if records have no timestamps to identify them, all batches from the
    leader's start offset on are. Then none of its records are gone, whatever its broker's log says."""
    last = timeline.terms[-1]
    led = timeline.collected_logs.get(last.leader)
    own = list(disk.batches()) if disk is not None and not disk.end_unknown else []
    if not own or led is None:
        return False
    known = own[-1:] if own[-1]["max_timestamp"] > 0 else [b for b in own if b["last_offset"] >= last.at_least]
    there = {b["base_offset"]: b for b in led.batches()}
    return bool(known) and all(there.get(b["base_offset"]) == b or _unreadable(b, led, timeline) for b in known)


def _unreadable(batch: Mapping[str, Any], led: Disk, timeline: PartitionTimeline) -> bool:
    """The last leader's log is damaged where this batch would be, and its epochs do not exclude that the batch was there."""
    start, end, lineage = batch["base_offset"], batch["last_offset"] + 1, timeline.lineages.get(led.broker)
    epoch = lineage.epoch_at(start) if lineage is not None else None
    return led.damaged_within(start, end) and epoch in (None, batch["leader_epoch"])


def _extent(replica: Replica | None, disk: Disk | None, timeline: PartitionTimeline) -> tuple[int | None, Event | None, bool]:
    """How far a log reached, the event that says so, and whether it ended exactly there."""
    candidates: list[tuple[int, Event]] = []
    reached = disk.reached(timeline.cleaned) if disk is not None else None
    if disk is not None and reached is not None and (segment := disk.end_event()) is not None:
        if exact_end(disk, timeline) is not None and not _reached_further(reached, replica, disk):
            return reached, segment, True
        candidates.append((reached, segment))
    if disk is not None and disk.high_watermark is not None and disk.high_watermark.offset is not None:
        candidates.append((disk.high_watermark.offset, disk.high_watermark))
    if replica is not None and replica.reach is not None:
        candidates.append((replica.reach.offset, replica.reach.event))
    if not candidates:
        return None, None, False
    end, event = max(candidates, key=lambda c: c[0])
    return end, event, replica is not None and replica.ends_there and replica.log_end_offset == end


def _reached_further(end: int, replica: Replica | None, disk: Disk) -> bool:
    """Its own line shows that the log had reached further in the last leader epoch on the disk: the rest had not been flushed."""
    later = replica is not None and replica.epoch is not None and (disk.last_epoch or 0) <= replica.epoch
    return later and replica is not None and replica.reach is not None and replica.reach.offset > end


def later_terms(removal: Removal, timeline: PartitionTimeline) -> list[Term]:
    """Terms that began after the removed records were written, by time."""
    epoch = removal.epoch
    if epoch is None:
        return _terms_of_unknown_epoch(removal, timeline)
    again = (t for t in timeline.terms if t.epoch == epoch and t.restart and began_after(t, removal.evidence[-1:], timeline))
    return [*(t for t in again if _restarted_without(removal, t, timeline)), *(t for t in timeline.terms if t.epoch > epoch)]


def began_after(term: Term, events: Sequence[Event], timeline: PartitionTimeline) -> bool:
    """Whether the term's leader began it after these events, by the order of its own lines. True for events of other brokers, and if its
    own line about the term is not in the evidence."""
    begun, own = _places_of(term, events, timeline)
    return begun is None or all(place < begun for place in own)


def shown_before(term: Term, events: Sequence[Event], timeline: PartitionTimeline) -> bool:
    """Whether the own lines of the term's leader show that all these events were before it began the term."""
    begun, own = _places_of(term, events, timeline)
    return begun is not None and bool(own) and all(place < begun for place in own)


def _places_of(term: Term, events: Sequence[Event], timeline: PartitionTimeline) -> tuple[int | None, list[int]]:
    places = places_of_events(timeline)
    begun = next((places[id(e)] for e in term.evidence if e.writer == term.leader and id(e) in places), None)
    return begun, [places[id(e)] for e in events if e.writer == term.leader and id(e) in places]


@cached_on_timeline
def places_of_events(timeline: PartitionTimeline) -> Mapping[int, int]:
    """The place of each event in the own order of the broker that printed it."""
    return {id(e): place for replica in timeline.replicas.values() for place, e in enumerate(replica.events)}


def _terms_of_unknown_epoch(removal: Removal, timeline: PartitionTimeline) -> list[Term]:
    under = removal.under_epoch
    own = removal.cause in OWN_LOSS
    terms = (t for t in timeline.terms if under is None or t.epoch <= under)
    # A term that began so long before its leader was seen without the records that no clock explains it began with them
    candidates = [t for t in terms if not own or (t.leader == removal.broker and not is_later(removal.at, t.at, CRASH_NOTICED))]
    exact = [t for t in candidates if _begins_at(removal, t)]
    return exact[-1:] or [t for t in candidates if t.epoch == under][:1]


def _restarted_without(removal: Removal, term: Term, timeline: PartitionTimeline) -> bool:
    """The leader was restarted within the leader epoch of the removed records, and went on without them."""
    other = removal.broker != term.leader
    if _begins_at(removal, term) and (other or removal.cause in OWN_LOSS):
        return True
    return other and not timeline.has_epochs and _silent(removal, term, timeline)


def _begins_at(removal: Removal, term: Term) -> bool:
    """The log of the leader ended where the removal begins; a log that was created again ends at 0, whatever retention had deleted
    before."""
    return term.start_offset == removal.start or (removal.cause == "empty" and term.start_offset == 0)


_OF_A_LOAD = named("log-recovery", "index-rebuilt")
"""Kinds of events of a start, from before the log is loaded."""


def _silent(removal: Removal, term: Term, timeline: PartitionTimeline) -> bool:
    """The replica was down from the beginning of the term until it loaded its log: its records are older than the term."""
    loaded = next((load.at for load in timeline.replicas[removal.broker].loads if load.event in removal.evidence), None)
    if loaded is None or term.at is None:
        return False
    return not any(
        e.at is not None and term.at <= e.at < loaded and e.line is not None
        for e in timeline.replicas[removal.broker].events
        if e.event not in _OF_A_LOAD
    )


def _pieces(removal: Removal, timeline: PartitionTimeline) -> list[RemovedRange]:
    """The parts of a removal that later leaders did not have. With leader epochs a truncation starts where the lineages diverge;
    before them it starts at a high watermark, and the whole log above the new leader's end differs from the new leader's."""
    later = later_terms(removal, timeline)
    pieces = _exact_pieces(removal, later, timeline)
    if timeline.has_epochs:
        end = pieces[-1].start if pieces else removal.end
        unsure = next((t for t in later if not t.exact), None)
        if removal.cause == "leader-epoch" and removal.start < end and unsure is not None:
            pieces.append(RemovedRange(removal.start, end, unsure, removal, several=len(later) > 1))
        return pieces
    if pieces or not later:
        return pieces
    if removal.cause == "latest" or cut_further(removal, timeline):
        return [RemovedRange(removal.start, removal.end, later[-1], removal, proven=not later[-1].exact)]
    return list(_past_the_end(removal, later, timeline)) if removal.epoch is not None else []


def _exact_pieces(removal: Removal, later: Sequence[Term], timeline: PartitionTimeline) -> list[RemovedRange]:
    """For each later term, the offsets that no term before it lacked."""
    pieces: list[RemovedRange] = []
    end = removal.end
    for known in later:
        term = _begun(known, removal, timeline)
        start = _first_missing(term, known, removal, timeline)
        older = _older_from(term, removal, timeline) if timeline.has_epochs and start is not None and start > removal.start else None
        for begin, replaced_by in ((start, None), older or (None, None)):
            if begin is not None and begin < end:
                pieces.append(RemovedRange(begin, end, term, removal, proven=term.bound == AT_MOST, replaced_by=replaced_by))
                end = begin
        if pieces and timeline.has_epochs and end <= removal.start:
            break
    return pieces


def _first_missing(term: Term, known: Term, removal: Removal, timeline: PartitionTimeline) -> int | None:
    """The first offset that the leader of the term did not have; None if unknown. `known`: the term without the start that records show."""
    if term.start_offset is None:
        return None
    if not timeline.has_epochs:
        return term.start_offset if term.exact or term is not known else None
    if term.bound == AT_LEAST and removal.cause == "latest":
        return None  # its leader may have had all of it: this does not show in which term it was lost
    return max(removal.start, term.start_offset)


def _older_from(term: Term, removal: Removal, timeline: PartitionTimeline) -> tuple[int, int] | None:
    """Start of the removed records at whose offsets the leader had others of an older epoch, and this epoch: a replica that had left the
    ISR before they were written, and had more of the older records, was elected uncleanly. The start of its term in its lineage shows where
    its log ended then."""
    if removal.epoch is None or removal.epoch >= term.epoch:
        return None
    lineage = lineages(timeline).get(term.leader)
    own = lineage.entry(term.epoch) if lineage is not None else None
    if lineage is None or own is None or own.start != term.start_offset:
        return None
    older = lineage.epoch_at(removal.start)
    if older is None or older != lineage.epoch_at(min(removal.end, own.start) - 1) or older >= removal.epoch:
        return None
    if lineage.source == LINES and _fetched_since(older, term, timeline):
        return None  # lines show the epochs that a broker led, and not those of the records that it then fetched
    between = timeline.terms[slice(*(bisect_right(timeline.terms, epoch, key=lambda t: t.epoch) for epoch in (older, removal.epoch)))]
    begun = [t.start_offset for t in between if t.start_offset is not None]
    return (max(removal.start, min(begun)), older) if begun else None


def _fetched_since(epoch: int, term: Term, timeline: PartitionTimeline) -> bool:
    """The leader of the term followed, or was in sync, in an epoch between."""
    replica = timeline.replicas.get(term.leader)
    followed = (f.epoch for f in (replica.follower_starts if replica is not None else ()))
    in_sync = (s.leader_epoch for s in timeline.states if term.leader in s.isr)
    return any(epoch < own < term.epoch for own in (*followed, *in_sync))


def likely_start(
    piece: RemovedRange, seen: Sequence[tuple[int, Event]], *, unclean: bool, timeline: PartitionTimeline
) -> tuple[int | None, int, tuple[Event, ...]]:
    """If a piece is only proven from its start on, records right below it may be gone as well. Returns the offset from which they are
    probably gone, the lowest offset from which they may be, and the events for it.

    A leader from the ISR had everything below the high watermark, and any leader had what its own log is known to have held. From there to
    the proven start the new leader may have had the records of the old one, or have written others. If two brokers agree on the high
    watermark when the leader was elected, the records from that offset on are probably gone.
    """
    removal, term = piece.removal, piece.term
    own = high_watermark_of_cut(removal, timeline)
    marks = [] if unclean else [*marks_at_election(term, timeline), *seen, *([own] if own is not None else [])]
    start = max(term.at_least, removal.start if timeline.has_epochs else 0, *(offset for offset, _ in marks), 0)
    there = tuple(dict.fromkeys(event for offset, event in marks if offset == start))
    agreed = not unclean and own is not None and own[0] == start and len({event.writer for event in there}) > 1
    return (start if agreed else None), start, there


def seen_high_watermark(removal: Removal, timeline: PartitionTimeline, cluster: Cluster) -> tuple[int, Event] | None:
    """The highest high watermark in the evidence from before the first term without the removed records, and the line or file. It counts as
    far as the leaders in between had the records below it."""
    disk, later = timeline.collected_logs.get(removal.broker), later_terms(removal, timeline)
    mark = disk.high_watermark if disk is not None and removal.cause == "left-behind" else None
    highest = (mark.offset, mark) if mark is not None and mark.offset is not None else None
    if removal.epoch is None and not later:
        return highest
    last = removal.epoch if removal.epoch is not None else later[0].epoch - 1
    for seen in _marks(removal, timeline):
        if highest is not None and seen.offset <= highest[0]:
            break
        if seen.epoch is None or seen.epoch <= last:
            own = _of_removed_log(seen, removal, timeline) and would_show(seen.broker, cluster, ORDER, CLOCK)
            offset = seen.offset if own else _kept(seen, last, later, timeline)
            if offset is None or (highest is not None and offset <= highest[0]):
                continue
            if own or within_epoch(last, seen.event, timeline, cluster):
                highest = offset, seen.event
    return highest


def _marks(removal: Removal, timeline: PartitionTimeline) -> Sequence[Observation]:
    """The high watermarks of all brokers, the highest first, without those of the cut itself and those above the removed records."""
    cut = () if removal.cause == "left-behind" else removal.evidence[-1:]
    seen = (o for replica in timeline.replicas.values() for o in replica.observations if o.quantity == "high-watermark")
    return sorted((o for o in seen if o.offset <= removal.end and o.event not in cut), key=lambda o: -o.offset)


def _of_removed_log(mark: Observation, removal: Removal, timeline: PartitionTimeline) -> bool:
    """It is the mark of the log that held the removed records, after what was removed from that log before: a high watermark is never above
    the end of its log."""
    places = places_of_events(timeline)
    cuts = [places[id(r.evidence[-1])] for r in timeline.removals_of(removal.broker) if id(r.evidence[-1]) in places]
    cut = places.get(id(removal.evidence[-1]))
    if mark.broker != removal.broker or cut is None:
        return False
    return max((before for before in cuts if before < cut), default=-1) < places[id(mark.event)] < cut


def _kept(mark: Observation, last: int, later: Sequence[Term], timeline: PartitionTimeline) -> int | None:
    """How much of a high watermark all leaders until the last epoch of the removed records kept: a leader that began below it may have
    written other records at these offsets. None if nothing, or if one of these epochs is not in the evidence."""
    epochs = range((mark.epoch if mark.epoch is not None else -1) + 1, last + 1)
    if not all(timeline.knows_epoch(epoch) for epoch in epochs):  # up to the first that is missing: a damaged number makes billions of them
        return None
    after = set(map(id, later))
    between = (t for t in timeline.terms if id(t) not in after and (t.epoch in epochs or _led_again(t, mark, timeline)))
    kept = min((mark.offset, *(t.at_least for t in between)))
    return kept if kept > 0 or mark.offset == 0 else None


def _led_again(term: Term, mark: Observation, timeline: PartitionTimeline) -> bool:
    """The leader of the mark's epoch was restarted after it."""
    return bool(term.restart) and term.epoch == mark.epoch and began_after(term, (mark.event,), timeline)


def written_earlier(removal: Removal, term: Term, timeline: PartitionTimeline) -> bool:
    """The removed records were written before the term. If a follower that came back empty last showed its log end long after the term
    began, it may have fetched them from the leader of that term."""
    if removal.cause not in OWN_LOSS or not removal.evidence:
        return True
    led = any(t.leader == removal.broker and t.epoch == removal.epoch for t in timeline.terms)
    at = removal.evidence[0].at
    return led or removal.broker == term.leader or at is None or term.at is None or at <= term.at + STOP_NOTICED_EARLY


def nothing_written_since(piece: RemovedRange) -> bool:
    """The term began at today's log end: no records were written since."""
    written = max((e.at for e in piece.seen if e.event == "segment" and e.at is not None), default=None)
    return is_later(piece.term.at, written)


def _past_the_end(removal: Removal, later: Sequence[Term], timeline: PartitionTimeline) -> Iterator[RemovedRange]:
    """If no line shows where a leader began: even today its log has not reached the end of the removed records."""
    if removal.cause == "overwritten" and any(removal.evidence[0] in r.evidence for r in timeline.removals_of(removal.broker)):
        return  # it did not keep them: it cut them off
    today = ends_today(later[-1], timeline)
    cut_to = removal.start if removal.cause == "truncation" else 0
    if today is not None and cut_to <= today.offset < removal.end:  # a leader whose log ends below the cut has the fetch offset reset
        several = later[-1].epoch > later[0].epoch
        yield RemovedRange(today.offset, removal.end, later[0], removal, proven=True, several=several, seen=today.evidence)


def _begun(term: Term, removal: Removal, timeline: PartitionTimeline) -> Term:
    """The term with its start offset, if only records show it. Before leader epochs no line prints it; the start is the first record, in
    place of the removed ones, with a creation time in the term (message format v1, 0.10). No records were written while there was no
    leader, so the longest gap in time must be there. If it is elsewhere, the producers' clocks were ahead, and the cut records were copied
    again."""
    if timeline.has_epochs or term.exact or term.at is None:
        return term
    began = term.at.replace(tzinfo=timezone.utc).timestamp() * 1000
    leader = timeline.standing.leader
    for disk in sorted(timeline.collected_logs.values(), key=lambda d: (d.broker != leader, d.broker)):
        if (first := _first_batch(began, removal, disk)) is not None:
            return replace(term, start_offset=first.offset, evidence=(*term.evidence, first.segment)) if first.after_longest_gap else term
    return term


class _FirstBatch(NamedTuple):
    offset: int
    segment: Event
    after_longest_gap: bool


def _first_batch(began: float, removal: Removal, disk: Disk) -> _FirstBatch | None:
    """The first batch at the removed offsets that was created after this time, if the batch before it was created earlier."""
    batches = ((b, segment) for segment in disk.segments for b in segment.batches or ())
    near = [(a, b, s) for (a, _), (b, s) in pairwise(batches) if removal.start <= b["base_offset"] <= removal.end]
    near = [x for x in near if not disk.damaged_within(x[0]["last_offset"] + 1, x[1]["base_offset"])]
    gaps = [b["base_timestamp"] - a["max_timestamp"] for a, b, _ in near]
    for (before, batch, segment), gap in zip(near, gaps, strict=True):
        if batch["base_offset"] < removal.end and 0 < before["max_timestamp"] < began <= batch["base_timestamp"]:
            return _FirstBatch(batch["base_offset"], segment, gap == max(gaps))
    return None
