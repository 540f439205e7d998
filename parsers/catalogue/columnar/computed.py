"""Runs the computation of statements (Pattern.explode) once for all lines with the same inputs.

Here: which columns of a line the computation reads and which it only passes on, and the events made from the result. Not here: the
computation itself (parsers.patterns).

A statement is run with placeholders for the columns that it may only pass on. A placeholder that is read raises an error; from then on its
column is part of what lines must have in common. A broker logs ten states of ten thousand partitions: the computation runs ten times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NoReturn

from parsers.catalogue.columnar import columns
from parsers.catalogue.columnar.columns import Events, Part, Said, of_contexts, of_rows, values
from parsers.catalogue.columnar.heads import moment_of
from parsers.matching.tried import OF_LINE
from parsers.patterns.pattern import check, column
from parsers.schemas import MAX_SHARED, Row, shared


class _LookedAt(Exception):
    """A placeholder was read, not only passed on."""


class _Mark:
    """Placeholder for a column's value; a null has no placeholder."""

    __slots__ = ("column",)

    def __init__(self, column: str) -> None:
        self.column = column

    def _looked_at(self, *_: object) -> NoReturn:
        raise _LookedAt(self.column)


_LOOKS = "eq ne lt le gt ge hash bool len iter contains getitem str repr format int index float add radd sub rsub mod rmod mul rmul"
for _name in _LOOKS.split():
    setattr(_Mark, f"__{_name}__", _Mark._looked_at)

_looked_at: dict[str, set[str]] = {}
"""Columns that statements are known to read."""
_UNKNOWN = "?"
"""Marks a statement that does more with a column than a placeholder can detect."""


def add_computed(events: Events, said: Said) -> None:
    """The events of a statement that computes them. Raises TooMany."""
    looked_at = _looked_at.setdefault(said.pattern.name, {"level", "mode"})
    while _UNKNOWN not in looked_at:
        try:
            _Computed(events, said, looked_at).add()
            return
        except _LookedAt as error:
            looked_at.add(str(error))
        except ValueError:  # a number that fits no column
            break
    _add_each(events, said)


def _add_each(events: Events, said: Said) -> None:
    """The same, line by line."""
    rows: list[Row] = []
    places: list[int] = []
    lines, pattern = events.lines, said.pattern
    lengths = lines.lengths
    size, quoted = 0, False
    for line, found in zip(said.lines, said.found, strict=True):
        try:
            made = pattern.events(said.groupdict(found), lines.context[line], moment_of(lines.time[line]), lines.level[line])
        except ValueError as error:
            events.add_problem(line, error)
            continue
        size += lengths[line] * len(made)
        quoted = quoted or lengths[line] * len(made) > MAX_SHARED or any("text" in row for row in made)
        for row in made:
            row.setdefault("event", pattern.event)
        rows += made
        places += [line] * len(made)
        events.check(len(rows), size)
    if quoted:
        counts = Counter(places)
        for row, line in zip(rows, places, strict=True):
            row.setdefault("text", shared(lines.text[line].as_py(), counts[line]))
    events.add(Part(places, of_rows(rows), {"pattern": pattern.name}))


