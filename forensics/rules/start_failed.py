"""start-failed: a broker or controller ended while it was starting, with the cause that its errors name.

Here: attempts to start. Not here: errors of a process that was up (fatal_error), and data of another cluster (cluster_id_mismatch).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import Cause, FailedStart, cause_of, exception, failed_starts, named_node
from forensics.model.findings import Aggregation, Finding, Rule, Urgency, counted, moment, period, quote


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, attempts in sorted(failed_starts(cluster).items(), key=str):
        for cause, same in _by_cause(attempts):
            yield _finding(node, cause, same, cluster)


def _by_cause(attempts: Sequence[FailedStart]) -> Iterator[tuple[Cause | None, list[FailedStart]]]:
    """Consecutive attempts with one cause."""
    current: list[FailedStart] = []
    cause: Cause | None = None
    for attempt in attempts:
        now = cause_of(attempt.errors, starting=True)
        if current and now != cause:
            yield cause, current
            current = []
        cause = now
        current.append(attempt)
    if current:
        yield cause, current


def _finding(node: int | None, cause: Cause | None, attempts: Sequence[FailedStart], cluster: Cluster) -> Finding:
    first, last = attempts[0].errors[0], attempts[-1].errors[-1]
    who, times = named_node(node, cluster), counted(len(attempts), "time")
    thrown = exception([e for a in attempts for e in a.errors])
    again = cluster.next_of(node, last.at, "broker-starting") if node is not None else None
    back = cluster.next_of(node, again.at, "broker-started") if node is not None and again is not None else None
    why = f", because {cause.words}" if cause is not None else ""
    return Finding(
        kind="start-failed",
        severity="high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=first.at,
        end=back.at if back is not None else None,
        cause=cause.name if cause is not None else None,
        summary=f"{who} failed to start{f' ({times})' if len(attempts) > 1 else ''}{why}"
        + (f"; {who} was up at {moment(back.at)}" if back else ""),
        explanation=(
            f"{who[0].upper()}{who[1:]} failed to start {times}, from {period(first.at, last.at)}{why}."
            + (f" The error is: {thrown}." if thrown else "")
            + (
                f" {who[0].upper()}{who[1:]} started successfully at {moment(back.at)}."
                if back
                else " No later successful start is in evidence."
            )
        ),
        next_steps=cause.next_steps
        if cause is not None
        else (f"Read the exception and its causes in server.log of {who} at {moment(first.at)}.",),
        evidence=quote([e for a in attempts[:2] for e in a.errors][:5], attempts[-1].errors[-1:], back),
    )


RULE = Rule(
    kind="start-failed",
    rank=282,
    level="high",
    urgency=Urgency.UNAVAILABLE,
    meaning="A broker or controller ended while it was starting; the cause is the one that its errors name.",
    benign=("A second process that finds the log directories in use ends, and the first one continues.",),
    cluster=detect,
    many=Aggregation(key=lambda f: f.brokers),
    root="failed to start",
)
