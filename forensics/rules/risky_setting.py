"""risky-setting: a value of a durability setting that caused harm in this incident, or can cause it.

One finding for each setting and value, for all topics and brokers with it. The rule runs after the other rules, because it uses their
findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import LEVELS, MAX_EVIDENCE, Evidence, Finding, Statement, quote
from forensics.model.message import Message, Value, said, values
from forensics.model.partition.durability import FACTS, Topic, overridden, own_history, topics
from forensics.model.settings.effective import MIN_ISR, NEVER, STRICT, UNCLEAN, Effective, deciding, effective, enabled, number
from forensics.model.settings.settings import INTERNAL_TOPICS
from forensics.model.settings.versions import versions
from forensics.model.times import grouped
from forensics.output.shell import option
from forensics.rules.detectors.windows import CLUSTER_STOPPED
from forensics.thresholds import SAFE_REPLICAS, SETTING_DELAY

MAX_TOPICS_NAMED = 6
"""Number of topics, or of consequences, that a text names."""
DEFAULT_LAG_MS = 10_000
"""The default of replica.lag.time.max.ms up to 2.4."""


@dataclass(frozen=True)
class _Incident:
    """The data by which the risks are judged."""

    cluster: Cluster
    topics: Mapping[str, Topic]
    findings: Mapping[str, Sequence[Statement]]
    """Findings by kind."""
    overridden: Mapping[str, Mapping[str, None]]
    """Topics with own values, by setting."""
    alone: Mapping[tuple[str | None, int | None], Any]
    """For each partition with a loss, the time since which it had only one in-sync replica."""

    def sure(self, kind: str) -> list[Statement]:
        return [f for f in self.findings.get(kind, ()) if f.confidence != "possible"]


@dataclass(frozen=True, slots=True)
class _Risk:
    """A setting with a risky value."""

    key: str
    value: str
    severity: str
    where: tuple[Message, ...]
    """Owners of the value."""
    threat: Message
    """The message of its threat; the advice has the same name and values."""
    evidence: Sequence[Evidence]
    seen: Sequence[Message] = ()
    """Consequences in this incident."""
    topics: Iterable[str] = ()
    brokers: Iterable[int | None] = ()


def after_rules(
    cluster: Cluster, partitions: Sequence[Mapping[str, Any]], findings: Mapping[str, Sequence[Statement]]
) -> Iterator[Finding]:
    lost = {(f.topic, f.partition) for f in findings.get("data-loss", ())}
    alone = {(p["topic"], p["partition"]): p["exposure"]["alone_from"] for p in partitions if (p["topic"], p["partition"]) in lost}
    incident = _Incident(cluster, topics(partitions), findings, overridden(cluster), alone)
    for risks in _RISKS:
        # in a cluster that ended, a setting can only have had consequences, and cannot be changed
        yield from (_finding(risk, cluster.number) for risk in risks(incident) if risk.evidence and (risk.seen or not cluster.number))


# each risk


def _replication_factor(incident: _Incident) -> Iterator[_Risk]:
    names = {t.name for t in incident.topics.values() if t.factor == 1}
    if not names:
        return
    brokers = [n for n in incident.cluster.nodes.values() if n.broker and n.id in incident.cluster.named]
    seen = [
        *(_lost(f) for f in incident.sure("data-loss") if f.topic in names),
        *_leaderless(f for f in incident.sure("offline-partition") if f.topic in names and f.cause != CLUSTER_STOPPED),
    ]
    yield _Risk(
        "replication.factor",
        "1",
        "medium" if len(brokers) > 1 or seen else "low",
        (_in_topics(names),),
        _threat("one-replica", topics=tuple(sorted(names))),
        [Evidence(**t.place) for t in incident.topics.values() if t.name in names and t.place is not None],
        seen,
        topics=names,
    )


def _unclean(incident: _Incident) -> Iterator[_Risk]:
    key = UNCLEAN
    topics = _of_topics(incident, key, enabled)
    brokers = _of_brokers(incident, key, enabled)
    if not topics and not brokers:
        return
    seen = [_lost(f) for f in incident.sure("data-loss") if f.cause == "unclean-election" and _held(incident, key, f)]
    elected = [f for f in incident.sure("unclean-election") if _held(incident, key, f)]
    yield _Risk(
        key,
        "true",
        "high" if elected or seen else "medium",
        _where(topics, brokers),
        _threat("unclean-election", **_entity(topics, brokers), command=_alter(topics, f"{key}=false")),
        quote(*(e.event for e in (*topics.values(), *brokers.values()))),
        seen or [said("risky-setting/elected", name=f.name, at=f.happened, of=f.kind) for f in elected],
        topics=set(topics) if not brokers else set(),
        brokers=brokers,
    )


def _min_isr_of_one(incident: _Incident) -> Iterator[_Risk]:
    """min.insync.replicas=1: acknowledged records may be on the leader only, even with acks=all."""
    key = MIN_ISR
    values = _topics_with_min_isr_of_one(incident)
    names = set(values)
    lost = [f for f in incident.sure("data-loss") if f.topic in names and f.committed is not False and _alone(incident, f)]
    shown = names if lost else {name for name in names if _has_safe_replicas(incident.topics[name])}
    if not shown:
        return
    internal = shown <= INTERNAL_TOPICS
    yield _Risk(
        key,
        "1",
        "medium" if lost else "info" if internal else "low",
        (_in_topics(shown, [values[n] for n in sorted(shown)]),),
        _threat("one-in-sync-internal" if internal else "one-in-sync", **_entity(shown, ()), command=_alter(shown, f"{key}=2")),
        quote(*(values[n].event for n in sorted(shown))),
        [_lost(f, "alone") for f in lost],
        topics=shown,
    )


def _topics_with_min_isr_of_one(incident: _Incident) -> dict[str, Effective]:
    replicated = (t.name for t in incident.topics.values() if t.factor and t.factor > 1)
    values = {name: effective(incident.cluster, MIN_ISR, topic=name) for name in replicated}
    return {name: value for name, value in values.items() if number(value.value, 2) <= 1}


def _has_safe_replicas(topic: Topic) -> bool:
    return topic.factor is not None and topic.factor >= SAFE_REPLICAS


def _min_isr_of_all(incident: _Incident) -> Iterator[_Risk]:
    """min.insync.replicas equal to the replication factor, or larger."""
    key = MIN_ISR
    known = versions(incident.cluster)
    for (required, beyond), known_topics in sorted(_required_of_all(incident).items()):
        refusing = beyond and bool(known) and known[0] < STRICT
        if beyond and not refusing and all(incident.topics[n].factor == 1 for n in known_topics):
            continue  # from 3.7 on Kafka requires at most all replicas
        yield _Risk(
            key,
            str(required),
            "medium" if refusing else "low",
            (_in_topics(known_topics, known_topics.values(), replicas="fewer" if beyond else "as-many"),),
            _threat("refusing" if refusing else "all-in-sync", key=key, topics=tuple(sorted(known_topics))),
            quote(*(v.event for v in known_topics.values())),
            [
                said("risky-setting/finding", finding=f.whole.said, at=f.happened)
                for f in incident.sure("under-min-isr")
                if f.topic in known_topics
            ],
            topics=known_topics,
        )


def _required_of_all(incident: _Incident) -> dict[tuple[int, bool], dict[str, Effective]]:
    """The topics by the value that requires all their replicas, and whether it requires more than they have."""
    groups: dict[tuple[int, bool], dict[str, Effective]] = {}
    for topic in incident.topics.values():
        value = effective(incident.cluster, MIN_ISR, topic=topic.name)
        required = number(value.value, 1)
        if topic.factor and topic.factor <= required and required > 1:
            groups.setdefault((required, topic.factor < required), {})[topic.name] = value
    return groups


def _factors(incident: _Incident) -> Iterator[_Risk]:
    """Replication factors for new topics; existing topics are judged by their own factors."""
    cluster = incident.cluster
    if len([n for n in cluster.nodes.values() if n.broker]) < SAFE_REPLICAS:
        return
    for key, topic in _CREATED.items():
        brokers = _of_brokers(incident, key, lambda v: number(v, SAFE_REPLICAS) == 1)
        if topic is None:
            brokers = {b: e for b, e in brokers.items() if enabled(effective(cluster, "auto.create.topics.enable", broker=b).value)}
        if brokers and topic not in incident.topics:
            yield _Risk(
                key,
                "1",
                "low" if topic is not None else "info",
                _where({}, brokers),
                _threat("new-topic", key=key, new=topic),
                quote(*(e.event for e in brokers.values())),
                brokers=brokers,
            )


_CREATED: Mapping[str, str | None] = {
    "default.replication.factor": None,
    "offsets.topic.replication.factor": "__consumer_offsets",
    "transaction.state.log.replication.factor": "__transaction_state",
}


def _lag_time(incident: _Incident) -> Iterator[_Risk]:
    """A short replica.lag.time.max.ms, if replicas left and rejoined the ISR."""
    key = "replica.lag.time.max.ms"
    flapping = incident.sure("isr-flapping")
    brokers = _of_brokers(incident, key, lambda v: number(v, DEFAULT_LAG_MS) < DEFAULT_LAG_MS) if flapping else {}
    for value in sorted({e.value for e in brokers.values() if e.value is not None}, key=int):
        same = {b: e for b, e in brokers.items() if e.value == value}
        yield _Risk(
            key,
            value,
            "low",
            _where({}, same),
            _threat("short-lag-time", key=key),
            quote(*(e.event for e in same.values())),
            [f.whole.said for f in flapping],
            brokers=same,
        )


def _flushing(incident: _Incident) -> Iterator[_Risk]:
    """Flushes left to the operating system, if unflushed records were lost."""
    key = "flush.messages"
    lost = [f for f in incident.sure("data-loss") if f.cause == "unflushed-log" and f.topic is not None]
    values = {f.topic: effective(incident.cluster, key, topic=f.topic) for f in lost if f.topic is not None}
    never = {name: v for name, v in values.items() if v.value == NEVER and _never_by_time(incident.cluster, name)}
    if never:
        yield _Risk(
            key,
            NEVER,
            "low",
            (_in_topics(never, never.values(), default=True),),
            _threat("never-flushed"),
            quote(*(v.event for v in never.values())),
            [_lost(f, "unflushed") for f in lost if f.topic in never],
            topics=never,
        )


def _never_by_time(cluster: Cluster, topic: str) -> bool:
    value = effective(cluster, "flush.ms", topic=topic)
    return (value.value or NEVER) == NEVER


_RISKS: tuple[Callable[[_Incident], Iterator[_Risk]], ...] = (
    _unclean,
    _replication_factor,
    _min_isr_of_one,
    _min_isr_of_all,
    _factors,
    _lag_time,
    _flushing,
)


# owners of a value, and its consequences


def _of_topics(incident: _Incident, key: str, risky: Callable[[str | None], bool]) -> dict[str, Effective]:
    """Topics that had an own risky value at any time, each with its last one."""
    found: dict[str, Effective] = {}
    for topic in incident.overridden.get(key, ()):
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


def _threat(name: str, **values: Value) -> Message:
    return said(f"risky-setting/{name}", **values)


def _leaderless(found: Iterable[Statement]) -> list[Message]:
    """When partitions had no leader: those of one moment in one clause."""
    at = grouped((f.happened, f.name) for f in found)
    return [said("risky-setting/leaderless", names=tuple(names), at=when) for when, names in at.items()]


def _finding(risk: _Risk, number: int) -> Finding:
    names, seen = sorted(risk.topics), list(dict.fromkeys(risk.seen))
    shown = f"{risk.key}={'never' if risk.value == NEVER else risk.value}"
    internal = bool(names) and set(names) <= INTERNAL_TOPICS and not seen
    return Finding(
        severity=min(risk.severity, "low", key=LEVELS.index) if internal or number else risk.severity,
        confidence="certain",
        topic=names[0] if len(names) == 1 else None,
        brokers=tuple(sorted(b for b in risk.brokers if b is not None)),
        cause=shown,
        values=values(
            setting=shown,
            was=shown.replace("=", " was ", 1),
            where=risk.where,
            first=seen[0] if seen else None,
            others=len(seen) - 1 if len(seen) > 1 else None,
            consequences=tuple(seen[:MAX_TOPICS_NAMED]),
            more=len(seen) - MAX_TOPICS_NAMED if len(seen) > MAX_TOPICS_NAMED else None,
            threat=risk.threat,
            advice=(Message(f"{risk.threat.id}-advice", risk.threat.values),),
        ),
        evidence=tuple(dict.fromkeys(risk.evidence))[:MAX_EVIDENCE],
    )


def _where(topics: Mapping[str, Effective], brokers: Mapping[int | None, Effective]) -> tuple[Message, ...]:
    named = tuple(b for b in brokers if b is not None)
    of_topics = (
        (said("risky-setting/for-topics", topics=tuple(topics), each=tuple(v.place for v in topics.values()), **_places(topics.values())),)
        if topics
        else ()
    )
    of_brokers = (said("risky-setting/on-brokers", brokers=named, **_places(brokers.values())),) if brokers else ()
    return (*of_topics, *of_brokers)


def _entity(topics: Iterable[str], brokers: Iterable[int | None]) -> dict[str, Value]:
    """The topics that a setting is changed for; none if brokers have it."""
    return {"topics": tuple(sorted(topics)) if not list(brokers) else ()}


def _alter(topics: Iterable[str], setting: str) -> str:
    """The command of Kafka that changes a setting of the first topic, or of all brokers."""
    name = next(iter(sorted(topics)), None)
    entity = f"--entity-type topics {option('--entity-name', name)}" if name is not None else "--entity-type brokers --entity-default"
    return f"kafka-configs.sh --bootstrap-server HOST:PORT --alter {entity} --add-config {setting}"


def _places(found: Iterable[Effective]) -> dict[str, Value]:
    return {"places": tuple(dict.fromkeys(v.place for v in found))}


def _in_topics(names: Iterable[str], found: Iterable[Effective] = (), replicas: str | None = None, default: bool = False) -> Message:
    have = said(f"risky-setting/{replicas}") if replicas is not None else None
    return said("risky-setting/in-topics", topics=tuple(sorted(names)), replicas=have, default=default, **_places(found))


def _lost(finding: Statement, how: str | None = None) -> Message:
    lengths = [r.length for r in finding.offsets]
    count = sum(n for n in lengths if n is not None) if lengths and None not in lengths else None
    manner = said(f"risky-setting/{how}") if how is not None else None
    of = finding.cause if how is None or finding.cause != "unclean-election" else None  # which UNCLEAN made possible
    return said("risky-setting/lost", name=finding.name, offsets=count, how=manner, at=finding.happened, of=of)


READS = FACTS
