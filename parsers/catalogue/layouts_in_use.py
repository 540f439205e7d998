"""The layouts of the lines of one writer, as seen so far: a file may change between several.

Here: the layout of a line's record, and where records begin. Not here: the layouts themselves (parsers.layouts).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from parsers.catalogue.columnar.heads import Heads
from parsers.layouts import LOG4J, PASTED, Layout, LogRecord, fitting, misfit
from parsers.learning.layout import Learned, begins_record, layout_of
from parsers.learning.worth import leaves_over
from parsers.matching.literals import Hits, Literals, literals_of
from parsers.matching.text import line_end, text_of, without_quotes

MAX_RECORD = 64 << 10
"""Bytes of a record of several lines that are given to a multi-line pattern."""
_MAX_HEAD = 4096
"""Bytes of a record's head that are looked at to find where it begins."""
MAX_LAYOUTS = 8
"""Largest number of layouts that one file may change between."""
MAX_TURNS = 16
"""Changes within a chunk after which no more layouts are learned from it: each change means that the chunk is searched again."""
MAX_FAILURES = 4
"""Lines of a chunk in no known layout after which only every so many lines is used for learning."""
_STAMPED = re.compile(r"\W{0,3}(?:\d+[:h]\d\d|\d{1,4}[-./]\d\d?[-./]\d{1,4}|\d{6})")
"""Lines that begin with a time or a date, in whatever form."""
_NO_TAB = re.compile(rb"\n(?!\t)")
_SHOWN_LINES, _SHOWN = 3, 200


