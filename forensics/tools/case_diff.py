"""The differences between two cases: of two collections of one cluster, or of two versions of the tool.

Here: verdicts of partitions, findings, brokers and files, compared. Not here: opening cases (forensics.case), or the output
(forensics.views.diff).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from forensics.incidents.folding import hit, places
from forensics.model.cluster.facts import Node
from forensics.model.findings import LEVELS, Finding, Place
from forensics.model.message import timestamp
from forensics.proof.verdict import LOST, TAIL_CUT, UNKNOWN
from forensics.thresholds import SAME_INCIDENT
from forensics.tools.custody import Compared, Sealed, compare

Partition = tuple[str, int]

AS_BAD = {LOST: (LOST,), TAIL_CUT: (TAIL_CUT, LOST), UNKNOWN: (UNKNOWN, LOST)}
"""For each bad verdict, the verdicts that are as bad or worse."""


@dataclass(frozen=True)
class Side:
    """What is compared of a case."""

    findings: Sequence[Finding]
    """In the order of the report."""
    verdicts: Mapping[Partition, tuple[str, str | None]]
    """Verdict and its reason, by partition."""
    nodes: Mapping[int, Node]
    files: Sequence[Sealed]
    """Paths without the directory that all files of the case share."""


@dataclass(frozen=True)
class ChangedField:
    """An attribute with another value, as JSON values."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class ChangedFinding:
    """A finding of both cases with differences besides its words and evidence."""

    before: Finding
    after: Finding
    fields: tuple[ChangedField, ...]


@dataclass(frozen=True)
class ChangedVerdict:
    """A partition of both cases with another verdict."""

    partition: Partition
    before: str
    after: str
    why: str | None
    """Reason for the verdict after."""


@dataclass(frozen=True)
class Difference:
    """From the case before to the case after. New: only in the one after; gone: only in the one before."""

    new_partitions: Sequence[tuple[Partition, str]]
    """With the verdict."""
    gone_partitions: Sequence[tuple[Partition, str]]
    verdicts: Sequence[ChangedVerdict]
    same_verdicts: int
    new_findings: Sequence[Finding]
    gone_findings: Sequence[Finding]
    findings: Sequence[ChangedFinding]
    same_findings: int
    new_nodes: Sequence[Node]
    gone_nodes: Sequence[Node]
    nodes: Sequence[tuple[int, tuple[ChangedField, ...]]]
    same_nodes: int
    files: Sequence[Compared]
    """Files of either case with their state (forensics.tools.custody.STATES)."""

    def __bool__(self) -> bool:
        """Whether there is any difference besides files that moved."""
        of_findings = (*self.new_findings, *self.gone_findings, *self.findings)
        of_nodes = (*self.new_nodes, *self.gone_nodes, *self.nodes)
        of_partitions = (*self.new_partitions, *self.gone_partitions, *self.verdicts)
        return bool(of_findings or of_nodes or of_partitions or any(c.state in ("changed", "missing", "additional") for c in self.files))

    def worsened(self, level: str) -> list[Finding]:
        """Findings of at least this severity that are new, or that had a lower severity before."""
        least = LEVELS.index(level)
        raised = (c.after for c in self.findings if LEVELS.index(c.before.severity) < least)
        return [f for f in (*self.new_findings, *raised) if LEVELS.index(f.severity) >= least]

    def became(self, verdict: str) -> list[Partition]:
        """Partitions that are now as bad as this verdict and were not before, or were not in the case."""
        bad = AS_BAD[verdict]
        changed = [c.partition for c in self.verdicts if c.after in bad and c.before not in bad]
        return sorted([*changed, *(name for name, own in self.new_partitions if own in bad)])


def difference(before: Side, after: Side) -> Difference:
    """What changed from one case to the other."""
    both_findings = list(pairs(before.findings, after.findings))
    changed = [ChangedFinding(old, new, fields) for old, new in both_findings if (fields := tuple(_changes(_stated(old), _stated(new))))]
    old_ids, new_ids = ({id(f) for f in side} for side in zip(*both_findings, strict=True)) if both_findings else (set[int](), set[int]())
    common = before.verdicts.keys() & after.verdicts.keys()
    verdicts = [
        ChangedVerdict(name, before.verdicts[name][0], *after.verdicts[name])
        for name in sorted(common)
        if before.verdicts[name][0] != after.verdicts[name][0]
    ]
    both = sorted(before.nodes.keys() & after.nodes.keys())
    nodes = [(node, fields) for node in both if (fields := tuple(_of_node(before.nodes[node], after.nodes[node])))]
    return Difference(
        new_partitions=_only(after.verdicts, before.verdicts),
        gone_partitions=_only(before.verdicts, after.verdicts),
        verdicts=verdicts,
        same_verdicts=len(common) - len(verdicts),
        new_findings=[f for f in after.findings if id(f) not in new_ids],
        gone_findings=[f for f in before.findings if id(f) not in old_ids],
        findings=sorted(changed, key=lambda c: -LEVELS.index(c.after.severity)),
        same_findings=len(both_findings) - len(changed),
        new_nodes=[node for node in after.nodes.values() if node.id not in before.nodes],
        gone_nodes=[node for node in before.nodes.values() if node.id not in after.nodes],
        nodes=nodes,
        same_nodes=len(both) - len(nodes),
        files=[c for c in compare(before.files, after.files) if not c.archive],
    )


