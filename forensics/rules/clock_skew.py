"""clock-skew: the clock of a node was wrong.

Here: the texts for a clock error that exceeds its uncertainty, and for a clock that was set back. Not here: the estimate (forensics.model.cluster.clocks). A time zone other than UTC
is not an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from forensics.model.cluster.clocks import Clock
from forensics.model.cluster.comparisons import BUSY_MS
from forensics.model.cluster.facts import Cluster, Node, Source
from forensics.model.findings import Evidence, Finding, brokers_named, counted, moment, quote, raw
from forensics.thresholds import HARMFUL_SKEW_MS, MIN_SKEW_MS, SAME_STEP


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in cluster.nodes.values():
        clock = node.clock
        if clock.basis != "given" and abs(clock.skew_ms) >= max(MIN_SKEW_MS, _bound(clock)):
            yield _finding(node, cluster)
        if steps := _steps_back(node, cluster):
            yield _set_back(node, steps)


def _steps_back(node: Node, cluster: Cluster) -> list[tuple[timedelta, Source, int, datetime]]:
    """The steps of the clock in the node's logs, the largest first: size, log, line and the time before."""
    logs = (s for s in cluster.sources_of(node.id) if s.kind.endswith("-log") and s.clock_set_back)
    found = [(before - after, s, line, before) for s in logs for line, before, after in s.steps_back]
    return sorted(found, key=lambda step: (-step[0], step[3], step[1].path))


def _set_back(node: Node, steps: Sequence[tuple[timedelta, Source, int, datetime]]) -> Finding:
    size, log, line, before = steps[0]
    seconds = f"{size.total_seconds():,.1f} s"
    others = f" Its logs show {counted(len(steps) - 1, 'more step')} of at most this size." if len(steps) > 1 else ""
    seen_twice = any(s.path != log.path and abs(at - before) <= size + SAME_STEP for _, s, _, at in steps[1:])
    joined = log.first is not None and before - size < log.first
    late = "" if seen_twice else " One log alone does not prove it: a process that was suspended may print a line with an earlier time."
    if joined:
        late = (
            " This line is also earlier than the first line of the log, so the log may consist of parts that were joined in another order."
        )
    return raw(
        kind="clock-skew",
        severity="medium" if size >= timedelta(milliseconds=HARMFUL_SKEW_MS) else "info",
        confidence="possible" if joined else "certain" if seen_twice else "probable",
        brokers=(node.id,),
        start=before,
        summary=f"the clock of node {node.id} was set back by about {seconds} at {moment(before)}",
        explanation=(
            f"Line {line} of {log.path} is {seconds} earlier than the line before it, although Kafka writes lines in the order of time.{late}{others} "
            f"The lines of each log keep their order. The order of lines in different logs of node {node.id}, and of other nodes, is not known "
            "around this time, so claims that rely on it are at most possible."
        ),
        next_steps=(f"Check time synchronisation (chronyc tracking, journalctl -u chronyd) on node {node.id} at {moment(before)}.",),
        evidence=tuple(
            Evidence(s.path, n, None, f"the time goes back by {by.total_seconds():,.1f} s at this line") for by, s, n, _ in steps[:4]
        ),
    )


def _bound(clock: Clock) -> int:
    """The uncertainty that the error must exceed; 0 if it is unknown which clock is wrong."""
    return 0 if clock.disputed else clock.uncertainty_ms or 0


def _finding(node: Node, cluster: Cluster) -> Finding:
    clock = node.clock
    seconds = f"{abs(clock.skew_ms) / 1000:.1f} s"
    ahead = clock.skew_ms > 0
    doubt = _uncertainty(clock)
    others = brokers_named(clock.compared).replace("broker", "node") if clock.compared else "the file system's clock"
    return raw(
        kind="clock-skew",
        severity="medium" if abs(clock.skew_ms) >= HARMFUL_SKEW_MS else "info",
        confidence="certain" if doubt and (clock.uncertainty_ms or 0) < BUSY_MS else "probable",
        brokers=(node.id,),
        summary=f"the clock of node {node.id} was {seconds}{f' ± {doubt}' if doubt else ''} {'ahead' if ahead else 'behind'}",
        explanation=(
            f"The clock of node {node.id} was about {seconds} {'ahead of' if ahead else 'behind'} that of {others}{_basis(clock)}. "
            f"{_dispute(node.id, clock)}"
            f"Times in this report are corrected for this error; the raw lines of node {node.id} show a time that is {seconds} too "
            f"{'late' if ahead else 'early'}. Where no epoch determines the order of lines of node {node.id} and of other nodes, the order is "
            f"{f'known to within {doubt}' if doubt else 'less certain'}."
        ),
        next_steps=(
            f"Check time synchronisation (chronyc tracking, ntpq -p) on node {node.id}"
            f"{' and on ' + others if clock.disputed else ''}; if the error is known better, give it as in "
            f"--clock-offset {node.id}={clock.skew_ms / 1000:+.1f}.",
        ),
        evidence=quote(clock.evidence) or _files(node.id, cluster),
    )


def _uncertainty(clock: Clock) -> str | None:
    return None if clock.uncertainty_ms is None or clock.disputed else f"{max(clock.uncertainty_ms, 100) / 1000:.1f} s"


def _basis(clock: Clock) -> str:
    words = "; ".join(_BASIS[key] for key in clock.basis.split("+") if key in _BASIS)
    return f" ({words})" if words else ""


_BASIS = {
    "given": "it was given on the command line",
    "start": "its own lines show the UTC time at which its process started",
    "container": "the timestamps that a container runtime put in front of its lines show its zone",
    "mtime": "its logs' modification times and their last lines were compared",
    "metadata": "records of the metadata log were compared with its own lines about them",
    "events": "events that it and another node printed were compared",
}


def _dispute(node: int, clock: Clock) -> str:
    if not clock.disputed:
        return ""
    return f"Which clock is wrong is unknown: as many clocks agree with node {node} as with the others. "


def _files(node: int, cluster: Cluster) -> tuple[Evidence, ...]:
    """The logs whose last lines and modification times differ by the error."""
    return tuple(
        Evidence(s.path, s.lines, None, f"last line at {s.last} after correction, file modified at {s.modified}")
        for s in _logs(node, cluster.sources)[:3]
    )


def _logs(node: int, sources: Sequence[Source]) -> list[Source]:
    return [s for s in sources if node in s.nodes and s.last is not None and s.modified is not None and s.kind.endswith("-log")]
