"""cluster-id-mismatch: a broker was refused because its disks belong to another cluster.

Here: the ids, and what to do before anything is deleted. Not here: how often the broker was started in vain, and disks of another broker
(start_failed).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import said, values
from forensics.model.presence.failed_starts import up_again
from forensics.model.presence.process_errors import who
from forensics.model.times import grouped


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    refused = grouped((e.writer, e) for e in cluster.of("cluster-id-mismatch") if e.writer is not None)
    named = {node for node, own in refused.items() if any(e.key is None for e in own)}
    for node, own in sorted(refused.items()):
        if node in named or not named:
            yield from (_finding(node, same_ids, cluster) for same_ids in _by_ids(own))


def _by_ids(own: Sequence[Event]) -> Iterator[list[Event]]:
    """Refusals grouped by their ids; a line without ids belongs to the previous group."""
    groups: dict[tuple[str | None, str | None], list[Event]] = {}
    last: tuple[str | None, str | None] = (None, None)
    for e in own:
        last = (e.value, e.reason) if e.value or e.reason else last
        groups.setdefault(last, []).append(e)
    unnamed = groups.pop((None, None), []) if len(groups) > 1 else []
    yield from ([*unnamed, *group] if number == 0 else group for number, group in enumerate(groups.values()))


def _finding(node: int, own: Sequence[Event], cluster: Cluster) -> Finding:
    first, last = own[0], own[-1]
    expected, stored = next(((e.value, e.reason) for e in own if e.value and e.reason), (None, None))
    elsewhere = first.key is not None
    back = up_again(node, last.at, cluster) if not elsewhere else None
    return Finding(
        confidence="certain",
        brokers=() if elsewhere else (node,),
        start=first.at,
        end=back.at if back is not None else None,
        values=values(
            who=said("cluster-id-mismatch/elsewhere", node=node) if elsewhere else who(node, cluster),
            expected=expected,
            stored=stored,
            back=back.at if back is not None else None,
        ),
        evidence=quote(own[:2], last, back),
    )
