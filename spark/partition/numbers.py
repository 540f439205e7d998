"""What runs and floods have in common, who look at events in columns, slice by slice: numbers for values, rows by slice, and room.

Here: what is done alike. Not here: which rows can be left out (runs, floods).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

BETWEEN, NULL = "\x1f", "\x1e"
Open = Callable[[], pa.Table]
"""How the rows of a slice are had, as often as they are wanted."""


class Numbers(dict[str, int]):
    """Of values as they are met: texts, those of several columns with BETWEEN between them, and NULL for what is missing."""

    def __missing__(self, value: str) -> int:
        number = self[value] = len(self)
        return number

    def of(self, rows: pa.Table, names: Sequence[str]) -> pa.Array:
        """One for each row, the same where all columns of these names are."""
        told = [_plain(rows[name]) if name in rows.schema.names else pa.repeat(pa.scalar(NULL), rows.num_rows) for name in names]
        coded = pc.binary_join_element_wise(*told, BETWEEN).dictionary_encode()
        return pa.array([self[value] for value in coded.dictionary.to_pylist()], pa.int32()).take(coded.indices)


def _plain(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_list(column.type):
        column = pc.binary_join(column.cast(pa.list_(pa.string())), ",")
    return pc.fill_null(column.cast(pa.string()), NULL).combine_chunks()


def by_slice(rows: pa.Table, begins: Sequence[int]) -> Iterator[pa.Table]:
    """Those of each slice. Their numbers (`row`) are counted through all slices, which begin there, and then from the begin of their own."""
    for begin, end in pairwise(begins):
        own = rows.filter(pc.and_(pc.greater_equal(rows["row"], begin), pc.less(rows["row"], end)))
        yield own.set_column(own.schema.get_field_index("row"), "row", pc.subtract(own["row"], begin))


def in_order(rows: pa.Table, order: pa.Array) -> pa.Table:
    """Rows put in order, a column after the other: of ten million both the old and the new ones would be too many."""
    for name in rows.schema.names:
        column = rows[name].take(order).combine_chunks()
        rows = rows.set_column(rows.schema.get_field_index(name), name, column)
    return rows


def copied(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of times or whole numbers: one that is only handed on keeps all the bytes of its slice."""
    plain = column.cast(pa.int64())
    return pc.add(plain, pa.scalar(0, pa.int64())).cast(column.type)
