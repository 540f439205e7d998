"""How each cell of a row is narrowed, where the stories of test_handovers do not reach: bounds of times and offsets, and evidence that is taken away
from a timeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.replicas import Load, Observation, Removal, disk
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.handovers import begin_gaps, end_gaps, handovers
from forensics.proof.verdict import (
    ANY_PROCESS,
    BEGIN,
    CHANGE,
    EITHER,
    END,
    INTACT,
    LOST,
    RESTART,
    UNKNOWN,
    Cell,
    Handover,
    Interval,
    Possible,
    open_cells,
)
from forensics.words import text
from tests.forensics.proof.staging import Evidence, Staged, begun, handed_over, judge, left, made, of_bundle, row, the, when
from tests.forensics.proof.tables import exactly, only
from tests.forensics.proof.test_handovers import alone, back_before_leading, outside, shrunk_in_the_end
from tests.forensics.proof.test_stepping_down import started

Change = Callable[[PartitionTimeline, Cluster], None]


def changed(evidence: Evidence, change: Change, kind: str = CHANGE) -> Handover:
    """The row of that kind after a change to the timeline."""
    timeline, cluster = made(evidence)
    change(timeline, cluster)
    timeline._by_kind = None
    (found,) = (r for r in handovers(timeline, cluster) if r.kind == kind)
    return found


# logs that brokers may have brought from the cluster before


def brings(*, begun_again: bool = True, topic_id: str | None = None, creates: Sequence[int] = (), epoch: int = 0) -> list[str]:
    s = begun()
    for broker in creates:
        s.creates(broker, -0.5)
    s.leads(1, 0, epoch, 0, 0, [1, 2])
    s.follows(2, 0.1, epoch, 0, 0)
    timeline, cluster = made(s)
    cluster.begun = (SimpleNamespace(node=1, at=when(-9), how="restarted"),) if begun_again else ()  # type: ignore[assignment]
    timeline.topic_id = topic_id
    return [text(gap) for gap in begin_gaps(timeline, cluster) if gap.id == "handover/brought"]


def test_a_log_of_the_cluster_before() -> None:
    assert brings() == ["it is unknown whether brokers 1 and 2 kept a log of this topic from the earlier cluster"]
    assert brings(creates=[1]) == ["it is unknown whether broker 2 kept a log of this topic from the earlier cluster"]
    assert brings(creates=[1, 2]) == [], "they had none"
    assert brings(begun_again=False) == []
    assert brings(topic_id="id") == [], "topic ids tell such logs apart"
    assert brings(epoch=3) == [], "the partition was made before"


# gaps between states


def test_a_gap_belongs_to_the_row_of_the_next_hand_over() -> None:
    """Whatever comes after the last one belongs to the end."""
    s = handed_over()
    s.receives(2, 9.9, 2, 1, [1, 2], 1)
    s.isr(2, 12, [2], 3)
    s.isr(2, 14, [2, 1], 4)
    s.leads(1, 20, 2, 300, 300, [1, 2], previous=1)
    s.receives(1, 19.9, 1, 2, [1, 2], 5)
    rows = judge(s).rows
    assert [r.unseen.at_most for r in rows] == [0, 0, 1, 0]
    assert [bool(r.notes.get("unseen")) for r in rows] == [False, False, True, False]


# the same leader in another leader epoch


def again(
    previous: int | None = 0, *, log_from: float = -1, starts: float | None = None, recovers: bool = False, line: bool = True
) -> Staged:
    """Broker 1 leads, and is elected again at 10 s."""
    s = Staged()
    s.starts(1, log_from - 0.5)
    s.runs(1, log_from)
    s.runs(2, -1)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    if starts is not None:
        s.starts(1, starts)
    if recovers:
        s.loads(1, 5, 190, unclean=True)
    if line:
        s.leads(1, 10, 1, 200, 200, [1, 2], previous=-1 if previous is None else previous)
    else:
        s.online(3, 10, 1, 1, [1, 2], 1)
    s.leads(2, 20, 2, 300, 300, [1, 2], previous=1)
    s.follows(1, 20.1, 2, 300, 300, previous=1)
    return s


def process_of(s: Staged) -> Handover:
    return judge(s).rows[1]


def test_a_leader_that_leads_on_in_another_leader_epoch_kept_its_log() -> None:
    found = process_of(again())
    assert (found.process, found.log, found.election) == (only(Cell.RUNNING), only(Cell.KEPT), only(Cell.IN_ISR))
    assert judge(again()).verdict == INTACT


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(again(previous=None), id="a process that knew no leader epoch"),
        pytest.param(again(starts=5), id="a start in between"),
        pytest.param(again(recovers=True), id="its log was recovered"),
        pytest.param(again(line=False, log_from=5), id="its line is missing, and its log begins later"),
        pytest.param(again(line=False, starts=5), id="its line is missing, and it started"),
    ],
)
def test_a_leader_that_may_have_been_restarted_in_between(story: Staged) -> None:
    assert process_of(story).process != only(Cell.RUNNING)
    assert process_of(story).log != only(Cell.KEPT)


def test_without_its_own_line_a_log_without_a_restart_is_enough() -> None:
    assert process_of(again(line=False)).process == only(Cell.RUNNING)
    assert process_of(again(line=False, starts=-1.2)).process == only(Cell.RUNNING), "it started before it led"
    assert process_of(again(line=False, starts=15)).process == only(Cell.RUNNING), "it started later"


def test_what_would_show_how_a_process_ended() -> None:
    found = row(back_before_leading(starts=False))
    assert found.process == ANY_PROCESS
    assert text(found.notes["process"]).endswith("the collected logs of broker 3 do not show it"), "never a file that is there"


# the new leader's log


def recovered(*, cut: bool = False, flushed: int | None = None, shorter: bool = False, crashed: bool = True) -> Handover:
    def change(timeline: PartitionTimeline, _: Cluster) -> None:
        replica = timeline.replicas[3]
        replica.loads = [replace(load, cut=cut) for load in replica.loads]
        if flushed is not None:
            place = next(n for n, e in enumerate(replica.events) if e.event == "log-load")
            replica.events.insert(place, Event(source="", event="recovery-point", writer=3, offset=flushed, at=when(1)))
        if shorter:
            replica.removals.append(Removal(3, 320, 330, True, "restart", 0, 0, when(5), ()))

    return changed(back_before_leading(recovers=crashed), change)


def test_a_recovery_shows_a_restart_also_if_the_line_about_the_end_of_the_log_is_missing() -> None:
    files = back_before_leading(starts=False, recovers=True, follows=True).files
    files["broker-3/logs/server.log"] = "".join(
        line for line in files["broker-3/logs/server.log"].splitlines(keepends=True) if "Completed load" not in line
    )
    found = the(judge(files))
    assert not found.process.only(Cell.RUNNING)
    assert found.log == only(Cell.KEPT, Cell.RECOVERED)
    assert not found.had_all.only(Cell.YES)


@pytest.mark.parametrize(("epoch", "log"), [(1, only(Cell.RECOVERED)), (2, only(Cell.KEPT, Cell.RECOVERED))])
def test_a_log_that_came_back_shorter_may_be_complete_again_if_a_leader_epoch_is_missing(epoch: int, log: Possible) -> None:
    s = begun(2, 3)
    s.leads(2, 0, 0, 0, 0, [2, 3])
    s.follows(3, 0.05, 0, 330, 0)
    s.starts(3, 4.5)
    s.loads(3, 5, 320, unclean=True)
    s.leads(3, 19, epoch, 340, 300, [3], previous=-1)
    assert next(row for row in judge(s).rows if row.leader_epoch == epoch).log == log


def test_a_recovered_log() -> None:
    assert recovered().log == only(Cell.KEPT, Cell.RECOVERED)
    assert recovered(shorter=True).log == only(Cell.RECOVERED)
    assert recovered(cut=True).log == only(Cell.KEPT, Cell.RECOVERED), "a torn tail after a power loss is ordinary"
    assert recovered(cut=True, flushed=341).log == only(Cell.DAMAGED)
    assert recovered(cut=True, flushed=340).log == only(Cell.KEPT, Cell.RECOVERED)


def test_a_leader_that_had_cut_its_log_to_its_high_watermark() -> None:
    judged = of_bundle("hw-truncation-0.10.2.2-zk", "payments-0")
    assert the(judged).log == only(Cell.CUT)
    assert judged.verdict == LOST
    assert of_bundle("hw-truncation-0.10.2.2-zk", "payments-1").verdict == INTACT


# where the new leader's log ended


def test_the_new_leaders_log_by_its_own_line() -> None:
    found = row(handed_over())
    assert found.new_log_end == Interval(200, 200, found.new_log_end.low, found.new_log_end.high)
    assert [e.event for e in found.new_log_end.low] == ["leader-start"]


def test_the_new_leaders_log_by_its_files() -> None:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.online(3, 10, 1, 2, [1, 2], 1)
    assert row(s).new_log_end.at_most is None
    s.disk(2, [(0, 0), (1, 250)])
    found = row(s).new_log_end
    assert (found.at_most, found.at_least) == (250, found.at_least)


# what was removed


def removed(change: Change = lambda *_: None, end: int = 205) -> Any:
    (found,) = changed(handed_over(end=end), change).removed
    return found


def test_a_removal_with_all_that_is_known_of_it() -> None:
    found = removed()
    assert (found.broker, found.how, found.start, found.end) == (
        1,
        "truncation",
        exactly(200, *found.start.low),
        exactly(205, *found.end.low),
    )
    assert (found.written_before_handover, found.lost_in_this_handover, found.from_other_topic, found.likely_start) == (
        only(Cell.YES),
        only(Cell.YES),
        only(Cell.NO),
        None,
    )
    assert found.exact_end
    assert found.removal.start == 200
    assert found.evidence == found.removal.evidence == found.start.high


def inexact(timeline: PartitionTimeline, _: Cluster) -> None:
    timeline.replicas[1].removals = [replace(r, exact=False) for r in timeline.replicas[1].removals]


def test_a_removal_whose_end_is_not_known() -> None:
    found = removed(inexact)
    assert (found.end.at_least, found.end.at_most, found.exact_end) == (205, None, False)


def test_a_removal_of_a_broker_whose_lines_are_in_no_order() -> None:
    """The records may be younger than the hand-over."""

    def disordered(_: PartitionTimeline, cluster: Cluster) -> None:
        for source in cluster.sources:
            if 1 in source.nodes:
                source.steps_back = [(9, when(50), when(10))]

    assert removed(disordered).written_before_handover == EITHER


def test_records_of_a_leader_epoch_that_is_not_known() -> None:
    def undated(timeline: PartitionTimeline, _: Cluster) -> None:
        timeline.replicas[1].removals = [replace(r, epoch=None, under_epoch=1) for r in timeline.replicas[1].removals]

    found = removed(undated)
    assert found.start.at_most == 200
    assert changed(handed_over(end=205), undated).had_all == EITHER, "they may have been gone before this hand-over"


def test_two_partitions_of_this_name_that_are_mixed() -> None:
    s = handed_over(end=205)
    s.leads(1, 12, 1, 200, 200, [1, 2], previous=0)
    rows = judge(s).rows
    assert all(r.written_before_handover == EITHER for found in rows for r in found.removed)


def test_the_leader_lost_the_end_of_its_own_log() -> None:
    """It had gone on alone after the replica that shows the loss had dropped out."""
    judged = of_bundle("last-replica-standing-1.0.2-zk", "trades-0")
    assert judged.verdict == LOST
    assert any(r.last_isr_member_lost_tail == only(Cell.NO) for r in judged.rows)
    assert row(handed_over(end=205)).last_isr_member_lost_tail == only(Cell.NO)


# records of which no line shows whether the leader had them


def test_a_log_that_is_created_without_its_first_high_watermark() -> None:
    """Lines of the broker about this partition are missing."""

    def created(timeline: PartitionTimeline, _: Cluster) -> None:
        timeline.replicas[1].events.append(Event(source="", event="log-created", writer=1, at=when(30)))

    found = changed(handed_over(), created)
    assert found.unexplained_truncations == EITHER
    assert found.old_log_end == Interval()


def test_the_log_of_a_leader_before_the_one_before() -> None:
    """It begins after it led, and what it cut before then is not known."""
    s = Staged()
    s.runs(1, 10.2)
    for broker in (2, 3):
        s.runs(broker, -1)
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.follows(2, 0.1, 0, 0, 0)
    s.follows(3, 0.1, 0, 0, 0)
    s.leads(2, 10, 1, 200, 200, [1, 2, 3], previous=0)
    s.follows(1, 10.1, 1, 200, 200, previous=0)
    s.leads(3, 20, 2, 300, 300, [1, 2, 3], previous=0)
    s.follows(2, 20.1, 2, 300, 300, previous=1)
    judged = judge(s)
    assert [r.unexplained_truncations for r in judged.rows] == [only(Cell.NO), EITHER, only(Cell.NO), only(Cell.NO)]
    assert left(judged) == [(CHANGE, "unexplained_truncations")]


# the old leader's log


def ends(change: Change, story: Evidence | None = None) -> Handover:
    return changed(story or handed_over(), change)


def test_the_old_log_with_its_evidence() -> None:
    found = row(handed_over())
    assert found.old_log_end == exactly(200, *found.old_log_end.low)
    assert [e.event for e in found.old_log_end.low] == ["follower-start"]
    assert (found.high_watermark.at_most, found.had_all) == (200, only(Cell.YES))


def test_an_old_log_whose_lines_are_in_no_order_or_do_not_print() -> None:
    def disordered(_: PartitionTimeline, cluster: Cluster) -> None:
        for source in (s for s in cluster.sources if 1 in s.nodes):
            source.steps_back = [(n, when(50), when(10)) for n in range(9)]

    def cut_lines(_: PartitionTimeline, cluster: Cluster) -> None:
        for source in (s for s in cluster.sources if 1 in s.nodes):
            source.cut_at = 200

    def stepped(_: PartitionTimeline, cluster: Cluster) -> None:
        for source in (s for s in cluster.sources if 1 in s.nodes):
            source.steps_back = [(9, when(50), when(10))]

    assert ends(disordered).old_log_end == Interval()
    assert ends(cut_lines).old_log_end == Interval()
    assert ends(stepped).old_log_end.at_most == 200, "a line that names the leader epoch"


def test_of_the_same_leader_there_is_no_old_log() -> None:
    assert row(alone()).old_log_end == Interval()
    assert "old_log_end" not in row(alone()).notes


def test_before_leader_epochs_the_line_about_its_cut_must_be_there() -> None:
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 0.1, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    s.receives(1, 20, 2, 1, [1, 2], 1)
    assert row(s).old_log_end == Interval()
    s.truncates(1, 20.1, 190)
    assert row(s).old_log_end.at_most == 190


# restarts of the only in-sync replica


def lone(change: Change = lambda *_: None, story: Staged | None = None, kind: str = RESTART) -> Handover:
    return changed(story or alone(), change, kind)


def at(event: str, seconds: float) -> Change:
    """A line of broker 1 at this time."""

    def change(timeline: PartitionTimeline, _: Cluster) -> None:
        timeline.replicas[1].events.append(Event(source="", event=event, writer=1, at=when(seconds)))

    return change


def test_the_only_in_sync_replica_stopped_cleanly() -> None:
    assert lone().sole_restart == only(Cell.NONE, Cell.CLEAN)
    assert row(alone(), BEGIN).sole_restart == only(Cell.NONE)


@pytest.mark.parametrize(("seconds", "may_have_lost"), [(10, False), (10.1, True), (40, True), (9, False)])
def test_a_recovery_after_it_was_left_alone(seconds: float, may_have_lost: bool) -> None:
    assert (lone(at("log-recovery", seconds)).sole_restart == only(Cell.NONE, Cell.CLEAN)) is not may_have_lost


def joining(*, starts: float | None = None) -> Staged:
    """Broker 1 leads alone from 10 s to 20 s."""
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(1, 10, 1, 200, 200, [1], previous=0)
    if starts is not None and starts < 20:
        s.starts(1, starts)
    s.isr(1, 20, [1, 2], 2)
    if starts is not None and starts >= 20:
        s.starts(1, starts)
    return s


@pytest.mark.parametrize(("seconds", "may_have_lost"), [(15, True), (20, False), (25, False)])
def test_a_recovery_after_another_replica_joined(seconds: float, may_have_lost: bool) -> None:
    """Then that one had all committed records."""
    found = lone(at("log-recovery", seconds), joining(), END)
    assert (found.sole_restart == only(Cell.NONE, Cell.CLEAN)) is not may_have_lost


@pytest.mark.parametrize(("seconds", "may_have_lost"), [(9, False), (12, True), (20, True), (21, False)])
def test_a_start_while_it_was_alone(seconds: float, may_have_lost: bool) -> None:
    s = joining(starts=seconds)
    assert (the(judge(s), END).sole_restart == only(Cell.NONE, Cell.CLEAN)) is not may_have_lost


def test_a_lone_replica_that_does_not_lead_any_more() -> None:
    """Its own log need not cover it: the controller's word that it is the only member of the ISR is enough to ask for its restarts."""
    s = handed_over()
    s.stops(2, 15)
    s.offline(9, 20, 2, [2], 2, 2)
    judged = judge(s)
    assert the(judged, END).sole_restart == only(Cell.NONE, Cell.CLEAN)
    s.starts(2, 25)
    s.loads(2, 26, 300, unclean=True)
    assert the(judge(s), END).sole_restart != only(Cell.NONE, Cell.CLEAN)


