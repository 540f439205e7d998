"""Record batches of log segments, magic 0, 1 and 2: their offsets and producers.

Here: frames and headers, read forwards in bounded chunks, and checksums. Not here: the events of a segment (parsers.formats.segments), or
the records of a batch (bodies). Source: DefaultRecordBatch, LegacyRecord and FileLogInputStream of Apache Kafka.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

import google_crc32c

from parsers.schemas import INT64

CHUNK = 1 << 20
"""Bytes read at a time; about two chunks are in memory at once."""
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

_LOG_OVERHEAD = 12
_UP_TO_MAGIC = 17
_PREFIX = struct.Struct(">qiIb")
_V2 = struct.Struct(">qiibIhiqqqhii")
_V1_TIMESTAMP = struct.Struct(">q")
_SMALLEST = {0: 14, 1: 22, 2: 49}
"""Least size field of each magic: a frame's bytes after offset and size."""
_CRC_STARTS = {0: 16, 1: 16, 2: 21}
_PAYLOAD_STARTS = {0: 18, 1: 26, 2: 61}


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch; in magic 0 and 1 one message, which may wrap a compressed set of messages.

    Without decompression, only the offset of a compressed wrapper's last message is known: it is both base and last offset, and the record
    count is null. Timestamps are milliseconds since 1970, -1 means none.
    """

    position: int
    """Byte offset at which the batch begins."""
    size: int
    """Bytes in the file, still compressed."""
    base_offset: int
    last_offset: int
    leader_epoch: int
    """partitionLeaderEpoch, -1 when unknown and before magic 2. No checksum covers this field."""
    magic: int
    crc: int
    codec: str
    timestamp_type: str | None
    """'create' or 'append'; null in magic 0."""
    transactional: bool
    control: bool
    base_timestamp: int
    """In a batch with a delete horizon (compacted, 3.0+), that horizon."""
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int | None
    valid: bool
    """The checksum matches."""
    horizon: bool = False
    """The batch has a delete horizon: the log cleaner has rewritten it (KIP-534, 3.1+)."""
    payload: bytes | None = None
    """The bytes after the fixed header, if requested and not too large."""
    head: bytes = b""
    """The fixed header, if the payload is present."""

    @property
    def whole(self) -> bool | None:
        """Whether the batch is as it was appended. Brokers number its records without a hole (LogValidator); only the log cleaner removes
        some (MemoryRecords.filterTo) and keeps base and last offset. None if only decompression would show it."""
        if self.record_count is None:
            return None
        return not self.horizon and self.record_count == self.last_offset - self.base_offset + 1


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that do not form a batch."""

    position: int
    reason: str
    """'torn-tail' (end of file inside a batch), 'length', 'magic', or 'preallocated': zero bytes to the end, no damage."""
    text: str
    following: int | None = None
    """The offset after the damaged batch, if its header is that of the batch after the last valid one."""


class _ForwardReader:
    """A forward reader that keeps little in memory."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._bytes = b""
        self._at = 0
        self.position = 0

    def peek(self, size: int) -> bytes:
        """The next bytes without moving on; fewer than `size` only at the end of the stream."""
        while len(self._bytes) - self._at < size:
            more = self._stream.read(CHUNK)
            if not more:
                break
            self._bytes, self._at = self._bytes[self._at :] + more, 0
        return self._bytes[self._at : self._at + size]

    def take(self, size: int) -> bytes:
        """The next bytes, at least one and at most `size`; none at the end of the stream."""
        if self._at == len(self._bytes):
            self._bytes, self._at = self._stream.read(CHUNK), 0
        taken = self._bytes[self._at : self._at + size]
        self._at += len(taken)
        self.position += len(taken)
        return taken

    def pieces(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes, as far as there are any, at most CHUNK at a time."""
        while size > 0 and (piece := self.take(min(size, CHUNK))):
            yield piece
            size -= len(piece)

    def put_back(self, data: bytes) -> None:
        """Makes these bytes, the last ones taken, the next ones."""
        self._bytes, self._at = data + self._bytes[self._at :], 0
        self.position -= len(data)

    def only_zeros(self) -> bool:
        """Whether only zero bytes are left. Otherwise skips zero bytes, except for those that may be the beginning of an offset."""
        skipped = 0
        while piece := self.take(CHUNK):
            if piece.count(0) != len(piece):
                zeros = len(piece) - len(piece.lstrip(b"\0"))
                self.put_back(bytes(min(skipped, max(_UP_TO_MAGIC - zeros, 0))) + piece[max(zeros - _UP_TO_MAGIC, 0) :])
                return False
            skipped += len(piece)
        return True


