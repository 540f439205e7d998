"""A cache for what several rules ask about the same partition in a row.

Here: the results of a function while it is called for the same timeline. Not here: the functions.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def cached_on_timeline(compute: Callable[P, T]) -> Callable[P, T]:
    """Caches `compute` for the timeline of the last call. Timeline and cluster must not change meanwhile, and further arguments must be
    hashable. Rules take the partitions in turn, so one timeline is enough; neither the timeline nor the cluster is kept alive by the
    cache."""
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
    """The result of a reference to an object that is gone."""
