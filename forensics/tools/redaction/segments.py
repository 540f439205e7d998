"""Rewritten segments: record bodies removed, headers and checksums kept; Kafka's own topics with other names in their records.

Here: batches of all formats, and the records whose form Kafka defines: offsets of groups, states of transactions, the metadata log. Not
here: the replacements of names (names), or reading batches (parsers.decoding.batches, parsers.decoding.bodies).

Equal batches stay equal and different batches stay different, because that shows which copies diverge: a body becomes a keyed digest of
itself. The key is discarded, so that the original body cannot be found by trial.
"""

from __future__ import annotations

import base64
import hmac
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

import google_crc32c

from forensics.tools.redaction.names import KeptWords, Names
from forensics.tools.redaction.vocabulary import is_read, of_code, of_settings
from parsers.decoding.batches import Batch, Damage, headers
from parsers.decoding.bodies import BatchRecord, UnreadableBatch, marked, records
from parsers.decoding.encoding import Fields, Malformed
from parsers.decoding.group_members import (
    ASSIGNED,
    CLASSIC,
    CONSUMERS,
    MEMBER,
    GroupClient,
    assigned,
    assigned_by_leader,
    classic,
    member,
)
from parsers.decoding.metadata_records import Unsupported, decode_fields, leader_change
from parsers.evidence import Counted
from parsers.formats import group_offsets, share_states, transaction_states
from parsers.paths import partition_of

MAX_PAYLOAD = 256 << 20
"""Largest batch that is rewritten."""
CHUNK = 1 << 20
_V2_CRC_FROM, _V2_CRC_AT = 21, 17
_LEGACY_CRC_FROM, _LEGACY_CRC_AT = 16, 12
_CODEC = 7
_ATTRIBUTES_AT = 21
_SIZE_AT, _OVERHEAD = 8, 12
_TORN = b"\x01" * 8
"""An offset without a zero byte: a tail of zeros would count as preallocated."""
_HEADS: dict[str, Callable[[int], bytes]] = {
    "torn-tail": lambda left: struct.pack(">iib", max(left, 64), 0, 2),  # more than there is
    "magic": lambda _: struct.pack(">iib", 64, 0, 0x7F),
}
_SIZE_AND_MAGIC = {"length": (0, 2), "magic": (64, 0x7F)}
"""A damaged header of which the offsets are readable, so that the copy's next batch is found as in the evidence."""
_V2_HEADER = 61
_MARKER = 6
"""Bytes of a marker's value: a version and the coordinator's epoch."""
_STAND_IN = b"\x01\x14\x00\x01\x00\x00"
"""NoOpRecord (KIP-835) with an empty tagged field, which distinguishes it from those that Kafka writes: these show that the leader writes
records when nothing happens. Frame 1, api key 20, version 0, one tagged field: tag 0, of no bytes."""
_TOPIC, _BROKER = 2, 4
_WITHOUT_NAMES = frozenset({1, 3, 5, 7, 8, 9, 15, 17, 20, 21, 24})
"""Records of the metadata log that contain only ids and numbers, by api key."""
_NOT_READ = {15: 20, 20: 0}
"""Bytes of the fields of those among them that no reader reads: ProducerIdsRecord and NoOpRecord."""
_LEADER_CHANGE, _KRAFT_VOTERS = 2, 6
_CONTROL_SIZES = {3: 11, 4: 3, 5: 5}
"""Bytes of other control records without tagged fields, by type: SnapshotHeader, SnapshotFooter, KRaftVersion."""
_CONTROL_KEY = 4
_WITH_INSTANCE = 5
"""The type of the records about members that have an instance id before the rack."""


def names_records(path: str) -> bool:
    """Whether it is of a topic whose records name groups and transactional ids."""
    where = partition_of(path)
    return where is not None and where[0] in _OF_INTERNAL and re.search(r"/\d{20}\.log", path) is not None


