"""Lines that several files of one broker contain: a log that was collected twice, or as a file and as the output of its container.

Here: which sources may repeat lines of others, and which of their events are the same line. Two copies may differ in layout, and in the
precision of their times, so events are compared by what they state. Not here: lines that one process prints repeatedly
(forensics.model.partition.folding).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product
from operator import attrgetter
from types import MappingProxyType

from forensics.model.clock.sources import Source
from forensics.model.events import COLUMNS, Event
from forensics.model.times import not_after
from parsers.kinds import Role, of
from parsers.paths import log_kind

LOG_SUFFIX = "-log"
_OF_ALL_LOGGERS = frozenset({"stdout-log", "other-log"})
"""Kinds of logs with the lines of all loggers, also of those that Kafka's own configuration gives a file of their own."""
OF_A_LAYOUT = frozenset(
    {"source", "line", "byte", "text", "pattern", "mode", "node", "writer", "collection", "cluster", "at", "repeats", "last_at"}
)
"""Columns that may differ between copies of a line: its place, and what only one of two layouts shows. The writer is compared apart."""
_ATTEMPTS = of(role=Role.REFUSED | Role.ISR_REFUSED | Role.APPEND | Role.FETCH_FAILS)
"""What was tried and failed: the report says how often."""
_stated = attrgetter(*(name for name in COLUMNS if name not in OF_A_LAYOUT))


