"""Frozen dataclasses that are as quick to create as others, for objects of which each partition has many.

Here: `dataclass` and `replace`, as in the standard library, and objects made column by column. mypy refuses to change an object of a frozen
class; at run time nothing does. The standard library's frozen classes set each field through object.__setattr__: a state of 16 fields takes
five times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:
    import dataclasses

    def dataclass(cls=None, /, *, frozen=False, eq=True, **options):
        return dataclasses.dataclass(cls, eq=eq, unsafe_hash=frozen and eq, **options)

    def replace(one, /, **changes):
        made = object.__new__(type(one))
        for name in one.__dataclass_fields__:
            setattr(made, name, changes[name] if name in changes else getattr(one, name))
        return made


def made(cls: type[T], columns: Mapping[str, Iterable[object]], number: int) -> list[T]:
    """Objects of a class with slots, without __init__, which takes five times as long if there are hundreds of thousands. `columns`: the
    values of each slot, at least `number`."""
    found = [cls.__new__(cls) for _ in range(number)]
    for name, column in columns.items():
        for _ in map(getattr(cls, name).__set__, found, column):
            pass
    return found
