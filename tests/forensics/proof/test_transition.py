"""One hand-over as the timeline shows it: what the new leader's process and log went through, and what the only in-sync replica committed.

Timelines are made by hand where a story would need many lines; facts that a fact rests on are given, as `given(sole=2)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from forensics.model.clock.sources import Source
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.coverage.log_coverage import CLOCK, ORDER, SHOWN, Answer
from forensics.model.events import Event
from forensics.model.message import said
from forensics.model.partition.replicas import IsrUpdate, LeaderStart, Load, Observation, Removal, Replica
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.model.presence.availability import BrokerRun
from forensics.proof.removed import RemovedRange
from forensics.proof.transition import LeaderTransition, ended_cleanly, knew_epoch
from tests.forensics.proof.staging import Evidence, Staged, begun, handed_over, made, when
from tests.forensics.proof.test_stepping_down import started


def line(kind: str, seconds: float | None = 0, writer: int = 2, **known: Any) -> Event:
    at = when(seconds) if seconds is not None else None
    return Event(source=f"broker-{writer}/logs/server.log", line=1, event=kind, writer=writer, at=at, **known)


def state(epoch: int, leader: int, isr: Sequence[int], seconds: float | None = 0, *, version: int | None = None, **known: Any) -> State:
    at = when(seconds) if seconds is not None else None
    fields = {"leader_epoch": epoch, "partition_epoch": version, "leader": leader, "isr": tuple(isr), "at": at, "source": "sent"}
    return State(**{**fields, "event": line("partition-state", seconds, leader_epoch=epoch), **known})


def term(epoch: int, leader: int, *, restart: int = 0, start: int | None = 200, evidence: Sequence[Event] = (), **known: Any) -> Term:
    fields: dict[str, Any] = {"state": None, "before": None, "bound": "exact", "high_watermark": None, "at": when(10 * epoch)}
    return Term(epoch, restart, leader, start_offset=start, evidence=tuple(evidence), **{**fields, **known})


def removal(broker: int = 2, start: int = 5, end: int = 8, cause: str = "truncation", epoch: int | None = 0, **known: Any) -> Removal:
    fields: dict[str, Any] = {"exact": True, "under_epoch": 1, "at": when(5), "evidence": ()}
    return Removal(broker, start, end, cause=cause, epoch=epoch, **{**fields, **known})


def load(offset: int = 200, epoch: int | None = 0, seconds: float | None = 5, *, unclean: bool = False, cut: bool = False) -> Load:
    event = line("log-load", seconds, log_end_offset=offset)
    return Load(2, offset, unclean, cut, epoch, event.at, event)


def leading(epoch: int, seconds: float = 10, *, previous: int | None = None, restart: bool = False) -> LeaderStart:
    event = line("leader-start", seconds, leader_epoch=epoch, previous_leader_epoch=previous)
    return LeaderStart(2, epoch, 200, True, None, restart, event.at, event)


class Hand:
    """A timeline, and the hand-over to broker 2 in leader epoch 1."""

    def __init__(self, *terms: Term, states: Sequence[State] = (), **replica: Any) -> None:
        self.terms = [*(terms or (term(0, 1), term(1, 2)))]
        self.timeline = PartitionTimeline("t", 0, 0, states=[*states], terms=self.terms)
        self.timeline.replicas = {2: Replica(2, **replica)}
        self.timeline.events = [*self.timeline.replicas[2].events]
        self.cluster = Cluster()

    def over(self, number: int = 1, **given: Any) -> LeaderTransition:
        """With facts that are given, and not worked out."""
        before = self.terms[number - 1] if number else None
        found = LeaderTransition(self.terms[number], before, self.timeline, self.cluster)
        found.__dict__.update(given)
        return found


def over(evidence: Evidence, number: int = 1) -> LeaderTransition:
    timeline, cluster = made(evidence)
    return LeaderTransition(timeline.terms[number], timeline.terms[number - 1] if number else None, timeline, cluster)


# who


def test_the_new_leaders_own_line() -> None:
    t = over(handed_over())
    assert (t.leader, t.prints_start, t.start is not None) == (2, True, True)
    assert t.start is not None
    assert (t.start.epoch, t.start.event.event) == (1, "leader-start")
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.online(3, 10, 1, 2, [1, 2], 1)
    t = over(s)
    assert (t.start, t.prints_start) == (None, False)


def test_of_several_lines_that_it_leads_the_one_of_this_leader_epoch() -> None:
    one, other = leading(0), leading(1)
    hand = Hand(term(0, 2, evidence=[one.event]), term(1, 2, evidence=[other.event]), leader_starts=[one, other])
    assert (hand.over(0).start, hand.over(1).start) == (one, other)
    assert hand.over(1).prints_start
    assert not Hand(leader_starts=[one]).over().prints_start


def test_a_broker_of_which_nothing_was_collected() -> None:
    hand = Hand(term(0, 1), term(1, 7))
    t = hand.over()
    assert (t.replica, t.start, t.prints_start, t.emptied, t.damaged, t.log_had_reached(0)) == (None, None, False, False, False, False)
    assert not t.kept_running
    assert not t.stopped_cleanly
    assert not t.crashed


def test_the_term_before_leaves_out_elections_that_the_broker_did_not_live_to_hear_of() -> None:
    hand = Hand(term(0, 1), term(1, 2, start=150), term(2, 2, start=None), term(3, 2))
    assert [hand.over(n).earlier for n in range(4)] == [None, hand.terms[0], hand.terms[1], hand.terms[1]]
    hand = Hand(term(0, 1, start=None), term(1, 2))
    assert hand.over().earlier is hand.terms[0], "of another broker every election counts"


# the same leader in another leader epoch


def same(before: Term | None = None, after: Term | None = None, *, last: bool = False, starts: Sequence[LeaderStart] = ()) -> bool:
    terms = [before or term(0, 2), after or term(1, 2), *([] if last else [term(2, 1)])]
    return Hand(*terms, leader_starts=[*starts]).over().same_leader


def test_a_leader_that_leads_on_in_another_leader_epoch() -> None:
    assert same()
    assert not same(before=term(0, 1))
    assert same(after=term(1, 2, before=state(0, 2, [2, 1])))
    assert not same(after=term(1, 2, before=state(0, -1, [2, 1]))), "there was no leader in between"
    assert not same(after=term(1, 2, restart=1))
    assert not Hand(term(0, 2), term(1, 2)).over(0).same_leader


def test_a_lone_leader_that_was_elected_again_as_it_had_been_was_restarted() -> None:
    alone: dict[str, Any] = {"before": state(0, 2, [2]), "state": state(1, 2, [2])}
    assert not same(after=term(1, 2, **alone))
    assert same(after=term(1, 2, **{**alone, "state": state(1, 2, [2, 1])}))


def test_the_last_leader_must_have_printed_that_it_leads() -> None:
    """Else it may have been elected and not have lived to hear of it."""
    assert not same(last=True)
    assert same(last=True, starts=[leading(1)])
    assert not same(last=True, starts=[leading(0)])


def test_a_lone_leader() -> None:
    alone = term(1, 2, before=state(0, 2, [2]), state=state(1, 2, [2]))

    def again(**known: Any) -> bool:
        return Hand(term(0, 2), replace(alone, **known)).over().elected_again

    assert again()
    assert not Hand(term(0, 2), term(1, 2)).over().elected_again
    assert not again(state=None)
    assert not again(before=None)
    assert not again(before=state(0, 1, [2])), "another led"
    assert not again(before=state(0, 2, [2, 1]))
    assert not again(state=state(1, 2, [2, 1]))
    assert not again(before=state(0, 2, [2], replicas=(1, 2)), state=state(1, 2, [2], replicas=(2, 3))), "reassigned"
    assert not again(before=state(0, 2, [1]), state=state(1, 2, [1]))
    one = state(0, 2, [2])
    assert not again(before=one, state=one), "one state: a restart within it"


@pytest.mark.parametrize(("epoch", "again"), [(1, False), (0, True)])
def test_a_reassignment_to_the_same_replica_raises_the_leader_epoch_of_a_lone_leader(epoch: int, again: bool) -> None:
    hand = Hand(term(0, 2), term(1, 2, before=state(0, 2, [2]), state=state(1, 2, [2])))
    hand.timeline.events = [line("partition-state", 9, reason="decided", value="leader-epoch", leader_epoch=epoch)]
    assert hand.over().elected_again is again


@pytest.mark.parametrize(("previous", "knew"), [(None, False), (-1, False), (0, True), (5, True)])
def test_a_process_that_was_just_started_knows_no_leader_epoch(previous: int | None, knew: bool) -> None:
    assert knew_epoch(leading(1, previous=previous).event) is knew


# in the ISR


def test_a_leader_that_was_in_the_isr() -> None:
    assert over(handed_over()).in_sync
    election = over(handed_over()).election
    assert election is not None
    assert election.term.epoch == 1
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1])
    s.leads(2, 10, 1, 200, 200, [2], previous=0)
    assert not over(s).in_sync


def test_a_leader_that_leads_on_was_in_the_isr_if_no_change_of_it_is_missing() -> None:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(1, 10, 1, 200, 200, [1, 2], previous=0)
    t = over(s)
    assert (t.election, t.in_sync) == (None, True)
    s.forget("broker-1/logs/server.log")
    s.runs(1, 5)
    t = over(s)
    assert (t.election, t.in_sync) == (None, False)


def test_how_the_leader_before_stepped_down() -> None:
    t = over(handed_over())
    assert t.stepped_down is not None
    assert t.stepped_down.leader == 1
    assert over(handed_over(), 0).stepped_down is None


# what left the logs


def piece(start: int, end: int, *, exact: bool = True, broker: int = 1) -> RemovedRange:
    return RemovedRange(start, end, term(1, 2), removal(broker, start, end, exact=exact))


def test_removals_are_in_the_order_of_how_far_they_went() -> None:
    near, far, inexact, again = piece(5, 8), piece(6, 9), piece(4, 9, exact=False), piece(5, 8)
    t = Hand().over(pieces=(near, inexact, far, again))
    assert t.removals == (far.removal, inexact.removal, near.removal)
    assert t.longest is far.removal
    assert (Hand().over(pieces=()).removals, Hand().over(pieces=()).longest) == ((), None)


def test_of_removals_that_went_as_far_the_exact_one_that_begins_first_is_the_longest() -> None:
    early, late, loose = piece(4, 9), piece(6, 9), piece(3, 9, exact=False)
    assert Hand().over(pieces=(late, early, loose)).longest is early.removal


def test_records_of_a_partition_that_was_just_made_are_of_another_one() -> None:
    first = Hand(term(0, 2), states=[state(0, 2, [2], version=0)])
    assert first.over(0).foreign
    assert not Hand(term(0, 2, restart=1), states=[state(0, 2, [2], version=0)]).over(0).foreign
    assert not Hand(term(1, 2), states=[state(0, 2, [2], version=0)]).over(0).foreign
    assert not Hand(term(0, 2), states=[state(0, 2, [2], version=3)]).over(0).foreign, "it had been there"


def test_records_that_a_broker_brought_from_the_cluster_before() -> None:
    brought = {1: line("log-load", log_end_offset=8)}
    assert Hand().over(pieces=(piece(5, 8),), brought=brought).foreign
    assert not Hand().over(pieces=(piece(5, 9),), brought=brought).foreign, "it had appended since"
    assert not Hand().over(pieces=(piece(5, 8, broker=3),), brought=brought).foreign
    assert Hand().over(pieces=(piece(5, 9), piece(5, 8)), brought=brought).foreign
    assert Hand().over().brought == {}


# before the term


@pytest.mark.parametrize(
    ("epoch", "restart", "is_before"), [(None, 0, True), (0, 0, True), (1, 0, False), (1, 1, True), (2, 1, False), (0, 1, True)]
)
def test_what_happened_under_a_leader_epoch(epoch: int | None, restart: int, is_before: bool) -> None:
    """In its own leader epoch only what a restarted leader did before."""
    assert Hand(term(0, 1), term(1, 2, restart=restart)).over().is_before(epoch) is is_before


REJOINED = (state(0, 1, [1], 6), state(0, 1, [1, 2], 7), state(1, 2, [2, 1], 10))


def test_a_leader_took_it_into_the_isr() -> None:
    def joined(*states: State, moment: datetime | None = None, epoch: int = 1, broker: int = 2) -> bool:
        return Hand(term(epoch, 2, state=states[-1]), states=states).over(0).joined_isr_since(moment or when(5), broker)

    alone, both, leads = REJOINED
    assert joined(*REJOINED)
    assert not joined(*REJOINED, moment=when(7)), "before that moment"
    assert not joined(*REJOINED, moment=when(8))
    assert not joined(both, leads), "it was in the ISR all the time"
    assert not joined(alone, replace(both, isr=(1, 3)), leads)
    assert not joined(alone, replace(both, leader=-1), leads), "no leader takes anybody into the ISR"
    assert not joined(alone, replace(both, leader=2), leads), "nor does it itself"
    assert not joined(alone, replace(both, at=None), leads)
    assert not joined(alone, replace(both, leader_epoch=1), leads), "in the leader epoch of this term"
    assert not joined(alone, replace(both, leader_epoch=2), leads), "or later"
    assert not joined(replace(alone, partition_epoch=3), replace(both, partition_epoch=5), leads), "a change in between is missing"
    assert joined(replace(alone, partition_epoch=3), replace(both, partition_epoch=4), leads)
    assert not joined(replace(alone, isr=(1, 3)), replace(both, isr=(1, 3, 2)), leads), "it may lack what an earlier leader committed"
    assert not Hand(term(1, 2, state=leads), states=REJOINED).over(0).joined_isr_since(None, 2)
    assert not Hand(term(1, 2, state=both), states=REJOINED).over(0).joined_isr_since(when(5), 2), "the state with which the term begins"


# what the log lost


def hand_with(*, removals: Sequence[Removal] = (), loads: Sequence[Load] = (), states: Sequence[State] = (), **known: Any) -> Hand:
    return Hand(states=states, removals=[*removals], loads=[*loads], **known)


@pytest.mark.parametrize(
    ("gone", "shorter"),
    [
        (removal(cause="restart"), True),
        (removal(cause="empty"), True),
        (removal(cause="restart", epoch=None), True),
        (removal(cause="truncation"), False),
        (removal(cause="restart", epoch=1), False),
        (removal(cause="restart", epoch=2), False),
    ],
)
def test_a_broker_that_came_back_with_less_than_it_had(gone: Removal, shorter: bool) -> None:
    t = hand_with(removals=[gone]).over()
    assert (t.came_back_shorter(2), t.recovered(2), t.leader_recovered) == (shorter, shorter, shorter)
    assert not t.came_back_shorter(1)
    assert not hand_with(removals=[gone], states=REJOINED).over().came_back_shorter(2), "it has fetched them again"


@pytest.mark.parametrize(
    ("found", "recovered"),
    [
        (load(unclean=True), True),
        (load(cut=True), True),
        (load(), False),
        (load(unclean=True, epoch=None), False),
        (load(unclean=True, epoch=1), False),
    ],
)
def test_a_log_that_was_recovered_between_two_terms(found: Load, recovered: bool) -> None:
    t = hand_with(loads=[found]).over()
    assert (t.unclean_loads(2), t.recovered(2)) == ([found] if recovered else [], recovered)
    assert t.unclean_loads(1) == []
    assert hand_with(loads=[found], states=REJOINED).over().unclean_loads(2) == []


def test_a_log_that_was_recovered_before_the_last_term_counts_no_more() -> None:
    hand = Hand(term(0, 1), term(1, 1), term(2, 2), loads=[load(unclean=True, epoch=0), load(unclean=True, epoch=1)])
    assert [x.epoch for x in hand.over(2).unclean_loads(2)] == [1]
    assert [x.epoch for x in hand.over(1).unclean_loads(2)] == [0]
    assert hand.over(0).unclean_loads(2) == [], "it lies after the first term"


def test_of_a_restarted_leader_only_recoveries_in_its_own_leader_epoch_count() -> None:
    hand = Hand(term(0, 1), term(1, 2, restart=1), loads=[load(unclean=True, epoch=0), load(unclean=True, epoch=1)])
    assert [x.epoch for x in hand.over().unclean_loads(2)] == [1]


def test_a_log_that_was_created_again() -> None:
    created = line("log-created", 5)
    hand = Hand(term(0, 1), term(1, 2, start=0), recreated=[(0, created)])
    assert hand.over().emptied
    assert Hand(term(0, 1), term(1, 2, start=0), recreated=[(None, created)]).over().emptied
    assert not Hand(term(0, 1), term(1, 2, start=0), recreated=[(1, created)]).over().emptied, "later"
    assert not Hand(term(0, 1), term(1, 2, start=5), recreated=[(0, created)]).over().emptied, "it has fetched records since"
    assert not Hand(term(0, 1), term(1, 2, start=0)).over().emptied


@pytest.mark.parametrize(
    ("gone", "emptied"),
    [
        (removal(cause="empty", start=0), True),
        (removal(cause="empty", start=0, epoch=1), True),
        (removal(cause="empty", start=0, epoch=None), True),
        (removal(cause="empty", start=0, epoch=2), False),
        (removal(cause="empty", start=3), True),  # retention had deleted what was below
        (removal(cause="restart", start=0), False),
    ],
)
def test_a_log_that_came_back_empty(gone: Removal, emptied: bool) -> None:
    assert Hand(term(0, 1), term(1, 2, start=0), removals=[gone]).over().emptied is emptied


def created(*before: str, start: int = 0, epoch: int = 1, state_reason: str = "received", state_epoch: int = 0) -> bool:
    """Broker 2 prints these lines of the partition, and then that it leads."""
    lines = [line(kind, n) for n, kind in enumerate(before)]
    for e in lines:
        if e.event == "partition-state":
            e.reason, e.leader_epoch, e.leader = state_reason, state_epoch, 1
        elif e.event == "follower-start":
            e.leader_epoch = state_epoch
    leads = leading(epoch)
    hand = Hand(term(0, 1), term(epoch, 2, start=start, evidence=[leads.event]), leader_starts=[leads], events=[*lines, leads.event])
    return hand.over().created_as_leader


def test_a_leader_whose_first_line_is_that_it_creates_the_log() -> None:
    """Its disk or its machine was replaced."""
    assert created("log-created")
    assert created("log-load", "log-created"), "up to 0.10 it is loaded first"
    assert not created()
    assert not created("log-created", start=5)
    assert not created("log-created", epoch=0), "the partition was made"
    assert not created("follower-start", "log-created"), "it had been there"
    assert not created("partition-state", "log-created")
    assert created("partition-state", "log-created", state_epoch=1), "the request with which it begins to lead"
    assert created("partition-state", "log-created", state_reason="decided"), "as the controller"
    hand = Hand(term(0, 1), term(1, 2, start=0), events=[line("log-created")])
    assert not hand.over().created_as_leader, "its own line is missing"


def damage(end: int | None, flushed: int | None = 150, *, cut: bool = True, epoch: int = 0) -> bool:
    found = load(end or 0, epoch, cut=cut)
    found.event.log_end_offset = end
    points = [line("recovery-point", 1, offset=offset) for offset in (flushed, 20)] if flushed is not None else []
    return hand_with(loads=[found], events=points).over().damaged


def test_recovery_that_cut_below_what_was_flushed() -> None:
    assert damage(149)
    assert not damage(150)
    assert not damage(149, cut=False)
    assert not damage(149, None)
    assert not damage(149, epoch=1)
    assert not damage(None)


def seen(
    end: int, *, epoch: int = 0, quantity: str = "log-end-offset", before: bool = True, gone: Sequence[Removal] = (), restart: int = 0
) -> bool:
    """Whether its log may once have had offset 210: it was seen to end there."""
    first, leads, last = line("segment-roll", 5), leading(1), line("segment-roll", 20)
    own = Observation(quantity, 2, end, "at-least", epoch, when(5), first if before else last)
    hand = Hand(term(0, 1), term(1, 2, restart=restart, evidence=[leads.event]), leader_starts=[leads], removals=[*gone])
    hand.timeline.replicas[2].events = [first, leads.event, last]
    hand.timeline.replicas[2].observations = [own]
    return hand.over().log_had_reached(210)


def test_a_log_that_had_gone_further_than_it_began_with() -> None:
    assert seen(211)
    assert not seen(210), "the record at its end is none"
    assert not seen(211, before=False)
    assert not seen(211, quantity="high-watermark")
    assert not seen(211, restart=1)
    assert not seen(211, gone=[removal(start=200, end=211)]), "it is known what cut it"
    assert not seen(211, gone=[removal(start=210, end=220)])
    assert seen(211, gone=[removal(start=211, end=220)])
    assert seen(215, gone=[removal(start=200, end=214)])


def test_without_its_line_all_of_its_log_was_before() -> None:
    first = line("segment-roll", 5)
    hand = Hand(events=[first], observations=[Observation("log-end-offset", 2, 300, "at-least", 0, when(5), first)])
    assert hand.over().log_had_reached(210)


# the only in-sync replica


WATCHED = Cluster(sources=[Source("0.log", "metadata-segment", 100, "", None, None, None, None, None, (), None, None, None)])
"""The metadata log shows all changes of the ISR."""


def sole(
    *events: Event,
    isr: Sequence[int] = (1,),
    after: State | None = None,
    starts: bool = True,
    replica: bool = True,
    led: int = 1,
    cluster: Cluster = WATCHED,
    earlier: Sequence[State] = (),
    updates: Sequence[IsrUpdate] = (),
    doubt: Event | None = None,
) -> int | None:
    before = state(0, led, isr, 5, also=(*events[:1],), doubt=doubt)
    after = after or state(1, 2, [2], 10)
    hand = Hand(term(0, 1), term(1, 2, before=before, state=after), states=[*earlier, before, after])
    hand.cluster = cluster
    leads = LeaderStart(1, 0, 0, True, None, False, when(0), line("leader-start", 0, 1))
    if replica:
        hand.timeline.replicas[1] = Replica(1, leader_starts=[leads] if starts else [], isr_updates=[*updates], events=[*events])
    return hand.over().sole


def alone(kind: str = "isr-update", seconds: float = 5, *, isr: Sequence[int] = (1,), epoch: int | None = 0, **known: Any) -> Event:
    return line(kind, seconds, 1, isr=[*isr], leader_epoch=epoch, **known)


def test_a_replica_that_led_alone_by_its_own_log() -> None:
    assert sole(alone()) == 1
    assert sole(alone(isr=[1, 2])) is None
    assert sole() is None
    assert sole(alone(epoch=1)) is None, "in a later leader epoch"
    assert sole(alone(epoch=None)) == 1
    assert sole(alone(isr=[2])) is None
    assert sole(alone("partition-state", leader=1, reason="received")) == 1
    assert sole(alone("partition-state", leader=2, reason="received")) is None
    assert sole(alone("partition-state", leader=1, reason="decided")) is None, "a controller on the same broker"
    assert sole(alone("segment-roll")) is None


def test_the_isr_had_other_members() -> None:
    assert sole(alone(), isr=[1, 2]) is None
    assert Hand().over().sole is None


def test_others_may_have_joined_without_a_line() -> None:
    assert sole(alone(), cluster=Cluster()) is None


def test_a_state_in_between_is_missing() -> None:
    assert sole(alone(), after=state(2, 2, [2], 10)) is None
    assert sole(alone(), after=state(1, 2, [2], 10)) == 1


def test_a_replica_of_which_nothing_was_collected() -> None:
    """A state in which it led alone proves it if it was surely running then: a controller that misses two brokers removes one after the other."""
    assert sole(replica=False) is None
    assert sole(replica=False, after=state(1, 2, [2], 66)) == 1, "nobody missed it for a minute"
    assert sole(replica=False, led=-1, after=state(1, 2, [2], 66)) is None
    zookeeper = replace(WATCHED, mode="zookeeper")
    assert sole(replica=False, earlier=[state(0, 1, [1, 2], 0)], cluster=zookeeper) == 1, "within a leader epoch only it changes the ISR"
    assert sole(replica=False, earlier=[state(0, 1, [1, 2], 0)]) is None
    assert sole(starts=False) is None, "its own log begins later"


def test_a_request_to_shrink_the_isr_is_no_state() -> None:
    """Until the controller answers, the high watermark waits for the larger ISR."""
    asked = alone("isr-shrink", 4)

    def requested(*, confirmed: bool | None, last: float = 4, doubt: Event | None = None) -> int | None:
        log = Source("broker-1/logs/server.log", "server-log", 1, "", None, None, None, None, None, (), when(0), when(last), None)
        log.last_own = when(last)
        cluster = Cluster(sources=[*WATCHED.sources, log], nodes={1: Node(1, runs=[BrokerRun(1, None)])})
        return sole(asked, updates=[IsrUpdate(1, 0, asked, (1,), confirmed)], cluster=cluster, doubt=doubt)

    assert requested(confirmed=True) == 1
    assert requested(confirmed=None) == 1, "before 2.4 its effect leaves no line"
    assert requested(confirmed=None, doubt=asked) is None
    assert requested(confirmed=False) is None, "it had ended before the controller wrote the state"
    assert requested(confirmed=False, last=6) == 1


def test_only_what_it_printed_before_it_was_restarted_counts() -> None:
    """For a leader that takes the term after a restart."""
    own, loaded = line("leader-start", 0, 2, isr=[2], leader_epoch=0), load(seconds=7).event
    later = line("isr-update", 8, 2, isr=[2], leader_epoch=0)
    leads = leading(1)

    def found(*events: Event) -> int | None:
        before = state(0, 2, [2], 5)
        evidence = [leads.event]
        hand = Hand(
            term(0, 2), term(1, 2, before=before, state=state(1, 2, [2], 10), evidence=evidence), leader_starts=[leads], events=[*events]
        )
        hand.cluster = WATCHED
        return hand.over().sole

    assert found(own, loaded, leads.event) == 2
    assert found(loaded, later, leads.event) is None
    assert found(later, leads.event) == 2
    assert found(loaded, later) == 2, "it did not take the term"
    assert found(own, load(seconds=3).event, later, loaded, leads.event) == 2, "up to the last restart"


def perhaps(isr: Sequence[int] = (1,), seconds: float | None = 50, *, crashed: bool = False) -> int | None:
    hand = Hand(term(0, 1), term(1, 2, before=state(0, 1, isr, seconds)))
    if crashed:
        start, again = (Event(source="", event="broker-starting", at=when(at)) for at in (-5, 60))
        run = BrokerRun(1, start, again, "crashed", last_seen=Event(source="", event="broker-started", at=when(45)))
        hand.cluster = Cluster(nodes={1: Node(1, runs=[run])})
    return hand.over().perhaps_sole


def test_the_last_member_of_the_isr_that_was_still_there() -> None:
    assert perhaps() == 1
    assert perhaps([1, 2]) is None
    assert perhaps(seconds=None) is None
    assert perhaps(crashed=True) is None, "a controller that finds all dead removes them one after the other"
    assert Hand().over().perhaps_sole is None


def commits(
    version: str | None = "2.8.2", *, minimum: int | None = None, sole: int | None = 1, isr: Sequence[int] = (1,), **given: Any
) -> bool:
    s = begun()
    for broker in (1, 2):
        if version is not None:
            s.version(broker, -0.5, version)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    if minimum is not None:
        s.put("cluster/topics-describe.txt", [f"Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas={minimum}"])
    timeline, cluster = made(s)
    restart = given.pop("restart", 0)
    leader = given.pop("leader", 2)
    known = term(1, leader, restart=restart, before=state(0, 1, isr, 5))
    found = LeaderTransition(known, None, timeline, cluster)
    found.__dict__.update({"sole": sole, "leader_recovered": False, **given})
    return found.commits_alone


def test_a_lone_replica_commits_all_that_it_appends() -> None:
    assert commits()
    assert not commits(sole=None)
    assert not commits(leader=1), "it leads on with what it had"
    assert commits(leader=1, restart=1)
    assert commits(leader=1, leader_recovered=True)


@pytest.mark.parametrize(
    ("version", "minimum", "alone"), [("3.6.2", 2, True), ("3.7.0", 2, False), ("3.7.0", 1, True), (None, 2, False), (None, 1, True)]
)
def test_from_3_7_on_it_waits_for_min_insync_replicas(version: str | None, minimum: int, alone: bool) -> None:
    """KAFKA-15583."""
    assert commits(version, minimum=minimum) is alone


# a leader that went on alone and lost the end of its log


def lost_end(*own: Removal, **given: Any) -> bool:
    usual = {"sole": None, "perhaps_sole": None, "log_intact": False, "created_as_leader": False, "end_unobserved": False, "removals": own}
    return Hand().over(**{**usual, **given}).lost_end_alone


def test_a_leader_that_went_on_alone() -> None:
    assert lost_end(sole=2)
    assert lost_end(perhaps_sole=2)
    assert lost_end(created_as_leader=True, end_unobserved=True)
    assert not lost_end()
    assert not lost_end(sole=1, perhaps_sole=1)
    assert not lost_end(created_as_leader=True)
    assert not lost_end(end_unobserved=True)
    assert not lost_end(sole=2, log_intact=True)


def test_a_removal_from_its_own_log_shows_what_it_had() -> None:
    assert not lost_end(removal(2, cause="empty"), sole=2)
    assert not lost_end(removal(2, cause="restart"), sole=2)
    assert lost_end(removal(2, cause="restart", exact=False), sole=2)
    assert not lost_end(removal(2, cause="empty", exact=False), sole=2)
    assert lost_end(removal(2, cause="truncation"), sole=2)
    assert lost_end(removal(1, cause="empty"), sole=2), "of another log"
    assert not lost_end(removal(2, cause="truncation"), removal(2, cause="empty"), sole=2)


def unobserved(
    *events: Event, before: State | None = None, after: State | None = None, replica: bool = True, restart: int = 0, **given: Any
) -> bool:
    own = term(1, 2, before=before, state=after, restart=restart)
    hand = Hand(term(0, 1), own, events=[*events])
    if not replica:
        hand.timeline.replicas = {}
    return hand.over(**{"sole": None, "created_as_leader": False, **given}).end_unobserved


LED = state(0, 2, [2, 1], 5)
ELECTED = state(1, 2, [2], 10)


def test_a_leader_whose_lines_of_before_are_missing() -> None:
    first = leading(1, previous=-1).event
    assert unobserved(first, before=LED, after=ELECTED)
    assert unobserved(before=LED, after=ELECTED), "it prints nothing at all"
    assert not unobserved(leading(1, previous=0).event, before=LED, after=ELECTED), "the process knew a leader epoch"
    assert not unobserved(line("isr-update", 4, leader_epoch=0), first, before=LED, after=ELECTED), "it printed what it did before"
    assert not unobserved(line("partition-state", 4, leader=1, leader_epoch=0, reason="received"), first, before=LED, after=ELECTED)
    assert unobserved(line("partition-state", 4, leader=1, leader_epoch=0, reason="cached"), first, before=LED, after=ELECTED)
    assert unobserved(line("partition-state", 4, leader=1, reason="received"), first, before=LED, after=ELECTED)
    assert unobserved(line("partition-state", 10, leader=2, leader_epoch=1, reason="received"), before=LED, after=ELECTED)
    assert not unobserved(line("partition-state", 10, leader=1, leader_epoch=1, reason="received"), before=LED, after=ELECTED)
    assert not unobserved(leading(0, previous=-1).event, first, before=LED, after=ELECTED)


def test_a_leader_that_did_not_lead_before() -> None:
    first = leading(1, previous=-1).event
    other = state(0, 1, [1, 2], 5)
    assert not unobserved(first, before=other, after=ELECTED)
    assert unobserved(first, before=other, after=state(3, 2, [2], 10)), "it may have, in a leader epoch that is missing"
    assert not unobserved(first, before=state(0, 1, [1], 5), after=state(3, 2, [2], 10)), "it was not in the ISR"
    assert not unobserved(first, before=other, after=None)
    assert not unobserved(first, before=None, after=ELECTED)
    assert not unobserved(first, before=LED, after=ELECTED, restart=1)


def test_a_leader_of_which_nothing_was_collected() -> None:
    assert unobserved(replica=False, before=LED, after=ELECTED, sole=2)
    assert not unobserved(replica=False, before=LED, after=ELECTED, sole=1)
    assert not unobserved(replica=False, before=LED, after=ELECTED)
    assert not unobserved(leading(1, previous=0).event, before=LED, after=ELECTED, sole=2), "it was"


def test_a_leader_on_a_new_machine_may_have_led_before() -> None:
    assert unobserved(before=None, created_as_leader=True)
    assert not unobserved(before=None)


# the leader's process


def test_an_intact_log() -> None:
    def intact(**given: Any) -> bool:
        usual = {"leader_recovered": False, "emptied": False, "cut": None, "kept_running": False, "stopped_cleanly": False}
        return Hand().over(**{**usual, **given}).log_intact

    assert intact(kept_running=True)
    assert intact(stopped_cleanly=True)
    assert not intact()
    for lost in ({"leader_recovered": True}, {"emptied": True}, {"cut": removal()}):
        assert not intact(kept_running=True, stopped_cleanly=True, **lost)


def taking_over(previous: int = 0, *, epoch: int = 1) -> Staged:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(2, 10, epoch, 200, 200, [1, 2], previous=previous)
    return s


def test_a_process_that_knew_the_leader_epoch_before_ran_on() -> None:
    assert over(taking_over()).kept_running
    assert not over(taking_over(previous=-1)).kept_running
    assert not over(taking_over(previous=1, epoch=2)).kept_running, "of a time without a leader it may have heard as it was just started"
    s = begun()
    s.leads(2, 0, 0, 0, 0, [2])
    s.leads(2, 10, 1, 200, 200, [2], previous=0)
    assert over(s).kept_running, "a lone leader that lost its session is elected again, and its log shows no start"
    s.starts(2, 5)
    assert not over(s).kept_running


@pytest.mark.parametrize(("premise", "ran_on"), [(ORDER, False), (CLOCK, True)])
def test_a_process_whose_lines_are_in_no_order_need_not_have_run_on(premise: str, ran_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a clock that stepped the order of lines still tells which leader epoch it knew."""
    denied = Answer(said("coverage/server-log", broker=2))
    monkeypatch.setattr("forensics.proof.transition.would_show", lambda *asked, **_: denied if premise in asked else SHOWN)
    assert over(taking_over()).kept_running is ran_on


