"""The records of a batch: keys, values, headers, times and offsets, of message formats v0 to v2 and every codec.

Here: decompression within a limit, the records of one batch, the type of a control record. Not here: batch frames and checksums
(parsers.decoding.batches), or which bodies may be read: only those of topics whose records Kafka defines, and those that `kafka-forensics
salvage` was asked to recover (forensics.tools.salvage).

Source: DefaultRecord, DefaultRecordBatch, AbstractLegacyRecordBatch.DeepRecordsIterator, SnappyCompression, Lz4BlockInputStream and
ControlRecordType of Apache Kafka. Malformed input raises Malformed or Unreadable, after the records before it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa
import zstandard

from parsers.decoding.batches import Batch, after
from parsers.decoding.encoding import Fields, Malformed
from parsers.schemas import INT64

CHUNK = 1 << 20
"""Bytes decompressed at a time."""

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_ZSTD_WINDOW = 32 << 20
_SNAPPY_MAGIC = b"\x82SNAPPY\0"
_SNAPPY_HEADER = len(_SNAPPY_MAGIC) + 8
_SNAPPY_LEAST = 2
"""Bytes that one copy in a snappy block takes; a copy yields at most 64 bytes, which bounds the growth of a block."""
_SNAPPY_MOST = 64
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_MESSAGE = struct.Struct(">qiIbb")
"""Offset, size, CRC, magic and attributes of a message of format v0 or v1."""
_LEGACY_CRC_FROM = 16
_LEGACY_OVERHEAD = 12
_CODEC = 7
MARKERS = {0: "abort", 1: "commit"}
"""Control records that end a transaction; the others belong to KRaft's own log."""


