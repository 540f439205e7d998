"""Lines of the ZooKeeper controller: elections, partition states, reassignments, brokers coming and going, topics.

Here: state-change.log as the controller writes it (up to 0.11 the text itself starts `Controller N epoch E `, later that is
a prefix) and controller.log, with the steps at which it failed. Not here: what brokers do with its requests (leadership), the KRaft controller (kraft).
`partition_state` reads every spelling in which Kafka prints the state of a partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import regex

from parsers.patterns.exceptions import EXCEPTION, with_exception
from parsers.patterns.pattern import IDS, TOPIC, TP, Pattern, Sample, column
from parsers.schemas import Row

_STATE_COLUMN = {
    "leader": "leader",
    "leaderepoch": "leader_epoch",
    "leader_epoch": "leader_epoch",
    "isr": "isr",
    "zkversion": "partition_epoch",
    "partitionepoch": "partition_epoch",
    "controllerepoch": "controller_epoch",
    "replicas": "replicas",
    "addingreplicas": "adding_replicas",
    "removingreplicas": "removing_replicas",
}
_STATE_FIELD = regex.compile(
    r'(?i)(?<!\w)"?(?P<name>leaderRecoveryState|isrWithBrokerEpoch|leader_?epoch|leader|isr|zkVersion|partitionEpoch'
    r'|controllerEpoch|replicas|addingReplicas|removingReplicas)"?[:=] ?'
    r"(?P<value>\w*\((?:[^()]|\([^()]*\))*+\)|\[[^\]]*+\]|-?\d+(?:, ?-?\d+)*+|\w+|(?=[,)]))"
)
_BROKER_STATE = regex.compile(r"brokerId=(-?\d+)")
_RECOVERY_STATE = regex.compile(r"(?i)leaderRecoveryState[:=] ?(\w+)")


@lru_cache(maxsize=1 << 12)
def partition_state(text: str) -> Mapping[str, Any]:
    """Columns named by a printed partition state; absent or `null` fields give no column.

    Reads LeaderAndIsr as JSON (to 1.0) and as case class (1.1..3.9, with `isrWithBrokerEpoch` from 3.5), the tuple
    `(Leader:1,ISR:1,2,LeaderEpoch:0,…)`, PartitionState and its generated successors, ReplicaAssignment, and KRaft's
    PartitionRegistration and PartitionChangeRecord. Raises ValueError on numbers out of range, as `column` does.
    """
    row: Row = {}
    for match in _STATE_FIELD.finditer(text):
        name, value = match["name"].lower(), match["value"]
        if name == "isrwithbrokerepoch":
            row["isr"] = [int(n) for n in _BROKER_STATE.findall(value)]
        elif name in _STATE_COLUMN and value != "null" and (value or name.endswith(("isr", "replicas"))):
            row[_STATE_COLUMN[name]] = column(_STATE_COLUMN[name], value)
    recovery = _RECOVERY_STATE.search(text)
    if recovery and recovery[1] in ("RECOVERING", "1", "RECOVERED", "0"):
        row["recovering"] = recovery[1] in ("RECOVERING", "1")
    return row


_PARTITION = regex.compile(rf"\[(?P<topic>{TOPIC}), ?(?P<partition>\d+)\]|(?<![\w.-])(?P<topic>{TOPIC})-(?P<partition>\d+)(?=[,)\s]|$)")
_NAME = regex.compile(rf"(?<![\w.-]){TOPIC}(?=[,)\]\s]|$)")
_NEW_TOPIC_ID = regex.compile(rf"TopicIdReplicaAssignment\((?P<topic>{TOPIC}),Some\((?P<topic_id>[\w-]{{22}})\)")


def partitions(text: str) -> Iterator[Row]:
    """Every `[t,p]` or `t-p` of a printed collection, as topic and partition columns."""
    for match in _PARTITION.finditer(text):
        yield {"topic": match["topic"], "partition": column("partition", match["partition"])}


def _by_controller(row: Row) -> Iterator[Row]:
    yield {**row, "controller": row.get("controller", row.get("node"))}


_BROKER_EPOCH = regex.compile(r"(\d{1,9}) -> (\d{1,18})")


def _broker_epochs(row: Row) -> Iterator[Row]:
    """One row for each broker of the cache."""
    for broker, epoch in _BROKER_EPOCH.findall(row["_groups"]["_epochs"] or ""):
        yield {**row, "broker": int(broker), "broker_epoch": int(epoch)}


def _with_state(row: Row) -> Iterator[Row]:
    groups = row["_groups"]
    state = {**partition_state(groups["_state"] or ""), **partition_state(groups.get("_assignment") or "")}
    if groups.get("_new"):
        state["value"] = f"{groups['_old']}->{groups['_new']}"
    # the prefix names the epoch of the writer, the state that of the controller which last changed it
    for made in _by_controller(row):
        yield {**state, **{name: value for name, value in made.items() if value is not None}}


def _isr_written(row: Row) -> Iterator[Row]:
    """The written ISR; from 3.0 on with the complete state."""
    for made in _with_state(row):
        yield {**made, "event": "partition-state", "reason": "written"} if made.get("leader_epoch") is not None else made


def _transition(row: Row) -> Iterator[Row]:
    groups = row["_groups"]
    value = "made" if groups["_old"] == "NonExistentPartition" else None
    yield {**row, "reason": f"{groups['_old']}->{groups['_new']}", "value": value}


def _leader_after(row: Row) -> Iterator[Row]:
    groups = row["_groups"]
    yield {**row, "value": f"{groups['_old']}->{groups['_new']}"}


def _last_isr(row: Row) -> Iterator[Row]:
    for made in _by_controller(row):
        yield {**made, "isr": [row["broker"]]}


def each_partition(row: Row) -> Iterator[Row]:
    for partition in partitions(row["_groups"]["_partitions"]):
        yield {**row, **partition}


def _each_incomplete(row: Row) -> Iterator[Row]:
    """One row for each partition, with the exception; an election of an offline partition has the type UNCLEAN."""
    reason = row["_groups"]["_type"] or "PREFERRED"
    for made in with_exception(row):
        yield from ({**one, "reason": reason} for one in each_partition(made))


def _each_topic(row: Row) -> Iterator[Row]:
    for match in _NAME.finditer(row["_groups"]["_topics"]):
        yield {**row, "topic": match[0]}


def _topic_changes(row: Row) -> Iterator[Row]:
    groups = row["_groups"]
    ids = {match["topic"]: match["topic_id"] for match in _NEW_TOPIC_ID.finditer(groups["_assignment"])}
    for event, group in (("topic-created", "_created"), ("topic-deleted", "_deleted")):
        for match in _NAME.finditer(groups[group]):
            yield {**row, "event": event, "topic": match[0], "topic_id": ids.get(match[0])}


def _broker_changes(row: Row) -> Iterator[Row]:
    for reason in ("added", "deleted", "bounced"):
        brokers = column("brokers", row["_groups"].get(f"_{reason}"))
        if brokers:
            yield {**row, "reason": reason, "brokers": brokers}


def _each_broker(row: Row) -> Iterator[Row]:
    for broker in column("brokers", row["_groups"]["_ids"]):
        yield {**row, "broker": broker}


def _assignment(row: Row) -> Iterator[Row]:
    assignment = partition_state(row["_groups"]["_state"])
    under_way = assignment.get("adding_replicas") or assignment.get("removing_replicas")
    yield {**row, **assignment, "reason": "started" if under_way else "completed"}


_STATE_CHANGE = ("state.change.logger",)
_CONTROLLER = ("kafka.controller.KafkaController",)
_EVENTS = ("kafka.controller.ControllerEventManager$ControllerEventThread",)
_FROM_TO = r"from (?P<_old>\w+) to (?P<_new>\w+)"
_LEADER_AND_ISR = r"(?P<_state>\{[^}]*\}|\w*\(.*\))"
_LIST = r"(?:\w+\()?(?P<replicas>\[?-?\d+(?:, ?-?\d+)*\]?)?\)?"

_STATES: tuple[Pattern, ...] = (
    Pattern(
        name="controller-partition-decided",
        event="partition-state",
        literal=" with state LeaderAndIsr(",
        regex=rf"[Cc]hanged partition {TP} {_FROM_TO} with state (?P<_state>LeaderAndIsr\(.*\))",
        versions=("1.1", "3.9"),
        loggers=_STATE_CHANGE,
        fixed={"mode": "zookeeper", "reason": "decided"},
        explode=_with_state,
        samples=(
            Sample(
                "[2026-11-21 02:25:24,778] TRACE [Controller id=1 epoch=2] Changed partition clicks-0 from OfflinePartition to"
                " OnlinePartition"
                " with state LeaderAndIsr(leader=1, leaderEpoch=1, isr=List(1, 3), zkVersion=1) (state.change.logger)",
                {
                    "node": 1,
                    "controller": 1,
                    "controller_epoch": 2,
                    "topic": "clicks",
                    "partition": 0,
                    "value": "OfflinePartition->OnlinePartition",
                    "leader": 1,
                    "leader_epoch": 1,
                    "isr": [1, 3],
                    "partition_epoch": 1,
                    "reason": "decided",
                },
                "real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                "[2026-11-21 02:33:07,560] INFO [Controller id=4 epoch=1] Changed partition fast-6 from NewPartition to OnlinePartition"
                " with state LeaderAndIsr(leader=5, leaderEpoch=0, isrWithBrokerEpoch=List(BrokerState(brokerId=5, brokerEpoch=-1),"
                " BrokerState(brokerId=1, brokerEpoch=-1)), leaderRecoveryState=RECOVERED, partitionEpoch=0) (state.change.logger)",
                {
                    "leader": 5,
                    "leader_epoch": 0,
                    "isr": [5, 1],
                    "partition_epoch": 0,
                    "recovering": False,
                    "value": "NewPartition->OnlinePartition",
                },
                "real: mixed-fleet-3.5.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=4 epoch=1] Changed partition t-a-6 from OfflinePartition to OnlinePartition"
                " with state LeaderAndIsr(leader=5, leaderEpoch=3, isr=List(5), leaderRecoveryState=RECOVERING, zkVersion=7)"
                " (state.change.logger)",
                {"topic": "t-a", "partition": 6, "isr": [5], "recovering": True, "partition_epoch": 7},
                "source: 3.2 LeaderAndIsr",
            ),
        ),
        note="From 1.1 the ZooKeeper controller does not report an unclean election as such: it is this line with a leader outside the "
        "last ISR.",
    ),
    Pattern(
        name="controller-partition-leader",
        event="partition-state",
        literal="Partition with leader ",
        regex=rf"[Cc]hanged partition {TP} {_FROM_TO} with leader (?P<leader>-?\d+)",
        versions=("0.8.2", "1.0"),
        loggers=_STATE_CHANGE,
        fixed={"mode": "zookeeper", "reason": "decided"},
        explode=_leader_after,
        samples=(
            Sample(
                "[2026-11-21 03:01:34,532] TRACE Controller 3 epoch 1 changed partition [orders,1] from OfflinePartition to OnlinePartition"
                " with leader 3 (state.change.logger)",
                {
                    "node": 3,
                    "controller": 3,
                    "controller_epoch": 1,
                    "topic": "orders",
                    "partition": 1,
                    "leader": 3,
                    "value": "OfflinePartition->OnlinePartition",
                },
                "real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] TRACE [Controller id=3 epoch=1] Changed partition orders-1 from NewPartition to OnlinePartition"
                " with leader 3 (state.change.logger)",
                {"controller": 3, "controller_epoch": 1, "topic": "orders", "partition": 1, "leader": 3},
                "source: 1.0 PartitionStateMachine",
            ),
        ),
    ),
    Pattern(
        name="controller-partition-transition",
        event="partition-transition",
        literal="hanged partition ",
        regex=rf"[Cc]hanged partition {TP} state {_FROM_TO}(?: with assigned replicas {_LIST})?",
        versions=("0.8.2", "3.9"),
        loggers=_STATE_CHANGE,
        explode=_transition,
        fixed={"mode": "zookeeper"},
        samples=(
            Sample(
                "[2026-11-21 03:01:20,086] TRACE Controller 3 epoch 1 changed partition [orders,1] state from NonExistentPartition to"
                " NewPartition with assigned replicas 1,3,2 (state.change.logger)",
                {"reason": "NonExistentPartition->NewPartition", "replicas": [1, 3, 2], "controller": 3, "controller_epoch": 1},
                "real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] TRACE [Controller id=2 epoch=7] Changed partition a.b-c_d-10 state from OnlinePartition to"
                " OfflinePartition (state.change.logger)",
                {"reason": "OnlinePartition->OfflinePartition", "topic": "a.b-c_d", "partition": 10, "replicas": None, "controller": 2},
                "source: 2.5 ZkPartitionStateMachine",
            ),
        ),
    ),
    Pattern(
        name="controller-partition-elected",
        event="partition-state",
        literal=" for Offline partition ",
        regex=rf"[Ee]lected leader (?P<leader>-?\d+) for Offline partition {TP}",
        versions=("0.8.2", "1.0"),
        loggers=_STATE_CHANGE,
        fixed={"mode": "zookeeper", "reason": "decided", "value": "elected"},
        explode=_by_controller,
        samples=(
            Sample(
                "[2026-11-21 03:01:34,531] TRACE Controller 3 epoch 1 elected leader 3 for Offline partition [orders,1]"
                " (state.change.logger)",
                {"controller": 3, "controller_epoch": 1, "leader": 3, "topic": "orders", "partition": 1, "reason": "decided"},
                "real: unclean-election-0.10.2.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-isr-cut",
        event="partition-state",
        literal=" from the ISR as part of transition to ",
        regex=rf"Partition {TP} state changed to (?P<_state>\(.*\)) after removing replica (?P<broker>\d+) from the ISR"
        r" as part of transition to (?P<value>\w+)",
        versions=("2.6", "3.9"),
        loggers=_STATE_CHANGE,
        fixed={"mode": "zookeeper", "reason": "decided"},
        explode=_with_state,
        samples=(
            Sample(
                "[2026-11-21 02:33:29,879] INFO [Controller id=4 epoch=1] Partition default-ish-2 state changed to (Leader:2,ISR:2,4,"
                "LeaderRecoveryState:RECOVERED,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:1) after removing replica 1 from the ISR as part"
                " of transition to OfflineReplica (state.change.logger)",
                {
                    "topic": "default-ish",
                    "partition": 2,
                    "leader": 2,
                    "isr": [2, 4],
                    "leader_epoch": 1,
                    "partition_epoch": 1,
                    "recovering": False,
                    "broker": 1,
                    "controller": 4,
                    "value": "OfflineReplica",
                },
                "real: mixed-fleet-3.5.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=1 epoch=4] Partition orders-0 state changed to"
                " (Leader:-1,ISR:2,LeaderEpoch:3,"
                "ZkVersion:3,ControllerEpoch:3) after removing replica 2 from the ISR as part of transition to OfflineReplica"
                " (state.change.logger)",
                {"leader": -1, "isr": [2], "leader_epoch": 3, "partition_epoch": 3, "controller_epoch": 4, "recovering": None},
                "source: 2.8 ReplicaStateMachine",
            ),
        ),
    ),
    Pattern(
        name="controller-election-failed",
        event="election-failed",
        literal=" to OnlinePartition",
        regex=rf"(?:[Ii]nitiated state change for partition {TP} {_FROM_TO} failed"
        rf"|(?:Controller \d+ epoch \d+ )?failed to change state for partition {TP} from (?P<_old>\w+) to (?P<_new>OnlinePartition))",
        versions=("0.8.2", "3.9"),
        loggers=_STATE_CHANGE,
        explode=_transition,
        samples=(
            Sample(
                "[2026-11-21 02:33:29,803] ERROR [Controller id=4 epoch=1] Controller 4 epoch 1 failed to change state for partition solo-1"
                " from OfflinePartition to OnlinePartition (state.change.logger)",
                {"controller": 4, "topic": "solo", "partition": 1, "reason": "OfflinePartition->OnlinePartition"},
                "real: mixed-fleet-3.5.2-zk",
            ),
            Sample(
                "[2026-11-21 03:01:46,946] ERROR Controller 2 epoch 2 initiated state change for partition [orders,1] from"
                " OfflinePartition to"
                " OnlinePartition failed (state.change.logger)",
                {"controller": 2, "controller_epoch": 2, "topic": "orders", "partition": 1, "reason": "OfflinePartition->OnlinePartition"},
                "real: unclean-election-0.10.2.2-zk",
            ),
        ),
        note="The exception after the line names the cause: 'under strategy OfflinePartitionLeaderElectionStrategy(false)' is a forbidden "
        "unclean election.",
    ),
    Pattern(
        name="controller-election-error",
        event="election-failed",
        literal="ncountered error while electing leader for partition ",
        regex=rf"[Ee]ncountered error while electing leader for partition {TP} due to: (?P<value>.*)",
        versions=("0.8.2", "1.0"),
        loggers=_STATE_CHANGE,
        explode=_by_controller,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Controller 2 epoch 9 encountered error while electing leader for partition [t,0] due to:"
                " No"
                " replica in ISR for partition [t,0] is alive. Live brokers are: [Set(2)], ISR brokers are: [1]. (state.change.logger)",
                {"controller": 2, "controller_epoch": 9, "topic": "t", "partition": 0},
                "source: 0.10.2 PartitionStateMachine",
            ),
        ),
    ),
    Pattern(
        name="controller-leader-and-isr-sending",
        event="partition-state",
        literal="ending become-",
        regex=rf"[Ss]ending (?P<value>become-leader|become-follower) LeaderAndIsr request (?P<_state>\w*\(.*\))(?: with correlationId \d+)?"
        rf" to broker (?P<broker>\d+) for partition {TP}",
        versions=("0.8.2", "3.9"),
        loggers=_STATE_CHANGE,
        fixed={"mode": "zookeeper", "reason": "sent"},
        explode=_with_state,
        samples=(
            Sample(
                "[2026-11-21 03:01:20,136] TRACE Controller 3 epoch 1 sending become-follower LeaderAndIsr request (Leader:1,ISR:1,3,2,"
                "LeaderEpoch:0,ControllerEpoch:1) to broker 2 for partition [orders,1] (state.change.logger)",
                {
                    "controller": 3,
                    "broker": 2,
                    "topic": "orders",
                    "partition": 1,
                    "leader": 1,
                    "isr": [1, 3, 2],
                    "leader_epoch": 0,
                    "value": "become-follower",
                    "reason": "sent",
                },
                "real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                "[2026-11-21 02:21:42,951] TRACE [Controller id=1 epoch=1] Sending become-leader LeaderAndIsr request"
                " LeaderAndIsrPartitionState(topicName='events', partitionIndex=1, controllerEpoch=1, leader=2, leaderEpoch=0, isr=[2, 1,"
                " 3],"
                " zkVersion=0, replicas=[2, 1, 3], addingReplicas=[], removingReplicas=[], isNew=true) to broker 2 for partition events-1"
                " (state.change.logger)",
                {
                    "leader": 2,
                    "isr": [2, 1, 3],
                    "replicas": [2, 1, 3],
                    "adding_replicas": [],
                    "removing_replicas": [],
                    "partition_epoch": 0,
                },
                "real: isr-flapping-2.4.1-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] TRACE [Controller id=1 epoch=2] Sending become-leader LeaderAndIsr request"
                " PartitionState(controllerEpoch=2, leader=1, leaderEpoch=1, isr=1,3, zkVersion=1, replicas=2,1,3, isNew=false) to broker 1"
                " for partition clicks-0 (state.change.logger)",
                {"leader": 1, "isr": [1, 3], "partition_epoch": 1, "replicas": [2, 1, 3]},
                "source: 1.1 ControllerChannelManager",
            ),
        ),
    ),
    Pattern(
        name="controller-leader-and-isr-sent",
        event="partition-state",
        literal="ent LeaderAndIsr request ",
        regex=rf"[Ss]ent LeaderAndIsr request (?P<_state>\(.*\)) with new (?:replica assignment (?P<_assignment>.*)"
        rf"|assigned replica list {_LIST}) to leader \d+ for partition being reassigned {TP}",
        versions=("0.8.2", "3.9"),
        loggers=_STATE_CHANGE,
        fixed={"mode": "zookeeper", "reason": "sent"},
        explode=_with_state,
        samples=(
            Sample(
                "[2026-11-21 03:30:44,215] INFO [Controller id=2 epoch=1] Sent LeaderAndIsr request (Leader:2,ISR:2,1,LeaderEpoch:1,"
                "ZkVersion:1,ControllerEpoch:1) with new replica assignment ReplicaAssignment(replicas=2,1,3, addingReplicas=3,"
                " removingReplicas=) to leader 2 for partition being reassigned catalog-0 (state.change.logger)",
                {
                    "leader": 2,
                    "isr": [2, 1],
                    "leader_epoch": 1,
                    "replicas": [2, 1, 3],
                    "adding_replicas": [3],
                    "removing_replicas": [],
                    "topic": "catalog",
                    "partition": 0,
                },
                "real: grow-replicas-2.8.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] TRACE Controller 2 epoch 3 sent LeaderAndIsr request"
                " (Leader:2,ISR:2,1,LeaderEpoch:4,ControllerEpoch:3)"
                " with new assigned replica list List(2, 1, 3) to leader 2 for partition being reassigned [t,1] (state.change.logger)",
                {"leader": 2, "isr": [2, 1], "leader_epoch": 4, "replicas": [2, 1, 3], "controller": 2, "controller_epoch": 3},
                "source: 0.10.2 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-replicas-offline",
        event="log-dir-partitions",
        literal=" as offline",
        regex=r"Mark replicas (?P<_partitions>.*) on broker (?P<broker>\d+) as offline",
        versions=("1.0", "3.9"),
        loggers=_STATE_CHANGE,
        explode=each_partition,
        samples=(
            Sample(
                "[2026-11-21 02:11:32,327] INFO [Controller id=3] Mark replicas media-1,media-3 on broker 2 as offline"
                " (state.change.logger)",
                {"node": 3, "broker": 2, "topic": "media", "partition": 1},
                "real: log-dir-failure-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-isr-selected",
        event="partition-state",
        literal="Selected new leader and ISR ",
        regex=rf"Selected new leader and ISR {_LEADER_AND_ISR} for offline partition {TP}",
        versions=("0.8.2", "1.0"),
        fixed={"mode": "zookeeper", "reason": "decided", "value": "OfflinePartition->OnlinePartition"},
        explode=_with_state,
        samples=(
            Sample(
                '[2026-11-21 03:01:34,524] INFO [OfflinePartitionLeaderSelector]: Selected new leader and ISR {"leader":3,"leader_epoch":1,'
                '"isr":[3]} for offline partition [orders,1] (kafka.controller.OfflinePartitionLeaderSelector)',
                {"topic": "orders", "partition": 1, "leader": 3, "leader_epoch": 1, "isr": [3]},
                "real: unclean-election-0.10.2.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-isr-new",
        event="partition-state",
        literal="New leader and ISR for partition ",
        regex=rf"New leader and ISR for partition {TP} is {_LEADER_AND_ISR}",
        versions=("0.8.2", "1.0"),
        loggers=_CONTROLLER,
        fixed={"reason": "decided"},
        explode=_with_state,
        samples=(
            Sample(
                "[2026-11-21 03:01:34,612] INFO [Controller 3]: New leader and ISR for partition [orders,0] is"
                ' {"leader":3,"leader_epoch":1,'
                '"isr":[3,2]} (kafka.controller.KafkaController)',
                {"controller": 3, "topic": "orders", "partition": 0, "leader": 3, "leader_epoch": 1, "isr": [3, 2]},
                "real: unclean-election-0.10.2.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-isr-retained",
        event="partition-state",
        literal="Retaining last ISR ",
        regex=rf"Retaining last ISR (?P<broker>\d+) of partition {TP} since unclean leader election is disabled",
        versions=("0.8.2", "1.0"),
        loggers=_CONTROLLER,
        fixed={"reason": "decided", "value": "retained-last-isr"},
        explode=_last_isr,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3]: Retaining last ISR 2 of partition [t,4] since unclean leader election is"
                " disabled (kafka.controller.KafkaController)",
                {"controller": 3, "topic": "t", "partition": 4, "broker": 2, "isr": [2]},
                "source: 0.10.2 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-isr-unchanged",
        event="partition-state",
        literal=" since it is not in the ISR. Leader = ",
        regex=rf"Cannot remove replica (?P<broker>\d+) from ISR of partition {TP} since it is not in the ISR\."
        rf" Leader = (?P<leader>-?\d+) ; ISR = (?P<isr>{IDS})",
        versions=("0.8.2", "1.0"),
        loggers=_CONTROLLER,
        fixed={"reason": "decided", "value": "unchanged"},
        explode=_by_controller,
        samples=(
            Sample(
                "[2026-11-21 03:01:34,621] WARN [Controller 3]: Cannot remove replica 2 from ISR of partition [orders,1] since it is not in"
                " the ISR. Leader = 3 ; ISR = List(3) (kafka.controller.KafkaController)",
                {"controller": 3, "topic": "orders", "partition": 1, "broker": 2, "leader": 3, "isr": [3]},
                "real: unclean-election-0.10.2.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-leader-epoch",
        event="partition-state",
        literal="Updated leader epoch for partition ",
        regex=rf"Updated leader epoch for partition {TP} to (?P<leader_epoch>\d+)(?:, zkVersion=(?P<partition_epoch>\d+))?",
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "decided", "value": "leader-epoch"},
        explode=_by_controller,
        samples=(
            Sample(
                "[2026-11-21 02:02:40,007] INFO [Controller id=2] Updated leader epoch for partition profile-0 to 1, zkVersion=1"
                " (kafka.controller.KafkaController)",
                {"controller": 2, "topic": "profile", "partition": 0, "leader_epoch": 1, "partition_epoch": 1},
                "real: reassignment-2.8.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3]: Updated leader epoch for partition [t,4] to 12"
                " (kafka.controller.KafkaController)",
                {"controller": 3, "topic": "t", "partition": 4, "leader_epoch": 12, "partition_epoch": None},
                "source: 0.10.2 KafkaController",
            ),
        ),
        note="A reassignment raises the leader epoch without changing the leader.",
    ),
)

_ELECTIONS: tuple[Pattern, ...] = (
    Pattern(
        name="controller-unclean-said",
        event="unclean-election-said",
        literal="There's potential data loss.",
        regex=rf"No broker in ISR is alive for {TP}\. Elect leader (?P<leader>\d+) from live brokers (?P<brokers>{IDS})\."
        r" There's potential data loss\.",
        versions=("0.8.2", "1.0"),
        samples=(
            Sample(
                "[2026-11-21 03:01:48,296] WARN [OfflinePartitionLeaderSelector]: No broker in ISR is alive for [orders,1]. Elect leader 2"
                " from live brokers 2. There's potential data loss. (kafka.controller.OfflinePartitionLeaderSelector)",
                {"topic": "orders", "partition": 1, "leader": 2, "brokers": [2]},
                "real: unclean-election-0.10.2.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-election-requested",
        event="election-requested",
        literal="Starting replica leader election (",
        regex=r"Starting replica leader election \((?P<reason>\w+)\) for partitions (?P<_partitions>.*) triggered by (?P<value>\w+)",
        versions=("2.4", "3.9"),
        loggers=_CONTROLLER,
        explode=each_partition,
        samples=(
            Sample(
                "[2026-11-21 02:01:23,104] INFO [Controller id=1] Starting replica leader election (PREFERRED) for partitions audit-0,"
                "inventory-2 triggered by AdminClientTriggered (kafka.controller.KafkaController)",
                {"node": 1, "topic": "audit", "partition": 0, "reason": "PREFERRED", "value": "AdminClientTriggered"},
                "real: rolling-restart-2.8.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=1] Starting replica leader election (UNCLEAN) for partitions orders-0"
                " triggered by AdminClientTriggered (kafka.controller.KafkaController)",
                {"topic": "orders", "partition": 0, "reason": "UNCLEAN", "value": "AdminClientTriggered"},
                "source: 2.8 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-preferred-requested",
        event="election-requested",
        literal="Starting preferred replica leader election for partitions ",
        regex=r"Starting preferred replica leader election for partitions (?P<_partitions>.*)",
        versions=("0.8.2", "2.3"),
        loggers=_CONTROLLER,
        fixed={"reason": "PREFERRED"},
        explode=each_partition,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3]: Starting preferred replica leader election for partitions"
                " [orders,1],[t-x,0]"
                " (kafka.controller.KafkaController)",
                {"node": 3, "topic": "orders", "partition": 1, "reason": "PREFERRED"},
                "source: 0.10.2 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-preferred-check",
        event="balance-checked",
        literal="Processing automatic preferred replica leader election",
        regex=r"Processing automatic preferred replica leader election",
        versions=("2.3", "3.9"),
        loggers=_CONTROLLER,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=2] Processing automatic preferred replica leader election"
                " (kafka.controller.KafkaController)",
                {"node": 2},
                "source: 2.3 KafkaController",
            ),
        ),
        note="Every leader.imbalance.check.interval.seconds, whether it moves a leader or not.",
    ),
    Pattern(
        name="controller-balance-check",
        event="balance-checked",
        literal="hecking need to trigger ",
        regex=r"[Cc]hecking need to trigger (?:partition rebalance|auto leader balancing)",
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] TRACE [Controller id=2] Checking need to trigger auto leader balancing"
                " (kafka.controller.KafkaController)",
                {"node": 2},
                "source: 2.2 KafkaController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] TRACE [Controller 2]: checking need to trigger partition rebalance"
                " (kafka.controller.KafkaController)",
                {"node": 2},
                "source: 0.10.2 KafkaController",
            ),
        ),
        note="Printed at TRACE, which Kafka's own configuration enables for controller.log.",
    ),
    Pattern(
        name="controller-preferred-selector",
        event="election-requested",
        literal=" is not the preferred replica. ",
        regex=rf"Current leader (?P<previous_leader>-?\d+) for partition {TP} is not the preferred replica\."
        r" Trig\w+ing preferred replica leader election",
        versions=("0.8.2", "1.0"),
        fixed={"reason": "PREFERRED", "value": "selector"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [PreferredReplicaPartitionLeaderSelector]: Current leader 2 for partition [t,0] is not the"
                " preferred replica. Trigerring preferred replica leader election"
                " (kafka.controller.PreferredReplicaPartitionLeaderSelector)",
                {"topic": "t", "partition": 0, "previous_leader": 2},
                "source: 0.10.1 PartitionLeaderSelector",
            ),
        ),
        note="Spelled 'Trigerring' up to 0.10.1.",
    ),
    Pattern(
        name="controller-preferred-completed",
        event="preferred-election",
        literal=" completed preferred replica leader election. New leader is ",
        regex=rf"Partition {TP} completed preferred replica leader election\. New leader is (?P<leader>\d+)",
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=3] Partition orders-1 completed preferred replica leader election. New"
                " leader"
                " is 2 (kafka.controller.KafkaController)",
                {"node": 3, "topic": "orders", "partition": 1, "leader": 2},
                "source: 2.3 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-preferred-failed",
        event="election-failed",
        literal=" failed to complete preferred replica leader election",
        regex=rf"Partition {TP} failed to complete preferred replica leader election(?: to (?P<broker>\d+))?\. Leader is (?:still"
        rf" )?(?P<leader>-?\d+)",
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "PREFERRED"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN [Controller id=3] Partition orders-1 failed to complete preferred replica leader election"
                " to"
                " 1. Leader is still 2 (kafka.controller.KafkaController)",
                {"topic": "orders", "partition": 1, "broker": 1, "leader": 2, "reason": "PREFERRED"},
                "source: 2.3 KafkaController",
            ),
        ),
        note="The partition keeps its leader.",
    ),
    Pattern(
        name="controller-election-incomplete",
        event="election-failed",
        literal="Error completing ",
        regex=r"Error completing (?:preferred )?replica leader election (?:\((?P<_type>\w+)\) )?for partitions? "
        r"(?P<_partitions>(?![^\n]*because controller has moved)[^\n]*)" + EXCEPTION,
        multiline=True,
        inner=True,
        explode=_each_incomplete,
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        fixed={"value": "error"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [Controller id=2] Error completing replica leader election (PREFERRED) for partition orders-1"
                " (kafka.controller.KafkaController)\nkafka.common.StateChangeFailedException: Failed to elect leader for partition orders-1"
                " under strategy PreferredReplicaPartitionLeaderElectionStrategy",
                {
                    "node": 2,
                    "topic": "orders",
                    "partition": 1,
                    "reason": "PREFERRED",
                    "value": "error",
                    "key": "kafka.common.StateChangeFailedException: Failed to elect leader for partition orders-1 under strategy"
                    " PreferredReplicaPartitionLeaderElectionStrategy",
                },
                "source: 3.9 KafkaController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [Controller id=1] Error completing preferred replica leader election for partition orders-1"
                " (kafka.controller.KafkaController)",
                {"node": 1, "topic": "orders", "partition": 1, "reason": "PREFERRED"},
                "source: 2.3 KafkaController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [Controller 3]: Error completing preferred replica leader election for partitions [orders,1]"
                " (kafka.controller.KafkaController)",
                {"node": 3, "topic": "orders", "partition": 1, "reason": "PREFERRED"},
                "source: 0.10.2 KafkaController",
            ),
        ),
        note="The exception names the strategy: the preferred replica was not running or not in the ISR (KAFKA-9866), or no replica of an "
        "offline partition may lead.",
    ),
    Pattern(
        name="controller-unclean-enabled",
        event="config",
        literal="Unclean leader election has been enabled ",
        regex=rf"Unclean leader election has been enabled (?:by default|for topic (?P<topic>{TOPIC}))",
        versions=("2.3", "3.9"),
        loggers=_CONTROLLER,
        fixed={"key": "unclean.leader.election.enable", "value": "true"},
        samples=(
            Sample(
                "[2026-11-21 01:53:40,797] INFO [Controller id=1] Unclean leader election has been enabled for topic orders"
                " (kafka.controller.KafkaController)",
                {"node": 1, "topic": "orders", "key": "unclean.leader.election.enable", "value": "true"},
                "real: unclean-election-2.8.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=1] Unclean leader election has been enabled by default"
                " (kafka.controller.KafkaController)",
                {"topic": None, "value": "true"},
                "source: 2.8 KafkaController",
            ),
        ),
        note="Printed only when the setting is switched on at run time; the controller then tries offline partitions at once.",
    ),
)

_ALTER_ISR: tuple[Pattern, ...] = (
    Pattern(
        name="controller-alter-isr-stale-broker",
        event="isr-rejected",
        literal=" due to stale broker epoch ",
        regex=r"Ignoring Alter(?:Isr|Partition) due to stale broker epoch (?P<broker_epoch>-?\d+)(?: and local broker epoch \S+)?"
        r" for broker (?P<broker>\d+)",
        versions=("2.7", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "stale-broker-epoch"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=1] Ignoring AlterPartition due to stale broker epoch 25 and local broker"
                " epoch"
                " Some(77) for broker 2 (kafka.controller.KafkaController)",
                {"node": 1, "broker": 2, "broker_epoch": 25, "reason": "stale-broker-epoch"},
                "source: 3.3 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-alter-isr-unknown-broker",
        event="isr-rejected",
        literal=" due to unknown broker ",
        regex=r"Ignoring Alter(?:Isr|Partition) due to unknown broker (?P<broker>\d+)",
        versions=("2.7", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "unknown-broker"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=1] Ignoring AlterIsr due to unknown broker 2"
                " (kafka.controller.KafkaController)",
                {"broker": 2, "reason": "unknown-broker"},
                "source: 2.8 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-alter-isr-bad-version",
        event="isr-rejected",
        literal=", bad ZK version",
        regex=rf"Failed to update ISR(?: to (?P<_state>LeaderAndIsr\(.*\)))? for partition {TP}, bad ZK version\.?",
        versions=("2.7", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "bad-zk-version"},
        explode=_with_state,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=1] Failed to update ISR to LeaderAndIsr(leader=2, leaderEpoch=1,"
                " isr=List(2),"
                " zkVersion=4) for partition orders-0, bad ZK version. (kafka.controller.KafkaController)",
                {"topic": "orders", "partition": 0, "leader": 2, "leader_epoch": 1, "isr": [2], "partition_epoch": 4},
                "source: 2.8 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-alter-isr-error",
        event="isr-rejected",
        literal="Failed to update ISR for partition ",
        regex=rf"Failed to update ISR for partition {TP}",
        versions=("2.7", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "error"},
        samples=(
            Sample(
                "[2026-11-21 01:59:17,437] ERROR [Controller id=1] Failed to update ISR for partition events-0"
                " (kafka.controller.KafkaController)",
                {"node": 1, "topic": "events", "partition": 0, "reason": "error"},
                "real: isr-flapping-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-alter-isr-written",
        event="isr-written",
        literal="ISR for partition ",
        regex=rf"ISR for partition {TP} updated to (?:\[(?P<isr>[-\d, ]*)\] and zkVersion updated to \[(?P<partition_epoch>\d+)\]"
        r"|(?P<_state>LeaderAndIsr\(.*\))\.)",
        versions=("2.7", "3.9"),
        loggers=_CONTROLLER,
        explode=_isr_written,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] DEBUG [Controller id=1] ISR for partition orders-0 updated to [2,3] and zkVersion updated to [5]"
                " (kafka.controller.KafkaController)",
                {"topic": "orders", "partition": 0, "isr": [2, 3], "partition_epoch": 5},
                "source: 2.8 KafkaController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] DEBUG [Controller id=1] ISR for partition orders-0 updated to LeaderAndIsr(leader=2,"
                " leaderEpoch=1,"
                " isr=List(2), leaderRecoveryState=RECOVERED, partitionEpoch=4). (kafka.controller.KafkaController)",
                {"event": "partition-state", "reason": "written", "topic": "orders", "isr": [2], "partition_epoch": 4, "leader": 2},
                "source: 3.3 KafkaController",
            ),
        ),
    ),
)

_REASSIGNMENTS: tuple[Pattern, ...] = (
    Pattern(
        name="controller-reassignment-started",
        event="reassignment",
        literal="Handling reassignment of partition ",
        regex=rf"Handling reassignment of partition {TP} to new replicas {_LIST}",
        versions=("0.8.2", "2.3"),
        loggers=_CONTROLLER,
        fixed={"reason": "started"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3]: Handling reassignment of partition [t,0] to new replicas 3,4"
                " (kafka.controller.KafkaController)",
                {"topic": "t", "partition": 0, "replicas": [3, 4], "reason": "started"},
                "source: 0.10.2 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-reassignment-waiting",
        event="reassignment",
        literal=" being reassigned",
        regex=rf"(?:New replicas|Waiting for new replicas) {_LIST} for partition {TP} being reassigned"
        r" (?:not yet caught up|to catch up) with the leader",
        versions=("0.8.2", "2.3"),
        loggers=_CONTROLLER,
        fixed={"reason": "waiting"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3]: New replicas 3,4 for partition [t,0] being reassigned not yet caught up"
                " with"
                " the leader (kafka.controller.KafkaController)",
                {"topic": "t", "partition": 0, "replicas": [3, 4], "reason": "waiting"},
                "source: 0.10.2 KafkaController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=3] Waiting for new replicas 3,4 for partition t-0 being reassigned to"
                " catch up"
                " with the leader (kafka.controller.KafkaController)",
                {"topic": "t", "partition": 0, "replicas": [3, 4], "reason": "waiting"},
                "source: 2.3 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-reassignment-caught-up",
        event="reassignment",
        literal=" replicas have caught up with the leader for partition ",
        regex=rf"(?P<count>\d+)/\d+ replicas have caught up with the leader for partition {TP} being reassigned\. ?"
        rf"(?:Resuming partition reassignment|Replica\(s\) {_LIST} still need to catch up)",
        versions=("0.8.2", "2.3"),
        loggers=_CONTROLLER,
        fixed={"reason": "waiting"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3]: 1/2 replicas have caught up with the leader for partition [t,0] being"
                " reassigned.Replica(s) 4 still need to catch up (kafka.controller.KafkaController)",
                {"topic": "t", "partition": 0, "replicas": [4], "count": 1, "reason": "waiting"},
                "source: 0.10.2 KafkaController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=3] 2/2 replicas have caught up with the leader for partition t-0 being"
                " reassigned. Resuming partition reassignment (kafka.controller.KafkaController)",
                {"topic": "t", "partition": 0, "replicas": None, "count": 2},
                "source: 2.3 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-reassignment-assigned",
        event="reassignment",
        literal="Updated assigned replicas for partition ",
        regex=rf"Updated assigned replicas for partition {TP} being reassigned to {_LIST} ?",
        versions=("0.8.2", "2.3"),
        loggers=_CONTROLLER,
        fixed={"reason": "waiting", "value": "assigned"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3]: Updated assigned replicas for partition [t,0] being reassigned to 1,2,3,4"
                " (kafka.controller.KafkaController)",
                {"topic": "t", "partition": 0, "replicas": [1, 2, 3, 4]},
                "source: 0.10.2 KafkaController",
            ),
            Sample(
                "[2026-11-21 06:03:36,348] INFO [Controller id=1] Updated assigned replicas for partition profile-0 being reassigned to"
                " 3,1,2,4  (kafka.controller.KafkaController)",
                {"topic": "profile", "partition": 0, "replicas": [3, 1, 2, 4]},
                "source: 1.0 KafkaController",
            ),
        ),
        note="Printed twice: with old and new replicas at the start, with the new replicas at the end.",
    ),
    Pattern(
        name="controller-reassignment-updated",
        event="reassignment",
        literal="Successfully updated assignment of partition ",
        regex=rf"Successfully updated assignment of partition {TP} to (?P<_state>\w+\(.*\))",
        versions=("2.4", "3.9"),
        loggers=_CONTROLLER,
        explode=_assignment,
        samples=(
            Sample(
                "[2026-11-21 02:02:40,446] INFO [Controller id=2] Successfully updated assignment of partition profile-0 to"
                " ReplicaAssignment(replicas=1,3,2, addingReplicas=, removingReplicas=) (kafka.controller.KafkaController)",
                {
                    "topic": "profile",
                    "partition": 0,
                    "replicas": [1, 3, 2],
                    "adding_replicas": [],
                    "removing_replicas": [],
                    "reason": "completed",
                },
                "real: reassignment-2.8.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=2] Successfully updated assignment of partition profile-0 to"
                " ReplicaAssignment(replicas=1,3,2,4, addingReplicas=1, removingReplicas=4) (kafka.controller.KafkaController)",
                {"replicas": [1, 3, 2, 4], "adding_replicas": [1], "removing_replicas": [4], "reason": "started"},
                "source: 2.8 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-reassignment-targets",
        event="reassignment",
        literal=" have all caught up with the leader for reassigning partition ",
        regex=rf"Target replicas {_LIST} have all caught up with the leader for reassigning partition {TP}",
        versions=("2.4", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "waiting", "value": "caught-up"},
        samples=(
            Sample(
                "[2026-11-21 02:02:40,359] INFO [Controller id=2] Target replicas ArrayBuffer(1, 3, 2) have all caught up with the leader"
                " for"
                " reassigning partition profile-0 (kafka.controller.KafkaController)",
                {"topic": "profile", "partition": 0, "replicas": [1, 3, 2]},
                "real: reassignment-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-reassignment-leader",
        event="reassignment",
        literal=" being reassigned, is ",
        regex=rf"Leader (?P<leader>-?\d+) for partition {TP} being reassigned, is (?:not|already) in the new list of replicas {_LIST}"
        r"(?:\. (?P<value>Re-electing leader)| (?P<value>and is alive|but is dead))",
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "waiting"},
        samples=(
            Sample(
                "[2026-11-21 02:02:40,482] INFO [Controller id=2] Leader 3 for partition profile-1 being reassigned, is already in the"
                " new list"
                " of replicas 3,2,1 and is alive (kafka.controller.KafkaController)",
                {"leader": 3, "topic": "profile", "partition": 1, "replicas": [3, 2, 1], "value": "and is alive"},
                "real: reassignment-2.8.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3]: Leader 1 for partition [t,0] being reassigned, is not in the new list of"
                " replicas"
                " 3,4. Re-electing leader (kafka.controller.KafkaController)",
                {"leader": 1, "replicas": [3, 4], "value": "Re-electing leader"},
                "source: 0.10.2 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-reassignment-completed",
        event="reassignment",
        literal=" from the list of reassigned partitions in zookeeper",
        regex=r"Remov(?:ed|ing) partitions? (?P<_partitions>.*) from the list of reassigned partitions in zookeeper",
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "completed"},
        explode=each_partition,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=1] Removing partitions Set(t-0, u.v-1) from the list of reassigned"
                " partitions in"
                " zookeeper (kafka.controller.KafkaController)",
                {"topic": "t", "partition": 0, "reason": "completed"},
                "source: 2.3 KafkaController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3]: Removed partition [t,0] from the list of reassigned partitions in zookeeper"
                " (kafka.controller.KafkaController)",
                {"topic": "t", "partition": 0, "reason": "completed"},
                "source: 0.10.2 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-reassignment-failed",
        event="reassignment",
        literal="reassign",
        regex=rf"(?:(?:Error|Failed) completing reassignment of partition {TP}(?: because controller has moved to another broker)?"
        rf"|Error handling reassignment of partition {TP} to replicas {_LIST} as it was never created"
        rf"|Ignoring request to reassign partition {TP} that doesn't exist\."
        rf"|Skipping reassignment of (?:partition )?{TP} (?:for topic \S+ )?since (?:the topic|it) is currently being deleted)",
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "failed"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [Controller id=1] Error completing reassignment of partition t-0 because controller has"
                " moved to"
                " another broker (kafka.controller.KafkaController)",
                {"topic": "t", "partition": 0, "reason": "failed"},
                "source: 2.3 KafkaController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [Controller 3]: Error handling reassignment of partition [t,0] to replicas 3,4 as it was"
                " never"
                " created (kafka.controller.KafkaController)",
                {"topic": "t", "partition": 0, "replicas": [3, 4], "reason": "failed"},
                "source: 0.10.2 KafkaController",
            ),
        ),
    ),
)

_BROKERS_AND_TOPICS: tuple[Pattern, ...] = (
    Pattern(
        name="controller-elected",
        event="controller-elected",
        literal=" successfully elected as ",
        regex=r"(?P<controller>\d+) successfully elected as (?:leader|the controller)"
        r"(?:\. Epoch incremented to (?P<controller_epoch>\d+) and epoch zk version is now \d+)?",
        versions=("0.8.2", "3.9"),
        fixed={"mode": "zookeeper", "reason": "elected"},
        samples=(
            Sample(
                "[2026-11-21 02:02:32,153] INFO [Controller id=2] 2 successfully elected as the controller. Epoch incremented to 1 and"
                " epoch zk"
                " version is now 1 (kafka.controller.KafkaController)",
                {"node": 2, "controller": 2, "controller_epoch": 1},
                "real: reassignment-2.8.2-zk",
            ),
            Sample(
                "[2026-11-21 02:25:14,680] INFO [Controller id=2] 2 successfully elected as the controller"
                " (kafka.controller.KafkaController)",
                {"controller": 2, "controller_epoch": None},
                "real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                "[2026-11-21 03:01:16,716] INFO 3 successfully elected as leader (kafka.server.ZookeeperLeaderElector)",
                {"controller": 3, "controller_epoch": None},
                "real: unclean-election-0.10.2.2-zk",
            ),
        ),
        note="Before 2.1 another line has the controller epoch.",
    ),
    Pattern(
        name="controller-epoch-incremented",
        event="controller-elected",
        literal="ncremented",
        regex=r"(?:Controller \d+ incremented epoch|Incremented epoch|Epoch incremented) to (?P<controller_epoch>\d+)",
        versions=("0.8.2", "2.0"),
        loggers=_CONTROLLER,
        fixed={"reason": "epoch"},
        explode=_by_controller,
        samples=(
            Sample(
                "[2026-11-21 03:01:16,722] INFO [Controller 3]: Controller 3 incremented epoch to 1 (kafka.controller.KafkaController)",
                {"controller": 3, "controller_epoch": 1},
                "real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                "[2026-11-21 02:25:14,695] INFO [Controller id=2] Epoch incremented to 1 (kafka.controller.KafkaController)",
                {"controller": 2, "controller_epoch": 1},
                "real: acks1-failover-1.1.1-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-elected-elsewhere",
        event="controller-elected",
        literal="New leader is ",
        regex=r"New leader is (?P<controller>\d+)",
        versions=("0.8.2", "0.10.2"),
        loggers=("kafka.server.ZookeeperLeaderElector", "kafka.server.ZookeeperLeaderElector$LeaderChangeListener"),
        fixed={"reason": "seen"},
        samples=(
            Sample(
                "[2026-11-21 03:01:17,663] INFO New leader is 3 (kafka.server.ZookeeperLeaderElector$LeaderChangeListener)",
                {"controller": 3, "reason": "seen"},
                "real: unclean-election-0.10.2.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-thread",
        event="controller-thread",
        literal="kafka.controller.ControllerEventManager$ControllerEventThread",
        regex=r"Starting ?",
        versions=("0.11.0", "3.9"),
        loggers=_EVENTS,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [ControllerEventThread controllerId=3] Starting"
                " (kafka.controller.ControllerEventManager$ControllerEventThread)",
                {"node": 3},
                "source: 2.8 ControllerEventManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [controller-event-thread]: Starting "
                " (kafka.controller.ControllerEventManager$ControllerEventThread)",
                {"node": None},
                "source: 1.0 ControllerEventManager",
            ),
        ),
        note="Only KafkaController#startup starts the thread: an election or a new session does not print the line again.",
    ),
    Pattern(
        name="controller-resigned",
        event="controller-resigned",
        literal="Resigned (kafka.controller.KafkaController",
        regex=r"Resigned",
        versions=("1.0", "3.9"),
        loggers=_CONTROLLER,
        explode=_by_controller,
        samples=(
            Sample(
                "[2026-11-21 02:07:43,159] INFO [Controller id=2] Resigned (kafka.controller.KafkaController)",
                {"node": 2, "controller": 2},
                "real: zombie-leader-2.8.2-zk",
            ),
        ),
        note="When a session expires, every broker prints the line, even if it was not the controller (KafkaController, processExpire).",
    ),
    Pattern(
        name="controller-resigned-broker",
        event="controller-resigned",
        literal=" resigned as the controller",
        regex=r"Broker \d+ resigned as the controller",
        versions=("0.9.0", "0.11.0"),
        loggers=_CONTROLLER,
        explode=_by_controller,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3]: Broker 3 resigned as the controller (kafka.controller.KafkaController)",
                {"controller": 3},
                "source: 0.11.0 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-moved",
        event="controller-resigned",
        literal="Controller moved to another broker when processing ",
        regex=r"Controller moved to another broker when processing (?P<value>.*)\.",
        versions=("2.3", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "moved"},
        explode=_by_controller,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=2] Controller moved to another broker when processing BrokerChange."
                " (kafka.controller.KafkaController)",
                {"controller": 2, "reason": "moved", "value": "BrokerChange"},
                "source: 2.8 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-brokers-changed",
        event="brokers-changed",
        literal="Newly added brokers: ",
        regex=r"Newly added brokers: (?P<_added>[^:]*), deleted brokers: (?P<_deleted>[^:]*),"
        r"(?: bounced brokers: (?P<_bounced>[^:]*),)? all live brokers: (?P<_live>[^:]*)",
        versions=("0.8.2", "3.9"),
        explode=_broker_changes,
        fixed={"mode": "zookeeper"},
        samples=(
            Sample(
                "[2026-11-21 02:06:22,721] INFO [Controller id=2] Newly added brokers: , deleted brokers: 3, bounced brokers: , all live"
                " brokers:"
                " 2 (kafka.controller.KafkaController)",
                {"node": 2, "brokers": [3], "reason": "deleted"},
                "real: min-isr-2.8.2-zk",
            ),
            Sample(
                "[2026-11-21 02:33:04,187] INFO [Controller id=4] Newly added brokers: 1,2, deleted brokers: , bounced brokers: , all live"
                " brokers: 1,2,4 (kafka.controller.KafkaController)",
                {"brokers": [1, 2], "reason": "added"},
                "real: mixed-fleet-3.5.2-zk",
            ),
            Sample(
                "[2026-11-21 03:01:17,707] INFO [BrokerChangeListener on Controller 3]: Newly added brokers: 3, deleted brokers: , all live"
                " brokers: 3 (kafka.controller.ReplicaStateMachine$BrokerChangeListener)",
                {"brokers": [3], "reason": "added"},
                "real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=2] Newly added brokers: , deleted brokers: , bounced brokers: 3, all live"
                " brokers:"
                " 2,3 (kafka.controller.KafkaController)",
                {"brokers": [3], "reason": "bounced"},
                "source: 2.8 KafkaController",
            ),
        ),
        note="'bounced' is a restart between two reads from ZooKeeper: the broker epoch changed.",
    ),
    Pattern(
        name="controller-broker-epochs",
        event="broker-epoch-known",
        literal=" broker epochs cache: ",
        regex=r"(?:Initialized|Updated) broker epochs cache: \w*\((?P<_epochs>[\d>, -]*)\)",
        versions=("2.2", "3.9"),
        loggers=_CONTROLLER,
        explode=_broker_epochs,
        fixed={"mode": "zookeeper"},
        samples=(
            Sample(
                "[2026-11-21 03:04:52,752] INFO [Controller id=1] Initialized broker epochs cache: HashMap(1 -> 62) (kafka.controller.KafkaController)",
                {"node": 1, "broker": 1, "broker_epoch": 62},
                "real: last-replica-standing-2.8.2-zk",
            ),
            Sample(
                "[2026-11-21 03:05:19,173] INFO [Controller id=1] Updated broker epochs cache: HashMap(1 -> 108, 2 -> 127)"
                " (kafka.controller.KafkaController)",
                {"node": 1, "broker": 2, "broker_epoch": 127},
                "real: last-replica-standing-2.8.2-zk",
            ),
        ),
        note="A broker gets a new epoch, the czxid of its znode, each time it registers (KIP-380).",
    ),
    Pattern(
        name="controller-brokers-live",
        event="brokers-changed",
        literal="Currently active brokers in the cluster: ",
        regex=rf"Currently active brokers in the cluster: (?P<brokers>{IDS})",
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        fixed={"reason": "live"},
        samples=(
            Sample(
                "[2026-11-21 06:24:46,077] INFO [Controller 2]: Currently active brokers in the cluster: Set(2, 3)"
                " (kafka.controller.KafkaController)",
                {"node": 2, "brokers": [2, 3], "reason": "live"},
                "real: unclean-election-0.8.2.2-zk",
            ),
        ),
        note="The brokers that are registered in ZooKeeper when a controller is elected.",
    ),
    Pattern(
        name="controller-shutdown-seen",
        event="shutdown-seen",
        literal="Shutting down broker ",
        regex=r"Shutting down broker (?P<broker>\d+)",
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        samples=(
            Sample(
                "[2026-11-21 02:00:56,686] INFO [Controller id=2] Shutting down broker 1 (kafka.controller.KafkaController)",
                {"node": 2, "broker": 1},
                "real: rolling-restart-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-log-dir-failure",
        event="log-dir-offline",
        literal="Handling log directory failure for brokers ",
        regex=r"Handling log directory failure for brokers (?P<_ids>[\d, ]*)",
        versions=("2.2", "3.9"),
        loggers=_CONTROLLER,
        explode=_each_broker,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=3] Handling log directory failure for brokers 2,4"
                " (kafka.controller.KafkaController)",
                {"node": 3, "broker": 2},
                "source: 2.8 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-topics-changed",
        event="topic-created",
        literal="], new partition replica assignment [",
        regex=r"New topics: \[(?P<_created>.*?)\], deleted topics: \[(?P<_deleted>.*?)\],"
        r" new partition replica assignment \[(?P<_assignment>.*)\]",
        versions=("0.8.2", "3.9"),
        explode=_topic_changes,
        fixed={"mode": "zookeeper"},
        samples=(
            Sample(
                "[2026-11-21 03:01:20,075] INFO [TopicChangeListener on Controller 3]: New topics: [Set(orders)], deleted topics:"
                " [Set()], new"
                " partition replica assignment [Map([orders,1] -> List(1, 3, 2), [orders,0] -> List(3, 1, 2))]"
                " (kafka.controller.PartitionStateMachine$TopicChangeListener)",
                {"event": "topic-created", "topic": "orders"},
                "real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                "[2026-11-21 02:33:06,300] INFO [Controller id=4] New topics: [HashSet(fast)], deleted topics: [HashSet()], new partition"
                " replica"
                " assignment [Set(TopicIdReplicaAssignment(fast,Some(pLXFhm8sSa6JlcUDLxd_XA),Map(fast-0 ->"
                " ReplicaAssignment(replicas=1,2,3,"
                " addingReplicas=, removingReplicas=))))] (kafka.controller.KafkaController)",
                {"event": "topic-created", "topic": "fast", "topic_id": "pLXFhm8sSa6JlcUDLxd_XA"},
                "source: 3.5 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-topic-deletion",
        event="topic-deletion",
        literal="Starting topic deletion for topics ",
        regex=r"Starting topic deletion for topics (?P<_topics>.*?),?",
        versions=("0.8.2", "3.9"),
        explode=_each_topic,
        fixed={"mode": "zookeeper"},
        samples=(
            Sample(
                "[2026-11-21 02:08:43,382] INFO [Controller id=3] Starting topic deletion for topics staging"
                " (kafka.controller.KafkaController)",
                {"node": 3, "topic": "staging"},
                "real: delete-recreate-retention-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-topics-to-be-deleted",
        event="topic-deletion",
        literal="List of topics to be deleted: ",
        regex=r"List of topics to be deleted: (?P<_topics>\S.*)",
        versions=("0.8.2", "3.9"),
        loggers=_CONTROLLER,
        explode=_each_topic,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=1] List of topics to be deleted: clicks,orders (kafka.controller.KafkaController)",
                {"node": 1, "topic": "clicks"},
                "source: 2.8 KafkaController",
            ),
        ),
        note="Printed by a new controller: the deletions were requested earlier and continue now.",
    ),
    Pattern(
        name="controller-topic-deletion-handled",
        event="topic-deletion",
        literal="Handling deletion for topics ",
        regex=r"Handling deletion for topics (?P<_topics>.*)",
        versions=("0.8.2", "3.9"),
        loggers=("kafka.controller.TopicDeletionManager", "kafka.controller.TopicDeletionManager$DeleteTopicsThread"),
        explode=_each_topic,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Topic Deletion Manager 3] Handling deletion for topics staging"
                " (kafka.controller.TopicDeletionManager)",
                {"topic": "staging"},
                "source: 2.8 TopicDeletionManager",
            ),
        ),
    ),
    Pattern(
        name="controller-topic-deletion-started",
        event="topic-deletion",
        literal=" (re)started",
        regex=rf"Deletion of topic (?P<topic>{TOPIC}) \(re\)started",
        versions=("0.8.2", "3.9"),
        loggers=("kafka.controller.TopicDeletionManager", "kafka.controller.TopicDeletionManager$DeleteTopicsThread"),
        samples=(
            Sample(
                "[2026-11-21 02:08:43,386] INFO [Topic Deletion Manager 3] Deletion of topic staging (re)started"
                " (kafka.controller.TopicDeletionManager)",
                {"topic": "staging"},
                "real: delete-recreate-retention-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="controller-topic-deleted",
        event="topic-deleted",
        literal=" successfully completed",
        regex=rf"Deletion of topic (?P<topic>{TOPIC}) successfully completed",
        versions=("0.8.2", "3.9"),
        loggers=("kafka.controller.TopicDeletionManager", "kafka.controller.TopicDeletionManager$DeleteTopicsThread"),
        samples=(
            Sample(
                "[2026-11-21 02:08:43,691] INFO [Topic Deletion Manager 3] Deletion of topic staging successfully completed"
                " (kafka.controller.TopicDeletionManager)",
                {"topic": "staging"},
                "real: delete-recreate-retention-2.8.2-zk",
            ),
        ),
    ),
)


_STEPS: tuple[Pattern, ...] = (
    Pattern(
        name="controller-handling-failed",
        event="controller-step-failed",
        literal="Error while handling ",
        regex=r"Error while (?P<value>handling (?:new topic|add partitions for data path [^\n]*|broker changes|partition reassignment))"
        + EXCEPTION,
        multiline=True,
        inner=True,
        explode=with_exception,
        versions=("0.8.2", "0.10.2"),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [BrokerChangeListener on Controller 3]: Error while handling broker changes"
                " (kafka.controller.ReplicaStateMachine$BrokerChangeListener)\njava.lang.IllegalStateException: Controller to broker state"
                " change requests batch is not empty while creating a new one.",
                {
                    "node": 3,
                    "value": "handling broker changes",
                    "key": "java.lang.IllegalStateException: Controller to broker state change requests batch is not empty while creating"
                    " a new one.",
                },
                "source: 0.8.2 ReplicaStateMachine",
            ),
        ),
        note="The listener goes on with the next change of ZooKeeper; what it had decided until then is partly done.",
    ),
    Pattern(
        name="controller-moving-failed",
        event="controller-step-failed",
        literal="Error while moving some ",
        regex=r"Error while (?P<value>moving some (?:partitions|replicas) to [^\n]*)" + EXCEPTION,
        multiline=True,
        inner=True,
        explode=with_exception,
        versions=("0.8.2", "3.9"),
        loggers=(
            "kafka.controller.PartitionStateMachine",
            "kafka.controller.ZkPartitionStateMachine",
            "kafka.controller.ReplicaStateMachine",
            "kafka.controller.ZkReplicaStateMachine",
        ),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [PartitionStateMachine controllerId=2] Error while moving some partitions to"
                " OnlinePartition state (kafka.controller.ZkPartitionStateMachine)\njava.lang.IllegalStateException: no",
                {"node": 2, "value": "moving some partitions to OnlinePartition state", "key": "java.lang.IllegalStateException: no"},
                "source: 3.9 PartitionStateMachine",
            ),
        ),
    ),
    Pattern(
        name="controller-election-of-itself-failed",
        event="controller-step-failed",
        literal="Error while electing or becoming ",
        regex=r"Error while (?P<value>electing or becoming (?:controller|leader)) on broker \d+"
        r"(?:\. Trigger controller movement immediately)?" + EXCEPTION,
        multiline=True,
        inner=True,
        explode=with_exception,
        versions=("0.8.2", "3.9"),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [Controller id=3] Error while electing or becoming controller on broker 3. Trigger controller"
                " movement immediately (kafka.controller.KafkaController)\njava.lang.NullPointerException",
                {"node": 3, "value": "electing or becoming controller", "key": "java.lang.NullPointerException"},
                "source: 3.9 KafkaController",
            ),
        ),
        note="The broker resigns, and another one is elected.",
    ),
    Pattern(
        name="controller-epoch-not-incremented",
        event="controller-step-failed",
        literal="Error while incrementing controller epoch",
        regex=r"Error while (?P<value>incrementing controller epoch)" + EXCEPTION,
        multiline=True,
        inner=True,
        explode=with_exception,
        versions=("0.8.2", "2.0"),
        loggers=_CONTROLLER,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [Controller 3]: Error while incrementing controller epoch (kafka.controller.KafkaController)",
                {"node": 3, "value": "incrementing controller epoch"},
                "source: 0.10.2 KafkaController",
            ),
        ),
    ),
    Pattern(
        name="controller-event-failed",
        event="controller-step-failed",
        literal="Error processing event ",
        regex=r"Error (?P<value>processing event [\w$]+)[^\n]*" + EXCEPTION,
        multiline=True,
        inner=True,
        explode=with_exception,
        versions=("0.11.0", "3.9"),
        loggers=(*_CONTROLLER, *_EVENTS),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [Controller id=1] Error processing event BrokerChange (kafka.controller.KafkaController)"
                "\njava.lang.IllegalStateException: no",
                {"node": 1, "value": "processing event BrokerChange", "key": "java.lang.IllegalStateException: no"},
                "source: 3.9 KafkaController",
            ),
        ),
        note="The controller goes on with the next event.",
    ),
)


PATTERNS: tuple[Pattern, ...] = (
    *_STATES,
    *_ELECTIONS,
    *_ALTER_ISR,
    *_REASSIGNMENTS,
    *_BROKERS_AND_TOPICS,
    *_STEPS,
)
