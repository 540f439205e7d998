"""A piece of a large log, read on its own with the same result as a single reader of the whole file.

Here: the state with which a piece begins without reading all earlier chunks, and how pieces are joined or rejected. Not here: which files
are cut (parsers.pieces), or how a log is read (log_file, reading).

The single reader reads chunks that end at the last record before a multiple of CHUNK, so pieces are whole chunks: the first record of one
may begin before its first byte, and the last one is left to the next. The state that the single reader carries from chunk to chunk
(layouts, the owner of lines that begin no record) is learned by a piece from the file's first chunk and from the one
before its own. This state is checked: each piece reports its initial and final state, and if the final state of a piece differs from the
initial state of the next, the pieces are rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, pairwise
from typing import BinaryIO, NamedTuple

from parsers.catalogue import log_file
from parsers.catalogue.columnar.vectorised import search
from parsers.catalogue.layouts_in_use import MAX_RECORD
from parsers.catalogue.log_file import LogFile
from parsers.catalogue.survey import Survey
from parsers.containers.units import LogPiece
from parsers.layouts import LOG4J, Layout, LogRecord
from parsers.learning.sample import HEAD
from parsers.lines import ends_in_returns, is_utf16
from parsers.schemas import Member, Row, Rows


class ReaderState(NamedTuple):
    """State that the single reader carries from one chunk to the next."""

    offset: int
    line: int
    owner: LogRecord | None
    matched_whole: bool
    slow: bool
    first: datetime | None
    last: datetime | None
    utc: bool | None
    layouts: tuple[object, ...]


@dataclass(frozen=True)
class Account:
    """The result of a piece apart from its rows; everything in it can be pickled."""

    before: ReaderState
    after: ReaderState
    whole: bool
    """The piece was read to its end, as plain lines."""
    survey: Survey
    known: bool
    shown: list[str]
    learned: list[str]
    troubles: list[tuple[str, str]]
    unended: bool


class PieceOfLog(LogFile):
    """The walk through one piece. `rows` are events only; `account` is available after them."""

    def __init__(self, piece: LogPiece, member: Member, kind: str, layouts: Sequence[Layout] = ()) -> None:
        super().__init__(member, kind, layouts, quickly=search)
        self.piece = piece
        self.whole = True
        self.before = self._state()
        self._to: int | None = None
        self._at = 0  # bytes of the file that are read

    def rows(self, stream: BinaryIO) -> Iterator[Rows]:
        self.pending = self._block(stream, b"")
        if is_utf16(self.pending) or ends_in_returns(self.pending) or self.unwrapper.prepare(self.pending[:HEAD]):
            self.whole = False
            return
        if self.piece.begin:
            self._take_up(stream)
        self._to = self.piece.end
        self.before = self._state()
        if self.whole:
            yield from self._plain(stream)
        self.whole = self.whole and self.problem is None

    def account(self) -> Account:
        known = self.layouts
        return Account(
            self.before,
            self._state(),
            self.whole,
            self.survey,
            bool(known.known),
            known.shown,
            known.learned,
            known.troubles,
            self.unended,
        )

    def _take_up(self, stream: BinaryIO) -> None:
        """Sets the state that results from the file's first chunk and the chunk before the piece."""
        self._pass_over(stream)
        before = self.piece.begin - log_file.CHUNK
        first, utc = self.survey.first, self.survey.utc
        if before:
            begin = max(0, before - 2 * MAX_RECORD)
            stream.seek(begin)
            data = stream.read(before - begin)
            self.pending = data[self.layouts.cut(data) :]
            self._at, self.offset = before, before - len(self.pending)
            self._pass_over(stream)
        line = 1 + self.piece.lines - self.pending.count(b"\n")
        if self.last is not None and self.last["byte"] >= log_file.CHUNK:  # the lines between the two chunks were not counted
            self.last = {**self.last, "line": self.last["line"] + line - self.line}
        self.line = line
        passed, self.survey = self.survey, Survey()
        self.survey.first, self.survey.utc = first, utc
        self.survey.last, self.survey.tail = passed.last, passed.tail

    def _pass_over(self, stream: BinaryIO) -> None:
        """Reads a chunk only for the state it leaves."""
        self.layouts.written = None
        self.layouts.learn(self.pending)
        for data in islice(self._chunks(stream), 1):
            for _ in self.chunk(data):
                pass
        self.whole = self.whole and self.wrapped_at < 0 and not self.cut_short

    def _unwrapped(self, data: bytes, stream: BinaryIO) -> Iterator[Rows]:
        self.whole = False
        return iter(())

    def _block(self, stream: BinaryIO, pending: bytes) -> bytes:
        over = self._to is not None and self._at >= self._to and len(pending) < log_file.CHUNK
        return b"" if over else super()._block(stream, pending)

    def _read_more(self, stream: BinaryIO, size: int) -> bytes:
        data = super()._read_more(stream, size)
        self._at += len(data)
        return data

    def _state(self) -> ReaderState:
        known = self.layouts
        layouts = (*map(_written_out, known.known), known.latest.name, *known.learned, *known.troubles, *known.shown)
        of_survey = self.survey.first, self.survey.last, self.survey.utc
        return ReaderState(self.offset, self.line, self.owner, self.matched_whole, self.slow, *of_survey, layouts)


def _written_out(layout: Layout) -> tuple[object, ...]:
    tail = layout.tail.pattern if layout.tail else None
    return layout.name, layout.head.pattern, layout.line.pattern, tail, layout.logged, layout.bare


def fit(accounts: Sequence[Account]) -> bool:
    """Whether each piece ended in the state in which the next one began, so that together they equal a single reader's result."""
    return all(a.whole for a in accounts) and all(a.after == b.before for a, b in pairwise(accounts))


def joined(accounts: Sequence[Account], member: Member, kind: str, layouts: Sequence[Layout] = ()) -> Iterator[Row]:
    """Rows that can only be written for the whole file, as LogFile writes them at its end. `accounts` fit."""
    log = LogFile(member, kind, layouts)
    last = accounts[-1]
    for account in accounts:
        log.survey.take_over(account.survey)
    log.survey.first, log.survey.last, log.survey.utc = last.survey.first, last.survey.last, last.survey.utc
    log.layouts.known = [LOG4J] if last.known else []
    log.layouts.shown, log.layouts.learned, log.layouts.troubles = last.shown, last.learned, last.troubles
    log.offset, log.line, log.unended = last.after.offset, last.after.line, last.unended
    yield from log.end()
