"""Garbage collection logs of the JVM: when and for how long all threads of a broker were stopped.

Here: unified logging of Java 9 and later with any decorations, the logs of Java 7 and 8 (-XX:+PrintGCDetails) of all collectors, and
safepoint stops without a collection. Not here: concurrent phases, which stop nothing, and heap sizes. Sources: HotSpot's LogDecorations,
GCTraceTime and SafepointTracing; Kafka's kafka-run-class.sh for the options brokers run with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import BinaryIO

from parsers.formats.file_kind import AFTER_LOGS, FileKind, Head
from parsers.lines import lines
from parsers.paths import log_kind
from parsers.schemas import MAX_TEXT, Member, Row, problem
from parsers.thresholds import GC_MARGIN

THRESHOLD_MS = 1000
"""Shortest pause that is reported. A shorter one does not end a ZooKeeper session (6 s, 18 s from 2.5), a broker session (9 s), or a fetch
of a quorum's follower (2 s), and removes no replica from an ISR (replica.lag.time.max.ms 10 s, 30 s from 2.5)."""
MAX_MS = 30 * 24 * 3600 * 1000
MAX_WAITING = 10_000
"""Pauses that are held until the end of a log without dates."""
_MAX_RECORD = 200
"""Lines of one collection in the logs of Java 8."""

_UNIFIED = re.compile(r"(?P<decorations>(?:\[[^\]\n]{0,80}\])+)\s*(?P<message>.*)")
_DATE = re.compile(r"(?P<date>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[.,](?P<ms>\d{3})(?P<zone>[+-]\d{4})?")
_UPTIME = re.compile(r"(?P<s>\d{1,12}[.,]\d{1,9})s")
_TICKS = re.compile(r"(?P<n>\d{1,16})(?P<unit>ms|ns)")
_PAUSE = re.compile(r"GC\(\d+\) (?:[yYoO]: )?Pause (?P<what>\w.*?)(?: \d+[BKMG](?:\(\d+[BKMG]\))?->\S+)? (?P<ms>\d{1,12}[.,]\d{1,6})ms$")
_STALL = re.compile(r"(?:GC\(\d+\) )?(?:[yYoO]: )?Allocation Stall \((?P<what>.*)\) (?P<ms>\d{1,12}[.,]\d{1,6})ms$")
_SAFEPOINT = re.compile(r'Safepoint "(?P<what>[^"]*)",.* Total: *(?P<ns>\d{1,18}) ns')
_STOPPED = re.compile(r"Total time for which application threads were stopped: (?P<s>\d{1,9}[.,]\d{1,9}) seconds")
_OLD_LINE = re.compile(
    r"(?:(?P<date>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[.,](?P<ms>\d{3})(?P<zone>[+-]\d{4})?: ?)?(?:(?P<uptime>\d{1,12}[.,]\d{1,6}): ?)?(?P<message>.*)"
)
_OLD_GC = re.compile(r"\[(?P<what>(?:Full )?GC\b(?: (?:pause|remark|cleanup))?(?: ?\((?:[^()]|\(\))*\))*)")
_OLD_SECONDS = re.compile(r", (?P<s>\d{1,9}[.,]\d{1,9}) secs\]")
_OLD_REAL = re.compile(r"real=(?P<s>\d{1,9}[.,]\d{1,6}) secs")
TAKEN = (
    rf"\[(?:{_DATE.pattern}|{_UPTIME.pattern}|{_TICKS.pattern})\]",
    *(e.pattern for e in (_PAUSE, _STALL, _SAFEPOINT, _STOPPED, _OLD_LINE, _OLD_GC, _OLD_SECONDS, _OLD_REAL)),
)
"""Expressions of everything that is read from a line."""
_CONCURRENT = ("[CMS-concurrent", "[GC concurrent")
"""Phases in the logs of Java 8 that do not stop threads. A CMS phase may be printed in the middle of a collection that it failed to
avoid."""


