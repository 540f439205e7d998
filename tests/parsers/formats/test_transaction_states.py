"""States of transactions in both versions, and that no bytes whatever do more than raise a problem."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats.transaction_states import read_segment
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept
from tests.parsers.decoding.test_bodies import BatchRecord, body, v2
from tests.parsers.formats.test_group_offsets import AT, text

MEMBER = Member("broker-1/data/__transaction_state-7/00000000000000000000.log", None, None)
Partitions = Sequence[tuple[str, list[int]]]


def key(name: str = "payments-1") -> bytes:
    return struct.pack(">h", 0) + text(name)


def compact(value: str) -> bytes:
    return bytes([len(value) + 1]) + value.encode()


def value(version: int, state: int, partitions: Partitions | None, producer: int = 7) -> bytes:
    flexible = version == 1
    head = struct.pack(">hqhib", version, producer, 3, 60_000, state)
    if partitions is None:
        encoded = b"\0" if flexible else struct.pack(">i", -1)
    elif flexible:
        each = [compact(t) + bytes([len(ids) + 1]) + b"".join(struct.pack(">i", i) for i in ids) + b"\0" for t, ids in partitions]
        encoded = bytes([len(partitions) + 1]) + b"".join(each)
    else:
        encoded = struct.pack(">i", len(partitions)) + b"".join(
            text(t) + struct.pack(">i", len(i)) + b"".join(struct.pack(">i", n) for n in i) for t, i in partitions
        )
    return head + encoded + struct.pack(">qq", AT, AT - 5) + (b"\0" if flexible else b"")


def rows(lines: Sequence[tuple[bytes | None, bytes | None]], event: str = "transaction-state") -> list[Row]:
    payload = b"".join(body(n, BatchRecord(0, 1000, k, v), 1000) for n, (k, v) in enumerate(lines))
    found = list(read_segment(io.BytesIO(v2(payload, len(lines))), MEMBER))
    kept(found)
    return [r for r in found if r["event"] == event]


@pytest.mark.parametrize("version", [0, 1])
def test_partitions_are_those_of_all_transactions_and_the_state_is_the_last(version: int) -> None:
    stated = [
        (key(), value(version, 1, [("orders", [0, 2])])),
        (key(), value(version, 4, [])),
        (key(), value(version, 1, [("ledger", [1])])),
        (key(), value(version, 5, None)),
    ]
    found = rows(stated)
    assert [(r["topic"], r["partition"], r["value"], r["count"], r["reason"]) for r in found] == [
        (topic, partition, "payments-1", 7, "CompleteAbort") for topic, partition in (("orders", 0), ("orders", 2), ("ledger", 1))
    ]
    assert {r["time"] for r in found} == {datetime(2026, 11, 18, 11, 6, 40)}


def test_what_is_not_known_is_told_and_a_tombstone_is_nothing() -> None:
    assert rows([(key(), None), (struct.pack(">h", 9) + b"x", b"\0\0")]) == []
    assert len(rows([(key(), value(7, 1, []))], "problem")) == 1


@settings(max_examples=200)
@given(st.lists(st.tuples(st.none() | st.binary(max_size=30), st.none() | st.binary(max_size=60)), max_size=4), st.integers(0, 2))
def test_any_records_give_rows(lines: list[tuple[bytes | None, bytes | None]], version: int) -> None:
    rows(lines)
    rows([(key(), struct.pack(">h", version) + (v or b"")) for _, v in lines])
