"""segment-corrupt: a segment file contains invalid batches, or batches whose offsets contradict each other.

Here: damage in the collected logs, and the other logs that have valid batches at these offsets. Not here: damage that a broker found when
it loaded its log (data_loss, log_wiped_at_load), checkpoints (checkpoint_corrupt), and the torn end after an unclean stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, Range, said, values
from forensics.model.partition.damaged import DamagedStretch, Overlap
from forensics.model.partition.replicas import Disk, disk
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.times import grouped
from parsers.kinds import ON_DISK
from parsers.paths import name_of


@dataclass(frozen=True, slots=True)
class _Log:
    disk: Disk
    latest: bool
    """The newest collection of its broker contains the log."""

    @property
    def broker(self) -> int:
        return self.disk.broker

    @property
    def live(self) -> bool:
        """Whether the log is the broker's current replica of the partition."""
        return self.latest and self.disk.state is None


@dataclass(frozen=True, slots=True)
class _Damage:
    stretch: DamagedStretch
    holders: tuple[int, ...]
    """Brokers whose logs have valid batches at all of its offsets, in leader epochs that fit."""

    @property
    def offsets(self) -> Range | None:
        """None if the batches before and after it leave no offset between them."""
        end = self.stretch.estimated_end
        return Range(self.stretch.start, end) if end is None or end > self.stretch.start else None


NEEDS = ON_DISK


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for log in _logs(timeline):
        if log.disk.damaged or log.disk.extent.overlaps:
            damages = [_Damage(s, tuple(_holders(s, log, timeline))) for s in log.disk.damaged]
            yield _finding(log, damages, log.disk.extent.overlaps, timeline)


def _logs(timeline: PartitionTimeline) -> Iterator[_Log]:
    """The newest collected log of each broker, its directories that are stray or wait for deletion, then earlier collections."""
    yield from (_Log(found, True) for _, found in sorted(timeline.collected_logs.items()))
    yield from (_Log(found, True) for _, aside in sorted(timeline.stray_logs.items()) for found in aside if found.state != "future")
    latest = {broker: log.collection for broker, log in timeline.collected_logs.items()}
    earlier = grouped(
        ((s.writer, s.collection or ""), s)
        for s in timeline.segments
        if s.writer is not None and s.reason is None and (s.writer not in latest or latest[s.writer] != s.collection)
    )
    yield from (_Log(disk(broker, collection, own), False) for (broker, collection), own in sorted(earlier.items()))


def _holders(stretch: DamagedStretch, log: _Log, timeline: PartitionTimeline) -> Iterator[int]:
    low, high = _epochs_around(stretch, log.disk)
    for broker, other in sorted(timeline.collected_logs.items()):
        if (broker != log.broker or not log.live) and _holds(other, stretch, low, high, timeline.cleaned):
            yield broker


def _epochs_around(stretch: DamagedStretch, damaged: Disk) -> tuple[int, int | None]:
    """The leader epochs of the batches before and after a stretch, which bound those of the damaged batches. None: unknown."""
    before = [b["leader_epoch"] for b in damaged.batches() if b["last_offset"] < stretch.start]
    after = [b["leader_epoch"] for b in damaged.batches() if stretch.end is not None and b["base_offset"] >= stretch.end]
    last = max((epoch for epoch, _ in damaged.epochs), default=None)
    return (before[-1] if before else -1), (after[0] if after else last)


def _holds(other: Disk, stretch: DamagedStretch, low: int, high: int | None, cleaned: bool | None) -> bool:
    start, end = stretch.start, stretch.estimated_end
    batches = [b for b in other.batches() if b["last_offset"] >= start and (end is None or b["base_offset"] < end)]
    if not batches or not all(_fits(b["leader_epoch"], low, high) for b in batches):
        return False
    covered = batches[0]["base_offset"] <= start and (end is None or batches[-1]["last_offset"] + 1 >= end)
    complete = bool(cleaned) or (covered and not any(last > start and (end is None or first < end) for first, last in other.extent.holes))
    return complete and not other.damaged_within(start, end if end is not None else start + 1)


def _fits(epoch: int, low: int, high: int | None) -> bool:
    return epoch >= low and (high is None or epoch <= high)


def _has_last_batch(other: Disk, damaged: Disk) -> bool:
    """The last valid batch of the damaged log is in the other log, so the other log has all its records."""
    last = max(damaged.batches(), key=lambda b: b["last_offset"], default=None)
    return last is None or any((b["base_offset"], b["crc"]) == (last["base_offset"], last["crc"]) for b in other.batches())


