"""Where the log on a collected disk ended, when its files were written and copied, and whether a log end or a high watermark was seen before a
broker took part in a later leader epoch.

The line with which a broker enters a leader epoch may be missing, so its next line, or a file of its, may be of a later epoch than the last
one in its lines. Two files of a replica contradict each other only if it is known when both were written, and when they were copied. Here:
the proofs of this. Not here: what follows from the log end or the high watermark (removed), or comparisons of files (rules).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import CLOCK, ORDER, STATE, would_show
from forensics.model.events import Event
from forensics.model.partition.replicas import Disk, Replica
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.times import is_later
from forensics.thresholds import AT_REST, STOP_NOTICED_EARLY
from parsers.kinds import named


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


_CHECKPOINTED = named("hw-loaded")
"""The high watermark that it prints is from before the log was loaded."""
_DECIDES = frozenset({"metadata", "decided"})
"""Sources of a state whose time is that of the change."""


def within_epoch(epoch: int, shown: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether the broker had been in no later leader epoch when its log was as this line or file shows: by its own lines before or after,
    or because the next leader epoch began so much later that no error of the clocks explains it."""
    if shown.line is not None and not would_show(shown.writer, cluster, ORDER, CLOCK):
        return False
    replica = timeline.replicas.get(shown.writer) if shown.writer is not None else None
    if replica is None:
        return _by_clock(epoch, shown, timeline, cluster)
    at, before, after = _around(shown, replica)
    return _by_clock(epoch, at, timeline, cluster) or _enters_from(epoch, after, replica) or _entered(epoch, before, at, replica, cluster)


def _around(shown: Event, replica: Replica) -> tuple[Event, Sequence[Event], Sequence[Event]]:
    """The line or file at whose time the log was so, the broker's lines before it, and the rest from it on. A file of the last collection
    comes after all lines."""
    events = replica.events
    place = events.index(shown) if shown in events else len(events)
    if shown.event in _CHECKPOINTED:
        place = max((n for n, e in enumerate(events[:place]) if e.event == "log-load"), default=place)
    return (events[place] if place < len(events) else shown), events[:place], events[place:]


def _enters_from(epoch: int, after: Sequence[Event], replica: Replica) -> bool:
    """With one of these lines the broker enters this leader epoch or an earlier one, or another one from there."""
    own = {id(e) for e in after}
    starts = (s for s in replica.starts if id(s.event) in own)
    return any(s.epoch <= epoch or 0 <= _previous(s.event) <= epoch for s in starts)


def _previous(start: Event) -> int:
    return start.previous_leader_epoch if start.previous_leader_epoch is not None else -1


def _entered(epoch: int, before: Sequence[Event], shown: Event, replica: Replica, cluster: Cluster) -> bool:
    """The broker had entered this leader epoch or an earlier one, and its logs would show if it had entered another one since."""
    own = {id(e) for e in before}
    starts = [s for s in replica.starts if id(s.event) in own]
    last = max(starts, key=lambda s: s.epoch, default=None)
    if last is None or last.epoch > epoch or last.at is None or shown.at is None:
        return False
    return bool(would_show(replica.broker, cluster, STATE, since=last.at, until=shown.at))


def _by_clock(epoch: int, shown: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    begun, node = _begun(epoch + 1, timeline), cluster.nodes.get(shown.writer if shown.writer is not None else -1)
    error = timedelta(milliseconds=(node.clock.uncertainty_ms or 0) if node is not None else 0)
    return begun is not None and shown.at is not None and shown.at + STOP_NOTICED_EARLY + error < begun


def _begun(epoch: int, timeline: PartitionTimeline) -> datetime | None:
    """When a leader epoch began, by the controller or by a broker that entered it from an earlier one. Other lines may be much later."""
    decided = (s.at for s in timeline.states if s.leader_epoch == epoch and s.source in _DECIDES)
    entered = (s.at for r in timeline.replicas.values() for s in r.starts if s.epoch == epoch and _previous(s.event) >= 0)
    return min((at for at in (*decided, *entered) if at is not None), default=None)


def exact_end(disk: Disk, timeline: PartitionTimeline) -> int | None:
    """The offset at which the log ended. None if its files do not show it: its last bytes are damaged, or offsets are missing in it.

    A torn last batch shows it only if the broker printed that the log directory failed: then the write of this batch failed, and it was
    never part of the log. Otherwise the file may have been longer.
    """
    failed = any(e.writer == disk.broker for e in timeline.of("log-dir-partitions"))
    return disk.reached(timeline.cleaned) if disk.ends_exactly(timeline.cleaned, write_failed=failed) else None
