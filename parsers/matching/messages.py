"""Whether a pattern claims a line that holds its literal: its loggers, then its expression.

Here: what is looked at, one line or a record of several, and the time limit of expressions. Not here: where the lines come
from (parsers.catalogue) or the columns of an event (parsers.patterns.pattern).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import regex

from parsers.layouts import STATE_CHANGE, Layout, LogRecord, is_one_of, prefix
from parsers.limits import in_force
from parsers.patterns.pattern import Pattern, components

LONG_MESSAGE = 2048
"""Characters from which on an expression gets a time limit: no line of Kafka is that long, a hostile one may be."""

INLINE = regex.compile(r"(?: \((?P<logger>[\w.$]+)\))? (?=(?:[a-z]\w*\.){2,}+[A-Z]\w*(?:Exception|Error)\b)")
"""Where an exception begins in the line of its error."""
_TRACE = regex.compile(r" at [\w.$/<>@]+\(.*")


@dataclass(slots=True)
class SeenText:
    """The text to match: one line, or a record of several."""

    text: str
    message: str
    logger: str | None
    begin: int
    end: int
    bare: bool = False
    """The layout has no logger."""
    lines_before: int = 0
    """Lines between the record's first one and the one the literal was found in."""
    noise: int = 0
    """Control bytes before the line."""

    def split(self) -> SeenText | None:
        """The text with an exception in its line as a line of its own, as Kafka prints it; None if there is none, or it is whole."""
        found = INLINE.search(self.message) if "\n" not in self.message else None
        if found is None:
            return None
        message = f"{self.message[: found.start()]}\n{self.message[found.end() :]}"
        return replace(self, message=message, logger=found["logger"] or self.logger)

    def apart(self) -> Sequence[SeenText]:
        """The line up to its logger, and the exception that people paste after it in the same line; the text itself if there is none."""
        found = self.split() if self.logger is None else None
        if found is None or found.logger is None:
            return (self,)
        message, _, thrown = found.message.partition("\n")
        return replace(found, message=message, bare=False), replace(found, message=_TRACE.sub("", thrown), logger=None, bare=False)

    @property
    def without_logger(self) -> str | None:
        """The message, if the layout has no logger."""
        return self.message if self.bare else None


def apply(pattern: Pattern, message: str, logger: str | None, bare: str | None = None) -> regex.Match[str] | None:
    """The match of a pattern with a message without its prefix. `bare`: the message with its prefix, if the layout has no logger, so that
    any logger is possible; but a few common words have to be those of a component that prints the statement. Raises TimeoutError."""
    if pattern.loggers and not (_prints(pattern, bare) if logger is None else is_one_of(logger, pattern.loggers)):
        return None
    if len(message) > LONG_MESSAGE:
        return pattern.compiled.fullmatch(message, timeout=in_force().patience)
    return pattern.compiled.fullmatch(message)


def _prints(pattern: Pattern, bare: str | None) -> bool:
    return bare is not None and (pattern.printed_by is None or not pattern.printed_by.isdisjoint(components(bare)))


def whole_message(record: LogRecord, rest: str, layout: Layout) -> tuple[str, str | None]:
    """Message and logger of a record of several lines; the logger may be printed at the end of a later line than the first."""
    if not rest:
        return record.message, record.logger
    match = layout.tail.search(rest) if layout.tail is not None and record.logger is None else None
    if match is None:
        return f"{record.message}\n{rest}", record.logger
    return f"{record.message}\n{rest[: match.start()]}{rest[match.end() :]}", match.groupdict().get("logger")


def readings_of(seen: SeenText) -> Sequence[tuple[Mapping[str, Any], str]]:
    """Component and message. If no logger is known, both with and without the writer that begins the lines of state changes."""
    plain = prefix(seen.message, seen.logger)
    if not seen.bare:
        return (plain,)
    state_change = prefix(seen.message, STATE_CHANGE)
    return (plain,) if state_change == plain else (state_change, plain)
