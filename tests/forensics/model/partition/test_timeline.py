"""One partition's timeline: states in the order of their cause whatever clocks say, generations, assignments, folded runs, creation."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.clock.copies import Copies, once
from forensics.model.clock.order import FileOrders, file_order
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.events import Event
from forensics.model.partition.chain import chain
from forensics.model.partition.folding import fold
from forensics.model.partition.generations import generations
from forensics.model.partition.states import Gap, State, between, epochs_without_state, replay
from forensics.model.partition.timeline import PartitionTimeline, build
from forensics.words import text
from tests.forensics.staged import Story, timeline
from tests.support import local, recorded
from tests.support.shapes import bundle

NOON = datetime(2026, 11, 21, 12)


def event(kind: str, seconds: float | None = 0, **fields: Any) -> Event:
    at = None if seconds is None else NOON + timedelta(seconds=seconds)
    return Event(event=kind, at=at, **{"source": "s", "topic": "t", "partition": 0, **fields})


def shape(states: list[State]) -> list[tuple[int, int | None, int, tuple[int, ...]]]:
    return [(s.leader_epoch, s.partition_epoch, s.leader, s.isr) for s in states]


def test_a_line_that_is_there_again_counts_once() -> None:
    first, same_line, again = (event("truncation", 0.147, line=line, text="x", offset=n) for n, line in enumerate((5, 5, 90)))
    elsewhere, other = event("truncation", 0.147, line=90, text="x", source="r"), event("truncation", 0.147, line=90, text="y")
    whole_second = [event("truncation", 3, line=line, text="x", source="q") for line in (6, 7)]
    assert once([again, first, same_line, elsewhere, other, *whole_second], {"q"}) == [first, same_line, elsewhere, other, *whole_second]
    assert once(nothing_again := [first, same_line, other]) is nothing_again


# metadata log


def created(**fields: Any) -> Event:
    stated = {
        "leader_epoch": 0,
        "partition_epoch": 0,
        "leader": 1,
        "isr": [1, 2, 3],
        "replicas": [1, 2, 3],
        "metadata_offset": 10,
        **fields,
    }
    return event("metadata-partition", **stated)


def change(offset: int, seconds: float = 0, **fields: Any) -> Event:
    return event("metadata-partition-change", seconds, metadata_offset=offset, **fields)


def test_change_raises_the_leader_epoch_only_when_it_names_a_leader() -> None:
    events = [created(), change(11, isr=[1, 2]), change(12, leader=2, isr=[2]), change(13, leader=2), change(14, isr=[2, 3])]
    assert shape(replay(events)) == [
        (0, 0, 1, (1, 2, 3)),
        (0, 1, 1, (1, 2)),
        (1, 2, 2, (2,)),
        (2, 3, 2, (2,)),
        (2, 4, 2, (2, 3)),
    ]


def test_change_keeps_what_it_does_not_name() -> None:
    stated = [
        created(recovering=True),
        change(11, isr=[1]),
        change(12, recovering=False, replicas=[1, 4], adding_replicas=[4], removing_replicas=[2]),
    ]
    first, second, third = replay(stated)
    assert (first.recovering, second.recovering, third.recovering) == (True, True, False)
    assert (second.replicas, third.replicas, third.adding, third.removing, third.isr) == ((1, 2, 3), (1, 4), (4,), (2,), (1,))


def test_eligible_leaders_of_a_change() -> None:
    assert [s.eligible for s in replay([created(), change(11, isr=[1], eligible=[2, 3]), change(12, leader=-1)])] == [(), (2, 3), (2, 3)]


def test_copies_of_the_metadata_log_tell_each_record_once() -> None:
    events = [created(), change(11, isr=[1, 2]), change(12, leader=2)]
    copy = [created(source="other"), change(11, isr=[1, 2], source="other"), change(12, leader=2, source="other")]
    assert shape(replay([*copy, *reversed(events)])) == shape(replay(events))
    assert len(replay([*events, *copy])) == 3


def test_no_change_follows_the_last_epoch_that_kafka_can_count() -> None:
    last = 2**31 - 1
    assert shape(replay([created(partition_epoch=last), change(11, isr=[1])])) == [(0, last, 1, (1, 2, 3))]
    assert shape(replay([created(leader_epoch=last), change(11, leader=2)])) == [(last, 0, 1, (1, 2, 3))]


def test_change_without_a_state_before_it_is_left_out() -> None:
    assert replay([change(11, leader=2)]) == []


# chain


def state(epoch: int, leader: int, isr: list[int], version: int | None = None, seconds: float | None = 0, **more: Any) -> State:
    reason = more.pop("reason", "decided")
    events = event("partition-state", seconds, leader_epoch=epoch, leader=leader, isr=isr, partition_epoch=version, reason=reason, **more)
    replicas = more.get("replicas")
    return State(
        leader_epoch=epoch,
        partition_epoch=version,
        leader=leader,
        isr=tuple(isr),
        replicas=tuple(replicas) if replicas else None,
        at=events.at,
        source=reason,
        event=events,
    )


STATES = [(0, 0, 1, [1, 2, 3]), (0, 1, 1, [1, 2]), (1, 2, 2, [2]), (1, 3, 2, [2, 3]), (2, 4, 3, [3])]


@given(st.permutations(STATES), st.lists(st.integers(-5000, 5000), min_size=5, max_size=5))
@settings(max_examples=100)
def test_order_is_that_of_epochs_whatever_the_clocks(stated: list[tuple[int, int, int, list[int]]], clocks: list[int]) -> None:
    found = [state(e, n, isr, v, at, writer=n) for (e, v, n, isr), at in zip(stated, clocks, strict=True)]
    assert shape(chain(found)) == [(e, v, n, tuple(isr)) for e, v, n, isr in STATES]


def test_best_witness_tells_the_state_and_the_others_stand_beside_it() -> None:
    cached, decided = state(1, 2, [2], 5, 1, reason="cached", writer=3), state(1, 2, [2], 5, 0, writer=1)
    (stated,) = chain([cached, decided])
    assert (stated.source, stated.event, stated.also) == ("decided", decided.event, (cached.event,))


def test_witness_without_the_version_tells_the_same_state() -> None:
    assert shape(chain([state(1, 2, [2, 3], None, 0, writer=1), state(1, 2, [3, 2], 5, 1, writer=2, reason="leader")])) == [
        (1, 5, 2, (2, 3))
    ]


def test_changes_that_nobody_tells_are_counted_where_states_between_have_no_version() -> None:
    events = chain([state(0, 1, [1, 2], 0, 0), state(1, 1, [1], None, 1), state(2, 2, [2], 3, 2)])
    assert [s.missing_changes for s in events] == [0, 1, 1]
    gap = between(events[1], events[2], isr_observable=True)
    assert isinstance(gap, Gap) and gap.changes == 1
    assert [s.missing_changes for s in chain([state(0, 1, [1, 2], 0, 0), state(1, 1, [1], None, 1), state(2, 2, [2], 2, 2)])] == [0, 0, 0]


@pytest.mark.parametrize(
    ("isr", "version", "whole"), [([1, 3], None, True), ([1, 2, 3], None, False), ([1, 2, 3], 4, True), ([2], None, True)]
)
def test_no_election_adds_to_an_isr(isr: list[int], version: int | None, whole: bool) -> None:
    """A member that was not in sync before joined in between, unless the version shows that nothing was; an unclean election leaves one."""
    before, elected = chain([state(2, 1, [1, 3], 3, 0), state(3, isr[-1], isr, version, 9)])
    found = between(before, elected, isr_observable=True)
    assert isinstance(found, Gap) != whole
    assert whole or text(found.said) == "no evidence shows how the ISR became [1, 2, 3]"


LEADING = {"source": "server.log", "writer": 1}


def test_isr_changes_of_a_leader_elected_before_the_evidence_begins() -> None:
    events = [event("isr-update", 5, line=1, partition_epoch=7, isr=[1, 2], **LEADING)]
    later = event("partition-state", 9, reason="decided", leader_epoch=4, partition_epoch=8, leader=2, isr=[2])
    states = build("t", 0, [*events, later], Cluster())[0].states
    assert shape(states) == [(-1, 7, 1, (1, 2)), (4, 8, 2, (2,))]
    assert [s.known_epoch for s in states] == [None, 4]


def test_isr_change_is_of_the_epoch_its_version_stands_in() -> None:
    before = event("partition-state", 9, reason="decided", leader_epoch=3, partition_epoch=6, leader=1, isr=[1, 2, 3])
    update = event("isr-update", 5, line=1, partition_epoch=7, isr=[1, 2], **LEADING)
    of_another = event("isr-update", 20, line=2, partition_epoch=9, isr=[1, 3], **LEADING)
    between = event("partition-state", 12, reason="decided", leader_epoch=4, partition_epoch=8, leader=2, isr=[2])
    states = build("t", 0, [before, update, between, of_another], Cluster())[0].states
    assert shape(states) == [(3, 6, 1, (1, 2, 3)), (3, 7, 1, (1, 2)), (4, 8, 2, (2,))]


@pytest.mark.parametrize(
    ("version", "later", "guessed"), [(7, None, False), (9, None, True), (9, (10, 3), False), (9, (10, 4), True), (None, None, True)]
)
def test_leader_epoch_that_no_line_says_is_a_guess_unless_states_around_it_leave_no_other(
    version: int | None, later: tuple[int, int] | None, guessed: bool
) -> None:
    before = decided(0, 3, 6, 1, [1, 2, 3])
    update = event("isr-update", 5, line=1, partition_epoch=version, isr=[1, 2], **LEADING)
    after = [decided(9, later[1], later[0], 1, [1])] if later is not None else []
    states = build("t", 0, [before, update, *after], Cluster())[0].states
    assert [(s.leader_epoch, s.isr, s.epoch_guessed) for s in states][:2] == [(3, (1, 2, 3), False), (3, (1, 2), guessed)]
    assert isinstance(between(states[0], states[1], isr_observable=True), Gap) == (version != 7)


def test_isr_change_after_a_restart_may_be_of_a_later_epoch() -> None:
    started = event("leader-start", 0, line=1, leader_epoch=3, log_end_offset=0, **LEADING)
    load = event("log-load", 5, line=2, log_end_offset=10, **LEADING)
    shrink = event("isr-shrink", 9, line=3, previous_isr=[1, 2], isr=[1], **LEADING)
    for stated, guessed in (([started, shrink], False), ([started, load, shrink], True)):
        states = build("t", 0, [decided(0, 3, None, 1, [1, 2]), *stated], Cluster())[0].states
        assert [(s.leader_epoch, s.isr, s.epoch_guessed) for s in states] == [(3, (1, 2), False), (3, (1,), guessed)]


def test_epochs_that_only_start_lines_name_have_no_state() -> None:
    assert epochs_without_state([state(4, 1, [1])], [0, 2, 4]) == [range(4)]
    assert epochs_without_state([state(0, 1, [1]), state(1, 2, [2])], [1]) == []
    assert epochs_without_state([state(-1, 1, [1]), state(2, 2, [2])], []) == []
    assert epochs_without_state([state(0, 1, [1]), replace(state(1, 1, [1]), epoch_guessed=True)], []) == []
    assert epochs_without_state([state(0, 1, [1])], [2]) == [range(1, 3)]
    assert epochs_without_state([], []) == []


def test_real_epochs_without_state_where_state_change_log_is_not_there() -> None:
    """Up to 2.5 the line with which a leader starts does not name its ISR."""
    whole = bundle("unclean-election-2.5.1-zk")
    missing = {}
    for files in (whole, {path: file for path, file in whole.items() if "state-change" not in path and "controller.log" not in path}):
        table = local.events_of_files({path: file.content for path, file in files.items()})
        (found,) = (t for t, _ in local.timelines(table) if t.name == "ledger-0")
        assert [t.epoch for t in found.terms] == [0, 2, 4]
        missing[files is whole] = epochs_without_state(found.states, (t.epoch for t in found.terms))
    assert missing == {True: [range(1, 2)], False: [range(4)]}


@pytest.mark.parametrize(("leader_named", "states"), [
    (None, [(3, 6, 1, (1, 2, 3)), (3, 7, 1, (1, 2))]),
    (1, [(3, 6, 1, (1, 2, 3)), (3, 7, 1, (1, 2))]),
    (2, [(3, 6, 1, (1, 2, 3))]),
])  # fmt: skip
def test_what_a_controller_wrote_for_a_leader_does_not_make_the_controller_leader(
    leader_named: int | None, states: list[tuple[int, int, int, tuple[int, ...]]]
) -> None:
    before = event("partition-state", 0, reason="decided", leader_epoch=3, partition_epoch=6, leader=1, isr=[1, 2, 3], writer=2)
    follows = event("follower-start", 1, line=1, leader_epoch=3, leader=1, offset=5, source="state-change.log", writer=2)
    written = event("isr-written", 5, line=1, partition_epoch=7, isr=[1, 2], broker=leader_named, source="controller.log", writer=2)
    assert shape(build("t", 0, [before, follows, written], Cluster())[0].states) == states


def decided(seconds: float, epoch: int, version: int | None, leader: int, isr: list[int]) -> Event:
    return event("partition-state", seconds, reason="decided", leader_epoch=epoch, partition_epoch=version, leader=leader, isr=isr)


def isr_after_an_intent(version: int | None, next_version: int | None, next_isr: list[int]) -> list[tuple[int, ...]]:
    """A leader of 1.1 to 2.3 intends to shrink the ISR to itself; then another epoch begins."""
    starts = event("leader-start", 0, line=1, leader_epoch=0, log_end_offset=0, **LEADING)
    intent = event("isr-shrink", 5, line=2, previous_isr=[1, 2, 3], isr=[1], **LEADING)
    events = [starts, intent, decided(0, 0, version, 1, [1, 2, 3]), decided(9, 1, next_version, 2, next_isr)]
    return [s.isr for s in build("t", 0, events, Cluster())[0].states]


def test_intent_with_no_version_left_for_it_never_took_effect() -> None:
    assert isr_after_an_intent(0, 1, [2]) == [(1, 2, 3), (2,)]
    assert isr_after_an_intent(0, 2, [2]) == [(1, 2, 3), (1,), (2,)]


@pytest.mark.parametrize(("records", "contiguous"), [(2, True), (1, False), (0, False)])
def test_records_that_only_name_directories_are_changes(records: int, contiguous: bool) -> None:
    """KIP-858: they raise the partition epoch, and the leader's line about its later ISR change names none."""
    starts = event("leader-start", 0.1, line=1, leader_epoch=0, partition_epoch=0, isr=[1, 2, 3], **LEADING)
    shrink = event("isr-shrink", 9, line=2, previous_isr=[1, 2, 3], isr=[1, 2], **LEADING)
    directories = [change(11 + n, seconds=1 + n) for n in range(records)]
    elected = event("metadata-partition", 20, metadata_offset=30, leader_epoch=1, partition_epoch=4, leader=2, isr=[2], replicas=[1, 2, 3])
    recorded = [created(), *directories, change(20, seconds=9.1, isr=[1, 2]), *([elected] if not contiguous else [])]
    states = build("t", 0, [*recorded, starts, shrink], Cluster())[0].states
    gaps = [isinstance(between(one, other, isr_observable=True), Gap) for one, other in pairwise(states)]
    assert any(gaps) is not contiguous
    assert len(states) == records + 2 + len(gaps[records + 1 :])


