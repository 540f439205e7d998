"""log-wiped-at-load: a broker deleted a whole log when it loaded it, because the log ended below its log start offset."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import values
from forensics.model.partition.timeline import PartitionTimeline, Term
from parsers.kinds import named

WIPED = "end-below-start"

NEEDS = named("log-corruption")


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for event in timeline.of("log-corruption"):
        if event.reason == WIPED and event.writer is not None:
            yield _finding(event, _led_next(event, timeline))


def _led_next(event: Event, timeline: PartitionTimeline) -> Term | None:
    """The broker's first term as leader with the wiped log, if no other replica led before."""
    if event.at is None:
        return None
    after = next((t for t in timeline.terms if t.at is not None and t.at >= event.at), None)
    return after if after is not None and after.leader == event.writer else None


def _finding(event: Event, term: Term | None) -> Finding:
    return Finding(
        severity="high" if term is not None else "medium",
        confidence="certain",
        brokers=(event.writer,) if event.writer is not None else (),
        leader_epoch=term.epoch if term is not None else None,
        start=event.at,
        values=values(log_end=event.previous_offset, log_start=event.offset, led_in=term.epoch if term is not None else None),
        evidence=quote(event, term.evidence if term is not None else ()),
    )
