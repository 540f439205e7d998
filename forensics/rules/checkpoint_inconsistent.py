"""checkpoint-inconsistent: files of one replica contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model import Finding, Rule, moment, quote
from spark.cluster import Cluster
from spark.events import Event
from spark.replicas import Disk
from spark.timeline import PartitionTimeline


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for broker, disk in sorted(timeline.disks.items()):
        yield from _against_the_log(broker, disk, timeline)
        yield from _epochs(broker, disk, timeline)


def _against_the_log(broker: int, disk: Disk, timeline: PartitionTimeline) -> Iterator[Finding]:
    end, segment = disk.log_end_offset, disk.end_event()
    if end is None or segment is None:
        return
    for name, event in (
        ("high watermark", disk.high_watermark),
        ("recovery point", disk.recovery_point),
        ("log start offset", disk.log_start),
    ):
        if event is None or event.offset is None or event.offset <= end or _older(segment, event):
            continue
        yield _finding(broker, timeline, f"the checkpointed {name} {event.offset} lies beyond the log, which ends at {end}", event, segment)


def _older(segment: Event, checkpoint: Event) -> bool:
    """The log was cut after the checkpoint was written: truncation, not contradiction; the next checkpoint will agree."""
    return segment.at is not None and checkpoint.at is not None and segment.at > checkpoint.at


def _epochs(broker: int, disk: Disk, timeline: PartitionTimeline) -> Iterator[Finding]:
    if disk.log_end_offset is None:
        return
    for (epoch, start), event in zip(disk.epochs, disk.epoch_events, strict=False):
        if start > disk.log_end_offset:
            text = f"leader-epoch-checkpoint says epoch {epoch} starts at {start}, but the log ends at {disk.log_end_offset}"
            yield _finding(broker, timeline, text, event, disk.end_event())


def _finding(broker: int, timeline: PartitionTimeline, what: str, event: Event, segment: Event | None) -> Finding:
    return Finding(
        kind="checkpoint-inconsistent",
        severity="medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(broker,),
        start=event.at,
        summary=f"{timeline.name} on broker {broker}: {what}",
        explanation=(
            f"On broker {broker} {what} (checkpoint of {moment(event.at)}). A log shorter than what its checkpoint was told is what an unclean stop leaves when "
            "pages were not flushed, or what a wrong copy of the directory looks like."
        ),
        next_steps=("Compare with the other replicas' leader-epoch-checkpoint before this replica leads.",),
        evidence=quote(event, segment),
    )


RULE = Rule(
    kind="checkpoint-inconsistent",
    level="medium",
    meaning="A replica's checkpoint, epoch file and segments contradict each other.",
    benign=("A log truncated after the checkpoint was written.", "From 3.8 on the epoch file is written after a truncation, not with it."),
    references=("KIP-101",),
    partition=judge,
)