@pytest.mark.parametrize(("raised", "epochs"), [(3, [0, 1, 2, 3]), (None, [0, 1, 3])])
def test_a_raise_of_the_leader_epoch_shows_the_state_before_it(raised: int | None, epochs: list[int]) -> None:
    """The leader's own change, which completed a reassignment, was overtaken by the controller's: no line is about it."""
    added = event("partition-state", 2.1, reason="sent", leader_epoch=2, partition_epoch=3, leader=3, isr=[3, 1, 2])
    raise_ = event("partition-state", 2, reason="decided", value="leader-epoch", leader_epoch=2, partition_epoch=raised)
    states = build("t", 0, [decided(0, 0, 0, 3, [3, 1]), decided(1, 1, 1, 3, [3, 1]), raise_, added], Cluster())[0].states
    assert [s.partition_epoch for s in states] == epochs
    assert [s.isr for s in states if s.partition_epoch == 2] == [(3, 1, 2)] * (raised is not None)


@pytest.mark.parametrize(("topic_id", "generations"), [("old", [-1]), ("new", [-1, 0]), (None, [-1, 0])])
def test_output_that_describes_a_deleted_topic_is_older_than_its_file(topic_id: str | None, generations: list[int]) -> None:
    described = event("describe-topic", 60, topic_id=topic_id, source="d.txt")
    made, gone = event("topic-created", -1, topic_id="old", line=1), event("topic-deleted", 9, line=2)
    cluster = Cluster(events=[made, gone, described], recreated={"t": []})
    rows = [decided(0, 0, 0, 1, [1]), event("describe-partition", 60, leader=1, isr=[1], replicas=[1], source="d.txt")]
    assert [found.generation for found in build("t", 0, rows, cluster)] == generations


