"""Offset checkpoints: what Kafka writes, what it refuses, and what is saved of a damaged one."""

from __future__ import annotations

import io
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats import checkpoints
from parsers.formats.checkpoints import EVENTS_OF_KIND, read
from parsers.formats.problems import MAX_PROBLEMS
from parsers.kinds import KINDS
from parsers.limits import DEFAULTS, Limits, put_in_force
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept

TIME = datetime(2026, 11, 21, 1, 58, 36)
REAL = b"0\n4\n__consumer_offsets 1 0\n__consumer_offsets 0 0\nclicks 0 450\n__consumer_offsets 2 0\n"


def rows(content: bytes, kind: str = "hw-checkpoint", name: str = "replication-offset-checkpoint") -> tuple[list[Row], list[Row]]:
    """(facts, problems)"""
    found = list(read(io.BytesIO(content), Member(f"broker-1/data/{name}", len(content), TIME), kind))
    assert all(row["reason"].startswith("checkpoint-") for row in found if row["event"] == "problem")
    return [row for row in found if row["event"] != "problem"], [row for row in found if row["event"] == "problem"]


def test_a_real_file() -> None:
    facts, problems = rows(REAL)
    assert problems == []
    assert facts[2] == {
        "event": "hw-checkpoint",
        "pattern": "checkpoint",
        "line": 5,
        "byte": 50,
        "time": TIME,
        "clock": "mtime",
        "text": "clicks 0 450",
        "topic": "clicks",
        "partition": 0,
        "offset": 450,
        "high_watermark": 450,
        "directory": "broker-1/data",
        "reason": None,
    }
    assert REAL[50:].startswith(b"clicks 0 450\n")
    assert [(f["topic"], f["partition"], f["offset"]) for f in facts[:2]] == [("__consumer_offsets", 1, 0), ("__consumer_offsets", 0, 0)]


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("hw-checkpoint", "high_watermark"),
        ("log-start-checkpoint", "log_start_offset"),
        ("recovery-point-checkpoint", None),
        ("cleaner-checkpoint", None),
    ],
)
def test_each_kind_fills_its_own_column(kind: str, column: str | None) -> None:
    (fact,), problems = rows(b"0\n1\nclicks 0 450\n", kind)
    assert problems == []
    assert fact["event"] == EVENTS_OF_KIND[kind]
    assert fact["event"] in KINDS
    assert {name for name in ("high_watermark", "log_start_offset") if name in fact} == ({column} if column else set())


@pytest.mark.parametrize("content", [b"", b"0\n", b"0", b"0\n0\n", b"0\r\n0\r\n"])
def test_what_kafka_reads_as_empty(content: bytes) -> None:
    assert rows(content) == ([], [])


@pytest.mark.parametrize(
    ("content", "said", "line"),
    [
        (b"1\n1\nclicks 0 450\n", "Unrecognised version:1, expected version: 0", 1),
        (b"x\n1\nclicks 0 450\n", "Malformed line in checkpoint file", 1),
        (b"0\nx\nclicks 0 450\n", "Malformed line in checkpoint file", 2),
        (b"0\n2\nclicks 0 450\n", "Expected [2] entries", 2),
        (b"0\n1\nclicks 0 450\nclicks 1 4", "found only [2]", 2),
        (b"0\n2\nclicks 0 450\nclicks 1\n", "3 fields expected", 4),
        (b"0\n2\nclicks 0 450\nclicks 1 4 5\n", "3 fields expected", 4),
        (b"0\n2\nclicks 0 450\nclicks 1 4x\n", "not numbers that Kafka accepts", 4),
        (b"0\n2\nclicks 0 450\nclicks 1 1_0\n", "not numbers that Kafka accepts", 4),
        (b"0\n2\nclicks 0 450\nclicks -1 4\n", "not numbers that Kafka accepts", 4),
        (b"0\n2\nclicks 0 450\nclicks 2147483648 4\n", "not numbers that Kafka accepts", 4),
        (b"0\n2\nclicks 0 450\nclicks 1 9223372036854775808\n", "not numbers that Kafka accepts", 4),
        (b"0\n2\nclicks 0 450\nclicks 1 -4\n", "negative", 4),
        (b"0\n1\nclicks 0 450\n\n", "3 fields expected", 4),
        (b"0\n2\nclicks 0 450\n clicks 1 4\n", "3 fields expected", 4),
        (b"0\n2\nclicks 0 450\n\0\0\0\0\0", "3 fields expected", 4),
        (b"clicks 0 450\n", "without the lines of version", 1),
    ],
)
def test_what_kafka_refuses_is_named_and_the_good_rows_come(content: bytes, said: str, line: int) -> None:
    facts, problems = rows(content)
    assert facts[0]["topic"] == "clicks"
    assert facts[0]["offset"] == 450
    assert [p["line"] for p in problems if said in p["text"] and "broker-1/data/replication-offset-checkpoint" in p["text"]] == [line]


