"""connection-failed: a node could not connect to another node for longer than a restart takes.

Here: connections between nodes of the cluster. Not here: nodes that were down then (broker_crash, controlled_shutdown, controller_crash), refused
identities (authentication_failed).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.availability import DETECTION
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, moment, quote
from forensics.thresholds import UNREACHABLE

_LOCAL = ("localhost", "127.", "[::1]", "0:0:0:0:0:0:0:1")


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    pairs: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for e in cluster.of("connection-failed"):
        if e.writer is not None and e.broker is not None and e.broker >= 0 and e.broker != e.writer:
            pairs[(e.writer, e.broker)].append(e)
    for (node, target), events in sorted(pairs.items()):
        for _, same in failures(e for e in events if e.at is not None and _up(target, e.at, cluster)):
            first, last = same[0].at, same[-1].at
            if first is not None and last is not None and last - first >= UNREACHABLE:
                yield _finding(node, target, same, cluster)


def _up(target: int, at: datetime, cluster: Cluster) -> bool:
    """Whether no evidence shows that the other node was down, stopping or starting."""
    availability = cluster.availability(target)
    return availability.outage(at, DETECTION) is None and not availability.begun(at - DETECTION, at + DETECTION)


def _ran(target: int, events: Sequence[Event], cluster: Cluster) -> bool:
    """Whether the log of the other node shows that it was running."""
    first, last = events[0].at, events[-1].at
    runs = cluster.availability(target).living(first, last) if first is not None and last is not None else iter(())
    until = cluster.last_own_line(target)
    return last is not None and until is not None and until >= last and next(runs, None) is not None


def _finding(node: int, target: int, events: Sequence[Event], cluster: Cluster) -> Finding:
    who, other, address = named_node(node, cluster), named_node(target, cluster), next((e.value for e in events if e.value), None)
    ran, local = _ran(target, events, cluster), address is not None and any(part.startswith(_LOCAL) for part in address.split("/"))
    to = f"{other} ({address})" if address is not None else other
    why = (
        f"The address {address} is the machine of {who} itself, so the advertised listener of {other} is wrong."
        if local
        else f"The log of {other} shows that it was running, so the network, a firewall or its advertised listener is the cause."
        if ran
        else f"No evidence shows whether {other} was running."
    )
    return Finding(
        kind="connection-failed",
        severity="medium" if ran or local else "low",
        confidence="certain",
        brokers=(node, target),
        start=events[0].at,
        end=events[-1].at,
        cause="advertised-listener" if local else None,
        summary=f"{who} could not connect to {to}, {span(events)}",
        explanation=f"{who[0].upper()}{who[1:]} could not connect to {to}, {span(events)}. {why}",
        next_steps=(
            f"Check from the machine of {who} that {address or 'the address of ' + other} can be reached, for example with `nc -vz HOST PORT`.",
            f"Compare `advertised.listeners` of {other} with its address as the other nodes resolve it; localhost is wrong in a cluster of several machines.",
            *(() if ran else (f"Collect server.log of {other} for the time from {moment(events[0].at)} on.",)),
        ),
        evidence=quote(events[:4], events[-1:]),
    )


RULE = Rule(
    kind="connection-failed",
    rank=302,
    level="medium",
    meaning="A node could not connect to another node for longer than a restart takes, although no evidence shows that the other node was down.",
    benign=("A node that restarts, stops or has crashed refuses connections in the meantime.",),
    cluster=detect,
    many=Aggregation(key=lambda f: f.brokers[-1:]),
    root="could not connect to another node",
)
