"""clock-skew: a broker's clock was wrong, and how that was seen.

Here: the words for a clock whose error is larger than what is not known of it. Not here: the estimate (spark.cluster.clocks). A zone
other than UTC is no error and no finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model import Evidence, Finding, Rule, brokers_named, quote
from spark.cluster.clocks import Clock
from spark.cluster.comparisons import BUSY_MS
from spark.cluster.facts import Cluster, Node, Source

LEAST_MS = 1_000
"""Less is lost among the delays with which brokers print what they were told."""
MEDIUM_MS = 10_000
"""Sessions and lag times out after about so much, so by uncorrected logs a cause may seem to come after its effect."""

_BASIS = {
    "given": "it was given on the command line",
    "start": "its own lines tell the UTC time at which its process began",
    "container": "the stamps that a container runtime put in front of its lines show its zone",
    "mtime": "its logs' modification times and their last lines were compared",
    "metadata": "records of the metadata log and its own lines about them were compared",
    "events": "events that it and another node printed were compared",
}


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in cluster.nodes.values():
        clock = node.clock
        if clock.basis != "given" and abs(clock.skew_ms) >= max(LEAST_MS, _bound(clock)):
            yield _finding(node, cluster)


def _bound(clock: Clock) -> int:
    """What the error must exceed; in a dispute the uncertainty is the dispute itself."""
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
        severity="medium" if abs(clock.skew_ms) >= MEDIUM_MS else "info",
        confidence="certain" if doubt and (clock.uncertainty_ms or 0) < BUSY_MS else "probable",
        brokers=(node.id,),
        summary=f"the clock of node {node.id} was {seconds:.1f} s{f' ± {doubt}' if doubt else ''} {direction}",
        explanation=(
            f"The clock of node {node.id} was about {seconds:.1f} s {'ahead of' if clock.skew_ms > 0 else 'behind'} that of {others}"
            f"{f' ({basis})' if basis else ''}. "
            f"{_dispute(node.id, clock)}"
            f"Times in this report are corrected for it; its raw lines show a time that is {seconds:.1f} s too "
            f"{'late' if clock.skew_ms > 0 else 'early'}, and the order of its lines and another node's, where no epoch tells it, is "
            f"known{f' to within {doubt}' if doubt else ' less surely'}."
        ),
        next_steps=(
            f"Check time synchronisation (chronyc tracking, ntpq -p) on node {node.id}"
            f"{' and on ' + others if clock.disputed else ''}; state the error with --clock-offset {node.id}={clock.skew_ms / 1000:+.1f} "
            "where it is known better.",
        ),
        evidence=quote(clock.evidence) or _files(node.id, cluster),
    )


def _dispute(node: int, clock: Clock) -> str:
    if not clock.disputed:
        return ""
    return f"Which of them is wrong cannot be told: as many clocks agree with node {node} as with the others. "


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
    meaning="A broker's clock was wrong by more than is uncertain about it; times are corrected, raw lines are not.",
    benign=("A zone other than UTC is no error: zones differ by whole quarters of an hour.",),
    cluster=judge,
    of_evidence=True,
)
