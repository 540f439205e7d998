"""Who could have told: whether changes that are not in evidence would be, had they happened.

Here: the one question several rules ask before they take silence for a fact. Not here: what was collected as a list (the
report's `not_collected`), or what a missing broker hides (rules.evidence_gap).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from forensics.model import brokers_named
from parsers.kinds import By, Role, of
from spark.cluster.facts import Cluster, Source, once
from spark.partition.states import State, not_after
from spark.partition.timeline import PartitionTimeline

_CHANGES = of(role=Role.ISR_INTENT | Role.ISR, by=By.LEADER)
_SILENT_LOGS = frozenset({"state-change-log", "controller-log", "log-cleaner-log", "request-log", "authorizer-log", "gc-log"})
"""Logs in which kafka.log and kafka.cluster.Partition, which prints a leader's changes of its ISR, do not write."""


def tells_logs(broker: int, cluster: Cluster, since: datetime | None = None) -> bool:
    """Whether a log was collected in which the broker tells of its start, of how its logs were loaded and what it cut off; one that
    goes back to that time."""
    begin = _begins(cluster).get(broker)
    return begin is not None and (since is None or begin <= since)


@once
def _begins(cluster: Cluster) -> dict[int, datetime]:
    """Since when the logs of each broker tell without a gap."""
    found: dict[int, datetime] = {}
    for broker in {b for s in cluster.sources for b in s.nodes}:
        own = [s for s in cluster.sources_of(broker) if s.kind.endswith("-log") and s.kind not in _SILENT_LOGS and s.lines]
        node = cluster.nodes.get(broker)  # none in a cluster of which its logs tell nothing
        known = node.collections if node is not None else ()
        others = sorted({s.collection for s in own} - {*known})  # a log of several brokers is in the collection of one
        if own:
            found[broker] = _reach_back(own, (*known, *others))
    return found


def _reach_back(logs: Sequence[Source], collections: Sequence[str]) -> datetime:
    """Since when a broker's logs tell without a gap: those of an earlier collection do where they go on to the first line of the later."""
    begin = datetime.max
    for collection in reversed(collections):
        own = [s for s in logs if s.collection == collection]
        if any((s.last or datetime.max) >= begin for s in own) or begin == datetime.max:
            begin = min([begin, *(s.first or datetime.min for s in own)])
    return begin


def tells_isr(leader: int, timeline: PartitionTimeline, cluster: Cluster, since: datetime | None = None) -> bool:
    """Whether the ISR changes that this leader made are in evidence: its own log, from that time on at least, or the metadata log was
    collected."""
    if cluster.holds_metadata:
        return True
    if tells_logs(leader, cluster):
        return since is None or tells_logs(leader, cluster, since)
    return any(e.writer == leader and (since is None or not_after(e.at, since)) for e in timeline.of(*_CHANGES))


def untold(states: Iterable[State], timeline: PartitionTimeline, cluster: Cluster) -> tuple[int, ...]:
    """Leaders of these states whose changes of the ISR are not in evidence: how long a state stood is unknown."""
    leaders = dict.fromkeys(s.leader for s in states if s.leader >= 0)
    return tuple(b for b in leaders if not tells_isr(b, timeline, cluster))


def unheard(leaders: Sequence[int]) -> str:
    """A sentence for the explanation of a finding that rests on such states; empty when there are none."""
    if not leaders:
        return ""
    return f" The log in which {brokers_named(leaders)} told of changes of the ISR was not collected: it may have been otherwise in between, and have ended sooner."
