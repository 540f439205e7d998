"""Leaders and followers: the lines of state-change.log that a broker writes, and the epoch lines of kafka.cluster.Partition.

Here: leader and follower starts, the partition states sent to a broker (LeaderAndIsr, UpdateMetadata, KRaft deltas) in every
spelling, and why a broker refused to become leader or follower. Not here: what the controller writes (controller, kraft).
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.patterns.pattern import IDS, TOPIC, TP, Pattern, Sample
from parsers.schemas import Row

STATE_CHANGE = ("state.change.logger",)
TOPIC_ID = r"(?:Some\((?P<topic_id>[\w-]{22})\)|None|(?P<topic_id>[\w-]{22}))"
"""Scala's Option around the id in Leader and Skipped lines, the bare id elsewhere."""

LEADER_ISR = (
    rf"\(Leader:(?P<leader>-?\d+),ISR:(?P<isr>{IDS}),(?:LeaderRecoveryState:(?P<recovering>\w+),)?LeaderEpoch:(?P<leader_epoch>-?\d+),"
    r"(?:(?:ZkVersion|PartitionEpoch):(?P<partition_epoch>-?\d+),)?ControllerEpoch:(?P<controller_epoch>-?\d+)\)"
)
"""kafka.controller.LeaderIsrAndControllerEpoch."""
_STATE_INFO = rf"(?:\(LeaderAndIsrInfo:)?{LEADER_ISR}(?:,ReplicationFactor:\d+\),(?P<unordered>AllReplicas):(?P<replicas>{IDS})\))?"
"""LeaderIsrAndControllerEpoch alone or in kafka.api.PartitionStateInfo, whose parentheses do not balance and whose replicas are a set."""
_PARTITION_STATE = (
    rf"(?:LeaderAndIsr|UpdateMetadata)?PartitionState\((?:topicName='(?P<topic>{TOPIC})', partitionIndex=(?P<partition>\d+), )?"
    r"controllerEpoch=(?:-1|(?P<controller_epoch>\d+)), leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>-?\d+), "
    rf"isr=(?P<isr>{IDS}), (?:zkVersion|partitionEpoch)=(?P<partition_epoch>-?\d+), replicas=(?P<replicas>{IDS})"
    rf"(?:, addingReplicas=(?P<adding_replicas>{IDS}), removingReplicas=(?P<removing_replicas>{IDS}))?"
    rf"(?:, offlineReplicas={IDS})?(?:, isNew=\w+)?(?:, leaderRecoveryState=(?P<recovering>\d+))?\)"
)
"""The request's own class 0.10..2.3, the generated one 2.4..4.1; KRaft brokers print controllerEpoch=-1, which means none."""
REGISTRATION = (
    rf"PartitionRegistration\(replicas=(?P<replicas>{IDS}), (?:directories=\[[^\]]*\], )?isr=(?P<isr>{IDS}), "
    rf"removingReplicas=(?P<removing_replicas>{IDS}), addingReplicas=(?P<adding_replicas>{IDS}), "
    rf"(?:elr={IDS}, lastKnownElr={IDS}, )?leader=(?P<leader>-?\d+), (?:leaderRecoveryState=(?P<recovering>\w+), )?"
    r"leaderEpoch=(?P<leader_epoch>-?\d+), partitionEpoch=(?P<partition_epoch>-?\d+)\)"
)
"""org.apache.kafka.metadata.PartitionRegistration."""
STATE = rf"(?:{_PARTITION_STATE}|{_STATE_INFO}|{REGISTRATION})"


def _and_mismatch(row: Row) -> Iterator[Row]:
    """The refusal, and the two ids that differ: the cluster's and the log's."""
    yield row
    yield {**row, "event": "topic-id-mismatch", "value": row["topic_id"], "reason": row["_groups"]["_memory"]}


