"""The files of a case or an audit, which a stranger may have made: opened like evidence, and refused if they are not what this tool writes.

Here: JSON documents and Parquet files by their names in a directory, and columns that another version of the tool wrote in the form of this
version. Not here: the forms of the documents, or what a table means.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forensics.output.json_schema import Schema, violation
from parsers.containers.storage import regular

MAX_DOCUMENT = 64 << 20
"""Bytes of a JSON document. The largest one, the manifest of an audit, has some hundred bytes for each cluster and each path of the
evidence."""
VALUES = 20_000_000
VALUES_OF_BYTE = 10
"""Values of a Parquet file: some, and some more for each of its bytes. The largest tables of 5,000 partitions have up to 7 for each
byte."""
ANY: Schema = {"type": "object"}


def document(directory: Path, name: str, form: Schema = ANY) -> dict[str, Any]:
    """The JSON object in a file. Raises OSError if the file cannot be read, and ValueError if it has another form."""
    with regular(directory, name) as file:
        if file.size > MAX_DOCUMENT:
            raise ValueError(f"it has {file.size} bytes, more than {MAX_DOCUMENT}")
        content = file.read()
    try:
        return checked(json.loads(content), form)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def checked(content: Any, form: Schema) -> dict[str, Any]:
    """The document itself. Raises ValueError if it has another form."""
    if (wrong := violation(content, form)) is not None:
        raise ValueError(wrong)
    return content  # type: ignore[no-any-return]


def is_marked(directory: Path, name: str, family: str) -> bool:
    """Whether the directory has a document with such a name whose `schema` is of this family, of any version."""
    try:
        return str(document(directory, name).get("schema", "")).startswith(f"{family}/")
    except (OSError, ValueError):
        return False


@contextmanager
def parquet(directory: Path, name: str) -> Iterator[pq.ParquetFile]:
    """A Parquet file, opened; its pages are checked when they are read. Raises OSError or ValueError if it is damaged, or a bomb."""
    with regular(directory, name) as file, pq.ParquetFile(file, page_checksum_verification=True) as opened:
        groups = map(opened.metadata.row_group, range(opened.metadata.num_row_groups))
        values = sum(group.column(n).num_values for group in groups for n in range(group.num_columns))
        if values > VALUES + VALUES_OF_BYTE * file.size:
            raise ValueError(f"{values} values in {file.size} bytes: taken for a decompression bomb, not read")
        yield opened


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
