"""Protection of records: how many in-sync replicas leaders require, and how long partitions had too few.

Here: the time a partition was below or at min.insync.replicas or one failure away from loss (`exposure`, run on Spark's tasks), and the
settings that protect records as data for the report. Not here: the settings in force (forensics.model.settings.effective), or findings
about risky ones (forensics.rules.risky_setting).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Annotated, Any

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.coverage.log_coverage import isr_changes_observable
from forensics.model.events import Event
from forensics.model.findings import Fact
from forensics.model.message import timestamp
from forensics.model.partition.placement import FACTOR, STATEMENT
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.record import Record, struct
from forensics.model.settings.effective import CREATED_WITH, DEFAULTS, MIN_ISR, UNCLEAN, Effective, effective, number, strict
from forensics.model.settings.settings import BROKER, CLUSTER, EFFECTIVE, STATIC, TOPIC, SettingChange
from forensics.model.times import runs, undated_first
from parsers.frozen import dataclass

SHOWN = tuple(key for key in DEFAULTS if key != "zookeeper.session.timeout.ms")
OF_TOPICS = (MIN_ISR, UNCLEAN, "flush.messages", "flush.ms")
"""Settings of this kind that topics may override."""

MAX_NAMED = 20
MAX_CHANGES = 200


# in-sync replicas asked for


def min_isr(state: State, timeline: PartitionTimeline, cluster: Cluster) -> Effective:
    """min.insync.replicas as the state's leader has it. The value in its refusal of a write overrides all but the topic's own setting."""
    return _min_isr(timeline, cluster, state.leader, state.at)


@cached_on_timeline
def _min_isr(timeline: PartitionTimeline, cluster: Cluster, leader: int, at: datetime | None) -> Effective:
    found = effective(cluster, MIN_ISR, topic=timeline.topic, broker=leader, at=at)
    said = _refused(timeline, leader, at) if found.source != TOPIC or found.assumed else None
    return Effective(MIN_ISR, str(said.count), EFFECTIVE, said.at, said) if said is not None else found


def _refused(timeline: PartitionTimeline, leader: int, at: datetime | None) -> Event | None:
    """The refusal of the leader that is nearest to a time."""
    refusals = timeline.of("append-refused")
    place = bisect_right(refusals, at or datetime.min, key=undated_first)
    near = [e for e in refusals[max(place - 1, 0) : place + 1] if e.count and e.writer in (leader, None)]
    return near[-1] if near else None


def required(state: State, timeline: PartitionTimeline, cluster: Cluster) -> int | None:
    """The number of in-sync replicas that the state's leader requires; None if unknown."""
    asked, of_all = _asked(timeline, cluster, state.leader, state.at)
    return asked if asked is None or of_all or not state.replicas else min(asked, len(state.replicas))


@cached_on_timeline
def _asked(timeline: PartitionTimeline, cluster: Cluster, leader: int, at: datetime | None) -> tuple[int | None, bool]:
    """The number that a leader requires, and whether it requires that number even if there are fewer replicas."""
    asked = number(_min_isr(timeline, cluster, leader, at).value, None)
    return asked, asked is not None and strict(cluster, leader, at) is False


@cached_on_timeline
def settled(timeline: PartitionTimeline, cluster: Cluster) -> list[State]:
    """The states, split where min.insync.replicas changes within one: the later part starts at that moment."""
    found: list[State] = []
    refused = bool(timeline.of("append-refused"))
    for state, later in zip_longest(timeline.states, timeline.states[1:]):
        found.append(state)
        end = later.at if later is not None else datetime.max
        if state.leader < 0 or state.at is None or end is None:
            continue
        times, changes = _set_at(cluster, timeline.topic, state.leader)
        begin = bisect_right(times, state.at)
        # If no leader printed what it requires, the first of the times and those of the changes are enough.
        for at in times[begin:] if refused else (*times[begin : begin + 1], *changes[bisect_right(changes, state.at) :]):
            if at >= end:
                break
            later_on = replace(state, at=at)
            if min_isr(later_on, timeline, cluster).value != min_isr(found[-1], timeline, cluster).value:
                found.append(later_on)
    return found


