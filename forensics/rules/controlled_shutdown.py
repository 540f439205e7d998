"""controlled-shutdown: a broker, or a node that is only a controller, was shut down cleanly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.availability import BrokerRun
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import named_node
from forensics.model.findings import Aggregation, Finding, Rule, capital, moment, quote


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in cluster.nodes.values():
        for outage in cluster.availability(node.id).outages:
            if outage.life is not None and outage.life.outcome == "stopped":
                yield _finding(node.id, named_node(node.id, cluster), outage.life)


def _finding(node: int, who: str, life: BrokerRun) -> Finding:
    begin, stopped, name = life.stopping or life.controlled, moment(life.end_at), capital(who)
    failed = life.controlled is not None and life.controlled.reason == "failed"
    how = (
        " but could not hand over all its leaderships first"
        if failed
        else " and handed over its leaderships where another replica could take over"
        if life.controlled is not None and life.controlled.reason == "done"
        else " and asked to hand over its leaderships"
        if life.controlled is not None
        else ""
    )
    return Finding(
        kind="controlled-shutdown",
        severity="low" if failed else "info",
        confidence="certain" if begin is not None else "probable",
        brokers=(node,),
        start=begin.at if begin is not None else life.end_at,
        end=life.end_at,
        summary=f"{who} was shut down cleanly" + (", without handing over all leaderships" if failed else ""),
        explanation=f"{name} began to stop at {moment(begin.at)}{how} and had stopped at {stopped}."
        if begin is not None
        else f"{name} had stopped at {stopped}; the log does not show when that began.",
        evidence=quote(life.stopping or life.signal, life.controlled, life.end),
    )


RULE = Rule(
    kind="controlled-shutdown",
    rank=310,
    level="info",
    meaning="A broker or controller was shut down cleanly: leader changes and a smaller ISR at that time are expected.",
    references=("KAFKA-340",),
    cluster=detect,
    many=Aggregation(words=lambda first, group: "shut down cleanly"),
    root="shut down cleanly",
)
