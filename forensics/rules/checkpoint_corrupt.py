"""checkpoint-corrupt: a checkpoint or metadata file is not in Kafka's format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, moment, quote, raw
from parsers.paths import partition_of

_REASONS = frozenset({"checkpoint-corrupt", "epochs-not-rising"})


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    by_source: dict[str, list[Event]] = {}
    for event in cluster.of("problem"):
        if event.reason in _REASONS:
            by_source.setdefault(event.source, []).append(event)
    for source, events in sorted(by_source.items()):
        yield _finding(source, events)


def _partition(event: Event) -> tuple[str | None, int | None]:
    """The partition of a damaged file; the directory of a leader-epoch-checkpoint names it."""
    where = partition_of(event.source)
    return where[:2] if where is not None and event.source.endswith("leader-epoch-checkpoint") else (event.topic, event.partition)


def _finding(source: str, events: Sequence[Event]) -> Finding:
    first = events[0]
    topic, partition = _partition(first)
    more = f" and {len(events) - 1} more" if len(events) > 1 else ""
    return raw(
        kind="checkpoint-corrupt",
        severity="high" if source.rsplit("/", 1)[-1].startswith(("replication-offset", "leader-epoch")) else "medium",
        confidence="certain",
        topic=topic,
        partition=partition,
        brokers=(first.writer,) if first.writer is not None else (),
        start=first.at,
        summary=f"{source}: {first.text}{more}",
        explanation=(
            f"{source} (written {moment(first.at)}) is not in Kafka's format: {'; '.join(e.text or '' for e in events[:5])}. The valid rows of {source} "
            "were used. A broker that starts with this file takes the log directory offline (1.0 and later), or resets the recovery points; a damaged "
            "high watermark or epoch file makes followers truncate at the wrong place."
        ),
        next_steps=(f"Copy {source} before the broker starts again.",),
        evidence=quote(events),
    )
