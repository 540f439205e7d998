"""Kinds of what a loss did to consumer groups. The table `clients` of a kind:

    outcomes    outcomes of groups (forensics.proof.aftermath.Client) that it finds; without it, those of any
    offsets     the range of a group that it names: had_read or skipped; only groups that have one are found
    as_cause    the outcome is the cause of the finding

Here: which groups are found, and with which confidence. Not here: what a loss did to a group (forensics.proof.aftermath).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, lower, quote, together
from forensics.model.message import Message, Range, Value, said, values
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.aftermath import NAMES_GROUPS, SHARE, SKIPPED, SKIPS, WENT_BACK, GroupReader, log_end, readers, reset_group
from forensics.proof.losses import Loss, losses
from parsers.kinds import named


def judges(kind: str, declaration: Mapping[str, Any]) -> Mapping[str, Any]:
    asked = declaration["find"]

    def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
        for loss in losses(timeline, cluster) if timeline.commits else ():
            for reader in readers(loss, timeline):
                offsets = getattr(reader.client, asked["offsets"]) if "offsets" in asked else None
                if reader.client.outcome in asked.get("outcomes", (reader.client.outcome,)) and (offsets is None) is (
                    "offsets" not in asked
                ):
                    yield _finding(kind, asked, reader, offsets, loss, timeline)

    return {"of_partition": of_partition, "merged": _merged, "NEEDS": named("group-commit")}


def _finding(
    kind: str, asked: Mapping[str, Any], reader: GroupReader, offsets: Range | None, loss: Loss, timeline: PartitionTimeline
) -> Finding:
    client, end = reader.client, log_end(timeline)
    share = client.protocol == SHARE
    return Finding(
        confidence=lower("probable" if "outcomes" not in asked or _known(reader, end) else "possible", loss.confidence),
        brokers=(loss.term.leader,),
        leader_epoch=loss.term.epoch,
        start=loss.term.at,
        end=loss.term.at,
        offsets=(offsets,) if offsets is not None else (),
        cause=client.outcome if asked.get("as_cause") else None,
        values=(
            *values(group=client.group, position=client.committed, position_at=client.at, commit_epoch=client.leader_epoch),
            *values(lost_from=loss.range.start, epoch=loss.term.epoch, log_end=end, named=offsets),
            *values(everything=offsets is not None and offsets.end == loss.range.end and not loss.open, share=share),
            *values(waits=share and end is not None and end < (client.committed or 0), out_of_order=client.out_of_order or None),
            (client.outcome.replace("-", "_"), True),
            ("steps", (_step(kind, reader, offsets, loss, timeline),)),
        ),
        clients=(client,),
        evidence=quote(*reader.evidence, *loss.evidence),
    )


def _known(reader: GroupReader, end: int | None) -> bool:
    """Whether the outcome follows from commits: from later ones, or from the last one and the end of the log. Output of tools has no
    time."""
    outcome = reader.client.outcome
    return outcome in (SKIPPED, WENT_BACK) or (reader.evidence[0].pattern != NAMES_GROUPS and (outcome != SKIPS or end is not None))


def _step(kind: str, reader: GroupReader, offsets: Range | None, loss: Loss, timeline: PartitionTimeline) -> Message:
    client, start = reader.client, loss.range.start
    return said(
        f"{kind}/step",
        group=client.group,
        members=tuple(said("reader/member", id=m.client_id, host=m.host) for m in client.members),
        named=offsets,
        lost_from=start,
        skipped=client.outcome == SKIPPED,
        share=client.protocol == SHARE,
        command=reset_group(client, timeline.topic, timeline.partition, start, loss.term.at),
    )


def _merged(first: Finding, group: Sequence[Statement]) -> Mapping[str, Value]:
    return {"count": sum(r.length or 0 for f in group for r in f.offsets), "steps": together(group, "steps")}
