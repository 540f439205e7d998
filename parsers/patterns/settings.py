"""Changes of settings at run time, as brokers and controllers print them (KIP-226 and, for topics, since 0.8.2).

Here: ConfigRecords that the KRaft controller replays, overrides that brokers take from ZooKeeper or from the metadata log, and changes
written by the admin manager of a ZooKeeper broker. Not here: settings at the start of a broker (brokers), settings of a new topic (topics).
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.masking import masked
from parsers.patterns.pattern import SETTING, TOPIC, Pattern, Sample
from parsers.schemas import Row

_CONFIGURATION = ("org.apache.kafka.controller.ConfigurationControlManager",)
_PUBLISHERS = (
    "kafka.server.metadata.DynamicConfigPublisher",
    "kafka.server.metadata.BrokerMetadataPublisher",
    "kafka.server.ZkAdminManager",
    "org.apache.kafka.metadata.publisher.DynamicConfigPublisher",
)
_HANDLERS = ("kafka.server.DynamicConfigManager", "kafka.server.ZkConfigManager")


def _source(row: Row) -> str:
    """The origin of the setting, as Kafka's ConfigSource names it."""
    if row.get("topic") is not None:
        return "DYNAMIC_TOPIC_CONFIG"
    return "DYNAMIC_BROKER_CONFIG" if row.get("broker") is not None else "DYNAMIC_DEFAULT_BROKER_CONFIG"


def _one_setting(row: Row) -> Iterator[Row]:
    yield {**row, "reason": _source(row)}


