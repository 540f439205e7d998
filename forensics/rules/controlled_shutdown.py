"""controlled-shutdown: a broker, or a node that is only a controller, was shut down cleanly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, said, values
from forensics.model.presence.availability import BrokerRun
from forensics.model.presence.process_errors import who
from forensics.model.times import contains
from forensics.rules.detectors.conditions import halted_node


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in cluster.nodes.values():
        for outage in cluster.availability(node.id).outages:
            if outage.run is not None and outage.clean and not _halted(outage.run, cluster):
                yield _finding(node.id, who(node.id, cluster), outage.run, cluster)


def _halted(run: BrokerRun, cluster: Cluster) -> bool:
    """The process ended itself (reported by halted-on-truncation), and its shutdown was a part of that."""
    halts = (e for e in cluster.of("truncation-refused") if halted_node(e) == run.node)
    return any(contains(run.span, e.at) for e in halts)


def _confidence(node: int, run: BrokerRun, cluster: Cluster) -> str:
    """How sure the stop is: a broker prints that it began and ended. A marker alone may be that of a process without lines."""
    if (run.stopping or run.controlled) is not None and run.end is not run.asked:
        return "certain"
    return "possible" if cluster.nodes[node].broker else "probable"


def _finding(node: int, who: Message, run: BrokerRun, cluster: Cluster) -> Finding:
    begin = run.stopping or run.controlled
    asked = (run.controlled.reason or "asked") if run.controlled is not None else None
    return Finding(
        severity="low" if asked == "failed" else "info",
        confidence=_confidence(node, run, cluster),
        brokers=(node,),
        start=begin.at if begin is not None else run.end_at,
        end=run.end_at,
        values=values(
            who=who,
            begun=begin.at if begin is not None else None,
            handed_over=said(f"controlled-shutdown/{asked if asked in ('failed', 'done') else 'asked'}") if asked else None,
            failed=asked == "failed",
        ),
        evidence=quote(run.stopping or run.signal, run.controlled, run.end),
    )
