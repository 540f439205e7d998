"""The lines that cost most because there are most of them, read many at a time: whole records in the layout of the lines before.

Here: the same as Reading does of such lines, by what they have in common: those with the same literals by the same logger meet the
same expressions. Not here: any other line, for which Reading is asked in its turn, nor what becomes of the events (columns).

Measured on recorded lines: RE2 over many lines at once takes two to five times that of `re` to tell the groups.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, chain, compress
from operator import itemgetter
from typing import Any

import pyarrow as pa

from parsers.catalogue import columns
from parsers.catalogue.columns import Events, Lines, Said, TooMany, add_said, slices
from parsers.catalogue.computed import add_computed
from parsers.catalogue.heads import Heads, columns_of, microseconds, moment_of
from parsers.catalogue.learning import leaves_over
from parsers.catalogue.literals import Hits, Tried
from parsers.catalogue.matching import LONG_MESSAGE, Seen, apply
from parsers.catalogue.reading import SAME_MOMENT, Reading
from parsers.layouts import Record, prefix
from parsers.schemas import MAX_TEXT, Row, Told

_LINES = 1 << 14
"""Lines that are read at a time."""
_MOMENT = SAME_MOMENT.seconds * 10**6


def search(reading: Reading, data: bytes, base: int) -> Generator[Told, None, int | None]:
    """Events of a chunk from a line's end on. Returns where to search anew once the literals or layouts have become others."""
    hits = reading.layouts.find(data, base)
    chunk = _Chunk(reading, data)
    number, floor = reading.line, base
    for block in chunk.blocks(hits, base, number):
        block.match()
        again = yield from block.in_turn()
        if again is not None or reading.wrapped_at >= 0:
            return again
        number, floor = block.numbers[-1], block.ends[-1]
    reading.line = number + data.count(b"\n", floor)
    return None


class _Chunk:
    """What the lines of a chunk have in common."""

    def __init__(self, reading: Reading, data: bytes) -> None:
        self.reading, self.data = reading, data
        self.literals, self.known = reading.layouts.literals, reading.layouts.known
        self.heads = Heads(self.known[0]) if self.known else None
        self.text = data.decode("latin-1")
        self.clean = data.isascii() and not reading.survey.noisy and b"\r" not in data

    def blocks(self, hits: Hits, base: int, number: int) -> Iterator[_Block]:
        """The lines with these hits, from a line's end on, in the line with this number."""
        find, rfind, count = self.data.find, self.data.rfind, self.data.count
        size, floor, end = len(self.data), base, base
        ids: tuple[int, ...] = ()
        block = _Block(self, floor, number)
        begins, ends, numbers, literals, stops = block.begins, block.ends, block.numbers, block.literals, block.stops
        stop = 0
        for hit, start, until in hits:
            if start < end and ids:
                ids += (hit,)
                stop = until
                continue
            if ids:
                literals.append(ids)
                stops.append(stop)
                if len(literals) >= _LINES:
                    yield block
                    block = _Block(self, floor, number)
                    begins, ends, numbers, literals, stops = block.begins, block.ends, block.numbers, block.literals, block.stops
            ids, stop = (hit,), until
            begin, end = floor + 1, find(b"\n", floor + 1)
            if start > end >= 0 or floor == base:
                begin, end = rfind(b"\n", floor, start) + 1 or floor, find(b"\n", start)
                number += count(b"\n", floor, begin)
            else:
                number += 1
            floor = end = end if end >= 0 else size
            begins.append(begin)
            ends.append(end)
            numbers.append(number)
        if ids:
            literals.append(ids)
            stops.append(stop)
            yield block


