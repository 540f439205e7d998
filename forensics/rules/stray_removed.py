"""stray-removed: a broker renamed a replica's directory to -stray, because its metadata did not assign the replica to it."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, moment, quote, raw
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline

STRAY = "stray"


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for event in timeline.of("log-deleted"):
        if event.reason == STRAY and event.writer is not None:
            yield _finding(event, _assigned(event, timeline, cluster), timeline)


def _assigned(event: Event, timeline: PartitionTimeline, cluster: Cluster) -> State | None:
    """The state that assigned this replica to the broker at that time; None without one, or if the topic was created again since."""
    if timeline.topic in cluster.recreated or timeline.generation < 0 or event.at is None:
        return None
    before = [s for s in timeline.states if s.at is not None and s.at <= event.at]
    last = before[-1] if before else None
    return last if last is not None and last.replicas and event.writer in last.replicas else None


def _finding(event: Event, assigned: State | None, timeline: PartitionTimeline) -> Finding:
    where = f" ({event.directory}/{event.value})" if event.directory and event.value else ""
    known = (
        f" But broker {event.writer} was in its replicas {list(assigned.replicas or ())}, according to the decision at {moment(assigned.at)}. "
        "Unless this was the second copy of a move between log directories, the broker used wrong metadata and gave up an assigned replica."
        if assigned is not None
        else " The topic had been deleted, or the replica moved elsewhere, while the broker was down."
    )
    return raw(
        kind="stray-removed",
        severity="medium" if assigned is not None else "info",
        confidence="probable" if assigned is not None else "certain",
        brokers=(event.writer,) if event.writer is not None else (),
        start=event.at,
        end=event.at,
        summary=f"{timeline.name}: broker {event.writer} renamed its replica to -stray"
        + (", although it was assigned to the broker" if assigned else ""),
        explanation=(
            f"At {moment(event.at)} broker {event.writer} loaded the log of {timeline.name}, was not in its replicas according to its metadata, and renamed the "
            f"directory{where}.{known}"
        ),
        next_steps=(
            f"Copy the directory of {timeline.name} that ends in -stray on broker {event.writer}: it has the records until it is deleted.",
        )
        if assigned is not None
        else (),
        evidence=quote(event, assigned.event if assigned is not None else None),
    )
