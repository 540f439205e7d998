"""Logs whose lines something cut at a fixed length, and logs that only look like that."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.catalogue import line_lengths
from parsers.catalogue.line_lengths import LineLengths
from parsers.catalogue.log_file import read_log
from parsers.layouts import LOG4J
from parsers.schemas import Member
from tests.support.shapes import bundle

BUNDLES = ("acks1-failover-1.1.1-zk", "acks1-failover-3.9.1-kraft")
LINES = bundle(BUNDLES[0])["broker-1/logs/server.log"].content.decode().splitlines()


def cut_at(lines: list[str], end: str = "\n") -> int | None:
    content = "".join(line + end for line in lines).encode()
    found: int | None = list(read_log(BytesIO(content), Member("server.log", None, None), "server-log"))[-1]["collected"]["cut_at"]
    return found


def logger_first(line: str) -> str:
    """As Strimzi's images print it."""
    record = LOG4J.read(line)
    if record is None or record.time is None:
        return line
    return f"{record.time:%Y-%m-%d %H:%M:%S} {record.level:5} [main] {(record.logger or 'kafka.Kafka').rsplit('.', 1)[-1]}:7 - {record.message}"


def thread_last(line: str) -> str:
    record = LOG4J.read(line)
    return line if record is None else f"{line[1:24]} {record.level} {record.message} ({record.logger or 'kafka.Kafka'}) [main]"


LAYOUTS = {"Kafka's own": lambda line: line, "logger first": logger_first, "thread last": thread_last}


@pytest.mark.parametrize("length", [80, 120, 200, 256])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_lines_that_were_cut(layout: Callable[[str], str], length: int) -> None:
    lines = [layout(line) for line in LINES]
    assert cut_at(lines) is None
    assert cut_at([line[:length] for line in lines]) == length
    assert cut_at([line[:length] for line in lines], "\r\n") == length


def test_lines_that_were_cut_before_they_were_wrapped() -> None:
    docker = [json.dumps({"log": line[:200] + "\n", "stream": "stdout", "time": "2026-11-21T02:15:38Z"}) for line in LINES]
    assert cut_at(docker) == 200
    assert cut_at([f"2026-11-21T02:15:38.123456789Z stdout F {line[:200]}" for line in LINES]) == 200
    assert cut_at([f"2026-11-21T02:15:38.123456789Z stdout F {line}" for line in LINES]) is None


def test_characters_are_counted() -> None:
    assert cut_at([line.replace("Partition", "Pärtitiön")[:150] for line in LINES]) == 150


@pytest.mark.parametrize("name", BUNDLES)
def test_no_log_that_nobody_cut(name: str) -> None:
    for path, file in bundle(name).items():
        if "/logs/" in path and file.content:
            assert cut_at(file.content.decode().splitlines()) is None


HEAD = "[2026-11-21 02:15:38,{:03}] INFO "
SETTINGS = [
    HEAD.format(1) + "KafkaConfig values: ",
    *["\tcontroller.quorum.voters = " + "1@kafka-1.example.com:9093," * 4] * 5,
    " (kafka.server.KafkaConfig)",
]
TRACE = [HEAD.format(2) + "Error (kafka.server.KafkaServer)", *["\tat " + "o" * 90 + "~[kafka-clients-3.9.1.jar:?]"] * 6]
ALIKE = [
    HEAD.format(n) + "[Log partition=trades-" + f"{n}, dir=/data] " + "Loading producer state till offset 7 " * 3 for n in range(100, 140)
]


@pytest.mark.parametrize(
    "lines",
    [
        [*SETTINGS, HEAD.format(3) + "started (kafka.server.KafkaServer)"] * 5,
        [*TRACE, HEAD.format(3) + "started (kafka.server.KafkaServer)"] * 5,
        [f"{line} (kafka.log.Log)" for line in ALIKE],
        [logger_first(f"{line} (kafka.log.Log)") for line in ALIKE],
        ["x" * 200] * 20,
        [line[:60] for line in LINES],
        [line[:200] for line in LINES if len(line) > 200][:4],
        [*[line[:200] for line in LINES], "y" * 300],
        [],
    ],
    ids=["settings", "stack trace", "one statement", "one statement, logger first", "no log", "short", "few", "one is longer", "empty"],
)
def test_lines_of_one_length_that_nobody_cut(lines: list[str]) -> None:
    assert cut_at(lines) is None


def test_only_the_start_of_a_chunk_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line[:200] for line in LINES]
    monkeypatch.setattr(line_lengths, "SAMPLE", sum(map(len, lines)) + len(lines))
    assert cut_at([*lines, "y" * 300]) == 200


@given(
    st.lists(st.tuples(st.integers(80, 84), *[st.integers(0, 4)] * 4, st.sets(st.sampled_from("abcd"), max_size=3)), max_size=8),
    st.randoms(),
)
@settings(max_examples=200)
def test_parts_give_the_same_in_any_order_and_grouping(
    parts: list[tuple[int, int, int, int, int, set[str]]], choose: random.Random
) -> None:
    def state(own: list[LineLengths]) -> dict[str, object]:
        found = LineLengths()
        for one in own:
            found.take_over(one)
        return vars(found)

    def parts_of() -> list[LineLengths]:
        found = []
        for longest, count, whole, cut, open_, statements in parts:
            one = LineLengths(longest)
            one._count, one._whole, one._cut, one._open, one._statements = count, whole, cut, open_, {("", s) for s in statements}
            found.append(one)
        return found

    expected = state(parts_of())
    shuffled = parts_of()
    choose.shuffle(shuffled)
    assert state(shuffled) == expected
    middle = choose.randint(0, len(shuffled))
    halves = []
    for half in (shuffled[:middle], shuffled[middle:]):
        joined = LineLengths()
        for one in half:
            joined.take_over(one)
        halves.append(joined)
    assert state(halves) == expected
