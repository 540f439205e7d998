"""Log ends and high watermarks count only for leader epochs in which they can have been seen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forensics.proof.verdict import INTACT, LOST, UNKNOWN, conflicts, losses
from tests.forensics.proof.staging import Staged, begun, judge, the, when


def fetches(s: Staged, seconds: float) -> None:
    text = "Added fetcher to broker BrokerEndPoint(id=1, host=b1:9092) for partitions HashMap(t-0 -> (offset=0, leaderEpoch=0))"
    s.line(2, "server", seconds, f"INFO [ReplicaFetcherManager on broker 2] {text} (kafka.server.ReplicaFetcherManager)")


# logs of replicas that did not follow

CHECKPOINTS = "broker-2/data/replication-offset-checkpoint"


def follower_without_newest_lines(*, running_at: float | None = None) -> Staged:
    """Broker 1 hands over to broker 3 at 450. The log of broker 2 ends before, or shows no other leader, and its disk has a checkpoint of 500."""
    s = begun(1, 2, 3)
    s.leads(1, 0.1, 0, 0, 0, [1, 2, 3])
    for broker in (2, 3):
        s.follows(broker, 0.1, 0, 0, 0)
    if running_at is not None:
        s.process(2, running_at, "shutting down")
    s.online(3, 60, 1, 3, [3, 2], 1)
    s.leads(3, 60.2, 1, 450, 450, [3, 2], previous=0)
    s.follows(1, 60.3, 1, 450, 450, previous=0)
    s.disk(2, mark=500)
    return s


@pytest.mark.parametrize(
    ("modified", "running_at", "left_behind"),
    [(50, None, True), (59, None, False), (100, None, False), (None, None, False), (100, 110, True), (100, 90, False)],
)
def test_a_checkpoint_is_of_the_epoch_in_the_lines_of_its_broker_if_they_reach_its_time(
    modified: float | None, running_at: float | None, *, left_behind: bool
) -> None:
    s = follower_without_newest_lines(running_at=running_at)
    judged = judge(s, {CHECKPOINTS: when(modified)} if modified is not None else None)
    removed = the(judged).removed
    assert [(r.broker, r.how, r.end.at_least) for r in removed] == ([(2, "left-behind", 500)] if left_behind else [])
    assert left_behind or judged.verdict == INTACT


def test_the_epoch_file_of_a_disk_shows_that_it_did_not_follow() -> None:
    s = follower_without_newest_lines()
    s.disk(2, [(0, 0)])
    assert [(r.broker, r.how) for r in the(judge(s, {CHECKPOINTS: when(100)})).removed] == [(2, "left-behind")]


def test_lines_without_those_about_leader_epochs_do_not_show_that_it_did_not_follow() -> None:
    s = follower_without_newest_lines(running_at=110)
    s.forget("broker-2/logs/state-change.log")
    fetches(s, 0.2)
    assert the(judge(s, {CHECKPOINTS: when(100)})).removed == ()


# high watermarks


def cut_tail(mark: Callable[[Staged], None], *, previous: int = 0) -> Staged:
    """Broker 1 had 100 records when broker 2 was elected at 80, and follows it at 3654 s. `mark`: what shows a high watermark of 95."""
    s = begun(1, 3)
    s.leads(1, 0.1, 0, 0, 0, [1, 2])
    mark(s)
    s.online(3, 60, 1, 2, [2], 1)
    s.follows(1, 3654, 1, 100, 80, previous=previous)
    s.truncates(1, 3654.1, 80)
    s.disk(2, [(0, 0), (1, 80)], 98)
    return s


def of_the_old_leader(seconds: float) -> Callable[[Staged], None]:
    return lambda s: s.shrinks(1, seconds, [1, 2], [1], 95, 100)


def of_the_new_leader(seconds: float) -> Callable[[Staged], None]:
    return lambda s: s.shrinks(2, seconds, [2, 1], [2], 95, 97)


def loads_with_mark(s: Staged, seconds: float) -> None:
    text = "Log loaded for partition t-0 with initial high watermark 95"
    s.line(2, "server", seconds, f"INFO [Partition t-0 broker=2] {text} (kafka.cluster.Partition)")


def of_a_follower(seconds: float) -> Callable[[Staged], None]:
    def mark(s: Staged) -> None:
        fetches(s, 0.2)
        loads_with_mark(s, seconds)

    return mark


def of_its_later_run(s: Staged) -> None:
    s.starts(2, 3600)
    s.loads(2, 3601, 95, unclean=False)
    loads_with_mark(s, 3602)
    s.leads(2, 3603, 3, 95, 95, [2])


@pytest.mark.parametrize(
    ("mark", "at_least"),
    [
        (of_the_old_leader(30), 95),
        (of_the_old_leader(70), 95),  # it has not heard of the new leader yet
        (of_a_follower(30), 95),
        (of_a_follower(59), 80),  # clocks may differ
        (of_the_new_leader(3800), 80),
        (of_its_later_run, 80),
    ],
)
def test_a_high_watermark_counts_if_it_was_seen_before_the_election(mark: Callable[[Staged], None], at_least: int) -> None:
    """Broker 1 prints that its own was at least 80."""
    judged = judge(cut_tail(mark))
    row = next(r for r in judged.rows if r.leader_epoch == 1 and r.removed)
    assert row.high_watermark.at_least == at_least
    assert judged.verdict == (LOST if at_least == 95 else UNKNOWN)


@pytest.mark.parametrize(("shows_epochs", "at_least"), [(True, 95), (False, 80)])
def test_a_follower_had_entered_no_other_epoch_if_its_log_would_show_it(*, shows_epochs: bool, at_least: int) -> None:
    def mark(s: Staged) -> None:
        fetches(s, 0.2)
        if shows_epochs:
            s.follows(2, 0.2, 0, 0, 0)
        loads_with_mark(s, 70)

    assert next(r for r in judge(cut_tail(mark)).rows if r.leader_epoch == 1).high_watermark.at_least == at_least


def test_a_high_watermark_of_the_log_that_was_cut_needs_no_lines_about_leader_epochs() -> None:
    s = cut_tail(of_the_old_leader(70), previous=-1)
    s.forget("broker-1/logs/state-change.log")
    s.online(3, 0, 0, 1, [1, 2], 0)
    assert next(r for r in judge(s).rows if r.leader_epoch == 1).high_watermark.at_least == 95


def two_tails() -> Staged:
    """Broker 2 is elected uncleanly at 50, although 68 records were committed; broker 3 takes over at 62, when broker 2 has 70."""
    s = begun(1, 2, 3)
    s.leads(1, 0.1, 0, 0, 0, [1, 2, 3])
    for broker in (2, 3):
        s.follows(broker, 0.1, 0, 0, 0)
    s.shrinks(1, 50, [1, 2, 3], [1], 68, 75)
    s.isr(1, 50.1, [1], 1)
    s.online(3, 60, 1, 2, [2], 2)
    s.leads(2, 60.1, 1, 50, 50, [2], previous=0)
    s.follows(3, 60.2, 1, 68, 68, previous=0)
    s.truncates(3, 60.3, 50)
    s.isr(2, 65, [2, 3], 3)
    s.online(3, 80, 2, 3, [3], 4)
    s.leads(3, 80.1, 2, 62, 60, [3], previous=1)
    s.follows(2, 104, 2, 70, 60, previous=1)
    s.truncates(2, 104.1, 62)
    return s


def test_a_high_watermark_of_an_abandoned_lineage_counts_up_to_where_it_was_abandoned() -> None:
    judged = judge(two_tails())
    unclean, clean = (r for r in judged.rows if r.removed)
    assert (unclean.high_watermark.at_least, clean.high_watermark.at_least) == (75, 60)
    assert [(x.start, x.end, x.committed) for x in losses(2, clean)] == [(62, 70, False)]
    assert conflicts(clean) == []


def test_a_high_watermark_does_not_count_past_a_leader_epoch_that_is_not_in_the_evidence() -> None:
    s = begun(1, 2, 3)
    s.leads(1, 0.1, 0, 0, 0, [1, 2, 3])
    s.shrinks(1, 50, [1, 2, 3], [1], 68, 75)
    s.online(3, 60, 2, 2, [2, 3], 5)
    s.leads(2, 60.1, 2, 70, 50, [2, 3], previous=0)
    s.online(3, 80, 3, 3, [3], 6)
    s.leads(3, 80.1, 3, 62, 60, [3])
    s.follows(2, 104, 3, 75, 60, previous=2)
    s.truncates(2, 104.1, 62)
    assert judge(s).rows[2].removed
    assert judge(s).rows[2].high_watermark.at_least == 60
