"""evidence-conflict: statements that contradict each other about a hand-over, the broker of a file, its times, or the cluster."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from forensics.model.clock.identity import Conflict
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.names import names
from forensics.model.events import Event
from forensics.model.findings import LEVELS, MAX_EVIDENCE, Evidence, Finding, quote
from forensics.model.message import Message, said, values
from forensics.model.partition.replicas import Contradiction, Disk
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.presence.process_errors import who
from forensics.model.times import grouped
from forensics.proof.contradictions import CONFIDENCE, contradictions, what
from forensics.proof.handovers import epochs_that_fall, handovers, mixed_up
from forensics.proof.verdict import CERTAIN, POSSIBLE, PROBABLE, Handover, Interval, conflicts
from forensics.thresholds import NAMED
from parsers.kinds import ON_DISK, Role, of

_MADE = of(role=Role.TOPIC_MADE)
_HIVE = re.compile(r"(?:^|/)cluster(?:_id|_name)?=([^/]+)/")


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    yield from map(_misplaced, cluster.conflicts)
    yield from _shifted(cluster)
    yield from _clusters(cluster)
    yield from _addresses(cluster)
    yield from _renamed(cluster)


def _shifted(cluster: Cluster) -> Iterator[Finding]:
    """Logs that contain the lines of another log with other times."""
    found = grouped(((s.node, s.shifted_ms), s.path) for s in cluster.sources if s.shifted_ms and s.node is not None)
    for (node, shift_ms), paths in sorted(found.items()):
        clock = cluster.nodes[node].clock
        yield Finding(
            severity="low",
            confidence="certain",
            brokers=(node,),
            message="shifted",
            values=values(
                who=who(node, cluster), paths=tuple(paths), seconds=abs(shift_ms) / 1000, later=shift_ms > 0, assumed=clock.assumed
            ),
            evidence=tuple(Evidence(path, None, None, f"times shifted by {shift_ms} ms") for path in paths[:4]),
        )


def _addresses(cluster: Cluster) -> Iterator[Finding]:
    """Addresses that several nodes have at the same time."""
    by_name = grouped((name.name, name) for own in names(cluster).values() for name in own if name.also)
    for address, own in sorted(by_name.items()):
        brokers = tuple(sorted({name.node for name in own}))
        yield Finding(
            severity="low",
            confidence="certain",
            brokers=brokers,
            message="same-address",
            values=values(address=address),
            evidence=tuple(Evidence(name.source, name.line, None, name.text or "") for name in own[:4]),
        )


def _renamed(cluster: Cluster) -> Iterator[Finding]:
    """Topics that logs name otherwise than the metadata log does."""
    for name, topic in sorted(cluster.renamed.items()):
        topic_id = next(i for i, own in cluster.topic_ids.items() if own == topic)
        yield Finding(
            kind="evidence-conflict",
            severity="low",
            confidence="certain",
            topic=topic,
            message="renamed",
            values=values(name=name, topic=topic, id=topic_id),
            evidence=quote([e for e in cluster.of(*_MADE) if e.topic_id == topic_id][:4]),
        )


def _clusters(cluster: Cluster) -> Iterator[Finding]:
    """Disks of two clusters, or paths that name two clusters."""
    by_id: dict[str, Event] = {}
    for event in (e for each in cluster.clusters_until_now for e in each.of("log-directory-identity")):
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


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    by_kind = grouped(((c.about, c.one.writer), c) for c in contradictions(timeline, cluster))
    yield from map(of_statements, by_kind.values())
    if timeline.generation and all(e.event in ON_DISK for e in timeline.events):  # no line or record knows this topic id
        yield from (_of_other_topic(disk, timeline, cluster) for disk in timeline.collected_logs.values())
    if mixed := mixed_up(timeline):
        yield _of_epochs(mixed, timeline)
        return  # it concerns all rows
    yield from (_finding(row, cell, timeline) for row in handovers(timeline, cluster) for cell in conflicts(row))


def _of_other_topic(disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    right = next((topic_id for topic_id, topic in cluster.topic_ids.items() if topic == timeline.topic), None)
    return Finding(
        severity="low",
        confidence="certain",
        brokers=(disk.broker,),
        message="other-topic",
        values=values(directory=disk.directory, id=disk.topic_id, right=right, other=cluster.topic_ids.get(disk.topic_id or "")),
        evidence=quote(e for e in timeline.events if e.topic_id is not None and e.writer == disk.broker),
    )


def of_report(what: Sequence[Message], about: Collection[Finding], evidence: Sequence[Evidence]) -> Finding:
    """The report itself says what cannot be true together (forensics.invariants): no worse than what these findings say."""
    worst = max((f.severity for f in about), key=LEVELS.index, default="low")
    return Finding(
        kind="evidence-conflict",
        severity=min(worst, "medium", key=LEVELS.index),
        confidence="certain",
        brokers=tuple(sorted({b for f in about for b in f.brokers[:1]})),
        message="report",
        values=values(what=tuple(what[: 2 * NAMED]), more=max(len(what) - 2 * NAMED, 0) or None),
        evidence=tuple(dict.fromkeys(evidence))[:MAX_EVIDENCE],
    )


def _mixed(clusters: Collection[str], evidence: tuple[Evidence, ...]) -> Finding:
    return Finding(
        confidence="certain",
        message="clusters",
        values=values(clusters=tuple(sorted(clusters))),
        evidence=evidence,
    )


def _misplaced(conflict: Conflict) -> Finding:
    path, says, surroundings = conflict.path, conflict.says, conflict.surroundings
    return Finding(
        severity="low",
        confidence="certain",
        brokers=(says, surroundings),
        message="misplaced",
        values=values(path=path, surroundings=surroundings),
        evidence=(Evidence(path, None, None, f"names broker {says}; surroundings name broker {surroundings}"),),
    )


_NAMED = frozenset({"high_watermark", "new_log_end", "old_log_end", "start", "end", "unseen", "election", "log", "process", "had_all"})
"""Cells with a phrase of their own."""
_OF_COMMITMENT = ("high_watermark", "had_all")


def _finding(row: Handover, cell: str, timeline: PartitionTimeline) -> Finding:
    value = getattr(row, cell, None)
    bounds = value if isinstance(value, Interval) else None
    evidence = (*value.low, *value.high) if isinstance(value, Interval) else tuple(e for r in row.removed for e in r.evidence)
    return Finding(
        confidence="certain",
        brokers=tuple(b for b in (row.new_leader, row.old_leader) if b is not None),
        leader_epoch=row.leader_epoch,
        start=row.at,
        message="cell",
        values=values(
            what=said(f"evidence-conflict/{cell}") if cell in _NAMED else cell,
            at_least=bounds.at_least if bounds is not None else None,
            at_most=bounds.at_most if bounds is not None else None,
            of_commitment=cell in _OF_COMMITMENT,
            new_leader=row.new_leader,
            leaders=tuple(sorted({b for b in (row.old_leader, row.new_leader) if b is not None})),
        ),
        evidence=quote(evidence or tuple(timeline.events[:2])),
    )


def of_statements(found: Sequence[Contradiction]) -> Finding:
    """All contradictions of one kind that one broker's statements begin, or the contradiction that refutes a finding."""
    about = found[0].about
    confidence = CONFIDENCE.get(about, CERTAIN)
    events = [e for c in found for e in (c.one, c.other)]
    return Finding(
        kind="evidence-conflict",
        severity="low" if confidence == POSSIBLE else "medium",
        confidence=confidence,
        brokers=tuple(dict.fromkeys(e.writer for e in events if e.writer is not None)),
        start=min((e.at for e in events if e.at is not None), default=None),
        message="statements",
        values=values(
            what=what(found[0]),
            why=said(f"contradiction/{about}-why"),
            changed=confidence == CERTAIN,
            perhaps_missing=confidence == PROBABLE,
            also=tuple(map(what, found[1:4])),
            paths=tuple(dict.fromkeys(e.source for e in events)),
        ),
        evidence=quote(events),
    )


def _of_epochs(found: Sequence[Message], timeline: PartitionTimeline) -> Finding:
    mixed = [t for t in timeline.terms if t.epoch == timeline.conflicting_epoch]
    fall = epochs_that_fall(timeline) or ()
    return Finding(
        confidence="certain",
        brokers=tuple(dict.fromkeys((*(t.leader for t in mixed), *(e.writer for e in fall[1:] if e.writer is not None)))),
        leader_epoch=timeline.conflicting_epoch,
        start=min((x.at for x in (*mixed, *fall[1:]) if x.at is not None), default=None),
        message="epochs",
        values=values(contradictions=tuple(found)),
        evidence=quote(*(t.evidence for t in mixed), fall),
    )