def intents(*changes: tuple[list[int], list[int]]) -> list[Event]:
    """What a leader prints before 2.4: from which ISR to which, and not whether it took effect."""
    kinds = {True: "isr-shrink", False: "isr-expand"}
    return [
        event(kinds[len(isr) < len(before)], 1 + n, line=2 + n, previous_isr=before, isr=isr, **LEADING)
        for n, (before, isr) in enumerate(changes)
    ]


FLAP = [([1, 2], [1]), ([1], [1, 2]), ([1, 2], [1])]


def settled(changes: list[tuple[list[int], list[int]]], *after: Event, first: int | None = 0) -> list[tuple[tuple[int, ...], bool]]:
    """ISRs before the next election, each with whether it is in doubt."""
    starts = event("leader-start", 0, line=1, leader_epoch=0, log_end_offset=0, **LEADING)
    events = [decided(0, 0, first, 1, [1, 2]), starts, *intents(*changes), *after]
    return [(s.isr, s.doubt is not None) for s in build("t", 0, events, Cluster())[0].states if s.leader_epoch == 0]


def test_last_intent_stands_only_if_versions_leave_room_for_all_that_were_printed() -> None:
    """Each write raises the version of the znode by one. With room for two of three changes the first two fill it: each but the last is confirmed by the
    next, which begins with its result."""
    both = [((1, 2), False), ((1,), False), ((1, 2), False)]
    assert settled(FLAP, decided(9, 1, 3, 2, [2])) == both
    assert settled(FLAP, decided(9, 1, 4, 2, [2])) == [*both, ((1,), False)]
    assert settled(FLAP, decided(9, 1, 5, 2, [2])) == [*both, ((1,), True)]


