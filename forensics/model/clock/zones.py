"""The zone of one broker's clock, from its own files, and changes of the zone's offset in the middle of a log (DST).

Here: the evidence in each log file (modification times, a container's stamps, times in UTC that Kafka itself prints), which modification
times mean nothing because a checkout, an unzip or a copy set them, the combined result for a machine, and the lines of a file at which the
offset changes. Not here: clock errors, which only a comparison with another machine shows (clocks).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import cache
from itertools import pairwise
from statistics import median_low
from zoneinfo import ZoneInfo, available_timezones

from forensics.model.clock.sources import Source
from forensics.model.times import grouped
from forensics.thresholds import DST_SHIFT, FARTHEST_ZONE, WRITTEN_AT_ONCE, ZONE_CHANGE_MARGIN

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
QUARTER_MS = 15 * MINUTE_MS

# Offsets in use since 2000, minutes, as the time zone database has them; others are clock errors.
_HALVES = (-570, -270, -210, -150, 210, 270, 330, 345, 390, 510, 525, 570, 630, 765, 825)
ZONES: tuple[int, ...] = tuple(sorted((*range(-12 * 60, 14 * 60 + 1, 60), *_HALVES)))
"""Minutes from UTC of all zones in use."""
AGREE_MS = 2_000
"""Some archives and file systems keep whole seconds only."""
NEAR_ZONE_MS = 30_000
"""Maximum distance between a log's last line and its modification time if only a late flush separates them."""
SECOND_MS = 1_000
LATE_MS = 5 * MINUTE_MS
"""A process may pause between reading the time and printing the line with it. Zones are three times as far apart."""
NOISE_MS = 100
"""Kafka writes a record and prints the line about it within this time, on one machine."""


@dataclass(frozen=True, slots=True)
class ZoneChange:
    """The zone's offset changed at `at` (UTC) from `before_ms` to `after_ms`; both include the clock's error."""

    at: datetime
    before_ms: int
    after_ms: int
    source: str = ""
    """File that shows the change, and its first line after it, if the change comes from times in UTC that Kafka printed."""
    line: int | None = None

    @property
    def wall(self) -> datetime:
        """The wall clock at the change without the change: lines with earlier times are from before, unless the clock went back."""
        return self.at + timedelta(milliseconds=self.before_ms)


def nearest_zone(offset_ms: int) -> int:
    """The zone, in minutes from UTC, nearest to an offset; if two are equally near, the one nearer to UTC."""
    at = bisect_left(ZONES, offset_ms / MINUTE_MS)
    return min(ZONES[max(at - 1, 0) : at + 1], key=lambda zone: (abs(zone * MINUTE_MS - offset_ms), abs(zone)))


def in_zone(name: str, wall: datetime) -> int:
    """Offset in ms of a zone of the time zone database when its clocks show `wall`."""
    offset = wall.replace(tzinfo=ZoneInfo(name)).utcoffset()
    return 0 if offset is None else round(offset.total_seconds() * 1000)


def plain(offset_ms: int, within_ms: int) -> int | None:
    """Offset in ms of the zone within `within_ms` of `offset_ms`, or None."""
    zone = nearest_zone(offset_ms) * MINUTE_MS
    return zone if abs(zone - offset_ms) <= within_ms else None


def zone_at_start(offset_ms: int) -> int | None:
    """Offset in ms of the zone in which a line with a UTC time was printed, or None if no zone fits. The line may be later than the time in
    it, or show whole seconds only. `offset_ms`: the line's time minus the time in it."""
    zone = nearest_zone(offset_ms) * MINUTE_MS
    return zone if -SECOND_MS < offset_ms - zone <= LATE_MS else None


# one broker's own files


@dataclass(frozen=True, slots=True)
class Jump:
    """Two adjacent lines of a log between which the wall clock went back, or skipped an hour. `line`: the later line."""

    line: int
    before: datetime
    after: datetime


@dataclass(frozen=True, slots=True)
class PrintedUtc:
    """The line in which a process, or a client within it, prints the UTC time it had just read (AppInfoParser, 2.3+). Both times are
    from one clock, so they differ by its zone and the time between reading and printing. `line` and `since` (wall clock) are those of
    the first line of the process, if known, else of the line itself."""

    utc: datetime
    wall: datetime
    line: int | None
    since: datetime

    @property
    def zone_ms(self) -> int | None:
        """Offset of the zone, or None if no zone fits."""
        return zone_at_start(round((self.wall - self.utc).total_seconds() * 1000))


