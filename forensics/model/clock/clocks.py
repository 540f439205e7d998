"""The UTC time at which a broker printed a line: the offset of each broker's clock, split into time zone and clock error.

Here: the estimate and its uncertainty, derived from each machine's own files (zones) and from events that two machines both logged
(comparisons). Not here: reading that evidence, using the estimate (build). Lines inside a file are never reordered.

Two machines' clocks are compared by cause and effect: a cause is never later than its effect, so each pair bounds the difference from
one side. The evidence contains no absolute time, so the largest group of clocks that agree is taken as correct.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from statistics import median_low
from typing import NamedTuple

from forensics.model.clock.zones import (
    AGREE_MS,
    HOUR_MS,
    MINUTE_MS,
    NEAR_ZONE_MS,
    NOISE_MS,
    ZONES,
    ClockOffset,
    ZoneChange,
    nearest_zone,
    plain,
)
from forensics.model.events import Event

DAY_MS = 24 * HOUR_MS
DELAYED_MS = 5_000
"""Bounds may be off by this: a line is printed late, or an effect was already there."""
UNSURE = frozenset({"assumed", "fleet", "copy"})
"""Bases on which a zone is only assumed."""


class Subject(NamedTuple):
    """A clock: the wall clock of a node's log lines ('wall'), or the node's stamps on records of the metadata log ('utc')."""

    node: int
    clock_kind: str = "wall"


@dataclass(frozen=True, slots=True)
class Clock:
    """A broker's clock at the end of its logs. Wall clock minus UTC is the sum of `zone_minutes` and `skew_ms`.

    `basis`: 'given' by the user, 'start' (UTC that Kafka printed), 'container' (stamps a runtime put before lines), 'mtime', 'metadata'
    (KRaft's records), 'events' (of other brokers), joined by '+'. Only assumed: 'fleet' (the zone all other brokers share), 'copy' (the
    first zone in which no line is later than its file's modification time), 'assumed' (no evidence: UTC). `uncertainty_ms` is the
    uncertainty of the whole offset against the clocks taken as correct; None: unknown.
    """

    zone_minutes: int = 0
    skew_ms: int = 0
    uncertainty_ms: int | None = None
    basis: str = "assumed"
    compared: tuple[int, ...] = ()
    """Nodes whose clocks were compared directly with this one."""
    disputed: bool = False
    """As many clocks support another group as support the one taken as correct."""
    files_ms: int = 0
    """Error of the modification times its machine gave to files."""
    stamps_ms: int = 0
    """Error of the times it wrote into the metadata log as the active controller."""
    days: int = 0
    """By how many days the dates of its lines are later than those of the metadata log's records: no zone explains it."""
    changes: tuple[ZoneChange, ...] = ()
    shown_zone: int | None = None
    """The zone in minutes that its evidence shows, if the user gave another one."""
    evidence: tuple[Event, ...] = ()
    """Related events of this broker and another broker that show the difference."""
    conflict: tuple[Event, ...] = ()
    """Related events that cannot all be true of these clocks. Nothing is corrected by them."""

    @property
    def offset_ms(self) -> int:
        return self.zone_minutes * MINUTE_MS + self.skew_ms + self.days * DAY_MS

    @property
    def assumed(self) -> bool:
        """Neither its own files nor events of other nodes show its offset."""
        return self.basis in UNSURE and not self.compared

    @property
    def zone(self) -> str:
        minutes = abs(self.zone_minutes)
        sign = "-" if self.zone_minutes < 0 else "+"
        return "UTC" if minutes == 0 else f"UTC{sign}{minutes // 60:02d}:{minutes % 60:02d}"

    @classmethod
    def at_offset(cls, offset_ms: int, uncertainty_ms: int | None = None, basis: str = "assumed") -> Clock:
        """The clock with this offset, in the nearest time zone in use."""
        zone = nearest_zone(offset_ms)
        return cls(zone, offset_ms - zone * MINUTE_MS, uncertainty_ms, basis)


# clocks against each other


@dataclass(frozen=True, slots=True)
class Relation:
    """Difference of two clocks' offsets, `later` minus `earlier`: best estimate `best`, bounds `low` and `high`, in ms."""

    earlier: Subject
    later: Subject
    best: int
    low: int
    high: int
    evidence: tuple[Event, ...] = ()
    conflict: bool = False
    """The evidence cannot all be true of the two clocks."""

    @property
    def uncertainty_ms(self) -> int:
        return max(self.high - self.best, self.best - self.low, 1)

    def turned(self) -> Relation:
        return replace(self, earlier=self.later, later=self.earlier, best=-self.best, low=-self.high, high=-self.low)


def combined(found: Sequence[Relation]) -> Relation:
    """Merges several comparisons of the same two clocks. The result is the median of the narrowest comparisons, within the intersection of
    all bounds. If the bounds do not intersect, the result spans all best estimates; if they are far apart (a clock was set in between, or a
    pair is of two events), it is a conflict."""
    first, last = max(found, key=lambda r: r.low), min(found, key=lambda r: r.high)
    low, high = first.low, last.high
    if low > high + DELAYED_MS:
        return replace(first, evidence=first.evidence + last.evidence, conflict=True)
    if low > high:
        low, high = min(r.best for r in found), max(r.best for r in found)
        near = list(found)
    else:
        width = min(r.high - r.low for r in found)
        near = [r for r in found if r.high - r.low <= 2 * width]
    middle = median_low(r.best for r in near)
    closest = min(near, key=lambda r: abs(r.best - middle))
    return replace(closest, best=min(max(middle, low), high), low=low, high=high)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A clock's offset relative to the first clock of its connected group."""

    offset_ms: int
    uncertainty_ms: int
    via: Relation | None


def _components(subjects: Iterable[Subject], relations: Sequence[Relation]) -> list[dict[Subject, _Placed]]:
    """Groups of clocks connected by comparisons. Each clock is placed over the path with the least uncertainty from one of the group."""
    edges: dict[Subject, list[Relation]] = defaultdict(list)
    for r in relations:
        edges[r.earlier].append(r)
        edges[r.later].append(r.turned())
    left = sorted({*subjects, *edges}, key=lambda s: (s.clock_kind == "wall", -len(edges[s]), s))
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
    anchors: Mapping[int, ClockOffset],
    relations: Sequence[Relation] = (),
    nodes: Iterable[int] = (),
    floors: Mapping[int, int] | None = None,
) -> dict[int, Clock]:
    """The clock of each node, from its own machine's files and from comparisons with other nodes. Comparisons that contradict each other
    correct nothing."""
    subjects = {Subject(n) for n in (*anchors, *nodes, *(s.node for r in relations for s in (r.earlier, r.later)))}
    agreed, conflicts = ([r for r in relations if r.conflict is c] for c in (False, True))
    found: dict[int, Clock] = {}
    for placed in _components(subjects, agreed):
        unfit = [r for r in agreed if r.earlier in placed and not _fits(r, placed)]
        for part in ({s: _Placed(0, 0, None)} for s in placed) if unfit else (placed,):
            for n, clock in _settled(part, anchors, floors or {}).items():  # lines that were compared with nothing come after records
                found[n] = replace(clock, stamps_ms=clock.stamps_ms or found[n].stamps_ms) if n in found else clock
        conflicts += [r for r in agreed if unfit and r.earlier in placed]
    for r in conflicts:
        for node in (r.earlier.node, r.later.node):
            found[node] = replace(found[node], conflict=(*found[node].conflict, *r.evidence))
    if len(found) > 1:  # a machine's files show its zone, but the same clock stamped them
        found = {n: c if c.compared or c.basis == "given" else replace(c, uncertainty_ms=None) for n, c in found.items()}
    return _in_the_fleet(found)


