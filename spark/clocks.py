"""What UTC it was when a broker printed a line: the offset of each broker's clock, its zone and its error apart.

Here: the witnesses of a clock (modification times, a container's stamps, events that two machines saw), the estimate with its
uncertainty that follows from all of them together, and changes of the zone's offset in the middle of a log (DST). Not here:
the use of the estimate (gather), or any reordering inside a file, which never happens.

Two machines' clocks are compared by cause and effect: a cause is never later than its effect, so each pair bounds the
difference from one side. Nothing in the evidence tells absolute time, so the clocks that agree, most of them, are held right.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from heapq import heappop, heappush
from itertools import count, pairwise
from statistics import median_low
from typing import NamedTuple
from zoneinfo import ZoneInfo

from spark.events import Event

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS

# Offsets in use since 2000, minutes, as the time zone database has them; others are clock errors.
_HALVES = (-570, -270, -210, -150, 210, 270, 330, 345, 390, 510, 525, 570, 630, 765, 825)
ZONES: tuple[int, ...] = tuple(sorted((*range(-12 * 60, 14 * 60 + 1, 60), *_HALVES)))
"""Minutes from UTC of the zones there are."""
AGREE_MS = 2_000
"""Some archives and file systems keep whole seconds only."""
NEAR_ZONE_MS = 30_000
"""A last line and a file's modification are this close when nothing but a late flush lies between."""
UNSURE = frozenset({"assumed", "fleet", "copy"})
"""Bases on which a zone is only assumed."""
NOISE_MS = 100
"""Kafka writes a record and prints the line about it within so much, on one machine."""


class Subject(NamedTuple):
    """A clock: what a node's lines show ('wall'), or what it stamps on records of the metadata log ('utc')."""

    node: int
    face: str = "wall"


@dataclass(frozen=True, slots=True)
class Change:
    """The zone's offset changed at `at` (UTC) from `before_ms` to `after_ms`, both with the clock's error."""

    at: datetime
    before_ms: int
    after_ms: int

    @property
    def wall(self) -> datetime:
        """What the clock would have shown had it not changed: lines below it are from before, unless it went back."""
        return self.at + timedelta(milliseconds=self.before_ms)


@dataclass(frozen=True, slots=True)
class Clock:
    """A broker's clock, as it went at the end of its logs. Wall clock minus UTC is `zone_minutes` and `skew_ms` together.

    `basis`: 'given' by the user, 'container' (stamps a runtime put before lines), 'mtime', 'metadata' (KRaft's records),
    'events' (of other brokers), joined by '+'; only assumed: 'fleet' (the zone the others share), 'copy' (the first zone in
    which no line is later than its copy), 'assumed' (nothing to go by: UTC).
    `uncertainty_ms` is about the whole offset, against the clocks that are held right; None: unknown.
    """

    zone_minutes: int = 0
    skew_ms: int = 0
    uncertainty_ms: int | None = None
    basis: str = "assumed"
    compared: tuple[int, ...] = ()
    """Nodes whose clocks this one was compared with, first hand."""
    disputed: bool = False
    """As many clocks say that others are right as say that those held right are."""
    files_ms: int = 0
    """Error of the modification times its machine gave to files."""
    stamps_ms: int = 0
    """Error of the times it wrote into the metadata log as the active controller."""
    changes: tuple[Change, ...] = ()
    evidence: tuple[Event, ...] = ()
    """Events of one cause, of this broker and of another, that tell the difference."""

    @property
    def offset_ms(self) -> int:
        return self.zone_minutes * MINUTE_MS + self.skew_ms

    @property
    def zone(self) -> str:
        minutes = abs(self.zone_minutes)
        sign = "-" if self.zone_minutes < 0 else "+"
        return "UTC" if minutes == 0 else f"UTC{sign}{minutes // 60:02d}:{minutes % 60:02d}"

    @classmethod
    def at_offset(cls, offset_ms: int, uncertainty_ms: int | None = None, basis: str = "assumed") -> Clock:
        """The clock with this offset in the nearest zone there is."""
        zone = nearest_zone(offset_ms)
        return cls(zone, offset_ms - zone * MINUTE_MS, uncertainty_ms, basis)


def nearest_zone(offset_ms: int) -> int:
    """The zone, in minutes from UTC, nearest to an offset; of two, the one nearer to UTC."""
    at = bisect_left(ZONES, offset_ms / MINUTE_MS)
    return min(ZONES[max(at - 1, 0) : at + 1], key=lambda zone: (abs(zone * MINUTE_MS - offset_ms), abs(zone)))


def in_zone(name: str, wall: datetime) -> int:
    """Offset in ms of a zone of the time zone database when its clocks show `wall`."""
    offset = wall.replace(tzinfo=ZoneInfo(name)).utcoffset()
    return 0 if offset is None else round(offset.total_seconds() * 1000)


