"""zookeeper-lost: no broker had a connection to ZooKeeper for longer than a restart of one of its servers takes.

Here: the span, and the partitions that could not get a new leader or ISR meanwhile. Not here: the spans themselves
(forensics.model.cluster.zookeeper), one broker that lost its session (broker_fenced), or a metadata quorum (quorum_lost).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.zookeeper import NoZooKeeper, without_zookeeper
from forensics.model.findings import Finding, brokers_named, capital, counted, duration, moment, quote, raw
from forensics.model.partition.crash_times import FACTS, CrashTimes
from forensics.model.partition.unreplaced import Unreplaced, unreplaced


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for span in without_zookeeper(cluster):
        yield _finding(span, cluster, unreplaced(span, cluster, partitions, times))


def _finding(w: NoZooKeeper, cluster: Cluster, kept: Sequence[Unreplaced]) -> Finding:
    who, others = brokers_named(w.brokers), [n.id for n in cluster.nodes.values() if n.broker and n.id not in cluster.collected]
    lasted = f"({duration(w.lasted.total_seconds())})"
    until = f"until {moment(w.end)} {lasted}" if w.end is not None else f"until at least {moment(w.known_until)} {lasted}"
    leaderless = {name for u in kept for name in u.led}
    affected = f"; {counted(len(leaderless))} had no leader meanwhile" if leaderless else ""
    return raw(
        kind="zookeeper-lost",
        severity="high",
        confidence="probable" if others else "certain",
        brokers=w.brokers,
        start=w.latest,
        end=w.end,
        cause="unknown",
        summary=f"{who} had no connection to ZooKeeper from {moment(w.latest)} {until}{affected}",
        explanation=" ".join(_sentences(w, who, others, kept)),
        next_steps=(
            f"Search the logs of the ZooKeeper servers from {moment(w.latest)} on: a majority of them must run and be reachable from all brokers.",
        ),
        evidence=quote(w.evidence),
    )


def _sentences(w: NoZooKeeper, who: str, others: Sequence[int], kept: Sequence[Unreplaced]) -> Iterator[str]:
    alone = f"no log of {brokers_named(others)} was collected" if others else "no other broker was running"
    yield f"{capital(who)} lost the connection to ZooKeeper; from {moment(w.latest)} on none of them had one, and {alone}."
    if w.end is not None:
        yield f"The first of them was connected again at {moment(w.end)}."
    yield "Possible causes: ZooKeeper was down, had no majority of its servers, did not answer, or could not be reached."
    yield (
        "Without ZooKeeper no partition gets another leader, no ISR changes, no controller is elected, and no topic can be created or changed. "
        "Brokers continue to serve the partitions that they lead."
    )
    for u in kept:
        yield from u.sentences()


READS = FACTS
