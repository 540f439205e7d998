"""Lines that a controller repeats: when it starts, it reads the metadata log again, and prints old records at its own time.

Here: which statements about brokers are such repeats. Not here: lines about partitions, whose epochs show their order, or settings
(forensics.rules.config_drift).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from forensics.model.events import Event
from forensics.model.presence.availability import BrokerRun, availability_reports

REPLAYED = "replayed"
_Fact = tuple[str, int, int]
"""What is said of a broker, with its broker epoch."""


def without_repeats(events: Sequence[Event], runs: Mapping[int, Sequence[BrokerRun]]) -> list[Event]:
    """The events without replayed statements about brokers that were known before the controller started. `runs`: each node's runs. A fact
    may be true several times in a broker epoch: a new controller repeats it as often as it was true before its start."""
    if not any(e.reason == REPLAYED for e in events):
        return list(events)
    known = _known(events)
    begun = {node: sorted(r.begin_at for r in own if r.begin_at is not None) for node, own in runs.items()}
    said: dict[tuple[_Fact, int, datetime], int] = defaultdict(int)
    kept: list[Event] = []
    for e in events:
        fact = _fact(e) if e.reason == REPLAYED else None
        start = _start(begun.get(e.writer, ()), e.at) if fact is not None and e.writer is not None else None
        if fact is None or start is None or e.writer is None:
            kept.append(e)
            continue
        key = (fact, e.writer, start)
        said[key] += 1
        before = max((bisect_left(times, start) for times in known.get(fact, ())), default=0)
        if said[key] > before:
            kept.append(e)
    return kept


def _fact(e: Event) -> _Fact | None:
    words = list(availability_reports(e))
    return (*words[0], e.broker_epoch) if len(words) == 1 and e.broker_epoch is not None and e.at is not None else None


def _known(events: Iterable[Event]) -> dict[_Fact, list[list[datetime]]]:
    """When each fact was stated, by source: a copy of the metadata log, or a controller's log."""
    found: dict[_Fact, dict[tuple[str, str | None], list[datetime]]] = defaultdict(lambda: defaultdict(list))
    for e in events:
        fact = _fact(e)
        if fact is not None and e.at is not None:
            found[fact][e.source, e.reason if e.line is not None else None].append(e.at)
    return {fact: [sorted(times) for times in own.values()] for fact, own in found.items()}


def _start(begun: Sequence[datetime], at: datetime | None) -> datetime | None:
    place = bisect_right(begun, at) if at is not None else 0
    return begun[place - 1] if place else None
