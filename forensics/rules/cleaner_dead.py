"""cleaner-dead: the log cleaner of a broker ended because of an error, or gave up a partition.

Here: errors after which compacted topics grow until an operator acts. Not here: threads that a shutdown ends, and other threads
(fatal_error).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import cause_of, exception, failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, moment, quote, raw
from forensics.model.partition.timeline import PartitionTimeline


def of_cleaner(error: Event) -> bool:
    return error.event == "fatal-error" and error.reason == "thread" and "kafka-log-cleaner-thread" in (error.text or "").split("\n")[0]


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, errors in failures(e for e in cluster.of("fatal-error") if of_cleaner(e)):
        yield _of_thread(node, errors, cluster)


def _of_thread(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    who, cause, thrown = named_node(node, cluster), cause_of(errors), exception(errors)
    back = cluster.next_of(node, errors[-1].at, "broker-starting") if node is not None else None
    return raw(
        kind="cleaner-dead",
        severity="medium",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=back.at if back is not None else None,
        cause=cause.name if cause is not None else None,
        summary=f"the log cleaner of {who} ended because of an error" + (f": {cause.words}" if cause is not None else ""),
        explanation=(
            f"The log cleaner of {who} ended because of an error {span(errors)}."
            + (f" The error is: {thrown}." if thrown else "")
            + f" Compacted topics of {who}, such as __consumer_offsets, are not compacted any more and grow until {who} is restarted."
            + (f" {capital(who)} was started again at {moment(back.at)}." if back else "")
        ),
        next_steps=(
            *(cause.next_steps if cause is not None else ()),
            f"Restart {who} after the cause is removed, and watch the metric `kafka.log:type=LogCleanerManager,name=time-since-last-run-ms`.",
        ),
        evidence=quote(errors[:5], errors[-1:], back),
    )


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for node, errors in failures(timeline.of("partition-uncleanable")):
        yield _of_partition(node, errors, timeline, cluster)


def _of_partition(node: int | None, errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    who, cause, thrown = named_node(node, cluster), cause_of(errors), exception(errors)
    back = cluster.next_of(node, errors[-1].at, "broker-starting") if node is not None else None
    return raw(
        kind="cleaner-dead",
        severity="medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=back.at if back is not None else None,
        cause=cause.name if cause is not None else None,
        summary=f"{timeline.name}: the log cleaner of {who} gave the partition up because of an error"
        + (f": {cause.words}" if cause is not None else ""),
        explanation=(
            f"The log cleaner of {who} gave {timeline.name} up because of an error {span(errors)}."
            + (f" The error is: {thrown}." if thrown else "")
            + f" The replica of {timeline.name} on {who} is not compacted and grows until {who} is restarted; other partitions are compacted."
            + (f" {capital(who)} was started again at {moment(back.at)}." if back else "")
        ),
        next_steps=(
            *(cause.next_steps if cause is not None else ()),
            f"If other replicas of {timeline.name} are compacted without an error, stop {who}, move the directory of {timeline.name} out of the log directory and start {who} again: the replica is copied from the leader. A restart alone fails at the same segment again.",
        ),
        evidence=quote(errors[:5], errors[-1:], back),
    )
