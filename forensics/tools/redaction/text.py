"""Rewritten text files: logs reduced to statements that Kafka is known to print, and files of known kinds to what their readers take.

Here: one way for each kind of text. Not here: the replacements of names and the rules of free text (names), or the constant text of
statements (in_place).

If no pattern matches a record of a log, the tool only uses its time: its time, level and logger are kept, and its message is removed.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import timezone
from functools import partial
from io import BytesIO, StringIO
from itertools import accumulate, islice, pairwise
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import regex

from forensics.tools.redaction.in_place import fixed, marked, named
from forensics.tools.redaction.names import SHORT, KeptWords, Names, is_address
from forensics.tools.redaction.vocabulary import (
    OF_GC,
    PAIR,
    WORD,
    is_id,
    is_random,
    is_read,
    of_code,
    of_loggers,
    of_paths,
    of_settings,
    of_tools,
    own_expressions,
    pairs,
    phrases,
    words,
)
from parsers.catalogue.survey import REDACTED
from parsers.evidence import LOG_KINDS
from parsers.formats import gc, load_metrics
from parsers.formats.checkpoints import EVENTS_OF_KIND as CHECKPOINT_KINDS
from parsers.formats.checkpoints import integer
from parsers.formats.properties import settings
from parsers.kinds import named as kinds_named
from parsers.layouts import PREFIXES, STATE_CHANGE, Layout, prefix
from parsers.learning.layout import begins_record, layout_of
from parsers.learning.sample import HEAD
from parsers.lines import UTF16, Outer
from parsers.masking import HIDDEN, masked
from parsers.paths import partition_of
from parsers.patterns import PATTERNS
from parsers.patterns.pattern import Pattern
from parsers.schemas import EVENTS, INT32, INT64, Member, Row, Rows
from parsers.wrappers.unwrapper import Line, Unwrapper, time_of

MAX_LINE = 1 << 20
"""Longer lines are cut here."""
MAX_LAYOUTS = 8
MAX_RECORD = 10_000
"""Lines of one record."""
MAX_WRITERS = 1000
_SAMPLE = 200
"""Unwrapped lines from which the layout is learned."""
_PLACES = frozenset({"line", "byte"})
_COLUMNS = [f.name for f in EVENTS if f.name not in _PLACES and f.name not in ("source", "text", "time", "collected", "topic", "host")]
_NUMERIC = re.compile(r"-?\d{1,19}(?:[.,:] ?-?\d{1,19})*(?:-IV\d+)?", re.ASCII)
_SETTING = re.compile(r"(\s+)([\w.]+)( = )(.*?)(\s*)", re.DOTALL)
"""A line of the settings that a broker prints when it starts."""
_THROWN = re.compile(r"(?P<cause>Caused by: )?(?P<class>(?:[a-z]\w*\.)+[A-Z][\w$]*)(?=$|[:;\s])", re.ASCII)
_DATE = re.compile(r"#[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d? \d\d:\d\d:\d\d [A-Z]{1,5} 20\d\d\s*", re.ASCII)
_CLEAN_SHUTDOWN = re.compile(r'\s*\{\s*"version"\s*:\s*\d{1,4}\s*,\s*"brokerEpoch"\s*:\s*-?\d{1,19}\s*\}\s*', re.ASCII)
_ASSIGNED = re.compile(r"(?<![\w.-])([\w.-]+)=([^,\s\"'{}()\[\]]+)")
_ZNODE_TIME = re.compile(r"[cm]time = [A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d (?:UTC|GMT) 20\d\d\s*", re.ASCII)
_GRAVE = re.compile(r"WARN|ERROR|FATAL", re.IGNORECASE)
_JSON_ESCAPE = regex.compile(r"(?<!\\)(?:\\\\)*\K\\(?:u([0-9a-fA-F]{4})|[^\\u])")
_SIZE = re.compile(r"(?<![\w.])\d+([BKMG])(?![A-Za-z])", re.ASCII)
_COLUMNS_OF_LOAD = frozenset((*load_metrics.BROKER_COLUMNS, *load_metrics.TIME_COLUMNS))
_HEADER = 2
"""Lines of a checkpoint before its entries: a version, and the number of entries."""
_SMALL = 6
"""Digits of such a number."""


@dataclass
class Read:
    """What a reader took from a line."""

    values: set[str] = field(default_factory=set)
    """Numbers and versions."""
    patterns: set[str] = field(default_factory=set)


Taken = Mapping["int | tuple[int, int]", Read]
"""By line, and by line and byte."""


def taken(rows: Iterable[Rows], *, texts: bool = False) -> dict[int | tuple[int, int], Read]:
    """What is in the events of each line. `texts`: numbers in columns of text, too, as in a copy only those are that a reader took."""
    found: dict[int | tuple[int, int], Read] = defaultdict(Read)
    for told in rows:
        for row in _filled(told) if isinstance(told, pa.RecordBatch) else (told,):
            if row.get("line") is None or row["event"] == "last-line":  # of that line, only its time counts
                continue
            values = {str(n + by) for name in row.keys() - _PLACES for n in _numbers(row[name]) for by in (-1, 0, 1)}
            value = row.get("value") or ""
            if row["event"] == "kafka-version" or (row["event"] == "config" and is_read(row.get("key") or "")):
                values.update((value, *re.findall(r"\d+", value)) if _NUMERIC.fullmatch(value) else ())
            if texts and row["event"] != "config":
                told_in = [row.get(name) or "" for name in ("value", "reason", "key")]
                values.update(text for text in told_in if text.isdecimal())
                values.update(n for text in told_in for phrase in phrases() for m in phrase.finditer(text) for n in m.groups() if n)
            if row.get("clock") == "stamp":
                values.add(str(round(row["time"].replace(tzinfo=timezone.utc).timestamp() * 1000)))
            for place in (row["line"], (row["line"], row.get("byte") or 0)):
                found[place].values |= values
                found[place].patterns.add(row.get("pattern") or "")
    return found


def _filled(batch: pa.RecordBatch) -> Iterator[Row]:
    """The rows with those columns that have values."""
    names = [name for name in _COLUMNS if batch[name].null_count < len(batch) and not pa.types.is_boolean(batch[name].type)]
    yield from batch.select(["line", "byte", *names]).to_pylist()


def _numbers(value: Any) -> Iterator[int]:
    """The numbers in a column; readers also compute the offset before or after the one that they read."""
    if isinstance(value, int):
        yield abs(value)
    elif isinstance(value, dict | list):
        yield from (n for inner in (value.values() if isinstance(value, dict) else value) for n in _numbers(inner))


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
        fields = {"pod": names.step(self.writer[0]), "hostname": names.step(self.writer[1])}
        if self._utc is not None:
            fields["@timestamp"] = f"{self._utc.isoformat('T', 'microseconds')}Z"
        yield self.packed({**fields, "message": "\n".join(text.rstrip("\r\n") for text in texts)})

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
            if record and (len(record) >= MAX_RECORD or self._matched(line.texts[0]) is not None):
                yield from self._told(record)
                record.clear()
            record.append(line)
            if len(self._pending) > MAX_WRITERS:
                yield from self._told(self._pending.pop(next(iter(self._pending))))
        for record in self._pending.values():
            yield from self._told(record)

    def _told(self, record: Sequence[_Wrapped | _Plain]) -> Iterator[str]:
        read = [own for line in record if (own := self._taken.get(line.place)) is not None]
        texts = [text for line in record for text in line.texts]
        if read:
            told = self._record(texts, Read(set().union(*(r.values for r in read)), set().union(*(r.patterns for r in read))))
        else:
            told = [self._head(texts[0]), *(None for _ in texts[1:])]
        at = 0
        for line in record:
            kept = [text for text in told[at : at + len(line.texts)] if text is not None]
            at += len(line.texts)
            if kept:
                yield from line.write(kept, self._names)

    def _record(self, texts: Sequence[str], read: Read) -> list[str | None]:
        """The lines of a record that was read; None for those that no reader needs."""
        stripped = [text.rstrip("\r\n") for text in texts]
        bodies = list(map(self._names.without_hexadecimal, stripped))
        record = _Record(bodies, self._names, KeptWords(of_code(), read.values | self._names.seen.nodes | self._names.seen.ports))
        found = self._matched(bodies[0])
        begin, end = self._around(record, found)
        cut = (end, len(bodies[0]))
        layout = next((own for own in self._layouts if own.line.fullmatch(bodies[0])), None)
        searched = layout.tail if layout is not None and found is not None and found["logger"] is None else None
        if searched is not None and (tail := searched.search(record.text, len(bodies[0]))) is not None:
            record.put(tail.start(), tail.end(), self._names.text(tail[0], KeptWords(of_loggers())))
            cut = tail.span()
        record.read(begin, end, cut, sorted(read.patterns), found["logger"] if found is not None else None)
        ends = (text[len(body) :] for text, body in zip(texts, stripped, strict=True))
        return [line + end if line is not None else None for line, end in zip(record.lines(), ends, strict=True)]

    def _around(self, record: _Record, found: regex.Match[str] | None) -> tuple[int, int]:
        """Puts what is before and after the message of a record's first line: its time, level and logger stay. Returns the place of the
        message."""
        if found is None:
            return 0, len(record.first)
        begin, end = found.span("message")
        at = 0
        for what in sorted((w for w in ("time", "level", "message", "logger") if found[w] is not None), key=found.start):
            first, last = found.span(what)
            if first < at:
                continue
            record.put(at, first, self._names.text(record.first[at:first], KeptWords(of_code() | of_loggers(), self._names.seen.nodes)))
            if what == "logger":
                own = of_loggers().issuperset(_WORD_OF_LOGGER.findall(found[what]))  # a topic may be called `log`, and so is a package
                record.put(first, last, found[what] if own else self._names.text(found[what], KeptWords(of_loggers() | of_code())))
            elif what != "message":
                record.put(first, last, found[what])
            at = last
        record.put(at, len(record.first), self._names.text(record.first[at:], KeptWords(of_code() | of_loggers(), self._names.seen.nodes)))
        return begin, end

    def _head(self, line: str) -> str | None:
        """A record that was not read, without its message."""
        body = line.rstrip("\r\n")
        if (found := self._matched(body)) is None:
            return None
        record = _Record([body], self._names, KeptWords(of_code(), self._names.seen.nodes))
        begin, end = self._around(record, found)
        columns, at = record.component(begin, end, found["logger"])
        record.put(at if columns else begin, end, REDACTED)
        return f"{next(record.lines())}{line[len(body) :]}"

    def _matched(self, text: str) -> regex.Match[str] | None:
        """The fields of a line that begins a record."""
        text = text.rstrip("\r\n")
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


_LONGEST = 80
_WORD_OF_LOGGER = re.compile(r"[A-Za-z0-9]+")
_WORD_IN_CODE = re.compile(r"(?<!\w)[A-Za-z]+(?!\w)", re.ASCII)
_PATH = re.compile(r"[/\\]")
_IN_LINE = re.compile(r"[^\n]+")
_LETTER = re.compile(r"[A-Za-z]{2}")
_PATTERNS = {pattern.name: pattern for pattern in PATTERNS}
_OF_NAMES = ("topic", "value", "host", "directory", "reason", "key")


class _TextPart(NamedTuple):
    """Text in place of a part of a record."""

    begin: int
    end: int
    text: str
    fixes: bool
    """A pattern fixes it, so its line is needed."""


class _Record:
    """The lines of a record, and what is put in place of parts of them."""

    def __init__(self, bodies: Sequence[str], names: Names, kept: KeptWords) -> None:
        self.first = bodies[0]
        self.text = "\n".join(bodies)
        self._begins = [0, *accumulate(len(body) + 1 for body in bodies)]
        self._names, self._kept = names, kept
        self._parts: list[_TextPart] = []

    def put(self, begin: int, end: int, text: str, *, fixes: bool = True) -> None:
        if begin < end:
            self._parts.append(_TextPart(begin, end, text, fixes))

    def component(self, begin: int, end: int, logger: str | None) -> tuple[Mapping[str, Any], int]:
        """Puts the prefix with which a class of Kafka names itself; its columns, and where the message begins after it."""
        message = self.text[begin:end]
        try:
            columns, rest = prefix(message, logger)
        except ValueError:
            columns, rest = {}, message
        at = begin + len(message) - len(rest)
        for expression in PREFIXES if columns else ():
            if (found := marked(expression).match(message)) is not None and found.end() == at - begin:
                self.fix(found, [(begin, end)])
                break
        return columns, at

    def read(self, begin: int, end: int, cut: tuple[int, int], patterns: Iterable[str], logger: str | None) -> None:
        """Puts the text that statements fix, and the names in it. `cut`: the logger's name behind a part of the message."""
        begins = [self.component(begin, end, name)[1] for name in ((logger,) if logger is not None else (STATE_CHANGE, None))]
        first = False
        for name, pattern in ((name, _PATTERNS[name]) for name in patterns if name in _PATTERNS):
            expression = marked(pattern.regex, regex.DOTALL if pattern.multiline else 0)
            for place in self._places((*begins, begin), end, cut, pattern):
                if (found := expression.fullmatch("".join(self.text[a:b] for a, b in place))) is not None:
                    first = first or place[0][0] < end
                    self.fix(found, place)
                    self._sentences(place[0], own_expressions()[name])
                    if pattern.multiline:
                        break
        for phrase in phrases() if begin == 0 or len(self._begins) > 2 or _GRAVE.search(self.first, 0, begin) else ():
            for found in phrase.finditer(self.text, begin):
                self.fix(found, [(0, len(self.text))], fixes=False)
        if not first and len(self._begins) > 2 and not any(part.begin < end and begins[0] < part.end for part in self._parts):
            self.put(begins[0], end, REDACTED)  # only the lines after the first one were read

    def _sentences(self, place: tuple[int, int], own: Iterable[regex.Pattern[str]]) -> None:
        """Puts sentences of Kafka in a text that a pattern matched, and what the pattern's module reads in it."""
        for pair in PAIR.finditer(self.text, *place):
            if pair.groups() in pairs() and self._names.whole.keys().isdisjoint(pair.groups()):
                for word in (1, 2):
                    self.put(*pair.span(word), pair[word], fixes=False)
        for expression in own:
            for found in expression.finditer(self.text, *place):
                self.fix(found, [(0, len(self.text))], fixes=False)

    def _places(self, begins: Iterable[int], end: int, cut: tuple[int, int], pattern: Pattern) -> Iterator[Sequence[tuple[int, int]]]:
        """The texts that a pattern may have been applied to: the whole message, or one line, with or without a component's prefix."""
        size, first = len(self.text), len(self.first)
        for begin in begins:
            if not pattern.multiline:
                yield [(begin, end)]
            elif cut[0] >= first:
                yield [(begin, end), (first, cut[0]), (cut[1], size)]
            else:
                yield [(begin, end), (first, size)]
        if not pattern.multiline:
            yield from ([(a, b - 1)] for a, b in pairwise(self._begins) if a)

    def fix(self, found: regex.Match[str], place: Sequence[tuple[int, int]], *, fixes: bool = True) -> None:
        """Puts what a match fixes, and names that are whole groups of it. `place`: the parts of the text that were matched."""
        texts = ((*span, found.string[slice(*span)]) for span in named(found, _OF_NAMES))
        known = (
            (begin, end, self._names.whole.get(text) or (self._free(text) if _PATH.search(text) else None)) for begin, end, text in texts
        )
        spans = [*((begin, end, name) for begin, end, name in known if name is not None), *((*span, None) for span in fixed(found))]
        done = 0
        for a, b in place:
            for begin, end, name in spans:
                first, last = max(begin, done) + a - done, min(end, done + b - a) + a - done
                if first >= last:
                    continue
                if name is not None:
                    self.put(first, last, name)
                for shown in _IN_LINE.finditer(self.text, first, last) if name is None else ():
                    if shown[0].isascii() and (fixes or WORD.search(shown[0])):
                        self.put(*shown.span(), shown[0], fixes=fixes and _LETTER.search(shown[0]) is not None)
            done += b - a

    def lines(self) -> Iterator[str | None]:
        """The lines; None for those that no reader needs: frames of a stack, further lines of an exception's message."""
        parts = sorted(self._parts, key=lambda part: part[0])
        at = thrown = 0
        for number, (begin, after) in enumerate(pairwise(self._begins)):
            end, body = after - 1, self.text[begin : after - 1]
            own = []
            while at < len(parts) and parts[at].begin < end:
                own.append(parts[at])
                at += 1
            if number == 0 or any(part.fixes for part in own):
                yield self._joined(begin, end, own, None)
            elif (setting := _SETTING.fullmatch(body)) is not None:
                key = self._names.text(setting[2], KeptWords(of_settings()))
                yield f"{setting[1]}{key}{setting[3]}{value_of(setting[2], setting[4], self._names, self._kept.values)}{setting[5]}"
            elif own or body[:1].strip():
                cause = _THROWN.match(body)
                if cause is not None or own or not thrown:
                    head = f"{cause['cause'] or ''}{self._free(cause['class'])}" if cause is not None else ""
                    yield head + self._joined(begin + (cause.end() if cause is not None else 0), end, own, self._names.said)
                else:
                    yield None
                thrown = 1
            else:
                yield None

    def _free(self, text: str) -> str:
        return self._names.text(text, self._kept)

    def _joined(self, begin: int, end: int, parts: Iterable[_TextPart], other: Callable[[str], str] | None) -> str:
        """A line of parts and what is between them. `other`: what becomes of that; None: free text."""
        pieces = []
        for part in (*parts, _TextPart(end, end, "", False)):
            if begin < part.begin:
                gap = self.text[begin : part.begin]
                pieces += [other(gap) if other is not None else self._in_word(begin, part.begin) or self._free(gap), part.text]
            elif begin == part.begin:
                pieces.append(part.text)
            elif part.end > begin and part.text == self.text[part.begin : part.end]:
                pieces.append(part.text[begin - part.begin :])
            else:
                continue
            begin = part.end
        return "".join(pieces)

    def _in_word(self, begin: int, end: int) -> str | None:
        """A part of one of Kafka's words of which the rest is fixed: `Change` in `BrokerChangeListener`."""
        for word in _WORD_IN_CODE.finditer(self.text, max(0, begin - _LONGEST), end + _LONGEST):
            if word.start() <= begin and end <= word.end() and (word.start(), word.end()) != (begin, end):
                return self.text[begin:end] if word[0] in self._kept.words else None
        return None


