"""The rows that the evidence of a partition comes to: every reason for `unknown` in a story where it alone leaves the verdict open, next to the
same story in which the missing piece is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from forensics.model.events import Event
from forensics.model.message import said
from forensics.model.partition.replicas import Disk, Observation, disk
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.handovers import begin_gaps, end_gaps, handovers, transitions
from forensics.proof.verdict import (
    ANY_ELECTION,
    ANY_LOG,
    ANY_PROCESS,
    ANY_RESTART,
    BEGIN,
    CHANGE,
    EITHER,
    END,
    INTACT,
    LOST,
    RESTART,
    TAIL_CUT,
    UNKNOWN,
    Cell,
    Handover,
    Interval,
    Possible,
)
from forensics.words import text
from forensics.words.formats import cell_words
from tests.forensics.proof.staging import DESCRIBED, Evidence, Staged, begun, handed_over, judge, left, made, row, the, when
from tests.forensics.proof.tables import exactly, only


class Case(NamedTuple):
    """What leaves a story open, and the story in which the missing piece is there."""

    open: Evidence
    left: list[tuple[str, str]]
    """Kinds of rows, and cells."""
    words: str
    """In the reason."""
    closed: Evidence
    verdict: str = INTACT
    modified: Mapping[str, datetime] | None = None


def check(case: Case) -> None:
    judged = judge(case.open, case.modified)
    assert left(judged) == case.left
    assert judged.verdict == UNKNOWN
    assert text(judged.why).endswith(f"; proof row {judged.decides[0].row}, {cell_words(case.left[0][1])})")
    assert case.words in text(judged.why)
    twin = judge(case.closed, case.modified)
    assert (twin.verdict, left(twin)) == (case.verdict, [])


def test_nothing_is_missing() -> None:
    assert judge(handed_over()).verdict == INTACT
    judged = judge(handed_over(end=205))
    assert judged.verdict == TAIL_CUT
    assert "200–204" in text(judged.why)


# the start of the evidence


EXPIRED = (
    "INFO [GroupMetadataManager brokerId=2] Removed 0 expired offsets in 0 milliseconds. (kafka.coordinator.group.GroupMetadataManager)"
)


def taken_over(epoch: int, previous: int) -> Staged:
    """The evidence begins with broker 2's line of this leader epoch."""
    s = begun(2)
    s.leads(2, 10, epoch, 200, 200, [1, 2], previous=previous)
    return s


def back(*, unclean: bool) -> Staged:
    """Broker 2 loads its log, and leads by the controller's log; its own state-change.log was not collected."""
    s = begun(2)
    s.loads(2, 5, 200, unclean=unclean)
    s.online(3, 10, 1, 2, [1, 2], 1)
    s.line(2, "server", 20, EXPIRED)
    return s


def after_leaderless() -> Staged:
    s = begun()
    s.put("cluster/controller.log", [])
    s.offline(2, 5, 1, [1], 1, 1)
    s.online(2, 6, 2, 1, [1], 2)
    s.leads(1, 6.1, 2, 200, 200, [1], previous=0)
    return s


def with_its_leader() -> Staged:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1])
    s.stops(1, 3)
    s.offline(2, 5, 1, [1], 1, 1)
    s.starts(1, 5.5)
    s.finds_clean_stop(1, 5.6)
    s.loads(1, 5.8, 200, unclean=False)
    s.online(2, 6, 2, 1, [1], 2)
    s.leads(1, 6.1, 2, 200, 200, [1], previous=-1)
    return s


def back_in_the_first_epoch(*, unclean: bool) -> Staged:
    """The controller's log has the creation of the partition, and that of broker 1 begins with a later start."""
    s = Staged()
    state = "state LeaderAndIsr(leader=1, leaderEpoch=0, isr=List(1, 2), zkVersion=0)"
    made = f"INFO [Controller id=3 epoch=1] Changed partition t-0 from NewPartition to OnlinePartition with {state} (state.change.logger)"
    s.line(3, "state-change", 0, made)
    s.starts(1, 49)
    s.loads(1, 50, 200, unclean=unclean)
    s.runs(1, 51)
    s.runs(2, -1)
    s.leads(1, 60, 0, 200, 190, [1, 2])
    return s


BEGINS = {
    "another leader": Case(taken_over(1, 0), [(BEGIN, "unseen")], "the evidence shows the start of leader epoch 1", taken_over(1, 1)),
    "a broker that was just started": Case(
        taken_over(1, -1), [(BEGIN, "unseen")], "the evidence shows the start of leader epoch 1", taken_over(1, 1)
    ),
    "an unclean stop": Case(back(unclean=True), [(BEGIN, "unseen")], "unclean stop of broker 2", back(unclean=False)),
    "an unclean stop after the creation": Case(
        back_in_the_first_epoch(unclean=True),
        [(BEGIN, "unseen")],
        "unclean stop of broker 1",
        back_in_the_first_epoch(unclean=False),
    ),
    "a time without leader": Case(after_leaderless(), [(BEGIN, "unseen")], "how the leader before leader epoch 2 ended", with_its_leader()),
}


@pytest.mark.parametrize("case", BEGINS.values(), ids=BEGINS)
def test_what_was_before_the_evidence(case: Case) -> None:
    check(case)


def test_of_a_partition_of_which_no_leader_epoch_is_known() -> None:
    s = begun()
    s.loads(1, 5, 200, unclean=False)
    judged = judge(s)
    assert (judged.verdict, judged.rows, left(judged)) == (UNKNOWN, (), [("", "leader_epoch")])
    assert text(judged.why).startswith("the evidence does not show which broker led")
    assert next(begin_gaps(*made(s))) == said("handover/no-epoch")
    assert next(end_gaps(*made(s))) == said("handover/no-epoch")
    s.isr(1, 6, [1], 3)
    assert next(end_gaps(*made(s))) == said("handover/no-epoch"), "of the leader that changes its ISR it is not known in which epoch"
    s.leads(1, 10, 1, 200, 200, [1], previous=1)
    assert judge(s).verdict == INTACT


