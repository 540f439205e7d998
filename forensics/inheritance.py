"""What brokers brought with them from the cluster they were in before: logs that lay on their disks when they came.

Here: which loads of a log are such. Not here: which cluster a line is of (spark.incarnations), or what became of these records (loss).

Kafka opens every log of its log directories before it knows the cluster's partitions. One that a partition of the same name is then
assigned to is taken as that partition's, whatever is in it (LogManager#getOrCreateLog; since 2.8 topic ids keep the two apart).
"""

from __future__ import annotations

from spark.cluster import Cluster
from spark.events import Event
from spark.timeline import PartitionTimeline


def inherited(timeline: PartitionTimeline, cluster: Cluster) -> dict[int, Event]:
    """By broker, the load of a log with records that it found before this cluster had the partition."""
    came = {b.node: b.at for b in cluster.begun if b.how == "restarted"}
    created = min((s.at for s in timeline.states if s.at is not None), default=None)
    found: dict[int, Event] = {}
    for broker, replica in timeline.replicas.items():
        load = next((x for x in replica.loads if x.at is not None and broker in came and x.at >= came[broker]), None)
        if load is not None and load.at is not None and load.offset and (created is None or load.at < created):
            found[broker] = load.event
    return found
