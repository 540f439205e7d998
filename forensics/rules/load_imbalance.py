"""load-imbalance: brokers carry unequal shares of the cluster's load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from forensics.model.cluster.balance import DISK, LEADERS, TRAFFIC, BrokerLoads, at_end, limit, load, metrics, uneven
from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import all_read
from forensics.model.findings import MAX_EVIDENCE, Evidence, Finding
from forensics.model.message import Message, said, values
from forensics.model.partition.placement import SIZES, STATEMENT, STEPS, WRITTEN
from forensics.thresholds import LOAD_DEVIATION
from parsers.frozen import replace

MAX_BROKERS_NAMED = 5
"""Number of brokers that a text lists."""


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    known = metrics(cluster, partitions)
    found = load({m: values for m, values in known.items() if cluster.weights.get(m, 1.0) > 0}, cluster.weights)
    if len(found.shares) < 2 or found.sigma <= found.limit:
        return
    led = _elsewhere(cluster, partitions)
    avoidable = [
        m for m in found.metrics if uneven(m, known[m]) and _sigma(m, found) > found.limit and not (led and m in (LEADERS, TRAFFIC))
    ]
    away = sorted((b for b, r in found.deviations.items() if r > LOAD_DEVIATION), key=lambda b: (-found.deviations[b], b))
    evidence = _evidence(cluster, partitions, away, avoidable)
    if avoidable and away and evidence:
        f = _finding(found, away, max(avoidable, key=lambda m: _sigma(m, found)), cluster, evidence)
        whole = bool(cluster.measures) or (
            all_read(cluster) and all(p["steps"] and p["steps"][-1]["preferred"] is not None for p in partitions)
        )  # what is not known of some may balance the others
        yield f if whole else replace(f, confidence="possible")


def _elsewhere(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> bool:
    """Leaders are not on their preferred replicas: leader-imbalance reports this, and no replica has to move."""
    bound = limit(cluster)
    return any(now.ratio > bound for now in at_end(partitions).values())


def _sigma(metric: str, found: BrokerLoads) -> float:
    return BrokerLoads({}, found.metrics[metric]).sigma


def _finding(found: BrokerLoads, away: Sequence[int], metric: str, cluster: Cluster, evidence: tuple[Evidence, ...]) -> Finding:
    worst, mean = away[0], 1 / len(found.shares)
    return Finding(
        confidence="certain" if cluster.measures else "probable" if set(found.shares) <= cluster.collected else "possible",
        brokers=tuple(away),
        values=values(
            share=found.shares[worst],
            deviation=found.deviations[worst],
            above=found.shares[worst] > mean,
            number=len(found.shares),
            metric=metric,
            mean=mean,
            shares=tuple(_share(b, found, mean) for b in away[:MAX_BROKERS_NAMED]),
            more=len(away) - MAX_BROKERS_NAMED if len(away) > MAX_BROKERS_NAMED else None,
            sigma=found.sigma,
            limit=found.limit,
            allowed=LOAD_DEVIATION,
            weights=tuple(f"{m}={w:g}" for m, w in cluster.weights.items()),
            leaders=metric == LEADERS,
            off=tuple(b for b in away if found.shares[b] > mean),
        ),
        evidence=evidence,
    )


def _share(broker: int, found: BrokerLoads, mean: float) -> Message:
    return said(
        "load-imbalance/share",
        broker=broker,
        share=found.shares[broker],
        deviation=found.deviations[broker],
        above=found.shares[broker] > mean,
        metrics=tuple(said("load-imbalance/metric", metric=m, share=own[broker]) for m, own in found.metrics.items()),
    )


def _evidence(
    cluster: Cluster, partitions: Sequence[Mapping[str, Any]], away: Sequence[int], avoidable: Sequence[str]
) -> tuple[Evidence, ...]:
    """The user's measurements of these brokers, their largest files, and the evidence of their leaderships and replicas."""
    measured = [
        Evidence(m.source, m.line, m.byte, m.text or f"{m.metric}={m.mean:g}")
        for m in cluster.measures
        if m.broker in away and m.metric in avoidable
    ]
    pieces = [*measured, *(_largest_files(cluster, away) if DISK in avoidable else ())]
    if set(avoidable) - {DISK, *(m.metric for m in cluster.measures)} or not pieces:
        concerned = (p["statement"] for p in partitions if p["statement"] is not None and set(away) & set(p["replicas"] or ()))
        pieces.extend(Evidence(**piece) for piece in islice(concerned, MAX_EVIDENCE))
    return tuple(dict.fromkeys(pieces))[:MAX_EVIDENCE]


def _largest_files(cluster: Cluster, brokers: Sequence[int]) -> list[Evidence]:
    files = sorted((s for s in cluster.sources if s.kind == "segment" and s.node in brokers), key=lambda s: (-(s.bytes or 0), s.path))
    return [Evidence(s.path, None, None, f"{s.bytes} bytes") for s in files[:2]]


READS = (SIZES, STEPS, STATEMENT, WRITTEN)
