"""connection-failed: other nodes could not connect to a node for longer than a restart takes.

Here: connections between nodes of the cluster. Not here: nodes that were down then (broker_crash, controlled_shutdown, controller_crash),
refused identities (authentication_failed).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.names import ADDRESS, names
from forensics.model.coverage.log_coverage import ends_soon, was_running
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import said, values
from forensics.model.presence.crash_times import FACTS, CrashTimes
from forensics.model.presence.process_errors import failures, of_one_failure, span, who, who_all
from forensics.model.times import grouped, undated_first
from forensics.thresholds import CONNECTS_AGAIN, CRASH_NOTICED, LONGEST_START, RECONNECTED, UNREACHABLE

_LOCAL = ("localhost", "127.", "[::1]", "0:0:0:0:0:0:0:1")
_CONTROLLERS = "controller-connection-unsuccessful"


@dataclass(frozen=True, slots=True)
class _Unreachable:
    """A node that others could not connect to, and their lines, in order of time."""

    target: int
    events: tuple[Event, ...]
    cluster: Cluster

    @property
    def nodes(self) -> tuple[int, ...]:
        return tuple(sorted({e.writer for e in self.events if e.writer is not None}))

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(e.value.lstrip("/") for e in self.events if e.value))

    @property
    def span(self) -> tuple[datetime | None, datetime | None]:
        return self.events[0].at, max((e.last_at for e in self.events if e.last_at is not None), default=None)

    @property
    def ran(self) -> bool:
        """Whether the log of the other node shows that it was running."""
        first, last = self.span
        return first is not None and last is not None and was_running(self.target, first, last, self.cluster)

    @property
    def local(self) -> bool:
        """Whether the address is the machine of whoever connects to it, in a cluster of several machines."""
        known = [n.name for own in names(self.cluster).values() for n in own if n.kind == ADDRESS]
        hosts = [part for address in (*self.addresses, *known) for part in address.split("/") if part]
        own = [part for address in self.addresses for part in address.split("/") if part]
        return any(_is_local(part) for part in own) and not all(map(_is_local, hosts))

    @property
    def other_addresses(self) -> tuple[str, ...]:
        """Addresses with which the node registered at other times, or on which it listens."""
        known = [n.name for n in names(self.cluster).get(self.target, ()) if n.kind == ADDRESS]
        return tuple(dict.fromkeys(name for name in known if not any(_is_at(name, address) for address in self.addresses)))


def _is_at(name: str, address: str) -> bool:
    """Whether an address that Kafka prints, as HOST/IP:PORT, is that of a name, as HOST:PORT."""
    host, _, port = name.rpartition(":")
    hosts, _, its_port = address.rpartition(":")
    return name in address or (port == its_port and host in hosts.split("/"))


def _is_local(address: str) -> bool:
    return address.startswith(_LOCAL)


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    targets = grouped(
        (e.broker, e) for e in cluster.of("connection-failed") if e.writer is not None and e.broker is not None and e.broker >= 0
    )
    for target, events in sorted(targets.items()):
        lasting = [e for same in _lasting(events, target, cluster) for e in same]
        for same in of_one_failure(sorted(lasting, key=undated_first)):
            yield _finding(_Unreachable(target, tuple(same), cluster), times)


def _lasting(events: Sequence[Event], target: int, cluster: Cluster) -> Iterator[list[Event]]:
    """The attempts of each node that failed for longer than a restart takes, or until its log ends, while nothing shows that the target was
    down."""
    attempts = (
        e for e in _once(events) if e.at is not None and _up(target, e.at, cluster) and not _starting(e.writer, target, e.at, cluster)
    )
    for same in failures(attempts, apart=CONNECTS_AGAIN):
        first, last = same[0].at, same[-1].last_at
        long = first is not None and last is not None and last - first >= UNREACHABLE
        if long or (first is not None and ends_soon(same[0].writer, last, RECONNECTED, cluster)):
            yield same


def _once(events: Sequence[Event]) -> list[Event]:
    """From 1.1 on a ZooKeeper controller prints each failed attempt twice: once as a client, once as a controller."""
    clients = {e.writer for e in events if e.pattern != _CONTROLLERS}
    return [e for e in events if e.pattern != _CONTROLLERS or e.writer not in clients]


def _up(target: int, at: datetime, cluster: Cluster) -> bool:
    """Whether the log of the other node shows that it was up, or no evidence shows that it was down, stopping or starting."""
    availability = cluster.availability(target)
    if availability.outage(at) is None and _started(target, at, cluster):
        return True
    return availability.outage(at, CRASH_NOTICED) is None and not availability.begun(at - CRASH_NOTICED, at + CRASH_NOTICED)


def _starting(node: int | None, target: int, at: datetime, cluster: Cluster) -> bool:
    """A node that cannot reach its own address, because it opens its listeners at the end of its start."""
    if node != target or _started(target, at, cluster):
        return False
    started = cluster.next_of(target, at, "broker-started")
    if started is not None:
        return started.at is not None and started.at - at <= LONGEST_START
    return any(e.writer == target for e in cluster.between("process-starting", at - LONGEST_START, at)) or bool(
        cluster.availability(target).begun(at - LONGEST_START, at)
    )


def _started(target: int, at: datetime, cluster: Cluster) -> bool:
    """Whether the process of the other node had completed its start, and had not ended, by its own log."""
    run = next(cluster.availability(target).living(at, at), None)
    started = cluster.next_of(target, run.begin_at, "broker-started") if run is not None and run.begin is not None else None
    return started is not None and started.at is not None and started.at <= at


def _finding(found: _Unreachable, times: CrashTimes) -> Finding:
    cluster, target = found.cluster, found.target
    ran, local = found.ran, found.local
    elsewhere = found.other_addresses if ran and not local else ()
    first, last = found.span
    effects = tuple(times.unreached(target, found.nodes, first, last))
    return Finding(
        severity="high" if ran and (effects or len(found.nodes) > 1) else "medium" if ran or local else "low",
        confidence="certain",
        brokers=(target, *(n for n in found.nodes if n != target)),
        start=first,
        end=last,
        cause="advertised-listener" if local or elsewhere else None,
        values=values(
            who=who_all(found.nodes, cluster),
            connecting=who(found.nodes[0], cluster),
            target=who(target, cluster),
            other=who(target, cluster) if found.nodes != (target,) else said("connection-failed/own-address"),
            address=next(iter(found.addresses), None),
            addresses=found.addresses[:3],
            span=span(found.events),
            ran=ran,
            local=local,
            elsewhere=elsewhere,
            network=ran and not local and not elsewhere,
            unknown=not ran and not local,
            perhaps_local=not ran and not local and any(_is_local(part) for address in found.addresses for part in address.split("/")),
            effects=effects,
        ),
        evidence=quote(found.events[:4], found.events[-1]),
    )


READS = FACTS
