"""Step series of under-replicated partitions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.incidents.judging import PARTITION
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.under_replication import MAX_LEADERS, MAX_STEPS, CountStep, Series, capped, series
from forensics.views.document import Report

T0 = datetime(2026, 11, 21, 1, 53)


def at(seconds: float | None) -> datetime | None:
    return T0 + timedelta(seconds=seconds) if seconds is not None else None


def row(*windows: tuple[int, float | None, float | None, bool]) -> dict[str, Any]:
    """A partition with windows of (leader, start, end, planned)."""
    shorts = [{"leader": led, "start": at(a), "end": at(b), "planned": planned, "missing": [9]} for led, a, b, planned in windows]
    return {"topic": "t", "partition": 0, "under_replicated_windows": shorts, "under_replicated_windows_omitted": 0}


def test_counts_for_the_cluster_and_for_each_leader() -> None:
    found = series([row((1, 10, 20, False)), row((2, 10, 30, False)), row((2, 15, None, True))])
    assert [s.leader for s in found] == [None, 1, 2]
    assert found[0].steps == (CountStep(at(10), 2, 0), CountStep(at(15), 2, 1), CountStep(at(20), 1, 1), CountStep(at(30), 0, 1))
    assert [(s.under_replicated, s.reassigning) for s in found[1].steps] == [(1, 0), (0, 0)]
    assert found[0].peak == 2 and found[2].peak == 1


def test_highest_count_between_two_times() -> None:
    one = Series(None, (CountStep(None, 3, 0), CountStep(at(10), 1, 0), CountStep(at(20), 2, 0)))
    assert [one.at(at(a), at(b)) for a, b in ((10, 15), (10, 21), (0, 5), (25, None))] == [1, 2, 3, 2]
    assert one.at(None, None) == 3 and Series(None, ()).at(None, None) == 0


def test_leader_changes_within_a_window_move_the_count() -> None:
    found = series([row((1, 0, 5, False), (2, 5, None, False))])
    assert found[0].steps == (CountStep(at(0), 1, 0),)
    assert [s.under_replicated for s in found[1].steps] == [1, 0]


def test_nothing_short_no_series() -> None:
    assert series([row()]) == []
    assert series([{"topic": "t", "partition": 0}]) == []


def test_the_highest_of_each_stretch_stays() -> None:
    steps = tuple(CountStep(at(i), 7 if i == 1234 else i % 3, 0) for i in range(4001))
    kept = capped(steps, lambda s: s.under_replicated)
    assert len(kept) <= MAX_STEPS
    assert max(s.under_replicated for s in kept) == 7 and kept[-1] == steps[-1]
    assert capped(steps[:10], lambda s: s.under_replicated) == steps[:10]


def test_the_report_says_what_it_leaves_out() -> None:
    rows = [
        {**row(*((leader, 2 * i, 2 * i + 1, False) for i in range(20))), "partition": leader, "under_replicated_windows_omitted": 1}
        for leader in range(150)
    ]
    rows.append({**row(*((0, 2 * i, 2 * i + 1, False) for i in range(3000))), "partition": 150})
    reported = Report(Cluster(), [], pa.Table.from_pylist(rows, schema=pa.schema(PARTITION)).to_pylist()).document()["cluster"][
        "under_replication"
    ]
    assert (
        reported["cluster"]["peak"] == 151 and reported["cluster"]["steps_left_out"] > 0 and len(reported["cluster"]["steps"]) <= MAX_STEPS
    )
    assert len(reported["leaders"]) == MAX_LEADERS and reported["leaders_left_out"] == 50
    assert reported["windows_left_out"] == 150
    assert reported["leaders"][0]["steps"][0] == {"at": "2026-11-21T01:53:00.000Z", "under_replicated": 2, "reassigning": 0}


_SECONDS = st.one_of(st.none(), st.integers(0, 50))


@settings(max_examples=100)
@given(st.lists(st.lists(st.tuples(st.integers(-1, 3), _SECONDS, _SECONDS, st.booleans()), max_size=5), max_size=8))
def test_counts_are_never_negative_and_end_with_what_is_open(partitions: list[list[tuple[int, float | None, float | None, bool]]]) -> None:
    """Clocks may contradict the order of the states."""
    found = series([row(*windows) for windows in partitions])
    assert all(s.under_replicated >= 0 and s.reassigning >= 0 for one in found for s in one.steps)
    still = sum(b is None and not planned for windows in partitions for _, _, b, planned in windows)
    assert (found[0].steps[-1].under_replicated if found else 0) == still
