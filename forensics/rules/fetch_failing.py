"""fetch-failing: the fetches of a follower failed for longer than a leader change takes, so its replica does not advance.

Here: errors that the fetcher tries again, and those with which a log ends. Not here: fetchers that ended or gave the partition up
(fetcher_dead), leaders that cannot be reached (connection_failed), failed log directories (log_dir_failure).
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import ends_soon
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Value, said, values
from forensics.model.partition.fetch_failures import ERRORS, Streak, streaks, unfinished
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.presence.process_errors import exception, span, who
from forensics.thresholds import FETCHED_AGAIN
from parsers.frozen import replace

_PAUSED, _CLEANING_PAUSED = "cannot be aborted and paused", "cleaning-paused"
_CAUSES = {
    "UnknownTopicOrPartitionException": "unknown-partition",
    "UNKNOWN_TOPIC_OR_PARTITION": "unknown-partition",
    "NotLeaderForPartitionException": "not-leader",
    "NotLeaderOrFollowerException": "not-leader",
    "NOT_LEADER_OR_FOLLOWER": "not-leader",
    "UNKNOWN_TOPIC_ID": "topic-id",
    "INCONSISTENT_TOPIC_ID": "topic-id",
    "InconsistentTopicIdException": "topic-id",
    "UnknownTopicIdException": "topic-id",
    "invalid-messages": "corrupt-batch",
    "CorruptRecordException": "corrupt-batch",
    "CORRUPT_MESSAGE": "corrupt-batch",
    "OFFSET_OUT_OF_RANGE": "offset-out-of-range",
    "message-too-large": "message-too-large",
    "remote-log": "remote-log",
}
"""Causes by what Kafka calls the error."""
_BRIEF = ("unknown-partition", "not-leader", "topic-id")
"""Causes that are normal for some seconds."""

NEEDS = ERRORS


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for streak in streaks(timeline):
        out = timeline.out_of_isr(streak.follower, streak.first, streak.last) if streak.follower is not None else None
        goes_on = _goes_on(streak.follower, streak.events[-1], timeline, cluster)
        yield replace(
            _finding(streak, timeline, cluster, out=out, goes_on=goes_on),
            severity="high" if out is not None else "medium",
            end=None if goes_on else streak.events[-1].last_at,
        )
    for streak in unfinished(timeline, cluster):
        yield replace(
            _finding(streak, timeline, cluster), message="unfinished", confidence="possible"
        )  # a fetch that succeeds prints nothing


def _goes_on(follower: int | None, last: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether the log of the follower ends while its fetches fail."""
    if follower is None or last.last_at is None or timeline.resumed(follower, last.last_at) is not None:
        return False
    return ends_soon(follower, last.last_at, FETCHED_AGAIN, cluster)


def _finding(streak: Streak, timeline: PartitionTimeline, cluster: Cluster, **lasting: Value) -> Finding:
    """Of failures with which a part of a log ends; no evidence shows whether these lasted."""
    events, last, thrown = streak.events, streak.events[-1], exception(reversed(streak.events))
    cause = _CLEANING_PAUSED if thrown is not None and _PAUSED in thrown else _CAUSES.get(streak.reason)
    leaders = sorted({e.broker for e in events if e.broker is not None})
    leader = who(leaders[0], cluster) if len(leaders) == 1 else None
    other = said("fetch-failing/error", reason=streak.reason if streak.reason != "error" else None)
    return Finding(
        severity="medium" if cause == _CLEANING_PAUSED else "low",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=tuple(dict.fromkeys(b for b in (streak.follower, *leaders) if b is not None)),
        start=events[0].at,
        cause=cause or streak.reason,
        values=values(
            who=who(streak.follower, cluster),
            source=leader,
            leader=leader or said("fetch-failing/leader"),
            offset=last.offset if last.offset is not None and last.offset >= 0 else None,
            why=said(f"fetch-failing/{cause}") if cause is not None else other,
            period=(streak.first, streak.last),
            times=sum(e.repeats for e in events),
            span=span(events),
            thrown=thrown,
            brief=cause in _BRIEF,
            steps=(said(f"fetch-failing/steps-{cause}"),) if cause is not None else (),
            **lasting,
        ),
        evidence=quote(events[:4], last),
    )
