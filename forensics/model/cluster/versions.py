"""Kafka's version from the line a broker prints: one number, for every distribution.

Here: the strings of AppInfoParser's `Kafka version: …` line, as Apache and the distributors of Kafka print them. Not here: behaviour
that depends on the version (the callers), or where the line is (build).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import datetime
from functools import cache

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event

Version = tuple[int, ...]

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
    return own[-1] if at is None else own[max(bisect_right(own, at, key=lambda e: e.at or datetime.min) - 1, 0)]