def rewritten(stream: BinaryIO, path: str, kind: str, names: Names, secret: bytes) -> Iterator[bytes]:
    """The segment, or the snapshot, in pieces."""
    counted = Counted(stream)
    where = partition_of(path)
    change = _metadata if kind != "segment" else _OF_INTERNAL.get(where[0] if where is not None else "")
    read: BinaryIO = counted  # type: ignore[assignment]
    damage, reached = None, 0
    for found in headers(read, payload=MAX_PAYLOAD):
        if isinstance(found, Damage):
            damage = found
            continue
        if damage is not None:
            yield from _damaged(damage, found.position, reached)
            damage = None
        reached = found.last_offset + 1 if found.valid else reached
        if found.payload is None:
            raise UnreadableBatch("too-large", f"a batch of more than {MAX_PAYLOAD} bytes")
        of_transactions = found.control and kind == "segment"
        if of_transactions and _only_marks(found):
            yield found.head + found.payload
        elif change is not None and found.valid and not of_transactions:
            try:
                yield _encoded(found, [change(r, found.control, names, secret) for r in records(found, MAX_PAYLOAD)])
            except (Malformed, UnreadableBatch):
                yield _without_body(found, secret)
        else:
            yield _without_body(found, secret)
    if damage is not None:
        while counted.read(CHUNK):
            pass
        yield from _damaged(damage, counted.bytes, reached)


def _only_marks(batch: Batch) -> bool:
    """Its records are ends of transactions, with the coordinator's epoch (EndTransactionMarker), and not other data that a flipped bit
    marks as such."""
    try:
        decoded = list(records(batch, MAX_PAYLOAD)) if batch.codec == "none" else []
    except (Malformed, UnreadableBatch):
        return False
    return bool(decoded) and all(
        len(r.key or b"") == 4 and marked(r) is not None and len(r.value or b"") == _MARKER and not r.headers for r in decoded
    )


def _damaged(found: Damage, end: int, reached: int) -> Iterator[bytes]:
    """As many bytes, up to byte `end`, with the same kind of damage: zeros for zeros, else a batch that is cut off, or an invalid one.
    `reached`: the last offset + 1 before the damage."""
    left = end - found.position
    if found.following is not None and found.reason in _SIZE_AND_MAGIC and left >= _V2_HEADER:
        size, magic = _SIZE_AND_MAGIC[found.reason]
        head = struct.pack(">qiibIhi", reached, size, 0, magic, 0, 0, found.following - reached - 1)
        yield head
        left -= len(head)
    elif found.reason in _HEADS:
        head = _TORN + _HEADS[found.reason](left)
        yield head[:left]
        left -= min(left, len(head))
    fill = b"\0" if found.reason in ("preallocated", "torn-tail") else b"\xff"
    while left > 0:
        yield fill * min(left, CHUNK)
        left -= CHUNK


def _digest(data: bytes, secret: bytes) -> bytes:
    """As long as the data, and without ASCII letters, so that a name cannot occur in it by chance."""
    keyed = bytes(byte | 0x80 for byte in hmac.digest(secret, data, "sha256"))
    return keyed[: len(data)].ljust(len(data), b"\0")


def _without_body(batch: Batch, secret: bytes) -> bytes:
    payload = batch.payload or b""
    if batch.magic == 2:
        body = _digest(payload, secret)
        crc = google_crc32c.value(batch.head[_V2_CRC_FROM:] + body)
        return _with_crc(batch, _V2_CRC_AT, crc) + body
    try:
        fields = Fields(payload)
        key, value = (None if (size := fields.int32()) < 0 else fields.raw(size) for _ in range(2))
        body = _legacy_pair(*(None if part is None else _digest(part, secret) for part in (key, value)))
    except Malformed:
        body = b""
    if len(body) != len(payload):  # damaged lengths of key and value
        body = _digest(payload, secret)
    crc = zlib.crc32(batch.head[_LEGACY_CRC_FROM:] + body)
    return _with_crc(batch, _LEGACY_CRC_AT, crc) + body


def _with_crc(batch: Batch, at: int, crc: int) -> bytes:
    """The head with the checksum of the new body; if the old checksum was wrong, the new one is, too."""
    if not batch.valid:
        crc ^= 1
    return batch.head[:at] + struct.pack(">I", crc) + batch.head[at + 4 :]


def _legacy_pair(key: bytes | None, value: bytes | None) -> bytes:
    return b"".join(struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part for part in (key, value))


