"""writes-refused: a leader refused writes because too few replicas were in sync, and no state in the evidence shows that ISR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.durability import as_settled, below_min_isr, required
from forensics.model.partition.remembered import cached_on_timeline
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import Window, windows
from forensics.thresholds import CRASH_NOTICED


def unexplained(refusal: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether no window of too few in-sync replicas covers the refusal (under-min-isr reports those)."""
    at = refusal.at
    return at is None or not any(
        (w.start is None or w.start - CRASH_NOTICED <= at) and (w.end is None or at <= w.end + CRASH_NOTICED)
        for w in _below(timeline, cluster)
    )


@cached_on_timeline
def _below(timeline: PartitionTimeline, cluster: Cluster) -> Sequence[Window]:
    return list(windows(as_settled(timeline, cluster), lambda state: below_min_isr(state, required(state, timeline, cluster))))


def refusals(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    return {"isr": errors[-1].isr, "needed": errors[-1].count}
