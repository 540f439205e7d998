"""Whether a leader's log came through to its term: its process lived on since it last took part, or was stopped in order in between.

Here: the proof that no tail can have been left behind in a page cache. Not here: a log that is seen to have been recovered or to be shorter
(loss), or what a broker's lives are (spark.cluster.presence).

No line says that a process was killed; so what is not told to have been in order is not taken for it.
"""

from __future__ import annotations

from forensics.partition.witnesses import tells_logs
from parsers.kinds import TAKES_PART
from spark.cluster.facts import Cluster
from spark.cluster.presence import Incarnation
from spark.events import Event
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
    lives = [life for life in cluster.presence(term.leader).lives if _begun(life, start.event)]
    lived_on = not lives or _within(lives[-1], before[-1])
    if lived_on:  # or it was started anew, and the line of that is not there
        since = replica.events[replica.events.index(before[-1]) : replica.events.index(start.event)]
        loaded = any(load.offset and load.event in since for load in replica.loads)
        given_up = elected_again(term) or (term.before is not None and term.before.leader == -1)
        return start.event.previous_leader_epoch is None and not given_up and not loaded
    return len(lives) > 1 and _within(lives[-2], before[-1]) and _in_order(lives[-2], lives[-1])


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


def _in_order(life: Incarnation, after: Incarnation) -> bool:
    return life.outcome == "stopped" or any(e.event == "clean-start" for e in after.evidence)
