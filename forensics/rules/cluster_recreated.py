"""cluster-recreated: the brokers joined another cluster, with other topics under the old names and epochs that restart.

Here: the cause, if the evidence shows it, and the logs of the old cluster that the brokers still had. Not here: which lines belong to which
cluster (forensics.model.cluster.cluster_history), or the losses of the old logs (data_loss).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster, ClusterJoin
from forensics.model.findings import NAMED, Evidence, Finding, brokers_named, moment, quote, raw, some
from forensics.proof.foreign_logs import INHERITED
from forensics.thresholds import STATE_LOST


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    came = [b for b in cluster.begun if b.how != "first"]
    if cluster.ended and came:
        yield _finding(came, cluster, partitions)


def _before(cluster: Cluster, came: Sequence[ClusterJoin]) -> Cluster:
    """The cluster in which most of the brokers were before."""
    numbers = Counter(b.before for b in came)
    number = max(numbers, key=lambda n: (numbers[n], n or 0))
    return next((c for c in cluster.whole if c.number == number), cluster.ended[-1])


def _expired(before: Cluster, cluster: Cluster, came: Sequence[ClusterJoin]) -> bool:
    """Sessions that expired right before: their processes were running when the state was lost."""
    expiries = [(e.writer, e.at) for c in (before, cluster) for e in c.of("session-expired") if e.at is not None]
    return any(node == b.node and timedelta(0) <= b.at - at <= STATE_LOST for b in came for node, at in expiries)


def _finding(came: Sequence[ClusterJoin], cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Finding:
    before = _before(cluster, came)
    cause, how = _how(cluster, before, came)
    kept = [p for p in partitions if p["inherited"]]
    brokers = tuple(sorted({b.node for b in came}))
    many = len(brokers) > 1
    return raw(
        kind="cluster-recreated",
        severity="high" if cause == "state-lost" else "medium",
        confidence="certain",
        brokers=brokers,
        start=came[0].at,
        end=came[-1].at,
        cause=cause,
        summary=f"{brokers_named(brokers)} {_joined(cluster, before, came)}"
        + (f"; logs of the old cluster were still on {_disks(kept)}" if kept else ""),
        explanation=(
            f"From {moment(came[0].at)} on {brokers_named(brokers)} {'are' if many else 'is'} in another cluster, {_named(cluster)}; before, "
            f"{'they were' if many else 'it was'} in {_named(before)}{_same_id(cluster, before)}. {how} Topics, leader epochs and controller epochs restart: topics of "
            f"the same name in both clusters are different topics, and were not compared. {_left(kept)}"
        ),
        next_steps=_steps(cause, kept),
        evidence=(*quote(*(e for b in came for e in b.evidence[:1]))[:4], *(_evidence(p) for p in kept[:NAMED])),
    )


def _joined(cluster: Cluster, before: Cluster, came: Sequence[ClusterJoin]) -> str:
    if _same_id(cluster, before):
        return f"joined another cluster with the id of the cluster before: {_named(cluster)}"
    return f"{'returned to cluster' if came[0].again else 'joined another cluster:'} {_named(cluster)}, after {_named(before)}"


def _same_id(cluster: Cluster, before: Cluster) -> str:
    return ", a cluster of the same id" if cluster.id is not None and cluster.id == before.id else ""


def _named(cluster: Cluster) -> str:
    return cluster.id if cluster.id is not None else "a cluster with an unknown id"


def _how(cluster: Cluster, before: Cluster, came: Sequence[ClusterJoin]) -> tuple[str, str]:
    under_way = [b for b in came if b.how == "under-way"]
    if under_way:
        store = "The metadata quorum" if cluster.mode == "kraft" else "ZooKeeper"
        if _expired(before, cluster, under_way):
            return (
                "state-lost",
                f"{store} lost its state while brokers were running: their sessions had expired, and controller epochs restarted.",
            )
        return (
            "unknown",
            f"Controller epochs restarted; no start of the brokers is in evidence at that time, so why {store} lost its state is unknown.",
        )
    now, then = ({c.settings.value("zookeeper.connect", broker=b.node) for b in came} for c in (cluster, before))
    if None not in now | then and not now & then:
        return "pointed-elsewhere", f"They were started with another zookeeper.connect: {', '.join(map(str, sorted(now, key=str)))}."
    if cluster.mode == "kraft":
        return "formatted", "Their storage was formatted again (kafka-storage format) while they were stopped."
    return (
        "state-wiped",
        "ZooKeeper had no state of the old cluster when the brokers started: its data was wiped or replaced.",
    )


def _disks(kept: Sequence[Mapping[str, Any]]) -> str:
    return brokers_named(tuple(sorted({i["broker"] for p in kept for i in p["inherited"]})))


def _left(kept: Sequence[Mapping[str, Any]]) -> str:
    if not kept:
        return "In the evidence the new cluster loaded no log of the old one."
    names = some([f"{p['topic']}-{p['partition']}" for p in kept])
    return (
        f"The log directories were kept: logs of {names} were loaded with records of the old cluster. A replica of the same name uses such a log as its own "
        "if it leads, and truncates it if it follows a leader with a shorter log."
    )


def _evidence(partition: Mapping[str, Any]) -> Evidence:
    return Evidence(**partition["inherited"][0]["statement"])


def _steps(cause: str, kept: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    steps = [
        "Find out who wiped or moved the state of the cluster. If this was not done on purpose, check the disks of ZooKeeper or the controllers before any restart."
    ]
    if kept:
        steps.append(f"Copy the log directories of {_disks(kept)} now: they may have the only copy of the old records.")
    if cause == "state-lost":
        steps.append("Stop the brokers that still run on the old state, and restore the state from a backup if there is one.")
    return tuple(steps)


READS = (INHERITED,)
