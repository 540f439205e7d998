"""missed-epoch-change: a follower continued fetching across another leader's epoch and did not truncate.

Here: brokers that missed a leader in between and treated the same broker's next leader epoch as the one they followed (KAFKA-7164, up to
2.0). Not here: the resulting differences between logs (log_divergence).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import said, values
from forensics.model.partition.timeline import PartitionTimeline, Term
from parsers.kinds import named


@dataclass(frozen=True, slots=True)
class _Kept:
    """A broker followed `leader` in leader epoch `before`, was ordered to follow it in `epoch`, and printed that it keeps its state."""

    leader: int
    before: int
    epoch: int
    lines: tuple[Event, Event, Event]
    """The order of `before`, the order of `epoch`, and the line that it printed."""


NEEDS = named("follower-kept")


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if not timeline.of("follower-kept"):
        return
    for replica in timeline.replicas.values():
        for kept in _kept(replica.events):
            between = [t for t in timeline.terms if kept.before < t.epoch < kept.epoch and t.leader != kept.leader]
            if not between or _followed(between, kept, replica.events) or _left(replica.broker, kept, timeline, cluster):
                continue
            if all(_covered(replica.broker, t, kept, cluster) for t in between):
                yield _finding(replica.broker, kept, between)


def _kept(events: Sequence[Event]) -> Iterator[_Kept]:
    orders: list[tuple[int, Event]] = []
    for e in events:
        if e.event == "partition-state" and e.reason == "received" and e.leader_epoch is not None:
            if orders and orders[-1][0] >= e.leader_epoch:
                orders.pop()
            orders.append((e.leader_epoch, e))
        elif e.event == "follower-kept" and len(orders) > 1 and e.leader is not None:
            (before, old), (epoch, new) = orders[-2:]
            if old.leader == new.leader == e.leader:
                yield _Kept(e.leader, before, epoch, (old, new, e))


def _followed(between: Sequence[Term], kept: _Kept, events: Sequence[Event]) -> bool:
    """It fetched from one of those leaders: only the lines of that order are missing from the evidence."""
    begin, end = events.index(kept.lines[0]), events.index(kept.lines[2])
    return any(e.event == "fetcher-added" and e.broker in {t.leader for t in between} for e in events[begin:end])


def _left(broker: int, kept: _Kept, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The broker restarted in between: after a start it receives every partition and truncates."""
    begin, end = kept.lines[0].at, kept.lines[2].at
    if begin is None or end is None:
        return False
    taken = (e for e in timeline.of("partition-state") if e.broker == broker and e.value == "OfflineReplica" and e.at is not None)
    return cluster.availability(broker).moved(begin, end) or any(begin < e.at < end for e in taken if e.at is not None)


def _covered(broker: int, term: Term, kept: _Kept, cluster: Cluster) -> bool:
    """The broker's log of that time was collected, so it would contain an order of that leader."""
    old, _, kept_line = kept.lines
    if old.source == kept_line.source or term.at is None:
        return True
    logs = [s for s in cluster.sources_of(broker) if s.kind == "state-change-log"]
    return any(s.first <= term.at <= s.last for s in logs if s.first is not None and s.last is not None)


def _finding(broker: int, kept: _Kept, between: Sequence[Term]) -> Finding:
    old, new, kept_line = kept.lines
    one_file = old.source == kept_line.source
    return Finding(
        confidence="certain" if one_file else "probable",
        brokers=(broker,),
        leader_epoch=kept.epoch,
        start=between[0].at,
        end=kept_line.at,
        values=values(
            leader=kept.leader,
            before=kept.before,
            epoch=kept.epoch,
            missed=tuple(said("missed-epoch-change/leader", broker=t.leader, epoch=t.epoch) for t in between),
            two_files=not one_file,
        ),
        evidence=quote(old, *(t.evidence[:1] for t in between), new, kept_line),
    )
