"""Events of one source on their way to Arrow: what lines say is kept as text by statement, and becomes columns many lines at a time.

Here: numbers, lists and words made of the text of groups by column, what a component's name adds to them, and the order of the
file. Not here: which line says what (reading) or what the text of one group means (parsers.patterns.pattern).

No event of a statement is a dict on its way, but where the statement computes it (Pattern.explode) or its number fits no column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from parsers.patterns.pattern import Pattern, column
from parsers.schemas import EVENTS, Row, problem, shared

MAX_ROWS, MAX_CHARACTERS = 1 << 14, 16 << 20
"""Events, and characters of their text, that are kept until they become a batch."""
_COMMON = ("line", "byte", "time", "clock", "event", "pattern", "level", "text", "near")
"""Columns that do not depend on what the statement says."""
_NOTHING: Mapping[str, Any] = {}


def by_columns(pattern: Pattern) -> bool:
    """Whether the text of its groups alone makes its event."""
    said = {*pattern.columns, *pattern.fixed}
    return (
        pattern.explode is None
        and None not in pattern.fixed.values()
        and said.isdisjoint((*_COMMON, "source"))
        and "mode" not in pattern.columns
    )


def _constant(pattern: Pattern) -> Row:
    """The columns that are the same in all its events."""
    return {"mode": pattern.mode, **pattern.fixed} if pattern.mode is not None else dict(pattern.fixed)


class _Said:
    """What lines of one statement say: the place of each among the events, and the text of its groups."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.places: list[int] = []
        self.groups: list[tuple[str | None, ...]] = []

    def texts(self) -> Mapping[str, Sequence[str | None]]:
        """The text of each column."""
        assert self.pattern.quick is not None
        columns = list(zip(*self.groups, strict=True)) if self.pattern.columns else []
        found = {}
        for name in self.pattern.columns:
            first, *others = (columns[at - 1] for at in self.pattern.quick.groups[name])
            for other in others:  # the spellings of a statement, of which one log has one as a rule
                missing = first.count(None)
                if missing == len(first):
                    first = other
                elif missing:
                    first = tuple([b if a is None else a for a, b in zip(first, other, strict=True)])
            found[name] = first
        return found

    def columns(self) -> dict[str, pa.Array]:
        """Raises ValueError where a number fits no column."""
        found = {name: _typed(name, texts) for name, texts in self.texts().items()}
        for name, value in _constant(self.pattern).items():
            found[name] = pa.repeat(pa.scalar(value, EVENTS.field(name).type), len(self.places))
        return found

    def rows(self) -> Iterator[tuple[int, Row | ValueError]]:
        """The same one by one."""
        columns = self.texts()
        for at, place in enumerate(self.places):
            try:
                row = {name: column(name, texts[at]) for name, texts in columns.items()}
            except ValueError as error:
                yield place, error
            else:
                yield place, {**row, **_constant(self.pattern)}


def _columns(rows: Sequence[Row]) -> dict[str, pa.Array]:
    """What rows say, by column."""
    return {name: pa.array([row.get(name) for row in rows], EVENTS.field(name).type) for name in _SAID & set().union(*rows)}


