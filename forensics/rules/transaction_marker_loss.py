"""transaction-marker-loss: the commit or abort marker of a transaction was among the lost records.

Here: control batches in a lost range, if some disk still has them. Not here: the loss (data_loss), and losses of
__transaction_state (offset_commit_loss).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.versions import versions
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, moment, quote
from forensics.model.partition.timeline import PartitionTimeline
from forensics.output.shell import option
from forensics.proof.losses import Loss, losses


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
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


def find_hanging(where: str, cluster: Cluster) -> Iterator[str]:
    """The step that finds hanging transactions, if the brokers support it. The tool and the requests that it sends came with 3.0 (KIP-664)."""
    if not (known := versions(cluster)) or known[0] >= (3, 0):
        yield (
            f"Run `kafka-transactions.sh --bootstrap-server HOST:PORT find-hanging {where}`, then end each hanging transaction with "
            "`kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic TOPIC --partition N --start-offset OFFSET`."
        )


def _finding(loss: Loss, markers: list[tuple[Event, Mapping[str, Any]]], timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    by_producer = sorted({b["producer_id"] for _, b in markers})
    offsets = sorted({b["base_offset"] for _, b in markers})
    named = ", ".join(map(str, by_producer[:8]))
    return Finding(
        kind="transaction-marker-loss",
        severity="high",
        confidence=loss.confidence,
        brokers=(loss.term.leader,),
        leader_epoch=loss.term.epoch,
        start=loss.term.at,
        end=loss.term.at,
        offsets=(loss.range,),
        cause=loss.cause,
        summary=f"{timeline.name}: {len(offsets)} transaction markers were lost with offsets {loss.range} (producers {named})",
        explanation=(
            f"The records that were lost when broker {loss.term.leader} became leader at {moment(loss.term.at)} include the markers at offsets "
            f"{', '.join(map(str, offsets[:8]))}, which end transactions of the producer ids {named}. For the coordinator these transactions are "
            "complete, so it writes no marker again: if their records below the range survived, consumers with read_committed hang at the first "
            "of them."
        ),
        next_steps=(
            *find_hanging(f"{option('--topic', timeline.topic)} --partition {timeline.partition}", cluster),
            f"Look for consumers of {timeline.name} with read_committed whose position does not move while their lag grows.",
        ),
        evidence=quote((s for s, _ in markers), *loss.evidence),
    )


RULE = Rule(
    kind="transaction-marker-loss",
    rank=120,
    level="high",
    meaning="Commit or abort markers were among lost records: transactions may hang, and read_committed consumers with them.",
    benign=("A lost range without markers: its transactions are lost completely, or their markers came later.",),
    references=("KAFKA-20716", "KIP-890"),
    partition=detect,
    many=Aggregation(),
)
