"""hw-regression: a high watermark went back and no loss explains it."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model import Finding, Many, Rule, moment, quote
from forensics.proof.losses import losses
from spark.cluster.facts import Cluster
from spark.events import Event
from spark.partition.states import not_after
from spark.partition.timeline import PartitionTimeline


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    yield from _said(timeline, cluster)
    yield from _between_collections(timeline, cluster)


def _said(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    backwards = [e for e in timeline.of("hw-regression") if _falls(e)]
    if not backwards:
        return
    lost = losses(timeline, cluster)
    for event in backwards:
        assert event.high_watermark is not None and event.previous_offset is not None
        low, high = event.high_watermark, event.previous_offset
        explained = any(x.range.start < high and (x.range.end is None or x.range.end > low) for x in lost)
        if not explained and not _refetch(event, timeline):
            starts = _of_its_leader(event, timeline)
            if not any(mark <= low and offset >= high for mark, offset in starts):
                yield _finding(event, timeline, told=bool(starts))


def _falls(event: Event) -> bool:
    return event.high_watermark is not None and event.previous_offset is not None and event.high_watermark < event.previous_offset


def _refetch(event: Event, timeline: PartitionTimeline) -> bool:
    """The follower truncated there and copied the same records again: its high watermark follows its log."""
    return any(e.writer == event.writer and e.offset == event.high_watermark for e in timeline.of("truncation"))


def _of_its_leader(event: Event, timeline: PartitionTimeline) -> list[tuple[int, int]]:
    """High watermark and log end with which the leader began that the follower followed then; none where a later one had begun of which the
    follower's lines do not tell. A new leader begins with the high watermark it was told last, a fetch
    behind its predecessor's, and followers that knew more take it over; the records are in its log (KIP-207)."""
    own = timeline.replicas.get(event.writer) if event.writer is not None else None
    if own is None or event.at is None:
        return []
    epoch = max((f.epoch for f in own.follower_starts if not_after(f.at, event.at)), default=None)
    if epoch is None or any(t.epoch > epoch and not_after(t.at, event.at) for t in timeline.terms):
        return []
    starts = (s for replica in timeline.replicas.values() for s in replica.leader_starts if s.epoch == epoch)
    return [(s.high_watermark, s.offset) for s in starts if s.high_watermark is not None and s.offset is not None]


def _between_collections(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    """A broker's checkpoint of a later collection is below that of an earlier one, and its log too short to hold what was committed."""
    if timeline.generation != 0 or timeline.topic in cluster.recreated:
        return
    for broker, disk in sorted(timeline.disks.items()):
        now, end, replica = disk.high_watermark, None if disk.end_unknown else disk.reach, timeline.replicas.get(broker)
        before = [e for e in timeline.of("hw-checkpoint") if e.writer == broker and e.reason is None and e.collection != disk.collection]
        if now is None or now.offset is None or end is None or not before:
            continue
        highest = max(before, key=lambda e: e.offset or 0)
        reached = highest.offset or 0
        if now.offset >= reached or end >= reached or (replica is not None and any(r.start < reached for r in replica.removals)):
            continue
        if not any(x.range.start < reached for x in losses(timeline, cluster)):
            yield _fallen(timeline, broker, highest, now, end)


def _fallen(timeline: PartitionTimeline, broker: int, before: Event, now: Event, end: int) -> Finding:
    return Finding(
        kind="hw-regression",
        severity="medium",
        confidence="certain",
        brokers=(broker,),
        start=before.at,
        end=now.at,
        summary=f"{timeline.name}: the checkpointed high watermark of broker {broker} went back from {before.offset} to {now.offset}",
        explanation=(
            f"One collection has a high watermark of {before.offset} for {timeline.name} on broker {broker} ({moment(before.at)}), a later one "
            f"{now.offset} ({moment(now.at)}), and its log ends at {end}: committed records are not in it, and no line tells of a truncation."
        ),
        next_steps=("Collect the logs of the time between the two collections, and the files of the other replicas.",),
        evidence=quote(before, now),
    )


def _finding(event: Event, timeline: PartitionTimeline, *, told: bool) -> Finding:
    """`told`: with what its leader had begun is in evidence; else that may explain it."""
    return Finding(
        kind="hw-regression",
        severity="medium",
        confidence="certain" if told else "possible",
        brokers=(event.writer,) if event.writer is not None else (),
        start=event.at,
        end=event.at,
        summary=f"{timeline.name}: high watermark on broker {event.writer} went back from {event.previous_offset} to {event.high_watermark}",
        explanation=(
            f"At {moment(event.at)} broker {event.writer} moved its high watermark of {timeline.name} from {event.previous_offset} back to "
            f"{event.high_watermark}, and no truncation or loss in evidence explains it. Consumers that had read up to {event.previous_offset} see "
            "OffsetOutOfRange until it has risen again."
            + ("" if told else " A new leader may have begun with it; the line with which it did is not in evidence.")
        ),
        next_steps=(
            "Compare leader-epoch-checkpoint of the replicas around that offset.",
            "See KAFKA-14704 (fixed in 3.4.1, 3.5): the high watermark was raised before a truncation.",
        ),
        evidence=quote(event),
    )


RULE = Rule(
    kind="hw-regression",
    rank=170,
    level="medium",
    meaning="A high watermark went back without a loss that explains it.",
    benign=(
        "A follower that truncates and copies again.",
        "A follower that knew more than the new leader, whose log has the records: it takes over the leader's high watermark.",
        "A loss: then the data-loss finding says so.",
    ),
    references=("KAFKA-14704", "KIP-207"),
    partition=judge,
    many=Many(),
)
