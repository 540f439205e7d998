"""remote-copy-failed: segments could not be copied to the remote tier, so they stay on the broker's disk (KIP-405)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import exception, failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, quote, raw
from forensics.model.partition.timeline import PartitionTimeline


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for node, errors in failures(timeline.of("remote-copy-failed")):
        yield _finding(node, errors, timeline, cluster)


def _finding(node: int | None, errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    who, thrown = named_node(node, cluster), exception(errors)
    return raw(
        kind="remote-copy-failed",
        severity="medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=errors[-1].last_at,
        cause=errors[0].reason,
        summary=f"{timeline.name}: {who} could not copy segments to the remote tier",
        explanation=(
            f"{capital(who)} could not copy segments of {timeline.name} to the remote tier, {span(errors)}."
            + (f" The error is: {thrown}." if thrown else "")
            + f" Segments that are not in the remote tier are kept beyond local.retention.ms, so the disk of {who} fills up."
        ),
        next_steps=(
            f"Check the credentials, the quota and the reachability of the remote storage from {who}, and the log of its RemoteStorageManager plugin.",
            f"Watch the disk of {who} and the metric `kafka.server:type=BrokerTopicMetrics,name=RemoteCopyErrorsPerSec`.",
        ),
        evidence=quote(errors[:4], errors[-1]),
    )
