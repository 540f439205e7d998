"""long-pause: the JVM of a node was paused for longer than a session timeout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event, lasting
from forensics.thresholds import LONG_PAUSE


def long(pause: Event, cluster: Cluster) -> bool:
    return lasting(pause) >= LONG_PAUSE


def longest(pauses: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    last = pauses[-1]
    return {
        "longest": max(map(lasting, pauses)).total_seconds(),
        "pauses": len(pauses) if len(pauses) > 1 else None,
        "end": last.at + lasting(last) if last.at is not None else None,
    }