@dataclass(frozen=True, slots=True)
class ClockEvidence:
    """One log file: wall clock of its last line and its first, its modification time (UTC), the offset from its container's stamps, and
    the times in UTC that processes printed into it."""

    last: datetime | None
    modified: datetime | None
    wall_minus_utc_ms: int | None = None
    source: str = ""
    jumps: tuple[Jump, ...] = ()
    first: datetime | None = None
    starts: tuple[PrintedUtc, ...] = ()

    @property
    def offset_ms(self) -> int | None:
        if self.last is None or self.modified is None:
            return None
        return round((self.last - self.modified).total_seconds() * 1000)

    @property
    def zone_ms(self) -> int | None:
        """The zone's offset at the file's end, if the file alone shows it."""
        if self.wall_minus_utc_ms is not None:
            return plain(self.wall_minus_utc_ms, 5 * MINUTE_MS)
        offset = self.offset_ms
        return None if offset is None else plain(offset, AGREE_MS)


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """A clock's offset by its own machine's files: wall clock minus UTC, and its uncertainty."""

    offset_ms: int
    uncertainty_ms: int
    basis: str
    files_ms: int = 0
    """Error of modification times that were kept in another zone than UTC, as some archives do."""


def anchor(witnesses: Iterable[ClockEvidence]) -> ClockOffset | None:
    """A clock's offset from its own files; None if they do not show it. UTC times that Kafka printed show the zone. If there are any,
    modification times only show a clock error (if the file system's clock was correct) or a later change of the zone."""
    known = list(witnesses)
    files, zone = _by_files(known), _started(known)
    if zone is None or files is None:
        return files if zone is None else ClockOffset(zone, NOISE_MS, "start")
    apart = files.offset_ms - zone
    in_zones = plain(files.offset_ms, 0) is not None
    since_changed = abs(apart) == HOUR_MS and files.offset_ms != 0  # 0: possibly modification times in the zone itself, as in zip
    if apart == 0 or since_changed or (files.basis == "mtime" and not in_zones):
        return replace(files, uncertainty_ms=files.uncertainty_ms if apart else NOISE_MS, basis=f"start+{files.basis}")
    return ClockOffset(zone, NOISE_MS, "start", files_ms=-apart if in_zones and files.basis == "mtime" else 0)


def _starts(witnesses: Iterable[ClockEvidence]) -> list[tuple[PrintedUtc, int, str]]:
    """UTC times that show a zone, with the zone and their file, oldest first."""
    found = [(s, zone, w.source) for w in witnesses for s in w.starts if _sane(s.wall) and (zone := s.zone_ms) is not None]
    return sorted(found, key=lambda f: (f[0].utc, f[2], f[0].line or 0))


def _started(witnesses: Sequence[ClockEvidence]) -> int | None:
    """Offset of the zone at the end of the logs, from the UTC times printed in them: the last one if the same file shows another offset
    before, or if the two are an hour apart; else the most frequent, as files of other machines may be among them."""
    starts = _starts(witnesses)
    if not starts:
        return None
    most = Counter(zone for _, zone, _ in reversed(starts)).most_common(1)[0][0]
    start, last, last_source = starts[-1]
    changed = abs(last - most) == HOUR_MS or any(zone == most and source == last_source for _, zone, source in starts)
    later = (j for w in witnesses for j in w.jumps if _sane(j.before) and _later(j, w.source, start, last_source))
    return _after_jumps(last if changed else most, later)


def _after_jumps(zone: int, jumps: Iterable[Jump]) -> int:
    """The zone's offset after those of these jumps that are changes of the zone; at most one within a day."""
    seen = datetime.min
    for jump in sorted(jumps, key=lambda j: j.before):
        if jump.before >= seen and (_repeats_an_hour(jump) or _leaps_sharply(jump)):
            zone += -HOUR_MS if jump.after < jump.before else HOUR_MS
            seen = jump.before + timedelta(days=1)
    return zone


