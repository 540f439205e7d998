"""disk-full: found a disk full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_directories import FailedDirectory, failed_directories
from forensics.model.cluster.process_errors import steps_of
from forensics.model.events import Event
from forensics.thresholds import SAME_DISK_FAILURE


def in_use_again(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    """When the log directory that went offline because of it was in use again, or the broker up again; else the last error."""
    offline = [
        f for f in failed_directories(cluster) if f.broker == errors[0].writer and any(e is f.refused or _soon(f, e) for e in errors)
    ]
    returned = [f.returned for f in offline]
    end = None if None in returned else max((e.at for e in returned if e is not None and e.at is not None), default=errors[-1].at)
    return {"end": end, "free_space": (steps_of("disk-full"),)}


def _soon(failure: FailedDirectory, error: Event) -> bool:
    return failure.at is not None and error.at is not None and abs(failure.at - error.at) <= SAME_DISK_FAILURE
