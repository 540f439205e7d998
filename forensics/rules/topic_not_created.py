"""topic-not-created: a topic could not be created, because there were fewer brokers than replicas.

Here: what a broker or the controller states about a topic that was to be created. Not here: partitions that exist and have no leader
(offline_partition).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, Urgency, capital, moment, quote
from forensics.output.shell import option
from forensics.thresholds import UNREACHABLE
from parsers.kinds import Role, of

_MADE = of(role=Role.TOPIC_MADE)
_EFFECTS = {
    "__consumer_offsets": "Without this topic no consumer group can join or commit offsets.",
    "__transaction_state": "Without this topic no transactional producer can begin.",
}


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, errors in failures(cluster.of("topic-not-created"), lambda e: e.topic):
        yield _finding(node, errors, cluster)


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    last, topic = errors[-1], errors[-1].topic or ""
    made = next((e for e in cluster.of(*_MADE) if e.topic == topic and e.at and last.at and e.at >= last.at), None)
    who = named_node(node, cluster)
    were, few = (
        ("was", "no running broker")
        if last.count is None
        else ("was", "1 broker")
        if last.count == 1
        else ("were", f"{last.count} brokers")
    )
    internal = topic in _EFFECTS
    starting = made is not None and made.at is not None and errors[0].at is not None and made.at - errors[0].at <= UNREACHABLE
    return Finding(
        kind="topic-not-created",
        severity="medium" if internal and not starting else "low",
        confidence="certain",
        topic=topic,
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=made.at if made is not None else None,
        cause="too-few-brokers",
        summary=f"{topic}: the topic could not be created with {last.value} replicas: {few}"
        + (f"; created at {moment(made.at)}" if made is not None else ""),
        explanation=" ".join(
            (
                f"{capital(who)} could not create the topic {topic}, {span(errors)}: it needs {last.value} brokers, and there {were} {few}.",
                *((_EFFECTS[topic],) if internal else ()),
                *((f"The topic was created at {moment(made.at)}.",) if made is not None else ()),
            )
        ),
        next_steps=() if made is not None else _steps(last, topic),
        evidence=quote(errors[:4], last, made),
    )


def _steps(last: Event, topic: str) -> tuple[str, ...]:
    setting = last.key or {
        "__consumer_offsets": "offsets.topic.replication.factor",
        "__transaction_state": "transaction.state.log.replication.factor",
    }.get(topic)
    lower = (
        f"If the cluster has fewer than {last.value} brokers on purpose, set `{setting}` to their number on all brokers, and restart the brokers."
        if setting
        else f"If the cluster has fewer than {last.value} brokers on purpose, create {topic} with fewer replicas (`kafka-topics.sh --create {option('--topic', topic)} --replication-factor N`, or `default.replication.factor` of the brokers)."
    )
    return (f"Start the brokers that are missing; the topic {topic} needs {last.value}.", lower)


RULE = Rule(
    kind="topic-not-created",
    rank=325,
    level="medium",
    meaning="A topic could not be created, because there were fewer brokers than replicas (medium for topics of Kafka itself).",
    benign=("While a cluster starts, the first requests come before all brokers are up.",),
    cluster=detect,
    urgency=Urgency.UNAVAILABLE,
    many=Aggregation(whenever=True, key=lambda f: f.brokers),
)
