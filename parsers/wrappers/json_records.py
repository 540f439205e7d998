"""Log records with named fields: log4j's JSON layouts, entries of the journal, records of a collector or a log store around a line.

Here: the names of such fields, and records rendered as in Kafka's own layout. Not here: docker's json-file lines, which may be split like
plain text, the walk over a file (unwrapper), or the records of exports that are not lines (exports).
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from itertools import accumulate
from types import MappingProxyType
from typing import Any, NamedTuple

from parsers.layouts import fitting, instant
from parsers.paths import log_kind
from parsers.wrappers.peeled import RAW, Peeled, epoch

ARRAY = re.compile(rb"\[\s*(?:[{\[]|\d+(?:\.\d+)?\s*,)")
"""How an array that may contain records begins."""
TEXTS = (
    "log",
    "message",
    "msg",
    "MESSAGE",
    "short_message",
    "textPayload",
    "jsonPayload.message",
    "line",
    "event.original",
    "body",
    "body.stringValue",
    "_raw",
    "@message",
    "LogMessage",
    "LogEntry",
    "Message",
    "Content",
    "content",
    "RawData",
    "log_line",
    "@rawstring",
)
LEVEL_FIELDS = ("level", "severity", "log.level", "levelname", "loglevel", "jsonPayload.level", "level_name")
LOGGERS = (
    *("loggerName", "logger_name", "log.logger", "logger", "_logger", "loggername", "category", "jsonPayload.logger"),
    *("jsonPayload._logger", "kafka.log.class"),
)
TIMES = (
    *("@timestamp", "instant", "timeMillis", "_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP", "timestamp", "time", "timestampSeconds"),
    *("ts", "date", "datetime", "eventTime", "_time", "TimeGenerated", "TimeGenerated [UTC]", "Date", "receiveTimestamp"),
    *("_messagetime", "_messageTimeMs", "timeUnixNano", "observedTimeUnixNano"),
)
_TRACES = (
    "kafka.log.trace.full",
    *(
        "stack_trace",
        "stackTrace",
        "stacktrace",
        "error.stack_trace",
        "exception.stacktrace",
        "exception.stackTrace",
        "_exception.stackTrace",
    ),
    *("thrown.extendedStackTrace", "exception", "_exception", "throwable", "full_message"),
)
_THROWN = (("thrown.name", "thrown.message"), ("error.type", "error.message"), ("exception.exception_class", "exception.exception_message"))
_PODS = (
    *("kubernetes.pod_name", "kubernetes.pod.name", "kubernetes.podName", "k8s.pod.name", "pod_name", "pod", "labels.pod"),
    *(
        "resource.labels.pod_name",
        "kubernetes.labels.statefulset.kubernetes.io/pod-name",
        "container_name",
        "CONTAINER_NAME",
        "container.name",
    ),
    *("podName", "PodName", "logStreamName", "@logStream", "logStream", "stream_name", "tags.pod_name"),
    *("k8s.pod.name", "resource.attributes.k8s.pod.name"),
)
_HOSTS = (
    *("_HOSTNAME", "host.name", "hostname", "source_host", "host", "agent.hostname", "labels.host", "labels.hostname", "labels.instance"),
    *("labels.node_name", "labels.compute.googleapis.com/resource_name", "resource.labels.instance_id", "agent.name", "beat.hostname"),
    *("Host", "Hostname", "hostName", "Computer", "HOST", "@host", "_sourcehost", "_sourceHost", "source", "resource.attributes.host.name"),
)
_FILES = (
    *("log.file.path", "labels.filename", "filename", "file", "source", "labels.agent.googleapis.com/log_file_path", "log.path"),
    *("logStreamName", "@logStream", "logStream", "tags.filename", "@source", "_sourcename", "_sourceName"),
    *("log.file.name", "resource.attributes.log.file.name"),
)
"""Fields that may name the log file."""
_WRITERS = frozenset({*_PODS, *_HOSTS, *_FILES})
_AROUND_WRITERS = frozenset(name.partition(".")[0] for name in _WRITERS)
JOURNAL_FIELDS = frozenset(
    {"MESSAGE", "__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP", "_HOSTNAME", "CONTAINER_NAME", "CONTAINER_PARTIAL_MESSAGE"}
)
_COMPONENT = "kafka.log.component"
"""Filebeat's module for Kafka splits `[component] message (class)`."""
_ENVELOPES = ("_source", "result", "attributes", "fields", "map")
"""Objects in which log stores put the fields of a record: Elasticsearch, Splunk, Datadog, Sumo Logic."""
LEVEL_NAMES = {
    **{name: name for name in ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")},
    "WARNING": "WARN",
    "NOTICE": "INFO",
    "DEFAULT": "INFO",
    "CRITICAL": "FATAL",
    "ALERT": "FATAL",
    "EMERGENCY": "FATAL",
    "ERR": "ERROR",
}
_SYSLOG_LEVELS = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")


_DEPTH = 5
"""Objects and lists in each other whose strings are opened."""


def of_json(text: bytes, named: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None) -> Sequence[Peeled] | None:
    """The content of a JSON line: a record in log4j's JSON layouts, or a collector's record around a line. `named`: gives a record with its
    values under known names."""
    records = objects(text) if named is None else map(named, objects(text))
    return [peeled for fields in records if (peeled := of_object(fields)) is not None] or None


def objects(text: bytes) -> Sequence[Mapping[str, Any]]:
    """The records in a line of JSON; none in other lines."""
    try:
        return list(expanded(json.loads(text.decode("utf-8", "replace"))))
    except (ValueError, RecursionError):
        return []


class _Fields:
    """The field names that objects with these keys may have; most lines of a file have the same keys."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        present = frozenset(keys)

        def had(names: Sequence[str]) -> Sequence[str]:
            return tuple(name for name in names if any(begin in present for begin in accumulate(name.split("."), "{}.{}".format)))

        self.texts, self.levels, self.loggers, self.times = map(had, (TEXTS, LEVEL_FIELDS, LOGGERS, TIMES))
        self.traces, self.pods, self.hosts, self.files = map(had, (_TRACES, _PODS, _HOSTS, _FILES))
        self.envelopes = tuple(name for name in _ENVELOPES if name in present)
        self.component = "kafka" in present or _COMPONENT in present


_kept = lru_cache(maxsize=1 << 8)(_Fields)
_KEPT = 1 << 12
"""Total length of an object's names above which they are not cached."""


def _fields(document: Mapping[str, Any]) -> _Fields:
    keys = tuple(document)
    return _kept(keys) if sum(map(len, keys)) < _KEPT else _Fields(keys)


def is_known(name: str) -> bool:
    """Whether the role of a field with this name, in this spelling, is known."""
    return name in _NAMES


def time_in(value: str) -> datetime | None:
    """The time in a field: a number of seconds, milliseconds, microseconds or nanoseconds, or a date with a time."""
    return _of_time({}, "", value)[0]


def has_text(names: Iterable[str]) -> bool:
    """Whether one of these fields is known to hold the text of a log line."""
    return not {_KNOWN.get(name.lower(), "") for name in names}.isdisjoint(TEXTS)


def with_objects(cells: dict[str, str]) -> Mapping[str, Any]:
    """The cells of a row, with the objects that are in them as JSON: Grafana has one column for all labels."""
    objects_in = {name: cells[name] for name in _OF_OBJECTS & cells.keys() if cells[name].startswith("{")}
    return {**cells, **{name: found[0] for name, cell in objects_in.items() if (found := objects(cell.encode()))}}


def known_names(names: Iterable[str]) -> list[str]:
    """Names of columns in the spelling that `of_object` knows."""
    return [_KNOWN.get(name.lower(), name) for name in names]


_ROLES = (_TRACES, _FILES, _HOSTS, _PODS, TIMES, LOGGERS, LEVEL_FIELDS, TEXTS)
_NAMES = frozenset(name for names in _ROLES for name in names)
_KNOWN: Mapping[str, str] = {name.lower(): name for names in _ROLES for name in reversed(names)}


_OF_OBJECTS = frozenset(name.partition(".")[0] for name in _KNOWN.values() if "." in name) - {*TEXTS}
"""Names of objects that fields are in."""


def expanded(value: Any, around: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Mapping[str, Any]]:
    """The records in a line or in one element of a document: an object, a time with an object, names with values as a row of CloudWatch
    Logs Insights, a stream of Loki with its labels and many values, or an object with lists of records. `around`: what names the writer in
    the objects around it."""
    if isinstance(value, list):
        if len(value) == 2 and isinstance(value[1], dict) and (at := _number(value[0])) is not None:
            yield inheriting({"timestamp": at, **value[1]}, around)
        elif isinstance(names := _plain(value), dict):
            yield inheriting(names, around)
        else:
            for item in value:
                yield from expanded(item, around) if isinstance(item, dict) or _holds_objects(item) else ()
    elif isinstance(value, dict):
        labels, values = value.get("stream"), value.get("values")
        if isinstance(labels, dict) and isinstance(values, list):
            pairs = (v for v in values if isinstance(v, list) and len(v) > 1)
            yield from (inheriting({"labels": labels, "timestamp": pair[0], "line": pair[1]}, around) for pair in pairs)
        elif rows := _rows_of(value) or _by_column(value) or _by_name(value):
            yield from (inheriting(row, around) for row in rows)
        elif (opened := _opened(value)) is not value and of_object(value) is None:
            yield from expanded(opened, around)
        elif not any(map(_holds_objects, value.values())):
            yield inheriting(value, around)
        else:
            yield from _of_envelope(_plain(value), around)


def _opened(value: Any, depth: int = _DEPTH) -> Any:
    """A value with what is encoded in its strings in their place: objects in JSON, texts in base64, and texts as lists of lines. The same
    value if nothing is."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            if value[-1:] in ("}", "]") and value[:1] in ("{", "["):
                return inner if isinstance(inner := json.loads(value), dict | list) else value
            if " " not in value and _BASE64.fullmatch(value) and "\0" not in (text := b64decode(value, validate=True).decode()):
                return text
    elif (
        isinstance(value, list) and len(value) > 1 and all(isinstance(line, str) for line in value) and any(map(is_record, value[:_LINES]))
    ):
        return "\n".join(line.removesuffix("\n") for line in value)
    elif depth and isinstance(value, dict | list):
        pairs = [*(value.items() if isinstance(value, dict) else enumerate(value))]
        made = [(key, _opened(inner, depth - 1)) for key, inner in pairs]
        if any(one is not other for (_, one), (_, other) in zip(pairs, made, strict=True)):
            return dict(made) if isinstance(value, dict) else [inner for _, inner in made]
    return value


_LINES = 5
_BASE64 = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")


def column_of(value: Any) -> str | None:
    """The name of the column that an object describes by its name and its type, and nothing that is long."""
    if not isinstance(value, dict) or not any(name.lower().endswith("type") for name in value):
        return None
    names = [own for name, own in value.items() if name.lower() in ("name", "columnname") and isinstance(own, str)]
    return names[0] if len(names) == 1 and not any(isinstance(own, str) and len(own) > _MAX_NAME for own in value.values()) else None


_MAX_NAME = 200
"""Characters of the name or the type of a column."""


def row_of(names: Iterable[str], cells: Iterable[Any]) -> dict[str, Any]:
    return dict(zip(known_names(names), cells, strict=False))


def _rows_of(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table that is an object: a list of columns, each its name or an object with name and type, and a list of lists (Kusto,
    Log Analytics, Trino, Splunk)."""
    lists = [held for held in value.values() if isinstance(held, list) and held]
    names = next((own for held in lists if (own := names_in(held))), [])
    return [row_of(names, cells) for held in lists for cells in held if names and isinstance(cells, list) and len(cells) == len(names)]


def _by_column(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table that is an object with a list of cells for each column."""
    columns = [held for held in value.values() if isinstance(held, list) and len(held) > 1]
    if not 1 < len(columns) == len(value) or len({*map(len, columns)}) > 1 or sum(map(_has_record, columns)) != 1:
        return []
    return [row_of(value, cells) for cells in zip(*columns, strict=True)]


def _by_name(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines in an object with a log for each host, a text or a list of lines, as salt prints it."""
    logs = {name: held.split("\n") if isinstance(held, str) else held for name, held in value.items()}
    if len(logs) < 2 or any(name in _NAMES for name in logs) or not all(map(_has_record, logs.values())):
        return []
    return [{"pod": name, "line": line} for name, log in logs.items() for line in log]


def _has_record(held: Any) -> bool:
    """Whether this is a list of lines with a record among the first ones."""
    return isinstance(held, list) and all(isinstance(line, str) for line in held) and any(map(is_record, held[:_LINES]))


def names_in(held: Any) -> list[str]:
    """The names of columns in a list of names, or of objects with name and type; none in other lists."""
    names = [own if isinstance(own, str) else column_of(own) for own in held] if isinstance(held, list) and len(held) > 1 else []
    return [name for name in names if name is not None and len(name) <= _MAX_NAME] if None not in names else []


def _of_envelope(value: Mapping[str, Any], around: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The records in the lists of an object, or the object if it is a record itself."""
    inner = [held for held in value.values() if _holds_objects(held)]
    if not inner or _is_own(value) or of_object(value) is not None:
        yield inheriting(value, around)
        return
    for held in inner:
        yield from expanded(held, inheriting(_names_of_writer(value), around))


def _is_own(value: Mapping[str, Any]) -> bool:
    """Whether the longest text of an object is its own, and not in a list in it."""
    texts = [*_texts(value)]
    own, inner = (max((len(text) for text, listed in texts if listed == where and " " in text), default=0) for where in (False, True))
    return own > inner and not any(listed and is_record(text) for text, listed in texts)


def _texts(value: Any, listed: bool = False, depth: int = _DEPTH) -> Iterator[tuple[str, bool]]:
    """The texts in an object, and whether they are in a list, of which the first elements are examined."""
    if isinstance(value, str):
        yield value, listed
    elif depth and isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value[:_LINES]:
            yield from _texts(inner, listed or isinstance(value, list), depth - 1)


def _holds_objects(value: Any, depth: int = 3) -> bool:
    """Whether this is a list of objects, or an object with such a list in it."""
    if isinstance(value, list):
        return bool(value) and (isinstance(value[0], dict) or (depth > 0 and _holds_objects(value[0], 0)))
    return depth > 0 and isinstance(value, dict) and any(_holds_objects(inner, depth - 1) for inner in value.values())


def _plain(value: Any) -> Any:
    """A value with objects in place of the lists of names and values that OpenTelemetry and CloudWatch Logs Insights write."""
    if isinstance(value, dict):
        return value["stringValue"] if value.keys() == {"stringValue"} else {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list) and value:
        for name, content in (("field", "value"), ("key", "value"), ("name", "value"), ("Key", "Value"), ("Name", "Value")):
            if all(isinstance(cell, dict) and cell.keys() == {name, content} for cell in value):
                return {str(cell[name]): _plain(cell[content]) for cell in value}
    return value


def path_to_last(value: Any) -> Mapping[str, Any]:
    """What names the writer in the objects around the last value of the last object of an object."""
    around: Mapping[str, Any] = {}
    while isinstance(value, dict) and value:
        around = inheriting(_names_of_writer(_plain(value)), around)
        value = [*value.values()][-1]
    return around


def _names_of_writer(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in document.items() if name in _WRITERS or (isinstance(value, dict) and name in _AROUND_WRITERS)}


def inheriting(record: Mapping[str, Any], around: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with the fields that name the writer in the objects around it, if it names none itself."""
    return record if not around or any(writer_of(record)) else {**around, **record}


class Flat(NamedTuple):
    """The roles of the fields of objects of one form."""

    text: str
    time: str
    """'' if no field has a time."""
    writers: frozenset[str]
    """Fields that may name the writer."""
    fixed: frozenset[str]
    """Fields that say whether the text is a piece of a line, or that contain objects."""
    level: str
    """The field with the level of a record, of which the text is only the message; '' if none may have it."""
    logger: str
    """The field with its logger, if nothing else is needed to render the record; else ''."""
    empty: frozenset[str]
    """Fields with a stack trace."""


def merged(paths: Sequence[str]) -> Sequence[str]:
    """The paths of fields without the objects in which log stores put them."""
    found = next((f"{name}." for name in _ENVELOPES if any(path.startswith(f"{name}.") for path in paths)), None)
    return paths if found is None else merged([path.removeprefix(found) for path in paths])


def flat(names: Sequence[str], *, cells: bool = False) -> Flat | None:
    """The roles of fields with exactly these paths; None if they depend on the values. `cells`: of a table."""
    text = next((name for name in TEXTS if name in names), None)
    times = [name for name in TIMES if name in names]
    objects = {name for name in names if name.partition(".")[0] in TIMES and "." in name}
    single = [name for name in names if not name.endswith("[]")]
    if text is None or len({*single}) < len(single) or objects or "timestampSeconds" in names:
        return None
    writers = _WRITERS.intersection(names)
    listed = {
        name for name in names if name.endswith("[]") and not _OF_OBJECTS.isdisjoint((name.strip("[]"), name.partition(".")[0].strip("[]")))
    }
    fixed = _IN_PIECES.intersection(names) | listed | (_OF_OBJECTS.intersection(names) if cells else frozenset())
    level, logger = (next((name for name in own if name in names), "") for own in (LEVEL_FIELDS, LOGGERS))
    rest = frozenset(names) & {*_TRACES, *(name for own in _THROWN for name in own)}
    return Flat(text, next(iter(times), ""), writers, fixed, level, logger if times and _COMPONENT not in names else "", rest)


_PARTIAL = ("CONTAINER_PARTIAL_MESSAGE", "logtag")
_IN_PIECES = frozenset({"stream", *_PARTIAL})
"""Keys of text that is, or may be, split into pieces."""


@lru_cache(maxsize=1 << 12)
def _head(utc: bytes, level: bytes) -> bytes:
    at, zoned = _of_time({}, "", utc.decode())
    return _rendered(at, zoned, LEVEL_NAMES[level.decode().upper()], "", "", "")


def rendered(utc: bytes, level: bytes, message: bytes, logger: bytes) -> bytes:
    """As `of_object` renders a record with these fields."""
    return b"%b%b (%b)" % (_head(utc, level), message, logger)


def of_object(document: Mapping[str, Any]) -> Peeled | None:
    """The text of a record with its writer and time; None if no field holds the text of a log line."""
    fields = _fields(document)
    for name in fields.envelopes:
        if isinstance(inner := document[name], dict) and inner:
            return of_object({**{key: value for key, value in document.items() if key != name}, **inner})
    message = _message(document, fields.texts)
    if message is None:
        return None
    at, utc = _time(document, fields.times)
    writer, host = _writer(document, fields)
    level, logger = _level(document, fields.levels), _string(document, fields.loggers)
    stream = _string(document, ("stream",))
    if level and (logger or at is not None) and not is_record(message):
        component = _string(document, (_COMPONENT,)) if fields.component else ""
        if component and component != "unknown":
            message = f"[{component}] {message}"
        text = _rendered(at, utc, level, message, logger, _trace(document, fields.traces))
        plain = b"" if logger else message.encode("utf-8", "replace")
        return Peeled(text, writer, host, at if utc else None, final=True, plain=plain)
    if at is None and not (writer or host or stream or is_record(message)):
        return None
    partial = _string(document, _PARTIAL) in ("true", "P")
    text = message.removesuffix("\n").removesuffix("\r").encode("utf-8", "replace")
    return Peeled(text, writer, host, at if utc else None, stream or ("journal" if partial else ""), partial)


_log_kind = lru_cache(maxsize=1 << 10)(log_kind)


def _writer(document: Mapping[str, Any], fields: _Fields) -> tuple[str, str]:
    """The pod or stream, and the host. If a field names one of Kafka's log files, the name of the writer ends with that file: lines of
    several files of a host are in no order within one millisecond."""
    writer, host = _string(document, fields.pods).strip("/"), _string(document, fields.hosts).strip("/")
    path = _string(document, fields.files).replace("\\", "/").strip("/")
    file = path.rpartition("/")[2]
    if file and _log_kind(file) is not None and not (writer or host).endswith(file):
        writer = f"{writer or host}/{file}" if writer or host else path if path != file else ""
    return writer, host


def writer_of(document: Mapping[str, Any]) -> tuple[str, str]:
    """The pod or stream, with its log file, and the host of an object with these fields; '' if no field names them."""
    return _writer(document, _fields(document))


def is_record(message: str) -> bool:
    """Whether a text begins with a record in a listed layout."""
    return fitting(message.partition("\n")[0][:RAW]) is not None


def is_record_of_json(text: bytes) -> bool:
    return text[:1] == b"{" and any(peeled.final or is_record(peeled.text.decode("utf-8", "replace")) for peeled in of_json(text) or ())


def _message(document: Mapping[str, Any], names: Sequence[str]) -> str | None:
    for name in names:
        value = _get(document, name)
        if isinstance(value, str):
            return value
        if name == "MESSAGE" and isinstance(value, list) and all(isinstance(b, int) and 0 <= b < 256 for b in value):
            return bytes(value).decode("utf-8", "replace")  # journalctl -o json: text that is not valid UTF-8
    return None


def _get(document: Mapping[str, Any], name: str) -> Any:
    """A field by its name, or by its path if the dots of the name are nested objects."""
    if name in document:
        value = document[name]
        return value[0] if isinstance(value, list) and len(value) == 1 else value
    first, dot, rest = name.partition(".")
    inner = document.get(first) if dot else None
    if isinstance(inner, list):  # Datadog's tags
        return next((tag[len(rest) + 1 :] for tag in inner if isinstance(tag, str) and tag.startswith(f"{rest}:")), None)
    return _get(inner, rest) if isinstance(inner, dict) else None


def _string(document: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((value for name in names if isinstance(value := _get(document, name), str) and value), "")


def _level(document: Mapping[str, Any], names: Sequence[str]) -> str:
    for name in names:
        value = _get(document, name)
        if isinstance(value, str) and value.strip().upper() in LEVEL_NAMES:
            return LEVEL_NAMES[value.strip().upper()]
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_SYSLOG_LEVELS):
            return _SYSLOG_LEVELS[value]
    return ""


def _trace(document: Mapping[str, Any], names: Sequence[str]) -> str:
    for name in names:
        value = _get(document, name)
        if isinstance(value, str) and value and not (name == "full_message" and value == document.get("short_message")):
            return value
    for kind, message in _THROWN:
        words = [word for word in (_get(document, kind), _get(document, message)) if isinstance(word, str)]
        if words:
            return ": ".join(words)
    return ""


def _rendered(at: datetime | None, utc: bool, level: str, message: str, logger: str, trace: str) -> bytes:
    """A record as printed by `[%d] %p %m (%c)`; a `Z` marks UTC, zeros an unknown time."""
    if at is None:
        stamp = "0000-00-00 00:00:00,000"
    else:
        exact = "microseconds" if at.microsecond % 1000 else "milliseconds"
        stamp = at.isoformat(" ", exact).replace(".", ",") + ("Z" if utc else "")
    name = logger.translate(_NO_LOGGER)
    lines = [f"[{stamp}] {level} {message}" + (f" ({name})" if name else "")]
    if trace:
        lines.append(trace.rstrip("\n"))
    return "\n".join(lines).encode("utf-8", "replace")


_NO_LOGGER = {ord(c): None for c in "() \t\r\n"}


def _time(document: Mapping[str, Any], names: Sequence[str]) -> tuple[datetime | None, bool]:
    """The time, and whether it is UTC."""
    for name in names:
        value = _get(document, name)
        at, utc = _of_time(document, name, value) if value is not None else (None, False)
        if at is not None:
            return at, utc
    return None, False


def _of_time(document: Mapping[str, Any], name: str, value: Any) -> tuple[datetime | None, bool]:
    if isinstance(value, dict):  # log4j 2's Instant; Google's Timestamp
        seconds = _number(value.get("epochSecond", value.get("seconds")))
        part = _number(value.get("nanoOfSecond", value.get("nanos", 0)))
        return (epoch(seconds, part or 0), True) if seconds is not None else (None, False)
    number = _number(value)
    if number is not None:
        nanos = _number(_get(document, "timestampNanos")) if name == "timestampSeconds" else 0
        return epoch(number, nanos or 0), True
    return _instant(value) if isinstance(value, str) else (None, False)


def _instant(text: str) -> tuple[datetime | None, bool]:
    """The time, and whether it is UTC: Kibana shows times in the zone of the browser, and names no zone."""
    at, utc = instant(text)
    if at is None and len(text) < 40 and (shown := _SHOWN.fullmatch(text.strip())) is not None:
        with suppress(ValueError):
            return _of_shown(shown), False
    return at, utc


_SHOWN = re.compile(
    r"(?:(?P<first>\d{1,2})(?P<mark>[./])(?P<second>\d\d?)[./]|(?P<day>\d\d?)[ -](?P<month>[A-Z][a-z]{2})[ -]"
    r"|(?P<name>[A-Z][a-z]{2}) (?P<date>\d\d?), )(?P<year>\d{4}),?(?: @)? (?P<hour>\d\d?):(?P<minute>\d\d):(?P<second_>\d\d)"
    r"(?:[.,:](?P<part>\d{1,6}))?(?: (?P<half>[AP])M)?"
)
"""Times as Kibana, Azure Monitor and spreadsheets show them."""
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


def _of_shown(at: re.Match[str]) -> datetime | None:
    """The time; None if the day may be the month. A date with points begins with the day, and one with a half of the day with the month.
    Raises ValueError if there is no such time."""
    if (name := at["month"] or at["name"]) is not None:
        month, day = _MONTHS.index(name) // 3 + 1, int(at["day"] or at["date"])
    else:
        first, second = int(at["first"]), int(at["second"])
        if at["mark"] == "/" and not at["half"] and first <= 12 and second <= 12 and first != second:
            return None
        month, day = (second, first) if at["mark"] == "." or first > 12 else (first, second)
    hour = int(at["hour"]) % 12 + 12 * (at["half"] == "P") if at["half"] else int(at["hour"])
    micros = int((at["part"] or "").ljust(6, "0"))
    return datetime(int(at["year"]), month, day, hour, int(at["minute"]), int(at["second_"]), micros)


def _number(value: Any) -> int | float | None:
    if isinstance(value, str) and 9 <= len(value) <= 20 and value.replace(".", "", 1).isascii() and value.replace(".", "", 1).isdigit():
        return float(value) if "." in value else int(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
