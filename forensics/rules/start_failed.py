"""start-failed: a broker or controller ended while it was starting, with the cause that its errors name.

Here: attempts to start, and what they did to partitions. Not here: errors of a process that was up (fatal_error), and how the id of another
cluster came to be on a disk (cluster_id_mismatch).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, Place, quote
from forensics.model.message import said, values
from forensics.model.partition.absences import ABSENCES
from forensics.model.partition.windows import OFFLINE
from forensics.model.presence.failed_starts import LOCKED, FailedStart, failed_starts, up_again
from forensics.model.presence.process_errors import INTERRUPTED, NamedCause, cause_of, exception, narrowed, who
from forensics.model.times import Span, is_later, overlap
from forensics.thresholds import LONGEST_START

Name = tuple[str, int]
"""Topic and partition."""


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, attempts in sorted(failed_starts(cluster).items(), key=str):
        found = [_StartAttempt(a, _cause(a, node, cluster)) for a in attempts]
        for _, same in groupby((a for a in found if a.start.second), key=lambda a: a.cause):
            yield _second_process(node, [a.start for a in same], cluster)
        first = [(a, up_again(node, a.start.end, cluster) if node is not None else None) for a in found if not a.start.second]
        for (back, _), period_of in groupby(first, key=lambda own: (own[1], own[0].cause if node is None else None)):
            yield _finding(node, [a for a, _ in period_of], back, cluster, partitions)


@dataclass(frozen=True, slots=True)
class _StartAttempt:
    start: FailedStart
    cause: NamedCause | None


def _cause(attempt: FailedStart, node: int | None, cluster: Cluster) -> NamedCause | None:
    cause = cause_of(attempt.errors, starting=True)
    return narrowed(cause, node, attempt.end, cluster) if cause is not None else None


def _finding(
    node: int | None, tried: Sequence[_StartAttempt], back: Event | None, cluster: Cluster, partitions: Sequence[Mapping[str, Any]]
) -> Finding:
    """The attempts of one period: until the node was up, whatever ended each of them."""
    attempts, causes = [a.start for a in tried], Counter(a.cause for a in tried)
    cause = next((c for c, _ in causes.most_common() if c is not None), None)
    first, last = attempts[0], attempts[-1]
    errors = [e for a in tried for e in a.start.errors if a.cause == cause]
    alive = _alive(node, last, cluster) if back is None else None
    end = back.at if back is not None else alive
    missing, leaderless = _affected(node, first.at, end, partitions)
    affected = sorted({*missing, *leaderless})
    each = tuple(said("start-failed/each", times=number, why=c.why if c is not None else None) for c, number in causes.most_common())
    return Finding(
        severity="medium" if all(c is not None and c.name == INTERRUPTED for c in causes) else "high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=first.at,
        end=end,
        cause=cause.name if cause is not None else None,
        places=tuple(Place(topic, n, None, first.at, end, (), None, (node,)) for topic, n in affected if node is not None),
        values=values(
            who=who(node, cluster),
            times=len(attempts) if len(attempts) > 1 else None,
            period=(first.at, last.end),
            why=cause.why if cause is not None and len(causes) == 1 else None,
            causes=each if len(causes) > 1 else (),
            thrown=exception(e for e in errors if cause is None or cause.found.search(e.key or "")),
            back=back.at if back is not None else None,
            alive=alive,
            missing=_named(missing),
            leaderless=_named(leaderless),
            affected=len(affected) or None,
            cause_steps=tuple(dict.fromkeys(step for c, _ in causes.most_common() if c is not None for step in c.steps)),
            first_error=first.errors[0].at,
        ),
        evidence=quote([e for a in attempts[:2] for e in a.errors[:3]], last.errors[-1:], back),
    )


def _alive(node: int | None, last: FailedStart, cluster: Cluster) -> datetime | None:
    """The last line of the node, if it is from longer after the attempt than a start that fails takes to end: the node was up again. Of an
    unknown node, the last line of the log: the failure is not known to last."""
    paths = {e.source for e in last.errors}
    of_logs = max((s.last for s in cluster.sources if s.path in paths and s.last is not None), default=None)
    until = cluster.last_own_line(node) if node is not None else of_logs
    return until if is_later(until, last.end, LONGEST_START) else None


def _affected(
    node: int | None, since: datetime | None, until: datetime | None, partitions: Sequence[Mapping[str, Any]]
) -> tuple[list[Name], list[Name]]:
    """Partitions whose ISR lacked the broker between the first attempt and its return, and those that had no leader meanwhile."""
    if node is None or since is None:
        return [], []
    missing: list[Name] = []
    leaderless: list[Name] = []
    for p in partitions:
        name = (p["topic"], p["partition"])
        if any(a["broker"] == node and overlap(Span(a["start"], a["end"]), Span(since, until)) for a in p["absences"] or ()):
            missing.append(name)
        if node in (p["isr"] or p["replicas"] or ()) and any(
            overlap(Span(w["start"], w["end"]), Span(since, until)) for w in p["offline"] or ()
        ):
            leaderless.append(name)
    return missing, leaderless


def _named(partitions: Sequence[Name]) -> tuple[str, ...]:
    return tuple(f"{topic}-{partition}" for topic, partition in partitions)


def _second_process(node: int | None, attempts: Sequence[FailedStart], cluster: Cluster) -> Finding:
    first, last = attempts[0], attempts[-1]
    cause, locked = cause_of(first.errors, starting=True), any(e.reason == LOCKED for e in first.errors)
    return Finding(
        severity="low",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=first.at,
        end=last.end,
        cause=cause.name if cause is not None else None,
        message="second",
        values=values(
            who=who(node, cluster),
            times=len(attempts),
            period=(first.at, last.end),
            metadata_log=locked and cluster.mode == "kraft",
        ),
        evidence=quote([e for a in attempts[:2] for e in a.errors[:3]], last.errors[-1:]),
    )


READS = (ABSENCES, OFFLINE)
