"""What stands around a log's lines, and how it is taken off: container runtimes, journals, syslog, collectors, JSON.

Here: from the bytes of a file to its plain lines, each with its place in the file, the time and the writer the wrapper
names; wrappers may lie in wrappers. A record that is JSON is rendered as Kafka's own layout would print it. Not here: what
the lines hold (parsers.layouts) or what they mean (parsers.catalogue).

A line no wrapper is around comes out as it is, so that a file may change its mind in the middle.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from parsers.layouts import Layout, fitting, instant

MAX_LINE = 4 << 20
"""Bytes of a line, or of what a runtime cut into several, that are looked into."""
MAX_FIELD = 1 << 30
"""Bytes of a field of the journal; it holds less."""
MAX_DEPTH = 5
MAX_PENDING = 256
"""Writers whose cut lines are kept until their ends come."""
_BLOCK = 1 << 20
_RAW = 4 * 4096
_SNIFFED_LINES = 200
_EPOCH = datetime(1970, 1, 1)


class Line(NamedTuple):
    """One line of a file, unwrapped."""

    text: bytes
    """What was wrapped; several lines where the wrapper keeps a message and its stack trace together."""
    line: int
    byte: int
    raw: bytes
    """The file's own text, cut."""
    writer: str
    """Pod, container or joined file the line is from; '' where nothing says."""
    host: str
    utc: datetime | bytes | None
    """When the wrapper got the line; its text, RFC 3339, where nobody needed it yet."""


@dataclass(slots=True)
class Peeled:
    """A line without one of its wrappers."""

    text: bytes
    writer: str = ""
    host: str = ""
    utc: datetime | bytes | None = None
    stream: str = ""
    partial: bool = False
    """The runtime cut the line; the rest comes in the stream's next."""
    final: bool = False
    """A rendered record: nothing is in it."""


def time_of(line: Line) -> datetime | None:
    """UTC of the wrapper, naive."""
    if not isinstance(line.utc, bytes):
        return line.utc
    at, utc = instant(line.utc.decode("ascii", "replace"))
    return at if utc else None


def holds_log(head: bytes, given: Sequence[Layout] = ()) -> bool:
    """Whether any of a file's first lines is, or wraps, a log record."""
    unwrapper = Unwrapper(given)
    unwrapper.prepare(head)
    outer = Outer(io.BytesIO(), head)
    lines = islice(unwrapper.lines(outer), _SNIFFED_LINES)
    return any(fitting(line.text[:_RAW].decode("utf-8", "replace"), given) is not None for line in lines)


class Outer:
    """A stream line by line, with places, in bounded memory. A line longer than MAX_LINE comes as its beginning."""

    def __init__(self, stream: BinaryIO, pending: bytes = b"", line: int = 1, byte: int = 0) -> None:
        self._stream = stream
        self._data = pending
        self._at = 0
        self.line = line
        self.byte = byte
        self.cut = 0
        """Lines that were too long."""
        self.problem: str | None = None
        self.unended = False
        """The last line had no line feed."""

    def next(self) -> tuple[bytes, int, int] | None:
        """The next line without its line feed, its number and its first byte; None at the end."""
        end = self._data.find(b"\n", self._at)
        while end < 0 and len(self._data) - self._at < MAX_LINE:
            searched = len(self._data) - self._at
            if not self._more():
                break
            end = self._data.find(b"\n", searched)
        number, byte = self.line, self.byte
        if end < 0:
            return self._last(number, byte)
        text = self._data[self._at : end]
        self._skip(end + 1 - self._at)
        return text, number, byte

    def exactly(self, size: int) -> bytes:
        """So many bytes, fewer at the end; of more than MAX_LINE only the beginning is kept."""
        kept = bytearray()
        while size > 0 and (self._at < len(self._data) or self._more()):
            piece = self._data[self._at : self._at + size]
            kept += piece[: MAX_LINE - len(kept)]
            self.line += piece.count(b"\n")
            self._skip(len(piece), lines=0)
            size -= len(piece)
        return bytes(kept)

    def _last(self, number: int, byte: int) -> tuple[bytes, int, int] | None:
        """What has no end: the last line, or the beginning of one that is too long."""
        text = self._data[self._at : self._at + MAX_LINE]
        if not text:
            return None
        self._skip(len(text), lines=0)
        self.unended = True
        if len(text) == MAX_LINE and (self._at < len(self._data) or self._more()):
            self.cut += 1
            self._drop_line()
        return text, number, byte

    def _drop_line(self) -> None:
        while self._at < len(self._data) or self._more():
            end = self._data.find(b"\n", self._at)
            if end >= 0:
                self.unended = False
                self._skip(end + 1 - self._at)
                return
            self._skip(len(self._data) - self._at, lines=0)

    def _skip(self, size: int, lines: int = 1) -> None:
        self._at += size
        self.byte += size
        self.line += lines

    def _more(self) -> bool:
        pieces, size = [self._data[self._at :]], 0
        while size < _BLOCK and (piece := self._read()):
            pieces.append(piece)
            size += len(piece)
        self._data, self._at = b"".join(pieces), 0
        return size > 0

    def _read(self) -> bytes:
        if self.problem:
            return b""
        try:
            return self._stream.read(_BLOCK)
        except Exception as error:  # whatever the container's decompressor raises on damaged data
            self.problem = f"reading stopped: {type(error).__name__}: {error}"
            return b""


