"""What is said of log directories that failed or were changed, and of brokers that came up in another cluster."""

from __future__ import annotations

from datetime import datetime

import pytest

from forensics.exemplars import exemplars_of
from forensics.model.findings import Finding
from forensics.words import words
from tests.forensics.staged import report

DAY = "2026-11-21"


def findings_of(kind: str, files: dict[str, str]) -> list[Finding]:
    return [f for f in report({path: text.encode() for path, text in files.items()}, {}).findings if f.kind == kind]


def failure(at: str, why: str, directory: str = "/data") -> str:
    return (
        f"[{at},000] INFO starting (kafka.server.KafkaServer)\n"
        f"[{at},100] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
        f"[{at},200] ERROR Error while flushing log for orders-0 in dir {directory} with offset 5 (kafka.server.LogDirFailureChannel)\n"
        f"{why}\n"
        f"[{at},300] WARN [ReplicaManager broker=1] Stopping serving replicas in dir {directory} (kafka.server.ReplicaManager)\n"
        f"[{at},310] WARN Stopping serving logs in dir {directory} (kafka.log.LogManager)\n"
        f"[{at},320] ERROR Shutdown broker because all log dirs in {directory} have failed (kafka.log.LogManager)\n"
    )


def test_each_failure_is_told_for_itself_with_its_own_cause_halt_and_return() -> None:
    full, failing = "java.io.IOException: No space left on device", "java.io.IOException: Input/output error"
    log = failure(f"{DAY} 02:00:00", full) + failure(f"{DAY} 02:00:30", failing)
    first, second = sorted(findings_of("log-dir-failure", {"broker-1/logs/server.log": log}), key=lambda f: str(f.start))
    assert (first.cause, second.cause) == ("full", "io")
    assert first.end == datetime(2026, 11, 21, 2, 0, 30, 100000)
    assert second.end is None
    assert all("went offline, and the broker halted" in words(f).summary for f in (first, second))


@pytest.mark.parametrize(
    ("record", "action"),
    [
        (
            "ERROR Uncaught exception in scheduled task 'flush-log' (kafka.utils.KafkaScheduler)",
            "flushing log for orders-0 in dir /data with offset 5",
        ),
        (
            "ERROR [ReplicaManager broker=1] Error processing append operation on partition orders-0 (kafka.server.ReplicaManager)",
            "appending records to orders-0 in dir /data",
        ),
    ],
)
def test_cause_below_the_exception_that_took_the_directory_offline(record: str, action: str) -> None:
    thrown = f"org.apache.kafka.common.errors.KafkaStorageException: Error while {action}\nCaused by: java.io.IOException: No space left on device"
    alone = {"broker-1/logs/server.log": f"[{DAY} 02:00:00,900] {record}\n{thrown}\n"}
    (failed,), (full,) = findings_of("log-dir-failure", alone), findings_of("disk-full", alone)
    assert (failed.cause, failed.known["directory"], full.brokers) == ("full", "/data", (1,))
    repeated = failure(f"{DAY} 02:00:00", "java.io.IOException: No space left on device") + alone["broker-1/logs/server.log"]
    (once,) = findings_of("disk-full", {"broker-1/logs/server.log": repeated})
    assert "times" not in words(once).explanation


def test_halt_is_no_riddle_to_broker_crash() -> None:
    (crash,) = findings_of(
        "broker-crash", {"broker-1/logs/server.log": failure(f"{DAY} 02:00:00", "java.io.IOException: Input/output error")}
    )
    assert "halted because its log directories failed" in words(crash).summary
    assert crash.end is None


def test_broker_with_other_directories_goes_on() -> None:
    (exemplar,) = (e for e in exemplars_of("log-dir-failure") if e.name == "disk-full")
    (found,) = (f for f in report(exemplar.files, exemplar.modified).findings if f.kind == "log-dir-failure")
    assert "halted" not in words(found).summary
    assert "with other directories a broker continues" in words(found).explanation


def test_removed_directory_takes_its_records_along() -> None:
    (exemplar,) = (e for e in exemplars_of("log-dir-failure") if e.name == "removed-under-the-broker")
    (found,) = (f for f in report(exemplar.files, exemplar.modified).findings if f.kind == "log-dir-failure")
    assert "was removed under the running broker" in words(found).summary
    assert "All records in the removed files are gone" in words(found).explanation


