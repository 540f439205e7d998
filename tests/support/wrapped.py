"""A record, what it may be wrapped in, and what is unwrapped of it: for tests of wrappers."""

from __future__ import annotations

import json
from datetime import datetime
from io import BytesIO
from typing import Any

from parsers.lines import Outer
from parsers.wrappers.unwrapper import Line, Unwrapper

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
    return sorted(unwrapper.lines(Outer(BytesIO(data))), key=lambda line: (line.line, line.byte))  # a stable sort


def docker(text: str, **more: Any) -> str:
    return json.dumps({"log": text, "stream": "stdout", **more, "time": STAMP}, separators=(",", ":"))


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