@pytest.mark.parametrize(("first", "then"), [(None, 4), (0, None), (None, None)])
def test_last_intent_is_in_doubt_where_versions_are_missing(first: int | None, then: int | None) -> None:
    assert settled(FLAP, decided(9, 1, then, 2, [2]), first=first)[-1] == ((1,), True)


def test_versions_refute_an_intent_though_the_first_of_them_is_only_known_to_be_no_lower() -> None:
    assert settled(FLAP, decided(9, 1, 3, 2, [2]), first=None) == [((1, 2), False), ((1,), False), ((1, 2), False)]


def test_versions_confirm_nothing_where_a_line_between_is_missing() -> None:
    """The second intent does not begin with the ISR before it: a change between the two is not in evidence, and it may be one of the two that fit."""
    assert settled(FLAP[1:], decided(9, 1, 3, 2, [2]))[-1] == ((1,), True)


def test_versions_of_missing_epochs_take_room_too() -> None:
    """Epoch 1 is a change of its own, whether a line names it or not."""
    shrunk = [((1, 2), False), ((1,), False)]
    assert settled(FLAP[:1], decided(9, 2, 3, 2, [2])) == shrunk
    assert settled(FLAP[:1], decided(9, 2, 2, 2, [2])) == shrunk[:1]


@pytest.mark.parametrize(
    ("leader", "isr", "in_doubt"), [(-1, [1], False), (-1, [], False), (-1, [2], True), (2, [2], True), (1, [1], True)]
)
def test_controller_that_leaves_the_leader_alone_in_the_isr_confirms_that_it_was_alone(leader: int, isr: list[int], in_doubt: bool) -> None:
    assert settled(FLAP[:1], decided(9, 1, None, leader, isr))[-1] == ((1,), in_doubt)


