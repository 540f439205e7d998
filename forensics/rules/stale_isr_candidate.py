"""stale-isr-candidate: a KRaft controller took a broker into an ISR that it had itself fenced or was shutting down.

Here: the order of records in the metadata log, which no clock can disturb. Not here: ZooKeeper mode, where broker and partition states
have no common order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from forensics.model import Finding, Many, Rule, moment, quote
from spark.cluster.facts import Cluster, once
from spark.events import Event
from spark.partition.states import State
from spark.partition.timeline import PartitionTimeline

_STANDING = frozenset({"fenced", "unfenced", "shutdown", "unregistered"})
_AWAY = {"fenced": "was fenced", "shutdown": "was shutting down", "unregistered": "was not registered"}


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    recorded = [s for s in timeline.states if s.source == "metadata" and s.event.metadata_offset is not None]
    for before, after in pairwise(recorded):
        for broker in sorted(set(after.isr) - set(before.isr)):
            last = _last(broker, after, _standing(cluster))
            if last is not None and last.reason in _AWAY and _in_one_file(last, after.event):
                yield _finding(broker, after, last, timeline)


@once
def _standing(cluster: Cluster) -> Mapping[int | None, Sequence[tuple[int, Event]]]:
    """What the metadata log said of each broker, with the offsets, in their order."""
    found: dict[int | None, list[tuple[int, Event]]] = defaultdict(list)
    for e in cluster.of("metadata-broker", "metadata-broker-change"):
        if e.metadata_offset is not None and e.reason in _STANDING:
            found[e.broker].append((e.metadata_offset, e))
    for told in found.values():
        told.sort(key=lambda item: (item[0], item[1].source))
    return found


def _last(broker: int, state: State, standing: Mapping[int | None, Sequence[tuple[int, Event]]]) -> Event | None:
    """What the metadata log said of the broker last before the state's own record."""
    told = standing.get(broker, ())
    before = bisect_left(told, state.event.metadata_offset or 0, key=lambda item: item[0])
    return told[before - 1][1] if before else None


def _in_one_file(earlier: Event, later: Event) -> bool:
    """All that the log said in between is in evidence: a snapshot tells how things stood, not what came before, and a segment, whose name
    is its first offset, has all from there on."""
    base = later.source.rpartition("/")[2].partition(".")[0]
    return base.isdigit() and int(base) <= (earlier.metadata_offset or 0) + 1


def _finding(broker: int, state: State, last: Event, timeline: PartitionTimeline) -> Finding:
    return Finding(
        kind="stale-isr-candidate",
        severity="medium",
        confidence="certain",
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
    rank=190,
    level="medium",
    meaning="A fenced or stopping broker was taken into an ISR.",
    benign=("A broker that was unfenced before it joined.",),
    references=("KIP-841", "KAFKA-13916", "KAFKA-15021"),
    partition=judge,
    many=Many(),
)
