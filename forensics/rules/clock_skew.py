"""clock-skew: the clock of a node was wrong.

Here: the texts for a clock error that exceeds its uncertainty, for a clock that was set back, and for lines with other dates than records.
Not here: the estimate (forensics.model.clock.clocks). A time zone other than UTC is not an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from forensics.model.clock.clocks import Clock
from forensics.model.clock.comparisons import BUSY_MS
from forensics.model.clock.sources import Source
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.coverage.log_coverage import doubtful_reference
from forensics.model.findings import Evidence, Finding, quote
from forensics.model.message import said, values
from forensics.model.times import grouped
from forensics.thresholds import HARMFUL_SKEW_MS, JOINED_SHARE, MIN_SKEW_MS, SAME_STEP


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in cluster.nodes.values():
        clock = node.clock
        # if it is unknown which clock is wrong, the error need not exceed the uncertainty
        if clock.basis != "given" and abs(clock.skew_ms) >= max(MIN_SKEW_MS, 0 if clock.disputed else clock.uncertainty_ms or 0):
            yield _finding(node, cluster)
        if steps := _steps_back(node, cluster):
            yield _set_back(node, steps, unsorted=any(s.unsorted for s in cluster.sources_of(node.id)))
    by_days = grouped((node.clock.days, node) for node in cluster.nodes.values() if node.clock.days)
    yield from (_dates(days, nodes) for days, nodes in sorted(by_days.items()))
    conflicting = {id(e): e for node in cluster.nodes.values() for e in node.clock.conflict}
    if brokers := tuple(node.id for node in cluster.nodes.values() if node.clock.conflict):
        yield Finding(confidence="possible", brokers=brokers, message="conflict", evidence=quote(conflicting.values()))


def _dates(days: int, nodes: Sequence[Node]) -> Finding:
    """Lines with other dates than the records about the same events."""
    return Finding(
        severity="medium",
        confidence="probable",
        brokers=tuple(node.id for node in nodes),
        message="dates",
        values=values(days=abs(days), later=days > 0),
        evidence=quote(*(node.clock.evidence for node in nodes)),
    )


def _steps_back(node: Node, cluster: Cluster) -> list[tuple[timedelta, Source, int, datetime]]:
    """The steps of the clock in the node's logs, the largest first: size, log, line and the time before."""
    logs = (s for s in cluster.sources_of(node.id) if s.kind.endswith("-log") and s.clock_set_back)
    found = [(before - after, s, line, before) for s in logs for line, before, after in s.steps_back]
    return sorted(found, key=lambda step: (-step[0], step[3], step[1].path))


def _set_back(node: Node, steps: Sequence[tuple[timedelta, Source, int, datetime]], *, unsorted: bool) -> Finding:
    """`unsorted`: another log of the node has lines out of order."""
    size, log, line, before = steps[0]
    seen_twice = any(s.path != log.path and abs(at - before) <= size + SAME_STEP for _, s, _, at in steps[1:])
    joined = log.first is not None and before - size < log.first + (before - log.first) * JOINED_SHARE
    return Finding(
        severity="medium" if size >= timedelta(milliseconds=HARMFUL_SKEW_MS) else "info",
        confidence="possible" if joined or unsorted else "certain" if seen_twice else "probable",
        brokers=(node.id,),
        start=before,
        message="set-back",
        values=values(
            seconds=size.total_seconds(),
            line=line,
            path=log.path,
            alone=not seen_twice and not joined,
            joined=joined,
            unsorted=unsorted,
            others=len(steps) - 1 or None,
        ),
        evidence=tuple(
            Evidence(s.path, n, None, f"the time goes back by {by.total_seconds():,.1f} s at this line") for by, s, n, _ in steps[:4]
        ),
    )


def _finding(node: Node, cluster: Cluster) -> Finding:
    clock = node.clock
    uncertainty = _uncertainty(clock)
    return Finding(
        severity="medium" if abs(clock.skew_ms) >= HARMFUL_SKEW_MS else "info",
        confidence="possible"
        if doubtful_reference(node.id, cluster) is not None
        else "certain"
        if uncertainty and (clock.uncertainty_ms or 0) < BUSY_MS
        else "probable",
        brokers=(node.id,),
        values=values(
            seconds=abs(clock.skew_ms) / 1000,
            uncertainty=uncertainty,
            ahead=clock.skew_ms > 0,
            compared=tuple(clock.compared),
            basis=tuple(said(f"clock-skew/{key}") for key in clock.basis.split("+") if key in _BASIS),
            disputed=clock.disputed,
            offset=f"{clock.skew_ms / 1000:+.1f}",
        ),
        evidence=quote(clock.evidence) or _files(node.id, cluster),
    )


def _uncertainty(clock: Clock) -> float | None:
    """In seconds."""
    return None if clock.uncertainty_ms is None or clock.disputed else max(clock.uncertainty_ms, 100) / 1000


_BASIS = frozenset({"given", "start", "container", "mtime", "metadata", "events"})
"""What a clock's error is known from: each has a phrase."""


def _files(node: int, cluster: Cluster) -> tuple[Evidence, ...]:
    """The logs whose last lines and modification times differ by the error."""
    logs = [s for s in cluster.sources_of(node) if s.last is not None and s.modified is not None and s.kind.endswith("-log")]
    return tuple(
        Evidence(s.path, s.lines, None, f"last line at {s.last} after correction, file modified at {s.modified}") for s in logs[:3]
    )
