from __future__ import annotations

import json
from datetime import datetime
from io import BytesIO
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsers import wrappers
from parsers.wrappers import Line, Outer, Unwrapper, holds_log, time_of

RECORD = "[2026-11-21 02:15:38,147] INFO [Log partition=clicks-0, dir=/data] Truncating to offset 7 (kafka.log.Log)"
MESSAGE = "[Log partition=clicks-0, dir=/data] Truncating to offset 7"
STAMP = "2026-11-21T00:15:38.147123456Z"
UTC = datetime(2026, 11, 21, 0, 15, 38, 147123)
MICROS = 1795220138147123
RENDERED = RECORD.replace("02:15:38,147]", "00:15:38,147Z]")


def unwrapped(data: bytes | str) -> list[Line]:
    data = data.encode() if isinstance(data, str) else data
    unwrapper = Unwrapper()
    unwrapper.prepare(data)
    return list(unwrapper.lines(Outer(BytesIO(data))))


def docker(text: str, **more: Any) -> str:
    return json.dumps({"log": text, "stream": "stdout", **more, "time": STAMP}, separators=(",", ":"))


WRAPPED = {
    "docker": (docker(RECORD + "\n"), "", "", UTC),
    "docker with labels": (docker(RECORD + "\n", attrs={"a": "b"}), "", "", UTC),
    "docker with blanks": (json.dumps({"stream": "stdout", "log": RECORD + "\n", "time": STAMP}), "", "", UTC),
    "cri": (f"{STAMP} stdout F {RECORD}", "", "", UTC),
    "podman": (f"2026-11-21T02:15:38.147123456+02:00 stderr F {RECORD}", "", "", UTC),
    "kubectl --prefix": (f"[pod/kafka-0/kafka] {RECORD}", "kafka-0", "", None),
    "kubectl --prefix --timestamps": (f"[pod/kafka-0/kafka] {STAMP} {RECORD}", "kafka-0", "", UTC),
    "kubectl --timestamps": (f"{STAMP} {RECORD}", "", "", UTC),
    "compose": (f"kafka-1    | {RECORD}", "kafka-1", "", None),
    "stern": (f"my-kafka-1 kafka {RECORD}", "my-kafka-1", "", None),
    "journal short": (f"Nov 21 02:15:38 h1 kafka-server-start.sh[12]: {RECORD}", "", "h1", None),
    "journal short-precise": (f"Nov  1 02:15:38.147123 h1 kafka[12]: {RECORD}", "", "h1", None),
    "journal short-iso": (f"2026-11-21T02:15:38.147123+0200 h1 kafka[12]: {RECORD}", "", "h1", UTC),
    "journal short-unix": (f"1795220138.147123 h1 kafka[12]: {RECORD}", "", "h1", UTC),
    "journal short-full": (f"Sat 2026-11-21 00:15:38.147123 UTC h1 kafka[12]: {RECORD}", "", "h1", UTC),
    "journal short-full of a named zone": (f"Sat 2026-11-21 01:15:38 CET h1 kafka[12]: {RECORD}", "", "h1", None),
    "journal json": (json.dumps({"__REALTIME_TIMESTAMP": str(MICROS), "_HOSTNAME": "h1", "MESSAGE": RECORD}), "", "h1", UTC),
    "journal json of bytes": (
        json.dumps({"__REALTIME_TIMESTAMP": str(MICROS), "_HOSTNAME": "h1", "MESSAGE": list(RECORD.encode())}),
        "",
        "h1",
        UTC,
    ),
    "journal of a container": (json.dumps({"CONTAINER_NAME": "k1", "_HOSTNAME": "h1", "MESSAGE": RECORD}), "k1", "h1", None),
    "RFC 5424": (f"<134>1 {STAMP} h1 kafka 12 - - {RECORD}", "", "h1", UTC),
    "RFC 5424 with data": (f'<134>1 {STAMP} h1 kafka 12 ID1 [a@1 b="c\\]"][d@2] \ufeff{RECORD}', "", "h1", UTC),
    "RFC 3164": (f"<134>Nov 21 02:15:38 h1 kafka[12]: {RECORD}", "", "h1", None),
    "rsyslog": (f"2026-11-21T02:15:38.147123+02:00 h1 kafka: {RECORD}", "", "h1", UTC),
    "colours": (f"\x1b[36m{RECORD}\x1b[0m", "", "", None),
    "fluent-bit": (json.dumps({"date": MICROS / 10**6, "log": RECORD, "kubernetes": {"pod_name": "kafka-2"}}), "kafka-2", "", UTC),
    "fluent-bit array": (json.dumps([MICROS / 10**6, {"log": RECORD + "\n"}]), "", "", UTC),
    "vector": (json.dumps({"message": RECORD, "timestamp": STAMP, "kubernetes": {"pod_name": "kafka-2"}}), "kafka-2", "", UTC),
    "filebeat": (
        json.dumps({"@timestamp": STAMP, "message": RECORD, "kubernetes": {"pod": {"name": "k-2"}}, "host": {"name": "h"}}),
        "k-2",
        "h",
        UTC,
    ),
    "loki": (json.dumps({"labels": {"pod": "kafka-2"}, "line": RECORD, "timestamp": STAMP}), "kafka-2", "", UTC),
    "fluentd": (f"2026-11-21T02:15:38.147123+02:00\tkube.x\t{json.dumps({'log': RECORD})}", "", "", UTC),
    "docker in compose": (f"kafka-1 | {docker(RECORD + chr(10))}", "kafka-1", "", UTC),
    "cri in fluent-bit": (json.dumps({"date": 1, "log": f"{STAMP} stdout F {RECORD}", "pod": "p"}), "p", "", UTC),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_wrapper_is_taken_off(name: str) -> None:
    text, writer, host, utc = WRAPPED[name]
    data = f"first\r\n{text}\r\nlast".encode()
    first, line, last = unwrapped(data)
    assert line.text.decode() == RECORD
    assert (line.line, line.byte, line.raw.decode()) == (2, 7, text + "\r")
    assert (line.writer, line.host, time_of(line)) == (writer, host, utc)
    assert (first.text, last.text, last.line) == (b"first", b"last", 3)
    assert holds_log(data)


FIELDS = {"level": "INFO", "message": MESSAGE}
JSON_RECORDS: dict[str, dict[str, Any]] = {
    "ECS": {"@timestamp": "2026-11-21T00:15:38.147Z", "log.level": "INFO", "message": MESSAGE, "log.logger": "kafka.log.Log"},
    "ECS, nested": {"@timestamp": "2026-11-21T00:15:38.147Z", "log": {"level": "info", "logger": "kafka.log.Log"}, "message": MESSAGE},
    "JSONEventLayoutV1": {
        **FIELDS,
        "@version": 1,
        "logger_name": "kafka.log.Log",
        "@timestamp": "2026-11-21T00:15:38.147Z",
        "source_host": "h",
    },
    "JsonLayout": {
        **FIELDS,
        "instant": {"epochSecond": 1795220138, "nanoOfSecond": 147000000},
        "loggerName": "kafka.log.Log",
        "endOfBatch": False,
    },
    "JsonLayout of log4j 2.8": {**FIELDS, "timeMillis": 1795220138147, "loggerName": "kafka.log.Log"},
    "GcpLayout": {"timestamp": "2026-11-21T00:15:38.147Z", "severity": "INFO", "message": MESSAGE, "_logger": "kafka.log.Log"},
    "GcpLayout of seconds": {
        "timestampSeconds": 1795220138,
        "timestampNanos": 147000000,
        "severity": "INFO",
        "message": MESSAGE,
        "_logger": "kafka.log.Log",
    },
    "GELF": {"version": "1.1", "timestamp": 1795220138.147, "level": 6, "_logger": "kafka.log.Log", "short_message": MESSAGE},
}


@pytest.mark.parametrize("name", JSON_RECORDS)
def test_json_record_is_rendered_as_kafka_prints_it(name: str) -> None:
    (line,) = unwrapped(json.dumps(JSON_RECORDS[name]) + "\n")
    assert line.text.decode() == RENDERED
    (line,) = unwrapped(docker(json.dumps(JSON_RECORDS[name]) + "\n") + "\n")
    assert line.text.decode() == RENDERED


@pytest.mark.parametrize(
    ("fields", "trace"),
    [
        ({"stack_trace": "a.B: c\n\tat d\n"}, "a.B: c\n\tat d"),
        ({"exception": {"exception_class": "a.B", "stacktrace": "a.B: c"}}, "a.B: c"),
        ({"exception": {"exception_class": "a.B", "exception_message": "c"}}, "a.B: c"),
        ({"_exception": {"stackTrace": "a.B: c"}}, "a.B: c"),
        ({"thrown": {"name": "a.B", "message": "c", "extendedStackTrace": [{"class": "d"}]}}, "a.B: c"),
        ({"error.type": "a.B", "error.message": "c"}, "a.B: c"),
    ],
)
def test_stack_trace_follows_the_record(fields: dict[str, Any], trace: str) -> None:
    (line,) = unwrapped(json.dumps({**JSON_RECORDS["JSONEventLayoutV1"], **fields}) + "\n")
    assert line.text.decode() == f"{RENDERED}\n{trace}"


def test_json_record_without_a_zone_keeps_its_wall_clock() -> None:
    (line,) = unwrapped(json.dumps({**FIELDS, "timestamp": "2026-11-21 02:15:38,147", "logger": "kafka.log.Log"}))
    assert line.text.decode() == RECORD
    assert line.utc is None


@pytest.mark.parametrize(("severity", "level"), [("WARNING", "WARN"), ("CRITICAL", "FATAL"), ("Error", "ERROR"), ("NOTICE", "INFO")])
def test_levels_by_other_names(severity: str, level: str) -> None:
    (line,) = unwrapped(json.dumps({**JSON_RECORDS["GcpLayout"], "severity": severity}))
    assert line.text.decode() == RENDERED.replace("INFO", level)


@pytest.mark.parametrize("end", ["\n", ""])
def test_lines_docker_cut_are_put_together(end: str) -> None:
    lines = unwrapped("\n".join([docker("a\n"), docker("b" * 9), docker("c"), docker(f"d{end}")]) + "\n")
    assert [(line.text, line.line) for line in lines] == [(b"a", 1), (b"b" * 9 + b"cd", 2)]


def test_lines_cri_cut_are_put_together_for_each_stream() -> None:
    lines = unwrapped(f"{STAMP} stdout P a\n{STAMP} stderr P x\n{STAMP} stdout F b\n{STAMP} stderr F y\n{STAMP} stdout F\n")
    assert [(line.text, line.line) for line in lines] == [(b"ab", 1), (b"xy", 2), (b"", 5)]


def test_cut_lines_of_pods_do_not_mix() -> None:
    lines = unwrapped("".join(f"[pod/k-{n % 2}/kafka] {STAMP} stdout {'P' if n < 2 else 'F'} {n}\n" for n in range(4)))
    assert [(line.writer, line.text) for line in lines] == [("k-0", b"02"), ("k-1", b"13")]


def test_a_cut_line_is_not_kept_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrappers, "MAX_LINE", 1000)
    lines = unwrapped(f"{STAMP} stdout P {'x' * 400}\n" * 50)
    assert {len(line.text) for line in lines} <= {400, 800, 1200}
    assert sum(len(line.text) for line in lines) == 400 * 50


