"""Which of the lost records a collected disk still contains: in a copy saved before the cut, on a replica that never made it, or in a
directory that was moved aside.

Here: which batches of which files are the lost ones, each offset once, and where the others might be; and the batches in files that Kafka
renamed which no collected log contains. Not here: what was lost (loss), what renamed files prove about losses (forensics.proof.removed),
or the contents of the records (forensics.tools.salvage).

A record is identified by its leader epoch and offset (KIP-101), so the lineage of the lost log decides: the leader epoch that
last wrote an offset before the term in which the record was lost. The age of a copy does not matter.

Source: LocalLog and LogLoader of Apache Kafka. Whole segment files become `.deleted` if retention removes the start of a log, a truncation
or a recovery its end, and the log cleaner or a split replaces its middle; a minute later, or at the next start, they are removed.
`.cleaned` and `.swap` files are copies of segments that are still, or were, in the log. Directories `-delete`, `-stray` and `-future`
contain whole logs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from operator import attrgetter
from typing import Any

from forensics.model.events import Event
from forensics.model.findings import DifferingCopies, Held, Producer, Salvageable
from forensics.model.message import Message, Range, joined, said
from forensics.model.partition.replicas import ASIDE, RENAMED_FILES, REWRITTEN_FILES, Disk, Removal
from forensics.model.partition.timeline import PartitionTimeline, Term, cached_on_timeline
from forensics.model.times import grouped, overlapping, runs, undated_first
from parsers.decoding.batches import after
from parsers.formats.segments import Stretch, stretches_of
from parsers.frozen import dataclass
from parsers.schemas import moment as of_record

BEYOND, REPLACED, MISSING = "beyond", "replaced", "missing"
"""The log ends before the batch; it has records of other leader epochs at these offsets; it has none there, and the log cleaner is off."""


@dataclass(frozen=True, slots=True)
class OutsideBatch:
    """A batch that no collected log of the partition contains."""

    segment: Event
    batch: Mapping[str, Any]
    log: Disk
    """The log that it was compared with: that of the same broker, else the leader's."""
    difference: str
    other_topic: bool
    """It is from a directory `-delete` without a topic id, which may be of an earlier topic of this name."""

    @property
    def directory(self) -> str:
        return self.segment.source.rpartition("/")[0]

    @property
    def start(self) -> int:
        return int(self.batch["base_offset"])

    @property
    def end(self) -> int:
        return int(self.batch["last_offset"]) + 1

    @property
    def epoch(self) -> int:
        return int(self.batch["leader_epoch"])


@cached_on_timeline
def outside_logs(timeline: PartitionTimeline) -> tuple[OutsideBatch, ...]:
    """By file and offset. Batches that retention or DeleteRecords removed, and those that the log cleaner may have removed, do not count;
    neither do logs of a deleted topic, nor files without a log to compare them with."""
    renamed = [s for s in timeline.segments if s.reason in RENAMED_FILES | ASIDE]
    logs = {broker: _Batches(log) for broker, log in timeline.collected_logs.items() if log.segments} if renamed else {}
    if not logs or timeline.generation < 0:
        return ()
    known = {_identity(b) for log in logs.values() for b in log.batches}
    with_id = {disk.directory for disks in timeline.stray_logs.values() for disk in disks if disk.topic_id and timeline.topic_id}
    leader = timeline.standing.leader
    found: list[OutsideBatch] = []
    for segment in sorted(renamed, key=lambda s: (s.source, s.byte or 0)):
        own = logs.get(segment.writer) if segment.writer is not None else None
        log = own or (logs.get(leader) if leader is not None else None)
        if log is None:
            continue
        other_topic = segment.reason == "delete" and segment.source.rpartition("/")[0] not in with_id
        start = max(timeline.log_start(broker) or 0 for broker in (log.disk.broker, leader) if broker is not None)
        for batch in segment.batches or ():
            if batch["last_offset"] >= start and _identity(batch) not in known:
                difference = _difference(batch, log, timeline.cleaned)
                if difference is not None and not (difference == BEYOND and own is None and _saved_before(log.disk, segment)):
                    found.append(OutsideBatch(segment, batch, log.disk, difference, other_topic))
    return tuple(found)


