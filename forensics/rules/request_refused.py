"""request-refused: a broker could not become leader or follower as the controller required."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, brokers_named, moment, period, quote, raw
from forensics.model.partition.timeline import PartitionTimeline
from forensics.thresholds import EPOCH_KNOWN

_WHY = {
    "error": "an error while it processed the LeaderAndIsr request",
    "leader-unavailable": "the new leader was not among the live brokers that it knew",
    "fetch-not-startable": "it could not start to fetch from the new leader",
    "zookeeper": "ZooKeeper did not answer",
}
"""Refusals that leave a replica without its role. A stale request is refused rightly, and one for a failed log directory is a consequence
(log_dir_failure)."""


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for reason in _WHY:
        events = [e for e in timeline.of("become-refused") if e.reason == reason and not _resolved(e, timeline, cluster)]
        if events:
            yield _finding(timeline, events)


def _resolved(refusal: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether there was no leader to follow, or the broker got a role later, or its log ends too soon to show that."""
    last = cluster.last_line(refusal.writer) if refusal.writer is not None else None
    if refusal.at is None or last is None or last < refusal.at + EPOCH_KNOWN:
        return True
    later = refusal.writer is not None and timeline.resumed(refusal.writer, refusal.at) is not None
    return later or (refusal.reason == "leader-unavailable" and refusal.leader in (None, -1))


def _finding(timeline: PartitionTimeline, events: Sequence[Event]) -> Finding:
    first, last = events[0], events[-1]
    writers = tuple(sorted({e.writer for e in events if e.writer is not None}))
    who = brokers_named(writers)
    return raw(
        kind="request-refused",
        severity="medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=writers,
        start=first.at,
        end=last.last_at,
        cause=first.reason,
        summary=f"{timeline.name}: {who} could not become leader or follower: {_WHY[first.reason or '']}",
        explanation=(
            f"From {period(first.at, last.last_at)} {who} failed {sum(e.repeats for e in events)} times to become leader or follower of {timeline.name}: "
            f"{_WHY[first.reason or '']}. The replica does not serve or follow until a later request succeeds."
        ),
        next_steps=(
            f"Read the exception in state-change.log of {who} at {moment(first.at)}.",
            f"Check {timeline.name} with `kafka-topics.sh --describe`; if its replica on {who} is not in sync, restart {who} after the cause is removed.",
        ),
        evidence=quote(events[:4], last),
    )
