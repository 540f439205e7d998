"""controller-change: another node became the active controller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model import Finding, Rule, moment, quote
from spark.cluster import Cluster
from spark.events import Event


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    by_epoch: dict[int, list[Event]] = {}
    for event in cluster.of("controller-elected", "metadata-leader"):
        if event.controller_epoch is not None and event.controller is not None:
            by_epoch.setdefault(event.controller_epoch, []).append(event)
    before: int | None = None
    for epoch in sorted(by_epoch):
        events = sorted(by_epoch[epoch], key=lambda e: e.event != "metadata-leader")
        now = events[0].controller
        if before is not None:
            yield _finding(before, epoch, events)
        before = now


def _finding(before: int, epoch: int, events: list[Event]) -> Finding:
    first = events[0]
    now = first.controller
    assert now is not None
    same = now == before
    return Finding(
        kind="controller-change",
        severity="info",
        confidence="certain",
        brokers=(now,) if same else (now, before),
        start=first.at,
        end=first.at,
        summary=f"node {now} became controller in epoch {epoch}" + ("" if same else f", after node {before}"),
        explanation=f"At {moment(first.at)} node {now} became the active controller in controller epoch {epoch}"
        + (", as before (a restart or a new session)." if same else f", in place of node {before}.")
        + " It looks at every partition anew, so leader changes at that time may be its doing.",
        evidence=quote(events[:3]),
    )


RULE = Rule(
    kind="controller-change",
    level="info",
    meaning="The active controller changed.",
    cluster=judge,
)
