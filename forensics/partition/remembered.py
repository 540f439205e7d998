"""Memory for what several rules ask of the same partition in a row.

Here: the last answer of a function, for as long as its arguments are the same objects. Not here: what is asked.
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
    """`compute` of arguments that do not change while it is asked of them. One answer is kept: rules take the partitions in turn,
    and neither a timeline nor a cluster is kept alive by it."""
    kept: list[tuple[tuple[weakref.ref[Any], ...], T]] = []

    @wraps(compute)
    def answer(*asked: P.args, **named: P.kwargs) -> T:
        of = (*asked, *named.values())
        if not kept or len(kept[0][0]) != len(of) or not all(map(is_, [known() for known in kept[0][0]], of)):
            found = compute(*asked, **named)
            kept[:] = [(tuple(weakref.ref(one) for one in of), found)]
        return kept[0][1]

    return answer