def led_by_the_first_line(*, loads: bool, replicas: str) -> Staged:
    """Broker 1 leads in leader epoch 3 as the evidence begins."""
    s = begun(1)
    if loads:
        s.loads(1, 5, 200, unclean=False)
    s.receives(1, 9, 1, 3, [1], 3)
    s.leads(1, 10, 3, 200, 200, [1], previous=-1)
    replaced = Staged()
    for path, content in s.files.items():
        replaced.put(path, content.replace("replicas=[1, 2]", f"replicas=[{replicas}]").splitlines())
    return replaced


def test_a_broker_that_is_the_only_replica_has_nobody_to_take_over_from() -> None:
    assert left(judge(led_by_the_first_line(loads=True, replicas="1, 2"))) == [(BEGIN, "unseen")]
    assert judge(led_by_the_first_line(loads=True, replicas="1")).verdict == INTACT


def test_the_log_of_the_only_replica_has_to_be_seen_when_it_is_loaded() -> None:
    assert left(judge(led_by_the_first_line(loads=False, replicas="1"))) == [(BEGIN, "unseen")]


def test_a_broker_that_was_elected_as_its_process_ended_is_not_asked_for_its_log() -> None:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.online(3, 10, 1, 2, [1, 2], 1)
    s.starts(2, 40)
    assert "its process had ended by then or ended soon after (its last line is of 2026-11-21 01:53:00.100 UTC)" in text(
        row(s).notes["process"]
    )
    s.forget("broker-2/logs/server.log")
    assert text(row(s).notes["process"]).endswith("server.log of broker 2 would show it")


def test_a_later_start_of_the_first_leader_is_not_the_start_of_its_first_leader_epoch() -> None:
    """Leader epoch 1 is known from the controller. A restarted process does not know the leader epoch before."""
    s = begun(2)
    s.online(3, 10, 1, 2, [1, 2], 1)
    s.leads(2, 20, 2, 200, 200, [1, 2], previous=-1)
    assert list(begin_gaps(*made(s))) == []


def test_one_unclean_stop_before_the_evidence_is_enough() -> None:
    s = back(unclean=True)
    s.loads(2, 25, 200, unclean=False)
    assert left(judge(s)) == [(BEGIN, "unseen")]


def test_a_partition_that_was_made_in_the_evidence_has_no_begin_before() -> None:
    assert list(begin_gaps(*made(handed_over()))) == []
    found = row(handed_over(), BEGIN)
    assert (found.unseen, found.election) == (exactly(0), ANY_ELECTION)


def test_a_first_leader_epoch_of_which_the_isr_is_not_known() -> None:
    """Up to 2.5 the line with which a leader starts does not name the ISR."""
    s = begun()
    starts = "t-0 starts at Leader Epoch 0 from offset 0. Previous Leader Epoch was: -1"
    s.line(1, "server", 0, f"INFO [Partition t-0 broker=1] {starts} (kafka.cluster.Partition)")
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    assert [*map(text, begin_gaps(*made(s)))] == ["only the number of leader epoch 0 is known"]


def test_two_billion_leader_epochs_before_the_first_known_state_are_one_gap() -> None:
    """One damaged number is enough for it."""
    s = begun()
    for seconds, epoch in ((0, 0), (5, 2**31 - 3)):
        starts = f"t-0 starts at Leader Epoch {epoch} from offset 0. Previous Leader Epoch was: -1"
        s.line(1, "server", seconds, f"INFO [Partition t-0 broker=1] {starts} (kafka.cluster.Partition)")
    s.leads(2, 10, 2**31 - 2, 200, 200, [1, 2], previous=0)
    assert [*map(text, begin_gaps(*made(s)))] == [f"only the numbers of leader epochs 0 to {2**31 - 3} are known"]


# between two rows


def skipping(epoch: int) -> Staged:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(2, 10, epoch, 200, 200, [1, 2], previous=0)
    s.follows(1, 10.1, epoch, 200, 200, previous=0)
    return s


def changing_isr(*versions: int) -> Staged:
    """Broker 1 takes 2 out of the ISR and in again, with these partition epochs."""
    s = begun()
    s.receives(1, -0.1, 1, 0, [1, 2], 0)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    for n, version in enumerate(versions):
        s.isr(1, 3 + n, [1] if n % 2 == 0 else [1, 2], version)
    s.receives(1, 9, 2, 1, [1, 2], 3)
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    s.follows(1, 10.1, 1, 200, 200, previous=0)
    return s


def intending(*, confirmed: bool) -> Staged:
    """Broker 1 intended to take 2 out of the ISR, and printed that it did, or not. Partition epochs are not known."""
    s = begun()
    s.version(1, -0.5, "2.8.2")
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.shrinks(1, 5, [1, 2], [1], 90, 100)
    if confirmed:
        s.isr(1, 5.1, [1], 1)
        s.isr(1, 6, [1, 2], 2)
    s.leads(2, 10, 1, 200, 200, [2], previous=0)
    s.follows(1, 10.1, 1, 200, 200, previous=0)
    return s


MIDDLES = {
    "a change of the ISR": Case(changing_isr(2), [(CHANGE, "unseen")], "1 change of the partition's state", changing_isr(1, 2)),
    "whether the ISR shrank": Case(
        intending(confirmed=False), [(CHANGE, "unseen"), (CHANGE, "election")], "whether the ISR became [1]", intending(confirmed=True)
    ),
}


@pytest.mark.parametrize("case", MIDDLES.values(), ids=MIDDLES)
def test_what_is_missing_between_two_rows(case: Case) -> None:
    check(case)


def test_a_leader_epoch_that_is_missing() -> None:
    """Another leader may have been elected in it, from outside the ISR."""
    judged = judge(skipping(2))
    assert (judged.verdict, {*left(judged)} - {(BEGIN, "unseen")}) == (UNKNOWN, {(CHANGE, "unseen"), (CHANGE, "election")})
    assert "leader epoch 1 is not in the evidence" in text(judged.why)
    assert judge(skipping(1)).verdict == INTACT


@pytest.mark.parametrize(("epoch", "count"), [(1, 0), (2, 1), (4, 3)])
def test_each_leader_epoch_that_is_missing_is_counted(epoch: int, count: int) -> None:
    assert row(skipping(epoch)).unseen == Interval(0, count)


