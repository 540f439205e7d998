"""Losses, partition by partition, as every format lists them.

Here: what was lost, possibly lost or only truncated, in which offsets, when these records were written, whether they can be recovered, and
which groups had committed beyond them. Not here: present failures (impact), the sentence above them (headline), or the look of a format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from forensics.incidents.folding import places
from forensics.model.findings import COMPACTED, TRANSACTIONAL, Finding, Place, offsets_in
from forensics.model.message import Range
from forensics.output.display_times import DisplayZone
from forensics.proof.causes import FOREIGN
from forensics.proof.verdict import UNKNOWN as NOT_JUDGED
from forensics.views.scope import Partitions
from forensics.words.formats import brokers_named, counted, some

LOST, UNSETTLED, POSSIBLE, CUT = "lost", "unsettled", "possible", "cut"
WORDS = {LOST: "Lost", UNSETTLED: "Removed, commit status unknown", POSSIBLE: "Possibly lost", CUT: "Truncated, never committed"}
"""The worst first."""
REMOVED = {**WORDS, UNSETTLED: "Removed", CUT: "Truncated"}
"""Headings of the times at which records were removed."""
LISTED = 10
"""Partitions on the first screen."""
GROUPS = 2
"""Groups that a line names."""
RANGES = 3


@dataclass(frozen=True, slots=True)
class LostRange:
    """One loss of one partition."""

    kind: str
    finding: Finding
    place: Place
    more: bool = False
    """Another finding says that records right above may be lost as well, how many is unknown."""

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def count(self) -> int | None:
        """Its records if they can be counted, otherwise its offsets; None if its end is unknown."""
        if any(r.end is None for r in self.place.offsets):
            return None
        records = self.place.records
        return records.count if records is not None and records.count is not None else sum(r.length or 0 for r in self.place.offsets)

    @property
    def size(self) -> str:
        """'158 records', or '158 offsets, compacted' if some offsets may have no record; empty if its end is unknown."""
        if self.count is None:
            return ""
        records = self.place.records
        if records is not None and records.count is not None:
            return counted(self.count, "record") + (" or more" if self.more else "")
        log = {COMPACTED: ", compacted", TRANSACTIONAL: ", transactional"}.get(records.log if records is not None else "", "")
        return counted(self.count, "offset") + (" or more" if self.more else "") + log

    @property
    def extent(self) -> str:
        """'200–357 (158 records)'."""
        return some(list(map(str, self.place.offsets)), RANGES) + (f" ({self.size})" if self.size else "")

    @property
    def at(self) -> datetime | None:
        """When the records were lost."""
        return self.place.end or self.place.start

    def written(self, zone: DisplayZone, *, dates: bool) -> str:
        """When the records were written."""
        span = self.place.written
        return zone.span(span.since, span.until, dates=dates) if span is not None and (span.since or span.until) else "unknown"

    @property
    def recoverable(self) -> str:
        """'no', 'yes: broker 2', or 'partly: broker 2'."""
        saved = self.place.salvageable
        if saved is not None and saved.held:
            brokers = sorted({h.broker for h in saved.held if h.broker is not None})
            return f"{'partly' if saved.missing else 'yes'}: {brokers_named(brokers) if brokers else 'collected files'}"
        if self.finding.still_on:
            return f"disk of {brokers_named(self.finding.still_on)}"
        if self.finding.perhaps_on:
            return f"perhaps: disk of {brokers_named(self.finding.perhaps_on)}"
        return "no" if self.finding.confidence != "possible" else "unknown"

    @property
    def readers(self) -> str:
        """The groups that had committed beyond some of it: 'billing (all), audit (200–210)'."""
        lost = [(r.start, r.end) for r in self.place.offsets]
        had = [(c.group, c.had_read) for c in self.place.clients if c.had_read is not None]
        return some([f"{group} ({'all' if [(r.start, r.end)] == lost else r})" for group, r in had], GROUPS) or "none known"


def line(loss: LostRange, zone: DisplayZone) -> str:
    """'Lost: orders-0, offsets 200–357 (158 records), lost at … (unclean-election)'."""
    lost = f", lost at {zone.moment(loss.at)}" if loss.at is not None and loss.kind in (LOST, UNSETTLED) else ""
    return f"{WORDS[loss.kind]}: {loss.name}, offsets {loss.extent}{lost} ({loss.finding.cause})"


def losses(findings: Sequence[Finding]) -> list[LostRange]:
    """All losses, by kind, then by number, internal topics last."""
    every = list(_once((f, p) for f in findings if f.loss for p in places(f)))
    open_ends = {(f.cluster, p.name, r.start) for f, p in every for r in p.offsets if r.end is None}
    found = [LostRange(_kind(f), f, p, any((f.cluster, p.name, r.end) in open_ends for r in p.offsets)) for f, p in every]
    order = list(WORDS)
    return sorted(found, key=lambda r: (order.index(r.kind), r.count is None, -(r.count or 0), r.name.startswith("__"), r.name))


def _once(lost: Iterable[tuple[Finding, Place]]) -> Iterator[tuple[Finding, Place]]:
    """Each loss once: several replicas may have brought the same offsets of an earlier partition, and lost them one after the other."""
    seen: set[tuple[int, str, tuple[Range, ...]]] = set()
    for f, p in lost:
        if f.cause == FOREIGN:
            if (f.cluster, p.name, p.offsets) in seen:
                continue
            seen.add((f.cluster, p.name, p.offsets))
        yield f, p


def unsettled(ranges: Sequence[LostRange], states: Partitions) -> list[str]:
    """Names of the partitions that could not be judged, and in which no listed range may be lost."""
    known = {r.name for r in ranges if r.kind in (UNSETTLED, POSSIBLE) and not r.finding.cluster}
    unknown = (f"{s['topic']}-{s['partition']}" for s in states if s["verdict"] == NOT_JUDGED)
    return [name for name in unknown if name not in known]


def _kind(f: Finding) -> str:
    if f.committed is False:
        return CUT
    if f.confidence == "possible":
        return POSSIBLE
    return LOST if f.committed else UNSETTLED


def by_kind(ranges: Sequence[LostRange]) -> Iterator[tuple[str, list[LostRange]]]:
    """The kinds that are there, with a heading: 'Lost: 316 records in 2 partitions'."""
    for kind, words in WORDS.items():
        if own := [r for r in ranges if r.kind == kind]:
            affected = "; only producers with acks=0/1 can be affected" if kind == CUT else ""
            yield f"{words}: {total(own)} in {partitions_of(own)}{affected}", own


@dataclass(frozen=True, slots=True)
class ListedLosses:
    """Losses of one kind on the first screen."""

    heading: str
    shown: Sequence[LostRange]
    more: int
    """Losses of this kind that are not shown."""


def first_screen(ranges: Sequence[LostRange]) -> Iterator[ListedLosses]:
    """The kinds that are there, LISTED losses in total."""
    room = LISTED
    for heading, own in by_kind(ranges):
        shown = own[: max(room, 0)]
        yield ListedLosses(heading, shown, len(own) - len(shown))
        room -= len(shown)


def partitions_of(ranges: Sequence[LostRange]) -> str:
    """'2 partitions'."""
    return counted(len({(r.finding.cluster, r.name) for r in ranges}))


def is_one(ranges: Sequence[LostRange]) -> bool:
    """Whether exactly one record or offset was lost."""
    return [r.count for r in ranges] == [1]


def total(ranges: Sequence[LostRange]) -> str:
    """'316 records', '316 offsets', or '316 offsets or more'."""
    known = [r for r in ranges if r.count is not None]
    offsets = offsets_in((r.finding, r.place) for r in ranges)
    if not offsets:
        return "an unknown number of records"
    records = [r.place.records.count for r in known if r.place.records is not None and r.place.records.count is not None]
    counts_all = len(records) == len(ranges) and offsets == sum(r.length or 0 for one in ranges for r in one.place.offsets)
    number = counted(sum(records), "record") if counts_all else counted(offsets, "offset")
    return number + (" or more" if len(known) < len(ranges) or any(r.more for r in ranges) else "")


def spans_days(ranges: Sequence[LostRange]) -> bool:
    """Whether times need their dates."""
    spans = [r.place.written for r in ranges if r.place.written is not None]
    times = [at for s in spans for at in (s.since, s.until) if at is not None]
    return len({at.date() for at in times}) > 1
