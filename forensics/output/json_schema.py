"""JSON Schemas (draft 2020-12): the parts of which the schemas of documents and tables are made.

Here: small constructors, the schema of an Arrow type, and the check of a document that a stranger may have made. Not here: any document
(forensics.views.document_schema) or table (forensics.case.table_schema).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
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


def record(properties: Mapping[str, Schema], optional: Iterable[str] = (), *, others: bool = False) -> Schema:
    """An object with these properties, all of them required except the optional ones, and with `others` any others."""
    required = [name for name in properties if name not in set(optional)]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": others}


def listed(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def by_name(values: Schema, names: Schema | None = None) -> Schema:
    """An object whose names are from the evidence or from the user."""
    named = {"propertyNames": names} if names is not None else {}
    return {"type": "object", "additionalProperties": values, **named}


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


_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def violation(value: Any, schema: Schema) -> str | None:
    """The first place of a JSON value that a schema made of these parts does not allow, and why; None if it allows all."""
    return next(_violations(value, schema, ""), None)


def _violations(value: Any, schema: Schema, at: str) -> Iterator[str]:
    allowed = schema.get("type", ())
    kinds = (allowed,) if isinstance(allowed, str) else tuple(allowed)
    here, shown = at or "the document", repr(value)[:60]
    if kinds and (
        not isinstance(value, tuple(t for kind in kinds for t in _TYPES[kind])) or (type(value) is bool and "boolean" not in kinds)
    ):
        yield f"{here} is {_named(value)}, not {' or '.join(kinds)}"
    elif "const" in schema and value != schema["const"]:
        yield f"{here} is {shown}, not {schema['const']!r}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{here} is {shown}, which has no meaning"
    elif isinstance(value, int | float) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{here} is {shown}, which is out of range"
    elif isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{here} is {shown}, which has another form"
    elif isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from _violations(item, schema["items"], f"{at}[{number}]")
    elif isinstance(value, dict):
        yield from _of_object(value, schema, at)


def _of_object(value: dict[str, Any], schema: Schema, at: str) -> Iterator[str]:
    own, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    yield from (f"{at or 'the document'} has no {name!r}" for name in schema.get("required", ()) if name not in value)
    for name, item in value.items():
        place = f"{at}.{name[:60]}".lstrip(".")
        yield from _violations(name, schema.get("propertyNames", {}), f"the name {place}")
        if name in own or isinstance(others, dict):
            yield from _violations(item, own.get(name, others), place)
        elif not others:
            yield f"{place} is unknown"


def _named(value: Any) -> str:
    """The JSON type of a value."""
    return next(kind for kind, types in _TYPES.items() if type(value) in types)
