"""registration-refused: a running broker could not register in ZooKeeper again, so it does not belong to the cluster any more.

Here: registrations after an expired session. Not here: registrations that fail at a start (start_failed), sessions that expire and are
renewed (broker_fenced).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_starts import failed_starts
from forensics.model.cluster.process_errors import failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, moment, quote, raw
from forensics.model.partition.crash_times import FACTS, CrashTimes
from forensics.thresholds import SAME_FENCING

_EXISTS = ", node already exists"
_START_ENDS = timedelta(minutes=1)
"""A start ends within this time after its registration was refused."""


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for node, errors in failures((e for e in cluster.of("registration-refused") if not _of_start(e, cluster)), _taken):
        back = cluster.next_of(node, errors[-1].at, "broker-registered", "broker-starting") if node is not None else None
        if not _at_once(errors[-1], back):
            yield _finding(node, errors, back, cluster, times)


def _taken(error: Event) -> bool:
    """Whether the znode belonged to another session; else the own session ended before the znode was created (CheckedEphemeral)."""
    return (error.value or "").startswith(_EXISTS)


def _at_once(last: Event, back: Event | None) -> bool:
    """Whether the next session of the broker registered at once: that belongs to the expiry of the session before."""
    return back is not None and back.at is not None and last.at is not None and back.at - last.at <= SAME_FENCING


def _of_start(error: Event, cluster: Cluster) -> bool:
    ends = (e.at for attempt in failed_starts(cluster).get(error.writer, ()) for e in attempt.errors)
    return any(at is not None and error.at is not None and timedelta(0) <= at - error.at <= _START_ENDS for at in ends)


def _finding(node: int | None, errors: Sequence[Event], back: Event | None, cluster: Cluster, times: CrashTimes) -> Finding:
    who, first, last = named_node(node, cluster), errors[0], errors[-1]
    taken, detail = _taken(first), (first.value or "").removeprefix(_EXISTS).removeprefix(" and").strip()
    return raw(
        kind="registration-refused",
        severity="high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=first.at,
        end=back.at if back is not None else None,
        cause="znode-taken" if taken else None,
        summary=f"{who} could not register in ZooKeeper again"
        + (", because the znode of an older session still existed" if taken else f" ({detail})")
        + (f", until {moment(back.at)}" if back is not None else ""),
        explanation=" ".join(
            (
                f"{capital(who)} could not register in ZooKeeper {span(errors)}"
                + (f": its znode in /brokers/ids belonged to another session ({detail})." if taken else f" ({detail})."),
                f"The process of {who} runs, but the controller does not know it: it leads nothing, and its replicas leave the ISRs.",
                *(times.meanwhile(node, first.at, last.at) if node is not None else ()),
                *((f"{capital(who)} registered, or was started again, at {moment(back.at)}.",) if back is not None else ()),
            )
        ),
        next_steps=(
            f"Check with `zookeeper-shell.sh` that no other broker has the id of {who}. If none has, restart {who}: a start waits until the old session has expired.",
            "Upgrade to 2.2 or later: from there on a broker replaces the znode of its own older session (KAFKA-7165), unless it never learned of that session (KAFKA-14845).",
        )
        if taken
        else (f"Check that {who} reaches ZooKeeper, and restart {who}.",),
        evidence=quote(errors[:4], last, back),
    )


READS = FACTS
