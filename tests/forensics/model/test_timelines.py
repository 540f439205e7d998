"""The loop that judges partitions."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from forensics.incidents.judging import VERDICTS, judge_partition
from forensics.model.cluster.facts import Cluster
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.timelines import identified, judged
from forensics.words.rows import Worded
from tests.support import local, recorded


def test_a_judged_timeline_is_freed_without_a_search_for_cycles() -> None:
    table = recorded.events("clean-failover-2.8.2-zk")
    cluster, resolver = local.gathered(table)
    seen: list[weakref.ref[PartitionTimeline]] = []

    def judge(timeline: PartitionTimeline, own: Cluster) -> Iterator[Mapping[str, Any]]:
        seen.append(weakref.ref(timeline))
        yield from Worded(judge_partition)(timeline, own)

    gc.disable()
    try:
        rows = sum(batch.num_rows for batch in judged(identified(table, resolver, cluster), cluster, judge, VERDICTS))
        assert rows >= len(seen) > 0
        assert not any(timeline() for timeline in seen)
    finally:
        gc.enable()
