"""unrecognised-lines: lines of replication loggers that match no pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Evidence, Finding
from forensics.model.message import values


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    odd = [s for s in cluster.sources if s.unrecognised]
    total = sum(s.unrecognised or 0 for s in odd)
    if not total:
        return
    yield Finding(
        confidence="certain",
        values=values(lines=total, sources=len(odd)),
        evidence=tuple(Evidence(s.path, None, None, sample[:600]) for s in odd[:8] for sample in list(s.samples)[:1]),
    )