UTF16 = (b"\xff\xfe", b"\xfe\xff")
"""How a file begins that PowerShell's `>` wrote."""


class Decoded(io.RawIOBase):
    """A stream of UTF-16, of which `head` was read, as UTF-8; places in it are those of its UTF-8 form."""

    def __init__(self, stream: BinaryIO, head: bytes) -> None:
        super().__init__()
        self._stream = stream
        self._head = head
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def read(self, size: int = -1) -> bytes:
        """About so many bytes; none at the end."""
        while data := self._head or self._stream.read(size):
            self._head = b""
            if text := self._decoder.decode(data):
                return text.encode("utf-8", "replace")
        return self._decoder.decode(b"", final=True).encode("utf-8", "replace")


class Unwrapper:
    """Takes the wrappers off line by line. Some look like text anybody may print (`a | b`): they are believed once what
    is in them is a log record."""

    def __init__(self, given: Sequence[Layout] = ()) -> None:
        self._given = given
        self._believed: set[str] = set()
        self._section = ""
        self._pending: dict[tuple[str, str], tuple[bytes, Line]] = {}
        self._ended = False

    def prepare(self, head: bytes) -> bool:
        """Learns from a file's first lines; whether any of them is wrapped."""
        lines = head.split(b"\n", _SNIFFED_LINES)[:_SNIFFED_LINES]
        return sum(self.wraps(line) for line in lines) > 0

    def wraps(self, text: bytes, depth: int = 0) -> bool:
        """Whether something is around this line."""
        if depth == MAX_DEPTH:
            return False
        if _SECTION.fullmatch(text) or text.startswith(_CURSOR) or _COLOUR.search(text):
            return True
        found = self._once(text.removeprefix(_MARK).rstrip(b"\r"))
        if found is None:
            return False
        self._ended = self._ended or any(peeled.stream and not peeled.partial for peeled in found)
        for peeled in found:
            self.wraps(peeled.text, depth + 1)
        return True

    def lines(self, outer: Outer) -> Iterator[Line]:
        """Every line of the file, in its order."""
        while (found := outer.next()) is not None:
            text, number, byte = found
            if text.startswith(_CURSOR):
                yield from self._entry(outer, number, byte)
            elif section := _SECTION.fullmatch(text):
                self._section = section[1].decode("utf-8", "replace").strip()
            else:
                yield from self.line(text, number, byte)
        for text, line in list(self._pending.values()):
            yield from self._deeper(Peeled(text, line.writer, line.host, line.utc), line, 1)

    def line(self, raw: bytes, number: int, byte: int) -> Iterator[Line]:
        """What is in one line: usually one, none while a cut line goes on, several in a JSON array."""
        text = raw.rstrip(b"\r")
        if not number > 1:
            text = text.removeprefix(_MARK)
        if b"\x1b" in text:
            text = _COLOUR.sub(b"", text)
        yield from self._deeper(Peeled(text), Line(b"", number, byte, raw[:_RAW], self._section, "", None), 0)

    def _deeper(self, peeled: Peeled, line: Line, depth: int) -> Iterator[Line]:
        found = self._once(peeled.text) if depth < MAX_DEPTH and not peeled.final else None
        if found is None:
            yield line._replace(text=peeled.text, host=peeled.host, utc=peeled.utc, writer=_joined(self._section, peeled.writer))
            return
        for inner in found:
            inner.writer = inner.writer or peeled.writer
            inner.host = inner.host or peeled.host
            inner.utc = inner.utc or peeled.utc
            if inner.stream:
                yield from self._whole(inner, line, depth)
            else:
                yield from self._deeper(inner, line, depth + 1)

    def _whole(self, peeled: Peeled, line: Line, depth: int) -> Iterator[Line]:
        """Puts together what a runtime cut: the place is that of the first piece."""
        key = (peeled.writer, peeled.stream)
        before = self._pending.pop(key, None)
        if before is not None:
            text, line = before
            peeled.text = text + peeled.text
        if peeled.partial and len(peeled.text) < MAX_LINE and len(self._pending) < MAX_PENDING:
            self._pending[key] = (peeled.text, line._replace(writer=peeled.writer, host=peeled.host, utc=peeled.utc))
            return
        yield from self._deeper(peeled, line, depth + 1)

    def _once(self, text: bytes) -> Sequence[Peeled] | None:
        """The line without its outermost wrapper; None if there is none."""
        first = text[:1]
        if first == b"{":
            return self._docker(text) or _of_json(text)
        if first == b"[":
            return _pod(text) or (_of_json(text) if _ARRAY.match(text) else None)
        for name, peel, sure in _BY_FIRST.get(_KIND_OF_FIRST.get(first, ""), ()):
            peeled = peel(text)
            if peeled is not None and (sure or name in self._believed or self._believe(name, peeled)):
                return (peeled,)
        return None

    def _believe(self, name: str, peeled: Peeled) -> bool:
        inner = peeled.text
        found = fitting(inner[:_RAW].decode("utf-8", "replace"), self._given) is not None or _is_record_of_json(inner)
        if found:
            self._believed.add(name)
        return found

    def _docker(self, text: bytes) -> Sequence[Peeled] | None:
        """A line of docker's json-file driver, which cuts long lines: a whole one ends in a line feed of its own."""
        found = _DOCKER.fullmatch(text)
        if found is None:
            return None
        log, stream, time = found.group(1, 2, 3)
        whole = log.endswith(b"\\n") and not log.endswith(b"\\\\n")
        body = log[:-2] if whole else log
        if b"\\" in body:
            try:
                body = json.loads(b'"' + body + b'"').encode("utf-8", "replace")
            except ValueError:
                return None
        self._ended = self._ended or whole
        cut = not whole and (self._ended or len(body) >= _DOCKER_CUTS)
        return (Peeled(body.removesuffix(b"\r"), utc=time, stream=stream.decode(), partial=cut),)

    def _entry(self, outer: Outer, number: int, byte: int) -> Iterator[Line]:
        """An entry of `journalctl -o export`; its fields come in any order, a blank line ends it."""
        fields: dict[str, Any] = {}
        raw, place = b"", (number, byte)
        while (found := outer.next()) is not None and found[0]:
            text, number, byte = found
            name, equals, value = text.partition(b"=")
            if not equals:
                size = int.from_bytes(outer.exactly(8), "little")
                if size > MAX_FIELD:
                    outer.problem = f"a field of {size} bytes in the journal's export: the rest is no export"
                    break
                value = outer.exactly(size)
                outer.next()
            key = name.decode("ascii", "replace")
            if key in _JOURNAL_FIELDS:
                fields[key] = value.decode("utf-8", "replace")
            if key == "MESSAGE":
                raw, place = (text if equals else b"MESSAGE=" + value[:_RAW]), (number, byte)
        peeled = _of_object(fields)
        if peeled is not None:
            yield from self._deeper(peeled, Line(b"", *place, raw[:_RAW], self._section, "", None), 1)


