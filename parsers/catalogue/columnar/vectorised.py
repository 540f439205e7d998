"""Vectorised reading of the most frequent lines: whole records in the same layout as the lines before.

Here: the same results as Reading for such lines, in file order. Not here: which expressions are tried (block), all other lines, which
Reading reads in their turn, or the further processing of events (columns).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from operator import itemgetter, sub
from typing import Any

import pyarrow as pa

from parsers.cached import cached_property
from parsers.catalogue.columnar import columns
from parsers.catalogue.columnar.block import Block, Chunk
from parsers.catalogue.columnar.columns import ColumnarEvents, LineColumns, TooManyEvents, add_statement, slices
from parsers.catalogue.columnar.computed import add_computed
from parsers.catalogue.reading import Reading
from parsers.matching.literals import Hits
from parsers.matching.messages import SeenText
from parsers.schemas import MAX_TEXT, Row, Rows

_LINES = 1 << 15
"""Lines that are read at a time."""


def search(reading: Reading, data: bytes, base: int) -> Generator[Rows, None, int | None]:
    """Events of a chunk from a line's end on. Returns the position from which to search again after a change of literals or layouts."""
    hits = reading.layouts.find(data, base)
    chunk = Chunk(reading, data)
    number, floor = reading.line, base
    for block in _blocks(chunk, hits, base, number):
        block.match()
        again = yield from block.in_turn()
        if again is not None or reading.wrapped_at >= 0:
            return again
        number, floor = block.numbers[-1], block.ends[-1]
    reading.line = number + data.count(b"\n", floor)
    return None


def _blocks(chunk: Chunk, hits: Hits, base: int, number: int) -> Iterator[_InTurn]:
    """The lines with these hits, from a line's end on, in the line with this number."""
    find, rfind, count = chunk.data.find, chunk.data.rfind, chunk.data.count
    size, floor, end = len(chunk.data), base, base
    ids: tuple[int, ...] = ()
    block = _InTurn(chunk, floor, number)
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
                block = _InTurn(chunk, floor, number)
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


