"""retention: the head of a log was deleted by retention or on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Value, said, values
from forensics.model.partition.timeline import PartitionTimeline
from parsers.kinds import named

LEGAL = ("log-start", "retention-size", "retention-time")

NEEDS = named("segment-delete", "log-start-move")


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
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
    return Finding(
        confidence="certain",
        brokers=tuple(sorted({e.writer for e in events if e.writer is not None})),
        start=events[0].at,
        end=events[-1].at,
        values=values(by=_reasons(deleted, moved), log_start=_log_start(moved), low_watermark=timeline.low_watermark or None),
        evidence=quote(events),
    )


def _reasons(deleted: Sequence[Event], moved: Sequence[Event]) -> tuple[Value, ...]:
    requests = {"DeleteRecords" if e.reason == "delete-records" else e.reason or "a request" for e in moved if e.reason != "leader"}
    return (*sorted(requests), *(said(f"retention/by-{reason}") for reason in LEGAL if any(e.reason == reason for e in deleted)))
