"""Converts events of many lines to Arrow: the text of groups is kept by statement and becomes columns for many lines at a time.

Here: numbers, lists and strings made from the text of groups by column, the columns that a component's name adds, and file order. Not here:
which pattern matches a line (block, reading), how the text of one group is converted (parsers.patterns.pattern) or what a statement
computes from it (computed).

An event becomes a dict only if one of its numbers does not fit its column.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from parsers.cached import cached_property
from parsers.matching.tried import OF_LINE
from parsers.patterns.pattern import Pattern, column, numbers
from parsers.schemas import EVENTS, Row, Rows, numbered, problem, whole

MAX_ROWS, MAX_CHARACTERS = 1 << 14, 16 << 20
"""About as many events, and characters of their text, are kept before they become a batch."""
NAMES = frozenset(EVENTS.names) - {"source"}


class TooManyEvents(Exception):
    """Lines with more events than may be kept in memory."""


@dataclass(slots=True)
class StatementMatches:
    """Matches of lines of one statement, with the numbers of the lines. `groupdict` gives the text of each group by name."""

    pattern: Pattern
    groupdict: Callable[[re.Match[str]], Mapping[str, str | None]]
    by_columns: bool
    lines: list[int] = field(default_factory=list)
    matches: list[re.Match[str]] = field(default_factory=list)

    def of(self, begin: int, end: int) -> StatementMatches:
        """The matches of a range of lines."""
        kept = [begin <= line < end for line in self.lines]
        if all(kept):
            return self
        return StatementMatches(
            self.pattern, self.groupdict, self.by_columns, list(compress(self.lines, kept)), list(compress(self.matches, kept))
        )

    def at(self, places: Mapping[int, int]) -> StatementMatches:
        """The same matches with new line numbers."""
        lines = [places[line] for line in self.lines]
        return StatementMatches(self.pattern, self.groupdict, self.by_columns, lines, self.matches)

    def groups(self) -> Mapping[str, Sequence[str | None]]:
        """The text of each group."""
        assert self.pattern.quick is not None
        columns = list(zip(*[match.groups() for match in self.matches], strict=True)) if self.pattern.quick.groups else []
        texts = {}
        for name, places in self.pattern.quick.groups.items():
            first, *others = (columns[at - 1] for at in places)
            for other in others:  # the spellings of a statement, of which one log has one as a rule
                missing = first.count(None)
                if missing == len(first):
                    first = other
                elif missing:
                    first = tuple([b if a is None else a for a, b in zip(first, other, strict=True)])
            texts[name] = first
        return texts


@dataclass
class LineColumns:
    """The columns of matched lines that do not depend on the match, each by line; `quote` gives the text that problems quote."""

    line: Sequence[int]
    byte: Sequence[int]
    time: Sequence[int]
    text: pa.StringArray
    clock: Sequence[str]
    level: Sequence[str | None]
    context: Sequence[Mapping[str, Any]]
    quote: Callable[[int], str]

    @cached_property
    def lengths(self) -> Sequence[int]:
        """Length of each text in characters."""
        lengths: list[int] = pc.utf8_length(self.text).to_pylist()
        return lengths


def slices(data: bytes, begins: Sequence[int], ends: Sequence[int]) -> pa.StringArray:
    """Slices of UTF-8 data as an Arrow array, without creating strings. No slice begins before the end of the one before."""
    offsets = array("i", bytes(8 * len(begins)))
    offsets[::2], offsets[1::2] = array("i", begins), array("i", ends)
    both = pa.StringArray.from_buffers(max(len(offsets) - 1, 0), pa.py_buffer(offsets), pa.py_buffer(data))
    return both.take(pc.multiply(numbered(begins), 2))


class EventPart(NamedTuple):
    """Events with the same columns: the line of each event, its values, and the values that all events share."""

    places: Sequence[int]
    columns: Mapping[str, Sequence[Any]]
    common: Mapping[str, Any] = {}


def values(name: str, texts: Sequence[str | None]) -> Sequence[Any]:
    """The values of a column from the text of its groups. Raises ValueError on a number out of range."""
    if pa.types.is_string(EVENTS.field(name).type):
        return texts
    if (found := numbers(name, texts)) is not None:
        return found
    known = {text: column(name, text) for text in set(texts)}
    return [known[text] for text in texts]


def of_rows(rows: Sequence[Row]) -> dict[str, Sequence[Any]]:
    """The values of rows, by column."""
    return {name: [row.get(name) for row in rows] for name in NAMES & set(chain.from_iterable(rows))}


def _array(name: str, values: Sequence[Any]) -> pa.Array:
    kind = EVENTS.field(name).type
    if not pa.types.is_nested(kind):
        return pa.array(values, kind)
    codes: dict[int, int] = {}
    which = [codes.setdefault(at, len(codes)) for at in map(id, values)]
    known = dict(zip(which, values, strict=True))
    return pa.array([known[code] for code in range(len(codes))], kind).take(pa.array(which, pa.int32()))


class _Pieces:
    """A column that some of the events have: where each group of neighbours begins, and its values."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._values: list[list[Any]] = []

    def add(self, at: int, values: Sequence[Any]) -> None:
        """Adds the values of events from this position on."""
        gap = at - self._begins[-1] - len(self._values[-1]) if self._values else _GAP + 1
        if gap <= _GAP:
            self._values[-1] += [None] * gap
            self._values[-1] += values
        else:
            self._begins.append(at)
            self._values.append(list(values))

    def array(self, name: str, size: int) -> pa.Array:
        """The column of this many events."""
        pieces, at = [], 0
        for begin, values in zip(self._begins, self._values, strict=True):
            pieces += [pa.nulls(begin - at, EVENTS.field(name).type), _array(name, values)]
            at = begin + len(values)
        return pa.concat_arrays([*pieces, pa.nulls(size - at, EVENTS.field(name).type)])


