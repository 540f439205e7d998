"""Values as words.

Here: the formats that a template can name. Not here: templates, or messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.findings import NAMED, began, brokers_named, counted, duration, moment, offsets_named, period, some
from forensics.model.message import Range, Value


def usual(value: Value) -> str:
    """The usual words of a value that is not a message."""
    if value is True:
        return ""
    if isinstance(value, datetime):
        return moment(value)
    return str(value)


def single(value: Any) -> bool:
    """Whether a verb about the value is singular."""
    if isinstance(value, Range):
        return value.length == 1
    return value in (1, True) if isinstance(value, int) else not isinstance(value, tuple) or len(value) == 1


def _count(value: Any, noun: str) -> str:
    """'1 entry', '1,200 entries': the noun, and its plural unless that ends with s."""
    one, _, many = noun.partition("|")
    number = len(value) if isinstance(value, tuple) else value
    return counted(number, one) if not many else f"{number:,} {one if number == 1 else many}"


def _number(value: Any, style: str) -> str:
    return f"{value:,}" if not style else f"{value:{style}}"


def _joined(value: Sequence[str], word: str) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return value[0] if len(value) == 1 else f"{', '.join(value[:-1])} {word or 'and'} {value[-1]}"


def _nodes(value: Any, _: str) -> str:
    """'broker 1 and controllers 100 and 101', of the ids of brokers and those of controllers."""
    brokers, controllers = value
    others = brokers_named(controllers).replace("broker", "controller")
    return brokers_named(brokers) if not controllers else f"{brokers_named(brokers)} and {others}" if brokers else others


def _topics(names: Sequence[str], most: str) -> str:
    """'topic a', or '6 topics: a, b, c, d and 2 more'."""
    return f"topic {names[0]}" if len(names) == 1 else f"{len(names)} topics: {some(names, int(most) if most else NAMED)}"


OF_TEXTS: Mapping[str, Callable[[Sequence[str], str], str]] = {
    "list": _joined,
    "some": lambda value, most: some(value, int(most) if most else NAMED),
    "topics": _topics,
    "lines": lambda value, word: (word or "; ").join(value),
}
"""Formats of a list whose elements are words already."""
FORMATS: Mapping[str, Callable[[Any, str], str]] = {
    "brokers": lambda value, _: brokers_named(value if isinstance(value, tuple) else (value,)),
    "nodes": _nodes,
    "numbered": lambda value, noun: brokers_named(value).replace("broker", noun),
    "count": _count,
    "number": _number,
    "moment": lambda value, _: moment(value),
    "began": lambda value, _: began(*value),
    "period": lambda value, word: period(value[0], value[1], word or "to"),
    "duration": lambda value, _: duration(value),
    "offsets": lambda value, _: offsets_named((value,) if isinstance(value, Range) else value),
    "ids": lambda value, _: str(list(value)),
    "agree": lambda value, forms: forms.partition("|")[0 if single(value) else 2],
    "if": lambda value, words: words,
}
"""Formats by name, each with what follows the name: 'count offset', 'agree is|are', 'numbered node', 'period and', 'number .1f'."""
