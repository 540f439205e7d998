"""isr-change-refused: the ISR changes of a leader were refused again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, brokers_named, moment, period, quote
from forensics.model.partition.timeline import PartitionTimeline
from forensics.thresholds import REFUSED_REPEATEDLY, UNREACHABLE


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    rejected = (e for replica in timeline.replicas.values() for e in replica.rejected)
    events = [e for e in rejected if e.reason in ("version", "stale", "bad-zk-version") and e.at is not None]
    for group in _streaks(events):
        first, last = group[0].at, group[-1].last_at
        often = sum(e.repeats for e in group) >= REFUSED_REPEATEDLY
        if often and first is not None and last is not None and last - first >= UNREACHABLE:
            yield _finding(timeline, group)


def _streaks(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Refusals of one leader that follow each other."""
    for writer in sorted({e.writer for e in events if e.writer is not None}):
        yield [e for e in events if e.writer == writer]


def _finding(timeline: PartitionTimeline, events: Sequence[Event]) -> Finding:
    first, last = events[0], events[-1]
    writers = tuple(sorted({e.writer for e in events if e.writer is not None}))
    who = brokers_named(writers)
    return Finding(
        kind="isr-change-refused",
        severity="medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=writers,
        start=first.at,
        end=last.last_at,
        cause=None,
        summary=f"{timeline.name}: ISR changes of {who} were refused {sum(e.repeats for e in events)} times, until {moment(last.last_at)}",
        explanation=(
            f"From {period(first.at, last.last_at)} {sum(e.repeats for e in events)} ISR changes of {who} for {timeline.name} were refused, because {who} has an old state of the "
            f'partition ("Cached zkVersion not equal to that in zookeeper" up to 2.6). {who} does not learn the new state, so its ISR cannot shrink or grow.'
        ),
        next_steps=(
            f"Restart {who}: only then it receives the state of its partitions again. If many brokers are affected, first force a new controller election by deleting the znode /controller.",
            "Upgrade Kafka: from 1.1.1 and 2.0 on a broker recovers from a lost ZooKeeper session without a restart (KAFKA-2729).",
        ),
        evidence=quote(events[:4], last),
    )


RULE = Rule(
    kind="isr-change-refused",
    rank=88,
    level="medium",
    meaning="ISR changes of a leader were refused again and again, because it has an old state of the partition.",
    benign=("A leader that was just replaced is refused once or twice before it learns that.",),
    partition=detect,
    many=Aggregation(whenever=True, key=lambda f: f.brokers),
)
