"""Files of another cluster that were given in the same call, so that they have to be set aside.

Here: dividing the files by directories with one cluster id each, and deciding whether these are two clusters. Not here: clusters that
followed each other on the same brokers (cluster_history), or a single broker with the disks of another cluster (rules.cluster_id_mismatch).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations

from forensics.model.cluster.facts import SetAside, Source

LEAST_NODES = 2
"""Nodes of a cluster that has no node in common with the other: a single one may be a broker with the wrong disks."""


def unrelated(sources: Sequence[Source], ids: Iterable[tuple[str, str]], nodes: Mapping[str, Collection[int]]) -> tuple[SetAside, ...]:
    """The clusters other than the largest one. `ids`: paths of files, each with a cluster id in it; `nodes`: the nodes that a log names as its
    writers. Nothing if the files cannot be divided, or if their clusters may have followed each other on the same brokers."""
    named: dict[str, set[str]] = defaultdict(set)
    for path, cluster_id in ids:
        named[path].add(cluster_id)
    parts = _divided([s.path for s in sources], named)
    if len(parts) < 2:
        return ()
    by_path = {s.path: s for s in sources}
    found = {cluster_id: [by_path[path] for path in paths] for cluster_id, paths in parts.items()}
    main = max(found, key=lambda i: (sum(s.lines or 0 for s in found[i]), sum(s.bytes or 0 for s in found[i]), i))
    others = [i for i in sorted(found) if i != main and _at_once(found[main], found[i], nodes)]
    return tuple(SetAside("cluster", tuple(s.path for s in found[i]), i) for i in others)


def _divided(paths: Sequence[str], ids: Mapping[str, set[str]], depth: int = 0) -> dict[str, list[str]]:
    """The paths by cluster id, divided at the highest directories that have one cluster id each. Paths without an id are in none; empty if a
    file has several, or if no directories are like that."""
    children: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        children[path.split("/", depth + 1)[depth] if path.count("/") > depth else path].append(path)
    found: dict[str, list[str]] = defaultdict(list)
    for own in children.values():
        here = {i for path in own for i in ids.get(path, ())}
        if len(here) == 1:
            found[here.pop()] += own
        elif here and len(children) > 1:
            return {}
        elif here:
            return _divided(own, ids, depth + 1) if own[0].count("/") > depth else {}
    return found


def _at_once(one: Sequence[Source], other: Sequence[Source], nodes: Mapping[str, Collection[int]]) -> bool:
    """Whether two clusters ran at the same time, and not on the same brokers."""
    spans = [_spans(own, nodes) for own in (one, other)]
    common = spans[0].keys() & spans[1].keys()
    if common:
        return any(_overlap(spans[0][n], spans[1][n]) for n in common)
    whole = [(min(b for b, _ in own.values()), max(e for _, e in own.values())) for own in spans if len(own) >= LEAST_NODES]
    return len(whole) == 2 and all(_overlap(a, b) for a, b in combinations(whole, 2))


Span = tuple[datetime, datetime]


def _spans(sources: Sequence[Source], nodes: Mapping[str, Collection[int]]) -> dict[int, Span]:
    """By node, the time of its logs."""
    spans: dict[int, Span] = {}
    for s in sources:
        if s.first is not None and s.last is not None and len(nodes.get(s.path, ())) == 1:
            (node,) = nodes[s.path]
            begin, end = spans.get(node, (s.first, s.last))
            spans[node] = min(begin, s.first), max(end, s.last)
    return spans


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