def _joined(section: str, writer: str) -> str:
    return f"{section}#{writer}" if section and writer else section or writer


_MARK = b"\xef\xbb\xbf"
_CURSOR = b"__CURSOR="
_COLOUR = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
_SECTION = re.compile(rb"==> (.+) <==\r?")
_ISO = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_NAME = rb"[^\s:\[\]]+"
_FROM = rb"(?!(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b)(" + _NAME + rb") (?:[^\s:\[]+)(?:\[\d+\])?: ?(.*)"
_PRIORITY = rb"(?:<\d{1,3}>)?"

_DOCKER_CUTS = 16 << 10
_DOCKER = re.compile(
    rb'\{"log":"([^"\\]*(?:\\.[^"\\]*)*)","stream":"(stdout|stderr)"(?:,"attrs":\{[^{}]*\})?,"time":"([^"\\]{20,35})"\}\s*', re.DOTALL
)
_CRI = re.compile(rb"(" + _ISO + rb") (stdout|stderr) ([FP])(?::\S*)?(?: (.*))?", re.DOTALL)
_POD = re.compile(rb"\[pod/([^/\]\s]+)/[^\]\s]+\] ?(.*)", re.DOTALL)
_STAMPED = re.compile(rb"(" + _ISO + rb") (.*)", re.DOTALL)
_COMPOSE = re.compile(rb"([A-Za-z0-9][\w.-]{0,100}) *\| ?(.*)", re.DOTALL)
_STERN = re.compile(rb"([a-z0-9][a-z0-9.-]{0,100}) [a-z0-9][a-z0-9-]{0,62} (.*)", re.DOTALL)
_SHORT = re.compile(_PRIORITY + rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})? " + _FROM, re.DOTALL)
_SHORT_ISO = re.compile(_PRIORITY + rb"(" + _ISO + rb") " + _FROM, re.DOTALL)
_SHORT_UNIX = re.compile(rb"(\d{9,11}\.\d{6}) " + _FROM, re.DOTALL)
_SHORT_FULL = re.compile(rb"[A-Z][a-z]{2} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) (\S+) " + _FROM, re.DOTALL)
_RFC5424 = re.compile(
    rb"<\d{1,3}>\d{1,2} (\S+) (\S+) \S+ \S+ \S+ (?:-|(?:\[(?:[^\]\\]|\\.){0,4096}\]){1,16})(?: (?:\xef\xbb\xbf)?(.*))?", re.DOTALL
)
_FLUENTD = re.compile(rb"(" + _ISO + rb")\t[^\t]*\t(\{.*)", re.DOTALL)
_ARRAY = re.compile(rb"\[\s*(?:[{\[]|\d+(?:\.\d+)?\s*,)")


