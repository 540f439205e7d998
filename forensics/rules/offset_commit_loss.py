"""offset-commit-loss: consumer groups' committed offsets, or states of share groups or transactions, went with a partition of an internal topic.

Here: losses (forensics.proof.losses) of __consumer_offsets, __share_group_state and __transaction_state told in terms of those who are hurt. Not here: the loss
itself, which data_loss tells with its offsets and cause.
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model import Finding, Many, Rule, moment, quote
from forensics.proof.losses import losses
from spark.cluster.facts import Cluster
from spark.partition.timeline import PartitionTimeline

GROUPS, SHARES, TRANSACTIONS = "__consumer_offsets", "__share_group_state", "__transaction_state"
_WHAT = {GROUPS: "committed offsets of consumer groups", SHARES: "states of share groups", TRANSACTIONS: "states of transactions"}
NAMED = 20


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if timeline.topic not in _WHAT:
        return
    for loss in losses(timeline, cluster):
        if loss.excuse is None and loss.committed is not False and loss.cause != "inherited-log":  # both are written with acks=all
            groups = _groups(timeline)
            yield Finding(
                kind="offset-commit-loss",
                severity="high",
                confidence=loss.confidence,
                brokers=(loss.term.leader,),
                leader_epoch=loss.term.epoch,
                start=loss.term.before.at if loss.term.before is not None else None,
                end=loss.term.at,
                offsets=(loss.range,),
                committed=loss.committed,
                cause=loss.cause,
                summary=f"{timeline.name}: {_WHAT[timeline.topic]} written at offsets {loss.range} are gone{_named(groups)}",
                explanation=_explain(timeline, groups, moment(loss.term.at)),
                next_steps=tuple(_next_steps(timeline)),
                evidence=quote(*loss.evidence),
            )


def _groups(timeline: PartitionTimeline) -> list[str]:
    """Groups that a coordinator's lines name with this partition."""
    return sorted({e.value for e in timeline.of("group-coordinated") if e.value})


def _named(groups: list[str]) -> str:
    if not groups:
        return ""
    more = f" and {len(groups) - NAMED} more" if len(groups) > NAMED else ""
    return f"; groups kept there: {', '.join(groups[:NAMED])}{more}"


def _explain(timeline: PartitionTimeline, groups: list[str], when: str) -> str:
    if timeline.topic == TRANSACTIONS:
        return (
            f"With the leader of {when} {timeline.name} lost the latest states of some transactions. Transactional ids it keeps may be fenced by "
            "an epoch that was given twice, or leave a transaction open that no coordinator knows: consumers with read_committed then stand still "
            "at its first record."
        )
    if timeline.topic == SHARES:
        return (
            f"With the leader of {when} {timeline.name} lost the latest states of the share-partitions it keeps. They go back to an earlier one and deliver "
            "records a second time, or, where none is left, begin where share.auto.offset.reset says."
        )
    who = f"The coordinators' lines name {len(groups)} groups of this partition" if groups else "No line names the groups of this partition"
    return (
        f"With the leader of {when} {timeline.name} lost the latest commits of the groups it keeps. They go back to an earlier commit and read "
        f"records a second time, or, where no commit is left, begin where auto.offset.reset says: latest skips records, earliest reads all again. {who}."
    )


def _next_steps(timeline: PartitionTimeline) -> Iterator[str]:
    if timeline.topic == TRANSACTIONS:
        yield "Look for hanging transactions with kafka-transactions --find-hanging."
    elif timeline.topic == SHARES:
        yield "Compare kafka-share-groups --describe with what the applications have processed, and set share groups with --reset-offsets."
    else:
        yield (
            f"A group is kept in partition abs(hash) % partitions of {GROUPS}, hash being Java's String.hashCode of its name: groups with "
            f"{timeline.partition} are the ones."
        )
        yield "Compare kafka-consumer-groups --describe with what the applications have processed, and set offsets with --reset-offsets."


RULE = Rule(
    kind="offset-commit-loss",
    rank=110,
    level="high",
    meaning="A partition of __consumer_offsets, __share_group_state or __transaction_state lost records: groups rewind or skip, transactions hang.",
    benign=("A tail that was never committed: the coordinator writes with acks=all and had told nobody.",),
    references=("KAFKA-20634", "KAFKA-19902"),
    partition=judge,
    many=Many(),
)
