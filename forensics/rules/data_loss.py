"""data-loss: records of a leader's log are lost or may be lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter, itemgetter

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import (
    COMPACTED,
    LEVELS,
    LOST,
    PLAIN_LOG,
    TRANSACTIONAL,
    UNKNOWN_LOG,
    Finding,
    LostPart,
    Producer,
    Records,
    Salvageable,
    Statement,
    Written,
    disks,
    lost_parts,
    lower,
    offsets_in,
    quote,
    together,
)
from forensics.model.message import Message, Range, Value, Values, joined, said, values
from forensics.model.partition.replicas import Removal
from forensics.model.partition.salvageable import salvageable
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.settings.settings import LOG_DIRECTORIES, WRITTEN_BY_BROKERS, same_directory
from forensics.model.times import grouped, not_after, overlapping
from forensics.proof.aftermath import of_groups, readers
from forensics.proof.losses import Doubt, Loss, doubts, holders, losses, written
from forensics.proof.transition import LeaderTransition
from forensics.proof.verdict import FOREIGN, HW_TRUNCATION
from forensics.rules.offset_commit_loss import of_coordinators
from forensics.thresholds import LONG_DEPOSED, MANY_OFFSETS, NAMED, STOP_NOTICED_EARLY


@dataclass(frozen=True, slots=True)
class _Moved:
    """A broker was started with other log directories: its log is new, the old log is still in the old directory."""

    broker: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    evidence: tuple[Event, ...]


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for loss in losses(timeline, cluster):
        finding = _with(_finding(loss, timeline, cluster), loss.transition, timeline, loss.removals)
        clients = tuple(reader.client for reader in readers(loss, timeline))
        yield replace(finding, clients=clients, values=(*finding.values, ("groups", tuple(of_groups(clients, finding.place)))))
    for doubt in doubts(timeline, cluster):
        yield _with(_doubtful(doubt, timeline, cluster), doubt.transition, timeline)


def _moved(loss: Loss, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[_Moved]:
    for removal in loss.removals:
        if removal.cause != "empty" or removal.at is None:
            continue
        old, line = _old_directory(removal, removal.at, timeline, cluster)
        new = _new_directory(removal, removal.at, timeline) or cluster.log_dirs(removal.broker, removal.at)
        if new and old and not any(same_directory(d, now) for d in old for now in new):
            yield _Moved(removal.broker, old, new, (*line, *_setting_lines(removal.broker, removal.at, cluster)))


def _old_directory(
    removal: Removal, at: datetime, timeline: PartitionTimeline, cluster: Cluster
) -> tuple[tuple[str, ...], Sequence[Event]]:
    """The last directory of the log before it was found empty, or all directories of the process before, and the line that names it."""
    loads = timeline.of("log-load", "log-created")
    line = [e for e in loads if e.writer == removal.broker and e.directory and e.at and e.at < at][-1:]
    return ((line[0].directory or "",) if line else _before_its_start(removal, cluster)), line


def _new_directory(removal: Removal, at: datetime, timeline: PartitionTimeline) -> tuple[str, ...]:
    """The directory of the empty log by the line about the log itself: a broker prints the absolute path there, but a setting may be
    relative."""
    loads = (e for e in timeline.of("log-load", "log-created") if e.writer == removal.broker and e.directory and e.at and e.at >= at)
    return tuple(e.directory for e in loads if e.directory)[:1]


def _setting_lines(broker: int, at: datetime, cluster: Cluster) -> Sequence[Event]:
    changes = (cluster.settings.change(key, broker=broker, at=at) for key in LOG_DIRECTORIES)
    return [c.event for c in changes if c is not None and c.event is not None and c.value != "null"][:1]


def _before_its_start(removal: Removal, cluster: Cluster) -> tuple[str, ...]:
    """The log directories of the previous broker process; the next one found its log empty."""
    start = max(cluster.availability(removal.broker).begun(datetime.min, removal.at or datetime.min), default=None)
    first = next(iter(cluster.settings.history("log.dirs", broker=removal.broker)), None)
    if start is None or first is None or first.at >= start - STOP_NOTICED_EARLY:
        return ()
    return cluster.log_dirs(removal.broker, start - STOP_NOTICED_EARLY)


def _severity(loss: Loss) -> str:
    """That of its worst part."""
    return max((_severity_of(part, loss) for part in loss.parts), key=LEVELS.index)


def _severity_of(part: LostPart, loss: Loss) -> str:
    gave_way = loss.transition.stepped_down
    if part.committed:
        return "critical" if part.kind == LOST else "high"  # it is only possible
    if loss.excuse is not None:
        return "low"
    if part.committed is None:
        return "high"
    if gave_way is not None and gave_way.orderly:
        return "low"
    return "high" if gave_way is not None and (gave_way.late >= LONG_DEPOSED or (part.offsets.length or 0) >= MANY_OFFSETS) else "medium"


def _with(finding: Finding, transition: LeaderTransition, timeline: PartitionTimeline, removals: Sequence[Removal] = ()) -> Finding:
    """The finding with the time at which the records were written, and the offsets that can be recovered, and how."""
    lost, parts = finding.offsets, finding.parts
    saved = salvageable(lost, transition.term, removals, timeline, perhaps=[p.offsets for p in parts])
    of_parts = [saved] if len(parts) == 1 else [salvageable([p.offsets], transition.term, removals, timeline) for p in parts]
    found = replace(
        finding,
        parts=tuple(replace(p, records=_records([p.offsets], own, timeline).count) for p, own in zip(parts, of_parts, strict=True)),
        written=_appended(finding, transition, saved),
        records=_records(lost, saved, timeline),
        salvageable=saved if saved.held or finding.confidence != "possible" else None,
    )
    recovery = tuple(_recovery((found.of_partition(timeline.topic, timeline.partition),)))
    return replace(found, values=(*found.values, *_copies(saved), ("recovery", recovery)))


def _appended(finding: Finding, transition: LeaderTransition, saved: Salvageable) -> Written:
    """When the records were written. Those of an earlier partition of this name were in their log before this partition had it: its terms
    do not show since when."""
    if finding.cause != FOREIGN:
        return written(
            Range(finding.offsets[0].start, None if finding.parts[-1].offsets.end is None else finding.offsets[-1].end), transition, saved
        )
    seen = [transition.brought[r.broker].at if r.broker in transition.brought else r.at for r in transition.removals]
    return Written(None, max((at for at in seen if at is not None), default=None) if None not in seen else None)


def _copies(saved: Salvageable) -> Values:
    """What the collected files contain of the lost records, and who wrote these."""
    if not saved.held:
        return ()
    held = said(
        "data-loss/held",
        spans=tuple(said("data-loss/span", offsets=h.offsets, broker=h.broker) for h in saved.held),
        some=bool(saved.missing),
        directories=tuple(h.source.rpartition("/")[0] for h in saved.held),
        unproven=not saved.certain,
    )
    senders = tuple(map(_sender, saved.producers)) if any(p.id is not None for p in saved.producers) else ()
    return values(held=held, senders=senders)


def _sender(p: Producer) -> Message:
    return said("data-loss/sender", records=p.records, id=p.id, transactional_id=p.transactional_id, state=p.state)


def _records(lost: Sequence[Range], saved: Salvageable, timeline: PartitionTimeline) -> Records:
    """Copies of all lost records, and of no others, show their number; otherwise each offset of a plain log is a record."""
    log = _kind_of_log(timeline)
    if saved.held and not saved.missing and saved.held[-1].offsets.end == lost[-1].end and log != COMPACTED:
        return Records(sum(p.records for p in saved.producers), log)
    lengths = [r.length for r in lost]
    return Records(sum(n for n in lengths if n is not None) if log == PLAIN_LOG and None not in lengths else None, log)


def _kind_of_log(timeline: PartitionTimeline) -> str:
    if timeline.cleaned:
        return COMPACTED
    if timeline.transactions or any(b["control"] for d in timeline.collected_logs.values() for b in d.batches()):
        return TRANSACTIONAL
    return UNKNOWN_LOG if timeline.cleaned is None else PLAIN_LOG


def _finding(loss: Loss, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    term, moved, below = loss.term, tuple(_moved(loss, timeline, cluster)), loss.below
    before = timeline.before(term)
    holders = tuple(dict.fromkeys((*(() if before is None else (before.leader,)), term.leader, *(r.broker for r in loss.removals))))
    first = loss.parts[0]
    under = (LostPart(below.range, first.committed, lower(below.confidence, first.confidence)),) if below is not None else ()
    parts = (*under, *loss.parts)
    sure = [p for p in parts if lower(p.confidence, loss.confidence) == loss.confidence]
    known = [p for p in sure if p.offsets.end is not None] or sure
    still_on = _all_on(sure, attrgetter("still_on"))
    return Finding(
        loss=True,
        severity=_severity(loss) if timeline.conflicting_epoch is None else "medium",
        confidence=loss.confidence,
        brokers=holders,
        leader_epoch=term.epoch,
        start=before.at if before is not None and not_after(before.at, term.at) else None,  # two clocks may contradict each other
        end=term.at,
        offsets=_ranges(sure),
        committed=known[0].committed if len({p.committed for p in known}) == 1 else None,
        cause=loss.cause,
        message="lost",
        values=(
            *_extent(parts, loss, timeline),
            *_handover(loss, timeline),
            *_commitment(loss, timeline),
            *_below(loss, timeline),
            ("moved", tuple(said("data-loss/moved", broker=m.broker, old=m.old, new=m.new) for m in moved)),
            ("steps", tuple(_steps(loss, moved, timeline, cluster))),
        ),
        parts=parts,
        still_on=still_on,
        perhaps_on=tuple(b for b in _all_on(sure, lambda p: (*p.still_on, *p.perhaps_on)) if b not in still_on),
        evidence=quote(*(m.evidence for m in moved), *(below.evidence if below is not None else ()), *loss.evidence),
    )


def _all_on(parts: Sequence[LostPart], brokers_of: Callable[[LostPart], tuple[int, ...]]) -> tuple[int, ...]:
    """The brokers that each of the parts names."""
    return tuple(sorted(set.intersection(*({*brokers_of(p)} for p in parts))))


def _extent(parts: Sequence[LostPart], loss: Loss, timeline: PartitionTimeline) -> Values:
    """The lost offsets; `missing`: those known to be missing from the partition."""
    missing = joined(p.offsets for p in loss.sure if p.offsets.end is not None)
    return values(
        lost=_ranges(loss.sure),
        extents=tuple(_extent_of(own, loss, timeline) for own in _alike(parts)),
        by=said(f"data-loss/by-{loss.cause}", leader=loss.term.leader, epoch=loss.term.epoch),
        open=loss.open,
        gone=sum(r.length or 0 for r in missing),
        missing=missing,
    )


def _alike(parts: Sequence[LostPart]) -> Iterator[list[LostPart]]:
    """The parts that differ in more than the disks that hold them."""
    return (list(own) for _, own in groupby(parts, lambda p: (p.committed, p.confidence, p.offsets.end is None)))


def _ranges(parts: Sequence[LostPart]) -> tuple[Range, ...]:
    """The offsets, without a known end apart."""
    known = joined(p.offsets for p in parts if p.offsets.end is not None)
    return (*known, *(p.offsets for p in parts if p.offsets.end is None))


def _extent_of(parts: Sequence[LostPart], loss: Loss, timeline: PartitionTimeline) -> Message:
    part = parts[0]
    return said(
        "data-loss/extent-of-part",
        offsets=_ranges(parts),
        status=_status(part, loss.confidence),
        open=parts[-1].offsets.end is None,
        excuse=loss.excuse if part.committed is not True else None,
        only_unacknowledged=part.committed is False and timeline.topic not in WRITTEN_BY_BROKERS,
    )


def _status(part: LostPart, whole: str) -> Message:
    """`whole`: the confidence of its loss; a part that is less sure says so."""
    status = {True: "is-committed", False: "is-uncommitted", None: "is-lost"}[part.committed]
    less = lower(part.confidence, whole) != whole
    return said(f"data-loss/{status}", possibly=less and part.confidence == "possible", probably=less and part.confidence == "probable")


def _handover(loss: Loss, timeline: PartitionTimeline) -> Values:
    """How the leader changed, and how the records went from the logs that had them."""
    term, removal, gave_way = loss.term, loss.removals[0], loss.transition.stepped_down
    before = timeline.before(term)
    led = before if before is not None and any(r.broker == before.leader for r in loss.removals) else None
    stepped_down = gave_way if any(p.committed is not True for p in loss.sure) else None
    return values(
        led=led.leader if led is not None else None,
        led_in=led.epoch if led is not None else None,
        holder=removal.broker,
        held_to=removal.end,
        elected=(term.at, None),
        leader=term.leader,
        restart=bool(term.restart),
        epoch=term.epoch,
        log_end=_log_end(loss),
        because=said(f"data-loss/because-{loss.cause}", eligible=loss.transition.eligible),
        removed=tuple(_removed(r, loss) for r in loss.removals[:3]),
        stepped_down=stepped_down.leader if stepped_down is not None else None,
        late=stepped_down.late.total_seconds() if stepped_down is not None and not stepped_down.orderly else None,
        still_on=tuple(_on_disk(loss, "on-disk", attrgetter("still_on"))),
        perhaps_on=tuple(_on_disk(loss, "perhaps-on-disk", attrgetter("perhaps_on"))),
    )


def _on_disk(loss: Loss, name: str, brokers_of: Callable[[LostPart], tuple[int, ...]]) -> Iterator[Message]:
    """The disks that hold lost records, each set of brokers with the offsets; without them if these are all that are known."""
    by_brokers = grouped((brokers, p) for p in loss.parts if (brokers := brokers_of(p)))
    for brokers, own in by_brokers.items():
        everything = len(own) == len([p for p in loss.parts if p.offsets.end is not None or p in own])
        yield said(f"data-loss/{name}", brokers=brokers, offsets=joined(p.offsets for p in own) if not everything else None)


def _log_end(loss: Loss) -> Message:
    """Where the log of the new leader ended."""
    if loss.proven and loss.term.at_most is None:
        return said("data-loss/ended-below", offset=loss.parts[0].offsets.start, followed=loss.removals[0].cause == "latest")
    return loss.term.began


_CUTS = frozenset({"leader-epoch", "high-watermark", "truncation", "latest"})
_WITHOUT_TIME = ("left-behind", "renamed")


def _removed(removal: Removal, loss: Loss) -> Message:
    itself = loss.cause == HW_TRUNCATION and removal.broker == loss.term.leader
    cut = itself or removal.cause in _CUTS
    kept = removal.cause != "left-behind" or all(removal.broker in p.still_on for p in loss.parts)
    to = {broker: surely for broker, surely, _ in holders(loss.transition)}
    return said(
        f"data-loss/{'cut-itself' if itself else 'removed'}",
        broker=removal.broker,
        at=removal.at if removal.cause not in _WITHOUT_TIME else None,
        how=said(f"data-loss/removed-{removal.cause}") if kept else said("data-loss/never-cut", to=to[removal.broker] or None),
        before=removal.end if cut else None,
        now=removal.start if cut else None,
    )


def _commitment(loss: Loss, timeline: PartitionTimeline) -> Values:
    """Whether the records were committed, and whether a producer may have got an acknowledgement."""
    by_status = {committed: [p for p in loss.sure if p.committed is committed] for committed in (True, False, None)}
    several = len([own for own in by_status.values() if own]) > 1
    of = {committed: joined(p.offsets for p in own) if several else None for committed, own in by_status.items()}
    never, unknown = bool(by_status[False]), bool(by_status[None])
    by_brokers = timeline.topic in WRITTEN_BY_BROKERS
    return values(
        committed_part=of[True],
        why_committed=_why_committed(loss, by_status[True][-1].offsets.end) if by_status[True] else None,
        never=never,
        eligible=loss.transition.eligible,
        never_part=of[False],
        unknown=unknown,
        unknown_part=of[None],
        high_watermark=loss.high_watermark,
        excuse=loss.excuse,
        written_by_brokers=by_brokers,
        unweighed=(unknown or (never and not by_brokers)) and loss.excuse is None and not loss.weighed,
    )


def _why_committed(loss: Loss, end: int | None) -> Message:
    """`end`: of the committed part."""
    hw, before = loss.high_watermark, loss.term.before
    below = hw is None or hw < (end or loss.reached)
    if below and before is not None and len(before.isr) == 1:
        return said("data-loss/only-in-sync", broker=before.isr[0])
    if below and before is not None and loss.cause == HW_TRUNCATION:
        return said("data-loss/whole-isr", isr=before.isr, leader=loss.term.leader)
    return said("data-loss/high-watermark", offset=hw)


def _below(loss: Loss, timeline: PartitionTimeline) -> Values:
    """What may be lost right below a loss that is only proven from its start on."""
    if loss.below is None:
        return ()
    below, probable = loss.below.range, loss.below.confidence == "probable"
    named = values(
        part=below,
        first=below.start,
        last=loss.reached - 1,
        above=loss.parts[0].offsets.start,
        old=loss.removals[0].broker,
        leader=loss.term.leader,
        probable=probable,
        with_epochs=timeline.has_epochs,
    )
    return values(below=Message("data-loss/below", named))


def _steps(loss: Loss, moved: Iterable[_Moved], timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Message]:
    yield from (said("data-loss/copy-old", broker=m.broker, old=m.old) for m in moved)
    if loss.committed is not False:  # consumers read below the high watermark only
        yield said("data-loss/rewind")
    yield from of_coordinators(timeline.topic, loss.committed, cluster)
    if loss.below is not None:
        yield said("data-loss/compare", topic=timeline.topic, partition=timeline.partition, part=loss.below.range)
    if loss.open:
        yield said("data-loss/older-copy")


def _doubtful(doubt: Doubt, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    """A loss that cannot be excluded."""
    term, broker, emptied = doubt.transition.term, doubt.brokers[0], doubt.how == "emptied"
    removed = [e for e in cluster.of("log-file-refused") if e.writer == broker and e.reason == "missing" and not_after(e.at, term.at)]
    began = timeline.before(term)
    steps = {
        "alone": (said("data-loss/ask-producers", broker=broker),),
        "unflushed": (said("data-loss/how-stopped", brokers=doubt.brokers), said("data-loss/look-for-copy")),
        "emptied": (said("data-loss/old-log", broker=broker), said("data-loss/resend-earlier", broker=broker)),
    }
    coordinators = of_coordinators(timeline.topic, doubt.committed, cluster) if doubt.how != "unflushed" else ()
    return Finding(
        loss=True,
        severity="high" if emptied else "low" if doubt.how == "unflushed" and not doubt.start else "medium",
        confidence="possible",
        brokers=doubt.brokers,
        leader_epoch=term.epoch,
        start=term.at if not emptied else began.at if began is not None else None,
        end=term.at if emptied else None,
        offsets=(Range(doubt.start, None),),
        parts=(LostPart(Range(doubt.start, None), doubt.committed, "possible"),),
        committed=doubt.committed,
        cause=doubt.cause,
        message=doubt.how,
        values=values(
            first=doubt.start,
            stopped=doubt.brokers,
            alone=len(doubt.brokers) == 1,
            leader=term.leader,
            restart=bool(term.restart),
            epoch=term.epoch,
            elected=(term.at, None),
            written_by_brokers=timeline.topic in WRITTEN_BY_BROKERS,
            removed_at=(removed[-1].at, None) if emptied and removed else None,
            reached=doubt.reached if doubt.reached is not None and doubt.reached > doubt.start else None,
            steps=(*steps[doubt.how], *coordinators),
        ),
        evidence=quote(*doubt.evidence, removed[-1:] if emptied else None),
    )


def merged(first: Finding, group: Sequence[Statement]) -> Mapping[str, Value]:
    alike = grouped((_status(part, first.confidence), (f, place, part)) for f, place, part in lost_parts(group))
    counts = tuple(
        said(
            "data-loss/count-of-part",
            count=offsets_in(own) or None,
            at_least=any(p.at_least or p.offsets.end is None for _, _, p in own),
            status=status,
        )
        for status, own in alike.items()
    )
    return {"counts": counts, "recovery": tuple(_recovery(group)), "steps": together(group, "steps")}


def _recovery(group: Sequence[Statement]) -> Iterator[Message]:
    """How the records come back: from disks that still have them, from the collected files, and from their producers."""
    for at, maybe in enumerate((False, True)):
        for brokers in dict.fromkeys(on for f in group if (on := disks(f.parts)[at])):
            names = tuple(f.name for f in group if disks(f.parts)[at] == brokers)
            yield said("data-loss/copy", on=brokers, partitions=names, maybe=maybe)
    held = [(f, [h.offsets for h in f.salvageable.held]) for f in group if f.salvageable is not None and f.salvageable.held]
    for producers in (True, False):
        if own := [(f, ranges) for f, ranges in held if (f.topic not in WRITTEN_BY_BROKERS) is producers]:
            topics = tuple(dict.fromkeys(f.topic for f, _ in own))[:NAMED]
            yield said("data-loss/recover", **_extents(own), topics=topics, resent=producers)
    missing = [(f, left) for f in group if f.confidence != "possible" and f.topic not in WRITTEN_BY_BROKERS and (left := _not_held(f))]
    for same in _of_one_time(missing):
        lost = [f for f, _ in same]
        names = tuple(dict.fromkeys(f.name for f in lost))
        yield said("data-loss/resend", partitions=names, **_written(lost), unacknowledged=lost[0].committed is False)


def _not_held(f: Statement) -> Sequence[Range]:
    """The lost offsets that no collected file contains, and those above if no evidence shows where the log ended."""
    known = f.salvageable.missing if f.salvageable is not None and f.salvageable.held else f.offsets
    return joined((*known, *(p.offsets for p in f.parts if p.offsets.end is None)))


_Missing = tuple[Statement, Sequence[Range]]
"""A loss, and those of its offsets that no collected file contains."""


def _of_one_time(missing: Sequence[_Missing]) -> Iterator[Sequence[_Missing]]:
    """The losses, split by time where none of these records was written: a span for all would be mostly of records that are not lost."""
    dated: list[tuple[datetime, datetime, int]] = []
    others: list[_Missing] = []
    for number, m in enumerate(missing):
        span = m[0].written
        if span is not None and span.since is not None and span.until is not None:
            dated.append((span.since, span.until, number))
        else:
            others.append(m)
    of_one_time = overlapping(sorted(dated), itemgetter(0), itemgetter(1), timedelta(0))
    yield from ([missing[number] for number in sorted(n for _, _, n in run)] for run in of_one_time)
    if others:
        yield others


def _extents(ranges: Sequence[_Missing]) -> dict[str, Value]:
    """Some of the partitions with their offsets, and the number of the others."""
    found = list(dict.fromkeys(said("data-loss/extent", name=f.name, offsets=tuple(own)) for f, own in ranges))
    return {"extents": tuple(found[:NAMED]), "more": max(len(found) - NAMED, 0) or None}


def _written(group: Sequence[Statement]) -> dict[str, Value]:
    """The span of time in which all of these records were written."""
    begins = [f.written.since if f.written is not None else None for f in group]
    ends = [f.written.until if f.written is not None else None for f in group]
    since = None if None in begins else min(at for at in begins if at is not None)
    until = None if None in ends else max(at for at in ends if at is not None)
    return {"span": (since, until) if since is not None and until is not None else None, "since": since, "until": until}
