"""controller-change: another node became the active controller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import values


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """ZooKeeper and a metadata quorum count epochs of their own; a migration has both, and reports when one follows the other."""
    chains: dict[bool, dict[int, list[Event]]] = {}
    for event in cluster.of("controller-elected", "metadata-leader"):
        if event.controller_epoch is not None and event.controller is not None:
            chains.setdefault(event.mode == "zookeeper", {}).setdefault(event.controller_epoch, []).append(event)
    for zookeeper, by_epoch in sorted(chains.items(), reverse=True):
        yield from _changes(by_epoch, zookeeper=zookeeper)


def _changes(by_epoch: Mapping[int, list[Event]], *, zookeeper: bool) -> Iterator[Finding]:
    before: tuple[int, int] | None = None
    for epoch in sorted(by_epoch):
        events = sorted(by_epoch[epoch], key=lambda e: e.event != "metadata-leader")
        now = events[0].controller
        if before is not None:
            # in ZooKeeper each controller adds one to the epoch; a quorum's elections may fail, and use up epochs (KIP-595)
            unknown = epoch - before[0] - 1 if zookeeper else 0
            yield _after_others(before, epoch, events, unknown) if unknown > 0 else _finding(before[1], epoch, events)
        before = (epoch, now) if now is not None else before


def _after_others(before: tuple[int, int], epoch: int, events: list[Event], unknown: int) -> Finding:
    """The finding for a controller whose predecessors are unknown, because no collected log names them."""
    first = events[0]
    assert first.controller is not None
    return Finding(
        confidence="certain",
        brokers=(first.controller,),
        start=first.at,
        end=first.at,
        message="after-unknown",
        values=values(epoch=epoch, before=before[1], before_epoch=before[0], first=before[0] + 1 if unknown > 1 else None, last=epoch - 1),
        evidence=quote(events[:3]),
    )


def _finding(before: int, epoch: int, events: list[Event]) -> Finding:
    first = events[0]
    now = first.controller
    assert now is not None
    return Finding(
        confidence="certain",
        brokers=(now,) if now == before else (now, before),
        start=first.at,
        end=first.at,
        values=values(epoch=epoch, before=before if now != before else None),
        evidence=quote(events[:3]),
    )
