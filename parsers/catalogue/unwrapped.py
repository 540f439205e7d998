"""The walk through what one writer's wrapped lines hold, in chunks made of them.

Here: the places of such lines in the file, and what the wrapper's clock adds to that of the records. Not here: how lines are
unwrapped (parsers.wrappers).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from statistics import median_low

import pyarrow as pa

from parsers.catalogue.heads import microseconds, moment_of
from parsers.catalogue.matching import Seen
from parsers.catalogue.reading import Quickly, Reading
from parsers.catalogue.text import text_of
from parsers.layouts import Layout
from parsers.schemas import MAX_TEXT, Member, Row, Told
from parsers.wrappers.unwrapper import Line, finer, time_of

_WITNESSES, _SURE = 300, 3


class Unwrapped(Reading):
    """The walk through what one writer's lines hold."""

    def __init__(self, member: Member, source: str, kind: str, layouts: Sequence[Layout], *, quickly: Quickly | None = None) -> None:
        super().__init__(member, source, kind, layouts, quickly=quickly)
        self.lines: list[Line] = []
        self.starts: list[int] = []  # where each begins in the chunk
        self.size = 0
        self.count = 0
        self.differences: deque[int] = deque(maxlen=_WITNESSES)  # wall clock of records minus UTC of the wrapper, ms
        self.seconds = True  # records print whole seconds only

    def add(self, run: Sequence[Line]) -> None:
        """Keeps lines until `flush`."""
        self.lines += run
        self.size += sum([len(line.text) for line in run]) + len(run)
        self.count += len(run)

    def flush(self, *, last: bool = False) -> Iterator[Told]:
        """Events of the lines kept; unless these are the last, the last record waits for what follows."""
        if not self.lines:
            return
        data = b"\n".join([line.text for line in self.lines]) + b"\n"
        self.starts = list(accumulate((len(line.text) + 1 for line in self.lines), initial=0))
        self.layouts.written = time_of(self.lines[-1])
        self.layouts.learn(data)
        done = len(self.lines) if last else bisect_right(self.starts, self.layouts.cut(data)) - 1 or len(self.lines)
        self._compare(self.lines[:done])
        yield from self.chunk(data[: self.starts[done]])
        self.lines = self.lines[done:]
        self.size = len(data) - self.starts[done]

    def collected(self) -> Row:
        told = median_low(self.differences) if self.differences else None
        return {**super().collected(), "bytes": None, "lines": self.count, "wall_minus_utc_ms": told}

    def _compare(self, lines: Sequence[Line]) -> None:
        """The wrapper's UTC against the wall clock of the records, at lines spread over the chunk."""
        for line in lines[:: max(1, len(lines) // _WITNESSES)]:
            at = time_of(line) if line.utc is not None else None
            record = self.layouts.record_at(line.text, 0) if at is not None else None
            if at is not None and record is not None and record.time is not None and not record.utc:
                self.differences.append(round((record.time - at).total_seconds() * 1000))
                self.seconds = self.seconds and not record.time.microsecond

    def _at(self, begin: int) -> Line:
        return self.lines[min(bisect_right(self.starts, begin) - 1, len(self.lines) - 1)]

    def _place(self, seen: Seen) -> tuple[int, int]:
        line = self._at(seen.begin)
        return line.line, line.byte

    def _when(self, seen: Seen) -> tuple[datetime | None, str]:
        time, clock = super()._when(seen)
        if time is None:
            at = time_of(self._at(seen.begin))
            return (at, "utc") if at is not None else (None, clock)
        if self.seconds and len(self.differences) >= _SURE:
            return finer(time, time_of(self._at(seen.begin))), clock
        return time, clock

    def spots(
        self, lines: Sequence[int], begins: Sequence[int], ends: Sequence[int], times: Sequence[int], texts: pa.StringArray
    ) -> tuple[Sequence[int], Sequence[int], Sequence[int], pa.StringArray]:
        firsts = [bisect_right(self.starts, begin) - 1 for begin in begins]
        found = [self.lines[min(first, len(self.lines) - 1)] for first in firsts]
        if self.seconds and len(self.differences) >= _SURE:
            times = [microseconds(finer(moment_of(time), time_of(line))) for time, line in zip(times, found, strict=True)]
        whole = [self.starts[first + 1] >= end for first, end in zip(firsts, ends, strict=True)]
        raw = [
            text_of(line.raw)[:MAX_TEXT] if is_whole else self._between(begin, end)
            for line, is_whole, begin, end in zip(found, whole, begins, ends, strict=True)
        ]
        return [line.line for line in found], [line.byte for line in found], times, pa.array(raw, pa.string())

    def _raw(self, seen: Seen) -> str:
        return self._between(seen.begin, seen.end)

    def _between(self, begin: int, end: int) -> str:
        first = bisect_right(self.starts, begin) - 1
        after = max(bisect_left(self.starts, end), first + 1)
        return text_of(b"\n".join([line.raw for line in self.lines[first:after]]))[:MAX_TEXT]

    def _byte_at(self, at: int) -> int:
        return self._at(at).byte
