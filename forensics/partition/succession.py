"""A term's leader as it began: what its log had gone through since it last had all that was committed, and who had led alone before it.

Here: what a judgement on a loss asks of the beginning of a term, each answered when it is first asked. Not here: what was lost (loss).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from forensics.partition.before_epochs import cut_before_leading
from forensics.partition.came_through import came_back, came_through, in_sync_since, knew
from forensics.partition.durability import required
from forensics.partition.elections import Election, Proof, elections, right_before
from forensics.partition.handovers import Handover, handover
from forensics.partition.inheritance import inherited
from parsers.kinds import ON_DISK, TAKES_PART, Role, named, of
from spark.cluster.effective import strict
from spark.cluster.facts import Cluster
from spark.events import Event
from spark.partition.continuity import Contiguous, Gap, between
from spark.partition.replicas import Load, Removal, Replica
from spark.partition.timeline import PartitionTimeline, Term

_OF_A_LIFE = (TAKES_PART - named("partition-state")) | of(role=Role.CUT) | ON_DISK
"""What a broker tells of its log once it has loaded it."""


class Succession:
    def __init__(self, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> None:
        self.term, self.timeline, self.cluster = term, timeline, cluster
        self.replica = timeline.replicas.get(term.leader)

    @cached_property
    def election(self) -> Election | None:
        return {e.term.order: e for e in elections(self.timeline, self.cluster)}.get(self.term.order)

    @property
    def unclean(self) -> bool:
        return self.election is not None and bool(self.election.unclean)

    @property
    def perhaps_unclean(self) -> bool:
        """No more than perhaps."""
        return self.election is not None and self.unclean and self.election.confidence == "possible"

    @cached_property
    def clean(self) -> Proof | None:
        """What proves that the leader came from the ISR, or led on."""
        if self.election is not None:
            return self.election.clean
        ground = right_before(self.term, self.timeline, self.cluster)
        return ground if isinstance(ground, Contiguous) else None

    @cached_property
    def earlier(self) -> Term | None:
        """The last term before this one, but for elections of the same broker that it did not live to hear of."""
        terms = (t for t in reversed(self.timeline.terms) if t.order < self.term.order)
        return next((t for t in terms if t.leader != self.term.leader or t.start_offset is not None), None)

    @cached_property
    def gave_way(self) -> Handover | None:
        return handover(self.term, self.timeline, self.cluster)

    @cached_property
    def cut(self) -> Removal | None:
        """What the leader had cut off its own log, to its high watermark, and not fetched again."""
        return cut_before_leading(self.term, self.timeline)

    @cached_property
    def brought(self) -> dict[int, Event]:
        return inherited(self.timeline, self.cluster)

    @property
    def tells_start(self) -> bool:
        return self.replica is not None and any(s.epoch == self.term.epoch for s in self.replica.leader_starts)

    # who was alone

    @cached_property
    def sole(self) -> int | None:
        """The only in-sync replica when the term before this one ended, if it led on alone.

        A controller that finds all replicas of an ISR dead takes them out one after the other: the last one left in it need not
        have written anything alone. So the leader's own log must know that it was alone, where there is such a log.
        """
        before, state = self.term.before, self.term.state
        if before is None or len(before.isr) != 1:
            return None
        if state is not None and state is not before and isinstance(between(before, state, isr_told=True), Gap):
            return None
        broker = before.isr[0]
        replica = self.timeline.replicas.get(broker)
        if replica is None or not replica.leader_starts:
            led = any(s.leader == broker and s.isr == before.isr for s in self.timeline.states)
            return broker if led and replica is None else None
        return broker if any(self._alone(e, broker) for e in self._before_restart(replica)) else None

    @cached_property
    def _perhaps_sole(self) -> int | None:
        """It was left as the only in-sync replica, and not gone by then: its own log may have told that it led on alone, and lacks it."""
        before = self.term.before
        if before is None or len(before.isr) != 1 or before.at is None:
            return None
        return before.isr[0] if self.cluster.presence(before.isr[0]).away(before.at) is None else None

    def _alone(self, event: Event, broker: int) -> bool:
        mine = event.leader in (None, broker) and event.reason in (None, "received")
        return event.event in TAKES_PART and mine and self.after(event.leader_epoch) and event.isr == [broker]

    def _before_restart(self, replica: Replica) -> list[Event]:
        """A broker's events up to the restart after which it took the term; all of them if it took none."""
        loaded: int | None = None
        for index, event in enumerate(replica.events):
            loaded = index if event.event == "log-load" else loaded
            if event in self.term.evidence and loaded is not None:
                return replica.events[:loaded]
        return replica.events

    @cached_property
    def commits_alone(self) -> bool:
        """One that was the whole ISR, and has lost what it had or led no more, commits all that it takes: up to 3.6 always, from 3.7 on unless
        min.insync.replicas asks for more (Partition#maybeIncrementLeaderHW, KAFKA-15583)."""
        sole, before = self.sole, self.term.before
        if sole is None or before is None or not (sole != self.term.leader or self.term.restart or self.recovered):
            return False
        before = replace(before, leader=sole)
        asked = required(before, self.timeline, self.cluster)
        return strict(self.cluster, sole, before.at) is False or (asked is not None and len(before.isr) >= asked)

    def lost_alone(self, removals: tuple[Removal, ...]) -> bool:
        """The leader had gone on alone after the replicas that tell of the loss had dropped out, and lost its own log's end: the loss is one, of
        its own records, of which what the others still had is the beginning. Only its own disk could say how far it had come.

        It is not split: a range is sure by what its end is measured with, and an end that others tell from before they dropped out measures
        where they stood, not what the leader lost; the verdict is `lost` all the same, for what they had was committed."""
        if self.term.leader not in (self.sole, self._perhaps_sole) or self.whole:
            return False
        own = [r for r in removals if r.broker == self.term.leader]
        return not any(r.cause == "empty" or (r.cause == "restart" and r.settled) for r in own)  # of these it told itself what it had

    @cached_property
    def untold_since(self) -> bool:
        """The leader may have gone on after the replicas that tell of the loss had dropped out, and what it told then is not in evidence."""
        return self._begins_anew() or (self.sole == self.term.leader and self.replica is None)

    def _begins_anew(self) -> bool:
        """The leader had led before, or may have in a time of which nothing is known, and what it told then is gone: its machine was
        replaced, or its older logs are not in evidence."""
        term, before = self.term, self.term.before
        if self.replica is None or before is None or term.restart:
            return False
        missed = between(before, term.state, isr_told=True) if term.state is not None else None
        if before.leader != term.leader and not (isinstance(missed, Gap) and term.leader in before.isr):
            return False
        for event in self.replica.events:
            leads = event.event == "leader-start" or (event.event == "partition-state" and event.leader == term.leader)
            if leads and event.leader_epoch == term.epoch:
                return not knew(event)
            told = event.event == "partition-state" and event.reason == "received" and event.leader_epoch is not None
            if event.event in _OF_A_LIFE or told:
                return False
        return True

    # what its log had gone through

    def after(self, epoch: int | None) -> bool:
        """What happened under this epoch lies before the term."""
        return epoch is None or epoch < self.term.epoch or (self.term.restart > 0 and epoch == self.term.epoch)

    @cached_property
    def recovered(self) -> bool:
        return self.recovered_by(self.term.leader)

    def recovered_by(self, broker: int) -> bool:
        """The broker's log went through an unclean restart, or came back shorter, before it took this term, and it has not come into the ISR
        since."""
        return self.shorter(broker) or bool(self.unclean_loads(broker))

    def shorter(self, broker: int) -> bool:
        """It came back without what its own log had held."""
        back = (r for r in self.timeline.removals_of(broker) if r.cause in ("restart", "empty") and self.after(r.epoch))
        return any(not in_sync_since(r.at, broker, self.term, self.timeline) for r in back)

    def unclean_loads(self, broker: int) -> list[Load]:
        own = self.timeline.replicas[broker].loads if broker in self.timeline.replicas else []
        near = [load for load in own if (load.unclean or load.cut) and self._near(load.epoch)]
        return [load for load in near if not in_sync_since(load.at, broker, self.term, self.timeline)]

    def _near(self, epoch: int | None) -> bool:
        """A restart with this epoch in mind lies between the term before and this one."""
        led = self.term.epoch if self.term.restart else self.earlier.epoch if self.earlier is not None else None
        return epoch is not None and self.after(epoch) and (led is None or epoch >= led)

    @cached_property
    def whole(self) -> bool:
        """The leader's log came through with all that it once had."""
        if self.recovered or self.emptied or self.cut is not None:
            return False
        return came_through(self.term, self.timeline, self.cluster)

    @cached_property
    def came_back(self) -> bool:
        return came_back(self.term, self.timeline, self.cluster)

    def once_had(self, offset: int) -> bool:
        """The leader's own log had come further than it began with, and what cut it is not in evidence: it may have had these records."""
        if self.replica is None or self.term.restart:
            return False
        begun = next((n for n, e in enumerate(self.replica.events) if e in self.term.evidence), len(self.replica.events))
        before = set(self.replica.events[:begun])
        seen = [o for o in self.replica.observations if o.quantity == "log-end-offset" and o.offset > offset and o.event in before]
        return bool(seen) and not any(r.start <= offset and r.end >= seen[-1].offset for r in self.replica.removals)

    @cached_property
    def emptied(self) -> bool:
        """The leader began at 0 after it had created anew a log whose end is not in evidence, as that of a follower that only fetched."""
        return self.replica is not None and self.term.start_offset == 0 and any(self.after(epoch) for epoch, _ in self.replica.recreated)

    @property
    def came_back_empty(self) -> bool:
        empty = (r for r in self.timeline.removals_of(self.term.leader) if r.cause == "empty" and r.start == self.term.start_offset)
        return self.emptied or any(r.epoch is None or r.epoch <= self.term.epoch for r in empty)

    @property
    def corrupted(self) -> bool:
        """Recovery met bytes that are no record. A torn tail after power loss prints the same, and is by far the usual reason;
        only a cut below the flushed part of the log is damage of what was safe."""
        if self.replica is None:
            return False
        flushed = max((e.offset or 0 for e in self.replica.events if e.event == "recovery-point"), default=0)
        cut = (load for load in self.replica.loads if load.cut and self._near(load.epoch))
        return any(load.event.log_end_offset is not None and load.event.log_end_offset < flushed for load in cut)
