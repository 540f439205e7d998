"""One hand-over as the timeline shows it: the leader before, the new leader, and the history of the new leader's log.

Here: facts about a LeaderTransition, each computed on first use. Not here: the row of the table that they narrow (handovers), or
what was lost (losses).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import dropwhile, pairwise, takewhile

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import (
    LOG,
    ORDER,
    PLACED,
    PROCESS,
    isr_changes_observable,
    was_running,
    would_show,
)
from forensics.model.events import Event
from forensics.model.partition.durability import required
from forensics.model.partition.replicas import OWN_LOSS, LeaderStart, Load, Observation, Removal, Replica
from forensics.model.partition.states import Contiguous, Gap, State, between, is_raise
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.model.presence.availability import BrokerRun
from forensics.model.settings.effective import strict
from forensics.model.times import contains, is_later
from forensics.proof.elections import ELIGIBLE, Election, by_order, joined_with_all, right_before
from forensics.proof.foreign_logs import inherited
from forensics.proof.old_log import SteppedDown, stepped_down
from forensics.proof.pre_kip101 import cut_before_leading
from forensics.proof.removed import RemovedRange, began_after, removed, shown_before
from forensics.proof.verdict import Handover
from forensics.thresholds import CRASH_NOTICED
from parsers.cached import cached_property
from parsers.frozen import dataclass
from parsers.kinds import ON_DISK, TAKES_PART, Role, named, of

_OF_A_RUN = (TAKES_PART - named("partition-state")) | of(role=Role.CUT) | ON_DISK
"""Events of a broker's log after the broker has loaded it."""
_ANOTHER_LOG = named("log-created", "log-deleted")
"""What comes before is of another log of the replica."""