def test_election_of_several_confirms_the_intent_that_added_them() -> None:
    grown = [([1, 2], [1, 2, 3])]
    assert settled(grown, decided(9, 1, None, 3, [3, 1]))[-1] == ((1, 2, 3), False)
    assert settled(grown, decided(9, 1, None, 2, [2, 1]))[-1] == ((1, 2, 3), True)


def test_controller_that_names_the_isr_confirms_the_intent() -> None:
    sent = event("partition-state", 4, reason="sent", leader_epoch=0, leader=1, isr=[1], writer=3)
    assert settled(FLAP[:1], sent, decided(9, 1, None, 2, [2])) == [((1, 2), False), ((1,), False)]


def test_version_of_another_witness_belongs_to_the_change_it_counts() -> None:
    cached = event("partition-state", 4, reason="cached", leader_epoch=0, partition_epoch=3, leader=1, isr=[1], writer=3)
    starts = event("leader-start", 0, line=1, leader_epoch=0, log_end_offset=0, **LEADING)
    states = build("t", 0, [decided(0, 0, 0, 1, [1, 2]), starts, *intents(*FLAP), cached], Cluster())[0].states
    assert [(s.isr, s.partition_epoch, s.doubt) for s in states] == [
        ((1, 2), 0, None),
        ((1,), None, None),
        ((1, 2), None, None),
        ((1,), 3, None),
    ]


def test_intent_that_the_next_election_contradicts_never_took_effect() -> None:
    assert isr_after_an_intent(None, None, [2, 3]) == [(1, 2, 3), (2, 3)]
    assert isr_after_an_intent(None, None, [2]) == [(1, 2, 3), (1,), (2,)]


def test_assignment_is_carried_on_and_back_to_the_beginning() -> None:
    events = chain([state(0, 1, [1], 0), state(1, 2, [2], 1, replicas=[1, 2]), state(2, 1, [1], 2)])
    assert [s.replicas for s in events] == [(1, 2)] * 3


def test_state_that_changes_nothing_is_no_state() -> None:
    assert len(chain([state(0, 1, [1, 2], 3, 0, writer=1), state(0, 1, [2, 1], None, 9, writer=2)])) == 1


# order and folding


