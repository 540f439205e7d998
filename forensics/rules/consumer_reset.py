"""consumer-reset: a consumer group cannot go on at its commit, because the log was cut below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.cluster.kafka_tools import reset_group
from forensics.model import Client, Finding, Many, Rule, Statement, lower, moment, quote
from forensics.partition.readers import NAMES_GROUPS, RESET, RETURNS, WENT_BACK, log_end, readers
from forensics.proof.losses import Loss, losses
from spark.cluster.facts import Cluster
from spark.partition.timeline import PartitionTimeline


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if not timeline.commits:
        return
    for loss in losses(timeline, cluster):
        for reader in readers(loss, timeline):
            client = reader.client
            if client.outcome not in (RESET, RETURNS, WENT_BACK):
                continue
            known = client.outcome == WENT_BACK or reader.evidence[0].pattern != NAMES_GROUPS
            yield Finding(
                kind="consumer-reset",
                severity="medium",
                confidence=lower("probable" if known else "possible", loss.confidence),
                brokers=(loss.term.leader,),
                leader_epoch=loss.term.epoch,
                start=loss.term.at,
                end=loss.term.at,
                cause=client.outcome,
                summary=f"{timeline.name}: group {client.group}, at offset {client.committed}, had come further than offset {loss.range.start}, where the log was cut: {_BRIEFLY[client.outcome]}",
                explanation=(
                    f"Group {client.group} had read {timeline.name} up to offset {client.committed} by {moment(client.at)}; the log was cut at offset "
                    f"{loss.range.start} in leader epoch {loss.term.epoch}. {_explained(client, loss, log_end(timeline))}"
                ),
                next_steps=(
                    "To have it read on where the log was cut, stop its members and set it back: "
                    f"{reset_group(client, timeline.topic, timeline.partition, loss.range.start, loss.term.at)}",
                ),
                clients=(client,),
                evidence=quote(*reader.evidence, *loss.evidence),
            )


_BRIEFLY = {
    RESET: "auto.offset.reset decides where it goes on",
    RETURNS: "it returns there, where its clients check leader epochs",
    WENT_BACK: "it went back afterwards",
}


def _explained(client: Client, loss: Loss, end: int | None) -> str:
    if client.outcome == WENT_BACK:
        return "Its commits after that begin below: it was reset, or somebody has set it back, and it may have been given records twice."
    if client.outcome == RETURNS:
        return (
            f"Its commit names leader epoch {client.leader_epoch}. Java clients from 2.3 on, and others that check it (librdkafka from 2.1 on), ask where that epoch ended and go on at "
            f"offset {loss.range.start}; with auto.offset.reset=none they stop (LogTruncationException). Clients that do not look at it go on at their commit, or, "
            f"where that is beyond the log's end{f' ({end})' if end is not None else ''}, where auto.offset.reset says."
        )
    return (
        f"The log ends at {end}. Consumers that go on before it reaches their commit again are refused (OffsetOutOfRange): auto.offset.reset=latest skips "
        f"what was written since, earliest reads all again, none stops them. Later, the log having grown past {client.committed}, they go on there, "
        f"and are not given what was written from offset {loss.range.start} on."
    )


def _many(first: Finding, group: Sequence[Statement]) -> str:
    return f"group {', '.join(first.groups)} had come further than where the logs were cut: {_BRIEFLY[first.cause or RESET]}"


RULE = Rule(
    kind="consumer-reset",
    rank=113,
    level="medium",
    meaning="A consumer group's committed offset lies above where the log was cut: it is reset by auto.offset.reset, or returns to the cut where its clients check leader epochs.",
    benign=("A group that keeps its offsets elsewhere, or that nobody uses any more.",),
    references=("KIP-320", "KAFKA-7747"),
    partition=judge,
    many=Many(words=_many, key=lambda f: tuple(f.groups), recurs=False),
)
