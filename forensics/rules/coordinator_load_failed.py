"""coordinator-load-failed: a coordinator could not load its state, so its groups or transactions cannot continue.

Here: group, transaction and share coordinators. Not here: partitions of __consumer_offsets without a leader (offline_partition), or offsets
that were lost (offset_commit_loss).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import exception
from forensics.model.events import Event
from forensics.model.partition.timeline import PartitionTimeline

_WHOSE = {"__consumer_offsets": "groups", "__transaction_state": "producers"}


def loaded_again(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """When a leader loaded the partition without an error, and who cannot go on until then."""
    later = [s.at for r in timeline.replicas.values() for s in r.leader_starts if s.at and errors[-1].at and s.at > errors[-1].at]
    said = {} if exception(errors) else {"thrown": next((e.value for e in errors if e.value), None)}
    return {"end": min(later, default=None), _WHOSE.get(timeline.topic, "others"): True, **said}
