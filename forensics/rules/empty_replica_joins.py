"""empty-replica-joins: a replica came back with an empty log while the partition still counted it in sync.

Here: the moment between the empty return and its leaving the ISR, in which it could have been elected. Not here: what was lost when it
was (data_loss, cause empty-replica).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import zip_longest

from forensics.model import Finding, Many, Rule, moment, quote
from spark.cluster.facts import Cluster
from spark.partition.replicas import Removal
from spark.partition.states import State
from spark.partition.timeline import PartitionTimeline

SURELY = timedelta(seconds=1)
"""Two brokers' clocks may differ by a little after correction."""


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for replica in timeline.replicas.values():
        for removal in replica.removals:
            if removal.cause == "empty" and (counted := _in_sync(removal, timeline)) is not None:
                yield _finding(removal, *counted, timeline)


def _in_sync(removal: Removal, timeline: PartitionTimeline) -> tuple[State, State | None] | None:
    """The state that had the broker in its ISR, with others, when it began an empty log; and the one that ended it."""
    if removal.at is None:
        return None
    for state, after in zip_longest(timeline.states, timeline.states[1:]):
        if state.at is None or state.at > removal.at - SURELY or removal.broker not in state.isr or len(state.isr) < 2:
            continue
        if after is None or after.at is None or after.at <= removal.at + SURELY:
            continue
        return state, after
    return None


def _finding(removal: Removal, state: State, after: State | None, timeline: PartitionTimeline) -> Finding:
    led = after is not None and after.leader == removal.broker
    until = f"until {moment(after.at)}" if after is not None else "to the end of the evidence"
    return Finding(
        kind="empty-replica-joins",
        severity="high" if led else "medium",
        confidence="probable",
        brokers=(removal.broker,),
        leader_epoch=state.known_epoch,
        start=removal.at,
        end=after.at if after is not None else None,
        summary=f"{timeline.name}: broker {removal.broker} was in the ISR with an empty log"
        + (f" and became leader in epoch {after.leader_epoch}" if led and after is not None else ""),
        explanation=(
            f"Broker {removal.broker} had held {timeline.name} up to {removal.end}. At {moment(removal.at)} it began an empty log, and {until} the "
            f"partition had it in its ISR {list(state.isr)}: an election in that time could make it leader cleanly, and the others would cut their "
            "logs to its own. A new disk, or a new directory.id, under an old broker id does that."
        ),
        next_steps=(
            "Wait until a replaced broker is out of all ISRs before it is started on an empty disk (KIP-903 does so from 3.5 on).",
        ),
        evidence=quote(removal.evidence, state.event, after.event if after is not None else None),
    )


RULE = Rule(
    kind="empty-replica-joins",
    rank=140,
    level="medium",
    meaning="A replica came back with an empty log and was still in the ISR: it could have been elected with nothing; high if it was.",
    benign=("A broker with a new disk that had left the ISR before: it copies its log and joins again.",),
    references=("KIP-903", "KAFKA-14139", "KAFKA-14617"),
    partition=judge,
    many=Many(),
)