def test_two_restarts_of_which_one_was_not_clean() -> None:
    s = alone()
    s.starts(1, 50)
    s.loads(1, 51, 260, unclean=False)
    s.leads(1, 53, 1, 260, 260, [1])
    assert {cell for _, cell in left(judge(s))} >= {"sole_restart"}


def test_a_new_process_of_which_no_start_is_in_evidence() -> None:
    def restarts(seconds: float | None) -> Change:
        def change(timeline: PartitionTimeline, _: Cluster) -> None:
            replica = timeline.replicas[1]
            last = replica.leader_starts[-1]
            moment = when(seconds) if seconds is not None else None
            replica.leader_starts.append(replace(last, restart=True, at=moment))

        return change

    for seconds, may_have_lost in ((15, True), (10, False), (20, False), (25, False), (None, False)):
        found = lone(restarts(seconds), joining(), END)
        assert (found.sole_restart == only(Cell.NONE, Cell.CLEAN)) is not may_have_lost, seconds


# commitment


def test_a_high_watermark_that_was_seen_is_a_lower_bound() -> None:
    found = row(back_before_leading(recovers=True, mark=380))
    assert (found.high_watermark.at_least, found.high_watermark.at_most) == (380, None)
    assert [e.event for e in found.high_watermark.low] == ["follower-start"]


