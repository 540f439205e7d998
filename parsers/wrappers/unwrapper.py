"""From the lines of a file to the plain lines in them, each with its place, and the time and writer from its wrappers.

Here: nested wrappers, which of them are accepted, and texts over several lines: lines split by a runtime, entries of the journal, joined
files. Not here: the form of each wrapper (forms, json_records).

A line without a wrapper is returned unchanged, so that a file may change in the middle.
"""

from __future__ import annotations

import io
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice, pairwise, repeat
from typing import Any, NamedTuple

from parsers.layouts import Layout, fitting, instant
from parsers.learning.layout import layout_of
from parsers.lines import MAX_LOG_LINE, Outer
from parsers.matching.text import THROWN
from parsers.paths import log_kind
from parsers.thresholds import QUARTER
from parsers.wrappers.exports import ExportRecord, Records, records_of
from parsers.wrappers.forms import FORMS, STAMPED, pairs_of, pod
from parsers.wrappers.json_records import ARRAY, JOURNAL_FIELDS, is_record_of_json, objects, of_json, of_object, rendered
from parsers.wrappers.peeled import RAW, Peeled, epoch
from parsers.wrappers.prefixes import Prefix, prefix_of
from parsers.wrappers.roles import Roles, roles, with_roles
from parsers.wrappers.runs import LineForm, learned, of_table, run_of

MAX_FIELD = 1 << 30
"""Bytes kept of a field of the journal."""
MAX_DEPTH = 5
MAX_NEW_WRITERS = 9
"""Largest number of writers in a file's first lines for which the words before a `|` are accepted as names, without other proof."""
MAX_LESSONS = 64
"""JSON objects in a file before the form of its lines is learned: that takes longer than reading one."""
MAX_PENDING = 256
"""Writers whose split lines are kept until their ends are read."""
_SNIFFED_LINES = 200
_MOST_FORMS = 4
_RUN = 1 << 12
"""Lines of a run."""


class Line(NamedTuple):
    """One line of a file, unwrapped."""

    text: bytes
    """The unwrapped text; several lines if the wrapper keeps a message and its stack trace together."""
    line: int
    byte: int
    raw: bytes
    """The file's own text, cut."""
    writer: str
    """Pod, container or joined file that the line is from; '' if unknown."""
    host: str
    utc: datetime | bytes | None
    """When the wrapper received the line; as text (RFC 3339 or a number) if it was not converted yet."""


@dataclass(slots=True)
class WriterRun:
    """Consecutive lines of one writer and one host: lists by line, with the fields of Line."""

    text: list[bytes] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    byte: list[int] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    utc: list[datetime | bytes | None] = field(default_factory=list)
    writer: str = ""
    host: str = ""

    @classmethod
    def of(cls, line: Line) -> WriterRun:
        return cls([line.text], [line.line], [line.byte], [line.raw], [line.utc], line.writer, line.host)

    def __len__(self) -> int:
        return len(self.text)

    def __iter__(self) -> Iterator[Line]:
        return map(Line, self.text, self.line, self.byte, self.raw, repeat(self.writer), repeat(self.host), self.utc)

    def add(self, others: WriterRun) -> None:
        self.text += others.text
        self.line += others.line
        self.byte += others.byte
        self.raw += others.raw
        self.utc += others.utc

    def at(self, order: Iterable[int]) -> WriterRun:
        """The lines with these indexes, in this order."""
        indexes = list(order)
        return WriterRun(
            [self.text[i] for i in indexes],
            [self.line[i] for i in indexes],
            [self.byte[i] for i in indexes],
            [self.raw[i] for i in indexes],
            [self.utc[i] for i in indexes],
            self.writer,
            self.host,
        )

    def drop(self, count: int) -> None:
        """Number of the first one."""
        del self.text[:count], self.line[:count], self.byte[:count], self.raw[:count], self.utc[:count]


_MOST_DIGITS = 19