_REQUEST = r"from controller (?P<controller>-?\d+) with correlation id \d+"

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="leader-starts",
        event="leader-start",
        literal=" starts at leader epoch ",
        regex=rf"Leader {TP}(?: with topic id {TOPIC_ID})? starts at leader epoch (?P<leader_epoch>-?\d+) from offset "
        r"(?P<offset>(?P<log_end_offset>-?\d+)) with (?:partition epoch (?P<partition_epoch>-?\d+), )?high watermark "
        rf"(?P<high_watermark>-?\d+),? ISR (?P<isr>{IDS}),? adding ?[rR]eplicas (?P<adding_replicas>{IDS})(?: and)? "
        rf"removing ?[rR]eplicas (?P<removing_replicas>{IDS}) ?(?:\((?P<reason>under-min-isr)\))?\. Previous leader "
        r"(?:(?:Some\((?P<previous_leader>-?\d+)\)|None) and previous leader )?epoch was (?P<previous_leader_epoch>-?\d+)\.",
        versions=("2.6", "4.4"),
        loggers=STATE_CHANGE,
        samples=(
            Sample(
                line="[2026-11-21 02:02:40,017] INFO [Broker id=4] Leader profile-0 starts at leader epoch 1 from offset "
                "1550 with high watermark 1550 ISR [4,3,2] addingReplicas [1] removingReplicas [4]. Previous leader "
                "epoch was 0. (state.change.logger)",
                fields={
                    "node": 4,
                    "topic": "profile",
                    "partition": 0,
                    "leader_epoch": 1,
                    "offset": 1550,
                    "log_end_offset": 1550,
                    "high_watermark": 1550,
                    "isr": [4, 3, 2],
                    "adding_replicas": [1],
                    "removing_replicas": [4],
                    "previous_leader_epoch": 0,
                },
                origin="real: reassignment-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:12:08,140] INFO [Broker id=1] Leader media-1 with topic id "
                "Some(2xOT_DYASrmdUes2Dq6KLA) starts at leader epoch 1 from offset 75 with partition epoch 4, high "
                "watermark 75, ISR [1,3], adding replicas [] and removing replicas [] . Previous leader Some(2) and "
                "previous leader epoch was 0. (state.change.logger)",
                fields={
                    "node": 1,
                    "topic": "media",
                    "partition": 1,
                    "topic_id": "2xOT_DYASrmdUes2Dq6KLA",
                    "leader_epoch": 1,
                    "offset": 75,
                    "log_end_offset": 75,
                    "partition_epoch": 4,
                    "high_watermark": 75,
                    "isr": [1, 3],
                    "adding_replicas": [],
                    "removing_replicas": [],
                    "previous_leader": 2,
                    "previous_leader_epoch": 0,
                },
                origin="real: log-dir-failure-3.9.1-kraft",
            ),
            Sample(
                line="[2026-11-21 02:33:43,311] INFO [Broker id=4] Leader safe-0 with topic id "
                "Some(HB6_EBYvSd6aWbZOebccew) starts at leader epoch 2 from offset 80 with partition epoch 2, high "
                "watermark 80, ISR [4], adding replicas [] and removing replicas [] (under-min-isr). Previous leader "
                "epoch was 1. (state.change.logger)",
                fields={
                    "node": 4,
                    "topic": "safe",
                    "partition": 0,
                    "topic_id": "HB6_EBYvSd6aWbZOebccew",
                    "leader_epoch": 2,
                    "offset": 80,
                    "log_end_offset": 80,
                    "partition_epoch": 2,
                    "high_watermark": 80,
                    "isr": [4],
                    "adding_replicas": [],
                    "removing_replicas": [],
                    "reason": "under-min-isr",
                    "previous_leader_epoch": 1,
                },
                origin="real: mixed-fleet-3.5.2-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Broker id=1] Leader orders-0 with topic id None starts at leader "
                "epoch 4 from offset 100 with partition epoch 7, high watermark 90, ISR [1,2], adding replicas [] "
                "and removing replicas []. Previous leader epoch was 3. (state.change.logger)",
                fields={
                    "node": 1,
                    "topic": "orders",
                    "partition": 0,
                    "leader_epoch": 4,
                    "offset": 100,
                    "log_end_offset": 100,
                    "partition_epoch": 7,
                    "high_watermark": 90,
                    "isr": [1, 2],
                    "adding_replicas": [],
                    "removing_replicas": [],
                    "previous_leader_epoch": 3,
                },
                origin="source: 3.3 Partition",
            ),
        ),
        note="From 3.5 on there is a blank before the last full stop if (under-min-isr) is missing.",
    ),
    Pattern(
        name="leader-starts-2.4",
        event="leader-start",
        literal=" starts at leader epoch ",
        regex=rf"{TP} starts at leader epoch (?P<leader_epoch>-?\d+) from offset (?P<offset>(?P<log_end_offset>-?\d+)) "
        r"with high watermark (?P<high_watermark>-?\d+)\. Previous leader epoch was (?P<previous_leader_epoch>-?\d+)\.",
        versions=("2.4", "2.5"),
        samples=(
            Sample(
                line="[2026-11-21 02:21:53,315] INFO [Partition events-1 broker=2] events-1 starts at leader epoch 1 from "
                "offset 130 with high watermark 130. Previous leader epoch was 0. (kafka.cluster.Partition)",
                fields={
                    "topic": "events",
                    "partition": 1,
                    "node": 2,
                    "leader_epoch": 1,
                    "offset": 130,
                    "log_end_offset": 130,
                    "high_watermark": 130,
                    "previous_leader_epoch": 0,
                },
                origin="real: isr-flapping-2.4.1-zk",
            ),
        ),
    ),
    Pattern(
        name="leader-starts-0.11",
        event="leader-start",
        literal=" starts at Leader Epoch ",
        regex=rf"{TP} starts at Leader Epoch (?P<leader_epoch>-?\d+) from offset (?P<offset>(?P<log_end_offset>-?\d+))\. "
        r"Previous Leader Epoch was: (?P<previous_leader_epoch>-?\d+)",
        versions=("0.11.0", "2.3"),
        samples=(
            Sample(
                line="[2026-11-21 02:25:24,793] INFO [Partition clicks-0 broker=1] clicks-0 starts at Leader Epoch 1 from "
                "offset 300. Previous Leader Epoch was: 0 (kafka.cluster.Partition)",
                fields={
                    "topic": "clicks",
                    "partition": 0,
                    "node": 1,
                    "leader_epoch": 1,
                    "offset": 300,
                    "log_end_offset": 300,
                    "previous_leader_epoch": 0,
                },
                origin="real: acks1-failover-1.1.1-zk",
            ),
        ),
    ),
    Pattern(
        name="follower-starts",
        event="follower-start",
        literal=" starts at leader epoch ",
        regex=rf"Follower {TP} starts at leader epoch (?P<leader_epoch>-?\d+) from offset (?P<offset>(?P<log_end_offset>-?\d+)) "
        r"with (?:partition epoch (?P<partition_epoch>-?\d+) and )?high watermark (?P<high_watermark>-?\d+)\. "
        r"(?:Current leader is (?P<leader>-?\d+)\. )?"
        r"(?:Previous leader (?:Some\(-?\d+\)|None) and previous leader epoch was (?P=leader_epoch)\."
        r"|Previous leader (?:(?:Some\((?P<previous_leader>-?\d+)\)|None) and previous leader )?"
        r"epoch was (?P<previous_leader_epoch>-?\d+)\.)",
        versions=("2.6", "4.4"),
        loggers=STATE_CHANGE,
        samples=(
            Sample(
                line="[2026-11-21 02:02:40,065] INFO [Broker id=2] Follower profile-1 starts at leader epoch 1 from "
                "offset 1550 with high watermark 1540. Previous leader epoch was 0. (state.change.logger)",
                fields={
                    "node": 2,
                    "topic": "profile",
                    "partition": 1,
                    "leader_epoch": 1,
                    "offset": 1550,
                    "log_end_offset": 1550,
                    "high_watermark": 1540,
                    "previous_leader_epoch": 0,
                },
                origin="real: reassignment-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:33:29,925] INFO [Broker id=4] Follower default-ish-2 starts at leader epoch 1 from "
                "offset 54 with partition epoch 1 and high watermark 54. Current leader is 2. Previous leader epoch "
                "was 0. (state.change.logger)",
                fields={
                    "node": 4,
                    "topic": "default-ish",
                    "partition": 2,
                    "leader_epoch": 1,
                    "offset": 54,
                    "log_end_offset": 54,
                    "partition_epoch": 1,
                    "high_watermark": 54,
                    "leader": 2,
                    "previous_leader_epoch": 0,
                },
                origin="real: mixed-fleet-3.5.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:15:30,296] INFO [Broker id=3] Follower bank-1 starts at leader epoch 1 from offset "
                "190 with partition epoch 2 and high watermark 190. Current leader is -1. Previous leader Some(-1) "
                "and previous leader epoch was 1. (state.change.logger)",
                fields={
                    "node": 3,
                    "topic": "bank",
                    "partition": 1,
                    "leader_epoch": 1,
                    "offset": 190,
                    "log_end_offset": 190,
                    "partition_epoch": 2,
                    "high_watermark": 190,
                    "leader": -1,
                },
                origin="real: power-loss-divergence-3.9.1-kraft",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Broker id=3] Follower orders-0 starts at leader epoch 5 from offset "
                "80 with partition epoch 9 and high watermark 75. Current leader is 2. Previous leader Some(1) and "
                "previous leader epoch was 4. (state.change.logger)",
                fields={
                    "node": 3,
                    "topic": "orders",
                    "partition": 0,
                    "leader_epoch": 5,
                    "offset": 80,
                    "log_end_offset": 80,
                    "partition_epoch": 9,
                    "high_watermark": 75,
                    "leader": 2,
                    "previous_leader": 1,
                    "previous_leader_epoch": 4,
                },
                origin="source: 4.3 Partition",
            ),
        ),
        note="3.6 to 4.1 print the new leader and epoch as the previous ones, because they read them after overwriting them. So equal "
        "epochs leave both columns null: a follower never starts again at the same epoch.",
    ),
    Pattern(
        name="state-received",
        event="partition-state",
        literal="eceived LeaderAndIsr request ",
        regex=rf"[Rr]eceived LeaderAndIsr request (?:(?=(?P<unordered>PartitionState\([^)]* replicas=\[))|){STATE} correlation id \d+ from controller (?P<controller>-?\d+) "
        rf"epoch (?P<controller_epoch>-?\d+)(?: for partition {TP})?",
        versions=("0.8.2", "4.1"),
        loggers=STATE_CHANGE,
        fixed={"mode": "zookeeper", "reason": "received"},
        samples=(
            Sample(
                line="[2026-11-21 03:01:34,713] TRACE Broker 3 received LeaderAndIsr request "
                "PartitionState(controllerEpoch=1, leader=3, leaderEpoch=2, isr=[3], zkVersion=2, replicas=[1, 2, "
                "3]) correlation id 9 from controller 3 epoch 1 for partition [orders,0] (state.change.logger)",
                fields={
                    "node": 3,
                    "topic": "orders",
                    "partition": 0,
                    "controller_epoch": 1,
                    "leader": 3,
                    "leader_epoch": 2,
                    "isr": [3],
                    "partition_epoch": 2,
                    "replicas": [1, 2, 3],
                    "unordered": True,
                    "controller": 3,
                    "reason": "received",
                },
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:25:24,782] TRACE [Broker id=1] Received LeaderAndIsr request "
                "PartitionState(controllerEpoch=2, leader=1, leaderEpoch=1, isr=1,3, zkVersion=1, replicas=2,1,3, "
                "isNew=false) correlation id 3 from controller 1 epoch 2 for partition clicks-0 (state.change.logger)",
                fields={
                    "node": 1,
                    "topic": "clicks",
                    "partition": 0,
                    "controller_epoch": 2,
                    "leader": 1,
                    "leader_epoch": 1,
                    "isr": [1, 3],
                    "partition_epoch": 1,
                    "replicas": [2, 1, 3],
                    "unordered": None,
                    "controller": 1,
                    "reason": "received",
                },
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2026-11-21 02:21:43,010] TRACE [Broker id=1] Received LeaderAndIsr request "
                "LeaderAndIsrPartitionState(topicName='events', partitionIndex=1, controllerEpoch=1, leader=2, "
                "leaderEpoch=0, isr=[2, 1, 3], zkVersion=0, replicas=[2, 1, 3], addingReplicas=[], "
                "removingReplicas=[], isNew=true) correlation id 2 from controller 1 epoch 1 (state.change.logger)",
                fields={
                    "node": 1,
                    "topic": "events",
                    "partition": 1,
                    "controller_epoch": 1,
                    "leader": 2,
                    "leader_epoch": 0,
                    "isr": [2, 1, 3],
                    "partition_epoch": 0,
                    "replicas": [2, 1, 3],
                    "adding_replicas": [],
                    "removing_replicas": [],
                    "unordered": None,
                    "controller": 1,
                    "reason": "received",
                },
                origin="real: isr-flapping-2.4.1-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] TRACE Broker 1 received LeaderAndIsr request "
                "(LeaderAndIsrInfo:(Leader:1,ISR:1,2,LeaderEpoch:3,ControllerEpoch:2),ReplicationFactor:2),AllReplica"
                "s:1,2) correlation id 7 from controller 2 epoch 2 for partition [orders,0] (state.change.logger)",
                fields={
                    "node": 1,
                    "topic": "orders",
                    "partition": 0,
                    "controller_epoch": 2,
                    "leader": 1,
                    "leader_epoch": 3,
                    "isr": [1, 2],
                    "replicas": [1, 2],
                    "controller": 2,
                    "reason": "received",
                },
                origin="source: 0.8.2 ReplicaManager",
            ),
        ),
        note="controller_epoch is the sender's, not the one of the state's last change.",
    ),
    Pattern(
        name="state-cached",
        event="partition-state",
        literal="ached leader info ",
        regex=rf"[Cc]ached leader info {STATE} for partition {TP} in response to UpdateMetadata request sent by controller "
        r"(?P<controller>-?\d+) epoch (?P<controller_epoch>-?\d+) with correlation id \d+",
        versions=("0.8.2", "3.9"),
        loggers=STATE_CHANGE,
        fixed={"reason": "cached"},
        samples=(
            Sample(
                line="[2026-11-21 03:01:34,718] TRACE Broker 3 cached leader info "
                "(LeaderAndIsrInfo:(Leader:3,ISR:3,LeaderEpoch:2,ControllerEpoch:1),ReplicationFactor:3),AllReplicas:"
                "1,2,3) for partition orders-0 in response to UpdateMetadata request sent by controller 3 epoch 1 "
                "with correlation id 10 (state.change.logger)",
                fields={
                    "node": 3,
                    "topic": "orders",
                    "partition": 0,
                    "controller_epoch": 1,
                    "leader": 3,
                    "leader_epoch": 2,
                    "isr": [3],
                    "replicas": [1, 2, 3],
                    "unordered": True,
                    "controller": 3,
                    "reason": "cached",
                },
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:25:27,630] TRACE [Broker id=1] Cached leader info PartitionState(controllerEpoch=2, "
                "leader=1, leaderEpoch=1, isr=[1, 3], zkVersion=1, replicas=[2, 1, 3], offlineReplicas=[]) for "
                "partition clicks-0 in response to UpdateMetadata request sent by controller 1 epoch 2 with "
                "correlation id 5 (state.change.logger)",
                fields={
                    "node": 1,
                    "topic": "clicks",
                    "partition": 0,
                    "controller_epoch": 2,
                    "leader": 1,
                    "leader_epoch": 1,
                    "isr": [1, 3],
                    "partition_epoch": 1,
                    "replicas": [2, 1, 3],
                    "controller": 1,
                    "reason": "cached",
                },
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2026-11-21 02:21:53,555] TRACE [Broker id=3] Cached leader info "
                "UpdateMetadataPartitionState(topicName='events', partitionIndex=1, controllerEpoch=1, leader=2, "
                "leaderEpoch=1, isr=[2, 1], zkVersion=1, replicas=[2, 1, 3], offlineReplicas=[]) for partition "
                "events-1 in response to UpdateMetadata request sent by controller 1 epoch 1 with correlation id 0 "
                "(state.change.logger)",
                fields={
                    "node": 3,
                    "topic": "events",
                    "partition": 1,
                    "controller_epoch": 1,
                    "leader": 2,
                    "leader_epoch": 1,
                    "isr": [2, 1],
                    "partition_epoch": 1,
                    "replicas": [2, 1, 3],
                    "controller": 1,
                    "reason": "cached",
                },
                origin="real: isr-flapping-2.4.1-zk",
            ),
        ),
    ),
    Pattern(
        name="partition-uncached",
        event="topic-deletion",
        literal="eleted partition ",
        regex=rf"[Dd]eleted partition {TP} from metadata cache in response to UpdateMetadata request sent by controller "
        r"(?P<controller>-?\d+) epoch (?P<controller_epoch>-?\d+) with correlation id \d+",
        versions=("0.8.2", "3.9"),
        loggers=STATE_CHANGE,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] TRACE [Broker id=1] Deleted partition orders-0 from metadata cache in "
                "response to UpdateMetadata request sent by controller 2 epoch 5 with correlation id 9 "
                "(state.change.logger)",
                fields={"node": 1, "topic": "orders", "partition": 0, "controller": 2, "controller_epoch": 5},
                origin="source: 1.0 MetadataCache",
            ),
        ),
        note="The controller sends LeaderDuringDelete (-2) as the leader for the partitions of a topic that is being deleted.",
    ),
    Pattern(
        name="state-already-applied",
        event="partition-state",
        literal="Skipped the become-",
        regex=rf"Skipped the become-(?:leader|follower) state change for {TP} with topic id {TOPIC_ID}"
        rf"(?: and partition state|, partition registration) {STATE}(?: and isNew=\w+)? since (?:"
        r"it is already the leader with leader epoch -?\d+\. Current high watermark (?P<high_watermark>-?\d+), "
        rf"ISR {IDS}, adding replicas {IDS} and removing replicas {IDS}\.|it is already a follower with leader epoch -?\d+\.|"
        r"the (?:leader|follower) is already at a newer partition epoch -?\d+\.)",
        versions=("3.3", "4.4"),
        loggers=STATE_CHANGE,
        fixed={"reason": "received"},
        samples=(
            Sample(
                line="[2026-11-21 03:31:34,155] INFO [Broker id=2] Skipped the become-leader state change for catalog-1 "
                "with topic id Some(8PPfwVtMQ_y0AfH5M2MHcA) and partition state "
                "LeaderAndIsrPartitionState(topicName='catalog', partitionIndex=1, controllerEpoch=-1, leader=2, "
                "leaderEpoch=0, isr=[2, 1], partitionEpoch=1, replicas=[2, 1, 3], addingReplicas=[3], "
                "removingReplicas=[], isNew=false, leaderRecoveryState=0) since it is already the leader with leader "
                "epoch 0. Current high watermark 2000, ISR [2,1], adding replicas [3] and removing replicas []. "
                "(state.change.logger)",
                fields={
                    "node": 2,
                    "topic": "catalog",
                    "partition": 1,
                    "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA",
                    "leader": 2,
                    "leader_epoch": 0,
                    "isr": [2, 1],
                    "partition_epoch": 1,
                    "replicas": [2, 1, 3],
                    "adding_replicas": [3],
                    "removing_replicas": [],
                    "recovering": False,
                    "high_watermark": 2000,
                    "reason": "received",
                },
                origin="real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                line="[2026-11-21 03:31:34,115] INFO [Broker id=1] Skipped the become-follower state change for catalog-1 "
                "with topic id Some(8PPfwVtMQ_y0AfH5M2MHcA) and partition state "
                "LeaderAndIsrPartitionState(topicName='catalog', partitionIndex=1, controllerEpoch=-1, leader=2, "
                "leaderEpoch=0, isr=[2, 1], partitionEpoch=1, replicas=[2, 1, 3], addingReplicas=[3], "
                "removingReplicas=[], isNew=false, leaderRecoveryState=0) since it is already a follower with leader "
                "epoch 0. (state.change.logger)",
                fields={
                    "node": 1,
                    "topic": "catalog",
                    "partition": 1,
                    "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA",
                    "leader": 2,
                    "leader_epoch": 0,
                    "isr": [2, 1],
                    "partition_epoch": 1,
                    "replicas": [2, 1, 3],
                    "adding_replicas": [3],
                    "removing_replicas": [],
                    "recovering": False,
                    "reason": "received",
                },
                origin="real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Broker id=1] Skipped the become-leader state change for orders-0 "
                "with topic id Some(8PPfwVtMQ_y0AfH5M2MHcA), partition registration "
                "PartitionRegistration(replicas=[1, 2, 3], directories=[AAAAAAAAAAAAAAAAAAAAAA, "
                "AAAAAAAAAAAAAAAAAAAAAA, AAAAAAAAAAAAAAAAAAAAAA], isr=[1, 2], removingReplicas=[], "
                "addingReplicas=[], elr=[], lastKnownElr=[], leader=1, leaderRecoveryState=RECOVERED, leaderEpoch=3, "
                "partitionEpoch=8) and isNew=false since the leader is already at a newer partition epoch 9. "
                "(state.change.logger)",
                fields={
                    "node": 1,
                    "topic": "orders",
                    "partition": 0,
                    "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA",
                    "leader": 1,
                    "leader_epoch": 3,
                    "isr": [1, 2],
                    "partition_epoch": 8,
                    "replicas": [1, 2, 3],
                    "adding_replicas": [],
                    "removing_replicas": [],
                    "recovering": False,
                    "reason": "received",
                },
                origin="source: 4.3 Partition",
            ),
        ),
    ),
    Pattern(
        name="follower-state-kept",
        event="partition-state",
        literal="Skipped the become-follower state change after marking its partition as follower for partition ",
        regex=r"Skipped the become-follower state change after marking its partition as follower for partition "
        rf"{TP} with id {TOPIC_ID} and partition state {STATE}\.",
        versions=("3.0", "3.2"),
        loggers=STATE_CHANGE,
        fixed={"reason": "received"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Broker id=1] Skipped the become-follower state change after marking "
                "its partition as follower for partition orders-0 with id Some(8PPfwVtMQ_y0AfH5M2MHcA) and partition "
                "state LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, controllerEpoch=-1, "
                "leader=2, leaderEpoch=4, isr=[2, 1], zkVersion=6, replicas=[1, 2], addingReplicas=[], "
                "removingReplicas=[], isNew=false). (state.change.logger)",
                fields={
                    "node": 1,
                    "topic": "orders",
                    "partition": 0,
                    "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA",
                    "leader": 2,
                    "leader_epoch": 4,
                    "isr": [2, 1],
                    "partition_epoch": 6,
                    "replicas": [1, 2],
                    "adding_replicas": [],
                    "removing_replicas": [],
                    "reason": "received",
                },
                origin="source: 3.1 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="marked-recovering",
        event="recovering-mark",
        literal=" was marked as RECOVERING. ",
        regex=rf"The topic partition {TP} was marked as RECOVERING\. (?:Leader log recovery is not implemented\. )?"
        r"Marking the topic partition as RECOVERED\.",
        versions=("3.2", "4.4"),
        loggers=STATE_CHANGE,
        fixed={"recovering": True},
        samples=(
            Sample(
                line="[2026-11-21 02:33:46,320] INFO [Broker id=1] The topic partition fast-8 was marked as RECOVERING. "
                "Marking the topic partition as RECOVERED. (state.change.logger)",
                fields={"node": 1, "topic": "fast", "partition": 8, "recovering": True},
                origin="real: mixed-fleet-3.5.2-zk",
            ),
        ),
        note="KIP-704: a broker's clearest line about its unclean election.",
    ),
    Pattern(
        name="controller-epoch-old",
        event="controller-refused",
        literal=" since its controller epoch ",
        regex=rf"[Ii]gnoring (?:LeaderAndIsr|StopReplica) request {_REQUEST} since its controller epoch (?P<controller_epoch>-?\d+) "
        r"is old\. Latest known controller epoch is -?\d+",
        versions=("0.8.2", "4.1"),
        loggers=STATE_CHANGE,
        fixed={"mode": "zookeeper"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [Broker id=1] Ignoring LeaderAndIsr request from controller 2 with "
                "correlation id 3 since its controller epoch 4 is old. Latest known controller epoch is 5 "
                "(state.change.logger)",
                fields={"node": 1, "controller": 2, "controller_epoch": 4},
                origin="source: 2.8 ReplicaManager",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Broker 1 ignoring LeaderAndIsr request from controller 2 with "
                "correlation id 3 since its controller epoch 4 is old. Latest known controller epoch is 5 "
                "(state.change.logger)",
                fields={"node": 1, "controller": 2, "controller_epoch": 4},
                origin="source: 0.8.2 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="update-metadata-old",
        event="controller-refused",
        literal="eceived update metadata request with correlation id ",
        regex=r"[Rr]eceived update metadata request with correlation id \d+ from an old controller (?P<controller>-?\d+) with epoch "
        r"(?P<controller_epoch>-?\d+)\. Latest known controller epoch is -?\d+",
        versions=("0.8.2", "3.9"),
        loggers=STATE_CHANGE,
        fixed={"mode": "zookeeper"},
        samples=(
            Sample(
                line="[2026-11-21 01:59:20,862] WARN [Broker id=3] Received update metadata request with correlation id 6 "
                "from an old controller 1 with epoch 1. Latest known controller epoch is 2 (state.change.logger)",
                fields={"node": 3, "controller": 1, "controller_epoch": 1},
                origin="real: isr-flapping-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="stop-replica-old",
        event="controller-refused",
        literal="eceived stop replica request from an old controller epoch ",
        regex=r"[Rr]eceived stop replica request from an old controller epoch (?:(?P<controller_epoch>-?\d+)|\$.*)\. "
        r"Latest known controller epoch is (?:%d )?(?:-?\d+|\$.*)",
        versions=("0.8.2", "2.5"),
        loggers=STATE_CHANGE,
        fixed={"mode": "zookeeper"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Broker 1 received stop replica request from an old controller epoch "
                "4. Latest known controller epoch is %d 5 (state.change.logger)",
                fields={"node": 1, "controller_epoch": 4},
                origin="source: 0.9.0 ReplicaManager",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [Broker id=1] Received stop replica request from an old controller "
                "epoch ${stopReplicaRequest.controllerEpoch}. Latest known controller epoch is $controllerEpoch "
                "(state.change.logger)",
                fields={"node": 1},
                origin="source: 2.0 ReplicaManager",
            ),
        ),
        note="1.0 to 2.5 lack the string interpolator, 0.8.2 and 0.9 the argument.",
    ),
    Pattern(
        name="leader-epoch-old",
        event="become-refused",
        literal=" since its associated leader epoch ",
        regex=rf"[Ii]gnoring LeaderAndIsr request {_REQUEST} epoch (?P<controller_epoch>-?\d+) for partition {TP} since its associated "
        r"leader epoch (?P<leader_epoch>-?\d+) is (?:old\. Current leader epoch is|not higher than the current leader epoch|"
        r"smaller than the current leader epoch) (?P<previous_leader_epoch>-?\d+)",
        versions=("0.8.2", "4.1"),
        loggers=STATE_CHANGE,
        fixed={"reason": "stale-leader-epoch"},
        samples=(
            Sample(
                line="[2026-11-21 03:01:34,714] WARN Broker 3 ignoring LeaderAndIsr request from controller 3 with "
                "correlation id 9 epoch 1 for partition [ledger,1] since its associated leader epoch 1 is not higher "
                "than the current leader epoch 1 (state.change.logger)",
                fields={
                    "node": 3,
                    "controller": 3,
                    "controller_epoch": 1,
                    "topic": "ledger",
                    "partition": 1,
                    "leader_epoch": 1,
                    "previous_leader_epoch": 1,
                    "reason": "stale-leader-epoch",
                },
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:25:24,735] WARN [Broker id=1] Ignoring LeaderAndIsr request from controller 1 with "
                "correlation id 1 epoch 2 for partition clicks-0 since its associated leader epoch 0 is not higher "
                "than the current leader epoch 0 (state.change.logger)",
                fields={
                    "node": 1,
                    "controller": 1,
                    "controller_epoch": 2,
                    "topic": "clicks",
                    "partition": 0,
                    "leader_epoch": 0,
                    "previous_leader_epoch": 0,
                    "reason": "stale-leader-epoch",
                },
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [Broker id=1] Ignoring LeaderAndIsr request from controller 2 with "
                "correlation id 3 epoch 4 for partition orders-0 since its associated leader epoch 6 is smaller than "
                "the current leader epoch 7 (state.change.logger)",
                fields={
                    "node": 1,
                    "controller": 2,
                    "controller_epoch": 4,
                    "topic": "orders",
                    "partition": 0,
                    "leader_epoch": 6,
                    "previous_leader_epoch": 7,
                    "reason": "stale-leader-epoch",
                },
                origin="source: 2.8 ReplicaManager",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Broker 1 ignoring LeaderAndIsr request from controller 2 with "
                "correlation id 3 epoch 4 for partition [orders,0] since its associated leader epoch 6 is old. "
                "Current leader epoch is 7 (state.change.logger)",
                fields={
                    "node": 1,
                    "controller": 2,
                    "controller_epoch": 4,
                    "topic": "orders",
                    "partition": 0,
                    "leader_epoch": 6,
                    "previous_leader_epoch": 7,
                    "reason": "stale-leader-epoch",
                },
                origin="source: 0.8.2 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="not-assigned",
        event="become-refused",
        literal=" as itself is not in assigned replica list ",
        regex=rf"[Ii]gnoring LeaderAndIsr request {_REQUEST} epoch (?P<controller_epoch>-?\d+) for partition {TP} "
        rf"as itself is not in assigned replica list (?P<replicas>{IDS})",
        versions=("0.8.2", "4.1"),
        loggers=STATE_CHANGE,
        fixed={"reason": "not-assigned"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [Broker id=1] Ignoring LeaderAndIsr request from controller 2 with "
                "correlation id 3 epoch 4 for partition orders-0 as itself is not in assigned replica list 2,3 "
                "(state.change.logger)",
                fields={
                    "node": 1,
                    "controller": 2,
                    "controller_epoch": 4,
                    "topic": "orders",
                    "partition": 0,
                    "replicas": [2, 3],
                    "reason": "not-assigned",
                },
                origin="source: 2.8 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="directory-offline",
        event="become-refused",
        literal=" as the local replica for the partition is in an offline log directory",
        regex=rf"Ignoring LeaderAndIsr request {_REQUEST} epoch (?P<controller_epoch>-?\d+) for partition {TP} "
        r"as the local replica for the partition is in an offline log directory",
        versions=("1.0", "4.1"),
        loggers=STATE_CHANGE,
        fixed={"reason": "offline-log-directory"},
        samples=(
            Sample(
                line="[2026-11-21 02:11:32,310] WARN [Broker id=2] Ignoring LeaderAndIsr request from controller 3 with "
                "correlation id 3 epoch 1 for partition media-1 as the local replica for the partition is in an "
                "offline log directory (state.change.logger)",
                fields={
                    "node": 2,
                    "controller": 3,
                    "controller_epoch": 1,
                    "topic": "media",
                    "partition": 1,
                    "reason": "offline-log-directory",
                },
                origin="real: log-dir-failure-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="leader-directory-offline",
        event="become-refused",
        literal=" because it resides in an offline log directory.",
        regex=rf"Unable to bring up new local leader {TP} with topic id {TOPIC_ID} because it resides in an offline log directory\.",
        versions=("3.0", "4.4"),
        loggers=STATE_CHANGE,
        fixed={"reason": "offline-log-directory"},
        samples=(
            Sample(
                line="[2026-11-21 02:12:08,151] WARN [Broker id=2] Unable to bring up new local leader media-3 with topic "
                "id 2xOT_DYASrmdUes2Dq6KLA because it resides in an offline log directory. (state.change.logger)",
                fields={
                    "node": 2,
                    "topic": "media",
                    "partition": 3,
                    "topic_id": "2xOT_DYASrmdUes2Dq6KLA",
                    "reason": "offline-log-directory",
                },
                origin="real: log-dir-failure-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="follower-kept",
        event="follower-kept",
        literal=" is the same as the old leader",
        regex=r"[Ss]kipped the become-follower state change after marking its partition as follower with correlation id \d+ from controller "
        rf"(?P<controller>-?\d+) epoch (?P<controller_epoch>-?\d+) for partition {TP} (?:\(last update controller epoch -?\d+\) )?"
        r"since the new leader (?P<leader>-?\d+) is the same as the old leader",
        versions=("0.8.2", "3.2"),
        loggers=STATE_CHANGE,
        samples=(
            Sample(
                line="[2026-11-21 03:01:48,309] INFO Broker 3 skipped the become-follower state change after marking its partition as "
                "follower with correlation id 7 from controller 2 epoch 1 for partition [ledger,0] since the new leader 1 is the same "
                "as the old leader (state.change.logger)",
                fields={"node": 3, "controller": 2, "controller_epoch": 1, "topic": "ledger", "partition": 0, "leader": 1},
                origin="source: 0.9.0 ReplicaManager",
            ),
            Sample(
                line="[2024-05-01 12:00:00,123] INFO [Broker id=3] Skipped the become-follower state change after marking its partition "
                "as follower with correlation id 7 from controller 2 epoch 1 for partition ledger-0 (last update controller epoch 1) "
                "since the new leader 1 is the same as the old leader (state.change.logger)",
                fields={"node": 3, "controller": 2, "controller_epoch": 1, "topic": "ledger", "partition": 0, "leader": 1},
                origin="source: 1.1 ReplicaManager",
            ),
        ),
        note="Up to 2.0 also printed if the leader epoch is newer (KAFKA-7164).",
    ),
    Pattern(
        name="leader-unavailable",
        event="become-refused",
        literal=" but cannot become follower since the new leader ",
        regex=r"[Rr]eceived LeaderAndIsrRequest with correlation id \d+ from controller (?P<controller>-?\d+) epoch "
        r"(?P<controller_epoch>-?\d+) "
        rf"for partition {TP} (?:\(last update controller epoch -?\d+\) )?but cannot become follower since the new leader "
        r"(?P<leader>-?\d+) is unavailable\.",
        versions=("0.8.2", "4.1"),
        loggers=STATE_CHANGE,
        fixed={"reason": "leader-unavailable"},
        samples=(
            Sample(
                line="[2026-11-21 03:01:48,309] ERROR Broker 2 received LeaderAndIsrRequest with correlation id 1 from "
                "controller 2 epoch 1 for partition orders-1 but cannot become follower since the new leader 3 is "
                "unavailable. (state.change.logger)",
                fields={
                    "node": 2,
                    "controller": 2,
                    "controller_epoch": 1,
                    "topic": "orders",
                    "partition": 1,
                    "leader": 3,
                    "reason": "leader-unavailable",
                },
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2026-11-21 03:04:52,872] ERROR [Broker id=1] Received LeaderAndIsrRequest with correlation id 3 "
                "from controller 1 epoch 2 for partition calm-0 (last update controller epoch 2) but cannot become "
                "follower since the new leader -1 is unavailable. (state.change.logger)",
                fields={
                    "node": 1,
                    "controller": 1,
                    "controller_epoch": 2,
                    "topic": "calm",
                    "partition": 0,
                    "leader": -1,
                    "reason": "leader-unavailable",
                },
                origin="real: last-replica-standing-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="become-failed-on-disk",
        event="become-refused",
        literal=" since the replica for the partition is offline due to ",
        regex=r"Skipped the become-(?:leader|follower) state change with correlation id \d+ from controller "
        r"(?P<controller>-?\d+) epoch "
        rf"(?P<controller_epoch>-?\d+) for partition {TP} \(last update controller epoch -?\d+\)(?: with leader "
        rf"(?P<leader>-?\d+))? since "
        r"the replica for the partition is offline due to (?:disk|storage) error .*",
        versions=("1.0", "4.1"),
        loggers=STATE_CHANGE,
        fixed={"reason": "storage-error"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [Broker id=1] Skipped the become-follower state change with "
                "correlation id 3 from controller 2 epoch 4 for partition orders-0 (last update controller epoch 4) "
                "with leader 2 since the replica for the partition is offline due to disk error "
                "org.apache.kafka.common.errors.KafkaStorageException: Error while creating log for orders-0 in dir "
                "/data (state.change.logger)",
                fields={
                    "node": 1,
                    "controller": 2,
                    "controller_epoch": 4,
                    "topic": "orders",
                    "partition": 0,
                    "leader": 2,
                    "reason": "storage-error",
                },
                origin="source: 2.8 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="become-failed-on-disk-kraft",
        event="become-refused",
        literal="ue to a storage error ",
        regex=rf"(?:Skipped the become-leader state change for {TP} with topic id|Unable to start fetching {TP} with topic ID) "
        rf"{TOPIC_ID} "
        r"due to a storage error .*",
        versions=("3.1", "4.4"),
        loggers=STATE_CHANGE,
        fixed={"reason": "storage-error"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [Broker id=1] Unable to start fetching orders-0 with topic ID "
                "Some(8PPfwVtMQ_y0AfH5M2MHcA) due to a storage error "
                "org.apache.kafka.common.errors.KafkaStorageException: The log dir /data is already offline due to a "
                "previous IO exception. (state.change.logger)",
                fields={"node": 1, "topic": "orders", "partition": 0, "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA", "reason": "storage-error"},
                origin="source: 3.9 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="become-leader-failed-on-disk-kraft",
        event="become-refused",
        literal=" due to disk error ",
        regex=rf"Skipped the become-leader state change for {TP} with topic id {TOPIC_ID} due to disk error .*",
        versions=("3.0", "3.0"),
        loggers=STATE_CHANGE,
        fixed={"reason": "storage-error"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Broker id=1] Skipped the become-leader state change for orders-0 with topic id "
                "8PPfwVtMQ_y0AfH5M2MHcA due to disk error org.apache.kafka.common.errors.KafkaStorageException: The log dir /data is "
                "already offline due to a previous IO exception. (state.change.logger)",
                fields={"node": 1, "topic": "orders", "partition": 0, "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA", "reason": "storage-error"},
                origin="source: 3.0 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="replica-not-created",
        event="become-refused",
        literal="Skipping creation of log because there are potentially offline log directories ",
        regex=rf"Skipping creation of log because there are potentially offline log directories .*?topicId={TOPIC_ID}, .*",
        versions=("3.7", "4.4"),
        loggers=("kafka.cluster.Partition",),
        fixed={"reason": "storage-error"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [Partition orders-0 broker=1] Skipping creation of log because there are potentially "
                "offline log directories and log may already exist there. directoryId=BTKAL8inuuOgzFARJXZJfg, "
                "topicId=Some(8PPfwVtMQ_y0AfH5M2MHcA), targetLogDirectoryId=None (kafka.cluster.Partition)",
                fields={"node": 1, "topic": "orders", "partition": 0, "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA", "reason": "storage-error"},
                origin="source: 3.7 Partition",
            ),
        ),
        note="The replica may be in the failed directory, and a new empty replica would hide it (KIP-858).",
    ),
    Pattern(
        name="fetch-not-startable",
        event="become-refused",
        literal="Unable to start fetching ",
        regex=rf"Unable to start fetching {TP} with topic ID {TOPIC_ID} (?:due to (?!a storage error ).*|"
        r"from leader (?:Some\((?P<leader>-?\d+)\)|None|(?P<leader>-?\d+)) because it is not alive\.|"
        r"because the replica manager is shutting down\.)",
        versions=("3.0", "4.4"),
        loggers=STATE_CHANGE,
        fixed={"reason": "fetch-not-startable"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] TRACE [Broker id=1] Unable to start fetching orders-0 with topic ID "
                "Some(8PPfwVtMQ_y0AfH5M2MHcA) from leader Some(2) because it is not alive. (state.change.logger)",
                fields={
                    "node": 1,
                    "topic": "orders",
                    "partition": 0,
                    "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA",
                    "leader": 2,
                    "reason": "fetch-not-startable",
                },
                origin="source: 3.9 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="topic-id-differs",
        event="become-refused",
        literal=" does not match the topic I",
        regex=r"Topic I[Dd] in memory: (?:Some\()?(?P<_memory>.{1,60}?)\)? does not match the topic I[Dd] for partition "
        rf"{TP} (?:received|provided in the request): (?:Some\()?(?P<topic_id>[\w-]{{22}})\)?\.",
        versions=("2.8", "4.1"),
        fixed={"reason": "topic-id"},
        explode=_and_mismatch,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [Broker id=1] Topic ID in memory: 8PPfwVtMQ_y0AfH5M2MHcA does not "
                "match the topic ID for partition orders-0 received: _n8nZ4sJR5emhIbMqnlmZA. (state.change.logger)",
                fields={
                    "event": "become-refused",
                    "node": 1,
                    "topic": "orders",
                    "partition": 0,
                    "topic_id": "_n8nZ4sJR5emhIbMqnlmZA",
                    "reason": "topic-id",
                },
                origin="source: 3.5 ReplicaManager",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [Broker id=1] Topic Id in memory: Some(8PPfwVtMQ_y0AfH5M2MHcA) does not "
                "match the topic Id for partition orders-0 provided in the request: _n8nZ4sJR5emhIbMqnlmZA. (state.change.logger)",
                fields={
                    "event": "topic-id-mismatch",
                    "topic_id": "_n8nZ4sJR5emhIbMqnlmZA",
                    "value": "_n8nZ4sJR5emhIbMqnlmZA",
                    "reason": "8PPfwVtMQ_y0AfH5M2MHcA",
                },
                origin="source: 2.8 Partition",
            ),
        ),
        note="The topic was deleted and created again while this broker was down.",
    ),
    Pattern(
        name="zookeeper-failed",
        event="become-refused",
        literal="A ZooKeeper client exception has occurred",
        regex=r"A ZooKeeper client exception has occurred(?: and makeLeader|\. makeFollower) will be skipping the state change for the "
        rf"partition {TP} with leader epoch: (?P<leader_epoch>-?\d+)\.?",
        versions=("2.7", "3.9"),
        fixed={"reason": "zookeeper"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [Broker id=1] A ZooKeeper client exception has occurred and "
                "makeLeader will be skipping the state change for the partition orders-0 with leader epoch: 4 "
                "(state.change.logger)",
                fields={"node": 1, "topic": "orders", "partition": 0, "leader_epoch": 4, "reason": "zookeeper"},
                origin="source: 2.8 Partition",
            ),
        ),
    ),
    Pattern(
        name="leader-and-isr-failed",
        event="become-refused",
        literal=" while processing LeaderAndIsr request ",
        regex=r"Error(?: on broker (?P<node>\d+))? while processing LeaderAndIsr request (?:with )?correlationId \d+ received from controller "
        r"(?P<controller>-?\d+) epoch "
        rf"(?P<controller_epoch>-?\d+)(?: for partition {TP}| when trying to update topic IDs in the fetchers)?",
        versions=("0.8.0", "4.1"),
        loggers=STATE_CHANGE,
        fixed={"reason": "error"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR Error on broker 1 while processing LeaderAndIsr request "
                "correlationId 3 received from controller 2 epoch 4 for partition [orders,0] (state.change.logger)",
                fields={"node": 1, "controller": 2, "controller_epoch": 4, "topic": "orders", "partition": 0, "reason": "error"},
                origin="source: 0.10.2 ReplicaManager",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [Broker id=1] Error while processing LeaderAndIsr request "
                "correlationId 3 received from controller 2 epoch 4 for partition orders-0 (state.change.logger)",
                fields={"node": 1, "controller": 2, "controller_epoch": 4, "topic": "orders", "partition": 0, "reason": "error"},
                origin="source: 2.8 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="broker-made-leader-failed",
        event="become-refused",
        literal="Error while making broker the ",
        regex=rf"Error while making broker the (?:leader|follower) for partition (?:Topic: (?P<topic>{TOPIC}); Partition: "
        rf"(?P<partition>\d+);|{TP}).*",
        versions=("1.0", "3.0"),
        fixed={"reason": "storage-error"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaManager broker=1] Error while making broker the leader for "
                "partition Topic: orders; Partition: 0; Leader: Some(1); AllReplicas: 1,2; InSyncReplicas: 1,2 in "
                "dir Some(/data) (kafka.server.ReplicaManager)",
                fields={"node": 1, "topic": "orders", "partition": 0, "reason": "storage-error"},
                origin="source: 2.0 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="replica-added",
        event="replica-added",
        literal="Creating new partition ",
        regex=rf"Creating new partition {TP} with topic id {TOPIC_ID}\.(?:A topic with the same name but different id exists but it "
        r"resides in an offline log directory\.)?",
        versions=("3.0", "4.4"),
        loggers=STATE_CHANGE,
        samples=(
            Sample(
                line="[2026-11-21 03:31:27,893] INFO [Broker id=1] Creating new partition catalog-1 with topic id "
                "8PPfwVtMQ_y0AfH5M2MHcA. (state.change.logger)",
                fields={"node": 1, "topic": "catalog", "partition": 1, "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA"},
                origin="real: grow-replicas-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="replica-missing",
        event="replica-added",
        literal=" to exist, but it was missing. Creating...",
        regex=rf"Expected partition {TP} with topic id {TOPIC_ID} to exist, but it was missing\. Creating\.\.\.",
        versions=("3.0", "4.4"),
        loggers=STATE_CHANGE,
        fixed={"reason": "missing"},
        samples=(
            Sample(
                line="[2026-11-21 03:31:34,133] ERROR [Broker id=3] Expected partition catalog-0 with topic id "
                "8PPfwVtMQ_y0AfH5M2MHcA to exist, but it was missing. Creating... (state.change.logger)",
                fields={"node": 3, "topic": "catalog", "partition": 0, "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA", "reason": "missing"},
                origin="real: grow-replicas-3.9.1-kraft",
            ),
        ),
        note="A metadata delta changed a partition that this broker did not have before, for example in a reassignment.",
    ),
)