def _in_the_fleet(found: Mapping[int, Clock]) -> dict[int, Clock]:
    """Gives clocks without any evidence the zone that all others share: machines of one cluster are usually set up alike."""
    zones = {c.zone_minutes for c in found.values() if c.basis != "assumed"}
    lone = {n for n, c in found.items() if c.basis == "assumed" and not c.compared}
    if len(zones) != 1 or not lone or zones == {0}:
        return dict(found)
    zone = zones.pop()
    return {n: Clock(zone, basis="fleet") if n in lone else c for n, c in found.items()}


def _fits(r: Relation, placed: Mapping[Subject, _Placed]) -> bool:
    """Whether a comparison can be true of two clocks that were placed by others."""
    one, two = placed[r.earlier], placed[r.later]
    doubt = one.uncertainty_ms + two.uncertainty_ms + AGREE_MS
    return r.low - doubt <= two.offset_ms - one.offset_ms <= r.high + doubt


def _settled(placed: Mapping[Subject, _Placed], anchors: Mapping[int, ClockOffset], floors: Mapping[int, int]) -> dict[int, Clock]:
    anchored = {s: a for s in placed if (a := _anchor_of(s, anchors)) is not None}
    days = _days(placed, anchored)
    anchored = {s: a for s, a in anchored.items() if s not in days}
    placed = {s: replace(p, offset_ms=p.offset_ms - days.get(s, 0) * DAY_MS) for s, p in placed.items()}
    shift, disputed = _shift(placed, anchored) if anchored else (_assumed_shift(placed, floors), False)
    walls = (s for s in placed if s.clock_kind == "wall")
    found = {s.node: replace(_clock(s, placed, shift, anchored, disputed), days=days.get(s, 0)) for s in walls}
    for s, place in placed.items():  # the times of a controller's records are those of its clock, also if none of its lines is there
        if s.clock_kind == "utc" and abs(shift + place.offset_ms) > NOISE_MS + place.uncertainty_ms:
            own = found.setdefault(s.node, Clock(basis="events"))
            found[s.node] = replace(own, stamps_ms=own.skew_ms or shift + place.offset_ms)
    return found


