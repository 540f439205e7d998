"""authentication-failed: connections between nodes, or of clients, were refused because of their identity."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, quote, raw
from forensics.model.partition.crash_times import FACTS, CrashTimes

_SAME_ATTEMPT = (-1, 0, 1)
"""Seconds between the lines of both nodes about one attempt."""
_SSL, _SASL = (
    re.compile(r"SSL|TLS|certificate|handshake", re.IGNORECASE),
    re.compile(r"SASL|credentials|username|password|mechanism|token", re.IGNORECASE),
)


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for node, errors in failures(_told_once(cluster.of("authentication-failed")), lambda e: (e.reason, e.broker)):
        yield _finding(node, errors, cluster, times)


def _told_once(events: Sequence[Event]) -> Iterator[Event]:
    """Without lines that repeat what the line of the connecting node says: its network layer prints the error, too, and the other node prints
    that it refused the connection."""
    clients: dict[tuple[int | None, datetime], None] = {}
    for e in events:
        if e.reason == "client" and e.at is not None:
            moments = [e.at.replace(microsecond=0) + timedelta(seconds=s) for s in _SAME_ATTEMPT]
            clients |= dict.fromkeys((node, at) for node in (e.writer, e.broker) for at in moments)
    for e in events:
        if e.reason != "server" or e.at is None or (e.writer, e.at.replace(microsecond=0)) not in clients:
            yield e


def _what(first: Event, who: str, cluster: Cluster) -> str:
    if first.reason == "zookeeper":
        return f"{who} could not authenticate with ZooKeeper"
    if first.reason != "client":
        return f"{who} refused connections that did not authenticate"
    if first.broker == first.writer:
        return f"{who} could not authenticate with its own listener"
    if first.broker is not None and first.broker < 0:
        return f"{who} could not authenticate with the first node that it asked"
    return f"{who} could not authenticate with {named_node(first.broker, cluster)}"


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster, times: CrashTimes) -> Finding:
    first, who = errors[0], named_node(node, cluster)
    own = first.reason in ("client", "zookeeper")
    what = _what(first, who, cluster)
    hosts = sorted({e.host for e in errors if e.host})
    said = {
        "client": f"Without this connection {who} cannot replicate from the other node or reach the controller.",
        "zookeeper": f"Without its identity {who} cannot change znodes that are protected by ACLs.",
    }.get(first.reason or "", "The connections may be from clients, from health checks of a load balancer, or from other brokers.")
    return raw(
        kind="authentication-failed",
        severity="high" if own else "low",
        confidence="certain",
        brokers=tuple(dict.fromkeys(b for b in (node, first.broker) if b is not None and b >= 0)),
        start=first.at,
        end=errors[-1].last_at,
        summary=f"{what}: {first.value}",
        explanation=" ".join(
            (
                f"{capital(what)} {span(errors)}: {(first.value or '').rstrip('.')}.",
                *((f"The addresses are {', '.join(hosts[:4])}{' and others' if len(hosts) > 4 else ''}.",) if hosts else ()),
                said,
                *(times.meanwhile(node, first.at, errors[-1].last_at) if own and node is not None else ()),
            )
        ),
        next_steps=tuple(_steps(first, who)),
        evidence=quote(errors[:5], errors[-1:]),
    )


def _steps(first: Event, who: str) -> Iterator[str]:
    value = first.value or ""
    if not _SASL.search(value):
        yield f"Check the validity, the issuer and the host names of the certificates with `openssl s_client -connect HOST:PORT`, and the truststore of {who}."
    if not _SSL.search(value):
        yield "For SASL, compare the user, password and mechanism with which the connection is made (`sasl.mechanism.inter.broker.protocol`, the JAAS configuration of the listener) with those that the accepting node knows; SCRAM users of brokers must exist before the brokers start."


READS = FACTS
