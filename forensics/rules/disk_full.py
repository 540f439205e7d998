"""disk-full: found a disk full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_directories import FailedDirectory, failed_directories
from forensics.model.cluster.process_errors import FREE_SPACE, failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, quote, raw
from forensics.thresholds import SAME_DISK_FAILURE


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, errors in failures(e for e in cluster.of("log-file-refused") if e.reason == "full"):
        yield _finding(node, errors, cluster)


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    who = named_node(node, cluster)
    detail = next((f" ({e.value})" for e in errors if e.value), "")
    return raw(
        kind="disk-full",
        severity="high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=_over(node, errors, cluster),
        summary=f"{who} found a disk full{detail}",
        explanation=f"{capital(who)} found a disk full{detail} {span(errors)}. A broker cannot append records to a full disk: the log directory goes offline, and without another one the broker ends.",
        next_steps=(
            FREE_SPACE,
            f"Reduce retention.ms or retention.bytes of the largest topics of {who} (`kafka-log-dirs.sh --bootstrap-server HOST:PORT --describe` shows their sizes), or move replicas to other brokers.",
        ),
        evidence=quote(errors[:5], errors[-1:]),
    )


def _over(node: int | None, errors: Sequence[Event], cluster: Cluster) -> datetime | None:
    """When the log directory that went offline because of it was in use again, or the broker up again; else the last error."""
    offline = [f for f in failed_directories(cluster) if f.broker == node and any(e is f.refused or _soon(f, e) for e in errors)]
    if offline:
        returned = [f.returned for f in offline]
        return None if None in returned else max(e.at for e in returned if e is not None and e.at is not None)
    return errors[-1].at


def _soon(failure: FailedDirectory, error: Event) -> bool:
    return failure.at is not None and error.at is not None and abs(failure.at - error.at) <= SAME_DISK_FAILURE
