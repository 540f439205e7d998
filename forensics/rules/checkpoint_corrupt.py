"""checkpoint-corrupt: a checkpoint or metadata file is not in Kafka's format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import values
from forensics.model.times import grouped
from parsers.paths import partition_of

_REASONS = frozenset({"checkpoint-corrupt", "epochs-not-rising"})


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    by_source = grouped((event.source, event) for event in cluster.of("problem") if event.reason in _REASONS)
    yield from (_finding(source, events) for source, events in sorted(by_source.items()))


def _partition(event: Event) -> tuple[str | None, int | None]:
    """The partition of a damaged file; the directory of a leader-epoch-checkpoint names it."""
    where = partition_of(event.source)
    return where[:2] if where is not None and event.source.endswith("leader-epoch-checkpoint") else (event.topic, event.partition)


def _finding(source: str, events: Sequence[Event]) -> Finding:
    first = events[0]
    topic, partition = _partition(first)
    return Finding(
        severity="high" if source.rsplit("/", 1)[-1].startswith(("replication-offset", "leader-epoch")) else "medium",
        confidence="certain",
        topic=topic,
        partition=partition,
        brokers=(first.writer,) if first.writer is not None else (),
        start=first.at,
        values=values(
            source=source,
            problem=first.text,
            more=len(events) - 1 or None,
            problems=tuple(e.text or "" for e in events[:5]),
        ),
        evidence=quote(events),
    )
