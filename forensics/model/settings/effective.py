"""Settings in force: the value of a topic's or broker's setting at a time, from the first source that has one, else its version's
default.

Here: Kafka's defaults by version, whose settings count, and the min.insync.replicas that a leader enforces. Not here: the history of
each setting (settings), or the assessment of a value (forensics).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.settings.settings import BROKER_NAMES, DEFAULT, EFFECTIVE, TOPIC, SettingChange
from forensics.model.settings.versions import Version, version_line, versions
from parsers.frozen import dataclass

T = TypeVar("T")

NEVER = str(2**63 - 1)
"""Long.MaxValue: Kafka leaves flushing to the operating system."""

MIN_ISR, UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"

DEFAULTS: Mapping[str, tuple[tuple[Version, str], ...]] = {
    "auto.create.topics.enable": (((0,), "true"),),
    "auto.leader.rebalance.enable": (((0,), "false"), ((0, 8, 2), "true")),
    "default.replication.factor": (((0,), "1"),),
    "leader.imbalance.check.interval.seconds": (((0,), "300"),),
    "leader.imbalance.per.broker.percentage": (((0,), "10"),),
    "log.flush.interval.messages": (((0,), "10000"), ((0, 8, 1), NEVER)),
    "log.flush.interval.ms": (((0,), "3000"), ((0, 8, 1), NEVER)),
    MIN_ISR: (((0,), "1"),),
    "offsets.topic.replication.factor": (((0, 8, 2), "3"),),
    "replica.lag.time.max.ms": (((0,), "10000"), ((2, 5), "30000")),
    "transaction.state.log.min.isr": (((0, 11), "2"),),
    "transaction.state.log.replication.factor": (((0, 11), "3"),),
    UNCLEAN: (((0,), "true"), ((0, 11), "false")),
    "zookeeper.session.timeout.ms": (((0,), "6000"), ((2, 5), "18000")),
}
"""Defaults, each with its first version (KafkaConfig; KIP-106 disabled unclean elections, KIP-537 made lag and session times longer)."""

TRANSACTIONS = "__transaction_state"
CREATED_WITH: Mapping[tuple[str, str], str] = {(TRANSACTIONS, MIN_ISR): "transaction.state.log.min.isr"}
"""The broker setting whose value an internal topic gets as its own at creation (TransactionStateManager#transactionTopicConfigs).
__consumer_offsets and __share_group_state are created without min.insync.replicas: the broker's value applies."""

OF_CONTROLLERS = frozenset({UNCLEAN, "auto.leader.rebalance.enable"} | {key for key in DEFAULTS if key.startswith("leader.imbalance.")})
"""Settings that the controller applies, not the partition's leader."""

STRICT: Version = (3, 7)
"""From this version on min.insync.replicas is capped at the number of replicas, and the HW waits for min.insync.replicas, in ZooKeeper
mode and KRaft (Partition#effectiveMinIsr, #maybeIncrementLeaderHW; KAFKA-15583)."""


@dataclass(frozen=True, slots=True)
class Effective:
    """A value in force; None if neither the evidence nor the version's default gives it. `source`: Kafka's ConfigSource, or EFFECTIVE."""

    key: str
    value: str | None
    source: str
    at: datetime | None
    """Start of the value; None: since before the evidence begins, or never set."""
    event: Event | None
    """The event that shows the value; for a default, the line with the version."""
    assumed: bool = False
    """Missing evidence could change the value: the first evidence is later or from other brokers, or the broker's start settings or the
    topic's own settings are missing."""

    @classmethod
    def of(cls, key: str, change: SettingChange, *, assumed: bool = False) -> Effective:
        return cls(key, change.value, change.source, change.at if change.at != datetime.min else None, change.event, assumed)

    @property
    def place(self) -> str:
        """'file:line', or the reason why there is none."""
        if self.event is None:
            return "Kafka's default"
        where = self.event.source + (f":{self.event.line}" if self.event.line is not None else "")
        return f"Kafka's default, version in {where}" if self.source == DEFAULT and self.event.event == "kafka-version" else where


def default(key: str, version: Version | None) -> str | None:
    """The default value in this version; without a version, only if all versions agree. None if the setting did not exist."""
    known = DEFAULTS.get(key, ())
    if version is None:
        return known[0][1] if len(known) == 1 else None
    return next((value for since, value in reversed(known) if version >= since), None)


def newest(key: str) -> str:
    """The default of the newest versions, for an unknown version."""
    return DEFAULTS[key][-1][1]


def effective(
    cluster: Cluster,
    key: str,
    *,
    topic: str | None = None,
    broker: int | None = None,
    at: datetime | None = None,
    below: str | None = None,
) -> Effective:
    """A setting's value for a topic on `broker`; without a topic, the broker's own. Without a broker, the value that all deciding nodes
    share; unknown if they differ. `below`: the value if that source (settings.TOPIC, …) had none."""
    moments, known = _moments(cluster, key), _known(cluster)
    own = topic is not None and (cluster.settings.owns(topic, key) or (topic, key) in CREATED_WITH)
    of = topic if own else (topic is not None, topic in cluster.described)
    asked = (key, of, broker, below, None if at is None else bisect_right(moments, at))
    if asked not in known:
        known[asked] = _effective(cluster, key, topic, broker, at, below)
    return known[asked]


@cached_on_cluster
def _known(cluster: Cluster) -> dict[tuple[object, ...], Effective]:
    """Cache of answers: topics without a value of their own share the value between two changes."""
    return {}


@cached_on_cluster
def _moments(cluster: Cluster, key: str) -> Sequence[datetime]:
    """Times at which the value may have changed: a node's setting or version changed."""
    names = (key, *BROKER_NAMES.get(key, ()), *(created for (_, own), created in CREATED_WITH.items() if own == key))
    lines = (e.at for own in cluster.version_lines.values() for e in own if e.at is not None)
    return sorted({*cluster.settings.times(*names), *lines})


def _effective(cluster: Cluster, key: str, topic: str | None, broker: int | None, at: datetime | None, below: str | None) -> Effective:
    created = CREATED_WITH.get((topic, key)) if topic is not None and below is None else None
    if created is not None and not _set_for(cluster, key, topic, at):
        return replace(effective(cluster, created, at=at), assumed=True)
    known: Sequence[int | None] = [broker] if cluster.settings.knows(broker) else deciding(cluster, key)
    found = [_of(cluster, key, topic, b, at, below) for b in known or [broker]]
    first = found[0]
    if first.source == TOPIC:
        return first
    if any(e.value != first.value for e in found):
        return replace(first, value=None, assumed=True)
    assumed = any(e.assumed for e in found) or (broker is not None and broker not in known)
    return first if first.assumed == assumed else replace(first, assumed=assumed)


def _set_for(cluster: Cluster, key: str, topic: str | None, at: datetime | None) -> bool:
    """Whether the topic has a value of its own."""
    own = cluster.settings.change(key, topic=topic, at=at)
    return own is not None and own.source in (TOPIC, EFFECTIVE)


def _of(cluster: Cluster, key: str, topic: str | None, broker: int | None, at: datetime | None, below: str | None) -> Effective:
    found = cluster.settings.change(key, topic=topic, broker=broker, at=at, below=below)
    if found is not None and found.source in (TOPIC, EFFECTIVE):
        return Effective.of(key, found, assumed=_may_be_later(found, at))
    undescribed = topic is not None and topic not in cluster.described
    if found is not None:
        return Effective.of(key, found, assumed=undescribed or _may_be_later(found, at))
    name = BROKER_NAMES.get(key, (key,))[0] if topic is not None else key
    values = {default(name, v) for v in versions(cluster, broker, at)} or {default(name, None)}
    value = values.pop() if len(values) == 1 else None
    line = version_line(cluster, broker, at)
    return Effective(key, value, DEFAULT, None, line, undescribed or value is None or not cluster.settings.starts(broker))


def _may_be_later(found: SettingChange, at: datetime | None) -> bool:
    """Evidence without a time may be from after this one."""
    return at is not None and (found.at > at or (found.event is not None and found.event.at is None))


def deciding(cluster: Cluster, key: str) -> Sequence[int]:
    """The nodes whose setting counts, among those with known settings: KRaft controllers for settings that controllers apply, else
    brokers, each of which may be controller under ZooKeeper."""
    controllers, brokers = cluster.configured
    return controllers if controllers and key in OF_CONTROLLERS else brokers


def number(value: str | None, otherwise: T) -> int | T:
    """A setting's whole number; `otherwise` if the value is not one."""
    found = _whole(value) if value is not None else None
    return otherwise if found is None else found


@lru_cache(256)
def _whole(value: str) -> int | None:
    return int(value) if re.fullmatch(r"-?\d{1,19}", value, re.ASCII) else None


def enabled(value: str | None) -> bool:
    return (value or "").strip().lower() == "true"


# in-sync replicas


def strict(cluster: Cluster, leader: int | None, at: datetime | None = None) -> bool | None:
    """Whether this leader's HW waits for min.insync.replicas in-sync replicas (STRICT); before STRICT, records become committed with
    fewer. None if the leader's version is unknown."""
    answers = {v >= STRICT for v in versions(cluster, leader, at)}
    return answers.pop() if len(answers) == 1 else None
