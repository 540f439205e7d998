"""The walk through the plain lines of one writer: it searches whole chunks for literals and applies expressions only to lines with a hit.

Here: from lines with a literal to events, with place and record. Not here: chunks of a file and what is wrapped in it (log_file,
unwrapped), what is searched for (literals), whether a pattern fits (matching).

A line without a literal runs no Python code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import regex

from parsers.catalogue.layouts_in_use import MAX_RECORD, LayoutsInUse
from parsers.catalogue.survey import LAST_LINES, MAX_SAMPLES, REDACTED, Survey, of_other_process
from parsers.kinds import UNDATED
from parsers.layouts import Layout, LogRecord, prefix
from parsers.learning.layout import begins_record, goes_on
from parsers.matching.literals import relevant
from parsers.matching.messages import LONG_MESSAGE, SeenText, apply, readings_of, whole_message
from parsers.matching.text import LOG_MARK, leading_noise, line_end, text_of, without_quotes
from parsers.patterns.loggers import RELEVANT_LOGGERS, TRACED_BY_DEFAULT
from parsers.patterns.pattern import Pattern
from parsers.schemas import MAX_TEXT, Member, Row, Rows, problem, shared

Quickly = Callable[["Reading", bytes, int], Generator[Rows, None, "int | None"]]
"""Events of a chunk as Reading finds them, most of them as batches (parsers.catalogue.columnar.vectorised)."""
_FIRST_LINES = ("process-starting", "config", "controller-starting", "broker-state", "broker-starting")
"""Events of the lines with which a process begins, in the order in which it prints them. A log that was cut may have only the last."""
OF_START = re.compile(
    "Registered (?:`?kafka:type|signal handlers)|(?:Kafka|RemoteLogManager)Config values:|Verifying properties|Property .* is overridden|Setting -D"
)
"""Lines that a process prints before it names itself."""


class Reading:
    """The state of one walk through the plain lines of one writer, chunk by chunk."""

    def __init__(
        self,
        member: Member,
        source: str,
        kind: str,
        layouts: Sequence[Layout] = (),
        *,
        irrelevant: bool = False,
        quickly: Quickly | None = None,
    ) -> None:
        self.member = member
        self.source = source
        self.kind = kind
        self.irrelevant = irrelevant
        self.quickly = quickly
        self.layouts = LayoutsInUse(layouts)
        self.survey = Survey()
        self.offset = 0  # of the chunk's first byte
        self.line = 1  # number of the chunk's first line
        self.unended = False
        self.begun: int | None = None  # which line of _FIRST_LINES the process printed last
        self.problem: str | None = None
        self.slow = False
        self.owner: LogRecord | None = None  # record the lines looked at last belong to
        self.owner_at = -1  # its place in the chunk; -1 where it began in an earlier one
        self.last: Row | None = None  # place, time and text of a broker's last record in the chunks before
        self.known = 0  # up to here in the chunk `owner` is known
        self.matched_whole = False  # a pattern of several lines has matched all of `owner`
        self.unread = False  # the line looked at begins a record in no layout that is known
        self.dateless = False  # the line looked at begins a record without a time
        self.wrapped_at = -1  # place in the chunk from which on lines are wrapped

    def chunk(self, data: bytes) -> Iterator[Rows]:
        """Events of a piece of whole lines."""
        self.layouts.learn(data)
        self.survey.chunk(data, self.layouts, self._byte_at)
        self.owner_at, self.known = -1, 0
        self.layouts.new_chunk()
        at: int | None = 0
        while at is not None:
            at = yield from (self._search(data, at) if self.quickly is None else self.quickly(self, data, at))
        self.owner = self.survey.tail
        self.last = (self._record_before(data, len(data), 0) if self.wrapped_at < 0 else None) or self.last
        self.offset += len(data) if self.wrapped_at < 0 else self.wrapped_at
        self.unended = not data.endswith(b"\n")

    def end(self) -> Iterator[Row]:
        """Rows that can only be written for the whole; the `source` row last."""
        known, survey = self.layouts, self.survey
        if survey.noise:
            text = f"{survey.noise} control bytes (NUL and the like), the first at byte {survey.noise_at}"
            yield {**problem("binary-noise", text, byte=survey.noise_at), "source": self.source}
        if self.problem:
            yield {**problem("read-error", self.problem, byte=self.offset), "source": self.source}
        marked = (LOG_MARK.search(line.encode()) for line in known.shown if not goes_on(line))
        if not known.known and (survey.unread or any(marked)):
            text = f"{survey.unread_told()}: {known.misfit()}" if survey.unread else known.misfit()
            yield {**problem("unknown-layout", text, line=1, byte=0), "source": self.source}
        elif survey.unread:
            text = f"{survey.unread_told()}, for example {survey.unread_samples[0]}"
            yield {**problem("unknown-layout", text, line=1, byte=0), "source": self.source}
        for reason, text in known.troubles:
            yield {**problem(reason, text, line=1, byte=0), "source": self.source}
        if survey.undated and survey.first is None and "no-date" not in dict(known.troubles):
            text = f"the lines print no date, so the times of {survey.undated} of them are unknown"
            yield {**problem("no-date", text, line=1, byte=0), "source": self.source}
        yield {"source": self.source, "event": "source", "pattern": "log", "collected": self.collected()}

    def collected(self) -> Row:
        """Fields of schemas.COLLECTED."""
        return {
            "kind": self.kind,
            "bytes": self.offset,
            "modified": self.member.modified,
            "lines": self.line - 1 + self.unended,
            **self.survey.collected(),
            "layout": "\n".join(self.layouts.learned) or None,
            "problem": self.problem,
        }

    def _wraps(self, line: bytes) -> bool:
        """Whether a line that begins no record is a wrapped one."""
        return False

    def _byte_at(self, at: int) -> int:
        """The byte of the file that a byte of the chunk is."""
        return self.offset + at

    def _search(self, data: bytes, base: int) -> Generator[Row, None, int | None]:
        """Events of a chunk from a line's end on. Returns the position from which to search again after a change of literals."""
        literals = self.layouts.literals
        for floor, line, begin, end, ids in self._lines(data, base):
            yield from self.look(data, begin, end, ids)
            if self.wrapped_at >= 0:
                return None
            if self.layouts.literals is not literals:
                self.line = line
                return floor
        return None

    def _lines(self, data: bytes, base: int) -> Iterator[tuple[int, int, int, int, tuple[int, ...]]]:
        """The lines with literals: end and number of the line before, begin and end of the line, its literals."""
        hits = self.layouts.find(data, base)
        at, count, floor = 0, len(hits), base
        while at < count:
            start = hits[at][1]
            line = self.line
            begin = data.rfind(b"\n", floor, start) + 1 or floor
            end = line_end(data, start)
            self.line += data.count(b"\n", floor, begin)
            after = at + 1
            while after < count and hits[after][1] < end:
                after += 1
            yield floor, line, begin, end, tuple([hit[0] for hit in hits[at:after]])
            at, floor = after, end
        self.line += data.count(b"\n", floor)

    def pass_by(self, record: LogRecord | None, begin: int, known: int, layout: Layout) -> None:
        """Records the layout of a record that was read elsewhere; without a layout, only that the record is at `begin`."""
        self.layouts.latest = layout
        self.unread = self.dateless = self.matched_whole = False
        self.known = known
        if record is not None:
            self.owner, self.owner_at = record, begin

    def look(self, data: bytes, begin: int, end: int, ids: tuple[int, ...]) -> Iterator[Row]:
        """Events of the line at [begin, end), which contains these literals."""
        self.survey.hits += 1
        raw = data[begin:end]
        text = without_quotes(text_of(raw))
        noise = leading_noise(raw) if self.survey.noise else 0
        literals = self.layouts.literals
        record = self.layouts.read(text, data, begin)
        if self.layouts.literals is not literals:
            return
        self.unread = self.dateless = False
        if record is None:
            if self._wraps(raw):
                self.wrapped_at = begin
                return
            if begins_record(text) or not (self.layouts.known or goes_on(text)):
                self.unread = True
                self.survey.leave_unread(text)
                self.owner, self.owner_at, self.matched_whole = None, -1, False
            else:
                self._find_owner(data, begin)
                if self.owner is None:  # an exception alone, as people paste it, or the rest of a record whose beginning is in another file
                    self.owner, self.owner_at = LogRecord(None, "", text, None, False), begin
            if self.matched_whole:
                return
            seen = SeenText(text, text.strip(), None, begin, end, noise=noise)
        else:
            self.owner, self.owner_at, self.matched_whole = record, begin, False
            bare = self.layouts.latest.bare and record.logger is None
            seen = SeenText(text, record.message, record.logger, begin, end, bare=bare, noise=noise)
            self.dateless = record.time is None and self._when(seen, record)[0] is None and not goes_on(text)
            self.survey.undated += self.dateless
        self.known = end
        if len(text) > LONG_MESSAGE and self.slow:
            return
        try:
            said, *thrown = seen.apart() if record is not None else (seen,)
            yield from self._try(data, said, ids)
            for part in thrown if not self.matched_whole else ():
                yield from self._try(data, part, tuple(hit[0] for hit in literals.find(part.message.encode())))
        except TimeoutError:
            self.slow = True
            line, byte = self._place(seen)
            text = "a very long line could not be read in time; such lines are left out from here on (--limit patience)"
            yield {**problem("slow-line", text, line=line, byte=byte), "source": self.source}
        except ValueError as error:
            yield self.out_of_range(error, text, *self._place(seen))

    def _try(self, data: bytes, seen: SeenText, ids: tuple[int, ...]) -> Iterator[Row]:
        readings = readings_of(seen)
        if "node" in readings[0][0]:
            self.survey.nodes[readings[0][0]["node"]] += 1
        for pattern in self.layouts.literals.candidates(ids):
            if pattern.multiline:
                complete = seen
                if self.owner is not None and self.owner_at >= 0:
                    complete = self.whole_record(data, seen, self.owner, self.owner_at, self.layouts.latest)
                if seen.begin > self.owner_at >= 0 and pattern.literal in text_of(data[self.owner_at : line_end(data, self.owner_at)]):
                    continue  # matched with the record's first line; its literal is in a later one, too
                match = _whole(pattern, complete)
                if match is None and (split := complete.split()) is not None and (match := _whole(pattern, split)) is not None:
                    complete = split
                if match is not None:
                    self.matched_whole = not pattern.match_continuation_lines
                    yield from self._last_before(data, pattern, complete)
                    yield from self._events(pattern, match.groupdict(), readings[0][0], complete)
                    return
                continue
            for context, message in readings:
                match = apply(pattern, message, seen.logger, seen.without_logger)
                if match is not None:
                    yield from self._last_before(data, pattern, seen)
                    yield from self._events(pattern, match.groupdict(), context, seen)
                    return
        if self.layouts.literals.names_logger(ids) and not self.unread:
            self.count_unrecognised(seen)

    def _last_before(self, data: bytes, pattern: Pattern, seen: SeenText) -> Iterator[Row]:
        """If the line is the first of a process, the last record of a broker before it. Its writer is not that of the lines nearby."""
        if pattern.first_of_process and self._begins_process(pattern.event):
            before = self._record_before(data, seen.begin, seen.lines_before) or self.last
            if before is not None and before["text"] != self._raw(seen).partition("\n")[0]:  # two appenders may print the first line
                yield {**before, "event": "last-line", "pattern": pattern.name}

    def _begins_process(self, event: str) -> bool:
        """Whether a line with which a process begins is not one of a process that has printed another of them before."""
        place = _FIRST_LINES.index(event) if event in _FIRST_LINES else 0
        same, self.begun = self.begun is not None and place > self.begun, place
        return not same

    def _record_before(self, data: bytes, end: int, lines: int) -> Row | None:
        """Place, time and text of the last record of a broker that begins before `end`, which is `lines` before the line at hand."""
        at = end
        for _ in range(LAST_LINES):
            if at <= 0:
                break
            at = data.rfind(b"\n", 0, at - 1) + 1
            record = self.layouts.record_at(data, at) if self.layouts.begins(data, at) else None
            if record is not None and not of_other_process(record) and not OF_START.match(record.message):
                text = text_of(data[at : line_end(data, at)])
                before = lines + data.count(b"\n", at, end)
                seen = SeenText(text, record.message, record.logger, at, at + len(text), lines_before=before)
                (line, byte), (time, clock) = self._place(seen), self._when(seen, record)
                place: Row = {"source": self.source, "line": line, "byte": byte, "time": time, "clock": clock}
                return {**place, "level": record.level or None, "text": self._raw(seen), "node": _named(seen)}
        return None

    def _events(self, pattern: Pattern, groups: Mapping[str, str | None], context: Mapping[str, Any], seen: SeenText) -> Iterable[Row]:
        if pattern.event == "irrelevant" and not self.irrelevant:
            return ()
        line, byte = self._place(seen)
        time, clock = self._when(seen, self.owner)
        self.survey.undated += time is None and not (self.unread or self.dateless)
        common: Row = {
            "source": self.source,
            "line": line,
            "byte": byte,
            "clock": clock,
            "event": pattern.event,
            "pattern": pattern.name,
        }
        level = (self.owner.level or None) if self.owner else None
        rows = pattern.events(groups, context, time, level)
        common["text"] = shared(self._raw(seen), len(rows))
        return [made for row in rows if self._placed(made := {**common, **row})]

    def _placed(self, row: Row) -> bool:
        """False for a partition event without a time in a log without dates, if its meaning would depend on its order among files with
        times."""
        return row.get("time") is not None or self.survey.first is not None or row.get("partition") is None or row["event"] in UNDATED

    def _place(self, seen: SeenText) -> tuple[int, int]:
        """Line and byte in the file."""
        return self.line - seen.lines_before, self.offset + seen.begin + seen.noise

    def _when(self, seen: SeenText, record: LogRecord | None) -> tuple[datetime | None, str]:
        """Time of the record that contains the line, and the clock it comes from."""
        return (record.time, "utc" if record.utc else "line") if record else (None, "line")

    def _raw(self, seen: SeenText) -> str:
        """The original text in the file."""
        return seen.text[:MAX_TEXT]

    def spots(
        self, lines: Sequence[int], begins: Sequence[int], ends: Sequence[int], times: Sequence[int], texts: pa.StringArray
    ) -> tuple[Sequence[int], Sequence[int], Sequence[int], pa.StringArray]:
        """Lines, byte offsets, times and original texts of records that were read elsewhere. `lines` count over all chunks, `begins` and
        `ends` are offsets in the chunk, `times` are the printed times in microseconds since 1970."""
        return lines, [self.offset + begin for begin in begins], times, texts

    def out_of_range(self, error: ValueError, text: str, line: int, byte: int) -> Row:
        return {**problem("out-of-range", f"{error}: {text}", line=line, byte=byte), "source": self.source}

    def _find_owner(self, data: bytes, begin: int) -> None:
        """Finds the record that a continuation line belongs to, searching backwards over the bytes not yet searched."""
        at = begin
        while at > self.known:
            at = data.rfind(b"\n", self.known, at - 1) + 1 or self.known
            if self.layouts.begins(data, at):
                self.owner = self.layouts.record_at(data, at)
                self.owner_at, self.matched_whole = at, False
                return

    def whole_record(self, data: bytes, seen: SeenText, record: LogRecord, begin: int, layout: Layout) -> SeenText:
        """All lines of the record that contains `seen` and begins there, as far as they are in this chunk and within MAX_RECORD."""
        limit = min(len(data), begin + MAX_RECORD)
        end = max(seen.end, min(self.layouts.next_begin(data, seen.end + 1, limit), line_end(data, limit - 1) + 1) - 1)
        first_end = line_end(data, begin)
        rest = "\n".join(text_of(data[first_end + 1 : end]).splitlines()) if end > first_end else ""
        message, logger = whole_message(record, rest, layout)
        text = text_of(data[begin : min(end, begin + 4 * MAX_TEXT)])
        noise = leading_noise(data[begin:first_end]) if self.survey.noise else 0
        before = data.count(b"\n", begin, seen.begin)
        return SeenText(text, message, logger, begin, end, bare=layout.bare and logger is None, lines_before=before, noise=noise)

    def count_unrecognised(self, seen: SeenText) -> None:
        logger, level = seen.logger, self.owner.level if self.owner else "INFO"
        if logger is None:
            logger = next((name for name in RELEVANT_LOGGERS if seen.text.endswith(f" ({name})")), None)
        name = relevant(logger) if logger is not None else None
        if name is None or seen.message.endswith(REDACTED) or (level in ("TRACE", "DEBUG") and not name.startswith(TRACED_BY_DEFAULT)):
            return
        self.survey.undated += not self.dateless and self._when(seen, self.owner)[0] is None
        self.survey.unrecognised += 1
        if len(self.survey.samples) < MAX_SAMPLES:
            self.survey.samples.append(self._raw(seen))


def _whole(pattern: Pattern, seen: SeenText) -> regex.Match[str] | None:
    return apply(pattern, prefix(seen.message, seen.logger)[1], seen.logger, seen.without_logger)


def _named(seen: SeenText) -> int | None:
    """The node that a line names as its writer."""
    try:
        node: int | None = readings_of(seen)[0][0].get("node")
    except ValueError:  # a number out of range
        return None
    return node
