"""Times on a page: elements that keep the instant next to its text, and what the switch of the zone needs.

Here: the filters of the templates that show times, and the values of the switch. Not here: the forms of times (forensics.output.display_times),
or the script that shows them in another zone (static/zone.js).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from forensics.model.findings import Written
from forensics.model.message import timestamp
from forensics.output.display_times import DisplayZone
from forensics.views.html.safe import visible

EPOCH = datetime(1970, 1, 1)
_OPEN = "…"


@pass_context
def time(context: Context, at: datetime | str | None) -> str:
    """An element with the time to the millisecond; empty if there is none. `at`: also as the document has it."""
    return "" if at is None else _element(context["zone"], parsed(at), None, "")


@pass_context
def between(context: Context, first: datetime | str, last: datetime | str) -> str:
    """An element for a bracket: '2026-11-21 02:48:25.120 and 02:49:08.000'."""
    return _element(context["zone"], parsed(first), parsed(last), " and ")


@pass_context
def span(context: Context, written: Written | None) -> str:
    """An element for a span with possibly unknown ends: '2026-11-21 02:48:25.120–02:49:08.000'; empty if nothing of it is known."""
    if written is None or (written.since is None and written.until is None):
        return ""
    return _element(context["zone"], written.since, written.until, "–")


@pass_context
def said(context: Context, text: str) -> str:
    """A sentence of ours with its times in the zone of the page."""
    zone: DisplayZone = context["zone"]
    return zone.sentence(text)


@pass_context
def step(context: Context, text: str) -> Markup:
    """A step to take, as `said`; what stands between backticks is a command."""
    parts = [visible(part) for part in said(context, text).split("`")]
    if len(parts) % 2 == 0:
        return Markup("{}").format("`".join(parts))
    shapes = Markup("{}"), Markup("<code>{}</code>")
    return Markup("").join(shapes[n % 2].format(part) for n, part in enumerate(parts))


def parsed(at: datetime | str) -> datetime:
    return at if isinstance(at, datetime) else datetime.strptime(at, "%Y-%m-%dT%H:%M:%S.%fZ")


def _element(zone: DisplayZone, first: datetime | None, last: datetime | None, word: str) -> Markup:
    begin = zone.milliseconds(first) if first is not None else _OPEN
    if not word:
        return Markup('<time datetime="{}">{}</time>').format(timestamp(first), begin)
    end = zone.milliseconds(last) if last is not None else _OPEN
    end = end[11:] if end[:10] == begin[:10] else end
    until = Markup(' data-until="{}"').format(timestamp(last)) if last is not None else ""
    at = Markup(' datetime="{}"').format(timestamp(first)) if first is not None else ""
    return Markup('<time{}{} data-word="{}">{}{}{}</time>').format(at, until, word, begin, word, end)


def switch(zone: DisplayZone, begin: datetime, end: datetime) -> Mapping[str, Any]:
    """The values that every page needs: its zone, what headings call it, and its offsets as [milliseconds since 1970, minutes]."""
    offsets = [[epoch_ms(at), int(offset / timedelta(minutes=1))] for at, offset in zone.changes(begin, end)]
    return {"zone": zone, "zone_label": zone.label((begin, end)), "zone_offsets": json.dumps(offsets), "zone_end": epoch_ms(end)}


def epoch_ms(at: datetime) -> int:
    return (at - EPOCH) // timedelta(milliseconds=1)
