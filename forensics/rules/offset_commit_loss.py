"""offset-commit-loss: a partition of an internal topic lost committed offsets of consumer groups, or states of share groups or
transactions.

Here: the consequences of losses (forensics.proof.losses) of __consumer_offsets, __share_group_state and __transaction_state. Not here: the
offsets and the cause of the loss (data_loss).
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, said, values
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.losses import Loss, losses
from forensics.rules.transaction_marker_loss import find_hanging

_MESSAGES = {"__consumer_offsets": "groups", "__share_group_state": "shares", "__transaction_state": "transactions"}
MAX_GROUPS = 20


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if timeline.topic not in _MESSAGES:
        return
    for loss in losses(timeline, cluster):
        if loss.excuse is None and loss.committed is not False and loss.cause != "inherited-log":  # both are written with acks=all
            yield _finding(loss, timeline, cluster)


def _finding(loss: Loss, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    groups = sorted({e.value for e in timeline.of("group-coordinated") if e.value})
    return Finding(
        confidence=loss.confidence,
        brokers=(loss.term.leader,),
        leader_epoch=loss.term.epoch,
        start=loss.term.before.at if loss.term.before is not None else None,
        end=loss.term.at,
        offsets=(loss.range,),
        committed=loss.committed,
        cause=loss.cause,
        message=_MESSAGES[timeline.topic],
        values=values(
            lost=loss.range,
            elected=(loss.term.at, None),
            named=tuple(groups[:MAX_GROUPS]),
            more=max(len(groups) - MAX_GROUPS, 0) or None,
            number=len(groups) or None,
            steps=of_coordinators(timeline.topic, loss.committed, cluster),
        ),
        evidence=quote(*loss.evidence),
    )


def of_coordinators(topic: str, committed: bool | None, cluster: Cluster) -> tuple[Message, ...]:
    """What to do if records of a topic are lost that only coordinators write: the clients cannot send these records again."""
    if topic not in _MESSAGES or committed is False:
        return ()
    hanging = find_hanging("--broker-id BROKER", cluster) if _MESSAGES[topic] == "transactions" else ()
    return (*hanging, *(said(f"coordinator/{name}") for name in _STEPS[_MESSAGES[topic]]))


_STEPS = {"groups": ("find-groups", "compare-groups"), "shares": ("compare-shares",), "transactions": ("stuck-consumers",)}