def _pod(text: bytes) -> Sequence[Peeled] | None:
    """`kubectl logs --prefix`."""
    found = _POD.fullmatch(text)
    return (Peeled(found[2], writer=found[1].decode("utf-8", "replace")),) if found else None


def _cri(text: bytes) -> Peeled | None:
    """containerd, CRI-O and Podman: time, stream, tag."""
    found = _CRI.fullmatch(text)
    if found is None:
        return None
    return Peeled(found[4] or b"", utc=found[1], stream=found[2].decode(), partial=found[3] == b"P")


def _stamped(text: bytes) -> Peeled | None:
    """`kubectl logs --timestamps`, `docker logs -t`."""
    found = _STAMPED.fullmatch(text)
    return Peeled(found[2], utc=found[1]) if found else None


def _compose(text: bytes) -> Peeled | None:
    """`docker compose logs`."""
    found = _COMPOSE.fullmatch(text)
    return Peeled(found[2], writer=found[1].decode()) if found else None


def _stern(text: bytes) -> Peeled | None:
    """stern: pod, container."""
    found = _STERN.fullmatch(text)
    return Peeled(found[2], writer=found[1].decode()) if found else None


def _short(text: bytes) -> Peeled | None:
    """journalctl's short forms and RFC 3164: local time without a year, of no use."""
    found = _SHORT.fullmatch(text)
    return Peeled(found[2], host=found[1].decode("utf-8", "replace")) if found else None


def _short_iso(text: bytes) -> Peeled | None:
    """journalctl's short-iso, rsyslog's file format."""
    found = _SHORT_ISO.fullmatch(text)
    return Peeled(found[3], host=found[2].decode("utf-8", "replace"), utc=found[1]) if found else None


def _short_unix(text: bytes) -> Peeled | None:
    found = _SHORT_UNIX.fullmatch(text)
    return Peeled(found[3], host=found[2].decode("utf-8", "replace"), utc=_epoch(float(found[1]))) if found else None