def test_clock_that_jumps_back_does_not_reorder_a_file() -> None:
    lines = [event("segment-roll", s, line=i, source="a") for i, s in enumerate((10, 3, 12), 1)]
    other = event("truncation", 11, line=1, source="b")
    assert [(e.source, e.line) for e in file_order([other, *reversed(lines)])] == [("a", 1), ("a", 2), ("b", 1), ("a", 3)]


def test_run_of_one_fact_is_folded() -> None:
    events = fold([event("fetch-error", s, line=s + 1, broker=2, reason="NOT_LEADER") for s in range(5)])
    assert [(e.repeats, e.last_at) for e in events] == [(5, NOON + timedelta(seconds=4))]


def test_run_that_is_interrupted_or_of_another_kind_is_not_folded() -> None:
    assert len(fold([event("fetch-error", i, line=i + 1, broker=b) for i, b in enumerate((2, 3, 2))])) == 3
    assert len(fold([event("truncation", i, line=i + 1, offset=5) for i in range(3)])) == 3


def test_line_of_an_earlier_copy_counts_once() -> None:
    events = [event("truncation", 0, line=1, source=s, collection=s, text="Truncating", offset=5) for s in ("before", "after")]
    later = event("truncation", 9, line=2, source="after", collection="after", text="Truncating", offset=5)
    assert fold([*events, later], Copies(frozenset({"before", "after"}))) == [events[1], later]
    assert fold([*events, later], Copies(frozenset({"before"}))) == [*events, later], "a log of other hours repeats nothing"


# generations


def gone(*seconds: int) -> Cluster:
    deleted = [event("topic-deleted", s, source="9/controller.log", line=s) for s in seconds]
    return Cluster(events=deleted, recreated={"t": [e.at for e in deleted]})


def test_topic_never_deleted_has_one_generation_though_a_replica_went() -> None:
    events = [event("log-created", 0, line=1), event("log-deleted", 1, line=2), event("log-created", 2, line=3)]
    assert list(generations("t", events, Cluster(), FileOrders())) == [0]


def test_topic_ids_split_generations_oldest_first() -> None:
    stated = [
        event("metadata-partition", 9, topic_id="B", metadata_offset=50),
        event("metadata-partition", 1, topic_id="A", metadata_offset=7),
    ]
    assert generations("t", stated, Cluster(), FileOrders()) == {-1: [stated[1]], 0: [stated[0]]}


def test_log_deleted_and_created_again_splits_a_brokers_stream() -> None:
    stated = [
        event(k, s, line=s, writer=1)
        for s, k in enumerate(("log-created", "truncation", "log-deleted", "segment-delete", "log-created"), 1)
    ]
    assert generations("t", stated, gone(3), FileOrders()) == {-1: stated[:4], 0: stated[4:]}


def test_stream_without_marks_is_split_by_the_time_of_the_deletion() -> None:
    events = [event("isr-update", s, line=s, writer=1) for s in (1, 9)]
    assert generations("t", events, gone(5), FileOrders()) == {-1: events[:1], 0: events[1:]}


def test_lines_without_topic_id_belong_to_the_ids_of_their_time_though_the_last_deletion_is_not_in_evidence() -> None:
    named = [event("leader-start", s, line=s, writer=1, topic_id=i, leader_epoch=0) for s, i in ((1, "A"), (10, "B"), (30, "C"))]
    unnamed = [event("isr-update", s, line=s, writer=1) for s in (2, 12, 32)]
    found = generations("t", [*named, *unnamed], gone(5), FileOrders())
    assert found == {g: [named[n], unnamed[n]] for n, g in enumerate((-2, -1, 0))}


@pytest.mark.parametrize(("created", "runs"), [(True, 2), (False, 1)])
def test_a_request_for_epoch_0_begins_a_life_where_a_log_is_created_for_it(created: bool, runs: int) -> None:
    events = [event("partition-state", s, line=s, writer=1, reason="received", leader_epoch=e) for s, e in ((1, 0), (2, 2), (3, 0))]
    events += [event("log-created", 4, line=4, writer=1)] if created else []
    assert len(generations("t", events, Cluster(), FileOrders())) == runs


def split(stated: list[Event], cluster: Cluster) -> list[list[float]]:
    """Seconds of the events of each life, oldest first; of lives 0, -1, …"""
    found = generations("t", stated, cluster, FileOrders())
    assert sorted(found) == list(range(-len(found) + 1, 1))
    return [sorted((e.at - NOON).total_seconds() for e in found[g] if e.at is not None) for g in sorted(found)]


