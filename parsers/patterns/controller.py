"""What the ZooKeeper controller prints: elections, partition states, reassignments, brokers coming and going, topics.

Here: state-change.log as the controller writes it (up to 0.11 the text itself starts `Controller N epoch E `, later that is
a prefix) and controller.log. Not here: what brokers make of its requests (leadership), the KRaft controller (kraft).
`partition_state` reads every spelling in which Kafka prints the state of a partition.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from parsers.patterns.pattern import IDS, TOPIC, TP, Pattern, Sample, Statement, column, recognised
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


def partition_state(text: str) -> Row:
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


def _with_state(row: Row) -> Iterator[Row]:
    groups = row["_groups"]
    state = partition_state(groups["_state"] or "") | partition_state(groups.get("_assignment") or "")
    if groups.get("_new"):
        state["value"] = f"{groups['_old']}->{groups['_new']}"
    # the prefix names the epoch of the writer, the state that of the controller which last changed it
    for made in _by_controller(row):
        yield {**state, **{name: value for name, value in made.items() if value is not None}}


def _isr_written(row: Row) -> Iterator[Row]:
    """From 3.0 on with the whole state."""
    for made in _with_state(row):
        yield {**made, "event": "partition-state", "reason": "written"} if made.get("leader_epoch") is not None else made


def _transition(row: Row) -> Iterator[Row]:
    groups = row["_groups"]
    yield {**row, "reason": f"{groups['_old']}->{groups['_new']}"}


def _leader_after(row: Row) -> Iterator[Row]:
    groups = row["_groups"]
    yield {**row, "value": f"{groups['_old']}->{groups['_new']}"}


def _last_isr(row: Row) -> Iterator[Row]:
    for made in _by_controller(row):
        yield {**made, "isr": [row["broker"]]}


def _each_partition(row: Row) -> Iterator[Row]:
    for partition in partitions(row["_groups"]["_partitions"]):
        yield {**row, **partition}


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
        fixed={"reason": "decided"},
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
        note="From 1.1 the ZooKeeper controller has no word for an unclean election: it is this line with a leader outside the last ISR.",
    ),
    Pattern(
        name="controller-partition-leader",
        event="partition-state",
        literal="Partition with leader ",
        regex=rf"[Cc]hanged partition {TP} {_FROM_TO} with leader (?P<leader>-?\d+)",
        versions=("0.8.2", "1.0"),
        loggers=_STATE_CHANGE,
        fixed={"reason": "decided"},
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
        fixed={"reason": "decided", "value": "elected"},
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
        fixed={"reason": "decided"},
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
        note="The cause is in the exception below: 'under strategy OfflinePartitionLeaderElectionStrategy(false)' is a forbidden unclean"
        " election.",
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
        fixed={"reason": "sent"},
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
        fixed={"reason": "sent"},
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
        explode=_each_partition,
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
        fixed={"reason": "decided", "value": "OfflinePartition->OnlinePartition"},
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
        note="A reassignment bumps the epoch without changing the leader.",
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
        explode=_each_partition,
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
        explode=_each_partition,
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
        note="TRACE, which controller.log has by default.",
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
        note="The partition keeps the leader it has.",
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
        note="Printed twice: old and new replicas together at the start, the new ones alone at the end.",
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
        explode=_each_partition,
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
        fixed={"reason": "elected"},
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
        note="Before 2.1 the epoch stands in a line of its own.",
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
        note="KafkaController#startup alone starts it: an election or a new session does not print it again.",
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
        note="An expired session prints it on every broker, also on one that was not the controller (KafkaController, processExpire).",
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
        note="'bounced' is a restart between two looks at ZooKeeper: the broker epoch changed.",
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
        note="Those that a controller finds registered in ZooKeeper when it is elected.",
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
        note="Of a controller that takes over: their deletion was asked for before, and goes on now.",
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

_SELECTORS = (
    "kafka.controller.OfflinePartitionLeaderSelector",
    "kafka.controller.ReassignedPartitionLeaderSelector",
    "kafka.controller.PreferredReplicaPartitionLeaderSelector",
    "kafka.controller.ControlledShutdownLeaderSelector",
    "kafka.controller.NoOpLeaderSelector",
)
_PARTITION_MACHINE = ("kafka.controller.PartitionStateMachine", "kafka.controller.ZkPartitionStateMachine")
_REPLICA_MACHINE = ("kafka.controller.ReplicaStateMachine", "kafka.controller.ZkReplicaStateMachine")
_MACHINES = _PARTITION_MACHINE + _REPLICA_MACHINE
_DELETION = ("kafka.controller.TopicDeletionManager", "kafka.controller.TopicDeletionManager$DeleteTopicsThread")
_SEND = ("kafka.controller.RequestSendThread",)
_CHANNEL = ("kafka.controller.ControllerChannelManager", "kafka.controller.ControllerBrokerRequestBatch")

_IRRELEVANT: tuple[Statement, ...] = (
    ("replica-state", "hanged state of replica ", "[Cc]{}.*", ("0.8.2", "3.9"), _STATE_CHANGE,
     "[Controller id=1 epoch=2] Changed state of replica 2 for partition t-0 from NewReplica to OnlineReplica"),
    ("replica-state-failed", "nitiated state change of replica ", "(?:Controller \\d+ epoch \\d+ )?[Ii]{}.*", ("0.8.2", "3.9"),
     _STATE_CHANGE,
     "Controller 2 epoch 3 initiated state change of replica 1 for partition [t,0] from NewReplica to OnlineReplica failed"),
    ("election-begins", "tarted leader election for partition ", "[Ss]{}.*", ("0.8.2", "1.0"), _STATE_CHANGE,
     "Controller 3 epoch 1 started leader election for partition [orders,1]"),
    ("state-change-failed", " failed to change state for partition ", "(?:Controller \\d+ epoch \\d+){}.* to (?!OnlinePartition)\\w+",
     ("1.1", "3.9"),
     _STATE_CHANGE, "[Controller id=1 epoch=3] Controller 1 epoch 3 failed to change state for partition t-0 from OnlinePartition to"
     " NewPartition"),
    ("initiated-failed", "nitiated state change for partition ", "[Ii]{}.* to (?!OnlinePartition)\\w+ failed", ("0.8.2", "1.0"),
     _STATE_CHANGE,
     "Controller 2 epoch 3 initiated state change for partition [t,0] from OnlinePartition to NewPartition failed"),
    ("replica-unassigned", " that is not part of the assignment ", "Adding replica \\(\\d+\\){}.*", ("2.5", "3.9"), _REPLICA_MACHINE,
     "[ReplicaStateMachine controllerId=2] Adding replica (4) that is not part of the assignment ReplicaAssignment(replicas=1,2,"
     " addingReplicas=, removingReplicas=)"),
    ("listener-triggered", " triggered ", "(?:Add Partition|Partition modification){}.* for path .*", ("0.8.2", "0.10.2"), (),
     "[AddPartitionsListener on 3]: Add Partition triggered {} for path /brokers/topics/t"),
    ("handling-error", "Error while handling ", "{}(?:new topic|add partitions for data path .*|broker changes|partition reassignment)",
     ("0.8.2", "0.10.2"), (), "[BrokerChangeListener on Controller 3]: Error while handling broker changes"),
    ("deletion-idle", "Waiting for signal to start or continue topic deletion", "{}", ("0.8.2", "0.10.2"), (),
     "[delete-topics-thread-3], Waiting for signal to start or continue topic deletion"),
    ("info-unparsed", "Failed to parse the controller info as json. ", "{}.*", ("0.8.2", "1.0"), (),
     "Failed to parse the controller info as json. Probably this controller is still using the old format [3] to store the broker id in"
     " zookeeper"),
    ("notification-unparsed", "Invalid topic and partition JSON", "{}.*", ("0.9.0", "1.0"), (),
     "[Controller 3]: Invalid topic and partition JSON: None in ZK: /isr_change_notification/isr_change_0000000001"),
    ("assignment-written", " for replica assignment", "Updated path .* with .*{}", ("0.8.2", "1.0"), _CONTROLLER,
     "[Controller 3]: Updated path /brokers/topics/t with {} for replica assignment"),
    ("preferred-waiting", "PreferredReplicaLeaderElection waiting: ", "{}.*", ("2.2", "2.3"), _CONTROLLER,
     "[Controller id=3] PreferredReplicaLeaderElection waiting: Set(t-0), results: Map()"),
    ("update-metadata-sending", "ending UpdateMetadata request ", "[Ss]{}.*", ("0.8.2", "3.9"), _STATE_CHANGE,
     "[Controller id=2 epoch=1] Sending UpdateMetadata request to brokers HashSet(2) for 0 partitions"),
    ("leader-and-isr-counts", "Sending LeaderAndIsr request to broker ", "{}.*", ("2.6", "3.9"), _STATE_CHANGE,
     "[Controller id=3 epoch=1] Sending LeaderAndIsr request to broker 1 with 0 become-leader and 1 become-follower partitions"),
    ("stop-replica-sending", "Sending StopReplica request ", "{}.*", ("2.6", "3.9"), _STATE_CHANGE,
     "[Controller id=2 epoch=1] Sending StopReplica request for 1 replicas to broker 4"),
    ("response", "eceived response ", "[Rr]{}.*", ("0.8.2", "3.9"), _STATE_CHANGE,
     "[Controller id=1 epoch=1] Received response {error_code=0,_tagged_fields={}} for request UPDATE_METADATA with correlation id 0 sent"
     " to"
     " broker 127.0.0.1:48081 (id: 2 rack: null)"),
    ("response-error", "Received error ", "{}.*", ("1.0", "3.9"), _STATE_CHANGE,
     "[Controller id=1 epoch=1] Received error NONE in UpdateMetadata response UpdateMetadataResponseData(errorCode=11) from broker 2"),
    ("reassignment-send-failed", "ailed to send LeaderAndIsr request with new ", "[Ff]{}.*", ("0.8.2", "3.9"), _STATE_CHANGE,
     "Controller 2 epoch 3 failed to send LeaderAndIsr request with new assigned replica list 1,2 to leader for partition being"
     " reassigned [t,0]"),
    ("stop-replica-debug", "The stop replica request ", "{}.*", ("0.8.2", "2.5"), _CHANNEL,
     "The stop replica request (delete = false) sent to broker 1 is [Topic=payments,Partition=2,Replica=1]"),
    ("producer-block", " producerId block", "(?:There is no|Read current|Acquired new){}.*", ("3.0", "3.9"), _CONTROLLER,
     "[Controller id=1] Acquired new producerId block ProducerIdsBlock(assignedBrokerId=1, firstProducerId=0, size=1000) by writing to Zk"
     " with path version 1"),
    ("connecting", " trying to connect to broker ", "Controller \\d+{}.*", ("0.8.2", "3.9"), _CHANNEL,
     "[Channel manager on controller 2]: Controller 2 trying to connect to broker 1"),
    ("not-sending", "Not sending request ", "{}.*", ("0.8.2", "3.9"), _CHANNEL,
     "[Channel manager on controller 3]: Not sending request (type=LeaderAndIsRequest, controllerId=3) to broker 1, since it is offline."),
    ("removing-broker", "Error while removing broker by the controller", "{}", ("0.8.2", "3.9"), _CHANNEL,
     "[Channel manager on controller 3]: Error while removing broker by the controller"),
    ("leader-not-assigned", "Leader not yet assigned for partition ", "{}.*", ("0.8.2", "3.9"), (),
     "Leader not yet assigned for partition [t,0]. Skip sending UpdateMetadataRequest."),
    ("requests-pending", "Haven't been able to send ", "{}.*", ("0.9.0", "3.9"), (),
     "Haven't been able to send leader and isr requests, current state of the map is $leaderAndIsrRequestMap. Exception message: $e"),
    ("send-failed", " fails to send ", "Controller \\d+(?: epoch \\d+)?{}.*", ("0.8.2", "3.9"), _SEND,
     "[RequestSendThread controllerId=3] Controller 3 fails to send a request to broker 127.0.0.1:58067 (id: 1 rack: null)"),
    ("connected", " for sending state change requests", "Controller \\d+ connected to .*{}", ("0.8.2", "3.9"), _SEND,
     "[Controller-3-to-broker-3-send-thread], Controller 3 connected to 127.0.0.1:40555 (id: 3 rack: null) for sending state change"
     " requests"),
    ("connection-failed", "'s connection to broker ", "Controller \\d+{}.* was unsuccessful", ("0.8.2", "3.9"), _SEND,
     "[RequestSendThread controllerId=2] Controller 2's connection to broker 127.0.0.1:44469 (id: 3 rack: null) was unsuccessful"),
    ("selector-no-isr", "Pick the leader from the alive assigned replicas: ", "No broker in ISR is alive for .*{}.*", ("0.8.2", "1.0"),
     _SELECTORS, "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for [orders,1]. Pick the leader from the alive assigned"
     " replicas: "),
    ("selector-isr", "Some broker in ISR is alive for ", "{}.*", ("0.8.2", "1.0"), _SELECTORS,
     "[OfflinePartitionLeaderSelector]: Some broker in ISR is alive for [orders,1]. Select 3 from ISR 3 to be the leader."),
    ("selector-shutdown", " : current leader = ", "Partition .*{}.*", ("0.8.2", "1.0"), _SELECTORS,
     "[ControlledShutdownLeaderSelector]: Partition [t,0] : current leader = 1, new leader = 2"),
    ("selector-no-op", "I should never have been asked to perform leader election", "{}.*", ("0.8.2", "1.0"), _SELECTORS,
     "[NoOpLeaderSelector]: I should never have been asked to perform leader election, returning the current LeaderAndIsr and replica"
     " assignment."),
    ("send-thread", "kafka.controller.RequestSendThread", "(?:Starting|Stopped|Shutting down|Shutdown completed|shutdownInitiated .*) ?",
     ("0.8.2", "3.9"), _SEND,
     "[Controller-3-to-broker-3-send-thread], Starting "),
    ("event-thread", "kafka.controller.ControllerEventManager$ControllerEventThread",
     "(?:Stopped|Shutting down|Shutdown completed|shutdownInitiated .*) ?", ("0.11.0", "3.9"), _EVENTS,
     "[ControllerEventThread controllerId=3] Stopped"),
    ("machine-started", " state machine with initial state -> ", "Started (?:partition|replica){}.*", ("0.8.2", "3.9"), _MACHINES,
     "[ReplicaStateMachine controllerId=1] Started replica state machine with initial state -> Map()"),
    ("machine-stopped", " state machine", "Stopped (?:partition|replica){}", ("0.8.2", "3.9"), _MACHINES,
     "[PartitionStateMachine controllerId=2] Stopped partition state machine"),
    ("machine-initializing", "Initializing ", "{}(?:partition|replica) state", ("1.1", "3.9"), _MACHINES,
     "[PartitionStateMachine controllerId=2] Initializing partition state"),
    ("machine-triggering", "Triggering o", "{}\\w+ (?:partition|replica) state changes", ("1.1", "3.9"), _MACHINES,
     "[ReplicaStateMachine controllerId=2] Triggering offline replica state changes"),
    ("machine-invoking", "Invoking state change to ", "{}.*", ("0.8.2", "1.0"), _MACHINES,
     "[Partition state machine on Controller 3]: Invoking state change to NewPartition for partitions [orders,1],[orders,0]"),
    ("machine-error", "Error while moving some ", "{}.*", ("0.8.2", "3.9"), _MACHINES,
     "[PartitionStateMachine controllerId=2] Error while moving some partitions to OnlinePartition state"),
    ("machine-moved", "Controller moved to another broker when ", "{}.*", ("2.1", "3.9"), _MACHINES,
     "[PartitionStateMachine controllerId=2] Controller moved to another broker when moving some partitions to OnlinePartition state"),
    ("machine-retry", "Retrying leader election with strategy ", "{}.*", ("2.4", "3.9"), _MACHINES,
     "[PartitionStateMachine controllerId=2] Retrying leader election with strategy OfflinePartitionLeaderElectionStrategy(false) for"
     " partitions ArrayBuffer(t-0)"),
    ("machine-zk-conflict", "but failed with bad ZK version. This will be retried.", ".*{}", ("2.7", "3.9"), _MACHINES,
     "[PartitionStateMachine controllerId=2] Controller failed to elect leader for partition t-0. Attempted to write state"
     " LeaderAndIsr(leader=2, leaderEpoch=1, isr=List(2), zkVersion=4), but failed with bad ZK version. This will be retried."),
    ("machine-live-replicas", "Live assigned replicas for partition ", "{}.*", ("0.8.2", "1.0"), _MACHINES,
     "[Partition state machine on Controller 3]: Live assigned replicas for partition [orders,1] are: [List(1, 3, 2)]"),
    ("machine-first-leader", "Initializing leader and isr for partition ", "{}.*", ("0.8.2", "1.0"), _MACHINES,
     "[Partition state machine on Controller 3]: Initializing leader and isr for partition [orders,1] to (Leader:1,ISR:1,3,2,LeaderEpoch:0,"
     "ControllerEpoch:1)"),
    ("machine-leader-cache", "After leader election, leader cache ", "{}.*", ("0.8.2", "1.0"), _MACHINES,
     "[Partition state machine on Controller 3]: After leader election, leader cache is updated to Map([payments,2] -> (Leader:2,ISR:2,1,3,"
     "LeaderEpoch:0,ControllerEpoch:1))"),
    ("machine-deleted", "Are all replicas for topic ", "{}.*", ("0.8.2", "1.0"), _MACHINES,
     "[Replica state machine on controller 3]: Are all replicas for topic t deleted Map()"),
    ("listener-fired", "istener fired", "[\\w ]*[Ll]{}.*", ("0.8.2", "3.9"), (),
     "[BrokerChangeListener on Controller 3]: Broker change listener fired for path /brokers/ids with children 3"),
    ("listener-fired-isr", "Fired!!!", "{}.*", ("0.8.2", "1.0"), (), "[IsrChangeNotificationListener] Fired!!!"),
    ("listener-isr", "IsrChangeNotificationListener", "(?:Registering |De-registering |\\[){}.*", ("0.9.0", "1.0"), (),
     "[Controller 3]: Registering IsrChangeNotificationListener"),
    ("listener-log-dir", "ogDirEventNotificationListener", "(?:Registering|De-registering) l{}", ("1.0", "1.0"), (),
     "[Controller id=3] Registering logDirEventNotificationListener"),
    ("metadata-request", "Sending MetadataRequest to Brokers:", "{}.*", ("0.9.0", "3.9"), (),
     "[Controller id=1] Sending MetadataRequest to Brokers: Vector(1, 2) for TopicPartitions: ArrayBuffer(events-0)"),
    ("isr-removing", "Removing replica ", "{}\\d+ from ISR .*", ("0.8.2", "1.0"), _CONTROLLER,
     "[Controller 3]: Removing replica 2 from ISR 3,2 for partition [orders,0]."),
    ("isr-remove-empty", " - leaderAndIsr is empty.", "Cannot remove replica .*{}", ("0.8.2", "1.0"), _CONTROLLER,
     "[Controller 3]: Cannot remove replica 2 from ISR of [t,0] - leaderAndIsr is empty."),
    ("isr-adjusting", "Updating ISRs for partitions: ", "{}.*", ("2.7", "3.9"), _CONTROLLER,
     "[Controller id=1] Updating ISRs for partitions: Map(t-0 -> LeaderAndIsr(leader=2, leaderEpoch=1, isr=List(2), zkVersion=4))."),
    ("isr-processing-error", "Error when processing Alter", "{}.*", ("2.7", "3.9"), _CONTROLLER,
     "[Controller id=1] Error when processing AlterIsr for partitions: Set(t-0)"),
    ("epoch-updating", "Updating leader epoch for partition ", "{}.*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=1] Updating leader epoch for partition t-0"),
    ("assignment-updating", "Updating assignment of partition ", "{}.*", ("2.4", "3.9"), _CONTROLLER,
     "[Controller id=1] Updating assignment of partition t-0 from ReplicaAssignment(replicas=1, addingReplicas=, removingReplicas=) to"
     " ReplicaAssignment(replicas=1,2, addingReplicas=2, removingReplicas=)"),
    ("assigned-already", " is already assigned to replicas ", "Partition .*{}.*", ("1.1", "2.3"), _CONTROLLER,
     "[Controller id=1] Partition t-0 to be reassigned is already assigned to replicas List(1, 2). Ignoring request for partition"
     " reassignment."),
    ("reassignment-zk", "Failed reassignment through zk with the following errors: ", "{}.*", ("2.4", "3.9"), _CONTROLLER,
     "[Controller id=1] Failed reassignment through zk with the following errors: Map(t-0 -> ApiError)"),
    ("reassignment-none-left", "No more partitions need to be reassigned. ", "{}.*", ("1.1", "3.9"), _CONTROLLER,
     "[Controller id=1] No more partitions need to be reassigned. Deleting zk path /admin/reassign_partitions"),
    ("epoch-initialized", "Initialized controller epoch to ", "{}.*", ("0.8.2", "2.0"), _CONTROLLER,
     "[Controller 2]: Initialized controller epoch to 1 and zk version 0"),
    ("epoch-zk", "ing controller epoch", "(?:Read|Increment|Error while increment){}(?: from ZooKeeper| in ZooKeeper)?", ("0.8.2", "2.0"),
     _CONTROLLER, "[Controller id=2] Incrementing controller epoch in ZooKeeper"),
    ("become", "tarting become controller state transition", "(?:Broker \\d+ s|S){}", ("0.8.2", "1.0"), _CONTROLLER,
     "[Controller 3]: Broker 3 starting become controller state transition"),
    ("ready", "eady to serve as the new controller with epoch ", "(?:Broker \\d+ is r|R){}\\d+", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Ready to serve as the new controller with epoch 1"),
    ("startup", "Controller start", "{}(?:ing up|up complete)", ("0.8.2", "0.10.2"), _CONTROLLER,
     "[Controller 3]: Controller startup complete"),
    ("startup-aborted", "Controller has been shut down, aborting startup/failover", "{}", ("0.8.2", "0.10.2"), _CONTROLLER,
     "[Controller 3]: Controller has been shut down, aborting startup/failover"),
    ("resigning", "esigning", "(?:R|Controller r){}.*", ("0.9.0", "3.9"), _CONTROLLER, "[Controller id=3] Resigning"),
    ("resign-forced", "Forcing the controller to resign", "{}", ("0.9.0", "3.9"), _CONTROLLER,
     "[Controller id=3] Forcing the controller to resign"),
    ("election-over", " as controller", ".*(?:was elected){}.*", ("0.11.0", "3.9"), _CONTROLLER,
     "[Controller id=3] Broker 1 was elected as controller instead of broker 3"),
    ("election-stopping", ", so stopping the election process.", ".*{}", ("0.8.2", "3.9"), (),
     "[Controller id=3] Broker 2 has been elected as the controller, so stopping the election process."),
    ("election-round", " has been elected but just resigned, this will result in another round of election", "A (?:controller|leader){}",
     ("0.8.2", "3.9"), (),
     "[Controller id=3] A controller has been elected but just resigned, this will result in another round of election"),
    ("election-lost", " was elected as leader instead of broker ", "Broker \\d+{}\\d+", ("0.8.2", "0.10.2"), (),
     "Broker 1 was elected as leader instead of broker 3"),
    ("election-error-logged", "Error while electing or becoming ", "{}.*", ("0.8.2", "3.9"), (),
     "[Controller id=3] Error while electing or becoming controller on broker 3. Trigger controller movement immediately"),
    ("already-moved", "Controller has already moved when trying to trigger controller movement", "{}", ("2.1", "3.9"), _CONTROLLER,
     "[Controller id=3] Controller has already moved when trying to trigger controller movement"),
    ("event-error", "Error processing event ", "{}.*", ("2.0", "3.9"),
     (*_CONTROLLER, "kafka.controller.ControllerEventManager$ControllerEventThread"),
     "[Controller id=1] Error processing event RegisterBrokerAndReelect"),
    ("shutdown-event", "Received a ShutdownEventThread event.", "{}.*", ("2.4", "3.9"), _CONTROLLER,
     "[Controller id=1] Received a ShutdownEventThread event. This type of event is supposed to be handle by ControllerEventThread"),
    ("zk-expired", "ZK expired", "{}.*", ("0.8.2", "0.10.2"), (),
     "[SessionExpirationListener on 3], ZK expired; shut down all controller components and try to re-elect"),
    ("starting-scheduler", " scheduler (kafka.controller", "(?:[Ss]tarting|Shutting down) the (?:controller|partition rebalance|token expiry"
     " check) scheduler", ("0.8.2", "3.9"), _CONTROLLER, "[Controller id=2] Starting the controller scheduler"),
    ("registering-handlers", "Registering handlers", "{}", ("1.1", "3.9"), _CONTROLLER, "[Controller id=2] Registering handlers"),
    ("deleting-notifications", "Deleting ", "{}(?:log dir event|isr change) notifications", ("1.1", "3.9"), _CONTROLLER,
     "[Controller id=2] Deleting isr change notifications"),
    ("initializing-context", "Initializing ", "{}(?:controller context|topic deletion manager)", ("1.1", "3.9"), _CONTROLLER,
     "[Controller id=2] Initializing controller context"),
    ("fetching-deletions", "Fetching topic deletions in progress", "{}", ("1.1", "3.9"), _CONTROLLER,
     "[Controller id=2] Fetching topic deletions in progress"),
    ("metadata-update", "Sending update metadata request", "{}", ("1.1", "3.9"), _CONTROLLER,
     "[Controller id=2] Sending update metadata request"),
    ("currently", "Currently shutting ", "{}brokers in the cluster: .*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Currently shutting brokers in the cluster: Set()"),
    ("current-topics", "Current list of topics in the cluster: ", "{}.*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=1] Current list of topics in the cluster: Set(clicks)"),
    ("deletion-list", "List of topics ", "{}(?:to be deleted: ?|ineligible for deletion: .*)", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=1] List of topics ineligible for deletion: clicks"),
    ("partitions-list", "artitions being reassigned: ", "P{}.*", ("0.8.2", "2.3"), _CONTROLLER,
     "[Controller id=2] Partitions being reassigned: Map()"),
    ("partitions-reassigned", "Partitions already reassigned: ", "{}.*", ("0.8.2", "1.0"), _CONTROLLER,
     "[Controller id=2] Partitions already reassigned: Set()"),
    ("partitions-undergoing", "Partitions undergoing preferred replica election: ", "{}.*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Partitions undergoing preferred replica election: "),
    ("partitions-completed", "Partitions that completed preferred replica election: ", "{}.*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Partitions that completed preferred replica election: "),
    ("resuming", "Resuming ", "{}(?:preferred replica election for partitions|reassignment of partitions): .*", ("0.8.2", "3.9"),
     _CONTROLLER,
     "[Controller id=2] Resuming preferred replica election for partitions: "),
    ("election-skipped", "Skipping preferred replica ", "{}(?:leader )?election .*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Skipping preferred replica election for partitions due to topic deletion: "),
    ("election-of-replica-skipped", "Skipping replica leader election ", "{}.*", ("2.4", "3.9"), _CONTROLLER,
     "[Controller id=2] Skipping replica leader election (PREFERRED) for partition t-0 by AutoTriggered since it doesn't exist."),
    ("partitions-not-added", "Skipping adding partitions ", "{}.*", ("0.8.2", "3.9"), (),
     "[Controller id=2] Skipping adding partitions t-3 for topic t since it is currently being deleted"),
    ("election-error-completing", "Error completing ", "{}(?:preferred )?replica (?:leader )?election .*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Error completing replica leader election (PREFERRED) for partition t-0"),
    ("election-undergoing", "These partitions are already undergoing preferred replica election: ", "{}.*", ("0.8.2", "0.10.2"),
     _CONTROLLER,
     "[Controller 3]: These partitions are already undergoing preferred replica election: Set()"),
    ("election-waiting", " for election type (", "Waiting for any successful result{}.*", ("2.4", "3.9"), _CONTROLLER,
     "[Controller id=2] Waiting for any successful result for election type (PREFERRED) by AdminClientTriggered for partitions: Map()"),
    ("balance-ratio", "eader imbalance ratio for broker ", "[Ll]{}.*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Leader imbalance ratio for broker 2 is 0.0"),
    ("balance-preferred", "referred replicas by broker ", "[Pp]{}.*", ("0.8.2", "2.4"), _CONTROLLER,
     "[Controller id=2] Preferred replicas by broker Map(2 -> Map())"),
    ("balance-topics", "opics not in preferred replica ", "[Tt]{}.*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Topics not in preferred replica for broker 2 Map()"),
    ("callback", " callback for ", "(?:New broker startup|Broker failure|Broker info update|New topic creation|New partition"
     " creation){}.*", ("0.8.2", "3.9"),
     _CONTROLLER, "[Controller id=2] Broker failure callback for 1"),
    ("shutdown-list", " from list of shutting down brokers.", "Removed .*{}", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Removed 1 from list of shutting down brokers."),
    ("shutting-down-brokers", "All shutting down brokers: ", "{}.*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] All shutting down brokers: 1"),
    ("live-brokers", "Live brokers: ", "{}.*", ("0.8.2", "3.9"), _CONTROLLER, "[Controller id=2] Live brokers: 2,3"),
    ("all-leaders", "All leaders = ", "{}.*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] All leaders = t-0 -> (Leader:2,ISR:2,3,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:1)"),
    ("broker-epochs", " broker epochs cache: ", "(?:Initialized|Updated){}.*", ("2.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Updated broker epochs cache: HashMap(2 -> 57)"),
    ("broker-modifications", " BrokerModifications handler for ", "(?:Register|Unregister){}.*", ("1.1", "3.9"), _CONTROLLER,
     "[Controller id=2] Register BrokerModifications handler for Vector(3)"),
    ("broker-metadata", "Updated broker", "{}(?: metadata)?: .*", ("1.1", "3.9"), _CONTROLLER,
     "[Controller id=2] Updated broker metadata: 2 : EndPoint(a,1,ListenerName(P),P) : null -> 2 : EndPoint(b,1,ListenerName(P),P) : null"),
    ("feature-node", "FeatureZNode at path: ", "(?:Creating |Updating )?{}.*", ("2.7", "3.9"), _CONTROLLER,
     "[Controller id=4] Creating FeatureZNode at path: /feature with contents: FeatureZNode(2,Enabled,Map())"),
    ("feature-incompatible", " due to incompatibilities with finalized features: ",
     "Ignoring registration of (?:new|bounced) brokers{}.*", ("2.7", "3.9"),
     _CONTROLLER, "[Controller id=4] Ignoring registration of new brokers due to incompatibilities with finalized features: 2"),
    ("feature-updates", "Processing of feature updates: ", "{}.*", ("2.7", "3.9"), _CONTROLLER,
     "[Controller id=4] Processing of feature updates: {} failed due to error: e"),
    ("producer-ids", "Ignoring AllocateProducerIds due to ", "{}.*", ("3.0", "3.9"), _CONTROLLER,
     "[Controller id=4] Ignoring AllocateProducerIds due to unknown broker 3"),
    ("new-partitions", "New partitions to be added ", "{}.*", ("0.8.2", "3.9"), (),
     "[Controller id=2] New partitions to be added Map(t-3 -> ReplicaAssignment(replicas=1,2, addingReplicas=, removingReplicas=))"),
    ("partition-restore", "Restoring the partition replica assignment for topic ", "{}.*", ("2.0", "3.9"), _CONTROLLER,
     "[Controller id=2] Restoring the partition replica assignment for topic t"),
    ("partition-change-ignored", "Ignoring partition change during topic deletion as no new partitions are added", "{}", ("2.0", "3.9"),
     _CONTROLLER,
     "[Controller id=2] Ignoring partition change during topic deletion as no new partitions are added"),
    ("deletion-missing", "Ignoring request to delete non-existing topics ", "{}.*", ("0.8.2", "3.9"), (),
     "[Controller id=2] Ignoring request to delete non-existing topics t"),
    ("deletion-disabled", " since delete topic is disabled", "Removing .*{}", ("0.10.2", "3.9"), (),
     "[Controller id=2] Removing Set(t) since delete topic is disabled"),
    ("deletion-restart", "Some replicas ", "{}.* for topics scheduled for deletion .*", ("0.8.2", "3.9"), _CONTROLLER,
     "[Controller id=2] Some replicas Set() for topics scheduled for deletion Set(t) are on the newly restarted brokers 3. Signaling"
     " restart of"
     " topic deletion for these topics"),
    ("deletion-callback", "Delete topic callback invoked ", "{}.*", ("0.8.2", "3.9"), _CONTROLLER + _DELETION,
     "[Controller id=2] Delete topic callback invoked on StopReplica response received from broker 1: request error = NONE, partition"
     " errors = Map()"),
    ("deletion-initial", "Initializing manager with initial deletions: ", "{}.*", ("2.3", "3.9"), _DELETION,
     "[Topic Deletion Manager 1] Initializing manager with initial deletions: Set(), initial ineligible deletions: Set()"),
    ("deletion-halted", "Halted deletion of topics ", "{}.*", ("0.8.2", "3.9"), _DELETION,
     "[Topic Deletion Manager 1] Halted deletion of topics t due to replica deletion failure"),
    ("deletion-retry", "etrying de", "(?:R|Not r){}let.*", ("0.8.2", "3.9"), _DELETION,
     "[Topic Deletion Manager 1] Retrying deletion of topics t since replicas [Topic=t,Partition=0,Replica=1] were not successfully"
     " deleted"),
    ("deletion-replicas", " for replicas ", "Deletion(?: failed| successfully completed| started)?{}.*", ("0.8.2", "3.9"), _DELETION,
     "[Topic Deletion Manager 1] Deletion successfully completed for replicas [Topic=t,Partition=0,Replica=1]"),
    ("deletion-dead", "Dead Replicas (", "{}.*", ("0.8.2", "3.9"), _DELETION,
     "[Topic Deletion Manager 1] Dead Replicas ([Topic=t,Partition=0,Replica=1]) found for topic t"),
    ("deletion-callbacks", " deletion callback for ", "(?:Topic|Partition){}.*", ("0.8.2", "2.4"), _DELETION,
     "[Topic Deletion Manager 1] Topic deletion callback for t"),
)  # fmt: skip
"""Lines that tell nothing about replication which another line does not tell better."""


PATTERNS: tuple[Pattern, ...] = (
    *_STATES,
    *_ELECTIONS,
    *_ALTER_ISR,
    *_REASSIGNMENTS,
    *_BROKERS_AND_TOPICS,
    *recognised("controller", _CONTROLLER[0], _IRRELEVANT),
)
