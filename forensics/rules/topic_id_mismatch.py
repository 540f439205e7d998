"""topic-id-mismatch: the log of a replica belongs to another topic of the same name, so its broker refuses to lead or follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.timeline import PartitionTimeline


def accepted(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """When the last of the brokers accepted the partition, and those that the ISR lacked until then."""
    start, until = errors[0].at, errors[-1].last_at
    brokers = sorted({e.writer for e in errors if e.writer is not None})
    resumed = [timeline.resumed(b, until) if until is not None else None for b in brokers]
    back = None if None in resumed else max((at for at in resumed if at is not None), default=None)
    return {
        "end": back or until,
        "accepted": back,
        "out": _out_of_isr(brokers, start, back or (timeline.states[-1].at if timeline.states else None), timeline),
        "log_id": errors[0].reason,
    }


def _out_of_isr(brokers: Sequence[int], start: datetime | None, last: datetime | None, timeline: PartitionTimeline) -> tuple[int, ...]:
    if start is None or last is None:
        return ()
    return tuple(b for b in brokers if timeline.out_of_isr(b, start, max(start, last)) is not None)
