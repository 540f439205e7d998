"""Steps between the times of neighbouring lines."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from datetime import datetime, timedelta
from io import BytesIO
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.evidence import read_source
from parsers.line_order import LineOrder
from parsers.schemas import EVENTS, Member, Row
from tests.support.shapes import bundle, records

START = datetime(2026, 11, 21)


def event(line: int, ms: int | None, clock: str = "line", **more: Any) -> Row:
    time = START + timedelta(milliseconds=ms) if ms is not None else None
    return {"source": "server.log", "line": line, "time": time, "clock": clock, "event": "truncation", "text": "x" * line, **more}


def passed(parts: Sequence[Sequence[Row]], as_batches: Sequence[bool]) -> LineOrder:
    found = LineOrder()
    for part, as_batch in zip(parts, as_batches, strict=True):
        if as_batch:
            found.pass_by_all(pa.RecordBatch.from_pylist(list(part), schema=EVENTS))
        else:
            for row in part:
                found.pass_by(row)
    return found


def collected(*rows: Row) -> Row:
    found = passed([rows], [True]).collected()
    assert found == passed([rows], [False]).collected()
    return found


def test_lines_of_several_threads_are_no_step_back() -> None:
    found = collected(event(1, 5), event(2, 3), event(3, 3), event(4, 1003), event(5, 3))
    assert found == {"ascents": 1, "descents": 2, "steps_back": None, "consecutive": None}


def test_a_step_back_of_more_than_a_second() -> None:
    found = collected(event(1, 5000), event(9, 3999), event(10, 9000), event(12, 100))
    back = [(s["line"], (s["before"] - s["after"]).total_seconds()) for s in found["steps_back"]]
    assert back == [(9, 1.001), (12, 8.9)]
    assert (found["ascents"], found["descents"]) == (1, 2)


def test_several_events_of_one_line_are_one_line() -> None:
    assert collected(event(1, 9000), event(2, 9001), event(2, 5), event(2, 9001), event(3, 9002))["ascents"] == 2


def test_what_lasted_has_the_time_at_which_it_began() -> None:
    """A ZooKeeper client that heard nothing for 30 s says so at the end of these."""
    found = collected(event(1, 60_000), event(2, 30_000, event="zookeeper-silent", duration_ms=30_000), event(3, 60_001))
    assert (found["ascents"], found["descents"], found["steps_back"]) == (1, 0, None)


def test_lines_with_other_clocks_and_without_times_are_not_compared() -> None:
    found = collected(event(1, 9000), event(2, 0, "utc"), event(3, 1, "utc"), event(4, None), event(5, 2, "utc"), event(6, 0, "mtime"))
    assert (found["ascents"], found["descents"], found["steps_back"]) == (2, 0, None)


def test_nothing_is_said_of_a_file_without_lines() -> None:
    assert collected(event(1, 0, "mtime"), event(2, None)) == {}


def test_the_largest_steps_are_kept() -> None:
    rows = [event(n, 10**7 - n * (2000 + n)) for n in range(1, 501)]
    found = collected(*rows)
    assert len(found["steps_back"]) == LineOrder.MOST
    assert [s["line"] for s in found["steps_back"]] == list(range(501 - LineOrder.MOST, 501))
    assert found["descents"] == 499


def again(*rows: Row) -> tuple[list[int], list[int]]:
    """Lines of steps back, and lines from which on lines come again."""
    found = passed([rows], [True])
    return [step["line"] for step in found.collected()["steps_back"] or ()], sorted(found.again)


def test_a_step_back_to_lines_that_were_there_is_none_of_a_clock() -> None:
    rows = [event(n, 1000 * n) for n in range(1, 9)]
    appended = [{**row, "line": row["line"] + 6} for row in rows[2:]]
    assert again(*rows[:6], *appended) == ([], [9])
    other = {**appended[1], "text": "another line of that moment"}
    assert again(*rows[:6], appended[0], other, *appended[2:]) == ([9], [])
    missing = [appended[0], *appended[2:]]
    assert again(*rows[:6], *missing) == ([], [9]), "a part may have been filtered"


def consecutive(*parts: Sequence[int]) -> bool | None:
    """Of parts with lines at these seconds, in the order of the file."""
    seconds = [second for part in parts for second in part]
    found: bool | None = collected(*(event(n, 1000 * second) for n, second in enumerate(seconds, 1)))["consecutive"]
    return found


def test_parts_that_continue_each_other_in_another_order() -> None:
    hour = [range(3600 * n, 3600 * (n + 1), 50) for n in range(11, -1, -1)]  # server.log, server.log.1, …
    assert consecutive(hour[0], *hour[:0:-1]), "cat server.log*, with dates"
    assert consecutive(*hour), "server.log, server.log.1, server.log.2, …"
    assert consecutive(hour[0], hour[1], hour[10], hour[11], *hour[2:10]), (
        "server.log, server.log.1, server.log.10, server.log.11, server.log.2"
    )
    assert not consecutive(hour[0], *hour[2:]), "an hour is missing"
    assert not consecutive(hour[0], range(3600, 11 * 3600 + 60, 50)), "they overlap"
    assert consecutive(*hour[::-1]) is None, "they are in order"


MOMENTS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.one_of(st.none(), st.integers(0, 10), st.integers(0, 10**5)),
        st.sampled_from(["line", "line", "utc", "mtime"]),
    ),
    max_size=150,
)


@given(MOMENTS, st.randoms(use_true_random=False), st.integers(1, 6))
@settings(max_examples=200)
def test_any_cut_gives_the_same_order(moments: list[tuple[int, int | None, str]], choose: Any, pieces: int) -> None:
    """Rows and batches, and parts of the log that are put together again; of one line there may be several events."""
    rows, line = [], 1
    for on, ms, clock in moments:
        line += on
        rows.append(event(line, ms, clock))
    expected = {**by_hand(rows), **{k: v for k, v in passed([rows], [True]).collected().items() if k == "consecutive"}}
    edges = sorted(choose.randint(0, len(rows)) for _ in range(pieces - 1))
    parts = [rows[a:b] for a, b in zip([0, *edges], [*edges, len(rows)], strict=True)]
    as_batches = [choose.random() < 0.5 for _ in parts]
    assert passed(parts, as_batches).collected() == expected
    joined = LineOrder()
    for part, as_batch in zip(parts, as_batches, strict=True):
        joined.follow(pickle.loads(pickle.dumps(passed([part], [as_batch]))))
    if all(a[-1]["line"] < b[0]["line"] for a, b in pairwise(filter(None, parts))):  # a log is cut between lines
        assert joined.collected() == expected


def by_hand(rows: Sequence[Row]) -> Row:
    own = [row for row in rows if row["time"] is not None and row["clock"] != "mtime"]
    first = [row for n, row in enumerate(own) if not n or own[n - 1]["line"] < row["line"]]
    steps = [(b["line"], a["time"], b["time"]) for a, b in pairwise(first) if a["clock"] == b["clock"]]
    back = sorted((s for s in steps if s[1] - s[2] > timedelta(seconds=1)), key=lambda s: (s[2] - s[1], s[0]))[:64]
    if not own:
        return {}
    return {
        "ascents": sum(a < b for _, a, b in steps),
        "descents": sum(a > b for _, a, b in steps),
        "steps_back": [{"line": line, "before": a, "after": b} for line, a, b in sorted(back)] or None,
    }


def read(content: bytes) -> dict[str, Any]:
    rows = read_source(Member("server.log", None, None), BytesIO(content))
    (source,) = (row for row in rows if isinstance(row, dict) and row["event"] == "source")
    found: dict[str, Any] = source["collected"]
    return found


def test_a_log_turned_around_descends() -> None:
    content = bundle("acks1-failover-1.1.1-zk")["broker-1/logs/server.log"].content
    stated, turned = read(content), read(b"".join(reversed(records(content))))
    assert stated["ascents"] > 20 * stated["descents"]
    assert stated["steps_back"] is None
    assert turned["descents"] > 20 * turned["ascents"]
    assert turned["steps_back"]