def headers(stream: BinaryIO, *, payload: int = 0) -> Iterator[Batch | Damage]:
    """Batches in file order. A batch whose checksum fails has a false `valid`. After a Damage the sequence continues with the next valid
    batch of magic 2, if one is found (_Search).

    Accepts the same frames as FileLogInputStream. Holds a few MiB, at most MAX_SEARCHED_BATCH after a wrong length, and a payload of at
    most `payload` bytes.
    """
    window = _ForwardReader(stream)
    search = _Search(window)
    while head := window.peek(_V2.size):
        position = window.position
        if implausible := _implausible(head, position):
            if window.only_zeros():
                yield Damage(position, "preallocated", "zero bytes to the end of the file")
                return
            damage = replace(implausible, following=search.following(head))
            yield damage
            if not search.forward(damage):
                return
            continue
        _, size, _, magic = _PREFIX.unpack_from(head)
        total = _LOG_OVERHEAD + size
        keep = payload > 0 and total - _PAYLOAD_STARTS[magic] <= payload
        seen, computed, body = _read_body(window, total, magic, keep)
        if seen < total:
            damage, rest = _incomplete(head, position, seen, body)
            damage = replace(damage, following=search.following(head))
            yield damage
            if not rest or not search.back(rest):
                return
            continue
        kept = body[_PAYLOAD_STARTS[magic] - _CRC_STARTS[magic] :] if keep else None
        batch = _batch(head, position, magic, computed, kept)
        if batch.valid:
            search.reached = batch.last_offset + 1
        yield batch


def _implausible(head: bytes, position: int) -> Damage | None:
    if len(head) <= _UP_TO_MAGIC:
        return Damage(position, "torn-tail", f"{len(head)} bytes at the end of the file are too few for a batch")
    _, size, _, magic = _PREFIX.unpack_from(head)
    if magic not in _SMALLEST and size >= _SMALLEST[0]:
        return Damage(position, "magic", f"the batch at byte {position} is of magic {magic}, which no Kafka version writes")
    if size < _SMALLEST.get(magic, _SMALLEST[0]):
        return Damage(position, "length", f"the batch at byte {position} says a length of {size} bytes, less than any batch of its magic")
    return None


def _read_body(window: _ForwardReader, total: int, magic: int, keep: bool) -> tuple[int, int, bytes]:
    """Skips a batch. Returns the number of bytes present, their checksum, and the bytes that the checksum covers: all of them if they are
    to be kept, else the beginning of a batch that is only partly in the file."""
    covered = _CRC_STARTS[magic]
    seen = len(window.take(covered))
    computed = 0
    kept: list[bytes] = []
    for piece in window.pieces(total - covered):
        computed = google_crc32c.extend(computed, piece) if magic == 2 else zlib.crc32(piece, computed)
        if keep or seen < MAX_SEARCHED_BATCH:
            kept.append(piece)
        seen += len(piece)
    return seen, computed, b"".join(kept) if keep or seen < total else b""


def _incomplete(head: bytes, position: int, seen: int, body: bytes) -> tuple[Damage, bytes]:
    """The file ends within a batch. If the next batch begins among the remaining bytes, the batch's length is wrong; else the batch is
    torn. In magic 2, the bytes from the next batch on are returned as well, if all are there."""
    offset, size, _, magic = _PREFIX.unpack_from(head)
    total = _LOG_OVERHEAD + size
    text = f"the batch at byte {position} (offset {offset}) has {total} bytes by its length, the file holds {seen} of them"
    last = offset + _V2.unpack(head)[6] if magic == 2 and len(head) == _V2.size else offset
    after = _next_batch(body, last + 1)
    if after is not None:
        at = position + _CRC_STARTS[magic] + after
        whole = magic == 2 and _CRC_STARTS[magic] + len(body) == seen
        text = f"{text}, but the batch of offset {last + 1} begins at byte {at}"
        return Damage(position, "length", text), body[after:] if whole else b""
    return Damage(position, "torn-tail", text), b""


MAX_CANDIDATES = 100
"""Places at which to look for a batch after a batch with a wrong length."""


def _next_batch(body: bytes, offset: int) -> int | None:
    """Where among these bytes a whole batch with this base offset begins."""
    if offset not in INT64:
        return None
    sought = struct.pack(">q", offset)
    at = body.find(sought)
    for _ in range(MAX_CANDIDATES):
        if at < 0 or at + _UP_TO_MAGIC > len(body):
            return None
        _, size, crc, magic = _PREFIX.unpack_from(body, at)
        end = at + _LOG_OVERHEAD + size
        if size >= _SMALLEST.get(magic, len(body)) and end <= len(body):
            covered = body[at + _CRC_STARTS[magic] : end]
            stored = struct.unpack_from(">I", body, at + _UP_TO_MAGIC)[0] if magic == 2 else crc
            if stored == (google_crc32c.value(covered) if magic == 2 else zlib.crc32(covered)):
                return at
        at = body.find(sought, at + 1)
    return None


MAX_SEARCHED_BATCH = 16 << 20
"""Largest batch that is found behind a damage; the brokers' limit is 1 MB unless it was raised (message.max.bytes)."""
MAX_SEARCHED = 256 << 20
"""Bytes of one file that are searched, or verified, for a batch behind a damage. Bounds the time for hostile files."""
_FOR_CANDIDATE = 64
"""Bytes whose search takes as long as to reject one candidate."""
_SIZE_TO_MAGIC = re.compile(rb"\x00.{7}\x02", re.DOTALL)
"""The bytes of a header of magic 2 from its size, below 16 MiB, up to its magic."""
_SIZE_STARTS = 8
_SEGMENT_OFFSETS = 2**31


