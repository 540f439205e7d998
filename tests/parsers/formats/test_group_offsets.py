"""Offset commits of every version, and which of a group's many commits are reported."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats.group_offsets import MAX_KEPT, Commit, _History, read_segment
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept
from tests.parsers.decoding.test_bodies import BatchRecord, body, v2

MEMBER = Member("broker-1/data/__consumer_offsets-7/00000000000000000000.log", None, None)
AT = 1_795_000_000_000
TRANSACTIONAL, CONTROL = 16, 32


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def key(group: str = "billing", topic: str = "orders", partition: int = 3, kind: int = 1) -> bytes:
    return struct.pack(">h", kind) + text(group) + text(topic) + struct.pack(">i", partition)


def value(version: int, offset: int, epoch: int = 5, at: int = AT) -> bytes:
    head = struct.pack(">hq", version, offset) + (struct.pack(">i", epoch) if version >= 3 else b"")
    metadata = bytes([3]) + b"me" if version >= 4 else text("me")
    return head + metadata + struct.pack(">q", at) + (struct.pack(">q", at + 9) if version == 1 else b"\0" if version >= 4 else b"")


def segment(*batches: tuple[int, Sequence[tuple[bytes | None, bytes | None]]]) -> bytes:
    """Batches with these attributes and records."""
    return b"".join(
        v2(b"".join(body(n, BatchRecord(0, 1000, k, v), 1000) for n, (k, v) in enumerate(own)), len(own), attributes=attributes)
        for attributes, own in batches
    )


def rows(data: bytes, event: str = "group-commit") -> list[Row]:
    found = list(read_segment(io.BytesIO(data), MEMBER))
    kept(found)
    return [r for r in found if r["event"] == event]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("version", range(5))
def test_every_version(version: int, kind: int) -> None:
    (row,) = rows(segment((0, [(key(kind=kind), value(version, 42))])))
    assert (row["value"], row["topic"], row["partition"], row["offset"]) == ("billing", "orders", 3, 42)
    assert row["leader_epoch"] == (5 if version >= 3 else None)
    assert row["time"] == datetime(2026, 11, 18, 11, 6, 40) and row["clock"] == "batch"


def test_what_is_no_offset_commit_is_passed_over_and_a_tombstone_is_told() -> None:
    other = struct.pack(">h", 2) + text("billing")
    (row,) = rows(segment((0, [(other, b"anything"), (struct.pack(">h", 9), None), (key(), None)])))
    assert (row["offset"], row["reason"]) == (None, "deleted")
    assert len(rows(segment((0, [(key(), value(9, 1))])), "problem")) == 1


def test_offsets_sent_in_a_transaction_count_when_it_commits() -> None:
    def end(kind: int) -> tuple[int, list[tuple[bytes | None, bytes | None]]]:
        return TRANSACTIONAL | CONTROL, [(struct.pack(">hh", 0, kind), b"\0\0\0\0\0\0")]

    sent = (TRANSACTIONAL, [(key(), value(3, 7))])
    assert [r["offset"] for r in rows(segment(sent, end(1)))] == [7]
    assert rows(segment(sent, end(0))) == [] == rows(segment(sent))


def test_told_is_where_a_group_turned_and_where_it_ended() -> None:
    history = _History()
    offsets = [*range(100, 200), *[200] * 5, *range(201, 300), 150, 151, 152]
    for at, offset in enumerate(offsets):
        history.add(Commit(offset, 1, at, 0))
    assert [c.offset for c in history.commits()] == [100, 200, 299, 150, 152]
    assert next(c.timestamp for c in history.commits() if c.offset == 200) == 100, "when it came there"
    history.add(Commit(160, 2, 999, 0))
    assert [(c.offset, c.leader_epoch) for c in history.commits()][-2:] == [(152, 1), (160, 2)]


@settings(max_examples=100)
@given(st.lists(st.tuples(st.none() | st.integers(0, 9), st.integers(-1, 2)), min_size=1, max_size=300))
def test_a_history_keeps_its_end_its_greatest_and_no_more_than_it_may(stated: list[tuple[int | None, int]]) -> None:
    history = _History()
    for at, (offset, epoch) in enumerate(stated):
        history.add(Commit(offset, epoch, at, 0))
    kept = list(history.commits())
    assert len(kept) <= MAX_KEPT + 1
    assert (kept[-1].offset, kept[-1].leader_epoch) == stated[-1]
    assert [c.timestamp for c in kept] == sorted(c.timestamp for c in kept)
    if len(kept) < MAX_KEPT:
        assert {c.offset for c in kept if c.offset is not None} >= {max((o for o, _ in stated if o is not None), default=None)} - {None}


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.none() | st.binary(max_size=40), st.none() | st.binary(max_size=40)), max_size=5),
    st.integers(0, 4),
    st.sampled_from([0, 16, 32, 48]),
)
def test_any_records_give_rows(own: list[tuple[bytes | None, bytes | None]], version: int, attributes: int) -> None:
    framed = [(key() if k is None else struct.pack(">h", 1) + k, v if v is None else struct.pack(">h", version) + v) for k, v in own]
    rows(segment((attributes, own), (attributes, framed)))
