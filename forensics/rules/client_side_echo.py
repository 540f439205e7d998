"""client-side-echo: client logs show consumers at an offset that the partition no longer had.

Here: those lines compared with the losses of the partition. Not here: a consumer behind retention, whose position is below the log.
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import values
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.losses import Loss, losses
from parsers.kinds import named

MAX_GROUPS = 20

NEEDS = named("client-reset")


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    seen = [e for e in timeline.of("client-reset") if e.previous_offset is not None]
    lost = losses(timeline, cluster) if seen else []
    explained: dict[int, list[Event]] = {}
    bare: list[Event] = []
    for event in seen:
        index = next((i for i, loss in enumerate(lost) if _by(event, loss)), None)
        if index is not None:
            explained.setdefault(index, []).append(event)
        elif event.reason == "truncation":
            bare.append(event)
    yield from (_finding(events, lost[index]) for index, events in sorted(explained.items()))
    if bare:
        yield _finding(bare, None)


def _by(event: Event, loss: Loss) -> bool:
    """The consumer was beyond lost records, and printed its line after the loss."""
    after = event.at is None or loss.term.at is None or event.at >= loss.term.at
    return after and (event.previous_offset or 0) > loss.range.start


def _finding(events: list[Event], loss: Loss | None) -> Finding:
    return Finding(
        severity="info" if loss is not None else "medium",
        confidence="certain" if loss is not None else "probable",
        brokers=(loss.term.leader,) if loss is not None else (),
        start=events[0].at,
        end=events[-1].at,
        values=values(
            named=tuple(sorted({e.value for e in events if e.value}))[:MAX_GROUPS],
            furthest=max(e.previous_offset or 0 for e in events),
            lost=loss.range if loss is not None else None,
        ),
        evidence=quote(events, loss.term.evidence if loss is not None else ()),
    )