@dataclass(frozen=True, eq=False)
class LeaderTransition:
    """`term` begins after `before`; None at the start of the evidence."""

    term: Term
    before: Term | None
    timeline: PartitionTimeline
    cluster: Cluster
    rows: Sequence[Handover] = ()
    """The rows of the table so far: at least those of the hand-overs before this one."""

    # leaders

    @property
    def leader(self) -> int:
        return self.term.leader

    @cached_property
    def replica(self) -> Replica | None:
        return self.timeline.replicas.get(self.leader)

    @cached_property
    def start(self) -> LeaderStart | None:
        """The new leader's own line about the start of this term."""
        return next((s for s in self.replica.leader_starts if s.event in self.term.evidence), None) if self.replica is not None else None

    @cached_property
    def prints_start(self) -> bool:
        """The new leader printed that it leads in this epoch, so it was running when it was notified."""
        return self.replica is not None and any(s.epoch == self.term.epoch for s in self.replica.leader_starts)

    @cached_property
    def earlier(self) -> Term | None:
        """The last term before, except elections of the same broker of which it was never notified because it had crashed."""
        return next((t for t in self.timeline.terms_before(self.term) if t.leader != self.leader or t.start_offset is not None), None)

    @cached_property
    def same_leader(self) -> bool:
        """The leader leads on in another leader epoch, in the process in which it led."""
        term, before = self.term, self.before
        alike = before is not None and before.leader == term.leader and (term.before is None or term.before.leader == term.leader)
        return alike and not term.restart and not self.elected_again and (term is not self.timeline.terms[-1] or self.prints_start)

    @cached_property
    def elected_again(self) -> bool:
        """Its leader had been the only one in sync, and was elected again in the same state: it was started again, or lost its session. A
        ZooKeeper controller first sends the old epoch to a broker that was just started."""
        before, state = self.term.before, self.term.state
        if before is None or state is None or before is state:
            return False
        alone = before.isr == state.isr == (self.leader,) == (before.leader,) and before.replicas == state.replicas
        raised = any(is_raise(e) and e.leader_epoch == self.term.epoch for e in self.timeline.of("partition-state"))
        return alone and not raised and not self._not_started(before.at, self.start.event.at if self.start is not None else state.at)

    def _not_started(self, since: datetime | None, until: datetime | None) -> bool:
        """The leader's process was not started in this time: its log would show it."""
        if since is None or until is None or self.cluster.availability(self.leader).begun(since, until):
            return False
        return bool(would_show(self.leader, self.cluster, LOG, PROCESS, *PLACED, since=since, until=until, of=self.timeline))

    @cached_property
    def election(self) -> Election | None:
        return by_order(self.timeline, self.cluster).get(self.term.order)

    @cached_property
    def in_sync(self) -> bool:
        """It is proven that the new leader was in the ISR or an eligible replica, or that it leads on."""
        if self.election is not None:
            return self.election.clean is not None
        return isinstance(right_before(self.term, self.timeline, self.cluster), Contiguous)

    @property
    def eligible(self) -> bool:
        """Not in the ISR when it was elected, but an eligible leader replica (KIP-966)."""
        return self.election is not None and self.election.why.id == ELIGIBLE

    @cached_property
    def joined_behind(self) -> State | None:
        """The state with which the leader joined the ISR, if it need not have had all committed records since."""
        return self.member_behind(self.leader, self.term.at_least)

    def member_behind(self, broker: int, end: int) -> State | None:
        """The same of a member of the ISR whose log ended at `end` or beyond. A broker that has led since it joined had all when it was
        elected. If no line shows how it joined, it did so after the last state without it."""
        states, joined = self.timeline.states, None
        for place in reversed(range(bisect_left(states, self.term.epoch, key=lambda s: s.leader_epoch))):
            state = states[place]
            if state.leader == broker:
                return None
            if joined is not None and (broker not in state.isr or isinstance(between(state, joined, isr_observable=True), Gap)):
                break
            joined = state
        return joined if joined is not None and not joined_with_all(joined, end, self.rows, self.timeline, self.cluster) else None

    def joined_isr_since(self, moment: datetime | None, broker: int) -> bool:
        """A leader took the broker into the ISR after that moment and before the term: then it had all committed records
        (Partition#maybeExpandIsr)."""
        led = [s for s in self.timeline.states if s.leader_epoch <= self.term.epoch and s is not self.term.state]
        end = self.term.at_least if broker == self.leader else 0
        return any(
            broker in s.isr
            and broker not in prior.isr
            and is_later(s.at, moment)
            and not isinstance(between(prior, s, isr_observable=True), Gap)
            and joined_with_all(s, end, self.rows, self.timeline, self.cluster)
            for prior, s in pairwise(led)
            if s.leader not in (-1, broker) and s.leader_epoch < self.term.epoch
        )

    @cached_property
    def stepped_down(self) -> SteppedDown | None:
        before = self.timeline.before(self.term)
        return stepped_down(before, self.term, self.timeline, self.cluster) if before is not None else None

    # removals from logs

    @cached_property
    def pieces(self) -> Sequence[RemovedRange]:
        return removed(self.timeline, self.cluster).get(self.term.order, ())

    @cached_property
    def removals(self) -> tuple[Removal, ...]:
        """The removals of the pieces, the furthest first."""
        return tuple(dict.fromkeys(p.removal for p in sorted(self.pieces, key=lambda p: (-p.end, not p.removal.exact))))

    @cached_property
    def longest(self) -> Removal | None:
        return max(self.pieces, key=lambda p: (p.end, p.removal.exact, -p.start)).removal if self.pieces else None

    @cached_property
    def brought(self) -> dict[int, Event]:
        """Logs that brokers brought from the cluster before this one."""
        return inherited(self.timeline, self.cluster)

    @cached_property
    def foreign(self) -> bool:
        """The removed records are of another partition of this name."""
        if self.term.epoch == 0 and not self.term.restart and self.timeline.begins_in_first_epoch:
            return True
        return any(r.broker in self.brought and r.end == self.brought[r.broker].log_end_offset for r in self.removals)

    # the new leader's log

    @cached_property
    def cut(self) -> Removal | None:
        """The part of its own log that the leader had cut off, to its high watermark, and not fetched again: no leader has taken it into
        the ISR since."""
        cut = cut_before_leading(self.term, self.timeline)
        return cut if cut is not None and not self.joined_isr_since(cut.at, self.leader) else None

    def is_before(self, epoch: int | None) -> bool:
        """Events with this epoch happened before the term."""
        return epoch is None or epoch < self.term.epoch or (self.term.restart > 0 and epoch == self.term.epoch)

    def came_back_shorter(self, broker: int) -> bool:
        """The broker came back with less than its own log had held, and has not joined the ISR since."""
        return bool(self._own_losses(broker))

    def _own_losses(self, broker: int) -> list[Removal]:
        own = (r for r in self.timeline.removals_of(broker) if r.cause in OWN_LOSS and self.is_before(r.epoch))
        return [r for r in own if self._since_it_led(r.evidence[-1:]) and not self.joined_isr_since(r.at, broker)]

    def _since_it_led(self, events: Sequence[Event]) -> bool:
        """Events that are not in the own lines of the leader after its term began, or before it began an earlier one: then that one began
        with what was left."""
        if not began_after(self.term, events, self.timeline):
            return False
        led = next((t for t in self.timeline.terms_before(self.term) if t.leader == self.leader), None)
        return led is None or not shown_before(led, events, self.timeline)

    def loads(self, broker: int) -> list[Load]:
        """Loads of its log between the term before and this one, after which it has not joined the ISR."""
        own = self.timeline.replicas[broker].loads if broker in self.timeline.replicas else []
        return [load for load in own if self._counts(load.epoch, load.event, broker)]

    def _counts(self, epoch: int | None, event: Event, broker: int) -> bool:
        return self._between_terms(epoch) and self._since_it_led([event]) and not self.joined_isr_since(event.at, broker)

    def unclean_loads(self, broker: int) -> list[Load]:
        return [load for load in self.loads(broker) if load.unclean or load.cut]

    @cached_property
    def leader_recovered(self) -> bool:
        return self.recovered(self.leader)

    def recovered(self, broker: int) -> bool:
        """Its log was recovered after an unclean stop, or came back shorter."""
        return self.came_back_shorter(broker) or bool(self.unclean_loads(broker)) or bool(self._recoveries(broker))

    def _recoveries(self, broker: int) -> list[Event]:
        """Recoveries of its log, as `loads`, that no line about the end of the log follows."""
        own = self.timeline.replicas[broker].recovered if broker in self.timeline.replicas else []
        return [e for epoch, e in own if self._counts(epoch, e, broker)]

    @cached_property
    def perhaps_joined_since(self) -> bool:
        """Since its log was recovered or came back shorter, the leader joined the ISR, perhaps without all committed records, or may have
        joined it: a change of the ISR is missing."""
        lost: Sequence[Removal | Load | Event] = (
            *self._own_losses(self.leader),
            *self.unclean_loads(self.leader),
            *self._recoveries(self.leader),
        )
        moments = [one.at for one in lost]
        known = [at for at in moments if at is not None]
        if len(known) < len(moments) or not known or self.term.state is None:
            return True
        after = dropwhile(lambda states: states[0] is not self.term.state, pairwise(reversed(self.timeline.states)))
        for state, before in after:
            observable = isr_changes_observable(before.leader, self.timeline, self.cluster, before.at)
            joined = self.leader in state.isr and self.leader not in before.isr
            if joined or isinstance(between(before, state, isr_observable=observable), Gap):
                return True
            if before.at is not None and before.at <= max(known):
                return False
        return True

    def _between_terms(self, epoch: int | None) -> bool:
        led = self.term.epoch if self.term.restart else self.earlier.epoch if self.earlier is not None else None
        return epoch is not None and self.is_before(epoch) and (led is None or epoch >= led)

    @cached_property
    def emptied(self) -> bool:
        """The leader began at 0 with a log that was created again or without its files: it came back empty, or its disk was replaced."""
        if self.replica is None:
            return False
        if self.term.start_offset == 0 and self._lost_its_files(self.replica):
            return True
        empty = (r for r in self.replica.removals if r.cause == "empty" and self.term.start_offset in (0, r.start))
        again = self.term.start_offset == 0 and bool(self.created_again)
        last = (r for r in empty if r.epoch is None or r.epoch <= self.term.epoch)
        return again or self.created_as_leader or any(self._since_it_led(r.evidence[-1:]) for r in last)

    def _lost_its_files(self, replica: Replica) -> bool:
        """It loaded an empty log, although an earlier process had loaded records of this log: they were on the disk."""
        at = self.term.at
        loads = [load for load in replica.loads if self.is_before(load.epoch) and not (load.at and at and load.at > at)]
        back = next((load for load in reversed(loads) if load.offset == 0 and not load.cut), None)
        restarts = (r for r in replica.removals if r.cause == "restart" and r.start == 0 and self.is_before(r.epoch))
        return back is not None and any(back.event in r.evidence for r in restarts) and _held_before(back.event, replica)

    @cached_property
    def created_again(self) -> Sequence[Event]:
        """Creations of the leader's log, where it had one, before the term."""
        made = self.replica.recreated if self.replica is not None else ()
        return [e for epoch, e in made if self.is_before(epoch) and self._since_it_led((e,))]

    @property
    def log_start_before(self) -> int:
        """The leader's last known log start offset before its log was created again."""
        seen = self._of_log_before("log-start-offset")
        return seen[-1].offset if seen else 0

    @property
    def reached_before(self) -> int | None:
        """The offset that the leader's log is known to have reached before it was created again."""
        return max((o.offset for o in self._of_log_before("log-end-offset")), default=None)

    def _of_log_before(self, quantity: str) -> list[Observation]:
        """What was seen of the leader's log before it was created again."""
        if self.replica is None or not self.created_again:
            return []
        events = self.replica.events[: self.replica.events.index(self.created_again[-1])]
        made = max((n for n, e in enumerate(events) if e.event == "log-created"), default=-1)
        of_log = {id(e) for e in events[made + 1 :]}
        return [o for o in self.replica.observations if o.quantity == quantity and id(o.event) in of_log]

    @cached_property
    def created_as_leader(self) -> bool:
        """Its first line about the partition is the creation of the log, and it leads in a later leader epoch than the first: it had been
        in the ISR, and its disk or its machine was replaced."""
        if self.start is None or self.replica is None or self.term.start_offset != 0 or self.term.epoch == 0:
            return False
        own = self.replica.events[: self.replica.events.index(self.start.event)]
        place = next((n for n, e in enumerate(own) if e.event == "log-created"), None)
        return place is not None and not any(_has_role(e) and e.leader_epoch != self.term.epoch for e in own)

    @cached_property
    def damaged(self) -> bool:
        """Recovery cut the log below its flushed part. A torn tail after a power loss causes the same lines, and is ordinary."""
        if self.replica is None:
            return False
        flushed = max((e.offset or 0 for e in self.replica.events if e.event == "recovery-point"), default=0)
        cut = (load for load in self.replica.loads if load.cut and self._between_terms(load.epoch))
        return any(load.event.log_end_offset is not None and load.event.log_end_offset < flushed for load in cut)

    def log_had_reached(self, offset: int) -> bool:
        """The leader's own log had gone further than where it began, and the cause of the cut is unknown: it may have had these records."""
        if self.replica is None or self.term.restart:
            return False
        begun = next((n for n, e in enumerate(self.replica.events) if e in self.term.evidence), len(self.replica.events))
        before = set(self.replica.events[:begun])
        seen = [o for o in self.replica.observations if o.quantity == "log-end-offset" and o.offset > offset and o.event in before]
        return bool(seen) and not any(r.start <= offset and r.end >= seen[-1].offset for r in self.replica.removals)

    # the only replica in sync

    @cached_property
    def sole(self) -> int | None:
        """The only in-sync replica when the term before this one ended, if it led on alone.

        A controller that finds all replicas of an ISR dead removes them one after the other, so the last one need not have written
        anything alone. Its own log must show that it was alone, if there is such a log; else the length of its time alone.
        """
        before = self.term.before
        if before is None or len(before.isr) != 1 or isinstance(right_before(self.term, self.timeline, self.cluster), Gap):
            return None
        broker = before.isr[0]
        replica = self.timeline.replicas.get(broker)
        if replica is None:
            return broker if any(s.isr == before.isr and self._led_in(s, broker) for s in self.timeline.states) else None
        own = self._before_restart(replica.events) if replica.leader_starts else ()
        return broker if any(self._leads_alone(e, broker) and self._in_effect(e, replica) for e in own) else None

    @cached_property
    def perhaps_sole(self) -> int | None:
        """It remained as the only in-sync replica and was still running: its own log may have shown that it led on alone."""
        before = self.term.before
        if before is None or len(before.isr) != 1 or before.at is None:
            return None
        return before.isr[0] if self.cluster.availability(before.isr[0]).outage(before.at) is None else None

    def _leads_alone(self, event: Event, broker: int) -> bool:
        own = event.leader in (None, broker) and event.reason in (None, "received")
        return event.event in TAKES_PART and own and self.is_before(event.leader_epoch) and event.isr == [broker]

    def _led_in(self, state: State, broker: int) -> bool:
        """A broker whose log is not in the evidence was running in this state: with ZooKeeper, it made every change within its leader epoch
        itself; and a state that lasts longer than a crash goes unnoticed shows that it was not dead before."""
        states = self.timeline.states
        place = states.index(state)
        before, after = states[place - 1] if place else None, states[place + 1] if place + 1 < len(states) else None
        own = self.cluster.mode == "zookeeper" and before is not None and before.leader_epoch == state.leader_epoch
        stood = after.at - state.at > CRASH_NOTICED if after is not None and after.at and state.at else False
        return state.leader == broker and state.doubt is None and (own or stood)

    def _in_effect(self, event: Event, replica: Replica) -> bool:
        """The line is not a mere request to change the ISR. Until the answer, the high watermark waits for the larger ISR
        (PartitionState#maximalIsr). A leader that would have printed the answer, and did not, must have run when others saw the change."""
        update = next((u for u in replica.isr_updates if u.event is event), None)
        if update is None or update.confirmed:
            return True
        state = next((s for s in self.timeline.states if event in (s.event, *s.also)), None)
        if state is None or state.doubt is not None:
            return False
        return update.confirmed is None or (state.at is not None and was_running(replica.broker, state.at, state.at, self.cluster))

    def _before_restart(self, events: Sequence[Event]) -> Sequence[Event]:
        """A broker's events up to the restart after which it took the term; all of them if it did not take it."""
        loaded: int | None = None
        for index, event in enumerate(events):
            loaded = index if event.event == "log-load" else loaded
            if event in self.term.evidence and loaded is not None:
                return events[:loaded]
        return events

    @cached_property
    def commits_alone(self) -> bool:
        """The only in-sync replica, which has lost records or does not lead any more, commits all that it appends: up to 3.6 always, from
        3.7 on unless min.insync.replicas requires more (Partition#maybeIncrementLeaderHW, KAFKA-15583)."""
        sole, before = self.sole, self.term.before
        if sole is None or before is None or not (sole != self.leader or self.term.restart or self.leader_recovered):
            return False
        before = replace(before, leader=sole)
        asked = required(before, self.timeline, self.cluster)
        return strict(self.cluster, sole, before.at) is False or (asked is not None and len(before.isr) >= asked)

    @cached_property
    def lost_end_alone(self) -> bool:
        """The leader had gone on alone after the replicas that show the loss had left, and lost the end of its own log. Only its own disk
        could show how far that went."""
        alone = self.leader in (self.sole, self.perhaps_sole) or (self.created_as_leader and self.end_unobserved)
        if not alone or self.log_intact:
            return False
        own = [r for r in self.removals if r.broker == self.leader]
        return not any(r.cause == "empty" or (r.cause == "restart" and r.exact) for r in own)  # these show what it had

    @cached_property
    def end_unobserved(self) -> bool:
        """The leader may have gone on after the replicas that show the loss had left, and its lines of that time are missing."""
        return self._older_log_missing() or (self.sole == self.leader and self.replica is None)

    def _older_log_missing(self) -> bool:
        """The leader had led before, or may have, and its lines of that time are missing: its machine was replaced, or older logs are
        missing."""
        term, before = self.term, self.term.before
        if self.created_as_leader and before is None:
            return True
        if self.replica is None or before is None or term.restart:
            return False
        missing = between(before, term.state, isr_observable=True) if term.state is not None else None
        if before.leader != term.leader and not (isinstance(missing, Gap) and term.leader in before.isr):
            return False
        first = next((e for e in self.replica.events if self._starts_term(e) or self._shows_earlier_role(e)), None)
        return first is None or (self._starts_term(first) and not knew_epoch(first))

    def _starts_term(self, event: Event) -> bool:
        leads = event.event == "leader-start" or (event.event == "partition-state" and event.leader == self.leader)
        return leads and event.leader_epoch == self.term.epoch

    def _shows_earlier_role(self, event: Event) -> bool:
        received = event.event == "partition-state" and event.reason == "received" and event.leader_epoch is not None
        return event.event in _OF_A_RUN or received

    # the new leader's process

    @cached_property
    def log_intact(self) -> bool:
        """The leader's log is complete: its process was running or stopped cleanly, and no records were cut, recovered or created again."""
        if self.leader_recovered or self.emptied or self.cut is not None:
            return False
        return self.kept_running or self.stopped_cleanly

    @cached_property
    def kept_running(self) -> bool:
        """The leader's process did not restart since it last had all committed records."""
        if self.start is None or self.restarted_since_in_sync(self.leader):
            return False
        known = self.start.event.previous_leader_epoch
        if knew_epoch(self.start.event) and known != self.term.epoch and self._term_of(known) and not self.elected_again:
            # it may have received an epoch without a leader just after its start, and a KRaft broker replays old epochs at its start
            return bool(would_show(self.leader, self.cluster, ORDER))
        return self._unfenced or self._ran_on

    @cached_property
    def _unfenced(self) -> bool:
        """KRaft: it was elected as the controller counted its process as alive again, and that process had registered before the term
        before. The broker epoch of a process is the offset of its registration in the metadata log (KIP-631)."""
        states = [term.state for term in (self.term, self.before) if term is not None and term.state is not None]
        records = [next((e for e in (s.event, *s.also) if e.metadata_offset is not None and e.at is not None), None) for s in states]
        if len(records) < 2 or (elected := records[0]) is None or (led := records[1]) is None:
            return False
        again = (
            e for e in self.cluster.of("metadata-broker-change") if (e.broker, e.reason, e.at) == (self.leader, "unfenced", elected.at)
        )
        return any(e.broker_epoch is not None and e.broker_epoch <= (led.metadata_offset or -1) for e in again)

    def restarted_since_in_sync(self, broker: int) -> bool:
        """Its process was started since the term before, or loaded its log, and no leader has taken it into the ISR since."""
        since = self.before.at if self.before is not None else None
        loads = (load for load in self.loads(broker) if load.offset and (load.at is None or since is None or load.at > since))
        starts = (at for at in self._starts(broker) if not self.joined_isr_since(at, broker))
        return any(starts) or any(loads) or bool(self._recoveries(broker))

    def _starts(self, broker: int) -> Sequence[datetime]:
        """Starts of its process since the term before."""
        since, until = (self.before.at if self.before is not None else None), self.term.at
        return self.cluster.availability(broker).begun(since, until) if since is not None and until is not None else ()

    @cached_property
    def _ran_on(self) -> bool:
        """No line shows a restart, and the logs would contain it."""
        assert self.start is not None
        last = self._last_part
        if last is None or not self._observable():
            return False
        runs = self.cluster.availability(self.leader).latest(self.start.event.at)
        if runs and not _within(runs[-1], last):
            return False
        assert self.replica is not None
        since = self.replica.events[self.replica.events.index(last) : self.replica.events.index(self.start.event)]
        signs = (*(load.event for load in self.replica.loads if load.offset), *(e for _, e in self.replica.recovered))
        loaded = any(e in since for e in signs)
        given_up = self.elected_again or (self.term.before is not None and self.term.before.leader == -1)
        return self.start.event.previous_leader_epoch is None and not given_up and not loaded

    @cached_property
    def stopped_cleanly(self) -> bool:
        """The leader's process was stopped cleanly and started again since it last had all committed records."""
        if self.start is None or (last := self._last_part) is None or not self._observable():
            return False
        runs = self.cluster.availability(self.leader).latest(self.start.event.at)
        if len(runs) < 2 or not ended_cleanly(runs[-2], runs[-1]):
            return False
        return len(self._starts(self.leader)) == 1 if _within(runs[-1], last) else _within(runs[-2], last)

    @cached_property
    def _last_part(self) -> Event | None:
        """The last line before the start with which the leader takes part in a term."""
        assert self.start is not None
        assert self.replica is not None
        own = self.replica.events[: self.replica.events.index(self.start.event)]
        return next((e for e in reversed(own) if self._takes_part(e)), None)

    def _observable(self) -> bool:
        """A restart would be in the evidence, and so would an unclean stop before the leader's log begins."""
        assert self.replica is not None
        back_uncleanly = any(load.unclean and load.epoch is None and load.offset for load in self.replica.loads)
        return not back_uncleanly and bool(would_show(self.leader, self.cluster, LOG, PROCESS, *PLACED, of=self.timeline))

    @cached_property
    def crashed(self) -> bool:
        """The leader's process was started after another process that had the log and is not known to have stopped cleanly; no leader has
        taken it into the ISR since."""
        runs = self.cluster.availability(self.leader).latest(self.term.at)
        if self.replica is None or len(runs) < 2 or ended_cleanly(runs[-2], runs[-1]):
            return False
        begin = runs[-1].begin_at
        had = begin is None or any(e.at is not None and e.at < begin for e in self.replica.events)
        return had and not self.joined_isr_since(begin, self.leader)

    def _takes_part(self, event: Event) -> bool:
        """Events in which a broker takes part in a term; it may have received an epoch without a leader just after its start."""
        return event.event in TAKES_PART and (event.leader_epoch is None or self._term_of(event.leader_epoch))

    def _term_of(self, epoch: int | None) -> bool:
        return epoch in self.timeline.epochs_led


def knew_epoch(start: Event) -> bool:
    """The process already knew a leader epoch; a process that was just started knows none (Partition.leaderEpoch)."""
    return start.previous_leader_epoch is not None and start.previous_leader_epoch >= 0


def _has_role(event: Event) -> bool:
    """The broker's own line says that it leads or follows: a controller on the same broker prints states of all partitions."""
    return event.event in TAKES_PART and (event.event != "partition-state" or event.reason == "received")


def _within(run: BrokerRun, event: Event) -> bool:
    return event.at is None or contains(run.span, event.at)


def ended_cleanly(run: BrokerRun, after: BrokerRun) -> bool:
    """A run is known to have ended with a clean stop, by its own lines or those of the run that came after it."""
    return run.outcome == "stopped" or any(e.event == "clean-start" for e in after.evidence)


def _held_before(load: Event, replica: Replica) -> bool:
    """Whether a load of the same log before this one found records."""
    own = replica.events[: replica.events.index(load)]
    same = takewhile(lambda e: e.event not in _ANOTHER_LOG, reversed(own))
    return any(e.event == "log-load" and e.log_end_offset for e in same)
