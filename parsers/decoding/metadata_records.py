"""KRaft metadata records (KIP-631): the fields of each kind of record about topics, partitions, brokers, settings and features.

Here: record bytes to the columns of one event and a readable text in Kafka's spelling. Not here: batches, offsets, times and transactions
(parsers.formats.metadata_log), or the replay of changes into states.

Source: metadata/src/main/resources/common/metadata/*.json, Kafka 3.0 to 4.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from parsers.decoding.encoding import Fields, Malformed
from parsers.masking import masked
from parsers.schemas import INT32, MAX_TEXT, Row

NO_OP_RECORD = b"\x01\x14\x00\x00"
"""NoOpRecord as Kafka writes it: frame 1, api key 20, version 0, no tagged fields."""
BEGIN_TRANSACTION, END_TRANSACTION, ABORT_TRANSACTION = 23, 24, 25
LEADER_CHANGE = 2

_FRAME_VERSION = 1
_NO_LEADER_CHANGE = -2
_TOPIC_RESOURCE, _BROKER_RESOURCE = 2, 4


class Unsupported(Exception):
    """A complete record of a form that this reader does not support; `reason` is a short word."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """One metadata record."""

    api_key: int
    row: Row | None
    """Columns from the record itself; null for kinds without data about replication."""


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    newest: int
    """Newest supported version; a newer one is read in the same way and accepted if that consumes all its bytes."""
    read: Callable[[Fields, int], tuple[Row, Mapping[str, Any]]]
    """Columns and, for the text, the fields as Kafka names them."""


def decode(value: bytes) -> MetadataRecord:
    """One record's value: frame version, api key, version, fields. Raises Malformed and Unsupported."""
    return decode_fields(Fields(value))


def decode_fields(fields: Fields) -> MetadataRecord:
    """`decode`, from a reader of the record's value."""
    frame = fields.unsigned_varint()
    if frame != _FRAME_VERSION:
        early = "; 0 is the preview of Kafka 2.8, which no later version reads" if frame == 0 else ""
        raise Unsupported("metadata-frame", f"metadata records of frame version {frame}{early}")
    api_key, version = fields.unsigned_varint(), fields.unsigned_varint()
    kind = _KINDS.get(api_key)
    if kind is None:
        return MetadataRecord(api_key, None)
    try:
        row, named = kind.read(fields, version)
        fields.end()
    except Malformed as fault:
        if version > kind.newest:
            raise Unsupported("metadata-version", f"{kind.name} of version {version}, newer than {kind.newest}") from fault
        raise Malformed(f"{kind.name} of version {version}: {fault}") from fault
    return MetadataRecord(api_key, row | {"text": _rendered(kind.name, named)} if row else None)


def decode_control(key: bytes, value: bytes) -> Row | None:
    """A control record; null unless it is a LEADER_CHANGE (LeaderChangeMessage, KIP-595). Raises Malformed."""
    head = Fields(key)
    head.int16()
    if head.int16() != LEADER_CHANGE:
        return None
    return leader_change(Fields(value))


def leader_change(fields: Fields) -> Row:
    """A LeaderChangeMessage. Raises Malformed."""
    version, leader = fields.int16(), fields.int32()
    voters = fields.array(lambda: _voter(fields, version))
    granting = fields.array(lambda: _voter(fields, version))
    fields.tagged()
    named = {"version": version, "leaderId": leader, "voters": voters, "grantingVoters": granting}
    row: Row = {"event": "metadata-leader", "controller": leader, "brokers": voters}
    return row | {"text": _rendered("LeaderChangeMessage", named)}


def _voter(fields: Fields, version: int) -> int:
    voter = fields.int32()
    if version >= 1:
        fields.uuid()
    fields.tagged()
    return voter


