"""read-then-lost: a consumer group had committed beyond records before they were lost, so downstream systems may still have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, counted, lower, moment, quote, raw
from forensics.model.message import Range
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.losses import Loss, losses
from forensics.proof.readers import Reader, readers


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if not timeline.commits:
        return
    for loss in losses(timeline, cluster):
        for reader in readers(loss, timeline):
            if reader.client.had_read is not None:
                yield _finding(reader, reader.client.had_read, loss, timeline)


def _finding(reader: Reader, had: Range, loss: Loss, timeline: PartitionTimeline) -> Finding:
    client = reader.client
    everything = loss.range.end is not None and had.end == loss.range.end
    return raw(
        kind="read-then-lost",
        severity="medium",
        confidence=lower("probable", loss.confidence),
        brokers=(loss.term.leader,),
        leader_epoch=loss.term.epoch,
        start=loss.term.at,
        end=loss.term.at,
        offsets=(had,),
        summary=f"{timeline.name}: group {client.group} had committed beyond {'all lost offsets' if everything else 'the lost offsets'} {had}",
        explanation=(
            f"Group {client.group} had committed offset {client.committed} of {timeline.name} by {moment(client.at)}. So it probably had read offsets {had}, "
            f"which the partition lost in leader epoch {loss.term.epoch}. The downstream systems of group {client.group} may have a copy of these records, and "
            "differ from those of groups that had not read them."
        ),
        next_steps=(
            f"Ask the owner of {client.named} for the results from {timeline.name}, offsets {had}: they may be the only copy, and differ from "
            "those of other consumers.",
        ),
        clients=(client,),
        evidence=quote(*reader.evidence, *loss.evidence),
    )


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    count = sum(c.had_read.length or 0 for f in group for c in f.clients if c.had_read is not None)
    return f"group {', '.join(first.groups)} had committed beyond {counted(count, 'lost offset')}"
