"""request-refused: a broker could not become leader or follower as the controller required."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.message import said
from forensics.model.partition.fetch_failures import would_show_a_role
from forensics.model.partition.timeline import PartitionTimeline
from forensics.rules.detectors.errors import often


def unresolved(refusal: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether there was a leader to follow, and the broker got no role later, which its logs would show."""
    if refusal.at is None or refusal.writer is None or not would_show_a_role(refusal.writer, refusal.at, timeline, cluster):
        return False
    leaderless = refusal.reason == "leader-unavailable" and refusal.leader in (None, -1)
    return not leaderless and timeline.resumed(refusal.writer, refusal.at) is None


def refusals(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    return {**often(errors), "why": said(f"request-refused/{errors[0].reason}")}
