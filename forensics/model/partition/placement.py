"""The contribution of a partition to the balance of its cluster: its leaders and preferred leaders, the size of its replicas, the bytes
written.

Here: the facts, made on Spark's tasks. Not here: their totals over all partitions (forensics.model.cluster.balance, durability).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from forensics.model.findings import EVIDENCE, Evidence, Fact
from forensics.model.partition.timeline import PartitionTimeline

MAX_STEPS = 32
"""Maximum number of changes of leader or assignment in a partition's row; the last ones are kept."""
MAX_INTERVALS = 48
"""Maximum number of intervals of traffic in a partition's row; intervals are made longer until that is enough."""
INTERVAL_S = 60
_LAST_S = 253_402_300_800
"""Seconds since 1970 of the year 10000: later timestamps are not real times of records."""


def steps(timeline: PartitionTimeline) -> list[dict[str, Any]]:
    """The last MAX_STEPS changes of leader or preferred leader: at, leader (-1 none), preferred (null if the assignment is unknown)."""
    found: list[dict[str, Any]] = []
    for state in timeline.states_with_describe:
        preferred = timeline.orders.first(state.replicas)
        if not found or (found[-1]["leader"], found[-1]["preferred"]) != (state.leader, preferred):
            found.append({"at": state.at, "leader": state.leader, "preferred": preferred})
    return found[-MAX_STEPS:]


def factor(timeline: PartitionTimeline) -> int | None:
    """The replication factor of the target assignment; None if the assignment is unknown."""
    now = timeline.standing
    return len(set(now.replicas) - set(now.removing)) if now.replicas else None


def last_statement(timeline: PartitionTimeline) -> dict[str, Any] | None:
    """The place of the last statement on leader and assignment, if a rule may want to quote it: for the first partition of each topic,
    and if there is only one replica, or the leader is not the preferred one."""
    seen = steps(timeline)
    if timeline.partition != 0 and factor(timeline) != 1 and (not seen or seen[-1]["leader"] == seen[-1]["preferred"]):
        return None
    event = timeline.standing.event
    return asdict(Evidence.of(event)) if event is not None else None


def sizes(timeline: PartitionTimeline) -> list[dict[str, Any]]:
    """The last sizes of each replica that kafka-log-dirs printed: broker, directory, bytes."""
    found = {
        (e.broker, e.directory): e.bytes
        for e in timeline.of("replica-size")
        if e.broker is not None and e.bytes is not None and e.bytes >= 0
    }
    return [{"broker": b, "directory": d, "bytes": size} for (b, d), size in sorted(found.items(), key=str)][:MAX_INTERVALS]


def traffic(timeline: PartitionTimeline) -> list[dict[str, Any]]:
    """Bytes that were written to the partition, by the leader of the epoch and by interval of the records' times: broker, at, seconds,
    bytes of the batches on disk. Read from the leader's disk, else from the disk that reaches furthest.

    Producers choose their records' times. Data that retention or compaction removed is not counted.
    """
    disks = {b: d for b, d in timeline.collected_logs.items() if d.segments}
    leader = timeline.standing.leader
    best = leader if leader in disks else max(disks, key=lambda b: disks[b].reach or 0, default=None)
    if best is None:
        return []
    led = _Led(timeline)
    seconds: dict[tuple[int, int], int] = defaultdict(int)
    for segment in disks[best].segments:
        for b in segment.batches or ():
            at = b["max_timestamp"] // 1000
            leader = led.by(b["leader_epoch"], at)
            if leader is not None and 0 < at < _LAST_S and not b["control"]:
                seconds[(leader, at // INTERVAL_S)] += b["bytes"]
    return _intervals(seconds)


class _Led:
    """The leader when a batch was written: by the batch's leader epoch; without one, by its time."""

    def __init__(self, timeline: PartitionTimeline) -> None:
        self.epochs = {t.epoch: t.leader for t in timeline.terms}
        self.times = sorted((s.at, s.leader) for s in timeline.states if s.at is not None)

    def by(self, epoch: int, seconds: int) -> int | None:
        if epoch >= 0 or not 0 < seconds < _LAST_S:
            return self.epochs.get(epoch)
        found = bisect_right(self.times, datetime(1970, 1, 1) + timedelta(seconds=seconds), key=lambda t: t[0])
        leader = self.times[found - 1][1] if found else -1
        return leader if leader >= 0 else None


def _intervals(found: Mapping[tuple[int, int], int]) -> list[dict[str, Any]]:
    """Intervals, doubled in length until there are few enough, or nothing is left to join."""
    now, width = dict(found), INTERVAL_S
    while len(now) > MAX_INTERVALS and width < _LAST_S:
        joined: dict[tuple[int, int], int] = defaultdict(int)
        for (broker, index), count in now.items():
            joined[(broker, index // 2)] += count
        now, width = joined, width * 2
    return [
        {"broker": broker, "at": datetime(1970, 1, 1) + timedelta(seconds=index * width), "seconds": width, "bytes": count}
        for (broker, index), count in sorted(now.items())
    ]


STEPS = Fact(
    "steps",
    pa.list_(pa.struct([("at", pa.timestamp("us")), ("leader", pa.int32()), ("preferred", pa.int32())])),
    "changes of leader or preferred leader, the last ones",
    lambda timeline, _: steps(timeline),
)
FACTOR = Fact("factor", pa.int32(), "the replication factor the assignment aims at", lambda timeline, _: factor(timeline))
STATEMENT = Fact(
    "statement",
    EVIDENCE,
    "the line that states leader and assignment; null if no rule quotes it",
    lambda timeline, _: last_statement(timeline),
)
SIZES = Fact(
    "sizes",
    pa.list_(pa.struct([("broker", pa.int32()), ("directory", pa.string()), ("bytes", pa.int64())])),
    "sizes of the replicas",
    lambda timeline, _: sizes(timeline),
)
WRITTEN = Fact(
    "traffic",
    pa.list_(pa.struct([("broker", pa.int32()), ("at", pa.timestamp("us")), ("seconds", pa.int64()), ("bytes", pa.int64())])),
    "bytes written to its leaders by interval",
    lambda timeline, _: traffic(timeline),
)