def test_each_change_that_is_missing_is_counted() -> None:
    assert row(changing_isr()).unseen == Interval(0, 2)
    assert row(changing_isr(1)).unseen == Interval(0, 1)
    assert row(changing_isr(1, 2)).unseen == Interval(0, 0)
    assert row(intending(confirmed=False)).unseen == Interval(0, 1), "it is not known how many"


def test_changes_that_were_seen_and_not_kept_are_not_missing() -> None:
    """Of a partition with very many changes of its ISR some are left out of the table of events."""

    def unseen(since: float = 2.5, until: float = 3.5, story: Evidence | None = None) -> int | None:
        timeline, cluster = made(story or changing_isr(2))
        timeline.events.append(Event(source="", event="events-left-out", writer=1, at=when(since), last_at=when(until)))
        timeline._by_kind = None
        (found,) = (r for r in handovers(timeline, cluster) if r.kind == CHANGE)
        return found.unseen.at_most

    assert unseen() == 0
    assert unseen(since=3, until=3) == 0
    assert unseen(since=3.1, until=3.5) == 1, "after the change that is missing"
    assert unseen(since=-3, until=-2) == 1, "before it"
    assert unseen(story=skipping(3)) == 2, "of other leader epochs"


def test_a_leader_that_begins_at_offset_0_has_evidence_for_it() -> None:
    assert [e.event for e in row(handed_over(), BEGIN).new_log_end.low] == ["leader-start"]


# the end of the evidence


def followed(epoch: int) -> Staged:
    s = handed_over()
    s.follows(1, 20, epoch, 200, 200, previous=1)
    return s


def followed_both(one: int, other: int) -> Staged:
    s = followed(one)
    s.follows(2, 21, other, 200, 200, previous=1)
    return s


def described(leader: int | str) -> Staged:
    s = handed_over()
    s.describes(leader)
    return s


def shrunk_in_the_end(*versions: int) -> Staged:
    s = handed_over()
    s.receives(2, 9.9, 2, 1, [1, 2], 1)
    for n, version in enumerate(versions):
        s.isr(2, 20 + n, [2] if n % 2 == 0 else [1, 2], version)
    return s


LATER = {DESCRIBED: when(60)}
ENDS = {
    "a leader epoch that is only mentioned": Case(followed(3), [(END, "unseen")], "leader epoch 3 is mentioned", followed(1)),
    "two leader epochs that are only mentioned": Case(followed_both(3, 5), [(END, "unseen")], "leader epoch 5 is mentioned", followed(1)),
    "another leader later": Case(
        described(3), [(END, "unseen")], "kafka-topics showed broker 3 as leader later", described(2), modified=LATER
    ),
    "an earlier state": Case(
        described(1),
        [(END, "unseen")],
        "as leader, as in leader epoch 0: its output is older than its file, or",
        described(2),
        modified=LATER,
    ),
    "no leader later": Case(described("none"), [(END, "unseen")], "kafka-topics showed no leader", described(2), modified=LATER),
}


@pytest.mark.parametrize("case", ENDS.values(), ids=ENDS)
def test_what_was_after_the_evidence(case: Case) -> None:
    check(case)


def test_a_change_of_the_isr_that_is_missing_after_the_last_election() -> None:
    """No election of this leader epoch rests on it, but the ISR in which the leader led on is not known."""
    judged = judge(shrunk_in_the_end(2, 4))
    assert the(judged, END).unseen == Interval(0, 1)
    assert (END, "unseen") in left(judged)
    assert the(judge(shrunk_in_the_end(2, 3)), END).unseen == exactly(0)
    assert judge(shrunk_in_the_end(2, 3)).verdict == INTACT


def test_what_files_of_a_log_from_elsewhere_mention_is_of_its_own_epochs() -> None:
    s = handed_over()
    s.disk(2, [(0, 0), (1, 200), (7, 300)])
    assert left(judge(s)) == [(END, "unseen")]
    s = handed_over()
    s.disk(2, [(0, 0), (1, 200)])
    assert judge(s).verdict == INTACT


# elections


def log_from(seconds: float) -> Staged:
    """Broker 1's server.log, in which it prints changes of the ISR, begins at this time; broker 2 is then elected, and is alone."""
    s = Staged()
    s.runs(1, seconds)
    s.runs(2, -1)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(2, 10, 1, 200, 200, [2], previous=0)
    s.follows(1, 10.1, 1, 220, 200, previous=0)
    s.truncates(1, 10.2, 200)
    return s


def test_whether_the_new_leader_was_in_the_isr() -> None:
    """Until 5 s broker 1 may have taken broker 2 out of the ISR, and no line would show it."""
    check(Case(log_from(5), [(CHANGE, "election")], "whether broker 2 was in the ISR", log_from(-1), TAIL_CUT))
    assert row(log_from(5)).election == ANY_ELECTION
    assert row(log_from(-1)).election.values == {Cell.IN_ISR, Cell.ELIGIBLE}


def outside(epoch: int = 2, *, back: bool = True) -> Staged:
    """Broker 2 leads alone, broker 1, outside the ISR, is elected at 200; broker 2 had stopped, and comes back with 358 records."""
    s = begun(1, 2)
    s.leads(2, 0, 0, 0, 0, [2, 1])
    s.follows(1, 0.1, 0, 0, 0)
    s.leads(2, 14, 1, 200, 200, [2], previous=0)
    s.stops(2, 35)
    s.leads(1, 40, epoch, 200, 200, [1], previous=0)
    if back:
        s.starts(2, 43)
        s.finds_clean_stop(2, 43.5)
        s.loads(2, 44, 358, unclean=False)
        s.follows(2, 46, epoch, 358, 358)
        s.truncates(2, 46.1, 200)
    return s


def test_an_election_from_outside_the_isr() -> None:
    judged = judge(outside())
    changed = judged.rows[2]
    assert judged.verdict == LOST
    assert changed.election == only(Cell.OUTSIDE, evidence=changed.election.evidence)
    assert text(changed.notes["election"]).startswith("broker 1 was elected from outside the ISR")
    assert changed.election.evidence


