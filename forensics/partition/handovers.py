"""How a leader gave way to the next: at once, as in maintenance, or late, as one that had gone on alone.

Here: when a deposed leader that lived on obeyed, told by its own log. Not here: what it had taken by then (loss), or how it is reported
(rules.zombie_leader, rules.data_loss).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from forensics.partition.came_through import knew
from spark.cluster.facts import Cluster
from spark.partition.replicas import FollowerStart, Replica
from spark.partition.timeline import PartitionTimeline, Term

GRACE = timedelta(seconds=1)
"""A LeaderAndIsr request, or a metadata record, takes a moment; a hand-over within it is ordinary."""


@dataclass(frozen=True, slots=True)
class Handover:
    """A leader that lived gave way to the next."""

    leader: int
    at: datetime
    late: timedelta
    """How long it went on after the next was elected."""
    orderly: bool
    """It was stopping, or in sync still: a controlled shutdown, a preferred election, a reassignment. One that was given up for dead
    was neither, however soon it obeyed."""


def handover(term: Term, timeline: PartitionTimeline, cluster: Cluster) -> Handover | None:
    """How the leader before this term gave way; None where it had died, or does not tell."""
    before = timeline.before(term)
    woke = obeyed(before, term, timeline, cluster) if before is not None and before.leader != term.leader else None
    if woke is None or woke.at is None or term.at is None:
        return None
    stops = (life.stopping or life.controlled for life in cluster.presence(woke.broker).living(term.at, woke.at))
    stopping = any(s is not None and s.at is not None and s.at <= woke.at for s in stops)
    in_sync = term.state is not None and woke.broker in term.state.isr
    at = _took_up(woke, woke.at, timeline)
    return Handover(woke.broker, at, at - term.at, stopping or in_sync)


def _took_up(woke: FollowerStart, told: datetime, timeline: PartitionTimeline) -> datetime:
    """Before 2.6 it tells that it was asked to follow, and went on until it had taken that up: then it removes the fetchers of all that it is
    to follow (ReplicaManager.makeFollowers)."""
    if woke.event.event != "partition-state":
        return told
    removed = (e.at for e in timeline.of("fetcher-removed") if e.writer == woke.broker and e.at is not None)
    return min((at for at in removed if told <= at <= told + GRACE), default=told)


def obeyed(before: Term, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> FollowerStart | None:
    """With which line the leader of `before` became a follower in `term` or later, in the process in which it had led; None where it
    does not tell, or was started anew in between: then it was dead, and took nothing."""
    old = timeline.replicas.get(before.leader)
    woke = next((f for f in old.follower_starts if f.epoch >= term.epoch), None) if old is not None else None
    return woke if old is not None and woke is not None and woke.at is not None and not _restarted(old, before, woke, cluster) else None


def _restarted(replica: Replica, before: Term, woke: FollowerStart, cluster: Cluster) -> bool:
    if woke.event.previous_leader_epoch is not None:
        return not knew(woke.event)
    presence, until = cluster.presence(replica.broker), woke.at or datetime.max
    starts = presence.begun(before.at, until) if before.at is not None else ()
    loads = [load.at for load in replica.loads if load.offset or (load.epoch is not None and load.epoch >= before.epoch)]
    told = presence.between("registered", before.at, until) if before.at is not None else ()
    registered = [e.at for e in told if e.event == "metadata-broker" and e.at != before.at]
    return presence.unbegun or any(at is None or (before.at or at) < at <= until for at in (*starts, *loads, *registered))
