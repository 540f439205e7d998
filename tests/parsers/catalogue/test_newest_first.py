"""Lines whose newest one comes first are read in the order in which they were written."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.catalogue.newest_first import Direction, reading_order

NOON = datetime(2026, 11, 21, 12)


def times(*seconds: float) -> list[datetime]:
    return [NOON + timedelta(seconds=s) for s in seconds]


@pytest.mark.parametrize(
    ("seconds", "newest_first"),
    [
        (range(10), False),
        (range(10, 0, -1), True),
        ((1,) * 10, None),
        ((4, 3, 2, 1), None),
        ((9, 8, 7, 7.1, 6, 5, 4, 3), True),
        ((), None),
    ],
)
def test_the_direction_of_times(seconds: tuple[float, ...], newest_first: bool | None) -> None:
    direction = Direction()
    direction.decide([times(*seconds)])
    assert direction.newest_first is newest_first


def test_the_direction_is_that_of_all_writers_together() -> None:
    direction = Direction()
    direction.decide([times(4, 3, 2), times(9, 8.9, 9), times(3, 2, 1)])
    assert direction.newest_first


RECORDS = st.lists(st.integers(0, 3), min_size=1, max_size=12)
"""For each record the number of lines that continue it."""


@given(RECORDS, st.integers(0, 20), st.booleans())
def test_reversed_lines_are_read_as_they_were_written(records: list[int], cut: int, ties: bool) -> None:
    written = [(number, line) for number, more in enumerate(records) for line in range(more + 1)]
    given_lines = sorted(written, key=lambda place: -place[0]) if ties else written[::-1]
    begins = [line == 0 for _, line in given_lines]
    stamps = [number for number, _ in given_lines]
    texts = [b"" if line == 0 else b"\t%d" % line for _, line in given_lines]
    order = reading_order(begins, stamps, texts, last=True)
    assert [given_lines[index] for index in order] == written
    part = given_lines[:cut]
    kept = reading_order(begins[:cut], stamps[:cut], texts[:cut], last=False)
    left = sorted({*range(len(part))} - {*kept})
    assert left == [*range(len(part) - len(left), len(part))], "lines whose record may come later are at the end"
