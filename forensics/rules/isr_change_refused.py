"""isr-change-refused: the ISR changes of a leader were repeatedly refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, brokers_named, capital, moment, period, quote, raw
from forensics.model.partition.timeline import PartitionTimeline
from forensics.thresholds import REFUSED_REPEATEDLY, UNREACHABLE


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    rejected = (e for replica in timeline.replicas.values() for e in replica.rejected)
    events = [e for e in rejected if e.reason in ("version", "stale", "bad-zk-version") and e.at is not None]
    for group in _streaks(events):
        first, last = group[0].at, group[-1].last_at
        often = sum(e.repeats for e in group) >= REFUSED_REPEATEDLY
        if often and first is not None and last is not None and last - first >= UNREACHABLE:
            yield _finding(timeline, group, cluster)


def _streaks(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Refusals of one leader that follow each other."""
    for writer in sorted({e.writer for e in events if e.writer is not None}):
        yield [e for e in events if e.writer == writer]


def _removed(events: Sequence[Event], timeline: PartitionTimeline) -> tuple[int, ...]:
    """The followers that the leader tried to remove from the ISR at the last refusal."""
    last = events[-1]
    own = [e for e in timeline.of("isr-shrink") if e.writer == last.writer and e.at is not None and last.last_at is not None]
    tried = [e for e in own if e.at is not None and last.last_at is not None and e.at <= last.last_at]
    return tuple(sorted({*(tried[-1].previous_isr or ())} - {*(tried[-1].isr or ())})) if tried else ()


def _session_lost(events: Sequence[Event], cluster: Cluster) -> bool:
    first = events[0]
    lost = (e.at for e in cluster.of("session-expired") if e.writer == first.writer)
    return any(at is not None and first.at is not None and at <= first.at for at in lost)


def _finding(timeline: PartitionTimeline, events: Sequence[Event], cluster: Cluster) -> Finding:
    first, last, times = events[0], events[-1], sum(e.repeats for e in events)
    writers = tuple(sorted({e.writer for e in events if e.writer is not None}))
    who, removed = brokers_named(writers), _removed(events, timeline)
    return raw(
        kind="isr-change-refused",
        severity="high" if removed else "medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=writers,
        start=first.at,
        end=last.last_at,
        cause=None,
        summary=f"{timeline.name}: ISR changes of {who} were refused {times} times, until {moment(last.last_at)}",
        explanation=" ".join(
            (
                f"From {period(first.at, last.last_at)} {times} ISR changes of {who} for {timeline.name} were refused, because {who} has an old state of the "
                'partition ("Cached zkVersion not equal to that in zookeeper" up to 2.6).',
                f"{capital(who)} does not learn the new state, so its ISR cannot shrink or grow.",
                *(
                    (
                        f"{capital(who)} tried to remove {brokers_named(removed)} from the ISR: as long as {brokers_named(removed)} does not fetch, the high watermark does not advance, and "
                        "producers with acks=all get no acknowledgement.",
                    )
                    if removed
                    else ()
                ),
            )
        ),
        next_steps=(
            f"Restart {who}: only then it receives the state of its partitions again. If many brokers are affected, first force a new controller election by deleting the znode /controller.",
            "Upgrade to 1.1.1 or later: from there on a broker whose ZooKeeper session expires receives the state of its partitions again (KAFKA-2729)."
            if _session_lost(events, cluster)
            else "Find out what else writes /brokers/topics/TOPIC/partitions/N/state in ZooKeeper, or whether the controller changed while this leader was not reachable.",
        ),
        evidence=quote(events[:4], last),
    )
