"""Statements about one partition that cannot all be true.

Here: the pairs that the timeline shows, without those that a restart, a missing line or a wrong order of lines explains, and the hand-overs
that rest on one of them. Not here: bounds of one cell that contradict each other (an empty cell of verdict), the files of one replica (rules).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.isr_removal import lag_time
from forensics.model.partition.log_coverage import CLOCK, COMPLETE, ORDER, lines_missing, log_coverage
from forensics.model.partition.remembered import cached_on_timeline
from forensics.model.partition.replicas import Contradiction, Disk
from forensics.model.partition.states_of_files import at_rest
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.verdict import Handover, Interval, Possible

LOG_END = "log-end"


@cached_on_timeline
def contradictions(timeline: PartitionTimeline, cluster: Cluster) -> tuple[Contradiction, ...]:
    """The pairs of statements: those of lines and records, by broker and line, then those of files."""
    of_lines = (c for c in timeline.contradictions if c.about != LOG_END or _of_one_process(c, timeline, cluster))
    return (*of_lines, *_between_logs(timeline, cluster))


def _of_one_process(c: Contradiction, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The process that printed the one was not replaced before the other, and all its lines in between are in the evidence, in their order."""
    broker, (since, until) = c.one.writer, sorted((c.one, c.other), key=lambda e: (e.at is None, e.at))
    if broker is None or lines_missing(broker, timeline) or not log_coverage(broker, cluster).holds(ORDER, CLOCK, COMPLETE):
        return False
    return since.at is None or until.at is None or not cluster.availability(broker).begun(since.at, until.at)


def _between_logs(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Contradiction]:
    """Files of two in-sync replicas: a follower copies batches as they are, and has what its leader has had for a while."""
    disks = [timeline.collected_logs[b] for b in sorted({*timeline.standing.isr} & timeline.collected_logs.keys())]
    for one, other in permutations(disks, 2):
        if one.broker < other.broker:
            yield from _epochs_differ(one, other)
        yield from _ends_later(one, other, timeline, cluster)


def _epochs_differ(one: Disk, other: Disk) -> Iterator[Contradiction]:
    """No checksum covers the leader epoch of a batch."""
    marks = [d.high_watermark.offset or 0 for d in (one, other) if d.high_watermark is not None]
    theirs = {(b["base_offset"], b["crc"]): b["leader_epoch"] for b in other.batches() if len(marks) == 2 and b["last_offset"] < min(marks)}
    for segment, b in ((s, b) for s in one.segments for b in s.batches or ()):
        epoch, offset = theirs.get((b["base_offset"], b["crc"]), b["leader_epoch"]), b["base_offset"]
        if epoch != b["leader_epoch"] and (theirs_in := _holding(offset, other)) is not None:
            first = f"on broker {one.broker} the batch at offset {offset} is of leader epoch {b['leader_epoch']}"
            yield Contradiction("batch", segment, first, theirs_in, f"on broker {other.broker} the same batch is of leader epoch {epoch}")
            return


def _holding(offset: int, disk: Disk) -> Event | None:
    return next((s for s in reversed(disk.segments) if (s.offset or 0) <= offset), None)


def _ends_later(one: Disk, other: Disk, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Contradiction]:
    """The log of the one has had more records, for longer than a replica may lag, than that of the other, which was not written to."""
    mark, ends, theirs, leader = at_rest(other), one.end_event(), other.end_event(), timeline.standing.leader
    if mark is None or mark.at is None or ends is None or ends.at is None or theirs is None or leader is None:
        return
    if (one.reach or 0) > (other.reach or 0) and ends.at + lag_time(cluster, leader, mark.at) < mark.at:
        first = f"the log of broker {one.broker} ends at offset {one.reach}"
        yield Contradiction("copy", ends, first, theirs, f"that of broker {other.broker} ends at offset {other.reach}")


def of_row(row: Handover, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Contradiction]:
    """The contradictions on which the row rests."""
    known = contradictions(timeline, cluster)
    used = set(map(id, _evidence(row))) if known else set()
    return (c for c in known if id(c.one) in used or id(c.other) in used)


def _evidence(row: Handover) -> Iterator[Event]:
    cells: tuple[Interval | Possible, ...] = (row.old_log_end, row.new_log_end, row.high_watermark, row.election)
    cells += tuple(x for r in row.removed for x in (r.start, r.end))
    for cell in cells:
        yield from (*cell.low, *cell.high) if isinstance(cell, Interval) else cell.evidence
    for removed in row.removed:
        yield from removed.evidence


def words(c: Contradiction) -> str:
    """Both statements, with their places."""
    first, second = f"{c.first} ({_place(c.one)})", f"{c.second} ({_place(c.other)})"
    return f"the log of broker {c.one.writer} ended at offset {first} and at offset {second}" if c.about == LOG_END else f"{first}, but {second}"


def _place(event: Event) -> str:
    return event.source if event.line is None else f"{event.source}:{event.line}"
