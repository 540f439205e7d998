"""cluster-recreated: the brokers became another cluster, with other topics under the old names and epochs that begin anew.

Here: how it came about, as far as the evidence tells, and what of the old cluster the brokers still had. Not here: which lines are of which
cluster (spark.cluster.incarnations), or what was lost of the old logs (data_loss).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from forensics.model import NAMED, Evidence, Finding, Rule, brokers_named, moment, quote, some
from forensics.partition.inheritance import INHERITED
from spark.cluster.facts import Beginning, Cluster

THROUGH_IT = timedelta(minutes=5)
"""Between the end of a session and the first election in the empty store."""


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    came = [b for b in cluster.begun if b.how != "first"]
    if not cluster.ended or not came:
        return
    before = _before(cluster, came)
    cause, how = _how(cluster, before, came)
    kept = [p for p in partitions if p["inherited"]]
    brokers = tuple(sorted({b.node for b in came}))
    yield Finding(
        kind="cluster-recreated",
        severity="high" if cause == "state-lost" else "medium",
        confidence="certain",
        brokers=brokers,
        start=came[0].at,
        end=came[-1].at,
        cause=cause,
        summary=f"{brokers_named(brokers)} {'came back to the' if came[0].again else 'became another'} cluster: {_named(cluster)}, after {_named(before)}"
        + (f"; logs of the old one still lay on {_disks(kept)}" if kept else ""),
        explanation=(
            f"From {moment(came[0].at)} on {brokers_named(brokers)} {'are' if len(brokers) > 1 else 'is'} of another cluster, {_named(cluster)}; before, "
            f"{'they were' if len(brokers) > 1 else 'it was'} of {_named(before)}. {how} Topics, leader epochs and controller epochs begin anew: what has "
            f"the same name in both has nothing else in common, and nothing of one was compared with the other. {_left(kept)}"
        ),
        next_steps=_steps(cause, kept),
        evidence=(*quote(*(e for b in came for e in b.evidence[:1]))[:4], *(_evidence(p) for p in kept[:NAMED])),
    )


def _before(cluster: Cluster, came: Sequence[Beginning]) -> Cluster:
    """Where most of them were before."""
    numbers = Counter(b.before for b in came)
    number = max(numbers, key=lambda n: (numbers[n], n or 0))
    return next((c for c in cluster.whole if c.number == number), cluster.ended[-1])


def _named(cluster: Cluster) -> str:
    return cluster.id if cluster.id is not None else "one whose id is not in evidence"


def _how(cluster: Cluster, before: Cluster, came: Sequence[Beginning]) -> tuple[str, str]:
    under_way = [b for b in came if b.how == "under-way"]
    if under_way:
        store = "The metadata quorum" if cluster.mode == "kraft" else "ZooKeeper"
        if _expired(before, cluster, under_way):
            return (
                "state-lost",
                f"{store} lost its state while brokers were living: their sessions had expired, and controllers count from the beginning again.",
            )
        return (
            "unknown",
            f"Controllers count their epochs from the beginning again; no start of the brokers is in evidence at that time, so how {store} lost its state is not known.",
        )
    now, then = ({c.settings.value("zookeeper.connect", broker=b.node) for b in came} for c in (cluster, before))
    if None not in now | then and not now & then:
        return "pointed-elsewhere", f"They were started with another zookeeper.connect: {', '.join(map(str, sorted(now, key=str)))}."
    if cluster.mode == "kraft":
        return "formatted", "Their storage was formatted anew (kafka-storage format) while they were stopped."
    return (
        "state-wiped",
        "They found no state of the old cluster in ZooKeeper when they were started: its data was wiped, or another was put in its place.",
    )


def _expired(before: Cluster, cluster: Cluster, came: Sequence[Beginning]) -> bool:
    """Sessions that expired right before are the word of processes that lived through it."""
    told = [e for c in (before, cluster) for e in c.of("session-expired") if e.at is not None]
    return any(e.writer == b.node and timedelta(0) <= b.at - e.at <= THROUGH_IT for b in came for e in told if e.at is not None)


def _disks(kept: Sequence[Mapping[str, Any]]) -> str:
    return brokers_named(tuple(sorted({i["broker"] for p in kept for i in p["inherited"]})))


def _left(kept: Sequence[Mapping[str, Any]]) -> str:
    if not kept:
        return "No log of the old cluster was loaded by the new one in what was collected."
    names = some([f"{p['topic']}-{p['partition']}" for p in kept])
    return (
        f"The log directories were kept: {names} were loaded with records of the old cluster. A partition of the same name takes such a log for its own "
        "where it leads, and cuts it where it follows a leader that has less."
    )


def _evidence(partition: Mapping[str, Any]) -> Evidence:
    return Evidence(**partition["inherited"][0]["told"])


def _steps(cause: str, kept: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    steps = [
        "Ask who wiped or moved the cluster's state; if nobody did, look at the disks of ZooKeeper or the controllers before anything is restarted."
    ]
    if kept:
        steps.append(
            f"Copy the log directories of {_disks(kept)} before topics are created again: they may hold the only copy of the old records."
        )
    if cause == "state-lost":
        steps.append("Stop the brokers that still run on the old state, and restore the state from a backup where there is one.")
    return tuple(steps)


RULE = Rule(
    kind="cluster-recreated",
    rank=50,
    level="medium",
    meaning="The same brokers became another cluster: the old one's state in ZooKeeper or the metadata quorum was wiped, lost or left.",
    benign=("Somebody begins anew on purpose, as on a machine for trying things out.",),
    next_steps=("Copy the log directories before topics are created again under the old names.",),
    references=("KIP-78", "KAFKA-7335"),
    cluster=judge,
    facts=(INHERITED,),
)