@dataclass(frozen=True)
class Copies:
    """Which logs may repeat lines of others, and which of two copies gives way."""

    sources: frozenset[str] = frozenset()
    """Sources that may repeat lines of another: logs of one node and kind with overlapping hours."""
    of_seconds: frozenset[str] = frozenset()
    """Logs whose times have whole seconds only."""
    of_all_loggers: frozenset[str] = frozenset()
    """Logs with the lines of all loggers, as the output of a container."""
    originals: Mapping[str, str] = field(default_factory=dict)
    """By log, the longer log of which it is a copy, line for line, though some lines may have been altered (shifted_copies)."""
    differing: frozenset[str] = frozenset()
    """Logs of which two copies have other times or numbers in one line."""

    @classmethod
    def of(
        cls,
        sources: Iterable[Source],
        shown: Callable[[str], str] = str,
        originals: Mapping[str, str] = MappingProxyType({}),
        differing: Collection[str] = (),
        *,
        apart: timedelta = timedelta(0),
    ) -> Copies:
        """`shown`: the name of a path in the report; `apart`: by how much the times of two copies may differ."""
        logs = [s for s in sources if s.kind.endswith(LOG_SUFFIX)]
        kinds = {s.kind for s in logs}
        # the first lines of a log whose name says nothing may only look like those of one logger
        of_all = {s.path for s in logs if s.kind in _OF_ALL_LOGGERS or log_kind(s.path) is None}
        groups: dict[tuple[int, str], list[tuple[datetime, datetime, str]]] = defaultdict(list)
        for s in logs:
            timed = not_after(s.first, s.last)
            first, last = (s.first, s.last) if timed else (datetime.min, datetime.max)
            for node, kind in product(s.nodes, kinds if s.path in of_all else (s.kind,)):
                groups[(node, kind)].append((first or datetime.min, last or datetime.max, s.path))
        repeating = (path for spans in groups.values() for path in _overlapping(sorted(spans), apart))
        paths = ({*repeating, *originals, *originals.values()}, {s.path for s in logs if s.of_seconds}, of_all, differing)
        repeated, of_seconds, of_any, differ = (frozenset(map(shown, own)) for own in paths)
        return cls(repeated, of_seconds, of_any, {shown(path): shown(original) for path, original in originals.items()}, differ)

    def in_originals(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events without those of a copy where the original has a line of the kind at the same place, whatever else the copy's states."""
        if not self.originals:
            return events
        places = {(e.source, e.line, e.byte, e.event) for e in events if e.source in self.sources}
        return [e for e in events if (self.originals.get(e.source), e.line, e.byte, e.event) not in places]

    def without_twins(self, events: Sequence[Event]) -> list[Event]:
        """Drops lines that another file of their broker contains as well, and lines that are in one file twice because overlapping parts of
        it were put together. If its times have whole seconds only, a file may contain a line twice."""
        events = self.in_originals(events)
        moment = self._moments(events)
        dated = [e for e in events if e.line is not None and e.writer is not None and e.at is not None]
        moments = list(map(moment, dated))
        first: dict[_Moment, _Place] = {}
        several = {at for e, at in zip(dated, moments, strict=True) if first.setdefault(at, place := self._place(e)) != place}
        known = [e for e, at in zip(dated, moments, strict=True) if at in several]
        if not known:
            return list(events)
        dropped = self.stated_elsewhere(known)
        kept = {id(e) for e in once([e for e in known if id(e) not in dropped], self.of_seconds)}
        gone = {id(e) for e in known} - kept
        return [e for e in events if id(e) not in gone]

    def _place(self, e: Event) -> _Place:
        """The line, or only its source if other lines may print the same."""
        return e.source, None if e.source in self.of_seconds else e.line

    def stated_elsewhere(self, events: Sequence[Event]) -> set[int]:
        """The ids of lines that repeat those of another file. Files with whole seconds give way to others, those with the lines of all
        loggers to those of one, and those with fewer lines to those with more: at one time, what remains is mostly of one file, and in its
        order. Lines without a time are compared by their text."""
        moment = self._moments(events)
        lines = Counter(e.source for e in events)

        def preferred(e: Event) -> tuple[bool, bool, int, str]:
            return e.source in self.of_seconds, e.source in self.of_all_loggers, -lines[e.source], e.source

        stated: dict[object, str] = {}
        repeated: set[int] = set()
        for e in sorted(events, key=preferred):
            statement = (moment(e), repr(_stated(e)) if e.at is not None else e.text)
            if stated.setdefault(statement, e.source) != e.source:
                repeated.add(id(e))
        return repeated

    def _moments(self, events: Iterable[Event]) -> Callable[[Event], _Moment]:
        """When and by whom a line was printed, as all copies show it: in milliseconds, as Kafka's own layout, or in seconds if a file of
        the writer has no more. A console in JSON may have microseconds."""
        ticks = {e.writer: e.at.microsecond for e in events if e.source in self.of_seconds and e.at is not None} if self.of_seconds else {}
        """By writer, when its clock begins a second, in the corrected time."""

        def moment(e: Event) -> _Moment:
            if e.at is None:
                return None, e.writer
            if (tick := ticks.get(e.writer)) is None:
                return e.at.replace(microsecond=e.at.microsecond // 1000 * 1000), e.writer
            return e.at - timedelta(microseconds=(e.at.microsecond - tick) % 1_000_000), e.writer

        return moment


_Moment = tuple[datetime | None, int | None]
_Place = tuple[str, int | None]
NONE = Copies()


def once(
    events: Sequence[Event], of_seconds: Collection[str] = (), joins: Mapping[str, Sequence[int]] = MappingProxyType({})
) -> Sequence[Event]:
    """Of lines that are in a file twice, the first: overlapping parts of a log were put together, or two appenders write to it. In a file
    with whole seconds (`of_seconds`), other lines may print the same. Attempts, which are counted, are made many times in a millisecond:
    theirs are repeated only from one part of a file to another (`joins`: the lines where its time steps back), and the part with most of
    them counts."""
    printed = [
        ((e.text, e.at, e.source), bisect_right(joins.get(e.source, ()), e.line) if e.event in _ATTEMPTS else e.line)
        if e.line is not None and e.at is not None and e.text and e.source not in of_seconds
        else None
        for e in events
    ]
    lines = Counter(filter(None, printed))
    counts: dict[tuple[str, datetime, str], int] = {}
    for (key, part), number in lines.items():
        if (number, -part) > (lines[key, known := counts.setdefault(key, part)], -known):
            counts[key] = part
    if len(counts) == len(lines):
        return events
    return [e for e, of in zip(events, printed, strict=True) if of is None or counts[of[0]] == of[1]]


def _overlapping(spans: Iterable[tuple[datetime, datetime, str]], apart: timedelta) -> Iterator[str]:
    """Paths of the logs whose time span overlaps another's, or would if it was moved that far. `spans`: first line, last line and path,
    ascending."""
    begin, end, longest = datetime.min, datetime.min, ""
    for first, last, path in spans:
        alone = first == end and end in (begin, last)  # one moment; otherwise a log that continues after the previous one was rolled
        if longest and (first - end < apart or alone):
            yield from (path, longest)
        if last > end or first == end or not longest:
            begin, end, longest = first, last, path
