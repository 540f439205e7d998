"""Records of exports that are not lines of the file: where they are, and what is not taken for one."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.lines import Outer
from parsers.wrappers import exports
from parsers.wrappers.exports import ExportRecord, records_of
from parsers.wrappers.json_records import of_object
from parsers.wrappers.unwrapper import Unwrapper, time_of
from tests.support.wrapped import unwrapped

LINE = "[2026-11-21 02:15:38,147] INFO [Log partition=clicks-0, dir=/data] Truncating to offset 7 (kafka.log.Log)"


def read(data: bytes) -> list[ExportRecord]:
    reader = records_of(data)
    return list(reader.records(Outer(io.BytesIO(data)))) if reader is not None else []


def table(rows: Sequence[Sequence[str]], delimiter: str = ",") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_rows_of_a_csv_file_with_their_places(delimiter: str, mark: bytes) -> None:
    rows = [["@timestamp", "host.name", "message"], ["x", "kafka-1", f"{LINE}\n\tat a.B"], ["x", "kafka-2", LINE]]
    data = mark + table(rows, delimiter)
    records = read(data)
    assert [record.fields for record in records] == [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert [record.line for record in records] == [2, 4]
    assert [data[record.byte :].startswith(b"x") for record in records] == [True, True]


def test_columns_are_known_in_any_case() -> None:
    (line,) = unwrapped(table([["Date", "HOST", "content"], ["2026-11-21T02:15:38Z", "kafka-1", LINE]]))
    assert (line.text.decode(), line.host) == (LINE, "kafka-1")


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("source", "{}"),
        ("_sourcehost", "{}"),
        ("@host", "{}"),
        ("labels", '{{"filename": "/var/log/kafka/server.log", "host": "{}"}}'),
    ],
    ids=["Graylog", "Sumo Logic", "LogScale", "Grafana"],
)
def test_a_column_names_the_writer_of_each_row(column: str, cell: str) -> None:
    rows = [[LINE, cell.format(host)] for host in ("kafka-1", "kafka-2", "kafka-1")]
    lines = unwrapped(table([["message", column], *rows]))
    assert [line.text.decode() for line in lines] == [LINE] * 3
    assert [(line.writer or line.host).partition("/")[0] for line in lines] == ["kafka-1", "kafka-2", "kafka-1"]


def test_a_row_that_is_cut_at_the_end_of_the_first_bytes_hides_no_column() -> None:
    rows = [[f"{LINE} {n}", f"kafka-{n % 2}"] for n in range(20)]
    data = table([["line of log", "node"], *rows])
    unwrapper = Unwrapper()
    unwrapper.prepare(data[:-12])
    assert {(line.line - 2, line.writer) for line in unwrapper.lines(Outer(io.BytesIO(data)))} == {
        (n, host) for n, (_, host) in enumerate(rows)
    }


def test_a_facility_is_not_the_writer_where_another_column_is() -> None:
    """Papertrail's archives have no header."""
    rows = [[f"90{n}", f"kafka-{n % 2}", "Local7", "Info", "server.log", LINE] for n in range(20)]
    assert [line.writer for line in unwrapped(table(rows, "\t"))] == [f"{row[1]}/server.log" for row in rows]


def test_names_of_json_in_another_spelling_are_unknown_names() -> None:
    """ClickHouse has OpenTelemetry's fields in capitals."""
    rows = [{"Timestamp": "x", "Body": LINE, "ResourceAttributes": {"host.name": f"kafka-{n % 2}"}} for n in range(20)]
    lines = unwrapped("".join(f"{json.dumps(row)}\n" for row in rows).encode())
    assert [(line.text.decode(), line.writer) for line in lines] == [(LINE, f"kafka-{n % 2}") for n in range(20)]


def test_a_stream_with_the_name_of_a_log_file_is_the_writer() -> None:
    """`aws logs filter-log-events --output text`."""
    rows = [["EVENTS", f"id{n}", "1795226091928", f"kafka-{n % 2}/server.log", LINE, "1795226090428"] for n in range(20)]
    assert [line.writer for line in unwrapped(table(rows, "\t"))] == [row[3] for row in rows]