@cached_on_timeline
def as_settled(timeline: PartitionTimeline, cluster: Cluster) -> PartitionTimeline:
    states = settled(timeline, cluster)
    return timeline if len(states) == len(timeline.states) else replace(timeline, states=states)


def _set_at(cluster: Cluster, topic: str, leader: int) -> tuple[Sequence[datetime], Sequence[datetime]]:
    """When min.insync.replicas was set for the topic, its leader or all brokers, and at which of these times it changed."""
    own = cluster.settings.owns(topic, MIN_ISR) or (topic, MIN_ISR) in CREATED_WITH
    return _times(cluster, topic if own else "", leader)  # the same for all topics without a value of their own


@cached_on_cluster
def _times(cluster: Cluster, topic: str, leader: int) -> tuple[Sequence[datetime], Sequence[datetime]]:
    keys = (MIN_ISR, *((created,) if (created := CREATED_WITH.get((topic, MIN_ISR))) is not None else ()))
    times = sorted({c.at for key in keys for c in cluster.settings.history(key, topic=topic, broker=leader)})
    values = [effective(cluster, MIN_ISR, topic=topic, broker=leader, at=at).value for at in times]
    return times, [at for at, value, before in zip(times[1:], values[1:], values, strict=False) if value != before]


# exposure


@dataclass(frozen=True, slots=True)
class Exposure(Record):
    """How long a partition was observed, and how long it had which protection, in milliseconds."""

    watched_ms: Annotated[int, "observed"] = 0
    offline_ms: Annotated[int, "without a leader"] = 0
    below_ms: Annotated[int, "with fewer in sync than min.insync.replicas (of at most all replicas)"] = 0
    at_ms: Annotated[int, "with exactly that many in sync, and not all replicas"] = 0
    alone_ms: Annotated[
        int, "with one replica in sync, the leader, so that its failure may lose records; always the case with one replica"
    ] = 0
    not_covered_ms: Annotated[
        int, "under leaders whose ISR changes are missing from the evidence, so that the other values are only what is known"
    ] = 0
    alone_from: Annotated[datetime | None, "when it first had one replica in sync (UTC)"] = None


SPENT = tuple(f.name for f in fields(Exposure) if f.name.endswith("_ms"))


def exposure(timeline: PartitionTimeline, cluster: Cluster) -> Exposure:
    """A partition's exposure from its first state to the end of the evidence."""
    spent: dict[str, int] = defaultdict(int)
    alone_from: datetime | None = None
    observable: dict[int, bool] = {}
    states = settled(timeline, cluster)
    for state, later in zip_longest(states, states[1:]):
        end = later.at if later is not None else cluster.until
        if state.at is None or end is None or end < state.at:
            continue
        lasted = (end - state.at) // timedelta(milliseconds=1)
        spent["watched_ms"] += lasted
        for what in _protection(state, timeline, cluster):
            spent[what] += lasted
            alone_from = alone_from or (state.at if what == "alone_ms" else None)
        if state.leader >= 0:
            if state.leader not in observable:
                observable[state.leader] = isr_changes_observable(state.leader, timeline, cluster)
            spent["not_covered_ms"] += 0 if observable[state.leader] else lasted
    return Exposure(**{name: spent[name] for name in SPENT}, alone_from=alone_from)


EXPOSURE = Fact(
    "exposure",
    struct(Exposure),
    "how long it had too few replicas in sync",
    lambda timeline, cluster: exposure(timeline, cluster).row(),
)


