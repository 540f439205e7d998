"""controller-error: the controller failed to elect a leader, or at another step of its work.

Here: what the active controller stated about itself. Not here: controllers that ended (controller_crash), orders of a controller that had been
replaced (stale_controller), or a lost connection to ZooKeeper (zookeeper_lost).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import exception
from forensics.model.events import Event
from forensics.model.partition.timeline import PartitionTimeline

_NOT_ELIGIBLE = "StateChangeFailedException"
_ZOOKEEPER = re.compile(r"SessionExpired|ConnectionLoss|session expired|ZooKeeperClientExpired|AuthFailed|InterruptedException")
"""The connection to ZooKeeper was lost, or the process was ending."""
_BATCH_LEFT = re.compile(r"state change requests batch is not empty")


def barred(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """Whether the preferred replica was not eligible."""
    thrown = exception(errors)
    return {"barred": thrown is None or _NOT_ELIGIBLE in thrown}


def candidate(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    """A broker that could not take part in the election of a controller, or not become the controller."""
    return {"severity": "low", "cause": "zookeeper"} if _ZOOKEEPER.search(exception(errors) or "") else {}


def step(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    if of_zookeeper := candidate(errors, cluster):
        return {**of_zookeeper, "zookeeper": True}
    left = any(_BATCH_LEFT.search(e.key or "") for e in errors)
    return {"severity": "high", "cause": "requests-left", "left": True} if left else {"other": True}
