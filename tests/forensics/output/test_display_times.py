"""Times as people read them: in UTC as they are, in a zone with its offset, and in sentences as well."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.output.display_times import UTC, DisplayZone
from forensics.words.formats import moment, period

BERLIN, NEW_YORK = DisplayZone.named("Europe/Berlin"), DisplayZone.named("America/New_York")
SUMMER, WINTER = datetime(2026, 7, 1, 22, 30, 0, 120_000), datetime(2026, 12, 1, 22, 30)
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2037, 12, 31)).map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000))


def test_a_moment_has_the_offset_of_its_day() -> None:
    assert BERLIN.moment(SUMMER) == "2026-07-02 00:30:00.120 +02:00"
    assert BERLIN.moment(WINTER) == "2026-12-01 23:30:00.000 +01:00"
    assert UTC.moment(SUMMER) == moment(SUMMER) == "2026-07-01 22:30:00.120 UTC"


@pytest.mark.parametrize(
    ("said", "in_berlin"),
    [
        (f"lost at {moment(SUMMER)}.", "lost at 2026-07-02 00:30:00.120 +02:00."),
        (f"between {period(SUMMER, SUMMER.replace(hour=23), 'and')}", "between 2026-07-02 00:30:00.120 and 01:30:00.120 +02:00"),
        (f"from {period(SUMMER.replace(hour=21), SUMMER)} on", "from 2026-07-01 23:30:00.120 to 2026-07-02 00:30:00.120 +02:00 on"),
        (f"{period(SUMMER, WINTER)}", "2026-07-02 00:30:00.120 +02:00 to 2026-12-01 23:30:00.000 +01:00"),
        ("at an unknown time; 2026-07-01 22:30:00,120 INFO", "at an unknown time; 2026-07-01 22:30:00,120 INFO"),
    ],
)
def test_the_times_of_a_sentence_are_those_of_the_zone(said: str, in_berlin: str) -> None:
    assert BERLIN.sentence(said) == in_berlin
    assert UTC.sentence(said) == said


@given(TIMES, TIMES, st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "local", "UTC"]))
def test_a_time_in_a_sentence_is_the_same_instant(first: datetime, last: datetime, name: str) -> None:
    zone = DisplayZone.named(name)
    assert zone.sentence(f"x {moment(first)} y") == f"x {zone.moment(first)} y"
    shown = zone.sentence(f"x {period(first, last)} y").split()
    assert shown[0] == "x" and shown[-1] == "y" and zone.moment(last).split()[-1] == shown[-2]
    assert zone.utc(zone.wall(first)) in (first, *(_shifted(first, zone)))


def _shifted(at: datetime, zone: DisplayZone) -> list[datetime]:
    """When clocks go back, a wall time exists twice."""
    wall = zone.wall(at)
    return [zone.utc(wall.replace(fold=fold)) for fold in (0, 1)]


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (SUMMER, SUMMER.replace(hour=23), "22:30:00–23:30:00"),
        (SUMMER, SUMMER.replace(microsecond=900_000), "22:30:00"),
        (SUMMER, WINTER, "22:30:00–12-01 22:30:00"),
        (None, SUMMER, "…–22:30:00"),
        (SUMMER, None, "22:30:00–…"),
    ],
)
def test_a_span_of_whole_seconds_never_ends_after_its_end(first: datetime | None, last: datetime | None, words: str) -> None:
    assert UTC.span(first, last, SUMMER.date()) == words


def test_a_heading_names_the_offset_or_the_zone_if_it_changes() -> None:
    assert (BERLIN.label([SUMMER]), BERLIN.label([SUMMER, WINTER]), UTC.label([SUMMER]), BERLIN.label([])) == (
        "+02:00",
        "Europe/Berlin",
        "UTC",
        "Europe/Berlin",
    )


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "+25:00", "x" * 300])
def test_an_unknown_zone_is_a_value_error(name: str) -> None:
    with pytest.raises(ValueError) as error:
        DisplayZone.named(name)
    assert str(error.value) == name


@given(TIMES, st.integers(0, 800 * 86_400), st.sampled_from(["Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]))
def test_the_changes_of_an_offset_give_every_wall_time(begin: datetime, seconds: int, name: str) -> None:
    zone = DisplayZone.named(name)
    end = begin + timedelta(seconds=seconds)
    changes = zone.changes(begin, end)
    assert changes[0][0] == begin
    for at in (begin + (end - begin) * share / 7 for share in range(8)):
        assert zone.wall(at) - at == [offset for since, offset in changes if since <= at][-1]


def test_an_offset_changes_at_the_second_at_which_clocks_go_forward() -> None:
    spring = datetime(2026, 3, 29, 1)
    assert [at for at, _ in BERLIN.changes(datetime(2026, 3, 20, 12), datetime(2026, 4, 2))] == [datetime(2026, 3, 20, 12), spring]
