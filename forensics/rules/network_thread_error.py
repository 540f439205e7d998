"""network-thread-error: a thread of the socket server failed at connections or requests.

Here: acceptors and processors that go on after an error. Not here: too many open files (too_many_open_files), memory that ran out
(out_of_memory), threads that ended (fatal_error).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import exception, failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, moment, quote, raw

_ELSEWHERE = re.compile(r"OutOfMemoryError|Too many open files")
_UNKNOWN_REQUEST = re.compile(r"ArrayIndexOutOfBoundsException: \d+$")
_DIVIDED = re.compile(r"ArithmeticException: / by zero")


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    errors = (e for e in cluster.of("network-thread-error") if not _ELSEWHERE.search(e.key or ""))
    for node, same in failures(errors, lambda e: (e.reason, (e.key or "").partition(":")[0])):
        yield _finding(node, same, cluster)


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    first, who, thrown = errors[0], named_node(node, cluster), exception(errors)
    accepts = first.reason == "accept"
    what = f"{who} could not accept connections" if accepts else f"a network thread of {who} failed at requests"
    effect = (
        f"Clients and other brokers cannot open connections to {who} while this lasts; connections that are open go on."
        if accepts
        else f"Requests that this thread of {who} had just received were lost: their clients wait until request.timeout.ms."
    )
    return raw(
        kind="network-thread-error",
        severity="high" if accepts else "medium",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=first.at,
        end=errors[-1].last_at,
        cause=first.reason,
        summary=what + (f": {thrown}" if thrown else ""),
        explanation=f"{capital(what)}, {span(errors)}." + (f" The error is: {thrown}." if thrown else "") + f" {effect}",
        next_steps=(*_next_steps(first, thrown or ""), f"Read the exception in server.log of {who} at {moment(first.at)}."),
        evidence=quote(errors[:4], errors[-1]),
    )


def _next_steps(first: Event, thrown: str) -> tuple[str, ...]:
    if first.reason == "request" and _UNKNOWN_REQUEST.search(thrown):
        return (
            "Find clients that are newer than the brokers: brokers before 0.10.0 do not know the requests of newer clients, and do not close the connection (KAFKA-3547).",
        )
    if first.reason == "accept" and _DIVIDED.search(thrown):
        return (
            "Restart the broker, and upgrade to 1.1.1 or later: in 1.1.0 the acceptor may begin before its processors exist, and then refuses all connections (KAFKA-6982).",
        )
    return ()
