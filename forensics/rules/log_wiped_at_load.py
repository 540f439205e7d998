"""log-wiped-at-load: a broker deleted a whole log when it loaded it, because the log ended below its log start offset."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, moment, quote, raw
from forensics.model.partition.timeline import PartitionTimeline, Term

WIPED = "end-below-start"


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for event in timeline.of("log-corruption"):
        if event.reason == WIPED and event.writer is not None:
            yield _finding(event, _led_next(event, timeline), timeline)


def _led_next(event: Event, timeline: PartitionTimeline) -> Term | None:
    """The broker's first term as leader with the wiped log, if no other replica led before."""
    if event.at is None:
        return None
    after = next((t for t in timeline.terms if t.at is not None and t.at >= event.at), None)
    return after if after is not None and after.leader == event.writer else None


def _finding(event: Event, term: Term | None, timeline: PartitionTimeline) -> Finding:
    end, start = event.previous_offset, event.offset
    led = (
        f" It led the partition next, in leader epoch {term.epoch}: the followers truncated their logs to its own."
        if term is not None
        else " It copies the records from the leader; as a leader it would have had no records."
    )
    return raw(
        kind="log-wiped-at-load",
        severity="high" if term is not None else "medium",
        confidence="certain",
        brokers=(event.writer,) if event.writer is not None else (),
        leader_epoch=term.epoch if term is not None else None,
        start=event.at,
        summary=f"{timeline.name}: broker {event.writer} deleted its whole log at start-up: it ended at {end}, below its log start offset {start}",
        explanation=(
            f"At {moment(event.at)} broker {event.writer} loaded {timeline.name} with a log end offset of {end}, but a checkpointed log "
            f"start offset of {start}, so it deleted all segments and started an empty log at {start}. Possible causes: segments that were removed by hand, "
            f"a checkpoint of another log, or a recovery that truncated the tail after an unclean stop (KAFKA-10101).{led}"
        ),
        next_steps=(
            f"Find out what removed the segments of {timeline.name} on broker {event.writer}: a person, a restored directory, or a damaged file system.",
            f"Let another replica of {timeline.name} lead until broker {event.writer} has copied the log.",
        ),
        evidence=quote(event, term.evidence if term is not None else ()),
    )