def _days(placed: Mapping[Subject, _Placed], anchored: Mapping[Subject, ClockOffset]) -> dict[Subject, int]:
    """By how many days lines are later than records with which they were compared: such a difference is one of the dates, not of clocks."""
    stamped = {s.node: p.offset_ms for s, p in placed.items() if s.clock_kind == "utc"}
    if not stamped:
        return {}
    apart = {s: p.offset_ms - next(iter(stamped.values())) for s, p in placed.items()}
    days = {s: round(by / DAY_MS) for s, by in apart.items() if not ZONES[0] <= by / MINUTE_MS <= ZONES[-1]}
    moved = any(s.node in stamped for s in days)  # one clock gave a node's lines and its records, so their files have other dates, too
    return {s: by for s, by in days.items() if s not in anchored or (moved and anchored[s].basis == "mtime")}


def _anchor_of(subject: Subject, anchors: Mapping[int, ClockOffset]) -> ClockOffset | None:
    return ClockOffset(0, NOISE_MS, "metadata") if subject.clock_kind == "utc" else anchors.get(subject.node)


def _shift(placed: Mapping[Subject, _Placed], anchored: Mapping[Subject, ClockOffset]) -> tuple[int, bool]:
    """Offset of the first clock at which most machines are correct, and whether another offset has as much support."""
    stamped = sorted(anchored, key=lambda s: (s.clock_kind == "wall", s))
    wanted = [anchored[s].offset_ms - placed[s].offset_ms for s in stamped]
    for s in sorted(set(placed) - set(anchored)):
        offset = wanted[0] + placed[s].offset_ms
        wanted.append(wanted[0] + nearest_zone(offset) * MINUTE_MS - offset)
    supporters = [_right(shift, placed, anchored) for shift in wanted]
    most = max(len(nodes) for nodes in supporters)
    best = next(i for i, nodes in enumerate(supporters) if len(nodes) == most)
    rivals = [nodes for nodes in supporters if len(nodes) == most and nodes.isdisjoint(supporters[best])]
    agreeing = [i for i, s in enumerate(stamped) if supporters[i] == supporters[best]]
    surest = min(agreeing, key=lambda i: placed[stamped[i]].uncertainty_ms + anchored[stamped[i]].uncertainty_ms, default=best)
    return wanted[surest], bool(rivals)


def _right(shift: int, placed: Mapping[Subject, _Placed], anchored: Mapping[Subject, ClockOffset]) -> frozenset[int]:
    """Machines whose clocks have no error if the first clock's offset is `shift`."""
    right: set[int] = set()
    wrong: set[int] = set()
    for s, place in placed.items():
        offset = shift + place.offset_ms
        slack = AGREE_MS + place.uncertainty_ms + (anchored[s].uncertainty_ms if s in anchored else 0)
        (right if abs(offset - _meant_by(s, place, anchored, shift)) <= slack else wrong).add(s.node)
    return frozenset(right - wrong)


def _assumed_shift(placed: Mapping[Subject, _Placed], floors: Mapping[int, int]) -> int:
    """Shift where no machine shows its zone: most clocks in zones in use, most of these in UTC, no line later than its file."""
    places = list(placed.values())

    def suits(shift: int) -> tuple[int, int, int]:
        zoned = [p for p in places if plain(shift + p.offset_ms, AGREE_MS + p.uncertainty_ms) is not None]
        in_utc = sum(abs(shift + p.offset_ms) <= AGREE_MS + p.uncertainty_ms for p in zoned)
        return len(zoned), in_utc, -sum(abs(shift + p.offset_ms) for p in zoned)

    shift = max((zone * MINUTE_MS - p.offset_ms for p in places[:8] for zone in ZONES), key=suits) if len(places) > 1 else 0
    lacking = max((floors[s.node] - (shift + p.offset_ms) for s, p in placed.items() if s.node in floors), default=0)
    if lacking <= NEAR_ZONE_MS:
        return shift
    return shift + next((z * MINUTE_MS for z in ZONES if z * MINUTE_MS >= lacking - NEAR_ZONE_MS), 0)


