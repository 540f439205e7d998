"""checkpoint-inconsistent: the offsets in the files or lines of one replica contradict each other.

Here: log start offset <= high watermark <= log end offset, if two of them are known for the same time. Not here: the epoch file
(epoch_history_damaged), a high watermark that goes back (hw_regression), replicas against each other (forensics.tools.checkpoint_diff).
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, moment, quote, raw
from forensics.model.partition.replicas import Disk
from forensics.model.partition.states_of_files import cut_since, taken_alive
from forensics.model.partition.timeline import PartitionTimeline
from parsers.kinds import STARTS


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for broker, disk in sorted(timeline.collected_logs.items()):
        yield from _against_the_log(broker, disk, timeline, cluster)
        yield from _start_above_hw(broker, disk, timeline)
    yield from _in_one_line(timeline)


def _against_the_log(broker: int, disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    end, segment = disk.reach, disk.end_event()
    if end is None or segment is None or disk.tail_damaged:  # segment-corrupt reports the damage
        return
    for name, event in (
        ("high watermark", disk.high_watermark),
        ("recovery point", disk.recovery_point),
        ("log start offset", disk.log_start),
    ):
        if event is None or event.offset is None or event.offset <= end or cut_since(segment, event) or taken_alive(broker, event, cluster):
            continue
        yield _finding(broker, timeline, f"the checkpointed {name} {event.offset} is beyond the log, which ends at {end}", event, segment)


def _start_above_hw(broker: int, disk: Disk, timeline: PartitionTimeline) -> Iterator[Finding]:
    """Neither offset goes back, so a high watermark written later than the log start offset cannot be below it."""
    start, hw = disk.log_start, disk.high_watermark
    if start is None or hw is None or start.offset is None or hw.offset is None or start.at is None or hw.at is None:
        return
    if start.offset > hw.offset and hw.at >= start.at:
        text = f"the checkpointed log start offset {start.offset} is above the high watermark {hw.offset}, which was written later"
        yield _finding(broker, timeline, text, hw, start)


def _in_one_line(timeline: PartitionTimeline) -> Iterator[Finding]:
    reported: set[int | None] = set()
    for event in timeline.of(*STARTS, "isr-shrink"):  # they contain both offsets of their writer
        hw, end = event.high_watermark, event.log_end_offset
        if hw is not None and end is not None and hw > end >= 0 and event.writer is not None and event.writer not in reported:
            reported.add(event.writer)
            yield _finding(
                event.writer, timeline, f"its own line has the high watermark {hw} beyond the log, which ends at {end}", event, None
            )


def _finding(broker: int, timeline: PartitionTimeline, what: str, event: Event, segment: Event | None) -> Finding:
    return raw(
        kind="checkpoint-inconsistent",
        severity="medium",
        confidence="certain",
        brokers=(broker,),
        start=event.at,
        summary=f"{timeline.name} on broker {broker}: {what}",
        explanation=(
            f"On broker {broker} {what} ({moment(event.at)}). If the log is shorter than its checkpoint, possible causes are unflushed pages in an "
            "unclean stop, or an incomplete copy of the directory."
        ),
        next_steps=(
            f"Compare {timeline.name} on broker {broker} with the leader-epoch-checkpoint files of the other replicas before broker {broker} leads.",
        ),
        evidence=quote(event, segment),
    )