def test_journal_export() -> None:
    trace = f"{RECORD}\n\tat a.B"
    size = len(trace).to_bytes(8, "little")
    data = (
        f"__CURSOR=s=1\n__REALTIME_TIMESTAMP={MICROS}\n_HOSTNAME=h1\nMESSAGE={RECORD}\nPRIORITY=6\n\n".encode()
        + b"__CURSOR=s=2\nMESSAGE\n"
        + size
        + trace.encode()
        + f"\n__REALTIME_TIMESTAMP={MICROS}\n_HOSTNAME=h1\n\n".encode()
    )
    assert holds_log(data)
    first, second = unwrapped(data)
    assert (first.text.decode(), first.host, time_of(first), first.line) == (RECORD, "h1", UTC, 4)
    assert data[first.byte :].startswith(b"MESSAGE=")
    assert (second.text.decode(), second.line) == (trace, 8)
    assert data[second.byte :].startswith(b"MESSAGE\n")


def test_hostile_size_in_a_journal_export_is_told() -> None:
    outer = Outer(BytesIO(b"__CURSOR=1\nMESSAGE\n" + b"\xff" * 8 + b"\nrest\n" + RECORD.encode() + b"\n"))
    lines = list(Unwrapper().lines(outer))
    assert outer.problem is not None
    assert lines == [] or lines[-1].text.decode() == RECORD


