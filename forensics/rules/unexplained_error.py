"""unexplained-error: a paste has errors that nothing else in the report explains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import MINOR, Evidence, Finding, Statement
from forensics.model.message import values
from forensics.model.rows import Rows
from parsers.sniff import LOGS


def after_rules(cluster: Cluster, partitions: Rows, findings: Mapping[str, Sequence[Statement]]) -> Iterator[Finding]:
    """Where states of partitions are known, these show what an error did."""
    if any(p["leader"] is not None for p in partitions) or any(f.severity not in MINOR for kind in findings for f in findings[kind]):
        return
    for s in cluster.sources:
        if s.kind in LOGS and s.errors:
            yield Finding(
                confidence="certain",
                brokers=(s.node,) if s.node is not None else (),
                start=s.first,
                end=s.last,
                values=values(node=s.node, error=s.errors[0], others=s.errors[1:]),
                evidence=tuple(Evidence(s.path, None, None, error) for error in s.errors),
            )
