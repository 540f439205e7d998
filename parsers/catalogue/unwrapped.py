"""The walk through the unwrapped lines of one writer, in chunks made of them.

Here: the places of such lines in the file, and the wrapper's clock compared with that of the records. Not here: how lines are unwrapped
(parsers.wrappers).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from statistics import median_low

import pyarrow as pa

from parsers.catalogue.columnar.heads import microseconds, moment_of
from parsers.catalogue.newest_first import Direction, reading_order
from parsers.catalogue.reading import Quickly, Reading
from parsers.catalogue.repeats import Repeats
from parsers.layouts import Layout, LogRecord
from parsers.matching.messages import SeenText
from parsers.matching.text import text_of
from parsers.schemas import MAX_TEXT, Member, Row, Rows
from parsers.wrappers.unwrapper import WriterRun, finer, time_of

_WITNESSES, _SURE = 300, 3


class Unwrapped(Reading):
    """The walk through the unwrapped lines of one writer."""

    def __init__(
        self, member: Member, source: str, kind: str, layouts: Sequence[Layout], direction: Direction, *, quickly: Quickly | None = None
    ) -> None:
        super().__init__(member, source, kind, layouts, quickly=quickly)
        self.direction = direction
        self.lines = WriterRun()
        self.repeats = Repeats()
        self.starts: list[int] = []  # where each begins in the chunk
        self.size = 0
        self.count = 0
        self.differences: deque[int] = deque(maxlen=_WITNESSES)  # wall clock of records minus UTC of the wrapper, ms
        self.stamps: set[datetime] = set()  # times of the wrapper of some of these records
        self.seconds = True  # records print whole seconds only
        self.received: list[datetime | bytes | None] = []  # times of the wrapper of the first and the last line
        self.ends: list[datetime] = []  # times of the first and the last record of a source whose newest record comes first

    def add(self, run: WriterRun, *, of_store: bool = False) -> None:
        """Keeps lines until `flush`, except those that are there twice."""
        run = self.repeats.without(run, of_store=of_store)
        self.lines.add(run)
        self.received = (self.received or run.utc)[:1] + run.utc[-1:]
        self.size += sum(map(len, run.text)) + len(run)
        self.count += len(run)

    def flush(self, *, last: bool = False) -> Iterator[Rows]:
        """Events of the lines kept; the last record waits for further lines unless these are the last."""
        if not len(self.lines):
            return
        data = self._learned_from()
        if self.direction.newest_first:
            yield from self._flush_newest_first(last=last)
            return
        done = len(self.lines) if last else bisect_right(self.starts, self.layouts.cut(data)) - 1 or len(self.lines)
        self._compare(done)
        yield from self.chunk(data[: self.starts[done]])
        self.lines.drop(done)
        self.size = len(data) - self.starts[done]

    def _joined(self) -> bytes:
        """The lines kept as one chunk; notes where each of them begins."""
        self.starts = list(accumulate([len(text) + 1 for text in self.lines.text], initial=0))
        return b"\n".join(self.lines.text) + b"\n"

    def _learned_from(self) -> bytes:
        """The lines kept as one chunk, from which their layout was learned."""
        data = self._joined()
        self.layouts.written = time_of(self.lines.utc[-1])
        self.layouts.learn(data)
        return data

    def times(self) -> list[datetime]:
        """Times of records spread over the lines kept, in the order of the file."""
        if not len(self.lines):
            return []
        self._learned_from()
        records = (self.layouts.record_at(text, 0) for text in self.lines.text[:: max(1, len(self.lines) // _WITNESSES)])
        return [record.time for record in records if record is not None and record.time is not None]

    def _flush_newest_first(self, *, last: bool) -> Iterator[Rows]:
        """Reads the lines oldest record first, so that the lines that continue a record follow it, and gives the events in the order of the
        file."""
        lines = self.lines
        records = [self.layouts.record_at(text, 0) for text in lines.text]
        order = reading_order([record is not None for record in records], lines.utc, lines.text, last=last)
        times = [record.time for index in sorted(order) if (record := records[index]) is not None and record.time is not None]
        if times:
            self.ends = (self.ends or times)[:1] + times[-1:]
        self.lines = lines.at(order)
        if order:
            data = self._joined()
            self._compare(len(order))
            events = [row for rows in self.chunk(data) for row in (rows.to_pylist() if isinstance(rows, pa.RecordBatch) else [rows])]
            yield from sorted(events, key=lambda row: (row.get("line") or 0, row.get("byte") or 0))
        left = {*range(len(lines))} - {*order}
        self.lines = lines.at(sorted(left))
        self.size = sum(map(len, self.lines.text)) + len(self.lines)

    def collected(self) -> Row:
        still = len(self.stamps) == 1 and len({*self.differences}) > 1  # the time of an import, not of a line
        difference = median_low(self.differences) if self.differences and not still else None
        return {
            **super().collected(),
            **self.span(),
            "bytes": None,
            "lines": self.count,
            "repeated": self.repeats.count,
            "wall_minus_utc_ms": difference,
        }

    def span(self) -> Row:
        """First and last time of a source whose newest record comes first, in the order of the file, or whose records have only the times
        of their wrapper; nothing for others."""
        if self.ends:
            return {"first": self.ends[0], "last": self.ends[-1], "last_own": None}
        first, last = (time_of(self.received[0]), time_of(self.received[-1])) if self.received else (None, None)
        return {"first": first, "last": last, "last_own": last, "clock": "utc"} if self.survey.first is None and first and last else {}

    def _compare(self, done: int) -> None:
        """Compares the wrapper's UTC with the wall clock of the records, at lines spread over the chunk."""
        for number in range(0, done, max(1, done // _WITNESSES)):
            at = time_of(self.lines.utc[number])
            record = self.layouts.record_at(self.lines.text[number], 0) if at is not None else None
            if at is not None and record is not None and record.time is not None and not record.utc:
                self.differences.append(round((record.time - at).total_seconds() * 1000))
                self.seconds = self.seconds and not record.time.microsecond
                self.stamps |= {at} if len(self.stamps) < 2 else set()

    def _at(self, begin: int) -> int:
        """Index of the line at this place of the chunk."""
        return min(bisect_right(self.starts, begin) - 1, len(self.lines) - 1)

    def _utc(self, begin: int) -> datetime | None:
        return time_of(self.lines.utc[self._at(begin)])

    def _place(self, seen: SeenText) -> tuple[int, int]:
        at = self._at(seen.begin)
        return self.lines.line[at], self.lines.byte[at]

    def _when(self, seen: SeenText, record: LogRecord | None) -> tuple[datetime | None, str]:
        time, clock = super()._when(seen, record)
        if time is None:
            at = self._utc(seen.begin)
            return (at, "utc") if at is not None else (None, clock)
        if self.seconds and len(self.differences) >= _SURE:
            return finer(time, self._utc(seen.begin)), clock
        return time, clock

    def spots(
        self, lines: Sequence[int], begins: Sequence[int], ends: Sequence[int], times: Sequence[int], texts: pa.StringArray
    ) -> tuple[Sequence[int], Sequence[int], Sequence[int], pa.StringArray]:
        kept = self.lines
        firsts = [bisect_right(self.starts, begin) - 1 for begin in begins]
        bounded = firsts if not firsts or max(firsts) < len(kept) else [min(first, len(kept) - 1) for first in firsts]
        if self.seconds and len(self.differences) >= _SURE:
            times = [microseconds(finer(moment_of(time), time_of(kept.utc[at]))) for time, at in zip(times, bounded, strict=True)]
        complete = [self.starts[first + 1] >= end for first, end in zip(firsts, ends, strict=True)]
        raw = [
            text_of(kept.raw[at])[:MAX_TEXT] if is_whole else self._between(begin, end)
            for at, is_whole, begin, end in zip(bounded, complete, begins, ends, strict=True)
        ]
        return [kept.line[at] for at in bounded], [kept.byte[at] for at in bounded], times, pa.array(raw, pa.string())

    def _raw(self, seen: SeenText) -> str:
        return self._between(seen.begin, seen.end)

    def _between(self, begin: int, end: int) -> str:
        first = bisect_right(self.starts, begin) - 1
        after = max(bisect_left(self.starts, end), first + 1)
        return text_of(b"\n".join(self.lines.raw[first:after]))[:MAX_TEXT]

    def _byte_at(self, at: int) -> int:
        return self.lines.byte[self._at(at)]
