"""Logs that brokers brought from an earlier cluster: they were on the disks when the brokers joined this one.

Here: the loads of such logs. Not here: which cluster a line belongs to (forensics.model.clock.cluster_history), or what happened to these
records (losses).

Kafka opens every log of its log directories before it knows the cluster's partitions. If a partition of the same name is then assigned to
the broker, the log is used for that partition, whatever it contains (LogManager#getOrCreateLog; since 2.8 topic ids keep the two apart).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pyarrow as pa

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import EVIDENCE, Evidence, Fact
from forensics.model.partition.replicas import Load, Replica
from forensics.model.partition.timeline import PartitionTimeline


def inherited(timeline: PartitionTimeline, cluster: Cluster) -> dict[int, Event]:
    """For each broker that came from another cluster, the load of a log with records before the broker had led or followed here."""
    joined = {b.node: b.at for b in cluster.begun if b.how == "restarted"}
    created = min((s.at for s in timeline.states if s.at is not None), default=None)
    loads: dict[int, Event] = {}
    for broker, replica in timeline.replicas.items():
        since = joined.get(broker)
        if since is None or (created is not None and created < since):
            continue  # the contents of the log when the partition was created are unknown
        load = next((x for x in replica.loads if x.at is not None and x.at >= since), None)
        if load is not None and load.offset and _before_first_role(load, replica):
            loads[broker] = load.event
    return loads


def _before_first_role(load: Load, replica: Replica) -> bool:
    """The log was loaded before the broker led or followed here."""
    first = min((s.at for s in replica.starts if s.at is not None), default=None)
    return load.at is not None and (first is None or load.at < first)


def _rows(timeline: PartitionTimeline, cluster: Cluster) -> list[dict[str, Any]]:
    return [
        {"broker": b, "log_end_offset": e.log_end_offset, "statement": asdict(Evidence.of(e))}
        for b, e in inherited(timeline, cluster).items()
    ]


INHERITED = Fact(
    "inherited",
    pa.list_(pa.struct([("broker", pa.int32()), ("log_end_offset", pa.int64()), ("statement", EVIDENCE)])),
    "logs that brokers brought with them from the cluster they were in before",
    _rows,
)