def test_a_lone_replica_committed_all_that_it_appended() -> None:
    found = judge(outside()).rows[2]
    assert (found.sole_commit, found.high_watermark.at_least) == (only(Cell.YES), 358)


def test_a_leader_with_all_committed_records_bounds_the_high_watermark() -> None:
    """By where the removed records begin, else by its own log's end."""
    assert row(handed_over(end=205)).high_watermark.at_most == 200
    assert row(handed_over()).high_watermark.at_most == 200


def test_a_leader_whose_own_log_had_gone_further_may_have_lost_records() -> None:
    def further(timeline: PartitionTimeline, _: Cluster) -> None:
        replica = timeline.replicas[2]
        first = replica.events[0]
        replica.observations.insert(0, Observation("log-end-offset", 2, 203, "at-least", 0, first.at, first))

    found = changed(handed_over(end=205), further)
    assert found.had_all == EITHER


@pytest.mark.parametrize(("previous", "bounds"), [(0, True), (-1, False), (None, False)])
def test_only_a_follower_that_ran_on_bounds_the_high_watermark(previous: int | None, bounds: bool) -> None:
    """Of a leader of which it is not known how its process ended."""
    s = begun(1, 2, 3)
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.follows(2, 0.1, 0, 0, 0)
    s.follows(3, 0.1, 0, 0, 0)
    s.leads(2, 10, 1, 200, 200, [2, 3], previous=-1)
    s.follows(3, 10.1, 1, 195, 190, previous=-1 if previous is None else previous)

    def unknown(timeline: PartitionTimeline, _: Cluster) -> None:
        if previous is None:
            timeline.replicas[3].follower_starts[-1].event.previous_leader_epoch = None

    found = changed(s, unknown)
    assert (found.high_watermark.at_most == 195) is bounds
    assert found.had_all == EITHER
    assert found.election.values == {Cell.IN_ISR, Cell.ELIGIBLE}


