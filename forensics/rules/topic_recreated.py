"""topic-recreated: a topic was deleted and created again under the same name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.times import grouped, undated_first
from forensics.thresholds import ACTION_KNOWN
from parsers.kinds import OF_DELETION


def deletions(cluster: Cluster) -> dict[str, list[Event]]:
    return grouped((event.topic, event) for event in cluster.of(*OF_DELETION) if event.topic)


def incarnations(topic: str, deleted: Sequence[Event], cluster: Cluster) -> list[tuple[list[Event], Event | None]]:
    """The deletions of a topic, each with the creation after it; None after the last one of a topic that was not created again. A source
    may report a deletion late, and a deletion and the creation of another topic id may have the same time."""
    created = [e for e in cluster.of("topic-created", "metadata-topic", topic=topic) if e.at is not None]
    found: list[tuple[list[Event], Event | None]] = []
    gone: list[Event] = []
    until, sources = datetime.min, set[str]()
    for event in sorted([*deleted, *created], key=lambda e: (undated_first(e), e.event not in OF_DELETION)):
        at = undated_first(event)
        if event.event in OF_DELETION:
            if at >= until or event.source in sources:
                gone.append(event)
        elif gone and (at > undated_first(gone[0]) or (bool(event.topic_id) and all(e.topic_id != event.topic_id for e in deleted))):
            found.append((gone, event))
            until, sources, gone = at + ACTION_KNOWN, {e.source for e in gone}, []
    return [*found, (gone, None)] if gone else found


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for topic, events in sorted(deletions(cluster).items()):
        for gone, again in incarnations(topic, events, cluster):
            if again is not None:
                yield _finding(topic, gone, again)


def _finding(topic: str, gone: Sequence[Event], again: Event) -> Finding:
    return Finding(
        confidence="certain",
        topic=topic,
        start=gone[0].at,
        end=again.at,
        evidence=quote(gone[:3], again),
    )
