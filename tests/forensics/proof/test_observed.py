"""Log ends and high watermarks count only for leader epochs in which they can have been seen."""

from __future__ import annotations

import pytest

from forensics.proof.verdict import INTACT
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
