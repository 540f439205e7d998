"""Learns unlisted layouts from a file's lines: the catalogue knows messages and loggers, and times and levels have few forms; the text
around them that is the same in line after line is the layout.

Here: from lines to a conversion pattern that prints them, and how well a layout explains them. Not here: the forms of times
(parsers.stamps), the compilation of patterns (parsers.log_pattern), or which layouts a file is in (layouts_in_use).

Deterministic and bounded: no more than HEAD bytes, TRIALS matches of a message, CANDIDATES patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import regex

from parsers.layouts import Layout, fitting, sniff
from parsers.learning.dates import plausible
from parsers.learning.pieces import Line, groups, guessed, located
from parsers.learning.rendering import formats_of, pattern_of
from parsers.learning.sample import HEAD, LINES, LogSample, sample_of
from parsers.learning.worth import INFORMATIVE, Worth, explains, remainders, worth_of
from parsers.log_pattern import compiled
from parsers.matching.literals import anywhere
from parsers.stamps import stamps

_CHANGED = 3
"""Records needed to accept that a file changes to an unlisted layout: a single line may just be damaged."""
_VARYING = 3
"""Texts of any length in a pattern, which an expression may try to end anywhere."""
_OBJECT = ('{"', '[{"')
"""A record of JSON, in which a message is no text between others: its escapes are not those of the line."""
_GUESSES = 3
"""Lines from which a layout is learned even if they contain no known message."""
_HITS = 120
"""Lines with words of Kafka that are examined."""
_FEW_HITS, _FEW_LINES = 20, 100
"""Number of such lines that a listed layout has to explain; small, because a listed layout mostly does."""
_MANY_LINES = 2000
"""Lines that are examined if the first ones are not informative, for example the settings that a broker prints at startup."""

_AT_ONCE = 32
"""Chunks of HEAD bytes whose layout is remembered."""


class Learned(NamedTuple):
    """The layout of a file's lines, or why there is none."""

    layout: Layout | None
    pattern: str | None = None
    """The conversion pattern, if no listed layout was good enough."""
    trouble: tuple[str, str] | None = None
    """Why the layout is unknown: reason and text of a problem."""


def layout_of(data: bytes, given: Sequence[Layout] = (), written: datetime | None = None, line: str | None = None) -> Learned:
    """The layout a chunk's first lines are in: one of `given` or of the listed ones if these explain the lines, else a learned one.

    `written`: approximate time of the chunk's last line, if known; it may distinguish day and month. `line`: has to be a record in this
    layout.
    """
    head = data[:HEAD]
    found = _found(head, tuple(given), line) if given else _found_again(head, line, anywhere())
    return found if isinstance(found, Learned) else _dated(found, data, written)


@lru_cache(maxsize=_AT_ONCE)
def _found_again(head: bytes, line: str | None, _known: object) -> Learned | list[Line]:
    """`_found` without given layouts. The same lines are examined when a kind of file is recognised, and when it is read or rewritten.
    `_known`: the patterns that are in use."""
    return _found(head, (), line)


def _found(head: bytes, given: Sequence[Layout], line: str | None) -> Learned | list[Line]:
    """The layout of the lines, or the lines from which an unlisted layout is made."""
    listed = sniff(head, given)
    if line is not None and (listed is None or not listed.fits(line)):
        listed = fitting(line, given)
    if listed is not None and any(listed is one for one in given):
        return Learned(listed)
    few = sample_of(head, _FEW_LINES, _FEW_HITS)
    lines = LINES if len(few.hits) >= INFORMATIVE else _MANY_LINES
    if listed is not None and explains(listed, few if lines == LINES else sample_of(head, lines, _HITS)):
        return Learned(listed)
    sample = sample_of(head, lines, _HITS)
    best = _best_group(sample, listed, line)
    return best if best is not None else Learned(listed, trouble=remainders(listed, sample))


