"""Lines of KRaft controllers, and of brokers that read the metadata log.

Here: org.apache.kafka.controller (partition records as they are replayed, elections as they are decided, registration,
fencing, refused ISR changes) and the metadata image. Not here: the quorum that elects them (quorum), the life cycle of a broker
(brokers), directory failures (log_dirs), the records themselves (parsers.decoding.metadata_records).

Controllers print most of this at replay: on every controller, and again after a restart. The time is that of the replay.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from parsers.patterns.controller import partition_state
from parsers.patterns.pattern import IDS, TOPIC, Pattern, Sample, column
from parsers.schemas import Row

_REPLICATION = ("org.apache.kafka.controller.ReplicationControlManager",)
_CLUSTER = ("org.apache.kafka.controller.ClusterControlManager",)
_QUORUM = ("org.apache.kafka.controller.QuorumController",)
_HEARTBEAT = ("org.apache.kafka.controller.BrokerHeartbeatManager",)
_BUILDER = ("org.apache.kafka.controller.PartitionChangeBuilder",)
_FEATURES = ("org.apache.kafka.controller.FeatureControlManager",)

_ID = r"(?P<topic_id>[\w-]{22})"
_T_P = rf"(?P<topic>{TOPIC})-(?P<partition>\d+)"

_CHANGE = regex.compile(r"(?<!\w)(?P<name>\w+): (?P<old>\[[^][]*\]|[^\s,\[]+) -> (?P<new>\[[^][]*\]|[^\s,\[]+?)(?=, \w+: |\.?$)")
_CHANGED_COLUMN = {
    "replicas": ("replicas", None),
    "isr": ("isr", "previous_isr"),
    "removingReplicas": ("removing_replicas", None),
    "addingReplicas": ("adding_replicas", None),
    "leader": ("leader", "previous_leader"),
    "leaderRecoveryState": ("recovering", None),
    "leaderEpoch": ("leader_epoch", "previous_leader_epoch"),
    "partitionEpoch": ("partition_epoch", None),
    "lastKnownElr": (None, "brokers"),
}
_LAST_KNOWN = regex.compile(r"lastKnownElr=(\[[^\]]*\])")
"""The last leader, if the ISR and the eligible replicas are empty (PartitionChangeBuilder#maybeUpdateLastKnownLeader)."""


def partition_change(text: str) -> Row:
    """Columns of a PartitionRegistration diff, `name: old -> new` joined by ', '; it lists only what changed."""
    row: Row = {}
    for match in _CHANGE.finditer(text):
        new, old = _CHANGED_COLUMN.get(match["name"], (None, None))
        if new:
            row[new] = column(new, match["new"])
        if old:
            row[old] = column(old, match["old"])
    return row


def _with_change(row: Row) -> Iterator[Row]:
    yield {**row, **partition_change(row["_groups"]["_change"])}


def _with_registration(row: Row) -> Iterator[Row]:
    yield {**row, **partition_state(row["_groups"]["_state"])}


def _after_previous(row: Row) -> Iterator[Row]:
    """An election as PartitionChangeBuilder decides it; from 4.1 the line ends with the state before."""
    text = row["_groups"].get("_previous") or ""
    previous, last = partition_state(text), _LAST_KNOWN.search(text)
    known = {
        "brokers": column("brokers", last[1]) if last is not None else None,
        "previous_leader": previous.get("leader"),
        "previous_leader_epoch": previous.get("leader_epoch"),
        "previous_isr": previous.get("isr"),
        "replicas": previous.get("replicas"),
    }
    yield {**row, **{name: value for name, value in known.items() if value is not None}}


def _assignment_change(row: Row) -> Iterator[Row]:
    change = dict(partition_state(row["_groups"]["_record"]))
    if change.get("leader") == -2:  # PartitionChangeRecord: leader unchanged
        del change["leader"]
    under_way = change.get("adding_replicas") or change.get("removing_replicas")
    yield {**row, **change, "reason": "started" if under_way else "completed"}


def _as_controller(row: Row) -> Iterator[Row]:
    yield {**row, "controller": row.get("node")}


_REGISTRATION_CHANGE = regex.compile(r"fenced=(?P<fenced>-?\d+)(?:, inControlledShutdown=(?P<shutdown>-?\d+))?")


def _registration_change(row: Row) -> Iterator[Row]:
    match = _REGISTRATION_CHANGE.search(row["_groups"]["_record"])
    if match is None:
        return
    if match["fenced"] in ("1", "-1"):
        yield {**row, "event": "broker-fenced" if match["fenced"] == "1" else "broker-unfenced"}
    if match["shutdown"] == "1":
        yield {**row, "event": "shutdown-seen"}


_PARTITIONS: tuple[Pattern, ...] = (
    Pattern(
        name="kraft-partition-unclean",
        event="partition-state",
        literal="UNCLEAN partition change for ",
        regex=rf"UNCLEAN partition change for {_T_P} with topic ID {_ID}: (?P<_change>.*)",
        versions=("3.0", "4.4"),
        loggers=_REPLICATION,
        fixed={"reason": "replayed", "value": "unclean-text"},
        explode=_with_change,
        samples=(
            Sample(
                "[2026-11-21 01:55:37,407] INFO [QuorumController id=100] UNCLEAN partition change for orders-0 with topic ID"
                " MlpAEC9lTCOuG5EVp6OGOg: isr: [3] -> [1], leader: -1 -> 1, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 1"
                " -> 2,"
                " partitionEpoch: 3 -> 4 (org.apache.kafka.controller.ReplicationControlManager)",
                {
                    "node": 100,
                    "topic": "orders",
                    "partition": 0,
                    "topic_id": "MlpAEC9lTCOuG5EVp6OGOg",
                    "isr": [1],
                    "previous_isr": [3],
                    "leader": 1,
                    "previous_leader": -1,
                    "recovering": True,
                    "leader_epoch": 2,
                    "previous_leader_epoch": 1,
                    "partition_epoch": 4,
                    "value": "unclean-text",
                },
                "real: unclean-election-3.9.1-kraft",
            ),
            Sample(
                "[2026-11-21 02:03:04,880] INFO [QuorumController id=100] UNCLEAN partition change for profile-0 with topic ID"
                " IhaXblexRp-gFGpK86thiw: replicas: [1, 2, 3, 4] -> [1, 2, 3], directories: [vJOlZe1NSYPmbZDcHNbovg,"
                " Qd3AewHIn1-77WJaWK-Kow, hTAJfhpSef9SqvvlX8v4Ag, MPhZYBV4DRdlOlYGSs3d4g] -> [vJOlZe1NSYPmbZDcHNbovg,"
                " Qd3AewHIn1-77WJaWK-Kow, hTAJfhpSef9SqvvlX8v4Ag], isr: [4, 2, 3] -> [2, 3, 1], removingReplicas: [4] -> [],"
                " addingReplicas: [1] -> [], leader: 4 -> 1, leaderEpoch: 0 -> 1, partitionEpoch: 1 -> 2"
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {
                    "replicas": [1, 2, 3],
                    "isr": [2, 3, 1],
                    "previous_isr": [4, 2, 3],
                    "removing_replicas": [],
                    "adding_replicas": [],
                    "leader": 1,
                    "previous_leader": 4,
                    "recovering": None,
                    "leader_epoch": 1,
                    "partition_epoch": 2,
                },
                "real: reassignment-3.9.1-kraft",
            ),
        ),
        note="Does not prove an unclean election: 3.0 to 3.9 print it whenever the new leader was not in the previous ISR, also at the end"
        " of a reassignment; 4.1 and later for every change while RECOVERING (PartitionRegistration.maybeLogPartitionChange).",
    ),
    Pattern(
        name="kraft-partition-changed",
        event="partition-state",
        literal="artition change for ",
        regex=rf"partition change for {_T_P} with topic ID {_ID}: (?P<_change>.*)",
        versions=("3.0", "4.4"),
        loggers=_REPLICATION,
        fixed={"reason": "replayed"},
        explode=_with_change,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] DEBUG [QuorumController id=100] partition change for orders-0 with topic ID"
                " MlpAEC9lTCOuG5EVp6OGOg:"
                " isr: [3, 1] -> [3], leaderEpoch: 1 -> 2, partitionEpoch: 3 -> 4 (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic": "orders", "partition": 0, "isr": [3], "previous_isr": [3, 1], "leader": None, "leader_epoch": 2},
                "source: 3.9 PartitionRegistration",
            ),
        ),
        note="Printed at DEBUG, which Kafka's own configuration does not enable.",
    ),
    Pattern(
        name="kraft-partition-modified",
        event="partition-state",
        literal="Modified partition ",
        regex=rf"Modified partition {_ID}:(?P<partition>\d+): (?P<_change>.*)\.",
        versions=("2.8", "2.8"),
        loggers=_REPLICATION,
        fixed={"reason": "replayed"},
        explode=_with_change,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Modified partition MlpAEC9lTCOuG5EVp6OGOg:0: isr: [3, 1] -> [1], leader: 3"
                " -> 1,"
                " leaderEpoch: 1 -> 2, partitionEpoch: 3 -> 4. (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic_id": "MlpAEC9lTCOuG5EVp6OGOg", "partition": 0, "isr": [1], "leader": 1, "previous_leader": 3, "partition_epoch": 4},
                "source: 2.8 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-partition-record",
        event="partition-state",
        literal=" and PartitionRegistration(",
        regex=rf"(?:Created|Replayed PartitionRecord for (?:new|existing)) partition {_T_P} with topic ID {_ID}"
        r" and (?P<_state>PartitionRegistration\(.*\))\.",
        versions=("3.0", "4.4"),
        loggers=_REPLICATION,
        fixed={"reason": "replayed"},
        explode=_with_registration,
        samples=(
            Sample(
                "[2026-11-21 01:58:41,077] INFO [QuorumController id=100] Replayed PartitionRecord for new partition clicks-0 with topic ID"
                " 6Tjk54FSTMK4XDIimEZmUg and PartitionRegistration(replicas=[2, 3, 1], directories=[MLjO5-g84IHQ-uNLJT-_dg,"
                " RWT-oA1Ob6JRnLqU4MYS9w, XYGwLlXrp-O7TmMGtIXB-w], isr=[2, 3, 1], removingReplicas=[], addingReplicas=[], elr=[],"
                " lastKnownElr=[], leader=2, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0)."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {
                    "topic": "clicks",
                    "partition": 0,
                    "topic_id": "6Tjk54FSTMK4XDIimEZmUg",
                    "replicas": [2, 3, 1],
                    "isr": [2, 3, 1],
                    "leader": 2,
                    "recovering": False,
                    "leader_epoch": 0,
                    "partition_epoch": 0,
                    "adding_replicas": [],
                },
                "real: acks1-failover-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Created partition a.b-c-11 with topic ID 6Tjk54FSTMK4XDIimEZmUg and"
                " PartitionRegistration(replicas=[2, 3], isr=[2, 3], removingReplicas=[], addingReplicas=[], leader=2, leaderEpoch=0,"
                " partitionEpoch=0). (org.apache.kafka.controller.ReplicationControlManager)",
                {"node": 3, "topic": "a.b-c", "partition": 11, "isr": [2, 3], "recovering": None},
                "source: 3.1 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-partition-created",
        event="partition-state",
        literal=" with PartitionControlInfo(",
        regex=rf"Created partition {_ID}:(?P<partition>\d+) with (?P<_state>PartitionControlInfo\(.*\))\.",
        versions=("2.8", "2.8"),
        loggers=_REPLICATION,
        fixed={"reason": "replayed"},
        explode=_with_registration,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Created partition 6Tjk54FSTMK4XDIimEZmUg:1 with"
                " PartitionControlInfo(replicas=[2,"
                " 3], isr=[2, 3], removingReplicas=[], addingReplicas=[], leader=2, leaderEpoch=0, partitionEpoch=0)."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic_id": "6Tjk54FSTMK4XDIimEZmUg", "partition": 1, "leader": 2, "isr": [2, 3], "leader_epoch": 0},
                "source: 2.8 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-election-unclean",
        event="unclean-election-said",
        literal=" using an unclean election",
        regex=rf"Setting new leader for topicId {_ID}, partition (?P<partition>\d+) to (?P<leader>-?\d+) using an unclean election"
        r"(?:\. Previous partition: (?P<_previous>.*), change record: .*)?",
        versions=("3.2", "4.4"),
        loggers=_BUILDER,
        explode=_after_previous,
        samples=(
            Sample(
                "[2026-11-21 01:55:37,403] INFO Setting new leader for topicId MlpAEC9lTCOuG5EVp6OGOg, partition 0 to 1 using an unclean"
                " election"
                " (org.apache.kafka.controller.PartitionChangeBuilder)",
                {"topic_id": "MlpAEC9lTCOuG5EVp6OGOg", "partition": 0, "leader": 1, "node": None},
                "real: unclean-election-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO Setting new leader for topicId MlpAEC9lTCOuG5EVp6OGOg, partition 0 to 1 using an unclean"
                " election."
                " Previous partition: PartitionRegistration(replicas=[3, 1], directories=[MLjO5-g84IHQ-uNLJT-_dg, RWT-oA1Ob6JRnLqU4MYS9w],"
                " isr=[3], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=-1, leaderRecoveryState=RECOVERED,"
                " leaderEpoch=5, partitionEpoch=9), change record: PartitionChangeRecord(partitionId=0, topicId=MlpAEC9lTCOuG5EVp6OGOg,"
                " isr=[1], leader=1, replicas=null, removingReplicas=null, addingReplicas=null, leaderRecoveryState=1)"
                " (org.apache.kafka.controller.PartitionChangeBuilder)",
                {"leader": 1, "previous_leader": -1, "previous_leader_epoch": 5, "previous_isr": [3], "replicas": [3, 1]},
                "source: 4.1 PartitionChangeBuilder",
            ),
        ),
        note="Printed once, by the active controller, when it decides (INFO from 3.6): the best single sign of an unclean election in "
        "KRaft.",
    ),
    Pattern(
        name="kraft-election-clean",
        event="partition-state",
        literal="Setting new leader for topicId ",
        regex=rf"Setting new leader for topicId {_ID}, partition (?P<partition>\d+) to (?P<leader>-?\d+)(?: using (?P<value>a clean"
        rf" election|ELR)"
        r"(?:\. Previous partition: (?P<_previous>.*), change record: .*)?)?",
        versions=("3.1", "4.4"),
        loggers=_BUILDER,
        fixed={"reason": "decided"},
        explode=_after_previous,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO Setting new leader for topicId MlpAEC9lTCOuG5EVp6OGOg, partition 7 to 1 using ELR"
                " (org.apache.kafka.controller.PartitionChangeBuilder)",
                {"topic_id": "MlpAEC9lTCOuG5EVp6OGOg", "partition": 7, "leader": 1, "value": "ELR"},
                "source: 4.0 PartitionChangeBuilder",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] DEBUG Setting new leader for topicId MlpAEC9lTCOuG5EVp6OGOg, partition 7 to 1 using a clean"
                " election"
                " (org.apache.kafka.controller.PartitionChangeBuilder)",
                {"leader": 1, "value": "a clean election", "reason": "decided"},
                "source: 3.2 PartitionChangeBuilder",
            ),
        ),
    ),
    Pattern(
        name="kraft-balance-check",
        event="balance-checked",
        literal="maybeBalancePartitionLeaders: generated ",
        regex=r"maybeBalancePartitionLeaders: generated (?P<count>\d+) records in \d+ microseconds\..*",
        versions=("3.9", "3.9"),
        loggers=_QUORUM,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=101] maybeBalancePartitionLeaders: generated 2 records in 331"
                " microseconds. (org.apache.kafka.controller.QuorumController)",
                {"node": 101, "count": 2},
                "source: 3.9 QuorumController",
            ),
        ),
        note="One record for each leader that is moved. Before 3.9 the controller moves leaders without a line.",
    ),
    Pattern(
        name="kraft-balance-task",
        event="balance-checked",
        literal="Periodic task electPreferred generated ",
        regex=r"Periodic task electPreferred generated (?P<count>\d+) records in \d+ microseconds\.",
        versions=("4.0", "4.4"),
        fixed={"mode": "kraft"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=101] Periodic task electPreferred generated 2 records in 331"
                " microseconds. (org.apache.kafka.controller.PeriodicTaskControlManager)",
                {"node": 101, "count": 2},
                "source: 4.0 PeriodicTaskControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-unclean-triggered",
        event="election-requested",
        literal="Triggering unclean leader election for offline partition ",
        regex=rf"Triggering unclean leader election for offline partition {_T_P}\.(?: .*)?",
        versions=("3.9", "4.4"),
        loggers=_REPLICATION,
        fixed={"reason": "UNCLEAN", "value": "unclean.leader.election.enable"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [QuorumController id=100] Triggering unclean leader election for offline partition"
                " orders-0."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"node": 100, "topic": "orders", "partition": 0, "reason": "UNCLEAN"},
                "source: 3.9 ReplicationControlManager",
            ),
        ),
        note="The controller's own check of partitions without a leader, after the setting was switched on.",
    ),
    Pattern(
        name="kraft-unclean-impossible",
        event="election-failed",
        literal="Cannot trigger unclean leader election for offline partition ",
        regex=rf"Cannot trigger unclean leader election for offline partition {_T_P}"
        r"(?:: (?P<value>.*)| because (?P<value>unclean leader election is disabled for this topic)\.(?: .*)?)",
        versions=("3.9", "4.4"),
        loggers=_REPLICATION,
        fixed={"reason": "UNCLEAN"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN [QuorumController id=100] Cannot trigger unclean leader election for offline partition"
                " orders-0:"
                " ELIGIBLE_LEADERS_NOT_AVAILABLE (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic": "orders", "partition": 0, "value": "ELIGIBLE_LEADERS_NOT_AVAILABLE"},
                "source: 4.0 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-reassignment-replayed",
        event="reassignment",
        literal="Replayed partition assignment change ",
        regex=rf"Replayed partition assignment change (?P<_record>PartitionChangeRecord\(partitionId=(?P<partition>\d+),"
        rf" topicId={_ID},.*?\))"
        rf" for topic (?P<topic>{TOPIC}?)(?:\. \(isr: (?P<previous_isr>{IDS}) -> (?P<isr>{IDS}), replicaSet: .*"
        r"partitionEpoch: (?P<partition_epoch>\d+), leaderEpoch: (?P<leader_epoch>\d+)\))?",
        versions=("3.0", "4.4"),
        loggers=_REPLICATION,
        explode=_assignment_change,
        samples=(
            Sample(
                "[2026-11-21 03:31:34,074] INFO [QuorumController id=100] Replayed partition assignment change"
                " PartitionChangeRecord(partitionId=0,"
                " topicId=8PPfwVtMQ_y0AfH5M2MHcA, isr=null, leader=-2, replicas=[1, 2, 3], removingReplicas=null, addingReplicas=[3],"
                " leaderRecoveryState=-1, directories=[DSjsyzL9SG4wNyG2nNucwQ, yNyfSsXvYNOc3VDxX8AyXw, Cf2H_lkGTelnp0GOlQ5pkQ],"
                " eligibleLeaderReplicas=null, lastKnownElr=null) for topic catalog"
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {
                    "topic": "catalog",
                    "partition": 0,
                    "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA",
                    "replicas": [1, 2, 3],
                    "adding_replicas": [3],
                    "removing_replicas": None,
                    "leader": None,
                    "isr": None,
                    "recovering": None,
                    "reason": "started",
                },
                "real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=100] Replayed partition assignment change"
                " PartitionChangeRecord(partitionId=0,"
                " topicId=8PPfwVtMQ_y0AfH5M2MHcA, isr=[1, 2, 3], leader=1, replicas=[1, 2, 3], removingReplicas=[], addingReplicas=[],"
                " leaderRecoveryState=-1) for topic catalog. (isr: [2, 3] -> [1, 2, 3], replicaSet: [4, 1, 2, 3] -> [1, 2, 3],"
                " partitionEpoch:"
                " 6, leaderEpoch: 2) (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic": "catalog", "isr": [1, 2, 3], "leader": 1, "partition_epoch": 6, "leader_epoch": 2, "reason": "completed"},
                "source: 4.3 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-reassignment-completed",
        event="reassignment",
        literal=" completed the ongoing partition reassignment",
        regex=rf"Alter(?:Isr|Partition) request from node (?P<broker>\d+) for {_T_P} completed the ongoing partition reassignment"
        r"(?: and triggered a leadership change.*?\. Re\w+ (?P<value>\w+)\.|\.(?: .*)?)",
        versions=("3.0", "4.4"),
        loggers=_REPLICATION,
        fixed={"reason": "completed"},
        samples=(
            Sample(
                "[2026-11-21 02:03:04,880] INFO [QuorumController id=100] AlterPartition request from node 4 for profile-0 completed the"
                " ongoing"
                " partition reassignment and triggered a leadership change. Returning NEW_LEADER_ELECTED."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"broker": 4, "topic": "profile", "partition": 0, "reason": "completed", "value": "NEW_LEADER_ELECTED"},
                "real: reassignment-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 100] AlterIsr request from node 4 for profile-0 completed the ongoing partition"
                " reassignment and triggered a leadership change. Reutrning FENCED_LEADER_EPOCH."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"broker": 4, "value": "FENCED_LEADER_EPOCH"},
                "source: 3.0 ReplicationControlManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=100] AlterPartition request from node 4 for profile-0 completed the"
                " ongoing"
                " partition reassignment. (org.apache.kafka.controller.ReplicationControlManager)",
                {"broker": 4, "topic": "profile", "value": None},
                "source: 3.9 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-reassignment-failed",
        event="reassignment",
        literal="Unable to alter partition reassignment for ",
        regex=rf"Unable to alter partition reassignment for (?P<topic>{TOPIC}):(?P<partition>\d+) because of an (?P<value>.*)",
        versions=("3.0", "4.4"),
        loggers=_REPLICATION,
        fixed={"reason": "failed"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=100] Unable to alter partition reassignment for orders:3 because of an"
                " INVALID_REPLICA_ASSIGNMENT error: The manual partition assignment includes an empty replica list."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic": "orders", "partition": 3, "reason": "failed"},
                "source: 3.9 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-alter-partition-rejected",
        event="isr-rejected",
        literal="Rejecting ",
        regex=rf"Rejecting (?:alterIsr|AlterPartition) (?:request )?from node (?P<broker>\d+) for {_T_P} because (?P<value>(?:"
        r"the (?P<reason>current leader) is (?P<leader>-?\d+)|the (?P<reason>current leader epoch) is (?P<leader_epoch>-?\d+)"
        r"|the (?P<reason>current partition epoch) is (?P<partition_epoch>-?\d+)|the (?P<reason>leader recovery state)|(?P<reason>leader"
        r" is recovering)"
        r"|the (?P<reason>ISR) |it specified an (?P<reason>invalid ISR)|it specified (?P<reason>ineligible replicas)).*)",
        versions=("3.0", "4.4"),
        loggers=(*_REPLICATION, "kafka.controller.KafkaController"),
        samples=(
            Sample(
                "[2026-11-21 02:13:42,524] INFO [QuorumController id=101] Rejecting AlterPartition request from node 1 for tasks-2"
                " because the"
                " current partition epoch is 1, not 0. (org.apache.kafka.controller.ReplicationControlManager)",
                {"node": 101, "broker": 1, "topic": "tasks", "partition": 2, "reason": "current partition epoch", "partition_epoch": 1},
                "real: controller-failover-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Rejecting alterIsr request from node 1 for tasks-2 because the current"
                " leader is 2."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"broker": 1, "leader": 2, "reason": "current leader"},
                "source: 3.0 ReplicationControlManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller id=1] Rejecting AlterPartition from node 2 for t-0 because leader is"
                " recovering and ISR"
                " is greater than 1: LeaderAndIsr(leader=2, leaderEpoch=1, isr=List(2, 3), leaderRecoveryState=RECOVERING,"
                " partitionEpoch=4)"
                " (kafka.controller.KafkaController)",
                {"node": 1, "broker": 2, "topic": "t", "partition": 0, "reason": "leader is recovering"},
                "source: 3.3 KafkaController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=3] Rejecting AlterPartition request from node 1 for tasks-2 because"
                " it specified"
                " ineligible replicas [3 (fenced)] in the new ISR [BrokerState(brokerId=1, brokerEpoch=7)]."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"broker": 1, "reason": "ineligible replicas"},
                "source: 3.9 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-alter-partition-unknown",
        event="isr-rejected",
        literal=" request for unknown ",
        regex=rf"Rejecting (?:alterIsr|AlterPartition) request for unknown (?:partition {_T_P}|topic ID {_ID}(?: or name .*)?)\.",
        versions=("3.0", "4.4"),
        loggers=_REPLICATION,
        fixed={"reason": "unknown"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=3] Rejecting AlterPartition request for unknown partition tasks-2."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic": "tasks", "partition": 2, "reason": "unknown"},
                "source: 3.9 ReplicationControlManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=3] Rejecting AlterPartition request for unknown topic ID"
                " MlpAEC9lTCOuG5EVp6OGOg. (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic_id": "MlpAEC9lTCOuG5EVp6OGOg", "reason": "unknown"},
                "source: 4.0 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-isr-altered",
        event="isr-written",
        literal=" has altered ISR for ",
        regex=rf"Node (?P<broker>\d+) has altered ISR for {_T_P}(?: to (?P<isr>{IDS})\.|\..*)",
        versions=("3.0", "4.4"),
        loggers=_REPLICATION,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] DEBUG [QuorumController id=3] Node 1 has altered ISR for tasks-2 to [1, 3]."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"broker": 1, "topic": "tasks", "partition": 2, "isr": [1, 3]},
                "source: 3.9 ReplicationControlManager",
            ),
        ),
    ),
)

