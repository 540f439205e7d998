"""States of partitions: leader, epochs, ISR and replicas, in every spelling in which Kafka prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import regex

from parsers.patterns.pattern import column
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
    r"(?P<value>\w*\((?:[^()]|\([^()]*\))*+\)|\[[^\[\]]*+\]|-?\d+(?:, ?-?\d+)*+|\w+|(?=[,)]))(?=[\s,)}\]]|$)"
)
"""A field with all of its value: the first of several numbers with other marks between them is not a list."""
_BROKER_STATE = regex.compile(r"brokerId=(-?\d+)")
_RECOVERY_STATE = regex.compile(r"(?i)leaderRecoveryState[:=] ?(\w+)")
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
_LAST_KNOWN = regex.compile(r"lastKnownElr=(\[[^\[\]]*\])")
"""The last leader, if the ISR and the eligible replicas are empty (PartitionChangeBuilder#maybeUpdateLastKnownLeader)."""
_REPLICA = regex.compile(
    r"\(brokerId: (?P<broker>\d+), endOffset: (?P<end>-?\d+|unknown)(?:, lastCaughtUpTimeMs: (?P<caught_up>-?\d+|unknown))?\)"
)


@lru_cache(maxsize=1 << 12)
def _partition_state(text: str) -> Mapping[str, Any]:
    """Columns named by a printed partition state; absent or `null` fields give no column.

    Reads LeaderAndIsr as JSON (to 1.0) and as case class (1.1..3.9, with `isrWithBrokerEpoch` from 3.5), the tuple
    `(Leader:1,ISR:1,2,LeaderEpoch:0,…)`, PartitionState and its generated successors, ReplicaAssignment, and KRaft's
    PartitionRegistration and PartitionChangeRecord. Raises ValueError on numbers out of range, as `column` does.
    """
    row: Row = {}
    if text and _STATE_FIELD.search(text) is None:
        raise ValueError(f"a partition state without fields: {text[:100]}")
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


def by_controller(row: Row) -> Iterator[Row]:
    """The row with its writer as the controller."""
    yield {**row, "controller": row.get("controller", row.get("node"))}


def with_state(row: Row) -> Iterator[Row]:
    """The row with the state or assignment that a ZooKeeper controller prints. The row names the epoch of the writer, the state that of the
    controller which last changed it."""
    groups = row["_groups"]
    state = {**_partition_state(groups["_state"] or ""), **_partition_state(groups.get("_assignment") or "")}
    if groups.get("_new"):
        state["value"] = f"{groups['_old']}->{groups['_new']}"
    for made in by_controller(row):
        yield {**state, **{name: value for name, value in made.items() if value is not None}}


def written_isr(row: Row) -> Iterator[Row]:
    """The written ISR; from 3.0 on with the complete state."""
    for made in with_state(row):
        yield {**made, "event": "partition-state", "reason": "written"} if made.get("leader_epoch") is not None else made


def last_isr(row: Row) -> Iterator[Row]:
    """The row with the broker as the only member of the ISR."""
    for made in by_controller(row):
        yield {**made, "isr": [row["broker"]]}


def transition(row: Row) -> Iterator[Row]:
    """The row with `old->new` as the reason; `value` is "made" for a new partition."""
    groups = row["_groups"]
    value = "made" if groups["_old"] == "NonExistentPartition" else None
    yield {**row, "reason": f"{groups['_old']}->{groups['_new']}", "value": value}


def with_transition(row: Row) -> Iterator[Row]:
    """The row with `old->new` as the value."""
    groups = row["_groups"]
    yield {**row, "value": f"{groups['_old']}->{groups['_new']}"}


def reassignment(row: Row) -> Iterator[Row]:
    """A reassignment that began or ended, with its ReplicaAssignment (ZooKeeper) or PartitionChangeRecord (KRaft)."""
    assignment = dict(_partition_state(row["_groups"]["_state"]))
    if assignment.get("leader") == -2:  # PartitionChangeRecord: leader unchanged
        del assignment["leader"]
    under_way = assignment.get("adding_replicas") or assignment.get("removing_replicas")
    yield {**row, **assignment, "reason": "started" if under_way else "completed"}


def with_registration(row: Row) -> Iterator[Row]:
    """The row with the state of a PartitionRegistration or a PartitionChangeRecord."""
    yield {**row, **_partition_state(row["_groups"]["_state"])}


def with_changes(row: Row) -> Iterator[Row]:
    """The row with a PartitionRegistration diff, `name: old -> new` joined by ', '; it lists only what changed."""
    changed: Row = {}
    for match in _CHANGE.finditer(row["_groups"]["_change"]):
        new, old = _CHANGED_COLUMN.get(match["name"], (None, None))
        if new:
            changed[new] = column(new, match["new"])
        if old:
            changed[old] = column(old, match["old"])
    yield {**row, **changed}


def with_previous_state(row: Row) -> Iterator[Row]:
    """An election as PartitionChangeBuilder decides it; from 4.1 the line ends with the state before."""
    text = row["_groups"].get("_previous") or ""
    previous, last = _partition_state(text), _LAST_KNOWN.search(text)
    known = {
        "brokers": column("brokers", last[1]) if last is not None else None,
        "previous_leader": previous.get("leader"),
        "previous_leader_epoch": previous.get("leader_epoch"),
        "previous_isr": previous.get("isr"),
        "replicas": previous.get("replicas"),
    }
    yield {**row, **{name: value for name, value in known.items() if value is not None}}


def removed_replicas(row: Row) -> Iterator[Row]:
    """The row with the brokers that are removed, and their offsets as the leader knew them (2.2 and later)."""
    replicas = _REPLICA.findall(row["_groups"]["_replicas"] or "")
    if replicas:
        row["replica_offsets"] = [
            {"broker": column("broker", broker), "log_end_offset": _known(end), "last_caught_up_ms": _known(caught_up)}
            for broker, end, caught_up in replicas
        ]
    yield _with_brokers(row, [broker for broker in row["previous_isr"] if broker not in row["isr"]])


def _known(number: str) -> int | None:
    return int(number) if number not in ("", "unknown", "-1") else None


def added_replicas(row: Row) -> Iterator[Row]:
    """The row with the brokers that are added."""
    yield _with_brokers(row, [broker for broker in row["isr"] if broker not in row["previous_isr"]])


def _with_brokers(row: Row, brokers: list[int]) -> Row:
    row["brokers"] = brokers
    if len(brokers) == 1:
        row["broker"] = brokers[0]
    return row


def old_leader_epoch(row: Row) -> Iterator[Row]:
    """The row; its reason is an old leader epoch if the line says so."""
    old = row["_groups"].get("_epoch") or row["reason"] == "FENCED_LEADER_EPOCH"
    yield {**row, "reason": "old-leader-epoch"} if old else row


def with_topic_id_mismatch(row: Row) -> Iterator[Row]:
    """The refusal, and the two ids that differ: the cluster's and the log's."""
    yield row
    yield {**row, "event": "topic-id-mismatch", "value": row["topic_id"], "reason": row["_groups"]["_memory"]}


FUNCTIONS = (
    *(by_controller, with_state, written_isr, last_isr, transition, with_transition, reassignment, with_registration, with_changes),
    *(with_previous_state, removed_replicas, added_replicas, old_leader_epoch, with_topic_id_mismatch),
)