@pytest.mark.parametrize(("broker_epoch", "seconds", "ran_on"), [(12, 10, True), (50, 10, False), (12, 9, False), (None, 10, False)])
def test_the_process_that_is_counted_as_alive_again_is_the_one_that_had_registered_before(
    broker_epoch: int | None, seconds: float, ran_on: bool
) -> None:
    """KIP-631: the broker epoch is the offset of the registration; a new process would have a later one."""

    def recorded(epoch: int, leader: int, offset: int) -> State:
        event = line("metadata-partition-change", 10 * epoch, leader_epoch=epoch, metadata_offset=offset)
        return state(epoch, leader, [2], 10 * epoch, event=event, source="metadata")

    known = {"broker": 2, "reason": "unfenced", "broker_epoch": broker_epoch, "metadata_offset": 60}
    start = leading(1, 10.1, previous=5)
    led = term(0, 2, state=recorded(0, 2, 30))
    elected = term(1, 2, state=recorded(1, 2, 61), before=recorded(0, -1, 40), evidence=[start.event])
    hand = Hand(led, elected, leader_starts=[start], events=[start.event])
    hand.cluster.events = [line("metadata-broker-change", seconds, 9, **known)]
    assert hand.over().kept_running is ran_on


def asked(
    *, starts: float | None = None, loads: float | None = None, offset: int = 200, stops: float | None = None, marker: bool = False
) -> Staged:
    """Before 2.6 lines carry no leader epoch of before. Broker 2 follows, and is asked to lead at 10 s."""
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 0.1, 1, 0, [1, 2], 0)
    if stops is not None:
        s.stops(2, stops)
    if starts is not None:
        s.starts(2, starts)
    if marker:
        s.finds_clean_stop(2, (starts or 0) + 0.1)
    if loads is not None:
        s.loads(2, loads, offset, unclean=False)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    return s


