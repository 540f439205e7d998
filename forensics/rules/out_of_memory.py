"""out-of-memory: ran out of memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, quote


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, errors in failures(cluster.of("out-of-memory")):
        yield _finding(node, errors, cluster)


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    who = named_node(node, cluster)
    detail = next((f" ({e.value})" for e in errors if e.value), "")
    return Finding(
        kind="out-of-memory",
        severity="high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=errors[-1].at,
        summary=f"{who} ran out of memory{detail}",
        explanation=f"{who[0].upper()}{who[1:]} ran out of memory{detail} {span(errors)}. The JVM ended, or continued without the threads that failed; such a process can keep its session while it does not serve requests.",
        next_steps=(
            "Restart the process: a JVM that ran out of memory may have lost threads.",
            "Raise the memory that the error names: `Java heap space` is KAFKA_HEAP_OPTS, `Direct buffer memory` is -XX:MaxDirectMemorySize, `unable to create native thread` is the limit of processes (`ulimit -u`), `Map failed` is vm.max_map_count.",
            "Set -XX:+ExitOnOutOfMemoryError, so that a broker that runs out of memory ends and the other brokers take over.",
        ),
        evidence=quote(errors[:5], errors[-1:]),
    )


RULE = Rule(
    kind="out-of-memory",
    rank=281,
    level="high",
    meaning="The JVM of a broker or controller could not allocate memory.",
    benign=("A client that runs out of memory prints this in its own log.",),
    cluster=detect,
    many=Aggregation(key=lambda f: f.brokers),
    root="ran out of memory",
)
