"""A pattern prepared for matching: its expression compiled with `re` where possible, and whether its events are made by column.

Here: what depends on the pattern alone. Not here: which patterns are tried on a line (literals).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from parsers.patterns.pattern import Pattern

OF_LINE = ("line", "byte", "time", "clock", "level", "text")
"""Columns that come from the line, whatever its pattern."""
_RESERVED = (*OF_LINE, "event", "pattern", "source")


class Tried(NamedTuple):
    """A pattern compiled for matching."""

    pattern: Pattern
    fullmatch: Callable[..., re.Match[str] | None] | None
    """None if `re` does not support the expression, or if the record before the line is needed too."""
    groupdict: Callable[[re.Match[str]], Mapping[str, str | None]]
    relevant: bool
    """False for a pattern whose lines give no event."""
    by_columns: bool
    names: tuple[str, str]
    """Columns event and pattern."""

    @classmethod
    def of(cls, pattern: Pattern) -> Tried:
        quick = pattern.quick if not pattern.first_of_process else None
        return cls(
            pattern,
            quick.expression.fullmatch if quick is not None else None,
            quick.groupdict if quick is not None else re.Match.groupdict,
            pattern.event != "irrelevant",
            _by_columns(pattern),
            (pattern.event, pattern.name),
        )


def _by_columns(pattern: Pattern) -> bool:
    """Whether the event consists of the text of the pattern's groups alone."""
    given = {*pattern.columns, *pattern.fixed}
    computed = pattern.expand is not None or None in pattern.fixed.values() or "mode" in pattern.columns
    return not computed and given.isdisjoint(_RESERVED)