def time_of(utc: datetime | bytes | None) -> datetime | None:
    """The time at which a wrapper received a line, naive."""
    if not isinstance(utc, bytes):
        return utc
    if len(utc) <= _MOST_DIGITS and utc.replace(b".", b"", 1).isdigit():
        return epoch(float(utc) if b"." in utc else int(utc))
    at, zoned = instant(utc.decode("ascii", "replace"))
    return at if zoned else None


def finer(time: datetime, stamp: datetime | None) -> datetime:
    """A time in whole seconds plus the fraction of the wrapper's time, if both are in the same second in some zone."""
    if stamp is None:
        return time
    try:
        shown = stamp + round((time - stamp) / QUARTER) * QUARTER
    except OverflowError:
        return time
    return shown if timedelta(0) <= shown - time < timedelta(seconds=1) else time


def holds_log(head: bytes, given: Sequence[Layout] = ()) -> bool:
    """Whether any of a file's first lines is a log record or wraps one."""
    unwrapper = Unwrapper(given)
    unwrapper.prepare(head)
    outer = Outer(io.BytesIO(), head)
    lines = [line.text[:RAW] for line in islice(unwrapper.lines(outer), _SNIFFED_LINES)]
    listed = any(fitting(line.decode("utf-8", "replace"), given) is not None for line in lines)
    return listed or layout_of(b"\n".join(lines)).layout is not None


def _peels_by_form(lines: Sequence[bytes]) -> Mapping[str, list[Peeled]]:
    """The lines without their wrapper, by its form, for forms that look like ordinary text."""
    by_form: dict[str, list[Peeled]] = defaultdict(list)
    for line in lines:
        for name, peel, sure in FORMS.get(line[:1], ()):
            if not sure and (peeled := peel(line)) is not None and _MAY_WRITE.fullmatch(peeled.writer):
                by_form[name].append(peeled)
                break
    return by_form


def _are_records(peels: Sequence[Peeled]) -> bool:
    """Whether at least half of the texts are records in one layout."""
    layout = layout_of(b"\n".join(peeled.text for peeled in peels)).layout
    records = [layout.read(peeled.text.decode("utf-8", "replace")) for peeled in peels] if layout is not None else []
    return 2 * sum(record is not None and record.time is not None for record in records) >= len(peels)


