from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.layouts import LOG4J, STATE_CHANGE, LogRecord, abbreviates, fitting, instant, misfit, prefix, shapes, sniff, timestamp


def test_logger_is_in_the_last_parentheses() -> None:
    line = "[2026-11-21 02:15:38,147] INFO Loaded 1 logs in 22ms (unclean log dirs = ArrayBuffer(/data)) (kafka.log.LogManager)"
    assert LOG4J.read(line) == LogRecord(
        datetime(2026, 11, 21, 2, 15, 38, 147000),
        "INFO",
        "Loaded 1 logs in 22ms (unclean log dirs = ArrayBuffer(/data))",
        "kafka.log.LogManager",
    )


@pytest.mark.parametrize(
    ("line", "level", "message", "logger"),
    [
        ("[2026-11-21 02:15:38,147] WARN  padded (a.B)", "WARN", "padded", "a.B"),
        ("[2026-11-21T02:15:38.147] INFO iso (a.B$)", "INFO", "iso", "a.B$"),
        ("[2026-11-21 02:15:38,147] INFO windows (a.B)\r", "INFO", "windows", "a.B"),
        ("[2026-11-21 02:15:38,147] INFO KafkaConfig values: ", "INFO", "KafkaConfig values: ", None),
        ("[2026-11-21 02:15:38,147] FATAL ${un} $interpolated (a.B)", "FATAL", "${un} $interpolated", "a.B"),
        ("[2026-13-41 02:15:38,147] INFO no date (a.B)", "INFO", "no date", "a.B"),
    ],
)
def test_records(line: str, level: str, message: str, logger: str | None) -> None:
    record = LOG4J.read(line)
    assert record is not None
    assert (record.level, record.message, record.logger) == (level, message, logger)


@pytest.mark.parametrize(
    "line", ["", "\tat kafka.log.Log.append(Log.scala:1)", "java.io.IOException: x (a.B)", "[2026-11-21] INFO x (a.B)"]
)
def test_continuation_lines_begin_no_record(line: str) -> None:
    assert LOG4J.read(line) is None
    assert not LOG4J.begins(line.encode(), 0)


def test_record_behind_zero_bytes_begins_one() -> None:
    assert LOG4J.begins(b"\0\0\0[2026-11-21 02:15:38,147] INFO x (a.B)", 0)


def test_impossible_date_is_no_time() -> None:
    assert timestamp("2026-02-30 00:00:00,000") is None


MESSAGE = "[Partition a-b-0 broker=2] Expanding ISR from 2 to 2,3 (x)"
WALL = datetime(2026, 11, 21, 2, 15, 38, 147000)


@pytest.mark.parametrize(
    ("name", "line", "time", "utc", "logger"),
    [
        (
            "[%d] %p %m (%c)%n",
            f"[2026-11-21 02:15:38,147] INFO {MESSAGE} (kafka.cluster.Partition)",
            WALL,
            False,
            "kafka.cluster.Partition",
        ),
        ("%d %p %m (%c) [%t]", f"2026-11-21 02:15:38,147 INFO {MESSAGE} (a.B) [kafka-request-handler-1]", WALL, False, "a.B"),
        (
            "%d %p [%t] %c:%L - %m",
            f"2026-11-21 02:15:38 INFO  [main] Partition:66 - {MESSAGE}",
            WALL.replace(microsecond=0),
            False,
            "Partition",
        ),
        ("%d %p [%t] %m (%c)", f"[2026-11-21 02:15:38,147] INFO [ReplicaFetcherThread-0-1] {MESSAGE} (a.B)", WALL, False, "a.B"),
        ("%d [%p] [%t] [%c] %m", f"[2026-11-21 02:15:38.147] [INFO ] [main] [a.B] {MESSAGE}", WALL, False, "a.B"),
        ("%d [%p] [%t] [%c] %m", f"[2026-11-21T02:15:38.147][INFO ][main][a.B] {MESSAGE}", WALL, False, "a.B"),
        ("%d [%t] %p %c - %m", f"2026-11-21T02:15:38.147 [main] INFO  k.c.Partition - {MESSAGE}", WALL, False, "k.c.Partition"),
        ("%d %p %c: %m", f"2026/11/21 02:15:38 INFO Partition: {MESSAGE}", WALL.replace(microsecond=0), False, "Partition"),
        ("%d %p %m (%c)", f"2026-11-21T04:15:38.147+02:00 INFO {MESSAGE} (a.B)", WALL, True, "a.B"),
        ("%d %p %m (%c)", f"2026-11-21 04:15:38,147 +0200 INFO {MESSAGE} (a.B)", WALL, True, "a.B"),
        ("%d %p %m (%c)", f"[2026-11-21T02:15:38.147123456Z] INFO {MESSAGE} (a.B)", WALL.replace(microsecond=147123), True, "a.B"),
        ("%d %p %m (%c)", f"[2026-11-21 02:15:38,147] INFO {MESSAGE} (Partition)", WALL, False, "Partition"),
        ("%p %d %m (%c)", f"INFO  [2026-11-21 02:15:38,147] {MESSAGE} (a.B)", WALL, False, "a.B"),
        ("%d %p %m", f"2026-11-21 02:15:38,147 INFO {MESSAGE}", WALL, False, None),
        ("%d [%p] %m", f"2026-11-21 02:15:38,147 [INFO] {MESSAGE}", WALL, False, None),
    ],
)
def test_sniffed_layouts(name: str, line: str, time: datetime, utc: bool, logger: str | None) -> None:
    layout = sniff(f"\tat a.B(C.java:1)\n{line}\n{line}\n{line}\n".encode())
    assert layout is not None
    assert layout.name == name
    assert layout.begins(line.encode(), 0)
    assert layout.read(line) == LogRecord(time, "INFO", MESSAGE, logger, utc)


