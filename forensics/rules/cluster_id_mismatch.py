"""cluster-id-mismatch: a broker was refused because its disks belong to another cluster.

Here: the ids, and what to do before anything is deleted. Not here: how often the broker was started in vain, and disks of another broker
(start_failed).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_starts import up_again
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, moment, quote, raw


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    refused: dict[int, list[Event]] = defaultdict(list)
    for e in cluster.of("cluster-id-mismatch"):
        if e.writer is not None:
            refused[e.writer].append(e)
    named = {node for node, own in refused.items() if any(e.key is None for e in own)}
    for node, own in sorted(refused.items()):
        if node in named or not named:
            for same_ids in _by_ids(own):
                yield _finding(node, same_ids, cluster)


def _by_ids(own: Sequence[Event]) -> Iterator[list[Event]]:
    """Refusals grouped by their ids; a line without ids belongs to the previous group."""
    groups: dict[tuple[str | None, str | None], list[Event]] = {}
    last: tuple[str | None, str | None] = (None, None)
    for e in own:
        last = (e.value, e.reason) if e.value or e.reason else last
        groups.setdefault(last, []).append(e)
    unnamed = groups.pop((None, None), []) if len(groups) > 1 else []
    for number, group in enumerate(groups.values()):
        yield [*unnamed, *group] if number == 0 else group


def _finding(node: int, own: Sequence[Event], cluster: Cluster) -> Finding:
    first, last = own[0], own[-1]
    ids = next((f" (expected: {e.value}; on its disk: {e.reason})" for e in own if e.value and e.reason), "")
    elsewhere = first.key is not None
    who = f"a broker that registered with node {node}" if elsewhere else f"broker {node}"
    back = up_again(node, last.at, cluster) if not elsewhere else None
    return raw(
        kind="cluster-id-mismatch",
        severity="high",
        confidence="certain",
        brokers=() if elsewhere else (node,),
        start=first.at,
        end=back.at if back is not None else None,
        summary=f"{who} was refused: its disks belong to another cluster"
        + (f"; it started successfully at {moment(back.at)}" if back is not None else ""),
        explanation=(
            f"At {moment(first.at)} {who} was refused, because meta.properties on its disks names another cluster "
            f"than the one that it tried to join{ids}. Possible causes: the state in ZooKeeper or of the quorum was wiped or replaced, zookeeper.connect or "
            "controller.quorum.voters points to another cluster, or the disks were swapped. "
            + (
                f"{capital(who)} was up at {moment(back.at)}."
                if back is not None
                else "No later successful start of the broker is in evidence."
            )
        ),
        next_steps=(
            "Do not delete meta.properties to make the broker start before it is known which side is wrong: in a cluster that does not know its "
            "partitions, the broker leaves them orphaned, and may truncate or delete them.",
            "Compare cluster.id in meta.properties of all brokers with /cluster/id in ZooKeeper or with the controllers' meta.properties.",
        ),
        evidence=quote(own[:2], last, back),
    )
