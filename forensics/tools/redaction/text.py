"""Rewritten text files: logs reduced to text that Kafka is known to print, settings without secrets, everything else unchanged except for
names.

Here: one way for each kind of text. Not here: the replacements of names (names).

If no pattern matches a record of a log, the tool only uses its time: its time, level and logger are kept, and its message is removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import BinaryIO

import pyarrow.compute as pc

from forensics.tools.redaction.names import Names
from parsers.catalogue.survey import REDACTED
from parsers.evidence import LOG_KINDS
from parsers.formats.checkpoints import EVENTS_OF_KIND as CHECKPOINT_KINDS
from parsers.formats.properties import settings
from parsers.kinds import named
from parsers.layouts import Layout
from parsers.learning.layout import begins_record, layout_of
from parsers.learning.sample import HEAD
from parsers.lines import UTF16
from parsers.masking import masked
from parsers.paths import partition_of
from parsers.schemas import Member, Row, Rows
from parsers.wrappers.unwrapper import Unwrapper

MAX_LINE = 1 << 20
"""Longer lines are cut here."""
MAX_LAYOUTS = 8
_COMPONENT = re.compile(r"\[[^\[\]]{1,200}\]:? ?")
"""The prefix with which Kafka's classes name the broker."""
_FRAME = re.compile(r"\s+(?:at [\w.$/<>]+\(|\.\.\. \d+ more)")
_DATE = re.compile(r"#\w{3} \w{3} \d\d? [\d:]{8} \w+ \d{4}\s*")
_ENTRY = re.compile(r"(\S.*?)( -?\d+ -?\d+\s*)")


class Unsafe(ValueError):
    """Why a file is left out."""


def lines_of(stream: BinaryIO) -> Iterator[str]:
    while data := stream.readline(MAX_LINE):
        if not data.endswith(b"\n") and len(data) == MAX_LINE:
            while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            data += b"\n"
        yield data.decode("utf-8", "replace")


def log(stream: BinaryIO, names: Names, stated: Collection[int]) -> Iterator[str]:
    """A log; `stated`: numbers of the lines from which events were read."""
    head = stream.read(HEAD)
    stream.seek(0)
    if head.startswith(UTF16):
        raise Unsafe("a log in UTF-16")
    if Unwrapper(()).prepare(head):
        for line in lines_of(stream):
            yield names.text(line)
        return
    yield from _Records(head, names, stated).lines(lines_of(stream))