def test_three_lives_of_one_topic() -> None:
    """Deleted and made again twice. Of the brokers one saw all, one died in the second life, one moved away and back in the third, and
    a file was saved in each."""
    ends = [event("topic-deletion", s, source="9/controller.log", line=s) for s in (100, 200)]
    ends += [event("topic-deleted", s, source="9/controller.log", line=s) for s in (101, 201)]
    made = [event("topic-created", s, source="9/controller.log", line=s) for s in (1, 110, 210)]
    made.append(event("topic-created", 110.4, source="1/server.log", line=5))  # two witnesses of one creation
    late = event("topic-deletion", 110.2, source="3/state-change.log", line=5)
    cluster = Cluster(events=[*ends, *made, late], recreated={"t": [e.at for e in [*ends, late]]})

    def of(writer: int, *stated: tuple[float, str]) -> list[Event]:
        return [event(kind, s, source=f"{writer}/server.log", line=n, writer=writer) for n, (s, kind) in enumerate(stated, 1)]

    seen = of(
        1,
        (2, "log-created"),
        (99, "isr-update"),
        (100.5, "log-deleted"),
        (110, "log-created"),
        (200.5, "log-deleted"),
        (210, "log-created"),
    )
    died = of(2, (2, "log-created"), (99, "isr-update"), (100.5, "log-deleted"), (110, "log-created"), (150, "isr-update"))
    moved = of(3, (211, "log-created"), (220, "log-deleted"), (230, "log-created"), (231, "isr-update"))
    silent = of(4, (50, "isr-update"), (150, "isr-update"), (250, "isr-update"))
    files = [event("segment", s, source=f"5/{s}.log", writer=5) for s in (60, 160, 260)]
    assert split(seen, cluster) == [[2, 99, 100.5], [110, 200.5], [210]]
    assert split([*seen, *died, *moved, *silent, *files], cluster) == [
        [2, 2, 50, 60, 99, 99, 100.5, 100.5],
        [110, 110, 150, 150, 160, 200.5],
        [210, 211, 220, 230, 231, 250, 260],
    ]


def test_real_topics_that_were_recreated() -> None:
    for name in ("delete-recreate-retention-2.8.2-zk", "delete-recreate-retention-3.9.1-kraft"):
        seen = [t for t, _ in local.timelines(recorded.events(name))]
        split = {t.name for t in seen if t.generation < 0}
        assert split, name
        for t in seen:
            assert all(one.leader_epoch <= two.leader_epoch for one, two in zip(t.states, t.states[1:], strict=False))
        ids = {g: {t.topic_id for t in seen if t.name in split and t.generation == g} for g in (-1, 0)}
        assert None not in ids[0]
        assert ids[0].isdisjoint(ids[-1])


# assembly


def test_assignment_no_state_tells_is_that_of_describe() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    described = (
        "Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2\n"
    )
    stated, _ = timeline({**s.files, "describe.txt": described})
    assert stated.assigned == (1, 2, 3)
    assert [x.replicas for x in stated.states] == [(1, 2, 3)]
    assert [(x.leader, x.isr) for x in stated.snapshots] == [(1, (1, 2))]


def test_replicas_sent_as_a_set_are_put_into_the_order_the_controller_created_them_in() -> None:
    """Up to 0.10.2 LeaderAndIsrRequest holds a set of replicas, which every broker prints in an order of its own."""
    states = [
        event(
            "partition-state",
            s,
            source=f"{broker}/state-change.log",
            line=1,
            writer=broker,
            reason="received",
            leader=3,
            leader_epoch=0,
            isr=[3, 2, 1],
            replicas=replicas,
            unordered=True,
        )
        for s, broker, replicas in ((1, 1, [1, 2, 3]), (2, 2, [2, 1, 3]))
    ]
    created = event("partition-transition", 0, source="9/controller.log", line=1, writer=3, replicas=[3, 1, 2])
    (found,) = build("t", 0, [created, *states], Cluster())
    assert [s.replicas for s in found.states] == [(3, 1, 2)]
    assert (found.assigned, found.orders.first(found.assigned)) == ((3, 1, 2), 3)
    (untold,) = build("t", 0, states, Cluster())
    assert set(untold.assigned) == {1, 2, 3}
    assert untold.orders.first(untold.assigned) is None


def test_assignment_nobody_tells_is_who_was_in_sync() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 9, 1, 10, 10, [2, 4], previous=0)
    stated, _ = timeline(s.files)
    assert stated.assigned == (1, 2, 4)


def test_terms_of_leaders_with_their_restarts() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(1, 30, 0, 90, 80, [1, 2])
    s.leads(2, 60, 1, 95, 95, [2], previous=0)
    stated, _ = timeline(s.files)
    assert [(t.order, t.leader, t.start_offset, t.exact) for t in stated.terms] == [
        ((0, 0), 1, 0, True),
        ((0, 1), 1, 90, True),
        ((1, 0), 2, 95, True),
    ]