def _only(verdicts: Mapping[Partition, tuple[str, str | None]], other: Mapping[Partition, Any]) -> list[tuple[Partition, str]]:
    return [(name, verdicts[name][0]) for name in sorted(verdicts.keys() - other.keys())]


# findings


def pairs(before: Sequence[Finding], after: Sequence[Finding]) -> Iterator[tuple[Finding, Finding]]:
    """The findings that are in both cases, with their counterparts. They have the same id, or else one kind, common partitions or brokers,
    and about the same time: an id changes with brokers, offsets and times (Finding.id)."""
    by_id = {f.id: f for f in after}
    same = {f.id for f in before if f.id in by_id}
    yield from ((f, by_id[f.id]) for f in before if f.id in same)
    about: dict[tuple[str, int, Any], dict[int, Finding]] = defaultdict(dict)
    for f in after:
        for subject in _subjects(f) if f.id not in same else ():
            about[f.kind, f.cluster, subject][id(f)] = f
    rest = [f for f in before if f.id not in same]
    near = []
    for n, f in enumerate(rest):
        candidates = {key: new for subject in _subjects(f) for key, new in about[f.kind, f.cluster, subject].items()}
        near += [(distance, n, new) for new in candidates.values() if (distance := _distance(f, new)) is not None]
    paired: set[int] = set()
    for _, n, new in sorted(near, key=lambda one: (one[0], one[1], one[2].id)):
        if not {id(rest[n]), id(new)} & paired:
            paired |= {id(rest[n]), id(new)}
            yield rest[n], new


_Distance = tuple[bool, float, float]


def _subjects(f: Finding) -> set[Any]:
    """What a finding is about: its partitions, or else its brokers, or else nothing in particular."""
    return hit([f]) or set(f.brokers) or {None}


def _distance(f: Finding, other: Finding) -> _Distance | None:
    """How far apart two findings of one kind are: by cause, by partitions or brokers, by time. None: they are about different things."""
    own, others = _subjects(f), _subjects(other)
    shared = len(own & others) / len(own | others)
    apart = _apart(f, other)
    if not shared or (apart > SAME_INCIDENT and not _same_records(f, other)):
        return None
    return f.cause != other.cause, -shared, apart.total_seconds()


def _apart(f: Finding, other: Finding) -> timedelta:
    """The time from the end of one to the start of the other; none if they overlap, or if one has no time."""
    first, second = sorted((f, other), key=lambda one: (one.start is not None, one.start))
    if first.start is None or second.start is None:
        return timedelta()
    return max(second.start - max(filter(None, (first.start, first.start_latest, first.end))), timedelta())


def _same_records(f: Finding, other: Finding) -> bool:
    """Whether both are about lost records, and some of the same ones."""
    if not f.loss:
        return False
    ranges = {(p.topic, p.partition): p.offsets for p in places(f)}
    pairs = ((r, s) for p in places(other) for r in p.offsets for s in ranges.get((p.topic, p.partition), ()))
    return any(r.overlap(s) is not None for r, s in pairs)


def _stated(f: Finding) -> dict[str, Any]:
    """The statement of a finding as JSON values, by attribute. Offsets are by partition."""
    of_places = sorted(places(f), key=lambda p: (p.topic or "", -1 if p.partition is None else p.partition))
    offsets: dict[str, list[dict[str, int | None]]] = defaultdict(list)
    for p in of_places:
        offsets[_named(p)] += [r.row() for r in p.offsets]
    return {
        "severity": f.severity,
        "confidence": f.confidence,
        "cause": f.cause,
        "committed": f.committed,
        "brokers": sorted(f.brokers),
        "leader_epoch": f.leader_epoch,
        "start": timestamp(f.start),
        "start_latest": timestamp(f.start_latest),
        "end": timestamp(f.end),
        "partitions": list(dict.fromkeys(map(_named, of_places))),
        "offsets": {name: ranges for name, ranges in offsets.items() if ranges},
    }


def _named(place: Place) -> str:
    """The partition, or the topic of a finding about a whole topic."""
    return place.name if place.partition is not None else str(place.topic)


def _of_node(before: Node, after: Node) -> Iterator[ChangedField]:
    yield from _changes(_of_one_node(before), _of_one_node(after))
    uncertain = max(before.clock.uncertainty_ms or 0, after.clock.uncertainty_ms or 0)
    if abs(before.clock.skew_ms - after.clock.skew_ms) > uncertain:
        yield ChangedField("clock_offset_ms", before.clock.skew_ms, after.clock.skew_ms)


def _of_one_node(node: Node) -> dict[str, Any]:
    role = "broker" if node.broker else "controller"
    return {"role": role, "version": node.version, "timezone": node.clock.zone, "collections": list(node.collections)}


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[ChangedField]:
    return (ChangedField(name, before[name], after[name]) for name in before if before[name] != after[name])
