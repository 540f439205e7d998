"""topic-deleted: a topic was deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model import Finding, Rule, moment, quote
from forensics.rules.topic_recreated import deletions, made_again
from spark.cluster import Cluster


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for topic, events in sorted(deletions(cluster).items()):
        if made_again(topic, cluster, partitions) is None:
            yield Finding(
                kind="topic-deleted",
                severity="info",
                confidence="certain",
                topic=topic,
                start=events[0].at,
                end=events[-1].at,
                summary=f"topic {topic} was deleted",
                explanation=f"Topic {topic} was deleted at {moment(events[0].at)}, by request. Its partitions' logs vanish from the brokers; that is no loss by failure.",
                evidence=quote(events),
            )


RULE = Rule(kind="topic-deleted", level="info", meaning="A topic was deleted on request.", references=("KAFKA-330",), cluster=judge)