def _of_components(contexts: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """What the names of components say; few of them are named over and over."""
    codes: dict[int, int] = {}
    known: list[Mapping[str, Any]] = []
    which: list[int] = []
    for context in contexts:
        code = codes.get(id(context))
        if code is None:
            code = codes[id(context)] = len(known)
            known.append(context)
        which.append(code)
    names = {name for context in known for name in context}
    index = pa.array(which, pa.int32())
    return {name: pa.array([context.get(name) for context in known], EVENTS.field(name).type).take(index) for name in names}


def _typed(name: str, texts: Sequence[str | None]) -> pa.Array:
    """The values of a column from the text of its groups, as `column` makes one of one."""
    kind = EVENTS.field(name).type
    found = pa.array(texts, pa.string())
    if pa.types.is_string(kind):
        return found
    if pa.types.is_integer(kind):
        return found.cast(kind)
    seen = found.dictionary_encode()
    return pa.array([column(name, text) for text in seen.dictionary.to_pylist()], kind).take(seen.indices)


def _with_gaps(name: str, parts: Sequence[tuple[Sequence[int], Mapping[str, pa.Array]]]) -> Iterator[pa.Array]:
    """A column of all parts one after the other, of which most have none: neighbours without it are one piece."""
    gap = 0
    for places, columns in parts:
        found = columns.get(name)
        if found is None:
            gap += len(places)
            continue
        if gap:
            yield pa.nulls(gap, found.type)
        gap = 0
        yield found
    if gap:
        yield pa.nulls(gap, EVENTS.field(name).type)


class Columns:
    """The events of one source, in the order in which they are added."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._begin()

    def _begin(self) -> None:
        self._common: list[tuple[Any, ...]] = []
        self._said: dict[str, _Said] = {}
        self._made: dict[str, tuple[list[int], list[Row]]] = {}
        self._problems: dict[int, Row] = {}
        self._characters = 0

    @property
    def full(self) -> bool:
        return len(self._common) >= MAX_ROWS or self._characters >= MAX_CHARACTERS

    def add(
        self, pattern: Pattern, groups: tuple[str | None, ...], context: Mapping[str, Any], common: tuple[Any, ...], shown: str
    ) -> None:
        """An event of a statement for which `by_columns` holds. `common`: the values of _COMMON; `shown`: the line as problems quote it."""
        said = self._said.get(pattern.name)
        if said is None:
            said = self._said[pattern.name] = _Said(pattern)
        said.places.append(len(self._common))
        said.groups.append(groups)
        self._common.append((*common, context, shown))
        self._characters += len(shown)

    def add_rows(self, rows: Sequence[Row], common: tuple[Any, ...]) -> None:
        """The events that a statement computes (Pattern.events); a row may tell another event or text than the line's."""
        line, byte, _, clock, event, name, _, text, near = common
        text = shared(text, len(rows))
        for row in rows:
            shown = row.get("text", text)
            self._add(row, name, (line, byte, row["time"], clock, row.get("event", event), name, row["level"], shown, near), shown)

    def add_row(self, row: Row) -> None:
        """An event, or a problem, that was read by itself."""
        if row["event"] == "problem":
            self._problems[len(self._common)] = row
        self._add(row, row.get("pattern", ""), tuple([row.get(name) for name in _COMMON]), row.get("text") or "")

    def _add(self, row: Row, name: str, common: tuple[Any, ...], text: str) -> None:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = ([], [])
        made[0].append(len(self._common))
        made[1].append(row)
        self._common.append((*common, _NOTHING, ""))
        self._characters += len(text)

    def flush(self) -> Iterator[Row | pa.RecordBatch]:
        """What was added since, problems as rows between the batches."""
        if self._common:
            batch, at = self._batch(), 0
            for place in sorted(self._problems):
                if place > at:
                    yield batch.slice(at, place - at)
                yield self._problems[place]
                at = place + 1
            if at < len(batch):
                yield batch.slice(at)
        self._begin()

    def _batch(self) -> pa.RecordBatch:
        *common, contexts, shown = zip(*self._common, strict=True)
        found = _of_components(contexts) | {n: pa.array(values, EVENTS.field(n).type) for n, values in zip(_COMMON, common, strict=True)}
        for name, values in self._of_statements(shown):
            found[name] = pc.coalesce(values, found[name]) if name in found and values.null_count else values
        size = len(self._common)
        found["source"] = pa.repeat(pa.scalar(self._source), size)
        return pa.RecordBatch.from_arrays([found.get(field.name, pa.nulls(size, field.type)) for field in EVENTS], schema=EVENTS)

    def _of_statements(self, shown: Sequence[str]) -> Iterator[tuple[str, pa.Array]]:
        """What the statements themselves say."""
        parts: list[tuple[Sequence[int], dict[str, pa.Array]]] = []
        for said in self._said.values():
            try:
                parts.append((said.places, said.columns()))
            except ValueError:  # a number that fits no column
                rows = []
                for place, row in said.rows():
                    if isinstance(row, ValueError):
                        self._problems[place] = self._out_of_range(place, row, shown[place])
                        row = {}
                    rows.append(row)
                parts.append((said.places, _columns(rows)))
        parts += [(places, _columns(rows)) for places, rows in self._made.values()]
        order = [0] * len(self._common)
        for rank, place in enumerate(place for places, _ in parts for place in places):
            order[place] = rank
        index = pa.array(order, pa.int32())
        for name in {name for _, columns in parts for name in columns}:
            yield name, pa.concat_arrays(list(_with_gaps(name, parts))).take(index)

    def _out_of_range(self, place: int, error: ValueError, shown: str) -> Row:
        line, byte = self._common[place][:2]
        return {**problem("out-of-range", f"{error}: {shown}", line=line, byte=byte), "source": self._source}


_SAID = frozenset(EVENTS.names) - {*_COMMON, "source"}
