"""Every record of a log as one row: time, place, level, logger, and its text with the lines that belong to it.

Here: the division of a log of any size into records, in bounded memory, in any wrapping. Not here: record layouts (parsers.layouts),
wrappers (parsers.wrappers), the facts in a record (parsers.catalogue), or any order between files.

A record consists of the line with which it begins according to its layout, and the lines up to the next record. Lines before the first
record are rows of their own. Only blank lines between records are left out; a record longer than MAX_RECORD continues in a further row.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from io import BytesIO
from itertools import accumulate
from typing import BinaryIO, cast

import pyarrow as pa

from parsers.catalogue.layouts_in_use import MAX_FAILURES, MAX_LAYOUTS
from parsers.catalogue.log_file import read_log
from parsers.kinds import named
from parsers.layouts import Layout, LogRecord, fitting
from parsers.learning.layout import begins_record, layout_of
from parsers.lines import MAX_LOG_LINE, DecodedText, Outer, is_utf16, read_on
from parsers.paths import log_kind
from parsers.schemas import Member, Row, documented
from parsers.wrappers.unwrapper import Line, Unwrapper, finer, time_of
from parsers.wrappers.writers import FileWriters

MAX_RECORD = 64 << 10
"""Characters of one row's text."""
PIECE = 4 << 20
"""Bytes of lines that are kept for all writers of a file together."""
MAX_STATED = 10_000
"""Events of one record that are kept."""
_HEAD = 64 << 10
_LINE_COST = 200
_SNIFFED_LINES = 200
_BATCH_ROWS, _BATCH_TEXT = 4096, 4 << 20
_EDGES = "".join(chr(code) for code in range(0x20) if chr(code) not in "\t\n\x1b") + "\ufeff"
"""Characters left by torn writes and other systems at the ends of a line."""
_OF_FILES = ("unknown-layout", "no-date")
"""Problems of a file as a whole, which a part of the file may only seem to have."""
_OF_OTHERS = named("source", "last-line")
"""Events about a file as a whole, or that a later record gives of an earlier one."""

STATED = pa.struct(
    [("event", pa.string()), ("topic", pa.string()), ("topic_id", pa.string()), ("partition", pa.int32()), ("node", pa.int32())]
)


RECORDS = pa.schema(
    [
        documented("source", pa.string(), "path of the file inside the evidence; `path#writer` where lines name their writer"),
        documented(
            "number", pa.int64(), "place among the rows of its source, from 0; of a source whose newest row comes first from -1 downwards"
        ),
        documented("line", pa.int64(), "1-based line its first line is in"),
        documented("byte", pa.int64(), "byte offset in the (decompressed) file at which that line begins"),
        documented("lines", pa.int32(), "lines of the file that it takes one after the other; 1 where its lines do not follow each other"),
        documented(
            "time",
            pa.timestamp("us"),
            "time of the record by the clock that `clock` names; that of the record before where it has none; null at the start of a file",
        ),
        documented("clock", pa.string(), "line: broker's local wall clock; utc: the line or its wrapper names the zone"),
        documented("level", pa.string(), "level; null if this is not a record"),
        documented("logger", pa.string(), "logger as printed"),
        documented("text", pa.string(), f"what the wrappers hold, lines joined with line feeds, at most {MAX_RECORD} characters"),
        documented("events", pa.list_(STATED), "the events that the catalogue reads in the record; null if not requested"),
    ]
)


def records(stream: BinaryIO, member: Member, kind: str, layouts: Sequence[Layout] = (), *, stated: bool = True) -> Iterator[Row]:
    """Rows of RECORDS; the rows of a source are in file order. `layouts` are the user's own; `stated` asks for `events`.

    Unreadable data gives a row whose event is 'problem'. Never raises because of the evidence.
    """
    return _FileWalk(member, kind, layouts, stated).rows(stream)


def batches(rows: Iterable[Row], schema: pa.Schema = RECORDS) -> Iterator[pa.RecordBatch]:
    """Rows as record batches of a few megabytes."""
    pending: list[Row] = []
    size = 0
    for row in rows:
        pending.append(row)
        size += len(row["text"])
        if len(pending) >= _BATCH_ROWS or size >= _BATCH_TEXT:
            yield _batch(pending, schema)
            pending, size = [], 0
    if pending:
        yield _batch(pending, schema)


def _batch(rows: Sequence[Row], schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([row[f.name] for row in rows], f.type) for f in schema], schema=schema)


