"""zookeeper-lost: no broker had a connection to ZooKeeper for longer than a restart of one of its servers takes.

Here: the span, and the partitions that could not get a new leader or ISR meanwhile. Not here: the spans themselves
(forensics.model.quorum.zookeeper), one broker that lost its session (broker_fenced), or a metadata quorum (quorum_lost).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, quote
from forensics.model.message import values
from forensics.model.presence.crash_times import FACTS, CrashTimes
from forensics.model.presence.unreplaced import Unreplaced, unreplaced
from forensics.model.quorum.zookeeper import NoZooKeeper, without_zookeeper


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for span in without_zookeeper(cluster):
        yield _finding(span, cluster, unreplaced(span, cluster, partitions, times))


def _finding(w: NoZooKeeper, cluster: Cluster, kept: Sequence[Unreplaced]) -> Finding:
    others = tuple(n.id for n in cluster.nodes.values() if n.broker and n.id not in cluster.collected)
    return Finding(
        confidence="probable" if others else "certain",
        brokers=w.brokers,
        start=w.latest,
        end=w.end,
        cause="unknown",
        values=values(
            seconds=w.lasted.total_seconds(),
            known_until=w.known_until,
            affected=len({name for u in kept for name in u.led}) or None,
            not_collected=others,
            unreplaced=tuple(m for u in kept for m in u.said()),
        ),
        evidence=quote(w.evidence),
    )


READS = FACTS
