"""client-side-echo: client logs show consumers at an offset that the partition no longer had.

Here: those lines compared with the losses of the partition. Not here: a consumer behind retention, whose position is below the log.
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, moment, quote, raw
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.losses import Loss, losses

MAX_GROUPS = 20


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
    for index, events in sorted(explained.items()):
        yield _finding(timeline, events, lost[index])
    if bare:
        yield _finding(timeline, bare, None)


def _by(event: Event, loss: Loss) -> bool:
    """The consumer was beyond lost records, and printed its line after the loss."""
    after = event.at is None or loss.term.at is None or event.at >= loss.term.at
    return after and (event.previous_offset or 0) > loss.range.start


def _finding(timeline: PartitionTimeline, events: list[Event], loss: Loss | None) -> Finding:
    groups = sorted({e.value for e in events if e.value})
    who = f"consumers of {', '.join(groups[:MAX_GROUPS])}" if groups else "consumers"
    furthest = max(e.previous_offset or 0 for e in events)
    if loss is not None:
        why = f"they were beyond records that were lost when broker {loss.term.leader} became leader (offsets {loss.range})"
    else:
        why = "the evidence of the brokers shows no loss that explains this, so some of that evidence is missing"
    return raw(
        kind="client-side-echo",
        severity="info" if loss is not None else "medium",
        confidence="certain" if loss is not None else "probable",
        brokers=(loss.term.leader,) if loss is not None else (),
        start=events[0].at,
        end=events[-1].at,
        summary=f"{timeline.name}: {who} were at offsets up to {furthest} that the partition no longer had",
        explanation=(
            f"From {moment(events[0].at)} on {who} were at offsets that {timeline.name} no longer had (up to {furthest}): {why}. "
            "A reset to latest skips the records written since; a reset to earliest reads all records again."
        ),
        next_steps=(
            f"Compare the records that the consumers of {timeline.name} have processed with its current records: they may have copies of lost ones.",
        ),
        evidence=quote(events, loss.term.evidence if loss is not None else ()),
    )
