"""One event, one finding: what it did to many partitions becomes places of one, and what recurs for months is told once.

Here: which findings are of one event, and how they become one. Not here: what a finding means (rules), or how many lines a screen has (report).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby

from forensics.model import MAX_EVIDENCE, NAMED, Finding, Place, Rule, counted, moment, some

AT_ONCE = timedelta(seconds=10)
"""A controller goes through all partitions of a broker within seconds; sessions and lag times, which part events, are longer."""
OFTEN = 6
"""As often as an incident of a day restarts a broker; what recurs more is a way of life."""


def folded(findings: Iterable[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """The findings of one cluster with those of one event made one, as their rules declare it."""
    declared = {rule.kind: rule for rule in rules}
    by_kind: dict[str, list[Finding]] = defaultdict(list)
    for f in findings:
        by_kind[f.kind].append(f)
    result: list[Finding] = []
    for kind, own in by_kind.items():
        rule = declared[kind]
        told = _by_event(own, rule) if rule.together is not None else own
        result.extend(_recurring(told) if rule.recurs else told)
    return result


def _by_event(findings: Sequence[Finding], rule: Rule) -> list[Finding]:
    assert rule.together is not None
    groups: dict[object, list[Finding]] = defaultdict(list)
    alone = []
    for f in findings:
        key = rule.together(f)
        if key is None or f.partition is None:
            alone.append(f)
        else:
            groups[key].append(f)
    for group in groups.values():
        group.sort(key=lambda f: (_at(f), f.topic or "", f.partition or 0))
        starts = [_at(f) for f in group]
        event = 0
        numbers = [event := event + (i > 0 and starts[i] - starts[i - 1] > AT_ONCE) for i in range(len(starts))]
        for _, pairs in groupby(zip(numbers, group, strict=True), key=lambda p: p[0]):
            alone.append(_one([f for _, f in pairs]))
    return alone


def _at(f: Finding) -> datetime:
    return f.start or f.end or datetime.min


def _one(group: Sequence[Finding]) -> Finding:
    """Findings of one event as one; the first one's words stand for all."""
    first = group[0]
    if len(group) == 1:
        return first
    names = [f"{f.topic}-{f.partition}" for f in group]
    shown = f"{counted(len(set(names)))} ({some(names)})"
    offsets_differ = len({f.offsets for f in group}) > 1
    words = first.summary.replace(names[0], shown, 1)
    if offsets_differ and first.offsets:
        words = words.replace(f" from offset {first.offsets[0].start} on", "", 1)
    return replace(
        first,
        topic=None,
        partition=None,
        leader_epoch=None,
        offsets=(),
        start=min((f.start for f in group if f.start is not None), default=None),
        end=None if any(f.end is None for f in group) else max(f.end for f in group if f.end is not None),
        committed=first.committed if len({f.committed for f in group}) == 1 else None,
        summary=words,
        explanation=f"{first.explanation} So it is with {len(group) - 1} more: {some(names[1:], 2 * NAMED)}.",
        next_steps=tuple(dict.fromkeys(step.replace(names[0], some(names)) for step in first.next_steps)),
        places=tuple(f.place for f in group),
    )


def _recurring(findings: Sequence[Finding]) -> list[Finding]:
    """What happened to the same brokers again and again."""
    groups: dict[object, list[Finding]] = defaultdict(list)
    for f in findings:
        groups[(f.brokers, f.severity, f.confidence, f.cause, f.topic, f.partition)].append(f)
    told: list[Finding] = []
    for group in groups.values():
        told.extend([_again(sorted(group, key=_at))] if len(group) > OFTEN else group)
    return told


def _again(group: Sequence[Finding]) -> Finding:
    first, last = group[0], group[-1]
    times = [moment(_at(f)) for f in group]
    listed = ", ".join(times[: 2 * NAMED]) + (
        f" and {len(times) - 2 * NAMED} times more, the last at {times[-1]}" if len(times) > 2 * NAMED else ""
    )
    places = tuple(dict.fromkeys(p for f in group for p in f.places))
    evidence = tuple(dict.fromkeys((*first.evidence[: MAX_EVIDENCE // 2], *last.evidence)))[:MAX_EVIDENCE]
    return replace(
        first,
        start=first.start,
        end=last.end or last.start,
        summary=f"{len(group)} times: {first.summary}, the last at {times[-1]}",
        explanation=f"The first time: {first.explanation} It happened at {listed}.",
        evidence=evidence,
        places=places,
    )


def places(finding: Finding) -> tuple[Place, ...]:
    """Where a finding is: its places, else its own."""
    return finding.places or ((finding.place,) if finding.topic is not None else ())
