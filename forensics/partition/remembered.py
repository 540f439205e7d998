"""Memory for what several rules ask of the same partition in a row.

Here: the answers of a function, for as long as it is asked of the same timeline. Not here: what is asked.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def last_kept(compute: Callable[P, T]) -> Callable[P, T]:
    """`compute` of a timeline, and its cluster, that do not change while it is asked of them, and of what else it is asked, which can be hashed.
    The answers for one timeline are kept: rules take the partitions in turn, and neither a timeline nor a cluster is kept alive by it."""
    kept: dict[tuple[Any, ...], T] = {}
    timeline: Callable[[], object] = _nothing
    cluster: Callable[[], object] = _nothing

    @wraps(compute)
    def answer(*asked: P.args, **named: P.kwargs) -> T:
        nonlocal timeline, cluster
        one, other = asked[0], asked[1] if len(asked) > 1 else asked[0]
        if timeline() is not one or cluster() is not other:
            kept.clear()
            timeline, cluster = weakref.ref(one), weakref.ref(other)
        more = (*asked[2:], *named.items())
        if more not in kept:
            kept[more] = compute(*asked, **named)
        return kept[more]

    return answer


def _nothing() -> None:
    """What a reference to something that is gone gives."""
