"""migration: the cluster is being moved from ZooKeeper to KRaft (KIP-866), or was.

Here: the phases with their times, what is left to do, and a migration that was refused or aborted. Not here: the phases themselves
(forensics.model.cluster.migration), or the failures of brokers meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.migration import Migration, migration
from forensics.model.cluster.process_errors import named_node
from forensics.model.events import Event
from forensics.model.findings import Finding, brokers_named, moment, nodes_named, quote, raw


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    found = migration(cluster)
    if found is not None and found.events:
        yield _finding(found, cluster)


def _finding(m: Migration, cluster: Cluster) -> Finding:
    nodes = dict.fromkeys((*m.controllers, *m.brokers, *m.kraft, *m.zookeeper, *(e.writer for e in m.events if e.writer is not None)))
    stopped = bool(m.failed) and m.control is None
    return raw(
        kind="migration",
        severity="high" if stopped else "low" if m.finished is None else "info",
        confidence="certain",
        brokers=tuple(nodes),
        start=m.start,
        end=m.end,
        summary=f"the migration of the cluster from ZooKeeper to KRaft {_state(m, stopped=stopped)}",
        explanation=" ".join(_sentences(m, cluster)),
        next_steps=tuple(_steps(m, stopped=stopped)),
        evidence=quote(m.failed[:1], m.copied, m.dual_write, m.finished, m.events),
    )


def _state(m: Migration, *, stopped: bool) -> str:
    if m.finished is not None:
        return f"was finished at {moment(m.finished.at)}"
    if stopped:
        return f"failed at {moment(m.failed[-1].at)}"
    if m.control is None:
        return "has not copied the metadata yet when the evidence ends"
    left = f": {brokers_named(m.zookeeper)} still in ZooKeeper mode" if m.zookeeper else ""
    return f"is not finished when the evidence ends: the metadata are written to both since {moment(m.control.at)}{left}"


def _sentences(m: Migration, cluster: Cluster) -> Iterator[str]:
    if m.controllers:
        yield f"In migration mode started: {_each(m.controllers, 'controller')}."
    if m.waiting and m.control is None:
        last = m.waiting[-1]
        yield f"At {moment(last.at)} {_named(last, cluster)} was still waiting: {last.value}."
    if m.brokers:
        yield f"Restarted in migration mode, with ZooKeeper: {_each(m.brokers, 'broker')}."
    if m.control is not None:
        begun = f"from {moment(m.copying.at)} to {moment(m.control.at)}" if m.copying is not None else f"up to {moment(m.control.at)}"
        yield f"The metadata were copied to the quorum {begun}. From then on the leader of the quorum is the controller of all brokers, and no broker is."
    if m.dual_write is not None:
        yield f"From {moment(m.dual_write.at)} on {_named(m.dual_write, cluster)} wrote every change to ZooKeeper as well (dual write)."
    if m.kraft:
        yield f"Restarted as KRaft brokers: {_each(m.kraft, 'broker')}."
    if m.finished is not None:
        yield f"At {moment(m.finished.at)} the quorum left the migration: nothing is written to ZooKeeper any more, and the cluster cannot go back."
    for e in m.failed:
        yield f"At {moment(e.at)} {_named(e, cluster)} {'aborted the copy' if e.reason == 'aborted' else 'did not go on'}: {e.value}."
    yield (
        "The restarts of brokers and controllers, the new controller, and the metadata logs that brokers in migration mode remove at their start "
        "belong to the migration."
    )


def _each(first: Mapping[int, Event], what: str) -> str:
    """'broker 3 at …, broker 1 at …', in order of time."""
    ordered = sorted(first.items(), key=lambda item: (str(item[1].at), item[0]))
    return ", ".join(f"{what} {node} at {moment(e.at)}" for node, e in ordered)


def _named(e: Event, cluster: Cluster) -> str:
    return named_node(e.writer, cluster) if e.writer is not None else "a controller"


def _steps(m: Migration, *, stopped: bool) -> Iterator[str]:
    if m.finished is not None:
        return
    if stopped:
        yield "Read the exception after the error in the log of the controller, correct its cause, and restart the controllers: the migration begins again."
    elif m.control is None:
        yield (
            "Restart each broker with `zookeeper.metadata.migration.enable=true` and the settings of the quorum: the metadata are copied when all "
            "brokers and controllers are ready."
        )
    elif m.zookeeper:
        yield (
            f"Restart {brokers_named(m.zookeeper)} as KRaft brokers, one after the other: `process.roles=broker`, the same id as `node.id`, and no "
            "setting of ZooKeeper. Until the end of the migration the cluster can go back to ZooKeeper."
        )
    else:
        yield (
            f"Restart {nodes_named(tuple(m.controllers), frozenset(m.controllers)) if m.controllers else 'the controllers'} one after the other without "
            "`zookeeper.metadata.migration.enable` to finish the migration; after that the cluster cannot go back to ZooKeeper."
        )
    yield "Do not change `metadata.version` or `inter.broker.protocol.version` before the migration is finished."
