"""isr-change-refused: the ISR changes of a leader were repeatedly refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.timeline import PartitionTimeline
from forensics.rules.detectors.errors import often


def removed(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """The followers that the leader tried to remove from the ISR at the last refusal, and whether it had lost its session before the first."""
    first, until = errors[0], errors[-1].last_at
    shrinks = (e for e in timeline.of("isr-shrink") if e.writer == first.writer and e.at is not None)
    tried = [e for e in shrinks if e.at is not None and until is not None and e.at <= until][-1:]
    followers = tuple(sorted({b for e in tried for b in {*(e.previous_isr or ())} - {*(e.isr or ())}}))
    lost = (e.at for e in cluster.of("session-expired") if e.writer == first.writer)
    return {
        **often(errors),
        **({"severity": "high"} if followers else {}),
        "removed": followers,
        "until": until,
        "session_lost": any(at is not None and first.at is not None and at <= first.at for at in lost),
    }
