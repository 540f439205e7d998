"""controller-crash: a node that is only a controller ended without a shutdown.

Here: KRaft nodes with the role controller alone. Not here: brokers, with the role controller or without (broker_crash), or a quorum that
lost its majority (quorum_lost).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding
from forensics.model.message import Message, said
from forensics.model.presence.crash_times import FACTS, CrashTimes
from forensics.model.quorum.quorum import voters, without_leader
from forensics.rules.broker_crash import Crash, crashes, finding


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for crash in crashes([n for n in cluster.nodes.values() if not n.broker], cluster, times):
        yield finding(crash, (_effect(crash, cluster),))


def _effect(crash: Crash, cluster: Cluster) -> Message:
    """What the crash did to the metadata quorum."""
    at = crash.time.latest or crash.time.start
    lost = next((w for w in without_leader(cluster) if at is not None and crash.node in w.gone and (w.end is None or at <= w.end)), None)
    if lost is not None:
        return said("controller-crash/no-leader", until=lost.end)
    every = len(voters(cluster))
    return said("controller-crash/majority", majority=every // 2 + 1 if every else None, every=every or None)


READS = FACTS
