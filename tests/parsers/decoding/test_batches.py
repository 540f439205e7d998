"""Record-batch headers and the segment event, on segments real brokers wrote and on damage done to them."""

from __future__ import annotations

import io
import struct
import zlib
from datetime import datetime
from itertools import pairwise

import google_crc32c
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.decoding import batches as batch_frames
from parsers.decoding.batches import Batch, Damage, headers
from parsers.formats import segments
from parsers.formats.segments import Stretch, read_segment, stretches_of
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept
from tests.support.paths import ROOT

BINARY = ROOT / "fixtures" / "files" / "binary"
V1 = (BINARY / "v1-0.10.2.2.log").read_bytes()
TWO_EPOCHS = (BINARY / "v2-two-epochs-3.5.2.log").read_bytes()
DISK_FULL = (BINARY / "v2-disk-full-2.8.2.log").read_bytes()
MODIFIED = datetime(2026, 11, 21, 2, 5)
INT32, INT64 = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)


def member(name: str = "00000000000000000000.log", directory: str = "orders-0") -> Member:
    return Member(f"broker-1/data/{directory}/{name}", None, MODIFIED)


def v2(base: int, last: int, *, epoch: int = 0, attributes: int = 0, times: tuple[int, int] = (5, 9), payload: bytes = b"") -> bytes:
    body = struct.pack(">hiqqqhii", attributes, last - base, *times, -1, -1, -1, last - base + 1) + payload
    return struct.pack(">qiibI", base, 9 + len(body), epoch, 2, google_crc32c.value(body)) + body


def flipped(batch: bytes) -> bytes:
    return batch[:-1] + bytes([batch[-1] ^ 1])


def v0(offset: int, value: bytes, *, attributes: int = 0) -> bytes:
    covered = struct.pack(">bbii", 0, attributes, -1, len(value)) + value
    return struct.pack(">qiI", offset, 4 + len(covered), zlib.crc32(covered)) + covered


def v1(offset: int, value: bytes, *, attributes: int = 0, time: int = 1) -> bytes:
    covered = struct.pack(">bbqii", 1, attributes, time, -1, len(value)) + value
    return struct.pack(">qiI", offset, 4 + len(covered), zlib.crc32(covered)) + covered


def found(data: bytes, *, payload: int = 0) -> list[Batch | Damage]:
    return list(headers(io.BytesIO(data), payload=payload))


def whole(data: bytes) -> list[Batch]:
    result = found(data)
    assert all(isinstance(each, Batch) for each in result)
    return [each for each in result if isinstance(each, Batch)]


def rows(data: bytes, of: Member | None = None) -> list[Row]:
    result = list(read_segment(io.BytesIO(data), of or member()))
    kept(result)
    return result


def test_v1_segment_of_a_real_broker() -> None:
    messages = whole(V1)
    assert [each.base_offset for each in messages] == [0, 1, 2, 3, 4]
    first = messages[0]
    assert (first.magic, first.leader_epoch, first.codec, first.timestamp_type) == (1, -1, "none", "create")
    assert (first.crc, first.max_timestamp, first.record_count, first.valid) == (0x335CAD3C, 0x01A1FC0D2E60, 1, True)
    assert all(each.valid for each in messages)


def test_v2_segment_of_a_real_broker_tells_its_epochs() -> None:
    every = whole(TWO_EPOCHS)
    assert all(each.valid and each.magic == 2 and not each.control for each in every)
    assert sorted({each.leader_epoch for each in every}) == [0, 3]
    assert every[0].position == 0 and every[-1].last_offset == 69
    assert all(after.base_offset == before.last_offset + 1 for before, after in pairwise(every))


@pytest.mark.parametrize("data", [V1, TWO_EPOCHS], ids=["magic 1", "magic 2"])
def test_sizes_of_batches_add_up_to_the_segment(data: bytes) -> None:
    every = whole(data)
    assert [each.position + each.size for each in every] == [*(each.position for each in every[1:]), len(data)]
    (row,) = rows(data)
    assert sum(each["bytes"] for each in row["batches"]) == len(data)


