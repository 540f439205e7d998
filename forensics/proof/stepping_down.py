"""When a replaced leader that was still running became a follower: at once, as in maintenance, or late, after it had kept leading alone.

Here: the line with which it stepped down. Not here: the records that it had appended by then (losses), or how that is reported
(forensics.rules.zombie_leader).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import LOG, PLACED, PROCESS, would_show
from forensics.model.partition.replicas import FollowerStart, Replica
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.thresholds import ORDINARY_HANDOVER
from parsers.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SteppedDown:
    """A running leader became a follower of the next."""

    leader: int
    at: datetime
    late: timedelta
    """How long it led on after the next was elected."""
    orderly: bool
    """It was stopping, or still in sync: a controlled shutdown, a preferred election, a reassignment."""


def stepped_down(before: Term, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> SteppedDown | None:
    """How the leader before this term stepped down; None if it had crashed, or its log does not show it."""
    follows = became_follower(before, term, timeline, cluster) if before.leader != term.leader else None
    if follows is None or follows.at is None or term.at is None:
        return None
    stops = (run.asked for run in cluster.availability(follows.broker).living(term.at, follows.at))
    stopping = any(s is not None and s.at is not None and s.at <= follows.at for s in stops)
    in_sync = term.state is not None and follows.broker in term.state.isr
    at = _in_effect(follows, follows.at, timeline)
    return SteppedDown(follows.broker, at, at - term.at, stopping or in_sync)


def _in_effect(follows: FollowerStart, received: datetime, timeline: PartitionTimeline) -> datetime:
    """Before 2.6 a leader prints the request to follow, and keeps leading until it carries it out: then it removes the fetchers of all
    partitions that it is to follow (ReplicaManager.makeFollowers)."""
    if follows.event.event != "partition-state":
        return received
    removed = (e.at for e in timeline.of("fetcher-removed") if e.writer == follows.broker and e.at is not None)
    return min((at for at in removed if received <= at <= received + ORDINARY_HANDOVER), default=received)


def became_follower(before: Term, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> FollowerStart | None:
    """The line with which the leader of `before` became a follower in `term` or later, in the process in which it had led. None if there is
    no such line, or if it was restarted in between: then it was down, and appended nothing."""
    old = timeline.replicas.get(before.leader)
    follows = next((f for f in old.follower_starts if f.epoch >= term.epoch), None) if old is not None else None
    if old is None or follows is None or follows.at is None or _restarted(old, before, follows, timeline, cluster):
        return None
    return follows


def _restarted(replica: Replica, before: Term, follows: FollowerStart, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    known = follows.event.previous_leader_epoch
    if known is not None:
        return known < 0
    if not would_show(replica.broker, cluster, LOG, PROCESS, *PLACED, of=timeline) or cluster.availability(replica.broker).unbegun:
        return True  # its start may be among the lines that are missing
    assert follows.at is not None
    signs = _signs_of_a_start(replica, before, follows.at, cluster)
    return any(at is None or (before.at or at) < at <= follows.at for at in signs)


def _signs_of_a_start(replica: Replica, before: Term, until: datetime, cluster: Cluster) -> Iterator[datetime | None]:
    """When its process began or registered before `until`, and when it loaded its log."""
    yield from (load.at for load in replica.loads if load.offset or (load.epoch is not None and load.epoch >= before.epoch))
    yield from (e.at for _, e in replica.recovered)
    if before.at is None:
        return
    availability = cluster.availability(replica.broker)
    yield from availability.begun(before.at, until)
    registered = availability.between("registered", before.at, until)
    yield from (e.at for e in registered if e.event == "metadata-broker" and e.at != before.at)
