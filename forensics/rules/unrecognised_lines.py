"""unrecognised-lines: lines of replication's own loggers that no pattern knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model import Evidence, Finding, Rule
from spark.cluster.facts import Cluster


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    odd = [s for s in cluster.sources if s.unrecognised]
    total = sum(s.unrecognised or 0 for s in odd)
    if not total:
        return
    yield Finding(
        kind="unrecognised-lines",
        severity="info",
        confidence="certain",
        summary=f"{total} lines of replication-relevant loggers were not recognised, in {len(odd)} sources",
        explanation=f"{total} lines come from loggers that tell of replication, and no pattern knows them: a vendor's build, a newer Kafka, or a pattern that is missing. What they say was not used.",
        next_steps=("`kafka-forensics inspect` shows samples; please report them.",),
        evidence=tuple(Evidence(s.path, None, None, sample[:600]) for s in odd[:8] for sample in list(s.samples)[:1]),
    )


RULE = Rule(
    kind="unrecognised-lines",
    rank=520,
    level="info",
    meaning="Some relevant lines were not understood.",
    cluster=judge,
    of_evidence=True,
)
