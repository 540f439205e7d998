"""Events of many lines on their way to Arrow: what lines say is kept as text by statement, and becomes columns many lines at a time.

Here: numbers, lists and words made of the text of groups by column, what a component's name adds to them, and the order of the
file. Not here: which line says what (quickly, reading), what the text of one group means (parsers.patterns.pattern) or what a
statement computes of it (computed).

No event of a statement is a dict on its way, but where its number fits no column.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from parsers.patterns.pattern import Pattern, column
from parsers.schemas import EVENTS, Row, Told, problem

MAX_ROWS, MAX_CHARACTERS = 1 << 14, 16 << 20
"""Events, and characters of their text, that are about as many as are kept until they become a batch."""
_OF_LINE = ("line", "byte", "time", "clock", "level", "text", "near")
_COMMON = (*_OF_LINE, "event", "pattern")
"""Columns that do not depend on what the statement says."""
NAMES = frozenset(EVENTS.names) - {"source"}


def by_columns(pattern: Pattern) -> bool:
    """Whether the text of its groups alone makes its event."""
    said = {*pattern.columns, *pattern.fixed}
    return (
        pattern.explode is None
        and None not in pattern.fixed.values()
        and said.isdisjoint((*_COMMON, "source"))
        and "mode" not in pattern.columns
    )


class TooMany(Exception):
    """Lines that tell more events than are to be kept."""


@dataclass(slots=True)
class Said:
    """What lines of one statement say: their numbers and matches. `groupdict` tells the text of each group by name."""

    pattern: Pattern
    groupdict: Callable[[re.Match[str]], Mapping[str, str | None]]
    by_columns: bool
    lines: list[int] = field(default_factory=list)
    found: list[re.Match[str]] = field(default_factory=list)

    def of(self, begin: int, end: int, places: Mapping[int, int]) -> Said:
        """What the lines from one to another say; in `places` are their numbers from now on."""
        kept = [begin <= line < end for line in self.lines]
        lines = [places[line] for line in compress(self.lines, kept)]
        return Said(self.pattern, self.groupdict, self.by_columns, lines, list(compress(self.found, kept)))

    def groups(self) -> Mapping[str, Sequence[str | None]]:
        """The text of each group."""
        assert self.pattern.quick is not None
        columns = list(zip(*[found.groups() for found in self.found], strict=True)) if self.pattern.quick.groups else []
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


class Lines(NamedTuple):
    """What does not depend on what they say of lines that tell something, each a list by line; `quoted` is how problems show one."""

    line: Sequence[int]
    byte: Sequence[int]
    time: Sequence[int]
    text: Sequence[str]
    clock: Sequence[str]
    level: Sequence[str | None]
    near: Sequence[int | None]
    context: Sequence[Mapping[str, Any]]
    quoted: Sequence[str]


class Part(NamedTuple):
    """Events with the same columns: of which line each is, and what it says. `component`: what the line's component tells is to be added."""

    places: Sequence[int]
    columns: Mapping[str, pa.Array]
    component: bool = False


def typed(name: str, texts: Sequence[str | None]) -> pa.Array:
    """The values of a column from the text of its groups, as `column` makes one of one. Raises ValueError where a number does not fit."""
    kind = EVENTS.field(name).type
    found = pa.array(texts, pa.string())
    if pa.types.is_string(kind):
        return found
    if pa.types.is_integer(kind):
        return found.cast(kind)
    seen = found.dictionary_encode()
    return pa.array([column(name, text) for text in seen.dictionary.to_pylist()], kind).take(seen.indices)


def of_rows(rows: Sequence[Row]) -> dict[str, pa.Array]:
    """What rows say, by column."""
    return {name: pa.array([row.get(name) for row in rows], EVENTS.field(name).type) for name in NAMES & set(chain.from_iterable(rows))}


