"""The lines that cost most because there are most of them, read in one loop: whole records in the layout of the lines before whose
statement needs no other line.

Here: the same as Reading does of such a line, step by step and with what neighbouring lines share kept at hand. Not here: any other
line, for which Reading is asked, nor what becomes of the events (columns).

Measured on recorded lines: the search for literals, `re` and this loop take about the same time; RE2 over many lines at once takes
two to five times that of `re` to tell the groups.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from datetime import datetime
from typing import Any

from parsers.catalogue.columns import Columns
from parsers.catalogue.matching import LONG_MESSAGE, Seen
from parsers.catalogue.reading import Reading
from parsers.catalogue.text import leading_noise, text_of
from parsers.layouts import Record, prefix
from parsers.schemas import Told

_NOTHING: Mapping[str, Any] = {}
_BEGINS_OTHERWISE = ("P", "C", "B")
"""How a component's name begins that is in no brackets."""


def component(head: str) -> Mapping[str, Any] | None:
    """What a bracket that a message begins with, up to `] `, names as its component; None where that takes a closer look."""
    if "[" in head[1:] or "]" in head:
        return None
    try:
        context, rest = prefix(f"{head}] ", None)
    except ValueError:
        return None
    return None if rest else context


def search(reading: Reading, data: bytes, base: int, columns: Columns) -> Generator[Told, None, int | None]:
    """Events of a chunk from a line's end on. Returns where to search anew once the literals have become others."""
    layouts, survey, offset, direct = reading.layouts, reading.survey, reading.offset, reading.direct
    literals = layouts.literals
    tried, names_logger = literals.tried, literals.names_logger
    find, rfind, count = data.find, data.rfind, data.count
    clean = data.isascii() and b"\r" not in data and not survey.noise
    whole = data.decode() if clean else ""
    hits = literals.find(data[base:] if base else data)
    known = layouts.known
    layout = known[0] if known else None
    quickly = layout.quick if layout else None
    times: dict[str, tuple[datetime | None, bool]] = {}
    contexts: dict[str, Mapping[str, Any] | None] = {}
    line, floor, at, after = reading.line, base, 0, len(hits)
    last = -1  # begin of the latest line read here; -1 where Reading knows of it
    while at < after:
        if columns.full:
            yield from columns.flush()
        hit, start, _ = hits[at]
        start += base
        number, begin, end = line, rfind(b"\n", floor, start) + 1 or floor, find(b"\n", start)
        if end < 0:
            end = len(data)
        line += count(b"\n", floor, begin)
        ids: tuple[int, ...] = (hit,)
        at += 1
        while at < after and hits[at][1] + base < end:
            ids += (hits[at][0],)
            at += 1
        before, floor = floor, end
        text = whole[begin:end] if clean else text_of(data[begin:end])
        matched = quickly[0].fullmatch(text) if quickly is not None and len(text) <= LONG_MESSAGE and (clean or text.isascii()) else None
        if matched is not None and quickly is not None and layout is not None:
            time, level, message, other, logger = matched.group(*quickly[1])
            if message is None:
                message = other
            when = times.get(time)
            if when is None:
                when = times[time] = layout.moment(time)
            moment = when[0]
            taken = moment is not None and logger is not None
            context = _NOTHING
            if taken and message[:1] == "[":
                head, closed, rest = message.partition("] ")
                named = contexts.get(head, _NOTHING) if closed else None
                if named is _NOTHING:
                    named = contexts[head] = component(head)
                if named is None or (rest[:1] == "[" and not named):
                    named = None
                else:
                    context, message = named, rest
            else:
                named = None if message[:1] in _BEGINS_OTHERWISE else _NOTHING
            if named is None and taken:
                try:
                    context, message = prefix(message, logger)
                except ValueError:
                    taken = False
            found = None
            if taken:
                for one in tried(ids, logger):
                    if one.fullmatch is None:
                        taken = False
                        break
                    found = one.fullmatch(message)
                    if found is not None:
                        break
            if taken:
                survey.hits += 1
                last = begin
                node = context.get("node")
                if node is not None:
                    survey.nodes[node] += 1
                    reading.named = (node, moment)
                if found is None:
                    if names_logger(ids):
                        reading.pass_by(Record(moment, layout.level(level), message, logger, when[1]), begin, end, layout)
                        last = -1
                        reading.count_unrecognised(Seen(text, message, logger, begin, end))
                elif one.tells:
                    noise = leading_noise(data[begin:end]) if survey.noise else 0
                    if direct and one.by_columns:
                        near = reading.near(moment) if node is None else None
                        place = (line, offset + begin + noise, moment, "utc" if when[1] else "line")
                        columns.add(
                            one.pattern, found.groups(), context, (*place, *one.names, layout.level(level) or None, text, near), text
                        )
                        continue
                    reading.line = line
                    seen = Seen(text, message, logger, begin, end, noise=noise)
                    reading.pass_by(Record(moment, layout.level(level), message, logger, when[1]), begin, end, layout)
                    last = -1
                    reading.tell(one, found, context, seen, columns)
                continue
        reading.line = line
        if last >= 0 and layout is not None:
            reading.pass_by(None, last, last, layout)
            last = -1
        for row in reading.look(data, begin, end, ids):
            columns.add_row(row)
            if columns.full:
                yield from columns.flush()
        if reading.wrapped_at >= 0:
            return None
        if layouts.literals is not literals:
            reading.line = number
            return before
        if layouts.known is not known:
            known = layouts.known
            layout = known[0] if known else None
            quickly = layout.quick if layout else None
            times = {}
    if last >= 0 and layout is not None:
        reading.pass_by(None, last, last, layout)
    reading.line = line + count(b"\n", floor)
    return None
