"""What to do next: the steps of all findings, in the order in which they help.

Here: which steps a report lists, their order and number, and the steps for partitions that could not be judged. Not here: the steps of a
finding (rules, forensics.incidents.folding).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from forensics.model.findings import LEVELS, Finding, Purpose
from forensics.proof.verdict import UNKNOWN
from forensics.rules import of_purpose, rule_of
from forensics.views.losses import losses, unsettled
from forensics.views.scope import Partitions
from forensics.words import Step, step, steps
from forensics.words.rows import missing

STEPS = 7
"""Steps that somebody on call reads."""
FIRST = 3
"""Steps of one finding, before those of the next one."""
SERIOUS = LEVELS[LEVELS.index("high") :]


def next_steps(findings: Sequence[Finding], states: Partitions) -> list[str]:
    """The steps for known losses, for partitions that could not be judged, and of other serious findings, in the order of the findings, but those
    that save something first. A step for several partitions is listed once."""
    partitions: dict[Step, dict[str, None]] = {}
    for own in _in_turns(findings, states):
        partitions.setdefault(own._replace(partitions=()), {}).update(dict.fromkeys(own.partitions))
    found = (own._replace(partitions=tuple(names)) for own, names in partitions.items())
    return [own.text for own in sorted(found, key=lambda own: not own.saves)][:STEPS]


def _in_turns(findings: Sequence[Finding], states: Partitions) -> Iterator[Step]:
    """The first steps of each finding, and then the rest."""
    known = [f for f in findings if _is_known_loss(f)]
    others = [f for f in findings if _matters(f) and not _is_known_loss(f)]
    first, rest = slice(FIRST), slice(FIRST, None)
    yield from _of(known, first)
    yield from _settling(findings, states)
    yield from _of(others, first)
    yield from _of([*known, *others], rest)


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
    by_reason: dict[str, list[str]] = defaultdict(list)
    for p in unknown:
        if (name := f"{p['topic']}-{p['partition']}") in without_steps:
            by_reason[missing(p)].append(name)
    for why, names in sorted(by_reason.items(), key=lambda item: -len(item[1]))[:FIRST]:
        yield step("report/settle", tuple(names), why=why)
