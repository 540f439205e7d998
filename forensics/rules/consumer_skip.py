"""consumer-skip: a consumer group skips records that replaced lost records below its commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Client, Finding, Statement, counted, lower, moment, quote, raw
from forensics.model.message import Range
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.losses import Loss, losses
from forensics.proof.readers import NAMES_GROUPS, SHARE, SKIPPED, SKIPS, Reader, log_end, readers, reset_group


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if not timeline.commits:
        return
    for loss in losses(timeline, cluster):
        for reader in readers(loss, timeline):
            if reader.client.skipped is not None and reader.client.outcome in (SKIPS, SKIPPED):
                yield _finding(reader, reader.client.skipped, loss, timeline)


def _finding(reader: Reader, skipped: Range, loss: Loss, timeline: PartitionTimeline) -> Finding:
    client, end = reader.client, log_end(timeline)
    done = client.outcome == SKIPPED
    sure = done or (end is not None and reader.evidence[0].pattern != NAMES_GROUPS)
    return raw(
        kind="consumer-skip",
        severity="high",
        confidence=lower("probable" if sure else "possible", loss.confidence),
        brokers=(loss.term.leader,),
        leader_epoch=loss.term.epoch,
        start=loss.term.at,
        end=loss.term.at,
        offsets=(skipped,),
        summary=f"{timeline.name}: group {client.group} {'skipped' if done else 'will skip'} the new records at offsets {skipped}",
        explanation=(
            f"Group {client.group} had committed offset {client.committed} of {timeline.name} by {moment(client.at)}. The records from offset "
            f"{loss.range.start} on were lost in leader epoch {loss.term.epoch}, and other records get these offsets. {_how(client, end)}"
        ),
        next_steps=(_step(client, loss, timeline),),
        clients=(client,),
        evidence=quote(*reader.evidence, *loss.evidence),
    )


def _how(client: Client, end: int | None) -> str:
    if client.outcome == SKIPPED:
        return f"The next commits of group {client.group} continue from there, so it skipped them without an error."
    if client.protocol == SHARE:
        return _shared(client, end)
    inside = f", which is inside the log (it ends at {end})" if end is not None else ""
    return (
        f"A consumer continues at its commit{inside}: it skips them without an error. The commit of group {client.group} has no leader epoch "
        "to detect this (KIP-320)."
    )


def _step(client: Client, loss: Loss, timeline: PartitionTimeline) -> str:
    first = (
        f"Find out which records group {client.group} missed" if client.outcome == SKIPPED else f"Stop the members of group {client.group}"
    )
    command = reset_group(client, timeline.topic, timeline.partition, loss.range.start, loss.term.at)
    check = f" (check with --dry-run first that this resets it to offset {loss.range.start})" if client.protocol == SHARE else ""
    return f"{first}, and reset it: {command}{check}"


def _shared(client: Client, end: int | None) -> str:
    waits = (
        f" The log ends at {end}: until it reaches the commit again, the group gets no records."
        if end is not None and client.committed and end < client.committed
        else ""
    )
    more = (
        f" Group {client.group} also skips {client.out_of_order} offsets above that which it had completed." if client.out_of_order else ""
    )
    return f"A share group continues at the start of its share-partition, which no leader moves back: it skips them without an error (KIP-932).{waits}{more}"


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    count = sum(c.skipped.length or 0 for f in group for c in f.clients if c.skipped is not None)
    return f"group {', '.join(first.groups)} skips {counted(count, 'offset')} of new records"