def test_a_copy_saved_with_a_byte_order_mark() -> None:
    (fact,), problems = rows("\ufeff0\r\n1\r\nclicks 0 450\r\n".encode())
    assert (fact["topic"], fact["offset"], problems) == ("clicks", 450, [])


def test_a_partition_given_twice() -> None:
    facts, problems = rows(b"0\n2\nclicks 0 450\nclicks 0 460\n")
    assert [fact["offset"] for fact in facts] == [450, 460]
    assert ["twice" in p["text"] for p in problems] == [True]


def test_topic_names_hold_anything_but_blanks() -> None:
    facts, problems = rows("0\n2\na-1.b_2 3 4\n\u00fc/%$ 0 1\n".encode())
    assert problems == []
    assert [(fact["topic"], fact["partition"]) for fact in facts] == [("a-1.b_2", 3), ("\u00fc/%$", 0)]


def test_an_unfinished_file_says_so_in_every_row() -> None:
    facts, problems = rows(b"0\n2\nclicks 0 450\n", name="replication-offset-checkpoint.tmp")
    assert [fact["reason"] for fact in facts] == ["unfinished"]
    assert [p["reason"] for p in problems] == ["checkpoint-unfinished", "checkpoint-corrupt"]


@pytest.mark.parametrize("noise", [bytes(4096), b"\xff\x00" * 3000, b"x" * 3_000_000])
def test_noise_is_one_problem(noise: bytes) -> None:
    facts, problems = rows(noise)
    assert facts == []
    assert len(problems) == 1
    assert problems[0]["text"].isprintable()


def test_many_problems_are_counted() -> None:
    facts, problems = rows(b"0\n100\n" + b"x\n" * 99 + b"clicks 0 450\n")
    assert len(facts) == 1
    assert len(problems) == MAX_PROBLEMS + 1
    assert problems[-1]["text"].endswith(f"{99 - MAX_PROBLEMS} more malformed lines")


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("+7", 7), ("-7", -7), ("", None), ("7 ", None), ("\u0667", None), ("9" * 5000, None)]
)
def test_numbers_as_java_takes_them(text: str, value: int | None) -> None:
    assert checkpoints.integer(text, range(-10, 10)) == value


@settings(max_examples=150)
@given(
    st.one_of(
        st.binary(max_size=400),
        st.lists(st.tuples(st.sampled_from(["a", "b", ""]), st.integers(), st.integers())).map(
            lambda given: "".join(["0\n", f"{len(given)}\n", *(f"{t} {p} {o}\n" for t, p, o in given)]).encode()
        ),
    ),
    st.sampled_from(sorted(EVENTS_OF_KIND)),
)
def test_any_bytes_become_rows_or_problems(content: bytes, kind: str) -> None:
    facts, problems = rows(content, kind)
    kept(facts + problems)
    assert facts or problems or not content.strip() or content.split()[0].lstrip(b"+-").strip(b"0") == b""


def test_partitions_beyond_the_limit_are_not_read() -> None:
    put_in_force(Limits(partitions=3))
    try:
        found, problems = rows(b"0\n5\na 0 1\na 1 1\na 2 1\na 3 1\na 4 1\n")
    finally:
        put_in_force(DEFAULTS)
    assert [row["partition"] for row in found] == [0, 1, 2]
    assert [row["reason"] for row in problems] == ["checkpoint-cut"] and "--limit partitions" in problems[0]["text"]
