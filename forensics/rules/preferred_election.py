"""preferred-election: leadership moved back to the preferred replicas."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, Statement, quote
from forensics.model.message import Value, said, values
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.model.settings.effective import effective, enabled, number
from forensics.model.settings.settings import DEFAULT
from forensics.model.times import grouped, near
from forensics.thresholds import NEXT_ROUND, REBALANCE_ROUND, SAME_PREFERRED_ELECTION


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    requested = [e for e in timeline.of("election-requested") if (e.reason or "").upper() == "PREFERRED"]
    done = timeline.of("preferred-election")
    for before, term in pairwise(t for t in timeline.terms if not t.restart):
        if _preferred(before, term, timeline):
            lines = [e for e in (*requested, *done) if near(e.at, term.at, SAME_PREFERRED_ELECTION)]
            yield _finding(before, term, lines, *_trigger(lines, term, timeline, cluster))


def _trigger(lines: Sequence[Event], term: Term, timeline: PartitionTimeline, cluster: Cluster) -> tuple[str | None, Event | None]:
    """A key of TRIGGERS and the line that shows it, if any; None if the trigger is unknown. Before 2.4, and in KRaft, the controller does
    not print the trigger, but the lines of its own rounds show them."""
    if named := next((e for e in lines if e.value in TRIGGERS), None):
        return named.value, named
    for e in timeline.of("tool-election"):
        if e.reason == "PREFERRED" and e.value in _TOOLS and near(e.at, term.at, SAME_PREFERRED_ELECTION):
            return _TOOLS[e.value], e
    rebalance = effective(cluster, "auto.leader.rebalance.enable", at=term.at)
    if rebalance.source != DEFAULT and rebalance.value is not None and not enabled(rebalance.value):
        return "command", None
    return _by_rounds(next((e for e in lines if e.event == "election-requested"), None), term, cluster)


_TOOLS = {"completed": "AdminClientTriggered", "started": "ZkTriggered"}
"""The trigger by the results that kafka-leader-election and kafka-preferred-replica-election print for a partition."""


@cached_on_cluster
def _rounds(cluster: Cluster) -> Mapping[int | None, Sequence[tuple[datetime, Event]]]:
    """Rounds of the automatic rebalance by controller, sorted by time."""
    return grouped((e.writer, (e.at, e)) for e in cluster.of("balance-checked") if e.at is not None)


def _by_rounds(asked: Event | None, term: Term, cluster: Cluster) -> tuple[str | None, Event | None]:
    """The trigger by the controller's rounds: a round that started just before the election or moved leaders then is the trigger. Between
    two consecutive rounds only a command can be."""
    at = asked.at if asked is not None else term.at
    if at is None:
        return None, None
    interval = timedelta(seconds=number(effective(cluster, "leader.imbalance.check.interval.seconds", at=at).value, 300))
    for writer, rounds in _rounds(cluster).items():
        if asked is not None and writer != asked.writer:
            continue
        place = bisect_right(rounds, at + REBALANCE_ROUND, key=lambda r: r[0])
        near = [(when, e) for when, e in rounds[max(place - 3, 0) : place] if at - when <= REBALANCE_ROUND]
        for when, e in near:
            if when <= at if e.count is None and asked is not None else bool(e.count):
                return "AutoTriggered", e
        if not near and 0 < place < len(rounds) and rounds[place][0] - rounds[place - 1][0] <= interval * NEXT_ROUND:
            return "command-between-rounds", rounds[place - 1][1]
    return None, None


def _preferred(before: Term, term: Term, timeline: PartitionTimeline) -> bool:
    """Leadership moved to the first replica while the previous leader was running and stayed in the ISR: only a requested election
    does that. Failures and shutdowns remove the old leader from the ISR, or leave the partition without a leader."""
    state = term.state
    if state is None or term.before is None or before.leader == term.leader or term.before.leader != before.leader:
        return False
    assigned = state.replicas or timeline.assigned
    stays = before.leader in state.isr and set(state.isr) == set(term.before.isr) and not _leaving(before.leader, term, timeline)
    return stays and term.leader in term.before.isr and timeline.orders.first(assigned) == term.leader


def _leaving(leader: int, term: Term, timeline: PartitionTimeline) -> bool:
    """A reassignment elects another leader before it removes the previous one (ReassignPartitionLeaderElectionStrategy)."""
    if term.at is None:
        return False
    around = timeline.states_between(term.at - SAME_PREFERRED_ELECTION, term.at + SAME_PREFERRED_ELECTION)
    aims = [e for e in timeline.of("reassignment") if e.replicas and near(e.at, term.at, SAME_PREFERRED_ELECTION)]
    return any(leader in s.removing or (s.replicas and leader not in s.replicas) for s in around) or any(
        leader not in (e.replicas or ()) for e in aims
    )


TRIGGERS = frozenset({"AutoTriggered", "AdminClientTriggered", "ZkTriggered", "command", "command-between-rounds"})
"""The trigger as the ZooKeeper controller names it (ElectionTrigger, 2.4 on), or as inferred."""


def _finding(before: Term, term: Term, lines: Sequence[Event], trigger: str | None, shown_by: Event | None) -> Finding:
    return Finding(
        confidence="certain" if lines else "probable",
        brokers=(term.leader,),
        leader_epoch=term.epoch,
        start=term.at,
        end=term.at,
        cause=trigger,
        values=values(before=before.leader, how=said(f"preferred-election/{trigger or 'unknown'}")),
        evidence=quote(lines[:1], shown_by, term.evidence),
    )


def merged(first: Finding, group: Sequence[Statement]) -> Mapping[str, Value]:
    return {"preferred": tuple(sorted({f.brokers[0] for f in group}))}
