"""raft-truncation: a voter of the KRaft quorum lost part of the metadata log that it had acknowledged.

Here: lines of the quorum's leader when a voter fetches from a lower offset than before, or the high watermark would go back. Not here: a
follower that truncates uncommitted records, as after every change of the quorum's leader, or a request that came late.
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import LOG, PLACED, would_show
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Range, values
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.settings.settings import process_roles
from forensics.model.times import grouped, near
from forensics.thresholds import CRASH_NOTICED

BACK = "non-monotonic"


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    by_voter = grouped(
        (event.broker, event)
        for event in timeline.of("fetch-offset-reset")
        if event.reason == BACK and event.broker is not None and _back(event.previous_offset, event.offset)
    )
    for voter, events in sorted(by_voter.items()):
        if lost := [e for e in events if not _deleted(e, cluster) and not _late(e, cluster)]:
            yield _back_by(voter, lost, cluster)
    lowered = [e for e in timeline.of("hw-regression") if _back(e.previous_offset, e.high_watermark)]
    if lowered:
        yield _committed(lowered)


def _deleted(event: Event, cluster: Cluster) -> bool:
    """Whether the node had removed its copy of the metadata log itself: a broker does at each start in migration mode (KIP-866)."""
    deleted = (e for e in cluster.of("broker-migrating") if e.writer == event.broker and e.reason == "metadata-log-deleted")
    return any(near(event.at, e.at, CRASH_NOTICED) for e in deleted)


def _late(event: Event, cluster: Cluster) -> bool:
    """Whether the node's process was up before, and went on: its log is as it was, and an older request came late, such as on a connection
    from before the node was cut off."""
    if event.broker is None or event.at is None:
        return False
    availability = cluster.availability(event.broker)
    run = next(availability.living(event.at, event.at), None)
    up = run.up.at if run is not None and run.up is not None else None
    return run is not None and up is not None and up <= event.at and (run.end is not None or availability.ran(event.at))


def _back(before: int | None, after: int | None) -> bool:
    return before is not None and after is not None and after < before


def _back_by(voter: int, events: list[Event], cluster: Cluster) -> Finding:
    """A broker without the controller role copies the metadata log and has no vote, so it does not affect commits."""
    observer = process_roles(cluster.settings.value("process.roles", broker=voter)) == "broker"
    first = events[0]
    assert first.offset is not None and first.previous_offset is not None
    shown = not observer or would_show(voter, cluster, LOG, *PLACED, since=first.at, until=events[-1].at)  # that it removed its copy itself
    return Finding(
        severity="low" if observer else "medium",
        confidence="certain" if shown else "possible",
        brokers=(voter,),
        start=first.at,
        end=events[-1].at,
        offsets=(Range(first.offset, first.previous_offset),),
        message="observer" if observer else "voter",
        values=values(before=first.previous_offset, now=first.offset),
        evidence=quote(events),
    )


def _committed(events: list[Event]) -> Finding:
    first = events[0]
    assert first.high_watermark is not None and first.previous_offset is not None
    return Finding(
        confidence="probable",
        brokers=(first.writer,) if first.writer is not None else (),
        start=first.at,
        end=events[-1].at,
        offsets=(Range(first.high_watermark, first.previous_offset),),
        message="committed",
        values=values(before=first.previous_offset, now=first.high_watermark),
        evidence=quote(events),
    )
