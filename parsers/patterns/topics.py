"""Creation and changes of topics as brokers see them, and the ends of logs as the log cleaner prints them.

Here: creation through ZooKeeper (AdminZkClient) or automatic creation, compaction. Not here: changes of settings (settings), the
controller's view of topics (controller, kraft), deletion of a replica's directory and retention (loading).
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from parsers.patterns.controller import partitions
from parsers.patterns.pattern import SETTING, TOPIC, TP, Pattern, Sample
from parsers.schemas import Row

_INTERNAL = {"offsets": "__consumer_offsets", "transactions state": "__transaction_state"}
_TOO_FEW = regex.compile(
    rf"CreatableTopic\(name='(?P<topic>{TOPIC})',(?:(?!CreatableTopic\().)*?\): INVALID_REPLICATION_FACTOR \(Unable to replicate the partition (?P<value>\d{{1,9}}) time\(s\): "
    r"(?:The target replication factor of \d+ cannot be reached because only (?P<count>\d{1,9}) broker\(s\) are registered|All brokers are currently fenced)\."
)
_ADMIN = ("kafka.zk.AdminZkClient", "kafka.admin.AdminUtils")


def _created(row: Row) -> Iterator[Row]:
    yield row
    yield from _settings({**row, "event": "config"})


def _not_created(row: Row) -> Iterator[Row]:
    """One row for each topic that got no brokers."""
    for match in _TOO_FEW.finditer(row["_groups"]["_results"]):
        yield {**row, "topic": match["topic"], "value": match["value"], "count": int(match["count"]) if match["count"] else None}


def _internal(row: Row) -> Iterator[Row]:
    yield {**row, "topic": _INTERNAL[row["_groups"]["_which"]]}


def _settings(row: Row) -> Iterator[Row]:
    for match in SETTING.finditer(row["_groups"]["_settings"]):
        yield {**row, "key": match["key"], "value": match["value"]}


def _each_topic(row: Row) -> Iterator[Row]:
    for topic in sorted({partition["topic"] for partition in partitions(row["_groups"]["_partitions"])}):
        yield {**row, "topic": topic}


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="topic-creating",
        event="topic-created",
        literal="Creating topic ",
        regex=rf"Creating topic (?P<topic>{TOPIC}) with configuration \{{(?P<_settings>.*?)\}} and initial partition assignment .*",
        versions=("2.0", "3.9"),
        loggers=_ADMIN,
        explode=_created,
        samples=(
            Sample(
                "[2026-11-21 02:33:05,900] INFO Creating topic fast with configuration {min.insync.replicas=1,"
                " unclean.leader.election.enable=true}"
                " and initial partition assignment HashMap(0 -> ArrayBuffer(5, 4), 1 -> ArrayBuffer(1, 4)) (kafka.zk.AdminZkClient)",
                {"event": "topic-created", "topic": "fast"},
                "source: 3.5 AdminZkClient",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO Creating topic fast with configuration {cleanup.policy=compact,delete,"
                " min.insync.replicas=2}"
                " and initial partition assignment HashMap(0 -> ArrayBuffer(5, 4)) (kafka.zk.AdminZkClient)",
                {"event": "config", "topic": "fast", "key": "min.insync.replicas", "value": "2"},
                "source: 2.8 AdminZkClient",
            ),
        ),
    ),
    Pattern(
        name="topic-assignment-written",
        event="topic-created",
        literal="Topic creation ",
        regex=r"Topic creation (?P<_partitions>\w*Map\(.*\))",
        versions=("1.1", "1.1"),
        loggers=_ADMIN,
        explode=_each_topic,
        samples=(
            Sample(
                "[2026-11-21 02:25:40,044] INFO Topic creation Map(__consumer_offsets-2 -> ArrayBuffer(1, 2, 3), __consumer_offsets-1 ->"
                " ArrayBuffer(3, 1, 2), __consumer_offsets-0 -> ArrayBuffer(2, 3, 1)) (kafka.zk.AdminZkClient)",
                {"topic": "__consumer_offsets"},
                "real: acks1-failover-1.1.1-zk",
            ),
        ),
    ),
    Pattern(
        name="topic-auto-created",
        event="topic-created",
        literal="Auto creation of topic ",
        regex=rf"Auto creation of topic (?P<topic>{TOPIC}) with (?P<count>\d+) partitions and replication factor \d+ is successful!?",
        versions=("0.8.2", "2.8"),
        samples=(
            Sample(
                "[2026-11-21 02:25:40,047] INFO [KafkaApi-1] Auto creation of topic __consumer_offsets with 3 partitions and replication"
                " factor 3 is"
                " successful (kafka.server.KafkaApis)",
                {"node": 1, "topic": "__consumer_offsets", "count": 3},
                "real: acks1-failover-1.1.1-zk",
            ),
        ),
    ),
    Pattern(
        name="internal-topic-not-created",
        event="topic-not-created",
        literal=" does not meet the required replication factor ",
        regex=r"Number of alive brokers '(?P<count>\d+)' does not meet the required replication factor '(?P<value>\d+)' for the "
        r"(?P<_which>offsets|transactions state) topic \(configured via '(?P<key>[\w.]+)'\)\. .*",
        versions=("1.0", "2.7"),
        explode=_internal,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [KafkaApi-2] Number of alive brokers '2' does not meet the required replication factor '3'"
                " for the offsets topic (configured via 'offsets.topic.replication.factor'). This error can be ignored if the cluster is"
                " starting up and not all brokers are up yet. (kafka.server.KafkaApis)",
                {
                    "node": 2,
                    "topic": "__consumer_offsets",
                    "count": 2,
                    "value": "3",
                    "key": "offsets.topic.replication.factor",
                },
                "source: 2.3 KafkaApis",
            ),
        ),
        note="Printed for each request that needs the topic.",
    ),
    Pattern(
        name="topic-without-brokers",
        event="topic-not-created",
        literal=": INVALID_REPLICATION_FACTOR (Unable to replicate the partition ",
        regex=r"[cC]reateTopics result\(s\): (?P<_results>.*)",
        versions=("2.8", "4.4"),
        loggers=("org.apache.kafka.controller.ReplicationControlManager",),
        explode=_not_created,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=100] CreateTopics result(s): CreatableTopic(name='__consumer_offsets',"
                " numPartitions=50, replicationFactor=3, assignments=[], configs=[CreatableTopicConfig(name='cleanup.policy',"
                " value='compact')]): INVALID_REPLICATION_FACTOR (Unable to replicate the partition 3 time(s): The target replication factor"
                " of 3 cannot be reached because only 1 broker(s) are registered.)"
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"node": 100, "topic": "__consumer_offsets", "count": 1, "value": "3"},
                "source: 3.9 ReplicationControlManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=100] CreateTopics result(s): CreatableTopic(name='t', numPartitions=1,"
                " replicationFactor=2, assignments=[], configs=[]): INVALID_REPLICATION_FACTOR (Unable to replicate the partition 2 time(s):"
                " All brokers are currently fenced.) (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic": "t", "count": None, "value": "2"},
                "source: 3.9 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="cleaner-beyond-log-end",
        event="cleaner-checkpoint",
        literal="The last checkpoint dirty offset for partition ",
        regex=rf"The last checkpoint dirty offset for partition {TP} is (?P<previous_offset>\d+), which is larger than the log end offset"
        r" (?P<log_end_offset>\d+)\. Resetting to the log start offset (?P<offset>\d+)\.",
        versions=("2.3", "4.4"),
        fixed={"reason": "beyond-log-end"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN The last checkpoint dirty offset for partition compact-3 is 900, which is larger than the"
                " log end"
                " offset 810. Resetting to the log start offset 0. (kafka.log.LogCleanerManager$)",
                {"topic": "compact", "partition": 3, "previous_offset": 900, "log_end_offset": 810, "offset": 0},
                "source: 2.4 LogCleanerManager",
            ),
        ),
        note="The log was longer before: it was truncated, or its end was lost.",
    ),
)
