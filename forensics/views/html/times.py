"""Times on a page: elements that keep the instant next to its text, and what the switch of the zone needs.

Here: the filters of the templates that show times, and the values of the switch. Not here: the forms of times
(forensics.output.display_times), or the script that shows them in another zone (static/zone.js).

A page names its day once: times of this day have no date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from forensics.model.message import timestamp
from forensics.output.display_times import DisplayZone, stated
from forensics.views.html.safe import visible

EPOCH = datetime(1970, 1, 1)
SECONDS, DAY = "s", "d"
"""Forms: without milliseconds, only the date."""
_OPEN = "…"
_BEFORE_SPAN = re.compile(r"\b(between|from) $")


@pass_context
def time(context: Context, at: datetime | str | None, form: str = "") -> str:
    """An element with the time to the millisecond, unless `form` says otherwise; empty if there is none. `at`: also as the document has
    it."""
    return "" if at is None else _element(context, parsed(at), form=form)


@pass_context
def between(context: Context, first: datetime | str, last: datetime | str) -> str:
    """An element for a bracket: '02:48:25.120 and 02:49:08.000'."""
    return _element(context, parsed(first), parsed(last), " and ")


@pass_context
def span(context: Context, first: datetime | None, last: datetime | None) -> str:
    """An element for a span with possibly unknown ends, in seconds: '02:48:25–02:49:08'; empty if nothing of it is known."""
    return "" if first is None and last is None else _element(context, first, last, "–", SECONDS)


@pass_context
def said(context: Context, text: str, form: str = "") -> Markup:
    """A sentence of ours with its times as elements."""
    parts: list[str] = []
    for part in stated(text):
        if isinstance(part, str):
            parts.append(visible(part))
            continue
        first, word, last = part
        if last is not None and form == SECONDS and DisplayZone().seconds(first) == DisplayZone().seconds(last):
            parts[-1] = _BEFORE_SPAN.sub("at ", parts[-1])
        parts.append(_element(context, first, last, f" {word} " if word else "", form))
    return Markup("").join(parts)


@pass_context
def told(context: Context, text: str) -> Markup:
    """A sentence of the first screen: its times in seconds; text between backticks is a command."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return said(context, text, SECONDS)
    shapes = Markup("{}"), Markup("<code>{}</code>")
    return Markup("").join(shapes[n % 2].format(said(context, part, SECONDS)) for n, part in enumerate(parts))


@pass_context
def plain(context: Context, text: str) -> str:
    """A sentence of ours for an attribute, in the zone of the page."""
    zone: DisplayZone = context["zone"]
    return zone.sentence(text)


def parsed(at: datetime | str) -> datetime:
    return at if isinstance(at, datetime) else datetime.strptime(at, "%Y-%m-%dT%H:%M:%S.%fZ")


def _element(context: Context, first: datetime | None, last: datetime | None = None, word: str = "", form: str = "") -> Markup:
    zone: DisplayZone = context["zone"]
    day = context["day"]
    begin = _face(zone, first, form, zone.milliseconds(day)[:10] if day is not None else "")
    end = _face(zone, last, form, zone.milliseconds(first)[:10] if first is not None else "")
    shown = begin if not word or (begin == end and first is not None) else f"{begin}{word}{end}"
    instants = {"datetime": first, "data-until": last}
    known = Markup("").join(Markup(' {}="{}"').format(name, timestamp(at)) for name, at in instants.items() if at is not None)
    how = Markup("").join(Markup(' data-{}="{}"').format(name, value) for name, value in (("word", word), ("form", form)) if value)
    return Markup("<time{}{}>{}</time>").format(known, how, shown)


def _face(zone: DisplayZone, at: datetime | None, form: str, day: str) -> str:
    """As the script does it."""
    if at is None:
        return _OPEN
    text = zone.seconds(at) if form == SECONDS else zone.milliseconds(at)
    return text[:10] if form == DAY else text.removeprefix(f"{day} ")


def switch(zone: DisplayZone, begin: datetime, end: datetime, day: datetime | None = None) -> Mapping[str, Any]:
    """The values that every page needs: its zone, a time of its day, what headings call the zone, and its offsets as
    [milliseconds since 1970, minutes]."""
    offsets = [[epoch_ms(at), int(offset / timedelta(minutes=1))] for at, offset in zone.changes(begin, end)]
    label = zone.label((begin, end))
    return {"zone": zone, "day": day, "zone_label": label, "zone_offsets": json.dumps(offsets), "zone_end": epoch_ms(end)}


def epoch_ms(at: datetime) -> int:
    return (at - EPOCH) // timedelta(milliseconds=1)
