"""append-failed: a leader could not append records, for a reason that no producer caused.

Here: errors of the broker's machine, files and libraries. Not here: requests that a leader refuses rightly (too small an ISR, sequence
numbers, invalid records), failed log directories (log_dir_failure), full disks (disk_full), memory (out_of_memory).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import cause_of, exception, failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, quote, raw
from forensics.model.partition.timeline import PartitionTimeline

_OF_THE_BROKER = re.compile(
    r"NoClassDefFoundError|UnsatisfiedLinkError|ExceptionInInitializerError|NoSuchMethodError|NullPointerException|IllegalStateException"
    r"|IndexOutOfBounds|ClosedChannelException|ReadOnlyBufferException|BufferOverflow|Map failed"
)
"""Exceptions that no content of a request explains."""


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for node, errors in failures(e for e in timeline.of("append-error") if _OF_THE_BROKER.search(e.key or "")):
        yield _finding(node, errors, timeline, cluster)


def _finding(node: int | None, errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    who, thrown, cause = named_node(node, cluster), exception(errors), cause_of(errors)
    why = f": {cause.words}" if cause is not None else ""
    return raw(
        kind="append-failed",
        severity="high",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=errors[-1].last_at,
        cause=cause.name if cause is not None else None,
        summary=f"{timeline.name}: {who} could not append records because of an error of its own{why}",
        explanation=(
            f"{capital(who)} could not append records to {timeline.name} because of an error of its own, {span(errors)}. The error is: {thrown}. "
            f"Producers of {timeline.name} get an error for these records, and retry until delivery.timeout.ms."
        ),
        next_steps=(
            *(cause.next_steps if cause is not None else ()),
            f"Read the exception and its causes in server.log of {who}. If only {who} has it, move the leadership of {timeline.name} to another in-sync replica until {who} is repaired.",
        ),
        evidence=quote(errors[:4], errors[-1]),
    )
