"""Order of the times in a log: ascending, as Kafka writes them, or not.

Here: steps between neighbouring lines with events. Not here: jumps of the wall clock, from which zones are derived (parsers.evidence), or
conclusions from the order.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from parsers.schemas import EVENTS, Row
from parsers.thresholds import MICROSECOND

_CLOCKS = pa.array(["line", "utc"], pa.string())
_COLUMNS = pa.schema([EVENTS.field(name) for name in ("line", "byte", "time", "clock", "duration_ms", "text")])
_AT_ONCE = 1024
_NO_KEYS = pa.array([], pa.int64())
_LENGTHS = 1 << 12
"""More than the length of any text."""


FEW = 5
"""Least number of steps between lines that show a direction."""
MOSTLY = 4
"""Newest-first logs have this many times more steps back than forward. Threads print milliseconds out of order, so every log has some steps
in the other direction."""


def mostly_back(ascents: int, descents: int) -> bool:
    """Whether the newest line comes first, by the number of steps forward and back."""
    return descents > MOSTLY * ascents


class LineStamp(NamedTuple):
    """A line, its first byte, its time and the clock that shows it (`line` or `utc`)."""

    line: int
    place: int
    """The byte, or the line if no byte is known: the records of a JSON document may be in one line."""
    time: datetime
    clock: str


class TimeStep(NamedTuple):
    """Two neighbouring lines with different times; `line` is the second one's."""

    line: int
    before: datetime
    after: datetime