def test_segment_event_of_a_real_broker() -> None:
    (row,) = rows(TWO_EPOCHS, member(directory="fast-8"))
    assert (row["event"], row["pattern"], row["clock"], row["time"]) == ("segment", "segment", "mtime", MODIFIED)
    assert (row["topic"], row["partition"], row["reason"]) == ("fast", 8, None)
    assert (row["offset"], row["log_end_offset"], row["count"]) == (0, 70, len(row["batches"]))
    assert row["batches"][0]["base_offset"] == 0 and row["batches"][-1]["last_offset"] == 69
    assert row["text"] is None


def test_disk_full_leaves_a_torn_tail() -> None:
    corruption, segment = rows(DISK_FULL)
    assert (corruption["event"], corruption["reason"], corruption["offset"], corruption["byte"]) == (
        "log-corruption",
        "torn-tail",
        75,
        6562,
    )
    assert "has 20319 bytes by its length, the file holds 1630 of them" in corruption["text"]
    assert segment["log_end_offset"] == 75
    assert segment["batches"][-1]["last_offset"] == 74


@pytest.mark.parametrize("zeros", [1, 17, 61, 5000])
def test_preallocated_tail_is_no_damage(zeros: int) -> None:
    tail = found(V1 + bytes(zeros))[-1]
    assert isinstance(tail, Damage) and (tail.reason, tail.position) == ("preallocated", len(V1))
    (row,) = rows(V1 + bytes(zeros))
    assert (row["event"], row["log_end_offset"]) == ("segment", 5)


def test_zeros_before_other_bytes_are_damage() -> None:
    corruption, segment = rows(V1 + bytes(3_000_000) + b"\1")
    assert (corruption["reason"], corruption["byte"], segment["log_end_offset"]) == ("length", len(V1), 5)


def test_flipped_bit_stops_the_log_but_not_the_reading() -> None:
    data = v2(0, 9) + v2(10, 19, payload=b"abc") + v2(20, 29)
    hurt = bytearray(data)
    hurt[61 + 62] ^= 1
    corruption, segment = rows(bytes(hurt))
    assert (corruption["reason"], corruption["byte"], corruption["offset"]) == ("crc", 61, 10)
    assert "cuts the log at offset 10, byte 61" in corruption["text"]
    assert segment["log_end_offset"] == 10
    assert [batch["base_offset"] for batch in segment["batches"]] == [0, 20]
    assert segment["text"] == "1 whole batches follow the first damage; the last of them ends at offset 29"


def test_a_stretch_of_bad_batches_is_one_event() -> None:
    bad = bytearray(v2(10, 10))
    bad[30] ^= 1
    events = rows(v2(0, 9) + bytes(bad) * 50 + v2(60, 60) + bytes(bad))
    assert [row["event"] for row in events] == ["log-corruption", "log-corruption", "segment"]
    assert [row["byte"] for row in events[:2]] == [61, 61 * 52]
    assert all("cuts the log at offset 10, byte 61" in row["text"] for row in events[:2])