def checkpoint(stream: BinaryIO, names: Names, fields: int) -> Iterator[str]:
    """A version, a number of entries, and entries that end with two numbers, before which there may be a topic."""
    for number, line in enumerate(lines_of(stream)):
        cells = line.split()
        numbers = all(integer(cell, INT64) is not None for cell in cells[-2:])
        if len(cells) == fields and numbers:
            yield " ".join((*(names.add("topic", topic) for topic in cells[:-2]), *cells[-2:])) + "\n"
        else:
            header = number < _HEADER and len(cells) == 1 and len(cells[0]) <= _SMALL and integer(cells[0], INT32) is not None
            yield names.text(line, KeptWords(values=frozenset(cells if header else ())))


def clean_shutdown(stream: BinaryIO, names: Names) -> Iterator[str]:
    """The epoch of the broker (CleanShutdownFileHandler)."""
    return (line if _CLEAN_SHUTDOWN.fullmatch(line) is not None else names.text(line, KeptWords()) for line in lines_of(stream))


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
            shown = names.text(key, KeptWords(of_settings())), value_of(key, value, names)
            yield f"{'='.join(text.replace(chr(92), chr(92) * 2).replace(chr(10), '').replace(chr(13), '') for text in shown)}\n"


def value_of(key: str, value: str, names: Names, values: Set[str] | None = None) -> str:
    """The value of a setting: numbers of those of Kafka's settings that this tool reads, words of Kafka, and stand-ins. `values`: the
    numbers that a reader took from these settings, if it does not read all."""
    value = masked(key, value)
    numeric = is_read(key) and _NUMERIC.fullmatch(value.strip()) is not None
    if value == HIDDEN or (numeric and (values is None or value.strip() in values)):
        return value
    seen = names.seen
    return names.whole.get(value.strip()) or names.text(value, KeptWords(of_code() | of_paths(), seen.nodes | seen.ports))


