"""Which eligible leader replicas (KIP-966) the controller can still elect.

Here: the last set in the evidence, without the brokers that crashed. Not here: whether an election was clean (elections).
"""

from __future__ import annotations

from datetime import datetime

from forensics.model.cluster.availability import CONTROLLED
from forensics.model.cluster.facts import Cluster
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline


def named_eligible(state: State) -> tuple[int, ...]:
    """The eligible leader replicas that the state names, or kafka-topics --describe."""
    return state.eligible or tuple(state.event.eligible or ())


def eligible_leaders(state: State, until: datetime | None, timeline: PartitionTimeline, cluster: Cluster) -> tuple[int, ...]:
    """Eligible leader replicas of this state that did not crash up to `until`. When a broker registers again after an unclean shutdown, the
    controller removes it from all sets of eligible leader replicas (ClusterControlManager#registerBroker,
    ReplicationControlManager#handleBrokerUncleanShutdown): its log may lack records that were not flushed."""
    return tuple(b for b in named_eligible(state) if not _crashed(b, state, until or datetime.max, timeline, cluster))


def _crashed(broker: int, state: State, until: datetime, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The broker ended without a shutdown since the last state that has it in the ISR."""
    states = timeline.states_with_describe
    before = states[: next((n for n, s in enumerate(states) if s is state), len(states)) + 1]
    since = next((s.at for s in reversed(before) if broker in s.isr and s.at is not None), datetime.min)
    return any(a.how != CONTROLLED and a.overlaps(since, until) for a in cluster.availability(broker).outages)
