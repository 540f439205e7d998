"""Members of consumer groups: the records of `__consumer_offsets` with the members of a group and their assignments.

Here: client ids and hosts of the members that a partition was assigned to, in groups of the classic protocol, of KIP-848's and in share
groups (KIP-932). Not here: batches and their records (parsers.formats.group_offsets, which passes them on), or members' subscriptions.

Source: GroupMetadataValue (versions 0 to 4), ConsumerProtocolAssignment, ConsumerGroupMemberMetadata, ConsumerGroupCurrentMemberAssignment,
ShareGroupMemberMetadata and ShareGroupCurrentMemberAssignment of Apache Kafka. Key versions are types of records (CoordinatorRecordType).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from parsers.decoding.bodies import BatchRecord
from parsers.decoding.encoding import Fields, Malformed
from parsers.schemas import Row, moment

MAX_MEMBERS = 100_000
MAX_PARTITIONS = 200_000
MAX_OF_PARTITION = 4
"""Largest number of members of one group reported for one partition; the last ones are kept."""

CLASSIC = 2
CONSUMERS = "consumer"
"""Protocol type of groups whose members assign partitions among themselves; in other groups (Connect's) assignments have another
meaning."""
MEMBER = {5: "consumer", 10: "share"}
ASSIGNED = {8: "consumer", 14: "share"}
_INSTANCE_FROM, _REBALANCE_FROM, _STATE_FROM, _FLEXIBLE_FROM = 3, 1, 2, 4
"""Versions of GroupMetadataValue that introduced members' instance ids, rebalance timeouts, the group's time, and the flexible encoding."""


class GroupClient(NamedTuple):
    """A member's client id, and its host as the coordinator saw it."""

    id: str
    host: str


class _Partition(NamedTuple):
    group: str
    topic: str | None
    topic_id: str | None
    partition: int


class _Given(NamedTuple):
    protocol: str
    timestamp: int
    byte: int


class Members:
    """Members of the groups in one file. All methods raise Malformed."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, str], GroupClient] = {}
        self._given: dict[_Partition, dict[GroupClient, _Given]] = {}

    def add(self, kind: int, key: Fields, record: BatchRecord, byte: int) -> None:
        """Reads a record whose key is of this type; `key` is the rest of the key. Raises Malformed."""
        if record.value is None or (kind != CLASSIC and kind not in MEMBER and kind not in ASSIGNED):
            return
        group, value = key.short_string(), Fields(record.value)
        version = value.int16()
        if kind == CLASSIC:
            for client, assignment in classic(value, version):
                for topic, partition in assigned_by_leader(assignment):
                    self._give(_Partition(group, topic, None, partition), client, _Given("classic", record.timestamp, byte))
            return
        if version != 0:
            raise Malformed("an unknown version")
        id = key.short_string()
        if kind in MEMBER:
            if len(self._clients) >= MAX_MEMBERS and (group, id) not in self._clients:
                raise Malformed("too many members; the others are left out")
            self._clients[group, id] = member(value, instance=kind == 5)
        elif (known := self._clients.get((group, id))) is not None:
            given = _Given(ASSIGNED[kind], record.timestamp, byte)
            for topic_id, partition in assigned(value):
                self._give(_Partition(group, None, topic_id, partition), known, given)

    def _give(self, to: _Partition, client: GroupClient, given: _Given) -> None:
        if to not in self._given and len(self._given) >= MAX_PARTITIONS:
            raise Malformed("more partitions of members than are remembered, and the others are left out")
        had = self._given.setdefault(to, {})
        had.pop(client, None)
        had[client] = given
        if len(had) > MAX_OF_PARTITION:
            del had[next(iter(had))]

    def rows(self) -> Iterator[Row]:
        for where, had in self._given.items():
            for client, given in had.items():
                at = moment(given.timestamp)
                yield {
                    "event": "group-member",
                    "pattern": "group-members",
                    "byte": given.byte,
                    "topic": where.topic,
                    "topic_id": where.topic_id,
                    "partition": where.partition,
                    "value": where.group,
                    "key": client.id,
                    "host": client.host,
                    "reason": given.protocol,
                    "time": at,
                    "clock": "batch" if at is not None else None,
                }


def classic(value: Fields, version: int) -> Iterator[tuple[GroupClient, bytes]]:
    """Members with the assignments by the group's leader. Every element takes bytes, so a wrong count ends with the data."""
    if not 0 <= version <= _FLEXIBLE_FROM:
        raise Malformed("an unknown version")
    flexible = version >= _FLEXIBLE_FROM

    def text() -> str:
        return (value.nullable_string() or "") if flexible else value.short_string()

    def data() -> bytes:
        return value.raw(max((value.unsigned_varint() - 1) if flexible else value.int32(), 0))

    kind = text()
    value.int32()
    text()
    text()
    if version >= _STATE_FROM:
        value.int64()
    for _ in range(value.unsigned_varint() - 1 if flexible else value.int32()):
        text()
        if version >= _INSTANCE_FROM:
            text()
        client = GroupClient(text(), _host(text()))
        value.raw(8 if version >= _REBALANCE_FROM else 4)
        data()
        assignment = data()
        if flexible:
            value.tagged()
        if kind == CONSUMERS:
            yield client, assignment


def assigned_by_leader(assignment: bytes) -> Iterator[tuple[str, int]]:
    """Topics and partitions of a ConsumerProtocolAssignment, whose versions have the same beginning. Empty before the group is stable."""
    if not assignment:
        return
    fields = Fields(assignment)
    fields.int16()
    for _ in range(fields.int32()):
        topic = fields.short_string()
        for _ in range(fields.int32()):
            yield topic, _partition(fields)


def member(value: Fields, *, instance: bool) -> GroupClient:
    """The client of a member."""
    if instance:
        value.nullable_string()
    value.nullable_string()
    return GroupClient(value.string(), _host(value.string()))


def assigned(value: Fields) -> Iterator[tuple[str, int]]:
    """Ids of topics, and partitions, that a member was assigned."""
    value.int32()
    value.int32()
    value.int8()
    for _ in range(value.unsigned_varint() - 1):
        topic_id = value.uuid()
        for _ in range(value.unsigned_varint() - 1):
            yield topic_id, _partition(value)
        value.tagged()


def _partition(fields: Fields) -> int:
    number = fields.int32()
    if number < 0:
        raise Malformed("a partition that cannot be")
    return number


def _host(text: str) -> str:
    """Java's InetAddress prints an address without a name after a slash."""
    return text.removeprefix("/")