@dataclass(slots=True)
class _When:
    """Time of a line: by the wall clock, or in seconds since the JVM started."""

    wall: datetime | None = None
    utc: bool = False
    """The line names its zone: `wall` is UTC."""
    uptime: float | None = None


@dataclass(slots=True)
class _Pause:
    line: int
    byte: int
    text: str
    when: _When
    milliseconds: int
    reason: str
    what: str
    at_end: bool
    """The line was written at the end of the pause."""


def read(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """A 'jvm-pause' for each pause of THRESHOLD_MS and more, then one 'source' row about the file.

    `time` is the pause's beginning: UTC where the lines name their zone (clock 'utc'), else by the local clock of the lines (clock 'line').
    If the lines have only the time since the JVM's start, it is calculated back from the file's modification time (clock 'mtime'). `reason`
    and `value`: see parsers.kinds.
    """
    reading = _Reading(member)
    for line, at, raw in lines(stream):
        yield from reading.line(line, at, raw.decode("utf-8", "replace").rstrip("\r"))
    yield from reading.end()


class _Reading:
    def __init__(self, member: Member) -> None:
        self.member = member
        self.lines = 0
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.utc = False
        self.uptime: float | None = None
        self.waiting: list[_Pause] = []
        self.passed_over = 0
        self.record: _Pause | None = None
        """The collection of Java 8 whose lines are being read."""
        self.record_lines = 0
        self.previous: _Pause | None = None
        """The last collection, which may lie within a stop at a safepoint."""

    def line(self, number: int, at: int, text: str) -> Iterator[Row]:
        self.lines = number
        unified = _UNIFIED.match(text)
        if unified is not None and (when := _decorated(unified["decorations"])) is not None:
            self._note(when)
            yield from self._unified(_Pause(number, at, text, when, 0, "", "", True), unified["message"])
            return
        old = _OLD_LINE.match(text)
        assert old is not None  # every part of the expression may be empty
        when = _When(_wall(old), bool(old["zone"]), _decimal(old["uptime"]) if old["uptime"] else None)
        if when.wall is not None or when.uptime is not None:
            self._note(when)
            yield from self._old(_Pause(number, at, text, when, 0, "", "", False), old["message"])
        elif self.record is not None:
            self._continued(text)
            if self.record_lines > _MAX_RECORD or "[Times:" in text:
                yield from self._recorded()

    def end(self) -> Iterator[Row]:
        yield from self._recorded()
        for pause in self.waiting:
            yield self._row(pause, self._reckoned(pause), "mtime")
        if self.passed_over:
            yield problem("gc-log-without-dates", f"{self.member.path}: {self.passed_over} more pauses of unknown time")
        collected = {"lines": self.lines, "first": self.first, "last": self.last, "clock": "utc" if self.utc else "line"}
        yield {"event": "source", "source": self.member.path, "pattern": "gc-log", "collected": collected}

    def _note(self, when: _When) -> None:
        self.utc = when.utc if self.first is None else self.utc
        self.first = self.first or when.wall
        self.last = when.wall or self.last
        self.uptime = when.uptime if when.uptime is not None else self.uptime

    def _unified(self, pause: _Pause, message: str) -> Iterator[Row]:
        if match := _PAUSE.match(message):
            pause.milliseconds, pause.what = _milliseconds(match["ms"], 1), f"Pause {match['what']}"
            pause.reason = _reason(match["what"])
            yield from self._collection(pause)
        elif match := _STALL.match(message):
            pause.milliseconds, pause.reason, pause.what = _milliseconds(match["ms"], 1), "allocation-stall", message[:200]
            yield from self._rows_of(pause)
        elif match := _SAFEPOINT.match(message):
            pause.milliseconds, pause.what = min(int(match["ns"]) // 1_000_000, MAX_MS), match["what"]
            yield from self._safepoint(pause)
        elif match := _STOPPED.search(message):
            pause.milliseconds, pause.what = _milliseconds(match["s"], 1000), "stopped"
            yield from self._safepoint(pause)

    def _old(self, pause: _Pause, message: str) -> Iterator[Row]:
        if match := _STOPPED.search(message):
            yield from self._recorded()
            pause.milliseconds, pause.what, pause.at_end = _milliseconds(match["s"], 1000), "stopped", True
            yield from self._safepoint(pause)
        elif message.startswith(_CONCURRENT):
            return
        elif (match := _OLD_GC.match(message)) is not None:
            yield from self._recorded()
            pause.what, pause.reason = match["what"][:200], _old_reason(message)
            self.record, self.record_lines = pause, 0
            self._continued(message)
            if "[Times:" in message and _CONCURRENT[0] not in message:
                yield from self._recorded()
        elif self.record is not None:
            self._continued(message)

    def _continued(self, text: str) -> None:
        """Adds a line of the collection: nested phases are shorter than the whole, so the longest time is that of the whole."""
        assert self.record is not None
        self.record_lines += 1
        if "concurrent mode" in text:
            self.record.reason = "full"
        for match in (*_OLD_SECONDS.finditer(text), *_OLD_REAL.finditer(text)):
            if _CONCURRENT[0] not in text[: match.start()]:
                self.record.milliseconds = max(self.record.milliseconds, _milliseconds(match["s"], 1000))

    def _recorded(self) -> Iterator[Row]:
        record, self.record = self.record, None
        if record is not None:
            yield from self._collection(record)

    def _collection(self, pause: _Pause) -> Iterator[Row]:
        self.previous = pause
        yield from self._rows_of(pause)

    def _safepoint(self, pause: _Pause) -> Iterator[Row]:
        """Collections stop the threads at a safepoint: only stops that no collection explains are reported."""
        pause.reason = "safepoint"
        explained = self.previous.milliseconds if self.previous is not None and _within(self.previous, pause) else 0
        if pause.milliseconds - explained >= THRESHOLD_MS:
            yield from self._rows_of(pause)

    def _rows_of(self, pause: _Pause) -> Iterator[Row]:
        if pause.milliseconds < THRESHOLD_MS:
            return
        if pause.when.wall is not None:
            yield self._row(pause, _begin(pause), "utc" if pause.when.utc else "line")
        elif len(self.waiting) < MAX_WAITING:
            self.waiting.append(pause)
        else:
            self.passed_over += 1

    def _reckoned(self, pause: _Pause) -> datetime | None:
        """The last line was written when the file was last modified."""
        if self.member.modified is None or self.uptime is None or pause.when.uptime is None:
            return None
        try:
            end = self.member.modified - timedelta(seconds=self.uptime - pause.when.uptime)
            return end - timedelta(milliseconds=pause.milliseconds) if pause.at_end else end
        except OverflowError:
            return None

    @staticmethod
    def _row(pause: _Pause, time: datetime | None, clock: str) -> Row:
        return {
            "event": "jvm-pause",
            "pattern": "gc-log",
            "line": pause.line,
            "byte": pause.byte,
            "text": pause.text[:MAX_TEXT],
            "time": time,
            "clock": clock,
            "duration_ms": pause.milliseconds,
            "reason": pause.reason,
            "value": pause.what,
        }


def _begin(pause: _Pause) -> datetime | None:
    wall = pause.when.wall
    if wall is None or not pause.at_end:
        return wall
    try:
        return wall - timedelta(milliseconds=pause.milliseconds)
    except OverflowError:
        return None


def _within(collection: _Pause, stop: _Pause) -> bool:
    """The collection happened during the stop, which is logged at its end."""
    one, other = collection.when, stop.when
    stopped = timedelta(milliseconds=stop.milliseconds) + GC_MARGIN
    if one.wall is not None and other.wall is not None:
        return timedelta(0) <= other.wall - one.wall + GC_MARGIN <= stopped + GC_MARGIN
    if one.uptime is not None and other.uptime is not None:
        return -0.2 <= other.uptime - one.uptime <= stopped.total_seconds()
    return False


def _decorated(decorations: str) -> _When | None:
    """The time of a line from its decorations, in any order and number that -Xlog can be configured to write; None if there is none."""
    when = _When()
    for text in decorations[1:-1].split("]["):
        text = text.strip()
        if (match := _DATE.fullmatch(text)) is not None:
            if when.wall is None:
                when.wall, when.utc = _wall(match), bool(match["zone"])
        elif (match := _UPTIME.fullmatch(text)) is not None:
            when.uptime = _decimal(match["s"]) if when.uptime is None else when.uptime
        elif (match := _TICKS.fullmatch(text)) is not None:
            _tick(when, int(match["n"]), match["unit"])
    return when if when.wall is not None or when.uptime is not None else None


def _tick(when: _When, count: int, unit: str) -> None:
    """Milliseconds may count from 1970 or from the JVM's start; the origin of nanoseconds is unknown."""
    if unit == "ms" and count < 10**11 and when.uptime is None:
        when.uptime = count / 1000
    elif unit == "ms" and count < 10**14 and when.wall is None:
        when.wall, when.utc = datetime(1970, 1, 1) + timedelta(milliseconds=count), True


def _wall(match: re.Match[str]) -> datetime | None:
    """UTC if a zone is named."""
    if not match["date"]:
        return None
    zone = match["zone"] or "+0000"
    ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:])) * (-1 if zone[0] == "-" else 1)
    try:
        return datetime.fromisoformat(match["date"]) + timedelta(milliseconds=int(match["ms"])) - ahead
    except (ValueError, OverflowError):
        return None


