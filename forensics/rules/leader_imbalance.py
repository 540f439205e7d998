"""leader-imbalance: a broker leads too few of its preferred partitions, by leader.imbalance.per.broker.percentage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.balance import Ratio, limit, ratios, since
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import MAX_EVIDENCE, Evidence, Finding, quote
from forensics.model.message import values
from forensics.model.partition.placement import STATEMENT, STEPS
from forensics.model.settings.effective import Effective, effective, enabled
from forensics.model.times import grouped
from parsers.frozen import replace

MAX_PARTITIONS_NAMED = 8
"""Number of partitions that a text names."""


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    bound = limit(cluster)
    series = ratios(partitions)
    found = {b: begun for b, points in series.items() if (begun := since(points, bound)) is not None}
    whole = all(p["steps"] for p in partitions)  # a share of partitions of which some are not known may be any
    away = grouped(
        (last["preferred"], p)
        for p in partitions
        for last in (p["steps"] or ())[-1:]
        if last["preferred"] in found and last["leader"] != last["preferred"]
    )
    for broker, begun in found.items():
        f = _finding(broker, series[broker][-1], begun, bound, away[broker], cluster)
        yield f if whole else replace(f, confidence="possible")


def _finding(broker: int, now: Ratio, begun: Ratio, bound: float, away: Sequence[Mapping[str, Any]], cluster: Cluster) -> Finding:
    ready = [p for p in away if _could_lead(broker, p, cluster)]
    rebalance = effective(cluster, "auto.leader.rebalance.enable")
    names = tuple(f"{p['topic']}-{p['partition']}" for p in away)
    on = None if rebalance.value is None else enabled(rebalance.value)
    return Finding(
        severity="low" if ready else "info",
        confidence="certain",
        brokers=(broker,),
        start=begun.at,
        values=values(
            elsewhere=now.elsewhere,
            preferred=now.preferred,
            ratio=now.ratio,
            bound=bound,
            names=names[:MAX_PARTITIONS_NAMED],
            more=len(names) - MAX_PARTITIONS_NAMED if len(names) > MAX_PARTITIONS_NAMED else None,
            leaders=tuple(sorted({p["leader"] for p in away if p["leader"] is not None and p["leader"] >= 0})),
            offline=not ready and any(broker in (p["isr"] or ()) for p in away),
            behind=not ready and not any(broker in (p["isr"] or ()) for p in away),
            all_ready=bool(ready) and len(ready) == len(away),
            ready=len(ready) if 0 < len(ready) < len(away) else None,
            some_not_ready=len(ready) < len(away),
            setting=rebalance.value,
            place_of_setting=rebalance.place,
            on=on is True,
            off=on is False,
            kraft=cluster.mode == "kraft",
            interval=effective(cluster, "leader.imbalance.check.interval.seconds").value,
        ),
        evidence=_evidence(away, rebalance),
    )


def _could_lead(broker: int, partition: Mapping[str, Any], cluster: Cluster) -> bool:
    """It was in sync and online. A partition without a leader has no replica that is both, or that one would have been elected."""
    return cluster.availability(broker).gone is None and partition["leader"] != -1 and broker in (partition["isr"] or ())


def _evidence(away: Sequence[Mapping[str, Any]], rebalance: Effective) -> tuple[Evidence, ...]:
    leaders = [Evidence(**p["statement"]) for p in away[:MAX_EVIDENCE] if p["statement"] is not None]
    return tuple(dict.fromkeys((*leaders[: MAX_EVIDENCE - 1], *quote(rebalance.event))))


READS = (STEPS, STATEMENT)