@pytest.mark.parametrize("position", [byte for message in range(4) for byte in range(message * 107 + 8, message * 107 + 107, 7)])
def test_every_flipped_bit_of_a_message_is_seen(position: int) -> None:
    hurt = bytearray(V1)
    hurt[position] ^= 0x10
    events = rows(bytes(hurt))
    assert (events[0]["event"], events[0]["byte"]) == ("log-corruption", position // 107 * 107)
    assert events[-1]["log_end_offset"] == position // 107


def with_bytes(batch: bytes, at: int, other: bytes) -> bytes:
    return batch[:at] + other + batch[at + len(other) :]


LENGTHS = [with_bytes(v2(10, 14, payload=b"x" * 30), 8, struct.pack(">i", size)) for size in (-(2**31), -1, 0, 13, 48, 2**20, 2**31 - 1)]
MAGICS = [with_bytes(v2(10, 14, payload=b"x" * 30), 16, bytes([magic])) for magic in (3, 127)]


@pytest.mark.parametrize("wrong", [*LENGTHS, *MAGICS])
@pytest.mark.parametrize("behind", [b"", v2(20, 29)], ids=["end", "more"])
def test_a_batch_with_a_wrong_length_or_magic_hides_none_behind_it(wrong: bytes, behind: bytes) -> None:
    corruption, segment = rows(v2(0, 9) + wrong + v2(15, 19) + behind)
    assert corruption["reason"] in ("length", "magic") and (corruption["byte"], segment["log_end_offset"]) == (61, 10)
    assert [b["base_offset"] for b in segment["batches"]] == [0, 15, 20][: 3 if behind else 2]
    ((reason, *stretch),) = stretches_of(segment["value"])
    assert (reason, stretch) == (corruption["reason"], [61, 152, 10, 15, None])


def test_zero_bytes_instead_of_a_batch_hide_none_behind_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_frames, "CHUNK", 128)
    for zeros in (61, 500):
        _, segment = rows(v2(0, 9) + bytes(zeros) + v2(15, 19) + v2(20, 29))
        assert stretches_of(segment["value"]) == [Stretch("length", 61, 61 + zeros, 10, 15, None)]


@pytest.mark.parametrize("inner", [v2(5, 9), v2(40, 49), flipped(v2(15, 19)), v2(15, 19)[:-1]], ids=["before", "after", "checksum", "torn"])
def test_a_batch_in_a_record_of_the_damaged_one_is_no_batch_of_the_log(inner: bytes) -> None:
    wrong = with_bytes(v2(10, 14, payload=inner + b"x" * 30), 8, bytes(4))
    assert [b.base_offset for b in found(v2(0, 9) + wrong + v2(15, 19)) if isinstance(b, Batch)] == [0, 15]


def test_the_search_for_a_batch_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_frames, "MAX_SEARCHED", 4000)
    monkeypatch.setattr(batch_frames, "CHUNK", 128)
    assert len(found(v2(0, 9) + LENGTHS[2] + b"x" * 500 + v2(15, 19) + v2(20, 24))) == 4
    assert len(found(v2(0, 9) + LENGTHS[2] + b"x" * 9000 + v2(15, 19) + v2(20, 24))) == 2
    many = struct.pack(">qiib", 10, 60, 0, 2) * 400
    assert len(found(v2(0, 9) + LENGTHS[2] + many + v2(15, 19) + v2(20, 24))) == 2


def test_length_beyond_the_file_is_a_torn_tail() -> None:
    wrong = bytearray(v2(10, 10))
    wrong[8:12] = struct.pack(">i", 2**31 - 1)
    corruption, segment = rows(v2(0, 9) + bytes(wrong))
    assert (corruption["reason"], segment["log_end_offset"]) == ("torn-tail", 10)


def test_length_beyond_the_file_with_a_batch_behind_it_is_a_wrong_length() -> None:
    wrong = bytearray(v2(10, 14, payload=b"x" * 30))
    wrong[8:12] = struct.pack(">i", 2**20)
    corruption, segment = rows(v2(0, 9) + bytes(wrong) + v2(15, 19) + v2(20, 29))
    assert (corruption["reason"], corruption["byte"], segment["log_end_offset"]) == ("length", 61, 10)
    assert "but the batch of offset 15 begins at byte 152" in corruption["text"]


@pytest.mark.parametrize("behind", [v2(16, 19), flipped(v2(15, 19)), v2(15, 19)[:-1]], ids=["another offset", "checksum", "torn"])
def test_what_is_no_valid_next_batch_leaves_a_torn_tail(behind: bytes) -> None:
    wrong = bytearray(v2(10, 14))
    wrong[8:12] = struct.pack(">i", 2**20)
    assert rows(v2(0, 9) + bytes(wrong) + behind)[0]["reason"] == "torn-tail"


