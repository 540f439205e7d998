"""Why a replica was out of sync: the causes distinguished in one partition, and put together over many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.incidents.folding import folded
from forensics.incidents.judging import PARTITION, judge_partition
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.cluster.failed_replicas import degradations, episodes, outs, shared
from forensics.model.events import Event
from forensics.model.findings import Finding
from forensics.model.message import packed, said
from forensics.model.partition.absences import (
    CRASHED,
    GONE,
    LOG_DIR,
    MAX_INTERVALS,
    NEW,
    NOT_STATED,
    RESTARTED,
    SLOW,
    STUCK,
    SUSPENDED,
    UNKNOWN,
    AbsenceInterval,
    intervals,
    rows,
    under_replicated_windows,
)
from forensics.model.partition.isr_removal import lag_time
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import together
from forensics.model.rows import Rows
from forensics.rules import RULES
from forensics.words import text, words
from forensics.words.formats import counted
from tests.forensics.staged import START, Story, of, report, timeline

ALIVE = "INFO [KafkaServer id={0}] started (kafka.server.KafkaServer)"
STARTING = "INFO starting (kafka.server.KafkaServer)"


def led(*, lag_ms: int = 10_000, heard: bool = True) -> Story:
    """Broker 2 leads with everybody in sync, and its log ends at 100."""
    s = Story()
    s.put("cluster/describe.txt", ["\tTopic: t\tPartition: 0\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,3"])
    s.leads(2, 0, 0, 100, 100, [2, 3, 1])
    s.put("broker-2/config/server.properties", ["broker.id=2", f"replica.lag.time.max.ms={lag_ms}"])
    if heard:
        s.line(1, "server", -60, ALIVE.format(1))
        s.line(1, "controller", 900, "DEBUG [Controller id=1] Controller 2 is elected (kafka.controller.KafkaController)")
    return s


def shrinks(s: Story, seconds: float, end: int, leader_end: int, version: int = 1, caught_up: float | None = None) -> None:
    stamp = (
        ""
        if caught_up is None
        else f", lastCaughtUpTimeMs: {round((START - datetime(1970, 1, 1)).total_seconds() * 1000 + caught_up * 1000)}"
    )
    s.line(
        2,
        "server",
        seconds - 0.05,
        f"INFO [Partition t-0 broker=2] Shrinking ISR from 2,3,1 to 2,3. Leader: (highWatermark: {end}, endOffset: {leader_end}). "
        f"Out of sync replicas: (brokerId: 1, endOffset: {end}{stamp}). (kafka.cluster.Partition)",
    )
    s.isr(2, seconds, [2, 3], version)


def out(s: Story) -> AbsenceInterval:
    found, cluster = timeline(s.files)
    (one,) = intervals(found, cluster)
    return one


def why(absence: AbsenceInterval) -> str:
    return "; ".join(map(text, absence.clauses))


RULE = {rule.kind: rule for rule in RULES}


def judged(kind: str, partitions: Rows) -> list[Finding]:
    judge = RULE[kind].cluster
    assert judge is not None
    return list(judge(Cluster(), partitions))


# stuck or slow


def test_what_has_not_moved_since_it_was_caught_up_is_stuck() -> None:
    s = led()
    shrinks(s, 30, 100, 400, caught_up=18)
    s.isr(2, 41, [2, 3, 1], 2)
    one = out(s)
    assert (one.broker, one.leader, one.cause, one.confidence) == (1, 2, STUCK, "certain")
    assert (one.start, one.end) == (START + timedelta(seconds=30), START + timedelta(seconds=41))
    assert "its log ended at 100, as when it was caught up last" in why(one) and "the log of the leader ended at 400" in why(one)


def test_what_has_moved_beyond_where_its_leader_was_is_slow() -> None:
    s = led()
    s.line(2, "server", 25, "INFO [Log partition=t-0, dir=/d] Rolled new log segment at offset 300 in 3 ms. (kafka.log.Log)")
    shrinks(s, 30, 350, 9_000, caught_up=18)
    one = out(s)
    assert (one.cause, one.confidence, one.end) == (SLOW, "probable", None)
    assert "continued to fetch and did not catch up for 1" in why(one)


def test_an_offset_between_two_observations_tells_nothing() -> None:
    s = led()
    shrinks(s, 60, 350, 9_000, caught_up=48)
    assert out(s).cause == NOT_STATED


def test_what_has_moved_since_its_leader_told_its_end_before_is_slow() -> None:
    s = led()
    shrinks(s, 30, 200, 1_000)
    s.isr(2, 33, [2, 3, 1], 2)
    shrinks(s, 38, 260, 2_000, version=3)
    found, cluster = timeline(s.files)
    first, second = intervals(found, cluster)
    assert (second.cause, second.confidence) == (SLOW, "certain")
    assert "its log ended at 260, while the log of the leader ended at 2000" in why(second)
    assert first.cause == NOT_STATED


def test_what_its_leader_told_longer_ago_than_the_lag_time_does_not_tell_slow() -> None:
    s = led()
    shrinks(s, 30, 200, 1_000)
    s.isr(2, 33, [2, 3, 1], 2)
    shrinks(s, 60, 260, 2_000, version=3)
    found, cluster = timeline(s.files)
    assert SLOW not in [i.cause for i in intervals(found, cluster)]


# throttles


def throttles(s: Story, seconds: float, rate: str, replicas: str) -> None:
    """Broker 1 learns of a follower throttle of its own and of a list of throttled replicas; an empty text takes them away."""
    rates = f"follower.replication.throttled.rate -> {rate}" if rate else ""
    lists = f"follower.replication.throttled.replicas -> {replicas}" if replicas else ""
    s.line(
        1,
        "server",
        seconds,
        f"INFO Processing override for entityPath: brokers/1 with config: Map({rates}) (kafka.server.DynamicConfigManager)",
    )
    s.line(
        1,
        "server",
        seconds,
        f"INFO Processing override for entityPath: topics/t with config: Map({lists}) (kafka.server.DynamicConfigManager)",
    )


@pytest.mark.parametrize(
    ("set_at", "replicas", "taken_at", "named"),
    [
        (0, "0:3,0:1", None, True),
        (0, "*", None, True),
        (35, "0:1", None, True),
        (0, "0:3,1:1", None, False),
        (0, "", None, False),
        (45, "0:1", None, False),
        (0, "0:1", 20, False),
    ],
)
def test_a_throttle_that_was_in_force_is_named(set_at: float, replicas: str, taken_at: float | None, named: bool) -> None:
    s = led()
    throttles(s, set_at, "4000", replicas)
    if taken_at is not None:
        throttles(s, taken_at, "", "")
    shrinks(s, 30, 100, 400, caught_up=18)
    s.isr(2, 41, [2, 3, 1], 2)
    one = out(s)
    assert ("follower.replication.throttled.rate=4000 of broker 1 slows its copying" in why(one)) == named
    assert any("throttled.rate -> 4000" in (e.text or "") for e in one.evidence) == named
    assert one.cause == STUCK


def test_a_throttle_keeps_what_has_only_begun_to_fetch_from_its_first_records() -> None:
    s = led()
    throttles(s, 0, "4000", "0:1")
    s.line(
        1,
        "server",
        5,
        "INFO [ReplicaFetcherManager on broker 1] Added fetcher to broker 2 for partitions "
        "Map(t-0 -> InitialFetchState(BrokerEndPoint(id=2, host=a:9092),0,100)) (kafka.server.ReplicaFetcherManager)",
    )
    shrinks(s, 30, 100, 400, caught_up=18)
    one = out(s)
    assert (one.cause, one.confidence) == (SLOW, "probable")
    assert "had received nothing since it started to fetch at offset 100" in why(one) and "throttled.rate=4000 applies until" in why(one)
    assert of(report(s.files), "stuck-replica") == []


def test_before_2_2_the_line_tells_no_offsets() -> None:
    s = led()
    s.line(2, "server", 30, "INFO [Partition t-0 broker=2] Shrinking ISR from 2,3,1 to 2,3 (kafka.cluster.Partition)")
    one = out(s)
    assert one.cause == NOT_STATED
    assert "the evidence does not show whether it was stuck or too slow" in why(one)
    assert "replica.lag.max.messages" not in why(one)
    (finding,) = of(report(s.files), "under-replicated")
    assert finding.cause == "not-in-sync"
    assert any("GC log of broker 1" in step for step in words(finding).next_steps)
    assert of(report(s.files), "stuck-replica", "slow-replica") == []


def test_a_broker_whose_log_ends_first_is_not_told_as_running() -> None:
    s = led(heard=False)
    s.line(1, "server", -60, ALIVE.format(1))
    s.line(2, "server", 30, "INFO [Partition t-0 broker=2] Shrinking ISR from 2,3,1 to 2,3 (kafka.cluster.Partition)")
    one = out(s)
    assert (one.cause, one.confidence) == (UNKNOWN, "possible")
    s = led(heard=False)
    s.line(1, "server", -60, ALIVE.format(1))
    shrinks(s, 30, 100, 9_000, caught_up=18)
    one = out(s)
    assert (one.cause, one.confidence) == (STUCK, "probable")
    assert one.clauses[-1].id == "absence/may-have-ended"
    (finding,) = of(report(s.files), "stuck-replica")
    assert "was stuck, not slow" not in words(finding).explanation


def test_before_0_9_a_burst_of_messages_was_enough() -> None:
    s = led()
    s.line(2, "server", -50, "INFO Kafka version : 0.8.2.2 (org.apache.kafka.common.utils.AppInfoParser)")
    s.line(2, "server", 30, "INFO [Partition t-0 broker=2] Shrinking ISR from 2,3,1 to 2,3 (kafka.cluster.Partition)")
    assert "replica.lag.max.messages" in why(out(s))


def gc(seconds: float, pause_ms: int) -> list[str]:
    """A pause that ended then, as -Xlog:gc writes it."""
    at = (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
    return [f"[{at}+0000][info][gc] GC(7) Pause Full (Allocation Failure) 900M->880M(1024M) {pause_ms}.000ms"]


@pytest.mark.parametrize(("begin", "cause"), [(26, STUCK), (-100, NOT_STATED)])
def test_a_pause_of_its_jvm_before_it_left(begin: float, cause: str) -> None:
    s = led()
    s.line(2, "server", 30, "INFO [Partition t-0 broker=2] Shrinking ISR from 2,3,1 to 2,3 (kafka.cluster.Partition)")
    s.put("broker-1/logs/kafkaServer-gc.log", gc(begin, 9_000))
    one = out(s)
    assert one.cause == cause
    assert ("was paused for 9.0 s" in why(one)) == (cause == STUCK)
    assert any(e.event == "jvm-pause" for e in one.evidence) == (cause == STUCK)


@pytest.mark.parametrize(("seconds", "cause"), [((16, 22, 28), STUCK), ((16,), NOT_STATED)])
def test_fetches_that_fail_until_it_leaves(seconds: tuple[float, ...], cause: str) -> None:
    """One error at the beginning, as when a topic is created, is no reason."""
    s = led()
    for at in seconds:
        s.line(
            1,
            "server",
            at,
            "ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error for partition t-0 at offset 100 "
            "(kafka.server.ReplicaFetcherThread)",
        )
        s.put("broker-1/logs/server.log", ["org.apache.kafka.common.errors.NotLeaderOrFollowerException: x"])
    s.line(2, "server", 30, "INFO [Partition t-0 broker=2] Shrinking ISR from 2,3,1 to 2,3 (kafka.cluster.Partition)")
    assert out(s).cause == cause


def test_an_expired_session_of_a_process_that_lived() -> None:
    s = led()
    s.isr(2, 30, [2, 3], 1)
    s.line(1, "server", 55, "INFO [ZooKeeperClient Kafka server] Session expired. (kafka.zookeeper.ZooKeeperClient)")
    s.isr(2, 56, [2, 3, 1], 2)
    one = out(s)
    assert (one.cause, one.confidence) == (STUCK, "certain")
    assert "lost its session although its process kept running" in why(one)


# brokers that were gone


def test_shut_down_in_order_and_back() -> None:
    s = led()
    s.line(1, "server", 30, "INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)")
    s.isr(2, 30.2, [2, 3], 1)
    s.line(1, "server", 33, "INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)")
    s.line(1, "server", 40, STARTING)
    s.isr(2, 47, [2, 3, 1], 2)
    one = out(s)
    assert (one.cause, one.back) == (RESTARTED, START + timedelta(seconds=40))
    (finding,) = of(report(s.files), "restarted-replica")
    assert (finding.severity, finding.start, finding.end) == ("info", START + timedelta(seconds=30.2), START + timedelta(seconds=47))
    assert "in sync after 7.0 s" in words(finding).summary
    assert {f.severity for f in report(s.files).findings} <= {"info", "low", "medium"}


def test_crashed_and_back_counts_from_its_start() -> None:
    s = led()
    s.isr(2, 30, [2, 3], 1)
    s.line(1, "server", 40, STARTING)
    s.isr(2, 47, [2, 3, 1], 2)
    assert out(s).cause == CRASHED
    reported = report(s.files)
    (finding,) = of(reported, "restarted-replica")
    assert (finding.cause, finding.start) == ("broker-crash", START + timedelta(seconds=40))
    (gone,) = of(reported, "culprit-broker")
    assert (gone.cause, gone.severity, gone.brokers) == ("offline", "medium", (1,))
    assert "the only partition that it shared" in words(gone).explanation and "The counts add up" in words(gone).explanation


def test_what_was_in_sync_again_before_the_crash_had_not_crashed_yet() -> None:
    s = led()
    s.isr(2, 30, [2, 3], 1)
    s.isr(2, 35, [2, 3, 1], 2)
    s.line(1, "server", 4000, STARTING)
    assert out(s).cause == NOT_STATED


def test_a_broker_of_which_only_others_tell() -> None:
    s = led(heard=False)
    s.isr(2, 30, [2, 3], 1)
    assert out(s).cause == UNKNOWN
    fenced = "INFO [QuorumController id=100] Fencing broker 1 because its session has timed out. (org.apache.kafka.controller.ReplicationControlManager)"
    s.line(100, "controller", 29.9, fenced)
    one = out(s)
    assert (one.cause, one.confidence) == (GONE, "probable")
    (finding,) = of(report(s.files), "culprit-broker")
    assert (finding.severity, finding.confidence, finding.cause) == ("high", "probable", "offline")


def test_a_shutdown_that_only_the_controller_saw() -> None:
    s = led(heard=False)
    s.line(3, "controller", 29.9, "INFO [Controller id=3] Shutting down broker 1 (kafka.controller.KafkaController)")
    s.isr(2, 30, [2, 3], 1)
    s.isr(2, 60, [2, 3, 1], 2)
    assert out(s).cause == "stopped"
    assert {f.severity for f in report(s.files).findings} <= {"info", "low", "medium"}
    assert of(report(s.files), "culprit-broker", "stuck-replica") == []


def test_a_log_that_begins_after_it_left() -> None:
    s = led(heard=False)
    s.isr(2, 30, [2, 3], 1)
    s.line(1, "server", 40, STARTING)
    s.isr(2, 47, [2, 3, 1], 2)
    one = out(s)
    assert one.cause == UNKNOWN and "begins with its start" in why(one)


def test_created_without_it() -> None:
    s = Story()
    s.line(1, "server", -60, ALIVE.format(1))
    s.line(
        3,
        "state-change",
        0,
        "INFO [Controller id=3 epoch=1] Changed partition t-0 state from NonExistentPartition to NewPartition with assigned replicas 2,1 (state.change.logger)",
    )
    s.online(3, 0.1, 0, 2, [2], 0)
    s.leads(2, 0.2, 0, 0, 0, [2])
    s.isr(2, 3, [2, 1], 1)
    assert out(s).cause == NEW
    found, cluster = timeline(s.files)
    assert [w.planned for w in under_replicated_windows(found, cluster)] == [True]
    assert of(report(s.files), "under-replicated", "stuck-replica", "slow-replica") == []


def test_lag_time_of_a_leader_or_its_versions_default() -> None:
    nodes = {1: Node(1, version="2.4.1"), 2: Node(2, version="2.5.0"), 3: Node(3)}
    assert [lag_time(Cluster(nodes=nodes), b, None).total_seconds() for b in (1, 2, 3, 4)] == [10, 30, 30, 30]
    cluster = Cluster(nodes=nodes)
    cluster.settings.put("replica.lag.time.max.ms", "4000", "STATIC_BROKER_CONFIG", 1)
    cluster.settings.put("replica.lag.time.max.ms", "9" * 30, "STATIC_BROKER_CONFIG", 2)
    assert lag_time(cluster, 1, None) == timedelta(seconds=4)
    assert lag_time(cluster, 2, None) == timedelta(seconds=30)


# many


def test_a_thousand_absences_travel_folded_and_are_all_counted() -> None:
    s = led()
    for i in range(1000):
        s.isr(2, 10 + 2 * i, [2, 3], 1 + 2 * i)
        s.isr(2, 11 + 2 * i, [2, 3, 1], 2 + 2 * i)
    found, cluster = timeline(s.files)
    claimed = intervals(found, cluster)
    assert len(claimed) == 1000
    travelling = rows(claimed)
    assert len(travelling) <= MAX_INTERVALS and sum(r["times"] for r in travelling) == 1000
    (state,) = [r["partition_state"] for r in judge_partition(found, cluster) if r["partition_state"]]
    assert len(state["under_replicated_windows"]) == MAX_INTERVALS and state["under_replicated_windows_omitted"] == 1000 - MAX_INTERVALS
    (flapping,) = of(report(s.files), "isr-flapping")
    assert "1,000 times" in words(flapping).explanation


def absence(broker: int = 1, leader: int = 2, at: float = 0, lasts: float | None = 5, cause: str = STUCK, **more: Any) -> dict[str, Any]:
    return {
        "broker": broker,
        "leader": leader,
        "start": START + timedelta(seconds=at),
        "end": START + timedelta(seconds=at + lasts) if lasts is not None else None,
        "cause": cause,
        "confidence": "certain",
        "back": None,
        "stated": True,
        "times": 1,
        "clauses": packed((said("absence/lost", broker=broker),)),
        "evidence": [{"source": "broker-2/server.log", "line": 1, "byte": 0, "text": "x"}],
        **more,
    }


def row(partition: int, *absences: Mapping[str, Any], replicas: tuple[int, ...] = (2, 3, 1), leader: int = 2) -> dict[str, Any]:
    short = [
        {"leader": a["leader"], "start": a["start"], "end": a["end"], "planned": a["cause"] == NEW, "missing": [a["broker"]]}
        for a in absences
    ]
    return {
        "topic": "t",
        "partition": partition,
        "replicas": list(replicas),
        "leader": leader,
        "isr": list(replicas),
        "since": None,
        "absences": list(absences),
        "under_replicated_windows": short,
        "under_replicated_windows_omitted": 0,
    }


def rows_of(partitions: Sequence[Mapping[str, Any]]) -> Rows:
    return Rows(pa.Table.from_pylist(partitions, schema=pa.schema(list(PARTITION))))


def test_what_hit_twenty_thousand_partitions_is_one_finding() -> None:
    partitions = rows_of([row(i, absence(at=i / 10_000, lasts=90)) for i in range(20_000)])
    (stuck,) = judged("stuck-replica", partitions)
    assert (
        stuck.brokers == (1,)
        and "20,000 partitions" in words(stuck).summary
        and "t-0, t-1, t-2, t-3, t-4 and 19,995 more" in words(stuck).explanation
    )
    assert len(stuck.evidence) <= 8
    (culprit,) = judged("culprit-broker", partitions)
    assert (culprit.severity, culprit.confidence) == ("high", "certain")
    assert "all 20,000 partitions that it shares" in words(culprit).explanation


def test_each_broker_and_cause_is_told_apart_and_so_are_two_days() -> None:
    day = 86_400.0
    partitions = rows_of(
        [
            row(0, absence(), absence(at=day), absence(broker=3, cause=SLOW, at=day)),
            row(1, absence(at=1), absence(broker=3, cause=RESTARTED, at=1, back=START)),
        ]
    )
    assert [(f.brokers, f.partition, f.start) for f in judged("stuck-replica", partitions)] == [
        ((1,), None, START),
        ((1,), 0, START + timedelta(days=1)),
    ]
    assert [f.brokers for f in judged("slow-replica", partitions)] == [(3,)]
    assert [f.brokers for f in judged("restarted-replica", partitions)] == [(3,)]


def test_stalls_of_many_days_are_told_as_one() -> None:
    partitions = rows_of([row(0, *(absence(at=3600.0 * i) for i in range(30)))])
    (stuck,) = judged("stuck-replica", partitions)
    assert "30 times" in words(stuck).summary


@pytest.mark.parametrize("cause", [STUCK, SLOW])
def test_a_fetcher_of_one_leader_tells_nothing_of_that_of_another(cause: str) -> None:
    partitions = rows_of([row(0, absence(at=0, cause=cause)), row(1, absence(at=3, cause=NOT_STATED))])
    assert [(o.partition, o.cause) for o in outs(partitions, STUCK, SLOW, NOT_STATED)] == [(0, cause), (1, NOT_STATED)]
    assert [f.partition for kind in ("stuck-replica", "slow-replica") for f in judged(kind, partitions)] == [0]


@pytest.mark.parametrize(
    ("causes", "said"),
    [((SLOW, SLOW), "All of them continued fetching"), ((STUCK, STUCK), "All of them fetched nothing"), ((SLOW, STUCK), "")],
)
def test_a_slow_cluster_is_told_from_one_that_stands_still(causes: tuple[str, str], said: str) -> None:
    one, other = causes
    partitions = rows_of(
        [
            row(0, absence(broker=1, at=0, cause=one), absence(broker=3, at=1, cause=other)),
            row(1, absence(broker=2, leader=3, at=2, cause=one), leader=3),
        ]
    )
    (wide,) = judged("cluster-wide-degradation", partitions)
    assert "All of them " in words(wide).explanation if said else "All of them " not in words(wide).explanation
    assert said in words(wide).explanation


def test_unheard_leaders_make_no_finding() -> None:
    partitions = rows_of([row(i, absence(stated=False, lasts=None)) for i in range(5)])
    for kind in ("stuck-replica", "culprit-broker", "cluster-wide-degradation"):
        assert list(judged(kind, partitions)) == []


def test_the_leader_all_short_partitions_have_in_common() -> None:
    partitions = rows_of(
        [
            row(0, *(absence(broker=1, at=20 * i) for i in range(3))),
            row(1, *(absence(broker=3, at=20 * i + 5) for i in range(3))),
            row(2, replicas=(1, 3), leader=1),
        ]
    )
    (found,) = judged("culprit-broker", partitions)
    assert (found.brokers, found.cause, found.severity) == ((2,), "leader", "high")
    assert "these brokers keep up with other leaders" in words(found).explanation
    assert list(judged("cluster-wide-degradation", partitions)) == []


def test_nothing_in_common_is_the_clusters() -> None:
    partitions = rows_of(
        [
            row(p, *(absence(broker=b, leader=led, at=20 * i + p) for i in range(3)), leader=led)
            for p, (b, led) in enumerate([(1, 2), (2, 3), (3, 1)])
        ]
    )
    (found,) = judged("cluster-wide-degradation", partitions)
    assert (found.brokers, found.severity) == ((1, 2, 3), "high")
    assert "at most 3 partitions" in words(found).explanation
    assert list(judged("culprit-broker", partitions)) == []


@pytest.mark.parametrize("cause", [RESTARTED, "stopped", NEW, "reassigned", "log-dir"])
def test_what_was_planned_or_told_elsewhere_is_no_bad_performance(cause: str) -> None:
    partitions = rows_of(
        [row(p, *(absence(broker=p % 3 + 1, leader=(p + 1) % 3 + 1, at=20 * i, cause=cause) for i in range(4))) for p in range(6)]
    )
    assert degradations(partitions) == []
    assert list(judged("culprit-broker", partitions)) == []


def test_a_passing_stall_is_no_more_than_medium() -> None:
    partitions = rows_of([row(p, absence(lasts=5)) for p in range(6)])
    assert [f.severity for f in judged("culprit-broker", partitions)] == ["medium"]
    restarts_unseen = rows_of([row(p, *(absence(cause=UNKNOWN, at=100 * i) for i in range(4))) for p in range(6)])
    assert [f.severity for f in judged("culprit-broker", restarts_unseen)] == ["medium"]


def test_counts_that_do_not_add_up_are_said() -> None:
    partitions = rows_of([row(0, absence(cause=CRASHED, lasts=None)), row(1, absence(broker=3, cause=SLOW, at=1, lasts=None)), row(2)])
    (gone,) = [f for f in judged("culprit-broker", partitions) if f.cause == "offline"]
    assert gone.severity == "high"
    assert "1 of 3 partitions" in words(gone).explanation
    assert "1 partition lacked other replicas only (t-1)" in words(gone).explanation


def test_partitions_that_came_later_are_not_counted() -> None:
    later = {**row(1), "first_state_at": START + timedelta(hours=1)}
    known = shared(rows_of([later, row(0), row(2, replicas=(1,)), row(3, replicas=(2, 3))]))
    assert known[1] == [datetime.min, START + timedelta(hours=1)] and len(known[2]) == 3
    assert (counted(1), counted(0)) == ("1 partition", "0 partitions")


def test_open_absences_hold_an_episode_open() -> None:
    partitions = rows_of([row(0, absence(lasts=None), absence(broker=3, at=90_000))])
    (one,) = episodes(outs(partitions, STUCK, SLOW, NOT_STATED), lambda o: "all")
    assert one.open and one.end is None and one.times == 2


def test_new_replicas_of_many_partitions_are_one_finding() -> None:
    s = Story()
    (stated,) = [f for f in report(_grown(s, 1)).findings if f.kind == "new-replica"]
    assert stated.partition == 0
    many = [replace(stated, partition=i) for i in range(40)]
    (one,) = folded(many, RULE["new-replica"])
    assert (one.partition, len(one.places)) == (None, 40)
    assert (
        words(one).summary == "40 partitions (t-0, t-1, t-2, t-3 and 36 more): broker 1 was added as a replica and caught up in all of them"
    )


def _grown(s: Story, partitions: int) -> dict[str, str]:
    s.line(
        3,
        "state-change",
        0,
        "INFO [Controller id=3 epoch=1] Changed partition t-0 state from NonExistentPartition to NewPartition with assigned replicas 2 (state.change.logger)",
    )
    s.online(3, 0.1, 0, 2, [2], 0)
    s.line(
        3,
        "state-change",
        9,
        "INFO [Controller id=3 epoch=1] Sent LeaderAndIsr request (Leader:2,ISR:2,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:1) with new replica "
        "assignment ReplicaAssignment(replicas=2,1, addingReplicas=1, removingReplicas=) to leader 2 for partition being reassigned t-0 (state.change.logger)",
    )
    s.isr(2, 12, [2, 1], 2)
    return s.files


def test_many_under_replicated_partitions_of_one_cause_are_one_finding() -> None:
    s = led()
    s.isr(2, 30, [2, 3], 1)
    s.isr(2, 35, [2, 3, 1], 2)
    (one,) = of(report(s.files), "under-replicated")
    many = [replace(one, partition=i) for i in range(50)]
    (stated,) = folded(many, RULE["under-replicated"])
    assert (stated.topic, stated.partition, stated.severity, len(stated.places)) == (None, None, "medium", 50)
    assert words(stated).summary == "50 partitions (t-0, t-1, t-2, t-3 and 46 more): broker 1 missing from the ISR for up to 5.0 s"


_STATES = st.lists(
    st.tuples(
        st.sets(st.integers(1, 4), max_size=4),
        st.sets(st.integers(1, 4), min_size=1, max_size=4),
        st.one_of(st.none(), st.integers(-50, 50)),
    ),
    max_size=12,
)


@settings(max_examples=150)
@given(_STATES)
def test_every_state_without_a_replica_lies_in_one_absence_of_it(drawn: list[tuple[set[int], set[int], int | None]]) -> None:
    """Whatever the clocks say."""
    found = PartitionTimeline("t", 0, 0)
    event = Event(source="x.log", line=1, event="isr-update", text="x")
    for isr, assigned, seconds in drawn:
        at = START + timedelta(seconds=seconds) if seconds is not None else None
        isr = isr & assigned or {min(assigned)}
        found.states.append(
            State(
                leader_epoch=0,
                partition_epoch=None,
                leader=min(isr),
                isr=tuple(sorted(isr)),
                replicas=tuple(sorted(assigned)),
                at=at,
                source="leader",
                event=event,
            ),
        )
    claimed = intervals(found, Cluster())
    for index, state in enumerate(found.states):
        for broker in range(1, 5):
            covering = [i for i in claimed if i.broker == broker and i.first <= index < i.last]
            assert len(covering) == (broker in (state.replicas or ()) and broker not in state.isr)
    assert sum(r["times"] for r in rows(claimed)) == len(claimed)
    assert all(w.missing for w in under_replicated_windows(found, Cluster()))


def test_brokers_that_were_missing_one_after_the_other_are_named_so() -> None:
    """Each row: the broker that was missing, from and to in seconds."""

    def missing(*rows: tuple[int, int, int]) -> object:
        at = [datetime(2026, 11, 21, 12) + timedelta(seconds=s) for s in range(100)]
        common: Any = {"kind": "under-replicated", "severity": "low", "confidence": "certain", "evidence": ()}
        found = together([Finding(**common, brokers=(b,), start=at[start], end=at[end]) for b, start, end in rows])
        return found["missing"], found["by_turns"]

    assert missing((3, 0, 5), (3, 1, 6), (1, 6, 9), (2, 20, 30)) == ((3, 1, 2), True)
    assert missing((3, 0, 5), (1, 4, 9)) == ((1, 3), False), "for a second, both were missing"
    assert missing((3, 0, 5), (1, 6, 9), (3, 20, 30)) == ((1, 3), False)
    assert missing((3, 0, 5), (3, 1, 6)) == ((3,), False)


@pytest.mark.parametrize("cause", [STUCK, SLOW, CRASHED, GONE, LOG_DIR, SUSPENDED, NOT_STATED, UNKNOWN])
def test_every_cause_of_a_failure_has_words_where_it_recurs(cause: str) -> None:
    assert text(said(f"isr-flapping/{cause}", times=3)).endswith(": 3")


def test_clauses_that_differ_in_their_leader_are_said_of_each() -> None:
    """Those that differ only in a time are said once."""

    def unreached(leader: int, seconds: int) -> str:
        span = (START, START + timedelta(seconds=seconds))
        return packed((said("absence/running", broker=1, why=said("absence/leader-unreached", leader=leader, span=span)),))

    own = ((0, unreached(2, 5)), (1, unreached(2, 7)), (2, unreached(3, 5)))
    (episode,) = episodes(outs(rows_of([row(p, absence(clauses=clauses)) for p, clauses in own]), STUCK), lambda o: o.broker)
    first, second = map(text, episode.reasons())
    assert first.startswith("broker 1 was running, and it could not connect to broker 2") and first.endswith("(t-0, t-1)")
    assert "broker 3, its leader" in second and second.endswith("(t-2)")


RENAMED = "INFO Log for partition t-0 is renamed to /data/t-0.{0:032x}-delete and is scheduled for deletion (kafka.log.LogManager)"


@pytest.mark.parametrize(("brokers", "lasts"), [((2, 3), True), ((1, 2, 3), False)], ids=["one is left", "all"])
def test_an_absence_ends_when_all_replicas_delete_their_logs(brokers: Sequence[int], lasts: bool) -> None:
    """No controller's log was collected. A reassignment deletes the logs of replicas, too, but not those of all that are assigned."""
    s = led()
    s.isr(2, 30, [2, 3], 2)
    for broker in brokers:
        s.line(broker, "server", 60 + broker, RENAMED.format(broker))
    stated, cluster = timeline(s.files)
    (absence,) = intervals(stated, cluster)
    assert (absence.broker, absence.end is None) == (1, lasts)
