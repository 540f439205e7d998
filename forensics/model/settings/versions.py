"""Kafka's version from the line a broker prints: one number, for every distribution.

Here: the strings of AppInfoParser's `Kafka version: …` line, as Apache and the distributors of Kafka print them. Not here: behaviour
that depends on the version (the callers), or where the line is (build).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.presence.availability import Outage
from forensics.model.times import undated_first, undated_last

Version = tuple[int, ...]

_METADATA = (
    *("3.0-IV1", "3.1-IV0", "3.2-IV0"),
    *("3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2"),
    *("3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0"),
    *("4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0"),
    *("4.4-IV0", "4.4-IV1", "4.4-IV2"),
)
"""The names of metadata.version by its feature level, from level 1 on (org.apache.kafka.server.common.MetadataVersion)."""
_CONFLUENT = {5: (2, 0), 6: (2, 6), 7: (3, 0), 8: (4, 0)}
"""Major version of Confluent Platform to the Kafka version of its first release. Each later minor release is Kafka's next minor. Up to
5.1 its brokers print Apache's number ('2.1.0-cp1')."""
_NUMBERS = re.compile(r"(\d{1,4}(?:\.\d{1,4}){1,7})(?!\d)(-(?:\d+-)?(?:ccs|ce)\b)?")


@cache
def parsed(text: str | None) -> Version | None:
    """Kafka's version as numbers; None if the text has none.

    Since 1.0 a release has three numbers, before that '0' and three. Distributors append their own: '2.0.0.3.1.4.0-315' (HDP),
    '2.5.0.7.1.7.0-551' (CDP), '2.8.0.redhat-00002'; '1.0.1-kafka-3.1.0' (CDH). HDP on 0.10 leaves out the fourth: '0.10.1.2.6.2.0-205'.
    Confluent's brokers print the platform's version: '7.4.0-ccs', '7.4.0-ce'.
    """
    found = _NUMBERS.match(text or "")
    if found is None:
        return None
    numbers = tuple(int(n) for n in found[1].split("."))
    if found[2] and numbers[0] in _CONFLUENT:
        major, minor = _CONFLUENT[numbers[0]]
        return (major, minor + numbers[1])
    return numbers[: 4 if numbers[0] == 0 and len(numbers) <= 4 else 3]


def versions(cluster: Cluster, broker: int | None = None, at: datetime | None = None) -> list[Version]:
    """Versions of a broker, or of all nodes, oldest first: those in use at `at`, else the last ones."""
    if broker not in cluster.nodes and len(cluster.version_texts) < 2:
        return [v for text in cluster.version_texts if (v := parsed(text)) is not None]
    nodes = [cluster.nodes[broker]] if broker in cluster.nodes else cluster.nodes.values()
    texts = (line.value if at is not None and (line := version_line(cluster, n.id, at)) is not None else n.version for n in nodes)
    return sorted({v for text in texts if (v := parsed(text)) is not None})


def version_line(cluster: Cluster, broker: int | None, at: datetime | None = None) -> Event | None:
    """The broker's version line in force at `at`, else its first. For a broker that is not a known node, any node's line."""
    lines = cluster.version_lines
    own = lines.get(broker) or (next(iter(lines.values()), None) if broker not in cluster.nodes else None)
    if not own:
        return None
    return own[-1] if at is None else own[max(bisect_right(own, at, key=undated_first) - 1, 0)]


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A node printed another version than before."""

    node: int
    before: str
    after: str
    event: Event
    """Its first line with the new version."""
    at: datetime
    """When that process started."""
    outage: Outage | None
    """How the process before it ended."""

    @property
    def upwards(self) -> bool:
        return (parsed(self.after) or ()) > (parsed(self.before) or ())


def version_changes(cluster: Cluster) -> list[VersionChange]:
    """The changes of the version of each node, in order of time."""
    found: list[VersionChange] = []
    for node, lines in cluster.version_lines.items():
        last: Event | None = None
        for e in sorted((e for e in lines if e.at is not None and parsed(e.value) is not None), key=undated_last):
            if node is not None and last is not None and parsed(last.value) != parsed(e.value):
                found.append(_change(cluster, node, last, e))
            last = e
    return sorted(found, key=lambda c: (c.at, c.node))


def _change(cluster: Cluster, node: int, before: Event, after: Event) -> VersionChange:
    availability, said = cluster.availability(node), after.at or datetime.max
    run = next(iter(availability.latest(said)[-1:]), None)
    begun = run.begin_at if run is not None and run.begin_at is not None else said
    return VersionChange(node, before.value or "", after.value or "", after, begun, availability.ended_before(begun))


def metadata_version(level: int) -> str:
    """The name of a feature level of metadata.version, for example 3.9-IV0; the level itself if it is newer."""
    return _METADATA[level - 1] if 0 < level <= len(_METADATA) else f"feature level {level}"
