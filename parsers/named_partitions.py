"""The bound on the partitions that one file names: a line of 2 kB can name 120, and each of them is judged.

Here: which events of a file stay. Not here: the bound (parsers.limits), or the same for checkpoints, which are not read further
(parsers.formats.checkpoints).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa

from parsers.limits import in_force
from parsers.schemas import Row, Rows, problem

_NAME = ("topic", "partition")


class NamedPartitions:
    """The first partitions that a file, or a part of it, names. Events of further ones are left out."""

    def __init__(self) -> None:
        self._most = in_force().named
        self._known: dict[str, set[int]] = defaultdict(set)
        self._count = 0
        self._left_out = 0

    def within(self, events: Rows) -> Rows | None:
        """The events about no partition or one of the first; None if there are none."""
        if not isinstance(events, pa.RecordBatch):
            return events if self._stays(events.get("topic"), events.get("partition")) else None
        names = pa.Table.from_batches([events.select(_NAME)]).group_by(_NAME, use_threads=False).aggregate([]).to_pylist()
        further = {(n["topic"], n["partition"]) for n in names if not self._has_room(n["topic"], n["partition"])}
        if not further:
            return events
        stay = [(t, p) not in further for t, p in zip(events["topic"].to_pylist(), events["partition"].to_pylist(), strict=True)]
        self._left_out += stay.count(False)
        return events.filter(pa.array(stay)) if any(stay) else None

    def _stays(self, topic: str | None, partition: int | None) -> bool:
        stays = self._has_room(topic, partition)
        self._left_out += not stays
        return stays

    def _has_room(self, topic: str | None, partition: int | None) -> bool:
        if topic is None or partition is None or partition in self._known[topic]:
            return True
        if self._count >= self._most:
            return False
        self._known[topic].add(partition)
        self._count += 1
        return True

    def __getstate__(self) -> dict[str, Any]:
        """Of a part of a file, only the count travels."""
        return {**self.__dict__, "_known": defaultdict(set)}

    def follow(self, later: NamedPartitions) -> None:
        """Adds the count of a later part of the file."""
        self._left_out += later._left_out

    def trouble(self, path: str) -> Row | None:
        """The problem that says what was left out."""
        if not self._left_out:
            return None
        text = (
            f"{path}: more than {self._most} partitions; events of further partitions that are left out: {self._left_out} (--limit named)"
        )
        return problem("many-partitions", text)
