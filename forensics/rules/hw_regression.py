"""hw-regression: a high watermark went back and no loss explains it."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.loss import losses
from forensics.model import Finding, Rule, moment, quote
from spark.cluster import Cluster
from spark.events import Event
from spark.timeline import PartitionTimeline


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    backwards = [e for e in timeline.of("hw-regression") if _falls(e)]
    if not backwards:
        return
    lost = losses(timeline, cluster)
    for event in backwards:
        assert event.high_watermark is not None and event.previous_offset is not None
        low, high = event.high_watermark, event.previous_offset
        explained = any(x.range.start < high and (x.range.end is None or x.range.end > low) for x in lost)
        if not explained and not _refetch(event, timeline):
            yield _finding(event, timeline)


def _falls(event: Event) -> bool:
    return event.high_watermark is not None and event.previous_offset is not None and event.high_watermark < event.previous_offset


def _refetch(event: Event, timeline: PartitionTimeline) -> bool:
    """The follower truncated there and copied the same records again: its high watermark follows its log."""
    return any(e.writer == event.writer and e.offset == event.high_watermark for e in timeline.of("truncation"))


def _finding(event: Event, timeline: PartitionTimeline) -> Finding:
    return Finding(
        kind="hw-regression",
        severity="medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(event.writer,) if event.writer is not None else (),
        start=event.at,
        end=event.at,
        summary=f"{timeline.name}: high watermark on broker {event.writer} went back from {event.previous_offset} to {event.high_watermark}",
        explanation=(
            f"At {moment(event.at)} broker {event.writer} moved its high watermark of {timeline.name} from {event.previous_offset} back to "
            f"{event.high_watermark}, and no truncation or loss in evidence explains it. Consumers that had read up to {event.previous_offset} see "
            "OffsetOutOfRange until it has risen again."
        ),
        next_steps=("Compare leader-epoch-checkpoint of the replicas around that offset.", "See KAFKA-14704 (fixed in 3.4.1, 3.5): the high watermark was raised before a truncation."),
        evidence=quote(event),
    )


RULE = Rule(
    kind="hw-regression",
    level="medium",
    meaning="A high watermark went back without a loss that explains it.",
    benign=("A follower that truncates and copies again.", "A loss: then the data-loss finding says so."),
    references=("KAFKA-14704", "KIP-207"),
    partition=judge,
)
