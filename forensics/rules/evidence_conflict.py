"""evidence-conflict: a source names another broker than the place it lies in, or the evidence is of more than one cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model import Evidence, Finding, Rule, quote
from spark.cluster.facts import Cluster
from spark.events import Event

_HIVE = re.compile(r"(?:^|/)cluster(?:_id|_name)?=([^/]+)/")


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    yield from _misplaced(cluster)
    yield from _clusters(cluster)


def _clusters(cluster: Cluster) -> Iterator[Finding]:
    """Disks of two clusters, which no broker can have been in at once, or paths that name two."""
    by_id: dict[str, Event] = {}
    for event in (e for life in cluster.lives for e in life.of("log-directory-identity")):
        if event.value:
            by_id.setdefault(event.value, event)
    by_path: dict[str, str] = {}
    for source in cluster.sources:
        if (found := _HIVE.search(source.path)) is not None:
            by_path.setdefault(found[1], source.path)
    names = by_id if len(by_id) > 1 else by_path
    if len(names) < 2:
        return
    places = quote(by_id.values()) if len(by_id) > 1 else tuple(Evidence(p, None, None, f"cluster={n}") for n, p in by_path.items())
    yield Finding(
        kind="evidence-conflict",
        severity="medium",
        confidence="certain",
        summary=f"the evidence is of {len(names)} clusters ({', '.join(sorted(names))}): what is said of brokers and topics may be mixed up",
        explanation=(
            "Everything given to one run is taken for the evidence of one set of brokers. Disks with a meta.properties of their own are told apart by its "
            "cluster id; of what names no cluster, brokers of the same ids and topics of the same names are taken for one cluster's."
        ),
        next_steps=("Run the analysis once for each cluster.",),
        evidence=places,
    )


def _misplaced(cluster: Cluster) -> Iterator[Finding]:
    for conflict in cluster.conflicts:
        yield Finding(
            kind="evidence-conflict",
            severity="low",
            confidence="certain",
            brokers=(conflict.says, conflict.surroundings),
            summary=f"{conflict.path} is broker {conflict.says}'s, but lies among files of broker {conflict.surroundings}",
            explanation=(
                f"The lines of {conflict.path} name broker {conflict.says} as their writer; meta.properties or server.properties beside it belong to broker "
                f"{conflict.surroundings}. The lines were believed. A bundle put together by hand, or a disk moved to another broker, looks like this."
            ),
            next_steps=("Check where the file was collected.",),
            evidence=(
                Evidence(conflict.path, None, None, f"names broker {conflict.says}; surroundings name broker {conflict.surroundings}"),
            ),
        )


RULE = Rule(
    kind="evidence-conflict",
    rank=490,
    level="medium",
    meaning="It is not clear which broker or cluster a source belongs to.",
    cluster=judge,
    of_evidence=True,
)