class UnreadableBatch(ValueError):
    """Why the records of a batch are omitted."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
        """'crc', 'too-large' or 'compression'."""


@dataclass(frozen=True, slots=True)
class BatchRecord:
    offset: int
    timestamp: int
    """Milliseconds since 1970; -1 means none."""
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...] = ()
    sequence: int = -1


def records(batch: Batch, limit: int) -> Iterator[BatchRecord]:
    """The records of a batch that was read with its payload, in offset order. `limit`: largest decompressed size in bytes.

    Raises Unreadable and Malformed after the records that could be read.
    """
    if not batch.valid:
        raise UnreadableBatch("crc", f"the batch at offset {batch.base_offset} does not match its checksum; its records are left out")
    if batch.payload is None:
        raise UnreadableBatch("too-large", f"the batch at offset {batch.base_offset} is too large to be read")
    return _records(batch, limit) if batch.magic == 2 else _legacy(batch, limit)


def marked(record: BatchRecord) -> str | None:
    """The type of a control record: 'commit' or 'abort'."""
    try:
        key = Fields(record.key or b"")
        key.int16()
        return MARKERS.get(key.int16())
    except Malformed:
        return None


def _records(batch: Batch, limit: int) -> Iterator[BatchRecord]:
    fields = Fields(unpacked(batch.codec, batch.payload or b"", limit))
    appended = batch.max_timestamp if batch.timestamp_type == "append" else None
    for _ in range(batch.record_count or 0):
        body = Fields(fields.raw(fields.varint()))
        body.int8()
        timestamp, delta = batch.base_timestamp + body.bits64(), body.varint()
        key, value = body.sized(), body.sized()
        headers = tuple(_header(body) for _ in range(body.varint()))
        body.end()
        offset = batch.base_offset + delta
        if offset not in INT64:
            raise Malformed("a record's offset is out of range")
        sequence = after(batch.base_sequence, delta) if batch.base_sequence >= 0 else -1
        yield BatchRecord(offset, timestamp if appended is None else appended, key, value, headers, sequence)
    fields.end()


def _header(body: Fields) -> tuple[bytes, bytes | None]:
    key = body.sized()
    if key is None:
        raise Malformed("a header has no key")
    return key, body.sized()


def _legacy(batch: Batch, limit: int) -> Iterator[BatchRecord]:
    key, value = _key_and_value(Fields(batch.payload or b""))
    if batch.codec == "none":
        yield BatchRecord(batch.base_offset, batch.max_timestamp, key, value)
        return
    inner = list(_wrapped(unpacked(batch.codec, value or b"", limit, magic=batch.magic), batch.magic))
    if not inner:
        raise Malformed("a compressed message holds none")
    first = batch.last_offset - inner[-1].offset if batch.magic == 1 else 0
    appended = batch.max_timestamp if batch.timestamp_type == "append" else None
    for record in inner:
        if not 0 <= first + record.offset <= batch.last_offset:
            raise Malformed("a message's offset is not in its wrapper")
        yield replace(record, offset=first + record.offset, timestamp=record.timestamp if appended is None else appended)


def _wrapped(data: bytes, magic: int) -> Iterator[BatchRecord]:
    """The messages inside a compressed one; in format v1 their offsets are relative to the first."""
    at = 0
    while at < len(data):
        if at + _MESSAGE.size > len(data):
            raise Malformed("a message inside a compressed one is cut off")
        offset, size, crc, inner_magic, attributes = _MESSAGE.unpack_from(data, at)
        end = at + _LEGACY_OVERHEAD + size
        if size < _MESSAGE.size - _LEGACY_OVERHEAD or end > len(data):
            raise Malformed("a length reaches past the end of the compressed messages")
        if inner_magic != magic or attributes & _CODEC:
            raise Malformed("a message inside a compressed one is of another format, or compressed itself")
        if zlib.crc32(data[at + _LEGACY_CRC_FROM : end]) != crc:
            raise Malformed("a message inside a compressed one does not match its checksum")
        fields = Fields(data[at + _MESSAGE.size : end])
        timestamp = fields.int64() if magic == 1 else -1
        yield BatchRecord(offset, timestamp, *_key_and_value(fields))
        at = end


def _key_and_value(fields: Fields) -> tuple[bytes | None, bytes | None]:
    key, value = (None if (size := fields.int32()) < 0 else fields.raw(size) for _ in range(2))
    fields.end()
    return key, value


class _Readable(Protocol):
    def read(self, size: int) -> bytes: ...


def unpacked(codec: str, data: bytes, limit: int, *, magic: int = 2) -> bytes:
    """Uncompressed bytes, at most `limit`. Raises Malformed, and Unreadable if there are more bytes or the codec is unknown."""
    if codec == "none":
        return data
    if codec not in _UNPACK:
        raise UnreadableBatch("compression", f"records compressed with {codec}, which no Kafka version writes")
    try:
        pieces: list[bytes] = []
        left = limit
        for piece in _UNPACK[codec](_with_its_checksum(data) if codec == "lz4" and magic == 0 else data):
            left -= len(piece)
            if left < 0:
                raise UnreadableBatch("too-large", f"records that unpack to more than {limit} bytes")
            pieces.append(piece)
        return b"".join(pieces)
    except (zlib.error, zstandard.ZstdError, pa.ArrowException, OSError, struct.error) as fault:
        raise Malformed(f"the compressed bytes are no {codec}, or want too large a window") from fault


def _gunzipped(data: bytes) -> Iterator[bytes]:
    while data:
        member = zlib.decompressobj(_GZIP_WINDOW)
        while not member.eof:
            piece = member.decompress(data, CHUNK)
            data = member.unconsumed_tail
            if not piece and not data and not member.eof:
                raise Malformed("the compressed bytes end too early")
            yield piece
        data = member.unused_data


def _unzstd(data: bytes) -> Iterator[bytes]:
    with zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).stream_reader(data, read_across_frames=True) as reader:
        yield from _pieces(reader)


def _unlz4(data: bytes) -> Iterator[bytes]:
    with pa.CompressedInputStream(pa.BufferReader(data), "lz4") as reader:
        yield from _pieces(reader)


def _pieces(reader: _Readable) -> Iterator[bytes]:
    while piece := reader.read(CHUNK):
        yield piece


def _with_its_checksum(data: bytes) -> bytes:
    """Format v0 has lz4 frames whose descriptor checksum covers more than the descriptor (KAFKA-3160)."""
    if not data.startswith(_LZ4_MAGIC) or len(data) < 7:
        return data
    end = 6 + (8 if data[4] & 0x08 else 0) + (4 if data[4] & 0x01 else 0)
    return data[:end] + bytes([_xxh32(data[4:end]) >> 8 & 0xFF]) + data[end + 1 :]


def _xxh32(data: bytes) -> int:
    """xxHash32 of fewer than 16 bytes."""
    mask, prime1, prime2, prime3, prime4, prime5 = 0xFFFFFFFF, 2654435761, 2246822519, 3266489917, 668265263, 374761393
    value = prime5 + len(data)
    aligned = len(data) - len(data) % 4
    for at in range(0, aligned, 4):
        value = value + int.from_bytes(data[at : at + 4], "little") * prime3 & mask
        value = (value << 17 | value >> 15) * prime4 & mask
    for byte in data[aligned:]:
        value = value + byte * prime5 & mask
        value = (value << 11 | value >> 21) * prime1 & mask
    value = (value ^ value >> 15) * prime2 & mask
    value = (value ^ value >> 13) * prime3 & mask
    return value ^ value >> 16


def _unsnappy(data: bytes) -> Iterator[bytes]:
    """Snappy data with the framing of snappy-java and Kafka's own clients, else the single block that other clients send."""
    if not data.startswith(_SNAPPY_MAGIC):
        yield from _unsnappy_block(data)
        return
    at = _SNAPPY_HEADER
    while at < len(data):
        (size,) = struct.unpack_from(">i", data, at)
        if not 0 <= size <= len(data) - at - 4:
            raise Malformed("a snappy block reaches past the end of the records")
        yield from _unsnappy_block(data[at + 4 : at + 4 + size])
        at += 4 + size


def _unsnappy_block(block: bytes) -> Iterator[bytes]:
    size = Fields(block).unsigned_varint()
    if size > len(block) * _SNAPPY_MOST // _SNAPPY_LEAST:
        raise Malformed("a snappy block is too small for what it says it holds")
    if size:
        yield pa.decompress(block, decompressed_size=size, codec="snappy", asbytes=True)


_UNPACK: Mapping[str, Callable[[bytes], Iterator[bytes]]] = {
    "gzip": _gunzipped,
    "snappy": _unsnappy,
    "lz4": _unlz4,
    "zstd": _unzstd,
}
