"""authentication-failed: connections between nodes, or of clients, were refused because of their identity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, quote


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, errors in failures(cluster.of("authentication-failed"), lambda e: (e.reason, e.broker)):
        yield _finding(node, errors, cluster)


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    first, who = errors[0], named_node(node, cluster)
    own = first.reason == "client"
    what = (
        f"{who} could not authenticate with {named_node(first.broker, cluster)}"
        if own
        else f"{who} refused connections that did not authenticate"
    )
    hosts = sorted({e.host for e in errors if e.host})
    return Finding(
        kind="authentication-failed",
        severity="high" if own else "low",
        confidence="certain",
        brokers=tuple(b for b in (node, first.broker) if b is not None and b >= 0),
        start=first.at,
        end=errors[-1].at,
        summary=f"{what}: {first.value}",
        explanation=(
            f"{what[0].upper()}{what[1:]} {span(errors)}: {first.value}. "
            + (f"The addresses are {', '.join(hosts[:4])}{' and others' if len(hosts) > 4 else ''}. " if hosts else "")
            + (
                f"Without this connection {who} cannot replicate from the other node or reach the controller."
                if own
                else "The connections may be from clients, from health checks of a load balancer, or from other brokers."
            )
        ),
        next_steps=(
            f"Check the validity, the issuer and the host names of the certificates with `openssl s_client -connect HOST:PORT`, and the truststore of {who}.",
            f"For SASL, compare the user and mechanism of the connecting node (`sasl.mechanism.inter.broker.protocol`, the JAAS configuration) with those that {who} accepts.",
        ),
        evidence=quote(errors[:5], errors[-1:]),
    )


RULE = Rule(
    kind="authentication-failed",
    rank=303,
    level="high",
    meaning="A node could not authenticate with another node (high), or refused connections that did not authenticate (low).",
    benign=("Health checks that only open a connection to a TLS port are refused at the handshake.",),
    cluster=detect,
    many=Aggregation(key=lambda f: f.brokers),
    root="could not authenticate",
)
