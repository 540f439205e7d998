"""What does not work when the evidence ends, and the disks with the only copy of lost data.

Here: the lines, made from findings and the states of partitions. Not here: losses (losses), the sentence above them (headline), or a format.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from forensics.incidents.folding import hit, places
from forensics.model.findings import MINOR, Finding, brokers_named, counted, some

MANY_DISKS = 4
"""Sets of brokers whose disks must not be changed, before they are combined in one line."""


BROKEN = (
    ("offline-partition", "{} no leader"),
    ("under-min-isr", "{} fewer replicas in sync than min.insync.replicas: writes with acks=all are refused"),
)
"""Kinds that are reported as current failures if they have not ended."""


def failures(findings: Sequence[Finding]) -> Iterator[str]:
    """Partitions that clients cannot use when the evidence ends, and log directories that are offline, one line each."""
    present = [f for f in findings if not f.cluster]
    for kind, words in BROKEN:
        if now := hit((f for f in present if f.kind == kind), still=True):
            yield _have(_names(now), words)
    # Stuck partitions are reported from the disks' state: they stay stuck until an operator moves the leadership.
    if stuck := hit(f for f in present if f.kind == "hw-stuck"):
        yield _have(_names(stuck), "{} records above the high watermark, which consumers cannot read; the records are kept")
    yield from (f.summary for f in present if f.kind == "log-dir-failure" and f.end is None)


def unusable(findings: Sequence[Finding]) -> Iterator[str]:
    """The number of partitions that have no leader, and of those that refuse writes, when the evidence ends."""
    for kind, one, many in (("offline-partition", "is offline", "are offline"), ("under-min-isr", "refuses writes", "refuse writes")):
        if now := hit((f for f in findings if f.kind == kind and not f.cluster), still=True):
            yield f"{counted(len(now))} {one if len(now) == 1 else many}"


def broken(findings: Sequence[Finding], states: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Failures at the end of the evidence, and partitions that one more failure would harm, one line each."""
    yield from failures(findings)
    for broker, names in sorted(_alone(states).items(), key=lambda item: -len(item[1])):
        yield f"{_have(names, '{} one replica in sync')}, on broker {broker}: its failure would lose all records written since"


def _names(partitions: Iterable[tuple[str | None, int | None]]) -> list[str]:
    return sorted(f"{topic}-{partition}" for topic, partition in partitions)


def _alone(states: Sequence[Mapping[str, Any]]) -> Mapping[int, list[str]]:
    """Partitions of which a broker has the only in-sync replica, although others are assigned."""
    by_broker: dict[int, list[str]] = defaultdict(list)
    for state in states:
        if len(state["isr"] or ()) == 1 and len(state["replicas"] or ()) > 1:
            by_broker[state["isr"][0]].append(f"{state['topic']}-{state['partition']}")
    return by_broker


def _have(names: Sequence[str], words: str) -> str:
    return f"{counted(len(names))} ({some(names)}) {words.format('has' if len(names) == 1 else 'have')}"


def untouchable(findings: Sequence[Finding]) -> Iterator[str]:
    """Brokers whose disks still have records that partitions have lost; brokers with only harmless losses are not a reason to wait."""
    by_brokers: dict[tuple[int, ...], dict[str, None]] = defaultdict(dict)
    for f in findings:
        if f.kind == "data-loss" and f.still_on and f.severity not in MINOR:
            by_brokers[f.still_on].update(dict.fromkeys(p.name for p in places(f)))
    if len(by_brokers) > MANY_DISKS:
        every = tuple(sorted({b for brokers in by_brokers for b in brokers}))
        by_brokers = {every: {name: None for names in by_brokers.values() for name in names}}
    for brokers, names in by_brokers.items():
        its = "its disk holds" if len(brokers) == 1 else "their disks hold"
        yield f"DO NOT START OR WIPE {brokers_named(brokers)}: {its} what {some(list(names))} lost. Copy {'it' if len(brokers) == 1 else 'them'} first."
