"""Memory for what several rules ask of the same partition in a row.

Here: the answers of a function, for as long as it is asked of the same timeline. Not here: what is asked.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from operator import is_
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def last_kept(compute: Callable[P, T]) -> Callable[P, T]:
    """`compute` of a timeline, and its cluster, that do not change while it is asked of them, and of what else it is asked, which can be hashed.
    The answers for one timeline are kept: rules take the partitions in turn, and neither a timeline nor a cluster is kept alive by it."""
    kept: dict[tuple[Any, ...], T] = {}
    of: tuple[weakref.ref[Any], ...] = ()

    def known(asked: tuple[Any, ...]) -> bool:
        return len(of) == len(asked) and all(map(is_, [own() for own in of], asked))

    @wraps(compute)
    def answer(*asked: P.args, **named: P.kwargs) -> T:
        nonlocal of
        objects, more = asked[:_OBJECTS], (*asked[_OBJECTS:], *named.items())
        if not known(objects) or more not in kept:
            found = compute(*asked, **named)
            if not known(objects):
                kept.clear()
                of = tuple(map(weakref.ref, objects))
            kept[more] = found
        return kept[more]

    return answer


_OBJECTS = 2
"""Arguments that are the same only if they are one object: a timeline and its cluster."""
