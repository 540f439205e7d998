"""The parts of a record around its message in one layout: time, level, logger and component.

Here: the parts of whole records; texts that were parsed before are not parsed again. Not here: lines that do not begin a record (reading),
or the messages.

Measured on recorded lines: for records in Kafka's own layout, fixed positions take a third of the time of an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import repeat
from struct import Struct
from typing import Any, Generic, NamedTuple, TypeVar

from parsers.layouts import LEVELS, LOG4J, Layout, prefix, timestamp
from parsers.matching.messages import LONG_MESSAGE
from parsers.thresholds import MICROSECOND

_EPOCH = datetime(1970, 1, 1)
_NOTHING: Mapping[str, Any] = {}
_BEGINS_OTHERWISE = ("Broker ", "Controller ", "Partition [", "Cleaner ")
"""How a component's name without brackets begins."""
_MAX_KEPT = 1 << 14
_PARTS = Struct("14s6s5s8s"), Struct("14s6s6s8s")
"""The hour of a date, the minute and second, their fraction, and the level; the second one if a `Z` follows the time."""
_STAMPED = 25
_NEVER, _SOONEST = -(1 << 60), -(1 << 59)
"""Time of a record without a date, and a time before every date."""
_HOUR = re.compile(rb"\[\d{4}-\d\d-\d\d[ T](?:[01]\d|2[0-3])")
_IN_HOUR = {b":%02d:%02d" % (minute, second): (60 * minute + second) * 10**6 for minute in range(60) for second in range(60)}
_FRACTIONS = {b"%c%03d%b]" % (mark, ms, zone): 1000 * ms for mark in b",." for zone in (b"", b"Z") for ms in range(1000)}
_LEAD = re.compile(rf" ({LEVELS}) (?! |$)".encode())
_LOGGER = re.compile(r" \(([^():\s]+)\)")

_Text = TypeVar("_Text", str, bytes)
_Value = TypeVar("_Value")


Head = tuple[str, int, bool, str, Mapping[str, Any], bool, str, int, int]
"""Parts of a record: its logger; its time, in microseconds since 1970 as printed, and whether that is UTC; level; the columns from the
component's name, and whether the bracket alone determines them; the text that contains the message after that name, with start and end."""


class Columns(NamedTuple):
    """The heads of many lines, each a list by line; without a logger where a line needs a closer look."""

    loggers: list[str | None]
    times: list[int]
    utc: list[bool]
    levels: list[str]
    contexts: list[Mapping[str, Any]]
    bracketed: list[bool]
    texts: list[str]
    firsts: list[int]
    afters: list[int]

    def put(self, at: int, head: Head | None) -> None:
        """The head of one line."""
        columns: Iterable[list[Any]] = self
        for column, value in zip(columns, head or _NO_HEAD, strict=True):
            column[at] = value


class _KeptValues(dict[_Text, _Value], Generic[_Text, _Value]):
    """Parsed values of texts that occur again and again."""

    def __init__(self, meaning: Callable[[_Text], _Value]) -> None:
        super().__init__()
        self._meaning: Callable[[_Text], _Value] = meaning

    def __missing__(self, text: _Text) -> _Value:
        if len(self) > _MAX_KEPT:
            self.clear()
        meaning = self[text] = self._meaning(text)
        return meaning


def microseconds(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - _EPOCH) // MICROSECOND


def moment_of(time: int) -> datetime:
    """The time for `microseconds`."""
    return _EPOCH + timedelta(microseconds=time)


def _hour(text: bytes) -> int:
    hour = timestamp(text[1:].decode()) if _HOUR.fullmatch(text) else None
    return microseconds(hour) if hour is not None else _NEVER


def _logger(text: str) -> str | None:
    match = _LOGGER.fullmatch(text)
    return match[1] if match is not None else None


def _component(head: str) -> Mapping[str, Any] | None:
    """The component named by the bracket at the start of a message, up to `] `; None if the bracket needs a closer look."""
    if "[" in head[1:] or "]" in head:
        return None
    try:
        context, rest = prefix(f"{head}] ", None)
    except ValueError:
        return None
    return None if rest else context