def _rendered(name: str, named: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{field}={_value(value)}' for field, value in named.items())})"[:MAX_TEXT]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def _quoted(text: str | None) -> str | None:
    return None if text is None else f"'{text}'"


def _register_broker(fields: Fields, version: int) -> tuple[Row, Mapping[str, Any]]:
    broker = fields.int32()
    migrating = fields.boolean() if version >= 2 else False
    incarnation, epoch = fields.uuid(), fields.int64()
    end_points = fields.array(lambda: _end_point(fields))
    features = fields.array(lambda: _feature(fields))
    rack, fenced = fields.nullable_string(), fields.boolean()
    stopping = fields.boolean() if version >= 1 else False
    directories = _directories(fields.tagged(), 0)
    named = {
        "brokerId": broker,
        "isMigratingZkBroker": migrating,
        "incarnationId": incarnation,
        "brokerEpoch": epoch,
        "endPoints": end_points,
        "features": features,
        "rack": _quoted(rack),
        "fenced": fenced,
        "inControlledShutdown": stopping,
        "logDirs": directories or [],
    }
    reason = "shutdown" if stopping else "fenced" if fenced else "unfenced"
    addresses = ",".join(end_point.partition(" ")[0] for end_point in end_points or ())
    row: Row = {"event": "metadata-broker", "broker": broker, "broker_epoch": epoch, "reason": reason, "value": addresses or None}
    return row | ({"key": "zookeeper"} if migrating else {}), named


def _end_point(fields: Fields) -> str:
    name, host, port, protocol = fields.string(), fields.string(), fields.uint16(), fields.int16()
    fields.tagged()
    return f"{name}://{host}:{port} (securityProtocol={protocol})"


def _feature(fields: Fields) -> str:
    name, low, high = fields.string(), fields.int16(), fields.int16()
    fields.tagged()
    return f"{name}: {low}-{high}"


def _directories(tagged: Mapping[int, Fields], tag: int) -> list[str] | None:
    return tagged[tag].nullable_array(tagged[tag].uuid) if tag in tagged else None


def _ids(tagged: Mapping[int, Fields], tag: int) -> list[int] | None:
    return tagged[tag].nullable_array(tagged[tag].int32) if tag in tagged else None


def _broker_change(id_name: str, epoch_name: str, reason: str) -> Callable[[Fields, int], tuple[Row, Mapping[str, Any]]]:
    """The three records that contain only a broker and its epoch, each under its own field names."""

    def read(fields: Fields, _: int) -> tuple[Row, Mapping[str, Any]]:
        broker, epoch = fields.int32(), fields.int64()
        fields.tagged()
        row: Row = {"event": "metadata-broker-change", "broker": broker, "broker_epoch": epoch, "reason": reason}
        return row, {id_name: broker, epoch_name: epoch}

    return read


def _registration_change(fields: Fields, _: int) -> tuple[Row, Mapping[str, Any]]:
    broker, epoch = fields.int32(), fields.int64()
    tagged = fields.tagged()
    fenced = tagged[0].int8() if 0 in tagged else 0
    stopping = tagged[1].int8() if 1 in tagged else 0
    directories = _directories(tagged, 2)
    named = {
        "brokerId": broker,
        "brokerEpoch": epoch,
        "fenced": fenced,
        "inControlledShutdown": stopping,
        "logDirs": directories or [],
    }
    reason = {1: "fenced", -1: "unfenced"}.get(fenced) or ("shutdown" if stopping == 1 else "registered")
    return {"event": "metadata-broker-change", "broker": broker, "broker_epoch": epoch, "reason": reason}, named


def _topic(fields: Fields, _: int) -> tuple[Row, Mapping[str, Any]]:
    name, topic_id = fields.string(), fields.uuid()
    fields.tagged()
    return {"event": "metadata-topic", "topic": name, "topic_id": topic_id}, {"name": _quoted(name), "topicId": topic_id}


def _remove_topic(fields: Fields, _: int) -> tuple[Row, Mapping[str, Any]]:
    topic_id = fields.uuid()
    fields.tagged()
    return {"event": "metadata-topic-removed", "topic_id": topic_id}, {"topicId": topic_id}


def _partition(fields: Fields, version: int) -> tuple[Row, Mapping[str, Any]]:
    partition, topic_id = fields.int32(), fields.uuid()
    replicas, isr, removing, adding = (fields.array(fields.int32) for _ in range(4))
    leader, leader_epoch, partition_epoch = fields.int32(), fields.int32(), fields.int32()
    directories = fields.array(fields.uuid) if version >= 1 else None
    tagged = fields.tagged()
    recovery = tagged[0].int8() if 0 in tagged else 0
    elr, last_known_elr = _ids(tagged, 1), _ids(tagged, 2)
    row: Row = {
        "event": "metadata-partition",
        "partition": partition,
        "topic_id": topic_id,
        "replicas": replicas,
        "isr": isr,
        "removing_replicas": removing,
        "adding_replicas": adding,
        "leader": leader,
        "leader_epoch": leader_epoch,
        "partition_epoch": partition_epoch,
        "recovering": recovery == 1,
    }
    named = {
        "partitionId": partition,
        "topicId": topic_id,
        "replicas": replicas,
        "isr": isr,
        "removingReplicas": removing,
        "addingReplicas": adding,
        "leader": leader,
        "leaderRecoveryState": recovery,
        "leaderEpoch": leader_epoch,
        "partitionEpoch": partition_epoch,
    }
    return row | _present({"eligible": elr}), named | _optional(directories, elr, last_known_elr)


def _partition_change(fields: Fields, _: int) -> tuple[Row, Mapping[str, Any]]:
    partition, topic_id = fields.int32(), fields.uuid()
    tagged = fields.tagged()
    isr, replicas, removing, adding, elr, last_known_elr = (_ids(tagged, tag) for tag in (0, 2, 3, 4, 6, 7))
    leader = tagged[1].int32() if 1 in tagged else _NO_LEADER_CHANGE
    recovery = tagged[5].int8() if 5 in tagged else -1
    columns = {
        "isr": isr,
        "leader": None if leader == _NO_LEADER_CHANGE else leader,
        "replicas": replicas,
        "removing_replicas": removing,
        "adding_replicas": adding,
        "eligible": elr,
        "recovering": None if recovery == -1 else recovery == 1,
    }
    changed = {
        "isr": isr,
        "leader": columns["leader"],
        "replicas": replicas,
        "removingReplicas": removing,
        "addingReplicas": adding,
        "leaderRecoveryState": None if recovery == -1 else recovery,
    } | _optional(_directories(tagged, 8), elr, last_known_elr)
    row: Row = {"event": "metadata-partition-change", "partition": partition, "topic_id": topic_id}
    named = {"partitionId": partition, "topicId": topic_id} | _present(changed)
    return row | _present(columns), named


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _optional(directories: list[str] | None, elr: list[int] | None, last_known_elr: list[int] | None) -> dict[str, Any]:
    return _present({"directories": directories, "eligibleLeaderReplicas": elr, "lastKnownElr": last_known_elr})


def _config(fields: Fields, _: int) -> tuple[Row, Mapping[str, Any]]:
    kind, name, key, value = fields.int8(), fields.string(), fields.string(), fields.nullable_string()
    fields.tagged()
    value = None if value is None else masked(key, value)
    named = {"resourceType": kind, "resourceName": _quoted(name), "name": _quoted(key), "value": _quoted(value)}
    row: Row = {"event": "metadata-config", "key": key, "value": value}
    if value is None:
        row["reason"] = "deleted"
    if kind == _TOPIC_RESOURCE:
        return row | {"topic": name}, named
    if kind == _BROKER_RESOURCE:
        return row | ({"node": _node(name)} if name else {}), named
    return {}, named


def _node(name: str) -> int:
    if not re.fullmatch(r"\d{1,10}", name, re.ASCII) or int(name) not in INT32:
        raise Malformed("the name of a broker is not a node id")
    return int(name)


def _feature_level(fields: Fields, _: int) -> tuple[Row, Mapping[str, Any]]:
    name = fields.string()
    # 3.0..3.2 wrote a lowest and a highest level under the same version 0 (KIP-778 dropped the lowest)
    if fields.remaining == 5:
        fields.int16()
    level = fields.int16()
    fields.tagged()
    return {"event": "metadata-feature", "key": name, "count": level}, {"name": _quoted(name), "featureLevel": level}


_MIGRATION_STATES = {0: "NONE", 1: "MIGRATION", 2: "PRE_MIGRATION", 3: "POST_MIGRATION", 4: "ZK"}
"""ZkMigrationState. 3.4 wrote 1 for the state that was 2 from 3.5 on, and never wrote the other one."""


def _migration(fields: Fields, _: int) -> tuple[Row, Mapping[str, Any]]:
    state = fields.int8()
    fields.tagged()
    return {"event": "metadata-migration", "value": _MIGRATION_STATES.get(state, str(state))}, {"zkMigrationState": state}


def _transaction(fields: Fields, _: int) -> tuple[Row, Mapping[str, Any]]:
    fields.tagged()
    return {}, {}


_KINDS = {
    0: _Kind("RegisterBrokerRecord", 4, _register_broker),
    1: _Kind("UnregisterBrokerRecord", 0, _broker_change("brokerId", "brokerEpoch", "unregistered")),
    2: _Kind("TopicRecord", 0, _topic),
    3: _Kind("PartitionRecord", 2, _partition),
    4: _Kind("ConfigRecord", 0, _config),
    5: _Kind("PartitionChangeRecord", 2, _partition_change),
    7: _Kind("FenceBrokerRecord", 0, _broker_change("id", "epoch", "fenced")),
    8: _Kind("UnfenceBrokerRecord", 0, _broker_change("id", "epoch", "unfenced")),
    9: _Kind("RemoveTopicRecord", 0, _remove_topic),
    12: _Kind("FeatureLevelRecord", 0, _feature_level),
    17: _Kind("BrokerRegistrationChangeRecord", 3, _registration_change),
    21: _Kind("ZkMigrationStateRecord", 0, _migration),
    BEGIN_TRANSACTION: _Kind("BeginTransactionRecord", 0, _transaction),
    END_TRANSACTION: _Kind("EndTransactionRecord", 0, _transaction),
    ABORT_TRANSACTION: _Kind("AbortTransactionRecord", 0, _transaction),
}