class LayoutsInUse:
    """The known layouts of a writer. `given` are the user's own."""

    def __init__(self, given: Sequence[Layout]) -> None:
        self.given = given
        self.known: list[Layout] = []
        """Latest first; a layout without a logger comes last."""
        self.latest = LOG4J
        """The layout of the record that `read` returned last."""
        self.literals = literals_of()
        """The search for literals in lines of these layouts."""
        self.begins = LOG4J.begins
        """Whether a record begins at this position of the bytes."""
        self.heads: Heads | None = None
        """Where records in the latest layout begin."""
        self.shown: list[str] = []
        """First lines, while no layout is known."""
        self.learned: list[str] = []
        """Conversion patterns of the learned layouts."""
        self.troubles: list[tuple[str, str]] = []
        """Why layouts could not be determined: reasons and texts of problems."""
        self.written: datetime | None = None
        """Approximate time at which the last line of the chunk was written, if known."""
        self._turns = self._failures = 0
        self._found: tuple[Literals, bytes, Hits] | None = None

    def find(self, data: bytes, base: int) -> Hits:
        """The literals from a line's end on."""
        hits, self._found = self._found, None
        if hits is not None and hits[0] is self.literals and hits[1] is data and not base:
            return hits[2]
        return self.literals.find(data, base)

    def may_be_wrapped(self, data: bytes) -> Sequence[int]:
        """The lines that may be the first wrapped ones. The literals found along the way are kept for `find`."""
        hits, lines = self.literals.find_all(data)
        self._found = self.literals, data, hits
        return lines

    def learn(self, head: bytes) -> None:
        """Determines the layout from lines, unless one is known."""
        if self.known:
            return
        learned = layout_of(head, self.given, self.written)
        if learned.layout is not None:
            self._take(learned, learned.layout)
        elif not self.shown:
            lines = [text for line in head.split(b"\n", 64)[:64] if (text := without_quotes(text_of(line))).strip()]
            self.shown = [line[:_SHOWN] for line in lines][:_SHOWN_LINES]
            if any(map(PASTED.read, lines)) and not any(map(_STAMPED.match, lines)):
                self._use(PASTED)

    def new_chunk(self) -> None:
        """From here on the layout may change MAX_TURNS times again."""
        self._turns = self._failures = 0

    def read(self, text: str, data: bytes, at: int) -> LogRecord | None:
        """The record that begins with this line, in a layout in use or in a new layout that the file changes to."""
        for layout in self.known:
            record = layout.read(text)
            if record is not None:
                doubtful = record.logger is None and not layout.bare and leaves_over(record, layout)
                self.latest = (self._another(None, text, data, at) if doubtful else None) or layout
                return record if self.latest is layout else self.latest.read(text)
        latest = fitting(text, self.given)
        if latest is not None or begins_record(text):
            latest = self._another(latest, text, data, at)
        if latest is None:
            return None
        self.latest = latest
        return latest.read(text)

    def _another(self, listed: Layout | None, text: str, data: bytes, at: int) -> Layout | None:
        """The layout that the file changes to with this line, listed or learned."""
        if self._turns >= MAX_TURNS or (listed is None and not self._tries()):
            return listed
        better = layout_of(data[at:], self.given, self.written, text)
        clean = better.trouble is None or better.trouble[0] == "no-date"
        if better.layout is None or not clean or better.layout in self.known:
            return None
        self._take(better, better.layout)
        self._turns += 1
        return better.layout

    def _tries(self) -> bool:
        """Whether to learn from a line in no known layout: rarely, if that failed before."""
        self._failures += 1
        return self._failures <= MAX_FAILURES or self._failures & (self._failures - 1) == 0

    def next_begin(self, data: bytes, at: int, limit: int) -> int:
        """The first line from there on that begins a record, if it begins before the limit; otherwise a position beyond the limit."""
        if self.known == [LOG4J]:  # of which none begins with a tab, as the lines of settings and of stack traces do
            while at < limit and not LOG4J.begins(data, at):
                line = _NO_TAB.search(data, at, limit)
                at = line.end() if line is not None else limit
            return at if at < limit else len(data) + 1
        begins = [head.start() for layout in self.known or [LOG4J] if (head := layout.head.search(data, at, limit + _MAX_HEAD)) is not None]
        return min(begins, default=len(data) + 1)

    def record_at(self, data: bytes, at: int) -> LogRecord | None:
        """The record that begins at this place, in a layout in use."""
        text = text_of(data[at : line_end(data, at)])
        return next((record for layout in self.known if (record := layout.read(text)) is not None), None)

    def first_record(self, data: bytes) -> LogRecord | None:
        """The first record start found by any of the layouts."""
        heads = (layout.head.search(data) for layout in self.known)
        return next((record for head in heads if head and (record := self.record_at(data, head.start()))), None)

    def cut(self, data: bytes) -> int:
        """Where the last record begins, else after the last whole line; 0 if there is neither."""
        end = data.rfind(b"\n") + 1
        at = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
        while at > 0 and end - at <= MAX_RECORD:
            if self.begins(data, at):
                return at
            at = data.rfind(b"\n", 0, at - 1) + 1
        return end

    def misfit(self) -> str:
        """Why the first lines are in no known layout, and an excerpt of them."""
        return (
            f"no known layout, and none that could be learned: {misfit(self.shown, self.given)}; the file begins: {' / '.join(self.shown)}"
        )

    def take_over(self, other: LayoutsInUse) -> None:
        """Adds what is known about a part of the file to this one."""
        self.known = self.known or other.known
        self.learned += [pattern for pattern in other.learned if pattern not in self.learned]
        self.troubles += [trouble for trouble in other.troubles if trouble not in self.troubles]

    def _take(self, learned: Learned, layout: Layout) -> None:
        self._use(layout)
        if learned.pattern is not None and learned.pattern not in self.learned:
            self.learned.append(learned.pattern)
        if learned.trouble is not None and learned.trouble not in self.troubles:
            self.troubles.append(learned.trouble)

    def _use(self, layout: Layout) -> None:
        known = [layout, *(other for other in self.known if other is not layout)]
        self.known = sorted(known, key=lambda one: one.bare)[:MAX_LAYOUTS]
        self.literals = literals_of(self.known)
        self.heads = Heads(self.known[0])
        self.begins = layout.begins if len(self.known) == 1 else self._begins_any

    def _begins_any(self, data: bytes, at: int) -> bool:
        return any(layout.begins(data, at) for layout in self.known)
