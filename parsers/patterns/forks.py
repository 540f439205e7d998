"""Lines of forks that Apache Kafka does not print: LinkedIn's fork, and Confluent Server with its tiered logs.

Here: their truncations, unclean elections, fetch errors and log starts. Not here: lines that Apache Kafka prints as well, even with
another prefix (`[MergedLog partition=…, dir=…] `; the module of the component). Sources: LinkedIn's branches 2.0-li and 2.4-li and its pull requests 99
(KAFKA-10751), 11, 52 and 534; Confluent's kafka.log.MergedLog as once published.
"""

from __future__ import annotations

from parsers.patterns.loading import log_start_moved
from parsers.patterns.pattern import TP, Pattern, Sample

_LOG = ("kafka.log.Log", "kafka.log.UnifiedLog", "kafka.log.LocalLog")
_MERGED = ("kafka.log.MergedLog",)

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="linkedin-truncated",
        event="truncation",
        literal=" from the log end offset ",
        regex=r"Truncated to offset (?P<offset>(?P<log_end_offset>\d+)) from the log end offset (?P<previous_offset>\d+) with"
        r" (?P<count>\d+) messages and (?P<bytes>\d+) bytes truncated",
        versions=("2.4", "3.0"),
        loggers=_LOG,
        samples=(
            # LinkedIn's 2.4-li, core/src/main/scala/kafka/log/Log.scala
            Sample(
                "[2024-05-01 12:00:00,123] WARN [Log partition=orders-0, dir=/data] Truncated to offset 267 from the log end offset 298"
                " with 31 messages and 4711 bytes truncated (kafka.log.Log)",
                {
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/data",
                    "offset": 267,
                    "log_end_offset": 267,
                    "previous_offset": 298,
                    "count": 31,
                    "bytes": 4711,
                },
                "source: 2.4 Log (LinkedIn)",
            ),
        ),
        note="Shows how much an unclean election lost (KAFKA-10751). Follows Kafka's own line, which lacks the old log end offset.",
    ),
    Pattern(
        name="linkedin-leader-truncated",
        event="truncation",
        literal=" performed a truncation on topicPartition=",
        regex=rf"Partition leader brokerId=(?P<node>(?P<leader>\d+)) performed a truncation on topicPartition={TP} during"
        r" leaderEpoch=(?P<leader_epoch>-?\d+) with operation=(?P<reason>\w+) and targetOffset=(?P<offset>\d+)\."
        r" The previousLogEndOffset=(?P<previous_offset>\d+) and the newLogEndOffset=(?P<log_end_offset>\d+), resulting in"
        r" messagesRemoved=(?P<count>\d+)\.(?: .*)?",
        versions=("3.0", "3.0"),
        samples=(
            # LinkedIn's pull request 534, core/src/main/scala/kafka/cluster/Partition.scala
            Sample(
                "[2024-05-01 12:00:00,123] WARN [Partition orders-0 broker=2] Partition leader brokerId=2 performed a truncation on"
                " topicPartition=orders-0 during leaderEpoch=7 with operation=truncateTo and targetOffset=267. The"
                " previousLogEndOffset=298 and the newLogEndOffset=267, resulting in messagesRemoved=31. (kafka.cluster.Partition)",
                {
                    "node": 2,
                    "leader": 2,
                    "topic": "orders",
                    "partition": 0,
                    "leader_epoch": 7,
                    "reason": "truncateTo",
                    "offset": 267,
                    "previous_offset": 298,
                    "log_end_offset": 267,
                    "count": 31,
                },
                "source: 3.0 Partition (LinkedIn)",
            ),
        ),
        note="In the protocol a leader never truncates, so removed records are lost unless another replica has them.",
    ),
    Pattern(
        name="linkedin-unclean-election",
        event="unclean-election-said",
        literal="Unclean leader election. Partition ",
        regex=rf"Unclean leader election\. Partition {TP} has been assigned leader (?P<leader>-?\d+) from deposed leader"
        r" (?P<previous_leader>-?\d+)\.",
        versions=("2.0", "3.0"),
        samples=(
            # LinkedIn's 2.4-li, core/src/main/scala/kafka/controller/Election.scala
            Sample(
                "[2024-05-01 12:00:00,123] WARN Unclean leader election. Partition orders-0 has been assigned leader 3 from deposed leader"
                " -1. (kafka.controller.Election$)",
                {"topic": "orders", "partition": 0, "leader": 3, "previous_leader": -1},
                "source: 2.4 Election (LinkedIn)",
            ),
            # LinkedIn's 2.0-li, core/src/main/scala/kafka/controller/PartitionStateMachine.scala
            Sample(
                "[2024-05-01 12:00:00,123] WARN [PartitionStateMachine controllerId=1] Unclean leader election. Partition orders-0 has been"
                " assigned leader 3 from deposed leader 2. (kafka.controller.PartitionStateMachine)",
                {"node": 1, "topic": "orders", "partition": 0, "leader": 3, "previous_leader": 2},
                "source: 2.0 PartitionStateMachine (LinkedIn)",
            ),
        ),
        note="Apache Kafka's ZooKeeper controllers do not report this from 1.1 on.",
    ),
    Pattern(
        name="linkedin-leader-without-partition",
        event="fetch-error",
        literal="Remote broker does not host the partition ",
        regex=rf"Remote broker does not host the partition {TP}, which could indicate that the partition is being created or deleted\.",
        versions=("2.4", "3.0"),
        fixed={"reason": "UNKNOWN_TOPIC_OR_PARTITION"},
        samples=(
            # LinkedIn's 2.4-li, core/src/main/scala/kafka/server/AbstractFetcherThread.scala
            Sample(
                "[2024-05-01 12:00:00,123] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Remote broker does not host the"
                " partition orders-0, which could indicate that the partition is being created or deleted."
                " (kafka.server.AsyncReplicaFetcher)",
                {"node": 1, "broker": 2, "topic": "orders", "partition": 0, "reason": "UNKNOWN_TOPIC_OR_PARTITION"},
                "source: 2.4 AbstractFetcherThread (LinkedIn)",
            ),
        ),
    ),
    Pattern(
        name="confluent-log-start-moved",
        event="log-start-move",
        literal="Incrementing merged log start offset to ",
        regex=r"Incrementing merged log start offset to (?P<offset>(?P<log_start_offset>\d+))(?: due to (?P<reason>.*))?",
        versions=("2.4", "4.4"),
        loggers=_MERGED,
        explode=log_start_moved,
        samples=(
            # Confluent's core/src/main/scala/kafka/log/MergedLog.scala
            Sample(
                "[2024-05-01 12:00:00,123] INFO [MergedLog partition=orders-0, dir=/data] Incrementing merged log start offset to 350"
                " (kafka.log.MergedLog)",
                {"topic": "orders", "partition": 0, "directory": "/data", "offset": 350, "log_start_offset": 350},
                "source: 2.4 MergedLog (Confluent)",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [MergedLog partition=orders-0, dir=/data] Incrementing merged log start offset to 350 due"
                " to segment deletion (kafka.log.MergedLog)",
                {"topic": "orders", "partition": 0, "log_start_offset": 350, "reason": "retention"},
                "source: 3.4 MergedLog (Confluent)",
            ),
        ),
    ),
    Pattern(
        name="confluent-tier-restored",
        event="truncation",
        literal="restoring tier state for ",
        regex=rf"restoring tier state for {TP} at proposed offset (?P<offset>(?P<log_end_offset>\d+))",
        versions=("2.4", "4.4"),
        loggers=_MERGED,
        fixed={"reason": "start"},
        samples=(
            # Confluent's core/src/main/scala/kafka/log/MergedLog.scala
            Sample(
                "[2024-05-01 12:00:00,123] INFO [MergedLog partition=orders-0, dir=/data] restoring tier state for orders-0 at proposed"
                " offset 350 (kafka.log.MergedLog)",
                {"topic": "orders", "partition": 0, "directory": "/data", "offset": 350, "log_end_offset": 350, "reason": "start"},
                "source: 2.4 MergedLog (Confluent)",
            ),
        ),
        note="The follower starts again at the offset up to which its leader's records are in tiered storage.",
    ),
)