def _plain(offset_ms: int, within_ms: int) -> int | None:
    """Offset in ms of the zone that lies so near, None where none does."""
    zone = nearest_zone(offset_ms) * MINUTE_MS
    return zone if abs(zone - offset_ms) <= within_ms else None


# one broker's own files


@dataclass(frozen=True, slots=True)
class Jump:
    """Two neighbouring lines of a log between which the wall clock went back, or leapt over an hour. `line`: the later one."""

    line: int
    before: datetime
    after: datetime


@dataclass(frozen=True, slots=True)
class Witness:
    """One log file: wall clock of its last line and its first, its modification time (UTC), what its container's stamps tell."""

    last: datetime | None
    modified: datetime | None
    wall_minus_utc_ms: int | None = None
    source: str = ""
    jumps: tuple[Jump, ...] = ()
    first: datetime | None = None

    @property
    def offset_ms(self) -> int | None:
        if self.last is None or self.modified is None:
            return None
        return round((self.last - self.modified).total_seconds() * 1000)

    @property
    def zone_ms(self) -> int | None:
        """The zone's offset at the file's end, where the file alone tells it."""
        if self.wall_minus_utc_ms is not None:
            return _plain(self.wall_minus_utc_ms, 5 * MINUTE_MS)
        offset = self.offset_ms
        return None if offset is None else _plain(offset, AGREE_MS)


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a clock shows by its own machine's word: wall clock minus UTC, and how far that may be wrong."""

    offset_ms: int
    uncertainty_ms: int
    basis: str


def anchor(witnesses: Iterable[Witness]) -> Anchor | None:
    """A clock by its own files; None when they tell nothing. Stamps of a container's runtime come from the same machine at the
    same moment. Modification times later than the true ones only make offsets smaller, so the largest offset counts; it is
    believed when files with different modification times agree on it, or when it is plainly a zone."""
    known = list(witnesses)
    stamped = [w.wall_minus_utc_ms for w in known if w.wall_minus_utc_ms is not None]
    if stamped:
        offset = median_low(stamped)
        zone = _plain(offset, AGREE_MS)
        return Anchor(offset if zone is None else zone, AGREE_MS, "container")
    found = sorted(((w.offset_ms, w.modified) for w in known if w.offset_ms is not None and w.modified is not None), reverse=True)
    if not found:
        return None
    best = found[0][0]
    zone = _plain(best, AGREE_MS)
    if zone is not None:
        latest = max((w.modified, w.zone_ms) for w in known if w.modified is not None and w.zone_ms is not None)[1]
        return Anchor(latest if zone - latest == HOUR_MS else zone, AGREE_MS, "mtime")
    if copied(known):
        return None
    agreeing = [modified for offset, modified in found if best - offset <= AGREE_MS]
    if (max(agreeing) - min(agreeing)).total_seconds() * 1000 > AGREE_MS and abs(best) <= ZONES[-1] * MINUTE_MS:
        return Anchor(best, AGREE_MS, "mtime")
    near = _plain(best, NEAR_ZONE_MS)
    return None if near is None else Anchor(near, NEAR_ZONE_MS, "mtime")


def copied(witnesses: Sequence[Witness]) -> bool:
    """A copy that did not keep modification times: one late time for files that ended at different ones."""
    modified = [w.modified for w in witnesses if w.offset_ms is not None and w.modified is not None]
    last = [w.last for w in witnesses if w.offset_ms is not None and w.last is not None]
    return len(modified) > 1 and max(modified) - min(modified) <= timedelta(milliseconds=AGREE_MS) < (max(last) - min(last)) / 5


def floor(witnesses: Iterable[Witness]) -> int | None:
    """The least the offset may be: no line was printed after its file was last touched, by whomever."""
    return max((w.offset_ms for w in witnesses if w.offset_ms is not None), default=None)


# the zone's changes


_NIGHT = frozenset({23, 0, 1, 2, 3, 4})
"""Hours at which the zones there are change their offset."""
_EDGE = timedelta(minutes=2)
_HOUR = timedelta(hours=1)


def _repeats_an_hour(jump: Jump) -> bool:
    """Back by up to an hour, within one clock hour of the night."""
    same = jump.before.replace(minute=0, second=0, microsecond=0) == jump.after.replace(minute=0, second=0, microsecond=0)
    return same and jump.before.hour in _NIGHT and jump.before - jump.after > timedelta(minutes=1)


def _next_hour(at: datetime) -> datetime:
    hour = at.replace(minute=0, second=0, microsecond=0)
    return hour if hour == at else hour + _HOUR


def _leaps_an_hour(jump: Jump) -> bool:
    """Forward over exactly one clock hour of the night."""
    hour = _next_hour(jump.before)
    return hour.hour in _NIGHT and hour + _HOUR <= jump.after < hour + 2 * _HOUR and jump.after - jump.before >= _HOUR


