"""How far damaged logs reach, where a recovery would cut them, and what is not known of them."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.events import Event
from forensics.model.partition.replicas import Disk, disk, history
from parsers.formats.segments import read_segment
from parsers.schemas import Member
from tests.parsers.decoding.test_batches import v2

ZEROS = bytes(200)


def flipped(batch: bytes) -> bytes:
    return batch[:-1] + bytes([batch[-1] ^ 1])


def no_length(batch: bytes) -> bytes:
    return batch[:8] + bytes(4) + batch[12:]


def at(batch: bytes, offset: int) -> bytes:
    """The batch with another base offset, which its checksum does not cover."""
    return struct.pack(">q", offset) + batch[8:]


def segment(data: bytes, base: int = 0, directory: str = "data") -> Event:
    """The last `segment` event of a file."""
    path = f"broker-1/{directory}/orders-0/{base:020d}.log"
    *_, row = read_segment(io.BytesIO(data), Member(path, len(data), None))
    known: dict[str, Any] = {k: v for k, v in row.items() if k not in ("time", "clock")}
    return Event(source=path, writer=1, **known)


def log(*files: tuple[int, bytes], flushed: int | None = None) -> Disk:
    """The log of files given by base offset and content, with its recovery point."""
    events = [segment(data, base) for base, data in files]
    if flushed is not None:
        events.append(Event(event="recovery-point", offset=flushed, source="broker-1/data/recovery-point-offset-checkpoint"))
    return disk(1, "", events)


def ranges(found: Disk) -> list[tuple[int, int | None]]:
    return [(s.start, s.end) for s in found.damaged]


def test_a_whole_log_ends_where_its_batches_end() -> None:
    found = log((0, v2(0, 9) + v2(10, 19)), (20, v2(20, 29)))
    assert (found.log_end_offset, found.reach, found.reached(False), found.end_unknown, ranges(found)) == (30, 30, 30, False, [])
    assert found.ends_exactly(False)


@pytest.mark.parametrize("damaged", [flipped(v2(10, 19)), no_length(v2(10, 19))], ids=["checksum", "length"])
def test_valid_batches_behind_a_damage_show_how_far_the_log_reached(damaged: bytes) -> None:
    found = log((0, v2(0, 9) + damaged + v2(20, 29)))
    assert (found.log_end_offset, found.reach, found.end_unknown) == (10, 30, False)
    assert ranges(found) == [(10, 20)]
    assert found.ends_exactly(False) and found.extent.recovery_cuts
    assert (found.damaged_within(0, 10), found.damaged_within(19, 25), found.damaged_within(20, 30)) == (False, True, False)


@pytest.mark.parametrize("tail", [flipped(v2(20, 29)), no_length(v2(20, 29))], ids=["checksum", "length"])
def test_behind_a_damaged_end_anything_may_have_been(tail: bytes) -> None:
    found = log((0, v2(0, 9) + v2(10, 19) + tail))
    assert (found.log_end_offset, found.reach, found.end_unknown, found.tail_damaged) == (20, 20, True, True)
    assert not found.ends_exactly(True)
    assert found.damaged_within(1000, 1001)


@pytest.mark.parametrize("tail", [v2(20, 29)[:50], ZEROS], ids=["torn", "zeros"])
def test_an_ordinary_end_is_no_damage_and_not_exact_either(tail: bytes) -> None:
    found = log((0, v2(0, 9) + v2(10, 19) + tail))
    assert (found.log_end_offset, found.reach, found.end_unknown, found.tail_damaged, found.damaged) == (20, 20, True, False, ())


def test_a_torn_end_is_exact_if_its_write_failed() -> None:
    torn, damaged = (log((0, v2(0, 9) + tail)) for tail in (v2(10, 19)[:50], flipped(v2(10, 19))))
    assert [torn.ends_exactly(False), torn.ends_exactly(False, write_failed=True)] == [False, True]
    assert not damaged.ends_exactly(False, write_failed=True)


def test_a_torn_file_before_the_last_one_is_damage() -> None:
    found = log((0, v2(0, 9) + v2(10, 19)[:50]), (20, v2(20, 29)))
    assert (found.log_end_offset, found.reach, found.end_unknown, ranges(found)) == (10, 30, False, [(10, 20)])


def test_a_recovery_begins_at_the_recovery_point() -> None:
    """LogLoader.recoverLog: what is below the recovery point was flushed, and is not read."""
    files = ((0, v2(0, 9) + flipped(v2(10, 19))), (20, v2(20, 29)), (30, v2(30, 39)))
    assert [log(*files, flushed=at).log_end_offset for at in (0, 19, 20, 35)] == [10, 10, 40, 40]
    assert [log(*files, flushed=at).extent.recovery_cuts for at in (19, 20)] == [True, False]
    assert {log(*files, flushed=at).reach for at in (0, 35)} == {40}


def test_a_log_without_any_valid_batch_reached_its_base_offset() -> None:
    found = log((50, flipped(v2(50, 59))))
    assert (found.log_end_offset, found.reach, found.end_unknown, ranges(found)) == (50, 50, True, [(50, None)])


def test_a_hole_that_no_damage_explains_leaves_the_end_open() -> None:
    found = log((0, v2(0, 9)), (20, v2(20, 29)))
    assert (found.reach, found.reached(False), found.extent.holes) == (30, 30, ((10, 20),))
    assert [found.ends_exactly(cleaned) for cleaned in (True, False, None)] == [True, False, False]


def test_a_hole_within_a_file_shows_a_wrong_base_offset_unless_the_log_was_cleaned() -> None:
    found = log((0, v2(0, 9) + at(v2(10, 19), 900)))
    assert [found.reached(cleaned) for cleaned in (True, False, None)] == [910, 10, 910]
    assert not found.ends_exactly(False)


@pytest.mark.parametrize(
    ("batches", "reach"),
    [
        ((v2(0, 9), at(v2(10, 19), 900), v2(20, 29)), 30),
        ((v2(0, 9), v2(10, 19), at(v2(20, 29), 5)), 15),
    ],
    ids=["too high", "too low"],
)
def test_of_offsets_that_go_back_only_those_count_that_nothing_contradicts(batches: Sequence[bytes], reach: int) -> None:
    found = log((0, b"".join(batches)))
    assert (found.reach, found.end_unknown, len(found.extent.overlaps)) == (reach, True, 1)


def test_two_directories_are_two_logs() -> None:
    events = [segment(v2(0, 9), directory="data1"), segment(v2(0, 9) + v2(10, 19), directory="data2")]
    found = disk(1, "", events)
    assert (found.log_end_offset, found.reach, found.end_unknown, found.extent.overlaps) == (20, 20, False, ())


@pytest.mark.parametrize(("tail", "reach"), [(v2(20, 29), 30), (b"", 10)], ids=["middle", "end"])
def test_a_saved_copy_with_a_damage_shows_how_far_the_log_had_reached(tail: bytes, reach: int) -> None:
    replica = history(1, [segment(v2(0, 9) + flipped(v2(10, 19)) + tail)], lambda _: None)
    assert [(o.offset, o.bound) for o in replica.observations] == [(reach, "at-least")]


@settings(max_examples=200)
@given(st.lists(st.sampled_from(("whole", "crc", "length", "zeros")), min_size=1, max_size=8), st.integers(1, 8))
def test_damage_never_makes_a_log_reach_further_or_its_end_surer(states: list[str], per_file: int) -> None:
    changes = {"whole": lambda b: b, "crc": flipped, "length": no_length, "zeros": lambda b: bytes(len(b))}
    batches = [v2(n * 10, n * 10 + 9) for n in range(len(states))]
    files = [(n * 10, range(n, min(n + per_file, len(states)))) for n in range(0, len(states), per_file)]
    found = log(*((base, b"".join(changes[states[n]](batches[n]) for n in own)) for base, own in files))
    end = len(states) * 10
    assert found.log_end_offset is not None and found.reach is not None
    assert found.log_end_offset <= found.reach <= end
    assert found.reach == end or not found.ends_exactly(False)
    damaged = [n for n, state in enumerate(states) if state != "whole"]
    assert all(any(s.start <= n * 10 and (s.end is None or n * 10 < s.end) for s in found.extent.stretches) for n in damaged)
    assert found.extent.stretches or not damaged
