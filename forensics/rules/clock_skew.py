"""clock-skew: the clock of a node was wrong.

Here: the text for a clock error that exceeds its uncertainty. Not here: the estimate (forensics.model.cluster.clocks). A time zone other than UTC
is not an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.clocks import Clock
from forensics.model.cluster.comparisons import BUSY_MS
from forensics.model.cluster.facts import Cluster, Node, Source
from forensics.model.findings import Evidence, Finding, Rule, brokers_named, quote
from forensics.thresholds import HARMFUL_SKEW_MS, MIN_SKEW_MS

_BASIS = {
    "given": "it was given on the command line",
    "start": "its own lines show the UTC time at which its process started",
    "container": "the timestamps that a container runtime put in front of its lines show its zone",
    "mtime": "its logs' modification times and their last lines were compared",
    "metadata": "records of the metadata log were compared with its own lines about them",
    "events": "events that it and another node printed were compared",
}


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in cluster.nodes.values():
        clock = node.clock
        if clock.basis != "given" and abs(clock.skew_ms) >= max(MIN_SKEW_MS, _bound(clock)):
            yield _finding(node, cluster)


def _bound(clock: Clock) -> int:
    """The uncertainty that the error must exceed; 0 if it is unknown which clock is wrong."""
    return 0 if clock.disputed else clock.uncertainty_ms or 0


def _finding(node: Node, cluster: Cluster) -> Finding:
    clock = node.clock
    seconds = abs(clock.skew_ms) / 1000
    direction = "ahead" if clock.skew_ms > 0 else "behind"
    doubt = f"{max(clock.uncertainty_ms, 100) / 1000:.1f} s" if clock.uncertainty_ms is not None and not clock.disputed else None
    others = brokers_named(clock.compared).replace("broker", "node") if clock.compared else "the file system's clock"
    basis = "; ".join(words for key in clock.basis.split("+") if (words := _BASIS.get(key)))
    return Finding(
        kind="clock-skew",
        severity="medium" if abs(clock.skew_ms) >= HARMFUL_SKEW_MS else "info",
        confidence="certain" if doubt and (clock.uncertainty_ms or 0) < BUSY_MS else "probable",
        brokers=(node.id,),
        summary=f"the clock of node {node.id} was {seconds:.1f} s{f' ± {doubt}' if doubt else ''} {direction}",
        explanation=(
            f"The clock of node {node.id} was about {seconds:.1f} s {'ahead of' if clock.skew_ms > 0 else 'behind'} that of {others}"
            f"{f' ({basis})' if basis else ''}. "
            f"{_dispute(node.id, clock)}"
            f"Times in this report are corrected for it; its raw lines show a time that is {seconds:.1f} s too "
            f"{'late' if clock.skew_ms > 0 else 'early'}. Where no epoch determines the order of its lines and those of other nodes, the order is "
            f"{f'known to within {doubt}' if doubt else 'less certain'}."
        ),
        next_steps=(
            f"Check time synchronisation (chronyc tracking, ntpq -p) on node {node.id}"
            f"{' and on ' + others if clock.disputed else ''}; if the error is known better, give it as in "
            f"--clock-offset {node.id}={clock.skew_ms / 1000:+.1f}.",
        ),
        evidence=quote(clock.evidence) or _files(node.id, cluster),
    )


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


RULE = Rule(
    kind="clock-skew",
    rank=500,
    level="info",
    meaning="A clock was wrong by more than the uncertainty of its estimate; times are corrected, raw lines are not.",
    benign=("A time zone other than UTC is not an error: zones differ by whole quarters of an hour.",),
    cluster=detect,
    of_evidence=True,
)
