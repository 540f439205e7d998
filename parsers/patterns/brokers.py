"""The run of a broker process: start, stop, signals, controlled shutdown, sessions and registration, crashes, its settings.

Here: KafkaServer, BrokerServer, BrokerLifecycleManager, the ZooKeeper client, crashes of threads and processes, and the settings about
durability in the dump of KafkaConfig. Not here: what controllers print about brokers (controller, kraft), whether the last stop was clean
(loading), failed directories (log_dirs). ControllerServer has only its start here: in a process with both roles, the broker's new run
begins with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache

import regex

from parsers.patterns.exceptions import EXCEPTION, with_exception
from parsers.patterns.pattern import Pattern, Sample
from parsers.schemas import Row

_SERVER = ("kafka.server.KafkaServer",)
_BROKER = ("kafka.server.BrokerServer",)
_ANY_SERVER = _SERVER + _BROKER
_ZOOKEEPER = ("kafka.zookeeper.ZooKeeperClient",)
_ZKCLIENT = ("org.I0Itec.zkclient.ZkClient",)
_HEALTHCHECK = ("kafka.server.KafkaHealthcheck", "kafka.server.KafkaHealthcheck$SessionExpireListener")
_MAX_SILENCE_MS = 366 * 24 * 3600 * 1000
_CONTROLLER_SERVER = ("kafka.server.ControllerServer",)
_SHARED = ("kafka.server.SharedServer",)
_LIFECYCLE = ("kafka.server.BrokerLifecycleManager", "org.apache.kafka.server.BrokerLifecycleManager")


def _server_state(row: Row) -> Iterator[Row]:
    if row["reason"] == "STARTED":
        yield {**row, "event": "broker-started"}
    else:
        yield row


def _of_itself(row: Row) -> Iterator[Row]:
    """The row with the broker as the writer: a broker writes its own registration."""
    yield {**row, "node": row["broker"]}


def _and_cluster(row: Row) -> Iterator[Row]:
    """The broker's state, and the id of its cluster."""
    yield row
    yield {**row, "event": "config", "broker": None, "reason": None, "key": "cluster.id"}


def _since_heard(row: Row) -> Iterator[Row]:
    """The silence began before the line: `time` is its start."""
    if row["time"] is not None and row["duration_ms"] < _MAX_SILENCE_MS:
        yield {**row, "time": row["time"] - timedelta(milliseconds=row["duration_ms"])}


_SETTING = re.compile(r"(?m)^\t([\w.-]+) = (.*)$")
KEPT_SETTINGS = regex.compile(
    r"(?:broker|node)\.(?:id|rack)|process\.roles|controller\.quorum\.(?:voters|fetch\.timeout\.ms)|zookeeper\.metadata\.migration\.enable"
    r"|log\.dirs?|metadata\.log\.dir|log\.flush\.(?:interval\.\w+|offset\.checkpoint\.interval\.ms)|log\.segment\.bytes"
    r"|log\.retention\.(?:ms|minutes|hours|bytes)|log\.cleanup\.policy|log\.message\.format\.version|inter\.broker\.protocol\.version"
    r"|unclean\.leader\.election\.(?:enable|interval\.ms)|min\.insync\.replicas|default\.replication\.factor"
    r"|(?:offsets\.topic|transaction\.state\.log)\.(?:replication\.factor|min\.isr)|auto\.leader\.rebalance\.enable"
    r"|leader\.imbalance\.(?:check\.interval\.seconds|per\.broker\.percentage)"
    r"|auto\.create\.topics\.enable"
    r"|replica\.(?:lag\.time\.max\.ms|lag\.max\.messages|high\.watermark\.checkpoint\.interval\.ms|fetch\.max\.bytes)"
    r"|controlled\.shutdown\.(?:enable|max\.retries)|zookeeper\.session\.timeout\.ms|broker\.(?:session\.timeout|heartbeat\.interval)\.ms"
)
"""Settings that decide what may be lost. The other 250 of a dump, some of them secret, are not read."""


@lru_cache(maxsize=1 << 12)
def _is_relevant(key: str) -> bool:
    return KEPT_SETTINGS.fullmatch(key) is not None


def _settings(row: Row) -> Iterator[Row]:
    settings = [(key, value.strip()) for key, value in _SETTING.findall(row["_groups"]["_settings"])]
    ids = [value for key, value in settings if key in ("broker.id", "node.id") and value.isdecimal()]
    node = int(ids[0]) if ids else row.get("node")
    for key, value in settings:
        if _is_relevant(key):
            yield {**row, "node": node, "key": key, "value": value, "text": f"{key} = {value}"}


