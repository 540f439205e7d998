"""What became of the log of a leader that was replaced: where it ended, and whether all that was cut off logs is accounted for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forensics.model.events import Event
from forensics.model.partition.replicas import Disk, Removal, disk
from forensics.proof.old_log import LogEnd, end_of_old_log, log_kept, truncation_unobserved, untraced_removals
from tests.forensics.proof.staging import Evidence, Staged, handed_over, made, when
from tests.forensics.proof.test_stepping_down import started


def end(evidence: Evidence) -> int | None:
    timeline, cluster = made(evidence)
    before, term = timeline.terms[:2]
    return offset(end_of_old_log(before, term, timeline, cluster))


def offset(found: LogEnd | None) -> int | None:
    assert found is None or found.evidence, "each end is shown by a line or a file"
    return found.offset if found is not None else None


def kept(evidence: Evidence) -> bool:
    timeline, cluster = made(evidence)
    before, term = timeline.terms[:2]
    return log_kept(before, term, timeline, cluster)


def deposed(until: float = 0.1) -> Staged:
    """Broker 1 leads, and broker 2 after it; the old leader prints nothing of it."""
    s = started()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    return s


# where it ended


@pytest.mark.parametrize("offset", [200, 205, 190])
def test_the_end_as_it_follows(offset: int) -> None:
    s = deposed()
    s.follows(1, 10.1, 1, offset, 200, previous=0)
    assert end(s) == offset


def test_a_line_that_it_follows_is_after_the_election_whatever_its_clock_says() -> None:
    assert end(handed_over(end=205, late=-1)) == 205


def test_an_end_as_it_followed_in_an_earlier_leader_epoch_is_none_of_this_hand_over() -> None:
    s = started()
    s.leads(2, 0, 0, 0, 0, [1, 2])
    s.follows(1, 0.1, 0, 50, 0)
    s.leads(1, 5, 1, 100, 100, [1, 2], previous=0)
    s.leads(2, 10, 2, 200, 200, [1, 2], previous=1)
    timeline, cluster = made(s)
    before, term = timeline.terms[1:]
    assert end_of_old_log(before, term, timeline, cluster) is None


def test_of_several_lines_that_it_follows_the_first_with_an_end_counts() -> None:
    timeline, cluster = made(handed_over(end=205))
    before, term = timeline.terms
    replica = timeline.replicas[1]
    (first,) = replica.follower_starts
    replica.follower_starts = [replace(first, offset=None), replace(first, offset=207), replace(first, offset=209)]
    assert offset(end_of_old_log(before, term, timeline, cluster)) == 207


def test_the_end_as_it_follows_counts_before_what_it_loads_later() -> None:
    s = deposed()
    s.loads(1, 9.9, 199, unclean=False)
    s.follows(1, 10.1, 1, 205, 200, previous=0)
    assert end(s) == 205


def test_nothing_shows_it() -> None:
    assert end(deposed()) is None
    s = Staged()
    s.online(3, 0, 0, 1, [1, 2], 0)
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    assert end(s) is None, "nothing of it was collected"


def test_the_end_of_the_log_that_it_loads_when_it_is_back() -> None:
    s = deposed()
    s.loads(1, 30, 210, unclean=False)
    assert end(s) == 210


def test_an_end_before_the_next_leader_began_is_none_of_the_replaced_one() -> None:
    """It led on, and may have appended more."""
    s = deposed()
    s.loads(1, -2, 100, unclean=False)
    assert end(s) is None


def test_a_line_at_the_time_of_the_election_is_after_it() -> None:
    s = deposed()
    s.loads(1, 10, 210, unclean=False)
    assert end(s) == 210


def test_lines_before_its_last_start_as_leader_are_of_an_earlier_time() -> None:
    """By a clock that runs ahead they seem to come after the election."""
    s = started()
    s.leads(1, 20, 0, 0, 0, [1, 2])
    s.leads(1, 21, 1, 150, 150, [1, 2], previous=0)
    s.leads(2, 10, 2, 200, 200, [1, 2], previous=1)
    timeline, cluster = made(s)
    before, term = timeline.terms[1:3]
    assert offset(end_of_old_log(before, term, timeline, cluster)) is None


def test_the_first_of_several_ends_counts_of_a_broker_whose_own_start_is_missing() -> None:
    """That it led is known from the controller."""
    s = Staged()
    s.online(3, 0, 0, 1, [1, 2], 0)
    s.loads(1, 30, 210, unclean=False)
    s.loads(1, 60, 300, unclean=False)
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    assert end(s) == 210


def test_an_epoch_says_that_it_is_after_where_no_clock_does() -> None:
    s = deposed()
    s.follows(1, 10.1, 1, 205, 200, previous=0)
    timeline, cluster = made(s)
    before, term = timeline.terms
    replica = timeline.replicas[1]
    replica.follower_starts = [replace(f, offset=None) for f in replica.follower_starts]
    assert offset(end_of_old_log(before, replace(term, at=None), timeline, cluster)) is None, (
        "its end as it entered the epoch is of the one before"
    )
    replica.observations = [o._replace(epoch=1) for o in replica.observations]
    assert offset(end_of_old_log(before, replace(term, at=None), timeline, cluster)) == 205
    replica.observations = [o._replace(epoch=0) for o in replica.observations]
    assert offset(end_of_old_log(before, term, timeline, cluster)) == 205


def test_only_exact_ends_count() -> None:
    timeline, cluster = made(handed_over())
    before, term = timeline.terms
    replica = timeline.replicas[1]
    replica.follower_starts = []
    assert offset(end_of_old_log(before, term, timeline, cluster)) == 200
    replica.observations = [o._replace(bound="at-least") for o in replica.observations]
    assert offset(end_of_old_log(before, term, timeline, cluster)) is None
    replica.observations = [o._replace(bound="exact", quantity="high-watermark") for o in replica.observations]
    assert offset(end_of_old_log(before, term, timeline, cluster)) is None


# a cut shows where the log was left to end: what it had is shown only if its process ran until it followed


def cut(*, restarted: float | None = None) -> Staged:
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    s.receives(1, 20, 2, 1, [1, 2], 1)
    if restarted is not None:
        s.starts(1, restarted)
    s.truncates(1, 20.1, 190)
    return s


def test_a_cut_of_a_process_that_ran_until_it_followed() -> None:
    assert end(cut()) == 190


def test_a_cut_of_a_process_that_may_have_lost_records_before() -> None:
    assert end(cut(restarted=15)) is None


def test_a_cut_of_a_broker_that_went_away_shortly_before() -> None:
    """Another controller may have found it dead before it elected the next leader."""
    timeline, cluster = made(cut())
    before, term = timeline.terms[:2]
    lost = Event(source="controller", event="broker-fenced", broker=1, writer=100, at=when(9))
    cluster.events = sorted([*cluster.events, lost], key=lambda e: e.at or when(0))
    assert offset(end_of_old_log(before, term, timeline, cluster)) is None
    cluster = made(cut())[1]
    lost.at = when(-1)
    cluster.events = sorted([*cluster.events, lost], key=lambda e: e.at or when(0))
    assert offset(end_of_old_log(before, term, timeline, cluster)) == 190


def test_a_cut_without_times() -> None:
    timeline, cluster = made(cut())
    before, term = timeline.terms[:2]
    replica = timeline.replicas[1]
    replica.observations = [o._replace(epoch=1) for o in replica.observations]
    assert offset(end_of_old_log(before, replace(term, at=None), timeline, cluster)) is None


# what it had lost before it was seen again


def returned(end_offset: int, *, clean: bool = False, made: bool = False) -> bool:
    """Whether its log end when it is back is the end that it had as leader. Broker 2 had 200 records when it took over."""
    s = deposed()
    if clean:
        s.stops(1, 8)
    s.starts(1, 20)
    if made:
        s.creates(1, 22)
    else:
        s.loads(1, 22, end_offset, unclean=not clean)
    s.follows(1, 24, 1, end_offset, 200, previous=-1)
    return exact(s)


def exact(evidence: Evidence) -> bool:
    timeline, cluster = made(evidence)
    before, term = timeline.terms[:2]
    found = end_of_old_log(before, term, timeline, cluster)
    assert found is not None
    return found.exact


def test_a_leader_that_crashed_and_has_less_than_the_next_one_lost_records_of_its_own() -> None:
    assert not returned(199)
    assert returned(200)
    assert returned(199, clean=True), "the next one had these from elsewhere"
    s = deposed()
    s.follows(1, 10.1, 1, 199, 200, previous=0)
    assert exact(s), "it ran until it followed"


def test_a_log_that_was_created_again_says_nothing_of_the_one_before() -> None:
    assert not returned(0, made=True)
    assert not returned(0, made=True, clean=True)


def test_a_log_that_is_shorter_than_its_broker_printed_before() -> None:
    """It followed with 230 records once, came back with 210, and cannot have lost them to the next leader, which had 200."""
    s = deposed()
    s.follows(1, 5, 0, 230, 0, previous=0)
    s.loads(1, 22, 210, unclean=True)
    timeline, cluster = made(s)
    before, term = timeline.terms[:2]
    found = end_of_old_log(before, term, timeline, cluster)
    assert found is not None
    assert (found.offset, found.exact) == (210, False)


# on disk


def on_disk(end_offset: int = 210, *, epoch: int = 0, damaged: bool = False) -> Disk:
    batch = {"base_offset": 0, "last_offset": end_offset - 1, "leader_epoch": epoch, "max_timestamp": 1}
    segment = Event(source="d/t-0/0.log", event="segment", writer=1, offset=0, log_end_offset=end_offset, batches=[batch], reason=None)
    return disk(1, "", [segment])


def with_disk(found: Disk, *, aside: bool = False, silent: bool = False, epochs: bool = True) -> int | None:
    s = deposed()
    timeline, cluster = made(s)
    before, term = timeline.terms
    if silent:
        del timeline.replicas[1]
    timeline.replicas.pop(1, None)
    if aside:
        timeline.stray_logs = {1: [found]}
    else:
        timeline.collected_logs = {1: found}
    return offset(end_of_old_log(before, term, timeline, cluster))


def test_the_end_of_a_log_that_was_left_on_its_disk() -> None:
    assert with_disk(on_disk()) == 210
    assert with_disk(on_disk(), aside=True) == 210


def test_a_log_on_disk_with_records_of_a_later_leader() -> None:
    """It followed that one since, and its end is not where it ended then."""
    assert with_disk(on_disk(epoch=1)) is None
    assert with_disk(on_disk(epoch=1), aside=True) is None
    assert with_disk(on_disk(epoch=-1)) == 210, "records without an epoch"


def test_lines_of_its_broker_count_before_its_disk() -> None:
    timeline, cluster = made(handed_over())
    before, term = timeline.terms
    timeline.collected_logs = {1: on_disk(250)}
    assert offset(end_of_old_log(before, term, timeline, cluster)) == 200


def pre_kip101(*, last_line: float = 5, isr: tuple[int, ...] = (2,)) -> int | None:
    """Its last line is of this time; its disk was collected."""
    s = Staged()
    s.runs(2, -1)
    s.receives(2, 0, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [2], 1)
    if isr != (2,):
        s.isr(2, 20, isr, 2)
    s.runs(1, last_line)
    timeline, cluster = made(s)
    unknown = replace(timeline.states[0], leader_epoch=-1, leader=2, isr=(1, 2))
    timeline.states = [unknown, *timeline.states]  # of a leader epoch before
    before, term = timeline.terms[:2]
    timeline.replicas.pop(1, None)
    timeline.collected_logs = {1: on_disk(epoch=-1)}
    assert not timeline.has_epochs
    return offset(end_of_old_log(before, term, timeline, cluster))


def test_before_leader_epochs_a_disk_does_not_show_what_was_copied_since() -> None:
    assert pre_kip101() == 210
    assert pre_kip101(last_line=15) is None, "it was up again"
    assert pre_kip101(last_line=10) is None
    assert pre_kip101(isr=(2, 1)) is None, "it was in sync again"


# whether it kept all that it had


def test_a_process_that_ran_until_it_followed_kept_its_log() -> None:
    s = deposed()
    s.follows(1, 10.1, 1, 200, 200, previous=0)
    assert kept(s)


def test_a_process_that_was_stopped_cleanly_kept_its_log() -> None:
    s = deposed()
    assert not kept(s), "nothing shows how it ended"
    s.stops(1, 8)
    assert kept(s)


def test_a_process_that_crashed_need_not_have_kept_its_log() -> None:
    s = deposed()
    s.starts(1, 9)
    assert not kept(s)
    s = deposed()
    s.starts(1, 9)
    s.stops(1, 9.1)
    assert not kept(s), "the one before did not stop cleanly"


def test_a_process_that_began_after_the_election_says_nothing() -> None:
    s = deposed()
    s.stops(1, 8)
    s.starts(1, 12)
    assert kept(s)


def test_a_broker_of_which_no_process_is_in_evidence() -> None:
    s = deposed()
    s.forget("broker-1/logs/server.log")
    assert not kept(s)


def test_without_times_it_is_not_known_what_ran() -> None:
    s = deposed()
    s.stops(1, 8)
    timeline, cluster = made(s)
    before, term = timeline.terms
    assert log_kept(before, term, timeline, cluster)
    assert not log_kept(replace(before, at=None), term, timeline, cluster)
    assert not log_kept(before, replace(term, at=None), timeline, cluster)


# the line about its cut


def requested(*lines: str) -> Staged:
    """Before leader epochs broker 1 is asked to follow, and prints these lines."""
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    s.receives(1, 20, 2, 1, [1, 2], 1)
    for n, text in enumerate(lines):
        s.line(1, "server" if "ReplicaFetcher" in text or "Truncating" in text else "state-change", 20.1 + n / 10, text)
    return s


CUT = "INFO [Log partition=t-0, dir=/var/lib/kafka/broker-1/data] Truncating to offset 190 (kafka.log.Log)"
ADDED = "INFO [ReplicaFetcherManager on broker 1] Added fetcher for partitions List([t-0, initOffset 190 to broker BrokerEndPoint(2,host,9092)] ) (kafka.server.ReplicaFetcherManager)"
NO_LEADER = (
    "ERROR [Broker id=1] Received LeaderAndIsrRequest with correlation id 1 from controller 3 epoch 1 for partition t-0 (last update controller epoch 1)"
    " but cannot become follower since the new leader 2 is unavailable. (state.change.logger)"
)


def unobserved(evidence: Evidence) -> bool:
    timeline, _ = made(evidence)
    before, term = timeline.terms[:2]
    return truncation_unobserved(before, term, timeline)


def test_before_leader_epochs_a_follower_prints_its_cut() -> None:
    assert not unobserved(requested(CUT, ADDED))
    assert unobserved(requested(ADDED))
    assert unobserved(requested())


def test_a_follower_whose_leader_is_not_there_does_not_cut() -> None:
    assert not unobserved(requested(NO_LEADER))
    assert not unobserved(requested(NO_LEADER, ADDED))
    assert unobserved(requested(ADDED, NO_LEADER))


LOADED = "INFO [Partition t-0 broker=1] Log loaded for partition t-0 with initial high watermark 190 (kafka.cluster.Partition)"


def test_what_it_prints_in_between_does_not_matter() -> None:
    assert not unobserved(requested(LOADED, NO_LEADER))
    assert not unobserved(requested(LOADED, CUT))


def test_a_refusal_of_an_earlier_request_says_nothing_of_this_one() -> None:
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    s.line(1, "state-change", 19, NO_LEADER)
    s.receives(1, 20, 2, 1, [1, 2], 1)
    s.line(1, "server", 20.1, ADDED)
    assert unobserved(s)


def test_a_request_to_follow_in_an_earlier_leader_epoch_says_nothing_of_this_one() -> None:
    s = started()
    s.receives(2, 0, 2, 0, [1, 2], 0)
    s.receives(1, 0.1, 2, 0, [1, 2], 0)
    s.receives(1, 5, 1, 1, [1, 2], 1)
    s.receives(2, 10, 2, 2, [1, 2], 2)
    timeline, _ = made(s)
    before, term = timeline.terms[1:]
    assert not truncation_unobserved(before, term, timeline)


@pytest.mark.parametrize("restart", ["loads", "leads"])
def test_a_restart_before_it_prints_its_cut(restart: str) -> None:
    """What the process that was asked has cut is not in evidence; that the next one has no leader is something else."""
    s = requested()
    if restart == "loads":
        s.loads(1, 30, 190, unclean=False)
    else:
        s.leads(1, 30, 2, 190, 190, [1], previous=-1)
    s.line(1, "state-change", 40, NO_LEADER)
    timeline, _ = made(s)
    timeline.events = [e for e in timeline.events if e.event != "leader-start"]
    assert not timeline.has_epochs
    before, term = timeline.terms[:2]
    assert truncation_unobserved(before, term, timeline)


def test_with_leader_epochs_it_need_not_cut() -> None:
    assert not unobserved(handed_over())


def test_a_broker_that_does_not_follow_has_nothing_to_cut() -> None:
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    assert not unobserved(s)
    s.forget("broker-1/logs/state-change.log")
    s.online(3, 0, 0, 1, [1, 2], 0)
    assert not unobserved(s)


# what was cut off, and is not accounted for


def untraced(*removals: Removal, evidence: Evidence | None = None, segments: bool = False) -> list[tuple[int, int, int]]:
    """Broker, start, and the leader epoch in whose row it counts."""
    timeline, cluster = made(evidence or handed_over())
    timeline.replicas[1].removals = [*removals]
    if segments:
        timeline.collected_logs = {2: on_disk(epoch=-1)}
    return [(r.broker, r.start, t.epoch) for r, t in untraced_removals(timeline, cluster)]


def gone(start: int = 150, end: int = 205, *, epoch: int | None = 0, broker: int = 1, under: int | None = 1) -> Removal:
    line = Event(source="broker-1/logs/server.log", line=9, event="truncation", writer=broker, offset=start, at=when(11))
    return Removal(broker, start, end, True, "truncation", epoch, under, when(11), (line,))


def test_every_removal_that_a_hand_over_accounts_for_is_traced() -> None:
    timeline, cluster = made(handed_over(end=205))
    assert timeline.replicas[1].removals
    assert list(untraced_removals(timeline, cluster)) == []
    assert untraced() == []


def test_a_cut_of_which_nobody_knows_when() -> None:
    """Its broker led, so that it may have cut what only it had."""
    assert untraced(gone(epoch=None, under=None)) == [(1, 150, 1)]
    assert untraced(gone(epoch=None, under=None), evidence=led_on()) == [(1, 150, 2)], "it counts in the last row"
    assert untraced(gone(200, epoch=None, under=None)) == [], "the new leader began there"


def test_a_cut_of_which_nobody_knows_when_by_a_broker_that_never_led() -> None:
    timeline, cluster = made(handed_over())
    timeline.replicas[2].removals = []
    timeline.replicas[3] = replace(timeline.replicas[1], broker=3, removals=[gone(epoch=None, broker=3, under=None)])
    assert list(untraced_removals(timeline, cluster)) == []


def led_on() -> Staged:
    s = handed_over()
    s.leads(2, 30, 2, 300, 300, [2, 1], previous=1)
    return s


def test_a_cut_below_where_the_later_leader_began_was_fetched_again() -> None:
    assert untraced(gone(150, 180)) == []
    assert untraced(gone(150, 200)) == []


def unknown_start(*, epochs: bool = True) -> Evidence:
    """Where broker 2 began is not in evidence."""
    s = started()
    if epochs:
        s.leads(1, 0, 0, 0, 0, [1, 2])
    else:
        s.receives(1, 0, 1, 0, [1, 2], 0)
    s.online(3, 10, 1, 2, [1, 2], 1)
    return s


def test_a_cut_that_the_later_leader_may_not_have_had() -> None:
    assert untraced(gone(150, 180), evidence=unknown_start()) == [(1, 150, 1)]


def two_later(start: int) -> Staged:
    """Where broker 2 began is not in evidence, and broker 3 began after it."""
    s = started()
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.online(3, 10, 1, 2, [1, 2, 3], 1)
    s.leads(3, 20, 2, start, start, [2, 3], previous=0)
    return s


def test_all_later_leaders_must_have_had_what_was_cut() -> None:
    """It counts in the row of the first of them."""
    assert untraced(gone(150, 180), evidence=two_later(200)) == [(1, 150, 1)]


def test_before_leader_epochs_a_leaders_own_records_count() -> None:
    """Others cut to their high watermark what they fetch again."""
    story = unknown_start(epochs=False)
    assert untraced(gone(150, 180), evidence=story) == [(1, 150, 1)]
    assert untraced(gone(150, 180, broker=3), evidence=story) == []
    assert untraced(gone(150, 180), evidence=story, segments=True) == [], "records on disk show what is there"


def test_a_removal_is_traced_with_whatever_leader_epoch() -> None:
    known = gone()
    unknown = replace(known, epoch=None, under_epoch=None)
    assert untraced(unknown) == [(1, 150, 1)]
    assert untraced(known, unknown) == []
    for other in (replace(unknown, start=151), replace(unknown, end=206), replace(unknown, evidence=())):
        assert untraced(known, other) == [(1, other.start, 1)]
