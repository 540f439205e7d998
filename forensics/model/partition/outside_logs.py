"""Batches in files that Kafka renamed, which no collected log of the partition contains.

Here: which batches these are, and how the log differs there. Not here: what they prove about losses (forensics.proof.removed), or which of
them salvage writes (salvageable).

Source: LocalLog and LogLoader of Apache Kafka. Whole segment files become `.deleted` if retention removes the start of a log, a truncation
or a recovery its end, and the log cleaner or a split replaces its middle; a minute later, or at the next start, they are removed.
`.cleaned` and `.swap` files are copies of segments that are still, or were, in the log. Directories `-delete`, `-stray` and `-future`
contain whole logs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from forensics.model.events import Event
from forensics.model.partition.replicas import ASIDE, RENAMED_FILES, Disk
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.times import runs
from parsers.frozen import dataclass

BEYOND, REPLACED, MISSING = "beyond", "replaced", "missing"
"""The log ends before the batch; it has records of other leader epochs at these offsets; it has none there, and the log cleaner is off."""


@dataclass(frozen=True, slots=True)
class OutsideBatch:
    """A batch that no collected log of the partition contains."""

    segment: Event
    batch: Mapping[str, Any]
    log: Disk
    """The log that it was compared with: that of the same broker, else the leader's."""
    difference: str
    other_topic: bool
    """It is from a directory `-delete` without a topic id, which may be of an earlier topic of this name."""

    @property
    def directory(self) -> str:
        return self.segment.source.rpartition("/")[0]

    @property
    def start(self) -> int:
        return int(self.batch["base_offset"])

    @property
    def end(self) -> int:
        return int(self.batch["last_offset"]) + 1

    @property
    def epoch(self) -> int:
        return int(self.batch["leader_epoch"])


@cached_on_timeline
def outside_logs(timeline: PartitionTimeline) -> tuple[OutsideBatch, ...]:
    """By file and offset. Batches that retention or DeleteRecords removed, and those that the log cleaner may have removed, do not count;
    neither do logs of a deleted topic, nor files without a log to compare them with."""
    renamed = [s for s in timeline.segments if s.reason in RENAMED_FILES | ASIDE]
    logs = {broker: _Batches(log) for broker, log in timeline.collected_logs.items() if log.segments} if renamed else {}
    if not logs or timeline.generation < 0:
        return ()
    known = {_identity(b) for log in logs.values() for b in log.batches}
    with_id = {disk.directory for disks in timeline.stray_logs.values() for disk in disks if disk.topic_id and timeline.topic_id}
    leader = timeline.standing.leader
    found: list[OutsideBatch] = []
    for segment in sorted(renamed, key=lambda s: (s.source, s.byte or 0)):
        own = logs.get(segment.writer) if segment.writer is not None else None
        log = own or (logs.get(leader) if leader is not None else None)
        if log is None:
            continue
        other_topic = segment.reason == "delete" and segment.source.rpartition("/")[0] not in with_id
        start = max(timeline.log_start(broker) or 0 for broker in (log.disk.broker, leader) if broker is not None)
        for batch in segment.batches or ():
            if batch["last_offset"] >= start and _identity(batch) not in known:
                difference = _difference(batch, log, timeline.cleaned)
                if difference is not None and not (difference == BEYOND and own is None and _saved_before(log.disk, segment)):
                    found.append(OutsideBatch(segment, batch, log.disk, difference, other_topic))
    return tuple(found)


def runs_of(batches: Sequence[OutsideBatch]) -> Iterator[list[OutsideBatch]]:
    """Batches of one directory and one leader epoch without missing offsets between them."""
    return runs(batches, lambda own, b: (own[-1].directory, own[-1].epoch, own[-1].end) == (b.directory, b.epoch, b.start))


class _Batches:
    """The batches of a log by offset."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.batches = sorted(disk.batches(), key=lambda b: b["base_offset"])
        self._rises = all(a["last_offset"] < b["base_offset"] for a, b in pairwise(self.batches))
        self._starts = [b["base_offset"] for b in self.batches]

    def at(self, start: int, end: int) -> Iterator[Mapping[str, Any]]:
        """Those with some of the offsets [start, end)."""
        first = max(bisect_right(self._starts, start) - 1, 0) if self._rises else 0
        for batch in self.batches[first:]:
            if batch["base_offset"] >= end and self._rises:
                return
            if batch["base_offset"] < end and batch["last_offset"] >= start:
                yield batch


def _identity(batch: Mapping[str, Any]) -> tuple[int, int, int]:
    return batch["base_offset"], batch["leader_epoch"], batch["crc"]


def _difference(batch: Mapping[str, Any], log: _Batches, cleaned: bool | None) -> str | None:
    """How the log differs at these offsets; None if it has records of the same epoch there, or the log cleaner may have removed them."""
    reached = log.disk.reached(cleaned)
    if reached is None or batch["base_offset"] >= reached:
        return BEYOND
    epoch = batch["leader_epoch"]
    there = {b["leader_epoch"] for b in log.at(batch["base_offset"], batch["last_offset"] + 1)}
    if there:
        return REPLACED if epoch >= 0 and min(there) >= 0 and epoch not in there else None
    return MISSING if cleaned is False else None


def _saved_before(log: Disk, segment: Event) -> bool:
    """The log of another broker may have been saved before these records were written."""
    return log.as_of is None or segment.at is None or log.as_of < segment.at
