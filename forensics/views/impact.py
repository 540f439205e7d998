"""What does not work when the evidence ends, and the disks with the only copy of lost data.

Here: the lines, made from findings and the states of partitions. Not here: losses (losses), the sentence above them (headline), or a format.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.incidents.folding import hit, places
from forensics.incidents.ranking import urgency
from forensics.model.findings import MINOR, Finding, Urgency, brokers_named, counted, some
from forensics.rules import RULES
from forensics.rules.detectors.windows import CLUSTER_STOPPED
from forensics.words import summary

MANY_DISKS = 4
"""Sets of brokers whose disks must not be changed, before they are combined in one line."""
_ONE_BY_ONE = "log-dir-failure"
_RULES = {rule.kind: rule for rule in RULES}


@dataclass(frozen=True, slots=True)
class _Failure:
    """A kind of finding that a line combines for all its partitions."""

    kind: str
    words: str
    one: str
    many: str
    """In the headline, for one partition and for several."""
    stays: bool = False
    """It is not over although its window in the evidence has ended: it stays until an operator acts."""


COMBINED = (
    _Failure("offline-partition", "{} no leader", "is offline", "are offline"),
    _Failure(
        "under-min-isr",
        "{} fewer replicas in sync than min.insync.replicas: writes with acks=all are refused",
        "refuses writes",
        "refuse writes",
    ),
    _Failure(
        "hw-stuck",
        "{} records above the high watermark, which consumers cannot read; the records are kept",
        "has unreadable records",
        "have unreadable records",
        stays=True,
    ),
    _Failure(
        "log-divergence",
        "{} replicas with different records at the same offsets: consumers read other records when another replica leads",
        "has replicas that differ",
        "have replicas that differ",
        stays=True,
    ),
)


def failures(findings: Sequence[Finding]) -> Iterator[str]:
    """What clients cannot use when the evidence ends, and log directories that are offline, one line each."""
    for failure, now in _combined(findings):
        yield _have(_names(now), failure.words)
    yield from (summary(f) for f in (*_offline_directories(findings), *_others(findings)))


def stopped(findings: Sequence[Finding]) -> Iterator[str]:
    """That the whole cluster was stopped when the evidence ends, in a sentence."""
    if now := hit((f for f in findings if f.cause == CLUSTER_STOPPED and not f.cluster), still=True):
        yield f"All brokers were shut down cleanly at the end, so {_have(_names(now), '{} no leader')}."


def unusable(findings: Sequence[Finding]) -> Iterator[str]:
    """The same as numbers, for the title."""
    for failure, now in _combined(findings):
        yield f"{counted(len(now))} {failure.one if len(now) == 1 else failure.many}"
    for number, what in (
        (len(_offline_directories(findings)), ("log directory is offline", "log directories are offline")),
        (len(_others(findings)), ("failure is not over", "failures are not over")),
    ):
        if number:
            yield f"{number:,} {what[number > 1]}"


def _combined(findings: Sequence[Finding]) -> Iterator[tuple[_Failure, set[tuple[str | None, int | None]]]]:
    """With the partitions that are affected when the evidence ends."""
    for failure in COMBINED:
        known = (f for f in findings if f.kind == failure.kind and f.confidence != "possible" and not f.cluster)
        present = (f for f in known if f.cause != CLUSTER_STOPPED)
        if now := hit(present, still=not failure.stays):
            yield failure, now


def _offline_directories(findings: Sequence[Finding]) -> list[Finding]:
    return [f for f in findings if f.kind == _ONE_BY_ONE and f.end is None and not f.cluster]


def _others(findings: Sequence[Finding]) -> list[Finding]:
    """Findings of other kinds that say what clients cannot use, and that are not over."""
    listed = {_ONE_BY_ONE, *(failure.kind for failure in COMBINED)}
    known = [(f, _RULES[f.kind]) for f in findings if f.kind in _RULES and f.kind not in listed]
    return [f for f, rule in known if urgency(f, rule) is Urgency.UNAVAILABLE]


def broken(findings: Sequence[Finding], states: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Failures at the end of the evidence, and partitions that one more failure would harm, one line each."""
    yield from failures(findings)
    for broker, names in sorted(_alone(states).items(), key=lambda item: -len(item[1])):
        yield f"{_have(names, '{} one replica in sync')}, on broker {broker}: a failure of this broker would lose all records written since"


def _names(partitions: Iterable[tuple[str | None, int | None]]) -> list[str]:
    return sorted(f"{topic}-{partition}" for topic, partition in partitions)


def _alone(states: Sequence[Mapping[str, Any]]) -> Mapping[int, list[str]]:
    """Partitions with a leader of which a broker has the only in-sync replica, although others are assigned."""
    by_broker: dict[int, list[str]] = defaultdict(list)
    for state in states:
        if len(state["isr"] or ()) == 1 and len(state["replicas"] or ()) > 1 and state["leader"] != -1:
            by_broker[state["isr"][0]].append(f"{state['topic']}-{state['partition']}")
    return by_broker


def _have(names: Sequence[str], words: str) -> str:
    return f"{counted(len(names))} ({some(names)}) {words.format('has' if len(names) == 1 else 'have')}"


def untouchable(findings: Sequence[Finding], running: Callable[[], Collection[int]]) -> Iterator[str]:
    """Brokers whose disks still have records that partitions have lost; brokers with only harmless losses are not a reason to wait. `running`: the
    brokers that were running when the evidence ends."""
    by_brokers: dict[tuple[int, ...], dict[str, None]] = defaultdict(dict)
    for f in findings:
        if f.kind == "data-loss" and f.still_on and f.severity not in MINOR:
            by_brokers[f.still_on].update(dict.fromkeys(p.name for p in places(f)))
    if len(by_brokers) > MANY_DISKS:
        every = tuple(sorted({b for brokers in by_brokers for b in brokers}))
        by_brokers = {every: {name: None for names in by_brokers.values() for name in names}}
    for brokers, names in by_brokers.items():
        one, lost = len(brokers) == 1, some(list(names))
        its = "its disk holds" if one else "their disks hold"
        if {*brokers} <= {*running()}:
            which = f"{brokers_named(brokers)}, which {'is' if one else 'are'} running"
            yield f"DO NOT WIPE {which}: {its} what {lost} lost. Copy {'it' if one else 'them'} now."
        else:
            yield f"DO NOT START OR WIPE {brokers_named(brokers)}: {its} what {lost} lost. Copy {'it' if one else 'them'} first."
