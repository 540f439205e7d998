"""What UTC it was when a broker printed a line: the offset of each broker's clock, zone and skew together.

Here: the estimate from modification times against last lines. Not here: the use of it (pipeline), or any reordering inside
a file, which never happens.

A log's modification time is when its last line was written, so last line minus modification time is the offset of the
broker's wall clock, if the collection kept modification times. A copy that did not keep them shows one late time for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

QUARTER_MS = 15 * 60 * 1000
"""Zones differ by multiples of a quarter of an hour."""
ZONES = range(-12 * 60, 14 * 60 + 1)
"""Minutes from UTC of the zones there are."""
AGREE_MS = 2_000
"""Some archives and file systems keep whole seconds only."""
NEAR_ZONE_MS = 30_000


@dataclass(frozen=True, slots=True)
class Clock:
    """`offset_ms` = printed wall clock minus UTC. `basis`: 'mtime', 'given' or 'assumed' (nothing to go by: UTC)."""

    offset_ms: int = 0
    uncertainty_ms: int | None = None
    basis: str = "assumed"

    @property
    def zone_minutes(self) -> int:
        """The zone's share of the offset, to the nearest quarter of an hour; 0 if no zone is so far from UTC."""
        nearest = round(self.offset_ms / QUARTER_MS) * 15
        return nearest if nearest in ZONES else 0

    @property
    def skew_ms(self) -> int:
        """What is left when the zone is taken away: a clock that is wrong."""
        return self.offset_ms - self.zone_minutes * 60_000

    @property
    def zone(self) -> str:
        minutes = abs(self.zone_minutes)
        sign = "-" if self.zone_minutes < 0 else "+"
        return "UTC" if minutes == 0 else f"UTC{sign}{minutes // 60:02d}:{minutes % 60:02d}"


@dataclass(frozen=True, slots=True)
class Witness:
    """One log file: its last line's wall clock and its modification time (UTC)."""

    last: datetime
    modified: datetime

    @property
    def offset_ms(self) -> int:
        return round((self.last - self.modified).total_seconds() * 1000)


def estimate(witnesses: Iterable[Witness]) -> Clock:
    """A broker's clock. Modification times later than the true ones only make offsets smaller, so the largest offset
    counts; it is believed when files with different modification times agree on it, or when it is plainly a zone."""
    found = sorted(witnesses, key=lambda w: w.offset_ms, reverse=True)
    if not found:
        return Clock()
    best = found[0].offset_ms
    agreeing = [w for w in found if best - w.offset_ms <= AGREE_MS]
    spread = max(w.modified for w in agreeing) - min(w.modified for w in agreeing)
    zone = round(best / QUARTER_MS) * QUARTER_MS
    is_zone = zone // 60_000 in ZONES
    if is_zone and abs(best - zone) <= AGREE_MS:
        return Clock(zone, AGREE_MS, "mtime")
    if spread.total_seconds() * 1000 > AGREE_MS:
        return Clock(best, AGREE_MS, "mtime")
    if is_zone and abs(best - zone) <= NEAR_ZONE_MS:
        return Clock(zone, NEAR_ZONE_MS, "mtime")
    return Clock()