def test_an_election_from_outside_the_last_isr_in_evidence() -> None:
    """In the two epochs that are missing, broker 1 may have joined it."""
    assert judge(outside(4)).rows[2].election.values == {Cell.OUTSIDE, Cell.IN_ISR}


def test_an_election_that_is_only_probably_clean() -> None:
    """A new controller sends the ISR of broker 2, which was elected in a change that is missing, and which others may have joined since."""
    s = begun(1, 2)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    state = "PartitionState(controllerEpoch=3, leader=2, leaderEpoch=1, isr=[2, 1], zkVersion=2, replicas=[1, 2], isNew=false)"
    asked = f"TRACE [Controller id=3 epoch=4] Sending become-leader LeaderAndIsr request {state}"
    s.line(3, "state-change", 20, f"{asked} to broker 2 for partition t-0 (state.change.logger)")
    assert row(s).election == ANY_ELECTION


def test_an_election_from_outside_during_a_reassignment() -> None:
    """Brokers 1 and 2, whose partition moves to broker 3, crash, and broker 3, which lags, is elected. No checkpoint shows how far the high
    watermark was."""
    s = begun(1, 2, 3)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    asked = "INFO [Controller id=3 epoch=3] Sent LeaderAndIsr request (Leader:1,ISR:1,2,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:3)"
    moved = "with new replica assignment ReplicaAssignment(replicas=3,1,2, addingReplicas=3, removingReplicas=1,2) to leader 1"
    s.line(3, "state-change", 10, f"{asked} {moved} for partition being reassigned t-0 (state.change.logger)")
    s.leads(1, 10.1, 1, 100, 100, [1, 2], previous=0)
    s.follows(2, 10.1, 1, 100, 100, previous=0)
    s.creates(3, 10.2)
    s.follows(3, 10.3, 1, 0, 0)
    s.online(3, 40, 2, 3, [3], 2)
    s.leads(3, 40.1, 2, 190, 180, [3], previous=1)
    for broker in (1, 2):
        s.starts(broker, 60)
        s.loads(broker, 61, 200, unclean=True)
        s.follows(broker, 62, 2, 200, 170)
        s.truncates(broker, 62.1, 190)
    judged = judge(s)
    assert judged.rows[2].election.values == {Cell.OUTSIDE}
    assert judged.verdict == UNKNOWN


def test_an_election_from_outside_leaves_it_open_what_the_old_leader_had() -> None:
    judged = judge(outside(back=False))
    assert left(judged) == [(CHANGE, "election"), (CHANGE, "old_log_end")]
    assert "elected from outside the ISR" in text(judged.why)
    assert judge(outside()).verdict == LOST


# the new leader's process and log


def back_before_leading(
    *, clean: bool = False, starts: bool = True, recovers: bool = False, rejoins: bool = False, follows: bool = False, mark: int = 300
) -> Staged:
    """Broker 3, in sync with broker 2, goes down and is back; it is elected at 340, and broker 2 follows with a log that ends at 405."""
    s = begun(2, 3)
    s.leads(2, 0, 0, 0, 0, [2, 3])
    s.follows(3, 0.05, 0, 0, 0)
    if clean:
        s.stops(3, 3)
    if starts:
        s.starts(3, 4.5)
    if clean:
        s.finds_clean_stop(3, 4.6)
    s.loads(3, 5, 320 if follows or rejoins else 340, unclean=recovers)
    if follows or rejoins:
        s.follows(3, 5.5, 0, 320, 300)
    if rejoins:
        s.isr(2, 5.8, [2], 1)
        s.isr(2, 6, [2, 3], 2)
    s.leads(3, 19, 1, 340, 300, [3], previous=0 if follows or rejoins else -1)
    s.follows(2, 32, 1, 405, mark, previous=0)
    s.truncates(2, 32.1, 340)
    return s


TAKES_OVER = {
    "how its process ended": Case(
        back_before_leading(starts=False),
        [(CHANGE, "process")],
        "whether broker 3 was stopped cleanly",
        back_before_leading(clean=True),
        TAIL_CUT,
    ),
    "what its log lost in a crash": Case(
        back_before_leading(recovers=True), [(CHANGE, "log")], "broker 3 crashed", back_before_leading(clean=True), TAIL_CUT
    ),
    "what it lost before it followed again": Case(
        back_before_leading(recovers=True, follows=True),
        [(CHANGE, "log")],
        "broker 3 crashed",
        back_before_leading(recovers=True, rejoins=True),
        TAIL_CUT,
    ),
}


@pytest.mark.parametrize("name", TAKES_OVER)
def test_what_the_new_leader_went_through(name: str) -> None:
    check(TAKES_OVER[name])


def test_a_leader_that_ran_on() -> None:
    found = row(handed_over())
    assert (found.process, found.log, found.had_all) == (only(Cell.RUNNING), only(Cell.KEPT), only(Cell.YES))
    assert (found.high_watermark.at_least, found.high_watermark.at_most) == (0, 200)


def test_a_leader_that_was_stopped_cleanly() -> None:
    found = row(back_before_leading(clean=True))
    assert (found.process, found.log, found.had_all) == (only(Cell.STOPPED), only(Cell.KEPT), only(Cell.YES))


@pytest.mark.parametrize(("previous", "process", "log"), [(1, only(Cell.RUNNING), only(Cell.KEPT)), (-1, ANY_PROCESS, ANY_LOG)])
def test_a_leader_that_knew_an_epoch_ran_on_even_if_its_log_begins_later(previous: int, process: Possible, log: Possible) -> None:
    """Broker 1 is elected again in leader epoch 2; of leader epoch 1 no line is in the evidence."""
    s = Staged()
    s.runs(1, 5)
    s.runs(2, -1)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(1, 10, 2, 200, 200, [1, 2], previous=previous)
    s.leads(2, 20, 3, 300, 300, [1, 2], previous=0)
    found = judge(s).rows[1]
    assert (found.process, found.log) == (process, log)


def test_a_leader_that_crashed() -> None:
    found = row(back_before_leading(recovers=True))
    assert found.process == only(Cell.CRASHED)
    assert found.log == only(Cell.KEPT, Cell.RECOVERED)
    assert found.had_all == EITHER


