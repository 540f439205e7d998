"""Lines that are missing from a log because something left them out before it was collected: a rate limit, or a filter by level or word.

Here: what the remaining lines show about that. Not here: lines that were cut (line_lengths), or what follows from it
(forensics.model.partition.log_coverage).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from parsers.schemas import Row

MOST_WORDS = 20
"""Words that are kept: the longest ones."""
_DROPPED = (b" messages from ", b"imuxsock lost ", b"rate-limiting", b"Discarded ")
_NOTE = re.compile(
    rb"Suppressed (\d{1,9}) messages from |imuxsock lost (\d{1,9}) messages |(\d{1,9}) messages lost due to rate-limiting|"
    rb"begin to drop messages due to rate-limiting|Discarded (\d{1,9}) messages due to "
)
"""systemd-journald, rsyslog's imuxsock and imjournal, log4j's AsyncAppender."""
_WORD = re.compile(rb"[A-Za-z]{4,60}")
_LOGGER = re.compile(rb" \([\w.$-]+\)[ \t\r]*$")
_LEVELS = frozenset({b"TRACE", b"DEBUG", b"INFO", b"WARN", b"ERROR", b"FATAL"})


class LeftOut:
    """The signs of one log."""

    def __init__(self) -> None:
        self._suppressed = 0
        self._informed = False
        """A line has the level INFO."""
        self._common: frozenset[bytes] | None = None
        """Words that all lines so far contain; None before the first line."""

    def chunk(self, data: bytes) -> None:
        self._informed = self._informed or b"INFO" in data
        if any(word in data for word in _DROPPED):
            self._suppressed += sum(max((int(n) for n in found.groups() if n), default=1) for found in _NOTE.finditer(data))
        if self._common is None or self._common:
            self._narrow(data)

    def _narrow(self, data: bytes) -> None:
        at, found = 0, [b""]  # the common words as the last line prints them, with the bytes around each
        find = data.find
        while at < len(data):
            end = find(b"\n", at)
            end = end if end >= 0 else len(data)
            for text in found:
                if not text or find(text, at, end) < 0:
                    found = [text for line in data[at:end].splitlines() for text in self._narrowed(line)] or [b""]
                    break
            if self._common is not None and not self._common:
                return
            at = end + 1

    def _narrowed(self, line: bytes) -> Iterator[bytes]:
        """Keeps the words that this line has, too. Yields them with the bytes around them, and b"" for a word of which only the whole line
        shows that it is one."""
        if not line.strip():
            yield b""
            return
        line = _LOGGER.sub(b"", line)
        words = {*_WORD.findall(line)} - _LEVELS
        self._common = frozenset(words) if self._common is None else self._common & words
        for word in self._common:
            around = re.search(rb"[^A-Za-z\r]" + word + rb"[ =:,\]]", line)
            yield around[0] if around is not None else b""

    def take_over(self, other: LeftOut) -> None:
        """Adds the signs of another part of the log to this one."""
        self._suppressed += other._suppressed
        self._informed = self._informed or other._informed
        if other._common is not None:
            self._common = other._common if self._common is None else self._common & other._common

    def collected(self) -> Row:
        """Fields of schemas.COLLECTED."""
        words = sorted(self._common or (), key=lambda word: (-len(word), word))[:MOST_WORDS]
        return {
            "suppressed": self._suppressed,
            "informed": self._informed,
            "common_words": [word.decode("ascii", "replace") for word in words],
        }
