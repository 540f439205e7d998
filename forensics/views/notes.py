"""Notes at the top of a report: what a reader must know before the verdict, one line each.

Here: the lines, the same in every format. Not here: gaps of the evidence (the findings of evidence-gap), or the verdict (headline).
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import commonpath

from forensics.model.clock.clocks import Clock
from forensics.model.clock.zones import MINUTE_MS
from forensics.model.cluster.facts import Cluster
from forensics.model.times import grouped
from forensics.words.formats import brokers_named, counted, some

MIN_LINES = 5
"""Shorter logs without a broker are not worth a line."""


def notes(cluster: Cluster) -> list[str]:
    """The lines, the most important first."""
    return [
        *_contradicted_zones(cluster),
        *_set_aside(cluster),
        *_of_no_broker(cluster),
        *_earlier_clusters(cluster),
        *after_earlier_clusters(cluster),
        *_redacted(cluster),
    ]


def _contradicted_zones(cluster: Cluster) -> Iterator[str]:
    """Nodes whose own times contradict --timezone."""
    by_zone = grouped(
        ((node.clock.zone, Clock.at_offset(node.clock.shown_zone * MINUTE_MS).zone), node.id)
        for node in cluster.nodes.values()
        if node.clock.shown_zone is not None
    )
    for (given, shown), nodes in by_zone.items():
        yield (
            f"--timezone ({given}) contradicts the evidence: times in UTC that the files of {brokers_named(nodes).replace('broker', 'node')} contain "
            f"show {shown}. The times and durations below are wrong if the evidence is right. Run the command again without --timezone."
        )


_ASIDE = {
    "sample": ("configuration file", "that no broker was started with"),
    "copy": ("file", "renamed beside others of the same kind"),
    "quotation": ("file", "quoting lines from times that the logs of their broker cover"),
}


def _set_aside(cluster: Cluster) -> Iterator[str]:
    for other in cluster.excluded:
        if other.why != "cluster":
            what, clause = _ASIDE[other.why]
            were = "was" if len(other.paths) == 1 else "were"
            yield f"{counted(len(other.paths), what)} {clause} {were} set aside: {some(other.paths)}."
            continue
        directory = commonpath([path.rpartition("/")[0] for path in other.paths]) or "."
        yield (
            f"{counted(len(other.paths), 'file')} of another cluster (id {other.cluster_id}) were set aside: {directory}. "
            "Analyze that cluster in a call of its own."
        )


def _of_no_broker(cluster: Cluster) -> Iterator[str]:
    """Logs of clients, of ZooKeeper or of other services next to those of brokers, and broker logs in an unknown layout."""
    exports = {s.path.partition("#")[0] for s in cluster.sources if "#" in s.path}
    paths = [
        s.path
        for s in cluster.sources
        if s.kind in ("other-log", "stdout-log") and not s.nodes and s.path not in exports and (s.lines or 0) >= MIN_LINES
    ]
    if paths and any(s.nodes for s in cluster.sources if s.kind.endswith("-log")):
        yield f"{counted(len(paths), 'log')} that {'names' if len(paths) == 1 else 'name'} no broker {'was' if len(paths) == 1 else 'were'} not assigned to any broker: {some(paths)}."


def _earlier_clusters(cluster: Cluster) -> Iterator[str]:
    if cluster.ended:
        others = len(cluster.ended)
        named = f"id {cluster.id}" if cluster.id is not None else "id unknown"
        yield (
            f"This report is about the last cluster ({named}). {counted(others, 'earlier cluster')} ran on these brokers, "
            f"and {'their findings are' if others > 1 else 'its findings are'} marked [-1]{' and so on' if others > 1 else ''}."
        )


def after_earlier_clusters(cluster: Cluster) -> Iterator[str]:
    """What the verdict does not cover: the storage of a cluster that ended may have been formatted, or used by the next one."""
    if cluster.ended:
        many = len(cluster.ended) > 1
        named = some([c.id if c.id is not None else "with an unknown id" for c in cluster.ended])
        yield f"The verdict does not cover what became of the records of the earlier cluster{'s' if many else ''} {named} after {'they' if many else 'it'} ended."


def _redacted(cluster: Cluster) -> Iterator[str]:
    if cluster.redacted:
        yield "The evidence was redacted: names in this report are not the real ones."
