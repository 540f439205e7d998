"""authentication-failed: connections between nodes, or of clients, were refused because of their identity."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.cluster.process_errors import who
from forensics.model.events import Event
from forensics.model.message import Message, said

_SAME_ATTEMPT = (-1, 0, 1)
"""Seconds between the lines of both nodes about one attempt."""
_SSL, _SASL = (
    re.compile(r"SSL|TLS|certificate|handshake", re.IGNORECASE),
    re.compile(r"SASL|credentials|username|password|mechanism|token", re.IGNORECASE),
)


def not_repeated(error: Event, cluster: Cluster) -> bool:
    """Whether the line does not repeat what the line of the connecting node says: its network layer prints the error, too, and the other node
    prints that it refused the connection."""
    return error.reason != "server" or error.at is None or (error.writer, error.at.replace(microsecond=0)) not in _clients(cluster)


@cached_on_cluster
def _clients(cluster: Cluster) -> set[tuple[int | None, datetime]]:
    """Both nodes of each attempt that the connecting node printed, with its second and those around it."""
    found: set[tuple[int | None, datetime]] = set()
    for e in cluster.of("authentication-failed"):
        if e.reason == "client" and e.at is not None:
            moments = [e.at.replace(microsecond=0) + timedelta(seconds=s) for s in _SAME_ATTEMPT]
            found.update((node, at) for node in (e.writer, e.broker) for at in moments)
    return found


def attempts(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    first = errors[0]
    of, value = first.reason if first.reason in ("client", "zookeeper") else "server", first.value or ""
    return {
        of: True,
        "brokers": tuple(dict.fromkeys(b for b in (first.writer, first.broker) if b is not None and b >= 0)),
        "what": _what(of, first, cluster),
        "error": value.rstrip("."),
        "hosts": tuple(sorted({e.host for e in errors if e.host})),
        "tls": not _SASL.search(value),
        "sasl": not _SSL.search(value),
    }


def _what(of: str, first: Event, cluster: Cluster) -> Message:
    node = who(first.writer, cluster)
    if of != "client":
        return said(f"authentication-failed/{of}", who=node)
    if first.broker == first.writer:
        return said("authentication-failed/own-listener", who=node)
    if first.broker is not None and first.broker < 0:
        return said("authentication-failed/first-node", who=node)
    return said("authentication-failed/client", who=node, other=who(first.broker, cluster))
