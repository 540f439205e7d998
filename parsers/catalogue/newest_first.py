"""Lines of exports whose newest line comes first: Kibana, Loki, Splunk, journalctl -r and others.

Here: detecting it from the times of the lines, and the order in which lines have to be read so that a record comes before the lines that
continue it. Not here: the order of events across files (forensics.model.clock.directions), which works with line numbers.

Most stores reverse all rows, so that the lines that continue a record come before it, the last one first. Some sort by time only and keep
the order of rows with the same time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime
from itertools import pairwise

from parsers.line_order import FEW, mostly_back


class Direction:
    """The direction of a file, one for all its writers, because a store sorts all rows in the same way."""

    def __init__(self) -> None:
        self.newest_first: bool | None = None
        """None: no lines have shown it yet."""

    def decide(self, writers: Iterable[Sequence[datetime]]) -> None:
        """Decides it by the steps between neighbouring records of each writer."""
        steps = [(earlier, later) for times in writers for earlier, later in pairwise(times)]
        back, forward = sum(later < earlier for earlier, later in steps), sum(later > earlier for earlier, later in steps)
        if back + forward >= FEW:
            self.newest_first = mostly_back(forward, back)


def reading_order(begins: Sequence[bool], stamps: Sequence[Hashable], texts: Sequence[bytes], *, last: bool) -> list[int]:
    """The indexes of lines, oldest record first, each record followed by the lines that continue it. `begins`: whether a record begins with
    the line; `stamps`: the wrapper's time of each line. Unless the lines are the last ones of their source, those whose record may come
    later are left out; they are at the end."""
    heads = [index for index, begin in enumerate(begins) if begin]
    if not heads:
        return [*range(len(begins) - 1, -1, -1)] if last else []
    if _keeps_ties(heads, stamps, texts):
        known = [*heads, len(begins)] if last else heads
        parts = [range(begin, end) for begin, end in pairwise(known)]
        before = [range(heads[0])] if heads[0] else []
        return [index for part in reversed([*before, *parts]) for index in part]
    parts = [range(begin + 1, end + 1) for begin, end in pairwise([-1, *heads])]
    rest = range(heads[-1] + 1, len(begins)) if last else range(0)
    return [*reversed(rest), *(index for part in reversed(parts) for index in reversed(part))]


def _keeps_ties(heads: Sequence[int], stamps: Sequence[Hashable], texts: Sequence[bytes]) -> bool:
    """Whether the lines that continue a record come after it, although the newest record comes first."""
    kept = reversed_ = 0
    for before, after in pairwise([-1, *heads, len(stamps)]):
        block = range(before + 1, after)
        if not block:
            continue
        begin, end = (stamps[head] if 0 <= head < len(stamps) else None for head in (before, after))
        if stamps[block[0]] is not None and begin != end:
            kept += stamps[block[0]] == begin
            reversed_ += stamps[block[-1]] == end
        elif len(block) > 1:  # names of settings are printed in alphabetical order
            steps = [texts[one] < texts[other] for one, other in pairwise(block)]
            kept += all(steps)
            reversed_ += not any(steps)
    return kept > reversed_