DOCUMENTS: dict[str, Any] = {
    "datadog archive": [{"host": "worker", "source": "kafka", "message": LINE, "tags": ["env:prod", "pod_name:kafka-1"]}],
    "sumo logic": {"messages": [{"map": {"_raw": LINE, "_sourcehost": "kafka-1", "_source": "s"}}]},
    "syslog-ng": [{"PROGRAM": "kafka", "MESSAGE": LINE, "HOST": "kafka-1"}],
    "elasticsearch": {"took": 1, "hits": {"hits": [{"_source": {"message": LINE, "host": {"name": "kafka-1"}}}]}},
    "cloudwatch": {"events": [{"logStreamName": "kafka-1", "timestamp": 1795225983279, "message": LINE}]},
    "datadog": {"data": [{"id": "1", "attributes": {"host": "kafka-1", "message": LINE, "attributes": {}}}]},
    "google": [{"textPayload": LINE, "severity": "INFO", "resource": {"labels": {"pod_name": "kafka-1"}}}],
    "insights": {"results": [[{"field": "@message", "value": LINE}, {"field": "@logStream", "value": "kafka-1"}]]},
    "loki": {"data": {"result": [{"stream": {"host": "kafka-1"}, "values": [["1795225983279000000", LINE]]}]}},
    "firehose": {"owner": "1", "logStream": "kafka-1", "logEvents": [{"timestamp": 1795225983279, "message": LINE}]},
    "opentelemetry": {
        "resourceLogs": [
            {
                "resource": {"attributes": [{"key": "host.name", "value": {"stringValue": "kafka-1"}}]},
                "scopeLogs": [{"scope": {}, "logRecords": [{"timeUnixNano": "1795225983279000000", "body": {"stringValue": LINE}}]}],
            }
        ]
    },
    "hec": {"time": 1795225983.279, "host": "kafka-1", "event": LINE},
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_objects_of_a_document(name: str, indent: int | None) -> None:
    data = json.dumps(DOCUMENTS[name], indent=indent).encode()
    (line,) = unwrapped(data)
    assert (line.text.decode(), line.writer or line.host) == (LINE, "kafka-1")
    assert data[line.byte : line.byte + 1] in (b"{", b"[")
    assert line.line == data[: line.byte].count(b"\n") + 1


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("between", ["", "\n"])
def test_records_take_the_writer_from_the_nearest_object_that_names_one(indent: int | None, between: str) -> None:
    envelopes = [{"logStream": name, "logEvents": [{"message": LINE}, {"message": LINE, "host": "h"}]} for name in ("kafka-1", "kafka-2")]
    data = between.join(json.dumps(envelope, indent=indent) for envelope in envelopes).encode()
    assert [line.writer or line.host for line in unwrapped(data)] == ["kafka-1", "h", "kafka-2", "h"]


@pytest.mark.parametrize("indent", [None, 1])
def test_the_first_list_of_records_may_be_longer_than_the_head_of_the_file(indent: int | None) -> None:
    stream = {"stream": {"host": "kafka-1"}, "values": [[f"17952259832790000{n:02}", LINE] for n in range(50)]}
    resource = DOCUMENTS["opentelemetry"]["resourceLogs"][0]
    batch = {**resource, "scopeLogs": [{"logRecords": resource["scopeLogs"][0]["logRecords"] * 50}]}
    for document in ({"data": {"result": [stream, stream]}}, {"resourceLogs": [batch, batch]}):
        data = json.dumps(document, indent=indent).encode()
        unwrapper = Unwrapper()
        assert unwrapper.prepare(data[: len(data) // 3])
        lines = list(unwrapper.lines(Outer(io.BytesIO(data))))
        assert [(line.text.decode(), line.host) for line in lines] == [(LINE, "kafka-1")] * 100
        assert [line.byte for line in lines] == sorted({line.byte for line in lines})


@given(st.lists(st.text(max_size=20), max_size=8), st.integers(1, 40))
@settings(max_examples=60)
def test_blocks_of_any_size_give_the_same_records(texts: list[str], block: int) -> None:
    rows = [{"@message": LINE, "note": text} for text in ["", *texts]]
    insights = {"results": [[{"field": name, "value": value} for name, value in row.items()] for row in rows]}
    for data in (json.dumps(rows, indent=1).encode(), json.dumps(insights).encode()):
        whole = read(data)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exports, "_BLOCK", block)
            patch.setattr(exports, "_DONE", block)
            assert read(data) == whole
        assert [record.fields for record in whole] == rows


@given(
    st.lists(st.sampled_from([name for name, document in DOCUMENTS.items() if isinstance(document, dict)]), min_size=2, max_size=4),
    st.integers(1, 40),
)
@settings(max_examples=60)
def test_blocks_of_any_size_give_the_same_writers(names: list[str], block: int) -> None:
    data = "".join(json.dumps(DOCUMENTS[name]) for name in names).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exports, "_BLOCK", block)
        patch.setattr(exports, "_DONE", block)
        found = [peeled for record in read(data) if (peeled := of_object({"message": LINE, **record.fields})) is not None]
    assert [peeled.writer or peeled.host for peeled in found if peeled.text.decode() == LINE] == ["kafka-1"] * len(names)


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1]}]}',
        json.dumps({"partitions": [{"topic": "t", "message": 1}]}, indent=2),
        "broker,cpu,network_in\n1,0.5,100\n",
        "a,b\n1,2\n",
        '{"message": "x", "thrown": {"extendedStackTrace": [{"class": "d"}]}, "level": "INFO", "logger": "a.B"}\n' * 2,
        '[{"a":' * 5000,
        "[\n{26-11-21 02:15:38,147] INFO m (kafka.log.Log)",
    ],
)
def test_what_is_not_an_export(text: str) -> None:
    assert records_of(text.encode()) is None


