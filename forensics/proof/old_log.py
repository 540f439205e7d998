"""The log of a leader that was replaced: when it stepped down, where its log ended, and whether everything that was cut off logs is accounted
for. A leader that still runs becomes a follower at once, as in maintenance, or late, after it had kept leading alone.

Here: facts about logs of earlier leaders. Not here: records that were removed and that no later leader had (forensics.proof.removed),
the row that these facts narrow (handovers), or how a late step is reported (forensics.rules.zombie_leader).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import LOG, PLACED, PROCESS, would_show
from forensics.model.events import Event
from forensics.model.partition.replicas import EXACT, OWN_LOSS, FollowerStart, Observation, Removal, Replica
from forensics.model.partition.timeline import PartitionTimeline, Term, cached_on_timeline
from forensics.model.times import not_after
from forensics.proof.observed import exact_end
from forensics.proof.pre_kip101 import cut_after
from forensics.proof.removed import later_terms, places_of_events, removed
from forensics.thresholds import CRASH_NOTICED, ORDINARY_HANDOVER
from parsers.frozen import dataclass
from parsers.kinds import named


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


_AFTER_FOLLOWING = named("become-refused", "fetcher-added", "log-load", "leader-start")


class LogEnd(NamedTuple):
    offset: int
    exact: bool
    """False: it may have had more as leader, so that its log ended at this offset or beyond."""
    evidence: tuple[Event, ...]


def end_of_old_log(before: Term, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> LogEnd | None:
    """The replaced leader's log end, as shown after the next term began: when it followed, at its restart, or on its disk. A cut shows the
    end after the cut."""
    seen = _seen_end(before, term, timeline, cluster)
    if seen is None:
        return None
    offset, event = seen
    whole = offset >= term.at_least or log_kept(before, term, timeline, cluster)
    return LogEnd(offset, whole and not _lost_since_it_led(before, event, timeline), (event,))


def _seen_end(before: Term, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> tuple[int, Event] | None:
    replica = timeline.replicas.get(before.leader)
    if replica is not None:
        follows = next((f for f in replica.follower_starts if f.epoch >= term.epoch and f.offset is not None), None)
        if follows is not None and follows.offset is not None:
            return follows.offset, follows.event
        first = _first_exact_end(before, term, timeline)
        if first is not None:
            sure = first.event.event != "truncation" or _ran_until_it_followed(before, term, timeline, cluster)
            return (first.offset, first.event) if sure else None
    return _end_on_disk(before, term, timeline, cluster)


def _lost_since_it_led(before: Term, seen: Event, timeline: PartitionTimeline) -> bool:
    """It came back with a log that was shorter than before, or that it had to create again."""
    replica = timeline.replicas.get(before.leader)
    if replica is None:
        return False
    since = _since_it_led(before, timeline)
    until = since[: since.index(seen) + 1] if seen in since else since
    shorter = [r.evidence[-1] for r in replica.removals if r.cause in OWN_LOSS]
    return any(e in until for e in (*shorter, *(created for _, created in replica.recreated)))


def _since_it_led(before: Term, timeline: PartitionTimeline) -> Sequence[Event]:
    """Its events after its last start as leader."""
    replica, places = timeline.replicas[before.leader], places_of_events(timeline)
    led = (places.get(id(s.event), -1) for s in replica.leader_starts if s.epoch <= before.epoch)
    return replica.events[max(led, default=-1) + 1 :]


def _first_exact_end(before: Term, term: Term, timeline: PartitionTimeline) -> Observation | None:
    """The first exact end of its log after its last start as leader, and after the next term began."""
    own = set(_since_it_led(before, timeline))
    ends = (o for o in timeline.replicas[before.leader].observations if o.quantity == "log-end-offset" and o.bound == EXACT)
    return next((o for o in ends if _is_after(o, term) and o.event in own), None)


def _is_after(observed: Observation, term: Term) -> bool:
    by_clock = not_after(term.at, observed.at)
    return by_clock or (observed.epoch is not None and observed.epoch >= term.epoch)


def _end_on_disk(before: Term, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> tuple[int, Event] | None:
    disk = timeline.collected_logs.get(before.leader)
    now = disk if timeline.has_epochs or not _copied_since(before.leader, term, timeline, cluster) else None
    disks = [d for d in (now, *timeline.stray_logs.get(before.leader, ())) if d is not None]
    found = next((d for d in disks if d.reach is not None and (d.last_epoch or 0) <= before.epoch), None)
    end = exact_end(found, timeline) if found is not None else None
    last = found.end_event() if found is not None else None
    return (end, last) if end is not None and last is not None else None


def _copied_since(broker: int, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Its log may have grown since the term began: without epochs its disk does not distinguish copied records from those that it appended
    before."""
    last = cluster.last_line(broker)
    later = (s for s in timeline.states if s.known_epoch is not None and s.known_epoch >= term.epoch)
    return (last is not None and (term.at is None or last >= term.at)) or any(broker in s.isr for s in later if s.leader != broker)


