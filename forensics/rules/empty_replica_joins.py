"""empty-replica-joins: a replica restarted with an empty log while it was still in the ISR.

Here: the time between the restart and its removal from the ISR, in which it could be elected. Not here: the records lost by such an
election (data_loss, cause empty-replica).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import CLOCK, ORDER, would_show
from forensics.model.findings import Finding, quote
from forensics.model.message import values
from forensics.model.partition.replicas import Removal
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.thresholds import ISR_TOLERANCE


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for replica in timeline.replicas.values():
        for removal in replica.removals:
            if removal.cause != "empty" or not would_show(removal.broker, cluster, ORDER, CLOCK):
                continue
            if (counted := _in_sync(removal, timeline)) is not None:
                yield _finding(removal, *counted)


def _in_sync(removal: Removal, timeline: PartitionTimeline) -> tuple[State, State | None] | None:
    """The state with the broker and others in the ISR when its empty log began, and the next state."""
    if removal.at is None:
        return None
    for state, after in zip_longest(timeline.states, timeline.states[1:]):
        if state.at is None or state.at > removal.at - ISR_TOLERANCE or removal.broker not in state.isr or len(state.isr) < 2:
            continue
        if after is None or after.at is None or after.at <= removal.at + ISR_TOLERANCE:
            continue
        return state, after
    return None


def _finding(removal: Removal, state: State, after: State | None) -> Finding:
    led = after is not None and after.leader == removal.broker
    return Finding(
        severity="high" if led else "medium",
        confidence="probable",
        brokers=(removal.broker,),
        leader_epoch=state.known_epoch,
        start=removal.at,
        end=after.at if after is not None else None,
        values=values(led_in=after.leader_epoch if led and after is not None else None, log_end=removal.end, isr=state.isr),
        evidence=quote(removal.evidence, state.event, after.event if after is not None else None),
    )
