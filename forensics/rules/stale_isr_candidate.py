"""stale-isr-candidate: a KRaft controller added a broker to an ISR although the broker was fenced or shutting down.

Here: the order of records in the metadata log, which does not depend on clocks. Not here: ZooKeeper mode, where broker and partition states
have no common order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import said, values
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.times import grouped

_AWAY = frozenset({"fenced", "shutdown", "unregistered"})
_STANDING = _AWAY | {"unfenced"}


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    recorded = [s for s in timeline.states if s.source == "metadata" and s.event.metadata_offset is not None]
    for before, after in pairwise(recorded):
        for broker in sorted(set(after.isr) - set(before.isr)):
            last = _last(broker, after, _standing(cluster))
            if last is not None and last.reason in _AWAY and _in_one_file(last, after.event):
                yield _finding(broker, after, last)


@cached_on_cluster
def _standing(cluster: Cluster) -> Mapping[int | None, Sequence[tuple[int, Event]]]:
    """The records of each broker in the metadata log with their offsets, sorted by offset."""
    found = grouped(
        (e.broker, (e.metadata_offset, e))
        for e in cluster.of("metadata-broker", "metadata-broker-change")
        if e.metadata_offset is not None and e.reason in _STANDING
    )
    for records in found.values():
        records.sort(key=lambda item: (item[0], item[1].source))
    return found


def _last(broker: int, state: State, standing: Mapping[int | None, Sequence[tuple[int, Event]]]) -> Event | None:
    """The last record of the broker in the metadata log before the record of the state."""
    records = standing.get(broker, ())
    before = bisect_left(records, state.event.metadata_offset or 0, key=lambda item: item[0])
    return records[before - 1][1] if before else None


def _in_one_file(earlier: Event, later: Event) -> bool:
    """Whether all records in between are in evidence: a snapshot contains a state without its history, and a segment, whose name is its
    first offset, contains all records from there on."""
    base = later.source.rpartition("/")[2].partition(".")[0]
    return base.isdigit() and int(base) <= (earlier.metadata_offset or 0) + 1


def _finding(broker: int, state: State, last: Event) -> Finding:
    return Finding(
        confidence="certain",
        brokers=(broker,),
        leader_epoch=state.known_epoch,
        start=state.at,
        end=state.at,
        values=values(
            away=said(f"stale-isr-candidate/{last.reason}"),
            since=last.at,
            at_offset=last.metadata_offset,
            changed_at=state.event.metadata_offset,
            isr=state.isr,
        ),
        evidence=quote(last, state.event),
    )
