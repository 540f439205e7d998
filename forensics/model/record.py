"""Records that are declared once: from a dataclass come the Arrow type, the row of a record, the record of a row, and the docs of columns.

A field `name: Annotated[TYPE, "doc"]` is a column, others are not. TYPE is a str, int, bool, float or datetime, another record, a tuple of
these, or one of them or None; `Int32`, or Annotated with an Arrow type, says in which type it is stored, `Named` under which name, and
`Packed` by which functions. Functions are generated per class, as dataclasses generates __init__, so they take as long as those written by
hand. Not here: any record.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache
from inspect import get_annotations
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

import pyarrow as pa

T = TypeVar("T")
Int32 = Annotated[int, pa.int32()]
"""Ids of brokers, indexes of partitions and epochs are int32 in Kafka."""
_TYPES: Mapping[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    bool: pa.bool_(),
    float: pa.float64(),
    datetime: pa.timestamp("us"),
}


class NamedColumn(NamedTuple):
    """The name of the column, if it cannot be that of the attribute."""

    column: str


class PackedText(NamedTuple):
    """A value that is text in a row."""

    packed: Callable[[Any], str | None]
    unpacked: Callable[[Any], Any]


class Field(NamedTuple):
    name: str
    column: str
    hint: Any
    """The type, without what is not about its values."""
    doc: str
    packed: PackedText | None


@cache
def declared(cls: type) -> tuple[Field, ...]:
    """Its fields that are columns."""
    hints = {name: hint for base in reversed(cls.__mro__) for name, hint in get_annotations(base, eval_str=True).items()}
    return tuple(_field(f.name, hints[f.name]) for f in fields(cls) if get_origin(hints[f.name]) is Annotated)


def _field(name: str, hint: Any) -> Field:
    kind, notes = hint.__origin__, hint.__metadata__
    found: dict[type, Any] = {type(note): note for note in notes}
    stored = tuple(note for note in notes if isinstance(note, pa.DataType))
    column = found[NamedColumn].column if NamedColumn in found else name
    return Field(name, column, Annotated[kind, stored[0]] if stored else kind, found[str], found.get(PackedText))


def inner_of(hint: Any) -> Any:
    """The type of a value that is not None."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(kind for kind in get_args(hint) if kind is not type(None))
    return hint


def items_of(hint: Any) -> Any:
    """The type of the items of a tuple or a sequence; None if it is neither."""
    return get_args(hint)[0] if get_origin(hint) in (tuple, Sequence) else None


def is_record(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Record)


def arrow_type(hint: Any) -> pa.DataType:
    hint = inner_of(hint)
    if get_origin(hint) is Annotated:
        return next(note for note in hint.__metadata__ if isinstance(note, pa.DataType))
    if (items := items_of(hint)) is not None:
        return pa.list_(arrow_type(items))
    return struct(hint) if is_record(hint) else _TYPES[hint]


@cache
def columns(cls: type) -> Mapping[str, pa.Field]:
    """The column of each field by its name, with its doc."""
    return {f.column: pa.field(f.column, pa.string() if f.packed else arrow_type(f.hint), metadata={"doc": f.doc}) for f in declared(cls)}


@cache
def struct(cls: type, *without: str) -> pa.StructType:
    """The Arrow type of a record."""
    return pa.struct([f for name, f in columns(cls).items() if name not in without])


class RowWriters:
    """Functions that make the rows of records: dictionaries by column. `convert`: functions for values of these types, in place of how they
    are stored."""

    def __init__(self, convert: Mapping[type, Callable[[Any], Any]] | None = None) -> None:
        self._convert = convert or {}
        self._made: dict[type, Callable[[Any], dict[str, Any]]] = {}

    def of(self, cls: type, *without: str) -> Callable[[Any], dict[str, Any]]:
        if without or cls not in self._made:
            code = _Code()
            made = [f"{f.column!r}: {self._value(code, f)}" for f in declared(cls) if f.column not in without]
            function: Callable[[Any], dict[str, Any]] = code.function("{" + ", ".join(made) + "}")
            if without:
                return function
            self._made[cls] = function
        return self._made[cls]

    def _value(self, code: _Code, f: Field) -> str:
        of = f"x.{f.name}"
        if f.packed is not None and inner_of(f.hint) not in self._convert:
            return self._optional(f.hint, of, code.call(f.packed.packed, of))
        return self._made_of(code, f.hint, of)

    def _made_of(self, code: _Code, hint: Any, of: str) -> str:
        inner = inner_of(hint)
        if (items := items_of(inner)) is not None:
            item = self._made_of(code, items, "i")
            return self._optional(hint, of, f"[*{of}]" if item == "i" else f"[{item} for i in {of}]")
        if (convert := self._convert.get(inner)) is not None:
            return self._optional(hint, of, code.call(convert, of))
        return self._optional(hint, of, code.call(self.of(inner), of)) if is_record(inner) else of

    def _optional(self, hint: Any, of: str, made: str) -> str:
        return made if made == of or inner_of(hint) is hint else f"None if {of} is None else {made}"


_ROWS = RowWriters()


class Record:
    """Base of records: dataclasses whose fields are declared as above."""

    __slots__ = ()

    def row(self) -> dict[str, Any]:
        return _ROWS.of(type(self))(self)


def row_of(cls: type, *without: str) -> Callable[[Any], dict[str, Any]]:
    """Makes the row of a record, without these columns."""
    return _ROWS.of(cls, *without)


def reader(cls: type[T]) -> Callable[[Mapping[str, Any]], T]:
    """Makes the record of a row, which has all columns."""
    return _reader(cls)  # type: ignore[arg-type]


@cache
def _reader(cls: type) -> Callable[[Mapping[str, Any]], Any]:
    code = _Code()
    made = [f"{f.name}={_read(code, f, f'x[{f.column!r}]')}" for f in declared(cls)]
    return code.function(code.call(cls, ", ".join(made)))


def readers(cls: type, *without: str) -> Mapping[str, Callable[[Any], Any] | None]:
    """By column, what makes the value of a field of the value of a row; None: it is the same."""
    found: dict[str, Callable[[Any], Any] | None] = {}
    for f in declared(cls):
        if f.column not in without:
            code = _Code()
            made = _read(code, f, "x")
            found[f.column] = code.function(made) if made != "x" else None
    return found


def _read(code: _Code, f: Field, of: str) -> str:
    if f.packed is not None:
        made = code.call(f.packed.unpacked, of)
        return made if inner_of(f.hint) is f.hint else f"None if {of} is None else {made}"
    return _read_as(code, f.hint, of)


def _read_as(code: _Code, hint: Any, of: str) -> str:
    inner = inner_of(hint)
    if (items := items_of(inner)) is not None:
        item = _read_as(code, items, "i")
        return f"tuple({of} or ())" if item == "i" else f"tuple([{item} for i in {of} or ()])"
    if not is_record(inner):
        return of
    made = code.call(_reader(inner), of)
    return made if inner is hint else f"None if {of} is None else {made}"


class _Code:
    """An expression of `x`, and the functions that it calls."""

    def __init__(self) -> None:
        self._called: dict[str, Callable[..., Any]] = {}

    def call(self, function: Callable[..., Any], arguments: str) -> str:
        name = f"f{len(self._called)}"
        self._called[name] = function
        return f"{name}({arguments})"

    def function(self, expression: str) -> Callable[..., Any]:
        found: Callable[..., Any] = eval(f"lambda x: {expression}", self._called)  # noqa: S307  of names in our own declarations
        return found