def _encoded(batch: Batch, decoded: list[BatchRecord]) -> bytes:
    """A batch of these records, uncompressed; in the formats that compress by wrapping, several batches of one record each."""
    if batch.magic < 2:
        return b"".join(_message(batch, r) for r in decoded)
    body = b"".join(_sized(_record(batch, r)) for r in decoded)
    (attributes,) = struct.unpack_from(">h", batch.head, _ATTRIBUTES_AT)
    rest = struct.pack(">h", attributes & ~_CODEC) + batch.head[_ATTRIBUTES_AT + 2 :] + body
    head = batch.head[:_SIZE_AT] + struct.pack(">i", len(batch.head) - _OVERHEAD + len(body)) + batch.head[_OVERHEAD:_V2_CRC_AT]
    return head + struct.pack(">I", google_crc32c.value(rest)) + rest


def _record(batch: Batch, r: BatchRecord) -> bytes:
    return (
        b"\0"
        + _varint(r.timestamp - batch.base_timestamp)
        + _varint(r.offset - batch.base_offset)
        + _nullable(r.key)
        + _nullable(r.value)
        + b"\0"
    )


def _message(batch: Batch, r: BatchRecord) -> bytes:
    attributes = batch.head[17] & ~_CODEC
    rest = bytes([batch.magic, attributes]) + (struct.pack(">q", r.timestamp) if batch.magic == 1 else b"") + _legacy_pair(r.key, r.value)
    return struct.pack(">qiI", r.offset, len(rest) + 4, zlib.crc32(rest)) + rest


def _varint(value: int) -> bytes:
    return _unsigned((value << 1) ^ (value >> 63))


