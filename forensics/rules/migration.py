"""migration: the cluster is being moved from ZooKeeper to KRaft (KIP-866), or was.

Here: the phases with their times, what is left to do, and a migration that was refused or aborted. Not here: the phases themselves
(forensics.model.quorum.zookeeper), or the failures of brokers meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, said, values
from forensics.model.presence.process_errors import who
from forensics.model.quorum.zookeeper import Migration, migration


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    found = migration(cluster)
    if found is not None and found.events:
        yield _finding(found, cluster)


def _finding(m: Migration, cluster: Cluster) -> Finding:
    nodes = dict.fromkeys((*m.controllers, *m.brokers, *m.kraft, *m.zookeeper, *(e.writer for e in m.events if e.writer is not None)))
    stopped = bool(m.failed) and m.control is None
    return Finding(
        severity="high" if stopped else "low" if m.finished is None else "info",
        confidence="certain",
        brokers=tuple(nodes),
        start=m.start,
        end=m.end,
        values=values(
            finished=m.finished.at if m.finished is not None else None,
            failed=m.failed[-1].at if stopped else None,
            copied=m.control.at if m.control is not None else None,
            waiting_for_copy=m.finished is None and not stopped and m.control is None,
            under_way=m.finished is None and not stopped and m.control is not None,
            in_zookeeper=tuple(m.zookeeper),
            controllers=_each(m.controllers, "controller"),
            waiting=_event("waiting", m.waiting[-1], cluster) if m.waiting and m.control is None else None,
            migrating=_each(m.brokers, "broker"),
            copying=m.copying.at if m.copying is not None else None,
            dual_write=_event("dual-write", m.dual_write, cluster) if m.dual_write is not None else None,
            kraft=_each(m.kraft, "broker"),
            failures=tuple(_event("aborted" if e.reason == "aborted" else "stopped", e, cluster) for e in m.failed),
            steps=tuple(_steps(m, stopped=stopped)),
        ),
        evidence=quote(m.failed[:1], m.copied, m.dual_write, m.finished, m.events),
    )


def _event(what: str, e: Event, cluster: Cluster) -> Message:
    named = who(e.writer, cluster) if e.writer is not None else said("migration/a-controller")
    return said(f"migration/{what}", at=e.at, who=named, value=e.value)


def _each(first: Mapping[int, Event], what: str) -> tuple[Message, ...]:
    """Nodes with the times, in order of time."""
    ordered = sorted(first.items(), key=lambda item: (str(item[1].at), item[0]))
    return tuple(said("migration/node", who=said(f"node/{what}", id=node), at=e.at) for node, e in ordered)


def _steps(m: Migration, *, stopped: bool) -> Iterator[Message]:
    if m.finished is not None:
        return
    if stopped:
        yield said("migration/correct")
    elif m.control is None:
        yield said("migration/restart-brokers")
    elif m.zookeeper:
        yield said("migration/restart-as-kraft", brokers=tuple(m.zookeeper))
    else:
        yield said("migration/restart-controllers", controllers=((), tuple(m.controllers)) if m.controllers else None)
    yield said("migration/no-version")
