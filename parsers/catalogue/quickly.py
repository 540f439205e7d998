"""The lines that cost most because there are most of them, read in one loop: whole records in the layout of the lines before.

Here: the same as Reading does of such a line, step by step and with what neighbouring lines share kept at hand. Not here: any other
line, for which Reading is asked, nor what becomes of the events (columns).

Measured on recorded lines: RE2 over many lines at once takes two to five times that of `re` to tell the groups; where records are in
Kafka's own layout, their parts' places tell them in a third of the time of an expression.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from datetime import datetime, timedelta
from typing import Any

from parsers.catalogue.columns import Columns
from parsers.catalogue.literals import Tried
from parsers.catalogue.matching import LONG_MESSAGE, Seen
from parsers.catalogue.reading import Reading
from parsers.layouts import LEVELS, LOG4J, Layout, Record, prefix, timestamp
from parsers.schemas import Told

_NOTHING: Mapping[str, Any] = {}
_BEGINS_OTHERWISE = ("Broker ", "Controller ", "Partition [", "Cleaner ")
"""How a component's name begins that is in no brackets."""
_MAX_KEPT = 1 << 14


class Heads:
    """The parts of records in one layout; what was seen before is not looked at again."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._by_places = layout is LOG4J
        self._seconds: dict[str, datetime | None] = {}
        self._leads: dict[str, tuple[str, int] | None] = {}
        self._loggers: dict[str, bool] = {}

    def read(self, text: str) -> tuple[datetime | None, bool, str, str, str | None] | None:
        """A record's time, whether that is UTC, level, message and logger, as the layout reads them."""
        if self._by_places and text[-1:] == ")":
            second, lead = text[:_SECOND], text[_STAMPED:_LED]
            whole, level, fraction = self._seconds.get(second), self._leads.get(lead), _FRACTIONS.get(text[_SECOND:_STAMPED])
            if whole is None or level is None:
                whole, level = self._keep(second, lead)
            if whole is not None and level is not None and fraction is not None:
                at = text.rfind(" (", level[1])
                logger = text[at + 2 : -1]
                known = self._loggers.get(logger)
                if known is None:
                    known = self._loggers[logger] = _LOGGER.fullmatch(logger) is not None
                if at > 0 and known:
                    return whole + fraction, False, level[0], text[level[1] : at], logger
        record = self.layout.read(text)
        return (record.time, record.utc, record.level, record.message, record.logger) if record is not None else None

    def _keep(self, second: str, lead: str) -> tuple[datetime | None, tuple[str, int] | None]:
        for kept in (self._seconds, self._leads, self._loggers):
            if len(kept) > _MAX_KEPT:
                kept.clear()
        whole = self._seconds[second] = timestamp(second[1:]) if _SECONDS.fullmatch(second) else None
        found = _LEAD.match(lead)
        level = self._leads[lead] = (self.layout.level(found[1]), _STAMPED + found.end()) if found is not None else None
        return whole, level


