"""Times as people read them: UTC, or the zone that `--display-timezone` names.

Here: the forms that all outputs for people share, and the times in sentences converted from UTC. Not here: times that programs read (RFC
3339 in UTC, forensics.model.findings.timestamp), the zones of log lines (forensics.model.clock.zones), or quoted lines, which stay as they
are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_STATED = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})(?: (to|and) ((?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d{3}))? UTC")
"""Times in sentences: forensics.model.findings.moment and period."""

_IN_ONE_SECOND = re.compile(r"\b(?:between|from) ((?:\d\d-\d\d )?\d\d:\d\d:\d\d) (?:and|to) \1\b")


def stated(text: str) -> Iterator[str | tuple[datetime, str, datetime | None]]:
    """A sentence of ours in parts: its words, and its times in UTC, two of them with the word between."""
    done = 0
    for found in _STATED.finditer(text):
        yield text[done : found.start()]
        end = found[3] and (found[3] if len(found[3]) > len("00:00:00.000") else f"{found[1][:10]} {found[3]}")
        yield datetime.fromisoformat(found[1]), found[2] or "", datetime.fromisoformat(end) if end else None
        done = found.end()
    yield text[done:]


@dataclass(frozen=True, slots=True)
class DisplayZone:
    """`zone` None: UTC."""

    name: str = "UTC"
    zone: tzinfo | None = None

    @classmethod
    def named(cls, name: str) -> DisplayZone:
        """The zone with an IANA name, 'UTC', or 'local' for that of this machine. Raises ValueError if there is none."""
        if name.upper() in ("UTC", "Z"):
            return cls()
        if name == "local":
            return cls("local", _LocalZone())
        try:
            return cls(name, ZoneInfo(name))
        except (KeyError, ValueError, OSError):
            raise ValueError(name) from None

    def wall(self, at: datetime) -> datetime:
        """The wall time of a UTC time without a zone."""
        return at if self.zone is None else at.replace(tzinfo=timezone.utc).astimezone(self.zone).replace(tzinfo=None)

    def utc(self, wall: datetime) -> datetime:
        """The UTC time without a zone of a wall time. Raises OverflowError."""
        if self.zone is None:
            return wall
        return wall.replace(tzinfo=self.zone).astimezone(timezone.utc).replace(tzinfo=None)

    def offset(self, at: datetime) -> str:
        """'UTC', or the offset at that time: '+02:00'."""
        if self.zone is None:
            return "UTC"
        text = at.replace(tzinfo=timezone.utc).astimezone(self.zone).strftime("%z")
        return f"{text[:3]}:{text[3:5]}"

    def changes(self, begin: datetime, end: datetime) -> list[tuple[datetime, timedelta]]:
        """The offset at `begin`, and each other offset until `end` with the time of the change, to the second."""
        found = [(begin, self._utcoffset(begin))]
        day = begin
        while day < end:
            following = min(day + timedelta(days=1), end)
            if (offset := self._utcoffset(following)) != found[-1][1]:
                before, after = day, following
                while after - before > timedelta(seconds=1):
                    middle = before + (after - before) / 2
                    before, after = (middle, after) if self._utcoffset(middle) == found[-1][1] else (before, middle)
                found.append((after.replace(microsecond=0), offset))
            day = following
        return found

    def _utcoffset(self, at: datetime) -> timedelta:
        return self.wall(at) - at

    def label(self, times: Iterable[datetime]) -> str:
        """What a heading says of the zone of these times: 'UTC', '+02:00', or 'Europe/Berlin' if its offset changes between them."""
        offsets = {self.offset(at) for at in times}
        return offsets.pop() if len(offsets) == 1 else self.name

    def seconds(self, at: datetime) -> str:
        """'2026-11-21 02:48:25'."""
        return self.wall(at).strftime("%Y-%m-%d %H:%M:%S")

    def milliseconds(self, at: datetime) -> str:
        """'2026-11-21 02:48:25.120'."""
        return self.wall(at).isoformat(" ", "milliseconds")

    def moment(self, at: datetime) -> str:
        """'2026-11-21 02:48:25.120 UTC'."""
        return f"{self.milliseconds(at)} {self.offset(at)}"

    def iso(self, at: datetime) -> str:
        """'2026-11-21T02:48:25.120Z', or with an offset."""
        return f"{self.wall(at).isoformat(timespec='milliseconds')}{'Z' if self.zone is None else self.offset(at)}"

    @property
    def iso_width(self) -> int:
        return len("2026-11-21T02:48:25.120Z" if self.zone is None else "2026-11-21T02:48:25.120+00:00")

    def sentence(self, text: str) -> str:
        """A sentence of ours with its times in this zone."""
        return text if self.zone is None else "".join(part if isinstance(part, str) else self._stated(*part) for part in stated(text))

    def _stated(self, first: datetime, word: str, last: datetime | None) -> str:
        if last is None:
            return self.moment(first)
        begin, end = self.moment(first), self.moment(last)
        if self.offset(first) == self.offset(last):
            begin = begin.rpartition(" ")[0]
        return f"{begin} {word} {end[11:] if begin[:10] == end[:10] else end}"

    def brief(self, text: str, day: date | None) -> str:
        """A sentence of ours with its times in this zone, in whole seconds, without the date if that is `day`, and without the zone."""
        parts = (part if isinstance(part, str) else self._brief(*part, day) for part in stated(text))
        return _IN_ONE_SECOND.sub(r"at \1", "".join(parts))

    def _brief(self, first: datetime, word: str, last: datetime | None, day: date | None) -> str:
        return self.clock(first, day) + (f" {word} {self.clock(last, day)}" if last is not None else "")

    def clock(self, at: datetime, day: date | None) -> str:
        """'02:48:25', or '11-21 02:48:25' if it is not on this day: the second in which it was."""
        wall = self.wall(at)
        return wall.strftime("%H:%M:%S" if wall.date() == day else "%m-%d %H:%M:%S")

    def span(self, first: datetime | None, last: datetime | None, day: date | None) -> str:
        """'02:48:25–02:49:08': the seconds in which both were."""
        begin, end = (self.clock(at, day) if at is not None else "…" for at in (first, last))
        return begin if begin == end else f"{begin}–{end}"


UTC = DisplayZone()


class _LocalZone(tzinfo):
    """The zone of this machine, with its changes over the year."""

    def utcoffset(self, at: datetime | None) -> timedelta | None:
        return at.replace(tzinfo=None).astimezone().utcoffset() if at is not None else None

    def dst(self, at: datetime | None) -> timedelta | None:
        return None

    def tzname(self, at: datetime | None) -> str | None:
        return at.replace(tzinfo=None).astimezone().tzname() if at is not None else None

    def fromutc(self, at: datetime) -> datetime:
        return at.replace(tzinfo=timezone.utc).astimezone().replace(tzinfo=self)
