"""long-pause: the JVM of a node was paused for longer than a session timeout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import failures, named_node, span
from forensics.model.events import Event, lasting
from forensics.model.findings import Finding, quote, raw
from forensics.thresholds import LONG_PAUSE


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, pauses in failures(e for e in cluster.of("jvm-pause") if lasting(e) >= LONG_PAUSE):
        yield _finding(node, pauses, cluster)


def _finding(node: int | None, pauses: Sequence[Event], cluster: Cluster) -> Finding:
    who, last = named_node(node, cluster), pauses[-1]
    longest = max(map(lasting, pauses))
    return raw(
        kind="long-pause",
        severity="medium",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=pauses[0].at,
        end=last.at + lasting(last) if last.at is not None else None,
        summary=f"the JVM of {who} was paused for {longest.total_seconds():.1f} s"
        + (f" ({len(pauses)} long pauses)" if len(pauses) > 1 else ""),
        explanation=(
            f"The JVM of {who} was paused {span(pauses)}, for up to {longest.total_seconds():.1f} s. In a pause a node neither serves requests nor "
            "sends heartbeats: a pause longer than the session timeout ends its session, and it loses its leaderships."
        ),
        next_steps=(
            f"Compare the heap of {who} after full collections with -Xmx in its GC log: raise -Xmx if the heap is nearly full, and use G1 or ZGC.",
            f"If the pauses are not garbage collection, check {who} for swapping, for a slow disk that holds the GC log, and for a paused virtual machine.",
        ),
        evidence=quote(pauses[:5], last),
    )
