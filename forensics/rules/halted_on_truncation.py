"""halted-on-truncation: a broker halted because a follower's log was longer than the leader's.

Before 2.0 a follower whose log was longer than the leader's, on a topic without unclean elections, halted the broker. Here: that line.
Not here: why the leader's log was shorter (data_loss, unclean_election).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import who
from forensics.model.events import Event
from forensics.model.message import Range


def node_of(halt: Event) -> int | None:
    return halt.writer if halt.writer is not None else halt.node


def ahead(halts: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    last, node = halts[-1], node_of(halts[-1])
    assert last.offset is not None and last.log_end_offset is not None
    return {
        "topic": last.topic,
        "partition": last.partition,
        "brokers": tuple(b for b in (node, last.broker) if b is not None and b >= 0),
        "end": last.at,
        "offsets": (Range(last.offset, last.log_end_offset),) if last.offset < last.log_end_offset else (),
        "who": who(node, cluster),
        "leader": who(last.broker, cluster) if last.broker is not None else None,
        "leader_end": last.offset,
        "own_end": last.log_end_offset,
    }