def test_component_in_front_of_a_message_is_no_thread() -> None:
    lines = [f"[2026-11-21 02:15:38,147] INFO [Broker id={n}] Handling (state.change.logger)" for n in range(9)]
    assert sniff("\n".join(lines).encode()) is LOG4J


def test_layout_of_the_user_comes_first() -> None:
    given = replace(LOG4J, name="given")
    line = b"[2026-11-21 02:15:38,147] INFO x (a.B)\n"
    assert sniff(line, (given,)) is given
    assert fitting(line.decode().strip(), (given,)) is given


def test_no_layout() -> None:
    assert sniff(b"") is None
    assert sniff(b"\tat a.B(C.java:1)\nplain\n") is None
    assert fitting("\tat a.B(C.java:1)") is None


def test_layout_behind_damage() -> None:
    assert sniff(b"\xff\n\n[2026-11-21 02:15:38,147] INFO x (kafka.B)\n") is LOG4J


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("2026-11-21 02:15:38,147 NOTICE x", "no level after the time: 'NOTICE x'"),
        ("[2026-11-21 02:15:38,147] [main", "no such text after the thread"),
        ("Nov 21 a line", "no line begins with a time or a level"),
    ],
)
def test_misfit_is_told(line: str, words: str) -> None:
    assert words in misfit([line, "\tat x"])


@pytest.mark.parametrize(
    ("printed", "full", "may"),
    [
        ("kafka.log.Log", "kafka.log.Log", True),
        ("Log", "kafka.log.Log", True),
        ("Log", "kafka.log.Log$", True),
        ("log.Log", "kafka.log.Log", True),
        ("k.l.Log", "kafka.log.Log", True),
        ("fka.log.Log", "kafka.log.Log", True),
        ("logger", "state.change.logger", True),
        ("Log", "kafka.log.LogManager", False),
        ("kafka.log.LogManager", "org.apache.kafka.storage.internals.log.LogManager", False),
        ("org.kafka.log.Log", "kafka.log.Log", False),
    ],
)
def test_abbreviated_loggers(printed: str, full: str, may: bool) -> None:
    assert abbreviates(printed, full) is may


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21 02:15:38,147", (WALL, False)),
        ("2026-11-21T02:15:38", (WALL.replace(microsecond=0), False)),
        ("2026-11-21T02:15:38.147Z", (WALL, True)),
        ("2026-11-21 02:15:38.147 UTC", (WALL, True)),
        ("2026/11/21 02:15:38,147", (WALL, False)),
        ("2026/11/21 02:15:38.147Z", (WALL, True)),
        ("2026-11-21T00:45:38,147-0130", (WALL, True)),
        ("2026-11-21T04:15:38.147+02", (WALL, True)),
        ("2026-11-21 04:15:38.147 GMT+02:00", (WALL, True)),
        ("2026-13-21 02:15:38,147", (None, False)),
        ("0001-01-01T00:00:00+02:00", (None, True)),
        ("yesterday", (None, False)),
    ],
)
def test_instants(text: str, expected: tuple[datetime | None, bool]) -> None:
    assert instant(text) == expected


