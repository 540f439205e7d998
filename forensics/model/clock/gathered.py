"""The events from which the cluster is built: which they are, and how they wait in parts until their rows are read.

Here: the mask that the tasks apply, and reading by kind on the driver. Not here: what the events mean (build), or how they come to the
driver (the package spark).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.clock.comparisons import LEADERSHIPS
from parsers.kinds import GATHERED
from parsers.schemas import EVENTS, filtered, whole

Mask = Callable[[pa.Table], pa.ChunkedArray]
"""Marks rows of parsers.schemas.EVENTS."""

ALL_EPOCHS = 64
ONE_OF = 32
"""All lines of the leader epochs below ALL_EPOCHS are gathered, and those of one in ONE_OF later epochs: a few are enough to compare
clocks, and a partition may have a million."""
OPEN_ROWS = 1 << 14
"""Rows that stay open: with fewer, opening them again for each kind takes longer than anything that is made of them."""
JOINED_ROWS = 1 << 14
"""Rows that are worked on together, at least: identification costs as much for a few rows as for thousands."""


def is_gathered(events: pa.Table) -> pa.ChunkedArray:
    """Mask of the events that `build_cluster` needs: those of no partition, and some partition events that compare clocks."""
    epoch = events["leader_epoch"]
    few = pc.or_(pc.less(epoch, ALL_EPOCHS), pc.equal(pc.bit_wise_and(epoch, ONE_OF - 1), 0))
    uncached = pc.fill_null(pc.not_equal(events["reason"], "cached"), True)
    of_first = pc.and_(of_kinds(LEADERSHIPS)(events), pc.equal(events["partition"], 0))
    leaderships = pc.fill_null(pc.and_(pc.and_(of_first, uncached), few), False)
    return pc.or_(of_kinds(GATHERED)(events), leaderships)


def of_kinds(kinds: Iterable[str]) -> Mask:
    """Marks the events of these kinds."""
    known = pa.array(sorted(kinds), pa.string())
    return lambda events: pc.is_in(events["event"], value_set=known)


def but(sources: pa.ChunkedArray | pa.Array, paths: Collection[str]) -> pa.ChunkedArray | pa.Array:
    """Mask of the rows that are not from these files."""
    return pc.invert(pc.is_in(sources, value_set=pa.array(sorted(paths), pa.string())))


def one_of(events: pa.Table, number: int) -> pa.ChunkedArray:
    """Mask of about one in `number` (a power of two) of the leader epochs of topics, the same ones in all files."""
    topics = events["topic"].combine_chunks().dictionary_encode()
    of_topics = pa.array([zlib.crc32(topic.encode()) for topic in topics.dictionary.to_pylist()], pa.int64())
    chosen = pc.add(of_topics.take(topics.indices), events["leader_epoch"].combine_chunks().cast(pa.int64()))
    return pc.fill_null(pc.equal(pc.bit_wise_and(chosen, number - 1), 0), False)


class Gathered:
    """Gathered events in parts, of which many wait packed: all of them open would be the largest object on the driver."""

    def __init__(self, parts: Sequence[Callable[[], pa.Table]], excluded: Collection[str] = ()) -> None:
        """`parts` open rows of parsers.schemas.EVENTS, of which columns without a value may be missing; `excluded`: files that are left
        out."""
        self._parts, self._aside = parts, excluded
        opened: list[pa.Table] = []
        for part in parts:
            opened.append(whole(part(), EVENTS))
            if sum(table.num_rows for table in opened) > OPEN_ROWS:
                return
        if opened:
            table = pa.concat_tables(opened)
            self._parts = [lambda: table]

    @classmethod
    def of(cls, table: pa.Table) -> Gathered:
        return cls([lambda: table])

    def without(self, paths: Collection[str]) -> Gathered:
        """The events that are not from these files."""
        return Gathered(self._parts, {*self._aside, *paths})

    def tables(self, mask: Mask | None = None, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The marked rows in their order, at least JOINED_ROWS at a time; only these columns, if any are named."""
        waiting: list[pa.Table] = []
        for part in self._parts:
            table = whole(part(), EVENTS)
            if self._aside:
                table = filtered(table, but(table["source"], self._aside))
            marks = mask(table) if mask is not None else None
            table = table.select(columns) if columns is not None else table
            waiting.append(table if marks is None else filtered(table, marks))
            if sum(table.num_rows for table in waiting) >= JOINED_ROWS:
                yield pa.concat_tables(waiting)
                waiting = []
        if waiting:
            yield pa.concat_tables(waiting)

    def rows(self, mask: Mask, *columns: str) -> pa.Table:
        """These columns of the marked rows."""
        names = list(columns)
        tables = list(self.tables(mask, names))
        return pa.concat_tables(tables) if tables else EVENTS.empty_table().select(names)

    def count(self, mask: Mask) -> int:
        return sum(table.num_rows for table in self.tables(mask))
