"""How the steps of one incarnation of a topic become its story: the lanes after each step, and which steps are folded or left out.

Here: the sweep over the steps and the rows of STORY. Not here: the steps (assembly) or how a story looks (forensics.views.lanes).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.views.story.step import DOWN, MOST, MOST_OF_ALL, NONE, UNKNOWN, StoryStep, Wanted, folded
from forensics.words.formats import period


def narrated(steps: Sequence[StoryStep], wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Rows of STORY, without the columns that name the incarnation; their number is limited, however many steps there are. The first step
    has roles."""
    previous: Mapping[int, str] = dict.fromkeys(steps[0].roles or () if steps else (), UNKNOWN)
    shown, lanes = _swept(steps, previous, everything=wanted.everything)
    window = [i for i, step in enumerate(shown) if wanted.holds(step.at)]
    limit = MOST_OF_ALL if wanted.everything else MOST
    number = 0
    for first, last in folded([shown[i] for i in window], everything=wanted.everything, limit=limit):
        if window[first] > number:
            previous = lanes[window[first] - 1]
            yield _left_out(window[first] - number, previous)
        status = lanes[window[last]]
        if first == last:
            yield _row(shown[window[first]], previous, status)
        else:
            yield _fold([shown[i] for i in window[first : last + 1]], status)
        previous, number = status, window[last] + 1
    if number < len(shown):
        yield _left_out(len(shown) - number, lanes[-1])


def _swept(steps: Sequence[StoryStep], roles: Mapping[int, str], *, everything: bool) -> tuple[list[StoryStep], list[Mapping[int, str]]]:
    """The steps that add something new, and the lanes after each."""
    down: set[int] = set()
    status = roles
    shown: list[StoryStep] = []
    lanes: list[Mapping[int, str]] = []
    known: dict[tuple[str, ...], Mapping[int, str]] = {}
    for step in steps:
        if not (step.in_brief or everything):
            continue
        news = _update(down, step)
        if not news and (step.news_only or (step.news_only_in_brief and not everything)):
            continue
        roles = step.roles if step.roles is not None else roles
        if step.roles is not None or step.down:
            status = {b: DOWN if b in down and role != NONE else role for b, role in roles.items()}
            status = known.setdefault(tuple(status.values()), status)
        shown.append(step)
        lanes.append(status)
    return shown, lanes


def _update(down: set[int], step: StoryStep) -> bool:
    """Adds the brokers that go down, and removes those that come up; returns whether that changed anything."""
    if not step.down:
        return False
    before = set(down)
    down |= {broker for broker, is_down in step.down.items() if is_down}
    down -= {broker for broker, is_down in step.down.items() if not is_down}
    return before != down


def _row(step: StoryStep, before: Mapping[int, str], after: Mapping[int, str]) -> dict[str, Any]:
    about = {b for b in after if step.roles is not None and before[b] != after[b]}
    if step.broker is not None:
        about.add(step.broker)
    return {
        "time": step.at,
        "epoch": step.epoch,
        "partition_epoch": step.partition_epoch,
        "kind": step.kind,
        "tone": step.tone,
        "broker": step.broker,
        "text": step.text,
        "repeats": step.repeats,
        "first": step.at,
        "last": step.last or step.at,
        "lanes": [{"broker": b, "status": status, "marked": b in about} for b, status in after.items()],
        "evidence": step.places,
    }


def _fold(steps: Sequence[StoryStep], after: Mapping[int, str]) -> dict[str, Any]:
    counts = Counter((s.kind, s.broker) for s in steps)
    named = [f"{n:,} x {kind}" + (f" (broker {broker})" if broker is not None else "") for (kind, broker), n in counts.most_common(6)]
    times = [s.at for s in steps if s.at is not None]
    span = f", {_span(min(times), max(times))}" if times else ""
    rest = f" and {len(counts) - 6} more kinds" if len(counts) > 6 else ""
    text = f"{len(steps):,} entries folded{span}: {', '.join(named)}{rest}"
    repeats = sum(s.repeats for s in steps)
    return _aside("folded", text, after, repeats=repeats, first=min(times, default=None), last=max(times, default=None))


def _left_out(count: int, after: Mapping[int, str]) -> dict[str, Any]:
    entries = "entries" if count > 1 else "entry"
    return _aside("left-out", f"{count} {entries} outside the time asked for", after, repeats=count)


def _span(first: datetime, last: datetime) -> str:
    return period(first, last)


def _aside(
    kind: str, text: str, after: Mapping[int, str], *, repeats: int, first: datetime | None = None, last: datetime | None = None
) -> dict[str, Any]:
    """An entry about entries."""
    return {
        "time": first,
        "epoch": None,
        "partition_epoch": None,
        "kind": kind,
        "tone": "fold",
        "broker": None,
        "text": text,
        "repeats": repeats,
        "first": first,
        "last": last,
        "lanes": [{"broker": b, "status": status, "marked": False} for b, status in after.items()],
        "evidence": [],
    }
