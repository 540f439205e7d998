"""What was lost, as findings report it: parts of a row with their cause, what may be gone below them, and losses that cannot be excluded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from forensics.model.events import Event
from forensics.model.message import Range, said
from forensics.model.partition.replicas import Disk, Removal
from forensics.proof.losses import Below, Doubt, Loss, deposed, loss_of, losses, unflushed
from forensics.proof.verdict import (
    ANY_LOG,
    CERTAIN,
    EITHER,
    FOREIGN,
    HW_TRUNCATION,
    POSSIBLE,
    PROBABLE,
    TAIL,
    UNCLEAN_ELECTION,
    UNFLUSHED,
    UNKNOWN,
    Cell,
    Handover,
    Interval,
)
from tests.forensics.proof.staging import Evidence, Staged, begun, handed_over, made
from tests.forensics.proof.tables import change, exactly, only, tail
from tests.forensics.proof.test_stepping_down import started

COMMITTED: dict[str, Any] = {"high_watermark": exactly(8)}


def removal(broker: int = 1, cause: str = "truncation", *evidence: Event) -> Removal:
    return Removal(broker, 5, 8, True, cause, 0, 1, None, evidence)


def transition(*removals: Removal, **known: Any) -> Any:
    """Only what a loss reads of a hand-over."""
    term = SimpleNamespace(before=None, evidence=(), epoch=1, order=(1, 0), leader=2)
    usual: dict[str, Any] = {"removals": removals, "pieces": (), "cut": None, "term": term, "brought": {}, "timeline": None}
    return SimpleNamespace(**{**usual, **known})


def found(row: Handover, **known: Any) -> list[Loss]:
    loss = loss_of(row, transition(removal(), **known))
    return [loss] if loss is not None else []


def one(row: Handover, **known: Any) -> Loss:
    (loss,) = found(row, **known)
    return loss


# parts of a row


def test_a_part_with_its_cause() -> None:
    loss = one(change(removed=(tail(5, 8),), election=only(Cell.OUTSIDE), **COMMITTED))
    assert (loss.range, loss.reached, loss.committed, loss.confidence, loss.cause) == (Range(5, 8), 8, True, CERTAIN, UNCLEAN_ELECTION)
    assert loss.term.epoch == 1


def test_a_row_without_removals_has_no_losses() -> None:
    assert found(change()) == []


def test_a_loss_of_which_some_was_committed_has_one_cause_and_tells_the_parts_apart() -> None:
    loss = one(change(removed=(tail(5, 8),), high_watermark=exactly(6), log=only(Cell.CUT)))
    assert [(p.offsets, p.committed) for p in loss.parts] == [(Range(5, 6), True), (Range(6, 8), False)]
    assert (loss.cause, loss.committed, loss.range) == (HW_TRUNCATION, True, Range(5, 6))


def test_a_part_that_was_committed_shows_what_happened_to_the_others() -> None:
    row = change(removed=(tail(5, 8),), log=only(Cell.KEPT, Cell.RECOVERED), had_all=EITHER)
    assert one(replace(row, high_watermark=Interval(6))).cause == UNFLUSHED
    assert one(replace(row, high_watermark=Interval())).cause == UNKNOWN


# records of another partition that are there again

FROM_BEFORE = change(removed=(tail(5, 8, from_other_topic=only(Cell.YES)),))


def brought(offset: int | None, *, leader: int = 3, order: tuple[int, int] = (2, 0), cut_from: int | None = None) -> dict[str, Any]:
    """Broker 3 had brought a log of the cluster before, and led later."""
    cuts = [removal(3)] if cut_from is not None else []
    later = SimpleNamespace(leader=leader, order=order)
    timeline = SimpleNamespace(terms=[later], removals_of=lambda b: [replace(r, start=cut_from or 0) for r in cuts] if b == 3 else [])
    return {"brought": {3: Event(source="", event="log-load", log_end_offset=offset)}, "timeline": timeline}


def test_records_of_another_partition() -> None:
    assert one(FROM_BEFORE, **brought(7)).cause == FOREIGN


@pytest.mark.parametrize(
    ("known", "again"),
    [
        pytest.param(brought(8), True, id="as much"),
        pytest.param(brought(9), True, id="more"),
        pytest.param(brought(7), False, id="less"),
        pytest.param(brought(None), False, id="nothing is known of how much"),
        pytest.param(brought(8, leader=4), False, id="it never led"),
        pytest.param(brought(8, order=(1, 0)), False, id="it led in this hand-over"),
        pytest.param(brought(8, order=(0, 0)), False, id="it led before"),
        pytest.param(brought(8, cut_from=8), True, id="it cut what is above"),
        pytest.param(brought(8, cut_from=7), False, id="it cut some of it"),
    ],
)
def test_records_of_another_partition_that_a_later_leader_brought_again(known: dict[str, Any], again: bool) -> None:
    assert (found(FROM_BEFORE, **known) == []) is again


@pytest.mark.parametrize(("offset", "again"), [(1, True), (0, False), (None, False)])
def test_the_first_record_of_another_partition(offset: int | None, again: bool) -> None:
    assert (found(change(removed=(tail(0, 1, from_other_topic=only(Cell.YES)),)), **brought(offset)) == []) is again


def test_only_records_of_another_partition_can_be_brought_again() -> None:
    assert one(change(removed=(tail(5, 8),)), **brought(8)).cause == TAIL


def test_records_without_an_end_that_were_brought_again() -> None:
    """From where on they are gone counts."""
    row = change(removed=(tail(5, 8, from_other_topic=only(Cell.YES)),), last_isr_member_lost_tail=EITHER)
    assert found(row, **brought(5)) == []
    assert len(found(row, **brought(4))) == 1
    assert len(found(change(removed=(tail(0, 8, from_other_topic=only(Cell.YES)),), last_isr_member_lost_tail=EITHER), **brought(0))) == 1


# what may be gone below


MARK = Event(source="mark", event="follower-start")
PROVEN = tail(5, 8, start=Interval(3, 5, (MARK,)))
"""It is only known that the new leader began at 5 or below, and that it had all below 3."""


def test_records_below_a_proven_start_are_possibly_gone() -> None:
    loss = one(change(removed=(PROVEN,)))
    assert (loss.range, loss.proven, loss.below) == (Range(5, 8), True, Below(Range(3, 5), POSSIBLE, (MARK,)))


def test_records_below_a_proven_start_are_probably_gone_where_two_brokers_agree() -> None:
    """That the high watermark stood there."""
    agreed = replace(PROVEN, likely_start=3)
    below = one(change(removed=(agreed,))).below
    assert below is not None
    assert below.confidence == PROBABLE
    excused = one(change(removed=(agreed,), resent_because=said("handover/sent-again"))).below
    assert excused is not None
    assert excused.confidence == POSSIBLE, "producers sent them again"


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(change(removed=(tail(5, 8),)), id="the start is known"),
        pytest.param(change(removed=(replace(PROVEN, lost_in_this_handover=EITHER),)), id="they went in an unknown hand-over"),
        pytest.param(change(removed=(PROVEN,), **COMMITTED), id="committed: a leader from the ISR had them"),
        pytest.param(change(removed=(PROVEN,), high_watermark=Interval()), id="possibly committed"),
    ],
)
def test_nothing_is_known_to_be_gone_below(row: Handover) -> None:
    assert one(row).below is None
    assert one(row).proven is (not row.removed[0].start.exact)


@pytest.mark.parametrize("election", [only(Cell.OUTSIDE), only(Cell.OUTSIDE, Cell.IN_ISR)])
def test_a_leader_from_outside_the_isr_may_lack_committed_records_below(election: Any) -> None:
    assert one(change(removed=(PROVEN,), election=election, **COMMITTED)).below == Below(Range(3, 5), POSSIBLE, (MARK,))


def test_what_is_below_is_measured_by_the_removal_that_begins_first() -> None:
    furthest = tail(6, 9, start=Interval(6, 6))
    first = replace(PROVEN, likely_start=3)
    loss, *_ = found(change(removed=(furthest, first)))
    assert (loss.proven, loss.below) == (True, Below(Range(3, 5), PROBABLE, (MARK,)))
    loss, *_ = found(change(removed=(tail(5, 8), replace(PROVEN, start=Interval(1, 6), end=exactly(9), lost_in_this_handover=EITHER))))
    assert (loss.proven, loss.below) == (False, None)


def test_the_removal_that_reaches_furthest_may_have_gone_in_a_later_hand_over() -> None:
    assert found(change(removed=(PROVEN, tail(6, 9, lost_in_this_handover=EITHER))))[0].below == Below(Range(3, 5), POSSIBLE, (MARK,))


def test_something_may_be_below_the_first_part() -> None:
    loss = one(change(removed=(PROVEN,), high_watermark=exactly(6), election=only(Cell.OUTSIDE)))
    assert loss.below is not None and loss.below.range.end == loss.parts[0].offsets.start


# what a loss knows


def test_the_last_part_that_is_known_says_that_more_may_be_lost() -> None:
    loss = one(change(removed=(tail(5, 8, end=Interval(8)),), high_watermark=exactly(6)))
    assert [(p.offsets, p.at_least) for p in loss.parts] == [(Range(5, 6), False), (Range(6, 8), True), (Range(8, None), False)]


def test_an_excuse_is_of_what_was_not_committed() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=exactly(6), resent=EITHER, resent_because=said("handover/sent-again"))
    assert one(row).excuse == said("handover/sent-again") and one(row).weighed
    assert one(replace(row, high_watermark=exactly(8))).excuse is None


@pytest.mark.parametrize(("cells", "weighed"), [({"resent": only(Cell.NO)}, True), ({"resent": EITHER}, False)])
def test_whether_it_could_be_decided_that_anybody_misses_them(cells: dict[str, Any], weighed: bool) -> None:
    assert one(change(removed=(tail(5, 8),), **cells)).weighed is weighed


def test_the_high_watermark_that_was_seen() -> None:
    seen, state = Event(source="a", event="follower-start"), Event(source="b", event="partition-state")
    row = change(removed=(tail(5, 8),), high_watermark=Interval(6, None, (seen,)))
    assert found(row)[0].high_watermark == 6
    assert found(change(removed=(tail(5, 8),), high_watermark=Interval(6)))[0].high_watermark is None, "no evidence of it"
    before = SimpleNamespace(event=state)
    term = SimpleNamespace(before=before, evidence=(), epoch=1, order=(1, 0), leader=2)
    assert found(row, term=term)[0].high_watermark == 6
    assert found(replace(row, high_watermark=Interval(6, None, (seen, state))), term=term)[0].high_watermark == 6
    alone = replace(row, high_watermark=Interval(8, None, (state, seen)))
    assert found(alone, term=term)[0].high_watermark is None, "it follows from the ISR"


def files(*, crashed: bool = False, **collected: Disk) -> dict[str, Any]:
    """The collected files, and whether the process of broker 2 had crashed."""
    runs = [SimpleNamespace(outcome="crashed" if crashed else "stopped")]
    cluster = SimpleNamespace(availability=lambda _: SimpleNamespace(running=None, runs=runs))
    return {"timeline": SimpleNamespace(collected_logs={d.broker: d for d in collected.values()}), "cluster": cluster}


def where(row: Handover, *removals: Removal, **known: Any) -> list[tuple[Range, tuple[int, ...], tuple[int, ...]]]:
    loss = loss_of(row, transition(*removals, **known))
    return [(p.offsets, p.still_on, p.perhaps_on) for p in loss.parts] if loss is not None else []


LEFT = removal(2, "left-behind")


def test_disks_that_still_have_the_records() -> None:
    row = change(removed=(tail(5, 8),))
    assert where(row, removal(3, "stray"), removal(1), LEFT, LEFT, **files()) == [(Range(5, 8), (2, 3), ())]


def test_a_disk_has_only_what_its_log_reached() -> None:
    """Records above were only in another log, or had not been flushed."""
    row, short = change(removed=(tail(5, 8),)), replace(LEFT, end=7)
    assert where(row, removal(1), short, **files()) == [(Range(5, 7), (2,), ()), (Range(7, 8), (), ())]
    saved = Disk(2, "", log_end_offset=6)
    assert where(row, removal(1), short, **files(saved=saved)) == [(Range(5, 6), (2,), ()), (Range(6, 8), (), ())]


def test_a_log_that_was_not_collected_may_have_lost_what_was_not_flushed_in_a_crash() -> None:
    row, flushed = change(removed=(tail(5, 8),)), Event(source="a", event="recovery-point", offset=6)
    assert where(row, LEFT, **files(crashed=True)) == [(Range(5, 8), (), (2,))]
    checkpoint = Disk(2, "", recovery_point=flushed)
    assert where(row, LEFT, **files(crashed=True, saved=checkpoint)) == [(Range(5, 6), (2,), ()), (Range(6, 8), (), (2,))]


def test_an_open_end_is_on_a_disk_as_far_as_it_is_known() -> None:
    row = change(removed=(tail(5, 8),), last_isr_member_lost_tail=EITHER)
    assert where(row, LEFT, **files()) == [(Range(5, 8), (2,), ()), (Range(8, None), (), ())]
    short = where(row, removal(1), replace(LEFT, end=7), **files())
    assert short == [(Range(5, 7), (2,), ()), (Range(7, 8), (), ()), (Range(8, None), (), ())]


def test_removals_name_the_leaders_own_cut_where_that_was_the_cause() -> None:
    own = removal(2, "high-watermark")
    cut = change(removed=(tail(5, 8),), log=only(Cell.CUT), **COMMITTED)
    assert one(cut, cut=own).removals == (removal(), own)
    assert one(cut, cut=removal()).removals == (removal(),)
    assert one(change(removed=(tail(5, 8),)), cut=own).removals == (removal(),), "not the cause"


def test_evidence_in_the_order_of_its_weight() -> None:
    names = ["first", "term", "mark", "second", "seen"]
    first, term, mark, second, seen = (Event(source=name, event=name) for name in names)
    row = change(removed=(tail(5, 8),), high_watermark=Interval(6, None, (mark,)))
    pieces = [SimpleNamespace(seen=(seen, first)), SimpleNamespace(seen=(Event(source="more", event="more"),))]
    known = SimpleNamespace(before=None, evidence=(term,), epoch=1, order=(1, 0), leader=2)
    loss = loss_of(row, transition(removal(1, "truncation", first), removal(3, "restart", second, first), pieces=pieces, term=known))
    assert loss is not None
    assert [e.source for e in loss.evidence] == names


# of a partition


def test_losses_of_a_partition_are_in_the_order_of_the_rows() -> None:
    s = handed_over(end=205)
    s.leads(1, 30, 2, 300, 300, [1, 2], previous=1)
    s.follows(2, 30.1, 2, 310, 300, previous=1)
    s.truncates(2, 30.2, 300)
    timeline, cluster = made(s)
    assert [(loss.range, loss.term.epoch) for loss in losses(timeline, cluster)] == [(Range(200, 205), 1), (Range(300, 310), 2)]


# a leader before leader epochs that was alone and was refused to change the ISR

REFUSED = (
    "INFO Partition [t,0] on broker 1: Cached zkVersion [0] not equal to that in zookeeper, skip updating ISR (kafka.cluster.Partition)"
)


def refused(*, at: Sequence[float] = (12, 14), cut: bool = True, restarted: float | None = None, isr: Sequence[int] = (1, 2)) -> Staged:
    """Broker 2 is elected at 10 s; broker 1 leads on, and follows at 20 s."""
    s = started()
    s.receives(1, 0, 1, 0, isr, 0)
    for seconds in at:
        s.line(1, "server", seconds, REFUSED)
    if restarted is not None:
        s.starts(1, restarted)
        s.loads(1, restarted + 0.5, 190, unclean=False)
    s.receives(2, 10, 2, 1, [2], 1)
    s.receives(1, 20, 2, 1, [2], 1)
    if cut:
        s.truncates(1, 20.1, 190)
    return s


def led_on(evidence: Evidence) -> list[Doubt]:
    return list(deposed(*made(evidence)))


def test_a_leader_that_was_refused_and_cut_its_log() -> None:
    """How much it had appended alone no line shows."""
    (found,) = led_on(refused())
    assert (found.start, found.transition.term.epoch, found.brokers, found.committed) == (190, 1, (1, 2), False)
    assert [e.event for e in found.evidence if e.writer == 1] == ["partition-state", "isr-rejected", "partition-state", "truncation"]
    assert {e.writer for e in found.evidence} == {1, 2}


def test_what_it_had_appended_may_have_been_committed_if_the_next_leader_was_not_in_sync() -> None:
    (found,) = led_on(refused(isr=[1]))
    assert found.committed is None


@pytest.mark.parametrize(("version", "committed"), [("1.1.1", None), ("2.0.1", False)])
def test_it_may_have_been_committed_if_the_next_leader_may_have_joined_the_isr_without_it(version: str, committed: bool | None) -> None:
    s = started()
    s.version(1, -1, version)
    s.receives(1, 0, 1, 4, [1, 3, 2], 5)
    s.line(1, "server", 12, REFUSED)
    s.receives(2, 10, 2, 5, [2, 3], 6)
    s.receives(1, 20, 2, 5, [2, 3], 6)
    s.truncates(1, 20.1, 190)
    assert [found.committed for found in led_on(s)] == [committed]


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(refused(at=()), id="it was not refused"),
        pytest.param(refused(cut=False), id="it did not cut its log"),
        pytest.param(refused(restarted=16), id="another process followed"),
        pytest.param(refused(at=(14,), restarted=12), id="a process was refused that had not begun to lead"),
        pytest.param(handed_over(end=205), id="with leader epochs its end is known"),
    ],
)
def test_a_leader_that_lost_nothing_unseen(story: Staged) -> None:
    assert led_on(story) == []


def test_with_leader_epochs_the_end_of_its_log_is_known() -> None:
    s = refused()
    s.disk(1, [(0, 0)])
    assert led_on(s) == []


def test_it_did_not_follow() -> None:
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.line(1, "server", 12, REFUSED)
    s.receives(2, 10, 2, 1, [2], 1)
    assert led_on(s) == []


def test_nothing_of_it_was_collected() -> None:
    s = Staged()
    s.online(3, 0, 0, 1, [1, 2], 0)
    s.receives(2, 10, 2, 1, [2], 1)
    assert led_on(s) == []


def test_a_log_that_begins_after_it_had_begun_to_lead() -> None:
    """Whether the process that was refused is the one that followed is not known."""
    s = started()
    s.online(3, 0, 0, 1, [1, 2], 0)
    s.line(1, "server", 12, REFUSED)
    s.receives(2, 10, 2, 1, [2], 1)
    s.receives(1, 20, 2, 1, [2], 1)
    s.truncates(1, 20.1, 190)
    assert led_on(s) == []


def test_each_hand_over_has_its_own_cut() -> None:
    s = refused()
    s.receives(1, 30, 1, 2, [1, 2], 3)
    s.receives(2, 40, 2, 3, [2], 4)
    assert [found.transition.term.epoch for found in led_on(s)] == [1]


def test_a_cut_of_the_whole_log() -> None:
    timeline, cluster = made(refused())
    next(e for e in timeline.replicas[1].events if e.event == "truncation").offset = 0
    (found,) = deposed(timeline, cluster)
    assert found.start == 0


@pytest.mark.parametrize(("broker", "count"), [(1, 0), (3, 1)])
def test_where_its_own_removal_is_known_the_loss_is(broker: int, count: int) -> None:
    timeline, cluster = made(refused())
    timeline.terms = [timeline.terms[0], replace(timeline.terms[1], start_offset=195, bound="exact")]
    line = timeline.replicas[1].events[0]
    gone = Removal(broker, 180, 200, True, "truncation", 0, 1, None, (line,))
    timeline.replicas[3] = replace(timeline.replicas[1], broker=3, removals=[gone], events=[])
    timeline.replicas[1].removals = []
    assert len(list(deposed(timeline, cluster))) == count


def test_of_the_term_before_its_last_line_is_quoted() -> None:
    timeline, cluster = made(refused())
    own = timeline.terms[0].evidence[-1]
    timeline.terms = [replace(timeline.terms[0], evidence=(Event(source="first", event="partition-state"), own)), timeline.terms[1]]
    (found,) = deposed(timeline, cluster)
    assert found.evidence[0] is own


def test_only_refusals_of_its_last_leadership_count() -> None:
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.line(1, "server", 2, REFUSED)
    s.receives(1, 5, 1, 1, [1, 2], 1)
    s.receives(2, 10, 2, 2, [2], 2)
    s.receives(1, 20, 2, 2, [2], 2)
    s.truncates(1, 20.1, 190)
    timeline, _ = made(s)
    assert [e.event for e in timeline.replicas[1].events].count("isr-rejected") == 1
    assert led_on(s) == []


def test_the_first_two_refusals_are_quoted() -> None:
    timeline, cluster = made(refused())
    (one,) = [e for e in timeline.replicas[1].events if e.event == "isr-rejected"]
    place = timeline.replicas[1].events.index(one)
    timeline.replicas[1].events[place:place] = [Event(source=name, event="isr-rejected", writer=1) for name in ("a", "b")]
    (found,) = deposed(timeline, cluster)
    assert [e.source for e in found.evidence if e.event == "isr-rejected"] == ["a", "b"]


def test_the_new_leader_began_above_the_cut() -> None:
    """From there on its log is another one."""
    timeline, cluster = made(refused())
    timeline.terms = [timeline.terms[0], replace(timeline.terms[1], start_offset=195, bound="exact")]
    (found,) = deposed(timeline, cluster)
    assert found.start == 195


# every in-sync replica stopped uncleanly


def power_loss(*, unclean: Sequence[int] = (1, 2), isr: Sequence[int] = (1, 2), leader: int = 2, again: bool = False) -> Staged:
    """Both brokers are back, and broker 2 is elected at 200."""
    s = begun(1, 2)
    s.leads(1, 0, 0, 0, 0, isr)
    s.follows(2, 0.1, 0, 0, 0)
    for broker in (1, 2):
        s.starts(broker, 30)
        s.loads(broker, 31, 200, unclean=broker in unclean)
    s.leads(leader, 40, 1, 200, 200, [1, 2], previous=-1)
    s.follows(3 - leader, 40.1, 1, 200, 200)
    if again:
        s.leads(leader, 50, 2, 200, 200, [leader], previous=1)
    return s


def stopped(evidence: Evidence) -> list[Doubt]:
    return list(unflushed(*made(evidence)))


def test_records_that_nobody_had_flushed() -> None:
    (found,) = stopped(power_loss())
    assert (found.start, found.transition.term.epoch, found.brokers) == (200, 1, (1, 2))
    assert [e.event for e in found.evidence].count("log-load") == 2


def test_one_of_them_that_stopped_cleanly_has_every_record() -> None:
    assert stopped(power_loss(unclean=(2,))) == []
    assert stopped(power_loss(unclean=(1,))) == []


def test_the_only_one_in_sync() -> None:
    (found,) = stopped(power_loss(isr=[1], leader=1))
    assert found.brokers == (1,)


def test_a_leader_from_outside_is_another_matter() -> None:
    assert stopped(power_loss(isr=[1], leader=2)) == []


def shorter(*starts: int, lost: bool = False) -> list[Doubt]:
    """Both brokers came back shorter, and broker 2 is elected several times, at these offsets, before broker 1 joins the ISR."""
    s = begun(1, 2)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    for n, start in enumerate(starts):
        s.leads(2, 40 + n, 1 + n, start, start, [1, 2], previous=n)
    timeline, cluster = made(s)
    line = timeline.replicas[1].events[0]
    back = Removal(1, 200, 250, True, "restart", 0, 0, None, (line,))
    timeline.replicas[1].removals = [back] if lost else [replace(back, start=100, end=110)]
    timeline.replicas[2].removals = [replace(back, broker=2, start=100, end=110)]
    return list(unflushed(timeline, cluster))


def test_it_is_said_once_of_one_leader_and_start() -> None:
    assert [(found.transition.term.epoch, found.start) for found in shorter(200, 200)] == [(1, 200)]
    assert [(found.transition.term.epoch, found.start) for found in shorter(200, 300)] == [(1, 200), (2, 300)]


def test_it_is_not_said_of_a_start_at_which_a_loss_is_known() -> None:
    assert shorter(200, 200, lost=True) == []


def test_a_loss_that_is_known_is_not_said_again() -> None:
    s = power_loss()
    s.truncates(1, 40.2, 150)
    timeline, cluster = made(s)
    timeline.replicas[1].removals.append(Removal(1, 200, 250, True, "leader-epoch", 0, 1, None, (timeline.replicas[1].events[0],)))
    assert list(unflushed(timeline, cluster)) == []


def test_where_the_leader_began_must_be_known() -> None:
    timeline, cluster = made(power_loss())
    timeline.terms = [timeline.terms[0], replace(timeline.terms[1], start_offset=None)]
    assert list(unflushed(timeline, cluster)) == []


def test_logs_of_which_too_little_is_known_have_no_cause() -> None:
    assert one(change(removed=(tail(5, 8),), log=ANY_LOG, **COMMITTED)).cause == UNKNOWN