def _leaps_sharply(jump: Jump) -> bool:
    """A log that speaks up to the hour and again right after the next: silence alone hardly ever looks so."""
    hour = _next_hour(jump.before)
    return _leaps_an_hour(jump) and hour - jump.before <= _EDGE and jump.after - (hour + _HOUR) <= _EDGE


def changes(witnesses: Sequence[Witness], offset_ms: int) -> tuple[Change, ...]:
    """Changes of the zone's offset in the time of a broker's logs, of which `offset_ms` is the offset at the end, oldest first.

    An hour told twice, or an hour left out in the night by a log that spoke right before and after, is one; else two files
    whose modification times tell offsets an hour apart, with the change put where a log leaves out an hour between them.
    """
    jumps = sorted((j for w in witnesses for j in w.jumps if _sane(j.before) and _sane(j.after)), key=lambda j: j.before)
    samples = sorted((m, zone) for w in witnesses if (m := w.modified) is not None and _sane(m) and (zone := w.zone_ms) is not None)
    skew = offset_ms - nearest_zone(offset_ms) * MINUTE_MS
    found: list[Change] = []
    after = offset_ms
    for jump in reversed(jumps):
        back, leap = _repeats_an_hour(jump), _leaps_an_hour(jump)
        if not back and not leap:
            continue
        before = after + (HOUR_MS if back else -HOUR_MS)
        at = _next_hour(jump.before) - timedelta(milliseconds=before)
        if found and abs(found[-1].at - at) < timedelta(days=1):
            continue
        if not _contradicted(samples, at, before - skew, after - skew) and (
            back or _leaps_sharply(jump) or _told(samples, at, before - skew)
        ):
            found.append(Change(at, before, after))
            after = before
    if not found:
        found = _by_samples(samples, offset_ms, skew)
    return tuple(reversed(found))


def changes_in(name: str, witnesses: Sequence[Witness], skew_ms: int) -> tuple[Change, ...]:
    """Changes of a zone of the time zone database in the time of these logs, at most the last year of it, oldest first."""
    walls = [w.last for w in witnesses if w.last is not None]
    begin = min((w.first for w in witnesses if w.first is not None), default=datetime.min)
    zone = ZoneInfo(name)

    def offset(at: datetime) -> timedelta:
        return at.replace(tzinfo=timezone.utc).astimezone(zone).utcoffset() or timedelta(0)

    found = []
    days = [max(walls) - timedelta(days=d) for d in range(365, -2, -1)] if walls and _sane(max(walls)) else []
    for one, other in pairwise(days):
        if offset(one) == offset(other):
            continue
        low, high = one, other
        while high - low > timedelta(seconds=1):
            middle = low + (high - low) / 2
            low, high = (low, middle) if offset(middle) == offset(other) else (middle, high)
        at = (high + timedelta(seconds=30)).replace(second=0, microsecond=0)
        before, after = (round(offset(t).total_seconds() * 1000) + skew_ms for t in (one, other))
        found.append(Change(at, before, after))
    return tuple(c for c in found if begin < c.wall and c.at <= max(walls) - timedelta(milliseconds=c.after_ms))


def _sane(at: datetime) -> bool:
    """A time since there are computers to log it."""
    return 1970 <= at.year < 2200


def _contradicted(samples: Sequence[tuple[datetime, int]], at: datetime, before: int, after: int) -> bool:
    day = timedelta(days=1)
    return any((at - day < m < at and zone == after) or (at <= m < at + day and zone == before) for m, zone in samples)


def _told(samples: Sequence[tuple[datetime, int]], at: datetime, before: int) -> bool:
    return any(modified < at and zone == before for modified, zone in samples)


def _by_samples(samples: Sequence[tuple[datetime, int]], offset_ms: int, skew: int) -> list[Change]:
    """Logs that were rolled between: the change is known to lie between two files' ends."""
    found: list[Change] = []
    after = offset_ms - skew
    for modified, zone in reversed(samples):
        if zone != after and abs(zone - after) == HOUR_MS:
            found.append(Change(modified + timedelta(milliseconds=1), zone + skew, after + skew))
            after = zone
    return found


@dataclass(frozen=True, slots=True)
class Step:
    """Lines of a source before `line` (where that is not known: whose wall clock is below `wall`) have this offset."""

    line: int | None
    wall: datetime
    before_ms: int


def steps(clock: Clock, first: datetime | None, jumps: Sequence[Jump]) -> tuple[Step, ...]:
    """Where the offset changes inside one source that begins at wall clock `first`, oldest first."""
    found = []
    for change in clock.changes:
        if first is not None and first >= change.wall:
            continue
        own = (j for j in jumps if _repeats_an_hour(j) and change.before_ms > change.after_ms and _next_hour(j.before) == change.wall)
        jump = next(own, None)
        found.append(Step(jump.line if jump is not None else None, change.wall, change.before_ms))
    return tuple(found)


# clocks against each other


