"""stale-controller: a replaced controller continued to send requests.

Here: requests that brokers refused, decisions of an older controller epoch that took effect after those of a newer one, and answers of a
controller that did not know a leader's epoch yet. Not here: the change of the controller (controller_change).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import STATE, would_show
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import said, values
from forensics.model.partition.replicas import LeaderStart, Replica
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.times import grouped, is_later
from forensics.thresholds import EPOCH_KNOWN

_ORDERS = frozenset({"decided", "sent", "received", "stored"})


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if cluster.mode != "kraft":
        yield from _overtaken(timeline)
    for replica in timeline.replicas.values():
        yield from _wrongly_fenced(replica, timeline, cluster)


def _overtaken(timeline: PartitionTimeline) -> Iterator[Finding]:
    """A leader epoch from an older controller than the previous leader epoch. Times only exclude cases in which the topic was created again
    in between."""
    highest: Event | None = None
    reported: set[int] = set()
    for event in sorted(_orders(timeline), key=lambda e: (e.leader_epoch or 0, -(e.controller_epoch or 0))):
        now = event.controller_epoch or 0
        if highest is None or now >= (highest.controller_epoch or 0):
            highest = event
        elif event.leader_epoch != highest.leader_epoch and now not in reported and not is_later(highest.at, event.at, EPOCH_KNOWN):
            reported.add(now)
            yield _taken(timeline, highest, event)


def _orders(timeline: PartitionTimeline) -> list[Event]:
    return [
        e
        for e in timeline.of("partition-state")
        if e.reason in _ORDERS and e.leader_epoch is not None and e.controller_epoch is not None and e.controller_epoch > 0
    ]


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """One finding for each stale controller epoch whose requests brokers refused."""
    refused = (e for e in cluster.of("controller-refused") if e.controller_epoch is not None)  # 1.0 to 2.5 do not print it in some lines
    by_epoch = grouped(((e.controller_epoch or 0, e.controller if e.controller is not None else -1), e) for e in refused)
    for (epoch, controller), events in sorted(by_epoch.items()):
        yield _refused(epoch, controller, events, cluster)


def _taken(timeline: PartitionTimeline, newer: Event, stale: Event) -> Finding:
    return Finding(
        confidence="certain",
        brokers=(stale.controller,) if stale.controller is not None else (),
        leader_epoch=stale.leader_epoch,
        start=newer.at,
        end=stale.at,
        message="overtaken",
        values=values(epoch=stale.controller_epoch, newer=newer.controller_epoch, newer_leader_epoch=newer.leader_epoch),
        evidence=quote(newer, stale),
    )


def _wrongly_fenced(replica: Replica, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    """A controller refused a leader because of an old leader epoch, although it was the latest: that controller was out of date."""
    reported: set[int] = set()
    for refusal, at in _refusals(replica, cluster):
        led = _led_at(at, replica)
        if led is None or led.epoch in reported or _changed_isr_after(at, led.epoch, replica):
            continue
        later = next((s for s in timeline.states if s.leader_epoch > led.epoch), None)
        if later is None or (later.at is not None and later.at > at + EPOCH_KNOWN):
            reported.add(led.epoch)
            yield _fenced(led, refusal, later.event if later is not None else None, timeline)


def _refusals(replica: Replica, cluster: Cluster) -> Iterator[tuple[Event, datetime]]:
    """Refusals because of an old leader epoch, with their times, if the leader's log would show a newer epoch."""
    refused = ((e, e.at) for e in replica.rejected if e.reason == "old-leader-epoch" and e.at is not None)
    return ((e, at) for e, at in refused if would_show(replica.broker, cluster, STATE, since=at, until=at + EPOCH_KNOWN))


def _led_at(at: datetime, replica: Replica) -> LeaderStart | None:
    """The broker's last start as leader before this time; None if it followed another leader since."""
    led = next((s for s in reversed(replica.leader_starts) if s.at is not None and s.at <= at), None)
    followed = led is not None and any(f.epoch > led.epoch and f.at is not None and f.at <= at for f in replica.follower_starts)
    return None if followed else led


def _changed_isr_after(at: datetime, epoch: int, replica: Replica) -> bool:
    return any(u.event.at is not None and u.event.at > at and u.epoch in (None, epoch) for u in replica.isr_updates)


def _fenced(led: LeaderStart, refusal: Event, later: Event | None, timeline: PartitionTimeline) -> Finding:
    end = later.at if later is not None else None
    return Finding(
        confidence="certain",
        brokers=(led.broker,),
        leader_epoch=led.epoch,
        start=refusal.at,
        end=end,
        message="current-epoch-refused",
        values=values(led=led.at),
        evidence=quote(led.event, refusal, later),
    )


def _refused(epoch: int, controller: int, events: list[Event], cluster: Cluster) -> Finding:
    successor = next(
        (e for e in cluster.of("controller-elected") if e.controller_epoch is not None and e.controller_epoch > epoch and e.at is not None),
        None,
    )
    return Finding(
        severity="medium",
        confidence="certain",
        brokers=(controller,) if controller >= 0 else (),
        start=successor.at if successor is not None else events[0].at,
        end=events[-1].at,
        message="requests-refused",
        values=values(
            who=said("node/node", id=controller) if controller >= 0 else said("node/any"),
            epoch=epoch,
            refusing=tuple(sorted({e.writer for e in events if e.writer is not None})),
            requests=len(events),
            first=events[0].at,
            elected=successor.at if successor is not None else None,
            elected_epoch=successor.controller_epoch if successor is not None else None,
        ),
        evidence=quote(events[:4], successor),
    )