def test_of_old_formats_a_wrong_length_is_told_from_a_torn_tail_too() -> None:
    wrong = bytearray(v1(1, b"value"))
    wrong[8:12] = struct.pack(">i", 2**20)
    assert rows(v1(0, b"value") + bytes(wrong) + v1(2, b"value"))[0]["reason"] == "length"


def test_unknown_magic_stops() -> None:
    wrong = bytearray(v2(10, 10))
    wrong[16] = 3
    corruption, segment = rows(v2(0, 9) + bytes(wrong))
    assert (corruption["reason"], segment["log_end_offset"]) == ("magic", 10)


@pytest.mark.parametrize("cut", range(1, 54))
def test_any_cut_inside_the_last_batch_is_a_torn_tail(cut: int) -> None:
    corruption, segment = rows((v2(0, 9) + v2(10, 10))[:-cut])
    assert (corruption["reason"], corruption["byte"], segment["log_end_offset"]) == ("torn-tail", 61, 10)


def stretches(data: bytes, of: Member | None = None) -> list[Stretch]:
    *_, segment = rows(data, of)
    return stretches_of(segment["value"])


def test_a_whole_segment_names_no_damaged_stretch() -> None:
    (row,) = rows(TWO_EPOCHS)
    assert (row["value"], stretches_of(row["value"])) == (None, [])


def test_a_damaged_stretch_lies_between_two_valid_batches() -> None:
    data = v2(0, 9) + flipped(v2(10, 14)) + flipped(v2(15, 19)) + v2(20, 29) + flipped(v2(30, 39)) + v2(40, 49)
    assert stretches(data) == [Stretch("crc", 61, 183, 10, 20, 20), Stretch("crc", 244, 305, 30, 40, 40)]


def test_a_damaged_end_is_open_and_claims_what_its_header_says() -> None:
    assert stretches(v2(0, 9) + flipped(v2(10, 14))) == [Stretch("crc", 61, None, 10, None, 15)]


def test_a_header_that_does_not_continue_the_log_claims_nothing() -> None:
    assert stretches(v2(0, 9) + flipped(v2(500, 509))) == [Stretch("crc", 61, None, 10, None, None)]


def test_a_damaged_first_batch_begins_at_the_base_offset_of_the_segment() -> None:
    of = member("00000000000000000050.log")
    assert stretches(flipped(v2(50, 59)) + v2(60, 69), of) == [Stretch("crc", 0, 61, 50, 60, 60)]


@pytest.mark.parametrize(
    ("tail", "reason"),
    [(bytes(70), "preallocated"), (v2(10, 19)[:40], "torn-tail"), (v2(10, 19)[:8] + bytes(4) + v2(10, 19)[12:], "length")],
    ids=["zeros", "torn", "length"],
)
def test_an_end_that_cannot_be_read_is_a_stretch_to_the_end_of_the_file(tail: bytes, reason: str) -> None:
    assert stretches(v2(0, 9) + tail) == [Stretch(reason, 61, None, 10, None, None)]


def test_a_bad_batch_before_an_unreadable_header_is_one_stretch() -> None:
    broken = v2(20, 29)[:8] + bytes(4) + v2(20, 29)[12:]
    assert stretches(v2(0, 9) + flipped(v2(10, 19)) + broken) == [Stretch("crc", 61, None, 10, None, None)]


def test_of_too_many_stretches_the_last_reaches_over_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "MAX_STRETCHES", 2)
    data = b"".join(v2(n, n) if n % 2 else flipped(v2(n, n)) for n in range(10))
    assert [(s.byte, s.end_byte, s.start, s.end) for s in stretches(data)] == [(0, 61, 0, 1), (122, 61 * 9, 2, 9)]


