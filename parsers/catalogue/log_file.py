"""The walk through one log file of any size in bounded memory: its lines as they are and, from the first wrapped line on, the unwrapped
lines, one sequence for each writer.

Here: chunks of whole lines, where wrapping begins, and the account of the file. Not here: the reading of lines (reading), or which file is
a log (parsers.sniff).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, cast

from parsers.catalogue.columnar.vectorised import search
from parsers.catalogue.newest_first import Direction
from parsers.catalogue.reading import Quickly, Reading
from parsers.catalogue.unwrapped import Unwrapped
from parsers.layouts import Layout
from parsers.learning.sample import HEAD
from parsers.lines import MAX_LOG_LINE, DecodedText, Outer, WithFeeds, ends_in_returns, is_utf16, is_zeros, read_on
from parsers.matching.text import line_end
from parsers.paths import log_kind
from parsers.schemas import Member, Row, Rows, problem
from parsers.wrappers.unwrapper import Unwrapper
from parsers.wrappers.writers import FileWriters

CHUNK = 4 << 20
"""Bytes searched at a time; also the longest line that is examined as a whole."""
WRAPPED = 4 << 20
"""Bytes of unwrapped lines that are kept for all writers together."""


def read_log(stream: BinaryIO, member: Member, kind: str, layouts: Sequence[Layout] = ()) -> Iterator[Row]:
    """Events of one log file in file order, then one `source` row about the file as a whole.

    `byte` counts in the stream as given (decompressed), `line` from 1. `kind` is the name of the source's kind, kept in
    `collected`. `layouts` are the user's own. Where lines name their writer (a pod, a joined file), events have the source
    `path#writer`, and each of these has a `source` row too. Damage gives `problem` rows: 'out-of-range', 'long-line',
    'slow-line', 'binary-noise', 'read-error', 'unknown-layout', 'no-date', 'many-writers'.
    """
    return cast(Iterator[Row], LogFile(member, kind, layouts).rows(stream))


def read_log_by_columns(stream: BinaryIO, member: Member, kind: str, layouts: Sequence[Layout] = ()) -> Iterator[Rows]:
    """The same events, many of them as batches: lines of one statement are processed together."""
    return LogFile(member, kind, layouts, quickly=search).rows(stream)


class LogFile(Reading):
    """The walk through one file: its lines as they are and, from the first wrapped line on, the unwrapped lines."""

    def __init__(
        self, member: Member, kind: str, layouts: Sequence[Layout] = (), *, irrelevant: bool = False, quickly: Quickly | None = None
    ) -> None:
        super().__init__(member, member.path, kind, layouts, irrelevant=irrelevant, quickly=quickly)
        self.pending = b""  # what follows the chunk
        self.cut_short = False
        self.unwrapper = Unwrapper(layouts)
        self.direction = Direction()
        self.writers = FileWriters(
            Unwrapped(member, member.path, kind, layouts, self.direction, quickly=quickly),
            lambda name: Unwrapped(member, f"{member.path}#{name}", log_kind(name) or kind, layouts, self.direction, quickly=quickly),
        )

    def rows(self, stream: BinaryIO) -> Iterator[Rows]:
        self.pending = self._block(stream, b"")
        if is_utf16(self.pending) or ends_in_returns(self.pending):
            stream = cast(BinaryIO, (DecodedText if is_utf16(self.pending) else WithFeeds)(stream, self.pending))
            self.pending = self._block(stream, b"")
        if self.unwrapper.prepare(self.pending[:HEAD]):
            yield from self._unwrapped(self.pending, stream)
        else:
            yield from self._plain(stream)
        yield from self.end()

    def _plain(self, stream: BinaryIO) -> Iterator[Rows]:
        self.layouts.written = self.member.modified if len(self.pending) < CHUNK else None
        self.layouts.learn(self.pending)
        for data in self._chunks(stream):
            begin = self.offset
            if is_zeros(data):
                self._pass_zeros(data)
                continue
            self.layouts.written = None if self.pending else self.member.modified
            yield from self.chunk(data)
            if self.wrapped_at >= 0:
                yield from self._unwrapped(data[self.wrapped_at :] + self.pending, stream)
                return
            if self.cut_short:
                text = f"a line longer than {CHUNK} bytes; the rest of it was not read"
                yield {**problem("long-line", text, line=self.line, byte=begin), "source": self.source}
                self.cut_short = False

    def _pass_zeros(self, data: bytes) -> None:
        """Counts a chunk of zeros, in which nothing begins or ends: a file system that crashed, or a hole, may leave gigabytes of them."""
        self.survey.add_noise(len(data), self.offset)
        self.survey.noisy = self.unended = True
        self.offset += len(data)

    def chunk(self, data: bytes) -> Iterator[Rows]:
        begin = self._wrapped_from(data)
        yield from super().chunk(data[:begin])
        if self.wrapped_at < 0 and begin < len(data):
            self.wrapped_at = begin

    def _wrapped_from(self, data: bytes) -> int:
        """Where the first line begins that is clearly wrapped; the end if there is none."""
        candidates = self.layouts.may_be_wrapped(data)
        return next((at for at in candidates if self._wraps(data[at : line_end(data, at)])), len(data))

    def _wraps(self, line: bytes) -> bool:
        return self.unwrapper.wraps(line)

    def _unwrapped(self, data: bytes, stream: BinaryIO) -> Iterator[Rows]:
        """Events of the bytes from `offset` on: `data` and the rest of the stream."""
        outer = Outer(stream, data, self.line, self.offset)
        for run in self.unwrapper.runs(outer):
            reading = self.writers.of(run, len(run))
            reading.add(run, of_store=self.unwrapper.of_store)
            if reading.size >= WRAPPED // max(4, len(self.writers.named)):
                self._decide_direction()
                yield from reading.flush()
        self._decide_direction()
        for reading in self.writers:
            yield from reading.flush(last=True)
        for reading in self.writers.named.values():
            yield from reading.end()
        if outer.cut:
            text = f"{outer.cut} lines longer than {MAX_LOG_LINE} bytes; the rest of each was not read"
            yield {**problem("long-line", text), "source": self.source}
        if trouble := self.writers.problem():
            yield {**problem("many-writers", trouble), "source": self.source}
        self.problem = self.problem or outer.problem
        self.line, self.offset, self.unended = outer.line, outer.byte, outer.unended
        self._take_over(self.writers.own)

    def _decide_direction(self) -> None:
        if self.direction.newest_first is None:
            self.direction.decide(reading.times() for reading in self.writers)

    def _take_over(self, unwrapped: Unwrapped) -> None:
        """Unwrapped lines that name no writer are this file's own."""
        self.layouts.take_over(unwrapped.layouts)
        self.layouts.shown = self.layouts.shown or (unwrapped.layouts.shown if unwrapped.survey.hits or not self.writers.named else [])
        self.survey.take_over(unwrapped.survey)

    def collected(self) -> Row:
        of_writers = sum(reading.count for reading in self.writers.named.values())
        own = self.writers.own
        lines = max(own.count, self.line - 1 + self.unended - of_writers)  # a document of one line may hold many
        return {**super().collected(), **own.span(), "lines": lines, "wall_minus_utc_ms": own.collected()["wall_minus_utc_ms"]}

    def _chunks(self, stream: BinaryIO) -> Iterator[bytes]:
        """Pieces of whole lines, where possible of whole records; a line longer than CHUNK comes as its first CHUNK bytes."""
        while block := self._block(stream, self.pending):
            self.pending = b""
            if len(block) < CHUNK:
                yield block
                return
            cut = self.layouts.cut(block)
            zeros = not cut and is_zeros(block[:CHUNK])  # of a crashed file system: a record may follow in the same line
            self.pending = block[cut or CHUNK :]
            self.cut_short = not cut and not zeros
            yield block[: cut or CHUNK]
            if not cut and not zeros:
                self.pending = self._skip_line(stream, self.pending)

    def _block(self, stream: BinaryIO, pending: bytes) -> bytes:
        """The pending bytes and as many more as make a chunk; less only at the end. Decompressors return small pieces."""
        pieces, size = [pending], len(pending)
        while size < CHUNK and (piece := self._read_more(stream, CHUNK)):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def _read_more(self, stream: BinaryIO, size: int) -> bytes:
        if self.problem:
            return b""
        data, self.problem = read_on(stream, size)
        return data

    def _skip_line(self, stream: BinaryIO, pending: bytes) -> bytes:
        """Drops the rest of a line that is too long, newline included."""
        while (end := pending.find(b"\n")) < 0:
            self.offset += len(pending)
            pending = self._read_more(stream, CHUNK)
            if not pending:
                return b""
        self.offset += end + 1
        self.line += 1
        self.unended = False
        return pending[end + 1 :]
