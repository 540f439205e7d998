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


Head = tuple["datetime | None", bool, str, "str | None", str, int, int]
"""Time, whether that is UTC, level and logger; in which text the message is, from where to where."""


class Heads:
    """The parts of records in one layout; what was seen before is not looked at again."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._by_places = layout is LOG4J
        self._seconds: dict[str, datetime | None] = {}
        self._leads: dict[str, tuple[str, int] | None] = {}
        self._loggers: set[str] = set()

    def read(self, text: str, begin: int, end: int) -> Head | None:
        """The record in text[begin:end], as the layout reads it."""
        if self._by_places and text[end - 1] == ")":
            second, lead = text[begin : begin + _SECOND], text[begin + _STAMPED : begin + _LED]
            whole, level, fraction = (
                self._seconds.get(second),
                self._leads.get(lead),
                _FRACTIONS.get(text[begin + _SECOND : begin + _STAMPED]),
            )
            if whole is None or level is None:
                whole, level = self._keep(second, lead)
            if whole is not None and level is not None and fraction is not None:
                after = text.rfind(" (", begin + level[1], end)
                logger = text[after + 2 : end - 1]
                if after > 0 and (logger in self._loggers or self._names_logger(logger)):
                    return whole + fraction, False, level[0], logger, text, begin + level[1], after
        record = self.layout.read(text[begin:end])
        return (
            (record.time, record.utc, record.level, record.logger, record.message, 0, len(record.message)) if record is not None else None
        )

    def _names_logger(self, text: str) -> bool:
        if _LOGGER.fullmatch(text) is None:
            return False
        self._loggers.add(text)
        return True

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
    find, spot, nodes = data.find, reading.spot, survey.nodes
    clean = data.isascii() and not survey.noisy and b"\r" not in data
    whole = data.decode("latin-1")
    hits = literals.find(data, base)
    heads = Heads(known[0]) if known else None
    tries: dict[str | None, dict[tuple[int, ...], tuple[tuple[Tried, ...], bool]]] = {}
    contexts: dict[str, Mapping[str, Any] | None] = {}
    line, floor, at, after = reading.line, base, 0, len(hits)
    hits.append((0, len(data) + 1, 0))
    last = -1  # begin of the latest line read here; -1 where Reading knows of it
    while at < after:
        hit, start, _ = hits[at]
        line_before, before, begin, end = line, floor, floor + 1, find(b"\n", floor + 1)
        if start > end >= 0 or floor == base:
            begin, end = data.rfind(b"\n", floor, start) + 1 or floor, find(b"\n", start)
            line += data.count(b"\n", floor, begin)
        else:
            line += 1
        floor = end = end if end >= 0 else len(data)
        ids: tuple[int, ...] = (hit,)
        at += 1
        while hits[at][1] < end:
            ids += (hits[at][0],)
            at += 1
        head, text = None, ""
        if heads is not None and end - begin <= LONG_MESSAGE:
            if clean:
                head = heads.read(whole, begin, end)
            else:
                text = whole[begin:end].removesuffix("\r")
                if text.isascii() and text.isprintable():
                    head = heads.read(text, 0, len(text))
        if head is not None and heads is not None:
            moment, utc, level, logger, told, first, done = head
            taken = moment is not None and logger is not None
            context: Mapping[str, Any] | None = _NOTHING
            if told.startswith("[", first, done):
                closed, context = told.find("] ", first, done), None
                if closed >= 0:
                    bracket = told[first:closed]
                    context = contexts.get(bracket, _NOTHING)
                    if context is _NOTHING:
                        context = contexts[bracket] = component(bracket)
                    if not context and told.startswith("[", closed + 2, done):
                        context = None
                    if context is not None:
                        first = closed + 2
            elif told.startswith(_BEGINS_OTHERWISE, first, done):
                context = None
            plain = context is not None
            if context is None:
                try:
                    context, told = prefix(told[first:done], logger)
                except ValueError:
                    taken, context = False, _NOTHING
                else:
                    first, done = 0, len(told)
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
                        if not plain or told.startswith("[", first, done):
                            taken = False
                            break
                        if record is None:
                            message = head[4][head[5] : head[6]]
                            reading.pass_by(Record(moment, level, message, logger, utc), begin, end, heads.layout)
                            record = reading.whole_record(data, Seen(text or whole[begin:end], message, logger, begin, end))
                            lines = told[first:done] + record.message[len(message) :]
                        if len(lines) > LONG_MESSAGE or not lines.isascii():
                            taken = False
                            break
                        found = one.fullmatch(lines)
                    else:
                        found = one.fullmatch(told, first, done)
                    if found is not None:
                        break
            if taken:
                survey.hits += 1
                last = begin
                node = context.get("node")
                if node is not None:
                    nodes[node] += 1
                    reading.named = (node, moment)
                if found is None:
                    if of_interest:
                        message = head[4][head[5] : head[6]]
                        reading.pass_by(Record(moment, level, message, logger, utc), begin, end, heads.layout)
                        last = -1
                        reading.count_unrecognised(Seen(text or whole[begin:end], message, logger, begin, end))
                    continue
                text = text or whole[begin:end]
                if one.pattern.multiline:
                    reading.told, last = True, -1
                if one.tells:
                    if record is None or not one.pattern.multiline:
                        shown, stop = text, end
                    else:
                        shown, stop = record.text, record.end
                    number, byte, time, shown = spot(shown, begin, stop, line, moment)
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
    reading.line = line + data.count(b"\n", floor)
    return None
