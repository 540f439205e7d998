"""Whether a broker, its data and its cluster belong together: cluster ids, broker ids, topic ids, and data that ZooKeeper lost.

Here: ids that a process was given, refusals because two ids differ, and missing znodes. Not here: the files that hold the ids
(parsers.formats.properties), registrations and sessions (brokers), topic ids as such (kraft, leadership).

Most lines are text of exceptions, which begins no record.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.patterns.pattern import IDS, TOPIC, TP, WITHIN, Pattern, Sample
from parsers.schemas import Row

_THROWN = r'(?:Exception in thread "[^"]*" )?(?:Caused by: )?(?:[\w.$]+: )?'
_ID = r"(?:Some\(|Optional\[)?(?P<{}>[\w-]+)[)\]]?"
_CONTROLLER = ("org.apache.kafka.controller.QuorumController",)
_LIFECYCLE = ("kafka.server.BrokerLifecycleManager", "org.apache.kafka.server.BrokerLifecycleManager")
_RAFT = ("org.apache.kafka.raft.KafkaRaftClient",)
_ZK_NODES = ("kafka.zk.KafkaZkClient", "kafka.zk.KafkaZkClient$CheckedEphemeral")
_NEEDED = (
    rf"(?P<value>/(?:[\w.-]+/)*?(?:brokers/topics/(?P<topic>{TOPIC})/partitions/(?P<partition>\d+)(?:/\S*)?"
    r"|(?:brokers|config|cluster|controller_epoch)(?:/\S*)?))"
)
"""A znode that Kafka never deletes, below any chroot; those of /admin and /controller are temporary."""


def _if_unexpected(row: Row) -> Iterator[Row]:
    """The row, unless it is printed below WARN: then Kafka expected that the znode may be missing."""
    if row.get("level") not in ("INFO", "DEBUG", "TRACE"):
        yield row


def _and_mode(row: Row) -> Iterator[Row]:
    """The id of the cluster, and that the controller is there to migrate it (KIP-866)."""
    yield row
    if row["_groups"]["_migrating"]:
        yield {**row, "event": "migration-step", "key": None, "value": None, "reason": "enabled"}


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="cluster-id-of-controller",
        event="config",
        literal="Creating new QuorumController with clusterId ",
        regex=r"Creating new QuorumController with clusterId (?P<value>[\w-]+)(?:[,. ].*?)?(?P<_migrating> ZK migration mode is enabled\..*)?",
        versions=("3.3", "4.4"),
        loggers=_CONTROLLER,
        fixed={"key": "cluster.id"},
        explode=_and_mode,
        samples=(
            Sample(
                "[2026-11-21 02:11:17,700] INFO [QuorumController id=100] Creating new QuorumController with clusterId"
                " 7Pvf_hjyTn6fyf84WCs5ZA. (org.apache.kafka.controller.QuorumController)",
                {"node": 100, "key": "cluster.id", "value": "7Pvf_hjyTn6fyf84WCs5ZA"},
                "source: 3.9 QuorumController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 100] Creating new QuorumController with clusterId 7Pvf_hjyTn6fyf84WCs5ZA,"
                " authorizer Optional.empty. (org.apache.kafka.controller.QuorumController)",
                {"node": 100, "key": "cluster.id", "value": "7Pvf_hjyTn6fyf84WCs5ZA"},
                "source: 3.3 QuorumController",
            ),
        ),
    ),
    Pattern(
        name="directory-unnamed",
        event="log-directory-new",
        literal="No meta.properties file ",
        regex=rf"No meta\.properties file (?:under dir {WITHIN}meta\.properties|found in (?P<directory>.*)\.)",
        versions=("0.9.0", "4.4"),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN No meta.properties file under dir /data/k/meta.properties"
                " (kafka.server.BrokerMetadataCheckpoint)",
                {"directory": "/data/k"},
                "source: 2.8 BrokerMetadataCheckpoint",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO No meta.properties file found in /data/k. (kafka.log.LogManager)",
                {"directory": "/data/k"},
                "source: 3.8 LogManager",
            ),
        ),
        note="Normal at the first start of a broker. Later it means that the disk was emptied or replaced.",
    ),
    Pattern(
        name="cluster-id-differs",
        event="cluster-id-mismatch",
        literal=" doesn't match stored clusterId ",
        regex=rf"{_THROWN}The Cluster ID {_ID.format('value')} doesn't match stored clusterId {_ID.format('reason')} in meta\.properties\..*",
        versions=("2.4", "3.9"),
        samples=(
            Sample(
                "kafka.common.InconsistentClusterIdException: The Cluster ID 8d9m_bTrRiCpwmRarvC_0w doesn't match stored clusterId"
                " Some(7Pvf_hjyTn6fyf84WCs5ZA) in meta.properties. The broker is trying to join the wrong cluster. Configured"
                " zookeeper.connect may be wrong.",
                {"value": "8d9m_bTrRiCpwmRarvC_0w", "reason": "7Pvf_hjyTn6fyf84WCs5ZA"},
                "source: 2.4 KafkaServer",
            ),
        ),
        note="ZooKeeper was emptied or replaced: a broker that finds no /cluster/id creates it. Earlier versions joined without a check.",
    ),
    Pattern(
        name="cluster-id-of-directory-differs",
        event="cluster-id-mismatch",
        literal="Invalid cluster.id in: ",
        regex=rf"{_THROWN}Invalid cluster\.id in: {WITHIN}meta\.properties\. Expected (?P<value>[\w-]+), but read (?P<reason>[\w-]+)",
        versions=("3.7", "4.4"),
        samples=(
            Sample(
                "java.lang.RuntimeException: Invalid cluster.id in: /data/k/meta.properties. Expected 8d9m_bTrRiCpwmRarvC_0w, but read"
                " 7Pvf_hjyTn6fyf84WCs5ZA",
                {"directory": "/data/k", "value": "8d9m_bTrRiCpwmRarvC_0w", "reason": "7Pvf_hjyTn6fyf84WCs5ZA"},
                "source: 3.7 MetaPropertiesEnsemble",
            ),
        ),
        note="The expected id is that of ZooKeeper; in KRaft, that of the log directory that was read first.",
    ),
    Pattern(
        name="cluster-id-refused",
        event="cluster-id-mismatch",
        literal="InconsistentClusterIdException",
        regex=r"(?:[^:]+: (?:event )?failed with InconsistentClusterIdException\b|"
        rf"{_THROWN}org\.apache\.kafka\.common\.errors\.InconsistentClusterIdException: Expected)"
        r"(?:.*?cluster ID (?P<value>[\w-]+), but got cluster ID (?P<reason>[\w-]+).*|.*)",
        versions=("3.0", "4.4"),
        fixed={"key": "registration"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=100] registerBroker: event failed with InconsistentClusterIdException"
                " in 115 microseconds. Exception message: Expected cluster ID 8d9m_bTrRiCpwmRarvC_0w, but got cluster ID"
                " 7Pvf_hjyTn6fyf84WCs5ZA (org.apache.kafka.controller.QuorumController)",
                {"node": 100, "value": "8d9m_bTrRiCpwmRarvC_0w", "reason": "7Pvf_hjyTn6fyf84WCs5ZA"},
                "source: 3.9 QuorumController",
            ),
            Sample(
                "org.apache.kafka.common.errors.InconsistentClusterIdException: Expected cluster ID 8d9m_bTrRiCpwmRarvC_0w, but got"
                " cluster ID 7Pvf_hjyTn6fyf84WCs5ZA",
                {"value": "8d9m_bTrRiCpwmRarvC_0w", "reason": "7Pvf_hjyTn6fyf84WCs5ZA"},
                "source: 3.3 ClusterControlManager",
            ),
        ),
        note="Printed by the controller when a broker with data of another cluster tries to register.",
    ),
    Pattern(
        name="cluster-id-refused-to-broker",
        event="cluster-id-mismatch",
        literal="INCONSISTENT_CLUSTER_ID",
        regex=r"Unable to register (?:the )?broker .*INCONSISTENT_CLUSTER_ID.*|Unexpected error INCONSISTENT_CLUSTER_ID in .* response: .*",
        versions=("2.8", "4.4"),
        loggers=(*_LIFECYCLE, *_RAFT),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [BrokerLifecycleManager id=2] Unable to register broker 2 because the controller returned"
                " error INCONSISTENT_CLUSTER_ID (kafka.server.BrokerLifecycleManager)",
                {"node": 2, "value": None},
                "source: 3.9 BrokerLifecycleManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [RaftManager id=2] Unexpected error INCONSISTENT_CLUSTER_ID in FETCH response:"
                " InboundResponse(correlationId=3) (org.apache.kafka.raft.KafkaRaftClient)",
                {"node": 2, "value": None},
                "source: 3.9 KafkaRaftClient",
            ),
        ),
    ),
    Pattern(
        name="broker-id-differs",
        event="broker-id-mismatch",
        literal=" doesn't match ",
        regex=rf"{_THROWN}(?:Configured (?:broker|node)\.id [`']?(?P<value>-?\d+)[`']? doesn't match stored (?:broker|node)\.id [`']?"
        r"(?:Some\()?(?P<reason>-?\d+)\)?[`']? in meta\.properties\..*"
        rf"|Stored node id (?P<reason>\d+) doesn't match previous node id (?P<value>\d+) in {WITHIN}meta\.properties\..*)",
        versions=("0.9.0", "4.4"),
        samples=(
            Sample(
                "kafka.common.InconsistentBrokerIdException: Configured broker.id 1 doesn't match stored broker.id 0 in meta.properties. If"
                " you moved your data, make sure your configured broker.id matches. If you intend to create a new broker, you should"
                " remove all data in your data directories (log.dirs).",
                {"value": "1", "reason": "0"},
                "source: 2.4 KafkaServer",
            ),
            Sample(
                "kafka.common.InconsistentBrokerIdException: Configured broker.id 1 doesn't match stored broker.id Some(0) in"
                " meta.properties. If you moved your data, make sure your configured broker.id matches. If you intend to create a new"
                " broker, you should remove all data in your data directories (log.dirs).",
                {"value": "1", "reason": "0"},
                "source: 2.8 KafkaServer",
            ),
            Sample(
                "kafka.common.InconsistentNodeIdException: Configured node.id `1` doesn't match stored node.id `2' in meta.properties. If"
                " you moved your data, make sure your configured controller.id matches. If you intend to create a new broker, you should"
                " remove all data in your data directories (log.dirs).",
                {"value": "1", "reason": "2"},
                "source: 3.3 KafkaRaftServer",
            ),
            Sample(
                "java.lang.RuntimeException: Stored node id 2 doesn't match previous node id 1 in /data/k/meta.properties. If you moved your"
                " data, make sure your configured node id matches. If you intend to create a new node, you should remove all data in your"
                " data directories.",
                {"value": "1", "reason": "2", "directory": "/data/k"},
                "source: 3.7 MetaPropertiesEnsemble",
            ),
        ),
    ),
    Pattern(
        name="broker-ids-of-directories-differ",
        event="broker-id-mismatch",
        literal="Failed to match broker.id across log.dirs.",
        regex=rf"{_THROWN}Failed to match broker\.id across log\.dirs\. .* Found (?P<brokers>{IDS})",
        versions=("0.9.0", "2.3"),
        samples=(
            Sample(
                "kafka.common.InconsistentBrokerIdException: Failed to match broker.id across log.dirs. This could happen if multiple"
                " brokers shared a log directory (log.dirs) or partial data was manually copied from another broker. Found Set(0, 1)",
                {"brokers": [0, 1], "value": None},
                "source: 1.1 KafkaServer",
            ),
        ),
    ),
    Pattern(
        name="topic-id-of-log-differs",
        event="topic-id-mismatch",
        literal="but log already contained topic ID ",
        regex=rf"{_THROWN}Tried to assign topic ID (?P<value>(?P<topic_id>[\w-]{{22}})) to log for topic partition {TP},\s?but log already"
        rf" contained topic ID {_ID.format('reason')}",
        versions=("2.8", "4.4"),
        samples=(
            Sample(
                "org.apache.kafka.common.errors.InconsistentTopicIdException: Tried to assign topic ID 8PPfwVtMQ_y0AfH5M2MHcA to log for"
                " topic partition orders-0,but log already contained topic ID _n8nZ4sJR5emhIbMqnlmZA",
                {
                    "topic": "orders",
                    "partition": 0,
                    "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA",
                    "value": "8PPfwVtMQ_y0AfH5M2MHcA",
                    "reason": "_n8nZ4sJR5emhIbMqnlmZA",
                },
                "source: 3.3 UnifiedLog",
            ),
        ),
    ),
    Pattern(
        name="znode-not-there",
        event="znode-missing",
        literal="KeeperErrorCode = NoNode for ",
        regex=r"(?:Caused by: |Conditional update of path .* failed due to )?org\.apache\.zookeeper\.KeeperException\$NoNodeException:"
        rf" KeeperErrorCode = NoNode for {_NEEDED}",
        versions=("0.8.0", "3.9"),
        fixed={"reason": "no-node"},
        explode=_if_unexpected,
        samples=(
            Sample(
                "org.apache.zookeeper.KeeperException$NoNodeException: KeeperErrorCode = NoNode for /controller_epoch",
                {"value": "/controller_epoch", "topic": None, "reason": "no-node"},
                "source: 2.8 ZooKeeperClient",
            ),
            Sample(
                "[2020-01-01 00:00:00,000] WARN Conditional update of path /brokers/topics/orders/partitions/0/state with data"
                ' {"controller_epoch":3,"leader":1,"version":1,"leader_epoch":2,"isr":[1]} and expected version 4 failed due to'
                " org.apache.zookeeper.KeeperException$NoNodeException: KeeperErrorCode = NoNode for"
                " /brokers/topics/orders/partitions/0/state (kafka.utils.ZkUtils)",
                {"value": "/brokers/topics/orders/partitions/0/state", "topic": "orders", "partition": 0},
                "source: 0.10.2 ZkUtils",
            ),
        ),
        note="Normal after the deletion of a topic. ZkClient repeats the exception; only ZooKeeper's is read.",
    ),
    Pattern(
        name="znode-epoch-created",
        event="znode-missing",
        literal="Successfully created /controller_epoch with initial epoch ",
        regex=r"Successfully created (?P<value>/controller_epoch) with initial epoch (?P<controller_epoch>\d+)",
        versions=("2.1", "3.9"),
        loggers=_ZK_NODES,
        fixed={"reason": "created"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO Successfully created /controller_epoch with initial epoch 0 (kafka.zk.KafkaZkClient)",
                {"value": "/controller_epoch", "controller_epoch": 0, "reason": "created"},
                "source: 2.8 KafkaZkClient",
            ),
        ),
        note="Happens once in a cluster; a second time, ZooKeeper lost all its data.",
    ),
)
