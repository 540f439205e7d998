"""Rules applied: to one partition's timeline on a Spark task, and to the whole on the driver.

Here: which rules run where, how their findings travel (model.VERDICTS) and in which order they end. Not here: any rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from forensics.cluster import balance
from forensics.cluster.incidents import Incident, incidents
from forensics.model import LEVELS, Evidence, Finding
from forensics.partition import durability
from forensics.partition.absences import MAX_INTERVALS, intervals, rows, short_rows, shorts
from forensics.partition.inheritance import inherited
from forensics.partition.verdict import verdict
from forensics.rules import RULES
from spark.cluster.facts import Cluster
from spark.partition.timeline import PartitionTimeline

INTERNAL = "__cluster_metadata"
OF_METADATA = frozenset({"raft-truncation"})
"""Kinds that are found in the metadata log's own partition; it has no ISR and no leader the others could judge."""


def judge_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    """Rows of VERDICTS for one timeline. Deleted generations of a topic give findings, but no state."""
    found = list(found_in(timeline, cluster))
    for finding in found:
        yield {"cluster": cluster.number, "finding": finding.row(), "partition_state": None}
    if timeline.generation == 0 and timeline.topic != INTERNAL:
        state = {**_state(timeline, cluster), **asdict(verdict(timeline, cluster, found))}
        yield {"cluster": cluster.number, "finding": None, "partition_state": state}


def found_in(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    """What the rules of partitions find in one timeline."""
    internal = timeline.topic == INTERNAL
    for rule in RULES:
        if rule.partition is not None and (rule.kind in OF_METADATA) == internal:
            yield from rule.partition(timeline, cluster)


def _state(timeline: PartitionTimeline, cluster: Cluster) -> dict[str, Any]:
    now = timeline.standing
    disk = timeline.disks.get(now.leader) if now.leader is not None else None
    replica = timeline.replicas.get(now.leader) if now.leader is not None else None
    end = (
        disk.log_end_offset
        if disk is not None and disk.log_end_offset is not None
        else replica.log_end_offset
        if replica is not None
        else None
    )
    hw = disk.high_watermark.offset if disk is not None and disk.high_watermark is not None else None
    short = shorts(timeline, cluster)
    return {
        "topic": timeline.topic,
        "partition": timeline.partition,
        "topic_id": timeline.topic_id,
        "replicas": list(timeline.assigned),
        "leader": now.leader,
        "isr": list(now.isr),
        "leader_epoch": now.leader_epoch,
        "log_end_offset": end,
        "high_watermark": hw,
        "low_watermark": timeline.low_watermark,
        "told_from": timeline.states[0].at if timeline.states else None,
        "absences": rows(intervals(timeline, cluster)),
        "shorts": short_rows(short),
        "shorts_untold": max(len(short) - MAX_INTERVALS, 0),
        "factor": balance.factor(timeline),
        "told": balance.told(timeline),
        "exposure": asdict(durability.exposure(timeline, cluster)),
        "steps": balance.steps(timeline),
        "sizes": balance.sizes(timeline),
        "traffic": balance.traffic(timeline),
        "inherited": [
            {"broker": b, "log_end_offset": e.log_end_offset, "told": asdict(Evidence.of(e))}
            for b, e in inherited(timeline, cluster).items()
        ],
    }


@dataclass(frozen=True, slots=True)
class Conclusion:
    """All findings in their final order, the incidents they belong to, and the states of the partitions of the cluster that stands at the
    end by name."""

    findings: Sequence[Finding]
    incidents: Sequence[Incident]
    partitions: Sequence[Mapping[str, Any]]


Asked = Callable[[str | None, int | None], bool]


def conclude(verdicts: Iterable[Mapping[str, Any]], cluster: Cluster, asked: Asked | None = None) -> Conclusion:
    """What the rows of VERDICTS come to. `asked`: of which topics and partitions something is to be told; all are judged."""
    found: dict[int, list[Finding]] = defaultdict(list)
    states: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in verdicts:
        if row["finding"] is not None:
            found[row["cluster"]].append(Finding.of(row["finding"]))
        if row["partition_state"] is not None:
            states[row["cluster"]].append(row["partition_state"])
    for own in states.values():
        own.sort(key=lambda p: (p["topic"], p["partition"]))
    told = [_of_cluster(life, found[life.number], states[life.number], asked) for life in cluster.lives]
    findings = sorted(dict.fromkeys(f for own, _ in told for f in own), key=_order)
    return Conclusion(findings, [i for _, own in reversed(told) for i in own], states[cluster.number])


def _of_cluster(
    cluster: Cluster, found: Iterable[Finding], partitions: Sequence[Mapping[str, Any]], asked: Asked | None
) -> tuple[list[Finding], list[Incident]]:
    by_kind: dict[str, list[Finding]] = defaultdict(list)
    for finding in found:
        by_kind[finding.kind].append(finding)
    findings: list[Finding] = []
    for rule in RULES:
        findings.extend(by_kind.get(rule.kind, ()))
        if rule.cluster is not None and not (rule.of_evidence and cluster.number):
            findings.extend(rule.cluster(cluster, partitions))
    for rule in RULES:
        if rule.hindsight is not None:
            findings.extend(rule.hindsight(cluster, partitions, tuple(findings)))
    if asked is not None:
        findings = [f for f in findings if f.partition is None or asked(f.topic, f.partition)]
    told, found_incidents = incidents(sorted(findings, key=_order), RULES)
    if not cluster.number:
        return told, found_incidents
    return [replace(f, cluster=cluster.number) for f in told], [replace(i, cluster=cluster.number) for i in found_incidents]


_RANK = {rule.kind: i for i, rule in enumerate(RULES)}


def _order(finding: Finding) -> tuple[Any, ...]:
    """Worst first, then by kind as the rules are listed, then by place and time."""
    return (
        -LEVELS.index(finding.severity),
        _RANK[finding.kind],
        finding.topic or "",
        finding.partition if finding.partition is not None else -1,
        str(finding.start or ""),
        finding.brokers,
        finding.id,
    )
