"""registration-refused: a running broker could not register in ZooKeeper again, so it does not belong to the cluster any more.

Here: registrations after an expired session. Not here: registrations that fail at a start (start_failed), sessions that expire and are
renewed (broker_fenced).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_starts import failed_starts
from forensics.model.events import Event
from forensics.thresholds import REFUSED_START_ENDS, SAME_FENCING

_EXISTS = ", node already exists"


def after_the_start(error: Event, cluster: Cluster) -> bool:
    ends = (e.at for attempt in failed_starts(cluster).get(error.writer, ()) for e in attempt.errors)
    return not any(at is not None and error.at is not None and timedelta(0) <= at - error.at <= REFUSED_START_ENDS for at in ends)


def taken(error: Event) -> bool:
    """Whether the znode belonged to another session; else the own session ended before the znode was created (CheckedEphemeral)."""
    return (error.value or "").startswith(_EXISTS)


def until_registered(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any] | None:
    """None if the next session of the broker registered at once: that belongs to the expiry of the session before."""
    first, last, node = errors[0], errors[-1], errors[0].writer
    back = cluster.next_of(node, last.at, "broker-registered", "broker-starting") if node is not None else None
    if back is not None and back.at is not None and last.at is not None and back.at - last.at <= SAME_FENCING:
        return None
    detail = (first.value or "").removeprefix(_EXISTS).removeprefix(" and").strip()
    return {"back": back, "cause": "znode-taken" if taken(first) else None, "taken": taken(first), "detail": detail}
