"""topic-recreated: a topic was deleted and made again under the same name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model import Finding, Rule, moment, quote
from spark.cluster import OF_DELETION, Cluster
from spark.events import Event


def deletions(cluster: Cluster) -> dict[str, list[Event]]:
    """Events of deletion by topic."""
    found: dict[str, list[Event]] = {}
    for event in cluster.of(*OF_DELETION):
        if event.topic:
            found.setdefault(event.topic, []).append(event)
    return found


def made_again(topic: str, cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Event | None:
    """The creation after the first deletion; a topic that still has partitions at the end with another id counts, too."""
    deleted = deletions(cluster).get(topic, [])
    first = min((e.at for e in deleted if e.at is not None), default=datetime.max)
    ids = {e.topic_id for e in deleted if e.topic_id}
    for event in cluster.of("topic-created", "metadata-topic"):
        if (
            event.topic == topic
            and event.at is not None
            and (event.at > first or (ids and event.topic_id and event.topic_id not in ids and event.at >= first))
        ):
            return event
    return None


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for topic, events in sorted(deletions(cluster).items()):
        again = made_again(topic, cluster, partitions)
        if again is not None:
            yield Finding(
                kind="topic-recreated",
                severity="info",
                confidence="certain",
                topic=topic,
                start=events[0].at,
                end=again.at,
                summary=f"topic {topic} was deleted and created again",
                explanation=(
                    f"Topic {topic} was deleted at {moment(events[0].at)} and created again at {moment(again.at)}. Its offsets and leader epochs start at 0 again: "
                    "offsets of before and after are not compared, and what was deleted is not counted as lost. Consumers that kept their committed "
                    "offsets point past the end or into other records."
                ),
                evidence=quote(events[:3], again),
            )


RULE = Rule(
    kind="topic-recreated",
    level="info",
    meaning="A topic of the same name is another topic (another topic id) since then.",
    references=("KIP-516",),
    cluster=judge,
)
