"""stray-removed: a broker renamed a replica's directory to -stray, because its metadata did not assign the replica to it."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import values
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from parsers.kinds import named

STRAY = "stray"

NEEDS = named("log-deleted")


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for event in timeline.of("log-deleted"):
        if event.reason == STRAY and event.writer is not None:
            yield _finding(event, _assigned(event, timeline, cluster))


def _assigned(event: Event, timeline: PartitionTimeline, cluster: Cluster) -> State | None:
    """The state that assigned this replica to the broker at that time; None without one, or if the topic was created again since."""
    if timeline.topic in cluster.recreated or timeline.generation < 0 or event.at is None:
        return None
    before = [s for s in timeline.states if s.at is not None and s.at <= event.at]
    last = before[-1] if before else None
    return last if last is not None and last.replicas and event.writer in last.replicas else None


def _finding(event: Event, assigned: State | None) -> Finding:
    return Finding(
        severity="medium" if assigned is not None else "info",
        confidence="probable" if assigned is not None else "certain",
        brokers=(event.writer,) if event.writer is not None else (),
        start=event.at,
        end=event.at,
        values=values(
            directory=f"{event.directory}/{event.value}" if event.directory and event.value else None,
            assigned=tuple(assigned.replicas or ()) if assigned is not None else None,
            decided=assigned.at if assigned is not None else None,
        ),
        evidence=quote(event, assigned.event if assigned is not None else None),
    )
