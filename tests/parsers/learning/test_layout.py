"""Layouts nobody listed: what is learned of them reads the same as Kafka's own, or a problem says that it does not."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from io import BytesIO
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsers.catalogue.log_file import read_log
from parsers.evidence import read_source
from parsers.layouts import LOG4J
from parsers.learning.layout import layout_of
from parsers.log_pattern import compiled
from parsers.patterns import PATTERNS
from parsers.records import records
from parsers.schemas import Member, Row
from tests.support.events import one_by_one

BEGIN = datetime(2026, 11, 20, 22, 15, 38, 147000)
TRACE = "\njava.io.IOException: Connection to 2 was disconnected\n\tat org.apache.kafka.clients.X.y(X.java:1)"
DUMP = "\n\tlog.retention.hours = 168\n\tlog.dirs = /data"


class Entry(NamedTuple):
    at: datetime
    level: str
    logger: str
    message: str
    thread: str
    behind: str

    @property
    def short(self) -> str:
        return self.logger.rpartition(".")[2]

    @property
    def initials(self) -> str:
        *packages, name = self.logger.split(".")
        return ".".join([*(package[0] for package in packages), name])


SAID = [
    (found.level, found.logger, found.message)
    for pattern in PATTERNS
    for sample in pattern.samples
    if "\n" not in sample.line
    and (found := LOG4J.read(sample.line)) is not None
    and found.logger
    and found.message == found.message.strip()
]
THREADS = (
    "main",
    "kafka-request-handler-3",
    "ReplicaFetcherThread-0-2",
    "data-plane-kafka-socket-acceptor-ListenerName(PLAINTEXT)-PLAINTEXT-9092",
)


def said(seed: int, count: int, step: timedelta = timedelta(seconds=97), begin: datetime = BEGIN) -> list[Entry]:
    chosen = random.Random(seed)
    found = []
    for number in range(count):
        level, logger, message = chosen.choice(SAID)
        behind = chosen.choice(("", "", "", "", TRACE, DUMP))
        found.append(Entry(begin + number * step, level, logger, message, chosen.choice(THREADS), behind))
    return found


def read(text: str, written: datetime | None = None, *patterns: str) -> list[Row]:
    member = Member("broker-1/logs/server.log", None, written)
    return list(read_log(BytesIO(text.encode()), member, "server-log", [compiled(pattern) for pattern in patterns]))


def problems(rows: Sequence[Row]) -> list[str]:
    return [row["reason"] for row in rows if row["event"] == "problem"]


def learned(rows: Sequence[Row]) -> str | None:
    found: str | None = rows[-1]["collected"]["layout"]
    return found


PLACES = frozenset({"source", "line", "byte", "text", "time", "clock", "level"})


def facts(rows: Sequence[Row]) -> Counter[str]:
    """What the rows say, without where they say it."""
    return Counter(fact(row) for row in rows if row["event"] not in ("source", "problem"))


def fact(row: Row) -> str:
    return repr(sorted((name, value) for name, value in row.items() if name not in PLACES and value is not None))


def dates(form: str) -> Callable[[datetime], str]:
    def printed(at: datetime) -> str:
        if form == "millis":
            return str(round((at - datetime(1970, 1, 1)) / timedelta(milliseconds=1)))
        return at.strftime(form.replace("%ms", f"{at.microsecond // 1000:03d}"))

    return printed


DATES = (
    "%Y-%m-%d %H:%M:%S,%ms",
    "%Y-%m-%dT%H:%M:%S.%msZ",
    "%Y-%m-%dT%H:%M:%S.%f+0000",
    "%Y/%m/%d %H:%M:%S",
    "%Y%m%d %H%M%S.%ms",
    "%d %b %Y %H:%M:%S,%ms",
    "%d/%b/%Y:%H:%M:%S +0000",
    "%b %d, %Y %I:%M:%S %p",
    "%a %b %d %H:%M:%S UTC %Y",
    "%d.%m.%Y %H:%M:%S.%ms",
    "%m-%d-%Y %H:%M:%S",
    "%d/%m/%y %H:%M:%S",
    "%y/%m/%d %H:%M:%S",
    "millis",
)
LEVELS: tuple[Callable[[str], str], ...] = (
    str,
    str.lower,
    lambda level: level[0],
    lambda level: f"{level:5}",
    lambda level: f"{level:>5}",
    lambda level: level[:3],
)
LOGGERS: dict[str, Callable[[Entry], str]] = {
    "whole": lambda e: e.logger,
    "class": lambda e: e.short,
    "initials": lambda e: e.initials,
    "none": lambda e: "",
}
BRACKETS = ("", "", "[]", "()", "{}", "<>")
BETWEEN = ("|", " | ", "\t", " ", " - ", ", ", "; ", "  ")


class Shape(NamedTuple):
    """A layout, by what it prints."""

    order: tuple[str, ...]
    behind: tuple[str, ...]
    brackets: tuple[str, ...]
    between: str
    before_message: str
    date: str
    level: int
    logger: str
    start: str

    def line(self, entry: Entry) -> str:
        texts = {
            "time": dates(self.date)(entry.at),
            "level": LEVELS[self.level](entry.level),
            "thread": entry.thread,
            "logger": LOGGERS[self.logger](entry),
        }
        around = dict(zip(("time", "level", "thread", "logger"), self.brackets, strict=True))
        fields = {name: around[name][:1] + text + around[name][1:] for name, text in texts.items()}
        front = self.between.join(fields[name] for name in self.order)
        behind = "".join(f" [{texts[name]}]" for name in self.behind)
        return f"{self.start}{front}{self.before_message}{entry.message}{behind}{entry.behind}\n"


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    logger = draw(st.sampled_from([*LOGGERS]))
    fields = ["time", "level", *(["thread"] if draw(st.booleans()) else []), *(["logger"] if logger != "none" else [])]
    behind = tuple(name for name in fields[2:] if draw(st.integers(0, 3)) == 0)
    between = draw(st.sampled_from(BETWEEN))
    return Shape(
        order=tuple(draw(st.permutations([name for name in fields if name not in behind]))),
        behind=behind,
        brackets=tuple(draw(st.sampled_from(BRACKETS)) for _ in range(4)),
        between=between,
        before_message=draw(st.sampled_from((between, ": ", " - ", " "))),
        date=draw(st.sampled_from(DATES)),
        level=draw(st.integers(0, len(LEVELS) - 1)),
        logger=logger,
        start=draw(st.sampled_from(("", "", "kafka-7.example.org ", "app[812]: "))),
    )


OF_NOTHING = Shape(("time", "level"), ("logger",), ("",) * 4, "|", " ", "%Y-%m-%d %H:%M:%S,%ms", 3, "whole", "")
"""With a message that is empty, between a level that is padded and what stands behind."""
SHORTENED = Shape(("time", "level"), ("logger",), ("", "", "", ""), "  ", "  ", "%Y-%m-%dT%H:%M:%S.%msZ", 5, "whole", "")
"""No blank behind a shortened level fills it up."""
THREAD_BEHIND = Shape(("time", "level", "logger"), ("thread",), ("",) * 4, " ", ": ", "%Y-%m-%d %H:%M:%S,%ms", 0, "whole", "")
"""A listed layout up to the thread: the lines with it are counted."""
LIKE_SYSLOG = Shape(("time", "level"), ("logger",), ("",) * 4, " | ", ": ", "%Y-%m-%dT%H:%M:%S.%msZ", 3, "whole", "")
"""Levels of five letters stand where syslog has a program."""


@settings(max_examples=60, derandomize=True)  # of other examples, one in some thousand is a layout of which two readings are possible
@given(shapes(), st.integers(0, 10**6))
@example(SHORTENED, 837075)
@example(OF_NOTHING, 3)
@example(LIKE_SYSLOG, 0)
@example(THREAD_BEHIND, 1)
def test_any_layout_reads_as_kafkas_own_or_is_a_named_problem(shape: Shape, seed: int) -> None:
    entries = said(seed, 60)
    rows = read("".join(map(shape.line, entries)), entries[-1].at)
    own = read(
        "".join(_plainly(entry, shape) for entry in entries),
        None,
        "%d{ISO8601} %p %m%n" if shape.logger == "none" else "%d{ISO8601} %p %m (%c)%n",
    )
    if facts(rows) != facts(own):
        named = set(problems(rows)) & {"unknown-layout", "no-date"}
        assert named or rows[-1]["collected"]["unrecognised"] > own[-1]["collected"]["unrecognised"]
    whole_seconds = not any(mark in shape.date for mark in ("%ms", "%f", "millis"))
    off = timedelta(seconds=1) if whole_seconds else timedelta(microseconds=1)
    times = defaultdict(list)
    for row in own:
        if row.get("time") is not None:
            times[fact(row)].append(row["time"])
    timed = [(fact(row), row["time"]) for row in rows if row.get("time") is not None]
    assert [(what, at) for what, at in timed if what in times and not any(timedelta() <= t - at < off for t in times[what])] == []


def _plainly(entry: Entry, shape: Shape) -> str:
    logger = LOGGERS[shape.logger](entry)
    ending = f" ({logger})" if logger else ""
    return f"{entry.at:%Y-%m-%d %H:%M:%S},{entry.at.microsecond // 1000:03d} {entry.level} {entry.message}{ending}{entry.behind}\n"


# what was seen, one by one


def lines(
    form: str, date: str = "%Y-%m-%d %H:%M:%S,%ms", count: int = 40, begin: datetime = BEGIN, step: timedelta = timedelta(seconds=97)
) -> list[str]:
    return [form.format(time=dates(date)(e.at), level=e.level, logger=e.logger, message=e.message) for e in said(7, count, step, begin)]


OWN = "[{time}] {level} {message} ({logger})"
PIPES = "{level}|{time}|{logger}|{message}"
LEARNED = "%p|%d{ISO8601}|%c|%m%n"


def test_learned_layout_is_a_pattern_of_the_users() -> None:
    text = "\n".join(lines(PIPES))
    rows = read(text)
    assert (learned(rows), problems(rows)) == (LEARNED, [])
    again = read(text, None, LEARNED)
    assert learned(again) is None
    assert again[:-1] == rows[:-1]


@pytest.mark.parametrize(
    "wrapped",
    [
        "2026-11-21T00:15:38.147123456Z stdout F {}",
        "Nov 21 02:15:38 host kafka[812]: {}",
        "[pod/kafka-0/kafka] {}",
        "kafka-1  | {}",
        "2026-11-21T00:15:38.147123456Z {}",
        '{{"log":"{}\\n","stream":"stdout","time":"2026-11-21T00:15:38.147123456Z"}}',
    ],
)
def test_learned_inside_wrappers(wrapped: str) -> None:
    plain = [line for line in lines(PIPES) if '"' not in line and "\\" not in line]
    rows = read("\n".join(wrapped.format(line) for line in plain))
    own = read("\n".join(plain))
    assert facts(rows) == facts(own)
    assert LEARNED in {row["collected"]["layout"] for row in rows if row["event"] == "source"}
    assert [row["time"] for row in rows if fact(row) in facts(own)] == [row["time"] for row in own[:-1]]


@pytest.mark.parametrize("parts", [(OWN, PIPES), (PIPES, OWN), (PIPES, "{time} {level} <{logger}> {message}", PIPES)])
def test_file_that_changes_its_layout(parts: Sequence[str]) -> None:
    size = 40 // len(parts)
    text = [line for at, form in enumerate(parts) for line in lines(form)[at * size : (at + 1) * size]]
    own = lines(OWN)[: size * len(parts)]
    rows, stated = read("\n".join(text)), read("\n".join(own))
    assert problems(rows) == []
    assert [(fact(row), row.get("time"), row.get("line")) for row in rows[:-1]] == [
        (fact(row), row.get("time"), row.get("line")) for row in stated[:-1]
    ]
    assert LEARNED in (learned(rows) or "").splitlines()


FIRST_DAYS = datetime(2026, 4, 3, 9, 15)
DAY_OR_MONTH = "{time} {level} <{logger}> {message}"


def test_day_is_told_by_values_over_twelve() -> None:
    rows = read("\n".join(lines(DAY_OR_MONTH, "%m/%d/%Y %H:%M:%S", begin=BEGIN)))
    assert learned(rows) == "%d{MM/dd/yyyy HH:mm:ss} %p <%c> %m%n"


def test_day_is_told_by_the_order_of_lines() -> None:
    rows = read("\n".join(lines(DAY_OR_MONTH, "%d/%m/%Y %H:%M:%S", begin=FIRST_DAYS, step=timedelta(hours=2))))
    assert learned(rows) == "%d{dd/MM/yyyy HH:mm:ss} %p <%c> %m%n"


def test_day_is_told_by_when_the_file_was_written() -> None:
    rows = read("\n".join(lines(DAY_OR_MONTH, "%d.%m.%Y %H:%M:%S", begin=FIRST_DAYS)), FIRST_DAYS + timedelta(hours=3))
    assert learned(rows) == "%d{dd.MM.yyyy HH:mm:ss} %p <%c> %m%n"
    assert rows[0]["time"].date() == FIRST_DAYS.date()


@pytest.mark.parametrize("written", [None, datetime(2027, 1, 9)])
def test_day_that_nothing_tells_from_the_month_is_no_date(written: datetime | None) -> None:
    rows = read("\n".join(lines(DAY_OR_MONTH, "%d.%m.%Y %H:%M:%S", begin=FIRST_DAYS)), written)
    assert problems(rows) == ["no-date"]
    (text,) = [row["text"] for row in rows if row["event"] == "problem"]
    assert "%d{dd.MM.yyyy HH:mm:ss}" in text
    assert "%d{MM.dd.yyyy HH:mm:ss}" in text
    assert facts(rows)
    assert {row.get("time") for row in rows if row["event"] not in ("problem", "source")} == {None}
    assert learned(rows) is None


def test_layout_without_a_date_is_told() -> None:
    rows = read("\n".join(lines(PIPES, "%H:%M:%S")))
    assert (learned(rows), problems(rows)) == ("%p|%d{HH:mm:ss}|%c|%m%n", ["no-date"])


@pytest.mark.parametrize("pasted", ["[11/21/26, 9:14:03 AM] Ada: {}", "[11/21/2026 9:14:03 AM] {}", "2026-11-21 09:14:03 {}"])
def test_the_time_is_the_one_next_to_the_words_of_the_writer(pasted: str) -> None:
    """The time before it is that of a paste, the same in all lines."""
    own = lines("[{time}] {level} {message} ({logger})")
    rows, stated = read("\n".join(pasted.format(line) for line in own)), read("\n".join(own))
    assert [(fact(row), row.get("time")) for row in rows[:-1]] == [(fact(row), row.get("time")) for row in stated[:-1]]


@pytest.mark.parametrize(
    "line",
    [
        "kafka 10:21:05.54 INFO  ==> ** Starting Kafka setup **",
        "\x1b[38;5;6mkafka \x1b[38;5;5m10:21:05.54 \x1b[0m\x1b[38;5;2mINFO \x1b[0m ==> ** Starting Kafka **",
        "===> Launching kafka ... 10:21:05.541",
    ],
)
def test_scripts_that_start_kafka_print_no_lines_of_kafka(line: str) -> None:
    own = lines(OWN)
    rows, stated = read("\n".join([*own[:20], line, *own[20:]])), read("\n".join(own))
    assert problems(rows) == [] and rows[-1]["collected"]["unrecognised"] == stated[-1]["collected"]["unrecognised"]
    assert [(fact(row), row.get("time")) for row in rows[:-1]] == [(fact(row), row.get("time")) for row in stated[:-1]]


def test_relevant_lines_in_no_layout_are_counted_and_told() -> None:
    text = [f"{at}~~{line.replace(' ', '_')}" for at, line in enumerate(lines("{message} {logger}"))]
    rows = read("\n".join(text))
    assert problems(rows) == ["unknown-layout"]
    assert rows[-1]["collected"]["unrecognised"] > 0
    assert rows[-1]["collected"]["samples"]


def test_lines_that_begin_records_in_no_layout_do_not_take_the_time_of_the_record_before() -> None:
    strange = "2026-11-21 04:15:38 nobody knows that (kafka.log.Log)\nTruncating to offset 7"
    rows = read("\n".join([*lines(OWN), strange]))
    assert problems(rows) == ["unknown-layout"]
    assert rows[-1]["collected"]["unrecognised"] == 1
    assert [row.get("time") for row in rows if row.get("offset") == 7] == [None]


def test_log_in_a_learned_layout_is_a_log_under_any_name() -> None:
    data = "\n".join(lines("{logger}  {level}  {time}  {message}", "millis")).encode()
    rows = list(one_by_one(read_source(Member("broker-1/output.txt", len(data), None), BytesIO(data))))
    assert rows[-1]["collected"]["layout"] == "%c  %p  %d{UNIX_MILLIS}  %m%n"


def test_records_are_read_in_learned_layouts() -> None:
    text = lines(PIPES)
    found = list(records(BytesIO("\n".join(text).encode()), Member("server.log", None, None), "server-log"))
    own = list(records(BytesIO("\n".join(lines(OWN)).encode()), Member("server.log", None, None), "server-log"))
    assert [(row["time"], row["level"], row["logger"]) for row in found] == [(row["time"], row["level"], row["logger"]) for row in own]


def test_listed_layouts_are_not_learned() -> None:
    for form in (OWN, "{time} [{level}] {logger}: {message}"):
        assert layout_of("\n".join(lines(form)).encode()).pattern is None


@settings(max_examples=50)
@given(
    st.one_of(
        st.binary(max_size=2000),
        st.lists(st.sampled_from(lines(PIPES, count=9)), max_size=9).map(lambda found: "\n".join(found)[:400].encode()),
    )
)
def test_any_bytes(data: bytes) -> None:
    found = layout_of(data)
    assert found.layout is None or found.layout.name