def runs_of(batches: Sequence[OutsideBatch]) -> Iterator[list[OutsideBatch]]:
    """Batches of one directory and one leader epoch without missing offsets between them."""
    return runs(batches, lambda own, b: (own[-1].directory, own[-1].epoch, own[-1].end) == (b.directory, b.epoch, b.start))


class _Batches:
    """The batches of a log by offset."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.batches = sorted(disk.batches(), key=lambda b: b["base_offset"])
        self._rises = all(a["last_offset"] < b["base_offset"] for a, b in pairwise(self.batches))
        self._starts = [b["base_offset"] for b in self.batches]

    def at(self, start: int, end: int) -> Iterator[Mapping[str, Any]]:
        """Those with some of the offsets [start, end)."""
        first = max(bisect_right(self._starts, start) - 1, 0) if self._rises else 0
        for batch in self.batches[first:]:
            if batch["base_offset"] >= end and self._rises:
                return
            if batch["base_offset"] < end and batch["last_offset"] >= start:
                yield batch


def _identity(batch: Mapping[str, Any]) -> tuple[int, int, int]:
    return batch["base_offset"], batch["leader_epoch"], batch["crc"]


def _difference(batch: Mapping[str, Any], log: _Batches, cleaned: bool | None) -> str | None:
    """How the log differs at these offsets; None if it has records of the same epoch there, or the log cleaner may have removed them."""
    reached = log.disk.reached(cleaned)
    if reached is None or batch["base_offset"] >= reached:
        return BEYOND
    epoch = batch["leader_epoch"]
    there = {b["leader_epoch"] for b in log.at(batch["base_offset"], batch["last_offset"] + 1)}
    if there:
        return REPLACED if epoch >= 0 and min(there) >= 0 and epoch not in there else None
    return MISSING if cleaned is False else None


def _saved_before(log: Disk, segment: Event) -> bool:
    """The log of another broker may have been saved before these records were written."""
    return log.as_of is None or segment.at is None or log.as_of < segment.at


_WHOLE_FILES = frozenset({None, "deleted", *ASIDE})
"""Marks of segment files with the contents that they had as part of the log: files that a truncation deletes remain for
file.delete.delay.ms. Unfinished copies contain less."""
_CUT_NOTHING = ("left-behind", "stray", "deleted")
"""Causes of removals in which the whole log went, without a cut."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A batch that may contain lost records."""

    base: int
    end: int
    epoch: int
    whole: bool
    sure: bool
    segment: Event
    batch: Mapping[str, Any]
    part: Range
    """Its lost offsets: a batch may begin before a loss, or go on after it."""


def salvageable(
    lost: Sequence[Range], term: Term, removals: Sequence[Removal], timeline: PartitionTimeline, *, perhaps: Sequence[Range] = ()
) -> Salvageable:
    """The salvageable part of the offsets that were lost with `term`. `perhaps`: offsets that may be lost as well."""
    found = [f for wanted in joined((*lost, *perhaps)) for f in _candidates(wanted, term, removals, timeline)]
    chosen = _chosen(found)
    damaged = _damaged(timeline)
    held = tuple(_held(own) for own in _runs(chosen, damaged, timeline))
    differing = tuple(_differing(found, timeline))
    here = held if timeline.cleaned else [Range(f.base, f.end) for f in chosen]
    missing = tuple(r for own in lost for gap in _missing(own, here, timeline, damaged) if (r := gap.overlap(own)) is not None)
    return Salvageable(
        held=held,
        missing=missing,
        certain=all(f.sure for f in chosen) and not differing and not _contradict(found, timeline),
        elsewhere=_elsewhere(term, removals, {h.broker for h in held}, timeline) if missing else None,
        producers=tuple(_producers(chosen, timeline)),
        differing=differing,
    )


MOST_PRODUCERS = 50
"""Maximum number of producers reported; there may be many short-lived transactional producers."""