def test_a_process_of_which_no_line_shows_a_restart_ran_on() -> None:
    assert over(asked()).kept_running
    assert not over(asked(starts=5)).kept_running
    assert not over(asked(loads=5)).kept_running
    assert over(asked(loads=5, offset=0)).kept_running, "an empty log is loaded as it is created"
    assert over(asked(starts=15)).kept_running


def test_a_log_that_does_not_show_restarts() -> None:
    s = asked()
    s.forget("broker-2/logs/server.log")
    assert not over(s).kept_running


def test_a_leader_that_took_no_part_before_need_not_have_run() -> None:
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    t = over(s)
    assert not t.kept_running
    assert not t.stopped_cleanly


def test_a_time_without_a_leader_may_hide_a_restart() -> None:
    s = asked()
    timeline, cluster = made(s)
    known = replace(timeline.terms[1], before=state(0, -1, [1, 2]))
    assert not LeaderTransition(known, timeline.terms[0], timeline, cluster).kept_running


def test_a_log_that_was_recovered_before_its_lines_begin() -> None:
    """What it lost then is not known."""
    s = asked()
    timeline, cluster = made(s)
    timeline.replicas[2].loads = [load(200, None, -3, unclean=True)]
    assert not LeaderTransition(timeline.terms[1], timeline.terms[0], timeline, cluster).kept_running
    for known in (load(0, None, -3, unclean=True), load(200, 0, -3, unclean=True), load(200, None, -3)):
        timeline.replicas[2].loads = [known]
        assert LeaderTransition(timeline.terms[1], timeline.terms[0], timeline, cluster).kept_running


