"""Every wrapper is taken off, in any order, and what is none stays as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsers.lines import Outer
from parsers.wrappers.unwrapper import Unwrapper, holds_log, time_of
from tests.support.wrapped import JSON_RECORDS, MESSAGE, MICROS, RECORD, STAMP, UTC, docker, unwrapped

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
    "stern --timestamps": (f"my-kafka-1 kafka {STAMP} {RECORD}", "my-kafka-1", "", UTC),
    "stern": (f"my-kafka-1 kafka {RECORD}", "my-kafka-1", "", None),
    "journal short": (f"Nov 21 02:15:38 h1 kafka-server-start.sh[12]: {RECORD}", "", "h1", None),
    "journal short-precise": (f"Nov  1 02:15:38.147123 h1 kafka[12]: {RECORD}", "", "h1", None),
    "journal short-iso": (f"2026-11-21T02:15:38.147123+0200 h1 kafka[12]: {RECORD}", "", "h1", UTC),
    "journal short-unix": (f"1795220138.147123 h1 kafka[12]: {RECORD}", "", "h1", UTC),
    "journal short-full": (f"Sat 2026-11-21 00:15:38.147123 UTC h1 kafka[12]: {RECORD}", "", "h1", UTC),
    "journal short-full of a named zone": (f"Sat 2026-11-21 01:15:38 CET h1 kafka[12]: {RECORD}", "", "h1", None),
    "journal json": (json.dumps({"__REALTIME_TIMESTAMP": str(MICROS), "_HOSTNAME": "h1", "MESSAGE": RECORD}), "", "h1", UTC),
    "journal json-sse": (f"data: {json.dumps({'_HOSTNAME': 'h1', 'MESSAGE': RECORD})}", "", "h1", None),
    "journal json-seq": (f"\x1e{json.dumps({'_HOSTNAME': 'h1', 'MESSAGE': RECORD})}", "", "h1", None),
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
    "fluentd": (f"2026-11-21T02:15:38.147123+02:00\tkube.x\t{json.dumps({'log': RECORD})}", "", "kube.x", UTC),
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
    assert (line.writer, line.host, time_of(line.utc)) == (writer, host, utc)
    assert (first.text, last.text, last.line) == (b"first", b"last", 3)
    assert holds_log(data)


def test_docker_desktop_prints_the_time_before_each_line_of_a_trace() -> None:
    stamp = "2026-11-21 02:15:38 "
    lines = unwrapped(f"{stamp}{RECORD}\n{stamp}java.io.IOException: x\n{stamp}\tat a.B\n".encode())
    assert [line.text.decode() for line in lines] == [RECORD, "java.io.IOException: x", "\tat a.B"]


@pytest.mark.parametrize(
    ("before", "after"),
    [("`", "`"), ("> ", ""), ("    ", ""), ('"', '"'), ("INFO|5652/0|Service org.apache.kafka|22-01-19 10:44:46|", "")],
)
def test_what_a_person_or_an_unknown_program_printed_before_lines_is_taken_off(before: str, after: str) -> None:
    first, second, thrown = unwrapped(f"{before}{RECORD}\n{before}{RECORD}{after}\n{before}java.io.IOException: x".encode())
    assert (first.text.decode(), second.text.decode(), thrown.text) == (RECORD, RECORD, b"java.io.IOException: x")
    assert first.writer == second.writer == ""


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
    monkeypatch.setattr("parsers.wrappers.unwrapper.MAX_LOG_LINE", 1000)
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
    assert (first.text.decode(), first.host, time_of(first.utc), first.line) == (RECORD, "h1", UTC, 4)
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


PREFIXED = {
    "pdsh": "{}: {}",
    "kubetail": "\x1b[38;5;1m[{}]\x1b[0m {}",
    "kail": "kafka/{}[kafka]: {}",
    "docker service logs": "kafka_{}.1.kx2qw6n3x8@worker-1    | {}",
    "grep -r": "logs/{}/server.log:{}",
    "grep -rn": "logs/{}/server.log:12:{}",
    "a name alone": "{} {}",
    "an address": "10.0.0.1: {}{}",
    "aws logs tail": STAMP + " {}/server.log {}",
}


@pytest.mark.parametrize("form", PREFIXED.values(), ids=PREFIXED)
def test_the_name_before_each_line_is_its_writer(form: str) -> None:
    texts = [RECORD, "java.io.IOException: gone", "\tat kafka.log.Log.x(Log.scala:1)", RECORD] * 3
    hosts = [f"kafka-{n // 4}" if "10.0" not in form else "" for n in range(len(texts))]
    data = "".join(form.format(host, text) + "\n" for host, text in zip(hosts, texts, strict=True))
    lines = unwrapped(data)
    assert [line.text.decode() for line in lines] == texts
    assert all(host in line.writer and line.writer for host, line in zip(hosts, lines, strict=True))
    assert len({line.writer for line in lines}) == len({*hosts})
    assert holds_log(data.encode())


@pytest.mark.parametrize("form", ["{}: {}", "[{}] {}", "{} {}"])
@pytest.mark.parametrize("fields", [("main", "ReplicaFetcherThread-0-2"), ("data-plane-kafka-request-handler-3",), ("INFO", "WARN")])
def test_a_thread_or_a_level_before_the_time_is_no_writer(form: str, fields: Sequence[str]) -> None:
    lines = unwrapped("".join(form.format(field, RECORD) + "\n\tat kafka.log.Log.x(Log.scala:1)\n" for field in fields for _ in range(9)))
    assert {line.writer for line in lines} == {""}
    assert lines[0].text.decode() == form.format(fields[0], RECORD)


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


HELD = (
    RECORD,
    RECORD,
    "\tat kafka.log.Log.x(Log.scala:1)",
    " two",
    f"{RECORD}#012#011at a.B",
    "",
    "java.io.IOException: gone",
    '{"log": 1}',
    "[pod/a/b] x",
    "[2026, 1]",
    "é",
    "\x1b[1mx",
)

PIECES = st.one_of(
    st.binary(max_size=30),
    st.sampled_from([value[0].encode() for value in WRAPPED.values()]),
    st.sampled_from([json.dumps(value).encode() for value in JSON_RECORDS.values()]),
    st.sampled_from([b"\n", b"{", b'"log":', b"[pod/", b"__CURSOR=x\nMESSAGE\n", b"\x01" + b"\0" * 7, b"==> x <==", b"\x1b[", b"\r", b"}"]),
)


@settings(max_examples=200)
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
        at = time_of(line.utc)
        assert at is None or at.tzinfo is None
    assert (outer.byte, outer.line) == (len(data), data.count(b"\n") + 1)
    holds_log(data)


@pytest.mark.parametrize("before", ["Nov 21 02:15:38 h1 kafka[1]: ", f"{STAMP} h1 kafka: ", f"<134>1 {STAMP} h1 kafka 12 - - "])
def test_escapes_of_rsyslog_are_undone(before: str) -> None:
    lines = unwrapped("".join(f"{before}{text}\n" for text in (RECORD, f"{RECORD}#012#011at a.B", "#011a = b#0123")))
    assert [line.text.decode() for line in lines] == [RECORD, f"{RECORD}\n\tat a.B", "\ta = b\n3"]


def test_other_wrappers_have_no_such_escapes() -> None:
    (line,) = unwrapped(docker(f"{RECORD} #011\n"))
    assert line.text.decode() == f"{RECORD} #011"


SYSLOG = "Nov 21 02:15:38 {} kafka[1]: {}"
OTHERS: dict[str, Any] = {
    "PRIORITY": "6",
    "_PID": 7,
    "b": True,
    "c": None,
    "pod": "p",
    "level": "INFO",
    "ts": 1795220138,
    "x": "é",
    "host": "h",
    "y": {},
}


def journal(
    text: str, host: str = "h", at: Any = str(MICROS), others: Sequence[str] = ("PRIORITY",), begin: int = 0, compact: bool = False
) -> str:
    """An entry of `journalctl -o json`, with other fields as well, and its fields in another order."""
    entry = [("MESSAGE", text), ("__REALTIME_TIMESTAMP", at), ("_HOSTNAME", host), *((name, OTHERS[name]) for name in others)]
    return json.dumps(dict(entry[begin:] + entry[:begin]), separators=(",", ":") if compact else None)


def collected(text: str, pod: str, at: Any, more: dict[str, Any], envelope: str) -> str:
    """A record of a collector, with the writer in an object."""
    fields = {"@timestamp": at, "kubernetes": {"pod_name": pod, "labels": {"a": "b"}}, "message": text, **more}
    return json.dumps({"_index": "k", envelope: fields} if envelope else fields)


IN_RUNS = st.one_of(
    st.builds(
        collected,
        st.sampled_from([*HELD, f"{RECORD}\n\tat a.B\n", 'say "x"', "Ü"]),
        st.sampled_from(["k-1", "k-2", "/k-1", ""]),
        st.sampled_from(["2026-11-21T00:15:38.147Z", "2026-11-21T00:15:38", MICROS, 1795220138.147, "", None]),
        st.sampled_from(
            [
                {},
                {},
                {"tags": ["x"]},
                {"level": "INFO"},
                {"sort": [1, 2]},
                {"host": ["h"]},
                {"log": {"offset": 7, "file": {"path": "/l/server.log"}}},
            ]
        ),
        st.sampled_from(["", "", "_source"]),
    ),
    st.builds(
        journal,
        st.sampled_from(HELD),
        st.sampled_from(["h", "h", "h", "a/b", "/a", ""]),
        st.sampled_from([str(MICROS), str(MICROS), MICROS, "12", "1795220138147", "2026-11-21T00:15:38.147Z", None]),
        st.sampled_from([("PRIORITY", "_PID", "b", "c"), ("PRIORITY", "_PID", "b", "c"), *((name,) for name in OTHERS)]),
        st.sampled_from([0, 0, 0, 2]),
        st.booleans(),
    ),
    st.builds("{} stdout {} {}".format, st.just(STAMP), st.sampled_from(["F", "F", "F", "P", "F:x"]), st.sampled_from(HELD)),
    st.sampled_from(HELD).map(lambda text: docker(text + "\n")),
    st.builds(SYSLOG.format, st.sampled_from(["h", "h", "h", "i", "INFO"]), st.sampled_from(HELD)),
    st.sampled_from([*HELD, "==> x <==", docker("cut"), f"{STAMP} h kafka[1]: {RECORD}", f"Nov 21 02:15:38 h kafka:{RECORD}"]),
)


@settings(max_examples=100)
@given(st.lists(st.tuples(IN_RUNS, st.integers(1, 3), st.sampled_from(["\n", "\n", "\n", "\r\n"])), max_size=30))
def test_lines_read_at_once_are_those_read_one_by_one(pieces: list[tuple[str, int, str]]) -> None:
    data = "".join((text + end) * times for text, times, end in pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Unwrapper, "_run_of", lambda self, line: None)
        one_by_one = unwrapped(data)
    assert [line._replace(utc=time_of(line.utc)) for line in unwrapped(data)] == [
        line._replace(utc=time_of(line.utc)) for line in one_by_one
    ]


def test_most_lines_of_a_wrapped_log_are_read_at_once() -> None:
    for wrap in (f"{STAMP} stderr F {{}}".format, lambda text: docker(text + "\n"), partial(SYSLOG.format, "h"), journal):
        lines = "".join(f"{wrap(text)}\n" for text in (RECORD, "\tat kafka.log.Log.x(Log.scala:1)", RECORD, "\tretries = 3") * 20)
        assert max(map(len, Unwrapper().runs(Outer(BytesIO(lines.encode()))))) > 70


PREFIXED = {
    "docker desktop": ("2026-11-21 02:15:38 kafka-1    | ", "kafka-1", None),
    "docker desktop of one container": ("2026-11-21 02:15:38 ", "", None),
    "heroku": ("2026-11-21T00:15:38.147123+00:00 kafka[broker.1]: ", "broker.1", UTC),
    "aws logs tail": ("2026-11-21T00:15:38.147123+00:00 kafka-1 ", "kafka-1", UTC),
    "multilog": ("@4000000069c6a5b40b9aca00 ", "", None),
    "s6-log": ("2026-11-21 02:15:38.147123500  ", "", None),
    "svlogd": ("2026-11-21_02:15:38.14712 ", "", None),
    "ts": ("Nov 21 02:15:38 ", "", None),
    "cat -n": ("     7\t", "", None),
    "a quotation": ("> ", "", None),
    "syslog with its length": ("98 <134>1 2026-11-21T00:15:38.147123Z kafka-1 kafka 812 - - ", "kafka-1", UTC),
    "kail": ("kafka/kafka-1[kafka]: ", "kafka/kafka-1", None),
}


@pytest.mark.parametrize("name", PREFIXED)
def test_what_is_before_each_line_is_learned(name: str) -> None:
    before, writer, utc = PREFIXED[name]
    texts = [RECORD, "java.io.IOException: Connection to 2: failed", "\tat a.B"]
    lines = unwrapped("".join(f"{before}{text}\n" for text in texts))
    assert [(line.text.decode(), line.writer) for line in lines] == [(text, writer) for text in texts]
    assert [time_of(line.utc) for line in lines] == [utc] * 3


def test_a_level_or_a_thread_before_each_record_is_part_of_its_layout() -> None:
    for before in ("INFO kafka-request-handler-1 ", "[kafka-request-handler-1] "):
        lines = unwrapped(f"{before}{RECORD}\n" * 9)
        assert {(line.text.decode(), line.writer) for line in lines} == {(before + RECORD, "")}


HEADINGS = {
    "tail": "==> {} <==\n{}",
    "ansible": "{} | CHANGED | rc=0 >>\n{}",
    "a playbook": "ok: [{}] => out\n{}",
    "pssh": "[1] 09:12:44 [SUCCESS] {}\n{}",
    "clush": "---------------\n{}\n---------------\n{}",
    "salt": "{}:\n    {}",
}


@pytest.mark.parametrize("name", HEADINGS)
def test_lines_are_of_the_host_in_the_heading_above_them(name: str) -> None:
    data = "".join(HEADINGS[name].format(host, f"{RECORD}\n") for host in ("kafka-1", "kafka-2"))
    assert [(line.text.decode().strip(), line.writer) for line in unwrapped(data)] == [(RECORD, "kafka-1"), (RECORD, "kafka-2")]


def test_a_heading_is_found_where_the_bytes_that_were_read_end() -> None:
    lines = Unwrapper()
    data = HEADINGS["clush"].format("kafka-1", f"{RECORD}\n" * 3).encode()
    lines.prepare(data)
    assert {line.writer for line in lines.lines(Outer(BytesIO(data[20:]), data[:20]))} == {"kafka-1"}
