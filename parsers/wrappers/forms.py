"""Wrappers of one line of text: container runtimes, journals, syslog, collectors, each with the expression that recognises it.

Here: how each form is removed from a line. Not here: JSON (json_records), messages that continue over several lines, or the order in which
nested wrappers are tried (unwrapper).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from parsers.wrappers.json_records import known_names, writer_of
from parsers.wrappers.peeled import Peeled, epoch

ISO = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_NAME = rb"\w[^\s:\[\]]*"
_NO_LEVEL_NAME = rb"(?!(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b)"
_NO_LEVEL_PROGRAM = rb"(?![TDIWEFtdiwef](?i:race|ra|ebug|eb|nfo|nf|arn|ar|rror|rr|atal|at)?[:\[])"  # rejects most lines early
FROM = _NAME + rb") " + _NO_LEVEL_PROGRAM + rb"(?:[^\s:\[]+)(?:\[\d+\])?"
"""The end of the group of a host's name, and the program's: `2026-11-21T00:15:38Z | ERROR: ` contains neither."""
_FROM = _NO_LEVEL_NAME + rb"(" + FROM + rb": ?(.*)"
_NO_LEVEL = rb"(?!(?i:trace|debug|info|warn|error|fatal|[tdiwef]) *[ |])"
_PRIORITY = rb"(?:<\d{1,3}>)?"
ESCAPED = rb"#01[12]"
"""A tab or a line feed as rsyslog writes it."""
SHORT = _PRIORITY + rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})? " + _NO_LEVEL_NAME
"""Text before the host's name in journalctl's short form and RFC 3164."""

_CRI = re.compile(rb"(" + ISO + rb") (stdout|stderr) ([FP])(?::\S*)?(?: (.*))?", re.DOTALL)
_POD = re.compile(rb"\[pod/([^/\]\s]+)/[^\]\s]+\] ?(.*)", re.DOTALL)
_STAMPED = re.compile(rb"(?:(" + ISO + rb")|\d\d-\d\d \d\d:\d\d:\d\d) (.*)", re.DOTALL)
_VALUE = re.compile(rb'[ \t]{1,16}"([\w.:-]{1,200})"\s?: ?"((?:[^"\\]|\\.)*)(?:",?|\\?\Z)', re.DOTALL)
_COMPOSE = re.compile(_NO_LEVEL + rb"(?!\d+ )([A-Za-z0-9][\w.-]{0,100}) *\| ?(.*)", re.DOTALL)
_DYNO = re.compile(rb"(" + ISO + rb") [a-z][\w-]{0,62}\[([\w.-]{1,100})\]: ?(.*)", re.DOTALL)
_PRI = re.compile(rb"^pri=(\w+) t=(\S+) at=\S+ ")
_STERN = re.compile(rb"(?!\d+ )([a-z0-9][a-z0-9.-]{0,100}) (?!\d{4}-)[a-z0-9][a-z0-9-]{0,62} (.*)", re.DOTALL)
_SHORT = re.compile(SHORT + rb"(" + FROM + rb": ?(.*)", re.DOTALL)
_SHORT_ISO = re.compile(_PRIORITY + rb"(" + ISO + rb") " + _FROM, re.DOTALL)
_SHORT_UNIX = re.compile(rb"(\d{9,11}\.\d{6}) " + _FROM, re.DOTALL)
_SHORT_FULL = re.compile(rb"[A-Z][a-z]{2} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) (\S+) " + _FROM, re.DOTALL)
_RFC5424 = re.compile(
    rb"<\d{1,3}>\d{1,2} (\S+) (\S+) \S+ \S+ \S+ (?:-|(?:\[(?:[^\]\\]|\\.){0,4096}\]){1,16})(?: (?:\xef\xbb\xbf)?(.*))?", re.DOTALL
)
_FLUENTD = re.compile(rb"(" + ISO + rb")\t([^\t]*)\t(\{.*)", re.DOTALL)
_FLUENT_BIT = re.compile(rb"[\w.-]{1,250}: (\[\d{9,11}\.\d{1,9}, \{.*\}\])", re.DOTALL)
_EVENT = re.compile(rb"(?:data: |\x1e)(\{.*)", re.DOTALL)
_LOKI = re.compile(rb"(" + ISO + rb") (\{(?:[A-Za-z_]\w*=\"(?:[^\"\\]|\\.)*\"(?:, )?)*\}) *(.*)", re.DOTALL)
_LABEL = re.compile(rb"(?<!\w)([A-Za-z_]\w*)=\"((?:[^\"\\]|\\.)*)\"")


def pod(text: bytes) -> Sequence[Peeled] | None:
    """`kubectl logs --prefix`."""
    match = _POD.fullmatch(text)
    return (Peeled(match[2], writer=match[1].decode("utf-8", "replace")),) if match else None


def _cri(text: bytes) -> Peeled | None:
    """containerd, CRI-O and Podman: time, stream, tag."""
    match = _CRI.fullmatch(text)
    if match is None:
        return None
    return Peeled(match[4] or b"", utc=match[1], stream=match[2].decode(), partial=match[3] == b"P")


def _stamped(text: bytes) -> Peeled | None:
    """`kubectl logs --timestamps`, `docker logs -t`, and the short times of stern, which are local and without a year."""
    match = _STAMPED.fullmatch(text)
    return Peeled(match[2], utc=match[1]) if match else None


def _value(text: bytes) -> Peeled | None:
    """A line of indented JSON with the log of a host, as salt prints it."""
    match = _VALUE.fullmatch(text)
    log = unescaped(match[2]) if match is not None else b""
    return Peeled(log.rstrip(b"\n"), writer=match[1].decode("utf-8", "replace")) if match is not None and b"\n" in log else None


def _compose(text: bytes) -> Peeled | None:
    """`docker compose logs`."""
    match = _COMPOSE.fullmatch(text)
    return Peeled(match[2], writer=match[1].decode()) if match else None


def _dyno(text: bytes) -> Peeled | None:
    """`heroku logs`: time, source, dyno. Its Kafka prints the level, the thread and the class first, and no time."""
    match = _DYNO.fullmatch(text)
    if match is None:
        return None
    return Peeled(_PRI.sub(rb"\1 [\2] ", match[3]), writer=match[2].decode(), utc=match[1])


def _stern(text: bytes) -> Peeled | None:
    """stern: pod, container."""
    match = _STERN.fullmatch(text)
    return Peeled(match[2], writer=match[1].decode()) if match else None


def _short(text: bytes) -> Peeled | None:
    """journalctl's short forms and RFC 3164: local time without a year, which is not used."""
    match = _SHORT.fullmatch(text)
    return Peeled(_unescaped(match[2]), host=match[1].decode("utf-8", "replace")) if match else None


