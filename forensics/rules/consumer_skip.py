"""consumer-skip: a consumer group is not given records that were written in the place of lost ones it had read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.cluster.kafka_tools import reset_group
from forensics.model import Client, Finding, Many, Rule, Statement, counted, lower, moment, quote
from forensics.partition.readers import NAMES_GROUPS, SHARE, SKIPPED, SKIPS, log_end, readers
from forensics.proof.losses import losses
from spark.cluster.facts import Cluster
from spark.partition.timeline import PartitionTimeline


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if not timeline.commits:
        return
    for loss in losses(timeline, cluster):
        for reader in readers(loss, timeline):
            client, end = reader.client, log_end(timeline)
            if client.skipped is None or client.outcome not in (SKIPS, SKIPPED):
                continue
            done = client.outcome == SKIPPED
            sure = "probable" if done or (end is not None and reader.evidence[0].pattern != NAMES_GROUPS) else "possible"
            yield Finding(
                kind="consumer-skip",
                severity="high",
                confidence=lower(sure, loss.confidence),
                brokers=(loss.term.leader,),
                leader_epoch=loss.term.epoch,
                start=loss.term.at,
                end=loss.term.at,
                offsets=(client.skipped,),
                summary=f"{timeline.name}: group {client.group} {'was not given' if done else 'will not be given'} what is written anew at offsets {client.skipped}",
                explanation=(
                    f"Group {client.group} had read {timeline.name} up to offset {client.committed} by {moment(client.at)}. What it had read from offset "
                    f"{loss.range.start} on was lost in leader epoch {loss.term.epoch}, and other records are written there. "
                    + (
                        "Its next commits go on from there, so it was not given them, and nothing reports that."
                        if done
                        else _shared(client, end)
                        if client.protocol == SHARE
                        else f"A consumer goes on at its commit{_end(end)}: it is not given them, and nothing reports that. Its commit names no leader epoch "
                        "by which it could notice (KIP-320)."
                    )
                ),
                next_steps=(
                    f"{'Find out what it missed' if done else 'Stop its members, and set it back before they start again'}, and have it read them: "
                    f"{reset_group(client, timeline.topic, timeline.partition, loss.range.start, loss.term.at)}"
                    + (f" (see with --dry-run first that it comes to offset {loss.range.start})" if client.protocol == SHARE else ""),
                ),
                clients=(client,),
                evidence=quote(*reader.evidence, *loss.evidence),
            )


def _shared(client: Client, end: int | None) -> str:
    waits = (
        f" The log ends at {end}: until it has come so far again, the group is given nothing."
        if end is not None and client.committed and end < client.committed
        else ""
    )
    more = (
        f" {client.out_of_order} offsets above that it was through with are not given to it again, either." if client.out_of_order else ""
    )
    return f"A share group goes on where its share-partition begins, which no leader moves back: it is not given them, and nothing reports that (KIP-932).{waits}{more}"


def _end(end: int | None) -> str:
    return f", which lies inside the log (it ends at {end})" if end is not None else ""


def _many(first: Finding, group: Sequence[Statement]) -> str:
    count = sum(c.skipped.length or 0 for f in group for c in f.clients if c.skipped is not None)
    return f"group {', '.join(first.groups)} is not given {counted(count, 'offset')} that are written anew, or will be"


RULE = Rule(
    kind="consumer-skip",
    rank=112,
    level="high",
    meaning="A consumer group had read records that were lost, and its committed offset lies above where others are written in their place: it is never given those, and nothing reports it. Share groups always go on so.",
    benign=(
        "A group that reads the partition from its start each time, or keeps its offsets elsewhere, commits and does not go by it.",
        "Consumers that check leader epochs (Java clients from 2.3 on, with commits that name one) return to where the log was cut: consumer-reset.",
    ),
    references=("KIP-320", "KIP-932", "KAFKA-7747"),
    partition=judge,
    many=Many(words=_many, key=lambda f: tuple(f.groups), recurs=False),
)
