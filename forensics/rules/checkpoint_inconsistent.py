"""checkpoint-inconsistent: the offsets in the files or lines of one replica contradict each other.

Here: log start offset <= high watermark <= log end offset, if two of them are known for the same time. Not here: the epoch file
(epoch_history_damaged), a high watermark that goes back (hw_regression), replicas against each other (forensics.tools.checkpoint_diff).
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, said, values
from forensics.model.partition.replicas import Disk
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.observed import at_rest, cut_since, taken_alive
from forensics.thresholds import AT_REST
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
        ("high-watermark", disk.high_watermark),
        ("recovery-point", disk.recovery_point),
        ("log-start", disk.log_start),
    ):
        if event is None or event.offset is None or event.offset <= end or cut_since(segment, event):
            continue
        witness = _lower(broker, event, timeline) if taken_alive(broker, event, cluster) else None
        if witness is None and taken_alive(broker, event, cluster):
            continue
        yield _finding(broker, said(f"checkpoint-inconsistent/{name}", offset=event.offset, log_end=end), event, segment, witness)


def _lower(broker: int, checkpoint: Event, timeline: PartitionTimeline) -> Event | None:
    """The high watermark of another in-sync replica that was not written to at that time, if it is lower. Then the log of the broker did
    not grow either while its files were copied."""
    for other, disk in sorted(timeline.collected_logs.items()):
        mark = at_rest(disk) if other != broker and {other, broker} <= {*timeline.standing.isr} else None
        lower = mark is not None and (mark.offset or 0) < (checkpoint.offset or 0)
        if lower and mark is not None and mark.at and checkpoint.at and checkpoint.at < mark.at + AT_REST:
            return mark
    return None


def _start_above_hw(broker: int, disk: Disk, timeline: PartitionTimeline) -> Iterator[Finding]:
    """Neither offset goes back, so a high watermark written later than the log start offset cannot be below it."""
    start, hw = disk.log_start, disk.high_watermark
    if start is None or hw is None or start.offset is None or hw.offset is None or start.at is None or hw.at is None:
        return
    if start.offset > hw.offset and hw.at >= start.at:
        what = said("checkpoint-inconsistent/start-above", log_start=start.offset, high_watermark=hw.offset)
        yield _finding(broker, what, hw, start)


def _in_one_line(timeline: PartitionTimeline) -> Iterator[Finding]:
    reported: set[int | None] = set()
    for event in timeline.of(*STARTS, "isr-shrink"):  # they contain both offsets of their writer
        hw, end = event.high_watermark, event.log_end_offset
        if hw is not None and end is not None and hw > end >= 0 and event.writer is not None and event.writer not in reported:
            reported.add(event.writer)
            what = said("checkpoint-inconsistent/own-line", high_watermark=hw, log_end=end)
            yield _finding(event.writer, what, event, None)


def _finding(broker: int, what: Message, event: Event, segment: Event | None, witness: Event | None = None) -> Finding:
    """`witness`: the checkpoint of another replica, which shows that the running broker did not write to the log."""
    return Finding(
        confidence="certain" if witness is None else "probable",
        brokers=(broker,),
        start=event.at,
        values=values(
            what=what,
            witness=witness.writer if witness is not None else None,
            mark=witness.offset if witness is not None else None,
            marked=witness.at if witness is not None else None,
        ),
        evidence=quote(event, segment, witness),
    )
