"""A cache for what several rules ask about the same partition.

Here: results of functions of a timeline, kept on the timeline. Not here: the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from forensics.model.partition.timeline import PartitionTimeline

P = ParamSpec("P")
T = TypeVar("T")


def cached_on_timeline(compute: Callable[Concatenate[PartitionTimeline, P], T]) -> Callable[Concatenate[PartitionTimeline, P], T]:
    """Caches `compute` on the timeline. Its second argument, if any, is the cluster, which is the same for all calls with one timeline;
    further ones must be hashable. Timeline and cluster must not change any more."""

    @wraps(compute)
    def answer(timeline: PartitionTimeline, /, *of: P.args, **named: P.kwargs) -> T:
        kept: dict[Any, T] = timeline.worked_out
        asked = (compute, *of[1:], *named.values()) if len(of) > 1 or named else compute
        if asked not in kept:
            kept[asked] = compute(timeline, *of, **named)
        return kept[asked]

    return answer
