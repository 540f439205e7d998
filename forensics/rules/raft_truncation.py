"""raft-truncation: a voter of the KRaft quorum lost part of the metadata log that it had acknowledged.

Here: lines of the quorum's leader when a voter fetches from a lower offset than before, or the high watermark would go back. Not here: a
follower that truncates uncommitted records, as after every change of the quorum's leader.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from forensics.model.cluster.availability import DETECTION
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.settings import process_roles
from forensics.model.events import Event
from forensics.model.findings import Finding, moment, quote, raw
from forensics.model.message import Range
from forensics.model.partition.timeline import PartitionTimeline

BACK = "non-monotonic"


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    by_voter: dict[int, list[Event]] = defaultdict(list)
    for event in timeline.of("fetch-offset-reset"):
        if event.reason == BACK and event.broker is not None and _back(event.previous_offset, event.offset):
            by_voter[event.broker].append(event)
    for voter, events in sorted(by_voter.items()):
        if all(_deleted(e, cluster) for e in events):
            continue
        observer = process_roles(cluster.settings.value("process.roles", broker=voter)) == "broker"
        yield _observer(voter, events) if observer else _voter(voter, events)
    lowered = [e for e in timeline.of("hw-regression") if _back(e.previous_offset, e.high_watermark)]
    if lowered:
        yield _committed(lowered)


def _deleted(event: Event, cluster: Cluster) -> bool:
    """Whether the node had removed its copy of the metadata log itself: a broker does at each start in migration mode (KIP-866)."""
    deleted = (e for e in cluster.of("broker-migrating") if e.writer == event.broker and e.reason == "metadata-log-deleted")
    return any(e.at is not None and event.at is not None and abs(event.at - e.at) <= DETECTION for e in deleted)


def _back(before: int | None, after: int | None) -> bool:
    return before is not None and after is not None and after < before


def _voter(voter: int, events: list[Event]) -> Finding:
    first = events[0]
    assert first.offset is not None and first.previous_offset is not None
    return raw(
        kind="raft-truncation",
        severity="medium",
        confidence="certain",
        brokers=(voter,),
        start=first.at,
        end=events[-1].at,
        offsets=(Range(first.offset, first.previous_offset),),
        summary=f"node {voter} lost part of its metadata log: it had {first.previous_offset} and fetched from {first.offset}",
        explanation=(
            f"At {moment(first.at)} node {voter}, which had fetched __cluster_metadata up to {first.previous_offset} before, fetched from "
            f"{first.offset}. Possible causes: a disk that was emptied or restored from a copy, or unflushed records that were lost. The node copies the rest "
            "from the leader; but if a majority of voters does this, committed metadata is lost."
        ),
        next_steps=(f"Find out what happened to the metadata directory of node {voter}; never restore a voter from a copy.",),
        evidence=quote(events),
    )


def _observer(broker: int, events: list[Event]) -> Finding:
    """The finding for a broker without the controller role: it copies the metadata log and has no vote, so it does not affect commits."""
    first = events[0]
    assert first.offset is not None and first.previous_offset is not None
    return raw(
        kind="raft-truncation",
        severity="low",
        confidence="certain",
        brokers=(broker,),
        start=first.at,
        end=events[-1].at,
        offsets=(Range(first.offset, first.previous_offset),),
        summary=f"broker {broker} lost part of its copy of the metadata log: it had {first.previous_offset} and fetched from {first.offset}",
        explanation=(
            f"At {moment(first.at)} broker {broker}, which had fetched __cluster_metadata up to {first.previous_offset} before, fetched "
            f"from {first.offset}. Possible causes: a disk that was emptied or restored from a copy, or unflushed records that were lost. The broker has no vote "
            "in the quorum and copies the log again: no metadata is lost. Replicas in the same directory may have lost records too."
        ),
        next_steps=(f"Find out what happened to the disk of broker {broker}, and check the replicas on it.",),
        evidence=quote(events),
    )


def _committed(events: list[Event]) -> Finding:
    first = events[0]
    assert first.high_watermark is not None and first.previous_offset is not None
    return raw(
        kind="raft-truncation",
        severity="high",
        confidence="probable",
        brokers=(first.writer,) if first.writer is not None else (),
        start=first.at,
        end=events[-1].at,
        offsets=(Range(first.high_watermark, first.previous_offset),),
        summary=f"the high watermark of the metadata log would have gone back from {first.previous_offset} to {first.high_watermark}",
        explanation=(
            f"At {moment(first.at)} the quorum's leader, node {first.writer}, detected that a majority of voters no longer has __cluster_metadata up to "
            f"its high watermark {first.previous_offset}: according to their fetches it would be {first.high_watermark}. A voter has lost committed metadata, "
            "or the set of voters was changed."
        ),
        next_steps=(
            "Do not restart the quorum's leader before the other voters have caught up (check with kafka-metadata-quorum describe --replication).",
        ),
        evidence=quote(events),
    )