def test_joined_files() -> None:
    lines = unwrapped(f"==> a/server.log <==\n{RECORD}\n\n==> b/server.log <==\n[pod/x/y] {RECORD}\n")
    assert [(line.writer, line.line) for line in lines] == [("a/server.log", 2), ("a/server.log", 3), ("b/server.log#x", 5)]


def test_several_records_in_one_line() -> None:
    lines = unwrapped(json.dumps([{"date": 1, "log": "a"}, {"date": 2, "log": "b"}]) + "\n")
    assert [(line.text, line.line) for line in lines] == [(b"a", 1), (b"b", 1)]


@pytest.mark.parametrize(
    "line",
    [
        RECORD,
        f"2026-11-21 02:15:38,147 INFO {MESSAGE} (kafka.log.Log)",
        f"2026-11-21T02:15:38.147Z INFO {MESSAGE} (kafka.log.Log)",
        "2026-11-21T02:15:38Z INFO kafka.Log: m",
        "2026-11-21T02:15:38Z a line without a record",
        "java.lang.IllegalStateException: a | b",
        "a | b",
        "word word word",
        '{"version":1,"partitions":[]}',
        '{"message":"nothing else"}',
        "{not json",
        "[1, 2]",
        "[]",
        "{}",
        "==> not a header",
        '{"a":' * 5000,
        "[" * 5000,
        '{"log":"\\ud800","stream":"stdout","time":"x"}',
        '{"log":1}',
        json.dumps({"log": {"log": "x"}}),
        "<999>",
    ],
)
def test_what_is_not_wrapped_comes_out_as_it_is(line: str) -> None:
    (found,) = unwrapped(line + "\n")
    assert found.text.decode() == line or line.startswith('{"log":"\\ud800')
    assert line.startswith(found.raw.decode())


