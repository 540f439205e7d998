"""Records of every format and codec, and that no bytes whatever do more than raise a named fault."""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Callable, Mapping

import google_crc32c
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.decoding import bodies
from parsers.decoding.batches import CODECS, Batch, headers
from parsers.decoding.bodies import BatchRecord, UnreadableBatch, marked, records
from parsers.decoding.encoding import Malformed

LIMIT = 1 << 20


def zigzag(value: int) -> bytes:
    number, out = (value << 1) ^ (value >> 63), bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def sized(data: bytes | None) -> bytes:
    return zigzag(-1) if data is None else zigzag(len(data)) + data


def body(delta: int, record: BatchRecord, base_time: int) -> bytes:
    encoded = zigzag(len(record.headers)) + b"".join(sized(k) + sized(v) for k, v in record.headers)
    inner = b"\0" + zigzag(record.timestamp - base_time) + zigzag(delta) + sized(record.key) + sized(record.value) + encoded
    return zigzag(len(inner)) + inner


def lz4(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def snappy(data: bytes) -> bytes:
    """As snappy-java frames it, in blocks of 32 KiB."""
    blocks = [pa.compress(data[at : at + 32768], codec="snappy", asbytes=True) for at in range(0, len(data), 32768)]
    return b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + b"".join(struct.pack(">i", len(b)) + b for b in blocks)


PACK: Mapping[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "gzip": gzip.compress,
    "snappy": snappy,
    "lz4": lz4,
    "zstd": zstandard.compress,
}


def v2(payload: bytes, count: int, codec: str = "none", *, attributes: int = 0, sequence: int = -1) -> bytes:
    fields = struct.pack(">hiqqqhii", CODECS.index(codec) | attributes, count - 1, 1000, 2000, 7, 0, sequence, count)
    return struct.pack(">qiibI", 100, 9 + len(fields + payload), 3, 2, google_crc32c.value(fields + payload)) + fields + payload


def message(offset: int, magic: int, time: int, key: bytes | None, value: bytes | None, attributes: int = 0) -> bytes:
    def field(data: bytes | None) -> bytes:
        return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data

    covered = bytes([magic, attributes]) + (struct.pack(">q", time) if magic else b"") + field(key) + field(value)
    return struct.pack(">qiI", offset, 4 + len(covered), zlib.crc32(covered)) + covered


def batch(data: bytes) -> Batch:
    (found,) = headers(io.BytesIO(data), payload=LIMIT)
    assert isinstance(found, Batch)
    return found


def read(data: bytes, limit: int = LIMIT) -> list[BatchRecord]:
    return list(records(batch(data), limit))


some = st.none() | st.binary(max_size=20)
contents = st.lists(
    st.tuples(some, some, st.lists(st.tuples(st.binary(max_size=5), some), max_size=3).map(tuple), st.integers(0, 2**40)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60)
@given(contents, st.sampled_from(CODECS))
def test_records_come_back_as_they_were_written(
    lines: list[tuple[bytes | None, bytes | None, tuple[tuple[bytes, bytes | None], ...], int]], codec: str
) -> None:
    wanted = [BatchRecord(100 + n, time, key, value, own, 5 + n) for n, (key, value, own, time) in enumerate(lines)]
    payload = PACK[codec](b"".join(body(n, record, 1000) for n, record in enumerate(wanted)))
    assert read(v2(payload, len(wanted), codec, sequence=5)) == wanted


def test_append_time_is_every_records_time_and_sequences_begin_again() -> None:
    payload = b"".join(body(n, BatchRecord(0, 1000, None, b""), 1000) for n in range(2))
    assert [(r.timestamp, r.sequence) for r in read(v2(payload, 2, attributes=8, sequence=2**31 - 1))] == [(2000, 2**31 - 1), (2000, 0)]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
@pytest.mark.parametrize("magic", [0, 1])
def test_old_formats(magic: int, codec: str) -> None:
    if codec == "none":
        assert read(message(9, magic, 5, None, b"v")) == [BatchRecord(9, 5 if magic else -1, None, b"v")]
        return
    inner = b"".join(message(n if magic else 40 + n, magic, 5 + n, b"k", bytes([n])) for n in range(3))
    packed = PACK[codec](inner)
    if codec == "lz4" and magic == 0:
        at = 14 if packed[4] & 8 else 6  # the checksum of a frame's descriptor, which nobody wrote right then (KAFKA-3160)
        packed = packed[:at] + bytes([packed[at] ^ 0xFF]) + packed[at + 1 :]
    found = read(message(42, magic, 50, None, packed, CODECS.index(codec)))
    assert found == [BatchRecord(40 + n, 5 + n if magic else -1, b"k", bytes([n])) for n in range(3)]
    if magic:  # the broker's time stands in the wrapper only
        assert {r.timestamp for r in read(message(42, magic, 50, None, packed, CODECS.index(codec) | 8))} == {50}


def test_raw_snappy_of_other_clients() -> None:
    payload = body(0, BatchRecord(100, 1000, None, b"x" * 100), 1000)
    assert read(v2(pa.compress(payload, codec="snappy", asbytes=True), 1, "snappy"))[0].value == b"x" * 100


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_what_unpacks_to_too_much_is_refused(codec: str) -> None:
    payload = body(0, BatchRecord(100, 1000, None, bytes(8 << 20)), 1000)
    with pytest.raises(UnreadableBatch) as fault:
        read(v2(PACK[codec](payload), 1, codec))
    assert fault.value.reason == "too-large"


def test_a_block_that_lies_about_its_size_takes_no_memory() -> None:
    with pytest.raises(Malformed):
        read(v2(b"\xff\xff\xff\xff\x0f" + b"\0" * 20, 1, "snappy"))


def test_counts_that_lie() -> None:
    one = body(0, BatchRecord(100, 1000, None, b"v"), 1000)
    for data in (v2(one, 2**31 - 1), v2(one, 0), v2(one[:-1], 1)):
        with pytest.raises(Malformed):
            read(data)


def test_a_checksum_that_fails_is_not_read_past() -> None:
    data = bytearray(v2(body(0, BatchRecord(100, 1000, None, b"value"), 1000), 1))
    data[-2] ^= 1
    with pytest.raises(UnreadableBatch) as fault:
        read(bytes(data))
    assert fault.value.reason == "crc"


@pytest.mark.parametrize(
    ("key", "kind"), [(b"\0\0\0\0", "abort"), (b"\0\0\0\1", "commit"), (b"\0\0\0\2", None), (b"\0", None), (None, None)]
)
def test_markers(key: bytes | None, kind: str | None) -> None:
    assert marked(BatchRecord(0, 0, key, b"")) == kind


@settings(max_examples=300)
@given(st.binary(max_size=200), st.integers(-1, 5), st.sampled_from([*CODECS, "unknown-7"]), st.integers(0, 1), st.booleans())
def test_any_bytes_give_records_or_a_named_fault(data: bytes, count: int, codec: str, magic: int, packed: bool) -> None:
    number = CODECS.index(codec) if codec in CODECS else 7
    payload = PACK[codec](data) if packed and codec in PACK else data
    for whole in (v2(payload, count, attributes=number), message(3, magic, 5, None, payload, number)):
        try:
            assert all(isinstance(r, BatchRecord) for r in read(whole, 1 << 16))
        except (Malformed, UnreadableBatch) as fault:
            assert str(fault)


@settings(max_examples=200)
@given(st.data(), st.sampled_from(["gzip", "snappy", "lz4", "zstd"]))
def test_any_damage_to_compressed_records_is_a_named_fault(data: st.DataObject, codec: str) -> None:
    packed = bytearray(PACK[codec](b"".join(body(n, BatchRecord(0, 1000, b"k", b"value" * 9), 1000) for n in range(9))))
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(packed)))
    for damaged in (bytes(packed), bytes(packed[:cut])):
        try:
            read(v2(damaged, 9, codec), 1 << 16)
        except (Malformed, UnreadableBatch) as fault:
            assert str(fault)


def test_every_codec_can_be_unpacked() -> None:
    assert set(bodies._UNPACK) == set(CODECS) - {"none"}
