"""The state of the cluster at the end of the evidence: each partition's assignment, leader and ISR, and which brokers are up.

Here: the row of one partition (`standing`, run on Spark's tasks) and the judgement on brokers (`brokers`), with the reason for each. Not
here: which of the last statements on a partition counts (forensics.model.partition.final_state), or what should be changed
(forensics.tools.repair).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import Annotated, Any

import pyarrow as pa

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.message import Message, said
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import all_discarded
from forensics.model.presence.availability import PRESUMED_CRASHED, Availability
from forensics.model.record import Int32, Record, reader, struct
from forensics.model.times import is_later, undated_first

INTERNAL = "__cluster_metadata"


@dataclass(frozen=True, slots=True)
class ReplicaEnd(Record):
    broker: Annotated[Int32, "broker id"]
    offset: Annotated[int, "its highest known log end offset"]


@dataclass(frozen=True, slots=True)
class FinalPartition(Record):
    topic: Annotated[str, "topic name"]
    partition: Annotated[Int32, "partition index"]
    replicas: Annotated[tuple[Int32, ...], "assigned replicas, the preferred leader first; null or empty if unknown"]
    leader: Annotated[Int32 | None, "leader at the end; -1: no leader, null: unknown"]
    isr: Annotated[tuple[Int32, ...], "in-sync replicas at the end"]
    moving: Annotated[bool, "a reassignment is under way"] = False
    high_watermark: Annotated[int | None, "high watermark (HW); null if unknown"] = None
    ends: Annotated[tuple[ReplicaEnd, ...], "highest known log end offset of each replica; only for partitions without a leader"] = ()
    leaderless: Annotated[datetime | None, "begin of the time without a leader (UTC); null if there is a leader"] = None

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"


SCHEMA = pa.schema(list(struct(FinalPartition)))
"""A row for each partition. `high_watermark` and `ends` are set only for partitions without a leader."""


@dataclass(frozen=True, slots=True)
class Broker:
    """`state`: live, down (may come back), gone (will not), unknown. `why`: the reason for this state."""

    id: int
    state: str
    why: Message | None = None
    rack: str | None = None


def standing(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    """The row of SCHEMA of a partition as it is now; none for deleted topics and the metadata log."""
    if timeline.topic == INTERNAL or timeline.generation < 0 or deleted(timeline, cluster) or all_discarded(timeline):
        return
    now = timeline.standing
    replicas = now.replicas if now.preferred is not None else ()
    lost = now.leader == -1
    without = (s.at for s in takewhile(lambda s: s.leader == -1, reversed(timeline.states_with_describe)) if s.at is not None)
    yield FinalPartition(
        timeline.topic,
        timeline.partition,
        replicas,
        now.leader,
        tuple(b for b in now.isr if not replicas or b in replicas),
        now.moving,
        _high_watermark(timeline) if lost else None,
        tuple(ReplicaEnd(b, o) for b, o in sorted(_ends(timeline).items())) if lost else (),
        min(without, default=None),
    ).row()


def deleted(timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The topic was deleted and not created again: the last statement about it is its deletion by the controller."""
    times = [at for at in cluster.recreated.get(timeline.topic, ()) if at is not None]
    last = timeline.standing.at
    return bool(times) and (last is None or last <= max(times))


def _ends(timeline: PartitionTimeline) -> dict[int, int]:
    found = {b: r.log_end_offset for b, r in timeline.replicas.items() if r.log_end_offset is not None}
    for broker, disk in timeline.collected_logs.items():
        reached = [o for o in (disk.log_end_offset, disk.high_watermark.offset if disk.high_watermark else None) if o is not None]
        if reached:
            found[broker] = disk.log_end_offset if disk.log_end_offset is not None else max(found.get(broker, 0), *reached)
    return found


def _high_watermark(timeline: PartitionTimeline) -> int | None:
    seen = [o.offset for r in timeline.replicas.values() for o in r.observations if o.quantity == "high-watermark"]
    seen += [d.high_watermark.offset for d in timeline.collected_logs.values() if d.high_watermark and d.high_watermark.offset is not None]
    return max(seen, default=None)