def refusal(second: int, cluster: str) -> str:
    return (
        f"[{DAY} 02:00:{second:02},000] INFO starting (kafka.server.KafkaServer)\n"
        f"[{DAY} 02:00:{second:02},100] INFO Cluster ID = {cluster} (kafka.server.KafkaServer)\n"
        f"[{DAY} 02:00:{second:02},200] ERROR Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)\n"
        f"kafka.common.InconsistentClusterIdException: The Cluster ID {cluster} doesn't match stored clusterId Some({A}) in meta.properties."
        " The broker is trying to join the wrong cluster. Configured zookeeper.connect may be wrong.\n"
    )


A, B, C = "AAAAAAAAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBBBBBBBB", "CCCCCCCCCCCCCCCCCCCCCC"


def lived(second: int, cluster: str) -> str:
    return (
        f"[{DAY} 02:00:{second:02},000] INFO starting (kafka.server.KafkaServer)\n"
        f"[{DAY} 02:00:{second:02},100] INFO Cluster ID = {cluster} (kafka.server.KafkaServer)\n"
        f"[{DAY} 02:00:{second:02},200] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    )


def test_refusals_over_other_ids_are_told_apart_and_a_start_in_the_next_cluster_ends_them() -> None:
    log = lived(0, A) + refusal(10, B) + refusal(12, B) + refusal(20, C) + lived(30, C)
    found = findings_of("cluster-id-mismatch", {"broker-1/logs/server.log": log})
    assert [(f.start, f.end) for f in found] == [
        (datetime(2026, 11, 21, 2, 0, s, 200000), datetime(2026, 11, 21, 2, 0, 30, 200000)) for s in (10, 20)
    ]


def settings(at: str, directory: str) -> str:
    return f"[{at}] INFO KafkaConfig values: \n\tlog.dir = /tmp/kafka-logs\n\tlog.dirs = {directory}\n (kafka.server.KafkaConfig)\n"


def restarted(directory: str) -> dict[str, str]:
    """Broker 1 leads orders-0 alone from offset 10 to 50, stops, and is started on `directory`, where its log is new."""
    return {
        "broker-1/logs/server.log": (
            f"[{DAY} 02:00:00,000] INFO starting (kafka.server.KafkaServer)\n"
            + settings(f"{DAY} 02:00:00,100", "/mnt/data")
            + f"[{DAY} 02:00:01,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
            f"[{DAY} 02:05:00,000] INFO [Log partition=orders-0, dir=/mnt/data] Incremented log start offset to 10 due to segment deletion (kafka.log.Log)\n"
            f"[{DAY} 02:10:00,000] INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)\n"
            f"[{DAY} 02:10:01,000] INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)\n"
            f"[{DAY} 02:20:00,000] INFO starting (kafka.server.KafkaServer)\n"
            + settings(f"{DAY} 02:20:00,100", directory)
            + f"[{DAY} 02:20:02,000] INFO Created log for partition orders-0 in {directory}/orders-0 with properties {{}} (kafka.log.LogManager)\n"
            f"[{DAY} 02:20:03,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
        ),
        "broker-1/logs/state-change.log": (
            f"[{DAY} 02:00:02,000] INFO [Broker id=1] Leader orders-0 starts at leader epoch 2 from offset 50 with high watermark 50 ISR [1]"
            " addingReplicas [] removingReplicas []. Previous leader epoch was -1. (state.change.logger)\n"
            f"[{DAY} 02:20:02,100] INFO [Broker id=1] Leader orders-0 starts at leader epoch 4 from offset 0 with high watermark 0 ISR [1]"
            " addingReplicas [] removingReplicas []. Previous leader epoch was -1. (state.change.logger)\n"
        ),
    }


def test_log_that_is_empty_because_log_dirs_was_changed_still_lies_in_the_old_directory() -> None:
    (found,) = findings_of("data-loss", restarted("/srv/data"))
    assert found.cause == "empty-replica"
    assert "the old log is still in /mnt/data" in words(found).explanation
    assert any(step.startswith("Copy the directory of orders-0 in /mnt/data of broker 1") for step in words(found).next_steps)


@pytest.mark.parametrize("spelled", ["/mnt/data", "/mnt//data/", "mnt/data", "./data"])
def test_log_that_is_empty_in_the_same_directory_was_emptied(spelled: str) -> None:
    files = restarted("/mnt/data")
    files["broker-1/logs/server.log"] = files["broker-1/logs/server.log"].replace("log.dirs = /mnt/data", f"log.dirs = {spelled}")
    (found,) = findings_of("data-loss", files)
    assert "other log directories" not in words(found).summary
    assert not any("/mnt/data" in step for step in words(found).next_steps)
