"""Records that are JSON are rendered as Kafka prints them, whatever their fields are called."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from parsers.wrappers.unwrapper import time_of
from tests.support.wrapped import FIELDS, JSON_RECORDS, RECORD, RENDERED, docker, unwrapped


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


def test_several_records_in_one_line() -> None:
    lines = unwrapped(json.dumps([{"date": 1, "log": "a"}, {"date": 2, "log": "b"}]) + "\n")
    assert [(line.text, line.line) for line in lines] == [(b"a", 1), (b"b", 1)]


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "9" * 5000, "-1", "1e30"])
def test_hostile_times(number: str) -> None:
    (line,) = unwrapped(f'{{"date":{number},"log":"x","stream":"stdout"}}\n')
    assert line.utc is None or isinstance(time_of(line.utc), datetime)
    unwrapped(f'{{"instant":{{"epochSecond":{number},"nanoOfSecond":{number}}},"level":"INFO","message":"x"}}\n')
