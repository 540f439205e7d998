"""Lines of a log that show that INFO is on, by facet: in these parts of the log a missing line proves that an event did not happen.

Here: the places, reduced to the first and the last of each block of lines, so that a log of any size gives few. Not here: which lines these
are (parsers.patterns.facets), or conclusions from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from parsers.patterns.facets import FACETS, INFO_AND_BELOW, OTHER_FETCHER, facet_of_line, facets_of
from parsers.patterns.in_force import PatternSet, pattern_set
from parsers.schemas import Row

_NUMBERED = (*FACETS, "fetcher")
"""Facets by number. The last one is for statements whose logger is known from the text only."""
_INFO = pa.array(INFO_AND_BELOW, pa.string())


PLACES = pa.schema([("line", pa.int64()), ("time", pa.timestamp("us")), ("clock", pa.string())])
"""Lines, their times and the clock that shows them (`line` or `utc`)."""


class Places:
    """Lines of one facet in one source: the first and the last of each block. Blocks have 2**n lines, as few as make MOST_BLOCKS at most,
    so that the places depend on the lines only, not on the order in which they come. If a line has several events, the first one counts."""

    MOST_BLOCKS = 64
    WAITING = 1 << 13
    """Lines that are thinned together."""

    def __init__(self) -> None:
        self._size = 1
        self._rows: list[Row] = []
        self._batches: list[pa.RecordBatch] = []
        self._waiting = 0

    def add(self, row: Row) -> None:
        self._rows.append({name: row.get(name) for name in PLACES.names})
        if len(self._rows) >= self.WAITING:
            self._take_rows()

    def add_all(self, places: pa.RecordBatch) -> None:
        """The same for many lines: a batch with the columns of PLACES."""
        self._take_rows()
        self._batches.append(places)
        self._waiting += len(places)
        if self._waiting >= self.WAITING:
            self._thin()

    def follow(self, later: Places) -> None:
        """Adds the lines of a later part of the source."""
        self.add_all(later.all())
        self._size = max(self._size, later._size)

    def all(self) -> pa.RecordBatch:
        """The places that are kept, in the order of lines."""
        self._take_rows()
        self._thin()
        return self._batches[0]

    def __getstate__(self) -> dict[str, Any]:
        """With few lines: it may be sent from one process to another."""
        self.all()
        return self.__dict__

    def _take_rows(self) -> None:
        if self._rows:
            rows, self._rows = self._rows, []
            self.add_all(pa.RecordBatch.from_pylist(rows, schema=PLACES))

    def _thin(self) -> None:
        places = _by_line(_joined(self._batches))
        while pc.sum(changes := _changes(pc.divide(places["line"], self._size)), min_count=0).as_py() > self.MOST_BLOCKS:
            self._size *= 2
        ends = pc.or_(changes, pa.concat_arrays([changes[1:], pa.array([True] * (len(places) > 0), pa.bool_())]))
        self._batches, self._waiting = [places.filter(ends)], 0


@lru_cache(maxsize=8)
def _columns(patterns: PatternSet) -> tuple[pa.Array, pa.Array, pa.Array]:
    """The names of patterns, the numbers of their facets (-1: known from the text only), and whether they are printed at INFO or below."""
    by_pattern, of_any_fetcher = facets_of(patterns)
    numbers = [-1 if name in of_any_fetcher else FACETS.index(facet) for name, (facet, _) in by_pattern.items()]
    usual = [at_info for _, at_info in by_pattern.values()]
    return pa.array(list(by_pattern), pa.string()), pa.array(numbers, pa.int8()), pa.array(usual, pa.bool_())


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    columns = [pa.concat_arrays([pa.array([], field.type), *(batch[field.name] for batch in batches)]) for field in PLACES]
    return pa.RecordBatch.from_arrays(columns, schema=PLACES)


def _by_line(places: pa.RecordBatch) -> pa.RecordBatch:
    """In the order of lines, one of each line."""
    lines = places["line"]
    if not pc.all(pc.greater_equal(lines[1:], lines[:-1]), min_count=0).as_py():
        places = places.take(pc.sort_indices(lines))  # a stable sort
    return places.filter(_changes(places["line"]))


def _changes(values: pa.Array) -> pa.Array:
    """Whether each value differs from the one before it; the first one does."""
    first = pa.array([True] * (len(values) > 0), pa.bool_())
    return pa.concat_arrays([first, pc.not_equal(values[1:], values[:-1])])


class Printed:
    """The places of one source by facet."""

    def __init__(self) -> None:
        self._by_facet: dict[str, Places] = defaultdict(Places)

    def pass_by(self, row: Row) -> None:
        facet = facet_of_line(row.get("pattern"), row.get("level"), row.get("text"))
        if facet is not None and row.get("line") is not None:
            self._by_facet[facet].add(row)

    def pass_by_all(self, batch: pa.RecordBatch) -> None:
        """The same for many events."""
        names, facets, usual = _columns(pattern_set())
        at, level = pc.index_in(batch["pattern"], names), batch["level"]
        quiet = pc.if_else(pc.is_valid(level), pc.is_in(level, _INFO), pc.take(usual, at))
        facet = pc.if_else(pc.and_(quiet, pc.is_valid(batch["line"])), pc.take(facets, at), None)
        for number in pc.unique(facet).drop_null().to_pylist():
            lines = pc.indices_nonzero(pc.equal(facet, number))
            if number < 0:
                lines = lines.filter(pc.invert(pc.fill_null(pc.match_substring(batch["text"].take(lines), OTHER_FETCHER), False)))
            if len(lines):
                self._by_facet[_NUMBERED[number]].add_all(batch.select(PLACES.names).take(lines))

    def follow(self, later: Printed) -> None:
        """Goes on with what a later part of the source showed."""
        for facet, places in later._by_facet.items():
            self._by_facet[facet].follow(places)

    def collected(self, clock: str | None) -> Row:
        """Fields of schemas.COLLECTED. `clock`: that of the source; times by another clock are left out."""
        printed = [
            {"facet": facet, "line": place["line"], "time": place["time"] if place["clock"] == clock else None}
            for facet in sorted(self._by_facet)
            for place in self._by_facet[facet].all().to_pylist()
        ]
        return {"printed": printed or None}
