"""Where the log on a collected disk ended, if its files show it exactly.

Here: this one question, for every claim about the end of a log. Not here: how the files are read (forensics.model.partition.damaged), or where
a recovery would cut the log (`Disk.log_end_offset`).
"""

from __future__ import annotations

from forensics.model.partition.replicas import Disk
from forensics.model.partition.timeline import PartitionTimeline


def exact_end(disk: Disk, timeline: PartitionTimeline) -> int | None:
    """The offset at which the log ended. None if its files do not show it: its last bytes are damaged, or offsets are missing in it.

    A torn last batch shows it only if the broker printed that the log directory failed: then the write of this batch failed, and it was
    never part of the log. Otherwise the file may have been longer.
    """
    failed = any(e.writer == disk.broker for e in timeline.of("log-dir-partitions"))
    return disk.reached(timeline.cleaned) if disk.ends_exactly(timeline.cleaned, write_failed=failed) else None
