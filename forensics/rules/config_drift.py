"""config-drift: a durability setting was made less safe while the cluster was running.

Here: changes of unclean.leader.election.enable and min.insync.replicas in the history of settings, and their consequences. Not here:
settings that were always unsafe (risky_setting), or the value of a setting at some time (forensics.model.settings.effective).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, said, values
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.model.settings.effective import MIN_ISR, UNCLEAN, deciding, effective, enabled, number
from forensics.model.settings.settings import BROKER, CLUSTER, SettingChange
from forensics.model.times import grouped
from forensics.proof.elections import elections
from forensics.proof.losses import losses
from forensics.thresholds import TOPIC_CREATION
from parsers.kinds import TOPIC_GONE

GUARDS = (UNCLEAN, MIN_ISR)
REPLAYED = "kraft-config-record"
"""Printed again, with the time of that moment, whenever a controller reads its metadata log."""
SNAPSHOT = ".checkpoint"


@dataclass(frozen=True, slots=True)
class Drift:
    """A change to a less safe value."""

    key: str
    owner: str
    before: str | None
    """None: Kafka's default, of an unknown version."""
    after: str
    at: datetime
    event: Event


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    """Changes of the topic's own settings, and of other settings that harmed this partition."""
    for key in GUARDS:
        own = _of_topic(cluster, key, timeline.topic)
        for drift in own:
            harm = _harm(drift, timeline, cluster)
            yield _finding(drift, timeline.topic, timeline.partition if harm is not None else None, harm)
        for drift in () if own else _of_brokers(cluster)[key]:
            harm = _harm(drift, timeline, cluster)
            if harm is not None:
                yield _finding(drift, timeline.topic, timeline.partition, harm)


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for key in GUARDS:
        yield from (replace(_finding(drift, None, None, None), cause=None) for drift in _of_brokers(cluster)[key])


@cached_on_cluster
def _of_brokers(cluster: Cluster) -> Mapping[str, Sequence[Drift]]:
    """Changes of the brokers' settings, by setting."""
    brokers: list[int | None] = [*cluster.settings.brokers()] or [None]
    found: dict[str, dict[tuple[str, datetime], Drift]] = {key: {} for key in GUARDS}
    for key, known in found.items():
        for drift in (d for broker in brokers for d in _drifts(key, cluster, broker=broker)):
            known.setdefault((drift.owner, drift.at), drift)
    return {key: tuple(known.values()) for key, known in found.items()}


@cached_on_cluster
def _of_topic(cluster: Cluster, key: str, topic: str) -> Sequence[Drift]:
    """Changes of the topic's own setting, the same for all its partitions."""
    return tuple(_drifts(key, cluster, topic=topic))


def _drifts(key: str, cluster: Cluster, *, topic: str | None = None, broker: int | None = None) -> Iterator[Drift]:
    history = ((c, c.event) for c in cluster.settings.history(key, topic=topic, broker=broker) if c.at != datetime.min)
    by_owner = grouped(
        (owner, (c, e)) for c, e in history if e is not None and (topic is None) == (e.topic is None) and (owner := _owner(e))
    )
    for owner, changes in by_owner.items():
        changes = [(c, e) for c, e in changes if e.event == "metadata-config" or e.event in TOPIC_GONE] or changes
        for before, (change, event) in zip([None, *(c for c, _ in changes)], changes, strict=False):
            if event.event not in TOPIC_GONE:
                yield from _less_safe(key, owner, before, change, event, cluster)


def _owner(event: Event) -> str | None:
    """The owner of a dynamic setting; None for a value from a file or from the start of a process, which is not a change, and for a
    replayed one."""
    if event.pattern == REPLAYED:
        return None
    if event.topic is not None:
        return f"topic {event.topic}"
    if event.event == "metadata-config":
        return f"broker {event.node}" if event.node is not None else "the whole cluster"
    if event.line is None or event.reason not in (BROKER, CLUSTER):
        return None
    return f"broker {event.broker}" if event.broker is not None else "the whole cluster"