def _best_group(sample: LogSample, listed: Layout | None, line: str | None) -> list[Line] | None:
    """The lines whose layout explains the sample best; None if none explains it better than the listed layout."""
    best: list[Line] | None = None
    most = worth_of(listed, sample) if listed is not None else Worth(0, 0, 0, 0, 0)
    least = _CHANGED if line is not None else 1
    guesses = [group for group in groups(guessed(sample.lines)) if len(group) >= _GUESSES]
    for group in (*groups(located(sample.hits)), *guesses):
        layout = _layout_of_group(group)
        if layout is None or (line is not None and not layout.fits(line)):
            continue
        worth = worth_of(layout, sample)
        if (worth.known or worth.loggers) and worth.whole >= least and worth > most:
            best, most = group, worth
            if worth.known == len(sample.hits) and worth.whole == worth.loggers == worth.levels:
                break
    return best


def _layout_of_group(group: Sequence[Line]) -> Layout | None:
    """The layout of such lines; None if their pattern is not valid or too vague."""
    pattern = pattern_of(group, formats_of(group)[0])
    vague = pattern.count("%t") > _VARYING or pattern.startswith(_OBJECT) or _SENTENCE.search(pattern)
    return None if vague else _compiled(pattern)


_SENTENCE = regex.compile(r"(?:\b[A-Za-z]{2,} ){3}|\w(?:Exception|Error)\b")
"""Constant text that is no part of a layout, but of a message: the sample has one such line."""


def begins_record(text: str) -> bool:
    """Whether a record seems to begin with this line, in whatever layout: there is a time near its beginning."""
    if text[:1] in ("", " ", "\t") or not _MAY_HOLD_TIME.search(text, 0, _BEGINNING) or _THROWN.match(text) or _OF_OTHERS.match(text):
        return False
    return next(stamps(text, 0, _BEGINNING), None) is not None


_BEGINNING = 120
_THROWN = regex.compile(
    r"(?:Exception in thread \"[^\"]*\" |Caused by: |Exception: )?(?:[a-z]\w*+\.)++[\w$]*+(?<=Exception|Error)(?![\w$])"
)
"""The first line of an exception, whose message may contain numbers as large as times."""


_MAY_HOLD_TIME = regex.compile(r"\d([:.-])\d\d\1\d\d|\d{6}")
"""A part of every time format, which most lines of a stack trace do not contain."""


def goes_on(text: str) -> bool:
    """Whether a line begins no record in any layout: an exception, part of a stack trace, indented as by Throwable.printStackTrace, of a
    list of settings (AbstractConfig.logAll), or printed by the JVM itself."""
    return text.startswith("\tat ") or any(of.match(text) is not None for of in (_SETTING, _OF_OTHERS, _THROWN))


_SETTING = regex.compile(r"\t[a-z][\w.-]* = ")
_OF_OTHERS = regex.compile(r"# |(?:OpenJDK|Java HotSpot\(TM\)) [\w-]+ Server VM warning: |={2,3}> |[^=]{1,100} ==> ")
"""Lines of the JVM, and of the scripts with which images start Kafka (`===> Running preflight checks`, `kafka 10:21:05.54 INFO  ==> Starting`)."""


def _dated(group: Sequence[Line], data: bytes, written: datetime | None) -> Learned:
    """The layout of such lines, once the day and month of its dates are known."""
    made = [_compiled(pattern_of(group, form)) for form in formats_of(group)]
    layouts = [layout for layout in made if layout is not None]
    decided = plausible(layouts, data, written) if len(layouts) > 1 else layouts
    if len(decided) == 1:
        return Learned(decided[0], decided[0].name)
    names = " or ".join(repr(layout.name) for layout in decided)
    text = f"the day and the month of its dates cannot be distinguished, so the dates are not read; give one as --log-pattern: {names}"
    return Learned(replace(decided[0], when=lambda text: (None, False)), None, ("no-date", text))


def _compiled(pattern: str) -> Layout | None:
    try:
        return compiled(pattern)
    except ValueError:
        return None
