"""topic-id-mismatch: the log of a replica belongs to another topic of the same name, so its broker refuses to lead or follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, Urgency, brokers_named, capital, moment, quote
from forensics.model.partition.timeline import PartitionTimeline
from forensics.output.shell import option


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    events = sorted((*timeline.of("topic-id-mismatch"), *(e for e in timeline.of("become-refused") if e.reason == "topic-id")), key=_when)
    if events:
        yield _finding(timeline, events)


def _when(event: Event) -> datetime:
    return event.at or datetime.min


def _finding(timeline: PartitionTimeline, events: Sequence[Event]) -> Finding:
    first, last = events[0], events[-1]
    writers = tuple(sorted({e.writer for e in events if e.writer is not None}))
    who = brokers_named(writers)
    logs = "the log on its disk belongs" if len(writers) == 1 else "the logs on their disks belong"
    ids = f" (cluster: {first.value}; log: {first.reason})" if first.event == "topic-id-mismatch" else ""
    until = last.last_at or last.at
    back = max((timeline.resumed(b, until) for b in writers), key=_or_never, default=None) if until is not None else None
    return Finding(
        kind="topic-id-mismatch",
        severity="high",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=writers,
        start=first.at,
        end=back or last.last_at,
        cause=None,
        summary=f"{timeline.name}: {who} refused to lead or follow, because {logs} to another topic of the same name",
        explanation=" ".join(
            (
                f"{capital(who)} refused to lead or follow {timeline.name} {span(events)}, because {logs} to another topic id than that of the cluster{ids}. Possible causes: the "
                "topic was deleted and created again while the broker was down, or ZooKeeper or the metadata log lost its data and the topics were created again.",
                *_effects(writers, first.at, back, timeline),
            )
        ),
        next_steps=(
            f"Do not delete the log or the partition.metadata of {timeline.name} before it is clear which topic has the valid records: compare the topic ids with `kafka-topics.sh --describe {option('--topic', timeline.topic)}`.",
            f"If the log of {timeline.name} on {who} is the outdated one, stop {who}, move the directory of {timeline.name} out of the log directory, and start {who} again: the replica is copied from the leader.",
        ),
        evidence=quote(events[:4], last),
    )


def _effects(writers: Sequence[int], start: datetime | None, back: datetime | None, timeline: PartitionTimeline) -> Iterator[str]:
    last = back or (timeline.states[-1].at if timeline.states else None)
    out = [b for b in writers if start is not None and last is not None and timeline.out_of_isr(b, start, max(start, last)) is not None]
    if out:
        yield f"In this time {brokers_named(out)} {'was' if len(out) == 1 else 'were'} missing from the ISR."
    else:
        yield f"Without this replica {timeline.name} has fewer copies, or no leader."
    if back is not None:
        yield f"{capital(brokers_named(writers))} accepted the partition at {moment(back)}."


def _or_never(at: datetime | None) -> datetime:
    return at or datetime.max


RULE = Rule(
    kind="topic-id-mismatch",
    rank=84,
    level="high",
    urgency=Urgency.UNAVAILABLE,
    meaning="A broker refused to lead or follow because the log on its disk belongs to another topic of the same name (INCONSISTENT_TOPIC_ID).",
    benign=("A request that was sent before a topic was deleted and created again is refused once, and the next one is accepted.",),
    partition=detect,
    many=Aggregation(whenever=True, key=lambda f: f.brokers),
)
