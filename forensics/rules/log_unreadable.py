"""log-unreadable: a leader could not read its log for a fetch, because the file is damaged or cannot be read.

Here: what the leader printed when a follower or a consumer fetched, also from above the high watermark. Not here: damage in the collected files (segment_corrupt), damage that
recovery finds at a start (data_loss), followers that refuse what they get (fetch_failing).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.message import Range
from forensics.model.partition.timeline import PartitionTimeline

_OFFSET = re.compile(r"offset \((\d+)\)")


def read(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    offsets = [e.offset for e in errors if e.offset is not None and e.offset >= 0]
    return {"read": Range(min(offsets), max(offsets) + 1) if offsets else None}


def above(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    watermark, asked = map(int, _OFFSET.findall(errors[-1].key or "")[:2])
    return {"watermark": watermark, "asked": asked}