def test_a_follower_outside_the_isr_bounds_nothing() -> None:
    s = begun(1, 2, 3)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.follows(3, 0.1, 0, 0, 0)
    s.leads(2, 10, 1, 200, 200, [2], previous=-1)
    s.follows(3, 10.1, 1, 195, 190, previous=0)
    assert row(s).high_watermark.at_most is None


def test_a_leader_from_outside_the_isr_is_not_bounded_by_its_followers() -> None:
    s = begun(1, 2, 3)
    s.leads(1, 0, 0, 0, 0, [1, 3])
    s.follows(3, 0.1, 0, 0, 0)
    s.leads(2, 10, 1, 200, 200, [2], previous=-1)
    s.follows(3, 10.1, 1, 195, 190, previous=0)
    found = row(s)
    assert found.election.values == {Cell.OUTSIDE}
    assert found.high_watermark.at_most is None


# producers


def test_records_that_the_producers_sent_again() -> None:
    """A tail of which the batches are not in evidence was perhaps sent again; what was committed nobody sends again."""
    assert row(handed_over(end=205)).resent == EITHER
    assert judge(outside()).rows[2].resent == only(Cell.NO)
    assert row(handed_over()).resent == only(Cell.NO)


# the end of the evidence


def end(change: Change = lambda *_: None, story: Evidence | None = None) -> Handover:
    return changed(story or handed_over(), change, END)