_APP_INFO = ("org.apache.kafka.common.utils.AppInfoParser", "org.apache.kafka.common.utils.internals.AppInfoParser")
"""Until 4.3, and from 4.4 on."""
_LIFE: tuple[Pattern, ...] = (
    Pattern(
        name="process-starting",
        event="process-starting",
        literal="kafka:type=kafka.Log4jController",
        regex=r"Registered `?kafka:type=kafka\.Log4jController`? MBean",
        versions=("1.1", "4.4"),
        first_of_process=True,
        samples=(
            Sample(
                "[2026-11-21 03:31:18,412] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)",
                {"node": None},
                "real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                "[2026-11-21 11:17:10,031] INFO Registered `kafka:type=kafka.Log4jController` MBean"
                " (kafka.utils.Log4jControllerRegistration$)",
                {"node": None},
                "real: delete-records-acks1-4.0.0-kraft-combined",
            ),
        ),
        note="Logging registers the bean when its class is loaded, before main() prints anything.",
    ),
    Pattern(
        name="broker-starting-zk",
        event="broker-starting",
        literal="tarting (kafka.server.KafkaServer",
        regex=r"[Ss]tarting",
        versions=("0.8.0", "3.9"),
        loggers=_SERVER,
        samples=(
            Sample(
                "[2026-11-21 02:25:12,827] INFO starting (kafka.server.KafkaServer)",
                {"event": "broker-starting", "node": None},
                "real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                "[2014-01-14 12:00:00,123] INFO [Kafka Server 1], Starting (kafka.server.KafkaServer)",
                {"node": 1},
                "source: 0.8.0 KafkaServer",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Kafka Server 1], starting (kafka.server.KafkaServer)",
                {"node": 1},
                "source: 0.10.2 KafkaServer",
            ),
        ),
    ),
    Pattern(
        name="broker-started-zk",
        event="broker-started",
        literal="tarted (kafka.server.KafkaServer",
        regex=r"[Ss]tarted",
        versions=("0.8.0", "3.9"),
        loggers=_SERVER,
        samples=(
            Sample(
                "[2026-11-21 02:25:15,215] INFO [KafkaServer id=3] started (kafka.server.KafkaServer)",
                {"node": 3},
                "real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                "[2026-11-21 03:01:17,662] INFO [Kafka Server 3], started (kafka.server.KafkaServer)",
                {"node": 3},
                "real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                "[2014-01-14 12:00:00,123] INFO [Kafka Server 1], Started (kafka.server.KafkaServer)",
                {"node": 1},
                "source: 0.8.0 KafkaServer",
            ),
        ),
    ),
    Pattern(
        name="broker-starting-kraft",
        event="broker-starting",
        literal="Starting broker (kafka.server.BrokerServer",
        regex=r"Starting broker",
        versions=("2.8", "4.4"),
        loggers=_BROKER,
        samples=(
            Sample(
                "[2026-11-21 03:31:20,145] INFO [BrokerServer id=3] Starting broker (kafka.server.BrokerServer)",
                {"node": 3},
                "real: grow-replicas-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="controller-starting",
        event="controller-starting",
        literal="Starting controller (kafka.server.ControllerServer",
        regex=r"Starting controller",
        versions=("2.8", "4.4"),
        loggers=_CONTROLLER_SERVER,
        samples=(
            Sample(
                "[2026-11-21 05:59:40,370] INFO Starting controller (kafka.server.ControllerServer)",
                {"node": None},
                "real: unclean-election-3.3.2-kraft",
            ),
            Sample(
                "[2026-11-21 11:17:11,700] INFO [ControllerServer id=1] Starting controller (kafka.server.ControllerServer)",
                {"node": 1},
                "real: delete-records-acks1-4.0.0-kraft-combined",
            ),
        ),
        note="A process with both roles starts its controller first (KafkaRaftServer), so its broker's new run begins here.",
    ),
    Pattern(
        name="broker-server-state",
        event="broker-state",
        literal="Transition from ",
        regex=r"Transition from \w+ to (?P<reason>\w+)",
        versions=("3.1", "4.4"),
        loggers=_BROKER,
        explode=_server_state,
        samples=(
            Sample(
                "[2026-11-21 03:31:24,333] INFO [BrokerServer id=3] Transition from STARTING to STARTED (kafka.server.BrokerServer)",
                {"node": 3, "event": "broker-started", "reason": "STARTED"},
                "real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                "[2026-11-21 03:31:18,624] INFO [BrokerServer id=3] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)",
                {"node": 3, "event": "broker-state", "reason": "STARTING"},
                "real: grow-replicas-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="broker-signal",
        event="broker-signal",
        literal="Terminating process due to signal ",
        regex=r"Terminating process due to signal (?P<value>\w+)",
        versions=("1.0", "4.4"),
        samples=(
            Sample(
                "[2026-11-21 03:49:12,786] INFO Terminating process due to signal SIGTERM"
                " (org.apache.kafka.common.utils.LoggingSignalHandler)",
                {"value": "SIGTERM"},
                "real: wide-rolling-3.9.1-kraft",
            ),
        ),
        note="SIGKILL and a power failure leave no line.",
    ),
    Pattern(
        name="broker-stopping",
        event="broker-stopping",
        literal="hutting down (kafka.server.",
        regex=r"[Ss]hutting down",
        versions=("0.8.0", "4.4"),
        loggers=_ANY_SERVER,
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] INFO [Kafka Server 1], Shutting down (kafka.server.KafkaServer)",
                {"node": 1},
                "source: 0.8.0 KafkaServer",
            ),
            Sample(
                "[2026-11-21 03:49:12,794] INFO [BrokerServer id=4] shutting down (kafka.server.BrokerServer)",
                {"node": 4},
                "real: wide-rolling-3.9.1-kraft",
            ),
            Sample(
                "[2026-11-21 02:01:13,026] INFO [KafkaServer id=3] shutting down (kafka.server.KafkaServer)",
                {"node": 3},
                "real: rolling-restart-2.8.2-zk",
            ),
            Sample(
                "[2026-11-22 08:32:40,777] INFO shutting down (kafka.server.KafkaServer)",
                {"node": None},
                "real: wiped-zookeeper-3.7.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-stopping",
        event="controller-stopping",
        literal="shutting down (kafka.server.ControllerServer",
        regex=r"shutting down",
        versions=("2.8", "4.4"),
        loggers=_CONTROLLER_SERVER,
        samples=(
            Sample(
                "[2026-11-21 03:49:12,127] INFO [ControllerServer id=100] shutting down (kafka.server.ControllerServer)",
                {"node": 100},
                "source: 3.9 ControllerServer",
            ),
        ),
    ),
    Pattern(
        name="broker-stopped",
        event="broker-stopped",
        literal="hut down completed (kafka.server.",
        regex=r"[Ss]hut down completed",
        versions=("0.8.0", "4.4"),
        loggers=_ANY_SERVER,
        samples=(
            Sample(
                "[2026-11-22 08:32:40,897] INFO shut down completed (kafka.server.KafkaServer)",
                {"node": None},
                "real: wiped-zookeeper-3.7.2-zk",
            ),
            Sample(
                "[2014-01-14 12:00:00,123] INFO [Kafka Server 1], Shut down completed (kafka.server.KafkaServer)",
                {"node": 1},
                "source: 0.8.0 KafkaServer",
            ),
            Sample(
                "[2026-11-21 03:49:17,731] INFO [BrokerServer id=4] shut down completed (kafka.server.BrokerServer)",
                {"node": 4},
                "real: wide-rolling-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="broker-stopped-logs",
        event="broker-stopped",
        literal="Shutdown complete. (",
        regex=r"Shutdown complete\.",
        versions=("0.8.2", "4.4"),
        loggers=("kafka.log.LogManager", "org.apache.kafka.storage.internals.log.LogManager"),
        samples=(
            Sample(
                "[2026-11-22 08:20:32,226] INFO Shutdown complete. (kafka.log.LogManager)",
                {},
                "real: wiped-everything-0.10.0.1-zk",
            ),
        ),
        note="By then LogManager#shutdown has flushed and closed all logs and written the clean shutdown files.",
    ),
    Pattern(
        name="process-stopped",
        event="process-stopped",
        literal="App info kafka.server for ",
        regex=r"App info kafka\.server for (?P<node>\d+) unregistered",
        versions=("2.7", "4.4"),
        loggers=_APP_INFO,
        samples=(
            Sample(
                "[2026-11-21 03:49:12,123] INFO App info kafka.server for 100 unregistered (org.apache.kafka.common.utils.AppInfoParser)",
                {"node": 100},
                "source: 3.9 AppInfoParser",
            ),
        ),
        note="The last line of KafkaRaftServer#shutdown; a broker prints that its shutdown is complete right before or after.",
    ),
    Pattern(
        name="shutdown-controlled-start",
        event="controlled-shutdown",
        literal="controlled shutdown",
        regex=r"Starting controlled shutdown|Notifying KRaft of controlled shutdown|Beginning controlled shutdown\.",
        versions=("0.8.2", "4.4"),
        loggers=_SERVER + _LIFECYCLE,
        fixed={"reason": "start"},
        samples=(
            Sample(
                "[2026-11-21 02:01:13,029] INFO [KafkaServer id=3] Starting controlled shutdown (kafka.server.KafkaServer)",
                {"node": 3, "reason": "start"},
                "real: rolling-restart-2.8.2-zk",
            ),
            Sample(
                "[2026-11-21 03:49:12,803] INFO [BrokerLifecycleManager id=4] Beginning controlled shutdown."
                " (kafka.server.BrokerLifecycleManager)",
                {"node": 4, "reason": "start"},
                "real: wide-rolling-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="shutdown-controlled-done",
        event="controlled-shutdown",
        literal="ontrolled shutdown",
        regex=r"Controlled shutdown succeeded|Controlled shutdown request returned successfully after \S+ms"
        r"|The control\w+ has asked us to exit controlled shutdown\.",
        versions=("0.8.2", "4.4"),
        loggers=_SERVER + _LIFECYCLE,
        fixed={"reason": "done"},
        samples=(
            Sample(
                "[2026-11-21 02:01:13,096] INFO [KafkaServer id=3] Controlled shutdown succeeded (kafka.server.KafkaServer)",
                {"node": 3, "reason": "done"},
                "real: rolling-restart-2.8.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [KafkaServer id=3] Controlled shutdown request returned successfully after"
                " ${clientResponse.requestLatencyMs}ms (kafka.server.KafkaServer)",
                {"node": 3, "reason": "done"},
                "source: 3.5 KafkaServer",
            ),
            Sample(
                "[2026-11-21 03:49:14,354] INFO [BrokerLifecycleManager id=4] The controller has asked us to exit controlled shutdown."
                " (kafka.server.BrokerLifecycleManager)",
                {"node": 4, "reason": "done"},
                "real: wide-rolling-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="shutdown-controlled-retry",
        event="controlled-shutdown",
        literal="ontrolled shutdown ",
        regex=r"Retrying controlled shutdown (?:after the previous attempt failed\.\.\.|\((?P<count>\d+) retries remaining\))"
        r"|Controlled shutdown request returned after \S+ with (?:error (?P<value>.*)|(?P<count>\d+) partitions remaining to move)",
        versions=("0.8.2", "3.9"),
        loggers=_SERVER,
        fixed={"reason": "retry"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [KafkaServer id=3] Retrying controlled shutdown (2 retries remaining)"
                " (kafka.server.KafkaServer)",
                {"node": 3, "reason": "retry", "count": 2},
                "source: 3.5 KafkaServer",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] WARN [Kafka Server 3], Retrying controlled shutdown after the previous attempt failed..."
                " (kafka.server.KafkaServer)",
                {"node": 3, "reason": "retry", "count": None},
                "source: 0.10.2 KafkaServer",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [KafkaServer id=3] Controlled shutdown request returned after 5ms with 3 partitions"
                " remaining to move"
                " (kafka.server.KafkaServer)",
                {"count": 3},
                "source: 3.5 KafkaServer",
            ),
        ),
    ),
    Pattern(
        name="shutdown-controlled-remaining",
        event="controlled-shutdown",
        literal=" from controller: ",
        regex=r"Error(?: code)? from controller: (?P<value>.*)",
        versions=("0.8.2", "3.0"),
        loggers=_SERVER,
        fixed={"reason": "retry"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [KafkaServer id=3] Error from controller: STALE_BROKER_EPOCH (kafka.server.KafkaServer)",
                {"node": 3, "reason": "retry", "value": "STALE_BROKER_EPOCH"},
                "source: 2.8 KafkaServer",
            ),
        ),
    ),
    Pattern(
        name="shutdown-controlled-failed",
        event="controlled-shutdown",
        literal="controlled shutdown",
        regex=r"Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed"
        r"|Timed out waiting for the controller to approve controlled shutdown"
        r"|Got unexpected exception waiting for controlled shutdown future|Skipping controlled shutdown because we are in state \w+\.",
        versions=("0.8.2", "4.4"),
        loggers=_ANY_SERVER + _LIFECYCLE,
        fixed={"reason": "failed"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN [KafkaServer id=3] Proceeding to do an unclean shutdown as all the controlled shutdown"
                " attempts"
                " failed (kafka.server.KafkaServer)",
                {"node": 3, "reason": "failed"},
                "source: 2.8 KafkaServer",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [BrokerServer id=3] Timed out waiting for the controller to approve controlled shutdown"
                " (kafka.server.BrokerServer)",
                {"node": 3, "reason": "failed"},
                "source: 3.9 BrokerServer",
            ),
        ),
        note="'Unclean' means that leaderships were not handed over; the logs may still be closed cleanly.",
    ),
    Pattern(
        name="kafka-version",
        event="kafka-version",
        literal="Kafka version",
        regex=r"Kafka version ?: (?P<value>\S+)",
        versions=("0.9.0", "4.4"),
        loggers=(*_APP_INFO, "org.apache.kafka.common.utils.AppInfoParser$AppInfo"),
        samples=(
            Sample(
                "[2026-11-21 02:02:33,749] INFO Kafka version: 2.8.2 (org.apache.kafka.common.utils.AppInfoParser)",
                {"value": "2.8.2"},
                "real: reassignment-2.8.2-zk",
            ),
            Sample(
                "[2026-11-21 03:01:17,660] INFO Kafka version : 0.10.2.2 (org.apache.kafka.common.utils.AppInfoParser)",
                {"value": "0.10.2.2"},
                "real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                "[2026-11-28 15:37:44,911] INFO Kafka version: 4.4.0 (org.apache.kafka.common.utils.internals.AppInfoParser)",
                {"value": "4.4.0"},
                "real: unclean-election-4.4.0-kraft",
            ),
        ),
        note="Clients inside the broker print it as well.",
    ),
    Pattern(
        name="start-time",
        event="start-time",
        literal="Kafka startTimeMs: ",
        regex=r"Kafka startTimeMs: (?P<count>\d+)",
        versions=("2.3", "4.4"),
        loggers=_APP_INFO,
        samples=(
            Sample(
                "[2026-11-21 02:02:33,749] INFO Kafka startTimeMs: 1795226553744 (org.apache.kafka.common.utils.AppInfoParser)",
                {"count": 1795226553744},
                "real: reassignment-2.8.2-zk",
            ),
            Sample(
                "[2026-11-28 15:37:44,911] INFO Kafka startTimeMs: 1795880264911 (org.apache.kafka.common.utils.internals.AppInfoParser)",
                {"count": 1795880264911},
                "real: unclean-election-4.4.0-kraft",
            ),
        ),
        note="AppInfoParser gets Time.milliseconds() immediately before the line is printed; clients inside the broker print theirs as "
        "well.",
    ),
    Pattern(
        name="broker-cluster-id",
        event="config",
        literal="Cluster ID = ",
        regex=r"Cluster ID = (?P<value>\S+)",
        versions=("0.10.1", "3.9"),
        loggers=_SERVER,
        fixed={"key": "cluster.id"},
        samples=(
            Sample(
                "[2026-11-21 02:02:31,461] INFO Cluster ID = 8d9m_bTrRiCpwmRarvC_0w (kafka.server.KafkaServer)",
                {"key": "cluster.id", "value": "8d9m_bTrRiCpwmRarvC_0w"},
                "real: reassignment-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="broker-config",
        event="config",
        literal="KafkaConfig values:",
        regex=r"KafkaConfig values: *\n(?P<_settings>.*)",
        versions=("0.9.0", "4.4"),
        multiline=True,
        first_of_process=True,
        explode=_settings,
        samples=(
            Sample(
                "[2026-11-21 02:25:13,971] INFO KafkaConfig values: \n\tbroker.id = 3\n\tmin.insync.replicas = 1\n"
                "\tssl.key.password = s3cret\n\tunclean.leader.election.enable = false\n (kafka.server.KafkaConfig)",
                {"node": 3, "key": "unclean.leader.election.enable", "value": "false"},
                "source: 1.1 AbstractConfig",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO KafkaConfig values: \n\tnode.id = 3\n\tprocess.roles = [broker]\n"
                " (kafka.server.KafkaConfig)",
                {"node": 3, "key": "process.roles", "value": "[broker]", "text": "process.roles = [broker]"},
                "source: 3.9 AbstractConfig",
            ),
        ),
    ),
)

_REGISTRATION: tuple[Pattern, ...] = (
    Pattern(
        name="broker-registered-zk",
        event="broker-registered",
        literal=" at path ",
        regex=r"Registered broker (?P<broker>\d+) at path \S+ with address(?:es:)? (?P<value>.*?)\.?(?:, czxid \(broker epoch\): (?P<broker_epoch>-?\d+))?",
        versions=("0.8.0", "3.9"),
        explode=_of_itself,
        fixed={"mode": "zookeeper"},
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] INFO Registered broker 1 at path /brokers/ids/1 with address kafka-1:9092. (kafka.utils.ZkUtils$)",
                {"node": 1, "broker": 1, "broker_epoch": None, "value": "kafka-1:9092"},
                "source: 0.8.2 ZkUtils",
            ),
            Sample(
                "[2026-11-21 02:02:33,600] INFO Registered broker 4 at path /brokers/ids/4 with addresses: PLAINTEXT://127.0.0.1:44957,"
                " czxid"
                " (broker epoch): 73 (kafka.zk.KafkaZkClient)",
                {"node": 4, "broker": 4, "broker_epoch": 73, "value": "PLAINTEXT://127.0.0.1:44957"},
                "source: 2.8 KafkaZkClient",
            ),
            Sample(
                "[2026-11-21 03:01:17,561] INFO Registered broker 3 at path /brokers/ids/3 with addresses: EndPoint(127.0.0.1,40555,"
                "ListenerName(PLAINTEXT),PLAINTEXT) (kafka.utils.ZkUtils)",
                {"node": 3, "broker": 3, "broker_epoch": None, "value": "EndPoint(127.0.0.1,40555,ListenerName(PLAINTEXT),PLAINTEXT)"},
                "real: unclean-election-0.10.2.2-zk",
            ),
        ),
    ),
    Pattern(
        name="broker-registered-kraft",
        event="broker-registered",
        literal="Successfully registered broker ",
        regex=r"Successfully registered broker (?P<broker>\d+) with broker epoch (?P<broker_epoch>-?\d+)",
        versions=("2.8", "4.4"),
        loggers=_LIFECYCLE,
        samples=(
            Sample(
                "[2026-11-21 03:31:23,767] INFO [BrokerLifecycleManager id=3] Successfully registered broker 3 with broker epoch 38"
                " (kafka.server.BrokerLifecycleManager)",
                {"node": 3, "broker": 3, "broker_epoch": 38},
                "real: grow-replicas-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="broker-incarnation",
        event="broker-state",
        literal=" is now STARTING.",
        regex=r"Incarnation \S+ of broker (?P<broker>\d+) in cluster (?P<value>\S+) is now STARTING\.",
        versions=("2.8", "4.4"),
        loggers=_LIFECYCLE,
        fixed={"reason": "STARTING"},
        explode=_and_cluster,
        samples=(
            Sample(
                "[2026-11-21 02:02:57,628] INFO [BrokerLifecycleManager id=2] Incarnation 6-WKq5u5QuC32kg4UT9Tlw of broker 2 in cluster"
                " qaLRQMKtRuO9tYchoRN7kA is now STARTING. (kafka.server.BrokerLifecycleManager)",
                {"event": "broker-state", "node": 2, "broker": 2, "value": "qaLRQMKtRuO9tYchoRN7kA", "reason": "STARTING"},
                "real: reassignment-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [BrokerLifecycleManager id=2] Incarnation 6-WKq5u5QuC32kg4UT9Tlw of broker 2 in cluster"
                " qaLRQMKtRuO9tYchoRN7kA is now STARTING. (org.apache.kafka.server.BrokerLifecycleManager)",
                {"event": "config", "node": 2, "broker": None, "key": "cluster.id", "value": "qaLRQMKtRuO9tYchoRN7kA", "reason": None},
                "source: 4.3 BrokerLifecycleManager",
            ),
        ),
    ),
    Pattern(
        name="broker-lifecycle",
        event="broker-state",
        literal="ransitioning from ",
        regex=r"(?:The broker has (?:caught up|been unfenced)\. )?Transitioning from \w+ to (?P<reason>\w+)\.",
        versions=("2.8", "4.4"),
        loggers=_LIFECYCLE,
        samples=(
            Sample(
                "[2026-11-21 03:31:24,308] INFO [BrokerLifecycleManager id=3] The broker has been unfenced. Transitioning from RECOVERY"
                " to RUNNING."
                " (kafka.server.BrokerLifecycleManager)",
                {"node": 3, "reason": "RUNNING"},
                "real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                "[2026-11-21 03:49:14,355] INFO [BrokerLifecycleManager id=4] Transitioning from PENDING_CONTROLLED_SHUTDOWN to"
                " SHUTTING_DOWN."
                " (kafka.server.BrokerLifecycleManager)",
                {"node": 4, "reason": "SHUTTING_DOWN"},
                "real: wide-rolling-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="broker-recovering-or-waiting",
        event="broker-state",
        literal="The broker is in ",
        regex=r"The broker is in (?P<reason>\w+?)(?:\.| state, still waiting for the active controller\.)",
        versions=("2.8", "4.4"),
        loggers=_LIFECYCLE,
        samples=(
            Sample(
                "[2026-11-21 03:49:12,839] INFO [BrokerLifecycleManager id=4] The broker is in PENDING_CONTROLLED_SHUTDOWN state, still"
                " waiting for"
                " the active controller. (kafka.server.BrokerLifecycleManager)",
                {"node": 4, "reason": "PENDING_CONTROLLED_SHUTDOWN"},
                "real: wide-rolling-3.9.1-kraft",
            ),
            Sample(
                "[2026-11-21 03:31:13,001] INFO [BrokerLifecycleManager id=3] The broker is in RECOVERY."
                " (kafka.server.BrokerLifecycleManager)",
                {"node": 3, "reason": "RECOVERY"},
                "source: 3.9 BrokerLifecycleManager",
            ),
        ),
    ),
    Pattern(
        name="broker-unreachable-controller",
        event="broker-state",
        literal="Unable to send ",
        regex=r"Unable to send (?:a|broker) heartbeat ?(?P<value>.*)",
        versions=("2.8", "4.4"),
        loggers=_LIFECYCLE,
        fixed={"reason": "controller-unreachable"},
        samples=(
            Sample(
                "[2026-11-21 02:13:37,073] INFO [BrokerLifecycleManager id=3] Unable to send a heartbeat because the RPC got timed out"
                " before it could"
                " be sent. (kafka.server.BrokerLifecycleManager)",
                {"node": 3, "reason": "controller-unreachable"},
                "real: controller-failover-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="broker-heartbeat-refused",
        event="broker-state",
        literal=" sent a heartbeat request but received error",
        regex=r"Broker \d+ sent a heartbeat request but received error ?(?P<value>.*)",
        versions=("2.8", "4.4"),
        loggers=_LIFECYCLE,
        fixed={"reason": "heartbeat-refused"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN [BrokerLifecycleManager id=3] Broker 3 sent a heartbeat request but received error"
                " STALE_BROKER_EPOCH. (kafka.server.BrokerLifecycleManager)",
                {"node": 3, "reason": "heartbeat-refused", "value": "STALE_BROKER_EPOCH."},
                "source: 3.9 BrokerLifecycleManager",
            ),
        ),
    ),
    Pattern(
        name="broker-registration-refused",
        event="broker-state",
        literal="Unable to register ",
        regex=r"(?!.*INCONSISTENT_CLUSTER_ID)Unable to register (?:the )?broker ?(?P<value>.*)",
        versions=("2.8", "4.4"),
        loggers=_LIFECYCLE,
        fixed={"reason": "registration-failed"},
        samples=(
            Sample(
                "[2026-11-21 02:05:48,351] INFO [BrokerLifecycleManager id=2] Unable to register broker 2 because the controller returned"
                " error"
                " DUPLICATE_BROKER_REGISTRATION (kafka.server.BrokerLifecycleManager)",
                {
                    "node": 2,
                    "reason": "registration-failed",
                    "value": "2 because the controller returned error DUPLICATE_BROKER_REGISTRATION",
                },
                "real: last-replica-standing-unprovable-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="broker-session-expired",
        event="session-expired",
        literal="Session expired.",
        regex=r"Session expired\.",
        versions=("1.1", "3.9"),
        loggers=_ZOOKEEPER,
        samples=(
            Sample(
                "[2026-11-21 07:58:26,085] INFO [ZooKeeperClient] Session expired. (kafka.zookeeper.ZooKeeperClient)",
                {"event": "session-expired"},
                "real: zombie-leader-2.2.2-zk",
            ),
            Sample(
                "[2026-11-21 02:07:43,124] INFO [ZooKeeperClient Kafka server] Session expired. (kafka.zookeeper.ZooKeeperClient)",
                {"event": "session-expired"},
                "real: zombie-leader-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="zookeeper-unheard",
        event="zookeeper-silent",
        literal="Client session timed out, have not heard from server in ",
        regex=r"Client session timed out, have not heard from server in (?P<duration_ms>\d+)ms for session ?id 0x[0-9a-f]+"
        r"(?:, closing socket connection and attempting reconnect)?",
        versions=("0.8.0", "3.9"),
        loggers=("org.apache.zookeeper.ClientCnxn",),
        explode=_since_heard,
        samples=(
            Sample(
                "[2024-05-01 13:00:00,246] WARN Client session timed out, have not heard from server in 3600123ms for session id"
                " 0x100012d3d9f0000 (org.apache.zookeeper.ClientCnxn)",
                {"time": datetime(2024, 5, 1, 12, 0, 0, 123000), "duration_ms": 3600123},
                "source: 3.5 ZooKeeper's ClientCnxn",
            ),
            Sample(
                "[2024-05-01 12:00:04,002] INFO Client session timed out, have not heard from server in 4002ms for sessionid"
                " 0x15a3b2c1d0e0001, closing socket connection and attempting reconnect (org.apache.zookeeper.ClientCnxn)",
                {"time": datetime(2024, 5, 1, 12, 0, 0), "duration_ms": 4002},
                "source: 0.10.2 ZooKeeper's ClientCnxn",
            ),
        ),
        note="The client checks after two thirds of the session timeout. A longer silence means that the process itself was paused. Its "
        "clock does not count the time that a Linux machine or a Mac sleeps, so a short silence may hide hours.",
    ),
    Pattern(
        name="zookeeper-closed",
        event="zookeeper-disconnected",
        literal=", closing socket connection and attempting reconnect",
        regex=r"(?:Unable to read additional data from server sessionid 0x[1-9a-f][0-9a-f]*, likely server has closed socket"
        r"|channel for sessionid 0x[1-9a-f][0-9a-f]* is lost"
        r"|Session 0x[1-9a-f][0-9a-f]* for server \S+, unexpected error), closing socket connection and attempting reconnect",
        versions=("0.8.0", "2.8"),
        loggers=("org.apache.zookeeper.ClientCnxn",),
        samples=(
            Sample(
                "[2026-11-22 08:07:13,965] INFO Unable to read additional data from server sessionid 0x1a2024b475b0002, likely server has "
                "closed socket, closing socket connection and attempting reconnect (org.apache.zookeeper.ClientCnxn)",
                {"event": "zookeeper-disconnected"},
                "real: wiped-zookeeper-1.1.1-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] WARN Session 0x15a3b2c1d0e0001 for server null, unexpected error, closing socket connection and "
                "attempting reconnect (org.apache.zookeeper.ClientCnxn)",
                {"event": "zookeeper-disconnected"},
                "source: 0.10.2 ZooKeeper's ClientCnxn",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO channel for sessionid 0x100012d3d9f0000 is lost, closing socket connection and attempting "
                "reconnect (org.apache.zookeeper.ClientCnxn)",
                {"event": "zookeeper-disconnected"},
                "source: 2.8 ZooKeeper's ClientCnxnSocketNetty",
            ),
        ),
        note="Session 0x0: the process had no session yet.",
    ),
    Pattern(
        name="zookeeper-connection-ended",
        event="zookeeper-disconnected",
        literal=", Closing socket connection. Attempting reconnect except it is a SessionExpiredException.",
        regex=r"Session 0x[1-9a-f][0-9a-f]* for ser?ver \S+, Closing socket connection\. Attempting reconnect except it is a "
        r"SessionExpiredException\.",
        versions=("3.0", "3.9"),
        loggers=("org.apache.zookeeper.ClientCnxn",),
        samples=(
            Sample(
                "[2026-11-22 08:31:17,798] WARN Session 0x10000281f150002 for server /127.0.0.1:54847, Closing socket connection. Attempting "
                "reconnect except it is a SessionExpiredException. (org.apache.zookeeper.ClientCnxn)",
                {"event": "zookeeper-disconnected"},
                "real: wiped-zookeeper-3.7.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] WARN Session 0x100012d3d9f0000 for sever localhost/127.0.0.1:2181, Closing socket connection. "
                "Attempting reconnect except it is a SessionExpiredException. (org.apache.zookeeper.ClientCnxn)",
                {"event": "zookeeper-disconnected"},
                "source: 3.2 ZooKeeper's ClientCnxn",
            ),
        ),
        note="Attempts to connect again print the same line if they fail.",
    ),
    Pattern(
        name="zookeeper-socket-error",
        event="zookeeper-disconnected",
        literal="Socket error occurred: ",
        regex=r"Socket error occurred: \S+: (?!Connection refused).+",
        versions=("2.0", "2.8"),
        loggers=("org.apache.zookeeper.ClientCnxn",),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO Socket error occurred: localhost/127.0.0.1:2181: Connection reset by peer "
                "(org.apache.zookeeper.ClientCnxn)",
                {"event": "zookeeper-disconnected"},
                "source: 2.8 ZooKeeper's ClientCnxn",
            ),
        ),
        note="A refused connection follows a line about the connection that was lost.",
    ),
    Pattern(
        name="zookeeper-session-established",
        event="zookeeper-connected",
        literal="Session establishment complete on server ",
        regex=r"Session establishment complete on server \S+, session ?id = 0x[0-9a-f]+, negotiated timeout = \d+(?: \(READ-ONLY mode\))?",
        versions=("0.8.0", "3.9"),
        loggers=("org.apache.zookeeper.ClientCnxn",),
        samples=(
            Sample(
                "[2026-11-22 08:31:01,409] INFO Session establishment complete on server /127.0.0.1:54847, session id = 0x10000281f150002, "
                "negotiated timeout = 4000 (org.apache.zookeeper.ClientCnxn)",
                {"event": "zookeeper-connected"},
                "real: wiped-zookeeper-3.7.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO Session establishment complete on server localhost/127.0.0.1:2181, sessionid = "
                "0x15a3b2c1d0e0001, negotiated timeout = 6000 (org.apache.zookeeper.ClientCnxn)",
                {"event": "zookeeper-connected"},
                "source: 0.10.2 ZooKeeper's ClientCnxn",
            ),
        ),
    ),
    Pattern(
        name="broker-session-expired-zkclient",
        event="session-expired",
        literal="zookeeper state changed (Expired)",
        regex=r"zookeeper state changed \(Expired\)",
        versions=("0.8.2", "1.0"),
        loggers=_ZKCLIENT,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO zookeeper state changed (Expired) (org.I0Itec.zkclient.ZkClient)",
                {"event": "session-expired"},
                "source: 0.10.2 ZkClient",
            ),
        ),
        note="Printed to stdout only, until 0.10.2.",
    ),
    Pattern(
        name="broker-session-expired-creating",
        event="session-expired",
        literal="Session has expired while ",
        regex=r"Session has expired while (?:creating|reading znode) /.*",
        versions=("0.9.0", "1.0"),
        loggers=("kafka.utils.ZKCheckedEphemeral", "kafka.utils.ZkUtils"),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Session has expired while creating /brokers/ids/1 (kafka.utils.ZKCheckedEphemeral)",
                {"event": "session-expired"},
                "source: 0.10.2 ZkUtils",
            ),
        ),
    ),
    Pattern(
        name="broker-session-renewed",
        event="session-expired",
        literal="re-registering broker info in ZK for broker ",
        regex=r"re-registering broker info in ZK for broker (?P<node>\d+)",
        versions=("0.8.2", "1.0"),
        loggers=_HEALTHCHECK,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO re-registering broker info in ZK for broker 1"
                " (kafka.server.KafkaHealthcheck$SessionExpireListener)",
                {"node": 1},
                "source: 0.10.2 KafkaHealthcheck",
            ),
        ),
        note="The session has expired, and a new session begins here. Until 0.10.2, server.log has no other line about it.",
    ),
)

_FAULTS = ("org.apache.kafka.server.fault.ProcessTerminatingFaultHandler", "org.apache.kafka.server.fault.LoggingFaultHandler")

_DEATHS: tuple[Pattern, ...] = (
    Pattern(
        name="thread-died",
        event="fatal-error",
        literal="Error due to",
        regex=r"Error due to ?" + EXCEPTION,
        explode=with_exception,
        multiline=True,
        inner=True,
        versions=("0.8.2", "4.4"),
        fixed={"reason": "thread"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error due to"
                " (kafka.server.ReplicaFetcherThread)",
                {"node": 1, "reason": "thread"},
                "source: 2.8 ShutdownableThread",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [kafka-log-cleaner-thread-0], Error due to  (kafka.log.LogCleaner)",
                {"reason": "thread"},
                "source: 0.10.2 ShutdownableThread",
            ),
        ),
        note="A thread ends. The logger names the thread, and the exception after the line is the reason.",
    ),
    Pattern(
        name="thread-uncaught",
        event="fatal-error",
        literal="Uncaught exception in ",
        regex=r"Uncaught exception in (?:thread '(?P<value>[^\n]*?)':|(?P<value>[^\n]*?): ?)" + EXCEPTION,
        explode=with_exception,
        multiline=True,
        inner=True,
        versions=("0.8.2", "4.4"),
        fixed={"reason": "thread"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Uncaught exception in thread 'kafka-request-handler-3':"
                " (org.apache.kafka.common.utils.KafkaThread)",
                {"value": "kafka-request-handler-3", "reason": "thread"},
                "source: 2.8 KafkaThread",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Uncaught exception in kafka-network-thread-1-PLAINTEXT-0: "
                " (org.apache.kafka.common.utils.KafkaThread)",
                {"reason": "thread"},
                "source: 0.10.2 KafkaThread",
            ),
        ),
    ),
    Pattern(
        name="process-exiting",
        event="fatal-error",
        literal="ing Kafka",
        regex=r"(?:Exiting Kafka(?:\.| due to fatal exception(?: during startup\.)?)|Halting Kafka\.)" + EXCEPTION,
        explode=with_exception,
        multiline=True,
        inner=True,
        versions=("0.11.0", "4.4"),
        fixed={"reason": "process"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Exiting Kafka due to fatal exception during startup. (kafka.Kafka$)",
                {"reason": "process"},
                "source: 3.3 Kafka",
            ),
        ),
    ),
    Pattern(
        name="process-fatal",
        event="fatal-error",
        literal="Fatal error during ",
        regex=r"Fatal error during (?P<value>(?:KafkaServer\w*|broker|controller) (?:startup|shutdown))(?:\.[^\n]*)?" + EXCEPTION,
        explode=with_exception,
        multiline=True,
        inner=True,
        versions=("0.8.2", "4.4"),
        fixed={"reason": "process"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [KafkaServer id=1] Fatal error during KafkaServer startup. Prepare to shutdown"
                " (kafka.server.KafkaServer)\norg.apache.kafka.common.KafkaException: Socket server failed to bind to 0.0.0.0:9092: Address"
                " already in use.\n\tat kafka.network.Acceptor.openServerSocket(SocketServer.scala:667)\nCaused by: java.net.BindException:"
                " Address already in use\n\t... 13 more",
                {
                    "node": 1,
                    "value": "KafkaServer startup",
                    "reason": "process",
                    "key": "org.apache.kafka.common.KafkaException: Socket server failed to bind to 0.0.0.0:9092: Address already in use.;"
                    " Caused by: java.net.BindException: Address already in use",
                },
                "source: 2.8 KafkaServer",
            ),
        ),
    ),
    Pattern(
        name="process-locked-out",
        event="fatal-error",
        literal="Failed to acquire lock on file ",
        regex=r"(?:Exception in thread \"[^\"]*\" )?(?:Caused by: )?(?:[\w.$]+: )?Failed to acquire lock on file \S+ in (?P<directory>.*)\."
        r" A Kafka instance in another process or thread is using this directory\.",
        versions=("0.8.0", "4.4"),
        fixed={"reason": "locked"},
        samples=(
            Sample(
                "org.apache.kafka.common.KafkaException: Failed to acquire lock on file .lock in /data/k1. A Kafka instance in another"
                " process or thread is using this directory.",
                {"directory": "/data/k1", "reason": "locked"},
                "source: 2.7 LogManager",
            ),
        ),
        note="The operating system releases the lock when a process ends, so another process of the broker is still running.",
    ),
    Pattern(
        name="process-fatal-unnamed",
        event="fatal-error",
        literal="(kafka.Kafka$)",
        regex=EXCEPTION,
        explode=with_exception,
        multiline=True,
        inner=True,
        versions=("0.8.0", "1.0"),
        loggers=("kafka.Kafka$",),
        fixed={"reason": "process"},
        samples=(Sample("[2014-01-14 12:00:00,123] FATAL  (kafka.Kafka$)", {"reason": "process"}, "source: 1.0 Kafka"),),
        note="Logging.fatal without a message: the process ends because of the exception after the line.",
    ),
    Pattern(
        name="process-start-given-up",
        event="fatal-error",
        literal=" while waiting for ",
        regex=r"(?:Received a fatal error|Timed out) while waiting for (?P<value>.*)",
        versions=("3.4", "4.4"),
        loggers=(*_BROKER, *_CONTROLLER_SERVER, *_SHARED),
        fixed={"reason": "process"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [BrokerServer id=3] Received a fatal error while waiting for the controller to acknowledge"
                " that we are caught up (kafka.server.BrokerServer)",
                {"node": 3, "reason": "process", "value": "the controller to acknowledge that we are caught up"},
                "source: 3.8 FutureUtils",
            ),
        ),
    ),
    Pattern(
        name="process-metadata-unread",
        event="fatal-error",
        literal="Encountered an exception when waiting to catch up with KRaft metadata log",
        regex=r"Encountered an exception when waiting to catch up with KRaft metadata log",
        versions=("3.4", "3.9"),
        loggers=_SERVER,
        fixed={"reason": "process"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [KafkaServer id=1] Encountered an exception when waiting to catch up with KRaft metadata"
                " log (kafka.server.KafkaServer)",
                {"node": 1, "reason": "process"},
                "source: 3.5 KafkaServer",
            ),
        ),
    ),
    Pattern(
        name="process-unshared",
        event="fatal-error",
        literal="SharedServer)",
        regex=r"Got exception while starting SharedServer|Unable to install metadata publishers\.?",
        versions=("3.4", "4.4"),
        loggers=_SHARED,
        fixed={"reason": "process"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [SharedServer id=1] Got exception while starting SharedServer (kafka.server.SharedServer)",
                {"node": 1, "reason": "process"},
                "source: 3.9 SharedServer",
            ),
        ),
    ),
    Pattern(
        name="thread-exit",
        event="fatal-error",
        literal="Stopped due to fatal error with exit code ",
        regex=r"Stopped due to fatal error with exit code (?P<value>\d+)",
        versions=("4.1", "4.4"),
        fixed={"reason": "process"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Stopped due to fatal error with exit"
                " code 1 (kafka.server.ReplicaFetcherThread)",
                {"node": 1, "value": "1"},
                "source: 4.1 ShutdownableThread",
            ),
        ),
    ),
    Pattern(
        name="process-fault",
        event="fatal-error",
        literal=" fault: ",
        regex=r"Encountered (?P<reason>[^\n]*?) ?fault: (?P<value>[^\n]*)" + EXCEPTION,
        explode=with_exception,
        multiline=True,
        inner=True,
        versions=("3.3", "4.4"),
        loggers=_FAULTS,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Encountered fatal fault: Error starting LogManager"
                " (org.apache.kafka.server.fault.ProcessTerminatingFaultHandler)",
                {"reason": "fatal", "value": "Error starting LogManager"},
                "source: 3.9 ProcessTerminatingFaultHandler",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Encountered metadata publishing fault: Error deleting stray partitions"
                " (org.apache.kafka.server.fault.LoggingFaultHandler)",
                {"reason": "metadata publishing", "value": "Error deleting stray partitions"},
                "source: 3.9 LoggingFaultHandler",
            ),
        ),
        note="Only a fault called 'fatal' ends the process; other faults are logged and counted.",
    ),
    Pattern(
        name="process-unregistered",
        event="fatal-error",
        literal="Shutting down because ",
        regex=r"Shutting down because (?:we were unable to register with the controller quorum\.|couldn't communicate offline log dir"
        r" (?P<directory>.*) with controllers)",
        versions=("2.8", "4.4"),
        loggers=_LIFECYCLE,
        fixed={"reason": "process"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [BrokerLifecycleManager id=1] Shutting down because couldn't communicate offline log dir"
                " BTKAL8inuuOgzFARJXZJfg with controllers (kafka.server.BrokerLifecycleManager)",
                {"node": 1, "directory": "BTKAL8inuuOgzFARJXZJfg"},
                "source: 3.8 BrokerLifecycleManager",
            ),
        ),
    ),
)


PATTERNS: tuple[Pattern, ...] = (
    *_LIFE,
    *_REGISTRATION,
    *_DEATHS,
)
