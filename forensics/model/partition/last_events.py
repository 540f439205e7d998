"""The last lines about a partition before a broker crashed. A killed process prints nothing at its end, and may not have printed anything
about itself for months, but it prints lines about its partitions.

Here: the fact. Not here: the states of brokers (forensics.model.cluster.broker_states).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from operator import itemgetter
from typing import Any

import pyarrow as pa

from forensics.model.cluster.availability import KILLED, spoken
from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.findings import Fact
from forensics.model.partition.timeline import PartitionTimeline


def last_events(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[dict[str, Any]]:
    for broker, replica in sorted(timeline.replicas.items()):
        crashes = killed(cluster).get(broker, ())
        own = sorted(e.at for e in replica.events if e.at is not None and spoken(e)) if crashes else []
        line = 0
        while line < len(own) and (place := bisect_right(crashes, own[line], key=_NEXT_START)) < len(crashes):
            since, next_start = crashes[place]
            line = bisect_left(own, next_start, line)
            if own[line - 1] > since:
                yield {"broker": broker, "next_start": next_start, "at": own[line - 1]}


@cached_on_cluster
def killed(cluster: Cluster) -> dict[int, list[tuple[datetime, datetime]]]:
    """The crashes of each node by time: the last line about its process, and when the next process began."""
    found: dict[int, list[tuple[datetime, datetime]]] = {}
    for node in cluster.nodes:
        outages = (a for a in cluster.availability(node).outages if a.how == KILLED)
        if own := [(a.since, a.followed) for a in outages if a.since is not None and a.followed is not None]:
            found[node] = sorted(own, key=_NEXT_START)
    return found


_NEXT_START = itemgetter(1)


def latest(rows: Iterable[Mapping[str, Any]], found: dict[tuple[int, datetime], datetime]) -> None:
    """For each crash in these rows, updates `found` with the time of the last line."""
    for r in rows:
        key = (r["broker"], r["next_start"])
        found[key] = max(r["at"], found.get(key, r["at"]))


LAST_LINES = Fact(
    "last_lines_before_crash",
    pa.list_(pa.struct([("broker", pa.int32()), ("next_start", pa.timestamp("us")), ("at", pa.timestamp("us"))])),
    "the last lines about it that brokers printed before they crashed; `next_start`: when the next process began",
    lambda timeline, cluster: list(last_events(timeline, cluster)),
)
