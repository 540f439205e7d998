"""retention: the head of a log was deleted by retention or on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, moment, quote
from forensics.model.partition.timeline import PartitionTimeline

LEGAL = {"retention-time": "retention time", "retention-size": "retention size", "log-start": "a log start offset that had moved"}


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    deleted = [e for e in timeline.of("segment-delete") if e.reason in LEGAL]
    moved = [e for e in timeline.of("log-start-move") if (e.log_start_offset or 0) > 0 or (e.offset or 0) > 0]
    if deleted or moved:
        yield _finding(deleted, moved, timeline)


def _log_start(moved: Sequence[Event]) -> int | None:
    """The highest log start offset that a line shows."""
    starts = (e.log_start_offset if e.log_start_offset is not None else e.offset for e in moved)
    return max((offset for offset in starts if offset is not None), default=None)


def _finding(deleted: Sequence[Event], moved: Sequence[Event], timeline: PartitionTimeline) -> Finding:
    events = sorted((*moved, *deleted), key=lambda e: (e.at is None, e.at))
    start, reason = _log_start(moved), _reason(deleted, moved)
    return Finding(
        kind="retention",
        severity="info",
        confidence="certain",
        brokers=tuple(sorted({e.writer for e in events if e.writer is not None})),
        start=events[0].at,
        end=events[-1].at,
        summary=f"{timeline.name}: the head of the log was deleted by {reason}"
        + (f"; the log starts at offset {start} now" if start is not None else ""),
        explanation=(
            f"From {moment(events[0].at)} on the head of the log of {timeline.name} was deleted by {reason}"
            + (f", log start offset {start}" if start is not None else "")
            + _low(timeline)
            + ". These records were deleted on purpose; this is not a loss by failure."
        ),
        evidence=quote(events),
    )


def _reason(deleted: Sequence[Event], moved: Sequence[Event]) -> str:
    requests = {"DeleteRecords" if e.reason == "delete-records" else e.reason or "a request" for e in moved if e.reason != "leader"}
    limits = {LEGAL[e.reason or ""] for e in deleted}
    return ", ".join(sorted(requests | limits)) or "the leader's log start offset"


def _low(timeline: PartitionTimeline) -> str:
    """A clause with the low watermark, which DeleteRecords returns: all replicas have deleted the records below it."""
    low = timeline.low_watermark
    return f", low watermark {low}" if low else ""


RULE = Rule(
    kind="retention",
    rank=420,
    level="info",
    meaning="Old records were deleted by retention or DeleteRecords: the log start offset rose, which is not a loss.",
    partition=detect,
    many=Aggregation(words=lambda first, group: "the heads of their logs were deleted by retention or on request", whenever=True),
)