class _Writer:
    """The records of one writer. `open` continues in the lines that follow."""

    def __init__(self, source: str, kind: str, given: Sequence[Layout]) -> None:
        self.source = source
        self.kind = kind
        self.given = given
        self.layouts: list[Layout] = []  # in use, the latest first
        self.waiting: list[Line] = []
        self.size = 0
        self.done: list[Row] = []
        self.open: Row | None = None
        self.parts: list[str] = []  # lines of `open`
        self.length = 0
        self.layout: Layout | None = None  # record of `open`
        self.failures = 0  # number of the last lines from which no layout was learned
        self.number = 0
        self.time: datetime | None = None
        self.clock: str | None = None
        self.seconds = True  # records print whole seconds only

    def add(self, line: Line) -> None:
        self.waiting.append(line)
        self.size += len(line.text) + _LINE_COST

    def learn(self, head: bytes) -> None:
        """Determines the layout from lines."""
        layout = layout_of(head, self.given).layout
        if layout is not None:
            self._use(layout)

    def begins(self, text: bytes) -> bool:
        return any(layout.begins(text, 0) for layout in self.layouts)

    def take(self, *, last: bool) -> list[Row]:
        """Records that are complete with the lines so far."""
        lines, self.waiting, self.size = self.waiting, [], 0
        self.failures = 0
        if not self.layouts and lines:
            self.learn(b"\n".join(line.text for line in lines[:_SNIFFED_LINES])[:_HEAD])
        for at, line in enumerate(lines):
            for text in line.text.split(b"\n"):
                self._line(text.decode("utf-8", "replace").strip(_EDGES), line, lines, at)
        if last:
            self._close()
        done, self.done = self.done, []
        return done

    def _line(self, text: str, line: Line, lines: Sequence[Line], at: int) -> None:
        record, layout = self._read(text, lines, at)
        if record is None:
            if self.open is not None and self.layout is not None and self.length + len(text) < MAX_RECORD:
                self._append(text, line)
                return
            if not text.strip():
                return
        self._close()
        self.layout = layout or self.layout
        self._begin(record, text, line)

    def _read(self, text: str, lines: Sequence[Line], at: int) -> tuple[LogRecord | None, Layout | None]:
        """The record that begins with this line, in a layout in use or in a new layout that the file changes to."""
        for layout in self.layouts:
            record = layout.read(text)
            if record is not None:
                return record, layout
        listed = fitting(text, self.given) if len(text) <= MAX_RECORD else None
        if listed is None and (self.failures >= MAX_FAILURES or not begins_record(text)):
            return None, None
        head = b"\n".join(line.text for line in lines[at : at + _SNIFFED_LINES])[:_HEAD]
        chosen = layout_of(head, self.given, line=text).layout or listed
        if chosen is None:
            self.failures += 1
            return None, None
        self._use(chosen)
        return chosen.read(text), chosen

    def _use(self, layout: Layout) -> None:
        known = [layout, *(other for other in self.layouts if other is not layout)]
        self.layouts = sorted(known, key=lambda one: one.bare)[:MAX_LAYOUTS]

    def _begin(self, record: LogRecord | None, text: str, line: Line) -> None:
        self._tell_time(record, line)
        self.open = {
            "source": self.source,
            "number": self.number,
            "line": line.line,
            "byte": line.byte,
            "lines": 1,
            "time": self.time,
            "clock": self.clock,
            "level": (record.level or None) if record else None,
            "logger": record.logger if record else None,
            "events": None,
        }
        self.parts, self.length = [text], len(text)

    def _tell_time(self, record: LogRecord | None, line: Line) -> None:
        if record is None or record.time is None:
            counts = record is not None or self.clock != "line"
            at = time_of(line.utc) if counts else None
            if at is not None:
                self.time, self.clock = at, "utc"
            return
        self.seconds = self.seconds and not record.time.microsecond
        fine = self.seconds and line.utc is not None
        self.time, self.clock = finer(record.time, time_of(line.utc)) if fine else record.time, "utc" if record.utc else "line"

    def _append(self, text: str, line: Line) -> None:
        assert self.open is not None
        follows = line.line == self.open["line"] + len(self.parts) and self.open["lines"] == len(self.parts)
        self.open["lines"] = self.open["lines"] + 1 if follows else 1
        self.parts.append(text)
        self.length += len(text) + 1

    def _close(self) -> None:
        row = self.open
        if row is None:
            return
        text = "\n".join(self.parts).rstrip("\n")
        tail = self.layout.tail if self.layout is not None else None
        if row["level"] is not None and row["logger"] is None and len(self.parts) > 1 and tail is not None:
            match = tail.search(text, len(self.parts[0]))
            row["logger"] = match["logger"] if match is not None else None
        row["lines"] = min(row["lines"], text.count("\n") + 1)
        for begin in range(0, max(len(text), 1), MAX_RECORD):
            self.done.append({**row, "number": self.number, "text": text[begin : begin + MAX_RECORD]})
            self.number += 1
        self.open = None

    def problem(self, text: str, outer: Outer) -> Row:
        """A row about the file as a whole, at the current position."""
        self._begin(None, text, Line(b"", outer.line, outer.byte, b"", "", "", None))
        self._close()
        return {**self.done.pop(), "events": [_stated({"event": "problem"})]}


