"""Which of several layouts reads day and month correctly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise

from parsers.layouts import Layout
from parsers.learning.sample import LINES, TEXT
from parsers.matching.text import text_of
from parsers.thresholds import GOES_BACK, LEAPS_AHEAD, NEAR_MODIFIED

_DATES = 2000
"""Lines whose dates are compared to distinguish day and month."""


def plausible(layouts: Sequence[Layout], data: bytes, written: datetime | None) -> list[Layout]:
    """Those of several layouts whose dates can be right: valid, in order and near the time when the file was written."""
    texts = list(_spread(layouts[0], data))
    times = {layout.name: [record.time for text in texts if (record := layout.read(text)) is not None] for layout in layouts}
    least = min(instants.count(None) for instants in times.values())
    left = [layout for layout in layouts if times[layout.name].count(None) == least]
    read = {layout.name: [at for at in times[layout.name] if at is not None] for layout in left}
    for wrong in (_from_other_times, _goes_back, _leaps, partial(_far_from, written)):
        left = [layout for layout in left if not wrong(read[layout.name])] or left
    return left


def _far_from(written: datetime | None, times: Sequence[datetime]) -> bool:
    return written is not None and not (times and abs(times[-1] - written) <= NEAR_MODIFIED)


def _from_other_times(times: Sequence[datetime]) -> bool:
    """Kafka's first release is from 2012."""
    return any(not 2012 <= at.year < 2090 for at in times)


def _goes_back(times: Sequence[datetime]) -> bool:
    return any(before - after > GOES_BACK for before, after in pairwise(times))


def _leaps(times: Sequence[datetime]) -> bool:
    """Whether neighbouring lines are a month apart where they may be a day apart."""
    return any(after - before > LEAPS_AHEAD for before, after in pairwise(times))


def _spread(layout: Layout, data: bytes) -> Iterator[str]:
    """Lines that begin records, evenly spread over a chunk, including its first and last."""
    count = 0
    step = max(1, len(data) // _DATES)
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if layout.begins(data, at):
            yield text_of(data[at:end])[:TEXT]
            count += 1
            at = max(end + 1, at + step)
            at = at if at == end + 1 else data.find(b"\n", at - 1) + 1 or len(data)
        else:
            at = end + 1
    tail = data.rstrip()
    for _ in range(LINES):
        begin = tail.rfind(b"\n") + 1
        if layout.begins(tail, begin):
            yield text_of(tail[begin:])[:TEXT]
            return
        tail = tail[: max(begin - 1, 0)]
        if not tail:
            return
