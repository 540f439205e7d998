"""What a partition heard last of brokers that died: a process that is killed prints nothing of its end, and may have said nothing of itself for
months, but it tells of its partitions.

Here: the fact. Not here: what brokers were doing (forensics.cluster.broker_states).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from operator import itemgetter
from typing import Any

import pyarrow as pa

from forensics.model import Fact
from spark.cluster.facts import Cluster, once
from spark.cluster.presence import KILLED, spoken
from spark.partition.timeline import PartitionTimeline


def last_words(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[dict[str, Any]]:
    for broker, replica in sorted(timeline.replicas.items()):
        deaths = killed(cluster).get(broker, ())
        own = sorted(e.at for e in replica.events if e.at is not None and spoken(e)) if deaths else []
        word = 0
        while word < len(own) and (place := bisect_right(deaths, own[word], key=_DIED)) < len(deaths):
            since, died = deaths[place]
            word = bisect_left(own, died, word)
            if own[word - 1] > since:
                yield {"broker": broker, "died": died, "at": own[word - 1]}


@once
def killed(cluster: Cluster) -> dict[int, list[tuple[datetime, datetime]]]:
    """The deaths of each node, one after the other: the last line about its process, and when the one that followed began."""
    found: dict[int, list[tuple[datetime, datetime]]] = {}
    for node in cluster.nodes:
        aways = (a for a in cluster.presence(node).aways if a.how == KILLED)
        if own := [(a.since, a.until) for a in aways if a.since is not None and a.until is not None]:
            found[node] = sorted(own, key=_DIED)
    return found


_DIED = itemgetter(1)


def latest(rows: Iterable[Mapping[str, Any]], found: dict[tuple[int, datetime], datetime]) -> None:
    """Adds to `found` of each death the last word in these rows."""
    for r in rows:
        key = (r["broker"], r["died"])
        found[key] = max(r["at"], found.get(key, r["at"]))


LAST_WORDS = Fact(
    "last_words",
    pa.list_(pa.struct([("broker", pa.int32()), ("died", pa.timestamp("us")), ("at", pa.timestamp("us"))])),
    "the last lines on it of brokers before they died; `died`: when the process that followed began",
    lambda timeline, cluster: list(last_words(timeline, cluster)),
)