_TOPICS_AND_BROKERS: tuple[Pattern, ...] = (
    Pattern(
        name="kraft-topic-created",
        event="topic-created",
        literal="ReplicationControlManager)",
        regex=rf"(?:Created topic|Replayed TopicRecord for topic) (?P<topic>{TOPIC}) with (?:topic )?ID {_ID}\.",
        versions=("2.8", "4.4"),
        loggers=_REPLICATION,
        samples=(
            Sample(
                "[2026-11-21 01:58:41,076] INFO [QuorumController id=100] Replayed TopicRecord for topic clicks with topic ID"
                " 6Tjk54FSTMK4XDIimEZmUg. (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic": "clicks", "topic_id": "6Tjk54FSTMK4XDIimEZmUg"},
                "real: acks1-failover-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Created topic clicks with ID 6Tjk54FSTMK4XDIimEZmUg."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic": "clicks", "topic_id": "6Tjk54FSTMK4XDIimEZmUg"},
                "source: 2.8 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-topic-removed",
        event="topic-deleted",
        literal="ReplicationControlManager)",
        regex=rf"(?:Removed topic|Replayed RemoveTopicRecord for topic) (?P<topic>{TOPIC}) with ID {_ID}\.",
        versions=("2.8", "4.4"),
        loggers=_REPLICATION,
        samples=(
            Sample(
                "[2026-11-21 02:10:33,028] INFO [QuorumController id=100] Replayed RemoveTopicRecord for topic staging with ID"
                " PzAC_BWXT9qmV5RPkJI_zQ. (org.apache.kafka.controller.ReplicationControlManager)",
                {"topic": "staging", "topic_id": "PzAC_BWXT9qmV5RPkJI_zQ"},
                "real: delete-recreate-retention-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="kraft-fencing",
        event="broker-fenced",
        literal=" because its session has timed out.",
        regex=r"Fencing broker (?P<broker>\d+)(?: at epoch (?P<broker_epoch>\d+))? because its session has timed out\.",
        versions=("2.8", "4.4"),
        loggers=_REPLICATION,
        fixed={"reason": "session-timeout"},
        samples=(
            Sample(
                "[2026-11-21 01:58:47,570] INFO [QuorumController id=100] Fencing broker 2 because its session has timed out."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"node": 100, "broker": 2, "reason": "session-timeout"},
                "real: acks1-failover-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=100] Fencing broker 2 at epoch 71 because its session has timed out."
                " (org.apache.kafka.controller.ReplicationControlManager)",
                {"broker": 2, "broker_epoch": 71},
                "source: 4.0 ReplicationControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-fence-record",
        event="broker-fenced",
        literal="enceBrokerRecord(",
        regex=r"(?:Fenced broker: |Replayed FenceBrokerRecord modifying the registration for broker \d+: )"
        r"FenceBrokerRecord\(id=(?P<broker>\d+), epoch=(?P<broker_epoch>\d+)\)",
        versions=("2.8", "4.4"),
        loggers=_CLUSTER,
        fixed={"reason": "replayed"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Fenced broker: FenceBrokerRecord(id=2, epoch=71)"
                " (org.apache.kafka.controller.ClusterControlManager)",
                {"broker": 2, "broker_epoch": 71},
                "source: 2.8 ClusterControlManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=3] Replayed FenceBrokerRecord modifying the registration for broker 2:"
                " FenceBrokerRecord(id=2, epoch=71) (org.apache.kafka.controller.ClusterControlManager)",
                {"broker": 2, "broker_epoch": 71},
                "source: 3.6 ClusterControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-unfence-record",
        event="broker-unfenced",
        literal="UnfenceBrokerRecord(",
        regex=r"(?:Unfenced broker: |Replayed UnfenceBrokerRecord modifying the registration for broker \d+: )"
        r"UnfenceBrokerRecord\(id=(?P<broker>\d+), epoch=(?P<broker_epoch>\d+)\)",
        versions=("2.8", "4.4"),
        loggers=_CLUSTER,
        fixed={"reason": "replayed"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Unfenced broker: UnfenceBrokerRecord(id=2, epoch=71)"
                " (org.apache.kafka.controller.ClusterControlManager)",
                {"broker": 2, "broker_epoch": 71},
                "source: 2.8 ClusterControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-registration-change",
        event="broker-unfenced",
        literal="BrokerRegistrationChangeRecord(",
        regex=r"Replayed BrokerRegistrationChangeRecord modifying the registration for broker \d+:"
        r" (?P<_record>BrokerRegistrationChangeRecord\("
        r"brokerId=(?P<broker>\d+), brokerEpoch=(?P<broker_epoch>\d+), .*\))",
        versions=("3.6", "4.4"),
        loggers=_CLUSTER,
        fixed={"reason": "replayed"},
        explode=_registration_change,
        samples=(
            Sample(
                "[2026-11-21 01:58:37,755] INFO [QuorumController id=100] Replayed BrokerRegistrationChangeRecord modifying the"
                " registration for"
                " broker 1: BrokerRegistrationChangeRecord(brokerId=1, brokerEpoch=11, fenced=-1, inControlledShutdown=0, logDirs=[])"
                " (org.apache.kafka.controller.ClusterControlManager)",
                {"event": "broker-unfenced", "broker": 1, "broker_epoch": 11},
                "real: acks1-failover-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=100] Replayed BrokerRegistrationChangeRecord modifying the"
                " registration for"
                " broker 1: BrokerRegistrationChangeRecord(brokerId=1, brokerEpoch=11, fenced=1, inControlledShutdown=0, logDirs=[])"
                " (org.apache.kafka.controller.ClusterControlManager)",
                {"event": "broker-fenced", "broker": 1, "broker_epoch": 11},
                "source: 3.9 ClusterControlManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=100] Replayed BrokerRegistrationChangeRecord modifying the"
                " registration for"
                " broker 1: BrokerRegistrationChangeRecord(brokerId=1, brokerEpoch=11, fenced=0, inControlledShutdown=1, logDirs=[])"
                " (org.apache.kafka.controller.ClusterControlManager)",
                {"event": "shutdown-seen", "broker": 1, "broker_epoch": 11},
                "source: 3.9 ClusterControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-registration-record",
        event="broker-registered",
        literal=" RegisterBrokerRecord(brokerId=",
        regex=r"(?:Registered new broker|Re-registered broker incarnation|Re-registered broker id \d+"
        r"|Replayed (?:initial )?RegisterBrokerRecord (?:for|modifying the registration for|establishing a new incarnation of) broker \d+):"
        r" RegisterBrokerRecord\(brokerId=(?P<broker>\d+), .*?brokerEpoch=(?P<broker_epoch>\d+), .*\)",
        versions=("2.8", "4.4"),
        loggers=_CLUSTER,
        fixed={"reason": "replayed"},
        samples=(
            Sample(
                "[2026-11-21 02:02:12,330] INFO [QuorumController id=100] Replayed initial RegisterBrokerRecord for broker 2:"
                " RegisterBrokerRecord("
                "brokerId=2, isMigratingZkBroker=false, incarnationId=6-WKq5u5QuC32kg4UT9Tlw, brokerEpoch=17, endPoints=[BrokerEndpoint("
                "name='PLAINTEXT', host='127.0.0.1', port=46637, securityProtocol=0)], features=[BrokerFeature(name='kraft.version',"
                " minSupportedVersion=0, maxSupportedVersion=1)], rack=null, fenced=true, inControlledShutdown=false,"
                " logDirs=[Qd3AewHIn1-77WJaWK-Kow]) (org.apache.kafka.controller.ClusterControlManager)",
                {"broker": 2, "broker_epoch": 17},
                "source: 3.9 ClusterControlManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Re-registered broker incarnation: RegisterBrokerRecord(brokerId=2,"
                " incarnationId=6-WKq5u5QuC32kg4UT9Tlw, brokerEpoch=17, endPoints=[], features=[], rack=null)"
                " (org.apache.kafka.controller.ClusterControlManager)",
                {"broker": 2, "broker_epoch": 17},
                "source: 3.0 ClusterControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-registration-decided",
        event="broker-registered",
        literal=" to clean up previous incarnations. ",
        regex=r"(?:No previous registration found for|Registering a new incarnation of) broker (?P<broker>\d+)\. .* to clean up previous"
        r" incarnations\. (?:New broker epoch is|Broker epoch will become) (?P<broker_epoch>\d+)\.",
        versions=("3.9", "4.4"),
        loggers=_CLUSTER,
        fixed={"reason": "decided"},
        samples=(
            Sample(
                "[2026-11-21 01:58:50,499] INFO [QuorumController id=100] Registering a new incarnation of broker 2. Previous incarnation"
                " ID was"
                " 86FdO-EmRH2Nt6YutujF4Q; new incarnation ID is KMo5zcPFTHmbrRUc5gP5qw. Generated 0 record(s) to clean up previous"
                " incarnations."
                " Broker epoch will become 48. (org.apache.kafka.controller.ClusterControlManager)",
                {"broker": 2, "broker_epoch": 48},
                "real: acks1-failover-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="kraft-unregistered",
        event="broker-fenced",
        literal="UnregisterBrokerRecord(",
        regex=r"(?:Unregistered broker: |Replayed )UnregisterBrokerRecord\(brokerId=(?P<broker>\d+), brokerEpoch=(?P<broker_epoch>\d+)\)",
        versions=("2.8", "4.4"),
        loggers=_CLUSTER,
        fixed={"reason": "unregistered"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Unregistered broker: UnregisterBrokerRecord(brokerId=2, brokerEpoch=17)"
                " (org.apache.kafka.controller.ClusterControlManager)",
                {"broker": 2, "broker_epoch": 17, "reason": "unregistered"},
                "source: 3.0 ClusterControlManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-unfence-granted",
        event="broker-unfenced",
        literal=" to unfence has been granted because it has caught up with ",
        regex=r"The request from broker (?P<broker>\d+) to unfence has been granted because it has caught up with"
        r" the (?:last committed metadata offset|offset of it'?s register broker record) (?P<metadata_offset>-?\d+)\.",
        versions=("2.8", "4.4"),
        loggers=_HEARTBEAT,
        fixed={"reason": "decided"},
        samples=(
            Sample(
                "[2026-11-21 03:31:16,620] INFO [QuorumController id=100] The request from broker 1 to unfence has been granted because"
                " it has"
                " caught up with the offset of its register broker record 18. (org.apache.kafka.controller.BrokerHeartbeatManager)",
                {"node": 100, "broker": 1, "metadata_offset": 18},
                "real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] The request from broker 1 to unfence has been granted because it has"
                " caught up with"
                " the last committed metadata offset 9. (org.apache.kafka.controller.BrokerHeartbeatManager)",
                {"broker": 1, "metadata_offset": 9},
                "source: 2.8 BrokerHeartbeatManager",
            ),
        ),
    ),
    Pattern(
        name="kraft-shutdown-granted",
        event="shutdown-seen",
        literal="been granted",
        regex=r"(?:(?:Unf|F)enced broker (?P<broker>\d+) has requested and been granted (?:a controlled|an (?P<reason>immediate))"
        r" shutdown\."
        r"|The request from broker (?P<broker>\d+) to shut down has been (?P<reason>granted) since the lowest active offset -?\d+"
        r" is now greater than the broker's controlled shutdown offset (?P<metadata_offset>-?\d+)\.)",
        versions=("2.8", "4.4"),
        loggers=_HEARTBEAT,
        samples=(
            Sample(
                "[2026-11-21 03:47:32,426] INFO [QuorumController id=100] Unfenced broker 1 has requested and been granted a controlled"
                " shutdown."
                " (org.apache.kafka.controller.BrokerHeartbeatManager)",
                {"broker": 1, "reason": None},
                "real: wide-rolling-3.9.1-kraft",
            ),
            Sample(
                "[2026-11-21 03:47:33,944] INFO [QuorumController id=100] The request from broker 1 to shut down has been granted since"
                " the lowest"
                " active offset 430 is now greater than the broker's controlled shutdown offset 428."
                " (org.apache.kafka.controller.BrokerHeartbeatManager)",
                {"broker": 1, "reason": "granted", "metadata_offset": 428},
                "real: wide-rolling-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="kraft-fencing-granted",
        event="broker-fenced",
        literal=" has requested and been granted fencing",
        regex=r"Unfenced broker (?P<broker>\d+) has requested and been granted fencing",
        versions=("2.8", "4.4"),
        loggers=_HEARTBEAT,
        fixed={"reason": "requested"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=100] Unfenced broker 1 has requested and been granted fencing"
                " (org.apache.kafka.controller.BrokerHeartbeatManager)",
                {"broker": 1, "reason": "requested"},
                "source: 3.9 BrokerHeartbeatManager",
            ),
        ),
    ),
)

_CONTROLLERS: tuple[Pattern, ...] = (
    Pattern(
        name="kraft-controller-active",
        event="controller-elected",
        literal="Becoming ",
        regex=r"Becoming (?:active at controller|the active controller at) epoch (?P<controller_epoch>\d+)"
        r"(?:, (?:committed offset|next write offset) (?P<metadata_offset>-?\d+)(?:(?: and|,) committed epoch -?\d+)?)?\.?",
        versions=("2.8", "4.4"),
        loggers=_QUORUM,
        fixed={"reason": "elected"},
        explode=_as_controller,
        samples=(
            Sample(
                "[2026-11-21 03:31:09,493] INFO [QuorumController id=100] Becoming the active controller at epoch 1, next write offset 1."
                " (org.apache.kafka.controller.QuorumController)",
                {"node": 100, "controller": 100, "controller_epoch": 1, "metadata_offset": 1},
                "real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Becoming the active controller at epoch 4, committed offset 812 and"
                " committed epoch"
                " 3. (org.apache.kafka.controller.QuorumController)",
                {"controller": 3, "controller_epoch": 4, "metadata_offset": 812},
                "source: 3.0 QuorumController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=3] Becoming the active controller at epoch 4, committed offset 812,"
                " committed"
                " epoch 3 (org.apache.kafka.controller.QuorumController)",
                {"controller": 3, "controller_epoch": 4, "metadata_offset": 812},
                "source: 3.5 QuorumController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Controller 3] Becoming active at controller epoch 4."
                " (org.apache.kafka.controller.QuorumController)",
                {"controller": 3, "controller_epoch": 4},
                "source: 2.8 QuorumController",
            ),
        ),
    ),
    Pattern(
        name="kraft-controller-renounced",
        event="controller-resigned",
        literal="Renouncing the leadership ",
        regex=r"Renouncing the leadership (?:at oldEpoch (?P<controller_epoch>\d+) )?due to a metadata log event\.(?: We were the leader"
        r" at epoch"
        r" (?P<controller_epoch>\d+), but in the new epoch -?\d+, the leader is (?P<value>[^.]+)\.)?"
        r" Reverting to last (?:committed|stable) offset (?P<metadata_offset>-?\d+)\.",
        versions=("2.8", "4.4"),
        loggers=_QUORUM,
        explode=_as_controller,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN [QuorumController id=101] Renouncing the leadership due to a metadata log event. We were"
                " the leader"
                " at epoch 4, but in the new epoch 5, the leader is (none). Reverting to last stable offset 812."
                " (org.apache.kafka.controller.QuorumController)",
                {"controller": 101, "controller_epoch": 4, "metadata_offset": 812, "value": "(none)"},
                "source: 3.9 QuorumController",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] WARN [Controller 3] Renouncing the leadership at oldEpoch 4 due to a metadata log event."
                " Reverting to"
                " last committed offset 812. (org.apache.kafka.controller.QuorumController)",
                {"controller": 3, "controller_epoch": 4, "metadata_offset": 812},
                "source: 3.0 QuorumController",
            ),
        ),
    ),
    Pattern(
        name="kraft-controller-failed",
        event="controller-resigned",
        literal="Renouncing leadership and reverting to the last committed offset ",
        regex=r"(?P<value>.*) at epoch (?P<controller_epoch>\d+) in \d+ (?:us|microseconds)\. Renouncing leadership and reverting to"
        r" the last committed offset (?P<metadata_offset>-?\d+)\..*",
        versions=("3.3", "4.4"),
        loggers=_QUORUM,
        fixed={"reason": "failed"},
        explode=_as_controller,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN [QuorumController id=3] createTopics: failed with unknown server exception"
                " NullPointerException at"
                " epoch 4 in 100 us. Renouncing leadership and reverting to the last committed offset 55."
                " (org.apache.kafka.controller.QuorumController)",
                {"controller": 3, "controller_epoch": 4, "metadata_offset": 55, "reason": "failed"},
                "source: 3.3 QuorumController",
            ),
        ),
    ),
    Pattern(
        name="kraft-controller-seen",
        event="controller-elected",
        literal="In the new epoch ",
        regex=r"In the new epoch (?P<controller_epoch>\d+), the leader is (?P<controller>\d+)\.",
        versions=("3.3", "4.4"),
        loggers=_QUORUM,
        fixed={"reason": "seen"},
        samples=(
            Sample(
                "[2026-11-21 02:13:51,373] INFO [QuorumController id=100] In the new epoch 4, the leader is 101."
                " (org.apache.kafka.controller.QuorumController)",
                {"node": 100, "controller": 101, "controller_epoch": 4, "reason": "seen"},
                "real: controller-failover-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="kraft-leaderless",
        event="quorum-role",
        literal="the leader is (none).",
        regex=r"In the new epoch (?P<controller_epoch>\d+), the leader is \(none\)\.",
        versions=("3.3", "4.4"),
        loggers=_QUORUM,
        fixed={"reason": "leaderless"},
        samples=(
            Sample(
                "[2026-11-21 02:13:51,373] INFO [QuorumController id=100] In the new epoch 4, the leader is (none)."
                " (org.apache.kafka.controller.QuorumController)",
                {"node": 100, "controller": None, "controller_epoch": 4, "reason": "leaderless"},
                "source: 4.3 QuorumController",
            ),
        ),
        note="A node in both roles prints it on every change of the epoch; that a leader is found again is another line.",
    ),
    Pattern(
        name="kraft-metadata-version",
        event="config",
        literal="version to ",
        regex=r"(?:Replayed a FeatureLevelRecord setting metadata[. ]version to|Setting metadata[. ]version to|Updating metadata\.version"
        r" to)"
        r" (?P<value>\S+?)(?: at offset .*)?",
        versions=("3.3", "4.4"),
        loggers=(*_FEATURES, "kafka.server.metadata.BrokerMetadataPublisher"),
        fixed={"key": "metadata.version"},
        samples=(
            Sample(
                "[2026-11-21 03:31:09,582] INFO [QuorumController id=100] Replayed a FeatureLevelRecord setting metadata.version to 3.9-IV0"
                " (org.apache.kafka.controller.FeatureControlManager)",
                {"key": "metadata.version", "value": "3.9-IV0"},
                "real: grow-replicas-3.9.1-kraft",
            ),
        ),
        note="Below 3.2-IV0 no leaderRecoveryState is written; below 3.6-IV0 an ISR shrink raises the leader epoch.",
    ),
)


PATTERNS: tuple[Pattern, ...] = (
    *_PARTITIONS,
    *_TOPICS_AND_BROKERS,
    *_CONTROLLERS,
)
