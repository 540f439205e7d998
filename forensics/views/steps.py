"""What to do next: the steps of all findings, in the order in which they help.

Here: which steps a report lists, their order and number, and the steps for partitions that could not be judged. Not here: the steps of a
finding (rules, forensics.incidents.folding).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from forensics.incidents.folding import places
from forensics.model.findings import CUT, LEVELS, Finding, Purpose
from forensics.model.message import said
from forensics.model.times import grouped
from forensics.proof.verdict import UNKNOWN
from forensics.rules import of_purpose, rule_of
from forensics.views.losses import held_until, losses, unsettled
from forensics.views.scope import Partitions
from forensics.words import Step, step, steps
from forensics.words.rows import missing

STEPS = 10
"""Steps of a complete report."""
FIRST = 3
"""Steps of one finding, before those of the next one."""
SERIOUS = LEVELS[LEVELS.index("high") :]


def next_steps(findings: Sequence[Finding], states: Partitions) -> list[str]:
    """The steps for known losses, for partitions that could not be judged, and of other serious findings, in the order of the findings, but
    those that save something first. A step for several partitions is listed once."""
    partitions: dict[Step, dict[str, None]] = {}
    for own in _in_turns(findings, states):
        partitions.setdefault(own._replace(partitions=()), {}).update(dict.fromkeys(own.partitions))
    found = (own._replace(partitions=tuple(names)) for own, names in partitions.items())
    return [own.text for own in sorted(found, key=lambda own: not own.saves)][:STEPS]


def _in_turns(findings: Sequence[Finding], states: Partitions) -> Iterator[Step]:
    """What brings lost records back, what made their loss possible, and then the first steps of each finding, and the rest."""
    known = [f for f in findings if _is_known_loss(f)]
    others = sorted((f for f in findings if _matters(f) and not _is_known_loss(f)), key=lambda f: not rule_of(f.kind).records_gone)
    harmful = [f for f in of_purpose(findings, Purpose.SETTING) if not f.cluster and f.known.get("consequences")]
    yield from _snapshots(known)
    yield from _of(known, slice(1))
    yield from _of(harmful[:1] if known else (), slice(1))
    yield from _of(known, slice(1, FIRST))
    yield from _settling(findings, states)
    yield from _of(others, slice(FIRST))
    yield from _of([*known, *others], slice(FIRST, None))


def _snapshots(known: Sequence[Finding]) -> Iterator[Step]:
    """Earlier copies of disks that had committed records which no collected file has, a step for the partitions that the same disks had."""
    until: dict[str, dict[int, datetime]] = defaultdict(dict)
    for f in known:
        for p in (p for p in places(f) if any(part.kind != CUT for part in p.parts)):
            for broker, at in held_until(p):
                until[p.name][broker] = min(at, until[p.name].get(broker, at))
    by_brokers = grouped((tuple(sorted(own)), name) for name, own in until.items())
    for brokers, names in by_brokers.items():
        first = {b: min(until[name][b] for name in names) for b in brokers}
        disks = tuple(said("report/disk", broker=b, until=first[b]) for b in brokers)
        yield step("report/snapshot", tuple(names), disks=disks, all=len(by_brokers) == 1)


def _is_known_loss(f: Finding) -> bool:
    return f.loss and f.confidence != "possible"


def _matters(f: Finding) -> bool:
    """A cluster that has ended cannot be repaired; only its losses matter."""
    return rule_of(f.kind).records_gone or (f.severity in SERIOUS and not f.cluster)


def _of(findings: Sequence[Finding], part: slice) -> Iterator[Step]:
    for f in findings:
        yield from steps(f)[part]


def _settling(findings: Sequence[Finding], states: Partitions) -> Iterator[Step]:
    """Steps after which it is known whether partitions lost records: evidence to collect, and else what only other sources can show."""
    unknown = [p for p in states if p["verdict"] == UNKNOWN]
    if not states:
        yield step("report/collect")
    if not unknown:
        return
    yield from [own for f in of_purpose(findings, Purpose.MISSING_EVIDENCE) if not f.cluster for own in steps(f)][:FIRST]
    without_steps = {*unsettled(losses(findings), states)}
    by_reason = grouped((missing(p), name) for p in unknown if (name := f"{p['topic']}-{p['partition']}") in without_steps)
    for why, names in sorted(by_reason.items(), key=lambda item: -len(item[1]))[:FIRST]:
        yield step("report/settle", tuple(names), why=why)
