"""Rewritten text files: logs reduced to text that Kafka is known to print, settings without secrets, everything else unchanged except for
names.

Here: one way for each kind of text. Not here: the replacements of names (names).

If no pattern matches a record of a log, the tool only uses its time: its time, level and logger are kept, and its message is removed.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from io import BytesIO, StringIO
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa
import regex

from forensics.tools.redaction.names import Names, is_id
from forensics.tools.redaction.numbers import CELLS, NONE, Numbers
from forensics.tools.redaction.vocabulary import WORD, vocabulary
from parsers.catalogue.survey import REDACTED
from parsers.evidence import LOG_KINDS
from parsers.formats.checkpoints import EVENTS_OF_KIND as CHECKPOINT_KINDS
from parsers.formats.properties import settings
from parsers.kinds import named
from parsers.layouts import Layout, prefix
from parsers.learning.layout import begins_record, layout_of
from parsers.learning.sample import HEAD
from parsers.lines import UTF16, Outer
from parsers.masking import HIDDEN, masked
from parsers.paths import partition_of
from parsers.schemas import EVENTS, Member, Row, Rows
from parsers.wrappers.unwrapper import Line, Unwrapper, time_of

MAX_LINE = 1 << 20
"""Longer lines are cut here."""
MAX_LAYOUTS = 8
MAX_RECORD = 10_000
"""Lines of one record."""
MAX_WRITERS = 1000
_SAMPLE = 200
"""Unwrapped lines from which the layout is learned."""
Taken = Mapping["int | tuple[int, int]", Set[int]]
"""The numbers that a reader took from each line with an event, by line, and by line and byte."""
_PLACES = frozenset({"line", "byte"})
_NAMES = _PLACES | {"topic", "key", "value", "directory", "host"}
"""Columns that hold names, except in settings."""
_COLUMNS = [f.name for f in EVENTS if f.name not in _PLACES and f.name not in ("source", "text", "time", "collected")]
_NUMERIC = re.compile(r"-?\d{1,19}(?:\.\d{1,9})?(?:, ?-?\d{1,19})*|(?:\d{1,2}|0\.\d{1,2})(?:\.\d{1,3}){1,2}(?:-IV\d+)?")
_QUANTITY = re.compile(r"\.(?:bytes|ms|size|messages|hours|minutes|seconds|rate|interval)(?:\.|$)")
"""Settings of Kafka whose values may have more than a few digits."""
_FEW_DIGITS = 6
_COMPONENT = re.compile(r"\[[^\[\]]{1,200}\]:? ?")
"""The prefix with which Kafka's classes name the broker."""
_FRAME = re.compile(r"\s+(?:at (?![\w./@$]*\.downConvert)[\w.$/<>]+\(|\.\.\. \d+ more)")
"""A frame of a stack, except those that a pattern reads."""
_SETTING = re.compile(r"(\s+[\w.]+ = )(.*?)([\r\n]*)", re.DOTALL)
"""A line of the settings that a broker prints when it starts."""
_DATE = re.compile(r"#\w{3} \w{3} \d\d? [\d:]{8} \w+ \d{4}\s*")
_CLEAN_SHUTDOWN = re.compile(r'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"brokerEpoch"\s*:\s*-?\d+\s*\}\s*')
_ROW = re.compile(r'[\d\s.,;%"+-]*')
_EPOCH = re.compile(r"-?\d{1,10} -?\d{1,19}\s*")
_ENTRY = re.compile(r"(\S.*?)( -?\d+ -?\d+\s*)")


def taken(rows: Iterable[Rows]) -> dict[int | tuple[int, int], set[int]]:
    """The numbers in the events of each line."""
    found: dict[int | tuple[int, int], set[int]] = defaultdict(set)
    for told in rows:
        for row in _filled(told) if isinstance(told, pa.RecordBatch) else (told,):
            if row.get("line") is None or row["event"] == "last-line":  # of that line, only its time counts
                continue
            numbers = {n for name in row.keys() - _NAMES for n in _numbers(row[name])}
            if row["event"] == "config" and _is_quantity(row.get("key") or "", row.get("value") or ""):
                numbers.update(_numbers(row["value"]))
            found[row["line"]] |= numbers
            found[row["line"], row.get("byte") or 0] |= numbers
    return found


def _filled(batch: pa.RecordBatch) -> Iterator[Row]:
    """The rows with those columns that have values."""
    names = [name for name in _COLUMNS if batch[name].null_count < len(batch) and not pa.types.is_boolean(batch[name].type)]
    yield from batch.select(["line", "byte", *names]).to_pylist()


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value if value >= 0 else -value
    elif isinstance(value, str):
        yield from map(int, re.findall(r"\d+", value)) if _NUMERIC.fullmatch(value) else ()
    elif isinstance(value, dict):
        yield from (n for inner in value.values() for n in _numbers(inner))
    elif isinstance(value, list):
        yield from (n for inner in value for n in _numbers(inner))


