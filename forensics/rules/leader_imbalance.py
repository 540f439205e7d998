"""leader-imbalance: a broker leads too few of its preferred partitions, by leader.imbalance.per.broker.percentage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.balance import Ratio, limit, ratios, since
from forensics.model.cluster.effective import Effective, effective, enabled
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import MAX_EVIDENCE, Evidence, Finding, brokers_named, moment, quote, raw, some
from forensics.model.partition.placement import STATEMENT, STEPS

MAX_PARTITIONS_NAMED = 8
"""Number of partitions that a text names."""


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    bound = limit(cluster)
    series = ratios(partitions)
    found = {b: begun for b, points in series.items() if (begun := since(points, bound)) is not None}
    away: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for p in partitions:
        last = p["steps"][-1] if p["steps"] else None
        if last is not None and last["preferred"] in found and last["leader"] != last["preferred"]:
            away[last["preferred"]].append(p)
    for broker, begun in found.items():
        yield _finding(broker, series[broker][-1], begun, bound, away[broker], cluster)


def _finding(broker: int, now: Ratio, begun: Ratio, bound: float, away: Sequence[Mapping[str, Any]], cluster: Cluster) -> Finding:
    ready = [p for p in away if _could_lead(broker, p, cluster)]
    rebalance = effective(cluster, "auto.leader.rebalance.enable")
    names = some([f"{p['topic']}-{p['partition']}" for p in away], MAX_PARTITIONS_NAMED)
    leaders = sorted({p["leader"] for p in away if p["leader"] is not None and p["leader"] >= 0})
    return raw(
        kind="leader-imbalance",
        severity="low" if ready else "info",
        confidence="certain",
        brokers=(broker,),
        start=begun.at,
        summary=(
            f"broker {broker} does not lead {now.elsewhere} of its {now.preferred} preferred partitions: {now.ratio:.0%} "
            f"(allowed: {bound:.0%}), since {moment(begun.at) if begun.at else 'before the evidence begins'}"
        ),
        explanation=(
            f"Broker {broker} is the preferred leader of {now.preferred} partitions. At the end of the evidence {brokers_named(leaders)} led {names} instead. "
            f"{_can(broker, ready, away)} {_who_acts(cluster, rebalance, bound)}"
        ),
        next_steps=_steps(broker, ready, away, rebalance),
        evidence=_evidence(away, rebalance),
    )


def _could_lead(broker: int, partition: Mapping[str, Any], cluster: Cluster) -> bool:
    """It was in sync and online. A partition without a leader has no replica that is both, or that one would have been elected."""
    outages = cluster.availability(broker).outages
    down = bool(outages) and outages[-1].until is None
    return not down and partition["leader"] != -1 and broker in (partition["isr"] or ())


def _can(broker: int, ready: Sequence[object], away: Sequence[Mapping[str, Any]]) -> str:
    if not ready and any(broker in (p["isr"] or ()) for p in away):
        return f"Broker {broker} was offline, or its replicas were, so it could not be elected."
    if not ready:
        return f"Broker {broker} was not in sync for any of them, so it could not be elected."
    if len(ready) == len(away):
        return f"Broker {broker} was in sync and could have been elected."
    return f"Broker {broker} was in sync for {len(ready):,} of them and could have been elected there."


def _who_acts(cluster: Cluster, rebalance: Effective, bound: float) -> str:
    interval = effective(cluster, "leader.imbalance.check.interval.seconds").value
    if rebalance.value is None:
        return "The value of auto.leader.rebalance.enable is unknown."
    if not enabled(rebalance.value):
        return f"auto.leader.rebalance.enable is {rebalance.value} ({rebalance.place}): only a preferred election by command moves leaders back."
    if cluster.mode == "kraft":
        return (
            f"auto.leader.rebalance.enable is {rebalance.value} ({rebalance.place}): the controller checks every {interval} s and elects every preferred "
            "leader that is in sync; KRaft does not use leader.imbalance.per.broker.percentage."
        )
    return (
        f"auto.leader.rebalance.enable is {rebalance.value} ({rebalance.place}): the controller checks every {interval} s and elects the preferred "
        f"leaders of a broker whose ratio is above {bound:.0%}."
    )


def _steps(broker: int, ready: Sequence[object], away: Sequence[object], rebalance: Effective) -> tuple[str, ...]:
    back = (f"Bring broker {broker} back in sync first.",) if len(ready) < len(away) else ()
    if rebalance.value is not None and enabled(rebalance.value):
        return (*back, "Wait for the next check of the controller; if no leader moves, look for the reason in the controller log.")
    elect = "Run a preferred leader election (kafka-leader-election --election-type preferred); `kafka-forensics plan` writes its file."
    return (*back, elect)


def _evidence(away: Sequence[Mapping[str, Any]], rebalance: Effective) -> tuple[Evidence, ...]:
    leaders = [Evidence(**p["statement"]) for p in away[:MAX_EVIDENCE] if p["statement"] is not None]
    return tuple(dict.fromkeys((*leaders[: MAX_EVIDENCE - 1], *quote(rebalance.event))))


READS = (STEPS, STATEMENT)