_GAP = 200
"""From this many events without a column on, it is cheaper to omit them than to fill in nulls."""


class ColumnarEvents:
    """The events of some lines of one source."""

    def __init__(self, source: str, lines: LineColumns, *, bounded: bool) -> None:
        self.lines = lines
        self.bounded = bounded
        """If there are too many events, TooMany is raised."""
        self._source = source
        self._parts: list[EventPart] = []
        self._problems: list[tuple[int, Row]] = []

    def add(self, part: EventPart) -> None:
        """Adds events whose values are given by column."""
        self._parts.append(part)

    def check(self, count: int, characters: int) -> None:
        """Raises TooMany if there are more events, or longer texts, than may be kept."""
        if self.bounded and (count > MAX_ROWS or characters > MAX_CHARACTERS):
            raise TooManyEvents

    def add_problem(self, line: int, error: ValueError) -> None:
        """A value of a line does not fit its column."""
        trouble = problem("out-of-range", f"{error}: {self.lines.quote(line)}", line=self.lines.line[line], byte=self.lines.byte[line])
        self._problems.append((line, {**trouble, "source": self._source}))

    def add_rows(self, rows: Sequence[tuple[int, Row]]) -> None:
        """Events and problems that were read one by one: the line of each, and all its values."""
        self._problems += [(line, row) for line, row in rows if row["event"] == "problem"]
        made = [(line, row) for line, row in rows if row["event"] != "problem"]
        if made:
            missing = dict.fromkeys(OF_LINE, [None] * len(made))
            self.add(EventPart([line for line, _ in made], missing | of_rows([row for _, row in made])))

    def in_order(self) -> Iterator[Rows]:
        """All events in line order; problems are rows between the batches."""
        places = [*chain.from_iterable([part.places for part in self._parts]), *[line for line, _ in self._problems]]
        if not places:
            return
        order = pc.array_sort_indices(pa.array(places, pa.int32()))
        batch = self._batch(places, order)
        at = 0
        if self._problems:
            count = len(batch) - len(self._problems)
            for place, index in enumerate(order.to_pylist()):
                if index >= count:
                    if place > at:
                        yield batch.slice(at, place - at)
                    yield self._problems[index - count][1]
                    at = place + 1
        if at < len(batch):
            yield batch.slice(at)

    def _batch(self, places: Sequence[int], order: pa.Array) -> pa.RecordBatch:
        size = len(places)
        by_name: dict[str, _Pieces] = defaultdict(_Pieces)
        common: dict[str, list[Any]] = defaultdict(lambda: [None] * len(self._parts))
        at = 0
        for number, part in enumerate(self._parts):
            for name, values in part.columns.items():
                by_name[name].add(at, values)
            for name, value in part.common.items():
                common[name][number] = value
            at += len(part.places)
        parts = [pa.repeat(pa.scalar(number, pa.int32()), len(part.places)) for number, part in enumerate(self._parts)]
        of_part = pa.concat_arrays([*parts, pa.nulls(len(self._problems), pa.int32())]).take(order)
        columns = {name: pa.array(of_parts, EVENTS.field(name).type).take(of_part) for name, of_parts in common.items()}
        columns |= self._of_lines(places, order)
        for name, pieces in by_name.items():
            values = pieces.array(name, size).take(order)
            if name in columns:
                present = pa.array([name in part.columns for part in self._parts], pa.bool_()).take(of_part)
                values = pc.if_else(present, values, columns[name])
            columns[name] = values
        columns["source"] = pa.repeat(pa.scalar(self._source), size)
        return whole(pa.table(columns), EVENTS).to_batches()[0]

    def _of_lines(self, places: Sequence[int], order: pa.Array) -> dict[str, pa.Array]:
        """The columns that come from the line, unless events have their own."""
        columns = {name: self.lines.text if name == "text" else _array(name, getattr(self.lines, name)) for name in OF_LINE}
        if len(set(places)) == len(places) == len(self.lines.line):
            return columns
        of_lines = pa.array(places, pa.int32()).take(order)
        return {name: of_line.take(of_lines) for name, of_line in columns.items()}