class LineOrder:
    """Steps between lines of one source, in file order. If a record has several events, the first counts. Events whose place comes before
    that of an earlier event are skipped. So are events with a duration: their time is their beginning, not when the line was printed. Lines
    with different clocks are not compared.

    A step back to lines that were there before is none of a clock: overlapping parts of a log were put together."""

    MOST = 64
    BACK = timedelta(seconds=1)
    """Lines of several threads may be out of order by some milliseconds."""
    PAUSE = timedelta(minutes=1)
    """A log prints a line about once a minute."""
    REMEMBERED = 1 << 18
    """About how many of the latest lines are recognised if they come again."""

    def __init__(self) -> None:
        self._first: LineStamp | None = None
        self._last: LineStamp | None = None
        self._ascents = 0
        self._descents = 0
        self._back: list[TimeStep] = []
        self._ahead: list[TimeStep] = []
        self._waiting: list[Row] = []
        self._before = _NO_KEYS
        """Keys of the latest lines."""
        self.again: set[int] = set()
        """Lines with which the log goes back to lines that were there before."""

    @property
    def may_come_again(self) -> bool:
        """It goes back a few times. Only who reads the whole source can say whether it goes back to lines that were there before."""
        return bool(self.again) or 0 < len(self._back) < self.MOST

    def __getstate__(self) -> dict[str, Any]:
        """Without the keys, of which there are many."""
        self._pass_by_waiting()
        return {**self.__dict__, "_before": _NO_KEYS}

    def pass_by(self, row: Row) -> None:
        if row.get("line") is not None:
            self._waiting.append({name: row.get(name) for name in _COLUMNS.names})
            if len(self._waiting) >= _AT_ONCE:
                self._pass_by_waiting()

    def _pass_by_waiting(self) -> None:
        if self._waiting:
            batch, self._waiting = pa.RecordBatch.from_pylist(self._waiting, _COLUMNS), []
            self.pass_by_all(batch)

    def pass_by_all(self, batch: pa.RecordBatch) -> None:
        """The same for many events."""
        self._pass_by_waiting()
        placed = pc.and_(pc.is_valid(batch["time"]), pc.is_valid(batch["line"]))
        stamped = pc.and_(pc.is_in(batch["clock"], _CLOCKS), pc.and_(placed, pc.is_null(batch["duration_ms"])))
        places = pa.RecordBatch.from_arrays(
            [batch["line"], pc.coalesce(batch["byte"], batch["line"]), batch["time"], batch["clock"], _keys(batch)],
            [*LineStamp._fields, "key"],
        )
        rows = _forwards(places.filter(stamped), self._last.place if self._last is not None else -1)
        if not len(rows):
            return
        lines, times, clocks = rows["line"], rows["time"], rows["clock"]
        steps = pc.if_else(pc.equal(clocks[1:], clocks[:-1]), pc.subtract(*(t.cast(pa.int64()) for t in (times[1:], times[:-1]))), 0)
        back = pc.indices_nonzero(pc.less(steps, -(self.BACK // MICROSECOND)))
        ahead = pc.indices_nonzero(pc.greater(steps, self.BACK // MICROSECOND))
        first = _stamp(rows[:1])
        goes_back = self._goes_back_to(first)
        if goes_back or len(back):
            self._recognise(rows, back, goes_back)
        self._step(first)
        self._ascents += pc.sum(pc.greater(steps, 0), min_count=0).as_py()
        self._descents += pc.sum(pc.less(steps, 0), min_count=0).as_py()
        if self.again:
            back = back.filter(pc.invert(pc.is_in(lines.take(pc.add(back, 1)), pa.array(sorted(self.again), pa.int64()))))
        for kept, places, order in ((self._back, back, "ascending"), (self._ahead, ahead, "descending")):
            largest = places.take(pc.array_sort_indices(steps.take(places), order)[: self.MOST])  # a stable sort: of equal steps the first
            columns = (column.take(largest).to_pylist() for column in (lines[1:], times[:-1], times[1:]))
            self._keep(kept, (TimeStep(*one) for one in zip(*columns, strict=True)))
        self._last = _stamp(rows[-1:])
        self._before = pa.concat_arrays([self._before, rows["key"]])[-self.REMEMBERED :]

    def _goes_back_to(self, stamp: LineStamp) -> bool:
        last = self._last
        return last is not None and last.place < stamp.place and last.clock == stamp.clock and last.time - stamp.time > self.BACK

    def _recognise(self, rows: pa.RecordBatch, back: pa.Array, goes_back: bool) -> None:
        """Finds the steps back (before the rows after `back`; `goes_back`: before the first row) after which all lines were there before,
        up to BACK before the time from which they go back: what comes then may be new."""
        own = pc.index_in(rows["key"], value_set=rows["key"])  # the first of its kind
        before = pc.is_in(rows["key"], value_set=self._before)
        times = rows["time"]
        for at in [*([-1] if goes_back else []), *back[: self.MOST].to_pylist()]:
            reached = times[at].as_py() if at >= 0 else cast(LineStamp, self._last).time
            later = pc.index(pc.greater_equal(times[at + 1 :], pa.scalar(reached - self.BACK, times.type)), True).as_py()
            end = at + 1 + later if later >= 0 else len(rows)
            known = pc.or_(before[at + 1 : end], pc.less_equal(own[at + 1 : end], at))
            if pc.all(known).as_py():
                self.again.add(rows["line"][at + 1].as_py())

    def follow(self, later: LineOrder) -> None:
        """Adds the steps of a later part of the source."""
        self._pass_by_waiting()
        later._pass_by_waiting()
        self.again |= later.again
        if later._first is not None:
            self._step(later._first)
            self._ascents += later._ascents
            self._descents += later._descents
            self._keep(self._back, later._back)
            self._keep(self._ahead, later._ahead)
            self._last = later._last

    def collected(self) -> Row:
        """Fields of schemas.COLLECTED; none for a source without a line with a time."""
        self._pass_by_waiting()
        if self._first is None:
            return {}
        return {
            "ascents": self._ascents,
            "descents": self._descents,
            "steps_back": [step._asdict() for step in sorted(self._back)] or None,
            "consecutive": self._consecutive(),
        }

    def _consecutive(self) -> bool | None:
        """Whether the parts that the steps back separate continue each other: they have no times in common, and the pauses between them are
        no longer than PAUSE or those within them. None without such parts. A part that leaps over the beginning of another one is two:
        server.log.2 may follow server.log.10."""
        if not self._back or self.again or len(self._back) == self.MOST:
            return None
        assert self._first is not None
        assert self._last is not None
        begins = [self._first.time, *(step.after for step in self._back)]
        leaps = {step for step in self._ahead if any(step.before <= begin < step.after for begin in begins)}
        pause = max([self.PAUSE, *(_size(step) for step in self._ahead if step not in leaps)])
        cuts = sorted((*self._back, *leaps))
        spans = sorted(zip((self._first.time, *(c.after for c in cuts)), (*(c.before for c in cuts), self._last.time), strict=True))
        return all(-self.BACK <= begin - end <= pause for (_, end), (begin, _) in pairwise(spans))

    def _step(self, stamp: LineStamp) -> None:
        last = self._last
        if last is not None and stamp.place <= last.place:
            return
        if last is not None and last.clock == stamp.clock:
            self._ascents += stamp.time > last.time
            self._descents += stamp.time < last.time
            step = TimeStep(stamp.line, last.time, stamp.time)
            if stamp.time - last.time > self.BACK:
                self._keep(self._ahead, [step])
            elif self._goes_back_to(stamp) and stamp.line not in self.again:
                self._keep(self._back, [step])
        self._first, self._last = self._first or stamp, stamp

    def _keep(self, kept: list[TimeStep], steps: Iterable[TimeStep]) -> None:
        """Adds the steps and keeps the largest; of equal ones the first."""
        kept += steps
        if len(kept) > self.MOST:
            kept[:] = sorted(kept, key=lambda step: (-_size(step), step.line))[: self.MOST]


def _stamp(row: pa.RecordBatch) -> LineStamp:
    return LineStamp(**row.select(LineStamp._fields).to_pylist()[0])


def _keys(batch: pa.RecordBatch) -> pa.Array:
    """A number for each line from its time and its length."""
    lengths = pc.fill_null(pc.utf8_length(batch["text"]), 0).cast(pa.int64())
    return pc.add(pc.multiply(pc.fill_null(batch["time"].cast(pa.int64()), 0), _LENGTHS), lengths)


def _forwards(rows: pa.RecordBatch, after: int) -> pa.RecordBatch:
    """The rows whose place comes after this one and after the places of all rows before."""
    if not len(rows):
        return rows
    highest = pc.cumulative_max(rows["place"], start=after)
    before = pa.concat_arrays([pa.array([after], pa.int64()), highest[:-1]])
    return rows.filter(pc.greater(rows["place"], before))


def _size(step: TimeStep) -> timedelta:
    return abs(step.before - step.after)
