"""hw-regression: a high watermark went back and no known loss explains it."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Range, values
from forensics.model.partition.replicas import Disk
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.times import is_later, not_after
from forensics.proof.losses import losses
from parsers.kinds import ON_DISK, named

NEEDS = ON_DISK | named("hw-regression")


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    yield from _printed(timeline, cluster)
    yield from _between_collections(timeline, cluster)


def _printed(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    backwards = [e for e in timeline.of("hw-regression") if _falls(e)]
    if not backwards:
        return
    lost = [part.offsets for loss in losses(timeline, cluster) for part in loss.parts]
    for event in backwards:
        assert event.high_watermark is not None and event.previous_offset is not None
        low, high = event.high_watermark, event.previous_offset
        explained = any(own.overlap(Range(low, high)) for own in lost)
        if not explained and not _refetch(event, timeline):
            starts = _of_its_leader(event, timeline)
            if not any(mark <= low and offset >= high for mark, offset in starts):
                yield _finding(event, leader_started=bool(starts))


def _falls(event: Event) -> bool:
    return event.high_watermark is not None and event.previous_offset is not None and event.high_watermark < event.previous_offset


def _refetch(event: Event, timeline: PartitionTimeline) -> bool:
    """The follower truncated there and copied the same records again: its high watermark follows its log."""
    return any(e.writer == event.writer and e.offset == event.high_watermark for e in timeline.of("truncation"))


def _of_its_leader(event: Event, timeline: PartitionTimeline) -> list[tuple[int, int]]:
    """High watermark and log end offset with which the leader of this follower started; empty if a later leader had started that the
    follower's lines do not mention. A new leader starts with the high watermark of its last fetch, which is one fetch older than that of
    the previous leader. Followers that knew a higher one adopt it; the records are in the new leader's log (KIP-207)."""
    epoch = _epoch_followed(event, timeline)
    if epoch is None or any(t.epoch > epoch and not_after(t.at, event.at) for t in timeline.terms):
        return []
    starts = (s for replica in timeline.replicas.values() for s in replica.leader_starts if s.epoch == epoch)
    return [(s.high_watermark, s.offset) for s in starts if s.high_watermark is not None and s.offset is not None]


def _epoch_followed(event: Event, timeline: PartitionTimeline) -> int | None:
    """The last leader epoch in which the writer of the event had become a follower."""
    if event.writer not in timeline.replicas or event.at is None:
        return None
    starts = timeline.replicas[event.writer].follower_starts
    return max((f.epoch for f in starts if not_after(f.at, event.at)), default=None)


def _between_collections(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    """A broker's checkpoint in a later collection is below that of an earlier one, and its log is too short for the committed records."""
    if timeline.generation != 0 or timeline.topic in cluster.recreated:
        return
    for broker, disk in sorted(timeline.collected_logs.items()):
        highest = _highest_before(disk, timeline)
        now, end = disk.high_watermark, None if disk.end_unknown else disk.reach
        if highest is None or now is None or now.offset is None or end is None or max(now.offset, end) >= (highest.offset or 0):
            continue
        if not _explained(broker, highest.offset or 0, timeline, cluster):
            yield _fallen(broker, highest, now, end)


def _highest_before(disk: Disk, timeline: PartitionTimeline) -> Event | None:
    """The broker's highest checkpointed high watermark in collections that were made before: equal times show no order."""
    now = disk.high_watermark
    marks = (e for e in timeline.of("hw-checkpoint") if e.writer == disk.broker and e.reason is None and e.collection != disk.collection)
    before = (e for e in marks if now is not None and is_later(now.at, e.at))
    return max(before, key=lambda e: e.offset or 0, default=None)


def _explained(broker: int, reached: int, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """A removal from the log of this broker, or a loss, took records below this offset."""
    removed = any(r.start < reached for r in timeline.removals_of(broker))
    return removed or any(loss.range.start < reached for loss in losses(timeline, cluster))


def _fallen(broker: int, before: Event, now: Event, end: int) -> Finding:
    return Finding(
        confidence="certain",
        brokers=(broker,),
        start=before.at,
        end=now.at,
        message="checkpoint",
        values=values(before=before.offset, now=now.offset, log_end=end),
        evidence=quote(before, now),
    )


def _finding(event: Event, *, leader_started: bool) -> Finding:
    """`leader_started`: the evidence shows the high watermark with which its leader started; otherwise that may be the explanation."""
    return Finding(
        confidence="certain" if leader_started else "possible",
        brokers=(event.writer,) if event.writer is not None else (),
        start=event.at,
        end=event.at,
        values=values(before=event.previous_offset, now=event.high_watermark, leader_started=leader_started),
        evidence=quote(event),
    )