def plain(stream: BinaryIO, names: Names, read: Taken) -> Iterator[str]:
    """Output of tools, and files of JSON: words of these, and numbers that a reader took from any line."""
    head = stream.read(HEAD)
    stream.seek(0)
    if head.startswith(UTF16):
        raise Unsafe("text in UTF-16")
    values = set[str]().union(names.seen.nodes, names.seen.ports, *(own.values for own in read.values()))
    kept = KeptWords(of_tools() | of_code() | of_settings() | of_paths(), values)
    for line in lines_of(stream):
        line = _JSON_ESCAPE.sub(_unescaped, line) if '"' in line else line
        line = _ASSIGNED.sub(lambda found: f"{found[1]}={masked(found[1], found[2])}", line)
        yield line if _ZNODE_TIME.fullmatch(line) is not None else names.text(names.without_hexadecimal(line), kept)


def _unescaped(escape: regex.Match[str]) -> str:
    """The character of a JSON escape, if it needs none."""
    character = chr(int(escape[1], 16)) if escape[1] else ""
    return character if character.isalnum() or (character and character in "._-@: ") else "_"


def of_gc(stream: BinaryIO, names: Names) -> Iterator[str]:
    """The times and pauses of a log of garbage collections."""
    kept = KeptWords(words(OF_GC) | {"0B", "0K", "0M", "0G"})
    for line in lines_of(stream):
        body = _SIZE.sub(r"0\1", line.rstrip("\r\n"))
        record = _Record([body], names, kept)
        for expression in gc.TAKEN:
            for found in marked(expression).finditer(body):
                record.fix(found, [(0, len(body))])
        yield f"{next(record.lines())}\n"


