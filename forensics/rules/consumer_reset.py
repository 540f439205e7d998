"""consumer-reset: a consumer group cannot continue at its commit, because the log was truncated below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Client, Finding, Statement, lower, moment, quote, raw
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.losses import Loss, losses
from forensics.proof.readers import NAMES_GROUPS, RESET, RETURNS, WENT_BACK, Reader, log_end, readers, reset_group


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if not timeline.commits:
        return
    for loss in losses(timeline, cluster):
        for reader in readers(loss, timeline):
            if reader.client.outcome in (RESET, RETURNS, WENT_BACK):
                yield _finding(reader, loss, timeline)


def _finding(reader: Reader, loss: Loss, timeline: PartitionTimeline) -> Finding:
    client, start = reader.client, loss.range.start
    known = client.outcome == WENT_BACK or reader.evidence[0].pattern != NAMES_GROUPS
    return raw(
        kind="consumer-reset",
        severity="medium",
        confidence=lower("probable" if known else "possible", loss.confidence),
        brokers=(loss.term.leader,),
        leader_epoch=loss.term.epoch,
        start=loss.term.at,
        end=loss.term.at,
        cause=client.outcome,
        summary=f"{timeline.name}: group {client.group}, at offset {client.committed}, was beyond offset {start}, where the log was truncated: {_BRIEFLY[client.outcome]}",
        explanation=(
            f"Group {client.group} had committed offset {client.committed} of {timeline.name} by {moment(client.at)}; the log was truncated to offset "
            f"{start} in leader epoch {loss.term.epoch}. {_explained(client, loss, log_end(timeline))}"
        ),
        next_steps=(
            f"To make group {client.group} continue where {timeline.name} was truncated, stop its members and reset it: "
            f"{reset_group(client, timeline.topic, timeline.partition, start, loss.term.at)}",
        ),
        clients=(client,),
        evidence=quote(*reader.evidence, *loss.evidence),
    )


_BRIEFLY = {
    RESET: "auto.offset.reset decides where it continues",
    RETURNS: "it returns there if its clients check leader epochs",
    WENT_BACK: "it went back afterwards",
}


def _explained(client: Client, loss: Loss, end: int | None) -> str:
    if client.outcome == WENT_BACK:
        return "Its later commits start below: it was reset automatically or by hand, and may have received records twice."
    if client.outcome == RETURNS:
        return (
            f"Its commit names leader epoch {client.leader_epoch}. Java clients from 2.3 on, and others that check it (librdkafka from 2.1 on), ask for the end of that epoch and continue at "
            f"offset {loss.range.start}; with auto.offset.reset=none they stop (LogTruncationException). Clients that do not check it continue at their commit. If "
            f"that is beyond the end of the log{f' ({end})' if end is not None else ''}, auto.offset.reset decides."
        )
    return (
        f"The log ends at {end}. Consumers that continue before it reaches their commit again are refused (OffsetOutOfRange): auto.offset.reset=latest skips "
        f"the records written since, earliest reads all records again, none stops them. Once the log has grown past {client.committed}, they continue there "
        f"and skip the new records from offset {loss.range.start} on."
    )


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    return f"group {', '.join(first.groups)} was beyond the offsets to which the logs were truncated: {_BRIEFLY[first.cause or RESET]}"