def test_wrappers_in_wrappers_without_end() -> None:
    (line,) = unwrapped("[pod/a/b] " * 1000 + RECORD)
    assert line.writer == "a"
    assert line.text.endswith(RECORD.encode())


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "9" * 5000, "-1", "1e30"])
def test_hostile_times(number: str) -> None:
    (line,) = unwrapped(f'{{"date":{number},"log":"x","stream":"stdout"}}\n')
    assert line.utc is None or isinstance(time_of(line), datetime)
    unwrapped(f'{{"instant":{{"epochSecond":{number},"nanoOfSecond":{number}}},"level":"INFO","message":"x"}}\n')


def test_long_line_comes_as_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrappers, "MAX_LINE", 1000)
    monkeypatch.setattr(wrappers, "_BLOCK", 64)
    outer = Outer(BytesIO(b"a\n" + b"x" * 5000 + b"\nb\n" + b"y" * 1000))
    found = []
    while (line := outer.next()) is not None:
        found.append((len(line[0]), *line[1:]))
    assert found == [(1, 1, 0), (1000, 2, 2), (1, 3, 5003), (1000, 4, 5005)]
    assert (outer.cut, outer.line, outer.byte, outer.unended) == (1, 4, 6005, True)


def test_stream_that_breaks() -> None:
    class Broken(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() >= 10:
                raise EOFError("no end")
            return super().read(5)

    outer = Outer(Broken(b"a\nb\nc\nd\ne\nf\ng\n"))
    assert [line.text for line in Unwrapper().lines(outer)] == [b"a", b"b", b"c", b"d", b"e"]
    assert outer.problem is not None
    assert "EOFError" in outer.problem


PIECES = st.one_of(
    st.binary(max_size=30),
    st.sampled_from([value[0].encode() for value in WRAPPED.values()]),
    st.sampled_from([json.dumps(value).encode() for value in JSON_RECORDS.values()]),
    st.sampled_from([b"\n", b"{", b'"log":', b"[pod/", b"__CURSOR=x\nMESSAGE\n", b"\x01" + b"\0" * 7, b"==> x <==", b"\x1b[", b"\r", b"}"]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=12), st.sampled_from([b"", b"\n"]))
@example([b'{"log":"', b"\xff\xfe", b'","stream":"stdout","time":"2026-11-21T00:15:38.147123456Z"}'], b"\n")
def test_any_bytes(pieces: list[bytes], between: bytes) -> None:
    data = between.join(pieces)
    outer = Outer(BytesIO(data))
    unwrapper = Unwrapper()
    unwrapper.prepare(data)
    for line in unwrapper.lines(outer):
        assert 1 <= line.line <= data.count(b"\n") + 1
        assert data[line.byte : line.byte + 3].startswith(line.raw[:1])
        assert data[: line.byte].count(b"\n") == line.line - 1
        at = time_of(line)
        assert at is None or at.tzinfo is None
    assert (outer.byte, outer.line) == (len(data), data.count(b"\n") + 1)
    holds_log(data)