def of_load(stream: BinaryIO, names: Names) -> Iterator[str]:
    """Ids of brokers, times and numbers of a table of metrics."""
    mark, columns = None, []
    for line in lines_of(stream):
        if mark is None and line.strip():
            mark = load_metrics.delimiter(line.removeprefix("\ufeff"))
            if mark is None:
                raise Unsafe("a table without brokers")
            columns = load_metrics.columns(line, mark)
            yield mark.join(c if c in _COLUMNS_OF_LOAD or not c else names.add("word", c) for c in columns) + "\n"
        elif mark is not None:
            try:
                cells = next(csv.reader(StringIO(line), delimiter=mark), [])
            except csv.Error:
                cells = ["?"]
            yield mark.join(_cell(cell.strip(), column, mark) for cell, column in zip(cells, columns, strict=False)) + "\n"


def _cell(cell: str, column: str, mark: str) -> str:
    if column in load_metrics.BROKER_COLUMNS:
        return cell if integer(cell, INT32) is not None else SHORT
    if column in load_metrics.TIME_COLUMNS:
        time = load_metrics.time_of(cell)
        return f"{time.isoformat()}Z" if time is not None else SHORT if cell else ""
    return (load_metrics.number(cell, mark) or SHORT) if cell else ""


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
NUMERIC_KINDS = frozenset({"load-metrics", "gc-log", "epoch-checkpoint", *CHECKPOINT_KINDS, "clean-shutdown"})
"""Files that hold hardly anything but numbers."""
PROPERTIES = frozenset({"meta-properties", "server-properties"})
_WAYS: Mapping[str, Callable[[BinaryIO, Names], Iterator[str]]] = {
    **dict.fromkeys(PROPERTIES, properties),
    **dict.fromkeys(CHECKPOINT_KINDS, partial(checkpoint, fields=3)),
    "epoch-checkpoint": partial(checkpoint, fields=2),
    "load-metrics": of_load,
    "gc-log": of_gc,
    "clean-shutdown": clean_shutdown,
}


