"""Lines that are missing from a log because something left them out before it was collected: a rate limit, or a filter by level or word.

Here: what the remaining lines show about that. Not here: lines that were cut (line_lengths), or what follows from it
(forensics.model.coverage.log_coverage).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from parsers.schemas import Row

MOST_WORDS = 20
"""Words that are kept: the longest ones."""
_AT_ONCE = 1024
"""Lines in which each word is looked for together. Nearly all words of a line are missing in the next ones."""
_FEW = 50
"""So many words are looked for in lines. If there are more, as in a very long line, the words of each line are read instead."""
_FORMS = 16
"""Forms of a word, with the bytes around it, that are looked for. There are few, and each is found in a fraction of the time of an
expression."""
_DROPPED = (b" messages from ", b"imuxsock lost ", b"rate-limiting", b"Discarded ")
_NOTE = re.compile(
    rb"Suppressed (\d{1,9}) messages from |imuxsock lost (\d{1,9}) messages |(\d{1,9}) messages lost due to rate-limiting|"
    rb"begin to drop messages due to rate-limiting|Discarded (\d{1,9}) messages due to "
)
"""systemd-journald, rsyslog's imuxsock and imjournal, log4j's AsyncAppender."""
_IN_ALL_NOTES = b" messages "
"""Looked for first: most logs do not have it, and each search through a log takes half a percent of the time of reading."""
_WORD = re.compile(rb"(?<![A-Za-z])[A-Za-z]{4,60}(?![A-Za-z])")
_LOGGER = re.compile(rb" \([\w.$-]+\)(?: \[[^\[\]]*\])?[ \t\r]*$")
"""The logger, and the thread that images of Kafka print after it: nearly all loggers have the word kafka."""
_OUTSIDE = re.compile(rb"\A[^(\w.$-]|[^)\w.$-]\Z")
"""Forms that a logger cannot contain: they are looked for in whole lines without a thread, which is faster."""
_INFO = re.compile(rb"(?<! = )INFO")
"""The level; as the value of a setting, also a warning's record may have it."""
_OTHER = re.compile(rb"(?<! = )\b(?:TRACE|DEBUG|WARN|ERROR|FATAL)\b")
_LEVELS = frozenset({b"TRACE", b"DEBUG", b"INFO", b"WARN", b"ERROR", b"FATAL"})


class LeftOut:
    """The signs of one log."""

    def __init__(self) -> None:
        self._suppressed = 0
        self._informed = False
        """A line has the level INFO."""
        self._levelled = False
        """A line has another level."""
        self._common: dict[bytes, Sequence[bytes]] | None = None
        """Words that all lines so far contain, each with the bytes around it in the forms in which lines print it; None before the first
        line."""

    def chunk(self, data: bytes) -> None:
        self._informed = self._informed or (b"INFO" in data and _INFO.search(data) is not None)
        self._levelled = self._levelled or (not self._informed and _OTHER.search(data) is not None)
        if _IN_ALL_NOTES in data and any(word in data for word in _DROPPED):
            self._suppressed += sum(max((int(n) for n in found.groups() if n), default=1) for found in _NOTE.finditer(data))
        if self._common is None or self._common:
            self._narrow(data)

    def _narrow(self, data: bytes) -> None:
        """Keeps the words that all these lines have, too."""
        lines = data.splitlines()
        at = 0
        while at < len(lines) and (self._common is None or len(self._common) > _FEW):
            if lines[at].strip():
                words = {*_WORD.findall(_message(lines[at]))} - _LEVELS
                self._common = dict.fromkeys(words if self._common is None else self._common.keys() & words, ())
            at += 1
        for begin in range(at, len(lines), _AT_ONCE):
            some = lines[begin : begin + _AT_ONCE]
            self._common = {
                word: found for word, forms in (self._common or {}).items() if (found := _in_all(word, forms, some)) is not None
            }
            if not self._common:
                return

    def take_over(self, other: LeftOut) -> None:
        """Adds the signs of another part of the log to this one."""
        self._suppressed += other._suppressed
        self._informed = self._informed or other._informed
        self._levelled = self._levelled or other._levelled
        if other._common is not None:
            own = other._common if self._common is None else self._common
            self._common = {word: forms for word, forms in own.items() if word in other._common}

    def collected(self) -> Row:
        """Fields of schemas.COLLECTED."""
        words = sorted(self._common or (), key=lambda word: (-len(word), word))[:MOST_WORDS]
        return {
            "suppressed": self._suppressed,
            "informed": self._informed or not self._levelled,
            "common_words": [word.decode("ascii", "replace") for word in words],
        }


def _message(line: bytes) -> bytes:
    """A line without the logger and thread at its end, with something that is not a letter before and after."""
    return b" %b " % _LOGGER.sub(b"", line)


def _in_all(word: bytes, forms: Sequence[bytes], lines: Sequence[bytes]) -> Sequence[bytes] | None:
    """The forms in which lines print a word, with those of these lines; None if a line does not have the word."""
    for form in filter(_OUTSIDE.search, forms):
        lines = [line for line in lines if form not in line or line.rstrip(b" \t\r").endswith(b"]")]
    lines = [_message(line) for line in lines if line.strip()]
    for form in forms:
        lines = [line for line in lines if form not in line]
    search = re.compile(rb"[^A-Za-z]" + word + rb"[^A-Za-z]").search
    while lines:
        around = search(lines[0])
        if around is None or len(forms) == _FORMS:
            return forms if all(map(search, lines)) else None
        forms = [*forms, form := around[0]]
        lines = [line for line in lines if form not in line]
    return forms
