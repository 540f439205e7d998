"""risky-setting: a value of a durability setting that caused harm in this incident, or can cause it.

One finding for each setting and value, for all topics and brokers with it. The rule runs after the other rules, because it uses their
findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.model.cluster.effective import MIN_ISR, NEVER, STRICT, UNCLEAN, Effective, deciding, effective, enabled, number
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.settings import INTERNAL_TOPICS
from forensics.model.cluster.versions import versions
from forensics.model.findings import LEVELS, MAX_EVIDENCE, Evidence, Finding, Rule, Statement, brokers_named, counted, quote, some
from forensics.model.partition.durability import FACTS, Topic, overridden, own_history, topics
from forensics.thresholds import SAFE_REPLICAS, SETTING_DELAY

NAMED = 6
"""Number of topics, or of consequences, that a text names."""
PLACES = 3
SHORT_LAG_MS = 10_000
"""The default of replica.lag.time.max.ms up to 2.4."""


@dataclass(frozen=True)
class _Incident:
    """The data by which the risks are judged."""

    cluster: Cluster
    topics: Mapping[str, Topic]
    findings: Mapping[str, Sequence[Statement]]
    """Findings by kind."""
    own: Mapping[str, Mapping[str, None]]
    """Topics with own values, by setting."""
    alone: Mapping[tuple[str | None, int | None], Any]
    """For each partition with a loss, the time since which it had only one in-sync replica."""

    def sure(self, kind: str) -> list[Statement]:
        return [f for f in self.findings.get(kind, ()) if f.confidence != "possible"]


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]], findings: Mapping[str, Sequence[Statement]]) -> Iterator[Finding]:
    lost = {(f.topic, f.partition) for f in findings.get("data-loss", ())}
    alone = {(p["topic"], p["partition"]): p["exposure"]["alone_from"] for p in partitions if (p["topic"], p["partition"]) in lost}
    incident = _Incident(cluster, topics(partitions), findings, overridden(cluster), alone)
    for risk in _RISKS:
        yield from risk(incident)


# each risk


def _replication_factor(incident: _Incident) -> Iterator[Finding]:
    single = [t for t in incident.topics.values() if t.factor == 1]
    if not single:
        return
    brokers = [n for n in incident.cluster.nodes.values() if n.broker]
    names = {t.name for t in single}
    seen = [
        *(_lost(f) for f in incident.sure("data-loss") if f.topic in names),
        *(f"{f.name} had no leader{_when(f)}" for f in incident.sure("offline-partition") if f.topic in names),
    ]
    told = [Evidence(**t.told) for t in single if t.told is not None]
    yield from _finding(
        "replication.factor",
        "1",
        "medium" if len(brokers) > 1 or seen else "low",
        where=f"in {_topics(sorted(names))}",
        threat="The failure of one broker takes such a partition offline, and the failure of its disk loses all its records",
        seen=seen,
        advice=f"Reassign the partitions of {some(sorted(names), NAMED)} to three replicas (kafka-reassign-partitions), and create topics with three.",
        evidence=told,
        topics=names,
    )


def _unclean(incident: _Incident) -> Iterator[Finding]:
    key = UNCLEAN
    own = _own(incident, key, enabled)
    brokers = _of_brokers(incident, key, enabled)
    if not own and not brokers:
        return
    seen = [_lost(f) for f in incident.sure("data-loss") if f.cause == "unclean-election" and _held(incident, key, f)]
    elected = [f for f in incident.sure("unclean-election") if _held(incident, key, f)]
    if not seen:
        seen = [f"{f.name} got a leader from outside the ISR{_when(f)}" for f in elected]
    yield from _finding(
        key,
        "true",
        "high" if elected or seen else "medium",
        where=_where(own, brokers),
        threat="When all in-sync replicas are down, a replica that lacks acknowledged records is elected, and they are lost",
        seen=seen,
        advice=f"Set {key}=false; elect a leader from outside the ISR only by hand, after checking which records that loses.",
        evidence=quote(*(e.event for e in (*own.values(), *brokers.values()))),
        topics=set(own) if not brokers else set(),
        brokers=brokers,
    )


def _min_isr_of_one(incident: _Incident) -> Iterator[Finding]:
    """min.insync.replicas=1: acknowledged records may be on the leader only, even with acks=all."""
    key = MIN_ISR
    values = {t.name: effective(incident.cluster, key, topic=t.name) for t in incident.topics.values() if t.factor and t.factor > 1}
    names = {n for n, v in values.items() if number(v.value, 2) <= 1}
    lost = [f for f in incident.sure("data-loss") if f.topic in names and f.committed is not False and _alone(incident, f)]
    wide = [n for n in names if (incident.topics[n].factor or 0) >= SAFE_REPLICAS]
    if not wide and not lost:
        return
    shown = sorted(wide if wide and not lost else names)
    yield from _finding(
        key,
        "1",
        "medium" if lost else "low" if set(shown) - INTERNAL_TOPICS else "info",
        where=f"in {_topics(shown)} ({_places(values[n] for n in shown)})",
        threat="The coordinators write with acks=all: records that only the leader has are acknowledged, and lost with it"
        if set(shown) <= INTERNAL_TOPICS
        else (
            "With acks=all a record can be acknowledged although only the leader has it, and is lost with the leader; with acks=0 or acks=1 this is always "
            "possible. The files of brokers do not show the acks setting of producers"
        ),
        seen=[_lost(f, "while down to one in-sync replica") for f in lost],
        advice="Set min.insync.replicas=2 with three replicas"
        + ("." if set(shown) <= INTERNAL_TOPICS else ", and acks=all in the producers."),
        evidence=quote(*(values[n].event for n in shown)),
        topics=set(shown),
    )


def _min_isr_of_all(incident: _Incident) -> Iterator[Finding]:
    """min.insync.replicas equal to the replication factor, or larger."""
    key = MIN_ISR
    known = versions(incident.cluster)
    groups: dict[tuple[int, bool], dict[str, Effective]] = {}
    for topic in incident.topics.values():
        value = effective(incident.cluster, key, topic=topic.name)
        required = number(value.value, 1)
        if topic.factor and topic.factor <= required and required > 1:
            groups.setdefault((required, topic.factor < required), {})[topic.name] = value
    for (required, beyond), values in sorted(groups.items()):
        names = set(values)
        short = [f for f in incident.sure("under-min-isr") if f.topic in names]
        refusing = beyond and bool(known) and known[0] < STRICT
        if beyond and not refusing and all(incident.topics[n].factor == 1 for n in names):
            continue  # from 3.7 on Kafka requires at most all replicas
        yield from _finding(
            key,
            str(required),
            "medium" if refusing else "low",
            where=f"in {_topics(sorted(names))}, which {'have fewer replicas than that' if beyond else 'have exactly as many replicas'} "
            f"({_places(values.values())})",
            threat="Before 3.7 every acks=all write is refused"
            if refusing
            else "Any broker that restarts or fails blocks all acks=all writes",
            seen=[f"{f.whole.summary}{_when(f)}" for f in short],
            advice=f"Add a replica to {some(sorted(names), NAMED)}, or set {key} to one less than the number of replicas.",
            evidence=quote(*(v.event for v in values.values())),
            topics=names,
        )


def _factors(incident: _Incident) -> Iterator[Finding]:
    """Replication factors for new topics; existing topics are judged by their own factors."""
    cluster = incident.cluster
    if len([n for n in cluster.nodes.values() if n.broker]) < SAFE_REPLICAS:
        return
    for key, topic in _CREATED.items():
        brokers = _of_brokers(incident, key, lambda v: number(v, 3) == 1)
        if topic is None:
            brokers = {b: e for b, e in brokers.items() if enabled(effective(cluster, "auto.create.topics.enable", broker=b).value)}
        if brokers and topic not in incident.topics:
            created = topic or "A topic that is created automatically or without a factor"
            yield from _finding(
                key,
                "1",
                "low" if topic is not None else "info",
                where=_where({}, brokers),
                threat=f"{created} will have one replica, and is lost with the disk of one broker",
                seen=(),
                advice=f"Set {key}=3.",
                evidence=quote(*(e.event for e in brokers.values())),
                brokers=brokers,
            )


_CREATED: Mapping[str, str | None] = {
    "default.replication.factor": None,
    "offsets.topic.replication.factor": "__consumer_offsets",
    "transaction.state.log.replication.factor": "__transaction_state",
}


def _lag_time(incident: _Incident) -> Iterator[Finding]:
    """A short replica.lag.time.max.ms, if replicas left and rejoined the ISR."""
    key = "replica.lag.time.max.ms"
    flapping = incident.sure("isr-flapping")
    brokers = _of_brokers(incident, key, lambda v: number(v, SHORT_LAG_MS) < SHORT_LAG_MS)
    if not flapping or not brokers:
        return
    for value in sorted({e.value for e in brokers.values() if e.value is not None}, key=int):
        own = {b: e for b, e in brokers.items() if e.value == value}
        yield from _finding(
            key,
            value,
            "low",
            where=_where({}, own),
            threat="A short pause of a follower, of its disk or of its network removes it from the ISR",
            seen=[f.whole.summary for f in flapping],
            advice=f"Set {key} to the default (30000 since 2.5), and find out what makes the replicas slow.",
            evidence=quote(*(e.event for e in own.values())),
            brokers=own,
        )


def _flushing(incident: _Incident) -> Iterator[Finding]:
    """Flushes left to the operating system, if unflushed records were lost."""
    key = "flush.messages"
    lost = [f for f in incident.sure("data-loss") if f.cause == "unflushed-log" and f.topic is not None]
    values = {f.topic: effective(incident.cluster, key, topic=f.topic) for f in lost if f.topic is not None}
    never = {name: v for name, v in values.items() if v.value == NEVER and _never_by_time(incident.cluster, name)}
    seen = [_lost(f, "that were not flushed") for f in lost if f.topic in never]
    if seen:
        yield from _finding(
            key,
            NEVER,
            "low",
            where=f"in {_topics(sorted(never))} ({_places(never.values())}), the default of Kafka",
            threat="Acknowledged records are only in the memory of the in-sync replicas until the operating system writes them",
            seen=seen,
            advice="Spread replicas over racks with separate power, with min.insync.replicas=2 and acks=all: Kafka protects records by replication, not by flushes.",
            evidence=quote(*(v.event for v in never.values())),
            topics=set(never),
        )


def _never_by_time(cluster: Cluster, topic: str) -> bool:
    value = effective(cluster, "flush.ms", topic=topic)
    return (value.value or NEVER) == NEVER


_RISKS: tuple[Callable[[_Incident], Iterator[Finding]], ...] = (
    _unclean,
    _replication_factor,
    _min_isr_of_one,
    _min_isr_of_all,
    _factors,
    _lag_time,
    _flushing,
)


# owners of a value, and its consequences


def _own(incident: _Incident, key: str, risky: Callable[[str | None], bool]) -> dict[str, Effective]:
    """Topics that had an own risky value at any time, each with its last one."""
    found: dict[str, Effective] = {}
    for topic in incident.own.get(key, ()):
        for change in own_history(incident.cluster, key, topic):
            if risky(change.value):
                found[topic] = Effective.of(key, change)
    return dict(sorted(found.items()))


def _of_brokers(incident: _Incident, key: str, risky: Callable[[str | None], bool]) -> dict[int | None, Effective]:
    """Nodes with a risky value, among those whose value applies; the default of the version under None if no settings are in evidence."""
    nodes: list[int | None] = [*deciding(incident.cluster, key)] or [None]
    found = {b: effective(incident.cluster, key, broker=b) for b in nodes}
    return {b: e for b, e in found.items() if e.value is not None and risky(e.value) and e.event is not None}


def _held(incident: _Incident, key: str, finding: Statement) -> bool:
    """Whether the setting was on for the topic at the time of the finding, on any node that can have held the election."""
    at = finding.happened
    moments = (at, at + SETTING_DELAY) if at is not None else (None,)
    nodes: list[int | None] = [*deciding(incident.cluster, key)] or [None]
    return any(enabled(effective(incident.cluster, key, topic=finding.topic, broker=b, at=m).value) for b in nodes for m in moments)


def _alone(incident: _Incident, finding: Statement) -> bool:
    """The partition was down to one in-sync replica before the loss. A loss of the only replica has other causes."""
    since, at = incident.alone.get((finding.topic, finding.partition)), finding.happened
    return since is not None and (at is None or since <= at) and finding.cause in _BY_ONE_REPLICA


_BY_ONE_REPLICA = ("unclean-election", "unflushed-log", "empty-replica")
"""Causes of a loss of records that only some replicas have."""


# words


def _finding(
    key: str,
    value: str,
    severity: str,
    *,
    where: str,
    threat: str,
    seen: Sequence[str],
    advice: str,
    evidence: Sequence[Evidence],
    topics: Iterable[str] = (),
    brokers: Iterable[int | None] = (),
) -> Iterator[Finding]:
    if not evidence:
        return
    names, seen = sorted(topics), list(dict.fromkeys(seen))
    told = "; ".join(seen[:NAMED]) + (f"; and {len(seen) - NAMED} more" if len(seen) > NAMED else "")
    shown = "never" if value == NEVER else value
    yield Finding(
        kind="risky-setting",
        severity=severity if not names or set(names) - INTERNAL_TOPICS or seen else min(severity, "low", key=LEVELS.index),
        confidence="certain",
        topic=names[0] if len(names) == 1 else None,
        brokers=tuple(sorted(b for b in brokers if b is not None)),
        cause=f"{key}={shown}",
        summary=f"{key}={shown} {where}" + (f": {told}" if seen else ""),
        explanation=f"{key} was {shown} {where}. {threat}. "
        + (f"In this incident: {told}." if seen else "The evidence shows no consequence in this incident."),
        next_steps=(advice,),
        evidence=tuple(dict.fromkeys(evidence))[:MAX_EVIDENCE],
    )


def _where(own: Mapping[str, Effective], brokers: Mapping[int | None, Effective]) -> str:
    parts = []
    if own:
        parts.append(f"for {_topics(list(own))} ({_places(own.values())})")
    if brokers:
        named = [b for b in brokers if b is not None]
        parts.append((f"on {brokers_named(named)} " if named else "") + f"({_places(brokers.values())})")
    return " and ".join(parts)


def _places(values: Iterable[Effective]) -> str:
    return some([v.place for v in values], PLACES)


def _topics(names: Sequence[str]) -> str:
    return f"topic {names[0]}" if len(names) == 1 else f"{len(names)} topics: {some(names, NAMED)}"


def _when(finding: Statement) -> str:
    return f" at {at:%H:%M:%S}" if (at := finding.happened) is not None else ""


def _lost(finding: Statement, how: str = "") -> str:
    lengths = [r.length for r in finding.offsets]
    count = sum(n for n in lengths if n is not None)
    told = f"{counted(count, 'offset')}" if lengths and None not in lengths else "records"
    return f"{finding.name} lost {told}{f' {how}' if how else ''}{_when(finding)}"


RULE = Rule(
    kind="risky-setting",
    rank=440,
    level="medium",
    meaning="A durability setting has a value with which records can be lost or writes refused; the text names the consequences here, or the possible ones.",
    benign=("A cluster for records that may be lost.",),
    references=("KIP-106", "KIP-966", "KAFKA-15583"),
    post_rule=detect,
    facts=FACTS,
)