def _decimal(text: str) -> float:
    return float(text.replace(",", "."))


def _milliseconds(text: str, unit: int) -> int:
    return min(round(_decimal(text) * unit), MAX_MS)


def _reason(what: str) -> str:
    """The kind of a pause of Java 9 and later, from its name."""
    for word, reason in (
        ("Full", "full"),
        ("Degenerated", "degenerated"),
        ("Remark", "remark"),
        ("Cleanup", "cleanup"),
        ("Initial Mark", "initial-mark"),
        ("Init Mark", "initial-mark"),
        ("Mark Start", "initial-mark"),
        ("Final Mark", "remark"),
        ("Mark End", "remark"),
    ):
        if what.startswith(word):
            return reason
    if what.startswith("Young"):
        return "mixed" if "(Mixed)" in what else "young"
    return "other"


def _old_reason(message: str) -> str:
    for word, reason in (
        ("[Full GC", "full"),
        ("concurrent mode", "full"),
        ("remark", "remark"),
        ("Final Remark", "remark"),
        ("initial-mark", "initial-mark"),
        ("Initial Mark", "initial-mark"),
        ("[GC cleanup", "cleanup"),
        ("(mixed)", "mixed"),
    ):
        if word in message:
            return "young" if reason == "initial-mark" and "(young)" in message else reason
    return "young"


_GC_LINE = re.compile(
    r"^(?:\[[^\]\n]*\])*\[gc[\],\s]|: \[(?:Full )?GC[ (]|^\S{0,40} ?\d{1,12}\.\d{1,9}: \[(?:Full )?GC|^(?:Java HotSpot\(TM\)|OpenJDK) [\w-]+ Server VM \(|^(?:\[[^\]\n]*\])+ ?GC\(\d+\) ",
    re.M,
)


def _is_gc_log(head: Head) -> bool:
    return _GC_LINE.search(head.text) is not None and log_kind(head.path) in ("gc-log", None)


FORMATS = (FileKind("gc-log", "garbage collection log of the JVM", read, frozenset({"jvm-pause"}), content=_is_gc_log, rank=AFTER_LOGS),)
