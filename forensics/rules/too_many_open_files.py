"""too-many-open-files: had too many open files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, quote


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, errors in failures(e for e in cluster.of("log-file-refused") if e.reason == "handles"):
        yield _finding(node, errors, cluster)


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    who = named_node(node, cluster)
    detail = next((f" ({e.value})" for e in errors if e.value), "")
    return Finding(
        kind="too-many-open-files",
        severity="high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=errors[-1].at,
        summary=f"{who} had too many open files{detail}",
        explanation=f"{who[0].upper()}{who[1:]} had too many open files{detail} {span(errors)}. A broker needs a file descriptor for each connection and at least two for each segment. Without a free one it refuses connections, and a log directory can go offline.",
        next_steps=(
            "Raise the limit of open files of the broker (`ulimit -n`, or LimitNOFILE in systemd) to 100000 or more, and restart the broker.",
            "Compare `ls /proc/PID/fd | wc -l` with the number of connections and segments, to find whether clients open connections without closing them.",
        ),
        evidence=quote(errors[:5], errors[-1:]),
    )


RULE = Rule(
    kind="too-many-open-files",
    rank=287,
    level="high",
    meaning="A process could not open a file or accept a connection, because it had reached its limit of open files.",
    benign=("A limit that only one connection attempt reached has no lasting effect.",),
    cluster=detect,
    many=Aggregation(key=lambda f: f.brokers),
    root="had too many open files",
)
