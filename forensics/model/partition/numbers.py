"""Shared code of runs, floods and quiet_times, which process events as columns: numbers for values, counts up to a moment, rows by slice,
memory.

Here: the shared steps. Not here: which rows can be dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

BETWEEN, NULL = "\x1f", "\x1e"
_APART = 1 << 32
"""More than the largest number of rows processed together, and than any rank."""
Open = Callable[[], pa.Table]
"""Opens a slice's rows; may be called several times."""


class Numbers(dict[str, int]):
    """Numbers for texts in order of first occurrence. Several columns are joined with BETWEEN; NULL marks a missing value."""

    def __missing__(self, value: str) -> int:
        number = self[value] = len(self)
        return number

    def of(self, rows: pa.Table, names: Sequence[str]) -> pa.Array:
        """One number per row; rows with equal values in these columns have the same number."""
        columns = [_plain(rows[name]) if name in rows.schema.names else pa.repeat(pa.scalar(NULL), rows.num_rows) for name in names]
        coded = pc.binary_join_element_wise(*columns, BETWEEN).dictionary_encode()
        return pa.array([self[value] for value in coded.dictionary.to_pylist()], pa.int32()).take(coded.indices)


def _plain(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_list(column.type):
        column = pc.binary_join(column.cast(pa.list_(pa.string())), ",")
    return pc.fill_null(column.cast(pa.string()), NULL).combine_chunks()


def column(rows: pa.Table, name: str, of_type: pa.DataType) -> pa.Array:
    """A column; null in all rows if the table does not have it."""
    return rows[name].combine_chunks() if name in rows.schema.names else pa.nulls(rows.num_rows, of_type)


def counted(events: pa.Table, repeats: pa.ChunkedArray | None = None, last_at: pa.ChunkedArray | None = None) -> pa.Table:
    """The events with columns `repeats` and `last_at`: how many events each of them represents, and the time of the last one. Counts of
    several events are kept; an event that represents only itself gets the given counts, or else 1 and its own time."""
    own = pc.fill_null(column(events, "repeats", pa.int64()), 1)
    last = pc.coalesce(column(events, "last_at", pa.timestamp("us")), column(events, "at", pa.timestamp("us")))
    if repeats is not None:
        one = pc.equal(own, 1)
        own, last = pc.if_else(one, repeats, own), pc.if_else(one, pc.coalesce(last_at, last), last)
    events = events.drop_columns([name for name in ("repeats", "last_at") if name in events.schema.names])
    return events.append_column("repeats", own).append_column("last_at", last)


def by_slice(rows: pa.Table, begins: Sequence[int]) -> Iterator[pa.Table]:
    """The rows of each slice. `row` is converted from a count through all slices (which begin at `begins`) to a count within the slice."""
    for begin, end in pairwise(begins):
        own = rows.filter(pc.and_(pc.greater_equal(rows["row"], begin), pc.less(rows["row"], end)))
        yield own.set_column(own.schema.get_field_index("row"), "row", pc.subtract(own["row"], begin))


def in_order(rows: pa.Table, order: pa.Array) -> pa.Table:
    """Sorts rows column by column: with ten million rows, old and new columns together would need too much memory."""
    for name in rows.schema.names:
        column = rows[name].take(order).combine_chunks()
        rows = rows.set_column(rows.schema.get_field_index(name), name, column)
    return rows


def copied(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A copy of a column of times or whole numbers, without which the column would keep its slice's whole buffer in memory."""
    plain = column.cast(pa.int64())
    return pc.add(plain, pa.scalar(0, pa.int64())).cast(column.type)


def within(group: pa.Array, rank: pa.Array | int) -> pa.Array:
    """Keys that sort by group, then by rank."""
    return pc.add(pc.multiply(group, _APART), rank)


def up_to(points: pa.Array, moments: pa.Array) -> pa.Array:
    """Number of points at or before each moment."""
    return _counted(points, moments, 0)


def below(points: pa.Array, moments: pa.Array) -> pa.Array:
    """Number of points before each moment."""
    return _counted(points, moments, 2)


def _counted(points: pa.Array, moments: pa.Array, place: int) -> pa.Array:
    """`place`: sort position of points relative to equal moments, which are at 1."""
    both = pa.table({"moment": pa.concat_arrays([points, moments]), "place": _repeated(place, points, 1, moments)})
    order = pc.sort_indices(both, [("moment", "ascending"), ("place", "ascending")])
    return pc.cumulative_sum(_repeated(1, points, 0, moments).take(order)).take(pc.sort_indices(order)[len(points) :])


def _repeated(one: int, points: pa.Array, other: int, moments: pa.Array) -> pa.Array:
    return pa.concat_arrays([pa.repeat(pa.scalar(value, pa.int64()), len(of)) for value, of in ((one, points), (other, moments))])