def _less_safe(
    key: str, owner: str, before: SettingChange | None, change: SettingChange, event: Event, cluster: Cluster
) -> Iterator[Drift]:
    if (before is None and not _unset_before(key, event, cluster)) or (before is not None and before.value == change.value is not None):
        return
    if before is not None and before.event is not None and before.event.event in TOPIC_GONE:
        return  # the topic was created again
    unset = effective(cluster, key, topic=event.topic, broker=event.broker, at=change.at, below=change.source).value
    old = before.value if before is not None and before.value is not None else unset
    new = change.value if change.value is not None else unset
    if new is not None and (enabled(new) and not enabled(old) if key == UNCLEAN else number(new, 0) < number(old, 0)):
        yield Drift(key, owner, old, new, change.at, event)


def _unset_before(key: str, event: Event, cluster: Cluster) -> bool:
    """The evidence covers an earlier time at which the owner did not have the setting: the metadata log reaches back to it, or a line
    lists all settings of the owner."""
    if event.at is None:
        return False
    lists = (e for e in cluster.of("config", topic=event.topic) if e.key is None and e.topic == event.topic and e.broker == event.broker)
    if any(e.at is not None and e.at < event.at and key not in (e.value or "").split(",") for e in lists):
        return True
    of_log = event.event == "metadata-config" and not event.source.endswith(SNAPSHOT)
    return of_log and event.metadata_offset is not None and _created_before(event, event.at, event.metadata_offset, cluster)


def _created_before(event: Event, at: datetime, offset: int, cluster: Cluster) -> bool:
    """An earlier record of the metadata log creates a topic, or registers a broker, so the log reaches back to a time without the
    setting."""
    created = cluster.of("metadata-topic" if event.topic is not None else "metadata-broker", topic=event.topic)
    earlier = (e for e in created if e.metadata_offset is not None and e.metadata_offset < offset and not e.source.endswith(SNAPSHOT))
    return any(e.at is not None and at - e.at > TOPIC_CREATION for e in earlier)


@dataclass(frozen=True, slots=True)
class _Harm:
    what: Message
    term: Term
    evidence: tuple[Event, ...]


def _harm(drift: Drift, timeline: PartitionTimeline, cluster: Cluster) -> _Harm | None:
    """The first harm that the previous value would have prevented."""
    if drift.key == UNCLEAN:
        for election in elections(timeline, cluster):
            term = election.term
            if election.unclean and term.at is not None and term.at >= drift.at and _in_force(drift, timeline, term.at, cluster):
                after = (term.at - drift.at).total_seconds()
                what = said("config-drift/elected", seconds=after, leader=term.leader, partition=timeline.name)
                return _Harm(what, term, election.evidence)
        return None
    for loss in losses(timeline, cluster):
        term, state = loss.term, loss.term.before
        if loss.excuse is not None or loss.committed is False or term.at is None or term.at < drift.at or state is None:
            continue
        if len(state.isr) < number(drift.before, 0):
            what = said("config-drift/lost", partition=timeline.name, isr=tuple(state.isr), lost=loss.range)
            return _Harm(what, term, loss.evidence)
    return None


def _in_force(drift: Drift, timeline: PartitionTimeline, at: datetime, cluster: Cluster) -> bool:
    nodes: list[int | None] = [*deciding(cluster, drift.key)] or [None]
    return any(effective(cluster, drift.key, topic=timeline.topic, broker=b, at=at).value == drift.after for b in nodes)


def _finding(drift: Drift, topic: str | None, partition: int | None, harm: _Harm | None) -> Finding:
    return Finding(
        severity="high" if harm is not None else "medium",
        confidence="certain" if drift.before is not None else "probable",
        topic=topic,
        partition=partition,
        brokers=(harm.term.leader,) if harm is not None else (),
        start=drift.at,
        cause=f"{drift.owner} {drift.key}",
        values=values(
            key=drift.key,
            owner=drift.owner,
            before=drift.before,
            after=drift.after,
            unclean=drift.key == UNCLEAN,
            harm=harm.what if harm is not None else None,
        ),
        evidence=quote(drift.event, harm.evidence if harm is not None else ()),
    )
