"""Order of the times in a log: ascending, as Kafka writes them, or not.

Here: steps between neighbouring lines with events. Not here: jumps of the wall clock, from which zones are derived (parsers.evidence), or
conclusions from the order.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from parsers.schemas import Row

_CLOCKS = pa.array(["line", "utc"], pa.string())
_MICRO = timedelta(microseconds=1)


FEW = 5
"""Least number of steps between lines that show a direction."""
MOSTLY = 4
"""Newest-first logs have this many times more steps back than forward. Threads print milliseconds out of order, so every log has some steps in
the other direction."""


def mostly_back(ascents: int, descents: int) -> bool:
    """Whether the newest line comes first, by the number of steps forward and back."""
    return descents > MOSTLY * ascents


class Stamp(NamedTuple):
    """A line, its first byte, its time and the clock that shows it (`line` or `utc`)."""

    line: int
    place: int
    """The byte, or the line if no byte is known: the records of a JSON document may be in one line."""
    time: datetime
    clock: str


class StepBack(NamedTuple):
    """Two neighbouring lines, the second with an earlier time; `line` is the second one's."""

    line: int
    before: datetime
    after: datetime


class LineOrder:
    """Steps between lines of one source, in file order. If a record has several events, the first counts. Events whose place comes before that
    of an earlier event are skipped. So are events with a duration: their time is their beginning, not when the line was printed. Lines with
    different clocks are not compared."""

    MOST = 64
    BACK = timedelta(seconds=1)
    """Lines of several threads may be out of order by some milliseconds."""

    def __init__(self) -> None:
        self._first: Stamp | None = None
        self._last: Stamp | None = None
        self._ascents = 0
        self._descents = 0
        self._back: list[StepBack] = []

    def pass_by(self, row: Row) -> None:
        line, time, clock = row.get("line"), row.get("time"), row.get("clock")
        if line is not None and time is not None and clock in ("line", "utc") and row.get("duration_ms") is None:
            byte = row.get("byte")
            self._step(Stamp(line, line if byte is None else byte, time, clock))

    def pass_by_all(self, batch: pa.RecordBatch) -> None:
        """The same for many events."""
        placed = pc.and_(pc.is_valid(batch["time"]), pc.is_valid(batch["line"]))
        stamped = pc.and_(pc.is_in(batch["clock"], _CLOCKS), pc.and_(placed, pc.is_null(batch["duration_ms"])))
        places = pa.RecordBatch.from_arrays(
            [batch["line"], pc.coalesce(batch["byte"], batch["line"]), batch["time"], batch["clock"]], ["line", "place", "time", "clock"]
        )
        rows = _forwards(places.filter(stamped), self._last.place if self._last is not None else -1)
        if not len(rows):
            return
        lines, times, clocks = rows["line"], rows["time"], rows["clock"]
        steps = pc.if_else(pc.equal(clocks[1:], clocks[:-1]), pc.subtract(*(t.cast(pa.int64()) for t in (times[1:], times[:-1]))), 0)
        self._step(Stamp(*rows.slice(0, 1).to_pylist()[0].values()))
        self._ascents += pc.sum(pc.greater(steps, 0), min_count=0).as_py()
        self._descents += pc.sum(pc.less(steps, 0), min_count=0).as_py()
        back = pc.indices_nonzero(pc.less(steps, -(self.BACK // _MICRO)))
        largest = back.take(pc.sort_indices(steps.take(back))[: self.MOST])  # a stable sort: of equal steps the first
        columns = (column.take(largest).to_pylist() for column in (lines[1:], times[:-1], times[1:]))
        self._keep(StepBack(*one) for one in zip(*columns, strict=True))
        self._last = Stamp(*rows.slice(len(rows) - 1).to_pylist()[0].values())

    def follow(self, later: LineOrder) -> None:
        """Adds the steps of a later part of the source."""
        if later._first is not None:
            self._step(later._first)
            self._ascents += later._ascents
            self._descents += later._descents
            self._keep(later._back)
            self._last = later._last

    def collected(self) -> Row:
        """Fields of schemas.COLLECTED; none for a source without a line with a time."""
        if self._first is None:
            return {}
        return {
            "ascents": self._ascents,
            "descents": self._descents,
            "steps_back": [step._asdict() for step in sorted(self._back)] or None,
        }

    def _step(self, stamp: Stamp) -> None:
        last = self._last
        if last is not None and stamp.place <= last.place:
            return
        if last is not None and last.clock == stamp.clock:
            self._ascents += stamp.time > last.time
            self._descents += stamp.time < last.time
            if last.time - stamp.time > self.BACK:
                self._keep([StepBack(stamp.line, last.time, stamp.time)])
        self._first, self._last = self._first or stamp, stamp

    def _keep(self, steps: Iterable[StepBack]) -> None:
        """The largest steps; of equal ones the first."""
        self._back += steps
        if len(self._back) > self.MOST:
            self._back = sorted(self._back, key=lambda step: (-_size(step), step.line))[: self.MOST]


def _forwards(rows: pa.RecordBatch, after: int) -> pa.RecordBatch:
    """The rows whose place comes after this one and after the places of all rows before."""
    if not len(rows):
        return rows
    highest = pc.cumulative_max(rows["place"], start=after)
    before = pa.concat_arrays([pa.array([after], pa.int64()), highest[:-1]])
    return rows.filter(pc.greater(rows["place"], before))


def _size(step: StepBack) -> timedelta:
    return step.before - step.after