def test_a_process_that_was_stopped_cleanly() -> None:
    assert over(asked(stops=3, starts=5)).stopped_cleanly
    assert over(asked(starts=5, marker=True)).stopped_cleanly, "the next start found the marker"
    assert not over(asked(starts=5)).stopped_cleanly
    assert not over(asked()).stopped_cleanly
    assert not over(taking_over()).stopped_cleanly


def test_a_process_that_was_stopped_before_it_took_part() -> None:
    """In the leader epoch before; it heard of that epoch again."""
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.stops(2, 1)
    s.starts(2, 5)
    s.receives(2, 6, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    t = over(s)
    assert t.stopped_cleanly
    assert not t.kept_running


def test_an_earlier_process_took_part() -> None:
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 0.1, 1, 0, [1, 2], 0)
    for at in (2, 5):
        s.stops(2, at)
        s.starts(2, at + 1.5)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    assert not over(s).stopped_cleanly, "of the process in between it is not known which leader it followed"


def test_a_process_that_only_loaded_its_log_took_no_part() -> None:
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 0.1, 1, 0, [1, 2], 0)
    s.stops(2, 2)
    s.starts(2, 3.5)
    s.loads(2, 4, 200, unclean=False)
    s.stops(2, 5)
    s.starts(2, 6.5)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    assert not over(s).stopped_cleanly