def _ran_until_it_followed(before: Term, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The replaced leader's process ran until it followed, according to its own lines and to other evidence about it."""
    follows = became_follower(before, term, timeline, cluster)
    if follows is None or follows.at is None or term.at is None:
        return False
    since = max(before.at or datetime.min, term.at - CRASH_NOTICED)
    return not cluster.availability(before.leader).moved(since, follows.at)


def log_kept(before: Term, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The replaced leader's log is complete: its process ran until it followed, or was stopped cleanly."""
    if became_follower(before, term, timeline, cluster) is not None:
        return True
    if before.at is None or term.at is None:
        return False
    runs = [r for r in cluster.availability(before.leader).living(before.at, term.at) if r.begin_at is None or r.begin_at <= term.at]
    return bool(runs) and all(r.outcome == "stopped" for r in runs)


def truncation_unobserved(before: Term, term: Term, timeline: PartitionTimeline) -> bool:
    """Before leader epochs a follower prints the offset to which it cuts its log, even if the log already ends there (Log#truncateTo). The
    line of the replaced leader is missing."""
    replica = timeline.replicas.get(before.leader)
    if timeline.has_epochs or replica is None:
        return False
    follows = next((f.event for f in replica.follower_starts if f.epoch >= term.epoch), None)
    if follows is None or cut_after(before.leader, follows, timeline) is not None:
        return False
    after = replica.events[replica.events.index(follows) + 1 :]
    line = next((e for e in after if e.event in _AFTER_FOLLOWING), None)
    return (
        line is None or line.event != "become-refused" or line.reason != "leader-unavailable"
    )  # it does not cut for a leader that is not there


@cached_on_timeline
def untraced_removals(timeline: PartitionTimeline, cluster: Cluster) -> Sequence[tuple[Removal, Term]]:
    """Records that a replica cut off, if it is unknown whether the leader had them, each with the term in whose row it counts. Before
    leader epochs followers cut to their high watermark and fetch the records again, but records that only a leader had appended cannot be
    fetched."""
    traced = {piece.removal for pieces in removed(timeline, cluster).values() for piece in pieces}
    own = ((r, later_terms(r, timeline)) for replica in timeline.replicas.values() for r in replica.removals if not _same(r, traced))
    open_ = ((r, later) for r, later in own if _undated(r, later, timeline) or _not_had(r, later, timeline))
    return [(r, later[0] if later else timeline.terms[-1]) for r, later in open_]


def _undated(removal: Removal, later: Sequence[Term], timeline: PartitionTimeline) -> bool:
    """Cut at an unknown time by a broker that had led, or that may have led before the first known term."""
    had_led = timeline.terms[0].epoch > 0 or any(t.leader == removal.broker for t in timeline.terms)
    return removal.epoch is None and not later and had_led


def _not_had(removal: Removal, later: Sequence[Term], timeline: PartitionTimeline) -> bool:
    """A later leader may not have had it."""
    recorded = any(d.segments for d in timeline.collected_logs.values())
    own = not recorded and any((t.leader, t.epoch) == (removal.broker, removal.epoch) for t in timeline.terms)
    return bool(later) and (timeline.has_epochs or own) and not all(t.at_least >= removal.end for t in later)


def _same(removal: Removal, traced: set[Removal]) -> bool:
    """It is traced, with any epoch."""
    return any((r.broker, r.start, r.end, r.evidence) == (removal.broker, removal.start, removal.end, removal.evidence) for r in traced)
