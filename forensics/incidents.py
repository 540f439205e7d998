"""Incidents: a cause with all that followed from it.

Here: which findings are causes, which of them are one incident, what followed from which, and the few sentences that tell it. Not here:
how the findings of one incident become one of each kind (folding), or how a screen shows it (report).

What befell a broker (Rule.root) is a cause; what a finding says of the same broker from then on, until it was in sync again, followed from it.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from forensics.folding import folded, places
from forensics.model import LEVELS, Finding, Rule, brokers_named, counted, moment

NOTICED = timedelta(seconds=60)
"""What follows is noticed within it, at times before the cause: no session time-out in use is longer, and a clock may be a little off."""
NEXT_BROKER = timedelta(minutes=30)
"""Between one broker of a rolling restart and the next: who restarts a fleet waits for under-replicated partitions to go away."""
SETTLES = timedelta(minutes=10)
"""Leadership goes back to a broker that returned: leader.imbalance.check.interval.seconds is 300, and one round may come too early."""
PLANNED = frozenset({"controlled-shutdown", "planned-reassignment", "preferred-election"})
BACK = "restarted-replica"
ROLLING = "rolling-restart"


@dataclass(frozen=True, slots=True)
class Incident:
    """`findings`: the ids of those that are the cause or followed from it; `end` None: not over when the evidence ends."""

    id: str
    kind: str
    severity: str
    brokers: tuple[int, ...]
    start: datetime | None
    end: datetime | None
    summary: str
    explanation: str
    findings: tuple[str, ...] = ()
    cluster: int = 0


@dataclass(slots=True)
class _Root:
    """What befell brokers from `start` to `end`, and until when they were not in sync again."""

    kind: str
    brokers: tuple[int, ...]
    start: datetime
    end: datetime | None
    causes: list[Finding]

    @property
    def id(self) -> str:
        return hashlib.sha256("|".join(sorted(f.id for f in self.causes)).encode()).hexdigest()[:12]


def incidents(findings: Sequence[Finding], rules: Sequence[Rule]) -> tuple[list[Finding], list[Incident]]:
    """The findings of one cluster, folded, with the incident each belongs to; and the incidents, worst first."""
    roots = _roots(findings, {r.kind for r in rules if r.root is not None})
    told = folded(_assigned(findings, roots), rules)
    by_incident: dict[str, list[Finding]] = defaultdict(list)
    for f in told:
        if f.incident is not None:
            by_incident[f.incident].append(f)
    phrases = {r.kind: r.root for r in rules if r.root is not None}
    found = [_told(root, by_incident[root.id], phrases) for root in roots]
    return told, sorted(found, key=lambda i: (-LEVELS.index(i.severity), i.start or datetime.min, i.id))


def _assigned(findings: Sequence[Finding], roots: Sequence[_Root]) -> list[Finding]:
    by_broker: dict[int, list[_Root]] = defaultdict(list)
    for root in sorted(roots, key=lambda r: r.start):
        for broker in root.brokers:
            by_broker[broker].append(root)
    own = {id(f): root.id for root in roots for f in root.causes}
    return [replace(f, incident=own.get(id(f)) or _followed(f, by_broker)) for f in findings]


def _followed(f: Finding, by_broker: dict[int, list[_Root]]) -> str | None:
    """The last thing that befell one of its brokers before it began and was not over then."""
    at = (f.end or f.start) if f.kind == "data-loss" else (f.start or f.end)
    if at is None:
        return None
    settles = SETTLES if f.kind in PLANNED else NOTICED
    found = [
        root
        for broker in f.brokers
        for own in (by_broker.get(broker, []),)
        for root in own[: bisect_right(own, at + NOTICED, key=lambda r: r.start)]
        if root.end is None or at <= root.end + settles
    ]
    return max(found, key=lambda r: (r.kind not in (*PLANNED, ROLLING), r.start)).id if found else None


def _roots(findings: Sequence[Finding], kinds: set[str]) -> list[_Root]:
    back: dict[int, list[Finding]] = defaultdict(list)
    for f in findings:
        if f.kind == BACK and f.start is not None:
            for broker in f.brokers:
                back[broker].append(f)
    single = [
        _Root(f.kind, f.brokers if f.partition is None else f.brokers[:1], f.start, _over(f, back), [f])
        for f in findings
        if f.kind in kinds and f.start is not None and f.brokers
    ]
    single.sort(key=lambda r: (r.start, r.kind, r.brokers))
    failures = _merged([r for r in single if r.kind not in PLANNED], _during)
    stops = _merged(
        [r for r in single if r.kind == "controlled-shutdown"],
        _next,
    )
    rest = [r for r in single if r.kind in PLANNED and r.kind != "controlled-shutdown"]
    for stop in stops:
        if len(set(stop.brokers)) > 1:
            stop.kind = ROLLING
    return [*failures, *stops, *rest]


def _over(f: Finding, back: dict[int, list[Finding]]) -> datetime | None:
    """When its brokers were in sync again, else when it was over by itself."""
    assert f.start is not None
    own = [b for broker in f.brokers for b in back.get(broker, ()) if b.start is not None and b.start >= f.start - NOTICED]
    if own:
        first = min(own, key=lambda b: b.start or datetime.max)
        return None if first.end is None or f.end is None else max(first.end, f.end)
    return f.end


def _during(before: _Root, after: _Root) -> bool:
    """It began before the one before was over; what a broker that never came back leaves to the others is soon settled."""
    last = max(f.start for f in before.causes if f.start is not None)
    return after.start <= (before.end if before.end is not None else last + SETTLES)


def _next(before: _Root, after: _Root) -> bool:
    return before.end is not None and after.start <= before.end + NEXT_BROKER


def _merged(roots: Sequence[_Root], joins: Callable[[_Root, _Root], bool]) -> list[_Root]:
    """Roots in order of time, with those made one that join the one before."""
    told: list[_Root] = []
    for root in roots:
        if told and joins(told[-1], root):
            last = told[-1]
            last.brokers = tuple(dict.fromkeys((*last.brokers, *root.brokers)))
            last.end = None if last.end is None or root.end is None else max(last.end, root.end)
            last.causes.extend(root.causes)
        else:
            told.append(replace(root, causes=list(root.causes)))
    return told


def _told(root: _Root, own: Sequence[Finding], phrases: Mapping[str, str]) -> Incident:
    costs = list(_costs(own))
    open_ones = list(_open(root, own))
    what = " ".join(_what(root, phrases))
    return Incident(
        id=root.id,
        kind=root.kind,
        severity=max((f.severity for f in own), key=LEVELS.index),
        brokers=root.brokers,
        start=root.start,
        end=root.end,
        summary=f"{what[:1].upper()}{what[1:]}: {'; '.join(costs) or 'nothing came of it'}",
        explanation=" ".join(
            (
                f"{what[:1].upper()}{what[1:]} (from {moment(root.start)}).",
                f"It cost: {'; '.join(costs)}." if costs else "Nothing that matters came of it.",
                f"Now: {'; '.join(open_ones)}." if open_ones else f"It was over at {moment(root.end)}." if root.end is not None else "",
            )
        ).strip(),
        findings=tuple(f.id for f in own),
    )


def _what(root: _Root, phrases: Mapping[str, str]) -> Iterator[str]:
    """Who, and what befell them, in the order in which it did."""
    befell: dict[int, dict[str, None]] = defaultdict(dict)
    for f in root.causes:
        for broker in f.brokers if f.partition is None else f.brokers[:1]:
            befell[broker].setdefault(phrases[f.kind])
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for broker, words in befell.items():
        alike[tuple(words)].append(broker)
    parts = [
        f"{brokers_named(brokers)} {_listed(words)}{' one after the other' if root.kind == ROLLING else ''}"
        for words, brokers in alike.items()
    ]
    yield "; ".join(parts)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


COSTS = (
    ("offline-partition", "{} had no leader"),
    ("under-min-isr", "{} refused writes with acks=all"),
    ("under-replicated", "{} were short of replicas"),
)
"""Kinds and what they cost, beside losses."""


def _costs(own: Sequence[Finding]) -> Iterator[str]:
    losses = [f for f in own if f.kind == "data-loss"]
    for committed, words in (
        (True, "{} of {} that were committed are lost"),
        (None, "{} of {} are lost, committed or not"),
        (False, "{} of {} that were never committed were cut"),
    ):
        gone = [f for f in losses if f.confidence != "possible" and f.committed is committed]
        if gone:
            count = sum(r.length or 0 for f in gone for p in places(f) for r in p.offsets)
            yield words.format(f"{count} offsets", counted(_hit(gone)))
    for excused in (True, False):
        doubtful = [f for f in losses if f.confidence == "possible" and (f.committed is False) == excused]
        if doubtful:
            told = "in {} records in flight were cut, which probably nobody was told of" if excused else "of {} a loss cannot be excluded"
            yield told.format(counted(_hit(doubtful)))
    for kind, words in COSTS:
        if hit := [f for f in own if f.kind == kind]:
            yield words.format(counted(_hit(hit)))


def _open(root: _Root, own: Sequence[Finding]) -> Iterator[str]:
    """What is not over when the evidence ends."""
    for kind, words in (
        ("offline-partition", "{} have no leader"),
        ("under-min-isr", "{} are below min.insync.replicas"),
        ("under-replicated", "{} are short of replicas"),
    ):
        now = [f for f in own if f.kind == kind and any(p.end is None for p in places(f))]
        if now:
            yield words.format(counted(len({(p.topic, p.partition) for f in now for p in places(f) if p.end is None})))


def _hit(findings: Sequence[Finding]) -> int:
    return len({(p.topic, p.partition) for f in findings for p in places(f)})
