from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsers.layouts import LogRecord
from parsers.log_pattern import compiled

WALL = datetime(2026, 11, 21, 2, 15, 38, 147000)
SECOND = WALL.replace(microsecond=0)


@pytest.mark.parametrize(
    ("pattern", "line", "expected"),
    [
        ("[%d] %p %m (%c)%n", "[2026-11-21 02:15:38,147] INFO hello (x) (a.B)", LogRecord(WALL, "INFO", "hello (x)", "a.B")),
        ("%d{ISO8601} %-5p %m (%c)%n", "2026-11-21 02:15:38,147 INFO  hello (a.B)", LogRecord(WALL, "INFO", "hello", "a.B")),
        ("%d{ISO8601} %-5p %m (%c)%n", "2026-11-21T02:15:38,147 ERROR hello (a.B)", LogRecord(WALL, "ERROR", "hello", "a.B")),
        ("%d{DEFAULT} %5level{length=3} %msg%n", "2026-11-21 02:15:38,147   WAR hello", LogRecord(WALL, "WARN", "hello", None)),
        ("%d{ABSOLUTE} %p %c{1}:%L - %m%n", "02:15:38,147 INFO Log:12 - hello", LogRecord(None, "INFO", "hello", "Log")),
        ("%d{UNIX_MILLIS} %p %m%n", "1795227338147 INFO hello", LogRecord(WALL, "INFO", "hello", None, True)),
        ("%d{UNIX} %p %m%n", "1795227338 INFO hello", LogRecord(SECOND, "INFO", "hello", None, True)),
        ("%d{COMPACT} %p %m%n", "20261121021538147 INFO hello", LogRecord(WALL, "INFO", "hello", None)),
        ("%d{DATE} %p %m%n", "21 Nov 2026 02:15:38,147 INFO hello", LogRecord(WALL, "INFO", "hello", None)),
        ("%d{dd/MMM/yyyy:HH:mm:ss Z} %p %m%n", "21/Nov/2026:04:15:38 +0200 INFO hello", LogRecord(SECOND, "INFO", "hello", None, True)),
        ("%d{MM/dd/yy hh:mm:ss a} %p %m%n", "11/21/26 02:15:38 PM INFO hello", LogRecord(SECOND.replace(hour=14), "INFO", "hello", None)),
        ("%d{EEE d. MMMM yyyy H:m:s.SSS} %m%n", "Sat 21. November 2026 2:15:38.147 hello", LogRecord(WALL, "", "hello", None)),
        ("%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %m", "2026-11-21T02:15:38.147Z hello", LogRecord(WALL, "", "hello", None, True)),
        ("%d{yyyy-MM-dd HH:mm:ss.nnnnnnnnn z} %m", "2026-11-21 02:15:38.147000000 UTC hello", LogRecord(WALL, "", "hello", None, True)),
        ("%d{yyyy-MM-dd HH:mm:ss z} %m", "2026-11-21 02:15:38 CET hello", LogRecord(SECOND, "", "hello", None)),
        ("%d{ISO8601}{UTC} %m", "2026-11-21 02:15:38,147 hello", LogRecord(WALL, "", "hello", None, True)),
        ("%d{ISO8601}{GMT+2} %m", "2026-11-21 04:15:38,147 hello", LogRecord(WALL, "", "hello", None, True)),
        ("%d{ISO8601}{Europe/Berlin} %m", "2026-11-21 03:15:38,147 hello", LogRecord(WALL, "", "hello", None, True)),
        (
            "%d [%t] %p %C.%M(%F:%L) - %m%n",
            "2026-11-21 02:15:38,147 [a b] INFO a.B.c(B.java:3) - hello",
            LogRecord(WALL, "INFO", "hello", None),
        ),
        ("%r [%-15.15t] %-5p %.30c %x - %m%n", "12 [main           ] INFO  a.B  - hello", LogRecord(None, "INFO", "hello", "a.B")),
        (
            "%date %pid %tn %p %X{a} %logger{36}: %m%ex",
            "2026-11-21 02:15:38,147 7 a b INFO v k.c.P: hello",
            LogRecord(WALL, "INFO", "hello", "k.c.P"),
        ),
        (
            "%highlight{%p %d}{FATAL=red} %style{%c{1.}}{cyan} %m",
            "INFO 2026-11-21 02:15:38,147 k.P hello",
            LogRecord(WALL, "INFO", "hello", "k.P"),
        ),
        (
            "%d %notEmpty{[%marker] }%p{lowerCase=true} 100%% %m",
            "2026-11-21 02:15:38,147 info 100% hello",
            LogRecord(WALL, "INFO", "hello", None),
        ),
        ("%d %p %d{HH:mm} %m%n%xEx", "2026-11-21 02:15:38,147 INFO 02:15 hello", LogRecord(WALL, "INFO", "hello", None)),
        ("%d %.-1p %m", "2026-11-21 02:15:38,147 E hello", LogRecord(WALL, "ERROR", "hello", None)),
        ("%d %.1p %m", "2026-11-21 02:15:38,147 E hello", LogRecord(WALL, "TRACE", "hello", None)),
        ("%d %p{length=1, lowerCase=true} %m", "2026-11-21 02:15:38,147 w hello", LogRecord(WALL, "WARN", "hello", None)),
        ("%d{UNIX}\\t%p\\t%m", "1795227338.147\tINFO\thello", LogRecord(WALL, "INFO", "hello", None, True)),
        ("{%d} |%p| (%c) %m", "{2026-11-21 02:15:38,147} |INFO| (a.B) hello", LogRecord(WALL, "INFO", "hello", "a.B")),
    ],
)
def test_pattern_reads_what_it_prints(pattern: str, line: str, expected: LogRecord) -> None:
    layout = compiled(pattern)
    assert layout.name == pattern
    assert layout.begins(line.encode(), 0)
    assert layout.read(line) == expected
    assert not layout.begins(b"\tat a.B(C.java:1)", 0)
    assert layout.read("\tat a.B(C.java:1)") is None