def rewritten(stream: BinaryIO, kind: str, names: Names, read: Taken) -> Iterator[str] | None:
    """A rewritten file; None if its kind is not a known kind of text. `read`: what its reader took."""
    if kind in LOG_KINDS:
        return log(stream, names, read, kind)
    if kind in PLAIN:
        return plain(stream, names, read)
    way = _WAYS.get(kind)
    return way(stream, names) if way is not None else None


_OF_GROUPS = kinds_named("group-commit", "client-reset", "group-coordinated")
"""Kinds whose value is a group."""
_OF_ADDRESSES = frozenset({"connection-failed", "authentication-failed", "broker-registered", "group-member"})
"""Kinds whose value or host is an address."""
_WITH_HOSTS = re.compile(
    r"(?:advertised\.)?(?:listeners|host\.name)|zookeeper\.connect|(?:controller\.quorum\.)?bootstrap\.servers|controller\.quorum\.voters"
)
"""Settings in which a word before a number is a host; in `super.users` it is the type of a principal."""
HOSTED = re.compile(r"(?:^|[@/,\s\[(])([A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9])(?::|, ?)(\d{2,5})(?!\d)", re.ASCII)
_IN_PATH = re.compile(r"[/\\]([A-Za-z0-9._-]{1,249})-(\d{1,10})[/\\]\d{20}\.", re.ASCII)
_PORT = re.compile(r"://[^,]{0,300}:(\d{2,5})(?=,|$)", re.ASCII)
_NOTED = ["event", "topic", "partition", "topic_id", "key", "value", "host", "reason", "directory", "node", "broker", "leader"]