def _later(jump: Jump, source: str, start: PrintedUtc, printed_in: str) -> bool:
    """Whether a clock jumped after a process printed its zone. In another file the jump must be at least an hour later, since a repeated
    hour is ambiguous."""
    if not _sane(jump.after):
        return False
    if source == printed_in and start.line is not None:
        return jump.line > start.line
    return jump.before >= start.wall + DST_SHIFT


def _by_files(known: Sequence[ClockEvidence]) -> ClockOffset | None:
    """A clock's offset from container stamps, else from modification times. A container runtime stamps lines with the same machine's
    clock at the same moment."""
    stamped = [w.wall_minus_utc_ms for w in known if w.wall_minus_utc_ms is not None]
    if not stamped:
        return _by_modification(known)
    offset = median_low(stamped)
    zone = plain(offset, AGREE_MS)
    return ClockOffset(offset if zone is None else zone, AGREE_MS, "container")


def _by_modification(known: Sequence[ClockEvidence]) -> ClockOffset | None:
    """A clock's offset from modification times. Those later than the true ones only make offsets smaller, so the largest offset counts.
    That offset is accepted if files with different modification times agree on it, or if it is close to a zone."""
    offsets = [(w.offset_ms, w.modified) for w in known if w.offset_ms is not None and w.modified is not None]
    if not offsets:
        return None
    best = max(offset for offset, _ in offsets)
    zone = plain(best, AGREE_MS)
    if zone is not None:
        latest = _latest_zone(known)
        return ClockOffset(latest if zone - latest == HOUR_MS else zone, AGREE_MS, "mtime")
    if copied(known):
        return None
    agreeing = [modified for offset, modified in offsets if best - offset <= AGREE_MS]
    if max(agreeing) - min(agreeing) > timedelta(milliseconds=AGREE_MS) and abs(best) <= ZONES[-1] * MINUTE_MS:
        return ClockOffset(best, AGREE_MS, "mtime")
    near = plain(best, NEAR_ZONE_MS)
    return None if near is None else ClockOffset(near, NEAR_ZONE_MS, "mtime")


def _latest_zone(known: Iterable[ClockEvidence]) -> int:
    """The zone that the file modified last shows."""
    return max((w.modified, zone) for w in known if w.modified is not None and (zone := w.zone_ms) is not None)[1]


def copied(witnesses: Sequence[ClockEvidence]) -> bool:
    """Whether the files were copied without their modification times: one late time for files that ended at different times."""
    modified = [w.modified for w in witnesses if w.offset_ms is not None and w.modified is not None]
    last = [w.last for w in witnesses if w.offset_ms is not None and w.last is not None]
    return len(modified) > 1 and max(modified) - min(modified) <= timedelta(milliseconds=AGREE_MS) < (max(last) - min(last)) / 5


def floor(witnesses: Iterable[ClockEvidence]) -> int | None:
    """Lower bound of the offset: no line was printed after its file was last modified."""
    return max((w.offset_ms for w in witnesses if w.offset_ms is not None), default=None)


# the zone's changes


_NIGHT = frozenset({23, 0, 1, 2, 3, 4})
"""Hours at which zones change their offset."""


def _repeats_an_hour(jump: Jump) -> bool:
    """Whether the clock went back by up to an hour, within one clock hour of the night."""
    same = jump.before.replace(minute=0, second=0, microsecond=0) == jump.after.replace(minute=0, second=0, microsecond=0)
    back = same and jump.before.hour in _NIGHT and jump.before - jump.after > timedelta(minutes=1)
    return back and _ambiguous(_next_hour(jump.before) - DST_SHIFT / 2)


def _next_hour(at: datetime) -> datetime:
    hour = at.replace(minute=0, second=0, microsecond=0)
    return hour if hour == at else hour + DST_SHIFT


def _leaps_an_hour(jump: Jump) -> bool:
    """Whether the clock went forward over exactly one clock hour of the night."""
    hour = _next_hour(jump.before)
    leaps = hour.hour in _NIGHT and hour + DST_SHIFT <= jump.after < hour + 2 * DST_SHIFT and jump.after - jump.before >= DST_SHIFT
    return leaps and _ambiguous(hour + DST_SHIFT / 2)


@cache
def _ambiguous(wall: datetime) -> bool:
    """Whether clocks of some zone show this time twice or never: on other dates a step is one of the clock. True without a database."""
    zones = _zones()
    return not zones or any(len({wall.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1)}) > 1 for zone in zones)


