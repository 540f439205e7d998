"""The log directory that contains a replica, and its failures.

Here: what the broker's own lines about the partition say. Not here: failures of whole directories (forensics.rules.log_dir_failure), or the
directories of a broker's settings (forensics.model.settings.settings).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from forensics.model.events import Event
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from parsers.kinds import named

STORAGE_ERROR = "storage-error"
"""Reason of a refusal to lead or to follow: the directory of the replica is offline."""

OF_REPLICA = named("log-dir-partitions", "become-refused")
"""Kinds of lines that a replica is offline because its log directory failed."""


def log_directory(broker: int, before: datetime | None, timeline: PartitionTimeline) -> Event | None:
    """The broker's last line until a time (None: of all) that names the directory of its replica. None if there is none, or if the replica
    moved to another directory after it."""
    last = next((e for e in reversed(_lines(timeline).get(broker, ())) if (before is None or e.at is None or e.at <= before)), None)
    return last if last is not None and last.directory is not None else None


def failures_of_replica(broker: int, timeline: PartitionTimeline) -> Sequence[Event]:
    """Lines of the broker or of a controller that the replica is offline because its log directory failed."""
    return _failures(timeline).get(broker, ())


@cached_on_timeline
def _lines(timeline: PartitionTimeline) -> Mapping[int, Sequence[Event]]:
    """By broker, the lines that name the directory of its replica, and the moves to another one, which do not name it (KIP-113)."""
    found: dict[int, list[Event]] = defaultdict(list)
    for e in timeline.of("log-created", "log-load", "log-moved"):
        if e.writer is not None and (e.directory is not None or e.event == "log-moved"):
            found[e.writer].append(e)
    return found


@cached_on_timeline
def _failures(timeline: PartitionTimeline) -> Mapping[int, Sequence[Event]]:
    found: dict[int, list[Event]] = defaultdict(list)
    for e in timeline.of(*OF_REPLICA):
        broker = e.broker if e.broker is not None and e.event == "log-dir-partitions" else e.writer
        if broker is not None and (e.event == "log-dir-partitions" or e.reason == STORAGE_ERROR):
            found[broker].append(e)
    return found
