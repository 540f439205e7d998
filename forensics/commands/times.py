"""Times on the command line: `--since` and `--until`.

Here: the accepted forms, and their meaning in a cluster's evidence. Not here: times in the evidence (parsers.stamps), or the display of
times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, Any

import click

from forensics.commands.config import config_option
from forensics.commands.options import F, Option, given, kept, options

if TYPE_CHECKING:
    from forensics.model.cluster.facts import Cluster
    from forensics.output.display_times import DisplayZone

_SPAN = re.compile(r"(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_ZONE = "forensics.display_timezone"
_TIME_OF_DAY = re.compile(r"\d\d:\d\d")
EXAMPLES = "2026-01-31, 2026-01-31T12:00:00Z, 2026-01-31T14:00+02:00, 12:00 on the last day of the evidence, or -2h before its end"


@dataclass(frozen=True)
class When:
    """A time as given: complete, a time of day, or a span before the end of the evidence."""

    text: str
    given: datetime | time | timedelta

    def at(self, end: datetime) -> datetime:
        """The time in UTC without a zone, in evidence that ends at `end` (UTC). Raises click.UsageError if it is before the year 1."""
        try:
            if isinstance(self.given, timedelta):
                return end - self.given
            if isinstance(self.given, time):
                return utc(datetime.combine(display_zone().wall(end).date(), self.given))
            return utc(self.given)
        except OverflowError:
            raise click.UsageError(f"{self.text} is out of range") from None


def utc(at: datetime) -> datetime:
    """A time without a zone is in that of --display-timezone."""
    return display_zone().utc(at) if at.tzinfo is None else at.astimezone(timezone.utc).replace(tzinfo=None)


class Moment(click.ParamType):  # type: ignore[type-arg] # generic from click 8.4 on
    """A value of `--since` or `--until`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> When:
        if isinstance(value, When):
            return value
        text = str(value).strip()
        try:
            return When(text, _read(text))
        except (ValueError, OverflowError):
            self.fail(f"{text!r} is not a time; give for example {EXAMPLES}", param, ctx)


def duration(text: str) -> timedelta | None:
    """Of '90s' or '1h30m'."""
    if (span := _SPAN.fullmatch(text)) is None:
        return None
    days, hours, minutes, seconds = (int(n or 0) for n in span.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def _read(text: str) -> datetime | time | timedelta:
    if text.startswith("-") and (span := duration(text[1:])) is not None:
        return span
    iso = re.sub(r"[zZ]$", "+00:00", text)
    if _TIME_OF_DAY.match(iso):
        return time.fromisoformat(iso)
    if len(iso) == len("2026-01-31"):
        return datetime.combine(date.fromisoformat(iso), time())
    return datetime.fromisoformat(iso)


def since_until_options(since: str, until: str) -> Option[Any]:
    """The two options; `since` and `until` are their help texts."""

    return options(
        click.option("--until", type=Moment(), metavar="TIME", callback=_in_order, help=f"{until} TIME is given as for --since."),
        click.option(
            "--since",
            type=Moment(),
            metavar="TIME",
            callback=_in_order,
            help=f"{since} Times are in UTC, or in the zone of --display-timezone, unless they have an offset: {EXAMPLES}.",
        ),
    )


def display_timezone_option(command: F) -> F:
    """The zone of times in outputs for people, and of --since and --until, which a command gets from `display_zone`; and the file that may
    have a default for it."""
    option = click.option(
        "--display-timezone",
        metavar="ZONE",
        is_eager=True,
        **kept(_ZONE, _display_timezone),
        help="Show times in this zone instead of UTC: a name such as Europe/Berlin, or local. JSON and other formats for programs stay in UTC.",
    )
    return config_option(option(command))


def _display_timezone(text: str | None) -> DisplayZone:
    from forensics.output.display_times import UTC, DisplayZone

    try:
        return DisplayZone.named(text) if text is not None else UTC
    except ValueError:
        raise ValueError(f"{text!r} is not a time zone; use for example Europe/Berlin, local or UTC") from None


def display_zone() -> DisplayZone:
    from forensics.output.display_times import UTC

    return given(_ZONE, UTC)  # type: ignore[no-any-return]


def window(since: When | None, until: When | None, cluster: Cluster) -> tuple[datetime | None, datetime | None]:
    """The times in the cluster's evidence. Raises click.UsageError if no evidence can lie between them."""
    firsts = [s.first for s in cluster.sources if s.first is not None]
    end = cluster.until
    if end is None:
        return _complete(since), _complete(until)
    begin, last = (when.at(end) if when is not None else None for when in (since, until))
    if begin is not None and last is not None and begin > last:
        raise click.UsageError(f"--since {display_zone().iso(begin)} is later than --until {display_zone().iso(last)}")
    outside = [f"--since {since.text}"] if since is not None and begin is not None and begin > end else []
    outside += [f"--until {until.text}"] if until is not None and last is not None and firsts and last < min(firsts) else []
    if outside:
        zone = display_zone()
        first = f"{zone.seconds(min(firsts))} to " if firsts else "until "
        raise click.UsageError(
            f"{outside[0]} is outside of the evidence ({first}{zone.seconds(end)} {zone.label([end])}); give a time within"
        )
    return begin, last


def _in_order(context: click.Context, option: click.Parameter, when: When | None) -> When | None:
    """Rejects an end before the beginning before anything is read, if the two can be compared without the evidence."""
    other = context.params.get("until" if option.name == "since" else "since")
    if when is None or other is None:
        return when
    since, until = (when, other) if option.name == "since" else (other, when)
    begin, end = since.given, until.given
    late = isinstance(begin, datetime) and isinstance(end, datetime) and utc(begin) > utc(end)
    if late or (isinstance(begin, timedelta) and isinstance(end, timedelta) and begin < end):
        raise click.UsageError(f"--since {since.text} is later than --until {until.text}", context)
    return when


def _complete(when: When | None) -> datetime | None:
    """The time, if it does not depend on the end of the evidence."""
    return utc(when.given) if when is not None and isinstance(when.given, datetime) else None