def _protection(state: State, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[str]:
    if state.leader < 0:
        yield "offline_ms"
        return
    asked = required(state, timeline, cluster)
    if below_min_isr(state, asked):
        yield "below_ms"
    elif at_min_isr(state, asked):
        yield "at_ms"
    if len(state.isr) == 1:
        yield "alone_ms"


def below_min_isr(state: State, asked: int | None) -> bool:
    """Fewer replicas in sync than `required` (Partition#isUnderMinIsr)."""
    return state.leader >= 0 and asked is not None and len(state.isr) < asked


def at_min_isr(state: State, asked: int | None) -> bool:
    """Exactly as many in sync as are required, while there are more replicas than that."""
    return state.leader >= 0 and len(state.isr) == asked and asked < len(state.replicas or ())


@dataclass
class Topic:
    """A topic: the sums over its partitions."""

    name: str
    partitions: int = 0
    factor: int | None = None
    """The smallest replication factor of any partition, None if no evidence has an assignment."""
    largest: int = 0
    place: Mapping[str, Any] | None = None
    """A place in the evidence that shows the assignment of a partition with the smallest factor (a row of model.EVIDENCE)."""
    exposure: Counter[str] = field(default_factory=Counter)


def topics(partitions: Iterable[Mapping[str, Any]]) -> dict[str, Topic]:
    """Topics by name, from the rows of their partitions."""
    found: dict[str, Topic] = {}
    for p in partitions:
        topic = found.setdefault(p["topic"], Topic(p["topic"]))
        topic.partitions += 1
        factor = p["factor"]
        if factor:
            topic.largest = max(topic.largest, factor)
            if topic.factor is None or factor < topic.factor:
                topic.factor, topic.place = factor, p["statement"]
        for name in SPENT:
            topic.exposure[name] += (p["exposure"] or {}).get(name) or 0
    return found


def overridden(cluster: Cluster) -> dict[str, dict[str, None]]:
    """Topics that ever had a value of their own, by setting; the sources that list a topic's settings include defaults too."""
    found: dict[str, dict[str, None]] = {key: {} for key in OF_TOPICS}
    for e in cluster.of("config", "metadata-config"):
        if e.topic is not None and e.key in found:
            found[e.key][e.topic] = None
    return found


def own_history(cluster: Cluster, key: str, topic: str) -> list[SettingChange]:
    """Changes of a topic's own value, without repetitions."""
    return _changed(cluster.settings.history(key, topic=topic))


def _changed(changes: Iterable[SettingChange]) -> list[SettingChange]:
    return [own[0] for own in runs(changes, lambda run, change: run[-1].value == change.value)]


# for the report


FACTS: tuple[Fact, ...] = (FACTOR, STATEMENT, EXPOSURE)
"""The facts that `topics` reads."""


def document(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`settings` (values at the end of the evidence, each with its place), `changes` of them over time, and `exposure` in
    partition-minutes, of the cluster and of each exposed topic."""
    known = topics(partitions)
    own = overridden(cluster)
    total: Counter[str] = Counter()
    for topic in known.values():
        total.update(topic.exposure)
    exposed = [t for t in known.values() if any(t.exposure[name] for name in SPENT if name not in ("watched_ms", "not_covered_ms"))]
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
    """A row for each value of a setting: who has it, and its first place in the evidence."""
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
    """The last MAX_CHANGES changes within the evidence, by time. The initial values of a broker do not count as a change, but a different
    value at a later start does."""
    found = [*_changes_of_topics(cluster, own), *_changes_of_brokers(cluster)]
    found.sort(key=lambda f: (f[0].at, f[0].order))
    return [
        {
            "at": timestamp(change.at),
            "key": key,
            "value": change.value,
            "topic": topic,
            "broker": broker,
            "source": change.source,
            "place": Effective.of(key, change).place,
        }
        for change, key, topic, broker in found[-MAX_CHANGES:]
    ]


_OwnedChange = tuple[SettingChange, str, str | None, int | None]
"""A change with the setting's name, and the topic or broker whose value it is; neither for the cluster's."""


def _changes_of_topics(cluster: Cluster, own: Mapping[str, Iterable[str]]) -> Iterator[_OwnedChange]:
    for key in OF_TOPICS:
        for topic in own.get(key, ()):
            yield from ((c, key, topic, None) for c in own_history(cluster, key, topic) if c.at != datetime.min)


def _changes_of_brokers(cluster: Cluster) -> Iterator[_OwnedChange]:
    for key in SHOWN:
        for broker in cluster.settings.brokers():
            history = cluster.settings.history(key, broker=broker)
            yield from ((c, key, None, broker) for c in _changed(c for c in history if c.source == STATIC)[1:])
            yield from ((c, key, None, broker) for c in _changed(c for c in history if c.source == BROKER))
        yield from ((c, key, None, None) for c in _changed(c for c in cluster.settings.history(key) if c.source == CLUSTER))