class _Block:
    """Lines with literals, one after the other; lists go by line."""

    def __init__(self, chunk: _Chunk, floor: int, number: int) -> None:
        self.chunk, self.reading = chunk, chunk.reading
        self.floor = floor, number
        """Where the line before them ends that has literals, too, and its number."""
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.numbers: list[int] = []
        self.literals: list[tuple[int, ...]] = []
        self.stops: list[int] = []
        """Where the last of them ends."""
        self.heads = columns_of("", 0)
        """Without a logger where Reading is to be asked."""
        self.said: dict[str, Said] = {}
        self.records: dict[int, Seen] = {}
        """All of a record of several lines, where a pattern has told it."""
        self.unknown: list[int] = []
        """Nobody knows what they say, though their logger matters."""
        self.namings: list[int] = []
        """Lines that name their writer."""
        self.named: dict[int, tuple[int, int | None]] = {}
        """Whom those name of which Reading was asked, and when."""
        self.nodes: dict[int, int] = {}
        """Of components' names, those of writers."""
        self.carried = self.reading.named

    def _line(self, at: int) -> str:
        return self.chunk.text[self.begins[at] : self.ends[at]].removesuffix("\r")

    # what lines say, whatever their order

    def match(self) -> None:
        """Puts the lines to the patterns that may know them."""
        chunk = self.chunk
        if chunk.heads is None:
            self.heads = columns_of("", len(self.begins))
            return
        ends, known = self._readable(), chunk.literals.loggers.get
        loggers = [known(ids[-1]) if stop == end else None for ids, stop, end in zip(self.literals, self.stops, ends, strict=True)]
        self.heads = chunk.heads.read_all(chunk.data, chunk.text, self.begins, ends, loggers)
        alike: dict[tuple[tuple[int, ...], str], list[int]] = defaultdict(list)
        for at, (ids, logger) in enumerate(zip(self.literals, self.heads.loggers, strict=True)):
            if logger is not None:
                alike[ids, logger].append(at)
            elif chunk.clean:
                self._take_open(at, ids)
        for (ids, logger), lines in alike.items():
            self._put(ids, logger, lines)

    def _readable(self) -> Sequence[int]:
        """Where the lines end that are printable ASCII; others where they begin."""
        if self.chunk.clean:
            return self.ends
        lines = [self._line(at) for at in range(len(self.ends))]
        return [begin + len(line) * (line.isascii() and line.isprintable()) for begin, line in zip(self.begins, lines, strict=True)]

    def _put(self, ids: tuple[int, ...], logger: str, lines: Sequence[int]) -> None:
        """Lines with the same literals by the same logger."""
        loggers, texts, firsts, afters = self.heads.loggers, self.heads.texts, self.heads.firsts, self.heads.afters
        for one in self.chunk.literals.tried(ids, logger):
            fullmatch = one.fullmatch
            if fullmatch is None:
                for at in lines:
                    self.heads.put(at, None)
                return
            if one.pattern.multiline:
                found = [self._of_record(at, fullmatch) for at in lines]
            else:
                found = [fullmatch(texts[at], firsts[at], afters[at]) for at in lines]
            missed = None in found
            if one.tells:
                said = self._said(one)
                said.lines += compress(lines, found) if missed else lines
                said.found += filter(None, found)
            lines = [at for at, match in zip(lines, found, strict=True) if match is None and loggers[at] is not None] if missed else ()
            if not lines:
                return
        if self.chunk.literals.names_logger(ids):
            self.unknown += lines

    def _said(self, one: Tried) -> Said:
        said = self.said.get(one.pattern.name)
        if said is None:
            said = self.said[one.pattern.name] = Said(one.pattern, one.groupdict, one.by_columns)
        return said

    def _take_open(self, at: int, ids: tuple[int, ...]) -> None:
        """Reads a record whose logger stands at the end of a later line, as a dump of settings is, if but one statement can be meant."""
        candidates, layout = self.chunk.literals.candidates(ids), self.chunk.known[0]
        if len(candidates) != 1 or not candidates[0].multiline:
            return
        record = layout.read(self._line(at))
        if record is None or record.time is None or record.logger is not None or leaves_over(record, layout):
            return
        whole = self._whole(at, record)
        message, logger = whole.message, whole.logger
        tried = self.chunk.literals.tried(ids, logger) if logger is not None else ()
        if logger is None or not tried or tried[0].fullmatch is None or not tried[0].tells or prefix(message, logger)[1] != message:
            return
        with suppress(TimeoutError):  # for which Reading has words
            if message.isascii() and apply(tried[0].pattern, message, logger) and (found := tried[0].fullmatch(message)) is not None:
                of_record = logger, microseconds(record.time), record.utc, record.level
                self.heads.put(at, (*of_record, {}, True, message, 0, len(message)))
                self.records[at] = whole
                said = self._said(tried[0])
                said.lines.append(at)
                said.found.append(found)

    def _whole(self, at: int, record: Record) -> Seen:
        """All of the record that begins here."""
        seen = Seen(self._line(at), record.message, record.logger, self.begins[at], self.ends[at])
        return self.reading.whole_record(self.chunk.data, seen, record, seen.begin, self.chunk.known[0])

    def _of_record(self, at: int, fullmatch: Callable[..., re.Match[str] | None]) -> re.Match[str] | None:
        """The match with the record that begins here, unless the line is left to Reading."""
        said = self.heads.texts[at][self.heads.firsts[at] : self.heads.afters[at]]
        if self.heads.bracketed[at] and not said.startswith("["):
            record = self._record(at)
            whole = self._whole(at, record)
            said += whole.message[len(record.message) :]
            if len(said) <= LONG_MESSAGE and said.isascii():
                found = fullmatch(said)
                if found is not None:
                    self.records[at] = whole
                return found
        self.heads.put(at, None)
        return None

    def _record(self, at: int) -> Record:
        assert self.chunk.heads is not None
        record = self.chunk.heads.layout.read(self._line(at))
        assert record is not None
        return record

    # in the order of the lines

    def in_turn(self) -> Generator[Told, None, int | None]:
        """Events, with those of the lines that Reading is asked for. Returns where to search anew, if so."""
        chunk, reading, layouts = self.chunk, self.reading, self.reading.layouts
        rows: list[tuple[int, Row]] = []
        begun, passed, characters = 0, 0, 0
        loggers = self.heads.loggers
        self.nodes = {
            id(context): context["node"] for context in {id(one): one for one in self.heads.contexts}.values() if "node" in context
        }
        self.namings = [at for at, context in enumerate(map(id, self.heads.contexts)) if context in self.nodes]
        others = [at for at, logger in enumerate(loggers) if logger is None] if None in loggers else []
        for at in sorted([*self.unknown, *others]):
            self._pass_by(passed, at)
            passed = at + 1
            if loggers[at] is not None:
                self._count_unrecognised(at)
                continue
            before, reading.line = reading.named, self.numbers[at]
            for row in reading.look(chunk.data, self.begins[at], self.ends[at], self.literals[at]):
                rows.append((at, row))
                characters += len(row.get("text") or "")
                if len(rows) >= columns.MAX_ROWS or characters >= columns.MAX_CHARACTERS:
                    yield from self._told(begun, at, rows)
                    begun, characters, rows = at, 0, []
            if reading.named is not before and reading.named is not None:
                node, moment = reading.named
                self.named[at] = node, microseconds(moment) if moment is not None else None
                self.namings.insert(bisect_left(self.namings, at), at)
            if reading.wrapped_at >= 0 or layouts.literals is not chunk.literals:
                yield from self._told(begun, at, rows)
                if reading.wrapped_at >= 0:
                    return None
                floor, reading.line = (self.ends[at - 1], self.numbers[at - 1]) if at else self.floor
                return floor
            if layouts.known is not chunk.known:
                yield from self._told(begun, at + 1, rows)
                return self.ends[at]
        self._pass_by(passed, len(loggers))
        yield from self._told(begun, len(loggers), rows)
        return None

    def _pass_by(self, begin: int, end: int) -> None:
        """Has Reading know of the lines read here in between."""
        reading = self.reading
        if begin >= end or self.chunk.heads is None:
            return
        at, layout = end - 1, self.chunk.heads.layout
        if at in self.records:
            reading.pass_by(self._record(at), self.begins[at], self.ends[at], layout)
            reading.told = True
        else:
            reading.pass_by(None, self.begins[at], self.begins[at], layout)
        if namings := self._namings(begin, end):
            self._name(namings[-1])

    def _namings(self, begin: int, end: int) -> Sequence[int]:
        return self.namings[bisect_left(self.namings, begin) : bisect_left(self.namings, end)]

    def _naming(self, at: int) -> tuple[int, int | None]:
        """Whom a line names, and when."""
        return self.named.get(at) or (self.nodes[id(self.heads.contexts[at])], self.heads.times[at])

    def _name(self, at: int) -> None:
        node, time = self._naming(at)
        self.reading.named = node, moment_of(time) if time is not None else None

    def _count_unrecognised(self, at: int) -> None:
        assert self.chunk.heads is not None
        record = self._record(at)
        self.reading.pass_by(record, self.begins[at], self.ends[at], self.chunk.heads.layout)
        self.reading.count_unrecognised(Seen(self._line(at), record.message, record.logger, self.begins[at], self.ends[at]))
        if id(self.heads.contexts[at]) in self.nodes:
            self._name(at)

    # to columns

    def _told(self, begin: int, end: int, rows: Sequence[tuple[int, Row]]) -> Iterator[Told]:
        """Events of lines from one to another, and these rows between them."""
        survey = self.reading.survey
        survey.hits += end - begin - self.heads.loggers[begin:end].count(None)
        for context, count in Counter(map(id, self.heads.contexts[begin:end])).items():
            if context in self.nodes:
                survey.nodes[self.nodes[context]] += count
        first, most = 0, end - begin
        while begin < end or first < len(rows):
            until = min(end, begin + most)
            last = next((at for at in range(first, len(rows)) if rows[at][0] >= until), len(rows)) if until < end else len(rows)
            try:
                events = self._events(begin, until, rows[first:last])
            except TooMany:
                most = (until - begin) // 2
                continue
            yield from events.told()
            begin, first, most = until, last, 2 * most

    def _events(self, begin: int, end: int, rows: Sequence[tuple[int, Row]]) -> Events:
        """Raises TooMany, but not of one line."""
        said = [one.of(begin, end) for one in self.said.values()]
        chosen = sorted({*chain.from_iterable([one.lines for one in said]), *[at for at, _ in rows]})
        places = {at: place for place, at in enumerate(chosen)}
        events = Events(self.reading.source, self._lines(chosen), bounded=end - begin > 1)
        for one in said:
            if one.lines:
                (add_said if one.by_columns else add_computed)(events, one.at(places))
        events.add_rows([(places[at], row) for at, row in rows])
        return events

    def _lines(self, chosen: Sequence[int]) -> Lines:
        """Where and when lines tell something, and who did."""
        pick: Callable[[Sequence[Any]], Sequence[Any]] = (
            itemgetter(*chosen) if len(chosen) > 1 else lambda of_line: [of_line[at] for at in chosen]
        )
        heads = self.heads
        times, utc, levels, contexts = pick(heads.times), pick(heads.utc), pick(heads.levels), pick(heads.contexts)
        begins, ends, numbers = pick(self.begins), pick(self.ends), pick(self.numbers)
        stops = (
            [record.end if (record := self.records.get(at)) is not None else end for at, end in zip(chosen, ends, strict=True)]
            if self.records
            else ends
        )
        spots = self.reading.spots(numbers, begins, stops, times, self._texts(chosen, begins, stops))
        nears = self._nears(chosen, spots[2])
        clocks = ["utc" if here else "line" for here in utc]
        return Lines(*spots, clocks, [level or None for level in levels], nears, contexts, lambda place: self._line(chosen[place]))

    def _texts(self, chosen: Sequence[int], begins: Sequence[int], ends: Sequence[int]) -> pa.StringArray:
        """What these records are in the chunk."""
        if self.chunk.clean:
            ends = [min(end, begin + MAX_TEXT) for begin, end in zip(begins, ends, strict=True)]
            if self.records:  # lines that Reading is asked for may lie in them; it tells their texts itself
                begins = [max(begin, before) for begin, before in zip(begins, accumulate([0, *ends], max), strict=False)]
                ends = list(map(max, begins, ends))
            return slices(self.chunk.data, begins, ends)
        records = [self.records.get(at) for at in chosen]
        return pa.array(
            [self._line(at)[:MAX_TEXT] if record is None else record.text[:MAX_TEXT] for at, record in zip(chosen, records, strict=True)],
            pa.string(),
        )

    def _nears(self, chosen: Sequence[int], times: Sequence[int]) -> Sequence[int | None]:
        """Who was named last before lines that name no writer, as Reading tells it."""
        loggers, contexts, nodes = self.heads.loggers, self.heads.contexts, self.nodes
        silent = [loggers[at] is not None and id(contexts[at]) not in nodes for at in chosen]
        return [self._near(at, time) if here else None for at, time, here in zip(chosen, times, silent, strict=True)]

    def _near(self, at: int, time: int) -> int | None:
        last = bisect_left(self.namings, at) - 1
        if last >= 0:
            node, moment = self._naming(self.namings[last])
            return node if moment is not None and abs(time - moment) <= _MOMENT else None
        reading = self.reading
        named, reading.named = reading.named, self.carried
        found = reading.near(moment_of(time))
        reading.named = named
        return found
