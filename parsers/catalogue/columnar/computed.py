"""Runs the computation of statements (Pattern.expand) once for all lines with the same inputs.

Here: which columns of a line the computation reads and which it only passes on, and the events made from the result. Not here: the
computation itself (parsers.patterns).

A statement is run with placeholders for the columns that it may only pass on. A placeholder that is read raises an error; from then on its
column is part of what lines must have in common. A broker logs ten states of ten thousand partitions: the computation runs ten times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, NoReturn

from parsers.catalogue.columnar import columns
from parsers.catalogue.columnar.columns import ColumnarEvents, EventPart, StatementMatches, filled, of_contexts, of_rows, values
from parsers.catalogue.columnar.heads import moment_of
from parsers.matching.tried import OF_LINE
from parsers.patterns.pattern import check, column
from parsers.schemas import MAX_SHARED, Row, shared


class _LookedAt(Exception):
    """A placeholder was read, not only passed on."""


class _Placeholder:
    """Placeholder for a column's value; a null has no placeholder."""

    __slots__ = ("column",)

    def __init__(self, column: str) -> None:
        self.column = column

    def _looked_at(self, *_: object) -> NoReturn:
        raise _LookedAt(self.column)


_LOOKS = "eq ne lt le gt ge hash bool len iter contains getitem str repr format int index float add radd sub rsub mod rmod mul rmul"
for _name in _LOOKS.split():
    setattr(_Placeholder, f"__{_name}__", _Placeholder._looked_at)

_looked_at: dict[str, set[str]] = {}
"""Columns that statements are known to read."""
_UNKNOWN = "?"
"""Marks a statement that does more with a column than a placeholder can detect."""


def add_computed(events: ColumnarEvents, statement: StatementMatches) -> None:
    """The events of a statement that computes them. Raises TooMany."""
    looked_at = _looked_at.setdefault(statement.pattern.name, {"level", "mode"})
    while _UNKNOWN not in looked_at:
        try:
            _Computed(events, statement, looked_at).add()
            return
        except _LookedAt as error:
            looked_at.add(str(error))
        except ValueError:  # a number that fits no column
            break
    _add_each(events, statement)


def _add_each(events: ColumnarEvents, statement: StatementMatches) -> None:
    """The same, line by line."""
    rows: list[Row] = []
    places: list[int] = []
    lines, pattern = events.lines, statement.pattern
    lengths = lines.lengths
    size, quoted = 0, False
    for line, match in zip(statement.lines, statement.matches, strict=True):
        try:
            made = pattern.events(statement.groupdict(match), lines.context[line], moment_of(lines.time[line]), lines.level[line])
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
    events.add(EventPart(places, of_rows(rows), {"pattern": pattern.name}))


