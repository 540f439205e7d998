"""client-side-echo: consumers met an offset that the partition did not have any more, by the lines of clients in the evidence.

Here: those lines against the losses of the partition. Not here: a consumer that fell behind retention, whose position is below the log.
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model import Finding, Many, Rule, moment, quote
from forensics.proof.losses import Loss, losses
from spark.cluster.facts import Cluster
from spark.events import Event
from spark.partition.timeline import PartitionTimeline

NAMED = 20


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
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
    """The consumer had read into what was lost, and met it after the loss."""
    after = event.at is None or loss.term.at is None or event.at >= loss.term.at
    return after and (event.previous_offset or 0) > loss.range.start


def _finding(timeline: PartitionTimeline, events: list[Event], loss: Loss | None) -> Finding:
    groups = sorted({e.value for e in events if e.value})
    who = f"consumers of {', '.join(groups[:NAMED])}" if groups else "consumers"
    furthest = max(e.previous_offset or 0 for e in events)
    if loss is not None:
        why = f"they had read records that are gone since broker {loss.term.leader} leads (offsets {loss.range})"
    else:
        why = "the brokers' own evidence shows no loss that explains it: some of it is missing"
    return Finding(
        kind="client-side-echo",
        severity="info" if loss is not None else "medium",
        confidence="certain" if loss is not None else "probable",
        brokers=(loss.term.leader,) if loss is not None else (),
        start=events[0].at,
        end=events[-1].at,
        summary=f"{timeline.name}: {who} were at offsets up to {furthest} that the partition did not have any more",
        explanation=(
            f"From {moment(events[0].at)} on {who} found that {timeline.name} does not have the offset they were at (up to {furthest}); {why}. "
            "A consumer that is reset to latest skips what was written since; one that is reset to earliest reads all again."
        ),
        next_steps=(
            "Compare what these applications have processed with what the topic holds now: they may know records that nobody else has.",
        ),
        evidence=quote(events, loss.term.evidence if loss is not None else ()),
    )


RULE = Rule(
    kind="client-side-echo",
    rank=130,
    level="info",
    meaning="Consumers met a loss: they were at offsets that the partition did not have any more.",
    benign=("A consumer that fell behind retention: its position is below the log, and nothing was lost.",),
    references=("KIP-320", "KAFKA-6880", "KAFKA-7747"),
    partition=judge,
    many=Many(),
)
