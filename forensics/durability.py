"""What protects records: the settings in force, where each value comes from, and how long partitions went with too few replicas.

Here: effective values with Kafka's own defaults of each version, the time a partition was below or at min.insync.replicas or one
failure away from loss (`exposure`, run on Spark's tasks), and both as data for the report. Not here: the histories of settings
(spark.settings), or what is said of a risky one (rules.risky_setting).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any

from forensics.witnesses import tells_isr
from spark.cluster import Cluster
from spark.events import Event
from spark.settings import BROKER, BROKER_NAMES, CLUSTER, DEFAULT, EFFECTIVE, STATIC, TOPIC, Change
from spark.states import State
from spark.timeline import PartitionTimeline
from spark.versions import Version, versions

NEVER = str(2**63 - 1)
"""Long.MaxValue: Kafka leaves flushing to the operating system."""

DEFAULTS: Mapping[str, tuple[tuple[Version, str], ...]] = {
    "auto.create.topics.enable": (((0,), "true"),),
    "auto.leader.rebalance.enable": (((0,), "false"), ((0, 8, 2), "true")),
    "default.replication.factor": (((0,), "1"),),
    "leader.imbalance.check.interval.seconds": (((0,), "300"),),
    "leader.imbalance.per.broker.percentage": (((0,), "10"),),
    "log.flush.interval.messages": (((0,), "10000"), ((0, 8, 1), NEVER)),
    "log.flush.interval.ms": (((0,), "3000"), ((0, 8, 1), NEVER)),
    "min.insync.replicas": (((0,), "1"),),
    "offsets.topic.replication.factor": (((0, 8, 2), "3"),),
    "replica.lag.time.max.ms": (((0,), "10000"), ((2, 5), "30000")),
    "transaction.state.log.min.isr": (((0, 11), "2"),),
    "transaction.state.log.replication.factor": (((0, 11), "3"),),
    "unclean.leader.election.enable": (((0,), "true"), ((0, 11), "false")),
}
"""Defaults, and since which version (KafkaConfig; KIP-106 turned unclean elections off, KIP-537 made the lag time longer)."""

SHOWN = tuple(DEFAULTS)
OF_TOPICS = {"min.insync.replicas": "min.insync.replicas", "unclean.leader.election.enable": "unclean.leader.election.enable"} | {
    topics: name for topics, (name,) in BROKER_NAMES.items() if topics.startswith("flush.")
}
"""Settings that topics may override, and the broker's setting that holds where one does not."""
TRANSACTIONS = "__transaction_state"

STRICT_MIN_ISR: Version = (3, 7)
"""From here on no more than all replicas are asked for, and the HW waits for min.insync.replicas (KAFKA-15583)."""

MAX_NAMED = 20
MAX_CHANGES = 200


@dataclass(frozen=True, slots=True)
class Effective:
    """A value in force; None where neither evidence nor the version's default tells it. `source`: Kafka's ConfigSource, or EFFECTIVE."""

    key: str
    value: str | None
    source: str
    at: datetime | None
    """Since when; None: since before the evidence begins, or nobody set it."""
    event: Event | None
    """Where it stands; of a default, the line that tells the version."""

    @property
    def place(self) -> str:
        """'file:line', or why there is none."""
        if self.event is None:
            return "Kafka's default"
        where = self.event.source + (f":{self.event.line}" if self.event.line is not None else "")
        return f"Kafka's default, version in {where}" if self.source == DEFAULT and self.event.event == "kafka-version" else where


# defaults of versions


def default(key: str, version: Version | None) -> str | None:
    """What holds where nobody set it; without a version, only where all versions agree. None if there was no such setting."""
    known = DEFAULTS.get(key, ())
    if version is None:
        return known[0][1] if len(known) == 1 else None
    return next((value for since, value in reversed(known) if version >= since), None)


def _version_line(cluster: Cluster, broker: int | None) -> Event | None:
    lines = cluster.version_lines
    return lines.get(broker) or (next(iter(lines.values()), None) if broker not in cluster.nodes else None)


# values in force


def effective(cluster: Cluster, key: str, *, topic: str | None = None, broker: int | None = None, at: datetime | None = None) -> Effective:
    """The value of a setting for a topic, as `broker` has it; of the broker itself, or any, without a topic."""
    found = cluster.settings.change(key, topic=topic, broker=broker, at=at)
    own = found is not None and found.source in (TOPIC, EFFECTIVE)
    if topic == TRANSACTIONS and key == "min.insync.replicas" and not own:
        return effective(cluster, "transaction.state.log.min.isr", broker=broker, at=at)
    if found is not None:
        return _told(key, found)
    name = OF_TOPICS.get(key, key) if topic is not None else key
    known = versions(cluster, broker)
    values = {default(name, v) for v in known} if known else {default(name, None)}
    return Effective(key, values.pop() if len(values) == 1 else None, DEFAULT, None, _version_line(cluster, broker))


def _told(key: str, change: Change) -> Effective:
    return Effective(key, change.value, change.source, change.at if change.at != datetime.min else None, change.event)