def disks(log_end: int, mark: int | None = None, *, broker: int = 2, seen: int | None = None) -> Change:
    def change(timeline: PartitionTimeline, _: Cluster) -> None:
        batch = {"base_offset": 0, "last_offset": log_end - 1, "leader_epoch": 1, "max_timestamp": 1}
        events = [Event(source="d/t-0/0.log", event="segment", writer=broker, offset=0, log_end_offset=log_end, batches=[batch])]
        if mark is not None:
            events.append(Event(source="d/replication-offset-checkpoint", event="hw-checkpoint", writer=broker, offset=mark))
        timeline.collected_logs = {broker: disk(broker, "", events)}
        if seen is not None:
            first = timeline.replicas[1].events[0]
            timeline.replicas[1].observations.append(Observation("high-watermark", 1, seen, "at-least", 1, first.at, first))

    return change


@pytest.mark.parametrize(
    ("change", "mark", "log_end", "verdict"),
    [
        (disks(300), 200, 300, INTACT),
        (disks(300, 300), 300, 300, INTACT),
        (disks(300, 301), 301, 300, UNKNOWN),
        (disks(300, 250, seen=310), 310, 300, UNKNOWN),
        (disks(300, 250, seen=240), 250, 300, INTACT),
        (disks(300, 350, broker=1), 0, None, INTACT),
    ],
)
def test_a_high_watermark_beyond_the_end_of_the_last_leaders_log(change: Change, mark: int, log_end: int | None, verdict: str) -> None:
    found = end(change)
    assert (found.high_watermark.at_least, found.new_log_end.at_most) == (mark, log_end)
    assert bool(list(open_cells(found))) is (verdict == UNKNOWN)


