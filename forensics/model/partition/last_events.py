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
        deaths = killed(cluster).get(broker, ())
        own = sorted(e.at for e in replica.events if e.at is not None and spoken(e)) if deaths else []
        word = 0
        while word < len(own) and (place := bisect_right(deaths, own[word], key=_DIED)) < len(deaths):
            since, died = deaths[place]
            word = bisect_left(own, died, word)
            if own[word - 1] > since:
                yield {"broker": broker, "died": died, "at": own[word - 1]}


@cached_on_cluster
def killed(cluster: Cluster) -> dict[int, list[tuple[datetime, datetime]]]:
    """The crashes of each node by time: the last line about its process, and when the next process began."""
    found: dict[int, list[tuple[datetime, datetime]]] = {}
    for node in cluster.nodes:
        outages = (a for a in cluster.availability(node).outages if a.how == KILLED)
        if own := [(a.since, a.followed) for a in outages if a.since is not None and a.followed is not None]:
            found[node] = sorted(own, key=_DIED)
    return found


_DIED = itemgetter(1)


def latest(rows: Iterable[Mapping[str, Any]], found: dict[tuple[int, datetime], datetime]) -> None:
    """For each crash in these rows, updates `found` with the time of the last line."""
    for r in rows:
        key = (r["broker"], r["died"])
        found[key] = max(r["at"], found.get(key, r["at"]))


LAST_WORDS = Fact(
    "last_words",
    pa.list_(pa.struct([("broker", pa.int32()), ("died", pa.timestamp("us")), ("at", pa.timestamp("us"))])),
    "the last lines on it of brokers before they died; `died`: when the process that followed began",
    lambda timeline, cluster: list(last_events(timeline, cluster)),
)