class Heads:
    """The heads of records in one layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._hours = _KeptValues(_hour)
        self._leads = _KeptValues(self._lead)
        self._loggers = _KeptValues(_logger)
        self._components = _KeptValues(_component)

    def _lead(self, text: bytes) -> tuple[str, int]:
        """Level, and where the message begins; -1 if the level is missing."""
        match = _LEAD.match(text)
        return (self.layout.level(match[1].decode()), _STAMPED + match.end()) if match is not None else ("", -1)

    def read(self, text: str) -> Head | None:
        """The head of a record in ASCII; None if it needs a closer look."""
        record = self.layout.read(text)
        if record is None or record.time is None or record.logger is None:
            return None
        of_record = record.logger, microseconds(record.time), record.utc, record.level
        context: Mapping[str, Any] | None
        context, first, message = _NOTHING, 0, record.message
        if message.startswith("["):
            closed = message.find("] ")
            first = closed + 2
            context = self._components[message[:closed]] if closed >= 0 else None
            if not context and message.startswith("[", first):
                context = None
        elif message.startswith(_BEGINS_OTHERWISE):
            context = None
        if context is None:
            return _closer(of_record, message)
        return *of_record, context, True, message, first, len(message)

    def read_all(self, data: bytes, text: str, begins: Sequence[int], ends: Sequence[int], loggers: Sequence[str | None]) -> Columns:
        """The same for many lines: where they are in the data and in its text, and which loggers are known to be at their ends."""
        if self.layout is not LOG4J:
            columns = columns_of(text, len(begins))
            for at, (begin, end) in enumerate(zip(begins, ends, strict=True)):
                columns.put(at, self.read(text[begin:end]) if end - begin <= LONG_MESSAGE else None)
            return columns
        return self._read_kafkas(data, text, begins, ends, loggers)

    def _read_kafkas(self, data: bytes, text: str, begins: Sequence[int], ends: Sequence[int], loggers: Sequence[str | None]) -> Columns:
        """The same in Kafka's own layout, at fixed positions. Everything that is rare is left for after the loop: `others` are lines that
        are not such records, `closer` those whose component needs a closer look."""
        hours, seconds, fractions, names = self._hours, _IN_HOUR.get, _FRACTIONS.get, self._loggers
        find, rfind, startswith, components = text.find, text.rfind, text.startswith, self._components
        utc = data[begins[0] + _STAMPED - 1 : begins[0] + _STAMPED] == b"Z"
        data = data if begins[-1] + _PARTS[utc].size <= len(data) else data + bytes(_PARTS[utc].size)
        parts = list(map(_PARTS[utc].unpack_from, repeat(data), begins))
        times = [hours[hour] + seconds(second, _NEVER) + fractions(fraction, _NEVER) for hour, second, fraction, _ in parts]
        leads = [self._leads[lead] for _, _, _, lead in parts]
        columns = columns_of(text, len(begins))._replace(times=times, levels=[level for level, _ in leads], utc=[utc] * len(begins))
        contexts, loggers_read, firsts, afters = columns.contexts, columns.loggers, columns.firsts, columns.afters
        others: list[int] = []
        closer: list[int] = []
        named, within = "[", _NOTHING  # mostly it is the same as in the line before
        for at, (begin, end, logger, time, (_, length)) in enumerate(zip(begins, ends, loggers, times, leads, strict=True)):
            first = begin + length + utc
            if logger is not None:
                after = end - len(logger) - _AROUND
            else:
                after = rfind(" (", first, end)
                logger = names[text[after:end]] if after >= 0 else None
            if logger is None or length < 0 or time < _SOONEST or end - begin > LONG_MESSAGE or after < first:
                others.append(at)
                continue
            mark = text[first]
            if mark == "[":
                if within and startswith(named, first, after):
                    contexts[at], first = within, first + len(named)
                else:
                    closed = find("] ", first, after)
                    context = components[text[first:closed]] if closed >= 0 else None
                    if context is None or (not context and text[closed + 2] == "["):
                        closer.append(at)
                    else:
                        if context:
                            named, within = text[first : closed + 2], context
                        contexts[at], first = context, closed + 2
            elif mark in "BCP" and startswith(_BEGINS_OTHERWISE, first, after):
                closer.append(at)
            loggers_read[at], firsts[at], afters[at] = logger, first, after
        self._read_others(columns, others, begins, ends)
        _look_closer(columns, closer)
        return columns

    def _read_others(self, columns: Columns, others: Iterable[int], begins: Sequence[int], ends: Sequence[int]) -> None:
        for at in others:
            begin, end = begins[at], ends[at]
            is_record = end - begin <= LONG_MESSAGE and columns.texts[at].startswith("[", begin)
            columns.put(at, self.read(columns.texts[at][begin:end]) if is_record else None)


def _look_closer(columns: Columns, closer: Iterable[int]) -> None:
    """Reads the components of these lines without their brackets."""
    for at in closer:
        of_record = columns.loggers[at] or "", columns.times[at], False, columns.levels[at]
        head = _closer(of_record, columns.texts[at][columns.firsts[at] : columns.afters[at]])
        if head is None:
            columns.put(at, None)
        else:
            columns.bracketed[at] = False
            columns.contexts[at] = head[4]
            columns.firsts[at] += head[7]


def columns_of(text: str, size: int) -> Columns:
    """Heads of lines about which nothing is known."""
    return Columns(
        [None] * size, [0] * size, [False] * size, [""] * size, [_NOTHING] * size, [True] * size, [text] * size, [0] * size, [0] * size
    )


def _closer(of_record: tuple[str, int, bool, str], message: str) -> Head | None:
    match = _WRITER.match(message)
    end = match.end() if match is not None else len(message)
    try:
        context, rest = _writer(message[:end], of_record[0]) if match is not None else prefix(message, of_record[0])
    except ValueError:
        return None
    return *of_record, context, False, message, end - len(rest), len(message)


_NO_HEAD = (None, 0, False, "", _NOTHING, True, "", 0, 0)
_AROUND = len(" ()")
_WRITER = re.compile(r"(?:Broker \d+|Controller \d+ epoch \d+) [a-z]")
"""How a message in state-change.log begins, to 0.11."""
_writer = lru_cache(maxsize=_MAX_KEPT)(prefix)