def _unsigned(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def _sized(data: bytes) -> bytes:
    return _varint(len(data)) + data


def _nullable(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _sized(data)


class _Copy:
    """Fields copied one after another, some with a change."""

    def __init__(self, data: bytes | None) -> None:
        self.fields = Fields(data or b"")
        self.out = bytearray()

    def raw(self, size: int) -> bytes:
        data = self.fields.raw(size)
        self.out += data
        return data

    def int16(self) -> int:
        return int.from_bytes(self.raw(2), "big", signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.raw(4), "big", signed=True)

    def unsigned(self) -> int:
        value = self.fields.unsigned_varint()
        self.out += _unsigned(value)
        return value

    def short_string(self, change: Callable[[str], str]) -> str:
        size = self.fields.int16()
        if size < 0:
            self.out += struct.pack(">h", size)
            return ""
        text = self.fields.raw(size).decode("utf-8", "replace")
        new = change(text).encode()
        self.out += struct.pack(">h", len(new)) + new
        return text

    def string(self, change: Callable[[str], str]) -> str | None:
        text = self.fields.nullable_string()
        new = None if text is None else change(text).encode()
        self.out += b"\0" if new is None else _unsigned(len(new) + 1) + new
        return text

    def rest(self) -> bytes:
        self.raw(self.fields.remaining)
        return bytes(self.out)


def _nothing(_: str) -> str:
    return ""


def _changed(r: BatchRecord, key: bytes | None, value: bytes | None) -> BatchRecord:
    return BatchRecord(r.offset, r.timestamp, key, value)


def _group_offset(r: BatchRecord, control: bool, names: Names, secret: bytes) -> BatchRecord:
    """OffsetCommitKey and -Value, and members of groups with their clients and partitions; of other records only the group."""
    key = _Copy(r.key)
    version = key.int16()
    key.short_string(lambda group: names.add("group", group))
    if version in (CLASSIC, *MEMBER, *ASSIGNED):
        return _of_members(r, version, key, names)
    if version not in (0, 1):
        return _changed(r, bytes(key.out), None)
    key.short_string(lambda topic: names.add("topic", topic))
    key.raw(4)
    if r.value is None:
        return _changed(r, bytes(key.out), None)
    value = _Copy(r.value)
    version = value.int16()
    value.raw(8 if version < 3 else 12)
    value.string(_nothing) if version >= 4 else value.short_string(_nothing)  # the client's metadata of its commit
    value.raw(8 if version != 1 else 16)
    if version >= 4:
        value.out += b"\0"  # no tagged fields: those of later versions are not read
    return _changed(r, bytes(key.out), bytes(value.out))


def _of_members(r: BatchRecord, kind: int, key: _Copy, names: Names) -> BatchRecord:
    """A record about members, written again from what is read: clients, hosts and assignments, and stand-ins for ids of members."""
    value: bytes | None = None
    try:
        if kind != CLASSIC:
            key.short_string(lambda member: names.add("member", member))
        fields = Fields(r.value or b"")
        version = fields.int16()
        if kind == CLASSIC:
            value = _classic([(client, [*assigned_by_leader(given)]) for client, given in classic(fields, version)], names)
        elif version == 0 and kind in MEMBER:
            decoded = (None, None) if kind == _WITH_INSTANCE else (None,)
            value = bytes(2) + b"".join(
                _compact(text) for text in (*decoded, *_client(member(fields, instance=kind == _WITH_INSTANCE), names))
            )
        elif version == 0:
            value = bytes(2 + 4 + 4 + 1) + _assignments([*assigned(fields)])
    except Malformed:
        pass
    return _changed(r, bytes(key.out), None if r.value is None else value)


def _classic(members: Sequence[tuple[GroupClient, Sequence[tuple[str, int]]]], names: Names) -> bytes:
    """GroupMetadataValue of version 0."""
    out = bytes(2) + _short(CONSUMERS) + bytes(4) + _short("") + _short("") + struct.pack(">i", len(members))
    for client, partitions in members:
        given = struct.pack(">hi", 0, len(partitions))
        given += b"".join(_short(names.add("topic", topic)) + struct.pack(">ii", 1, partition) for topic, partition in partitions)
        out += _short("") + b"".join(map(_short, _client(client, names))) + bytes(4 + 4) + struct.pack(">i", len(given)) + given
    return out


def _client(client: GroupClient, names: Names) -> tuple[str, str]:
    return names.add("client", client.id), names.text(client.host, KeptWords())


def _assignments(partitions: Sequence[tuple[str, int]]) -> bytes:
    one = b"".join(
        base64.urlsafe_b64decode(f"{topic_id}==") + _unsigned(2) + struct.pack(">i", partition) + b"\0"
        for topic_id, partition in partitions
    )
    return _unsigned(len(partitions) + 1) + one


def _short(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def _compact(text: str | None) -> bytes:
    return b"\0" if text is None else _unsigned(len(text) + 1) + text.encode()


def _share_state(r: BatchRecord, control: bool, names: Names, secret: bytes) -> BatchRecord:
    """ShareSnapshotKey or ShareUpdateKey; of the value, which contains only numbers, the part that is read."""
    key = _Copy(r.key)
    key.int16()
    key.short_string(lambda group: names.add("group", group))
    key.raw(16 + 4)
    value = r.value if r.value is None or share_states.understood(r) else _digest(r.value, secret)
    return _changed(r, bytes(key.out), value)


def _transaction(r: BatchRecord, control: bool, names: Names, secret: bytes) -> BatchRecord:
    """TransactionLogKey and -Value."""
    key = _Copy(r.key)
    if key.int16() != 0:
        return _changed(r, None, None if r.value is None else _digest(r.value, secret))
    key.short_string(lambda name: names.add("transaction", name))
    if r.value is None:
        return _changed(r, bytes(key.out), None)
    value = _Copy(r.value)
    flexible = value.int16() >= 1
    value.raw(8 + 2 + 4 + 1)
    count = value.unsigned() - 1 if flexible else value.int32()
    for _ in range(count):
        change: Callable[[str], str] = lambda topic: names.add("topic", topic)  # noqa: E731
        value.string(change) if flexible else value.short_string(change)
        value.raw(4 * (value.unsigned() - 1 if flexible else value.int32()))
        if flexible:
            value.unsigned()
    value.raw(8 + 8)
    if flexible:
        value.out += b"\0"  # no tagged fields: those of later versions are not read
    return _changed(r, bytes(key.out), bytes(value.out))


class _Watched(Fields):
    """Fields that know which of their bytes were not read."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._size = len(data)
        self._inner: list[tuple[int, Fields]] = []

    def tagged(self) -> dict[int, Fields]:
        by_tag: dict[int, Fields] = {}
        for _ in range(self.unsigned_varint()):
            tag, size = self.unsigned_varint(), self.unsigned_varint()
            by_tag[tag] = Fields(self.raw(size))
            self._inner.append((self._size - self.remaining, by_tag[tag]))
        return by_tag

    def unread(self) -> Iterator[tuple[int, int]]:
        """[start, end) of the bytes that were not read."""
        yield from ((end - inner.remaining, end) for end, inner in self._inner)
        yield self._size - self.remaining, self._size


def _known(data: bytes, head: int, read: Callable[[_Watched], object], secret: bytes) -> bytes:
    """The bytes, of which those that `read` does not read, or all behind `head` if it fails, become a digest."""
    fields = _Watched(data)
    try:
        read(fields)
        unread = list(fields.unread())
    except (Malformed, Unsupported):
        unread = [(head, len(data))]
    out = bytearray(data)
    for start, end in unread:
        out[start:end] = _digest(data[start:end], secret)
    return bytes(out)


def _of_metadata(fields: Fields) -> None:
    """Reads one record of the metadata log."""
    api = decode_fields(fields).api_key
    if api in _NOT_READ:
        fields.raw(_NOT_READ[api])
        fields.tagged()


def _control(r: BatchRecord, secret: bytes) -> BatchRecord:
    """A control record of the metadata log. KRaftVotersRecord names hosts."""
    head = Fields(r.key or b"")
    head.int16()
    kind, key, value = head.int16(), (r.key or b"")[:_CONTROL_KEY], r.value or b""
    if kind == _LEADER_CHANGE:
        value = _known(value, 0, leader_change, secret)
    elif kind == _KRAFT_VOTERS:
        value = b""
    elif len(value) != _CONTROL_SIZES.get(kind) or value[-1]:
        value = _digest(value, secret)
        key = key if kind in _CONTROL_SIZES else _digest(key, secret)
    return _changed(r, key, value)


def _metadata(r: BatchRecord, control: bool, names: Names, secret: bytes) -> BatchRecord:
    """A record of the metadata log: names are replaced in the types that are read, and other records become a no-op."""
    if control:
        return _control(r, secret)
    value = _Copy(r.value)
    frame, api, version = value.unsigned(), value.unsigned(), value.unsigned()
    head = len(value.out)
    if api in (23, 25) and frame == 1:  # BeginTransactionRecord, AbortTransactionRecord: name and reason are tagged fields
        return _changed(r, None, bytes(value.out) + b"\0")
    way = (lambda copy, _, __: copy.rest()) if api in _WITHOUT_NAMES else _OF_METADATA.get(api)
    if frame != 1 or way is None:
        return _changed(r, None, _STAND_IN)
    return _changed(r, None, _known(way(value, version, names), head, _of_metadata, secret))


def _topic(value: _Copy, version: int, names: Names) -> bytes:
    value.string(lambda name: names.add("topic", name))
    return value.rest()


def _config(value: _Copy, version: int, names: Names) -> bytes:
    kind = value.raw(1)[0]
    value.string(lambda name: names.add("topic", name) if kind == _TOPIC else name if name in names.seen.nodes else names.step(name))
    key = value.string(lambda key: names.text(key, KeptWords(of_settings()))) or ""
    value.string(lambda text: names.setting(key, text))
    return value.rest()


def _feature(value: _Copy, version: int, names: Names) -> bytes:
    value.string(lambda name: name if is_read(name) else names.step(name))
    return value.rest()


def _broker(value: _Copy, version: int, names: Names) -> bytes:
    listener: Callable[[str], str] = lambda name: names.text(name, KeptWords(of_code()))  # noqa: E731
    value.raw(4 + (version >= 2) + 16 + 8)
    for _ in range(value.unsigned() - 1):
        value.string(listener)
        value.string(lambda host: names.whole.get(host) or names.text(host, KeptWords()))
        value.raw(4)
        value.unsigned()
    for _ in range(value.unsigned() - 1):
        value.string(lambda name: name if is_read(name) else names.step(name))
        value.raw(4)
        value.unsigned()
    value.string(names.step)
    return value.rest()


_OF_METADATA: dict[int, Callable[[_Copy, int, Names], bytes]] = {0: _broker, 2: _topic, 4: _config, 12: _feature}
_Change = Callable[[BatchRecord, bool, Names, bytes], BatchRecord]
_OF_INTERNAL: dict[str, _Change] = {
    group_offsets.TOPIC: _group_offset,
    transaction_states.TOPIC: _transaction,
    share_states.TOPIC: _share_state,
}
