"""The events of a log read by columns are those it gives line by line: the same, in the same order, in every column."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from datetime import datetime
from io import BytesIO
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.catalogue.log_file import read_log, read_log_by_columns
from parsers.expressions import quick
from parsers.layouts import LOG4J
from parsers.patterns import PATTERNS
from parsers.schemas import EVENTS, LEAST_SHARED, Member, Row, Rows, batches
from tests.support.shapes import bundle, records
from tests.support.wrapped import STAMP, docker

MEMBER = Member("broker-1/logs/server.log", None, datetime(2026, 11, 21))
SAMPLES = [sample.line for pattern in PATTERNS for sample in pattern.samples]
NOISE = "[2026-11-21 02:15:38,147] INFO [GroupCoordinator 7]: Stabilized group g (kafka.coordinator.group.GroupCoordinator)"
UNKNOWN = "[2026-11-21 02:15:38,147] INFO [Partition t-0 broker=1] Nobody knows this (kafka.cluster.Partition)"
TRACE = "java.io.IOException: gone\n\tat kafka.server.ReplicaManager.x(ReplicaManager.scala:1)"
SPOILT = (
    (r"\d+(?=\D*$)", "9" * 12),
    (r"\d+(?=\D*$)", "9" * 25),
    (r"=\d+", "=99999999999"),
    (r"-\d+ ", "-4294967296 "),
    (r"\d\d:\d\d:\d\d", "25:61:61"),
    ("[a-z]$|e", "é"),
    (r"\d(?=,)", "٣"),
    (" ", "  "),
    (r"\] INFO (.*\))$|(\))$", r"] INFO  \1\2 "),
    (r"(?<=\d) (\d\d:\d\d:\d\d),", r"T\1."),
    (r"\]", "]["),
)


def flat(found: list[Rows]) -> list[Row]:
    rows: list[Row] = pa.Table.from_batches(list(batches(found)), EVENTS).to_pylist()
    return rows


def agree(data: bytes) -> list[Rows]:
    """Reads it in both ways; what the columns gave."""
    found = list(read_log_by_columns(BytesIO(data), MEMBER, "server-log"))
    one, other = flat(list(read_log(BytesIO(data), MEMBER, "server-log"))), flat(found)
    assert next(((a, b) for a, b in zip(one, other, strict=False) if a != b), None) is None
    assert len(one) == len(other)
    return found


def strimzi(line: str) -> str:
    """`%d{yyyy-MM-dd HH:mm:ss} %-5p [%t] %c{1}:%L - %m%n`"""
    first, _, rest = line.partition("\n")
    record = LOG4J.read(first)
    if record is None or record.logger is None:
        return line
    return f"{record.time:%Y-%m-%d %H:%M:%S} {record.level:5} [main] {record.logger.rpartition('.')[2]}:7 - {record.message}" + (
        f"\n{rest}" if rest else ""
    )


def each(wrap: Callable[[str], str]) -> Callable[[str], str]:
    return lambda line: "\n".join(wrap(one) for one in line.split("\n"))


LAYOUTS: dict[str, Callable[[str], str]] = {
    "Kafka's own": str,
    "a thread behind": lambda line: re.sub(r"^(\[2.*\))$", r"\1 [kafka-request-handler-1]", line, count=1, flags=re.MULTILINE),
    "a zone": lambda line: re.sub(r"(?<=:\d\d,\d{3})\]", "+0200]", line, count=1),
    "Strimzi's": strimzi,
    "CRI": each(lambda line: f"{STAMP} stdout F {line}"),
    "docker": each(lambda line: docker(line + "\n")),
    "Strimzi's in CRI": lambda line: each(lambda one: f"{STAMP} stdout F {one}")(strimzi(line)),
    "journal": each(lambda line: f"Nov 21 02:15:38 h kafka[1]: {line}"),
    "pods": each(lambda line: f"[pod/kafka-{len(line) % 3}/kafka] {line}"),
    "Windows' line ends": lambda line: line.replace("\n", "\r\n") + "\r",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_samples_in_a_layout(layout: str) -> None:
    most = layout in ("Kafka's own", "Strimzi's")
    lines = [LAYOUTS[layout](line) for line in SAMPLES[:: 1 if most else 5]]
    found = agree("\n".join([*lines, ""]).encode())
    if most:
        assert sum(len(one) for one in found if isinstance(one, pa.RecordBatch)) > len(PATTERNS) / 2


def test_what_is_computed_of_lines_that_are_alike() -> None:
    """Lines that differ in what their statement only passes on."""
    lines = [sample.line for pattern in PATTERNS if pattern.expand is not None for sample in pattern.samples]
    others = [
        [re.sub(r"(?<=:\d\d:)\d\d(?=,\d{3}\])", f"{second}", re.sub(r"\borders\b", f"o{second}", line)) for line in lines]
        for second in (17, 18, 19)
    ]
    agree("\n".join([*chain.from_iterable(others), ""]).encode())


@pytest.mark.parametrize("expression", SPOILT)
def test_spoilt_samples(expression: tuple[str, str]) -> None:
    agree("\n".join(re.sub(*expression, line, count=3) for line in [*SAMPLES[SPOILT.index(expression) % 3 :: 3], UNKNOWN]).encode())


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.sampled_from(sorted(LAYOUTS)),
    st.lists(
        st.tuples(
            st.integers(0, 1 << 20),
            st.integers(0, 40),
            st.one_of(st.binary(max_size=6), st.sampled_from([b"\n", b"9" * 30, b"\0" * 40, b"\r\n", b"\xff", b"[", b"]", b")", b" "])),
        ),
        max_size=15,
    ),
)
def test_damaged_logs(seed: int, layout: str, damages: list[tuple[int, int, bytes]]) -> None:
    dice = random.Random(seed)
    chosen = [dice.choice([dice.choice(SAMPLES), dice.choice(SAMPLES), UNKNOWN, NOISE, TRACE]) for _ in range(30)]
    lines = [LAYOUTS[layout if dice.random() < 0.95 else "Kafka's own"](line) for line in chosen for _ in range(dice.choice([1, 1, 2]))]
    data = bytearray("\n".join(lines).encode())
    for at, gone, noise in damages:
        begin = at % (len(data) + 1)
        data[begin : begin + gone] = noise
    agree(bytes(data))


@pytest.mark.parametrize("name", ["busy-rolling-4.1.1-kraft", "busy-two-at-once-2.8.2-zk", "hw-truncation-0.10.2.2-zk"])
def test_recorded_logs(name: str) -> None:
    logs = [file.content for path, file in bundle(name).items() if "/logs/" in path]
    assert logs
    for content in logs:
        agree(content)


def test_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    content = next(file.content for path, file in bundle("busy-rolling-4.1.1-kraft").items() if path.endswith("server.log"))
    whole = flat(list(read_log_by_columns(BytesIO(content), MEMBER, "server-log")))
    monkeypatch.setattr("parsers.catalogue.log_file.CHUNK", 1 << 14)
    monkeypatch.setattr("parsers.catalogue.columnar.columns.MAX_ROWS", 100)
    assert flat(agree(content))[:-1] == whole[:-1]


def test_what_is_said_is_not_read_line_by_line() -> None:
    """A real log's events come as batches, all but problems and the account of the file."""
    content = b"\n".join(records(next(file.content for path, file in bundle("busy-rolling-4.1.1-kraft").items() if "state-change" in path)))
    assert {one["event"] for one in agree(content) if isinstance(one, dict)} <= {"source", "problem"}