@dataclass(frozen=True, slots=True)
class Relation:
    """What is known of `later` minus `earlier`, two clocks' offsets: `best`, and bounds that hold. All in ms."""

    earlier: Subject
    later: Subject
    best: int
    low: int
    high: int
    evidence: tuple[Event, ...] = ()

    @property
    def uncertainty_ms(self) -> int:
        return max(self.high - self.best, self.best - self.low, 1)

    def turned(self) -> Relation:
        return Relation(self.later, self.earlier, -self.best, -self.high, -self.low, self.evidence)


def combined(found: Sequence[Relation]) -> Relation:
    """Several comparisons of the same two clocks as one: the intersection of their bounds, or, when one of the clocks was set in
    between so that they contradict each other, all of what they span."""
    low, high = max(r.low for r in found), min(r.high for r in found)
    bests = sorted(r.best for r in found)
    middle = median_low(bests)
    closest = min(found, key=lambda r: abs(r.best - middle))
    if low > high:
        low, high = bests[0], bests[-1]
    return replace(closest, best=min(max(middle, low), high), low=low, high=high)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A clock against the first one of those that hang together."""

    offset_ms: int
    uncertainty_ms: int
    via: Relation | None


def _components(subjects: Iterable[Subject], relations: Sequence[Relation]) -> list[dict[Subject, _Placed]]:
    """Clocks that were compared with each other, each placed over the surest way from one of them."""
    edges: dict[Subject, list[Relation]] = defaultdict(list)
    for r in relations:
        edges[r.earlier].append(r)
        edges[r.later].append(r.turned())
    left = sorted({*subjects, *edges}, key=lambda s: (s.face == "wall", -len(edges[s]), s))
    found: list[dict[Subject, _Placed]] = []
    seen: set[Subject] = set()
    number = count()
    for root in left:
        if root in seen:
            continue
        placed: dict[Subject, _Placed] = {}
        queue: list[tuple[int, int, Subject, _Placed]] = [(0, next(number), root, _Placed(0, 0, None))]
        while queue:
            _, _, subject, place = heappop(queue)
            if subject in placed:
                continue
            placed[subject] = place
            seen.add(subject)
            for r in edges[subject]:
                if r.later not in placed:
                    on = _Placed(place.offset_ms + r.best, place.uncertainty_ms + r.uncertainty_ms, r)
                    heappush(queue, (on.uncertainty_ms, next(number), r.later, on))
        found.append(placed)
    return found


def estimate(
    anchors: Mapping[int, Anchor],
    relations: Sequence[Relation] = (),
    nodes: Iterable[int] = (),
    floors: Mapping[int, int] | None = None,
) -> dict[int, Clock]:
    """The clock of each node, from what its own machine says of it and from comparisons with others."""
    subjects = {Subject(n) for n in (*anchors, *nodes)}
    found: dict[int, Clock] = {}
    for placed in _components(subjects, relations):
        found.update(_settled(placed, anchors, floors or {}))
    if len(found) > 1:  # a machine's files show its zone, but were stamped by the same clock
        found = {n: c if c.compared or c.basis == "given" else replace(c, uncertainty_ms=None) for n, c in found.items()}
    return _in_the_fleet(found)


def _in_the_fleet(found: Mapping[int, Clock]) -> dict[int, Clock]:
    """Machines of one cluster are mostly set up alike: a clock nothing is known of is in the zone all others share."""
    zones = {c.zone_minutes for c in found.values() if c.basis != "assumed"}
    lone = {n for n, c in found.items() if c.basis == "assumed" and not c.compared}
    if len(zones) != 1 or not lone or zones == {0}:
        return dict(found)
    zone = zones.pop()
    return {n: Clock(zone, basis="fleet") if n in lone else c for n, c in found.items()}


def _settled(placed: Mapping[Subject, _Placed], anchors: Mapping[int, Anchor], floors: Mapping[int, int]) -> dict[int, Clock]:
    told = {s: a for s in placed if (a := _anchor_of(s, anchors)) is not None}
    shift, disputed = _shift(placed, told) if told else (_assumed_shift(placed, floors), False)
    return {s.node: _clock(s, placed, shift, told, disputed) for s in placed if s.face == "wall"}


def _anchor_of(subject: Subject, anchors: Mapping[int, Anchor]) -> Anchor | None:
    return Anchor(0, NOISE_MS, "metadata") if subject.face == "utc" else anchors.get(subject.node)


def _shift(placed: Mapping[Subject, _Placed], told: Mapping[Subject, Anchor]) -> tuple[int, bool]:
    """Offset of the first clock, such that most machines are right; and whether another one would suit as many."""
    stamped = sorted(told, key=lambda s: (s.face == "wall", s))
    wanted = [told[s].offset_ms - placed[s].offset_ms for s in stamped]
    for s in sorted(set(placed) - set(told)):
        offset = wanted[0] + placed[s].offset_ms
        wanted.append(wanted[0] + nearest_zone(offset) * MINUTE_MS - offset)
    supporters = [_right(shift, placed, told) for shift in wanted]
    most = max(len(nodes) for nodes in supporters)
    best = next(i for i, nodes in enumerate(supporters) if len(nodes) == most)
    rivals = [nodes for nodes in supporters if len(nodes) == most and nodes.isdisjoint(supporters[best])]
    agreeing = [i for i, s in enumerate(stamped) if supporters[i] == supporters[best]]
    surest = min(agreeing, key=lambda i: placed[stamped[i]].uncertainty_ms + told[stamped[i]].uncertainty_ms, default=best)
    return wanted[surest], bool(rivals)


def _right(shift: int, placed: Mapping[Subject, _Placed], told: Mapping[Subject, Anchor]) -> frozenset[int]:
    """Machines whose clocks have no error if the first clock's offset is `shift`."""
    right: set[int] = set()
    wrong: set[int] = set()
    for s, place in placed.items():
        offset = shift + place.offset_ms
        slack = AGREE_MS + place.uncertainty_ms + (told[s].uncertainty_ms if s in told else 0)
        (right if abs(offset - _meant_by(s, place, told, shift)) <= slack else wrong).add(s.node)
    return frozenset(right - wrong)


