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
    """By broker, the load of a log with records that its first process in this cluster found."""
    came = {b.node: b.at for b in cluster.begun if b.how == "restarted"}
    found: dict[int, Event] = {}
    for broker, replica in timeline.replicas.items():
        lives = cluster.nodes[broker].lives if broker in cluster.nodes else []
        again = next((life.begin_at for life in lives[1:] if life.begin_at is not None), None)
        load = replica.loads[0] if replica.loads else None
        if broker not in came or load is None or load.at is None or not load.offset or load.at < came[broker]:
            continue
        if again is None or load.at < again:
            found[broker] = load.event
    return found