class _Search:
    """The search for the next valid batch of magic 2 behind bytes that do not form a batch."""

    def __init__(self, window: _ForwardReader) -> None:
        self._window = window
        self._left = MAX_SEARCHED
        self.reached = 0
        """Last offset + 1 of the last valid batch."""

    def back(self, rest: bytes) -> bool:
        """Goes back to a batch among the bytes that were taken."""
        self._left -= len(rest)
        if self._left < 0:
            return False
        self._window.put_back(rest)
        return True

    def forward(self, damage: Damage) -> bool:
        """Moves to the next valid batch that continues the log."""
        while self._left > 0:
            ahead = self._window.peek(CHUNK)
            self._left -= len(ahead)
            at = 0 if self._window.position > damage.position else 1
            while self._left > 0 and (match := _SIZE_TO_MAGIC.search(ahead, at + _SIZE_STARTS)):
                at = match.start() - _SIZE_STARTS
                if at + _V2.size > len(ahead):
                    break
                if self._continues(ahead, at, damage.following):
                    if at:
                        self._window.take(at)
                    return True
                self._left -= _FOR_CANDIDATE
                at += 1
            if len(ahead) < CHUNK:
                return False
            self._window.take(len(ahead) - _V2.size)
        return False

    def following(self, head: bytes) -> int | None:
        """The offset after a batch with a damaged header, as in Damage."""
        if len(head) < _V2.size:
            return None
        base, _, _, _, _, _, delta, *_ = _V2.unpack(head)
        return base + delta + 1 if base == self.reached and delta >= 0 else None

    def _continues(self, ahead: bytes, at: int, following: int | None) -> bool:
        """Whether a valid batch begins `at` these bytes whose offset continues the log. A record may contain a batch: one that does not
        begin at `following` has to be followed by another header, or by the end of the file."""
        base, size, _, _, crc, _, delta, *_ = _V2.unpack_from(ahead, at)
        if size < _SMALLEST[2] or delta < 0 or not 0 <= base - self.reached < _SEGMENT_OFFSETS:
            return False
        end = at + _LOG_OVERHEAD + size
        self._left -= end
        ahead = self._window.peek(end + _V2.size)
        if len(ahead) < end or google_crc32c.value(ahead[at + _CRC_STARTS[2] : end]) != crc:
            return False
        return bool(base == following or self._ends_before_another(ahead[end:], base + delta))

    def _ends_before_another(self, head: bytes, last_offset: int) -> bool:
        """Whether these bytes are the header of a batch behind this offset, or the end of the file."""
        if len(head) < _V2.size:
            return not head
        base, size, _, magic, *_ = _V2.unpack(head)
        return bool(magic == 2 and size >= _SMALLEST[2] and base > last_offset)


def _codec(attributes: int) -> str:
    number = attributes & 7
    return CODECS[number] if number < len(CODECS) else f"unknown-{number}"


def _batch(head: bytes, position: int, magic: int, computed: int, payload: bytes | None) -> Batch:
    if magic < 2:
        return _legacy_batch(head, position, magic, computed, payload)
    base, size, epoch, _, crc, attributes, delta, base_time, max_time, producer, producer_epoch, sequence, count = _V2.unpack(head)
    return Batch(
        position,
        _LOG_OVERHEAD + size,
        base,
        base + delta,
        epoch,
        magic,
        crc,
        _codec(attributes),
        "append" if attributes & 8 else "create",
        bool(attributes & 16),
        bool(attributes & 32),
        base_time,
        max_time,
        producer,
        producer_epoch,
        sequence,
        count,
        crc == computed,
        bool(attributes & 64),
        payload,
        head[: _PAYLOAD_STARTS[magic]] if payload is not None else b"",
    )


def _legacy_batch(head: bytes, position: int, magic: int, computed: int, payload: bytes | None) -> Batch:
    offset, size, crc, _ = _PREFIX.unpack_from(head)
    attributes = head[_UP_TO_MAGIC]
    time = _V1_TIMESTAMP.unpack_from(head, _UP_TO_MAGIC + 1)[0] if magic == 1 else -1
    codec = _codec(attributes)
    return Batch(
        position=position,
        size=_LOG_OVERHEAD + size,
        base_offset=offset,
        last_offset=offset,
        leader_epoch=-1,
        magic=magic,
        crc=crc,
        codec=codec,
        timestamp_type=None if magic == 0 else "append" if attributes & 8 else "create",
        transactional=False,
        control=False,
        base_timestamp=time,
        max_timestamp=time,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=1 if codec == "none" else None,
        valid=crc == computed,
        payload=payload,
        head=head[: _PAYLOAD_STARTS[magic]] if payload is not None else b"",
    )


def after(sequence: int, delta: int) -> int:
    """The sequence number `so far` records after one. After the largest, sequences begin at 0 again
    (DefaultRecordBatch.incrementSequence)."""
    return (sequence + delta) % 2**31
