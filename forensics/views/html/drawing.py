"""Lanes on a time axis: positions of beginnings and ends, in percent of a window.

Here: the initial window, its marks, spans and ticks. Not here: the content (page, details), or the appearance (static/). A script moves
everything if another window is selected: spans carry their times in milliseconds after the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from forensics.output.display_times import DisplayZone
from forensics.views.html.times import EPOCH

LEAST = 0.25
"""Least width of a span in percent of the window, so that it is visible."""
TICKS = (0, 25, 50, 75, 100)
MARGIN = 0.2
"""Share of the events' time that the window shows before and after them."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A span of a lane. `look`: its class in the styles; `label`: text in it, if there is room; `quotes`: number of its evidence in
    the data."""

    look: str
    x: float
    width: float
    start: int
    end: int
    title: str
    href: str | None = None
    label: str = ""
    quotes: int | None = None


@dataclass(frozen=True, slots=True)
class DrawnWindow:
    """The evidence covers `begin` to `end`; `since` to `until` is shown initially."""

    begin: datetime
    end: datetime
    since: datetime
    until: datetime

    def ms(self, at: datetime) -> int:
        return (at - self.begin) // timedelta(milliseconds=1)

    @property
    def shown(self) -> tuple[int, int]:
        return self.ms(self.since), self.ms(self.until)

    def place(self, at: datetime | None) -> int | None:
        return self.ms(at) if at is not None else None

    def span(
        self,
        look: str,
        start: datetime | None,
        end: datetime | None,
        title: str,
        href: str | None = None,
        label: str = "",
        quotes: int | None = None,
    ) -> Drawn:
        """`start` None: since before the evidence; `end` None: to its end."""
        first, last = self.ms(start or self.begin), self.ms(end or self.end)
        low, high = self.shown
        x, right = (_percent(at, low, high) for at in (first, max(first, last)))
        return Drawn(look, x, round(max(right - x, LEAST), 3), first, max(first, last), title, href, label, quotes)

    def ticks(self, zone: DisplayZone) -> list[tuple[int, str]]:
        length = self.until - self.since
        return [(share, moment(zone.wall(self.since + length * share / 100), length)) for share in TICKS]


def _percent(at: int, low: int, high: int) -> float:
    return round(min(max((at - low) * 100 / max(high - low, 1), -5), 105), 3)


def moment(at: datetime, length: timedelta) -> str:
    """Time format with the precision that a window of this length needs."""
    if length > timedelta(days=2):
        return at.strftime("%m-%d %H:%M")
    return at.strftime("%H:%M:%S") if length > timedelta(seconds=8) else at.strftime("%H:%M:%S.%f")[:-3]


def window(covered: Iterable[datetime], happened: Sequence[datetime]) -> DrawnWindow:
    """The window for the times that the evidence covers and the times of significant events."""
    known = [*covered, *happened] or [EPOCH]
    begin, end = min(known), max(known)
    if end <= begin:
        end = begin + timedelta(seconds=1)
    since, until = (min(happened), max(happened)) if happened else (begin, end)
    if until <= since:
        since, until = begin, end
    margin = max((until - since) * MARGIN, timedelta(seconds=1))
    return DrawnWindow(begin, end, max(begin, since - margin), min(end, until + margin))
