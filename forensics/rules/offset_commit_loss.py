"""offset-commit-loss: a partition of an internal topic lost committed offsets of consumer groups, or states of share groups or transactions.

Here: the consequences of losses (forensics.proof.losses) of __consumer_offsets, __share_group_state and __transaction_state. Not here: the
offsets and the cause of the loss (data_loss).
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, moment, quote, raw
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.losses import Loss, losses
from forensics.rules.transaction_marker_loss import find_hanging

GROUPS, SHARES, TRANSACTIONS = "__consumer_offsets", "__share_group_state", "__transaction_state"
_WHAT = {GROUPS: "committed offsets of consumer groups", SHARES: "states of share groups", TRANSACTIONS: "states of transactions"}
MAX_GROUPS = 20


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if timeline.topic not in _WHAT:
        return
    for loss in losses(timeline, cluster):
        if loss.excuse is None and loss.committed is not False and loss.cause != "inherited-log":  # both are written with acks=all
            yield _finding(loss, timeline, cluster)


def _groups(timeline: PartitionTimeline) -> list[str]:
    """Groups that the lines of a coordinator name with this partition."""
    return sorted({e.value for e in timeline.of("group-coordinated") if e.value})


def _finding(loss: Loss, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    groups = _groups(timeline)
    return raw(
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
        summary=f"{timeline.name}: {_WHAT[timeline.topic]} written at offsets {loss.range} are lost{_named(groups)}",
        explanation=_explain(timeline, groups, moment(loss.term.at)),
        next_steps=tuple(_next_steps(timeline, cluster)),
        evidence=quote(*loss.evidence),
    )


def _named(groups: list[str]) -> str:
    if not groups:
        return ""
    more = f" and {len(groups) - MAX_GROUPS} more" if len(groups) > MAX_GROUPS else ""
    return f"; groups kept there: {', '.join(groups[:MAX_GROUPS])}{more}"


def _explain(timeline: PartitionTimeline, groups: list[str], when: str) -> str:
    if timeline.topic == TRANSACTIONS:
        return (
            f"With the leader elected at {when}, {timeline.name} lost the latest states of some transactions. Its transactional ids may be fenced by "
            "an epoch that was assigned twice, or leave a transaction open that no coordinator knows: consumers with read_committed then hang "
            "at its first record."
        )
    if timeline.topic == SHARES:
        return (
            f"With the leader elected at {when}, {timeline.name} lost the latest states of its share-partitions. They return to an earlier state and deliver "
            "records twice, or, if no state is left, start by share.auto.offset.reset."
        )
    who = (
        f"The lines of coordinators name {len(groups)} groups of this partition" if groups else "No line names the groups of this partition"
    )
    return (
        f"With the leader elected at {when}, {timeline.name} lost the latest commits of its groups. They return to an earlier commit and read "
        f"records twice, or, if no commit is left, start by auto.offset.reset: latest skips records, earliest reads all records again. {who}."
    )


def _next_steps(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[str]:
    if timeline.topic == TRANSACTIONS:
        yield from find_hanging("--broker-id BROKER", cluster)
        yield "Look for consumers with read_committed whose position does not move while their lag grows."
    elif timeline.topic == SHARES:
        yield "Compare the output of `kafka-share-groups.sh --bootstrap-server HOST:PORT --describe --group GROUP` with the records that the applications have processed, and correct share groups with --reset-offsets."
    else:
        yield (
            f"Find the groups of {timeline.name}: a group is in partition abs(hash) % partitions of {GROUPS}, where hash is Java's "
            "String.hashCode of its name."
        )
        yield "Compare the output of `kafka-consumer-groups.sh --bootstrap-server HOST:PORT --describe --group GROUP` with the records that the applications have processed, and correct offsets with --reset-offsets."