class _Computed:
    """Lines of a statement, computed together if they are equal in the columns that are read; lists are indexed by line."""

    def __init__(self, events: Events, said: Said, looked_at: set[str]) -> None:
        self.events, self.said, self.pattern, self.looked_at = events, said, said.pattern, looked_at
        self.groups = said.groups()
        self.contexts = [events.lines.context[line] for line in said.lines]
        self.times = [events.lines.time[line] for line in said.lines]
        self.levels = [events.lines.level[line] for line in said.lines]

    def add(self) -> None:
        """Raises _LookedAt; ValueError if a number does not fit its column."""
        alike: dict[tuple[Any, ...], int] = {}
        which = [alike.setdefault(key, len(alike)) for key in self._keys()]
        if 2 * len(alike) > len(which):
            _add_each(self.events, self.said)
            return
        own = {name: values(name, self.groups[name]) for name in self.pattern.columns}
        rows: list[Row] = []
        begins, counts, firsts = [], [], dict(zip(reversed(which), range(len(which) - 1, -1, -1), strict=True))
        levels: list[str | None] = []
        for code in range(len(alike)):
            made = self._rows(firsts[code])
            begins.append(len(rows))
            counts.append(len(made))
            rows += made
            levels += [self.levels[firsts[code]]] * len(made)
            self.events.check(len(rows), 0)
        if [row.get("level") for row in rows] == levels:
            for row in rows:
                row.pop("level", None)
        if not rows:
            return
        lines: Sequence[int] = range(len(which))
        index = [begins[code] for code in which]
        if any(count != 1 for count in counts):
            each = [counts[code] for code in which]
            lines = [line for line, count in enumerate(each) for _ in range(count)]
            index = [at for begin, count in zip(index, each, strict=True) for at in range(begin, begin + count)]
        told, common = self._columns(rows, index, lines, own)
        if len(lines) > len(which):
            lengths = self.events.lines.lengths
            sizes = [lengths[line] for line in self.said.lines]
            self.events.check(len(lines), sum([size * count for size, count in zip(sizes, each, strict=True)]))
            if any(size * count > MAX_SHARED for size, count in zip(sizes, each, strict=True)):
                quotes = [shared(self.events.lines.text[line].as_py(), count) for line, count in zip(self.said.lines, each, strict=True)]
                told["text"] = [quotes[line] for line in lines]
        self.events.add(Part([self.said.lines[line] for line in lines], told, common))

    def _columns(
        self, rows: Sequence[Row], index: Sequence[int], lines: Sequence[int], own: Mapping[str, Sequence[Any]]
    ) -> tuple[dict[str, Sequence[Any]], dict[str, Any]]:
        """The columns of each event as in one of the computed rows, with placeholders filled in by line, and the values that all events
        share."""
        passed_on: dict[str, Sequence[Any]] = {"time": self.times, **own}
        for name, of_context in of_contexts(self.contexts).items():
            passed_on[name] = [b if a is None else a for a, b in zip(own[name], of_context, strict=True)] if name in own else of_context
        found: dict[str, Sequence[Any]] = {}
        common: dict[str, Any] = {}
        for name in columns.NAMES & set(chain.from_iterable(rows)):
            told = [row.get(name) for row in rows]
            marks = {value.column for value in told if type(value) is _Mark}
            if name == "time" and marks == {"time"} and all(type(value) is _Mark for value in told):
                continue
            if not marks and name not in OF_LINE and all(value == told[0] for value in told):
                common[name] = told[0]
            elif not marks:
                found[name] = [told[at] for at in index]
            elif len(marks) == 1 and all(type(value) is _Mark for value in told):
                of_line = passed_on[marks.pop()]
                found[name] = [of_line[line] for line in lines]
            else:
                both = zip([told[at] for at in index], lines, strict=True)
                found[name] = [passed_on[value.column][line] if type(value) is _Mark else value for value, line in both]
        return found, common

    def _keys(self) -> Iterator[tuple[Any, ...]]:
        """The values that lines must have in common to be computed together."""
        looked_at = self.looked_at
        of_context = {
            id(context): tuple((name, value if name in looked_at else None) for name, value in context.items()) for context in self.contexts
        }
        keys: list[Iterable[Any]] = [self.levels, map(of_context.__getitem__, map(id, self.contexts))]
        if "time" in looked_at:
            keys.append(self.times)
        for name, texts in self.groups.items():
            if name not in self.pattern.columns or name in looked_at or f".{name}" in looked_at:
                keys.append(texts)
            elif None in texts:
                keys.append([text is None for text in texts])
        return zip(*keys, strict=True)

    def _rows(self, at: int) -> list[Row]:
        """The result of the statement for a line; raises _LookedAt."""
        texts = {name: texts[at] for name, texts in self.groups.items()}
        row: Row = {"time": moment_of(self.times[at]), "mode": self.pattern.mode, **self.contexts[at]}
        row |= {name: column(name, texts[name]) for name in self.pattern.columns if texts[name] is not None}
        row = {name: value if value is None or name in self.looked_at else _Mark(name) for name, value in row.items()}
        row |= {"level": self.levels[at], **self.pattern.fixed}
        row["_groups"] = {
            name: _Mark(f".{name}") if text is not None and name in self.pattern.columns and f".{name}" not in self.looked_at else text
            for name, text in texts.items()
        }
        assert self.pattern.explode is not None
        try:
            made = [dict(one) for one in self.pattern.explode(row)]
        except (TypeError, AttributeError) as error:
            raise _LookedAt(_UNKNOWN) from error
        for one in made:
            one.pop("_groups", None)
            other = {name: value for name, value in one.items() if value is not None and type(value) is not str}
            for value in other.values():
                _inside(value)
            check({name: value for name, value in other.items() if type(value) is not _Mark})
            one.setdefault("event", self.pattern.event)
            one["pattern"] = self.pattern.name
        return made


def _inside(value: Any) -> None:
    """Raises _LookedAt if a placeholder became part of another value."""
    if isinstance(value, (list, tuple, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            if type(one) is _Mark:
                raise _LookedAt(one.column)
            _inside(one)
    elif type(value) is _Mark and value.column.startswith("."):
        raise _LookedAt(value.column)
