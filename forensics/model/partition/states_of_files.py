"""When the files of a replica were written, and when they were copied: both must be known before two of them contradict each other.

Here: the two questions about time that every comparison of a checkpoint with a log needs. Not here: the comparisons (rules).
"""

from __future__ import annotations

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.replicas import Disk
from forensics.model.times import is_later
from forensics.thresholds import AT_REST


def cut_since(segment: Event | None, checkpoint: Event) -> bool:
    """The log was written after the checkpoint: it was cut since, and the next checkpoint will agree."""
    return segment is not None and is_later(segment.at, checkpoint.at)


def taken_alive(broker: int, checkpoint: Event, cluster: Cluster) -> bool:
    """The checkpoint is of a process that was still running when its files were copied, one after the other: the log went on in between,
    and what the process had in memory was consistent."""
    run = cluster.availability(broker).running
    return run is not None and checkpoint.at is not None and (run.begin_at is None or run.begin_at <= checkpoint.at)


def at_rest(disk: Disk) -> Event | None:
    """The checkpointed high watermark of a log that was complete and not written to when its files were copied; None: it may have been."""
    mark, segment = disk.high_watermark, disk.end_event()
    if mark is None or segment is None or mark.at is None or segment.at is None or mark.offset != disk.reach:
        return None
    return mark if segment.at + AT_REST < mark.at else None
