"""stale-isr-candidate: a KRaft controller took a broker into an ISR that it had itself fenced or was shutting down.

Here: the order of records in the metadata log, which no clock can disturb. Not here: ZooKeeper mode, where broker and partition states
have no common order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from forensics.model import Finding, Many, Rule, moment, quote
from spark.cluster import Cluster
from spark.events import Event
from spark.states import State
from spark.timeline import PartitionTimeline

_STANDING = frozenset({"fenced", "unfenced", "shutdown", "unregistered"})
_AWAY = {"fenced": "was fenced", "shutdown": "was shutting down", "unregistered": "was not registered"}


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    recorded = [s for s in timeline.states if s.source == "metadata" and s.event.metadata_offset is not None]
    standing: list[Event] | None = None
    for before, after in pairwise(recorded):
        for broker in sorted(set(after.isr) - set(before.isr)):
            standing = standing if standing is not None else _standing(cluster)
            last = _last(broker, after, standing)
            if last is not None and last.reason in _AWAY:
                yield _finding(broker, after, last, timeline)


def _standing(cluster: Cluster) -> list[Event]:
    told = [e for e in cluster.of("metadata-broker", "metadata-broker-change") if e.metadata_offset is not None and e.reason in _STANDING]
    return sorted(told, key=lambda e: (e.metadata_offset or 0, e.source))


def _last(broker: int, state: State, standing: list[Event]) -> Event | None:
    """What the metadata log said of the broker last before the state's own record."""
    at = state.event.metadata_offset or 0
    return next((e for e in reversed(standing) if e.broker == broker and (e.metadata_offset or 0) < at), None)


def _finding(broker: int, state: State, last: Event, timeline: PartitionTimeline) -> Finding:
    return Finding(
        kind="stale-isr-candidate",
        severity="medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(broker,),
        leader_epoch=state.known_epoch,
        start=state.at,
        end=state.at,
        summary=f"{timeline.name}: broker {broker} was taken into the ISR although it {_AWAY[last.reason or '']}",
        explanation=(
            f"By the metadata log broker {broker} {_AWAY[last.reason or '']} since {moment(last.at)} (offset {last.metadata_offset}), and at "
            f"{moment(state.at)} (offset {state.event.metadata_offset}) the ISR of {timeline.name} became {list(state.isr)} with it. A write with "
            "acks=all waits for a replica that is not there, and the ISR looks safer than it is. Controllers refuse this from 3.3 on (KIP-841)."
        ),
        next_steps=("Upgrade controllers to 3.3 or later, and see whether the broker really held the records it was counted for.",),
        evidence=quote(last, state.event),
    )


RULE = Rule(
    kind="stale-isr-candidate",
    level="medium",
    meaning="A fenced or stopping broker was taken into an ISR.",
    benign=("A broker that was unfenced before it joined.",),
    references=("KIP-841", "KAFKA-13916", "KAFKA-15021"),
    partition=judge,
    many=Many(),
)
