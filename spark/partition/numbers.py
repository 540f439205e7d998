"""What runs and floods look at in columns: numbers for their values, the same in all slices that are looked at one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

BETWEEN, NULL = "\x1f", "\x1e"


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