def _assumed_shift(placed: Mapping[Subject, _Placed], floors: Mapping[int, int]) -> int:
    """No machine tells its zone: such that most are in zones there are, most of them in UTC, and no line later than its file."""
    places = list(placed.values())

    def suits(shift: int) -> tuple[int, int, int]:
        zoned = [p for p in places if _plain(shift + p.offset_ms, AGREE_MS + p.uncertainty_ms) is not None]
        in_utc = sum(abs(shift + p.offset_ms) <= AGREE_MS + p.uncertainty_ms for p in zoned)
        return len(zoned), in_utc, -sum(abs(shift + p.offset_ms) for p in zoned)

    shift = max((zone * MINUTE_MS - p.offset_ms for p in places[:8] for zone in ZONES), key=suits) if len(places) > 1 else 0
    lacking = max((floors[s.node] - (shift + p.offset_ms) for s, p in placed.items() if s.node in floors), default=0)
    if lacking <= NEAR_ZONE_MS:
        return shift
    return shift + next((z * MINUTE_MS for z in ZONES if z * MINUTE_MS >= lacking - NEAR_ZONE_MS), 0)


def _clock(subject: Subject, placed: Mapping[Subject, _Placed], shift: int, told: Mapping[Subject, Anchor], disputed: bool) -> Clock:
    place, own = placed[subject], told.get(subject)
    if len(placed) == 1:
        return (
            Clock.at_offset(own.offset_ms, own.uncertainty_ms, own.basis)
            if own is not None
            else Clock.at_offset(shift, basis=_basis(subject, placed, told, shift))
        )
    doubt, near = _nearest_right(subject, placed, _right(shift, placed, told), told)
    offset = _meant_by(near, placed[near], told, shift) + place.offset_ms - placed[near].offset_ms
    zone = nearest_zone(own.offset_ms if own is not None else offset)
    skew = offset - zone * MINUTE_MS
    of_files = own.offset_ms - zone * MINUTE_MS if own is not None else 0
    if abs(skew - of_files) <= max(doubt, NOISE_MS):
        skew = of_files
    if disputed:
        doubt += max(abs(shift + p.offset_ms - _meant_by(s, p, told, shift)) + p.uncertainty_ms for s, p in placed.items())
    return Clock(
        zone,
        skew,
        doubt if told else None,
        _basis(subject, placed, told, shift),
        compared=tuple(sorted(_neighbours(subject, placed))),
        disputed=disputed,
        files_ms=skew - of_files if own is not None and own.basis == "mtime" else 0,
        stamps_ms=skew if Subject(subject.node, "utc") in placed else 0,
        evidence=_quoted(subject, placed),
    )


def _meant_by(subject: Subject, place: _Placed, told: Mapping[Subject, Anchor], shift: int) -> int:
    """The offset a machine's clock would have without an error."""
    return told[subject].offset_ms if subject in told else nearest_zone(shift + place.offset_ms) * MINUTE_MS


def _nearest_right(
    subject: Subject, placed: Mapping[Subject, _Placed], right: frozenset[int], told: Mapping[Subject, Anchor]
) -> tuple[int, Subject]:
    """The clock held right that this one is most surely known against, and how surely, in ms. One whose error its own files
    measured is known only as well as they could."""
    mine = set(_path(subject, placed))
    found = [(placed[subject].uncertainty_ms, subject)]
    others = [s for s in placed if s != subject and (s.node in right or not right)]
    for s in others:
        way = sum(r.uncertainty_ms for r in mine ^ set(_path(s, placed)))
        own = told.get(s)
        found.append((way + (own.uncertainty_ms if own is not None and _plain(own.offset_ms, 0) is None else 0), s))
    return min(found[1:] or found)


