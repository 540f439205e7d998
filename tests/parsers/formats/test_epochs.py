"""leader-epoch-checkpoint: real files, damaged ones, and histories that do not rise."""

from __future__ import annotations

import io
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats.epochs import read
from parsers.formats.problems import MAX_PROBLEMS
from parsers.kinds import KINDS
from parsers.limits import DEFAULTS, Limits, put_in_force
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept

TIME = datetime(2026, 11, 21, 2, 25, 25)
PATH = "broker-3/data/clicks-0/leader-epoch-checkpoint"
REAL = b"0\n3\n0 0\n1 1550\n3 1560\n"


def rows(content: bytes, path: str = PATH) -> tuple[list[Row], list[Row]]:
    found = list(read(io.BytesIO(content), Member(path, len(content), TIME)))
    assert {row["event"] for row in found} <= set(KINDS)
    return [row for row in found if row["event"] != "problem"], [row for row in found if row["event"] == "problem"]


def entries(facts: list[Row]) -> list[tuple[int, int]]:
    return [(row["leader_epoch"], row["offset"]) for row in facts if row["event"] == "epoch-entry"]


def test_a_real_file() -> None:
    facts, problems = rows(REAL)
    assert problems == []
    assert entries(facts) == [(0, 0), (1, 1550), (3, 1560)]
    assert facts[1] == {
        "event": "epoch-entry",
        "pattern": "checkpoint",
        "time": TIME,
        "clock": "mtime",
        "topic": "clicks",
        "partition": 0,
        "directory": "broker-3/data/clicks-0",
        "reason": None,
        "line": 4,
        "byte": 8,
        "text": "1 1550",
        "leader_epoch": 1,
        "offset": 1550,
    }
    assert (facts[-1]["event"], facts[-1]["count"], facts[-1]["topic"]) == ("epoch-file", 3, "clicks")


@pytest.mark.parametrize("content", [b"", b"0\n", b"0\n0\n"])
def test_an_empty_file_says_so(content: bytes) -> None:
    facts, problems = rows(content)
    assert problems == []
    assert [(fact["event"], fact["count"]) for fact in facts] == [("epoch-file", 0)]


@pytest.mark.parametrize(
    ("path", "topic", "reason"),
    [
        ("a-1-2/leader-epoch-checkpoint", ("a-1", 2), None),
        ("t-0.0123456789abcdef0123456789abcdef-stray/leader-epoch-checkpoint", ("t", 0), "stray"),
        ("t-0.0123456789abcdef0123456789abcdef-delete/leader-epoch-checkpoint", ("t", 0), "delete"),
        ("leader-epoch-checkpoint", (None, None), None),
    ],
)
def test_the_directory_names_the_partition(path: str, topic: tuple[str, int], reason: str | None) -> None:
    facts, _ = rows(REAL, path)
    assert {(fact["topic"], fact["partition"]) for fact in facts} == {topic}
    assert {fact["reason"] for fact in facts} == {reason}


def test_an_unfinished_file_says_so() -> None:
    facts, problems = rows(REAL, f"{PATH}.tmp")
    assert {fact["reason"] for fact in facts} == {"unfinished"}
    assert [p["reason"] for p in problems] == ["checkpoint-unfinished"]


@pytest.mark.parametrize("second", [b"0 20", b"1 20", b"2 9"])
def test_what_does_not_rise_is_named_and_still_comes(second: bytes) -> None:
    facts, problems = rows(b"0\n2\n1 10\n" + second + b"\n")
    assert len(entries(facts)) == 2
    assert [(p["reason"], p["line"]) for p in problems] == [("epochs-not-rising", 4)]


def test_epochs_without_records_may_share_an_offset() -> None:
    facts, problems = rows(b"0\n2\n1 10\n2 10\n")
    assert problems == []
    assert entries(facts) == [(1, 10), (2, 10)]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"2\n1\n0 0\n", 1),
        (b"0\n2\n0 0\n", 2),
        (b"0\n2\n0 0\n1\n", 4),
        (b"0\n2\n0 0\nx 10\n", 4),
        (b"0\n2\n0 0\n-1 10\n", 4),
        (b"0\n2\n0 0\n1 -10\n", 4),
        (b"0\n2\n0 0\n2147483648 10\n", 4),
        (b"0\n2\n0 0\n1 9223372036854775808\n", 4),
        (b"0\n2\n0 0\n\0\0\0", 4),
    ],
)
def test_what_kafka_refuses_is_named_and_the_good_rows_come(content: bytes, line: int) -> None:
    facts, problems = rows(content)
    assert entries(facts)[0] == (0, 0)
    assert ("checkpoint-corrupt", line) in [(p["reason"], p["line"]) for p in problems]


def test_many_problems_are_counted() -> None:
    facts, problems = rows(b"0\n100\n" + b"x\n" * 100)
    assert facts[-1]["count"] == 0
    assert len(problems) == MAX_PROBLEMS + 1


@settings(max_examples=150)
@given(
    st.one_of(
        st.binary(max_size=400),
        st.lists(st.tuples(st.integers(), st.integers())).map(
            lambda given: "".join(["0\n9\n", *(f"{e} {o}\n" for e, o in given)]).encode()
        ),
    )
)
def test_any_bytes_become_rows_or_problems(content: bytes) -> None:
    facts, problems = rows(content)
    assert facts[-1]["event"] == "epoch-file"
    assert facts[-1]["count"] == len(entries(facts))
    kept(facts + problems)


def test_entries_beyond_the_limit_are_not_read() -> None:
    put_in_force(Limits(epochs=3))
    try:
        facts, problems = rows(b"0\n5\n" + b"".join(b"%d %d\n" % (n, n) for n in range(5)))
    finally:
        put_in_force(DEFAULTS)
    assert entries(facts) == [(0, 0), (1, 1), (2, 2)] and facts[-1]["count"] == 3
    assert [row["reason"] for row in problems] == ["checkpoint-cut"] and "--limit epochs" in problems[0]["text"]
