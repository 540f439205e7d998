"""evidence-conflict: a source names another broker than the place it lies in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model import Evidence, Finding, Rule
from spark.cluster import Cluster


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
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


RULE = Rule(kind="evidence-conflict", level="low", meaning="It is not clear which broker a source belongs to.", cluster=judge)
