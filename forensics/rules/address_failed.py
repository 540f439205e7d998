"""address-failed: an address in the settings of a node could not be resolved, or not be reached."""

from __future__ import annotations

import re

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.thresholds import CONNECTS_AGAIN

_FOR_CONTROLLER = re.compile(r"\[RaftManager |-to-controller-")


def to_the_end(error: Event, cluster: Cluster) -> bool:
    """Whether a node asked for a controller, and its log ends before another attempt can have succeeded. Clients in the same log ask
    for any broker."""
    if _FOR_CONTROLLER.search(error.text or "") is None:
        return False
    until = cluster.last_own_line(error.writer) if error.writer is not None else None
    return until is not None and error.at is not None and until - error.at <= CONNECTS_AGAIN