def test_what_the_last_leader_may_have_cut_off() -> None:
    s = handed_over()
    s.forget("broker-2/logs/server.log")
    found = the(judge(s), END)
    assert found.unexplained_truncations == EITHER
    assert "no server.log of broker 2" in text(found.notes["unexplained_truncations"])


def test_the_end_has_the_time_and_the_leader_of_the_last_row() -> None:
    s = handed_over()
    s.runs(1, 60)
    found = the(judge(s), END)
    assert (found.leader_epoch, found.restart, found.old_leader, found.new_leader, found.at) == (1, 0, 2, 2, when(60))


def test_leader_epochs_that_only_a_disk_mentions() -> None:
    def mentions(epoch: int, *, inherited: bool = False) -> list[str]:
        timeline, cluster = made(handed_over())
        disks(300)(timeline, cluster)
        for segment in timeline.collected_logs[2].segments:
            for batch in segment.batches or ():
                batch["leader_epoch"] = epoch
        if inherited:
            load = Load(
                1, 300, False, False, None, when(-0.5), Event(source="", event="log-load", writer=1, at=when(-0.5), log_end_offset=300)
            )
            timeline.replicas[1].loads = [load]
            cluster.begun = (SimpleNamespace(node=1, at=when(-9), how="restarted"),)  # type: ignore[assignment]
        return [text(gap) for gap in end_gaps(timeline, cluster)]

    assert mentions(1) == []
    assert mentions(2) == ["leader epoch 2 is mentioned, but nothing else about it is known"]
    assert mentions(2, inherited=True) == [], "a log from another cluster has its own leader epochs"


def test_states_after_the_last_election_are_of_the_end() -> None:
    judged = judge(shrunk_in_the_end(2, 4))
    assert the(judged, CHANGE).unseen == exactly(0)
    assert the(judged, END).unseen == Interval(0, 1)