def test_date_that_is_none() -> None:
    read = compiled("%d{yyyy-MM-dd HH:mm:ss} %m").read
    assert read("2026-02-30 00:00:00 hello") == LogRecord(None, "", "hello", None)


def test_message_may_go_on_in_other_lines() -> None:
    layout = compiled("%d %p %m (%c)%n")
    record = layout.read("2026-11-21 02:15:38,147 INFO KafkaConfig values:")
    assert record == LogRecord(WALL, "INFO", "KafkaConfig values:", None)
    assert not layout.bare
    assert compiled("%d %p %m%n").bare


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("", "no %m"),
        ("%d %p", "no %m"),
        ("%m%n", "a time or a level is required"),
        ("%c %m", "a time or a level is required"),
        ("%d %Z %m", "'%Z %m'"),
        ("%d %", "'%'"),
        ("%d %5 %m", "'%5 %m'"),
        ("%d{yyyy-QQ} %m", "'QQ'"),
        ("%d{yyyy'} %m", "quote"),
        ("%d{yyyy %m", "%d: a brace"),
        ("%d{ISO8601}{Atlantis/Capital} %m", "'Atlantis/Capital'"),
        ("%d{ISO8601}{../../etc/passwd} %m", "unknown time zone"),
        ("%d%n%m", "%n"),
        ("%d %replace{%m}{a}{b}", "%replace"),
        ("%d %equals{%m}{a}{b}", "%equals"),
        ("%d %highlight %m", "%highlight"),
        ("%d %notEmpty{%m}", "%notEmpty"),
        ("%d %p{WARN=W} %m", "%p{WARN=W}"),
        ("%d %p{length=0} %m", "%p{length=0}"),
        ("%d %.0p %m", "%.0p"),
        ("%d " + "%style{" * 50 + "%m" + "}" * 50, "braces in braces"),
        ("%d %m" + "x" * 1000, "1000"),
    ],
)
def test_what_cannot_be_compiled_is_named_in_one_line(pattern: str, fault: str) -> None:
    with pytest.raises(ValueError) as raised:
        compiled(pattern)
    assert fault in str(raised.value)
    assert "\n" not in str(raised.value)


CONVERTERS = st.sampled_from(
    [
        *"%{}[]()' -:,",
        "%d",
        "%p",
        "%m",
        "%c",
        "%t",
        "%n",
        "%X{a}",
        "%-5p",
        "%d{ISO8601}",
        "%d{",
        "%style{",
        "yyyy",
        "%.3c",
        "%notEmpty{",
        "\n",
        "ä",
    ]
)


@settings(max_examples=200)
@given(st.one_of(st.text(max_size=40), st.lists(CONVERTERS, max_size=12).map("".join)), st.text(max_size=80))
@example("%d{S} %m", "1 x")
def test_any_pattern_and_any_text(pattern: str, text: str) -> None:
    try:
        layout = compiled(pattern)
    except ValueError as error:
        assert str(error)
        return
    for line in (text, f"2026-11-21 02:15:38,147 INFO {text}", f"[2026-11-21 02:15:38,147] INFO {text} (a.B)"):
        record = layout.read(line)
        assert record is None or record.message in line
        layout.begins(line.encode(), 0)
