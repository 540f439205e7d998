"""Rows of a case for one partition: findings and verdict, final state, comparison of files, all timeline steps, and its replicas' offsets,
judged once.

Here: the schema of a row (ROW) and the judge for spark.engine.pipeline.verdicts. Not here: the computation of any of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from forensics.cluster import standing
from forensics.judge import VERDICTS, found_in, verdicts_of
from forensics.partition import offsets, side_by_side
from forensics.story.assembly import steps
from forensics.story.step import STEPS, rows_of
from spark.cluster.facts import Cluster
from spark.engine.pipeline import Judge
from spark.partition.timeline import PartitionTimeline

ROW = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        *VERDICTS,
        ("standing", pa.struct(list(standing.SCHEMA))),
        ("checkpoints", pa.struct(list(side_by_side.SCHEMA))),
        ("step", pa.struct(list(STEPS))),
        ("offset", pa.struct(list(offsets.SCHEMA))),
    ]
)
"""Exactly one of the columns after `cluster` has a value."""


def judge(cluster: Cluster) -> Judge:
    """Rows of ROW for each timeline."""
    return partial(_kept, compare=side_by_side.comparison(cluster, everything=True))


def _kept(timeline: PartitionTimeline, cluster: Cluster, *, compare: Judge) -> Iterator[Mapping[str, Any]]:
    name = {"topic": timeline.topic, "partition": timeline.partition, "cluster": cluster.number}
    found = list(found_in(timeline, cluster))
    for row in verdicts_of(timeline, cluster, found):
        yield {**name, **row}
    for standing_row in standing.standing(timeline, cluster):
        yield {**name, "standing": standing_row}
    for compared in compare(timeline, cluster):
        yield {**name, "checkpoints": compared}
    of_generation = {"generation": timeline.generation, "topic_id": timeline.topic_id}
    for step in rows_of(steps(timeline, cluster, found, everything=True)):
        yield {**name, "step": {**of_generation, **step}}
    for observed in offsets.offsets(timeline):
        yield {**name, "offset": observed}