def _path(subject: Subject, placed: Mapping[Subject, _Placed]) -> tuple[Relation, ...]:
    found = []
    while (via := placed[subject].via) is not None:
        found.append(via)
        subject = via.earlier
    return tuple(found)


def _neighbours(subject: Subject, placed: Mapping[Subject, _Placed]) -> set[int]:
    """Nodes that this one, by either of its faces, was compared with."""
    ways = [p.via for p in placed.values() if p.via is not None and subject.node in (p.via.earlier.node, p.via.later.node)]
    return {s.node for via in ways for s in (via.earlier, via.later)} - {subject.node}


def _quoted(subject: Subject, placed: Mapping[Subject, _Placed]) -> tuple[Event, ...]:
    via = placed[subject].via
    if via is None:
        via = next((p.via for p in placed.values() if p.via is not None and p.via.earlier == subject), None)
    return via.evidence if via is not None else ()


def _basis(subject: Subject, placed: Mapping[Subject, _Placed], told: Mapping[Subject, Anchor], shift: int) -> str:
    if not told:
        return "assumed" if nearest_zone(shift + placed[subject].offset_ms) == 0 else "copy" if len(placed) == 1 else "fleet"
    own = [told[subject].basis] if subject in told else []
    near = {r for s in placed if (r := placed[s].via) is not None and subject in (r.earlier, r.later)}
    stamped = any(s.face == "utc" for r in near for s in (r.earlier, r.later))
    return "+".join((*own, "metadata" if stamped else "events"))


# events of one cause that two machines saw


NOTICED_MS = 5_000
"""A controller or broker is told of a change in ZooKeeper within so much, unless it is busy."""
BUSY_MS = 30_000
"""As long as a busy controller may take to look at the change."""
TRIED = 16
"""Events of one kind of a pair of machines that are tried against each other; of more, the latest."""

RELATING = frozenset(
    {
        "broker-starting",
        "broker-started",
        "broker-stopping",
        "broker-registered",
        "broker-unfenced",
        "broker-state",
        "brokers-changed",
        "controlled-shutdown",
        "shutdown-seen",
        "controller-elected",
        "metadata-broker",
        "metadata-broker-change",
        "metadata-leader",
    }
)
"""Kinds of events that are looked at here."""


def relations(events: Iterable[Event], anchors: Mapping[int, Anchor]) -> list[Relation]:
    """Comparisons of clocks, one for each pair that has any. `events` carry the times their clocks told, uncorrected; each file's
    in its own order."""
    own: dict[int, list[Event]] = defaultdict(list)
    records: dict[tuple[str, int | None], Event] = {}
    for e in events:
        if e.writer is None or e.at is None:
            continue
        if e.event.startswith("metadata-"):
            records.setdefault((e.event, e.metadata_offset), e)
        elif e.line is not None:
            own[e.writer].append(e)
    pairs: dict[tuple[Subject, Subject], list[Relation]] = defaultdict(list)
    for r in (*_by_records(own, list(records.values())), *_by_zookeeper(own, anchors)):
        pairs[(r.earlier, r.later)].append(r)
    return [combined(pairs[key]) for key in sorted(pairs)]


def _apart(one: Event, other: Event) -> int:
    assert one.at is not None and other.at is not None
    return round((other.at - one.at).total_seconds() * 1000)