def _all_settings(row: Row) -> Iterator[Row]:
    """Every setting of the line, then a row without key that names all of them: other settings are not set any more."""
    matches = list(SETTING.finditer(row["_groups"]["_settings"]))
    setting = {**row, "reason": _source(row)}
    for match in matches:
        yield {**setting, "key": match["key"], "value": masked(match["key"], match["value"])}
    yield {**setting, "value": ",".join(match["key"] for match in matches), "count": len(matches)}


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="kraft-config-record",
        event="config",
        literal=" set configuration ",
        regex=r"(?:Replayed ConfigRecord for )?ConfigResource\(type=(?:TOPIC, name='(?P<topic>"
        + TOPIC
        + r")'|BROKER, name='(?P<broker>\d+)?')\)(?: which|:) set configuration (?P<key>\S+) to (?P<value>.*)",
        versions=("2.8", "4.4"),
        loggers=_CONFIGURATION,
        explode=_one_setting,
        samples=(
            Sample(
                "[2026-11-21 01:55:09,030] INFO [QuorumController id=100] Replayed ConfigRecord for ConfigResource(type=TOPIC,"
                " name='orders') which"
                " set configuration unclean.leader.election.enable to true (org.apache.kafka.controller.ConfigurationControlManager)",
                {"topic": "orders", "key": "unclean.leader.election.enable", "value": "true", "reason": "DYNAMIC_TOPIC_CONFIG"},
                "real: unclean-election-3.9.1-kraft",
            ),
            Sample(
                "[2026-11-21 07:43:18,412] INFO [QuorumController id=100] Replayed ConfigRecord for ConfigResource(type=BROKER, name='1')"
                " which set configuration leader.replication.throttled.rate to [hidden]"
                " (org.apache.kafka.controller.ConfigurationControlManager)",
                {"node": 100, "broker": 1, "key": "leader.replication.throttled.rate", "value": "[hidden]"},
                "real: kafka-configs and kafka-reassign-partitions against 3.9.1",
            ),
            Sample(
                "[2026-11-21 07:43:18,412] INFO [QuorumController id=100] Replayed ConfigRecord for ConfigResource(type=BROKER, name='')"
                " which set configuration min.insync.replicas to 1 (org.apache.kafka.controller.ConfigurationControlManager)",
                {"topic": None, "broker": None, "key": "min.insync.replicas", "value": "1", "reason": "DYNAMIC_DEFAULT_BROKER_CONFIG"},
                "real: kafka-configs against 3.9.1",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] ConfigResource(type=TOPIC, name='orders'): set configuration"
                " min.insync.replicas to null (org.apache.kafka.controller.ConfigurationControlManager)",
                {"topic": "orders", "key": "min.insync.replicas", "value": "null"},
                "source: 2.8 ConfigurationControlManager",
            ),
        ),
        note="A removed setting has the value null. A controller prints values that may be secret as [hidden] (3.2 and later).",
    ),
    Pattern(
        name="config-applied",
        event="config",
        literal=" with new configuration : ",
        regex=rf"Updating (?:topic (?P<topic>{TOPIC})|(?:broker|node) (?P<broker>\d+)|brokers) with new configuration : (?P<_settings>.*)",
        versions=("2.8", "4.4"),
        loggers=_PUBLISHERS,
        explode=_all_settings,
        samples=(
            Sample(
                "[2026-11-21 03:31:42,426] INFO [DynamicConfigPublisher broker id=3] Updating topic __consumer_offsets with new"
                " configuration :"
                " compression.type -> producer,cleanup.policy -> compact,segment.bytes -> 104857600"
                " (kafka.server.metadata.DynamicConfigPublisher)",
                {"node": 3, "topic": "__consumer_offsets", "key": "cleanup.policy", "value": "compact"},
                "real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                "[2026-11-21 07:43:31,004] INFO [DynamicConfigPublisher broker id=1] Updating node 1 with new configuration :"
                " log.cleaner.threads -> 2,unclean.leader.election.enable -> true (kafka.server.metadata.DynamicConfigPublisher)",
                {"node": 1, "broker": 1, "key": "unclean.leader.election.enable", "value": "true", "reason": "DYNAMIC_BROKER_CONFIG"},
                "real: kafka-configs against 3.9.1",
            ),
            Sample(
                "[2026-11-21 07:43:40,518] INFO [DynamicConfigPublisher broker id=2] Updating topic moved with new configuration : "
                " (kafka.server.metadata.DynamicConfigPublisher)",
                {"node": 2, "topic": "moved", "key": None, "value": "", "count": 0},
                "real: kafka-reassign-partitions --verify against 3.9.1",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Admin Manager on Broker 1]: Updating brokers with new configuration :"
                " min.insync.replicas -> 2 (kafka.server.ZkAdminManager)",
                {"node": 1, "topic": None, "broker": None, "key": "min.insync.replicas", "reason": "DYNAMIC_DEFAULT_BROKER_CONFIG"},
                "source: 2.8 ZkAdminManager",
            ),
        ),
        note="Names all dynamic settings of the topic or broker. KRaft brokers also print it at their start, for the settings in the "
        "snapshot.",
    ),
    Pattern(
        name="config-applied-to-all",
        event="config",
        literal="Updating cluster configuration : ",
        regex=r"Updating cluster configuration : (?P<_settings>.*)",
        versions=("3.2", "4.4"),
        loggers=_PUBLISHERS,
        explode=_all_settings,
        samples=(
            Sample(
                "[2026-11-21 07:43:31,004] INFO [DynamicConfigPublisher broker id=2] Updating cluster configuration :"
                " min.insync.replicas -> 1 (kafka.server.metadata.DynamicConfigPublisher)",
                {"node": 2, "topic": None, "key": "min.insync.replicas", "value": "1", "reason": "DYNAMIC_DEFAULT_BROKER_CONFIG"},
                "real: kafka-configs against 3.9.1",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [DynamicConfigPublisher broker id=3] Updating cluster configuration :"
                " unclean.leader.election.enable -> true,min.insync.replicas -> 1 (kafka.server.metadata.DynamicConfigPublisher)",
                {"node": 3, "key": None, "value": "unclean.leader.election.enable,min.insync.replicas", "count": 2},
                "source: 3.9 DynamicConfigPublisher",
            ),
        ),
    ),
    Pattern(
        name="config-override",
        event="config",
        literal="Processing override for entity",
        regex=r"Processing override for entity(?:Path: |Type: )(?:topics?(?:/|, entity: )(?P<topic>"
        + TOPIC
        + r")|brokers?(?:/|, entity: )(?:(?P<broker>\d+)|<default>)) with config: (?:\w*Map\((?P<_settings>.*)\)|\{(?P<_settings>.*)\})",
        versions=("0.9.0", "3.9"),
        loggers=_HANDLERS,
        explode=_all_settings,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO Processing override for entityPath: topics/orders with config:"
                " Map(unclean.leader.election.enable -> true, min.insync.replicas -> 1) (kafka.server.DynamicConfigManager)",
                {"topic": "orders", "key": "unclean.leader.election.enable", "value": "true"},
                "source: 2.8 DynamicConfigManager",
            ),
            Sample(
                "[2026-11-21 07:44:20,118] INFO Processing override for entityPath: topics/moved with config:"
                " Map(follower.replication.throttled.replicas -> 0:2,1:2, leader.replication.throttled.replicas -> 1:1,0:1)"
                " (kafka.server.DynamicConfigManager)",
                {"topic": "moved", "key": "follower.replication.throttled.replicas", "value": "0:2,1:2"},
                "real: kafka-reassign-partitions against 2.5.1",
            ),
            Sample(
                "[2026-11-21 07:44:15,730] INFO Processing override for entityPath: brokers/<default> with config:"
                " Map(min.insync.replicas -> 1) (kafka.server.DynamicConfigManager)",
                {"topic": None, "broker": None, "key": "min.insync.replicas", "reason": "DYNAMIC_DEFAULT_BROKER_CONFIG"},
                "real: kafka-configs against 2.5.1",
            ),
            Sample(
                "[2026-11-21 07:44:25,902] INFO Processing override for entityPath: brokers/2 with config: Map()"
                " (kafka.server.DynamicConfigManager)",
                {"broker": 2, "key": None, "value": "", "count": 0},
                "real: kafka-reassign-partitions against 2.5.1",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO Processing override for entityPath: topics/orders with config: {cleanup.policy=compact,delete,"
                " min.insync.replicas=2} (kafka.server.DynamicConfigManager)",
                {"topic": "orders", "key": "min.insync.replicas", "value": "2"},
                "source: 0.10.2 DynamicConfigManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO Processing override for entityType: topics, entity: orders with config:"
                " {min.insync.replicas=2} (kafka.server.DynamicConfigManager)",
                {"topic": "orders", "key": "min.insync.replicas", "value": "2", "reason": "DYNAMIC_TOPIC_CONFIG"},
                "source: 0.9.0 DynamicConfigManager",
            ),
        ),
        note="Printed when a change is noticed, not at the start. 0.9 to 1.0 print the java.util.Properties, later versions a Scala map.",
    ),
    Pattern(
        name="config-topic-changed",
        event="config",
        literal="Processed topic config change ",
        regex=rf"Processed topic config change \d+ for topic (?P<topic>{TOPIC}), setting new config to \{{(?P<_settings>.*)\}}\.",
        versions=("0.8.2", "0.8.2"),
        loggers=("kafka.server.TopicConfigManager",),
        explode=_all_settings,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO Processed topic config change 4 for topic orders, setting new config to"
                " {min.insync.replicas=2, cleanup.policy=delete}. (kafka.server.TopicConfigManager)",
                {"topic": "orders", "key": "min.insync.replicas", "value": "2"},
                "source: 0.8.2 TopicConfigManager",
            ),
        ),
        note="The settings in the line include the broker's defaults.",
    ),
)