class _Lines(Outer):
    """Lines, the last of which can be put back."""

    again: tuple[bytes, int, int] | None = None

    def next(self) -> tuple[bytes, int, int] | None:
        line, self.again = self.again, None
        return line if line is not None else super().next()


class _FileWalk:
    """The walk through one file: its lines as they are and, from the first wrapped line on, the unwrapped lines."""

    def __init__(self, member: Member, kind: str, layouts: Sequence[Layout], stated: bool) -> None:
        self.given = layouts
        self.stated = stated
        self.unwrapper = Unwrapper(layouts)
        self.writers = FileWriters(
            _Writer(member.path, kind, layouts), lambda name: _Writer(f"{member.path}#{name}", log_kind(name) or kind, layouts)
        )

    def rows(self, stream: BinaryIO) -> Iterator[Row]:
        head, trouble = _head(stream)
        if is_utf16(head):
            stream = cast(BinaryIO, DecodedText(stream, head))
            head, again = _head(stream)
            trouble = trouble or again
        outer = _Lines(stream, head)
        outer.problem = trouble
        wrapped = self.unwrapper.prepare(head)
        if not wrapped:
            self.writers.own.learn(head)
            yield from self._plain(outer)
        for line in self.unwrapper.lines(outer):
            yield from self._full(self.writers.of(line), line)
        for writer in self.writers:
            yield from self._with_events(writer, writer.take(last=True))
        yield from self._problems(outer)

    def _plain(self, outer: _Lines) -> Iterator[Row]:
        """Records up to the first line that is clearly wrapped, which is put back."""
        while (line := outer.next()) is not None:
            text, number, byte = line
            if not self.writers.own.begins(text) and not text[:1].isspace() and self.unwrapper.wraps(text):
                outer.again = line
                return
            yield from self._full(self.writers.own, Line(text, number, byte, b"", "", "", None))

    def _full(self, writer: _Writer, line: Line) -> Iterator[Row]:
        writer.add(line)
        if writer.size >= PIECE // max(4, len(self.writers.named)):
            yield from self._with_events(writer, writer.take(last=False))

    def _with_events(self, writer: _Writer, rows: list[Row]) -> list[Row]:
        """The rows with the events that the catalogue reads in them."""
        if not self.stated or not rows:
            return rows
        for row in rows:
            row["events"] = []
        lines = list(accumulate((row["text"].count("\n") + 1 for row in rows), initial=1))
        data = "\n".join(row["text"] for row in rows).encode("utf-8", "replace")
        for event in read_log(BytesIO(data), Member(writer.source, len(data), None), writer.kind, self.given):
            if event["event"] not in _OF_OTHERS and event.get("line") is not None and event.get("reason") not in _OF_FILES:
                events = rows[min(bisect_right(lines, event["line"]), len(rows)) - 1]["events"]
                if len(events) < MAX_STATED:
                    events.append(_stated(event))
        return rows

    def _problems(self, outer: Outer) -> Iterator[Row]:
        writer = self.writers.own
        if outer.cut:
            yield writer.problem(f"{outer.cut} lines longer than {MAX_LOG_LINE} bytes; the rest of each was not read", outer)
        if trouble := self.writers.problem():
            yield writer.problem(trouble, outer)
        if outer.problem:
            yield writer.problem(outer.problem, outer)


def _head(stream: BinaryIO) -> tuple[bytes, str | None]:
    """The first bytes of a file, and the error if they end early."""
    head = b""
    while len(head) < _HEAD:
        piece, trouble = read_on(stream, _HEAD - len(head))
        if not piece:
            return head, trouble
        head += piece
    return head, None


def _stated(event: Row) -> Row:
    return {name: event.get(name) for name in ("event", "topic", "topic_id", "partition", "node")}