class Unsafe(ValueError):
    """Why a file is left out."""


def lines_of(stream: BinaryIO) -> Iterator[str]:
    while data := stream.readline(MAX_LINE):
        if not data.endswith(b"\n") and len(data) == MAX_LINE:
            while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            data += b"\n"
        yield data.decode("utf-8", "replace")


def log(stream: BinaryIO, names: Names, taken: Taken, kind: str = "") -> Iterator[str]:
    """A log without its wrappers. A line that had one is written with the time, writer and host of the wrapper: as a JSON object, or as a
    row of a CSV file if nothing but its content says that the file is a log, since a reader takes any such rows for a log."""
    head = stream.read(HEAD)
    stream.seek(0)
    if head.startswith(UTF16):
        raise Unsafe("a log in UTF-16")
    unwrapper = Unwrapper(())
    if unwrapper.prepare(head):
        first = list(islice(unwrapper.lines(Outer(BytesIO(), head)), _SAMPLE))
        form = _InRow if kind == "other-log" and any(line.utc or line.writer or line.host for line in first) else _InObject
        unwrapper = Unwrapper(())
        unwrapper.prepare(head)
        yield form.header
        records = _Records(b"\n".join(line.text for line in first), names, taken)
        yield from records.lines(map(form, unwrapper.lines(Outer(stream))))
    else:
        yield from _Records(head, names, taken).lines(_unwrapped(stream, unwrapper, layout_of(head).layout))


def _unwrapped(stream: BinaryIO, unwrapper: Unwrapper, layout: Layout | None) -> Iterator[_Wrapped | _Plain]:
    """The lines of a plain log; from the first line on that is clearly wrapped, without wrappers."""
    number, at = 1, 0
    while data := stream.readline(MAX_LINE):
        begins = data[:1].isspace() or (layout is not None and layout.begins(data, 0)) or not unwrapper.wraps(data.rstrip(b"\r\n"))
        if not begins:
            yield from map(_InObject, unwrapper.lines(Outer(stream, data, number, at)))
            return
        size = len(data)
        while not data.endswith(b"\n") and (rest := stream.readline(MAX_LINE)):
            size += len(rest)
            data = data[: MAX_LINE - 1] + (b"\n" if rest.endswith(b"\n") else b"")
        yield _Plain(number, data.decode("utf-8", "replace"))
        number, at = number + 1, at + size


class _Plain:
    """A line of a log without wrappers, with its line end."""

    writer = ("", "")

    def __init__(self, place: int, text: str) -> None:
        self.place, self.texts = place, [text]

    def write(self, texts: Sequence[str], names: Names) -> Iterator[str]:
        """The line with other texts."""
        yield from texts


class _Wrapped:
    """A line that was unwrapped; one line of the file may contain several."""

    def __init__(self, line: Line) -> None:
        self.place = line.line, line.byte
        self.texts = line.text.decode("utf-8", "replace").split("\n")
        self.writer = line.writer, line.host
        self._utc = time_of(line.utc)

    def write(self, texts: Sequence[str], names: Names) -> Iterator[str]:
        """The line with other texts."""
        fields = {"pod": names.identity(self.writer[0]), "hostname": names.identity(self.writer[1])}
        if self._utc is not None:
            fields["@timestamp"] = f"{self._utc.isoformat('T', 'microseconds')}Z"
        yield self.packed({**fields, "message": names.alone("\n".join(text.rstrip("\r\n") for text in texts))})

    def packed(self, fields: Mapping[str, str]) -> str:
        """The fields as text of the file."""
        raise NotImplementedError


class _InObject(_Wrapped):
    header = ""

    def packed(self, fields: Mapping[str, str]) -> str:
        told = {key: value for key, value in fields.items() if value or key == "message"}
        return f"{json.dumps(told, ensure_ascii=False)}\n" if len(told) > 1 else f"{fields['message']}\n"


