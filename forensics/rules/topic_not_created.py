"""topic-not-created: a topic could not be created, because there were fewer brokers than replicas.

Here: what a broker or the controller states about a topic that was to be created. Not here: partitions that exist and have no leader
(offline_partition).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.absences import FIRST_STATE_AT
from forensics.model.rows import Rows
from forensics.thresholds import UNREACHABLE
from parsers.kinds import Role, of

_MADE = of(role=Role.TOPIC_MADE)
_INTERNAL = {
    "__consumer_offsets": ("groups", "offsets.topic.replication.factor"),
    "__transaction_state": ("producers", "transaction.state.log.replication.factor"),
}
"""Who cannot go on without the topic, and the setting with its number of replicas."""


def made(errors: Sequence[Event], cluster: Cluster, partitions: Rows) -> Mapping[str, Any]:
    """When the topic was created at last, and what its absence meant. A broker that has just started does not know the topics yet and tries
    to create an existing topic: the partitions in evidence, or its creation before, show that."""
    first, last = errors[0], errors[-1]
    times = [e for e in cluster.of(*_MADE) if e.topic == last.topic and e.at and last.at]
    back = next((e for e in times if e.at and last.at and e.at >= last.at), None)
    gone = max((at for at in cluster.recreated.get(last.topic or "", ()) if at and last.at and at < last.at), default=datetime.min)
    seen = [p["first_state_at"] for p in partitions if p["topic"] == last.topic]
    exists = back is None and (bool(seen) or any(e.at and e.at > gone for e in times))
    starting = back is not None and back.at is not None and first.at is not None and back.at - first.at <= UNREACHABLE
    whose, setting = _INTERNAL.get(last.topic or "", (None, None))
    return {
        "severity": "medium" if whose is not None and not starting and not exists else "low",
        "topic": last.topic or "",
        "back": back,
        **({"exists": True, "end": max((at for at in (last.last_at, last.at, *seen) if at), default=None)} if exists else {}),
        "value": last.value,
        "few": last.count,
        "setting": last.key or setting,
        **({whose: True} if whose is not None else {}),
    }


READS = (FIRST_STATE_AT,)
