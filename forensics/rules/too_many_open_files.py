"""too-many-open-files: a process had reached its limit of open files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, quote, raw
from forensics.model.partition.crash_times import FACTS, CrashTimes


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for node, errors in failures(e for e in cluster.of("log-file-refused") if e.reason == "handles"):
        yield _finding(node, errors, cluster, times)


def _accepts(node: int | None, errors: Sequence[Event], cluster: Cluster) -> bool:
    """Whether connections were refused because of it."""
    first, last = errors[0].at, errors[-1].last_at
    near = (e for e in cluster.of("network-thread-error") if e.writer == node and e.reason == "accept" and e.at is not None)
    return any(first is not None and last is not None and first <= e.at <= last for e in near if e.at is not None)


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster, times: CrashTimes) -> Finding:
    who, file = named_node(node, cluster), next((f" ({e.value})" for e in errors if e.value), "")
    refused = _accepts(node, errors, cluster)
    return raw(
        kind="too-many-open-files",
        severity="high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=errors[-1].last_at,
        summary=f"{who} had too many open files{file}" + (", and could not accept connections" if refused else ""),
        explanation=" ".join(
            (
                f"{capital(who)} had too many open files{file} {span(errors)}.",
                "A broker needs a file descriptor for each connection and at least two for each segment.",
                f"{capital(who)} could not accept connections."
                if refused
                else "Without a free one it refuses connections, and a log directory can go offline.",
                *(times.meanwhile(node, errors[0].at, errors[-1].last_at) if node is not None else ()),
            )
        ),
        next_steps=(
            f"Raise the limit of open files of {who} (`ulimit -n`, or LimitNOFILE in systemd) to 100000 or more, and restart {who}.",
            "Compare `ls /proc/PID/fd | wc -l` of the broker with the number of its connections (`ss -tn`) and segments, to find whether clients open connections without closing them.",
        ),
        evidence=quote(errors[:5], errors[-1:]),
    )


READS = FACTS
