"""What does not work when the evidence ends, and the disks with the only copy of lost data.

Here: the lines, made from findings and the states of partitions. Not here: losses (losses), the sentence above them (headline), or a
format.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from forensics.incidents.findings import urgency
from forensics.incidents.folding import hit, places
from forensics.model.findings import MINOR, Finding, Impact, Lasting, Rule, Urgency, disks
from forensics.model.message import said
from forensics.model.times import grouped
from forensics.rules import RULES, rule_of
from forensics.rules.detectors.windows import CLUSTER_STOPPED
from forensics.words import summary, text
from forensics.words.formats import brokers_named, where

MANY_DISKS = 4
"""Sets of brokers whose disks must not be changed, before they are combined in one line."""


def failures(findings: Sequence[Finding]) -> Iterator[str]:
    """What clients cannot use when the evidence ends, and log directories that are offline, one line each."""
    for rule, names in _combined(findings):
        yield text(said(f"{rule.kind}/now", names=names))
    yield from (summary(f) for f in (*_each(findings), *_others(findings)))


def stopped(findings: Sequence[Finding]) -> Iterator[str]:
    """That the whole cluster was stopped when the evidence ends, in a sentence."""
    alike = [f for f in findings if f.cause == CLUSTER_STOPPED and not f.cluster]
    if names := _names(hit(alike, still=True)):
        yield text(said(f"{alike[0].kind}/stopped", names=names))


def outage(findings: Sequence[Finding]) -> Finding | None:
    """The longest outage of the worst kind that is over: partitions or a whole cluster that clients could not use."""
    sure = (f for f in findings if f.confidence != "possible" and not f.cluster and f.cause != CLUSTER_STOPPED)
    over = [(f.end - f.start, f) for f in sure if f.start is not None and f.end is not None and rule_of(f.kind) in _OUTAGES]
    return max((own for own in over if own[1].kind == over[0][1].kind), key=itemgetter(0), default=(None, None))[1]


_OUTAGES = [r for r in RULES if r.urgency is Urgency.UNAVAILABLE and r.impact in (Impact.PARTITIONS, Impact.TIME)]


def unusable(findings: Sequence[Finding]) -> Iterator[str]:
    """The same as numbers, for the title."""
    for rule, names in _combined(findings):
        yield text(said(f"{rule.kind}/title", partitions=len(names)))
    for kind, number in Counter(f.kind for f in _each(findings)).items():
        yield text(said(f"{kind}/title", number=number))
    if number := len(_others(findings)):
        yield text(said("report/not-over", number=number))


def _combined(findings: Sequence[Finding]) -> Iterator[tuple[Rule, tuple[str, ...]]]:
    """With the names of the partitions that are affected when the evidence ends."""
    for rule in RULES:
        if rule.now in (Lasting.WHILE_IT_LASTS, Lasting.UNTIL_REPAIRED):
            known = (f for f in findings if f.kind == rule.kind and f.confidence != "possible" and not f.cluster)
            present = (f for f in known if f.cause != CLUSTER_STOPPED)
            if now := hit(present, still=rule.now is Lasting.WHILE_IT_LASTS):
                yield rule, _names(now)


def _each(findings: Sequence[Finding]) -> list[Finding]:
    return [f for f in findings if rule_of(f.kind).now is Lasting.EACH and f.end is None and not f.cluster]


def _others(findings: Sequence[Finding]) -> list[Finding]:
    """Findings of other kinds that say what clients cannot use, and that are not over."""
    known = ((f, rule_of(f.kind)) for f in findings)
    return [f for f, rule in known if rule.now is None and urgency(f, rule) is Urgency.UNAVAILABLE]


def broken(findings: Sequence[Finding], states: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Failures at the end of the evidence, and partitions that one more failure would harm, one line each."""
    yield from failures(findings)
    for broker, names in sorted(_alone(states).items(), key=lambda item: -len(item[1])):
        yield text(said("report/alone", names=tuple(names), broker=broker))


def _names(partitions: Iterable[tuple[str | None, int | None]]) -> tuple[str, ...]:
    return tuple(sorted(f"{topic}-{partition}" for topic, partition in partitions))


def _alone(states: Sequence[Mapping[str, Any]]) -> Mapping[int, list[str]]:
    """Partitions with a leader of which a broker has the only in-sync replica, although others are assigned."""
    return grouped(
        (state["isr"][0], f"{state['topic']}-{state['partition']}")
        for state in states
        if len(state["isr"] or ()) == 1 and len(state["replicas"] or ()) > 1 and state["leader"] != -1
    )


def untouchable(findings: Sequence[Finding], running: Callable[[], Collection[int]]) -> Iterator[str]:
    """Brokers whose disks still have records that partitions have lost; brokers with only harmless losses are not a reason to wait.
    `running`: the brokers that were running when the evidence ends."""
    by_brokers: dict[tuple[tuple[int, ...], bool], dict[str, None]] = defaultdict(dict)
    for place in (p for f in findings if f.loss and f.severity not in MINOR for p in places(f)):
        for sure, brokers in zip((True, False), disks(place.parts), strict=True):
            if brokers:
                by_brokers[brokers, sure][place.name] = None
    if len(by_brokers) > MANY_DISKS:
        every = tuple(sorted({b for brokers, _ in by_brokers for b in brokers}))
        by_brokers = {(every, all(sure for _, sure in by_brokers)): {name: None for names in by_brokers.values() for name in names}}
    for (brokers, sure), names in by_brokers.items():
        one, lost = len(brokers) == 1, where(names)
        its = ("its disk" if one else "their disks") + (" may hold" if not sure else " holds" if one else " hold")
        if {*brokers} <= {*running()}:
            which = f"{brokers_named(brokers)}, which {'is' if one else 'are'} running"
            yield f"DO NOT WIPE {which}: {its} what {lost} lost. Copy {'it' if one else 'them'} now."
        else:
            yield f"DO NOT START OR WIPE {brokers_named(brokers)}: {its} what {lost} lost. Copy {'it' if one else 'them'} first."
