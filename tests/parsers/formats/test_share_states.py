"""Where share groups stand, by snapshots and updates of their state in the layouts of 4.0 and of 4.1 and later."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats.share_states import read_segment
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept
from tests.parsers.decoding.test_group_members import TOPIC
from tests.parsers.formats.test_group_offsets import segment, text

MEMBER = Member("broker-1/data/__share_group_state-0/00000000000000000000.log", None, None)
AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4
Spans = Sequence[tuple[int, int, int]]


def key(kind: int) -> bytes:
    return struct.pack(">h", kind) + text("workers") + TOPIC.bytes + struct.pack(">i", 3)


def value(kind: int, start: int, spans: Spans = (), *, early: bool = False, epoch: int = 5, tag: bool = False) -> bytes:
    head = struct.pack(">h", 0) + (struct.pack(">H", 1) if early else struct.pack(">i", 1))
    head += (struct.pack(">i", 0) if kind == 0 else b"") + struct.pack(">iq", epoch, start)
    times = struct.pack(">qq", 1_795_000_000_000, 1_795_000_000_001) if kind == 0 and not early else b""
    encoded = b"".join(struct.pack(">qqbh", first, last, state, 1) + b"\0" for first, last, state in spans)
    return head + times + bytes([len(spans) + 1]) + encoded + (b"\1\0\4" + struct.pack(">i", 9) if tag else b"\0")


def rows(records: Sequence[tuple[bytes | None, bytes | None]], event: str = "group-commit") -> list[Row]:
    found = list(read_segment(io.BytesIO(segment((0, records))), MEMBER))
    kept(found)
    return [r for r in found if r["event"] == event]


def stands(*stated: tuple[int, int, Spans], early: bool = False) -> tuple[int, int | None]:
    """Position, and how many above are done, after such snapshots and updates."""
    last = rows([(key(kind), value(kind, start, spans, early=early)) for kind, start, spans in stated])[-1]
    assert (last["value"], last["topic_id"], last["partition"], last["leader_epoch"]) == ("workers", "EjRWeBI0VngSNFZ4EjRWeA", 3, 5)
    return last["offset"], last["count"]


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize(
    ("stated", "position"),
    [
        ([(0, 40, ())], (40, None)),
        ([(0, 0, [(0, 99, ACKNOWLEDGED), (100, 109, ARCHIVED), (110, 119, AVAILABLE), (120, 124, ACKNOWLEDGED)])], (110, 5)),
        ([(0, 40, ()), (1, -1, [(40, 44, ACKNOWLEDGED), (50, 51, ACKNOWLEDGED)])], (45, 2)),
        ([(0, 40, [(40, 59, AVAILABLE)]), (1, -1, [(40, 49, ACKNOWLEDGED)]), (1, 50, [(52, 52, ARCHIVED)])], (50, 1)),
        ([(0, 40, [(40, 59, ACKNOWLEDGED)]), (1, -1, [(45, 46, AVAILABLE)])], (45, 13)),
        ([(0, 40, [(40, 59, ACKNOWLEDGED)]), (0, 10, ())], (10, None)),
    ],
)
def test_a_position_is_what_was_finished_without_a_gap(
    stated: list[tuple[int, int, Spans]], position: tuple[int, int | None], early: bool
) -> None:
    assert stands(*stated, early=early) == position


def test_what_tells_no_position_gives_none() -> None:
    assert rows([(key(0), value(0, -1))]) == [] == rows([(key(1), value(1, -1, [(3, 4, ACKNOWLEDGED)]))])
    assert rows([(key(0), value(0, 7, epoch=0))])[0]["leader_epoch"] is None
    assert [r["reason"] for r in rows([(key(0), value(0, 7, tag=True)), (key(0), None)])] == [None, "deleted"]
    assert len(rows([(key(0), b"\0\0\1"), (key(0), struct.pack(">h", 9) + value(0, 7)[2:])], "problem")) >= 1


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 2), st.none() | st.binary(max_size=70)), max_size=4), st.integers(0, 1))
def test_any_records_give_rows(stated: list[tuple[int, bytes | None]], kind: int) -> None:
    rows([(key(n), v) for n, v in stated] + [(key(kind), value(kind, 3) + (v or b"")) for _, v in stated])
