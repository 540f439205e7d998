"""unrecognised-lines: lines of replication loggers that match no pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Evidence, Finding, raw


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    odd = [s for s in cluster.sources if s.unrecognised]
    total = sum(s.unrecognised or 0 for s in odd)
    if not total:
        return
    yield raw(
        kind="unrecognised-lines",
        severity="info",
        confidence="certain",
        summary=f"{total:,} lines of replication-relevant loggers were not recognised, in {len(odd):,} sources",
        explanation=f"{total:,} lines of loggers about replication match no pattern: a vendor's build, a newer Kafka version, or a missing pattern. These lines were not used.",
        next_steps=("Report the samples that `kafka-forensics inspect` shows of unrecognised lines.",),
        evidence=tuple(Evidence(s.path, None, None, sample[:600]) for s in odd[:8] for sample in list(s.samples)[:1]),
    )