_SECOND, _STAMPED, _LED = 20, 25, 33
_SECONDS = re.compile(r"\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_FRACTIONS = {f"{mark}{ms:03}]": timedelta(milliseconds=ms) for mark in ",." for ms in range(1000)}
_LEAD = re.compile(rf" ({LEVELS}) (?! |$)")
_LOGGER = re.compile(r"[^()\s]+")


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
    layouts, survey = reading.layouts, reading.survey
    literals, known = layouts.literals, layouts.known
    find, rfind, count = data.find, data.rfind, data.count
    clean = data.isascii() and not survey.noisy and b"\r" not in data
    whole = data.decode("latin-1")
    hits = literals.find(data[base:] if base else data)
    heads = Heads(known[0]) if known else None
    tries: dict[str | None, dict[tuple[int, ...], tuple[tuple[Tried, ...], bool]]] = {}
    contexts: dict[str, Mapping[str, Any] | None] = {}
    line, floor, at, after = reading.line, base, 0, len(hits)
    last = -1  # begin of the latest line read here; -1 where Reading knows of it
    while at < after:
        hit, start, _ = hits[at]
        start += base
        line_before, begin, end = line, rfind(b"\n", floor, start) + 1 or floor, find(b"\n", start)
        if end < 0:
            end = len(data)
        line += count(b"\n", floor, begin)
        ids: tuple[int, ...] = (hit,)
        at += 1
        while at < after and hits[at][1] + base < end:
            ids += (hits[at][0],)
            at += 1
        before, floor = floor, end
        head = None
        if heads is not None and end - begin <= LONG_MESSAGE:
            text = whole[begin:end] if clean else whole[begin:end].removesuffix("\r")
            if clean or (text.isascii() and text.isprintable()):
                head = heads.read(text)
        if head is not None and heads is not None:
            moment, utc, level, message, logger = head
            taken = moment is not None and logger is not None
            context = _NOTHING
            if message[:1] == "[":
                bracket, closed, rest = message.partition("] ")
                named = contexts.get(bracket, _NOTHING) if closed else None
                if named is _NOTHING:
                    named = contexts[bracket] = component(bracket)
                if named is not None and (named or rest[:1] != "["):
                    context, message = named, rest
                else:
                    named = None
            else:
                named = None if message.startswith(_BEGINS_OTHERWISE) else _NOTHING
            if named is None:
                try:
                    context, message = prefix(message, logger)
                except ValueError:
                    taken = False
            found, record = None, None
            if taken:
                of_logger = tries.get(logger)
                if of_logger is None:
                    of_logger = tries[logger] = {}
                tried = of_logger.get(ids)
                if tried is None:
                    tried = of_logger[ids] = literals.tried(ids, logger or ""), literals.names_logger(ids)
                candidates, of_interest = tried
                for one in candidates:
                    if one.fullmatch is None:
                        taken = False
                        break
                    if one.pattern.multiline:
                        if named is None or message[:1] == "[":
                            taken = False
                            break
                        if record is None:
                            reading.pass_by(Record(moment, level, head[3], logger, utc), begin, end, heads.layout)
                            record = reading.whole_record(data, Seen(text, head[3], logger, begin, end))
                        told = message + record.message[len(head[3]) :]
                        if len(told) > LONG_MESSAGE or not told.isascii():
                            taken = False
                            break
                        found = one.fullmatch(told)
                    else:
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
                    if of_interest:
                        reading.pass_by(Record(moment, level, head[3], logger, utc), begin, end, heads.layout)
                        last = -1
                        reading.count_unrecognised(Seen(text, head[3], logger, begin, end))
                    continue
                if one.pattern.multiline:
                    reading.told, last = True, -1
                if one.tells:
                    if record is None or not one.pattern.multiline:
                        shown, stop = text, end
                    else:
                        shown, stop = record.text, record.end
                    number, byte, time, shown = reading.spot(shown, begin, stop, line, moment)
                    near = reading.near(time) if node is None else None
                    common = (number, byte, time, "utc" if utc else "line", *one.names, level or None, shown, near)
                    if one.by_columns:
                        columns.add(one.pattern, found.groups(), context, common, text)
                    else:
                        try:
                            columns.add_rows(one.pattern.events(one.groupdict(found), context, time, level or None), common)
                        except ValueError as error:
                            columns.add_row(reading.out_of_range(error, text, number, byte))
                    if columns.full:
                        yield from columns.flush()
                continue
        reading.line = line
        if last >= 0 and heads is not None:
            reading.pass_by(None, last, last, heads.layout)
            last = -1
        for row in reading.look(data, begin, end, ids):
            columns.add_row(row)
            if columns.full:
                yield from columns.flush()
        if reading.wrapped_at >= 0:
            return None
        if layouts.literals is not literals:
            reading.line = line_before
            return before
        if layouts.known is not known:
            known = layouts.known
            heads = Heads(known[0]) if known else None
    if last >= 0 and heads is not None:
        reading.pass_by(None, last, last, heads.layout)
    reading.line = line + count(b"\n", floor)
    return None