def _short_full(text: bytes) -> Peeled | None:
    found = _SHORT_FULL.fullmatch(text)
    if found is None:
        return None
    at = found[1] + b" " + found[2] if found[2] in (b"UTC", b"GMT") or found[2][:1] in b"+-" else None
    return Peeled(found[4], host=found[3].decode("utf-8", "replace"), utc=at)


def _rfc5424(text: bytes) -> Peeled | None:
    found = _RFC5424.fullmatch(text)
    if found is None:
        return None
    host = found[2].decode("utf-8", "replace")
    return Peeled(found[3] or b"", host=host if host != "-" else "", utc=found[1] if found[1] != b"-" else None)


def _fluentd(text: bytes) -> Peeled | None:
    """fluentd's out_file: time, tag, record."""
    found = _FLUENTD.fullmatch(text)
    return Peeled(found[2], utc=found[1]) if found else None


_Peel = tuple[str, Callable[[bytes], "Peeled | None"], bool]
_BY_FIRST: Mapping[str, tuple[_Peel, ...]] = {
    "digit": (
        ("cri", _cri, True),
        ("fluentd", _fluentd, True),
        ("short-iso", _short_iso, True),
        ("short-unix", _short_unix, True),
        ("stamped", _stamped, False),
        ("compose", _compose, False),
        ("stern", _stern, False),
    ),
    "letter": (("short", _short, True), ("short-full", _short_full, True), ("compose", _compose, False), ("stern", _stern, False)),
    "<": (("rfc5424", _rfc5424, True), ("short", _short, True), ("short-iso", _short_iso, True)),
}
"""Wrappers by what a line begins with; the last of each says whether its form is proof enough."""
_KIND_OF_FIRST = {
    **{bytes([c]): "digit" for c in b"0123456789"},
    **{bytes([c]): "letter" for c in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    b"<": "<",
}

_TEXTS = (
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
    "_raw",
)
_LEVEL_FIELDS = ("level", "severity", "log.level", "levelname", "loglevel", "jsonPayload.level", "level_name")
_LOGGERS = (
    *("loggerName", "logger_name", "log.logger", "logger", "_logger", "loggername", "category", "jsonPayload.logger"),
    "jsonPayload._logger",
)
_TIMES = (
    *("@timestamp", "instant", "timeMillis", "_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP", "timestamp", "time", "timestampSeconds"),
    *("ts", "date", "datetime", "eventTime"),
)
_TRACES = (
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
)
_HOSTS = ("_HOSTNAME", "host.name", "hostname", "source_host", "host", "agent.hostname")
_JOURNAL_FIELDS = frozenset(
    {"MESSAGE", "__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP", "_HOSTNAME", "CONTAINER_NAME", "CONTAINER_PARTIAL_MESSAGE"}
)
_LEVEL_NAMES = {
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


def _of_json(text: bytes) -> Sequence[Peeled] | None:
    """What a line of JSON holds: log4j's JSON layouts, or a collector's record around a line."""
    try:
        found = json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    peeled = _of_value(found)
    return peeled or None


def _of_value(value: Any) -> list[Peeled]:
    if isinstance(value, dict):
        peeled = _of_object(value)
        return [peeled] if peeled is not None else []
    if not isinstance(value, list):
        return []
    if len(value) == 2 and _number(value[0]) is not None and isinstance(value[1], dict):
        peeled = _of_object({"timestamp": value[0], **value[1]})
        return [peeled] if peeled is not None else []
    return [peeled for item in value if isinstance(item, dict) and (peeled := _of_object(item)) is not None]


def _of_object(found: Mapping[str, Any]) -> Peeled | None:
    message = _message(found)
    if message is None:
        return None
    at, utc = _time(found)
    writer, host = (_string(found, names).strip("/") for names in (_PODS, _HOSTS))
    level, logger = _level(found), _string(found, _LOGGERS)
    stream = _string(found, ("stream",))
    if level and (logger or at is not None) and not _is_record(message):
        text = _rendered(at, utc, level, message, logger, _trace(found))
        return Peeled(text, writer, host, at if utc else None, final=True)
    if at is None and not (writer or host or stream or _is_record(message)):
        return None
    partial = _string(found, ("CONTAINER_PARTIAL_MESSAGE", "logtag")) in ("true", "P")
    text = message.removesuffix("\n").removesuffix("\r").encode("utf-8", "replace")
    return Peeled(text, writer, host, at if utc else None, stream or ("journal" if partial else ""), partial)


def _is_record(message: str) -> bool:
    return fitting(message.partition("\n")[0][:_RAW]) is not None


def _is_record_of_json(text: bytes) -> bool:
    return text[:1] == b"{" and any(peeled.final or _is_record(peeled.text.decode("utf-8", "replace")) for peeled in _of_json(text) or ())


def _message(found: Mapping[str, Any]) -> str | None:
    for name in _TEXTS:
        value = _get(found, name)
        if isinstance(value, str):
            return value
        if name == "MESSAGE" and isinstance(value, list) and all(isinstance(b, int) and 0 <= b < 256 for b in value):
            return bytes(value).decode("utf-8", "replace")  # journalctl -o json of what is no valid UTF-8
    return None


def _get(found: Mapping[str, Any], name: str) -> Any:
    """A field by its name, or by its path where the dots of the name are objects in objects."""
    if name in found:
        return found[name]
    first, dot, rest = name.partition(".")
    inner = found.get(first) if dot else None
    return _get(inner, rest) if isinstance(inner, dict) else None


def _string(found: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((value for name in names if isinstance(value := _get(found, name), str) and value), "")


def _level(found: Mapping[str, Any]) -> str:
    for name in _LEVEL_FIELDS:
        value = _get(found, name)
        if isinstance(value, str) and value.strip().upper() in _LEVEL_NAMES:
            return _LEVEL_NAMES[value.strip().upper()]
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_SYSLOG_LEVELS):
            return _SYSLOG_LEVELS[value]
    return ""


def _trace(found: Mapping[str, Any]) -> str:
    for name in _TRACES:
        value = _get(found, name)
        if isinstance(value, str) and value and not (name == "full_message" and value == found.get("short_message")):
            return value
    for kind, message in _THROWN:
        words = [word for word in (_get(found, kind), _get(found, message)) if isinstance(word, str)]
        if words:
            return ": ".join(words)
    return ""


def _rendered(at: datetime | None, utc: bool, level: str, message: str, logger: str, trace: str) -> bytes:
    """A record as `[%d] %p %m (%c)` prints it; a `Z` marks UTC, zeros a time nobody knows."""
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


def _time(found: Mapping[str, Any]) -> tuple[datetime | None, bool]:
    """When, and whether that is UTC."""
    for name in _TIMES:
        value = _get(found, name)
        at, utc = _of_time(found, name, value) if value is not None else (None, False)
        if at is not None:
            return at, utc
    return None, False


def _of_time(found: Mapping[str, Any], name: str, value: Any) -> tuple[datetime | None, bool]:
    if isinstance(value, dict):  # log4j 2's Instant; Google's Timestamp
        whole = _number(value.get("epochSecond", value.get("seconds")))
        part = _number(value.get("nanoOfSecond", value.get("nanos", 0)))
        return (_epoch(whole, part or 0), True) if whole is not None else (None, False)
    number = _number(value)
    if number is not None:
        nanos = _number(_get(found, "timestampNanos")) if name == "timestampSeconds" else 0
        return _epoch(number, nanos or 0), True
    return instant(value) if isinstance(value, str) else (None, False)


def _number(value: Any) -> int | float | None:
    if isinstance(value, str) and 9 <= len(value) <= 20 and value.replace(".", "", 1).isascii() and value.replace(".", "", 1).isdigit():
        return float(value) if "." in value else int(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


_UNITS = ((10**17, 10**9), (10**14, 10**6), (10**11, 10**3))
"""Since 1973 nanoseconds, microseconds and milliseconds of the epoch have more digits than the next coarser unit."""


def _epoch(number: int | float, nanos: int | float = 0) -> datetime | None:
    """UTC of seconds, milli-, micro- or nanoseconds since 1970."""
    unit = next((unit for least, unit in _UNITS if number >= least), 1)
    try:
        micros = number * 10**6 // unit if isinstance(number, int) else round(number * 10**6 / unit)
        return _EPOCH + timedelta(microseconds=int(micros) + int(nanos) // 1000)
    except (OverflowError, ValueError):
        return None