@cache
def _zones() -> Sequence[ZoneInfo]:
    """All zones of the database: some hundred files, which are read once and not for each time."""
    return tuple(ZoneInfo(name) for name in available_timezones())


def _leaps_sharply(jump: Jump) -> bool:
    """Whether the log has lines up to the skipped hour and right after it: silence alone almost never looks like this."""
    hour = _next_hour(jump.before)
    return _leaps_an_hour(jump) and hour - jump.before <= ZONE_CHANGE_MARGIN and jump.after - (hour + DST_SHIFT) <= ZONE_CHANGE_MARGIN


def changes(witnesses: Sequence[ClockEvidence], offset_ms: int, files_ms: int = 0) -> tuple[ZoneChange, ...]:
    """Changes of the zone's offset during a broker's logs, oldest first. `offset_ms`: the offset at the end. `files_ms`: the error of
    modification times.

    A change is shown by a repeated hour, or by a skipped hour of the night with log lines right before and after it. Otherwise by two
    files whose modification times show offsets an hour apart: the change is placed at a skipped hour between them. Otherwise by two
    processes in one log with different zones: the change is placed at the start of the later one.
    """
    starts = _starts(witnesses)
    of_files = _zones_of_files(witnesses, starts, files_ms)
    samples = sorted({*of_files, *((s.utc, zone) for s, zone, _ in starts)})
    skew = offset_ms - nearest_zone(offset_ms) * MINUTE_MS
    jumps = sorted((j for w in witnesses for j in w.jumps if _sane(j.before) and _sane(j.after)), key=lambda j: j.before)
    zones = {j: [(s.line, s.zone_ms) for s in w.starts if s.line is not None] for w in witnesses for j in w.jumps}
    if found := _by_jumps(jumps, zones, samples, offset_ms, skew):
        return tuple(reversed(found))
    bounded = _by_starts(starts, offset_ms, skew) or _by_samples(of_files, offset_ms, skew)
    return tuple(_at_its_jump(change, jumps, [(at, zone + skew) for at, zone in samples]) for change in reversed(bounded))


def _at_its_jump(change: ZoneChange, jumps: Sequence[Jump], samples: Sequence[tuple[datetime, int]]) -> ZoneChange:
    """A change to a larger offset, placed where the clock jumped by its size, if a log shows that between the last sample before the change
    and the first one after it. Samples only bound the place of a change."""
    moved = timedelta(milliseconds=change.after_ms - change.before_ms)
    before, after = timedelta(milliseconds=change.before_ms), timedelta(milliseconds=change.after_ms)
    begin = max((at for at, offset in samples if offset == change.before_ms), default=datetime.min)
    end = min((at for at, offset in samples if offset == change.after_ms and at > begin), default=datetime.max)
    late = timedelta(milliseconds=LATE_MS)
    shown = [j for j in jumps if moved <= j.after - j.before <= moved + late and begin <= j.before - before < end]
    if moved < timedelta(0) or not shown:
        return change
    # All lines before the change are earlier than the first line after it, also those of files that end there.
    return replace(change, at=min(j.after for j in shown) - after, source="", line=None)


def _by_jumps(
    jumps: Sequence[Jump],
    zones: Mapping[Jump, Sequence[tuple[int, int | None]]],
    samples: Sequence[tuple[datetime, int]],
    offset_ms: int,
    skew: int,
) -> list[ZoneChange]:
    """Changes at repeated and skipped hours, latest first; at most one within a day. `zones`: lines of the jump's log, with the zones that
    processes printed there; None if their clock was wrong."""

    def near(jump: Jump) -> Iterator[Jump]:
        """The same change in all logs of the broker."""
        return (
            j for j in jumps if abs(j.before - jump.before) <= ZONE_CHANGE_MARGIN and (j.after < j.before) == (jump.after < jump.before)
        )

    found: list[ZoneChange] = []
    after = offset_ms
    for jump in reversed(jumps):
        back = _repeats_an_hour(jump)
        if not back and not _leaps_an_hour(jump):
            continue
        before = after + (HOUR_MS if back else -HOUR_MS)
        at = _next_hour(jump.before) - timedelta(milliseconds=before)
        if (found and abs(found[-1].at - at) < timedelta(days=1)) or _contradicted(samples, at, before - skew, after - skew):
            continue
        if any(zone != (before if line < j.line else after) - skew for j in near(jump) for line, zone in zones.get(j, ())):
            continue
        if back or _leaps_sharply(jump) or _supported(samples, at, before - skew):
            found.append(ZoneChange(at, before, after))
            after = before
    return found


