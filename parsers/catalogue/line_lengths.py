"""Detects whether a tool, such as a log shipper, cut the lines of a log at a fixed length before collection.

Here: the longest lines of a sample, and whether they lack the end that their layout prints. Not here: the consequences, such as a missing
logger after the message.
"""

from __future__ import annotations

import re
from itertools import islice

import regex

from parsers.catalogue.layouts_in_use import LayoutsInUse
from parsers.layouts import Layout, LogRecord

SAMPLE = 256 << 10
"""Bytes at the start of each chunk that are examined."""
SHORTEST = 80
"""Characters. Shorter limits are not looked for."""
LEAST = 5
"""Least number of lines that have exactly the greatest length."""
LEAST_CUT = 3
"""Of these, the least number of records that lack the text that their layout prints after the message, or else of different statements that
happen to have the same length."""
_READ = 64
"""Lines with the greatest length in a sample that are read."""
_STATEMENT = 24
_INDENT = (b"\t", b" ", b"\n", b"")
_NUMBERS = regex.compile(r"[^a-zA-Z ]+")
_LOGGER = re.compile(rb"(?m)^.* \((?:kafka|org\.apache\.kafka|state\.change)\.[\w.$]+\)[ \t\r]*$")
"""A logger after the message. If most lines were cut, the layout seems to have no logger; a few whole lines show that it does."""


class LineLengths:
    """The lines of the greatest length in the samples of one log."""

    def __init__(self, longest: int = SHORTEST) -> None:
        self._longest = longest
        self._count = 0
        self._whole = 0
        """Records of one line and this length that end as their layout does, or in a parenthesis."""
        self._cut = 0
        """Records of this length that do not, though their layout prints something after the message."""
        self._open = 0
        """Records of layouts that print nothing after the message."""
        self._statements: set[tuple[str, str]] = set()
        """The messages of the last, without their numbers; LEAST_CUT at most."""

    def chunk(self, data: bytes, layouts: LayoutsInUse) -> None:
        """Takes in the first lines of a chunk."""
        sample = data if len(data) <= SAMPLE else data[: data.rfind(b"\n", 0, SAMPLE) + 1]
        lines = sample.split(b"\n")
        lengths = _lengths(sample, lines)
        longest = max(lengths)
        if longest < self._longest:
            return
        of_chunk, at = LineLengths(longest), 0
        logged = any(layouts.begins(sample, named.start()) for named in islice(_LOGGER.finditer(sample), _READ))
        for line, length in zip(lines, lengths, strict=True):
            if length == longest:
                of_chunk._count += 1
                if of_chunk._count <= _READ:
                    of_chunk._read(data, at, at + len(line), layouts, logged=logged)
            at += len(line) + 1
        self.take_over(of_chunk)

    def take_over(self, later: LineLengths) -> None:
        """Adds what a later part of the log shows."""
        if later._longest > self._longest:
            LineLengths.__init__(self, later._longest)
        if later._longest == self._longest:
            self._count += later._count
            self._whole += later._whole
            self._cut += later._cut
            self._open += later._open
            self._statements = set(sorted(self._statements | later._statements)[:LEAST_CUT])

    @property
    def cut_at(self) -> int | None:
        """The length in characters at which lines were cut, None if nothing shows that they were. Some whole lines may have just this
        length."""
        cut = self._cut >= LEAST_CUT or len(self._statements) >= LEAST_CUT
        return self._longest if cut and self._count >= LEAST and self._whole < self._cut + self._open else None

    def _read(self, data: bytes, begin: int, end: int, layouts: LayoutsInUse, *, logged: bool) -> None:
        """Adds one of the lines. `logged`: some lines print their logger after the message."""
        text = data[begin:end].decode("utf-8", "replace").rstrip("\r")
        if end < len(data) and not layouts.begins(data, end + 1) and (text.endswith((")", " ")) or data[end + 1 : end + 2] in _INDENT):
            return  # a record of several lines ends in a later one; a terminal wraps lines without an indent
        record, layout = _record(text, layouts)
        if record is None or layout is None:
            return
        tail = None if layout.bare else layout.tail  # a layout without a logger may have been learned from lines that were cut
        if text.endswith((")", " ")) or (tail is not None and tail.search(text) is not None):
            self._whole += 1
        elif tail is not None or (layout.bare and logged):
            self._cut += 1
        else:
            self._open += 1
            statement = record.logger or "", _NUMBERS.sub("", record.message)[:_STATEMENT]
            self._statements = set(sorted({*self._statements, statement})[:LEAST_CUT])


def _record(text: str, layouts: LayoutsInUse) -> tuple[LogRecord | None, Layout | None]:
    """The record that begins with this line, and the layout in use in which it is."""
    return next(((record, layout) for layout in layouts.known if (record := layout.read(text)) is not None), (None, None))


def _lengths(sample: bytes, lines: list[bytes]) -> list[int]:
    """In characters, without the carriage returns of Windows."""
    if sample.isascii() and b"\r" not in sample:
        return list(map(len, lines))
    return [len(line.decode("utf-8", "replace").rstrip("\r")) for line in lines]