class _InTurn(Block):
    """The lines in file order, including those left to Reading."""

    def __init__(self, chunk: Chunk, floor: int, number: int) -> None:
        super().__init__(chunk)
        self.floor = floor, number
        """End and number of the previous line with literals."""

    def in_turn(self) -> Generator[Rows, None, int | None]:
        """Events, including those of the lines left to Reading. Returns the position from which to search again, if any."""
        chunk, reading, layouts = self.chunk, self.reading, self.reading.layouts
        rows: list[tuple[int, Row]] = []
        begun, passed, characters = 0, 0, 0
        loggers = self.heads.loggers
        others = [at for at, logger in enumerate(loggers) if logger is None] if None in loggers else []
        for at in sorted([*self.unknown, *others]):
            self._pass_by(passed, at)
            passed = at + 1
            if loggers[at] is not None:
                self._count_unrecognised(at)
                continue
            reading.line = self.numbers[at]
            for row in reading.look(chunk.data, self.begins[at], self.ends[at], self.literals[at]):
                rows.append((at, row))
                characters += len(row.get("text") or "")
                if len(rows) >= columns.MAX_ROWS or characters >= columns.MAX_CHARACTERS:
                    yield from self._events_of(begun, at, rows)
                    begun, characters, rows = at, 0, []
            if reading.wrapped_at >= 0 or layouts.literals is not chunk.literals:
                yield from self._events_of(begun, at, rows)
                return self._go_back(at)
            if layouts.known is not chunk.known:
                yield from self._events_of(begun, at + 1, rows)
                return self.ends[at]
        self._pass_by(passed, len(loggers))
        yield from self._events_of(begun, len(loggers), rows)
        return None

    @cached_property
    def _nodes(self) -> Mapping[int, int]:
        """The nodes that components name, by the id of the component's context."""
        return {id(context): context["node"] for context in self.heads.contexts if "node" in context}

    def _go_back(self, at: int) -> int | None:
        """The end of the line before, from which to search again; None if the rest of the file is wrapped."""
        if self.reading.wrapped_at >= 0:
            return None
        floor, self.reading.line = (self.ends[at - 1], self.numbers[at - 1]) if at else self.floor
        return floor

    def _pass_by(self, begin: int, end: int) -> None:
        """Updates Reading with the lines that were read here."""
        reading = self.reading
        if begin >= end or self.chunk.heads is None:
            return
        at, layout = end - 1, self.chunk.heads.layout
        if at in self.records:
            reading.pass_by(self.record(at), self.begins[at], self.ends[at], layout)
            reading.matched_whole = at not in self.continued
        else:
            reading.pass_by(None, self.begins[at], self.begins[at], layout)

    def _count_unrecognised(self, at: int) -> None:
        assert self.chunk.heads is not None
        record = self.record(at)
        self.reading.pass_by(record, self.begins[at], self.ends[at], self.chunk.heads.layout)
        self.reading.count_unrecognised(SeenText(self.line(at), record.message, record.logger, self.begins[at], self.ends[at]))

    # to columns

    def _events_of(self, begin: int, end: int, rows: Sequence[tuple[int, Row]]) -> Iterator[Rows]:
        """Events of a range of lines, with these rows between them."""
        survey = self.reading.survey
        survey.hits += end - begin - self.heads.loggers[begin:end].count(None)
        if self._nodes:
            for context, count in Counter(map(id, self.heads.contexts[begin:end])).items():
                if context in self._nodes:
                    survey.nodes[self._nodes[context]] += count
        first, most = 0, end - begin
        while begin < end or first < len(rows):
            until = min(end, begin + most)
            last = next((at for at in range(first, len(rows)) if rows[at][0] >= until), len(rows)) if until < end else len(rows)
            try:
                events = self._events(begin, until, rows[first:last])
            except TooManyEvents:
                most = (until - begin) // 2
                continue
            yield from events.in_order()
            begin, first, most = until, last, 2 * most

    def _events(self, begin: int, end: int, rows: Sequence[tuple[int, Row]]) -> ColumnarEvents:
        """Raises TooMany, but not for a single line."""
        statements = [one.of(begin, end) for one in self.statements.values()]
        chosen = sorted({*chain.from_iterable([one.lines for one in statements]), *[at for at, _ in rows]})
        places = {at: place for place, at in enumerate(chosen)}
        events = ColumnarEvents(self.reading.source, self._lines(chosen), bounded=end - begin > 1)
        for one in statements:
            if one.lines:
                (add_statement if one.by_columns else add_computed)(events, one.at(places))
        events.add_rows([(places[at], row) for at, row in rows])
        return events

    def _lines(self, chosen: Sequence[int]) -> LineColumns:
        """Place, time and writer of matched lines."""
        first, end = (chosen[0], chosen[-1] + 1) if chosen else (0, 0)
        pick: Callable[[Sequence[Any]], Sequence[Any]] = (
            itemgetter(slice(first, end)) if end - first == len(chosen) else itemgetter(*chosen)
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
        clocks = ["utc" if here else "line" for here in utc]
        return LineColumns(*spots, clocks, [level or None for level in levels], contexts, lambda place: self.line(chosen[place]))

    def _texts(self, chosen: Sequence[int], begins: Sequence[int], ends: Sequence[int]) -> pa.StringArray:
        """The records as they are in the chunk."""
        if self.chunk.clean:
            if max(map(sub, ends, begins), default=0) > MAX_TEXT:
                ends = [min(end, begin + MAX_TEXT) for begin, end in zip(begins, ends, strict=True)]
            if self.records:  # lines left to Reading may be among these lines; Reading supplies their texts itself
                begins = [max(begin, before) for begin, before in zip(begins, accumulate([0, *ends], max), strict=False)]
                ends = list(map(max, begins, ends))
            return slices(self.chunk.data, begins, ends)
        records = [self.records.get(at) for at in chosen]
        return pa.array(
            [self.line(at)[:MAX_TEXT] if record is None else record.text[:MAX_TEXT] for at, record in zip(chosen, records, strict=True)],
            pa.string(),
        )
