"""One event, one finding: the partitions that an event affected become places of one finding, and what recurs for months is reported once.

Here: which findings are of one event, and how they become one. Not here: which event (incidents), what a finding means and the words for
many (rules), or how many lines a screen has (forensics.views).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from forensics.model.cluster.facts import by_role
from forensics.model.findings import (
    AGAIN,
    ALIKE,
    BROKERS,
    LEVELS,
    MAX_EVIDENCE,
    MINOR,
    OF_STEPS,
    PARTITIONS,
    PLACES,
    SEVERAL,
    SUBJECTS,
    Aggregation,
    Evidence,
    Finding,
    Fold,
    Place,
    Rule,
    Statement,
)
from forensics.model.findings import places as places
from forensics.model.message import Message, Value, said, values
from forensics.model.times import grouped, runs, within
from forensics.rules import named_in_steps
from forensics.thresholds import CRASH_NOTICED, MAX_SEPARATE_EVENTS, NAMED

IncidentOf = Callable[[Statement], str | None]
_Groups = dict[tuple[Hashable, str | None], list[Statement]]
"""Findings by what they have in common, and by incident."""


def folded(
    findings: Sequence[Statement], rule: Rule, incident_of: IncidentOf = lambda f: f.incident, controllers: Collection[int] = ()
) -> list[Finding]:
    """The findings of one rule, each with its incident. Those of one event become one, as the rule declares, and those of what recurs."""
    return recurring(by_event(findings, rule, incident_of, controllers), rule)


def by_event(findings: Sequence[Statement], rule: Rule, incident_of: IncidentOf, controllers: Collection[int] = ()) -> list[Finding]:
    """The findings of one rule in one cluster, each with its incident. Those of one event become one, as the rule declares.
    `controllers`: the nodes that are only controllers."""
    if rule.many is None:
        return [_whole(f, incident_of(f)) for f in findings]
    return _by_event(findings, rule.many, incident_of, controllers)


def recurring(findings: Sequence[Finding], rule: Rule) -> list[Finding]:
    """The findings of one rule, in one cluster or in several that ended; what recurs often is reported once."""
    return _recurring(findings) if rule.many is not None and rule.many.recurs else list(findings)


def _recurring(findings: Sequence[Finding]) -> list[Finding]:
    """Merges what happened often to the same brokers, and what is minor and happened often to any."""
    minor: dict[Hashable, list[Finding]] = defaultdict(list)
    others: list[Finding] = []
    for f in findings:
        if f.severity in MINOR and _dated(f):
            minor[f.severity, f.confidence, f.end is None].append(f)
        else:
            others.append(f)
    for group in minor.values():
        if len(group) > MAX_SEPARATE_EVENTS and len({_to_whom(f) for f in group}) > 1:
            others.append(_to_several(sorted(group, key=_at)))
        else:
            others.extend(group)
    return _to_the_same(others)


def _whole(f: Statement, incident: str | None) -> Finding:
    return f.whole if f.incident == incident else replace(f.whole, incident=incident)


def _by_event(findings: Sequence[Statement], many: Aggregation, incident_of: IncidentOf, controllers: Collection[int]) -> list[Finding]:
    groups: _Groups = defaultdict(list)
    for f in _worst(findings, many) if many.worst else findings:
        incident = None if many.whenever else incident_of(f)
        what = f.severity, f.confidence, f.cause, f.committed is False, f.topic is None, f.partition is None, many.key(f)
        groups[what, incident].append(f)
    merged: list[Finding] = []
    if not many.recurs:
        groups, often = _often_possible(groups)
        merged.extend(f for group in often for f in _one(sorted(group, key=_at), many, lambda f: None))
    for group in groups.values():
        group.sort(key=lambda f: (_at(f), f.topic or "", f.partition if f.partition is not None else -1, f.brokers))
        incident = incident_of(group[0])
        if group[0].topic is not None:
            runs = [group] if incident is not None or many.whenever else _runs(group)
            merged.extend(f for run in runs for f in _one(run, many, incident_of))
        elif incident is not None and len(group) > MAX_SEPARATE_EVENTS:
            merged.append(_of_brokers(group, many, incident, controllers))
        else:
            merged.extend(_whole(f, incident_of(f)) for f in group)
    return merged


def _often_possible(groups: _Groups) -> tuple[_Groups, list[list[Statement]]]:
    """What is only possible, and is so after many events, is one finding, which belongs to none of their incidents: which of them caused it
    is open. The other findings, and these."""
    alike = grouped((what, group) for (what, _), group in groups.items() if group[0].confidence == "possible")
    often = {what: same for what, same in alike.items() if len(same) > MAX_SEPARATE_EVENTS}
    others = {key: group for key, group in groups.items() if key[0] not in often}
    return others, [[f for group in same for f in group] for same in often.values()]


def _worst(findings: Sequence[Statement], many: Aggregation) -> list[Statement]:
    alike = grouped(((f.cause, f.start, many.key(f)), f) for f in dict.fromkeys(findings))
    kept: list[Statement] = []
    for group in alike.values():
        worst = max((f.severity for f in group), key=LEVELS.index)
        kept.extend(f for f in group if f.severity == worst)
    return kept


def _runs(group: Sequence[Statement]) -> Iterator[list[Statement]]:
    """The findings by time, split where nothing happened for longer than it takes to notice one event."""
    return runs(group, within(CRASH_NOTICED, _at, _at))


def _at(f: Statement) -> datetime:
    return f.start or f.end or datetime.min


def _one(group: Sequence[Statement], many: Aggregation, incident_of: IncidentOf) -> Sequence[Finding]:
    """Merges the findings of one event that affected several partitions or topics."""
    if len({f.name for f in group}) == 1:
        return [_whole(f, incident_of(f)) for f in group]
    first = _whole(group[0], incident_of(group[0]))
    return [
        _folded(
            first,
            _fold(PLACES, **_merged(first, group, many), **_others(group)),
            topic=None,
            partition=None,
            leader_epoch=None,
            offsets=(),
            committed=first.committed if len({f.committed for f in group}) == 1 else None,
            brokers=_brokers(group),
            start=_start(group),
            start_latest=_start_latest(group),
            end=_end(group),
            salvageable=None,
            written=None,
            records=None,
            parts=(),
            clients=(),
            evidence=_evidence(group),
            places=_places(group) if many.recurs else tuple(f.place for f in group),
        )
    ]


def _merged(first: Finding, group: Sequence[Statement], many: Aggregation, of_all: Iterable[tuple[str, Value]] = ()) -> Mapping[str, Value]:
    subjects = tuple(sorted({b for f in group for b in f.brokers[:1]}))
    own = {**(many.merge(first, group) if many.merge is not None else {}), **dict(of_all)}
    return {SUBJECTS: subjects, **own, **_steps(group, own)}


def _steps(group: Sequence[Statement], merged: Collection[str]) -> dict[str, Value]:
    """The messages whose steps differ, and in what these do, each with its partitions, those of most partitions first."""
    found: dict[Message, dict[str, None]] = defaultdict(dict)
    for f in group:
        named = sorted(named_in_steps(f.message_id).difference(merged))
        known = f.known_of(named)
        found[Message(f.message_id, tuple((name, known.get(name)) for name in named))][f.name] = None
    most = sorted(found.items(), key=lambda item: -len(item[1]))[: 2 * NAMED] if len(found) > 1 else ()
    placed = group[0].topic is not None
    return {OF_STEPS: tuple(Message(m.id, (*m.values, (PARTITIONS, tuple(names) if placed else ()))) for m, names in most)} if most else {}


def _folded(first: Finding, fold: Fold, **statement: Any) -> Finding:
    """The finding with what it has in common with others, and the values that its own sentences name."""
    return replace(first, values=tuple(first.known.items()), folds=(*first.folds, fold), **statement)


def _others(group: Sequence[Statement]) -> dict[str, Value]:
    """The partitions after the first, with their offsets if these are not the same."""
    first = group[0]
    others = dict.fromkeys((f.name, f.offsets if f.offsets != first.offsets else ()) for f in group if f.name != first.name)
    shown = tuple(said("fold/other", name=name, offsets=offsets) for name, offsets in islice(others, 2 * NAMED))
    return {"others": shown, "others_more": (len(others) - len(shown)) or None}


def _brokers(group: Sequence[Statement]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(b for f in group for b in f.brokers))


def _start(group: Sequence[Statement]) -> datetime | None:
    return min((f.start for f in group if f.start is not None), default=None)


def _start_latest(group: Sequence[Statement]) -> datetime | None:
    """The latest begin of any of them, if one is not exact."""
    latest = [f.start_latest or f.start for f in group]
    return max((at for at in latest if at is not None), default=None) if any(f.start_latest for f in group) else None


def _end(group: Sequence[Statement]) -> datetime | None:
    return None if any(f.end is None for f in group) else max(f.end for f in group if f.end is not None)


def _places(group: Sequence[Statement]) -> tuple[Place, ...]:
    """One place for each partition: if the event affected it several times, from the first start to the last end."""
    by_partition = grouped(((f.topic, f.partition), f) for f in group)
    return tuple(
        first.place
        if len(own) == 1 and len(first.offsets) < 2 and len(first.brokers) < 2  # each of them once
        else replace(
            first.place,
            end=_end(own),
            offsets=tuple(dict.fromkeys(r for f in own for r in f.offsets)),
            brokers=_brokers(own),
            times=len(own),
        )
        for own in by_partition.values()
        for first in own[:1]
    )


def _evidence(group: Sequence[Statement]) -> tuple[Evidence, ...]:
    """The first finding's best piece, then the first piece of each of the others before a second."""
    pieces = [f.evidence for f in group[:MAX_EVIDENCE]]
    turns = (own[i] for i in range(max(map(len, pieces))) for own in pieces if i < len(own))
    return tuple(dict.fromkeys((*pieces[0][: MAX_EVIDENCE // 2], *turns)))[:MAX_EVIDENCE]


def _of_brokers(group: Sequence[Statement], many: Aggregation, incident: str | None, controllers: Collection[int]) -> Finding:
    """Merges what one event did to several brokers."""
    first = _whole(group[0], incident)
    brokers = _brokers(group)
    nodes, own = by_role(brokers, controllers), by_role(first.brokers, controllers)
    return _folded(
        first,
        Fold(BROKERS, tuple(_merged(first, group, many, values(nodes=nodes, first=own, who=said("node/several", nodes=nodes))).items())),
        brokers=brokers,
        start=_start(group),
        start_latest=_start_latest(group),
        end=_end(group),
        evidence=_evidence(group),
    )


def _fold(how: str, **values: Value) -> Fold:
    return Fold(how, tuple(values.items()))


def _to_whom(f: Finding) -> Hashable:
    return f.brokers, f.cause, f.topic, f.partition


def _to_several(group: Sequence[Finding]) -> Finding:
    """Merges what happened to several brokers or partitions, by time."""
    first, last = group[0], group[-1]
    brokers = tuple(sorted({b for f in group for b in f.brokers}))
    return _folded(
        first,
        _fold(SEVERAL, times=len(group), span=(_at(first), _at(last)), last=_at(last)),
        topic=None,
        partition=None,
        leader_epoch=None,
        offsets=(),
        cause=first.cause if len({f.cause for f in group}) == 1 else None,
        incident=next((f.incident for f in group if f.incident is not None), None),
        cluster=last.cluster,
        brokers=brokers,
        end=_end(group),
        evidence=_evidence(group),
        places=tuple(dict.fromkeys(p for f in group for p in places(f))),
    )


def _to_the_same(findings: Sequence[Finding]) -> list[Finding]:
    """Merges what happened to the same brokers again and again, or is reported for them often."""
    groups = grouped(((_dated(f), _to_whom(f), f.severity, f.confidence), f) for f in findings)
    merged: list[Finding] = []
    for (dated, *_), group in groups.items():
        merge = _again if dated else _alike
        merged.extend([merge(sorted(group, key=_at))] if len(group) > MAX_SEPARATE_EVENTS else group)
    return merged


def _dated(f: Finding) -> bool:
    return f.start is not None or f.end is not None


def _alike(group: Sequence[Finding]) -> Finding:
    """Merges findings without a time, such as damaged files."""
    first, *others = group
    sources = tuple(dict.fromkeys(e.source for f in others for e in f.evidence[:1]))
    return _folded(
        first,
        _fold(ALIKE, others=len(others), sources=sources[: 2 * NAMED], sources_more=max(len(sources) - 2 * NAMED, 0) or None),
        evidence=_evidence(group),
        places=tuple(dict.fromkeys(p for f in group for p in f.places)),
    )


def _again(group: Sequence[Finding]) -> Finding:
    first, last = group[0], group[-1]
    times = tuple(_at(f) for f in group[: 2 * NAMED])
    return _folded(
        first,
        _fold(AGAIN, times=len(group), listed=times, more=(len(group) - len(times)) or None, last=_at(last)),
        end=last.end or last.start,
        cluster=last.cluster,
        evidence=tuple(dict.fromkeys((*first.evidence[: MAX_EVIDENCE // 2], *last.evidence)))[:MAX_EVIDENCE],
        places=tuple(dict.fromkeys(p for f in group for p in f.places)),
    )


def hit(findings: Iterable[Statement], *, still: bool = False) -> set[tuple[str | None, int | None]]:
    """The affected partitions; with `still`, those where it has not ended when the evidence ends."""
    return {(p.topic, p.partition) for f in findings for p in places(f) if not still or p.end is None}
