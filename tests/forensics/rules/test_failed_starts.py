"""What is said of processes that ended while they were starting, of second processes, and of causes that their errors name."""

from __future__ import annotations

from datetime import datetime

import pytest

from forensics.exemplars import exemplars_of
from forensics.model.findings import Finding
from forensics.model.presence.process_errors import cause_of
from forensics.views.document import Report
from forensics.words import text, words
from tests.forensics.staged import report

DAY = "2026-11-21"


def read(files: dict[str, str]) -> Report:
    return report({path: text.encode() for path, text in files.items()}, {})


def of(kind: str, found: Report) -> list[Finding]:
    return [f for f in found.findings if f.kind == kind]


def at(hour: int, minute: int, second: int) -> datetime:
    return datetime(2026, 11, 21, hour, minute, second)


def invalid(second: int) -> str:
    """A process that ends before it prints that it starts a broker."""
    return (
        f"[{DAY} 02:00:{second:02},000] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)\n"
        f"[{DAY} 02:00:{second + 1:02},000] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)\n"
        "org.apache.kafka.common.config.ConfigException: Invalid value one week for configuration log.retention.hours: Not a number of type INT\n"
    )


def up(hour: int, second: int) -> str:
    return (
        f"[{DAY} {hour:02}:00:{second:02},000] INFO starting (kafka.server.KafkaServer)\n"
        f"[{DAY} {hour:02}:00:{second + 2:02},000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    )


def test_processes_that_end_before_they_name_themselves_are_counted() -> None:
    (found,) = of("start-failed", read({"broker-1/logs/server.log": invalid(10) + invalid(20) + invalid(30) + up(3, 0)}))
    assert "failed to start 3 times" in words(found).summary
    assert (found.start, found.end, found.cause) == (at(2, 0, 10), at(3, 0, 2), "setting")


def test_a_kraft_process_that_prints_started_and_then_two_errors_has_failed_once() -> None:
    server = f"[{DAY} 02:00:{{}},000] INFO [BrokerServer id=1] {{}} (kafka.server.BrokerServer)\n"
    failed = "".join(
        server.format(second, text)
        for second, text in (("00", "Transition from SHUTDOWN to STARTING"), ("01", "Transition from STARTING to STARTED"))
    )
    failed += f"[{DAY} 02:00:01,001] ERROR [BrokerServer id=1] Fatal error during broker startup. Prepare to shutdown (kafka.server.BrokerServer)\n"
    failed += "java.net.BindException: Address already in use\n" + server.format("02", "shut down completed")
    failed += f"[{DAY} 02:00:02,001] ERROR Exiting Kafka due to fatal exception during startup. (kafka.Kafka$)\n"
    (found,) = of("start-failed", read({"broker-1/logs/server.log": failed + failed.replace(" 02:", " 03:")}))
    assert "failed to start 2 times" in words(found).summary


def test_a_fault_after_the_process_has_started_is_no_failed_start() -> None:
    """KafkaRaftServer#startup prints this after all its servers have started."""
    log = (
        f"[{DAY} 02:00:00,000] INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)\n"
        f"[{DAY} 02:00:03,000] INFO [KafkaRaftServer nodeId=1] Kafka Server started (kafka.server.KafkaRaftServer)\n"
        f"[{DAY} 02:00:48,000] ERROR Encountered fatal fault: Unexpected error in raft IO thread (org.apache.kafka.server.fault.ProcessTerminatingFaultHandler)\n"
        "java.lang.IllegalStateException: unknown epoch\n"
    )
    found = read({"broker-1/logs/server.log": log})
    assert of("start-failed", found) == []
    (fault,) = of("fatal-error", found)
    assert fault.brokers == (1,)


def test_attempts_before_and_after_a_successful_start_are_two_findings() -> None:
    log = invalid(10) + up(3, 0) + f"[{DAY} 04:00:00,000] INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)\n"
    log += f"[{DAY} 04:00:01,000] INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)\n" + invalid(10).replace(
        " 02:", " 05:"
    )
    first, second = sorted(of("start-failed", read({"broker-1/logs/server.log": log})), key=lambda f: str(f.start))
    assert (first.start, first.end) == (at(2, 0, 10), at(3, 0, 2))
    assert (second.start, second.end) == (at(5, 0, 10), None)
    assert "not up since" in words(second).summary


def halts(hour: int) -> str:
    """A start whose only log directory is full."""
    return (
        f"[{DAY} {hour:02}:00:00,000] INFO starting (kafka.server.KafkaServer)\n"
        f"[{DAY} {hour:02}:00:01,000] ERROR Error while loading log dir /data (kafka.log.LogManager)\n"
        "java.io.IOException: No space left on device\n"
        f"[{DAY} {hour:02}:00:01,100] ERROR Shutdown broker because all log dirs in /data have failed (kafka.log.LogManager)\n"
    )


FILLS = (
    f"[{DAY} 02:00:10,200] ERROR Error while appending records to orders-0 in dir /data (kafka.server.LogDirFailureChannel)\n"
    "java.io.IOException: No space left on device\n"
    f"[{DAY} 02:00:10,300] WARN [ReplicaManager broker=1] Stopping serving replicas in dir /data (kafka.server.ReplicaManager)\n"
    f"[{DAY} 02:00:10,400] ERROR Shutdown broker because all log dirs in /data have failed (kafka.log.LogManager)\n"
)


def test_starts_that_halt_are_failed_starts_and_no_return() -> None:
    found = read({"broker-1/logs/server.log": up(2, 0) + FILLS + halts(3) + halts(4) + up(5, 0)})
    (crash,), (start,), (failure,), (full,) = (of(kind, found) for kind in ("broker-crash", "start-failed", "log-dir-failure", "disk-full"))
    assert crash.end == at(5, 0, 0), "starts that failed are no return"
    assert (start.start, start.end, start.cause) == (at(3, 0, 0), at(5, 0, 2), "disk-full")
    assert "2 times" in words(start).summary
    assert (failure.start, failure.end) == (datetime(2026, 11, 21, 2, 0, 10, 300000), at(5, 0, 2))
    assert "still failed at 2 starts" in words(failure).explanation
    assert full.end == at(5, 0, 2)


def test_a_second_process_that_fails_to_start_does_not_end_the_first() -> None:
    (exemplar,) = (e for e in exemplars_of("start-failed") if e.name == "second-process")
    found = report(exemplar.files, exemplar.modified)
    (second,) = of("start-failed", found)
    assert (second.start, second.end) == (at(3, 0, 0), at(3, 0, 2))
    assert of("broker-crash", found) == []
    assert [f.start for f in of("controlled-shutdown", found)] == [at(4, 0, 0)]


def test_a_fault_after_the_second_process_ended_is_the_first_ones() -> None:
    """The second process of a KRaft broker damages the metadata log of the first before it finds the log directories locked."""
    locked = "org.apache.kafka.common.KafkaException: Failed to acquire lock on file .lock in /data. A Kafka instance in another process or"
    log = (
        f"[{DAY} 02:00:00,000] INFO [BrokerServer id=1] Starting broker (kafka.server.BrokerServer)\n"
        f"[{DAY} 02:00:05,000] INFO [BrokerServer id=1] Transition from STARTING to STARTED (kafka.server.BrokerServer)\n"
        f"[{DAY} 03:00:00,000] INFO [BrokerServer id=1] Starting broker (kafka.server.BrokerServer)\n"
        f"[{DAY} 03:00:01,000] INFO [BrokerServer id=1] Transition from STARTING to STARTED (kafka.server.BrokerServer)\n"
        f"[{DAY} 03:00:01,001] ERROR [BrokerServer id=1] Fatal error during broker startup. Prepare to shutdown (kafka.server.BrokerServer)\n"
        f"{locked} thread is using this directory.\n"
        f"[{DAY} 03:00:01,100] INFO [BrokerServer id=1] shut down completed (kafka.server.BrokerServer)\n"
        f"[{DAY} 03:00:01,200] ERROR Exiting Kafka due to fatal exception during startup. (kafka.Kafka$)\n"
        f"{locked} thread is using this directory.\n"
        f"[{DAY} 03:00:01,300] ERROR Encountered fatal fault: Unexpected error in raft IO thread"
        " (org.apache.kafka.server.fault.ProcessTerminatingFaultHandler)\n"
        "org.apache.kafka.common.errors.CorruptRecordException: Found record size 0 smaller than minimum record overhead (14) in file /data/x.log.\n"
    )
    found = read({"broker-1/logs/server.log": log})
    (start,), (fault,), (crash,) = (of(kind, found) for kind in ("start-failed", "fatal-error", "broker-crash"))
    assert (start.severity, start.cause) == ("low", "locked")
    assert fault.start == crash.start == datetime(2026, 11, 21, 3, 0, 1, 300000)
    assert "halted because of a fatal fault" in words(crash).summary


CAUSES = {
    "kafka.common.InconsistentClusterIdException: The Cluster ID A doesn't match stored clusterId Some(B) in meta.properties.": "cluster-id",
    "java.lang.RuntimeException: Invalid cluster.id in: /data/meta.properties. Expected A, but read B": "cluster-id",
    "kafka.common.InconsistentBrokerIdException: Configured broker.id 2 doesn't match stored broker.id Some(7) in meta.properties.": "broker-id",
    "java.lang.RuntimeException: Stored node id 7 doesn't match previous node id 2 in /data/meta.properties.": "broker-id",
    "kafka.common.InconsistentBrokerMetadataException: BrokerMetadata is not consistent across log.dirs.": "mixed-log-dirs",
    "java.lang.RuntimeException: No `meta.properties` found in /data (have you run `kafka-storage.sh` to format the directory?)": (
        "missing-meta-properties"
    ),
    "java.lang.RuntimeException: No readable meta.properties files found.": "missing-meta-properties",
    "org.apache.kafka.common.KafkaException: Failed to acquire lock on file .lock in /data.": "locked",
    "org.apache.kafka.common.KafkaException: Socket server failed to bind to 0.0.0.0:9092: Address already in use.": "port-in-use",
    "org.apache.kafka.common.KafkaException: Socket server failed to bind to 10.0.0.9:9092: Cannot assign requested address.": "listener",
    "org.apache.kafka.common.config.ConfigException: Invalid value x for configuration log.retention.hours: Not a number of type INT": "setting",
    "java.lang.IllegalArgumentException: requirement failed: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0.": "setting",
    "org.apache.kafka.common.config.ConfigException: Invalid value 9.9 for configuration inter.broker.protocol.version: Version `9.9` is not a"
    " valid version": "setting",
    "org.apache.kafka.common.KafkaException: Duplicate log directory found: /data, /data": "setting",
    "org.apache.kafka.common.KafkaException: Found unexpected metadata location in data directory `/data/__cluster_metadata-0` (the configured"
    " metadata directory is /meta).": "setting",
    "java.lang.RuntimeException: No broker ID found, and broker.id.generation.enable is disabled.": "setting",
    "org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists": "broker-id-taken",
    "java.lang.RuntimeException: A broker is already registered on the path /brokers/ids/1.": "broker-id-taken",
    "kafka.zookeeper.ZooKeeperClientTimeoutException: Timed out waiting for connection while in state: CONNECTING": "zookeeper-unreachable",
    "java.lang.IllegalArgumentException: No MetadataVersion with feature level 25. Valid feature levels are from 1 to 20.": "incompatible-version",
    "org.apache.kafka.common.errors.UnsupportedVersionException: Unable to register because the broker does not support finalized version 25 of"
    " metadata.version.": "incompatible-version",
    "java.lang.RuntimeException: Found unexpected version in /data/meta.properties. ZK-based brokers that are not migrating only support version"
    " 0": "incompatible-version",
    "java.io.IOException: No space left on device": "disk-full",
    "java.lang.InternalError: a fault occurred in a recent unsafe memory access operation in compiled Java code": "mapped-file",
    "java.lang.OutOfMemoryError: Map failed": "out-of-memory",
    "java.lang.RuntimeException: Encountered I/O error in metadata log directory /data. Cannot continue.": "log-dirs-failed",
    "java.nio.file.AccessDeniedException: /data/meta.properties": "permission",
    "java.lang.IllegalStateException: Duplicate log directories for t-0 are found in both /a/t-0 and /b/t-0.": "duplicate-log",
    "org.apache.kafka.common.KafkaException: Found directory /data/lost+found, 'lost+found' is not in the form of topic-partition or "
    "topic-partition.uniqueId-delete (if marked for deletion).": "foreign-directory",
    "org.apache.kafka.common.errors.CorruptRecordException: Record size is smaller than the minimum": "corrupt-batch",
    "java.nio.file.NoSuchFileException: config/server.properties": "configuration-missing",
    "java.lang.NoSuchMethodError: 'void org.apache.kafka.common.X.y()'": "wrong-libraries",
}
"""Exceptions that statements of Kafka's KafkaServer, BrokerServer, LogManager, MetaPropertiesEnsemble and KafkaConfig throw."""


@pytest.mark.parametrize(("thrown", "cause"), CAUSES.items())
def test_the_exception_names_the_cause(thrown: str, cause: str) -> None:
    (error,) = read(
        {"broker-1/logs/server.log": f"[{DAY} 02:00:00,000] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)\n{thrown}\n"}
    ).cluster.of("fatal-error")[:1]
    found = cause_of([error], starting=True)
    assert found is not None
    assert found.name == cause
    assert text(found.why)
    assert all(map(text, found.steps))


def test_lines_of_the_shutdown_hook_of_a_second_process_are_no_stop_of_the_first() -> None:
    taken = "org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists\n"
    log = up(2, 0) + "".join(
        f"[{DAY} {time}] {line}\n"
        for time, line in (
            ("02:10:00,000", "INFO starting (kafka.server.KafkaServer)"),
            (
                "02:10:02,000",
                f"ERROR [KafkaServer id=1] Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)\n{taken[:-1]}",
            ),
            ("02:10:02,010", "INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)"),
            ("02:10:02,935", "INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)"),
            ("02:10:02,936", f"ERROR Exiting Kafka due to fatal exception during startup. (kafka.Kafka$)\n{taken[:-1]}"),
            ("02:10:02,939", "INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)"),
            ("02:50:00,000", "INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)"),
            ("02:50:01,000", "INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)"),
        )
    )
    found = read({"broker-1/logs/server.log": log})
    assert [f.start for f in of("controlled-shutdown", found)] == [at(2, 50, 0)]
    assert of("broker-crash", found) == []
