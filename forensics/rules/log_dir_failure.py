"""log-dir-failure: a log directory went offline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model import Finding, Rule, moment, quote
from spark.cluster import Cluster
from spark.events import Event


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    groups: dict[tuple[int | None, str | None], list[Event]] = {}
    for event in cluster.of("log-dir-offline"):
        broker = event.broker if event.broker is not None else event.writer
        groups.setdefault((broker, event.directory), []).append(event)
    for (broker, directory), events in sorted(groups.items(), key=lambda g: (str(g[0][0]), str(g[0][1]))):
        own = [e for e in events if e.writer == broker]
        if not own and any(k[0] == broker and k[1] != directory for k in groups):
            continue
        yield _finding(broker, directory, own or events)


def _finding(broker: int | None, directory: str | None, events: list[Event]) -> Finding:
    first = events[0]
    where = directory or "a log directory"
    return Finding(
        kind="log-dir-failure",
        severity="high",
        confidence="certain",
        brokers=(broker,) if broker is not None else (),
        start=first.at,
        summary=f"broker {broker}: log directory {where} went offline",
        explanation=(
            f"At {moment(first.at)} broker {broker} took {where} offline after an I/O error. Its replicas there stopped at once; the broker goes on "
            "with its other directories (KIP-112). The replicas come back only with a restart on a working disk; on an empty disk they are copied anew."
        ),
        next_steps=(
            "Look at the disk: full, read-only, or failing (dmesg).",
            "Before the disk is replaced, make sure that every partition on it has another in-sync replica: copy what has none.",
        ),
        evidence=quote(events),
    )


RULE = Rule(
    kind="log-dir-failure",
    level="high",
    meaning="A log directory failed; the broker serves on without it.",
    references=("KIP-112", "KIP-858"),
    cluster=judge,
)