def _producers(chosen: Sequence[_Found], timeline: PartitionTimeline) -> Iterator[Producer]:
    by_id = grouped((f.batch["producer_id"], f) for f in chosen if not f.batch["control"])
    states = {e.count: e for e in sorted(timeline.transactions, key=lambda e: (undated_first(e), e.source))}
    found = (_producer(number, own, states.get(number) if number >= 0 else None) for number, own in by_id.items())
    yield from sorted(found, key=lambda p: (-p.records, -1 if p.id is None else p.id))[:MOST_PRODUCERS]


def _producer(number: int, own: Sequence[_Found], transaction: Event | None) -> Producer:
    """The producer with this id (below 0: none), and its part of the wanted offsets."""
    times = _times(own)
    numbered = [f for f in own if number >= 0 and f.batch["base_sequence"] >= 0]
    return Producer(
        id=number if number >= 0 else None,
        records=sum(f.part.length or 0 for f in own),
        bytes=sum(f.batch["bytes"] for f in own),
        first=min(times, default=None),
        last=max(times, default=None),
        transactional_id=transaction.value if transaction is not None else None,
        state=transaction.reason if transaction is not None else None,
        epoch=max((f.batch["producer_epoch"] for f in numbered), default=None),
        first_sequence=_sequence(numbered[0], numbered[0].part.start) if numbered else None,
        last_sequence=_sequence(numbered[-1], (numbered[-1].part.end or 0) - 1) if numbered else None,
        codecs=tuple(sorted({f.batch["codec"] for f in own})),
    )


def _sequence(found: _Found, offset: int) -> int:
    """Sequence number of the record at an offset."""
    return after(found.batch["base_sequence"], offset - found.batch["base_offset"])


def _times(found: Iterable[_Found]) -> list[datetime]:
    """The timestamps of the batches' records that are known."""
    times = (of_record(f.batch[key]) for f in found for key in ("base_timestamp", "max_timestamp"))
    return [t for t in times if t is not None]


def salvageable_outside(batches: Sequence[OutsideBatch], timeline: PartitionTimeline) -> Salvageable:
    """The batches of one leader epoch that only renamed files have. What else the log had is unknown, so nothing counts as missing."""
    own = ((b, Range(b.start, b.end)) for b in batches)
    found = [_Found(b.start, b.end, b.epoch, b.batch["whole"] is not False, True, b.segment, b.batch, part) for b, part in own]
    chosen = _chosen(found)
    differing = tuple(_differing(found, timeline))
    held = tuple(_held(own) for own in _runs(chosen, _damaged(timeline), timeline))
    return Salvageable(held, certain=not differing, producers=tuple(_producers(chosen, timeline)), differing=differing)


def _candidates(wanted: Range, term: Term, removals: Sequence[Removal], timeline: PartitionTimeline) -> Iterator[_Found]:
    there = set(_there(timeline))
    for segment, batch, base in _batches(timeline):
        epoch, end = batch["leader_epoch"], batch["last_offset"] + 1
        part = Range(base, end).overlap(wanted)
        if part is None or (batch["base_offset"], epoch, batch["crc"]) in there:
            continue
        if epoch < 0 or (epoch == term.epoch and term.restart):  # a leader that is started again may keep its epoch
            right = None if _before_the_cut(segment, Range(base, end), removals, timeline) else False
        else:
            right = _wrote(base, epoch, term, timeline)
        if right is not False:
            yield _Found(base, end, epoch, batch["whole"] is not False, right is True, segment, batch, part)


def _batches(timeline: PartitionTimeline) -> Iterator[tuple[Event, Mapping[str, Any], int]]:
    """The batches of all segments with the contents that they had as part of the log, each with its base offset. For a compressed message
    of the old formats only the last offset is known."""
    damaged = {(source, s.end) for source, own in _damaged(timeline).items() for s in own}
    reached: dict[str, int] = {}
    for segment in sorted(timeline.segments, key=lambda s: (s.source, s.byte or 0)):
        for batch in (segment.batches or ()) if segment.reason in _WHOLE_FILES | REWRITTEN_FILES else ():
            base = batch["base_offset"]
            if batch["leader_epoch"] < 0 and batch["whole"] is None and (segment.source, base) not in damaged:
                base = min(reached.get(segment.source, segment.offset or 0), base)
            reached[segment.source] = batch["last_offset"] + 1
            yield segment, batch, base


