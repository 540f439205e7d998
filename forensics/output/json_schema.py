"""JSON Schemas (draft 2020-12): the parts of which the schemas of documents and tables are made.

Here: small constructors, and the schema of an Arrow type. Not here: any document (forensics.views.document_schema) or table
(forensics.case.table_schema).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pyarrow as pa

Schema = dict[str, Any]
Words = Mapping[str, Collection[str] | Schema]
"""The values that a column may have, by its name."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6})?Z$"}
"""RFC 3339 in UTC. Not `format`: validators ignore it by default."""


def document(name: str, title: str, body: Schema) -> Schema:
    """The schema of a whole document. `name`: as in the document's own `schema`."""
    return {**body, "$schema": DIALECT, "$id": f"urn:{name.replace('/', ':')}", "title": title}


def record(properties: Mapping[str, Schema], optional: Iterable[str] = ()) -> Schema:
    """An object with exactly these properties, all of them required except the optional ones."""
    required = [name for name in properties if name not in set(optional)]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def listed(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def by_name(values: Schema) -> Schema:
    """An object whose names are from the evidence or from the user."""
    return {"type": "object", "additionalProperties": values}


def one_of(words: Iterable[str]) -> Schema:
    return {"type": "string", "enum": list(dict.fromkeys(words))}


def nullable(schema: Schema) -> Schema:
    """The same, or null."""
    allowed = {**schema, "type": [schema["type"], "null"]}
    return {**allowed, "enum": [*schema["enum"], None]} if "enum" in schema else allowed


def described(schema: Schema, text: str) -> Schema:
    return {"description": text, **schema}


def of_arrow(kind: pa.DataType, words: Words | None = None) -> Schema:
    """The schema of a value of an Arrow type that is not null, in the form of pyarrow's `to_pylist` with times as text."""
    if pa.types.is_struct(kind):
        return record({field.name: of_field(field, words) for field in kind})
    if pa.types.is_list(kind):
        return listed(of_arrow(kind.value_type, words))
    if pa.types.is_timestamp(kind):
        return TIME
    if pa.types.is_boolean(kind):
        return BOOLEAN
    if pa.types.is_floating(kind):
        return NUMBER
    if pa.types.is_integer(kind):
        return INTEGER
    assert pa.types.is_string(kind), kind
    return TEXT


def of_field(field: pa.Field, words: Words | None = None) -> Schema:
    """The schema of a column. A column with known values is never null, and a list of known values has only these."""
    doc = (field.metadata or {}).get(b"doc")
    known = (words or {}).get(field.name)
    if known is None:
        schema = nullable(of_arrow(field.type, words))
    elif pa.types.is_list(field.type):
        schema = nullable(listed(one_of(known)))
    else:
        schema = dict(known) if isinstance(known, Mapping) else one_of(known)
    return described(schema, doc.decode()) if doc is not None else schema