def _clock(
    subject: Subject, placed: Mapping[Subject, _Placed], shift: int, anchored: Mapping[Subject, ClockOffset], disputed: bool
) -> Clock:
    place, own = placed[subject], anchored.get(subject)
    if len(placed) == 1:
        if own is None:
            return Clock.at_offset(shift, basis=_basis(subject, placed, anchored, shift))
        return replace(Clock.at_offset(own.offset_ms, own.uncertainty_ms, own.basis), files_ms=own.files_ms)
    doubt, near = _nearest_right(subject, placed, _right(shift, placed, anchored), anchored)
    offset = _meant_by(near, placed[near], anchored, shift) + place.offset_ms - placed[near].offset_ms
    zone = nearest_zone(own.offset_ms if own is not None else offset)
    skew = offset - zone * MINUTE_MS
    of_files = own.offset_ms - zone * MINUTE_MS if own is not None else 0
    if abs(skew - of_files) <= max(doubt, NOISE_MS):
        skew = of_files
    if disputed:
        doubt += max(abs(shift + p.offset_ms - _meant_by(s, p, anchored, shift)) + p.uncertainty_ms for s, p in placed.items())
    return Clock(
        zone,
        skew,
        doubt if anchored else None,
        _basis(subject, placed, anchored, shift),
        compared=tuple(sorted(_neighbours(subject, placed))),
        disputed=disputed,
        files_ms=_of_files(own, skew - of_files) if own is not None else 0,
        evidence=_quoted(subject, placed),
    )


def _of_files(own: ClockOffset, error: int) -> int:
    """Error of modification times for a machine clock with this error, where they are known to be that machine's."""
    return own.files_ms + error if own.files_ms or "mtime" in own.basis.split("+") else 0


def _meant_by(subject: Subject, place: _Placed, anchored: Mapping[Subject, ClockOffset], shift: int) -> int:
    """The offset a machine's clock would have without an error."""
    return anchored[subject].offset_ms if subject in anchored else nearest_zone(shift + place.offset_ms) * MINUTE_MS


def _nearest_right(
    subject: Subject, placed: Mapping[Subject, _Placed], right: frozenset[int], anchored: Mapping[Subject, ClockOffset]
) -> tuple[int, Subject]:
    """The uncertainty in ms against the closest clock taken as correct, and that clock. If a clock's files measured its own error, their
    uncertainty is added."""
    mine = set(_path(subject, placed))
    found = [(placed[subject].uncertainty_ms, subject)]
    others = [s for s in placed if s != subject and (s.node in right or not right)]
    for s in others:
        way = sum(r.uncertainty_ms for r in mine ^ set(_path(s, placed)))
        own = anchored.get(s)
        found.append((way + (own.uncertainty_ms if own is not None and plain(own.offset_ms, 0) is None else 0), s))
    return min(found[1:] or found)


def _path(subject: Subject, placed: Mapping[Subject, _Placed]) -> tuple[Relation, ...]:
    found = []
    while (via := placed[subject].via) is not None:
        found.append(via)
        subject = via.earlier
    return tuple(found)


def _neighbours(subject: Subject, placed: Mapping[Subject, _Placed]) -> set[int]:
    """Nodes that this one was compared with directly, through its wall clock or its record stamps."""
    ways = [p.via for p in placed.values() if p.via is not None and subject.node in (p.via.earlier.node, p.via.later.node)]
    return {s.node for via in ways for s in (via.earlier, via.later)} - {subject.node}


def _quoted(subject: Subject, placed: Mapping[Subject, _Placed]) -> tuple[Event, ...]:
    via = placed[subject].via
    if via is None:
        via = next((p.via for p in placed.values() if p.via is not None and p.via.earlier == subject), None)
    return via.evidence if via is not None else ()


def _basis(subject: Subject, placed: Mapping[Subject, _Placed], anchored: Mapping[Subject, ClockOffset], shift: int) -> str:
    if not anchored:
        return "assumed" if nearest_zone(shift + placed[subject].offset_ms) == 0 else "copy" if len(placed) == 1 else "fleet"
    own = [anchored[subject].basis] if subject in anchored else []
    near = {r for s in placed if (r := placed[s].via) is not None and subject in (r.earlier, r.later)}
    stamped = any(s.clock_kind == "utc" for r in near for s in (r.earlier, r.later))
    return "+".join((*own, "metadata" if stamped else "events"))