def _there(timeline: PartitionTimeline) -> Iterator[tuple[int, int, int]]:
    """Batches in the present log of the partition."""
    logs, now = {b: d for b, d in timeline.collected_logs.items() if d.segments}, timeline.standing
    for broker in [now.leader] if now.leader in logs else now.isr:
        if broker in logs:
            yield from ((b["base_offset"], b["leader_epoch"], b["crc"]) for b in logs[broker].batches())


def _wrote(offset: int, epoch: int, term: Term, timeline: PartitionTimeline) -> bool | None:
    """Whether this leader epoch was the last to write the offset before `term`; None if unknown."""
    if epoch >= term.epoch:
        return False
    for before in timeline.terms_before(term):
        if before.at_most is not None and offset >= before.at_most:
            return epoch == before.epoch
        if offset >= before.at_least and epoch <= before.epoch:
            return None
    return None


def _before_the_cut(segment: Event, offsets: Range, removals: Sequence[Removal], timeline: PartitionTimeline) -> bool:
    """Used where leader epochs do not separate the lost records from later ones: whether the file was saved before the cut, on a broker
    that lost records; or whether the leader's log shows these offsets, so that batches which the leader has could be left out."""
    own = [r for r in removals if r.broker == segment.writer]
    leader = timeline.standing.leader
    now = timeline.collected_logs.get(segment.writer) if segment.writer is not None else None
    saved = segment.reason is not None or now is None or now.collection != segment.collection
    log = timeline.collected_logs.get(leader) if leader is not None and segment.writer != leader else None
    compared = log is not None and log.shows(offsets.start, offsets.end or 0)
    return any(saved or compared or r.cause in _CUT_NOTHING for r in own)


def _chosen(found: Sequence[_Found]) -> list[_Found]:
    """Each offset once: the later epoch if it is unknown which was right, a whole batch before one with records removed by the log cleaner,
    else the batch from the directory with most batches."""
    most = Counter(_directory(f) for f in found)
    chosen: list[_Found] = []

    def order(f: _Found) -> tuple[object, ...]:
        return f.base, -f.epoch, f.segment.reason in REWRITTEN_FILES, not f.whole, -most[_directory(f)], f.segment.source

    for f in sorted(found, key=order):
        if not chosen or f.base >= chosen[-1].end:
            chosen.append(f)
    return chosen


def _damaged(timeline: PartitionTimeline) -> dict[str, list[Stretch]]:
    return {s.source: found for s in timeline.segments if (found := stretches_of(s.value))}


def _unreadable(one: _Found, other: _Found, damaged: Mapping[str, Sequence[Stretch]]) -> bool:
    """One of the files of two adjacent batches has a damaged stretch between them."""
    stretches = (s for source in {one.segment.source, other.segment.source} for s in damaged.get(source, ()))
    return any((s.start or 0) < other.base and (s.end is None or s.end > one.end) for s in stretches)


def _runs(chosen: Sequence[_Found], damaged: Mapping[str, Sequence[Stretch]], timeline: PartitionTimeline) -> Iterator[list[_Found]]:
    """Batches of one file and one leader epoch without missing offsets between them; the log cleaner's holes are not missing offsets."""

    def joins(run: Sequence[_Found], f: _Found) -> bool:
        last = run[-1]
        contiguous = f.base <= last.end or (bool(timeline.cleaned) and not _unreadable(last, f, damaged))
        return contiguous and (last.segment.source, last.epoch) == (f.segment.source, f.epoch)

    return runs(chosen, joins)


def _contradict(found: Sequence[_Found], timeline: PartitionTimeline) -> bool:
    """The present log has other contents at the same offset and in the same leader epoch, so one of the two is not the lost record."""
    there = {(base, epoch): crc for base, epoch, crc in _there(timeline)} if timeline.cleaned is False else {}
    return any(there.get((f.batch["base_offset"], f.epoch), f.batch["crc"]) != f.batch["crc"] for f in found if f.epoch >= 0)


