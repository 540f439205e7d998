"""What a partition heard last of brokers that died: a process that is killed prints nothing of its end, and may have said nothing of itself for
months, but it tells of its partitions.

Here: the fact. Not here: what brokers were doing (forensics.cluster.broker_states).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

from forensics.model import Fact
from forensics.partition.remembered import last_kept
from spark.cluster.facts import Cluster
from spark.cluster.presence import KILLED, Away, spoken
from spark.partition.timeline import PartitionTimeline


def last_words(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[dict[str, Any]]:
    for broker, replica in sorted(timeline.replicas.items()):
        for away in killed(cluster).get(broker, ()):
            if away.since is not None and away.until is not None:
                own = [e.at for e in replica.events if e.at is not None and away.since < e.at < away.until and spoken(e)]
                if own:
                    yield {"broker": broker, "died": away.until, "at": max(own)}


@last_kept
def killed(cluster: Cluster) -> dict[int, list[Away]]:
    """The deaths of each node."""
    found: dict[int, list[Away]] = {}
    for node in cluster.nodes:
        if own := [a for a in cluster.presence(node).aways if a.how == KILLED]:
            found[node] = own
    return found


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
