"""missed-epoch-change: a follower continued fetching across another leader's epoch and did not truncate.

Here: brokers that missed a leader in between and treated the same broker's next leader epoch as the one they followed (KAFKA-7164, up to
2.0). Not here: the resulting differences between logs (log_divergence).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, moment, quote, raw
from forensics.model.partition.timeline import PartitionTimeline, Term


@dataclass(frozen=True, slots=True)
class _Kept:
    """A broker followed `leader` in leader epoch `before`, was ordered to follow it in `epoch`, and printed that it keeps its state."""

    leader: int
    before: int
    epoch: int
    lines: tuple[Event, Event, Event]
    """The order of `before`, the order of `epoch`, and the line that it printed."""


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if not timeline.of("follower-kept"):
        return
    for replica in timeline.replicas.values():
        for kept in _kept(replica.events):
            between = [t for t in timeline.terms if kept.before < t.epoch < kept.epoch and t.leader != kept.leader]
            if not between or _followed(between, kept, replica.events) or _left(replica.broker, kept, timeline, cluster):
                continue
            if all(_covered(replica.broker, t, kept, cluster) for t in between):
                yield _finding(replica.broker, kept, between, timeline)


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


def _finding(broker: int, kept: _Kept, between: Sequence[Term], timeline: PartitionTimeline) -> Finding:
    old, new, kept_line = kept.lines
    others = ", ".join(f"broker {t.leader} in epoch {t.epoch}" for t in between)
    one_file = old.source == kept_line.source
    return raw(
        kind="missed-epoch-change",
        severity="high",
        confidence="certain" if one_file else "probable",
        brokers=(broker,),
        leader_epoch=kept.epoch,
        start=between[0].at,
        end=kept_line.at,
        summary=f"{timeline.name}: broker {broker} did not truncate for leader epoch {kept.epoch} of broker {kept.leader}, because it missed the leaders since epoch {kept.before}",
        explanation=(
            f"Broker {broker} followed broker {kept.leader} in leader epoch {kept.before} and next learned, at {moment(kept_line.at)}, that it leads in epoch "
            f"{kept.epoch}: the same leader, so it continued fetching without truncation. It missed {others}, whose followers truncated and whose "
            f"records got the following offsets; broker {kept.leader} may have truncated its log then. The records of broker {broker} after the start "
            "of those epochs may differ from those of other replicas at the same offsets."
            + ("" if one_file else " The two orders are from different log files; a file between them may be missing.")
        ),
        next_steps=(
            f"Compare the segments of {timeline.name} on broker {broker} with the leader's (`kafka-forensics checkpoints`). If they differ, let broker "
            f"{broker} copy the partition again before it leads.",
            "Upgrade Kafka: from 2.1 on a follower truncates at every new leader epoch.",
        ),
        evidence=quote(old, *(t.evidence[:1] for t in between), new, kept_line),
    )