def partitions(rows: Iterable[Mapping[str, Any]]) -> list[FinalPartition]:
    """The rows as planning takes them, by name."""
    return sorted(map(reader(FinalPartition), rows), key=lambda p: (p.topic, p.partition))


# brokers


def brokers(cluster: Cluster, known: Sequence[FinalPartition], live: Collection[int] = (), gone: Collection[int] = ()) -> list[Broker]:
    """All brokers that the evidence names. `live` and `gone` are given by the user, and override any file."""
    ids = {*(n.id for n in cluster.nodes.values() if n.broker), *_named(known), *live, *gone}
    in_sync = Counter(b for p in known if p.leader is not None and p.leader >= 0 for b in set(p.isr))
    assigned = Counter(b for p in known for b in set(p.replicas))
    given = {**dict.fromkeys(live, ("live", said("broker/named-live"))), **dict.fromkeys(gone, ("gone", said("broker/named-gone")))}
    found = []
    for broker in sorted(ids):
        if broker in given:
            state, why = given[broker]
        else:
            leaderless = (p.leaderless for p in known if p.leaderless is not None and broker in p.isr)
            state, why = _state(cluster.availability(broker), in_sync[broker], assigned[broker], leaderless)
        found.append(Broker(broker, state, why, cluster.settings.of_broker(broker).get("broker.rack") or None))
    return found


def _named(partitions: Iterable[FinalPartition]) -> Iterator[int]:
    """The brokers that partitions name."""
    return (b for p in partitions for b in (*p.replicas, *p.isr, -1 if p.leader is None else p.leader) if b >= 0)


def _state(availability: Availability, in_sync: int, assigned: int, leaderless: Iterable[datetime]) -> tuple[str, Message]:
    """The broker's state at the end of the evidence, with the reason. `leaderless`: since when each partition that it was last in sync
    with has had no leader."""
    report, event = _last_report(availability)
    if report == "unregistered":
        return "gone", said("broker/unregistered", at=event.at if event else None)
    why_down = _why_down(availability, event if report == "lost" else None, leaderless)
    if why_down is not None:
        return "down", why_down
    if in_sync:
        part = {"partitions": in_sync, "assigned": assigned} if in_sync < assigned else {"partitions": None, "assigned": None}
        return "live", said("broker/in-sync", **part)
    if assigned:
        return "unknown", said("broker/in-no-isr")
    if event is not None and report in ("back", "registered"):
        return "live", said(f"broker/{'registered' if event.event == 'brokers-changed' else 'unfenced'}", at=event.at)
    if availability.running is not None:
        return "live", said("broker/no-stop")
    return "unknown", said("broker/no-sign")


def _why_down(availability: Availability, lost: Event | None, leaderless: Iterable[datetime]) -> Message | None:
    """The reason why a broker is down; None if it is not known to be down. `lost`: another node's last report, if that is a loss."""
    run, outage = availability.running, availability.gone
    if run is None and outage is not None and outage.run is not None and outage.how != PRESUMED_CRASHED:
        return said("broker/stopped", at=outage.run.end_at)
    if lost is not None and not (run is not None and is_later(run.begin_at, lost.at)):
        return said(f"broker/{'gone-from-zookeeper' if lost.event == 'brokers-changed' else 'fenced-since'}", at=lost.at)
    if outage is not None and outage.how == PRESUMED_CRASHED:
        return said("broker/not-found", since=outage.since, at=outage.event.at)
    unreported_outage_start = availability.unreported_outage_start(leaderless)
    if unreported_outage_start is not None:
        return said("broker/left-leaderless", at=unreported_outage_start)
    return None


def _last_report(availability: Availability) -> tuple[str | None, Event | None]:
    """The last report on whether the broker is running, and its event."""
    reports = [(word, e) for word in ("registered", "lost", "back", "unregistered") for e in availability.said(word)]
    word, event = max(reports, key=lambda t: undated_first(t[1]), default=(None, None))
    return "lost" if word == "registered" and event is not None and event.reason == "fenced" else word, event
