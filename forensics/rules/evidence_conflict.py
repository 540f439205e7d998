"""evidence-conflict: statements that contradict each other about a hand-over, the broker of a file, its times, or the cluster."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.identity import Conflict
from forensics.model.cluster.names import Name, names
from forensics.model.events import Event
from forensics.model.findings import (
    Aggregation,
    Evidence,
    Finding,
    Rule,
    Urgency,
    brokers_named,
    duration,
    moment,
    nodes_named,
    quote,
    some,
)
from forensics.model.partition.replicas import Contradiction
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.contradictions import MEANINGS, contradictions, words
from forensics.proof.handovers import epochs_that_fall, handovers, mixed_up
from forensics.proof.verdict import CERTAIN, POSSIBLE, PROBABLE, Handover, Interval, conflicts

_HIVE = re.compile(r"(?:^|/)cluster(?:_id|_name)?=([^/]+)/")


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    yield from map(_misplaced, cluster.conflicts)
    yield from _shifted(cluster)
    yield from _clusters(cluster)
    yield from _addresses(cluster)


def _shifted(cluster: Cluster) -> Iterator[Finding]:
    """Logs that contain the lines of another log with other times."""
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for s in cluster.sources:
        if s.shifted_ms and s.node is not None:
            found[s.node, s.shifted_ms].append(s.path)
    for (node, shift_ms), paths in sorted(found.items()):
        named, clock = nodes_named((node,), cluster.controllers), cluster.nodes[node].clock
        by, later, earlier = duration(abs(shift_ms) / 1000), *(("later", "earlier") if shift_ms > 0 else ("earlier", "later"))
        unsure = " Nothing in the evidence shows which times are right." if clock.assumed else ""
        yield Finding(
            kind="evidence-conflict",
            severity="low",
            confidence="certain",
            brokers=(node,),
            summary=f"{some(paths)} {'repeats' if len(paths) == 1 else 'repeat'} lines of other logs of {named} with times {by} {later}",
            explanation=(
                f"Other logs of {named} contain the same lines with times {by} {earlier}. Those times were used, and all times of {some(paths, 1)} "
                f"were moved by {by}.{unsure} Possible causes: a log store that exports times in another time zone, or with its own clock."
            ),
            next_steps=(f"Check in which time zone, and by which clock, {some(paths, 1)} {'was' if len(paths) == 1 else 'were'} written.",),
            evidence=tuple(Evidence(path, None, None, f"times {by} {later}") for path in paths[:4]),
        )


def _addresses(cluster: Cluster) -> Iterator[Finding]:
    """Addresses that several nodes have at the same time."""
    by_name: dict[str, list[Name]] = {}
    for own in names(cluster).values():
        for name in own:
            if name.also:
                by_name.setdefault(name.name, []).append(name)
    for address, own in sorted(by_name.items()):
        brokers = tuple(sorted({name.node for name in own}))
        yield Finding(
            kind="evidence-conflict",
            severity="low",
            confidence="certain",
            brokers=brokers,
            summary=f"{brokers_named(brokers)} have the same address {address} at the same time",
            explanation=(
                f"The settings of {brokers_named(brokers)} name {address} at the same time. Either one of them was configured with the address of "
                "another, or the files of two brokers were mixed up."
            ),
            next_steps=(
                f"Check advertised.listeners of {brokers_named(brokers)}, and from which machine each of these files was collected.",
            ),
            evidence=tuple(Evidence(name.source, name.line, None, name.text or "") for name in own[:4]),
        )


def _clusters(cluster: Cluster) -> Iterator[Finding]:
    """Disks of two clusters, or paths that name two clusters."""
    by_id: dict[str, Event] = {}
    for event in (e for life in cluster.lives for e in life.of("log-directory-identity")):
        if event.value:
            by_id.setdefault(event.value, event)
    by_path: dict[str, str] = {}
    for source in cluster.sources:
        if (found := _HIVE.search(source.path)) is not None:
            by_path.setdefault(found[1], source.path)
    if len(by_id) > 1:
        yield _mixed(by_id, quote(by_id.values()))
    elif len(by_path) > 1:
        yield _mixed(by_path, tuple(Evidence(path, None, None, f"cluster={name}") for name, path in by_path.items()))


def judge_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    by_kind: dict[tuple[str, int | None], list[Contradiction]] = defaultdict(list)
    for c in contradictions(timeline, cluster):
        by_kind[c.about, c.one.writer].append(c)
    yield from (_of_statements(found, timeline) for found in by_kind.values())
    if mixed := mixed_up(timeline):
        yield _of_contradiction(mixed, timeline)
        return  # it concerns all rows
    for row in handovers(timeline, cluster):
        for cell in conflicts(row):
            yield _finding(row, cell, timeline)


def _mixed(clusters: Collection[str], evidence: tuple[Evidence, ...]) -> Finding:
    return Finding(
        kind="evidence-conflict",
        severity="medium",
        confidence="certain",
        summary=f"the evidence is from {len(clusters)} clusters ({', '.join(sorted(clusters))}): brokers and topics may be mixed up",
        explanation=(
            "One run treats all evidence as one set of brokers. Disks with a meta.properties are distinguished by its cluster id. In files that name "
            "no cluster, brokers with the same id and topics with the same name are treated as those of one cluster."
        ),
        next_steps=("Run the analysis once for each cluster.",),
        evidence=evidence,
    )


def _misplaced(conflict: Conflict) -> Finding:
    path, says, surroundings = conflict.path, conflict.says, conflict.surroundings
    return Finding(
        kind="evidence-conflict",
        severity="low",
        confidence="certain",
        brokers=(says, surroundings),
        summary=f"{path} is from broker {says}, but is stored with files of broker {surroundings}",
        explanation=(
            f"The lines of {path} name broker {says} as their writer; meta.properties or server.properties next to it belong to broker "
            f"{surroundings}. The lines were used. Possible causes: a bundle that was assembled by hand, or a disk that was moved to another broker."
        ),
        next_steps=(f"Check from which broker {path} was collected.",),
        evidence=(Evidence(path, None, None, f"names broker {says}; surroundings name broker {surroundings}"),),
    )


_NAMES = {
    "high_watermark": "the high watermark",
    "new_log_end": "the end of the new leader's log",
    "old_log_end": "the end of the old leader's log",
    "start": "the offset from which on two logs differ",
    "end": "the end of a truncated log",
    "unseen": "the number of leader epochs in between",
    "election": "whether the new leader was in the ISR",
    "log": "whether the new leader kept its log",
    "process": "whether the new leader's process kept running",
    "had_all": "whether the new leader had all committed records",
}
_OF_COMMITMENT = ("high_watermark", "had_all")


def _finding(row: Handover, cell: str, timeline: PartitionTimeline) -> Finding:
    value = getattr(row, cell, None)
    bounds = f": at least {value.at_least} by one source, at most {value.at_most} by another" if isinstance(value, Interval) else ""
    evidence = (*value.low, *value.high) if isinstance(value, Interval) else tuple(e for r in row.removed for e in r.evidence)
    what = _NAMES.get(cell, cell)
    why = "One of the statements is wrong, or belongs to another partition of this name"
    if cell in _OF_COMMITMENT:
        why += ", or was made later than its place in the evidence; or a member of the ISR lacked committed records"
    return Finding(
        kind="evidence-conflict",
        severity="medium",
        confidence="certain",
        brokers=tuple(b for b in (row.new_leader, row.old_leader) if b is not None),
        leader_epoch=row.leader_epoch,
        start=row.at,
        summary=f"{timeline.name}: the evidence about {what} in leader epoch {row.leader_epoch} contradicts itself",
        explanation=(
            f"For the hand-over to broker {row.new_leader} in leader epoch {row.leader_epoch} ({moment(row.at)}) the evidence contradicts itself about "
            f"{what}{bounds}. {why}. No verdict on {timeline.name} rests on it."
        ),
        next_steps=(
            f"Check that all files about {timeline.name} are from the same cluster and were not edited, and collect the logs of "
            f"brokers {row.old_leader} and {row.new_leader} again.",
        ),
        evidence=quote(evidence or tuple(timeline.events[:2])),
    )


def _of_statements(found: Sequence[Contradiction], timeline: PartitionTimeline) -> Finding:
    """All contradictions of one kind that one broker's statements begin."""
    first, meaning = found[0], MEANINGS[found[0].about]
    also = f" Same for: {'; '.join(map(words, found[1:4]))}." if len(found) > 1 else ""
    files = tuple(dict.fromkeys(e.source for c in found for e in (c.one, c.other)))
    return Finding(
        kind="evidence-conflict",
        severity="low" if meaning.confidence == POSSIBLE else "medium",
        confidence=meaning.confidence,
        brokers=tuple(dict.fromkeys(e.writer for c in found for e in (c.one, c.other) if e.writer is not None)),
        start=min((e.at for c in found for e in (c.one, c.other) if e.at is not None), default=None),
        summary=f"{timeline.name}: {words(first)}",
        explanation=(
            f"In {timeline.name} {words(first)}. {meaning.why}{_CAUSES[meaning.confidence]} Nothing that rests on one of these statements about "
            f"{timeline.name} is certain.{also}"
        ),
        next_steps=(f"Compare {some(files, 3)} with the files on the brokers, and find out who may have changed the copies.",),
        evidence=quote(*((c.one, c.other) for c in found)),
    )