_MAX_DESCRIBED = 5
"""Number of damaged places that a text describes."""
_REASONS = frozenset({"crc", "offset", "length", "magic", "torn-tail", "preallocated"})
"""Kinds of damage with a phrase."""


def _finding(log: _Log, damages: Sequence[_Damage], overlaps: Sequence[Overlap], timeline: PartitionTimeline) -> Finding:
    leads = log.live and timeline.standing.leader == log.broker
    alone = any(d.offsets is not None and not d.holders for d in damages)
    offsets = tuple(d.offsets for d in damages if d.offsets is not None) or tuple(Range(o.start, o.end) for o in overlaps)
    found = [*map(_described, damages[:_MAX_DESCRIBED]), *(_overlapping(o) for o in overlaps[:_MAX_DESCRIBED])]
    files = list(dict.fromkeys([*(d.stretch.segment.source for d in damages), *(o.segment.source for o in overlaps)]))
    log_end, reach = log.disk.log_end_offset, log.disk.reach
    return Finding(
        severity="high" if leads or alone else "medium" if log.disk.state is None else "low",
        confidence="certain",
        brokers=(log.broker,),
        leader_epoch=timeline.standing.leader_epoch,
        offsets=offsets,
        values=values(
            damaged=bool(damages),
            file=name_of(files[0]),
            more_files=len(files) - 1 or None,
            ranges=offsets[:_MAX_DESCRIBED],
            more_ranges=len(offsets) - _MAX_DESCRIBED if len(offsets) > _MAX_DESCRIBED else None,
            places=tuple(found),
            hidden=len(damages) + len(overlaps) - len(found) or None,
            cut=log_end if log.disk.extent.recovery_cuts else None,
            cut_valid=reach - 1 if log_end is not None and reach is not None and reach > log_end else None,
            leads=leads,
            steps=tuple(_steps(log, damages, leads, timeline)),
        ),
        evidence=quote(_events(damages, overlaps, timeline)),
    )


def _described(damage: _Damage) -> Message:
    stretch, offsets = damage.stretch, damage.offsets
    reason = said(f"segment-corrupt/{stretch.reason}") if stretch.reason in _REASONS else stretch.reason
    return said(
        "segment-corrupt/place",
        source=stretch.segment.source,
        byte=stretch.byte,
        end_byte=stretch.end_byte,
        reason=reason,
        lost=offsets,
        by_headers=stretch.end is None and offsets is not None and offsets.end is not None,
        holders=damage.holders,
    )


def _overlapping(overlap: Overlap) -> Message:
    return said("segment-corrupt/overlap", source=overlap.segment.source, start=overlap.start, reached=overlap.end - 1)


def _steps(log: _Log, damages: Sequence[_Damage], leads: bool, timeline: PartitionTimeline) -> Iterator[Message]:
    broker = {"broker": log.broker}
    if not log.latest:
        yield said("segment-corrupt/other-copy", collection=log.disk.collection, **broker)
        return
    directory = (log.disk.directory or timeline.name).rpartition("/")[2]
    yield said("segment-corrupt/copy", directory=directory, cuts=log.disk.extent.recovery_cuts, **broker)
    yield from _steps_with_other_replicas(log, damages, leads, timeline)
    yield said("segment-corrupt/check-disk", **broker)


def _steps_with_other_replicas(log: _Log, damages: Sequence[_Damage], leads: bool, timeline: PartitionTimeline) -> Iterator[Message]:
    common = tuple(
        b for b in timeline.collected_logs if b != log.broker and damages and all(b in d.holders for d in damages if d.offsets is not None)
    )
    if not common:
        yield said("segment-corrupt/collect")
    elif not any(_has_last_batch(timeline.collected_logs[b], log.disk) for b in common):
        yield said("segment-corrupt/keep-copy", others=common)
    elif log.live:
        held = common if any(d.offsets is not None for d in damages) else None
        yield said("segment-corrupt/copy-again", broker=log.broker, first=common[0] if leads else None, held=held)


def _events(damages: Sequence[_Damage], overlaps: Sequence[Overlap], timeline: PartitionTimeline) -> list[Event]:
    """The reader's events for each damaged place, and the segments."""
    places = {(d.stretch.segment.source, d.stretch.byte) for d in damages}
    disordered = {o.segment.source for o in overlaps}
    events = (e for e in timeline.of("log-corruption") if e.pattern == "segment")
    found = [e for e in events if (e.source, e.byte) in places or (e.reason == "offset-order" and e.source in disordered)]
    return [*found, *dict.fromkeys([*(d.stretch.segment for d in damages), *(o.segment for o in overlaps)])]
