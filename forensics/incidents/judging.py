"""Applies the rules: to the timeline of one partition on a Spark task, and to the whole evidence on the driver.

Here: which rules run where, how their findings and the facts they read travel (VERDICTS), and the final order of findings. Not here: any
rule or fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics import rule_files
from forensics.incidents.findings import FindingRows, Findings, urgency, worst_first
from forensics.incidents.incidents import ClusterFindings, Incident, recurring_of_each
from forensics.invariants import checked
from forensics.invariants.declared import ReportFacts
from forensics.model.cluster import balance, final_state, under_replication
from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import weakened
from forensics.model.findings import CONFIDENCES, FINDING, LEVELS, NTH, Fact, Finding, PartitionJudge, Rule, Unrefuted
from forensics.model.message import Message, encoded, said
from forensics.model.partition import durability
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.presence import broker_states
from forensics.model.rows import Rows, Store, Stored
from forensics.model.times import grouped
from forensics.proof.contradictions import contradictions as contradictions_of
from forensics.proof.contradictions import refuted, what
from forensics.proof.judgement import judgement
from forensics.proof.records import HANDOVER, records
from forensics.proof.verdict import UNKNOWN
from forensics.rules import RULES, rule_of, rules
from forensics.rules.evidence_conflict import of_statements
from parsers.own_files import OwnFile
from parsers.schemas import documented, equal_rows, release

INTERNAL = "__cluster_metadata"

OF_REPORT: tuple[Fact, ...] = tuple(dict.fromkeys((*balance.FACTS, *durability.FACTS, *under_replication.FACTS, *broker_states.FACTS)))
"""Facts of partitions that sections of the report read."""
FACTS: tuple[Fact, ...] = tuple(dict.fromkeys((*(f for rule in RULES for f in rule.facts), *OF_REPORT)))
"""All facts that the report and the rules read, each once."""
NAME = ("topic", "partition")
STANDING = pa.struct(
    [
        documented("topic", pa.string(), "topic name"),
        documented("partition", pa.int32(), "partition index"),
        documented("topic_id", pa.string(), "topic id; null if unknown"),
        documented("replicas", pa.list_(pa.int32()), "assigned replicas, the preferred leader first; null or empty if unknown"),
        documented("leader", pa.int32(), "leader at the end; -1: no leader, null: unknown"),
        documented("isr", pa.list_(pa.int32()), "in-sync replicas at the end"),
        documented("leader_epoch", pa.int32(), "leader epoch"),
        documented(
            "log_end_offset",
            pa.int64(),
            "log end offset (LEO) of the leader, or of the longest collected log if the leader is unknown; null if unknown",
        ),
        documented("high_watermark", pa.int64(), "high watermark (HW); null if unknown"),
        documented("low_watermark", pa.int64(), "offset up to which records were deleted on request (DeleteRecords)"),
        documented("verdict", pa.string(), "lost, tail-cut, intact or unknown"),
        documented("since", pa.timestamp("us"), "begin of the time that the verdict covers (UTC)"),
        documented("until", pa.timestamp("us"), "end of the time that the verdict covers (UTC)"),
        documented("why", pa.string(), "reason for the verdict; for unknown, the evidence that is missing"),
        documented("reason", pa.string(), "the same as JSON: id of its message, and values"),
        documented("from_creation", pa.bool_(), "the verdict reaches back to the partition's creation"),
        documented("handovers", pa.list_(HANDOVER), "the proof of the verdict"),
    ]
)
"""The partition, its state at the end, and its verdict."""
OF_VERDICT = ("verdict", "since", "until", "why", "from_creation")
_STANDING = tuple(own.name for own in STANDING)
PARTITION = pa.struct([*STANDING, *((fact.name, fact.type) for fact in FACTS)])
_STATES = pa.schema([("cluster", pa.int32()), *PARTITION])
VERDICTS = pa.schema([("cluster", pa.int32()), ("finding", FINDING), ("partition_state", PARTITION)])
"""The result of judging a partition of a cluster: findings, and one row with the state of the partition at the end."""


def judge_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    """Rows of VERDICTS for one timeline."""
    yield from verdicts_of(timeline, cluster, list(found_in(timeline, cluster)))


AND_STANDING = pa.schema([*VERDICTS, ("standing", pa.struct(list(final_state.SCHEMA)))])
"""In each row, only one of the columns after `cluster` has a value."""


def judge_and_standing(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    """Rows of AND_STANDING for one timeline."""
    yield from judge_partition(timeline, cluster)
    yield from ({"cluster": cluster.number, "standing": row} for row in final_state.standing(timeline, cluster))


def verdicts_of(timeline: PartitionTimeline, cluster: Cluster, found: Sequence[Finding]) -> Iterator[dict[str, Any]]:
    """Rows of VERDICTS for one timeline with these findings; the verdict has messages instead of words (forensics.words.rows). Deleted
    topics give findings, but no state."""
    for finding in found:
        yield {"cluster": cluster.number, "finding": {**finding.row(), "cluster": cluster.number}, "partition_state": None}
    if timeline.generation == 0 and timeline.topic != INTERNAL and not final_state.deleted(timeline, cluster):
        own = judgement(timeline, cluster, contradictions(found, timeline), _doubt(found))
        state = {**_state(timeline, cluster), **{name: getattr(own, name) for name in OF_VERDICT}, "handovers": records(own)}
        yield {"cluster": cluster.number, "finding": None, "partition_state": state}


def _doubt(found: Iterable[Finding]) -> Message | None:
    """What is known against the lines that all losses of a partition rest on."""
    doubts = [f.known.get("doubt") for f in found if f.loss and f.committed is not False]
    doubt = doubts[0] if doubts and None not in doubts else None
    return doubt if isinstance(doubt, Message) else None


def contradictions(found: Iterable[Finding], timeline: PartitionTimeline) -> list[str]:
    """What the logs of a partition show that contradicts the verdict that no records are gone."""
    return [f.kind for f in found if _contradicts(f, timeline)]


def _contradicts(f: Finding, timeline: PartitionTimeline) -> bool:
    """Whether it contradicts the verdict that the partition is intact."""
    rule = rule_of(f.kind)
    grave = rule.casts_doubt is not None and LEVELS.index(f.severity) >= LEVELS.index(rule.casts_doubt)
    return grave and (rule.refuted is None or not rule.refuted(f, timeline))


def found_in(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if timeline.topic == INTERNAL:
        for _, judge in _judges(rule_files.in_force(), timeline.kinds, of_metadata_log=True):
            yield from judge(timeline, cluster)
        return
    for rule, judge in _judges(rule_files.in_force(), timeline.kinds, of_metadata_log=False):
        for found in judge(timeline, cluster):
            yield from _asked(_weakened(found, rule, cluster), rule, timeline, cluster)


@lru_cache(1024)
def _judges(own: tuple[OwnFile, ...], kinds: frozenset[str], *, of_metadata_log: bool) -> list[tuple[Rule, PartitionJudge]]:
    """The rules that can find something in partitions with events of these kinds when these files are in force."""
    return [
        (rule, rule.partition)
        for rule in rules()
        if rule.partition is not None
        and rule.of_metadata_log is of_metadata_log
        and (rule.needs is None or not rule.needs.isdisjoint(kinds))
    ]


def _asked(f: Finding, rule: Rule, timeline: PartitionTimeline | None, cluster: Cluster) -> Iterator[Finding]:
    """The finding if none of its refuters knows better. Else the conflict of both statements; and, as possible, a loss, or what quotes a
    statement whose conflict is a finding already."""
    asks = not rule.records_gone or f.confidence != CONFIDENCES[0]
    if not asks or (found := refuted(rule.refuters, f, timeline, cluster)) is None:
        yield f
        return
    known = timeline is not None and found in contradictions_of(timeline, cluster)
    if known or rule.records_gone:
        yield f if f.confidence == CONFIDENCES[0] else f.doubted(said("contradiction/doubt", what=what(found)))
    if not known:
        conflict = of_statements((found,))
        yield conflict if timeline is None else conflict.of_partition(timeline.topic, timeline.partition)


def _of_rule(found: Iterable[Finding], rule: Rule, cluster: Cluster) -> list[Finding]:
    return [own for f in found for own in _asked(_weakened(f, rule, cluster), rule, None, cluster)]


def _weakened(f: Finding, rule: Rule, cluster: Cluster) -> Finding:
    return weakened(f, rule.premises, cluster, of_file=rule.unrefuted in (Unrefuted.OWN_FILE, Unrefuted.EVIDENCE))


def _state(timeline: PartitionTimeline, cluster: Cluster) -> dict[str, Any]:
    now = timeline.standing
    logs = sorted(timeline.collected_logs.items(), key=lambda log: (log[1].reach or -1, log[0]))
    disk = next((log for broker, log in reversed(logs) if now.leader in (broker, None)), None)
    replica = timeline.replicas.get(now.leader) if now.leader is not None else None
    end = disk.reach if disk is not None and disk.reach is not None else replica.log_end_offset if replica is not None else None
    hw = disk.high_watermark.offset if disk is not None and disk.high_watermark is not None else None
    if end is not None and hw is not None and end < hw:  # a line about the log when it was shorter
        end = None
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
        **{fact.name: fact.of(timeline, cluster) for fact in FACTS},
    }


@dataclass(frozen=True, slots=True)
class Conclusion:
    """All findings in their final order, their incidents, and the partitions (by name) of the cluster that exists at the end."""

    findings: Sequence[Finding]
    incidents: Sequence[Incident]
    partitions: Rows


Asked = Callable[[str | None, int | None], bool]


def conclude(verdicts: Iterable[pa.RecordBatch], cluster: Cluster, asked: Asked | None = None) -> Conclusion:
    """The conclusion from the rows of VERDICTS. `asked`: limits the output to these topics and partitions; all partitions are judged."""
    findings, judged = FindingRows(), Store(_STATES)
    for batch in verdicts:
        if len(some := batch["finding"].drop_null()):
            findings.add(pa.RecordBatch.from_struct_array(some))
        some = batch.filter(pc.is_valid(batch["partition_state"]))
        judged.add(pa.RecordBatch.from_arrays([some["cluster"], *some["partition_state"].flatten()], schema=_STATES))
    partitions = _by_cluster(judged.kept())
    release()
    nothing = Rows(pa.schema(list(PARTITION)).empty_table())
    by_life = {n: _of_cluster(run, Findings(findings, n, asked), partitions.get(n, nothing)) for n, run in cluster.by_number.items()}
    past = [events for number, events in by_life.items() if number != cluster.number]
    states = partitions.get(cluster.number, nothing)
    own_findings = distinct([*recurring_of_each([by_life[cluster.number]], rules()), *recurring_of_each(past, rules())])
    folded = checked(ReportFacts(own_findings, states, cluster, asked))
    found_incidents = [i for events in reversed(by_life.values()) for i in events.incidents(folded)]
    return Conclusion(in_order(folded), found_incidents, states)


def _by_cluster(states: Stored) -> dict[int, Rows]:
    """The states of partitions at the end, by cluster and then by name."""
    place = ("cluster", *NAME)
    order = pc.sort_indices(pa.table({name: states.column(name) for name in place}), [(name, "ascending") for name in place])
    ordered = states.ordered(order, Store(_STATES))
    clusters = ordered.column("cluster").combine_chunks()
    return {number: Rows(ordered.part(begin, end).batches, [own.name for own in PARTITION]) for number, begin, end in equal_rows(clusters)}


def _of_cluster(cluster: Cluster, found: Findings, partitions: Rows) -> ClusterFindings:
    for rule in rules():
        if rule.cluster is not None and not (rule.of_last_cluster and cluster.number):
            found.add(_of_rule(rule.cluster(cluster, with_facts(partitions, rule.facts)), rule, cluster))
    for rule in rules():
        if rule.after_rules is not None:
            found.add(_of_rule(rule.after_rules(cluster, with_facts(partitions, rule.facts), found), rule, cluster))
    return ClusterFindings(found, rules(), cluster.controllers, cluster.number, (lambda: _unjudged(partitions)) if partitions else None)


def _unjudged(partitions: Rows) -> Iterator[Sequence[int]]:
    """The replicas of each partition whose verdict is unknown."""
    for rows in partitions.batches("verdict", "replicas"):
        yield from rows.filter(pc.equal(rows["verdict"], UNKNOWN))["replicas"].to_pylist()


def with_facts(partitions: Rows, facts: Iterable[Fact]) -> Rows:
    """The partition states, with these facts only."""
    return partitions.of(*_STANDING, *(fact.name for fact in facts))


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, each once, with ids that differ."""
    own = dict.fromkeys(findings)
    alike = grouped((f.id, f) for f in own)
    numbered: dict[Finding, Finding] = {}
    for group in alike.values():
        for n, f in enumerate(sorted(group, key=_stated)[1:], 2):
            numbered[f] = replace(f, values=(*f.values, (NTH, n)))
    return [numbered.get(f, f) for f in own] if numbered else list(own)


def _stated(f: Finding) -> tuple[Any, ...]:
    return *_order(f)[:3], -CONFIDENCES.index(f.confidence), encoded(f.values) or ""


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=_order)


def _order(f: Finding) -> tuple[Any, ...]:
    """The most urgent first, then the worst, then by kind as the rules are listed, then by place and time."""
    rule, (severity, *place) = rule_of(f.kind), worst_first(f)
    return urgency(f, rule), severity, rule.rank, *place