def number(value: str | None, otherwise: int) -> int:
    """A setting's whole number; `otherwise` where it is none."""
    return int(value) if value is not None and re.fullmatch(r"-?\d{1,19}", value, re.ASCII) else otherwise


def enabled(value: str | None) -> bool:
    return (value or "").strip().lower() == "true"


def min_isr(cluster: Cluster, topic: str, at: datetime | None = None, leader: int | None = None) -> int:
    """min.insync.replicas as the partition's leader has it then; Kafka's default is 1."""
    return max(number(effective(cluster, "min.insync.replicas", topic=topic, broker=leader, at=at).value, 1), 1)


def settled(timeline: PartitionTimeline, cluster: Cluster) -> list[State]:
    """The states, cut where min.insync.replicas changes while one lasts: the later part stands from that moment on."""
    found: list[State] = []
    times: dict[int, list[datetime]] = {}
    for state, later in zip_longest(timeline.states, timeline.states[1:]):
        found.append(state)
        end = later.at if later is not None else datetime.max
        if state.leader < 0 or state.at is None or end is None:
            continue
        if state.leader not in times:
            times[state.leader] = _set_at(cluster, timeline.topic, state.leader)
        own = times[state.leader]
        for at in own[bisect_right(own, state.at) :]:
            if at >= end:
                break
            if min_isr(cluster, timeline.topic, at, state.leader) != min_isr(cluster, timeline.topic, found[-1].at, state.leader):
                found.append(replace(state, at=at))
    return found


def _set_at(cluster: Cluster, topic: str, leader: int) -> list[datetime]:
    """When min.insync.replicas was set for the topic, its leader or all brokers."""
    keys = ("min.insync.replicas", *(("transaction.state.log.min.isr",) if topic == TRANSACTIONS else ()))
    return sorted({c.at for key in keys for c in cluster.settings.history(key, topic=topic, broker=leader)})


# exposure


@dataclass(frozen=True, slots=True)
class Exposure:
    """How long a partition was watched, and stood under which protection then; milliseconds.

    `below`: fewer in sync than min.insync.replicas (of at most all replicas). `at`: exactly that many, and not all of them. `alone`: one
    replica in sync, the leader, so that its failure may lose records; all the time with one replica. `offline`: no leader.
    `untold`: under leaders whose changes of the ISR are not in evidence, so that the rest is only what is known.
    """

    watched_ms: int = 0
    offline_ms: int = 0
    below_ms: int = 0
    at_ms: int = 0
    alone_ms: int = 0
    untold_ms: int = 0
    alone_from: datetime | None = None


SPENT = ("watched_ms", "offline_ms", "below_ms", "at_ms", "alone_ms", "untold_ms")


def exposure(timeline: PartitionTimeline, cluster: Cluster) -> Exposure:
    """A partition's exposure from its first state to the end of the evidence."""
    spent: dict[str, int] = defaultdict(int)
    alone_from: datetime | None = None
    tells: dict[int, bool] = {}
    states = settled(timeline, cluster)
    for state, later in zip_longest(states, states[1:]):
        end = later.at if later is not None else cluster.until
        if state.at is None or end is None or end < state.at:
            continue
        lasted = (end - state.at) // timedelta(milliseconds=1)
        spent["watched_ms"] += lasted
        for what in _standing(state, timeline.topic, cluster):
            spent[what] += lasted
            alone_from = alone_from or (state.at if what == "alone_ms" else None)
        if state.leader >= 0:
            if state.leader not in tells:
                tells[state.leader] = tells_isr(state.leader, timeline, cluster)
            spent["untold_ms"] += 0 if tells[state.leader] else lasted
    return Exposure(**{name: spent[name] for name in SPENT}, alone_from=alone_from)


def _standing(state: State, topic: str, cluster: Cluster) -> Iterator[str]:
    if state.leader < 0:
        yield "offline_ms"
        return
    if below_min_isr(state, min_isr(cluster, topic, state.at, state.leader)):
        yield "below_ms"
    elif at_min_isr(state, min_isr(cluster, topic, state.at, state.leader)):
        yield "at_ms"
    if len(state.isr) == 1:
        yield "alone_ms"


def below_min_isr(state: State, required: int) -> bool:
    """Fewer replicas in sync than are required, of at most all there are (Partition.isUnderMinIsr)."""
    return state.leader >= 0 and len(state.isr) < min(required, len(state.replicas or ()) or required)


def at_min_isr(state: State, required: int) -> bool:
    """Just as many in sync as are required, while there are more replicas than that."""
    return state.leader >= 0 and len(state.isr) == required < len(state.replicas or ())


@dataclass
class Topic:
    """A topic as the rows of its partitions add up."""

    name: str
    partitions: int = 0
    factor: int | None = None
    """The smallest replication factor of any partition, None where no evidence names an assignment."""
    largest: int = 0
    told: Mapping[str, Any] | None = None
    """A place where the assignment of a partition with the smallest factor stands (a row of model.EVIDENCE)."""
    exposure: Counter[str] = field(default_factory=Counter)