class _Records:
    """Records of a plain log, one after another."""

    def __init__(self, head: bytes, names: Names, stated: Collection[int]) -> None:
        first = layout_of(head).layout
        self._layouts: list[Layout] = [first] if first is not None else []
        self._names = names
        self._stated = stated

    def lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Lines of the records with events, and the heads of the others."""
        record: list[str] = []
        begun, keep = 1, False
        for number, line in enumerate(lines, 1):
            if record and self._message(line) is not None:
                yield from self._told(record, keep)
                record, begun, keep = [], number, False
            record.append(line)
            keep = keep or number in self._stated
            if len(record) > 1 and number - begun > 10_000:
                yield from self._told(record, keep)
                record, begun = [], number
        yield from self._told(record, keep)

    def _told(self, record: list[str], keep: bool) -> Iterator[str]:
        if keep:
            yield from (self._names.text(line) for line in record if not _FRAME.match(line))
            return
        if not record:
            return
        line = record[0]
        span = self._message(line)
        if span is None:
            return
        component = _COMPONENT.match(line, span[0], span[1])
        begin = component.end() if component is not None else span[0]
        yield f"{self._names.text(line[:begin])}{REDACTED}{self._names.text(line[span[1] :])}"

    def _message(self, line: str) -> tuple[int, int] | None:
        """The position of the message in a line that begins a record."""
        text = line.rstrip("\r\n")
        for layout in self._layouts:
            if (found := layout.line.fullmatch(text)) is not None:
                return found.start("message"), found.end("message")
        if len(self._layouts) < MAX_LAYOUTS and begins_record(text):
            learned = layout_of(line.encode(), line=text).layout
            found = learned.line.fullmatch(text) if learned is not None else None
            if learned is not None and found is not None:
                self._layouts.append(learned)
                return found.start("message"), found.end("message")
        return None


def checkpoint(stream: BinaryIO, names: Names) -> Iterator[str]:
    """Its lines contain a topic, a partition and an offset, so every name is recognised."""
    for line in lines_of(stream):
        entry = _ENTRY.fullmatch(line)
        yield names.add("topic", entry[1]) + entry[2] if entry is not None else names.text(line)


def properties(stream: BinaryIO, names: Names) -> Iterator[str]:
    """Settings without secrets and without comments, except for the date that Java writes."""
    date = stream.readline(MAX_LINE)
    while date.startswith(b"#") and not _DATE.fullmatch(date.decode("latin-1")):
        date = stream.readline(MAX_LINE)
    if _DATE.fullmatch(date.decode("latin-1")):
        yield date.decode("latin-1")
    stream.seek(0)
    for setting in settings(stream):
        if not isinstance(setting, dict):
            _, _, key, value = setting
            yield f"{_escaped(names.text(key))}={_escaped(names.text(masked(key, value)))}\n"


def _escaped(text: str) -> str:
    return "".join(c if c.isascii() else f"\\u{ord(c):04x}" for c in text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r"))


def plain(stream: BinaryIO, names: Names) -> Iterator[str]:
    """Every line."""
    head = stream.read(HEAD)
    stream.seek(0)
    if head.startswith(UTF16):
        raise Unsafe("text in UTF-16")
    return (names.text(line) for line in lines_of(stream))


PLAIN = frozenset(
    {
        "epoch-checkpoint",
        "partition-metadata",
        "clean-shutdown",
        "quorum-state",
        "describe",
        "reassignment-json",
        "election-json",
        "znode",
        "reassignment-output",
        "election-output",
        "log-dirs",
        "metadata-quorum",
        "config-output",
        "offsets-output",
        "groups-output",
        "features-output",
        "cluster-id",
        "load-metrics",
        "gc-log",
    }
)
PROPERTIES = frozenset({"meta-properties", "server-properties"})
_WAYS: Mapping[str, Callable[[BinaryIO, Names], Iterator[str]]] = {
    **dict.fromkeys(PLAIN, plain),
    **dict.fromkeys(PROPERTIES, properties),
    **dict.fromkeys(CHECKPOINT_KINDS, checkpoint),
}


def rewritten(stream: BinaryIO, kind: str, names: Names, stated: Collection[int]) -> Iterator[str] | None:
    """A rewritten file; None if its kind is not a known kind of text."""
    if kind in LOG_KINDS:
        return log(stream, names, stated)
    way = _WAYS.get(kind)
    return way(stream, names) if way is not None else None


_OF_GROUPS = named("group-commit", "client-reset", "group-coordinated")
"""Kinds whose value is a group."""
HOSTED = re.compile(r"(?:^|[@/,\s\[])([A-Za-z][A-Za-z0-9.-]*[A-Za-z0-9]):\d{2,5}(?!\d)")


def note_all(told: Rows, names: Names) -> None:
    """Collects the names in events."""
    if isinstance(told, dict):
        note(told, names)
        return
    named = told.select(["event", "topic", "key", "value"])
    wanted = pc.or_(pc.is_valid(named["topic"]), pc.is_valid(named["value"]))
    for row in {tuple(r.items()): r for r in named.filter(wanted).to_pylist()}.values():
        note(row, names)


def note(row: Row, names: Names) -> None:
    """Collects the names in one event."""
    if row.get("topic"):
        names.add("topic", row["topic"])
    event, value = row["event"], row.get("value")
    if not value:
        return
    if event in _OF_GROUPS:
        names.add("group", value)
    elif event == "transaction-state":
        names.add("transaction", value)
    elif event == "log-directory-identity" or (event == "config" and row.get("key") == "cluster.id"):
        names.add("cluster", value)
    elif event == "config":
        for host in HOSTED.findall(value):
            if host != "localhost":
                names.add("host", host)


def note_member(member: Member, names: Names) -> None:
    """Collects the names in one path."""
    where = partition_of(member.path)
    if where is not None and re.search(r"/\d{20}\.log|partition\.metadata|leader-epoch-checkpoint", member.path):
        names.add("topic", where[0])
