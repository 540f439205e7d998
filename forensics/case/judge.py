"""Rows of a case for one partition: findings and verdict, final state, comparison of files, all timeline steps, and its replicas' offsets,
judged once.

Here: the schema of a row (ROW) and the judge for forensics.jobs.verdicts. Not here: the computation of any of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from forensics.incidents.judging import VERDICTS, found_in, verdicts_of
from forensics.model.cluster import final_state
from forensics.model.cluster.facts import Cluster
from forensics.model.partition import offsets
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.timelines import Judge
from forensics.tools import checkpoint_diff
from forensics.views.story.assembly import steps
from forensics.views.story.step import STEPS, rows_of
from forensics.words.rows import worded

ROW = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        *VERDICTS,
        ("standing", pa.struct(list(final_state.SCHEMA))),
        ("checkpoints", pa.struct(list(checkpoint_diff.SCHEMA))),
        ("step", pa.struct(list(STEPS))),
        ("offset", pa.struct(list(offsets.SCHEMA))),
    ]
)
"""Exactly one of the columns after `cluster` has a value."""


def judge(cluster: Cluster) -> Judge:
    """Rows of ROW for each timeline."""
    return partial(_kept, compare=checkpoint_diff.comparison(cluster, everything=True))


def _kept(timeline: PartitionTimeline, cluster: Cluster, *, compare: Judge) -> Iterator[Mapping[str, Any]]:
    name = {"topic": timeline.topic, "partition": timeline.partition, "cluster": cluster.number}
    found = list(found_in(timeline, cluster))
    for row in verdicts_of(timeline, cluster, found):
        yield {**name, **worded(row)}
    for standing_row in final_state.standing(timeline, cluster):
        yield {**name, "standing": standing_row}
    for compared in compare(timeline, cluster):
        yield {**name, "checkpoints": compared}
    of_generation = {"generation": timeline.generation, "topic_id": timeline.topic_id}
    for step in rows_of(steps(timeline, cluster, found, everything=True)):
        yield {**name, "step": {**of_generation, **step}}
    for observed in offsets.offsets(timeline):
        yield {**name, "offset": observed}