class _Computed:
    """Lines of a statement, computed together if they are equal in the columns that are read; lists are indexed by line."""

    def __init__(self, events: ColumnarEvents, statement: StatementMatches, looked_at: set[str]) -> None:
        self.events, self.statement, self.pattern, self.looked_at = events, statement, statement.pattern, looked_at
        self.groups = statement.groups()
        self.contexts = [events.lines.context[line] for line in statement.lines]
        self.times = [events.lines.time[line] for line in statement.lines]
        self.levels = [events.lines.level[line] for line in statement.lines]

    def add(self) -> None:
        """Raises _LookedAt; ValueError if a number does not fit its column."""
        codes: dict[tuple[Any, ...], int] = {}
        which = [codes.setdefault(key, len(codes)) for key in self._keys()]
        if 2 * len(codes) > len(which):
            _add_each(self.events, self.statement)
            return
        captured = {name: values(name, self.groups[name]) for name in self.pattern.columns}
        computed = self._compute(dict(zip(reversed(which), range(len(which) - 1, -1, -1), strict=True)))
        rows = list(chain.from_iterable(computed))
        if not rows:
            return
        counts = [len(made) for made in computed]
        each = [counts[code] for code in which]
        lines, index = _expanded(which, counts)
        of_events, common = self._columns(rows, index, lines, captured)
        if len(lines) > len(which) and (quotes := self._quotes(each)):
            of_events["text"] = [quotes[line] for line in lines]
        self.events.add(EventPart([self.statement.lines[line] for line in lines], of_events, common))

    def _compute(self, firsts: Mapping[int, int]) -> list[list[Row]]:
        """The rows of the first line of each group of equal lines. A level is omitted if all rows keep that of their line."""
        computed = []
        size = 0
        for code in range(len(firsts)):
            computed.append(self._rows(firsts[code]))
            size += len(computed[-1])
            self.events.check(size, 0)
        if all(row.get("level") == self.levels[firsts[code]] for code, made in enumerate(computed) for row in made):
            for row in chain.from_iterable(computed):
                row.pop("level", None)
        return computed

    def _quotes(self, each: Sequence[int]) -> Sequence[str] | None:
        """The text that each line's events keep; None if all events keep all of it. Raises TooMany."""
        lengths = self.events.lines.lengths
        sizes = [lengths[line] * count for line, count in zip(self.statement.lines, each, strict=True)]
        self.events.check(sum(each), sum(sizes))
        if all(size <= MAX_SHARED for size in sizes):
            return None
        return [shared(self.events.lines.text[line].as_py(), count) for line, count in zip(self.statement.lines, each, strict=True)]

    def _columns(
        self, rows: Sequence[Row], index: Sequence[int], lines: Sequence[int], captured: Mapping[str, Sequence[Any]]
    ) -> tuple[dict[str, Sequence[Any]], dict[str, Any]]:
        """The columns of each event as in one of the computed rows, with placeholders filled in by line, and the values that all events
        share."""
        passed_on = self._passed_on(captured)
        by_event: dict[str, Sequence[Any]] = {}
        common: dict[str, Any] = {}
        for name in columns.NAMES & set(chain.from_iterable(rows)):
            computed = [row.get(name) for row in rows]
            marks = {value.column if type(value) is _Placeholder else None for value in computed}
            if name == "time" and marks == {"time"}:
                continue
            if marks == {None} and name not in OF_LINE and all(value == computed[0] for value in computed):
                common[name] = computed[0]
            else:
                by_event[name] = _filled_in(computed, marks, index, lines, passed_on)
        return by_event, common

    def _passed_on(self, captured: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
        """By line, the columns that the placeholders refer to."""
        return {"time": self.times, **filled(captured, of_contexts(self.contexts))}

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
        assert self.pattern.expand is not None
        try:
            made = [dict(one) for one in self.pattern.expand(self._inputs(at))]
        except (TypeError, AttributeError) as error:
            raise _LookedAt(_UNKNOWN) from error
        for row in made:
            row.pop("_groups", None)
            other = {name: value for name, value in row.items() if value is not None and type(value) is not str}
            for value in other.values():
                _inside(value)
            check({name: value for name, value in other.items() if type(value) is not _Placeholder})
            row.setdefault("event", self.pattern.event)
            row["pattern"] = self.pattern.name
        return made

    def _inputs(self, at: int) -> Row:
        """The columns of a line and the text of its groups, with placeholders for those that are only passed on."""
        texts = {name: texts[at] for name, texts in self.groups.items()}
        row: Row = {"time": moment_of(self.times[at]), "mode": self.pattern.mode, **self.contexts[at]}
        row |= {name: column(name, texts[name]) for name in self.pattern.columns if texts[name] is not None}
        row = {name: value if value is None or name in self.looked_at else _Placeholder(name) for name, value in row.items()}
        row |= {"level": self.levels[at], **self.pattern.fixed}
        marked = {name for name in self.pattern.columns if texts[name] is not None and f".{name}" not in self.looked_at}
        row["_groups"] = {name: _Placeholder(f".{name}") if name in marked else text for name, text in texts.items()}
        return row


def _expanded(which: Sequence[int], counts: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """The line of each event and the computed row that it is like, if each line gives as many events as its group of equal lines."""
    begins = list(accumulate(counts, initial=0))
    if all(count == 1 for count in counts):
        return range(len(which)), [begins[code] for code in which]
    lines = [line for line, code in enumerate(which) for _ in range(counts[code])]
    return lines, [at for code in which for at in range(begins[code], begins[code + 1])]


def _filled_in(
    computed: Sequence[Any],
    marks: set[str | None],
    index: Sequence[int],
    lines: Sequence[int],
    passed_on: Mapping[str, Sequence[Any]],
) -> Sequence[Any]:
    """The values of a column by event. `marks`: columns of the placeholders among the computed values, and None if there are other
    values."""
    if marks == {None}:
        return [computed[at] for at in index]
    if len(marks) == 1:
        of_line = passed_on[next(iter(marks)) or ""]
        return [of_line[line] for line in lines]
    both = zip([computed[at] for at in index], lines, strict=True)
    return [passed_on[value.column][line] if type(value) is _Placeholder else value for value, line in both]


def _inside(value: Any) -> None:
    """Raises _LookedAt if a placeholder became part of another value."""
    if isinstance(value, (list, tuple, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            if type(one) is _Placeholder:
                raise _LookedAt(one.column)
            _inside(one)
    elif type(value) is _Placeholder and value.column.startswith("."):
        raise _LookedAt(value.column)
