"""load-imbalance: brokers carry unequal shares of the cluster's load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from forensics.model.cluster.balance import DISK, LEADERS, TRAFFIC, Load, at_end, limit, load, metrics, uneven
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import MAX_EVIDENCE, Evidence, Finding, brokers_named, raw
from forensics.model.partition.placement import SIZES, STATEMENT, STEPS, WRITTEN
from forensics.thresholds import LOAD_DEVIATION

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
        yield _finding(found, away, max(avoidable, key=lambda m: _sigma(m, found)), cluster, evidence)


def _elsewhere(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> bool:
    """Leaders are not on their preferred replicas: leader-imbalance reports this, and no replica has to move."""
    bound = limit(cluster)
    return any(now.ratio > bound for now in at_end(partitions).values())


def _sigma(metric: str, found: Load) -> float:
    return Load({}, found.metrics[metric]).sigma


def _finding(found: Load, away: Sequence[int], metric: str, cluster: Cluster, evidence: tuple[Evidence, ...]) -> Finding:
    worst, mean = away[0], 1 / len(found.shares)
    shares = "; ".join(_share(b, found, mean) for b in away[:MAX_BROKERS_NAMED])
    more = f" and {len(away) - MAX_BROKERS_NAMED} more" if len(away) > MAX_BROKERS_NAMED else ""
    weights = ", ".join(f"{m}={w:g}" for m, w in cluster.weights.items())
    return raw(
        kind="load-imbalance",
        severity="low",
        confidence="certain" if cluster.measures else "probable" if set(found.shares) <= cluster.collected else "possible",
        brokers=tuple(away),
        summary=(
            f"broker {worst} carries {found.shares[worst]:.1%} of the load, {found.deviations[worst]:.0%} {_side(worst, found, mean)} "
            f"the mean of {len(found.shares)} brokers; most uneven: {metric}"
        ),
        explanation=(
            f"Shares of the load at the end of the evidence (mean {mean:.1%}): {shares}{more}. "
            f"The standard deviation of the shares is {found.sigma:.4f}, the limit is {found.limit:.4f} (every broker {LOAD_DEVIATION:.0%} away from the mean). "
            f"Weights: {weights or 'equal'}."
        ),
        next_steps=(
            f"Move {'leaders' if metric == 'leaders' else 'replicas'} off {brokers_named([b for b in away if found.shares[b] > mean])}.",
        ),
        evidence=evidence,
    )


def _share(broker: int, found: Load, mean: float) -> str:
    metrics = ", ".join(f"{m} {values[broker]:.1%}" for m, values in found.metrics.items())
    deviation = f"{found.deviations[broker]:.0%} {_side(broker, found, mean)} the mean"
    return f"broker {broker} {found.shares[broker]:.1%} ({deviation}; {metrics})"


def _side(broker: int, found: Load, mean: float) -> str:
    return "above" if found.shares[broker] > mean else "below"


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
