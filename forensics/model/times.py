"""Times of things that may have none, spans whose ends may be missing, and things that belong together: near each other in time or place, or
with something in common.

Here: the orders of undated things, what a missing end means, and the loops that split things into runs and groups. Not here: how near is near
(forensics.thresholds), or ranges of offsets (forensics.model.message).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeGuard, TypeVar

from parsers.frozen import dataclass

K = TypeVar("K")
T = TypeVar("T")


class Dated(Protocol):
    @property
    def at(self) -> datetime | None: ...


class Spanning(Protocol):
    """`start` None: since before the evidence. `end` None: to the end of the evidence, or nothing shows when it ended."""

    @property
    def start(self) -> datetime | None: ...

    @property
    def end(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True)
class Span:
    """A time from `start` to `end`, as Spanning."""

    start: datetime | None
    end: datetime | None


def begins(span: Spanning) -> datetime:
    """Its start; before all others if it is missing."""
    return span.start or datetime.min


def ends(span: Spanning) -> datetime:
    """Its end; after all others if it is missing."""
    return span.end or datetime.max


def contains(span: Spanning, at: datetime | None, slack: timedelta = timedelta(0)) -> bool:
    """Whether a time is known and in it, or at most so far outside; its ends are in it."""
    return at is not None and begins(span) <= at + slack and at - slack <= ends(span)


def overlap(one: Spanning, other: Spanning) -> bool:
    """Whether both have more than a moment in common."""
    return begins(one) < ends(other) and begins(other) < ends(one)


def near(one: datetime | None, other: datetime | None, apart: timedelta) -> bool:
    """Whether both times are known, and at most so far apart."""
    return one is not None and other is not None and abs(one - other) <= apart


def is_later(one: datetime | None, other: datetime | None, by: timedelta = timedelta(0)) -> TypeGuard[datetime]:
    """Whether both times are known, and one is later than the other by more than that."""
    return one is not None and other is not None and one - other > by


def not_after(one: datetime | None, other: datetime | None) -> TypeGuard[datetime]:
    """Whether both times are known, and one is not later than the other."""
    return one is not None and other is not None and one <= other


def undated_first(thing: Dated) -> datetime:
    """A key that sorts what has no time before everything else."""
    return thing.at or datetime.min


def undated_last(thing: Dated) -> datetime:
    """A key that sorts what has no time after everything else."""
    return thing.at or datetime.max


def runs(things: Iterable[T], joins: Callable[[Sequence[T], T], bool]) -> Iterator[list[T]]:
    """Splits `things`, in their order, before each that does not join the run of those before it."""
    run: list[T] = []
    for thing in things:
        if run and not joins(run, thing):
            yield run
            run = []
        run.append(thing)
    if run:
        yield run


def grouped(pairs: Iterable[tuple[K, T]]) -> defaultdict[K, list[T]]:
    """The second parts of the pairs by their first, in the order in which they come."""
    found: defaultdict[K, list[T]] = defaultdict(list)
    for key, thing in pairs:
        found[key].append(thing)
    return found


def within(gap: timedelta, begin: Callable[[T], datetime | None], end: Callable[[T], datetime | None]) -> Callable[[Sequence[T], T], bool]:
    """For `runs`: a thing joins the run if it begins at most `gap` after the end of the last one, or one of both is not known."""

    def joins(run: Sequence[T], thing: T) -> bool:
        ended, begun = end(run[-1]), begin(thing)
        return ended is None or begun is None or begun - ended <= gap

    return joins


def overlapping(things: Iterable[T], begin: Callable[[T], Any], end: Callable[[T], Any], gap: Any) -> Iterator[list[T]]:
    """Splits `things`, sorted by their begin, before each that begins more than `gap` after all before it had ended. Takes each once: one event
    may have hit 20,000 partitions."""
    run: list[T] = []
    reached: Any = None
    for thing in things:
        if run and begin(thing) - reached > gap:
            yield run
            run = []
        reached = max(reached, end(thing)) if run else end(thing)
        run.append(thing)
    if run:
        yield run


def merged_spans(spans: Iterable[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    """The spans, (begin, end), in order of their begin, as one where they overlap or touch."""
    found: list[tuple[datetime, datetime]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found