@pytest.mark.parametrize(
    ("outcome", "marker", "clean"),
    [("stopped", False, True), ("crashed", False, False), ("crashed", True, True), ("running", False, False)],
)
def test_a_clean_stop_by_its_own_lines_or_those_of_the_next_start(outcome: str, marker: bool, clean: bool) -> None:
    first, second = BrokerRun(2, None, outcome=outcome), BrokerRun(2, None)
    second.evidence = [line("clean-start" if marker else "unclean-start")]
    assert ended_cleanly(first, second) is clean


# crashes


def crashed(
    *, clean: bool = False, lines: Sequence[float | None] = (0,), begin: float | None = 5, runs: int = 2, states: Sequence[State] = ()
) -> bool:
    first = BrokerRun(2, Event(source="", event="broker-starting", at=when(-9)), outcome="stopped" if clean else "crashed")
    start = Event(source="", event="broker-starting", at=when(begin)) if begin is not None else None
    last = BrokerRun(2, start)
    hand = Hand(events=[line("isr-update", at) for at in lines], states=states)
    hand.cluster = Cluster(nodes={2: Node(2, runs=[first, last][:runs] if begin is not None else [last, first])})
    return hand.over().crashed


def test_a_process_that_came_after_a_crash() -> None:
    assert crashed()
    assert not crashed(clean=True)
    assert not crashed(runs=1)
    assert not crashed(lines=(6,)), "it had no log of the partition before"
    assert not crashed(lines=(5,))
    assert not crashed(lines=(None,))
    assert crashed(lines=(6, 4))
    assert not crashed(begin=15), "it crashed after the hand-over"
    assert not crashed(states=REJOINED), "it has fetched everything again"


def test_the_leaders_term_ends_what_counts_of_its_processes() -> None:
    assert over(asked(starts=5)).crashed
    assert not over(asked(starts=15)).crashed
