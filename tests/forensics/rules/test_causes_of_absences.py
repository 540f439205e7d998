"""What the report says about a replica that could not fetch, and about a process that ran out of memory: the cause is where it was printed."""

from __future__ import annotations

from forensics.model.findings import Finding
from forensics.words import words
from tests.forensics.staged import report

LEADER = """\
[2026-11-21 02:00:05,250] INFO [Broker id=2] Leader events-0 starts at leader epoch 0 from offset 90 with high watermark 90 ISR [2,3,1] addingReplicas [] removingReplicas []. Previous leader epoch was -1. (state.change.logger)
"""
SHRINK = """\
[2026-11-21 02:30:13,362] INFO [Partition events-0 broker=2] Shrinking ISR from 2,3,1 to 2,3. Leader: (highWatermark: 90, endOffset: 100). Out of sync replicas: (brokerId: 1, endOffset: 90, lastCaughtUpTimeMs: 1795226410217). (kafka.cluster.Partition)
[2026-11-21 02:30:13,432] INFO [Partition events-0 broker=2] ISR updated to 2,3  and version updated to 1 (kafka.cluster.Partition)
"""
STARTED = "[2026-11-21 02:00:01,250] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
MEMORY = """\
[2026-11-21 02:30:00,000] ERROR Processor got uncaught exception. (kafka.network.Processor)
java.lang.OutOfMemoryError: Java heap space
"""
GAVE_UP = """\
[2026-11-21 02:29:43,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Unexpected error occurred while processing data for partition events-0 at offset 90 (kafka.server.ReplicaFetcherThread)
kafka.common.OffsetsOutOfOrderException: Out of order offsets found in append to events-0: ArrayBuffer(90, 91, 5)
[2026-11-21 02:29:43,001] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Partition events-0 marked as failed (kafka.server.ReplicaFetcherThread)
"""
THREAD = """\
[2026-11-21 02:29:43,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error due to (kafka.server.ReplicaFetcherThread)
org.apache.kafka.common.KafkaException: Error processing data for partition events-0 offset 90
"""
REFUSED = "".join(
    f"[2026-11-21 02:{minute}:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Found invalid messages during fetch for partition events-0 "
    "offset 90 (kafka.server.ReplicaFetcherThread)\n"
    for minute in range(28, 31)
)


def _stuck(leader: str = "", follower: str = "") -> Finding:
    files = {
        "broker-2/logs/state-change.log": LEADER,
        "broker-2/logs/server.log": leader + SHRINK,
        "broker-1/logs/server.log": STARTED + follower,
    }
    (found,) = (f for f in report(files).findings if f.kind == "stuck-replica")
    return found


def test_a_follower_that_gave_up_has_no_other_possible_cause() -> None:
    found = _stuck(follower=GAVE_UP)
    assert "it had given up fetching this partition at 2026-11-21 02:29:43.001 UTC because of an error" in words(found).explanation
    assert "Possible causes" not in words(found).explanation
    assert "broker 1 for the error of its replica fetcher" in words(found).next_steps[0]


def test_so_has_one_whose_fetcher_ended_or_whose_fetches_fail() -> None:
    assert "its replica fetcher had ended at 2026-11-21 02:29:43.000 UTC because of an error" in words(_stuck(follower=THREAD)).explanation
    assert (
        "its fetches of this partition failed from 2026-11-21 02:28:00.000 to 02:30:00.000 UTC"
        in words(_stuck(follower=REFUSED)).explanation
    )


def test_a_leader_without_memory_is_looked_at_before_the_follower() -> None:
    found = _stuck(leader=MEMORY)
    assert "The leader, broker 2, ran out of memory at 2026-11-21 02:30:00.000 UTC" in words(found).explanation
    assert words(found).next_steps[0].startswith("Search server.log of broker 2 for OutOfMemoryError")