def test_a_leader_that_crashed_is_not_one_that_ran_on_because_it_heard_of_the_epoch_again() -> None:
    """A controller sends the old leader epoch to a broker that was just started."""
    found = row(back_before_leading(follows=True))
    assert found.process == only(Cell.CRASHED)
    assert found.had_all == EITHER


def test_a_load_of_the_log_shows_a_restart_whose_other_lines_are_missing() -> None:
    judged = judge(back_before_leading(starts=False, follows=True))
    assert left(judged) == [(CHANGE, "process")]


def test_a_leader_that_had_crashed_before_it_joined_the_isr_has_what_was_committed() -> None:
    """Its leader takes a replica into the ISR when it has all of that (Partition#maybeExpandIsr)."""
    found = row(back_before_leading(recovers=True, rejoins=True))
    assert (found.log, found.had_all) == (only(Cell.KEPT), only(Cell.YES))


def test_a_crash_and_a_high_watermark_that_was_seen_show_a_loss() -> None:
    judged = judge(back_before_leading(recovers=True, mark=380))
    assert judged.verdict == LOST
    assert "340–379" in text(judged.why)


@pytest.mark.parametrize(("reached", "mark"), [(None, 300), (290, 300), (380, 380)])
def test_what_all_in_sync_replicas_had_reached_was_committed(reached: int | None, mark: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before leader epochs, logs show it that were cut to a high watermark (test_pre_kip101)."""
    monkeypatch.setattr("forensics.proof.handovers.reached_by_isr", lambda *_: reached)
    assert row(back_before_leading(recovers=True)).high_watermark.at_least == mark


def emptied(*, created: bool = True) -> Staged:
    """Both in-sync replicas crashed; the disk of broker 2 was replaced, and it came back first."""
    s = begun(1, 2)
    s.creates(2, 0)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    if created:
        s.starts(2, 38)
        s.creates(2, 39)
    s.leads(2, 40.1, 1, 0, 0, [2], previous=-1 if created else 0)
    s.loads(1, 44, 200, unclean=True)
    s.follows(1, 46, 1, 200, 200)
    s.truncates(1, 46.1, 0)
    return s


def test_a_leader_whose_log_was_created_again() -> None:
    found = row(emptied())
    assert found.log == only(Cell.WIPED)
    assert judge(emptied()).verdict == LOST
    assert row(emptied(created=False)).log == only(Cell.KEPT)


# what was cut off logs


@pytest.mark.parametrize("broker", [1, 2])
def test_no_log_of_a_leader_was_collected(broker: int) -> None:
    """Only its own server.log shows what it cut off. Nobody asks for the log of a follower."""
    s = handed_over()
    s.forget(f"broker-{broker}/logs/server.log")
    judged = judge(s)
    assert (CHANGE, "unexplained_truncations") in left(judged)
    assert {cell for _, cell in left(judged)} <= {"unexplained_truncations", "old_log_end"}
    assert f"no server.log of broker {broker}" in text(judged.why)
    assert the(judged, END).unexplained_truncations == (EITHER if broker == 2 else only(Cell.NO))


def test_a_follower_whose_log_was_not_collected_leaves_nothing_open() -> None:
    s = handed_over()
    s.follows(3, 0.2, 0, 0, 0)
    assert judge(s).verdict == INTACT


def test_the_log_of_a_deposed_leader_begins_after_it() -> None:
    """What it cut off before is in its older log."""
    s = handed_over()
    late = Staged()
    late.runs(1, 10.05)
    late.put("broker-2/logs/server.log", s.files["broker-2/logs/server.log"].splitlines())
    for broker in (1, 2):
        path = f"broker-{broker}/logs/state-change.log"
        late.put(path, s.files[path].splitlines())
    check(Case(late, [(CHANGE, "unexplained_truncations")], "the log of broker 1 begins after it led in leader epoch 0", s))


def test_a_leader_whose_log_ends_before_it_is_known_to_lead() -> None:
    s = begun(2)
    s.online(3, 10, 3, 2, [2], 4)
    assert the(judge(s), END).unexplained_truncations == EITHER
    assert "the logs of broker 2 end before the first line about leader epoch 3" in text(
        the(judge(s), END).notes["unexplained_truncations"]
    )
    s.line(2, "server", 20, EXPIRED)
    assert the(judge(s), END).unexplained_truncations == only(Cell.NO)


def unknown_to_the_leader(end: int) -> Staged:
    """The evidence does not show where broker 2 began; broker 1 cut off records that it had led with."""
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.online(3, 10, 1, 2, [1, 2], 1)
    s.follows(1, 10.1, 1, end, 200, previous=0)
    s.truncates(1, 10.2, 200)
    return s


def test_records_that_were_cut_and_that_the_leader_may_not_have_had() -> None:
    judged = judge(unknown_to_the_leader(205))
    assert (CHANGE, "unexplained_truncations") in left(judged)
    assert "cut offsets 200–204" in text(the(judged).notes["unexplained_truncations"])
    assert (CHANGE, "unexplained_truncations") not in left(judge(unknown_to_the_leader(200)))


def brought(isr: Sequence[int], *, prints_start: bool) -> dict[str, bool]:
    """Which of two facts are certain: broker 2 brought 300 records from another cluster and cuts them to 100, because broker 3 leads from there."""
    s = begun(1, 2, 3)
    s.loads(2, -0.5, 300, unclean=False)
    s.leads(1, 0, 0, 0, 0, isr)
    s.online(9, 10, 1, 3, [3], 1)
    if prints_start:
        s.leads(3, 10, 1, 100, 100, [3], previous=0)
    s.follows(2, 10.2, 1, 300, 0)
    s.truncates(2, 10.3, 100)
    s.disk(3, [(0, 0), (1, 100)])
    timeline, cluster = made(s)
    cluster.begun = (SimpleNamespace(node=2, at=when(-9), how="restarted"),)  # type: ignore[assignment]
    ((removed,),) = (r.removed for r in handovers(timeline, cluster) if r.kind == CHANGE)
    assert removed.from_other_topic == only(Cell.YES)
    return {
        "written_before_handover": removed.written_before_handover == only(Cell.YES),
        "lost_in_this_handover": removed.lost_in_this_handover == only(Cell.YES),
    }


def test_a_leader_that_did_not_print_its_start_may_have_lost_the_records_of_another_cluster_later() -> None:
    assert brought([1, 3], prints_start=False) == {"written_before_handover": False, "lost_in_this_handover": False}
    assert brought([1, 3], prints_start=True) == {"written_before_handover": True, "lost_in_this_handover": True}
    assert brought([1], prints_start=False) == {"written_before_handover": True, "lost_in_this_handover": True}, (
        "a leader from outside the ISR did not have them"
    )


def two_removals(change: Callable[[PartitionTimeline], None] = lambda _: None) -> Handover:
    """Broker 2 takes over at 200. Broker 1 cuts its log from 205 to 200, broker 3 from 210 to 203."""
    s = begun(1, 2, 3)
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.follows(2, 0.1, 0, 0, 0)
    s.follows(3, 0.1, 0, 0, 0)
    s.leads(2, 10, 1, 200, 200, [1, 2, 3], previous=0)
    for broker, end, to in ((1, 205, 200), (3, 210, 203)):
        s.follows(broker, 10.1, 1, end, 200, previous=0)
        s.truncates(broker, 10.2, to)
    timeline, cluster = made(s)
    change(timeline)
    (found,) = (r for r in handovers(timeline, cluster) if r.kind == CHANGE)
    return found


def test_of_several_removals_the_lowest_offset_bounds_the_high_watermark() -> None:
    found = two_removals()
    assert (found.had_all, found.high_watermark.at_most) == (only(Cell.YES), 200)


def test_of_several_removals_the_leader_may_have_had_the_first() -> None:
    def had_202(timeline: PartitionTimeline) -> None:
        replica = timeline.replicas[2]
        first = replica.events[0]
        replica.observations.insert(0, Observation("log-end-offset", 2, 203, "at-least", 0, first.at, first))

    assert two_removals(had_202).had_all == EITHER


# the end of the old leader's log


def ended(*, follows: bool = True, kept: bool = True) -> Staged:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    if follows:
        s.follows(1, 10.1, 1, 200, 200, previous=0)
    return s


def test_where_the_log_of_the_old_leader_ended() -> None:
    check(Case(ended(follows=False), [(CHANGE, "old_log_end")], "where the log of broker 1 ended", ended()))


def crashed_both(*, clean: bool, isr: Sequence[int] = (2, 3)) -> Staged:
    """All in-sync replicas went down at once, and broker 1 was elected from outside the ISR. Broker 2 is back with 200 records."""
    s = begun(1, 2, 3)
    s.version(2, -0.5, "2.8.2")
    s.leads(2, 0, 0, 0, 0, [2, 1, 3])
    s.isr(2, 14, isr, 1)
    if clean:
        s.stops(2, 35)
    s.online(1, 40.1, 1, 1, [1], 2)
    s.leads(1, 40.3, 1, 200, 200, [1], previous=0)
    s.starts(2, 43)
    if clean:
        s.finds_clean_stop(2, 43.5)
    s.loads(2, 44, 200, unclean=not clean)
    s.follows(2, 46, 1, 200, 100)
    return s


def test_the_end_of_a_log_that_was_recovered_says_nothing_of_the_high_watermark() -> None:
    """The old leader may have lost records that it had not flushed and that were committed; broker 3 was not collected."""
    check(Case(crashed_both(clean=False), [(CHANGE, "election")], "outside the ISR", crashed_both(clean=True)))


@pytest.mark.parametrize(("clean", "at_most"), [(True, 200), (False, None)])
@pytest.mark.parametrize("isr", [[2], [2, 3]])
def test_only_a_log_that_was_kept_bounds_the_high_watermark(isr: Sequence[int], clean: bool, at_most: int | None) -> None:
    """Broker 1 is elected from outside the ISR, and the old leader is back with a log that ends where broker 1 began."""
    found = row(crashed_both(clean=clean, isr=isr)).high_watermark
    assert (found.at_least, found.at_most) == (0, at_most)


@pytest.mark.parametrize("joins", [False, True])
def test_the_only_in_sync_replica_may_have_crashed_until_another_one_joins_it(joins: bool) -> None:
    """Broker 1, elected from outside the ISR, did not join it, and broker 3 joins broker 1."""
    for clean, found in ((True, only(Cell.NONE, Cell.CLEAN)), (False, ANY_RESTART)):
        s = crashed_both(clean=clean, isr=[2])
        if joins:
            s.isr(1, 42, [1, 3], 3)
        assert row(s).sole_restart == found


def crashed(end: int) -> Staged:
    """The leader crashes, broker 2 from the ISR begins at 200, and the old leader is back with a log that ends here."""
    s = ended(follows=False)
    s.starts(1, 20)
    s.loads(1, 22, end, unclean=True)
    s.follows(1, 24, 1, end, end, previous=-1)
    return s


def test_the_old_leader_is_back_with_less_than_it_had() -> None:
    """What it had beyond broker 2 was not committed, and no file contains it."""
    check(Case(crashed(150), [(CHANGE, "old_log_end")], "broker 1 came back with a log that ended at offset 150", crashed(200)))
    found = row(crashed(150))
    assert (found.old_log_end.at_least, found.old_log_end.at_most, found.high_watermark.at_most) == (150, None, 200)


# the only in-sync replica


def alone(*, log_from: float = -1, clean: bool = True, starts: bool = True, recovers: bool = False, again: bool = True) -> Staged:
    """Broker 1 leads alone from 200 on, goes down, and is back at 240, in the same leader epoch."""
    s = Staged()
    s.runs(1, log_from)
    s.runs(2, -1)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(1, 10, 1, 200, 200, [1], previous=0)
    if clean:
        s.stops(1, 20)
    if starts:
        s.starts(1, 30)
    if clean:
        s.finds_clean_stop(1, 30.5)
    if again:
        s.loads(1, 31, 240, unclean=recovers)
        s.leads(1, 33, 1, 240, 240, [1])
    return s


def led_alone(*, log_from: float = -1) -> Staged:
    s = Staged()
    s.runs(2, -1)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(1, 10, 1, 200, 200, [1], previous=0)
    s.runs(1, log_from)
    return s


SOLE = {
    "it was restarted": (alone(clean=False), "no line shows that it was stopped cleanly"),
    "its log was recovered": (alone(clean=False, recovers=True), "was the only in-sync replica and crashed"),
    "a new process, of which no start is in evidence": (alone(clean=False, starts=False), "no line shows that it was stopped cleanly"),
}


@pytest.mark.parametrize(("story", "words"), SOLE.values(), ids=SOLE)
def test_the_only_in_sync_replica_was_restarted(story: Staged, words: str) -> None:
    judged = judge(story)
    assert left(judged)[0] == (RESTART, "sole_restart")
    assert words in text(judged.why)
    twin = judge(alone())
    assert (twin.verdict, the(twin, RESTART).sole_restart) == (INTACT, only(Cell.NONE, Cell.CLEAN))


def test_a_log_that_does_not_show_restarts_of_the_only_in_sync_replica() -> None:
    """It was collected from a time on after the replica was left alone."""
    check(Case(led_alone(log_from=12), [(END, "sole_restart")], "broker 1 led alone in leader epoch 1", led_alone(log_from=9)))


def test_an_only_in_sync_replica_of_which_nothing_was_collected() -> None:
    """It does not lead, so it appends nothing that a restart could lose."""
    s = handed_over(isr=[1, 2, 3])
    s.offline(9, 20, 2, [3], 2, 2)
    assert the(judge(s), END).sole_restart == only(Cell.NONE, Cell.CLEAN)


def refused(seconds: float, leader: int = 1, *, joined: bool = True, last_line: float = 30, starts: float | None = None) -> bool:
    """Whether broker 1 may have been restarted while it led alone, from 10 s on, because a broker could not follow it at this time. Broker 2
    joins the ISR at 20 s, or never."""
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(1, 10, 1, 200, 200, [1], previous=0)
    if joined:
        s.isr(1, 20, [1, 2], 2)
    s.refuses(2, seconds, leader)
    if starts is not None:
        s.starts(1, starts)
    s.line(1, "server", last_line, "INFO [GroupCoordinator 1]: Stabilized group g generation 1 (kafka.coordinator.group.GroupCoordinator)")
    found = the(judge(s), END)
    if found.sole_restart == only(Cell.NONE, Cell.CLEAN):
        return False
    assert "no line shows that it was stopped cleanly" in text(found.notes["sole_restart"])
    return True


def test_the_only_in_sync_replica_was_away_and_printed_lines_later() -> None:
    """A controller that does not count its broker as alive makes others refuse to follow it."""
    assert refused(15)
    assert not refused(10), "as it was left alone"
    assert refused(10.1)
    assert refused(19.9)
    assert not refused(20), "another replica has all committed records"
    assert not refused(15, leader=3)


def test_the_only_in_sync_replica_did_not_come_back() -> None:
    assert refused(15, joined=False)
    assert refused(15, joined=False, last_line=15.1)
    assert not refused(15, joined=False, last_line=15)
    assert not refused(15, joined=False, last_line=12)


def test_the_only_in_sync_replica_came_back_when_it_was_not_alone_any_more() -> None:
    assert not refused(15, starts=25)


def back_with_less(*, clean: bool) -> Handover:
    """The row of the restart: broker 1, left alone at 14 s, goes down and is back at 240. Broker 2 then cuts its log from 300 to 240."""
    s = begun()
    s.version(1, -0.5, "2.8.2")
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.isr(1, 14, [1], 1)
    if clean:
        s.stops(1, 20)
    s.starts(1, 30)
    if clean:
        s.finds_clean_stop(1, 30.5)
    s.loads(1, 31, 240, unclean=not clean)
    s.leads(1, 33, 0, 240, 240, [1])
    s.follows(2, 34, 0, 300, 200, previous=0)
    s.truncates(2, 34.1, 240)
    return row(s, RESTART)


def test_the_only_in_sync_replica_lost_the_end_of_its_log() -> None:
    assert back_with_less(clean=False).last_isr_member_lost_tail == only(Cell.YES)
    assert back_with_less(clean=True).last_isr_member_lost_tail == only(Cell.NO)


def test_records_that_the_only_in_sync_replica_does_not_have_were_committed_even_if_it_was_stopped_cleanly() -> None:
    found = back_with_less(clean=True)
    assert (found.log, found.sole_commit, found.had_all) == (only(Cell.KEPT), only(Cell.YES), EITHER)
    assert (found.high_watermark.at_least, found.high_watermark.at_most) == (300, None)


# producers


def on_disk(end: int, *batches: dict[str, object], broker: int = 2) -> Disk:
    """The log of a broker."""
    return disk(broker, "", [Event(source="d/t-0/0.log", event="segment", writer=broker, offset=0, log_end_offset=end, batches=[*batches])])


def in_their_place(end: int, producer: int = -1, lost: Sequence[tuple[int, int, int]] = ()) -> Handover:
    """The row of a hand-over that lost offsets 200 to 204. The new leader's first batch, created before it led, ends here. `lost`: batches that
    broker 1 still has, each with its producer id."""

    def batch(first: int, end: int, epoch: int, since: float, until: float, producer: int = producer) -> dict[str, object]:
        created, last = (int(when(seconds).replace(tzinfo=timezone.utc).timestamp() * 1000) for seconds in (since, until))
        times = {"base_timestamp": created, "max_timestamp": last, "append_time": False}
        written = {"leader_epoch": epoch, "producer_id": producer, "control": False, "whole": True}
        return {"base_offset": first, "last_offset": end - 1} | written | times

    timeline, cluster = made(handed_over(end=205))
    timeline.collected_logs = {2: on_disk(end, batch(0, 200, 0, 1, 9), batch(200, end, 1, 9.5, 9.9))}
    if lost:
        timeline.collected_logs[1] = on_disk(205, *(batch(first, end, 0, 9, 9.4, own) for first, end, own in lost), broker=1)
    (found,) = (r for r in handovers(timeline, cluster) if r.kind == CHANGE)
    return found


@pytest.mark.parametrize(
    ("end", "lost", "because"),
    [
        (205, [], "handover/sent-again"),
        (210, [], "handover/perhaps-sent-again"),
        (205, [(0, 202, 7), (202, 205, 8)], "handover/idempotent"),
        (205, [(0, 200, -1), (200, 205, 7)], "handover/idempotent"),
    ],
)
def test_lost_records_that_may_have_been_sent_again(end: int, lost: Sequence[tuple[int, int, int]], because: str) -> None:
    found = in_their_place(end, lost=lost)
    assert found.resent == EITHER
    assert found.resent_because is not None
    assert found.resent_because.id == because


@pytest.mark.parametrize("lost", [[], [(0, 202, 7)], [(0, 202, 7), (202, 205, -1)], [(0, 202, 7), (203, 205, 7)]])
def test_producers_of_other_records_say_nothing_about_those_of_the_lost_ones(lost: Sequence[tuple[int, int, int]]) -> None:
    """Batches with producer ids need acks=all. Other producers may have written the lost records with acks=1."""
    found = in_their_place(204, producer=7, lost=lost)
    assert (found.resent, found.resent_because) == (only(Cell.NO), None)


def test_lost_records_of_which_too_few_are_in_their_place_were_not_sent_again() -> None:
    assert (in_their_place(204).resent, in_their_place(204).resent_because) == (only(Cell.NO), None)


# the end of the last leader's log


@pytest.mark.parametrize("loads", [False, True])
def test_that_a_log_ends_at_an_offset_does_not_show_a_high_watermark(loads: bool) -> None:
    s = begun(2)
    if loads:
        s.loads(2, 5, 300, unclean=False)
    s.online(3, 10, 1, 2, [1, 2], 1)
    timeline, cluster = made(s)
    batch = {"base_offset": 0, "last_offset": 299, "leader_epoch": 1, "max_timestamp": 1, "control": False, "producer_id": -1}
    timeline.collected_logs = {2: on_disk(300, batch)}
    found = handovers(timeline, cluster)[-1]
    assert (found.new_log_end, found.high_watermark.at_least) == (Interval(0, 300, (), found.new_log_end.high), 0)
    assert loads or found.high_watermark.low == ()


# premises


def test_rows_name_the_first_premise_that_does_not_hold_for_the_log_of_either_leader() -> None:
    s = handed_over()
    s.forget("broker-1/logs/server.log")
    fails = {1: said("coverage/silent", logger="kafka.log", broker=1)}
    assert [r.premises for r in judge(s).rows] == [fails, fails, {}]


# evidence that contradicts itself


def test_a_leader_epoch_of_two_leaders() -> None:
    """Each leader epoch of a partition has one leader: two lives of the name are mixed."""
    s = handed_over()
    s.leads(1, 12, 1, 200, 200, [1, 2], previous=0)
    judged = judge(s)
    assert judged.verdict == UNKNOWN
    assert all(said("handover/two-leaders", leader_epoch=1) in r.contradictions for r in judged.rows if r.kind != END)
    assert "contradictions" in [cell for _, cell in left(judged)]


# the high watermark


def followed_by(end: int = 200, *, is_stated: bool = False, crashes: bool = True, previous: int = 0) -> Staged:
    """All in-sync replicas but broker 3 crashed and recovered their logs to 200. Broker 3 crashed as well, or ran on, and follows at `end`."""
    s = begun(1, 2, 3)
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.follows(2, 0.1, 0, 0, 0)
    s.follows(3, 0.1, 0, 0, 0)
    s.offline(9, 25, 1, [2, 3], 1, 1)
    for broker in (2, 3) if crashes else (2,):
        s.starts(broker, 30)
        s.loads(broker, 31, 200, unclean=True)
    if is_stated:
        s.follows(3, 33, 1, 200, 100, previous=-1)
    s.online(9, 39.9, 2, 2, [2, 3], 2)
    s.leads(2, 40, 2, 200, 100, [2, 3], previous=-1)
    s.follows(3, 40.1, 2, end, 100, previous=1 if is_stated else previous)
    s.starts(1, 45)
    s.loads(1, 50, 200, unclean=True)
    s.follows(1, 52, 2, 200, 100)
    return s


def test_another_member_of_the_isr_that_ran_on_bounds_the_high_watermark() -> None:
    """It had all that was committed. The new leader, though it crashed, had as much."""
    s = followed_by(crashes=False)
    judged = judge(s)
    mark = the(judged).high_watermark
    assert (judged.verdict, mark.at_least, mark.at_most) == (INTACT, 0, 200)
    assert the(judge(followed_by(210, crashes=False))).high_watermark.at_most == 210
    assert judge(followed_by(210, crashes=False)).verdict != INTACT


@pytest.mark.parametrize("is_stated", [False, True])
def test_another_member_of_the_isr_that_crashed_bounds_nothing(is_stated: bool) -> None:
    """It may have lost committed records, too. That it was told of a leader epoch after its restart does not help."""
    judged = judge(followed_by(is_stated=is_stated, previous=-1))
    assert judged.verdict == UNKNOWN
    assert the(judged).high_watermark.at_most is None


# tables


def test_rows_and_transitions_are_in_the_order_of_leader_epochs() -> None:
    timeline, cluster = made(alone())
    rows = handovers(timeline, cluster)
    assert [(r.kind, r.leader_epoch, r.restart, r.old_leader, r.new_leader) for r in rows] == [
        (BEGIN, 0, 0, None, 1),
        (CHANGE, 1, 0, 1, 1),
        (RESTART, 1, 1, 1, 1),
        (END, 1, 1, 1, 1),
    ]
    hops = list(transitions(timeline, cluster))
    assert [r for r, _ in hops] == list(rows[:-1])
    assert [(t.term.epoch, t.before.epoch if t.before else None) for _, t in hops] == [(0, None), (1, 0), (1, 1)]
    assert [r.at for r in rows[:3]] == [when(0), when(10), when(33)]


def test_rows_say_by_what_followers_cut_their_logs() -> None:
    assert row(handed_over()).truncation == only(Cell.BY_EPOCH)
    s = begun()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    assert {r.truncation for r in judge(s).rows if r.kind != END} == {only(Cell.BY_HIGH_WATERMARK)}
