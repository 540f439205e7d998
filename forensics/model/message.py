"""What is said, before it is words: the id of a message and the values that it names.

Here: messages, and how their values travel as JSON. Not here: the catalogue of messages and their sentences (forensics.words).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, TypeAlias, Union

from forensics.model.record import PackedText, Record
from parsers.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Range(Record):
    """Offsets [start, end)."""

    start: Annotated[int, "first offset"]
    end: Annotated[int | None, "offset after the last one; null if no evidence shows the end"]

    def __str__(self) -> str:
        """'200–357', '200' for one offset, or 'from 200 on'."""
        if self.end is None:
            return f"from {self.start} on"
        return f"{self.start}–{self.end - 1}" if self.end - self.start > 1 else str(self.start)

    @property
    def length(self) -> int | None:
        return None if self.end is None else self.end - self.start

    def covers(self, other: Range) -> bool:
        """Whether it has all offsets of the other one."""
        return other.overlap(self) == other

    def overlap(self, other: Range) -> Range | None:
        """The offsets that are in both; None if there are none."""
        start, ends = max(self.start, other.start), [e for e in (self.end, other.end) if e is not None]
        return Range(start, min(ends, default=None)) if not ends or start < min(ends) else None


def joined(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same offsets, each once: ranges that overlap or are adjacent as one, by start."""
    found: list[Range] = []
    for r in sorted(ranges, key=lambda r: r.start):
        last = found.pop() if found and (found[-1].end is None or r.start <= found[-1].end) else Range(r.start, r.start)
        found.append(Range(last.start, None if last.end is None or r.end is None else max(last.end, r.end)))
    return tuple(found)


Value: TypeAlias = Union[bool, int, float, str, datetime, Range, "Message", tuple["Value", ...], None]
Values: TypeAlias = tuple[tuple[str, Value], ...]
"""Values by name, in the order in which a rule gives them."""


@dataclass(frozen=True, slots=True)
class Message:
    """`id`: 'CATALOGUE/NAME', as in forensics.words."""

    id: str
    values: Values = ()


def values(**named: Value) -> Values:
    return tuple(named.items())


def said(id: str, /, **values: Value) -> Message:
    return Message(id, tuple(values.items()))


def timestamp(at: datetime | None) -> str | None:
    """RFC 3339, UTC, milliseconds."""
    return at.isoformat(timespec="milliseconds") + "Z" if at is not None else None


def plain(value: Value) -> Any:
    """The value as a program reads it in JSON: times as RFC 3339, lists, and objects for ranges and messages."""
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, Range):
        return value.row()
    if isinstance(value, Message):
        return {"message": value.id, "values": by_name(value.values)}
    return [plain(v) for v in value] if isinstance(value, tuple) else value


def by_name(values: Values) -> dict[str, Any]:
    """Values as an object of JSON."""
    return {name: plain(value) for name, value in values}


_TIME = "time"
"""Name of the only member of an object that is a time: JSON has no type for it."""


def encoded(values: Values) -> str | None:
    """Values as JSON from which `decoded` makes the same values; None if there are none."""
    return packed(dict(values)) if values else None


def packed(value: Value | Mapping[str, Value]) -> str:
    """A value as JSON from which `unpacked` makes the same value."""
    return _PACKED.encode(value)


def unpacked(text: str) -> Value:
    return _value(json.loads(text))


def _tagged(value: datetime | Message | Range) -> dict[str, Any]:
    """What JSON has no type for."""
    if isinstance(value, Message):
        return {"message": value.id, "values": dict(value.values)}
    return {_TIME: value.isoformat()} if isinstance(value, datetime) else value.row()


_PACKED = json.JSONEncoder(separators=(",", ":"), default=_tagged, check_circular=False)


def decoded(text: str | None, names: Collection[str] | None = None) -> Values:
    """All values, or those with these names."""
    row = json.loads(text) if text else {}
    return _values(row if names is None else {name: row[name] for name in names if name in row})


def _values(row: Mapping[str, Any]) -> Values:
    return tuple((name, _value(value)) for name, value in row.items())


def _value(value: Any) -> Value:
    if isinstance(value, dict):
        if _TIME in value:
            return datetime.fromisoformat(value[_TIME])
        return Message(value["message"], _values(value["values"])) if "message" in value else Range(value["start"], value["end"])
    return tuple(map(_value, value)) if isinstance(value, list) else value


PACKED, ENCODED = PackedText(packed, unpacked), PackedText(encoded, decoded)
"""How a message, and values by name, are stored in a row."""