class Unwrapper:
    """Removes the wrappers line by line. Some look like ordinary text (`a | b`): these are accepted once they contain a log record."""

    def __init__(self, given: Sequence[Layout] = ()) -> None:
        self._given = given
        self._believed: set[str] = set()
        self._section = ""
        self._prefix: Prefix | None = None
        self._width = 0
        self._pending: dict[tuple[str, str], tuple[bytes, Line]] = {}
        self._ended = False
        self._forms: list[LineForm] = []
        self._lessons = MAX_LESSONS
        self._records: Records | None = None
        self._roles: Roles = {}
        self._named: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
        """Gives a record of JSON with its values under known names; None if its own names are known."""
        self.of_store = False
        """The records are those of a log store or a collector, which name the writer of each line."""
        self._holds_lines = False
        """Records of the file hold whole log lines, so that a record without a time is a line that continues another one."""

    def prepare(self, head: bytes) -> bool:
        """Learns from a file's first lines; returns whether any of them is wrapped."""
        if (reader := records_of(head)) is not None:
            self._records, self.of_store = reader.records, True
            self._forms = of_table(*reader.table) if reader.table is not None else []
            return True
        if self._find_width(head.split(b"\n")):
            outer = Outer(io.BytesIO(), head)
            head = b"\n".join(line[0] for line in iter(lambda: self._next(outer), None))
        lines = head.split(b"\n", _SNIFFED_LINES)[:_SNIFFED_LINES]
        if learned_roles := roles(record for line in lines for record in (objects(line) if line[:1] in (b"{", b"[") else pairs_of(line))):
            self._roles, self._named = learned_roles, partial(with_roles, roles=learned_roles)
        wrapped = sum(self.wraps(line) for line in lines) > 0 or _OVER_LINES.search(head) is not None or self._learns(lines)
        texts = [text for line in lines if (text := _uncoloured(line).rstrip(b"\r"))]
        inner = [peeled for text in texts for peeled in self._once(text) or ()]
        if 2 * sum(peeled.form != STAMPED for peeled in inner) < len(texts):
            self._prefix = prefix_of(texts, self._given, named=2 * len(inner) >= len(texts))
        return wrapped or self._prefix is not None or self._width > 0

    def _find_width(self, lines: Sequence[bytes]) -> int:
        """The columns of the terminal that wrapped the lines; 0 if none did: most lines of the greatest length go on in the next one."""
        longest = max(map(_columns, lines))
        full = [(line, after) for line, after in pairwise(lines) if _columns(line) == longest]
        parted = sum(after[:1] not in _OWN_LINE and _DATED.match(after) is None for _, after in full)
        dated = 8 * sum(_DATED.match(line) is not None for line, _ in full)
        self._width = longest if longest >= _NARROWEST and parted >= _PARTED and 10 * parted >= 9 * len(full) and dated >= parted else 0
        return self._width

    def _next(self, outer: Outer) -> tuple[bytes, int, int] | None:
        """The next line, with all that a terminal wrapped of it."""
        line = more = outer.next()
        while line is not None and more is not None and self._width and _columns(more[0]) == self._width:
            ahead = outer.ahead(_NAME)
            if ahead[:1] in _OWN_LINE or _DATED.match(ahead) is not None or (more := outer.next()) is None:
                break
            line = (line[0].rstrip(b"\r") + more[0], line[1], line[2])
        return line

    def _learns(self, lines: Sequence[bytes]) -> bool:
        """Whether nearly all lines are in one wrapper that looks like ordinary text, around records in an unlisted layout."""
        texts = [line.rstrip(b"\r") for line in lines if line.strip()]
        for name, peels in _peels_by_form(texts).items():
            few = len({peeled.writer for peeled in peels}) <= MAX_NEW_WRITERS
            if few and 10 * len(peels) >= 9 * len(texts) and _are_records(peels):
                self._believed.add(name)
                return True
        return False

    def wraps(self, text: bytes, depth: int = 0) -> bool:
        """Whether this line has a wrapper."""
        if depth == MAX_DEPTH:
            return False
        if _SECTION.fullmatch(_uncoloured(text)) or text.startswith(_CURSOR) or _VERBOSE.match(text) or _COLOUR.search(text):
            return True
        inner = self._once(text.removeprefix(_MARK).rstrip(b"\r"))
        if inner is None:
            return False
        self._ended = self._ended or any(peeled.stream and not peeled.partial for peeled in inner)
        for peeled in inner:
            self.wraps(peeled.text, depth + 1)
        return True

    def lines(self, outer: Outer) -> Iterator[Line]:
        """Every line of the file; those of one writer in file order."""
        return chain.from_iterable(self.runs(outer))

    def runs(self, outer: Outer) -> Iterator[WriterRun]:
        """The same, with neighbouring lines of one writer and one host together."""
        if self._records is not None:
            yield from self._exported(self._records(outer), outer)
            return
        while True:
            if found := self._run(outer):
                yield from found
                continue
            if (next_line := self._next(outer)) is None:
                break
            text, number, byte = next_line
            if text.startswith(_CURSOR):
                yield from map(WriterRun.of, self._entry(outer, number, byte))
            elif (at := _VERBOSE.match(text)) is not None:
                yield from map(WriterRun.of, self._verbose(at, outer, number, byte))
            elif (section := self._heading(text, outer)) is not None:
                self._section = section
            elif (line := self._straight(text, number, byte)) is not None:
                self._learn(text + b"\n", 0, line)
                yield WriterRun.of(line)
            else:
                yield from map(WriterRun.of, self.line(text, number, byte))
        for text, line in list(self._pending.values()):
            yield from map(WriterRun.of, self._deeper(Peeled(text, line.writer, line.host, line.utc), line, 1))

    def _heading(self, text: bytes, outer: Outer) -> str | None:
        """The file or host whose lines follow this line; None if it is not a heading."""
        found = _SECTION.fullmatch(text := _uncoloured(text))
        may_be = len(text) < _NAME and (text[-1:] in _CLOSING or text[:2] in _OPENING)
        if found is None and may_be and (found := _OVER_LINES.match(text + b"\n" + outer.ahead(_NAME))) is not None:
            outer.skip(*((found.end() - len(text) - 1, 2) if found["ruled"] else (0, 0)))
        if found is None:
            return None
        name = found[found.lastgroup or 0].decode("utf-8", "replace").strip()
        shown = text.rsplit(b"/", 1)[-1].decode("utf-8", "replace") if found.lastgroup == "prompt" else ""
        return f"{name}/{shown}" if log_kind(shown) is not None else name

    def _exported(self, records: Iterator[ExportRecord], outer: Outer) -> Iterator[WriterRun]:
        """The lines of an export whose records are not lines of the file."""
        while True:
            if found := self._run(outer):
                yield from found
                continue
            data, at = outer.buffered()
            if (record := next(records, None)) is None:
                return
            peeled = of_object(record.fields)
            if peeled is None:
                continue
            self._as_line(peeled)
            place = Line(b"", record.line, record.byte, record.raw[:RAW], self._section, "", None)
            lines = list(self._whole(peeled, place, 1) if peeled.stream else self._deeper(peeled, place, 1))
            if len(lines) == 1 and self._forms:
                self._learn(data, at, lines[0])
            yield from map(WriterRun.of, lines)

    def _as_line(self, peeled: Peeled) -> None:
        if peeled.plain and self._holds_lines:
            peeled.text, peeled.final = peeled.plain, False
        elif not peeled.final and not self._holds_lines:
            self._holds_lines = _RECORD.match(peeled.text) is not None

    def _learn(self, data: bytes, at: int, line: Line) -> None:
        """Remembers the writer and the form of a line that was read by itself, and begins there."""
        for form in self._forms:
            if (found := form.match(data, at)) is not None:
                form.writers[found.group(*form.keys)] = line.writer, line.host
                return
        if self._records is None and len(self._forms) < _MOST_FORMS and (learned_form := self._run_of(data)) is not None:
            self._forms.append(learned_form)
            self._learn(data, at, line)

    def _run_of(self, line: bytes) -> LineForm | None:
        run = run_of(line)
        if run is None and line.startswith(b"{") and self._lessons > 0:
            self._lessons -= 1
            return learned(line, self._roles)
        return run

    def _run(self, outer: Outer) -> Iterable[WriterRun]:
        """The next lines whose form and writer are known, as `_straight` returns them, by writer."""
        if not self._forms or self._section or self._pending:
            return ()
        data, at = outer.buffered()
        before, first, number = outer.byte - at, at, outer.line
        runs: dict[tuple[str, str], WriterRun] = {}
        form, count = self._forms[0], 0
        of_key: dict[bytes | tuple[bytes, ...], WriterRun] = {}
        while count < _RUN:
            if (found := form.match(data, at)) is None:
                other = next((other for other in self._forms if other.match(data, at) is not None), None)
                if other is None:
                    break
                form, of_key = other, {}
                continue
            key = found.group(*form.keys)
            if (run := of_key.get(key)) is None:
                writer = form.writers.get(key)
                if writer is None or (runs and writer not in runs and ("", "") in (writer, *runs)):
                    break  # lines without a host may be of a host that has a run: only here the order matters
                run = of_key[key] = runs.setdefault(writer, WriterRun(writer=writer[0], host=writer[1]))
            text = found[form.text]
            if form.plain is not None:
                text = form.plain(text) if form.escape in text else text
                if form.level:
                    text = rendered(found[form.utc or 0], found[form.level], text, found[form.logger])
                text = text[:-1].removesuffix(b"\r") if text[-1:] == b"\n" else text
            run.text.append(text)
            run.utc.append((found[form.utc] or None) if form.utc is not None else None)
            run.line.append(number)
            run.byte.append(before + at)
            end, stop = found.end(), data.find(b"\n", at)
            run.raw.append(data[at : min(stop, at + RAW)])
            number += 1 if stop + 1 == end else data.count(b"\n", at, end)
            at, count = end, count + 1
        outer.skip(at - first, number - outer.line)
        return runs.values()

    def _straight(self, raw: bytes, number: int, byte: int) -> Line | None:
        """The result of `line` for a whole line in one wrapper or none, as most are; None if `line` has to be called."""
        if number == 1 or self._section or self._prefix is not None or b"\x1b" in raw:
            return None
        text = raw.rstrip(b"\r")
        inner = self._once(text)
        if inner is None:
            return Line(text, number, byte, raw[:RAW], "", "", None)
        if len(inner) > 1:
            return None
        (peeled,) = inner
        if peeled.stream and (peeled.partial or (peeled.writer, peeled.stream) in self._pending):
            return None
        if b"\x1b" in peeled.text or not (peeled.final or _RECORD.match(peeled.text) or self._once(peeled.text, peeled.form) is None):
            return None
        return Line(peeled.text, number, byte, raw[:RAW], peeled.writer, peeled.host, peeled.utc)

    def line(self, raw: bytes, number: int, byte: int) -> Iterator[Line]:
        """The lines in one line of the file: usually one, none while a split line continues, several in a JSON array."""
        text = raw.rstrip(b"\r")
        if not number > 1:
            text = text.removeprefix(_MARK)
        text = _uncoloured(text)
        peeled = Peeled(text) if self._prefix is None else self._prefix.peel(text)
        yield from self._deeper(peeled, Line(b"", number, byte, raw[:RAW], self._section, "", None), 0)

    def _deeper(self, peeled: Peeled, line: Line, depth: int) -> Iterator[Line]:
        deeper = self._once(peeled.text, peeled.form) if depth < MAX_DEPTH and not peeled.final else None
        if deeper is None:
            writer = _joined(self._section, peeled.writer) if self._section else peeled.writer
            yield Line(_uncoloured(peeled.text), line.line, line.byte, line.raw, writer, peeled.host, peeled.utc)
            return
        for inner in deeper:
            inner.writer = inner.writer or peeled.writer
            inner.host = inner.host or peeled.host
            inner.utc = inner.utc or peeled.utc
            inner.form = inner.form or peeled.form
            if inner.stream:
                yield from self._whole(inner, line, depth)
            else:
                yield from self._deeper(inner, line, depth + 1)

    def _whole(self, peeled: Peeled, line: Line, depth: int) -> Iterator[Line]:
        """Joins lines that a runtime split; the place is that of the first piece."""
        key = (peeled.writer, peeled.stream)
        before = self._pending.pop(key, None)
        if before is not None:
            text, line = before
            peeled.text = text + peeled.text
        if peeled.partial and len(peeled.text) < MAX_LOG_LINE and len(self._pending) < MAX_PENDING:
            self._pending[key] = (peeled.text, line._replace(writer=peeled.writer, host=peeled.host, utc=peeled.utc))
            return
        yield from self._deeper(peeled, line, depth + 1)

    def _once(self, text: bytes, within: str = "") -> Sequence[Peeled] | None:
        """The line without its outermost wrapper; None if it has none."""
        first = text[:1]
        if first == b"{":
            records = self._docker(text) or of_json(text, self._named)
            for record in records or ():
                self._as_line(record)
                self.of_store = self.of_store or bool(record.writer or record.host)
            return records
        if first == b"[":
            return pod(text) or (of_json(text, self._named) if ARRAY.match(text) else None)
        if first.isalpha() and b"=" in text[:99] and (pairs := pairs_of(text)):
            peeled = of_object(pairs[0] if self._named is None else self._named(pairs[0]))
            if peeled is not None:
                self._as_line(peeled)
                return (peeled,)
        for name, peel, sure in FORMS.get(first, ()):
            peeled = peel(text) if name != within else None
            if peeled is not None and (sure or name in self._believed or self._believe(name, peeled)):
                peeled.form = "" if sure else name
                return (peeled,)
        return None

    def _believe(self, name: str, peeled: Peeled) -> bool:
        inner = peeled.text
        is_record = self._is_record(inner) or is_record_of_json(inner) or _THROWN.match(inner) is not None
        if not is_record:  # docker compose logs --timestamps: a time within a prefix
            within = (peel(inner) for other, peel, _ in FORMS.get(inner[:1], ()) if other != name)
            is_record = any(record is not None and self._is_record(record.text) for record in within)
        if is_record:
            self._believed.add(name)
        return is_record

    def _is_record(self, text: bytes) -> bool:
        return fitting(text[:RAW].partition(b"\n")[0].decode("utf-8", "replace"), self._given) is not None

    def _docker(self, text: bytes) -> Sequence[Peeled] | None:
        """A line of docker's json-file driver, which splits long lines: a whole one ends in a line feed."""
        match = _DOCKER.fullmatch(text)
        if match is None:
            return None
        log, stream, time = match.group(1, 2, 3)
        complete = log.endswith(b"\\n") and not log.endswith(b"\\\\n")
        body = log[:-2] if complete else log
        if b"\\" in body:
            try:
                body = json.loads(b'"' + body + b'"').encode("utf-8", "replace")
            except ValueError:
                return None
        self._ended = self._ended or complete
        cut = not complete and (self._ended or len(body) >= _DOCKER_CUTS)
        return (Peeled(body.removesuffix(b"\r"), utc=time, stream=stream.decode(), partial=cut),)

    def _entry(self, outer: Outer, number: int, byte: int) -> Iterator[Line]:
        """An entry of `journalctl -o export`; its fields come in any order, a blank line ends it."""
        fields: dict[str, Any] = {}
        raw, place = b"", (number, byte)
        while (line := outer.next()) is not None and line[0]:
            text, number, byte = line
            name, equals, value = text.partition(b"=")
            if not equals:
                size = int.from_bytes(outer.exactly(8), "little")
                if size > MAX_FIELD:
                    outer.problem = f"a field of {size} bytes in the journal's export: the rest is not an export"
                    break
                value = outer.exactly(size)
                outer.next()
            key = name.decode("ascii", "replace")
            if key in JOURNAL_FIELDS:
                fields[key] = value.decode("utf-8", "replace")
            if key == "MESSAGE":
                raw, place = (text if equals else b"MESSAGE=" + value[:RAW]), (number, byte)
        yield from self._of_journal(fields, Line(b"", *place, raw[:RAW], self._section, "", None))

    def _verbose(self, at: re.Match[bytes], outer: Outer, number: int, byte: int) -> Iterator[Line]:
        """An entry of `journalctl -o verbose`; the next one ends it. A line that is not a field continues one."""
        fields: dict[str, Any] = {"timestamp": f"{at[1].decode()} {at[2].decode()}"}
        key, raw, place = "", at[0], (number, byte)
        while (ahead := outer.ahead(_NAME)) and _VERBOSE.match(ahead) is None and (line := outer.next()) is not None:
            if (named := _FIELD.fullmatch(line[0])) is not None:
                key = named[1].decode()
            text = (named[2] if named is not None else line[0]).decode("utf-8", "replace")
            if key in JOURNAL_FIELDS and len(fields.get(key, "")) < MAX_LOG_LINE:
                fields[key] = text if named is not None else f"{fields[key]}\n{text}"
            if named is not None and key == "MESSAGE":
                raw, place = line[0], (line[1], line[2])
        yield from self._of_journal(fields, Line(b"", *place, raw[:RAW], self._section, "", None))

    def _of_journal(self, fields: Mapping[str, Any], line: Line) -> Iterator[Line]:
        if (peeled := of_object(fields)) is not None:
            yield from self._deeper(peeled, line, 1)


