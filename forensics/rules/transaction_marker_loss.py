"""transaction-marker-loss: the commit or abort marker of a transaction was among the lost records.

Here: control batches in a lost range, if some disk still has them. Not here: the loss (data_loss), and losses of
__transaction_state (offset_commit_loss).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, Statement, quote, together
from forensics.model.message import Message, Value, said, values
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.settings.versions import versions
from forensics.output.shell import option
from forensics.proof.losses import Loss, losses
from parsers.kinds import named

NEEDS = named("segment")


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    held = list(_control(timeline))
    for loss in losses(timeline, cluster) if held else ():
        markers = [(s, b) for s, b in held if _lost(b, loss)]
        if markers:
            yield _finding(loss, markers, timeline, cluster)


def _control(timeline: PartitionTimeline) -> Iterator[tuple[Event, Mapping[str, Any]]]:
    """Control batches on any disk, including earlier collections."""
    segments = [*timeline.of("segment"), *(s for d in timeline.collected_logs.values() for s in d.segments)]
    for segment in segments:
        for batch in segment.batches or ():
            if batch["control"] and batch["producer_id"] >= 0:
                yield segment, batch


def _lost(batch: Mapping[str, Any], loss: Loss) -> bool:
    """The batch is in the lost range and from an epoch before the new leader: other records have the same offsets since then."""
    end = loss.range.end if loss.range.end is not None else loss.reached
    return bool(loss.range.start <= batch["base_offset"] < end and batch["leader_epoch"] < loss.term.epoch)


def find_hanging(where: str, cluster: Cluster) -> tuple[Message, ...]:
    """The step that finds hanging transactions, if the brokers support it. The tool and the requests that it sends came with 3.0
    (KIP-664)."""
    known = versions(cluster)
    return (said("coordinator/find-hanging", where=where),) if not known or known[0] >= (3, 0) else ()


def _finding(loss: Loss, markers: list[tuple[Event, Mapping[str, Any]]], timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    offsets = sorted({b["base_offset"] for _, b in markers})
    return Finding(
        confidence=loss.confidence,
        brokers=(loss.term.leader,),
        leader_epoch=loss.term.epoch,
        start=loss.term.at,
        end=loss.term.at,
        offsets=(loss.range,),
        cause=loss.cause,
        values=values(
            lost=loss.range,
            number=len(offsets),
            markers=tuple(offsets[:8]),
            producers=tuple(sorted({b["producer_id"] for _, b in markers})[:8]),
            steps=find_hanging(f"{option('--topic', timeline.topic)} --partition {timeline.partition}", cluster),
        ),
        evidence=quote((s for s, _ in markers), *loss.evidence),
    )


def merged(first: Finding, group: Sequence[Statement]) -> Mapping[str, Value]:
    return {"steps": together(group, "steps")}