def test_magic_0() -> None:
    first, second = whole(v0(7, b"x") + v0(9, b"packed", attributes=2))
    assert (first.base_offset, first.magic, first.max_timestamp, first.timestamp_type, first.record_count) == (7, 0, -1, None, 1)
    # a wrapper's offset is that of its last message
    assert (second.last_offset, second.codec, second.record_count, second.valid) == (9, "snappy", None, True)
    (row,) = rows(v0(7, b"x") + v0(9, b"packed", attributes=2))
    assert row["log_end_offset"] == 10


def test_magic_1_wrapper_with_append_time() -> None:
    (message,) = whole(v1(41, b"packed", attributes=1 | 8, time=77))
    assert (message.last_offset, message.codec, message.timestamp_type, message.max_timestamp) == (41, "gzip", "append", 77)


def test_attributes_of_magic_2() -> None:
    plain, control, odd = whole(v2(0, 0) + v2(1, 1, attributes=4 | 8 | 16 | 32) + v2(2, 2, attributes=6))
    assert (plain.codec, plain.timestamp_type, plain.transactional, plain.control) == ("none", "create", False, False)
    assert (control.codec, control.timestamp_type, control.transactional, control.control) == ("zstd", "append", True, True)
    assert odd.codec == "unknown-6"


def test_log_end_offset_counts_compacted_away_offsets() -> None:
    (row,) = rows(v2(0, 3) + v2(10, 25))
    assert row["log_end_offset"] == 26


def test_empty_segment_ends_at_its_base() -> None:
    (row,) = rows(b"", member("00000000000000000420.log"))
    assert (row["offset"], row["log_end_offset"], row["count"], row["batches"]) == (420, 420, 0, [])


@pytest.mark.parametrize(
    ("directory", "name", "reason"),
    [
        ("orders-0", "00000000000000000000.log", None),
        ("orders-0", "00000000000000000000.log.deleted", "deleted"),
        ("orders-0", "00000000000000000000.log.gz", None),
        ("orders-0", "00000000000000000000.log.cleaned.deleted.zst", "deleted"),
        ("orders-0", "00000000000000000000.log.swap", "swap"),
        ("orders-0.0123456789abcdef0123456789abcdef-delete", "00000000000000000000.log", "delete"),
        ("orders-0.0123456789abcdef0123456789abcdef-future", "00000000000000000000.log", "future"),
        ("orders-0.0123456789abcdef0123456789abcdef-stray", "00000000000000000000.log", "stray"),
    ],
)
def test_what_is_no_live_segment_says_so(directory: str, name: str, reason: str | None) -> None:
    (row,) = rows(v2(0, 0), member(name, directory))
    assert (row["topic"], row["partition"], row["reason"]) == ("orders", 0, reason)


@pytest.mark.parametrize("name", ["renamed.log", "99999999999999999999.log"])
def test_a_name_without_an_offset_gives_no_base(name: str) -> None:
    (empty,) = rows(b"", member(name))
    assert (empty["offset"], empty["log_end_offset"]) == (None, None)
    (row,) = rows(v2(2**40, 2**40), member(name))
    assert (row["offset"], row["log_end_offset"]) == (None, 2**40 + 1)


def test_no_modification_time_is_no_clock() -> None:
    (row,) = rows(v2(0, 0), Member("x/orders-0/00000000000000000000.log", None, None))
    assert (row["time"], row["clock"]) == (None, None)


@pytest.mark.parametrize(("base", "last"), [(-5, -5), (5, 4), (49, 49), (2**31 + 50, 2**31 + 50), (2**63 - 1, 2**63 - 1)])
def test_offsets_a_segment_cannot_hold(base: int, last: int) -> None:
    corruption, segment = rows(v2(base, last), member("00000000000000000050.log"))
    assert (corruption["reason"], segment["log_end_offset"], segment["batches"]) == ("offset", 50, [])


def test_offsets_that_go_back_are_told_and_kept() -> None:
    event, segment = rows(v2(0, 9) + v2(500, 509) + v2(20, 29))
    assert (event["reason"], event["byte"]) == ("offset-order", 122)
    assert (segment["log_end_offset"], segment["count"]) == (30, 3)