_CAUSES = {
    CERTAIN: " One of the two was changed, or belongs to another partition of this name.",
    PROBABLE: " One of the two was changed or belongs to another partition of this name, or lines in between are missing.",
    POSSIBLE: "",
}


def _of_contradiction(found: Sequence[str], timeline: PartitionTimeline) -> Finding:
    contradict = "; ".join(found)
    mixed = [t for t in timeline.terms if t.epoch == timeline.conflicting_epoch]
    fall = epochs_that_fall(timeline) or ()
    return Finding(
        kind="evidence-conflict",
        severity="medium",
        confidence="certain",
        brokers=tuple(dict.fromkeys((*(t.leader for t in mixed), *(e.writer for e in fall[1:] if e.writer is not None)))),
        leader_epoch=timeline.conflicting_epoch,
        start=min((x.at for x in (*mixed, *fall[1:]) if x.at is not None), default=None),
        summary=f"{timeline.name}: {contradict}",
        explanation=(
            f"In {timeline.name} {contradict}. Each leader epoch has one leader, and leader epochs never fall, so the evidence mixes "
            "two partitions of this name: a topic that was deleted and created again, or files of two clusters."
        ),
        next_steps=(f"Give only the files of one cluster, with logs that reach back to the creation of topic {timeline.topic}.",),
        evidence=quote(*(t.evidence for t in mixed), fall),
    )


RULE = Rule(
    kind="evidence-conflict",
    rank=490,
    level="medium",
    urgency=Urgency.OVER,
    meaning="Two statements contradict each other: about one log, leader epoch, ISR or hand-over of a partition, which then prove nothing, or about the broker, times or cluster of a file.",
    partition=judge_partition,
    cluster=detect,
    many=Aggregation(),
    of_last_cluster=True,
)
