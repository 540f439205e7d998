"""quorum-lost: the metadata quorum had no leader for longer than an election takes.

Here: KRaft controllers that look for a leader. Not here: the change of the leader (controller_change), the end of a controller
(controller_crash).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, Rule, Urgency, brokers_named, moment, quote
from forensics.thresholds import NO_QUORUM

_LOOKING = frozenset({"candidate", "prospective"})
_FOUND = frozenset({"leader", "follower"})


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    own: dict[int, list[Event]] = defaultdict(list)
    for e in cluster.of("quorum-role"):
        if e.writer is not None and e.at is not None:
            own[e.writer].append(e)
    spans = sorted((s for events in own.values() for s in _searches(events)), key=lambda s: s[0].at or datetime.min)
    for group in _overlapping(spans):
        elected = min((s[-1] for s in group if s[-1].reason in _FOUND), key=lambda e: e.at or datetime.max, default=None)
        if _lasted(group, elected) and not _led(group, elected, own):
            yield _finding(group, elected, len(own))


def _searches(events: Sequence[Event]) -> Iterator[list[Event]]:
    """From the first candidacy to the next known leader."""
    current: list[Event] = []
    for e in events:
        if current or e.reason in _LOOKING:
            current.append(e)
        if current and e.reason in _FOUND:
            yield current
            current = []
    if current:
        yield current


def _overlapping(spans: Sequence[list[Event]]) -> Iterator[list[list[Event]]]:
    group: list[list[Event]] = []
    until = datetime.min
    for s in spans:
        start, end = s[0].at or datetime.min, s[-1].at or datetime.min
        if group and start > until:
            yield group
            group, until = [], datetime.min
        group.append(s)
        until = max(until, end)
    if group:
        yield group


def _start(group: Sequence[Sequence[Event]]) -> datetime:
    return min(s[0].at for s in group if s[0].at is not None)


def _lasted(group: Sequence[Sequence[Event]], elected: Event | None) -> bool:
    last = max(s[-1].at for s in group if s[-1].at is not None)
    end = elected.at if elected is not None and elected.at is not None else last
    return end - _start(group) >= NO_QUORUM


def _led(group: Sequence[Sequence[Event]], elected: Event | None, own: Mapping[int, Sequence[Event]]) -> bool:
    """Whether another controller led then: the searching ones were only cut off."""
    looking = {s[0].writer for s in group}
    end = elected.at if elected is not None else None
    for node, events in own.items():
        before = [e for e in events if e.at is not None and (end is None or e.at < end)]
        if node not in looking and before and before[-1].reason == "leader":
            return True
    return False


def _finding(group: Sequence[Sequence[Event]], elected: Event | None, known: int) -> Finding:
    nodes = sorted({s[0].writer for s in group if s[0].writer is not None})
    start, tries = _start(group), sum(e.reason in _LOOKING for s in group for e in s)
    end = elected.at if elected is not None else None
    over = f"A leader was known again at {moment(end)}." if end is not None else "No later leader is in evidence."
    return Finding(
        kind="quorum-lost",
        severity="high",
        confidence="certain" if len(nodes) == known and known > 1 else "probable",
        brokers=tuple(nodes),
        start=start,
        end=end,
        summary=f"{brokers_named(nodes).replace('broker', 'controller')} found no leader of the metadata quorum from {moment(start)}"
        + (f" to {moment(end)}" if end is not None else " on"),
        explanation=(
            f"From {moment(start)} on {brokers_named(nodes).replace('broker', 'controller')} looked for a leader of the metadata quorum "
            f"({tries} candidacies). {over} Without a majority of controllers, no partition gets a new leader, no ISR changes, and no topic or "
            "setting can be changed. Brokers continue to serve the partitions that they lead."
        ),
        next_steps=(
            "Start the controllers that are down: a majority of `controller.quorum.voters` must run and reach each other.",
            "Run `kafka-metadata-quorum.sh --bootstrap-controller HOST:PORT describe --status`, and compare the voters with the running controllers.",
        ),
        evidence=quote([s[0] for s in group][:4], elected),
    )


RULE = Rule(
    kind="quorum-lost",
    rank=278,
    level="high",
    urgency=Urgency.UNAVAILABLE,
    meaning="The metadata quorum had no leader for longer than an election takes.",
    benign=("An ordinary election, at a start or after the leader stopped, ends within seconds.",),
    cluster=detect,
)