def _between(earlier: Subject, later: Subject, here: Event, before: Event, after: Event) -> Relation | None:
    """`here` on the earlier clock happened between two events on the later one."""
    low, high = _apart(here, before), _apart(here, after)
    return Relation(earlier, later, (low + high) // 2, low, high, (here, after)) if low <= high else None


def _by_records(own: Mapping[int, Sequence[Event]], records: Sequence[Event]) -> list[Relation]:
    """KRaft: what the active controller wrote into the metadata log, against the lines of itself and of the brokers."""
    active = {e.controller_epoch: e.controller for e in records if e.event == "metadata-leader" and e.controller is not None}
    by_epoch: dict[tuple[int | None, int | None], list[Event]] = defaultdict(list)
    for record in sorted((r for r in records if r.event != "metadata-leader"), key=lambda r: r.metadata_offset or 0):
        same = by_epoch[(record.broker, record.broker_epoch)]
        if not any((r.event, r.reason) == (record.event, record.reason) for r in same):
            same.append(record)  # a broker fenced and unfenced in its life prints nothing of it
    found: list[Relation | None] = []
    for node, events in own.items():
        for broker_epoch, life in (one for file in _files(events) for one in _lives(file)):
            for record in by_epoch.get((node, broker_epoch), ()):
                controller = active.get(record.controller_epoch)
                span = _span(record, life)
                if controller is not None and span is not None:
                    found.append(_between(Subject(controller, "utc"), Subject(node), record, *span))
        found.extend(_of_the_active(node, events, records, active, by_epoch))
    return [r for r in found if r is not None]


def _files(events: Sequence[Event]) -> list[list[Event]]:
    """A broker's events by the file that holds them; several files may hold the same lines."""
    found: dict[str, list[Event]] = defaultdict(list)
    for e in events:
        found[e.source].append(e)
    return list(found.values())


def _lives(events: Sequence[Event]) -> list[tuple[int, list[Event]]]:
    """A broker's events by the broker epoch it registered with; what it printed while it registered is in front."""
    found: list[tuple[int, list[Event]]] = []
    pending: list[Event] = []
    for e in events:
        if e.event in ("broker-starting", "broker-state") and e.reason in (None, "STARTING"):
            if e.event == "broker-starting" or e.broker is None:
                pending = []
            pending.append(e)
        elif e.event == "broker-registered" and e.broker_epoch is not None and e.reason is None:
            found.append((e.broker_epoch, [*pending, e]))
            pending = []
        elif found and not pending:
            found[-1][1].append(e)
    return found


def _span(record: Event, life: Sequence[Event]) -> tuple[Event, Event] | None:
    """The broker's own lines right before and right after a record about it."""
    if record.event == "metadata-broker":
        after = next((i for i, e in enumerate(life) if e.event == "broker-registered"), 0)
    elif record.reason == "unfenced":
        after = next((i for i, e in enumerate(life) if e.event == "broker-state" and e.reason == "RUNNING"), 0)
    elif record.reason == "shutdown":
        after = next((i for i, e in enumerate(life) if e.event == "controlled-shutdown" and e.reason == "done"), 0)
        begin = next((e for e in life[:after] if e.event == "controlled-shutdown" and e.reason == "start"), None)
        return (begin, life[after]) if begin is not None else None
    else:
        return None
    return (life[after - 1], life[after]) if after > 0 else None


def _of_the_active(
    node: int,
    events: Sequence[Event],
    records: Sequence[Event],
    active: Mapping[int | None, int],
    by_epoch: Mapping[tuple[int | None, int | None], Sequence[Event]],
) -> list[Relation]:
    """One machine, two faces: its stamps on records are in UTC, its lines in its zone."""
    led = {e.controller_epoch: e for e in records if e.event == "metadata-leader" and e.controller == node}
    found = []
    for e in events:
        record = led.get(e.controller_epoch) if e.event == "controller-elected" and e.controller == node else None
        if e.event == "broker-registered" and e.reason in ("decided", "replayed"):
            registered = (r for r in by_epoch.get((e.broker, e.broker_epoch), ()) if r.event == "metadata-broker")
            record = next((r for r in registered if active.get(r.controller_epoch) == node), None)
        zone = _plain(_apart(record, e), NEAR_ZONE_MS) if record is not None else None
        if record is not None and zone is not None:
            evidence = (record, e)
            found.append(Relation(Subject(node, "utc"), Subject(node), zone, zone - NOISE_MS, zone + NOISE_MS, evidence))
    return found


def _by_zookeeper(own: Mapping[int, Sequence[Event]], anchors: Mapping[int, Anchor]) -> list[Relation]:
    """ZooKeeper: what a controller sees of the brokers' lives, against their own lines."""
    found: list[Relation] = []
    controllers = [n for n in sorted(own) if any(e.event in _SEEN for e in own[n])]
    pairs = [(one, two) for one in controllers for two in sorted(own) if one != two]
    close = {pair: candidates for pair in pairs if (candidates := _candidates(pair[0], own[pair[0]], pair[1], own[pair[1]]))}
    pools = _Pools([c for candidates in close.values() for c in candidates], anchors)
    for one, two in pairs:
        deaths = [] if (one, two) in close else _deaths(one, own[one], two, own[two])
        found.extend(_chosen(close.get((one, two), deaths), anchors, pools))
    return found


_SEEN = frozenset({"shutdown-seen", "brokers-changed", "controller-elected"})


class _Pools:
    """What all pairings tell of one machine's clock, whatever the other machine is: the right ones agree, if the others' clocks
    are as they say themselves."""

    def __init__(self, candidates: Iterable[Relation], anchors: Mapping[int, Anchor]) -> None:
        self._anchors = anchors
        self._told: dict[Subject, list[int]] = defaultdict(list)
        for r in candidates:
            for subject, offset in self._implied(r):
                self._told[subject].append(offset)
        for told in self._told.values():
            told.sort()

    def _implied(self, r: Relation) -> list[tuple[Subject, int]]:
        one, two = (self._anchors.get(s.node, Anchor(0, 0, "")).offset_ms for s in (r.earlier, r.later))
        return [(r.later, one + r.best), (r.earlier, two - r.best)]

    def votes(self, r: Relation) -> int:
        """Pairings that agree with one, about either of its machines."""
        found = 0
        for subject, offset in self._implied(r):
            told = self._told[subject]
            found += bisect_right(told, offset + NOTICED_MS) - bisect_left(told, offset - NOTICED_MS)
        return found


def _candidates(controller: int, seen: Sequence[Event], broker: int, own: Sequence[Event]) -> list[Relation]:
    """Every pairing of a broker's line with a controller's about it; which belong together, no epoch tells."""
    one, two = Subject(controller), Subject(broker)
    found: list[Relation | None] = []
    shutdowns = [e for e in seen if e.event == "shutdown-seen" and e.broker == broker and e.reason != "replayed"][-TRIED:]
    for begin, done in [pair for file in _files(own) for pair in _shutdowns(file)][-TRIED:]:
        found.extend(_between(one, two, e, begin, done) for e in shutdowns)
    added = [e for e in seen if e.event == "brokers-changed" and e.reason in ("added", "bounced") and broker in (e.brokers or ())][-TRIED:]
    for starting, registered in [pair for file in _files(own) for pair in _registrations(file)][-TRIED:]:
        for e in added:
            best = _apart(e, registered)
            low = max(min(_apart(e, starting), best), best - NOTICED_MS)
            found.append(Relation(one, two, best, low, best + BUSY_MS, (e, registered)))
    elected = [e for e in seen if e.event == "controller-elected" and e.reason == "elected" and e.controller == controller][-TRIED:]
    told = [e for e in own if e.event == "controller-elected" and e.reason == "seen" and e.controller == controller][-TRIED:]
    for e in elected:
        found.extend(
            _noticed(one, two, e, t)
            for t in told
            if None in (e.controller_epoch, t.controller_epoch) or e.controller_epoch == t.controller_epoch
        )
    return [r for r in found if r is not None]


def _noticed(earlier: Subject, later: Subject, here: Event, there: Event) -> Relation:
    best = _apart(here, there)
    return Relation(earlier, later, best, best - NOTICED_MS, best + NOTICED_MS, (here, there))


def _deaths(controller: int, seen: Sequence[Event], broker: int, own: Sequence[Event]) -> list[Relation]:
    """A controller sees a broker gone after its last line, and before it is back: wide bounds, better than none."""
    gone = [e for e in seen if e.event == "brokers-changed" and e.reason == "deleted" and broker in (e.brokers or ())][-TRIED:]
    found = []
    for file in _files(own):
        for last, back in pairwise(file):
            if back.event == "broker-starting" and last.event != "broker-starting":
                returned = next((e for e in file[file.index(back) :] if e.event == "broker-registered"), back)
                for e in gone:
                    low, high = _apart(e, last), _apart(e, returned) + BUSY_MS
                    found.append(Relation(Subject(controller), Subject(broker), (low + high) // 2, low, high, (e, returned)))
    return found[-TRIED:]


def _shutdowns(own: Sequence[Event]) -> list[tuple[Event, Event]]:
    found = []
    begin: Event | None = None
    for e in own:
        if e.event == "controlled-shutdown" and e.reason == "start":
            begin = e
        elif e.event == "controlled-shutdown" and e.reason == "done" and begin is not None:
            found.append((begin, e))
            begin = None
        elif e.event == "broker-starting":
            begin = None
    return found


def _registrations(own: Sequence[Event]) -> list[tuple[Event, Event]]:
    """Starts with the registration in ZooKeeper each led to; a registration with itself where the start is not in evidence."""
    found = []
    starting: Event | None = None
    for e in own:
        if e.event == "broker-starting":
            starting = e
        elif e.event == "broker-registered" and e.reason is None and e.broker == e.writer:
            found.append((starting or e, e))
            starting = None
    return found


def _chosen(candidates: Sequence[Relation], anchors: Mapping[int, Anchor], pools: _Pools) -> list[Relation]:
    """The pairings that agree on one difference of the clocks: the one most of them tell, then what the machines say of
    themselves, then the latest, as logs are cut off at their beginning."""
    if not candidates:
        return []
    meant = _meant(candidates[0], anchors)

    def rank(r: Relation) -> tuple[int, bool, list[datetime]]:
        fits = meant is not None and r.low - AGREE_MS <= meant <= r.high + AGREE_MS
        return pools.votes(r), fits, [e.at for e in r.evidence if e.at is not None]

    best = max(candidates, key=rank)
    near = [c for c in candidates if abs(c.best - best.best) <= NOTICED_MS]
    if len(near) > 1:
        near = [replace(c, high=min(c.high, c.best + NOTICED_MS)) for c in near]
    return [_unsure(c, meant if meant is not None else nearest_zone(c.best) * MINUTE_MS) for c in near]


def _unsure(r: Relation, meant: int) -> Relation:
    """A difference that the bounds allow to be what both machines say of themselves, or else one of zones, is that."""
    if not r.low <= meant <= r.high:
        return r
    high = min(r.high, r.best + NOTICED_MS) if abs(r.best - meant) <= NOTICED_MS else r.high
    return replace(r, best=meant, high=high)


def _meant(r: Relation, anchors: Mapping[int, Anchor]) -> int | None:
    one, two = anchors.get(r.earlier.node), anchors.get(r.later.node)
    return two.offset_ms - one.offset_ms if one is not None and two is not None else None
