"""Notes at the top of a report: what a reader must know before the verdict, one line each.

Here: the lines, the same in every format. Not here: gaps of the evidence (the findings of evidence-gap), or the verdict (headline).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from forensics.model.cluster.clocks import Clock
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.zones import MINUTE_MS
from forensics.model.findings import brokers_named, counted


def notes(cluster: Cluster) -> list[str]:
    """The lines, the most important first."""
    return [*_contradicted_zones(cluster), *_earlier_clusters(cluster), *_redacted(cluster)]


def _contradicted_zones(cluster: Cluster) -> Iterator[str]:
    """Nodes whose own times contradict --timezone."""
    by_zone: dict[tuple[str, str], list[int]] = defaultdict(list)
    for node in cluster.nodes.values():
        if node.clock.shown_zone is not None:
            by_zone[node.clock.zone, Clock.at_offset(node.clock.shown_zone * MINUTE_MS).zone].append(node.id)
    for (given, shown), nodes in by_zone.items():
        yield (
            f"--timezone ({given}) contradicts the evidence: times in UTC that the files of {brokers_named(nodes).replace('broker', 'node')} contain "
            f"show {shown}. The times and durations below are wrong if the evidence is right. Run the command again without --timezone."
        )


def _earlier_clusters(cluster: Cluster) -> Iterator[str]:
    if cluster.ended:
        others = len(cluster.ended)
        named = f"id {cluster.id}" if cluster.id is not None else "id unknown"
        yield (
            f"This report is about the last cluster ({named}). {counted(others, 'earlier cluster')} ran on these brokers, "
            f"and {'their findings are' if others > 1 else 'its findings are'} marked [-1]{' and so on' if others > 1 else ''}."
        )


def _redacted(cluster: Cluster) -> Iterator[str]:
    if cluster.redacted:
        yield "The evidence was redacted: names in this report are not the real ones."
