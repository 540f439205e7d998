"""read-then-lost: a consumer group had read records that Kafka lost afterwards: what lies downstream has what Kafka has no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model import Finding, Many, Rule, Statement, counted, moment, quote
from forensics.partition.readers import readers
from forensics.proof.losses import losses
from spark.cluster.facts import Cluster
from spark.partition.timeline import PartitionTimeline


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if not timeline.commits:
        return
    for loss in losses(timeline, cluster):
        for reader in readers(loss, timeline):
            client, had = reader.client, reader.client.had_read
            if had is None:
                continue
            whole = loss.range.end is not None and had.end == loss.range.end
            yield Finding(
                kind="read-then-lost",
                severity="medium",
                confidence=loss.confidence,
                brokers=(loss.term.leader,),
                leader_epoch=loss.term.epoch,
                start=loss.term.at,
                end=loss.term.at,
                offsets=(had,),
                summary=f"{timeline.name}: group {client.group} had read {'all' if whole else 'offsets'} {had} of what was lost",
                explanation=(
                    f"Group {client.group} had committed offset {client.committed} of {timeline.name} by {moment(client.at)}, so it had read offsets {had}, which are "
                    f"gone from the partition since leader epoch {loss.term.epoch}. Whatever it does with records holds what Kafka has no more: a second copy of them, "
                    "or a difference to every group that had not read them."
                ),
                next_steps=(
                    f"Ask who runs {client.named} for what it made of {timeline.name}, offsets {had}: it may be all that is left of them, and it differs from "
                    "what other readers have.",
                ),
                clients=(client,),
                evidence=quote(*reader.evidence, *loss.evidence),
            )


def _many(first: Finding, group: Sequence[Statement]) -> str:
    count = sum(c.had_read.length or 0 for f in group for c in f.clients if c.had_read is not None)
    return f"group {', '.join(first.groups)} had read {counted(count, 'offset')} of what was lost"


RULE = Rule(
    kind="read-then-lost",
    rank=114,
    level="medium",
    meaning="A consumer group had read records before they were lost: downstream has what Kafka has no more.",
    benign=("Records of a topic that is read again and again from elsewhere.",),
    references=("KIP-320",),
    partition=judge,
    many=Many(words=_many, key=lambda f: tuple(f.groups), recurs=False),
)