def add_statement(events: ColumnarEvents, statement: StatementMatches) -> None:
    """The events of a statement for which `by_columns` holds."""
    groups = statement.groups()
    common = {**statement.pattern.fixed, "event": statement.pattern.event, "pattern": statement.pattern.name}
    if statement.pattern.mode is not None:
        common.setdefault("mode", statement.pattern.mode)
    texts = {name: groups[name] for name in statement.pattern.columns}
    places: Sequence[int] = statement.lines
    try:
        captured = {name: values(name, of_lines) for name, of_lines in texts.items()}
    except ValueError:  # a number that fits no column
        places, captured = _fitting(events, statement.lines, texts)
    captured = filled(captured, of_contexts([events.lines.context[line] for line in places]))
    events.add(EventPart(places, {name: column for name, column in captured.items() if name not in common}, common))


def _fitting(
    events: ColumnarEvents, lines: Sequence[int], texts: Mapping[str, Sequence[str | None]]
) -> tuple[list[int], dict[str, Sequence[Any]]]:
    """The lines whose numbers fit their columns, and their columns; the other lines become problems."""
    rows: list[tuple[int, Row]] = []
    for at, line in enumerate(lines):
        try:
            rows.append((line, {name: column(name, of_lines[at]) for name, of_lines in texts.items()}))
        except ValueError as error:
            events.add_problem(line, error)
    return [line for line, _ in rows], of_rows([row for _, row in rows])


def filled(captured: Mapping[str, Sequence[Any]], others: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """The columns, with values from other columns of the same name where they are null."""
    both = dict(captured)
    for name, of_lines in others.items():
        if name not in captured:
            both[name] = of_lines
        elif None in captured[name]:
            both[name] = [b if a is None else a for a, b in zip(captured[name], of_lines, strict=True)]
    return both


def of_contexts(contexts: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Any]]:
    """The columns that components' names give; few names differ as a rule."""
    known = {id(context): context for context in contexts}
    which = list(map(id, contexts))
    by_name: dict[str, Sequence[Any]] = {}
    for name in set().union(*known.values()):
        of_context = {at: context.get(name) for at, context in known.items()}
        by_name[name] = list(map(of_context.__getitem__, which))
    return by_name
