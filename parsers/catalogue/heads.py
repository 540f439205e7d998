"""What stands around the messages of records in one layout: when, how loudly, by whom, and of which component.

Here: the parts of whole records; what was seen before is not looked at again. Not here: lines that begin no record (reading), or
what messages say.

Measured on recorded lines: where records are in Kafka's own layout, their parts' places tell them in a third of the time of an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Generic, TypeVar

from parsers.catalogue.matching import LONG_MESSAGE
from parsers.layouts import LEVELS, LOG4J, Layout, prefix, timestamp

_EPOCH, _MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
_NOTHING: Mapping[str, Any] = {}
_BEGINS_OTHERWISE = ("Broker ", "Controller ", "Partition [", "Cleaner ")
"""How a component's name begins that is in no brackets."""
_MAX_KEPT = 1 << 14
_SECOND, _STAMPED, _LED = 20, 25, 33
_SECONDS = re.compile(r"\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_FRACTIONS = {f"{mark}{ms:03}]": 1000 * ms for mark in ",." for ms in range(1000)}
_LEAD = re.compile(rf" ({LEVELS}) (?! |$)")
_LOGGER = re.compile(r" \(([^()\s]+)\)")

_Value = TypeVar("_Value")


Head = tuple[int, bool, str, str, Mapping[str, Any], bool, str, int, int]
"""Of a record: its time, in microseconds since 1970 as it prints it, and whether that is UTC; level; logger; what the component's name
tells, and whether that is known from its bracket alone; the text that holds the message behind that name, from where to where."""


class _Kept(dict[str, _Value], Generic[_Value]):
    """What texts mean that come again and again."""

    def __init__(self, meaning: Callable[[str], _Value]) -> None:
        super().__init__()
        self._meaning = meaning

    def __missing__(self, text: str) -> _Value:
        if len(self) > _MAX_KEPT:
            self.clear()
        found = self[text] = self._meaning(text)
        return found


def microseconds(moment: datetime) -> int:
    """Since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(time: int) -> datetime:
    """The time that `microseconds` tells."""
    return _EPOCH + timedelta(microseconds=time)


def _second(text: str) -> int | None:
    whole = timestamp(text[1:]) if _SECONDS.fullmatch(text) else None
    return microseconds(whole) if whole is not None else None


def _logger(text: str) -> str | None:
    found = _LOGGER.fullmatch(text)
    return found[1] if found is not None else None


def _component(head: str) -> Mapping[str, Any] | None:
    """What a bracket that a message begins with, up to `] `, names as its component; None where that takes a closer look."""
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
        self._seconds = _Kept(_second)
        self._leads = _Kept(self._lead)
        self._loggers = _Kept(_logger)
        self._components = _Kept(_component)

    def _lead(self, text: str) -> tuple[str, int]:
        """Level, and where the message begins; -1 where this is no level."""
        found = _LEAD.match(text)
        return (self.layout.level(found[1]), _STAMPED + found.end()) if found is not None else ("", -1)

    def read(self, text: str) -> Head | None:
        """The head of a record in ASCII; None where it takes a closer look."""
        record = self.layout.read(text)
        if record is None or record.time is None or record.logger is None:
            return None
        of_record = microseconds(record.time), record.utc, record.level, record.logger
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

    def read_all(self, text: str, places: Iterable[tuple[int, int]]) -> list[Head | None]:
        """The same of many, each from one place in the text to another."""
        if self.layout is not LOG4J:
            return [self.read(text[begin:end]) if end - begin <= LONG_MESSAGE else None for begin, end in places]
        seconds, leads, loggers, components, fractions = self._seconds, self._leads, self._loggers, self._components, _FRACTIONS.get
        found: list[Head | None] = []
        append, rfind, find, startswith = found.append, text.rfind, text.find, text.startswith
        context: Mapping[str, Any] | None
        # mostly each is the same as in the line before
        stamp, second, lead, level, length, behind, logger, named = "", None, "", "", -1, "", None, "["
        within: Mapping[str, Any] = _NOTHING
        for begin, end in places:
            if end - begin > LONG_MESSAGE:
                append(None)
                continue
            if second is None or not startswith(stamp, begin):
                stamp = text[begin : begin + _SECOND]
                second = seconds[stamp]
            if length < 0 or not startswith(lead, begin + _STAMPED):
                lead = text[begin + _STAMPED : begin + _LED]
                level, length = leads[lead]
            first = begin + length
            after = end - len(behind)
            if logger is None or after < first or not startswith(behind, after):
                after = rfind(" (", first, end) if length >= 0 else -1
                behind = text[after:end] if after >= 0 else ""
                logger = loggers[behind]
            fraction = fractions(text[begin + _SECOND : begin + _STAMPED])
            if second is None or length < 0 or fraction is None or logger is None:
                append(self.read(text[begin:end]))
                continue
            if startswith(named, first) and within and first + len(named) <= after:
                append((second + fraction, False, level, logger, within, True, text, first + len(named), after))
                continue
            mark = text[first]
            if mark == "[":
                closed = find("] ", first, after)
                context = components[text[first:closed]] if closed >= 0 else None
                if context:
                    named, within = text[first : closed + 2], context
                if context or (context is not None and text[closed + 2] != "["):
                    append((second + fraction, False, level, logger, context, True, text, closed + 2, after))
                    continue
            elif mark not in "BCP" or not startswith(_BEGINS_OTHERWISE, first, after):
                append((second + fraction, False, level, logger, _NOTHING, True, text, first, after))
                continue
            append(_closer((second + fraction, False, level, logger), text[first:after]))
        return found


def _closer(of_record: tuple[int, bool, str, str], message: str) -> Head | None:
    found = _WRITER.match(message)
    end = found.end() if found is not None else len(message)
    try:
        context, rest = _writer(message[:end], of_record[-1]) if found is not None else prefix(message, of_record[-1])
    except ValueError:
        return None
    return *of_record, context, False, message, end - len(rest), len(message)


_WRITER = re.compile(r"(?:Broker \d+|Controller \d+ epoch \d+) [a-z]")
"""How a message in state-change.log begins, to 0.11."""
_writer = lru_cache(maxsize=_MAX_KEPT)(prefix)