@pytest.mark.parametrize(
    ("expression", "text", "groups"),
    [
        (r"(?P<a>x)|(?P<a>y)", "y", {"a": "y"}),
        (r"(?P<a>x)?(?:y(?P<a>\d))?", "xy1", {"a": "1"}),
        (r"(?P<a>x)?(?:y(?P<a>\d))?", "x", {"a": "x"}),
        (r"(?:(?P<t>\w)-|\[(?P<t>\w)\])(?P=t)", "[b]b", {"t": "b"}),
        (r"(?P<t>[^]\]a(]+)\((?P<e>(?P<f>\d*))\)", "bc(12)", {"t": "bc", "e": "12", "f": "12"}),
    ],
)
def test_one_expression_in_the_others_syntax(expression: str, text: str, groups: dict[str, str]) -> None:
    made = quick(expression)
    assert made is not None
    found = made.expression.fullmatch(text)
    assert found is not None
    assert made.groupdict(found) == groups


@pytest.mark.parametrize(
    "expression", [r"(?:(?P<a>x)|(?P<a>y))+", r"(?P<a>x(?P<a>y))", r"(?P<a>x)(?P<a>y)(?P=a)", r"\p{Lu}(?P<a>x)", r"(?P<a"]
)
def test_an_expression_that_has_no_other_form(expression: str) -> None:
    assert quick(expression) is None


def test_every_pattern_of_one_line_has_a_quick_form() -> None:
    assert [pattern.name for pattern in PATTERNS if not pattern.multiline and pattern.quick is None] == []


def test_a_line_of_ten_thousand_partitions_is_quoted_in_part_by_each() -> None:
    """Its text in every row would be forty megabytes."""
    names = ", ".join(f"topic{n}-{n % 7}" for n in range(10_000))
    line = (
        "[2026-11-21 02:15:38,147] INFO [ReplicaFetcherManager on broker 2] Removed fetcher for partitions "
        f"Set({names}) (kafka.server.ReplicaFetcherManager)\n"
    )
    size, rows, quotes = 0, 0, set()
    for batch in batches(read_log_by_columns(BytesIO(line.encode()), Member("server.log", None, None), "server-log")):
        flat = batch.filter(pc.equal(batch["event"], "fetcher-removed"))
        rows, size, quotes = rows + len(flat), size + batch.nbytes, quotes | set(flat["text"].to_pylist())
    assert rows == 10_000 and size < 8 << 20
    (quote,) = quotes
    assert len(quote) >= LEAST_SHARED and line.startswith(quote)
