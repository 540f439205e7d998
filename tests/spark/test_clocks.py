"""Zone and skew of a broker's clock from modification times, and when they are not believed."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark.clocks import Clock, Witness, estimate

NOON = datetime(2026, 11, 21, 12)
MINUTE = 60_000


def witness(written: float, ahead: float, later: float = 0) -> Witness:
    """A log whose last line was written `written` seconds after noon by a clock so far ahead; touched `later` seconds after."""
    true = NOON + timedelta(seconds=written)
    return Witness(true + timedelta(seconds=ahead), true + timedelta(seconds=later))


def test_nothing_to_go_by_is_assumed_utc() -> None:
    assert estimate([]) == Clock(0, None, "assumed")


@pytest.mark.parametrize("minutes", [0, 60, 330, 345, -210, 765, -720])
def test_zone_shows_in_one_file(minutes: int) -> None:
    clock = estimate([witness(0, minutes * 60)])
    assert (clock.zone_minutes, clock.skew_ms, clock.basis) == (minutes, 0, "mtime")


@pytest.mark.parametrize(("minutes", "zone"), [(0, "UTC"), (330, "UTC+05:30"), (-210, "UTC-03:30"), (-15, "UTC-00:15")])
def test_zone_as_people_write_it(minutes: int, zone: str) -> None:
    assert Clock(minutes * MINUTE).zone == zone


def test_whole_seconds_of_archives_do_no_harm() -> None:
    assert estimate([Witness(NOON + timedelta(hours=1, milliseconds=999), NOON)]).offset_ms == 60 * MINUTE


def test_skew_is_believed_when_files_of_different_times_agree() -> None:
    clock = estimate([witness(0, 95), witness(40, 95.5)])
    assert clock.basis == "mtime"
    assert clock.zone_minutes == 0
    assert abs(clock.skew_ms - 95_000) <= 2_000


def test_skew_on_top_of_a_zone() -> None:
    clock = estimate([witness(0, 7200 + 20), witness(40, 7200 + 20)])
    assert (clock.zone, clock.skew_ms) == ("UTC+02:00", 20_000)


@pytest.mark.parametrize(
    "witnesses",
    [[witness(0, 95)], [witness(0, 95), witness(0, 95)], [witness(0, 95), witness(40, 300)]],
    ids=["one file", "one modification time", "files that disagree"],
)
def test_skew_is_not_believed_else(witnesses: list[Witness]) -> None:
    assert estimate(witnesses) == Clock()


def test_modification_times_of_a_copy_are_not_believed() -> None:
    copied = NOON + timedelta(hours=5, minutes=7)
    assert estimate([Witness(NOON + timedelta(seconds=s), copied) for s in (0, 60, 130)]) == Clock()


def test_one_old_time_among_touched_files_counts() -> None:
    assert estimate([witness(0, 3600), witness(10, 3600, later=400), witness(20, 3600, later=5000)]).zone == "UTC+01:00"


def test_near_a_zone_is_the_zone_less_surely() -> None:
    clock = estimate([witness(0, 3600 - 20)])
    assert (clock.offset_ms, clock.uncertainty_ms) == (60 * MINUTE, 30_000)


def test_file_written_months_after_its_last_line_is_in_no_zone() -> None:
    late = Witness(NOON, NOON + timedelta(days=90))
    assert estimate([late]) == Clock()
    assert Clock(late.offset_ms).zone == "UTC"


@given(st.integers(-12 * 60 * MINUTE, 14 * 60 * MINUTE))
@settings(max_examples=100)
def test_zone_and_skew_are_the_offset(offset: int) -> None:
    clock = Clock(offset)
    assert clock.zone_minutes * MINUTE + clock.skew_ms == offset
    assert abs(clock.skew_ms) <= 7.5 * MINUTE


@given(st.permutations([witness(0, 95), witness(40, 95), witness(50, 95, later=30), witness(3, 95, later=800)]))
@settings(max_examples=24)
def test_order_of_the_files_is_nothing(witnesses: list[Witness]) -> None:
    assert estimate(witnesses).offset_ms == 95_000