def test_many_batches_are_several_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "MAX_BATCHES", 3)
    parts = rows(b"".join(v2(n, n) for n in range(6)))
    assert [(row["count"], row["byte"], row.get("log_end_offset")) for row in parts] == [(3, 0, None), (3, 183, 6)]


def test_payload_only_when_asked() -> None:
    data = v2(0, 0, payload=b"records") + v1(1, b"value")
    assert [each.payload for each in whole(data)] == [None, None]
    first, second = found(data, payload=1 << 20)
    assert isinstance(first, Batch) and first.payload == b"records"
    assert isinstance(second, Batch) and second.payload == struct.pack(">ii", -1, 5) + b"value"


def test_payload_too_large_is_not_kept() -> None:
    (large,) = found(v2(0, 0, payload=b"records"), payload=6)
    assert isinstance(large, Batch) and large.payload is None and large.valid


class Stingy(io.BytesIO):
    """A stream that gives a few bytes at a time and cannot seek, as a decompressor may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(5, size) if size and size > 0 else 5)

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation


def test_short_reads_change_nothing() -> None:
    assert list(headers(Stingy(TWO_EPOCHS))) == found(TWO_EPOCHS)
    assert list(headers(Stingy(DISK_FULL), payload=1 << 20)) == found(DISK_FULL, payload=1 << 20)


class Endless(io.RawIOBase):
    """Claims a batch of 2 GiB and counts what is held at once."""

    def __init__(self, total: int) -> None:
        self.left = total
        self.largest = 0
        self.head = v2(0, 0)[:8] + struct.pack(">i", 2**31 - 1) + v2(0, 0)[12:]

    def read(self, size: int = -1, /) -> bytes:
        self.largest = max(self.largest, size)
        if self.head:
            head, self.head = self.head, b""
            return head
        given = min(size, self.left)
        self.left -= given
        return bytes(given)


def test_a_huge_batch_is_read_in_chunks() -> None:
    stream = Endless(64 << 20)
    (damage,) = headers(stream, payload=1 << 20)  # type: ignore[arg-type]
    assert isinstance(damage, Damage) and damage.reason == "torn-tail"
    assert stream.largest == batch_frames.CHUNK


@settings(max_examples=150)
@given(st.binary(max_size=400), st.sampled_from([b"", V1[:107], v2(0, 9)]))
def test_any_bytes_give_rows(data: bytes, before: bytes) -> None:
    result = rows(before + data)
    assert result[-1]["event"] == "segment"
    assert {row["event"] for row in result[:-1]} <= {"log-corruption"}
    assert result[-1]["count"] >= bool(before)


@settings(max_examples=150)
@given(st.data())
def test_any_damage_to_a_real_segment(data: st.DataObject) -> None:
    hurt = bytearray(TWO_EPOCHS[:2000])
    for _ in range(data.draw(st.integers(1, 4))):
        hurt[data.draw(st.integers(0, len(hurt) - 1))] = data.draw(st.integers(0, 255))
    assert rows(bytes(hurt))[-1]["event"] == "segment"


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 1000), INT32, st.integers(0, 63), INT64, INT64, st.binary(max_size=50)), max_size=8),
    st.integers(0, 2**40),
)
def test_round_trip(parts: list[tuple[int, int, int, int, int, bytes]], base: int) -> None:
    data, expected, offset = b"", [], base
    for span, epoch, attributes, first, last, payload in parts:
        data += v2(offset, offset + span, epoch=epoch, attributes=attributes, times=(first, last), payload=payload)
        expected.append((offset, offset + span, epoch, bool(attributes & 32), first, last, payload))
        offset += span + 1
    seen = [
        (each.base_offset, each.last_offset, each.leader_epoch, each.control, each.base_timestamp, each.max_timestamp, each.payload)
        for each in found(data, payload=1 << 20)
        if isinstance(each, Batch) and each.valid
    ]
    assert seen == expected
    (row,) = rows(data, member(f"{base:020d}.log"))
    assert row["log_end_offset"] == offset
