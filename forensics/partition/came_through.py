"""Whether a leader's log came through to its term: its process lived on since it last took part, or was stopped in order in between.

Here: the proof that no tail can have been left behind in a page cache. Not here: a log that is seen to have been recovered or to be shorter
(loss), or what a broker's lives are (spark.cluster.presence).

No line says that a process was killed; so what is not told to have been in order is not taken for it.
"""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

from forensics.partition.witnesses import tells_logs
from parsers.kinds import TAKES_PART
from spark.cluster.facts import Cluster
from spark.cluster.presence import Incarnation
from spark.events import Event
from spark.partition.continuity import Gap, between
from spark.partition.timeline import PartitionTimeline, Term


def came_through(term: Term, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    replica = timeline.replicas.get(term.leader)
    start = next((s for s in replica.leader_starts if s.event in term.evidence), None) if replica is not None else None
    if replica is None or start is None:
        return False
    known = start.event.previous_leader_epoch
    if knew(start.event) and known != term.epoch and any(t.epoch == known for t in timeline.terms) and not elected_again(term):
        return True  # of one without a leader it may have heard as it had just been started
    before = [e for e in replica.events[: replica.events.index(start.event)] if e.writer == term.leader and _takes_part(e, timeline)]
    if not before or not tells_logs(term.leader, cluster):
        return False
    if any(load.unclean and load.epoch is None and load.offset for load in replica.loads):
        return False  # it was back from an unclean stop when its evidence begins, and what it knew before is not there
    lives = cluster.presence(term.leader).latest(start.event.at)
    lived_on = not lives or _within(lives[-1], before[-1])
    if lived_on:  # or it was started anew, and the line of that is not there
        since = replica.events[replica.events.index(before[-1]) : replica.events.index(start.event)]
        loaded = any(load.offset and load.event in since for load in replica.loads)
        given_up = elected_again(term) or (term.before is not None and term.before.leader == -1)
        return start.event.previous_leader_epoch is None and not given_up and not loaded
    return len(lives) > 1 and _within(lives[-2], before[-1]) and in_order(lives[-2], lives[-1])


def came_back(term: Term, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The leader's process came after one that is not known to have stopped in order and had the log before; no leader has taken it into the ISR
    since. What it was told in this life, of a leader that may be gone, says nothing of its log."""
    replica = timeline.replicas.get(term.leader)
    lives = cluster.presence(term.leader).latest(term.at)
    if replica is None or len(lives) < 2 or in_order(lives[-2], lives[-1]):
        return False
    begin = lives[-1].begin_at
    had = begin is None or any(e.at is not None and e.at < begin for e in replica.events)
    return had and not in_sync_since(begin, term.leader, term, timeline)


def in_sync_since(moment: datetime | None, broker: int, term: Term, timeline: PartitionTimeline) -> bool:
    """Its leader took the broker into the ISR after that moment and before the term: then it had all that was committed
    (Partition#maybeExpandIsr)."""
    led = [s for s in timeline.states if s.leader_epoch <= term.epoch and s is not term.state]
    return any(
        broker in s.isr
        and broker not in prior.isr
        and moment is not None
        and s.at is not None
        and s.at > moment
        and not isinstance(between(prior, s, isr_told=True), Gap)
        for prior, s in pairwise(led)
        if s.leader not in (-1, broker) and s.leader_epoch < term.epoch
    )


def elected_again(term: Term) -> bool:
    """Its leader had been the only one in sync, and was elected again as it had been: nobody is while it lives. A ZooKeeper controller tells one
    that was just started of the old epoch first."""
    before, state = term.before, term.state
    if before is None or state is None or before is state:
        return False
    alone = before.isr == state.isr == (term.leader,)
    return before.leader == term.leader and alone and before.replicas == state.replicas


def _takes_part(event: Event, timeline: PartitionTimeline) -> bool:
    """In a term: of an epoch without a leader it may have heard as it had just been started."""
    return event.event in TAKES_PART and (event.leader_epoch is None or any(t.epoch == event.leader_epoch for t in timeline.terms))


def knew(start: Event) -> bool:
    """The process knew of a leader epoch before; one that was started anew knows of none (Partition.leaderEpoch)."""
    return start.previous_leader_epoch is not None and start.previous_leader_epoch >= 0


def _begun(life: Incarnation, event: Event) -> bool:
    return life.begin_at is None or event.at is None or life.begin_at <= event.at


def _within(life: Incarnation, event: Event) -> bool:
    return _begun(life, event) and (life.end_at is None or event.at is None or event.at <= life.end_at)


def in_order(life: Incarnation, after: Incarnation) -> bool:
    """A life is known to have ended in order, by its own words or those of the one that came after it."""
    return life.outcome == "stopped" or any(e.event == "clean-start" for e in after.evidence)