def topics(partitions: Iterable[Mapping[str, Any]]) -> dict[str, Topic]:
    """Topics by name, from the rows of model.PARTITION."""
    found: dict[str, Topic] = {}
    for p in partitions:
        topic = found.setdefault(p["topic"], Topic(p["topic"]))
        topic.partitions += 1
        factor = p["factor"]
        if factor:
            topic.largest = max(topic.largest, factor)
            if topic.factor is None or factor < topic.factor:
                topic.factor, topic.told = factor, p["told"]
        for name in SPENT:
            topic.exposure[name] += (p["exposure"] or {}).get(name) or 0
    return found


def overridden(cluster: Cluster) -> dict[str, dict[str, None]]:
    """Topics that ever had a value of their own, by setting; the sources that list a topic's settings name defaults too."""
    found: dict[str, dict[str, None]] = {key: {} for key in OF_TOPICS}
    for e in cluster.of("config", "metadata-config"):
        if e.topic is not None and e.key in found:
            found[e.key][e.topic] = None
    return found


def own_history(cluster: Cluster, key: str, topic: str) -> list[Change]:
    """Changes of a topic's own value, each value once until it changes."""
    return _changed(c for c in cluster.settings.history(key, topic=topic) if c.source in (TOPIC, EFFECTIVE))


def _changed(changes: Iterable[Change]) -> list[Change]:
    found: list[Change] = []
    for change in changes:
        if not found or found[-1].value != change.value:
            found.append(change)
    return found


# for the report


def document(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`settings` (values at the end of the evidence, and where each stands), `changes` of them over time, and `exposure` in
    partition-minutes, of the cluster and of each topic that was exposed at all."""
    known = topics(partitions)
    own = overridden(cluster)
    total: Counter[str] = Counter()
    for topic in known.values():
        total.update(topic.exposure)
    exposed = [t for t in known.values() if any(t.exposure[name] for name in SPENT if name not in ("watched_ms", "untold_ms"))]
    return {
        "settings": [row for key in dict.fromkeys((*SHOWN, *OF_TOPICS)) for row in _in_force(cluster, key, own.get(key, {}))],
        "changes": _changes(cluster, own),
        "exposure": {
            "cluster": _minutes(total),
            "topics": [
                {"topic": t.name, "partitions": t.partitions, "replication_factor": t.factor, **_minutes(t.exposure)}
                for t in sorted(exposed, key=lambda t: t.name)
            ],
        },
    }


def _minutes(spent: Mapping[str, int]) -> dict[str, float]:
    return {f"{name.removesuffix('_ms')}_partition_minutes": round(spent[name] / 60_000, 3) for name in SPENT}


def _in_force(cluster: Cluster, key: str, own: Iterable[str]) -> list[dict[str, Any]]:
    """A row for each value of a setting: who has it, and the first place that says so."""
    groups: dict[tuple[str | None, str], dict[str, Any]] = {}

    def put(value: Effective, kind: str, owner: object) -> None:
        group = groups.setdefault((value.value, value.source), {"value": value, "brokers": [], "topics": []})
        group[kind].append(owner)

    if key in SHOWN:
        brokers = cluster.settings.brokers()
        for broker in brokers:
            put(effective(cluster, key, broker=broker), "brokers", broker)
        if not brokers and (value := effective(cluster, key)).value is not None:
            put(value, "brokers", None)
    for topic in own:
        if (value := effective(cluster, key, topic=topic)).source in (TOPIC, EFFECTIVE):
            put(value, "topics", topic)
    return [
        {
            "key": key,
            "value": group["value"].value,
            "source": group["value"].source,
            "brokers": [b for b in group["brokers"] if b is not None],
            "topics": sorted(group["topics"])[:MAX_NAMED],
            "topic_count": len(group["topics"]),
            "place": group["value"].place,
        }
        for group in groups.values()
        if group["value"].value is not None
    ]


def _changes(cluster: Cluster, own: Mapping[str, Iterable[str]]) -> list[dict[str, Any]]:
    """What was changed while the evidence lasts, in order of time, the last MAX_CHANGES. What a broker starts with is no change, but
    that it starts with something else is."""
    found: list[tuple[Change, str, str | None, int | None]] = []
    for key in OF_TOPICS:
        for topic in own.get(key, ()):
            found.extend((c, key, topic, None) for c in own_history(cluster, key, topic) if c.at != datetime.min)
    for key in SHOWN:
        for broker in cluster.settings.brokers():
            history = cluster.settings.history(key, broker=broker)
            found.extend((c, key, None, broker) for c in _changed(c for c in history if c.source == STATIC)[1:])
            found.extend((c, key, None, broker) for c in _changed(c for c in history if c.source == BROKER))
        found.extend((c, key, None, None) for c in _changed(c for c in cluster.settings.history(key) if c.source == CLUSTER))
    found.sort(key=lambda f: (f[0].at, f[0].order))
    return [
        {
            "at": change.at.isoformat(timespec="milliseconds") + "Z",
            "key": key,
            "value": change.value,
            "topic": topic,
            "broker": broker,
            "source": change.source,
            "place": _told(key, change).place,
        }
        for change, key, topic, broker in found[-MAX_CHANGES:]
    ]