def _zones_of_files(
    witnesses: Sequence[ClockEvidence], starts: Sequence[tuple[PrintedUtc, int, str]], files_ms: int
) -> list[tuple[datetime, int]]:
    """Correct modification times with the zones they show. If processes printed their zone, only zones that may be the same one in
    another season."""
    near = {zone + season for _, zone, _ in starts for season in (-HOUR_MS, 0, HOUR_MS)}
    error = timedelta(milliseconds=files_ms)
    zones = [(w.modified - error, zone + files_ms) for w in witnesses if w.modified is not None and (zone := w.zone_ms) is not None]
    return sorted((at, zone) for at, zone in zones if _sane(at) and (zone in near or not near))


def _by_starts(starts: Sequence[tuple[PrintedUtc, int, str]], offset_ms: int, skew: int) -> list[ZoneChange]:
    """Changes between a process and later ones in the same log with another zone, or in any log with a zone an hour apart."""
    found: list[ZoneChange] = []
    after, later = offset_ms - skew, ""
    begun: PrintedUtc | None = None
    for start, zone, source in reversed(starts):
        if zone == after:
            begun, later = start, source
        elif begun is not None and (source == later or abs(zone - after) == HOUR_MS):
            at = begun.since - timedelta(milliseconds=after + skew)
            found.append(ZoneChange(at, zone + skew, after + skew, later, begun.line))
            after, begun, later = zone, start, source
    return found


def changes_in(name: str, witnesses: Sequence[ClockEvidence], skew_ms: int) -> tuple[ZoneChange, ...]:
    """Changes of a zone of the time zone database during these logs, oldest first, at most for the logs' last year."""
    last = max((w.last for w in witnesses if w.last is not None), default=None)
    if last is None or not _sane(last):
        return ()
    begin = min((w.first for w in witnesses if w.first is not None), default=datetime.min)
    zone = ZoneInfo(name)

    def offset(at: datetime) -> timedelta:
        return at.replace(tzinfo=timezone.utc).astimezone(zone).utcoffset() or timedelta(0)

    found = []
    for one, other in pairwise(last - timedelta(days=d) for d in range(365, -2, -1)):
        if offset(one) != offset(other):
            at = _moment_of_change(one, other, offset)
            before, after = (round(offset(t).total_seconds() * 1000) + skew_ms for t in (one, other))
            found.append(ZoneChange(at, before, after))
    return tuple(c for c in found if begin < c.wall and c.at <= last - timedelta(milliseconds=c.after_ms))


def _moment_of_change(low: datetime, high: datetime, offset: Callable[[datetime], timedelta]) -> datetime:
    """The minute between two times at which the offset changes to that of the second one."""
    after = offset(high)
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        low, high = (low, middle) if offset(middle) == after else (middle, high)
    return (high + timedelta(seconds=30)).replace(second=0, microsecond=0)


def _sane(at: datetime) -> bool:
    """Whether the year is plausible for a log line."""
    return 1970 <= at.year < 2200


def _contradicted(samples: Sequence[tuple[datetime, int]], at: datetime, before: int, after: int) -> bool:
    day = timedelta(days=1)
    return any((at - day < m < at and zone == after) or (at <= m < at + day and zone == before) for m, zone in samples)


def _supported(samples: Sequence[tuple[datetime, int]], at: datetime, before: int) -> bool:
    """Whether an earlier sample shows the offset before the change."""
    return any(modified < at and zone == before for modified, zone in samples)


def _by_samples(samples: Sequence[tuple[datetime, int]], offset_ms: int, skew: int) -> list[ZoneChange]:
    """Changes between the ends of two rolled logs."""
    found: list[ZoneChange] = []
    after = offset_ms - skew
    for modified, zone in reversed(samples):
        if zone != after and abs(zone - after) == HOUR_MS:
            found.append(ZoneChange(modified + timedelta(milliseconds=1), zone + skew, after + skew))
            after = zone
    return found