def note_all(told: Rows, names: Names, *, binary: bool = False) -> None:
    """Collects the names in events. `binary`: from records in which ids are not text, and stay."""
    if isinstance(told, dict):
        note(told, names, binary=binary)
        return
    for row in {tuple(r.items()): r for r in told.select(_NOTED).to_pylist()}.values():
        note(row, names, binary=binary)


def note(row: Row, names: Names, *, binary: bool = False) -> None:
    """Collects the names in one event."""
    seen = names.seen
    seen.nodes.update(str(node) for key in ("node", "broker", "leader") if (node := row.get(key)) is not None and node >= 0)
    ids = (text for key in ("topic_id", "directory") if (text := row.get(key)))
    seen.ids.update(text for text in ids if is_random(text) or (binary and is_id(text)))
    if row.get("topic"):
        names.add("topic", row["topic"])
        seen.partitions.add((row["topic"], str(row.get("partition"))))
    event, key, value = row["event"], row.get("key") or "", row.get("value") or ""
    for topic, partition in _IN_PATH.findall(value):
        names.add("topic", topic)
        seen.partitions.add((topic, partition))
    if event in _OF_GROUPS:
        names.add("group", value)
    elif event == "group-member":
        names.add("group", value)
        names.add("client", key)
    elif event == "transaction-state":
        names.add("transaction", value)
    elif event in ("log-directory-identity", "cluster-id-mismatch") or (event == "config" and key == "cluster.id"):
        for cluster in (value, row.get("reason") or "" if event == "cluster-id-mismatch" else ""):
            names.add("cluster", cluster)
    if event in _OF_ADDRESSES or (event == "config" and _WITH_HOSTS.fullmatch(key)):
        _note_hosts(f"{value} {row.get('host') or ''}", names)


def _note_hosts(text: str, names: Names) -> None:
    for host, port in HOSTED.findall(text):
        names.seen.ports.add(port)
        if host != "localhost" and not is_address(host):
            names.add("host", host)
    names.seen.ports.update(_PORT.findall(text))


def note_member(member: Member, names: Names) -> None:
    """Collects the names in one path."""
    where = partition_of(member.path)
    if where is not None and re.search(r"/\d{20}\.log|partition\.metadata|leader-epoch-checkpoint", member.path):
        names.add("topic", where[0])
        names.seen.partitions.add((where[0], str(where[1])))
