"""The names by which the evidence calls each node: directory, pod or host, address, rack; each with the place that links it to the node.

Here: the table of names, and names that two nodes have at once. Not here: which node wrote a file (identity).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from forensics.model.cluster.facts import Cluster, Node, cached_on_cluster
from forensics.model.record import Int32, Record
from forensics.model.times import Span, grouped, is_later, overlap
from parsers.paths import log_kind

DIRECTORY, WRITER, ADDRESS, RACK, DISK = "directory", "writer", "address", "rack", "disk"
_LISTENERS = ("advertised.listeners", "listeners", "advertised.host.name", "host.name")
_ENDPOINT = re.compile(r"(?:^|://|EndPoint\()(\[[0-9a-fA-F:]+\]|[\w.-]+)[:,](\d{1,5})")
_NO_HOST = frozenset({"", "0.0.0.0", "::", "[::]"})  # noqa: S104
_OWN_HOST = ("localhost:", "127.0.0.1:", "[::1]:")


@dataclass(frozen=True, slots=True)
class Name(Record):
    """A name of a node."""

    node: int
    kind: Annotated[
        str,
        "directory (of the collected files), writer (pod, container, host or stream of an export), address (host and port of a listener), rack "
        "or disk (meta.properties)",
    ]
    name: Annotated[str, "the name"]
    first: Annotated[datetime | None, "the time for which the evidence shows it begins (UTC)"]
    last: Annotated[datetime | None, "the time for which the evidence shows it ends (UTC)"]
    source: Annotated[str, "path of the source that shows it"]
    line: Annotated[int | None, "1-based line; null in binary files"]
    text: Annotated[str | None, "the text"]
    also: Annotated[tuple[Int32, ...], "other nodes that have this address at the same time: a conflict"] = ()


@cached_on_cluster
def names(cluster: Cluster) -> Mapping[int, Sequence[Name]]:
    """The names of each node, by kind."""
    found = {node.id: list({(n.kind, n.name): n for n in reversed([*_names(node, cluster)])}.values()) for node in cluster.nodes.values()}
    owners = grouped(
        (name.name, name) for own in found.values() for name in own if name.kind == ADDRESS and not name.name.startswith(_OWN_HOST)
    )
    return {node: [_with_conflict(name, owners[name.name]) if name.name in owners else name for name in own] for node, own in found.items()}


def _with_conflict(name: Name, same: Sequence[Name]) -> Name:
    others = sorted({n.node for n in same if n.node != name.node and overlap(Span(n.first, n.last), Span(name.first, name.last))})
    return (
        name
        if not others
        else Name(name.node, name.kind, name.name, name.first, name.last, name.source, name.line, name.text, tuple(others))
    )


def _names(node: Node, cluster: Cluster) -> Iterator[Name]:
    own = cluster.sources_of(node.id)
    for collection in node.collections:
        files = [s for s in own if s.collection == collection]
        if collection and files:
            yield Name(node.id, DIRECTORY, collection, *_span([(s.first, s.last) for s in files]), files[0].path, None, None)
    for writer in dict.fromkeys(w for s in own if (w := _writer(s.path))):
        files = [s for s in own if _writer(s.path) == writer]
        yield Name(node.id, WRITER, writer, *_span([(s.first, s.last) for s in files]), files[0].path, None, None)
    yield from _registered(node, cluster)
    yield from _configured(node, cluster)
    for e in cluster.of("log-directory-identity"):
        if e.node == node.id and e.directory:
            yield Name(node.id, DISK, e.directory, e.at, e.at, e.source, e.line, e.text)


def _writer(path: str) -> str:
    """The writer in the path of a log that is a part of an export."""
    writer = path.partition("#")[2]
    return writer.rpartition("/")[0] if "/" in writer and log_kind(writer) is not None else writer


def _registered(node: Node, cluster: Cluster) -> Iterator[Name]:
    """The addresses with which the broker registered."""
    own = [e for e in cluster.of("broker-registered", "metadata-broker") if e.broker == node.id]
    shown = [(e, f"{host}:{port}") for e in own for host, port in _ENDPOINT.findall(e.value or "")]
    for address in dict.fromkeys(address for _, address in shown):
        lines = [e for e, other in shown if other == address]
        later = [e.at for e, other in shown if other != address and is_later(e.at, lines[0].at)]
        e = lines[0]
        yield Name(node.id, ADDRESS, address, e.at, min(later, default=cluster.until), e.source, e.line, e.text)


def _configured(node: Node, cluster: Cluster) -> Iterator[Name]:
    """Addresses and the rack, from the settings with which the node was started."""
    for key in (*_LISTENERS, "broker.rack"):
        changes = cluster.settings.history(key, broker=node.id)
        for number, change in enumerate(changes):
            if change.value is None or change.event is None:
                continue
            end = changes[number + 1].at if number + 1 < len(changes) else cluster.until
            begin = change.at if change.at != datetime.min else None
            for name in _addresses(change.value) if key != "broker.rack" else [change.value]:
                kind = ADDRESS if key != "broker.rack" else RACK
                yield Name(node.id, kind, name, begin, end, change.event.source, change.event.line, change.event.text)


def _addresses(listeners: str) -> Iterator[str]:
    """Host and port of each listener that names a host."""
    for listener in listeners.split(","):
        address = listener.rpartition("//")[2].strip() if "//" in listener else listener.strip()
        if address.rpartition(":")[0] not in _NO_HOST and address not in _NO_HOST and address != "null":
            yield address


def _span(times: Sequence[tuple[datetime | None, datetime | None]]) -> tuple[datetime | None, datetime | None]:
    firsts, lasts = [a for a, _ in times if a is not None], [b for _, b in times if b is not None]
    return min(firsts, default=None), max(lasts, default=None)