def _unescaped(text: bytes) -> bytes:
    """The text with the tabs and line feeds that rsyslog escaped."""
    return text.replace(b"#011", b"\t").replace(b"#012", b"\n") if b"#01" in text else text


def _short_iso(text: bytes) -> Peeled | None:
    """journalctl's short-iso, rsyslog's file format."""
    match = _SHORT_ISO.fullmatch(text)
    return Peeled(_unescaped(match[3]), host=match[2].decode("utf-8", "replace"), utc=match[1]) if match else None


def _short_unix(text: bytes) -> Peeled | None:
    match = _SHORT_UNIX.fullmatch(text)
    return Peeled(match[3], host=match[2].decode("utf-8", "replace"), utc=epoch(float(match[1]))) if match else None


def _short_full(text: bytes) -> Peeled | None:
    match = _SHORT_FULL.fullmatch(text)
    if match is None:
        return None
    at = match[1] + b" " + match[2] if match[2] in (b"UTC", b"GMT") or match[2][:1] in b"+-" else None
    return Peeled(match[4], host=match[3].decode("utf-8", "replace"), utc=at)


def _rfc5424(text: bytes) -> Peeled | None:
    match = _RFC5424.fullmatch(text)
    if match is None:
        return None
    host = match[2].decode("utf-8", "replace")
    return Peeled(_unescaped(match[3] or b""), host=host if host != "-" else "", utc=match[1] if match[1] != b"-" else None)


