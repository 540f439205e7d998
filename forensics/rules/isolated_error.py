"""isolated-error: a statement about damage, a refused role or a refused node, of which the evidence shows nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.timeline import PartitionTimeline
from forensics.thresholds import SAME_FETCH


def alone(error: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether no state of the partition is known, so that no other rule can judge the statement."""
    return not timeline.states_with_describe


def unexplained(error: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether no error before it says why the partition was given up."""
    before = (e.at for e in timeline.of("fetch-error") if e.writer == error.writer)
    known = any(at is not None and error.at is not None and abs(error.at - at) <= SAME_FETCH for at in before)
    return alone(error, timeline, cluster) and not known


def not_stopped(error: Event, cluster: Cluster) -> bool:
    """Whether the evidence lacks a part of the stop that failed to hand over (controlled_shutdown judges whole ones)."""
    return error.writer is None or cluster.next_of(error.writer, error.at, "broker-stopped") is None


def stated(errors: Sequence[Event], *scope: Any) -> Mapping[str, Any]:
    last = errors[-1]
    return {
        "directory": last.directory,
        "offset": last.offset,
        "previous_offset": last.previous_offset,
        "high_watermark": last.high_watermark,
        "leader": (last.leader,) if last.leader is not None and last.leader >= 0 else None,
        "reason": last.reason,
    }
