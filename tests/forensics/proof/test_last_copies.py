"""Whether none of the replicas that were last in sync is there at the end of the evidence, and what that leaves of the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from forensics.proof.last_copies import CRASHED, FAILED_DIRECTORY, last_copies_gone
from forensics.proof.verdict import END, INTACT, UNKNOWN
from forensics.words import text as words_of
from tests.forensics.proof.staging import DATA, Staged, begun, judge, left, made, when

CONTROLLER = 3
Change = Callable[[Staged], None]


def led(*replicas: int) -> Staged:
    """Broker 1 leads with these replicas in sync, and the controller is another broker."""
    s = begun(1, 2, CONTROLLER)
    s.leads(1, 0, 0, 0, 0, replicas)
    if 2 in replicas:
        s.follows(2, 0.1, 0, 0, 0)
    return s


def lost(s: Staged, *brokers: int) -> None:
    """The controller misses brokers at 60 s."""
    gone = ",".join(map(str, brokers))
    text = f"INFO [Controller id=3] Newly added brokers: , deleted brokers: {gone}, bounced brokers: , all live brokers: 3"
    s.line(CONTROLLER, "controller", 60, f"{text} (kafka.controller.KafkaController)")


def leaderless(s: Staged) -> None:
    s.offline(CONTROLLER, 60.2, 1, [1], 1, 1)
    s.line(CONTROLLER, "controller", 600, "INFO [Controller id=3] Starting replica leader election (kafka.controller.KafkaController)")


def crashed(change: Change = lambda _: None) -> Staged:
    s = led(1)
    change(s)
    lost(s, 1)
    leaderless(s)
    return s


def directory_failed(change: Change = lambda _: None) -> Staged:
    """The broker runs on, with other directories."""
    s = led(1)
    s.line(
        1, "server", 60, f"WARN [ReplicaManager broker=1] Stopping serving replicas in dir {DATA.format(1)} (kafka.server.ReplicaManager)"
    )
    stopped = f"Broker 1 stopped fetcher for partitions {s.name} and stopped moving logs for partitions  because they are in the failed log directory"
    s.line(1, "server", 60.1, f"WARN [ReplicaManager broker=1] {stopped} {DATA.format(1)}. (kafka.server.ReplicaManager)")
    change(s)
    s.line(1, "server", 300, "INFO [GroupCoordinator 1]: Stabilized group g generation 1 (kafka.coordinator.group.GroupCoordinator)")
    leaderless(s)
    return s


def gone(s: Staged) -> list[tuple[int, str]]:
    return [(g.broker, g.how) for g in last_copies_gone(*made(s))]


def test_the_only_in_sync_replica_crashed_and_is_not_back() -> None:
    judged = judge(crashed())
    assert (judged.verdict, left(judged), judged.until) == (UNKNOWN, [(END, "sole_restart")], when(0))
    assert "broker 1, the only in-sync replica, crashed and is not back when the evidence ends" in words_of(judged.why)


def test_no_controller_reports_the_crash_but_the_partition_has_no_leader() -> None:
    s = led(1)
    leaderless(s)
    assert gone(s) == [(1, CRASHED)]


def test_nothing_was_collected_from_the_broker_that_the_controller_lost() -> None:
    def uncollected(s: Staged) -> None:
        s.forget("broker-1/logs/server.log")
        s.forget("broker-1/logs/state-change.log")
        s.online(CONTROLLER, 0, 0, 1, [1], 0)

    assert gone(crashed(uncollected)) == [(1, CRASHED)]


def test_a_clean_stop_keeps_the_log() -> None:
    judged = judge(crashed(lambda s: s.stops(1, 58)))
    assert (judged.verdict, left(judged)) == (INTACT, [])


def test_it_is_back() -> None:
    s = crashed()
    s.starts(1, 90)
    s.loads(1, 91, 0, unclean=False)
    assert gone(s) == []


def test_the_log_directory_of_the_only_in_sync_replica_failed() -> None:
    judged = judge(directory_failed())
    assert (judged.verdict, left(judged), judged.until) == (UNKNOWN, [(END, "sole_restart")], when(60.1))
    assert "broker 1, the only in-sync replica, lost its log directory and is not back" in words_of(judged.why)


def loads(s: Staged) -> None:
    s.loads(1, 120, 0, unclean=False)


def leads(s: Staged) -> None:
    s.leads(1, 120, 1, 0, 0, [1], previous=0)


@pytest.mark.parametrize("again", [loads, leads])
def test_the_directory_is_in_use_again(again: Change) -> None:
    assert gone(directory_failed()) == [(1, FAILED_DIRECTORY)]
    assert gone(directory_failed(again)) == []


@pytest.mark.parametrize(("missing", "found"), [([1], []), ([2], []), ([1, 2], [(1, CRASHED), (2, CRASHED)])])
def test_another_in_sync_replica_has_all_committed_records(missing: Sequence[int], found: list[tuple[int, str]]) -> None:
    s = led(1, 2)
    lost(s, *missing)
    assert gone(s) == found
    judged = judge(s)
    assert judged.verdict == (UNKNOWN if found else INTACT)
    assert ("no in-sync replica is back when the evidence ends (broker 1 crashed; broker 2 crashed)" in words_of(judged.why)) is bool(found)


def test_a_topic_that_was_deleted_needs_no_copies() -> None:
    timeline, cluster = made(crashed())
    assert last_copies_gone(replace(timeline, generation=-1), cluster) == ()


def test_a_cluster_that_ended_has_its_copies_in_the_next_one() -> None:
    timeline, cluster = made(crashed())
    cluster.number = -1
    assert last_copies_gone(timeline, cluster) == ()
