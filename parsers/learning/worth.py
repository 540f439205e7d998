"""How well a layout explains the lines of a sample."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import regex

from parsers.layouts import LEVELS, Layout, LogRecord, prefix
from parsers.learning.sample import Hit, LogSample
from parsers.matching.literals import relevant
from parsers.matching.messages import INLINE, apply
from parsers.patterns.pattern import Pattern

INFORMATIVE = 3
"""Lines with words of Kafka that are informative."""
TAIL = 200


def _known(layout: Layout, hits: Iterable[Hit]) -> int:
    """Lines whose message a pattern of the catalogue claims."""
    count = 0
    for hit in hits:
        record = layout.read(hit.text)
        if record is not None and any(_claims(pattern, record, layout) for pattern in hit.patterns):
            count += 1
    return count


def _claims(pattern: Pattern, record: LogRecord, layout: Layout) -> bool:
    try:
        message = prefix(record.message, record.logger)[1]
    except ValueError:
        return False
    return apply(pattern, message, record.logger, record.message if layout.bare else None) is not None


_LEFTOVER = regex.compile(rf"\s*(?:[-|:;,>=~#*/\\]+(?:\s|$)|[|\t\]>}}]|[\[(<{{|]?(?:{LEVELS})\b|\S{{1,80}} (?:\S{{1,80}} )?[-|] |\w+=)")
"""How a message begins if the layout left a field or a separator in it."""


PRINTED_LOGGER = regex.compile(r"(?:kafka|org\.apache\.kafka|state\.change)\.[\w$]+(?:\.[\w$]+)*")


_FIRST_NAME = re.compile(r"[\[({<] ?([A-Za-z][\w$]*(?:\.[\w$]+)*) ?[\])}>]")


_LAST_NAME = regex.compile(r"[\[({<|\t] ?([A-Za-z][\w$]*(?:\.[\w$]+)*) ?[\])}>|\t]?(?:[\s\[({<|]+[\w.:/()-]+[\])}>]?)?\s*$")


_LAST_BOX = regex.compile(r"[\[({<|] ?([^\[\](){}<>|\s]+(?:\([\w.:-]*\)[\w.:-]*)?) ?[\])}>]\s*$")
"""A possible logger before or after a message, and a possible thread after it."""


THREAD = regex.compile(r"main(?:-.*)?|.*(?:[Tt]hread|[Hh]andler|[Rr]eaper|[Ee]xecutor|[Aa]cceptor|[Pp]ool|[Ss]cheduler).*")
"""Names of Kafka threads."""


def leaves_over(record: LogRecord, layout: Layout) -> bool:
    """Whether the message still contains text that clearly belongs to the layout."""
    message = record.message
    if _LEFTOVER.match(message) is not None or (layout.bare and record.logger is not None):
        return True
    if record.logger is not None or ((thrown := INLINE.search(message)) is not None and thrown["logger"] is not None):
        return False
    names = (_FIRST_NAME.match(message), _LAST_NAME.search(message, max(0, len(message) - TAIL))) if layout.bare else ()
    if any(name is not None and relevant(name[1]) is not None for name in names):
        return True
    box = _LAST_BOX.search(message, max(0, len(message) - TAIL)) if layout.bare else None
    if box is not None and THREAD.fullmatch(box[1]) is not None:
        return True
    return any(PRINTED_LOGGER.search(part) for part in (message[:80], message[-TAIL:]))


def _records(layout: Layout, sample: LogSample) -> list[LogRecord]:
    return [record for line in sample.lines if (record := layout.read(line)) is not None]


def explains(layout: Layout, sample: LogSample) -> bool:
    """Whether the layout is good enough, so that none has to be learned."""
    records = _records(layout, sample)
    marked = sum(_begins(line) for line in sample.lines)
    left = sum(leaves_over(record, layout) for record in records)
    if 2 * len(records) < marked or 4 * left > len(records):
        return False
    enough = 2 if layout.bare else 4
    return len(sample.hits) < INFORMATIVE or enough * _known(layout, sample.hits) >= len(sample.hits)


_MARK = regex.compile(rf"(?i).{{0,80}}?(?:\d\d:\d\d:\d\d|\d{{13}}|\b(?:{LEVELS})\b)")


def _begins(line: str) -> bool:
    return line[:1] not in ("", " ", "\t") and _MARK.match(line) is not None


def remainders(layout: Layout | None, sample: LogSample) -> tuple[str, str] | None:
    """Problem text for a layout that leaves extra text in most messages; no better layout was found."""
    read = [(line, record) for line in sample.lines if layout is not None and (record := layout.read(line)) is not None]
    left = [line for line, record in read if layout is not None and leaves_over(record, layout)]
    if layout is None or not sample.hits or 2 * len(left) <= len(read):
        return None
    text = f"a layout no list holds: of {len(read)} lines read as {layout.name!r} the messages of {len(left)} are not clean, such as {left[0][:TAIL]!r}"
    return "unknown-layout", text


class Worth(NamedTuple):
    """How well a layout explains the lines, most important criterion first."""

    known: int
    """Messages of the catalogue; somewhat less weight if no logger has to match."""
    whole: int
    """Records, minus those that leave extra text in their message."""
    loggers: int
    times: int
    levels: int


def worth_of(layout: Layout, sample: LogSample) -> Worth:
    records = _records(layout, sample)
    fitting = sum(layout.fits(line) for line in sample.lines)
    left = sum(leaves_over(record, layout) for record in records)
    loggers = sum(record.logger is not None for record in records)
    times = sum(record.time is not None for record in records)
    known = _known(layout, sample.hits)
    return Worth(
        known - known // 5 - (known > 1) if layout.bare else known,
        fitting - left,
        loggers,
        times,
        sum(bool(record.level) for record in records),
    )
