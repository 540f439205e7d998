"""stray-removed: a broker put a replica's directory aside as stray, because the metadata it had read did not give it that replica."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model import Finding, Many, Rule, moment, quote
from spark.cluster.facts import Cluster
from spark.events import Event
from spark.partition.states import State
from spark.partition.timeline import PartitionTimeline

STRAY = "stray"


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for event in timeline.of("log-deleted"):
        if event.reason == STRAY and event.writer is not None:
            yield _finding(event, _assigned(event, timeline, cluster), timeline)


def _assigned(event: Event, timeline: PartitionTimeline, cluster: Cluster) -> State | None:
    """The state that gave the broker this replica when it put it aside; None if none did, or the topic was made again since."""
    if timeline.topic in cluster.recreated or timeline.generation < 0 or event.at is None:
        return None
    before = [s for s in timeline.states if s.at is not None and s.at <= event.at]
    last = before[-1] if before else None
    return last if last is not None and last.replicas and event.writer in last.replicas else None


def _finding(event: Event, assigned: State | None, timeline: PartitionTimeline) -> Finding:
    where = f" ({event.directory}/{event.value})" if event.directory and event.value else ""
    known = (
        f" But broker {event.writer} was one of its replicas {list(assigned.replicas or ())} then, by what was decided at {moment(assigned.at)}: "
        "unless this was the other copy of a move between log directories, the broker read its metadata wrongly and gave up a replica it has to hold."
        if assigned is not None
        else " The topic had been deleted, or the replica moved elsewhere, while the broker was away."
    )
    return Finding(
        kind="stray-removed",
        severity="medium" if assigned is not None else "info",
        confidence="probable" if assigned is not None else "certain",
        brokers=(event.writer,) if event.writer is not None else (),
        start=event.at,
        end=event.at,
        summary=f"{timeline.name}: broker {event.writer} put its replica aside as stray"
        + (", though it was assigned to it" if assigned else ""),
        explanation=(
            f"At {moment(event.at)} broker {event.writer} loaded the log of {timeline.name}, did not find itself among its replicas, and renamed the "
            f"directory{where}.{known}"
        ),
        next_steps=("The records are still in the directory whose name ends in -stray until somebody deletes it: copy it first.",)
        if assigned is not None
        else (),
        evidence=quote(event, assigned.event if assigned is not None else None),
    )


RULE = Rule(
    kind="stray-removed",
    rank=430,
    level="medium",
    meaning="A replica's directory was put aside as stray; medium if the broker was one of its replicas at the time.",
    benign=("A topic deleted, or a replica moved away, while the broker was down (info).",),
    references=("KAFKA-16424", "KAFKA-21022"),
    partition=judge,
    many=Many(),
)