def _fluentd(text: bytes) -> Peeled | None:
    """fluentd's out_file: time, tag, record. The tag is the host unless the record names one."""
    match = _FLUENTD.fullmatch(text)
    return Peeled(match[3], host=match[2].decode("utf-8", "replace"), utc=match[1]) if match else None


def _fluent_bit(text: bytes) -> Peeled | None:
    """Fluent Bit's output to files: tag, and an array of time and record."""
    found = _FLUENT_BIT.fullmatch(text)
    return Peeled(found[1]) if found else None


def _event(text: bytes) -> Peeled | None:
    """`journalctl -o json-sse` and `-o json-seq`: a mark and a record."""
    found = _EVENT.fullmatch(text)
    return Peeled(found[1]) if found else None


def _loki(text: bytes) -> Peeled | None:
    """logcli's default output: time, labels, line."""
    found = _LOKI.fullmatch(text)
    if found is None:
        return None
    labels = {name.decode(): value.decode("utf-8", "replace") for name, value in _LABEL.findall(found[2])}
    writer, host = writer_of({"labels": labels})
    return Peeled(found[3], writer=writer, host=host, utc=found[1])


STAMPED = "stamped"
Form = tuple[str, Callable[[bytes], "Peeled | None"], bool]
"""Name of a wrapper, the function that removes it from a line, and whether its form alone is sufficient proof."""
_DIGIT: tuple[Form, ...] = (
    ("cri", _cri, True),
    ("fluentd", _fluentd, True),
    ("loki", _loki, True),
    ("short-iso", _short_iso, True),
    ("short-unix", _short_unix, True),
    ("dyno", _dyno, True),
    (STAMPED, _stamped, False),
    ("compose", _compose, False),
    ("stern", _stern, False),
)
_PAIR = re.compile(rb'([A-Za-z_@][\w.@/-]{0,80})=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))(?: +|\Z)', re.DOTALL)
_PAIRS = 3
"""Pairs of which one has a line of a log; fewer are the text of a line."""


def pairs_of(text: bytes) -> Sequence[Mapping[str, str]]:
    """The names and values of a line, `ts=… host=… msg="…"`, as vector, promtail and logcli print them; nothing for other lines."""
    fields: dict[str, str] = {}
    at = 0
    while (pair := _PAIR.match(text, at)) is not None and pair.end() > at:
        value = pair[2] if pair[2] is not None else pair[3]
        fields[pair[1].decode()] = unescaped(value).decode("utf-8", "replace")
        at = pair.end()
    return (dict(zip(known_names(fields), fields.values(), strict=True)),) if at == len(text) and len(fields) >= _PAIRS else ()


_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


def unescaped(text: bytes) -> bytes:
    """The text without the escapes of a backslash: of quotes, tabs and line feeds."""
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text) if b"\\" in text else text


_MARKED: Form = ("event", _event, True)
_LETTER: tuple[Form, ...] = (
    _MARKED,
    ("fluent-bit", _fluent_bit, True),
    ("short", _short, True),
    ("short-full", _short_full, True),
    ("compose", _compose, False),
    ("stern", _stern, False),
)
FORMS: Mapping[bytes, tuple[Form, ...]] = {
    **{bytes([c]): _DIGIT for c in b"0123456789"},
    **{bytes([c]): _LETTER for c in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    **dict.fromkeys((b" ", b"\t"), (("value", _value, False),)),
    b"\x1e": (_MARKED,),
    b"<": (("rfc5424", _rfc5424, True), ("short", _short, True), ("short-iso", _short_iso, True)),
}
"""Wrappers by the first byte of a line, in the order in which they are tried."""
