"""The columns of a case that another version of the tool wrote, in the form of this version.

Here: columns that are missing, and structs with more or fewer fields. Not here: which cases may be read (read).
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


def adapted(rows: pa.Table, names: Sequence[str], schema: pa.Schema) -> pa.Table:
    """These columns of the rows, with the types of the schema; null where the rows do not have a column. Columns that are not in the schema
    keep their types. Raises ArrowInvalid if a type cannot be converted."""
    columns = {}
    for name in names:
        kind = schema.field(name).type if name in schema.names else None
        if name not in rows.column_names:
            columns[name] = pa.nulls(len(rows), kind)
        else:
            own = rows[name].combine_chunks()
            columns[name] = own if kind is None else _converted(own, kind)
    return pa.table(columns)


def _converted(values: pa.Array, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if values.type.equals(kind):
        return values
    if pa.types.is_struct(kind) and pa.types.is_struct(values.type):
        there = {values.type.field(n).name: values.field(n) for n in range(values.type.num_fields)}
        fields = [_converted(there[f.name], f.type) if f.name in there else pa.nulls(len(values), f.type) for f in kind]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=values.is_null())
    if pa.types.is_list(kind) and pa.types.is_list(values.type):
        items = _converted(values.values, kind.value_type)
        return pa.ListArray.from_arrays(values.offsets, items, type=kind, mask=values.is_null())
    return values.cast(kind)
