"""topic-deleted: a topic was deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.rules.topic_recreated import deletions, incarnations


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for topic, events in sorted(deletions(cluster).items()):
        gone, again = incarnations(topic, events, cluster)[-1]
        if again is None:
            yield _finding(topic, gone)


def _finding(topic: str, deletions: Sequence[Event]) -> Finding:
    return Finding(
        confidence="certain",
        topic=topic,
        start=deletions[0].at,
        end=deletions[-1].at,
        evidence=quote(deletions),
    )
