"""Load of brokers in CSV, as users bring it."""

from __future__ import annotations

import io
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats.load_metrics import read
from parsers.formats.problems import MAX_PROBLEMS
from parsers.kinds import KINDS
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept

TIME = datetime(2026, 11, 21, 8)


def rows(content: bytes) -> tuple[list[Row], list[Row]]:
    found = list(read(io.BytesIO(content), Member("load.csv", len(content), TIME)))
    assert {row["event"] for row in found} <= set(KINDS)
    kept(found)
    return [row for row in found if row["event"] != "problem"], [row for row in found if row["event"] == "problem"]


def cells(content: bytes, *names: str) -> list[tuple[Any, ...]]:
    found, problems = rows(content)
    assert problems == []
    return [tuple(row[name] for name in names) for row in found]


def test_brokers_and_metrics() -> None:
    content = b"broker,cpu,network_in\n1,45.5%,1e6\n2,,-3\n\n"
    assert cells(content, "broker", "key", "value", "line", "time", "clock") == [
        (1, "cpu", "45.5", 2, TIME, "mtime"),
        (1, "network_in", "1e6", 2, TIME, "mtime"),
        (2, "network_in", "-3", 3, TIME, "mtime"),
    ]
    found, _ = rows(content)
    assert found[0]["text"] == "1,45.5%,1e6"
    assert content[found[0]["byte"] :].startswith(b"1,45")


@pytest.mark.parametrize("header", ["broker", "Broker ID", "broker_id", "node.id", '"broker"'])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_headers(header: str, mark: str) -> None:
    assert cells(f"cpu{mark}{header}\r\n12{mark}7\r\n".encode("utf-8-sig"), "broker", "key", "value") == [(7, "cpu", "12")]


def test_a_decimal_comma_where_semicolons_part_the_cells() -> None:
    assert cells(b"broker;cpu\n1;12,5\n", "value") == [("12.5",)]


@pytest.mark.parametrize(
    "stamp", ["2026-11-21T09:30:00+02:00", "2026-11-21 07:30:00", "2026-11-21T07:30:00Z", "1795246200", "1795246200000"]
)
def test_times(stamp: str) -> None:
    assert cells(f"time,broker,cpu\n{stamp},1,5\n".encode(), "time", "clock") == [(datetime(2026, 11, 21, 7, 30), "stamp")]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"host,cpu\na,1\n", b"broker\n1\n", b"1,2,3\n"])
def test_unknown_layouts_are_named(content: bytes) -> None:
    found, problems = rows(content)
    assert (found, [p["reason"] for p in problems]) == ([], ["load-metrics-unknown"])


@pytest.mark.parametrize(
    "line",
    [b"x,5,6", b",5,6", b"99999999999,5,6", b"1,five,6", b"1,nan,6", b"1,inf,6", b"1,1e999,6", b'1,"5,6', "1,٥,6".encode(), b"1,1_0,6"],
)
def test_what_is_no_number_is_a_problem_and_the_rest_comes(line: bytes) -> None:
    found, problems = rows(b"broker,a,b\n" + line + b"\n3,1,2\n")
    assert {p["reason"] for p in problems} == {"load-metrics-malformed"}
    assert problems[0]["line"] == 2
    assert [(f["broker"], f["key"], f["value"]) for f in found if f["line"] == 3] == [(3, "a", "1"), (3, "b", "2")]


def test_a_bad_time_is_a_problem_and_the_files_time_is_taken() -> None:
    found, problems = rows(b"time,broker,a\nnoon,1,2\n")
    assert [(f["time"], f["clock"]) for f in found] == [(TIME, "mtime")]
    assert [p["reason"] for p in problems] == ["load-metrics-malformed"]


def test_many_problems_are_counted() -> None:
    _, problems = rows(b"broker,a\n" + b"1,x\n" * 100)
    assert len(problems) == MAX_PROBLEMS + 1


PIECES = [b"broker", b",", b";", b"\t", b"cpu", b"1", b"\n", b'"', b"time", b"\x00", b"\r", b"9" * 30]


@settings(max_examples=150)
@given(st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)))
def test_any_bytes_become_rows_or_problems(content: bytes) -> None:
    rows(content)
    rows(b"time,broker,cpu\n" + content)
