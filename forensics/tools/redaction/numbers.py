"""The numbers that a copy keeps: those that a reader took from the line, those with a unit or after a word that names them, and short ones.

Here: which digits of a text stay. Not here: names, addresses and words (names), or which numbers a reader took (text).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

MOST_ATTACHED = 6
"""Digits of the numbers inside one name, as in `ReplicaFetcherThread-0-1001`; a name with more digits is replaced."""
_ATTACHED = 4
"""Digits of one such number."""
_MOST_KNOWN = 2
"""Numbers that a reader takes from one word, as in `0-1001`; a reader that takes more takes a list for something else."""
_ID = r"(?:node|broker|replica|controller|leader|voted|voter|session|correlation|api)?(?:[Ii]d|ID)|broker|node|leader|controller|replica"
_COUNT = r"[Ee]poch|[Oo]ffset|[Pp]artition|version|zkVersion|port|size|count|timeout|fetchOffset|startOffset|endOffset|position|sequence"
_NAMED = (
    rf"\b(?:{_ID}|\w{{0,30}}?(?:{_COUNT}|Epoch|Offset|Ms))(?:=|: ?| |=Optional(?:Int|Long)?\[)(?P<named>-?\d{{1,6}})(?![\w-])(?!\.[\w.-])"
)
_TIME = r"(?<![\w.])(?:20\d\d[-/][01]\d[-/][0-3]\d[ T])?[0-2]\d:[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?(?: ?(?:Z|[+-][01]\d:?\d\d))?(?!\w|:\d)"
_KEPT = re.compile(
    rf"(?P<time>{_TIME})"
    r"|(?<![\w.-])(?P<measured>-?(?:\d{1,6}|\d{1,3}\.\d{1,6}))(?= ?(?:[mun]s|milliseconds?|seconds?|secs?|minutes?|bytes?|[KMG]i?B|B|s)\b)"
    r"|(?<![\w.-])(?P<uptime>\d{1,9}[.,]\d{3})(?=: )"
    rf"|{_NAMED}"
    r"|\b[a-z]\w{0,40}=(?P<small>-?\d)(?![\w.-])"
    r"|\((?:GroupCoordinator|Kafka Server|KafkaApi-) ?(?P<own>\d{1,10})(?=[\],)])"
    r"|\[(?:GroupCoordinator |Kafka Server |KafkaApi-)(?P<server>\d{1,10})(?=[\],) ])"
    r"|(?<=[A-Za-z\]\d]):(?P<port>\d{2,5})(?![\w:.-]| \d{3})"
    r"|(?<![\w.-])(?P<voter>\d{1,6})(?=@)"
)
_DATE = re.compile(r"20\d\d[-._]?[01]\d[-._]?[0-3]\d(?:[-._T][0-2]?\d){0,3}")
_PADDED = re.compile(r"0{7}\d{13}(?:-\d{10})?")
"""Base offset of a segment, in the name of its file; with an epoch, of a snapshot."""
_PADDED_DIGITS = (10, 20)
_GROUPED = re.compile(r"\d+(?:(?: |[ .-]?\(|\)[ .-]?|[./:\\-]|;?&#)\d+)+")
_LONGEST_VERSION = 9
_VERSION = re.compile(r"\d{1,2}(?:\.\d{1,3}){1,3}(?:-\d)?")


@dataclass(frozen=True)
class Numbers:
    """The numbers that stay in one line, or in one file."""

    values: Collection[int] = frozenset()
    """Numbers that a reader took."""
    alone: int = 0
    """Maximum digits of any other number that stands alone."""
    attached: int = _ATTACHED
    """Maximum digits of any other number that is a part of a name."""

    def known(self, digits: str) -> bool:
        """Whether a reader took this number; it may also have taken the offset before or after. Kafka prints leading zeros only in the
        names of segments and snapshots."""
        if not digits.isascii() or len(digits) > 20 or (digits[0] == "0" and len(digits) not in (1, *_PADDED_DIGITS)):
            return False
        number = int(digits)
        return number in self.values or number + 1 in self.values or number - 1 in self.values

    def keeps(self, run: str) -> bool:
        """Whether numbers that stand alone stay: `7`, `2.8.2`, `0-2`."""
        parts = _parts(run)
        if self._knows(parts):
            return True
        if len(parts) > 1:
            return _is_version(run) or (self.alone > 0 and (sum(map(len, parts)) <= self.alone or _is_date(run)))
        return len(run) <= self.alone

    def keeps_attached(self, run: str) -> bool:
        """Whether numbers that are a part of a name stay."""
        parts = _parts(run)
        if self._knows(parts) or is_made_by_kafka(run):
            return True
        return all(len(part) <= self.attached for part in parts) and sum(map(len, parts)) <= MOST_ATTACHED

    def _knows(self, parts: Sequence[str]) -> bool:
        return len(parts) <= _MOST_KNOWN and all(self.known(part) for part in parts)


def is_made_by_kafka(run: str) -> bool:
    """Whether it is a date, or the base offset in the name of a segment."""
    return _is_date(run) or _PADDED.fullmatch(run) is not None


def _parts(run: str) -> list[str]:
    return re.findall(r"\d+", run)


def _is_version(run: str) -> bool:
    return len(run) <= _LONGEST_VERSION and _VERSION.fullmatch(run) is not None


def _is_date(run: str) -> bool:
    return _DATE.fullmatch(run) is not None


NONE = Numbers()
CELLS = Numbers(alone=20)
"""For files with hardly anything but numbers."""


def kept_spans(text: str) -> Iterator[tuple[int, int]]:
    """Positions of the numbers that stay because of the words around them: times, measures, ids, ports."""
    for match in _KEPT.finditer(text):
        yield match.span(match.lastgroup or 0)


def without_times(text: str) -> str:
    """The text without the times of day in it."""
    return _TIMES.sub("", text)


_TIMES = re.compile(_TIME)


def grouped_spans(text: str) -> Iterator[tuple[int, int]]:
    """Positions of long numbers that are written in groups, as card and phone numbers are: `4929 1234 5678 9012`."""
    for match in _GROUPED.finditer(text):
        if sum(map(len, _parts(match[0]))) > MOST_ATTACHED:
            yield match.span()
