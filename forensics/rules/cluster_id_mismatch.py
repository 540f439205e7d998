"""cluster-id-mismatch: a broker was refused because its disks are another cluster's, or another broker's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model import Finding, Rule, moment, quote
from spark.cluster.facts import Cluster
from spark.events import Event


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    refused: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for e in cluster.of("cluster-id-mismatch", "broker-id-mismatch"):
        if e.writer is not None:
            refused[(e.event, e.writer)].append(e)
    named = {node for (_, node), own in refused.items() if any(e.key is None for e in own)}
    for (event, node), own in sorted(refused.items()):
        if any(e.key is None for e in own) or not named:
            for told in _by_ids(own):
                yield _finding(event, node, told, cluster)


def _by_ids(own: Sequence[Event]) -> Iterator[list[Event]]:
    """Refusals over other ids are other mistakes; a line that names none is of those before it."""
    groups: dict[tuple[str | None, str | None], list[Event]] = {}
    last: tuple[str | None, str | None] = (None, None)
    for e in own:
        last = (e.value, e.reason) if e.value or e.reason else last
        groups.setdefault(last, []).append(e)
    unnamed = groups.pop((None, None), []) if len(groups) > 1 else []
    for number, group in enumerate(groups.values()):
        yield [*unnamed, *group] if number == 0 else group


def _finding(event: str, node: int, own: Sequence[Event], cluster: Cluster) -> Finding:
    first, last = own[0], own[-1]
    told = next((e for e in own if e.value and e.reason), None)
    what = "another cluster's" if event == "cluster-id-mismatch" else "another broker's"
    elsewhere = first.key is not None
    who = f"a broker that registered with node {node}" if elsewhere else f"broker {node}"
    back = cluster.next_of(node, last.at, "broker-started") if not elsewhere else None
    ids = f" (it was to join {told.value}; its disk is of {told.reason})" if told is not None else ""
    return Finding(
        kind="cluster-id-mismatch",
        severity="high",
        confidence="certain",
        brokers=() if elsewhere else (node,),
        start=first.at,
        end=back.at if back is not None else None,
        summary=f"{who} was refused: its disks are {what}" + (f"; it came up at {moment(back.at)}" if back is not None else ""),
        explanation=(
            f"At {moment(first.at)} {who} was not let in, because meta.properties on its disks names {'a cluster' if event == 'cluster-id-mismatch' else 'a broker'} "
            f"other than the one it was started as{ids}. Either the state in ZooKeeper or of the quorum was wiped or replaced, zookeeper.connect or "
            "controller.quorum.voters points elsewhere, or the disks were swapped. "
            + ("It was started again and came up later." if back is not None else "No later start of it is in evidence.")
        ),
        next_steps=(
            "Do not delete meta.properties to make it start before it is known which side is wrong: a broker that joins a cluster that does not know its "
            "partitions leaves them orphaned, and may cut or delete them.",
            "Compare cluster.id in meta.properties of all brokers with /cluster/id in ZooKeeper or with the controllers' meta.properties.",
        ),
        evidence=quote(own[:2], last, back),
    )


RULE = Rule(
    kind="cluster-id-mismatch",
    rank=60,
    level="high",
    meaning="A broker was refused because meta.properties on its disks names another cluster or another broker.",
    next_steps=("Find out which side is wrong before anything is deleted.",),
    references=("KIP-78", "KAFKA-7335", "KAFKA-15514"),
    cluster=judge,
)