@pytest.mark.parametrize("first", ["Caused by: java.io.IOException: a; b", "\tat a.B", "a | b", "a\tb", "message;host", "===> a, b"])
def test_a_log_that_begins_with_a_line_with_a_delimiter_is_no_table(first: str) -> None:
    settings = [f"\tkey.{n} = value" for n in range(20)]
    lines = [first, LINE, LINE.replace(":38", ":39"), *settings, LINE.replace(":38", ":40"), f"{LINE} a; b | c"]
    assert records_of("".join(f"{line}\n" for line in lines).encode()) is None


def test_an_incomplete_document_gives_the_records_before_its_end() -> None:
    data = json.dumps([{"message": LINE}] * 3, indent=1).encode()[:-40]
    outer = Outer(io.BytesIO(data))
    reader = records_of(data)
    assert reader is not None
    assert len(list(reader.records(outer))) == 2
    assert outer.problem == "the JSON document is incomplete; the records up to here were read"


@given(
    st.binary(max_size=300), st.sampled_from([b"", b"message,host\n", b'{"events":[{"message":"', json.dumps(DOCUMENTS["google"]).encode()])
)
@settings(max_examples=150)
def test_any_bytes(noise: bytes, begin: bytes) -> None:
    data = begin + noise
    for record in read(data):
        assert 1 <= record.line <= data.count(b"\n") + 1
        assert 0 <= record.byte < len(data)


CELLS = st.sampled_from(
    [LINE, f'{LINE}\n\tat "a".B', "\tat a.B", "", 'say "x"', "a;b, c", "Ünicode", f"{LINE} \\d", "[2026-11-21 02:15:38,147] x", "{}"]
)
TIMES = st.sampled_from(["2026-11-21T02:15:38Z", "1795225983279", "Nov 21, 2026 @ 02:15:38.147", ""])
NAMES = st.sampled_from(
    [["message", "@timestamp", "host", "n"], ["host", "level", "log.file.path", "message"], ["labels", "Line", "ts", "n"]]
)


@given(
    st.lists(st.tuples(CELLS, TIMES, st.sampled_from(["kafka-1", "kafka-2", '{"host": "k"}']), CELLS), max_size=12),
    NAMES,
    st.sampled_from(",\t"),
)
@settings(max_examples=150)
def test_rows_read_at_once_are_those_read_one_by_one(rows: list[tuple[str, ...]], names: list[str], mark: str) -> None:
    data = table([names, *rows], mark)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Unwrapper, "_run", lambda self, outer: ())
        one_by_one = unwrapped(data)
    assert [line._replace(utc=time_of(line.utc)) for line in unwrapped(data)] == [
        line._replace(utc=time_of(line.utc)) for line in one_by_one
    ]


def test_most_rows_of_a_table_are_read_at_once() -> None:
    rows = [[f"Nov 21, 2026 @ 02:15:38.{n:03}", f"kafka-{n % 3}", f'{LINE} "x"\n\tat a.B'] for n in range(90)]
    unwrapper = Unwrapper()
    data = table([["@timestamp", "host.name", "message"], *rows])
    unwrapper.prepare(data)
    assert sum(len(run) for run in unwrapper.runs(Outer(io.BytesIO(data))) if len(run) > 20) > 80


FIELDS = {
    "objects": lambda at, text: json.dumps(
        {"@timestamp": at, "level": "INFO", "logger_name": "kafka.server.X", "message": text, "host": "b"}
    ),
    "odd names": lambda at, text: json.dumps({"wann": at, "stufe": "warn", "klasse": "kafka.server.X", "was": text, "wer": "kafka-1"}),
    "rows": lambda at, text: f'{at},INFO,kafka.server.X,"{text.replace(chr(34), chr(34) * 2)}",b',
}
TEXTS = (
    'a "quoted" word and [a bracket] of 1',
    "[Broker id=1] Follower t-0 starts at leader epoch 0",
    "[2026-11-21 02:00:00,000] INFO a record (kafka.server.X)",
    "of two\nlines",
    "",
    "at 02:00:00 it began",
    "INFO is its first word",
)
STAMPS = ("2026-11-21T02:00:00.123Z", "2026-11-21 02:00:00.123", "1795226311337", "2026-11-21T02:00:00.123456+05:30")


@pytest.mark.parametrize("form", FIELDS)
@pytest.mark.parametrize("stamp", STAMPS)
def test_records_from_fields_are_the_same_if_many_are_read_at_once(form: str, stamp: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [FIELDS[form](stamp, f"{text} {number}") for number in range(60) for text in TEXTS]
    data = "\n".join([*(["@timestamp,level,logger,message,host"] if form == "rows" else []), *rows, ""]).encode()

    def read() -> list[tuple[bytes, int, int, str, str, object]]:
        unwrapper = Unwrapper()
        unwrapper.prepare(data[:65536])
        return [(x.text, x.line, x.byte, x.writer, x.host, time_of(x.utc)) for x in unwrapper.lines(Outer(io.BytesIO(data)))]

    at_once = read()
    monkeypatch.setattr(Unwrapper, "_run", lambda *_: ())
    assert at_once == read()
    assert len(at_once) == len(rows)