def _differing(found: Sequence[_Found], timeline: PartitionTimeline) -> Iterator[DifferingCopies]:
    """Where batches of one leader epoch overlap, and are not the same batch. The log cleaner rewrites batches on each replica
    separately."""
    comparable = [f for f in found if f.batch["whole"] or timeline.cleaned is False]
    for epoch in sorted({f.epoch for f in comparable}):
        own = sorted((f for f in comparable if f.epoch == epoch), key=lambda f: (f.base, f.end))
        parts = [
            DifferingCopies(epoch, Range(group[0].base, max(f.end for f in group)), tuple(sorted({f.segment.source for f in group})))
            for group in overlapping(own, attrgetter("base"), attrgetter("end"), -1)
            if len({(f.base, f.end, f.batch["crc"]) for f in group}) > 1
        ]
        several = (part for part in parts if len(part.sources) > 1)
        for run in runs(several, lambda run, part: (run[-1].offsets.end, run[-1].sources) == (part.offsets.start, part.sources)):
            yield replace(run[0], offsets=Range(run[0].offsets.start, run[-1].offsets.end))


def _directory(found: _Found) -> str:
    return found.segment.source.rpartition("/")[0]


def _held(own: Sequence[_Found]) -> Held:
    first, offsets = own[0], Range(own[0].part.start, own[-1].part.end)
    return Held(first.segment.source, first.segment.byte, first.segment.writer, first.epoch, offsets)


def _missing(
    offsets: Range, held: Sequence[Held] | Sequence[Range], timeline: PartitionTimeline, damaged: Mapping[str, Sequence[Stretch]]
) -> Iterator[Range]:
    """The ranges between the held ones. In a cleaned log, the log cleaner may have emptied a gap, so only those before and after the held
    ranges count, and those where a file with other held records is damaged."""
    spans = [h.offsets if isinstance(h, Held) else h for h in held]
    if not spans:
        yield offsets
        return
    if timeline.cleaned:
        spans = _without_damages(spans, {h.source for h in held if isinstance(h, Held)}, damaged)
    reached = offsets.start
    for span in spans:
        if span.start > reached:
            yield Range(reached, span.start)
        reached = max(reached, span.end or span.start)
    if offsets.end is not None and reached < offsets.end:
        yield Range(reached, offsets.end)


def _without_damages(spans: Sequence[Range], sources: Iterable[str], damaged: Mapping[str, Sequence[Stretch]]) -> list[Range]:
    """Merges the spans, except across gaps in which one of the files is damaged."""
    stretches = [Range(s.start or 0, s.end) for source in sources for s in damaged.get(source, ())]

    def joins(run: Sequence[Range], span: Range) -> bool:
        gap = Range(run[-1].end or 0, span.start)
        return all(gap.overlap(s) is None for s in stretches)

    return [Range(run[0].start, run[-1].end) for run in runs(spans, joins)]


def _elsewhere(term: Term, removals: Sequence[Removal], found_on: set[int | None], timeline: PartitionTimeline) -> Message | None:
    """The brokers whose disks had the missing records, and until when."""
    places: dict[int, Message] = {}
    for removal in removals:
        if removal.broker not in found_on:
            places.setdefault(removal.broker, _on_disk_of(removal, timeline))
    before = timeline.before(term)
    leader = before.leader if before is not None else None
    for broker in (*(() if leader is None else (leader,)), *(term.before.isr if term.before is not None else ())):
        if broker not in found_on and broker != term.leader and broker >= 0:
            places.setdefault(broker, said("salvageable/copy", broker=broker, led=broker == leader, until=term.at))
    return said("salvageable/elsewhere", places=tuple(places.values())) if places else None


def _on_disk_of(removal: Removal, timeline: PartitionTimeline) -> Message:
    """Until when the removed records were on a broker's disk."""
    had = next((e.at for e in removal.evidence if e.at is not None), None)
    if removal.cause in _CUT_NOTHING and removal.cause != "deleted":
        return said("salvageable/never-cut", broker=removal.broker, had=had, place=timeline.name)
    how = "crash" if removal.cause == "restart" else "until"  # what a crash took was gone before the log was loaded
    return said(f"salvageable/{how}", broker=removal.broker, had=had, until=removal.at)
