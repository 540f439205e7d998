"""Losses, partition by partition, as every format lists them.

Here: what was lost, possibly lost or only truncated, in which offsets, when these records were written, whether they can be recovered, and
which groups had committed beyond them. Not here: present failures (impact), the sentence above them (headline), or the look of a format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from forensics.model.findings import (
    COMPACTED,
    CONFIDENCES,
    CUT,
    LOST,
    POSSIBLE,
    TRANSACTIONAL,
    UNSETTLED,
    Finding,
    LostPart,
    Place,
    lost_parts,
    offsets_in,
)
from forensics.model.message import Message, Range, joined
from forensics.model.settings.settings import WRITTEN_BY_BROKERS
from forensics.model.times import grouped
from forensics.output.display_times import DisplayZone
from forensics.proof.verdict import FOREIGN
from forensics.proof.verdict import UNKNOWN as NOT_JUDGED
from forensics.views.happened import Happening
from forensics.views.scope import Partitions
from forensics.words.formats import brokers_named, counted, some

WORDS = {LOST: "Lost", UNSETTLED: "Removed, commit status unknown", POSSIBLE: "Possibly lost", CUT: "Truncated, never committed"}
"""The worst first."""
REMOVED = {**WORDS, UNSETTLED: "Removed", CUT: "Truncated"}
"""Headings of the times at which records were removed."""
GROUPS = 2
"""Groups that a line names."""
RANGES = 3


@dataclass(frozen=True, slots=True)
class LostRange:
    """What one loss took from one partition, of one kind."""

    kind: str
    finding: Finding
    place: Place
    parts: Sequence[LostPart]
    """Of this kind, and all of them possible, or none."""

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def offsets(self) -> tuple[Range, ...]:
        return joined(p.offsets for p in self.parts)

    @property
    def confidence(self) -> str:
        """Of the least sure part."""
        return min((p.confidence for p in self.parts), key=CONFIDENCES.index)

    @property
    def more(self) -> bool:
        """Records right above may be lost as well; their number is unknown."""
        return any(p.at_least for p in self.parts)

    @property
    def records(self) -> int | None:
        """Its records, if they can be counted."""
        known = [p.records for p in self.parts if p.records is not None]
        return sum(known) if len(known) == len(self.parts) else None

    @property
    def count(self) -> int | None:
        """Its records if they can be counted, otherwise its offsets; None if its end is unknown."""
        if any(r.end is None for r in self.offsets):
            return None
        return self.records if self.records is not None else sum(r.length or 0 for r in self.offsets)

    @property
    def size(self) -> str:
        """'158 records', 'at least 158 records', or '158 offsets, compacted' if some offsets may have no record; empty if its end is
        unknown."""
        if self.count is None:
            return ""
        number = _at_least(counted(self.count, "record" if self.records is not None else "offset"), self.more)
        log = self.place.records.log if self.place.records is not None and self.records is None else ""
        return number + {COMPACTED: ", compacted", TRANSACTIONAL: ", transactional"}.get(log, "")

    @property
    def spans(self) -> str:
        """'200–357'."""
        return some(list(map(str, self.offsets)), RANGES)

    @property
    def extent(self) -> str:
        """'200–357 (158 records)'."""
        return self.spans + (f" ({self.size})" if self.size else "")

    @property
    def missed(self) -> bool:
        """Whether producers with acks=0 or acks=1 miss them, which count as written what was never committed."""
        return self.kind == CUT and self.confidence != CONFIDENCES[0] and self.place.topic not in WRITTEN_BY_BROKERS

    @property
    def at(self) -> datetime | None:
        """When the records were lost."""
        return self.place.end or self.place.start

    @property
    def times(self) -> list[datetime]:
        """When the records were written, as far as it is known."""
        span = self.place.written
        return [at for at in (span.since, span.until) if at is not None] if span is not None else []

    def written(self, zone: DisplayZone, day: date | None) -> str:
        """When the records were written; with dates, unless it was on this day."""
        span = self.place.written
        return zone.span(span.since, span.until, day) if span is not None and (span.since or span.until) else "unknown"

    @property
    def recoverable(self) -> str:
        """'no', 'yes: broker 2', or 'partly: broker 2'."""
        saved = self.place.salvageable
        if saved is not None and (held := [h for h in saved.held if self._has(h.offsets)]):
            brokers = sorted({h.broker for h in held if h.broker is not None})
            missing = any(self._has(r) for r in saved.missing)
            return f"{'partly' if missing else 'yes'}: {brokers_named(brokers) if brokers else 'collected files'}"
        for how, on in (("", [p.still_on for p in self.parts]), ("perhaps: ", [p.perhaps_on for p in self.parts])):
            if brokers := sorted({b for own in on for b in own}):
                return f"{how}{'' if all(on) else 'partly: '}disk of {brokers_named(brokers)}"
        return "no" if self.confidence != "possible" else "unknown"

    def _has(self, offsets: Range) -> bool:
        return any(r.overlap(offsets) is not None for r in self.offsets)

    @property
    def groups(self) -> dict[str, tuple[Range, ...]]:
        """The groups that had committed beyond some of it, each with what it had read."""
        read = (
            (c.group, joined(own for r in self.offsets if (own := r.overlap(c.had_read))))
            for c in self.place.clients
            if c.had_read is not None
        )
        return {group: own for group, own in read if own}

    @property
    def readers(self) -> str:
        """'billing (all), audit (200–210)'."""
        read = self.groups.items()
        named = [f"{group} ({'all' if own == self.offsets else some(list(map(str, own)), RANGES)})" for group, own in read]
        return some(named, GROUPS) or "none known"


def held_until(place: Place) -> Iterator[tuple[int, datetime]]:
    """The brokers that had the lost records on their disks, and until when: a snapshot from before has them."""
    missing = place.salvageable.elsewhere if place.salvageable is not None else None
    of_disks = dict(missing.values).get("places") if missing is not None else ()
    for disk in of_disks if isinstance(of_disks, tuple) else ():
        known = dict(disk.values) if isinstance(disk, Message) and disk.id == "salvageable/until" else {}
        if isinstance(broker := known.get("broker"), int) and isinstance(at := known.get("until"), datetime):
            yield broker, at


def line(loss: LostRange, zone: DisplayZone) -> str:
    """'Lost: orders-0, offsets 200–357 (158 records), lost at … (Unclean election)'."""
    lost = f", lost at {zone.moment(loss.at)}" if loss.at is not None and loss.kind in (LOST, UNSETTLED) else ""
    what = "Lost for producers with acks=0/1" if loss.missed else WORDS[loss.kind]
    return f"{what}: {loss.name}, offsets {loss.extent}{lost} ({Happening((loss.finding,)).title})"


_Part = tuple[Finding, Place, LostPart]


def losses(findings: Sequence[Finding]) -> list[LostRange]:
    """All losses, by kind, then by number, internal topics last."""
    alike = grouped(
        ((id(f), id(p), part.kind, part.confidence == CONFIDENCES[0]), (f, p, part)) for f, p, part in _once(lost_parts(findings))
    )
    found = [LostRange(kind, own[0][0], own[0][1], [part for *_, part in own]) for (_, _, kind, _), own in alike.items()]
    order = list(WORDS)
    return sorted(found, key=lambda r: (order.index(r.kind), r.count is None, -(r.count or 0), r.name.startswith("__"), r.name))


def _once(lost: Iterable[_Part]) -> Iterator[_Part]:
    """Each loss once: several replicas may have brought the same offsets of an earlier partition, and lost them one after the other."""
    seen: set[tuple[int, str, Range]] = set()
    for f, p, part in lost:
        if f.cause == FOREIGN:
            if (f.cluster, p.name, part.offsets) in seen:
                continue
            seen.add((f.cluster, p.name, part.offsets))
        yield f, p, part


def unsettled(ranges: Sequence[LostRange], states: Partitions) -> list[str]:
    """Names of the partitions that could not be judged, and in which no listed range may be lost."""
    known = {r.name for r in ranges if r.kind in (UNSETTLED, POSSIBLE) and not r.finding.cluster}
    unknown = (f"{s['topic']}-{s['partition']}" for s in states if s["verdict"] == NOT_JUDGED)
    return [name for name in unknown if name not in known]


@dataclass(frozen=True, slots=True)
class LossTable:
    """Losses of one kind, as every format lists them."""

    heading: str
    """'Lost: 316 records in 2 partitions'."""
    shown: Sequence[LostRange]
    more: int
    """Losses of this kind that are not shown."""


def loss_tables(ranges: Sequence[LostRange], most: int | None = None) -> Iterator[LossTable]:
    """The kinds that are there, the worst first. `most`: losses that are shown in total; None: all."""
    room = len(ranges) if most is None else most
    for kind, words in WORDS.items():
        if own := [r for r in ranges if r.kind == kind]:
            affected = "; only producers with acks=0/1 can be affected" if kind == CUT else ""
            shown, partitions = own[:room], {(r.finding.cluster, r.name) for r in own}
            yield LossTable(f"{words}: {total(own)} in {counted(len(partitions))}{affected}", shown, len(own) - len(shown))
            room -= len(shown)


def is_one(ranges: Sequence[LostRange]) -> bool:
    """Whether exactly one record or offset was lost."""
    return [r.count for r in ranges] == [1]


def total(ranges: Sequence[LostRange], kind: str = "") -> str:
    """'316 records', '316 offsets', or 'at least 316 offsets'; `kind`: words before the noun."""
    offsets = offsets_in((r.finding, r.place, part) for r in ranges for part in r.parts)
    if not offsets:
        return f"an unknown number of {kind}records"
    records = [r.records for r in ranges if r.records is not None]
    counts_all = len(records) == len(ranges) and offsets == sum(r.length or 0 for one in ranges for r in one.offsets)
    number = counted(sum(records), f"{kind}record") if counts_all else counted(offsets, f"{kind}offset")
    return _at_least(number, any(r.count is None or r.more for r in ranges))


def _at_least(number: str, more: bool) -> str:
    return f"at least {number}" if more else number