def of_contexts(contexts: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """What the names of components say; few of them are named over and over."""
    codes: dict[int, int] = {}
    which = [codes.setdefault(at, len(codes)) for at in map(id, contexts)]
    by_id = dict(zip(map(id, contexts), contexts, strict=True))
    known = [by_id[at] for at in codes]
    index = pa.array(which, pa.int32())
    names = set(chain.from_iterable(known))
    return {name: pa.array([context.get(name) for context in known], EVENTS.field(name).type).take(index) for name in names}


def constants(row: Row, size: int) -> dict[str, pa.Array]:
    """The columns of so many events that all say this."""
    return {name: pa.repeat(pa.scalar(value, EVENTS.field(name).type), size) for name, value in row.items()}


class Events:
    """The events of some lines of one source."""

    def __init__(self, source: str, lines: Lines, *, bounded: bool) -> None:
        self.lines = lines
        self.bounded = bounded
        """Of too many, TooMany is to be raised."""
        self._source = source
        self._parts: list[Part] = []
        self._problems: list[tuple[int, Row]] = []

    def add(self, part: Part) -> None:
        """Events that were made columns elsewhere."""
        self._parts.append(part)

    def check(self, count: int, characters: int) -> None:
        """Raises TooMany of more events, or of longer texts, than are to be kept."""
        if self.bounded and (count > MAX_ROWS or characters > MAX_CHARACTERS):
            raise TooMany

    def add_problem(self, line: int, error: ValueError) -> None:
        """What a line says does not fit."""
        told = problem("out-of-range", f"{error}: {self.lines.quoted[line]}", line=self.lines.line[line], byte=self.lines.byte[line])
        self._problems.append((line, {**told, "source": self._source}))

    def add_rows(self, rows: Sequence[tuple[int, Row]]) -> None:
        """Events, and problems, that were read by themselves: of which line each is, and all it says."""
        made: dict[str, list[tuple[int, Row]]] = defaultdict(list)
        for line, row in rows:
            if row["event"] == "problem":
                self._problems.append((line, row))
            else:
                made[row["pattern"]].append((line, row))
        for found in made.values():
            columns = of_rows([row for _, row in found])
            missing = {name: None for name in _OF_LINE if name not in columns}
            self.add(Part([line for line, _ in found], columns | constants(missing, len(found))))

    def told(self) -> Iterator[Told]:
        """All of them by line, problems as rows between the batches."""
        places = pa.array(chain.from_iterable([*(part.places for part in self._parts), [line for line, _ in self._problems]]), pa.int32())
        order = pc.array_sort_indices(places)
        batch = self._batch(order, places.take(order))
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

    def _batch(self, order: pa.Array, lines: pa.Array) -> pa.RecordBatch:
        size = len(order)
        found = {name: self._joined(name, order) for name in {name for part in self._parts for name in part.columns}}
        each = len(self.lines.line) == size and pc.all(pc.equal(lines, pa.array(range(size), pa.int32()))).as_py()
        for name in _OF_LINE:
            if name not in found:
                values = pa.array(getattr(self.lines, name), EVENTS.field(name).type)
                found[name] = values if each else values.take(lines)
        nothing: Mapping[str, Any] = {}
        contexts: list[Mapping[str, Any]] = []
        for part in self._parts:
            contexts += [self.lines.context[line] for line in part.places] if part.component else [nothing] * len(part.places)
        for name, values in of_contexts([*contexts, *[nothing] * len(self._problems)]).items():
            values = values.take(order)
            found[name] = pc.coalesce(found[name], values) if name in found else values
        found["source"] = pa.repeat(pa.scalar(self._source), size)
        return pa.RecordBatch.from_arrays([found.get(field.name, pa.nulls(size, field.type)) for field in EVENTS], schema=EVENTS)

    def _joined(self, name: str, order: pa.Array) -> pa.Array:
        """A column of all parts in the order of the file. Most have none: neighbours without it are one piece."""
        kind = EVENTS.field(name).type
        of_lines = pa.array(getattr(self.lines, name), kind) if name in _OF_LINE else None
        pieces, gap = [], 0
        for part in self._parts:
            values = part.columns.get(name)
            if values is None and of_lines is not None:
                values = of_lines.take(pa.array(part.places, pa.int32()))
            if values is None:
                gap += len(part.places)
                continue
            pieces += [pa.nulls(gap, kind), values] if gap else [values]
            gap = 0
        pieces.append(pa.nulls(gap + len(self._problems), kind))
        return pa.concat_arrays(pieces).take(order)


def add_said(events: Events, said: Said) -> None:
    """The events of a statement for which `by_columns` holds."""
    fixed = {"mode": said.pattern.mode, **said.pattern.fixed} if said.pattern.mode is not None else dict(said.pattern.fixed)
    groups = said.groups()
    texts = {name: groups[name] for name in said.pattern.columns}
    places: Sequence[int] = said.lines
    try:
        columns = {name: typed(name, found) for name, found in texts.items()} | constants(fixed, len(places))
    except ValueError:  # a number that fits no column
        fitting: list[tuple[int, Row]] = []
        for at, line in enumerate(said.lines):
            try:
                fitting.append((line, {name: column(name, found[at]) for name, found in texts.items()} | fixed))
            except ValueError as error:
                events.add_problem(line, error)
        places = [line for line, _ in fitting]
        columns = of_rows([row for _, row in fitting])
    columns |= constants({"event": said.pattern.event, "pattern": said.pattern.name}, len(places))
    events.add(Part(places, columns, component=True))
