"""upgrade: nodes were restarted with another version of Kafka, one after the other.

Here: the order of the nodes, versions that are mixed at the end, and whether the protocol or the metadata version followed. Not here: how a
version is read (forensics.model.settings.versions), or the move from ZooKeeper to KRaft (migration).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any

from forensics.model.cluster.facts import Cluster, by_role
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, said, values
from forensics.model.presence.availability import CONTROLLED
from forensics.model.presence.process_errors import who
from forensics.model.settings.settings import process_roles
from forensics.model.settings.versions import VersionChange, metadata_version, parsed, version_changes
from forensics.model.times import grouped

IBP, METADATA = "inter.broker.protocol.version", "metadata.version"


@dataclass(frozen=True, slots=True)
class _Raised:
    """A change of the protocol or metadata version; `node` None: of the whole cluster."""

    key: str
    node: int | None
    before: str
    after: str
    at: datetime
    event: Event


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    by_target = grouped((parsed(change.after) or (), change) for change in version_changes(cluster))
    groups = sorted(by_target.values(), key=lambda own: own[0].at)
    for group, later in zip_longest(groups, groups[1:]):
        until = later[0].at if later is not None else datetime.max
        raised = [r for r in _raised(cluster) if group[0].at <= r.at < until]
        yield _finding(group, raised, cluster, last=later is None)


def _finding(group: Sequence[VersionChange], raised: Sequence[_Raised], cluster: Cluster, *, last: bool) -> Finding:
    target, sources = group[-1].after, list(dict.fromkeys(c.before for c in group))
    left = _left(target, cluster) if last else {}
    upwards = all(c.upwards for c in group)
    nodes = tuple(dict.fromkeys(c.node for c in group))
    ends = [group[-1].at, *(r.at for r in raised)]
    what = "upgraded" if upwards else "downgraded" if not any(c.upwards for c in group) else "changed"
    steps = _steps(target, raised, left, cluster) if last and upwards else ()
    until, crashed = max(map(_ended, group)), [c.node for c in group if c.outage is not None and c.outage.how != CONTROLLED]
    return Finding(
        severity="low" if left or not upwards else "info",
        confidence="certain",
        brokers=nodes,
        start=_ended(group[0]),
        end=None if left else max(ends),
        values=values(
            nodes=by_role(nodes, cluster.controllers),
            number=len(nodes),
            what=what,
            sources=tuple(sources),
            target=target,
            several=len(nodes) > 1,
            left=tuple(
                said("upgrade/running", nodes=by_role(own, cluster.controllers), number=len(own), version=v) for v, own in left.items()
            ),
            ran=tuple(said("upgrade/ran", who=who(c.node, cluster), at=c.at, before=c.before) for c in group),
            both=(group[0].at, until) if until > group[0].at else None,
            crashed=by_role(crashed, cluster.controllers) if crashed else None,
            raised=tuple(_change(r, cluster) for r in raised),
            unchanged=last and not left and not raised,
            steps=tuple(steps),
        ),
        evidence=quote([c.event for c in group], [r.event for r in raised if r.node is None]),
    )


def _ended(change: VersionChange) -> datetime:
    """When the node's process of the version before ended."""
    return change.outage.since if change.outage is not None and change.outage.since is not None else change.at


def _left(target: str, cluster: Cluster) -> dict[str, list[int]]:
    """The nodes that run another version at the end, by version."""
    found = grouped(
        (node.version, node.id)
        for node in cluster.nodes.values()
        if node.version is not None and parsed(node.version) not in (None, parsed(target))
    )
    return dict(sorted(found.items()))


def _change(r: _Raised, cluster: Cluster) -> Message:
    named = who(r.node, cluster) if r.node is not None else None
    return said("upgrade/raised", key=r.key, who=named, before=r.before, after=r.after, at=r.at)


def _steps(target: str, raised: Sequence[_Raised], left: Mapping[str, Sequence[int]], cluster: Cluster) -> Iterator[Message]:
    if left:
        yield said("upgrade/finish", nodes=by_role([n for own in left.values() for n in own], cluster.controllers), target=target)
        return
    numbers = parsed(target) or ()
    if not raised and len(numbers) >= 2:
        minor = f"{numbers[0]}.{numbers[1]}"
        yield said(f"upgrade/{'metadata-version' if cluster.mode == 'kraft' else 'protocol-version'}", target=target, minor=minor, key=IBP)


def _raised(cluster: Cluster) -> list[_Raised]:
    """The changes of the protocol version of each broker in ZooKeeper mode, and of the metadata version, in order of time. In KRaft mode
    the protocol version that a broker prints is the default of its software."""
    found = list(_metadata(cluster))
    for node in (n for n in cluster.nodes.values() if n.broker):
        last: tuple[str, Event] | None = None
        for change in cluster.settings.history(IBP, broker=node.id):
            e = change.event
            if e is None or e.line is None or e.at is None or e.writer != node.id or not change.value or _in_quorum(cluster, node.id, e.at):
                continue
            value = change.value.split("-")[0]
            if last is not None and last[0] != value:
                found.append(_Raised(IBP, node.id, last[0], value, e.at, e))
            last = (value, e)
    return sorted(found, key=lambda r: (r.at, r.node or -1))


def _in_quorum(cluster: Cluster, node: int, at: datetime) -> bool:
    return bool(process_roles(cluster.settings.value("process.roles", broker=node, at=at)))


def _metadata(cluster: Cluster) -> Iterator[_Raised]:
    last: int | None = None
    for e in cluster.of("metadata-feature"):
        if e.key != METADATA or e.count is None or e.at is None or e.reason == "snapshot":
            continue
        if last is not None and e.count != last:
            yield _Raised(METADATA, None, metadata_version(last), metadata_version(e.count), e.at, e)
        last = e.count