def _uncoloured(text: bytes) -> bytes:
    return _COLOUR.sub(b"", text).lstrip(b"\r") if b"\x1b" in text else text


def _joined(section: str, writer: str) -> str:
    return f"{section}#{writer}" if section and writer else section or writer


def _columns(line: bytes) -> int:
    return len(line.rstrip(b"\r") if line.isascii() else line.decode("utf-8", "replace").rstrip("\r"))


_NARROWEST, _PARTED = 60, 5
"""Columns of a terminal, and the lines that it must have wrapped."""
_OWN_LINE = (b"", b"\t", b"\r", b"\n", b"{", b"<")
_DATED = re.compile(rb"\[?\d{4}-\d\d-\d\d[ T]\d\d:")
"""How a line begins that no terminal wrapped."""
_MAY_WRITE = re.compile(
    r"(?!(?i:trace|debug|info|warn|error|fatal|main)?$|\d[\d.:-]*$|.*(?:[Tt]hread|[Hh]andler|[Rr]eaper|[Aa]cceptor|[Ee]xecutor|[Pp]ool)).*|"
)
"""A writer's name that is not a level, thread or time; '' if the wrapper names none."""
_THROWN = re.compile(THROWN)
_RECORD = re.compile(rb"\[\d{4}-\d")
"""Beginning of a record; no wrapper begins with it."""
_MARK = b"\xef\xbb\xbf"
_CURSOR = b"__CURSOR="
_VERBOSE = re.compile(rb"[A-Z][a-z]{2} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) (\S{1,40}) \[s=[^\]\r\n]{1,400}\]")
_FIELD = re.compile(rb"    ([A-Z0-9_]{1,64})=(.*)", re.DOTALL)
_COLOUR = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_SECTION = re.compile(
    rb"(?:==> (?P<file>.+) <==|(?P<host>\S+) \| (?:CHANGED|SUCCESS|FAILED|UNREACHABLE)!?(?: \| rc=-?\d+)? (?:>>|=> \{)"
    rb"|(?:ok|changed|fatal|failed): \[(?P<play>[^\]\s]+)\](?: => .*)?|\[\d+\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (?P<parallel>\S+)(?: .*)?"
    rb"|\[?[\w.-]{1,64}@(?P<prompt>\w[\w.-]{0,200})[ :][^\n#$]{0,200}[#$] .{1,500}"
    rb"|(?:\+\+\+ b/|(?:#{1,6}|h[1-6]\.) |[-=*:]{2,} ?)?(?P<path>[\w.@/\\-]{0,300}(?:server|controller|state-change|log-cleaner)[\w-]*\.(?:log|out)[\w.-]{0,50})[-=*: ]*"
    rb")\r?"
)
"""Headings of `tail`, ansible and its playbooks, and pssh; a prompt of a shell; and a line that has the path of a log alone (diff, ripgrep,
wikis)."""
_OVER_LINES = re.compile(
    rb"(?m)^(?:-{10,}\r?\n(?P<ruled>[\w.,\[\]-]{1,200})\r?\n-{10,}\r?\n|(?P<indented>[\w.-]{1,200}):\r?\n(?=    \[\d{4}-)"
    rb"|(?:[#*=~>-]{2,80} ?|\[|<(?:details><)?summary>)?(?P<named>(?=[^\s:/]{0,100}\d)[A-Za-z][\w.-]{0,100}(?:[:/ ][\w./-]{1,200})?)"
    rb"(?: ?[#*=~<-]{2,80}|\]|:|</summary>)?:?\r?\n(?:\r?\n)?(?=\[?\d{4}-\d\d-\d\d[ T]\d\d:))"
)
"""Headings of clush and dshbak, and of salt, which indents the lines; and the name of a host, alone or between marks, above a record."""
_CLOSING = (b"-", b":", b"#", b"*", b"=", b"~", b"]", b">", b"<")
_OPENING = (b"##", b"**", b"==", b"~~", b">>", b"--")
_NAME = 500
"""Bytes that a heading over several lines has, at most."""
_DOCKER_CUTS = 16 << 10
_DOCKER = re.compile(
    rb'\{"log":"([^"\\]*(?:\\.[^"\\]*)*)","stream":"(stdout|stderr)"(?:,"attrs":\{[^{}]*\})?,"time":"([^"\\]{20,35})"\}\s*', re.DOTALL
)