def test_without_a_statement_causes_are_possible_ones() -> None:
    assert "Possible causes: a long pause" in words(_stuck()).explanation


def test_a_broker_that_its_jvm_ended_crashed_for_that_reason() -> None:
    out = (
        "[2026-11-21 02:25:15,420] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)\n"
        "Terminating due to java.lang.OutOfMemoryError: Java heap space\n"
        "[2026-11-21 02:25:26,350] INFO starting (kafka.server.KafkaServer)\n"
    )
    (found,) = (f for f in report({"broker-2/logs/kafkaServer.out": out}).findings if f.kind == "broker-crash")
    assert words(found).summary.startswith("broker 2 crashed because it ran out of memory")
    assert "OOM killer" not in words(found).explanation


def test_a_leader_that_cannot_be_reached_is_the_cause() -> None:
    failed = "".join(
        f"[2026-11-21 02:30:{second:02},000] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Connection to node 2 (/10.0.0.2:9092) could not be "
        "established. Node may not be available. (org.apache.kafka.clients.NetworkClient)\n"
        for second in range(3, 20)
    )
    unmeasured = SHRINK.replace("endOffset: 90,", "endOffset: -1,")
    files = {"broker-2/logs/state-change.log": LEADER, "broker-2/logs/server.log": unmeasured, "broker-1/logs/server.log": STARTED + failed}
    (found,) = (f for f in report(files).findings if f.kind == "stuck-replica")
    assert "it could not connect to broker 2, its leader, from 2026-11-21 02:30:03.000 to 02:30:19.000 UTC" in words(found).explanation


def _partition(name: str, back: str) -> str:
    return (
        f"[2026-11-21 02:00:05,250] INFO [Broker id=2] Leader {name} starts at leader epoch 0 from offset 90 with high watermark 90 ISR [2,1] "
        "addingReplicas [] removingReplicas []. Previous leader epoch was -1. (state.change.logger)\n"
        f"[2026-11-21 02:30:10,000] INFO [Partition {name} broker=2] Shrinking ISR from 2,1 to 2. Leader: (highWatermark: 90, endOffset: 100). Out of "
        "sync replicas: (brokerId: 1, endOffset: 90, lastCaughtUpTimeMs: 1795226410217). (kafka.cluster.Partition)\n"
        f"[2026-11-21 02:30:10,010] INFO [Partition {name} broker=2] ISR updated to 2 and version updated to [1] (kafka.cluster.Partition)\n"
        f"[2026-11-21 02:40:{back},000] INFO [Partition {name} broker=2] ISR updated to 2,1 and version updated to [2] (kafka.cluster.Partition)\n"
    )


def test_a_partition_in_the_failed_directory_is_not_the_same_as_one_that_only_missed_the_crashed_broker() -> None:
    start = "[2026-11-21 02:{}] INFO starting (kafka.server.KafkaServer)\n[2026-11-21 02:{}] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    follower = (
        start.format("00:00,000", "00:01,000")
        + "[2026-11-21 02:30:00,000] INFO [GroupCoordinator 1]: a line (kafka.coordinator.group.GroupCoordinator)\n"
        + start.format("35:00,000", "35:05,000")
        + "[2026-11-21 02:35:06,000] WARN [ReplicaManager broker=1] Broker 1 stopped fetcher for partitions orders-0 and stopped moving logs for partitions  "
        "because they are in the failed log directory /d1. (kafka.server.ReplicaManager)\n"
    )
    leader = "".join(sorted((_partition("orders-0", "00") + _partition("bills-0", "00")).splitlines(keepends=True)))
    found = [
        f
        for f in report({"broker-1/logs/server.log": follower, "broker-2/logs/server.log": leader}).findings
        if f.kind == "under-replicated"
    ]
    assert {f.topic: f.cause for f in found} == {"orders": "broker-crash and log-dir-failure", "bills": "broker-crash"}
    assert not any("details of its own" in words(f).explanation for f in found)
