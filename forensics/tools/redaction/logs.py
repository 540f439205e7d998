"""Rewritten logs: statements that Kafka is known to print, with the names in them replaced.

Here: the lines without their wrappers, and the records. Not here: the constant text of statements (in_place), or the rules of free text
(names).

If no pattern matches a record of a log, the tool only uses its time: its time, level and logger are kept, and its message is removed.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO, StringIO
from itertools import accumulate, islice, pairwise
from typing import BinaryIO, NamedTuple

import regex

from forensics.tools.redaction.in_place import fixed, marked, named
from forensics.tools.redaction.names import KeptWords, Names
from forensics.tools.redaction.reading import Read, Taken
from forensics.tools.redaction.vocabulary import PAIR, WORD, is_setting, of_code, of_starts, own_expressions, pairs, phrases
from parsers.catalogue.reading import OF_START
from parsers.catalogue.survey import REDACTED
from parsers.layouts import PREFIXES, STATE_CHANGE, Layout, prefix
from parsers.learning.layout import begins_record, layout_of
from parsers.learning.sample import HEAD
from parsers.limits import in_force
from parsers.lines import Outer, is_utf16
from parsers.patterns import PATTERNS
from parsers.patterns.pattern import Pattern
from parsers.wrappers.unwrapper import Line, Unwrapper, time_of

MAX_LINE = 1 << 20
"""Longer lines are cut here."""
MAX_LAYOUTS = 8
MAX_RECORD = 10_000
"""Lines of one record."""
MAX_WRITERS = 1000
_SAMPLE = 200
"""Unwrapped lines from which the layout is learned."""
_SETTING = re.compile(r"(\s+)([\w.]+)( = )(.*?)(\s*)", re.DOTALL)
"""A line of the settings that a broker prints when it starts."""
_THROWN = re.compile(r"(?P<cause>Caused by: )?(?P<class>(?:[a-z]\w*\.)+[A-Z][\w$]*)(?=$|[:;\s])", re.ASCII)
_GRAVE = re.compile(r"WARN|ERROR|FATAL", re.IGNORECASE)


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
    if is_utf16(head):
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
        kept_fields = {key: value for key, value in fields.items() if value or key == "message"}
        return f"{json.dumps(kept_fields, ensure_ascii=False)}\n" if len(kept_fields) > 1 else f"{fields['message']}\n"


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
        whole = Read(set().union(*(own.values for own in read)), set().union(*(own.patterns for own in read)))
        kept_fields = iter([*self._record(texts if read else texts[:1], whole), *(None for _ in texts)])
        for line in record:
            if shown := [text for text in islice(kept_fields, len(line.texts)) if text is not None]:
                yield from line.write(shown, self._names)

    def _record(self, texts: Sequence[str], read: Read) -> Iterator[str | None]:
        """The lines of a record; None for those that no reader needs. Of a first line from which nothing was read, the message is
        removed."""
        stripped = [text.rstrip("\r\n") for text in texts]
        seen = self._names.seen
        record = RewrittenRecord(
            list(map(self._names.without_hexadecimal, stripped)), self._names, KeptWords(of_code(), read.values | seen.nodes | seen.ports)
        )
        layout, found = self._matched(record.first) or (None, None)
        begin, end, logger = 0, len(record.first), None
        if found is not None:
            (begin, end), logger = found.span("message"), found["logger"]
            for what in ("time", "level", "logger"):
                if found[what] is not None:
                    own = what != "logger" or of_code().issuperset(filter(None, _STEP.split(found[what])))
                    first, last = found.span(what)
                    record.put(first, last, found[what] if own else self._names.text(found[what], KeptWords(of_code())))
        cut = (end, len(record.first))
        searched = layout.tail if layout is not None and logger is None else None
        if searched is not None and (tail := searched.search(record.text, len(record.first))) is not None:
            record.put(tail.start(), tail.end(), self._names.text(tail[0], KeptWords(of_code())))
            cut = tail.span()
        if not record.read(begin, end, cut, sorted(read.patterns), logger):
            if found is None and len(texts) == 1:
                return
            said = record.component(begin, end, logger)[0]
            starts = OF_START.match(record.text, said, end)  # by these lines, readers know that a process was started
            kept = self._names.text(starts[0], KeptWords(of_starts())) + " " if starts is not None else ""
            record.put(said, end, kept + REDACTED)
        ends = (text[len(body) :] for text, body in zip(texts, stripped, strict=True))
        yield from (line + end if line is not None else None for line, end in zip(record.lines(), ends, strict=True))

    def _matched(self, text: str) -> tuple[Layout, regex.Match[str]] | None:
        """The layout and the fields of a line that begins a record."""
        text = text.rstrip("\r\n")
        for layout in self._layouts:
            if (found := layout.line.fullmatch(text)) is not None:
                return layout, found
        learned = layout_of(text.encode(), line=text).layout if len(self._layouts) < MAX_LAYOUTS and begins_record(text) else None
        if learned is None or (found := learned.line.fullmatch(text)) is None:
            return None
        self._layouts.append(learned)
        return learned, found


_STEP = re.compile(r"[.$]")
_LONGEST = 80
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


class RewrittenRecord:
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

    def component(self, begin: int, end: int, logger: str | None) -> tuple[int, int]:
        """Puts the prefix with which a class of Kafka names itself and its node. Returns where it ends if it names a node, and where the
        message begins, which a thread's name may precede, too."""
        message = self.text[begin:end]
        try:
            columns, rest = prefix(message, logger)
        except ValueError:
            return begin, begin
        size = len(message) - len(rest)
        if not columns:
            return begin, begin + size
        matches = (marked(expression).match(message[:size] if message[0] == "[" else message) for expression in PREFIXES)
        found = next((match for match in matches if match is not None and match.end() == size), None)
        if found is not None:
            self.fix(found, [(begin, end)], fixes=False)
        return begin + size, begin + size

    def read(self, begin: int, end: int, cut: tuple[int, int], patterns: Collection[str], logger: str | None) -> bool:
        """Puts the text that statements fix, and the names in it. `cut`: the logger's name behind a part of the message. Whether a
        statement is in the first line."""
        begins = {self.component(begin, end, name)[1] for name in ((logger,) if logger is not None else (STATE_CHANGE, None))}
        read_first = False
        for name in patterns:
            if (pattern := _PATTERNS.get(name)) is None:
                continue
            expression = marked(pattern.regex, regex.DOTALL if pattern.multiline else 0)
            for place in self._places((*begins, begin), end, cut, pattern):
                with suppress(TimeoutError):
                    found = expression.fullmatch("".join(self.text[a:b] for a, b in place), timeout=in_force().patience)
                    if found is not None:
                        self.fix(found, place)
                        self._sentences(place[0], own_expressions()[name])
                        read_first = read_first or place[0][0] < len(self.first)
        raised = begin == 0 or len(self._begins) > 2 or _GRAVE.search(self.first, 0, begin) is not None
        for phrase in phrases() if raised and patterns else ():
            self._search(phrase, begin, len(self.text))
        return read_first

    def _search(self, expression: regex.Pattern[str], begin: int, end: int) -> None:
        """Puts what an expression fixes wherever it is found."""
        with suppress(TimeoutError):
            for found in expression.finditer(self.text, begin, end, timeout=in_force().patience):
                self.fix(found, [(0, len(self.text))], fixes=False)

    def _sentences(self, place: tuple[int, int], own: Iterable[regex.Pattern[str]]) -> None:
        """Puts sentences of Kafka in a text that a pattern matched, and what the pattern's module reads in it."""
        for pair in PAIR.finditer(self.text, *place):
            if pair.groups() in pairs() and self._names.whole.keys().isdisjoint(pair.groups()):
                for word in (1, 2):
                    self.put(*pair.span(word), pair[word], fixes=False)
        for expression in own:
            self._search(expression, *place)

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
        constant = [*fixed(found)]
        sentences = {begin for begin, end in constant if _LETTER.search(found.string, begin, end)}
        """Where a group begins that is a sentence, and not only a path."""
        texts = ((*span, found.string[slice(*span)]) for span in named(found, _OF_NAMES))
        known = (
            (begin, end, self._names.whole.get(text) or (self._free(text) if _PATH.search(text) and begin not in sentences else None))
            for begin, end, text in texts
        )
        spans = [*((begin, end, name) for begin, end, name in known if name is not None), *((*span, None) for span in constant)]
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
                shown = self._names.setting(setting[2], setting[4], self._kept.values)
                # the order of the names is that of lines of the same time
                yield f"{setting[1]}{setting[2]}{setting[3]}{shown}{setting[5]}" if is_setting(setting[2]) else None
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
        """A part of a word of Kafka whose rest is fixed: `Change` in `BrokerChangeListener`."""
        for word in _WORD_IN_CODE.finditer(self.text, max(0, begin - _LONGEST), end + _LONGEST):
            if word.start() <= begin and end <= word.end() and (word.start(), word.end()) != (begin, end):
                return self.text[begin:end] if word[0] in self._kept.words else None
        return None