def _shows(jump: Jump, change: ZoneChange) -> bool:
    """Whether a jump is this change: the clock goes back at it. If the change came with a new process, the jump is near that process's
    start."""
    if change.line is None:
        return _repeats_an_hour(jump) and _next_hour(jump.before) == change.wall
    return (
        jump.after < jump.before < change.wall + ZONE_CHANGE_MARGIN
        and jump.after > change.at + timedelta(milliseconds=change.after_ms) - ZONE_CHANGE_MARGIN
    )


@dataclass(frozen=True, slots=True)
class ZoneStep:
    """Lines of a source before `line` (if None: with a wall clock below `wall`) have this offset."""

    line: int | None
    wall: datetime
    before_ms: int


def offset_changes(jumps: Sequence[Jump], offset_ms: int, last: tuple[int, datetime]) -> tuple[ZoneStep, ...]:
    """Steps in a log whose writers alternate and have different zones, for example a process started with another zone. That process's
    lines are back by the same multiple of 15 minutes each time, the lines in between are not. `offset_ms`: offset of the others; `last`:
    number and wall clock of the last line."""
    sizes = Counter(size for j in jumps if (size := _turn(j)) < 0)
    size, times = sizes.most_common(1)[0] if sizes else (0, 0)
    taken = [j for j in jumps if abs(_turn(j)) == -size]
    if times < 2 or any((one.after < one.before) == (other.after < other.before) for one, other in pairwise(taken)):
        return ()
    found = [ZoneStep(j.line, j.before, offset_ms + (size if j.after > j.before else 0)) for j in taken]
    if taken[-1].after < taken[-1].before:
        line, wall = last
        returned = wall - taken[-1].after >= timedelta(milliseconds=-size)
        found.append(ZoneStep(line if returned else line + 1, wall, offset_ms + size))
    return tuple(found)


def _turn(jump: Jump) -> int:
    """The jump in whole quarters of an hour, in ms, if at most a short silence is left over; otherwise 0."""
    moved = (jump.after - jump.before) // timedelta(milliseconds=1)
    quarters = moved // QUARTER_MS * QUARTER_MS
    return quarters if _sane(jump.before) and _sane(jump.after) and moved - quarters <= LATE_MS else 0


def steps(changes: Sequence[ZoneChange], first: datetime | None, jumps: Sequence[Jump], source: str = "") -> tuple[ZoneStep, ...]:
    """Lines at which the offset changes inside a source that begins at wall clock `first`, oldest first."""
    found = []
    for change in changes:
        if change.line is not None and change.source == source:
            found.append(ZoneStep(change.line, change.wall, change.before_ms))
            continue
        if first is not None and first >= change.wall:
            continue
        jump = next((j for j in jumps if change.before_ms > change.after_ms and _shows(j, change)), None)
        found.append(ZoneStep(jump.line if jump is not None else None, change.wall, change.before_ms))
    return tuple(found)


SEVERAL = 5
"""From this many files with one time on, it is not a coincidence."""


def meaningless(sources: Iterable[Source], logs: str) -> frozenset[str]:
    """Paths of the files whose modification times are meaningless, decided per collection. `logs`: suffix of the kinds that are logs. A
    collection without logs is judged by all other collections; if none has logs, by its own files."""
    groups = grouped(((s.node, s.collection), s) for s in sources)
    distances = {key: _far(own, logs) for key, own in groups.items()}
    known = [far for far in distances.values() if far is not None]
    everywhere = bool(known) and all(known)
    found = [
        own for key, own in groups.items() if distances[key] or (distances[key] is None and (everywhere or (not known and _at_once(own))))
    ]
    return frozenset(s.path for own in found for s in own)


def _far(own: Iterable[Source], logs: str) -> bool | None:
    """Whether most logs were modified long before or after their last lines. None if no log has both times."""
    apart = [s.modified - s.last for s in own if s.kind.endswith(logs) and s.last is not None and s.modified is not None]
    return 2 * sum(abs(a) > FARTHEST_ZONE for a in apart) > len(apart) if apart else None


def _at_once(own: Iterable[Source]) -> bool:
    times = [s.modified for s in own if s.modified is not None]
    return len(times) >= SEVERAL and max(times) - min(times) <= WRITTEN_AT_ONCE
