"""controlled-shutdown: a broker was shut down cleanly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.availability import BrokerRun
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Aggregation, Finding, Rule, moment, quote


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in cluster.nodes.values():
        for outage in cluster.availability(node.id).outages:
            if node.broker and outage.life is not None and outage.life.outcome == "stopped":
                yield _finding(node.id, outage.life)


def _finding(broker: int, life: BrokerRun) -> Finding:
    begin = life.stopping or life.controlled or life.end
    failed = life.controlled is not None and life.controlled.reason == "failed"
    how = (
        "but could not hand over all its leaderships first"
        if failed
        else "and handed over its leaderships"
        if life.controlled is not None and life.controlled.reason == "done"
        else "and asked to hand over its leaderships"
        if life.controlled is not None
        else ""
    )
    return Finding(
        kind="controlled-shutdown",
        severity="low" if failed else "info",
        confidence="certain",
        brokers=(broker,),
        start=begin.at if begin is not None else None,
        end=life.end_at,
        summary=f"broker {broker} was shut down cleanly" + (", without handing over all leaderships" if failed else ""),
        explanation=f"Broker {broker} began to stop at {moment(begin.at if begin is not None else None)} {how} and had stopped at {moment(life.end_at)}.".replace(
            "  ", " "
        ),
        evidence=quote(life.stopping, life.controlled, life.end),
    )


RULE = Rule(
    kind="controlled-shutdown",
    rank=310,
    level="info",
    meaning="A broker was shut down cleanly: leader changes and a smaller ISR at that time are expected.",
    references=("KAFKA-340",),
    cluster=detect,
    many=Aggregation(words=lambda first, group: "were shut down cleanly"),
    root="shut down cleanly",
)
