"""controller-error: the controller failed to elect a leader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, brokers_named, period, quote
from forensics.model.partition.timeline import PartitionTimeline


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    events = [e for e in timeline.of("election-failed") if e.reason != "PREFERRED"]
    if events:
        yield _finding(timeline, events)


def _finding(timeline: PartitionTimeline, events: Sequence[Event]) -> Finding:
    first, last = events[0], events[-1]
    writers = tuple(sorted({e.writer for e in events if e.writer is not None}))
    who = brokers_named(writers)
    return Finding(
        kind="controller-error",
        severity="low",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=writers,
        start=first.at,
        end=last.last_at,
        cause="election-failed",
        summary=f"{timeline.name}: the controller failed to elect a leader",
        explanation=(
            f"From {period(first.at, last.last_at)} the controller ({who}) failed {sum(e.repeats for e in events)} times to elect a leader of {timeline.name}, because no replica "
            "that it may elect was running."
        ),
        next_steps=(
            f"Start a broker that was in the last ISR of {timeline.name}. An election of another replica (`kafka-leader-election.sh --election-type unclean`) loses records.",
        ),
        evidence=quote(events[:4], last),
    )


RULE = Rule(
    kind="controller-error",
    rank=322,
    level="medium",
    meaning="The controller failed to elect a leader of a partition.",
    benign=("While all replicas of a partition are restarted, each attempt in between fails.",),
    partition=detect,
    many=Aggregation(whenever=True, key=lambda f: f.brokers),
)