def test_files_of_the_latest_collection_are_the_disk_and_older_ones_history() -> None:
    cluster = Cluster(nodes={1: Node(1, collections=["old", "new"])})
    stated = [
        event("hw-checkpoint", s, source=f"{c}/hw", collection=c, writer=1, offset=o) for c, s, o in (("old", 0, 170), ("new", 50, 120))
    ]
    load = event("log-load", 20, source="new/server.log", collection="new", writer=1, line=1, log_end_offset=120)
    (found,) = build("t", 0, [*stated, load], cluster)
    high = found.collected_logs[1].high_watermark
    assert high is not None and high.offset == 120
    (removal,) = found.replicas[1].removals
    assert (removal.start, removal.end, removal.exact) == (120, 170, False)


def test_metadata_alone_makes_no_replica() -> None:
    (found,) = build("t", 0, [created(writer=100), change(11, leader=2, writer=100)], Cluster())
    assert found.replicas == {}
    assert [(t.epoch, t.leader, t.start_offset) for t in found.terms] == [(0, 1, None), (1, 2, None)]


# creation


def made_in_evidence(*, created_at: float | None = None, loaded: int | None = None, transition: str | None = None) -> bool:
    """Broker 1 leads in leader epoch 0 from second 10 on, after these lines."""
    s, where = Story(), "/var/lib/kafka/broker-1/data/t-0"
    if loaded is not None:
        s.loads(1, 5, loaded, unclean=False)
    if transition is not None:
        state = "state LeaderAndIsr(leader=1, leaderEpoch=0, isr=List(1, 2), zkVersion=0)"
        s.line(
            3, "state-change", 9, f"INFO [Controller id=3 epoch=1] Changed partition t-0 {transition} with {state} (state.change.logger)"
        )
    s.leads(1, 10, 0, loaded or 0, 0, [1, 2])
    if created_at is not None:
        text = f"INFO Created log for partition t-0 in {where} with properties {{}} (kafka.log.LogManager)"
        s.line(1, "server", created_at, text)
    return timeline(s.files)[0].created()


def test_what_shows_that_a_partition_was_created() -> None:
    assert made_in_evidence(transition="from NewPartition to OnlinePartition")
    assert made_in_evidence(created_at=9.9)
    assert made_in_evidence(loaded=200, transition="from NewPartition to OnlinePartition"), "the log is of an earlier topic"


def test_the_first_leader_epoch_may_be_much_older_than_the_evidence() -> None:
    """Restarts of a broker that is the only replica do not raise the leader epoch or the partition epoch."""
    assert not made_in_evidence()
    assert not made_in_evidence(loaded=200)
    assert not made_in_evidence(loaded=200, created_at=9.9), "the disk was replaced"
    assert not made_in_evidence(created_at=20), "the disk was replaced later"
    assert not made_in_evidence(transition="from OnlinePartition to OnlinePartition")


def test_the_metadata_log_has_the_record_of_a_creation_and_a_snapshot_has_those_of_all_partitions() -> None:
    def made(record: Event, *logs: Event) -> bool:
        (found,) = build("t", 0, [record, *logs], Cluster(nodes={1: Node(1)}))
        return found.created()

    assert made(created())
    assert not made(created(reason="snapshot"))
    assert not made(created(partition_epoch=4))
    assert not made(created(), event("log-load", 20, source="server.log", writer=1, line=1, log_end_offset=120)), (
        "a start before is missing"
    )


def test_a_reassignment_goes_on_while_its_leader_tells_of_the_isr_alone() -> None:
    """Its replicas on the way out count for the factor no more; who names the assignment again, without them, ends it."""
    events = Event(event="partition-state", source="s", line=1)

    def state(source: str, isr: tuple[int, ...], removing: tuple[int, ...] = (), event: Event = events) -> State:
        return State(
            leader_epoch=0,
            partition_epoch=None,
            leader=1,
            isr=isr,
            replicas=(1, 2, 3, 4),
            removing=removing,
            at=None,
            source=source,
            event=event,
        )

    moving = [state("decided", (1, 2, 3), (3,)), state("changed", (1, 2, 3, 4))]
    over = Event(event="leader-start", source="s", line=2, adding_replicas=[], removing_replicas=[])
    stands = [PartitionTimeline("t", 0, 0, states=s).standing for s in (moving, [*moving, state("leader", (1, 2), event=over)])]
    assert [(s.moving, s.removing) for s in stands] == [(True, (3,)), (False, ())]