def test_thread_in_front_of_the_component_of_kafkas_own_layout() -> None:
    assert prefix("[kafka-request-handler-1] [Broker id=4] m", None) == ({"node": 4}, "m")
    assert prefix("[main] [orders,0] m", None) == ({}, "[orders,0] m")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("[Partition a-b-0 broker=2] m", {"topic": "a-b", "partition": 0, "node": 2}),
        ("Partition [orders,1] on broker 3: m", {"topic": "orders", "partition": 1, "node": 3}),
        ("[Broker id=4] m", {"node": 4}),
        ("[Replica Manager on Broker 1]: m", {"node": 1}),
        ("[ReplicaManager broker=1] m", {"node": 1}),
        ("[Controller id=2 epoch=7] m", {"controller": 2, "node": 2, "controller_epoch": 7}),
        ("[Controller id=2] m", {"controller": 2, "node": 2}),
        ("[Controller 2]: m", {"node": 2}),
        ("[Partition state machine on Controller 2]: m", {"node": 2}),
        ("[Replica state machine on controller 2]: m", {"node": 2}),
        ("[BrokerChangeListener on Controller 2]: m", {"node": 2}),
        ("[PartitionStateMachine controllerId=2] m", {"node": 2}),
        ("[Topic Deletion Manager 2], m", {"node": 2}),
        ("[Controller-1-to-broker-2-send-thread], m", {"node": 1, "broker": 2}),
        ("[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] m", {"node": 3, "broker": 2}),
        ("[ReplicaFetcherThread-0-2], m", {"broker": 2}),
        ("[ReplicaFetcherThread-0-2]: m", {"broker": 2}),
        ("[ReplicaFetcherManager on broker 3] m", {"node": 3}),
        ("[Log partition=a-b-0, dir=/data/1] m", {"topic": "a-b", "partition": 0, "directory": "/data/1"}),
        ("[UnifiedLog partition=orders-0, dir=/d] m", {"topic": "orders", "partition": 0, "directory": "/d"}),
        ("[LocalLog partition=orders-0, dir=/d] m", {"topic": "orders", "partition": 0, "directory": "/d"}),
        ("[LogLoader partition=orders-0, dir=/d] m", {"topic": "orders", "partition": 0, "directory": "/d"}),
        ("[MetadataLog partition=__cluster_metadata-0, nodeId=1] m", {"topic": "__cluster_metadata", "partition": 0, "node": 1}),
        ("[ProducerStateManager partition=orders-0]m", {"topic": "orders", "partition": 0}),
        ("[LeaderEpochCache orders-0] m", {"topic": "orders", "partition": 0}),
        ("[KafkaServer id=1] m", {"node": 1}),
        ("[Kafka Server 1], m", {"node": 1}),
        ("[BrokerServer id=1] m", {"node": 1}),
        ("[BrokerLifecycleManager id=1 isZkBroker=true] m", {"node": 1}),
        ("[QuorumController id=1] m", {"node": 1}),
        ("[RaftManager nodeId=1] m", {"node": 1}),
        ("[RaftManager id=1] m", {"node": 1}),
        ("[KafkaRaftServer nodeId=1] m", {"node": 1}),
        ("[DynamicConfigPublisher broker id=3] m", {"node": 3}),
        ("[SocketServer listenerType=ZK_BROKER, nodeId=1] m", {"node": 1}),
        ("[NodeToControllerChannelManager id=1 name=heartbeat] m", {"node": 1}),
        ("[KafkaApi-5] m", {"node": 5}),
        ("[GroupCoordinator 5]: m", {"node": 5}),
        ("[Kafka Metadata Cache on broker 5] m", {"node": 5}),
        ("[MetadataCache brokerId=5] m", {"node": 5}),
        ("[kafka-log-cleaner-thread-0]: m", {}),
        ("[OfflinePartitionLeaderSelector]: m", {}),
        ("[ZooKeeperClient Kafka server] m", {}),
    ],
)
def test_prefixes(text: str, columns: dict[str, Any]) -> None:
    assert prefix(text, "a.B") == (columns, "m")


@pytest.mark.parametrize("text", ["[orders,0] m", "[] m", "[unclosed", "Broker 1 starting", "Controller 1 epoch 2 fails", "plain"])
def test_what_is_no_prefix_stays(text: str) -> None:
    assert prefix(text, "a.B") == ({}, text)


def test_old_state_change_text_begins_with_its_writer() -> None:
    assert prefix("Broker 3 received LeaderAndIsr", STATE_CHANGE) == ({"node": 3}, "received LeaderAndIsr")
    assert prefix("Controller 3 epoch 9 changed x", STATE_CHANGE) == ({"node": 3, "controller": 3, "controller_epoch": 9}, "changed x")


def test_prefix_number_out_of_range_is_told() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        prefix("[Broker id=99999999999] m", None)


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    record = LOG4J.read(text)
    assert record is None or record.message in text
    try:
        _, message = prefix(text, STATE_CHANGE)
    except ValueError:
        return
    assert text.endswith(message)


@given(st.text(max_size=200))
def test_any_text_in_any_layout(text: str) -> None:
    misfit([text])
    for layout in shapes():
        record = layout.read(text)
        assert record is None or record.message in text
        assert not layout.fits(text) or record is not None


@given(st.binary(max_size=400))
def test_any_head(data: bytes) -> None:
    layout = sniff(data)
    assert layout is None or any(layout.begins(line, 0) for line in data.split(b"\n"))