class _InRow(_Wrapped):
    header = "@timestamp,pod,hostname,message\n"

    def packed(self, fields: Mapping[str, str]) -> str:
        row = StringIO()
        csv.writer(row, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(
            fields.get(name, "") for name in self.header.rstrip().split(",")
        )
        return row.getvalue()


class _Records:
    """Records of a log, one after another, of each writer apart."""

    def __init__(self, head: bytes, names: Names, taken: Taken) -> None:
        first = layout_of(head).layout
        self._layouts: list[Layout] = [first] if first is not None else []
        self._names = names
        self._taken = taken
        self._pending: dict[tuple[str, str], list[_Wrapped | _Plain]] = {}

    def lines(self, lines: Iterable[_Wrapped | _Plain]) -> Iterator[str]:
        """Lines of the records with events, and the heads of the others."""
        for line in lines:
            record = self._pending.setdefault(line.writer, [])
            if record and (len(record) >= MAX_RECORD or self._message(line.texts[0]) is not None):
                yield from self._told(record)
                record.clear()
            record.append(line)
            if len(self._pending) > MAX_WRITERS:
                yield from self._told(self._pending.pop(next(iter(self._pending))))
        for record in self._pending.values():
            yield from self._told(record)

    def _told(self, record: Sequence[_Wrapped | _Plain]) -> Iterator[str]:
        read = [own for line in record if (own := self._taken.get(line.place)) is not None]
        numbers = Numbers(frozenset(self._names.nodes).union(*read))
        for at, line in enumerate(record):
            if read:
                texts = [self._read(text, numbers) for text in line.texts if not _FRAME.match(text)]
            else:
                texts = [head for text in line.texts[:1] if at == 0 and (head := self._head(text))]
            if texts:
                yield from line.write(texts, self._names)

    def _read(self, line: str, numbers: Numbers) -> str:
        """A line of a record that was read."""
        found = self._matched(line.rstrip("\r\n"))
        if found is None:
            if (setting := _SETTING.fullmatch(line)) is not None:
                return f"{self._names.text(setting[1])}{value_of(setting[1], setting[2], self._names)}{setting[3]}"
            return self._names.text(line, numbers)
        begin, end = found.span("message")
        return f"{self._before(line, found, begin)}{self._names.text(line[begin:end], numbers)}{self._around(line[end:])}"

    def _head(self, line: str) -> str | None:
        """A record that was not read, without its message."""
        found = self._matched(line.rstrip("\r\n"))
        if found is None:
            return None
        begin, end = found.span("message")
        return f"{self._before(line, found, begin)}{self._component(found, line[begin:end])}{REDACTED}{self._around(line[end:])}"

    def _component(self, found: regex.Match[str], message: str) -> str:
        """The prefix of a message with which a class of Kafka names itself and its node."""
        logger = found.groupdict().get("logger")
        try:
            columns, rest = prefix(message, logger)
        except ValueError:
            columns, rest = {}, message
        component = message[: len(message) - len(rest)]
        if not component and (bracketed := _COMPONENT.match(message)) is not None:
            component = bracketed[0]
        numbers = Numbers({*self._names.nodes, *(value for value in columns.values() if isinstance(value, int))})
        return self._names.text(component, numbers)

    def _before(self, line: str, found: regex.Match[str], begin: int) -> str:
        """What comes before the message: the time stays as it is."""
        first, last = found.span("time") if found["time"] is not None else (0, 0)
        if last > begin:
            return self._around(line[:begin])
        return f"{self._around(line[:first])}{line[first:last]}{self._around(line[last:begin])}"

    def _around(self, text: str) -> str:
        return self._names.text(text, Numbers(self._names.nodes), prose=False)

    def _message(self, line: str) -> tuple[int, int] | None:
        """The position of the message in a line that begins a record."""
        found = self._matched(line.rstrip("\r\n"))
        return found.span("message") if found is not None else None

    def _matched(self, text: str) -> regex.Match[str] | None:
        """The fields of a line that begins a record."""
        for layout in self._layouts:
            if (found := layout.line.fullmatch(text)) is not None:
                return found
        if len(self._layouts) < MAX_LAYOUTS and begins_record(text):
            learned = layout_of(text.encode(), line=text).layout
            found = learned.line.fullmatch(text) if learned is not None else None
            if learned is not None and found is not None:
                self._layouts.append(learned)
                return found
        return None


def checkpoint(stream: BinaryIO, names: Names) -> Iterator[str]:
    """Its lines contain a topic, a partition and an offset, so every name is recognised."""
    for line in lines_of(stream):
        entry = _ENTRY.fullmatch(line)
        yield names.add("topic", entry[1]) + entry[2] if entry is not None else names.text(line, Numbers(alone=_FEW_DIGITS))


def epochs(stream: BinaryIO, names: Names) -> Iterator[str]:
    """Its lines contain a version, a number of entries, or an epoch and an offset."""
    few = Numbers(alone=_FEW_DIGITS)
    return (names.text(line, CELLS if _EPOCH.fullmatch(line) is not None else few) for line in lines_of(stream))


def clean_shutdown(stream: BinaryIO, names: Names) -> Iterator[str]:
    """The epoch of the broker (CleanShutdownFileHandler)."""
    return (names.text(line, CELLS if _CLEAN_SHUTDOWN.fullmatch(line) is not None else NONE) for line in lines_of(stream))


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
            yield f"{_escaped(names.text(key))}={_escaped(value_of(key, value, names))}\n"


def value_of(key: str, value: str, names: Names) -> str:
    """The value of a setting: numbers of Kafka's own settings, and text."""
    value = masked(key, value)
    if key.strip(" =").endswith("cluster.id") and (cluster := names.known["cluster"].get(value.strip())) is not None:
        return cluster
    if names.odd_in(value):
        return names.text(value)
    return value if value == HIDDEN or _is_quantity(key, value.strip()) else names.text(value, Numbers(names.nodes))


def _is_quantity(key: str, value: str) -> bool:
    """Whether it is the number of one of Kafka's own settings."""
    words = WORD.findall(key)
    if not any(len(word) > 1 for word in words) or not vocabulary().issuperset(words) or _NUMERIC.fullmatch(value) is None:
        return False
    return _QUANTITY.search(key) is not None or all(len(digits) <= _FEW_DIGITS for digits in re.findall(r"\d+", value))


def _escaped(text: str) -> str:
    return "".join(c if c.isascii() else f"\\u{ord(c):04x}" for c in text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r"))


def plain(stream: BinaryIO, names: Names, read: Taken) -> Iterator[str]:
    """Every line. A line without an event may be anything, so only numbers that other lines have as well are kept in it."""
    head = stream.read(HEAD)
    stream.seek(0)
    if head.startswith(UTF16):
        raise Unsafe("text in UTF-16")
    values = frozenset[int](names.nodes).union(*read.values())
    in_table, elsewhere = Numbers(values, alone=4), Numbers(values)
    return (names.text(line, in_table if number in read else elsewhere) for number, line in enumerate(lines_of(stream), 1))


def numeric(stream: BinaryIO, names: Names) -> Iterator[str]:
    """Lines of numbers. The words of a line are Kafka's, or few of its numbers are kept."""
    for line in lines_of(stream):
        words = WORD.findall(line)
        known = vocabulary().issuperset(words) and (any(len(word) > 1 for word in words) or _ROW.fullmatch(line) is not None)
        yield names.text(line, CELLS if known else NONE)


PLAIN = frozenset(
    {
        "partition-metadata",
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
    }
)
NUMERIC = frozenset({"load-metrics", "gc-log"})
PROPERTIES = frozenset({"meta-properties", "server-properties"})
_WAYS: Mapping[str, Callable[[BinaryIO, Names], Iterator[str]]] = {
    **dict.fromkeys(PROPERTIES, properties),
    **dict.fromkeys(NUMERIC, numeric),
    **dict.fromkeys(CHECKPOINT_KINDS, checkpoint),
    "epoch-checkpoint": epochs,
    "clean-shutdown": clean_shutdown,
}


def rewritten(stream: BinaryIO, kind: str, names: Names, read: Taken) -> Iterator[str] | None:
    """A rewritten file; None if its kind is not a known kind of text. `read`: the numbers that its reader took."""
    if kind in LOG_KINDS:
        return log(stream, names, read, kind)
    if kind in PLAIN:
        return plain(stream, names, read)
    way = _WAYS.get(kind)
    return way(stream, names) if way is not None else None


_OF_GROUPS = named("group-commit", "client-reset", "group-coordinated")
"""Kinds whose value is a group."""
_WITH_HOSTS = re.compile(r"listeners|connect|servers|voters|host")
"""Settings in which a word before a number is a host; in `super.users` it is the type of a principal."""
HOSTED = re.compile(r"(?:^|[@/,\s\[])([A-Za-z][A-Za-z0-9.-]*[A-Za-z0-9]):\d{2,5}(?!\d)")


def note_all(told: Rows, names: Names) -> None:
    """Collects the names in events."""
    if isinstance(told, dict):
        note(told, names)
        return
    named = told.select(["event", "topic", "topic_id", "key", "value", "reason", "directory", "node", "broker", "leader"])
    for row in {tuple(r.items()): r for r in named.to_pylist()}.values():
        note(row, names)


def note(row: Row, names: Names) -> None:
    """Collects the names in one event."""
    names.nodes.update(node for key in ("node", "broker", "leader") if (node := row.get(key)) is not None and node >= 0)
    names.ids.update(text for key in ("topic_id", "directory") if (text := row.get(key)) and is_id(text))
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
    elif event == "config" and _WITH_HOSTS.search(row.get("key") or ""):
        for host in HOSTED.findall(value):
            if host != "localhost":
                names.add("host", host)


def note_member(member: Member, names: Names) -> None:
    """Collects the names in one path."""
    where = partition_of(member.path)
    if where is not None and re.search(r"/\d{20}\.log|partition\.metadata|leader-epoch-checkpoint", member.path):
        names.add("topic", where[0])
