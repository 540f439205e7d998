"""address-failed: an address in the settings of a node could not be resolved, or not be reached."""

from __future__ import annotations

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.thresholds import CONNECTS_AGAIN


def to_the_end(error: Event, cluster: Cluster) -> bool:
    """Whether the log of the node ends before another attempt can have succeeded."""
    until = cluster.last_own_line(error.writer) if error.writer is not None else None
    return until is not None and error.at is not None and until - error.at <= CONNECTS_AGAIN
