"""too-many-open-files: a process had reached its limit of open files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event


def connections(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    """Whether connections were refused because of it."""
    first, last = errors[0].at, errors[-1].last_at
    near = cluster.between("network-thread-error", first, last) if first is not None and last is not None else ()
    return {"refused": any(e.writer == errors[0].writer and e.reason == "accept" for e in near)}
