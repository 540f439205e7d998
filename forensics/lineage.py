"""The epoch lineage of every replica, side by side: which leader epoch wrote which of its offsets, and where two replicas part.

Here: lineages from epoch files, batches and brokers' own lines; the offset at which two of them part; the lineage of the partition
itself, which decides who was right. Not here: the files' own contradictions (rules.epoch_history_damaged), what was lost by it (loss).
KIP-101: two logs hold the same record at an offset exactly when the same leader epoch wrote it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from spark.events import Event
from spark.replicas import Disk, Removal, Replica
from spark.timeline import PartitionTimeline


@dataclass(frozen=True, slots=True)
class Lineage:
    """(epoch, first offset) of each epoch with records in a log, rising in both; the log holds [start, end)."""

    broker: int
    entries: tuple[tuple[int, int], ...]
    start: int
    end: int
    source: str
    """'epoch-file', 'batches' or 'lines': what tells it, best first."""
    evidence: tuple[Event, ...]

    def epoch_at(self, offset: int) -> int | None:
        """The epoch that wrote the record at this offset, None below the first entry or beyond the log."""
        if not self.start <= offset < self.end:
            return None
        found = bisect_right(self.entries, offset, key=lambda e: e[1]) - 1
        return self.entries[found][0] if found >= 0 else None


@dataclass(frozen=True, slots=True)
class Parting:
    """Two logs hold records of different epochs from `offset` on. `right`: the one whose epoch there is the partition's; None if
    neither or unknown."""

    one: Lineage
    other: Lineage
    offset: int
    right: int | None


@dataclass(frozen=True, slots=True)
class Cut:
    """A follower gave up [start, end) of its log. `reason`: 'leader-epoch': the leader's answer to OffsetsForLeaderEpoch, or a
    diverging epoch in a fetch; 'high-watermark': its own, where no epoch was known; 'latest': the leader's log end offset;
    'truncation': not told, as by Kafka 0.11 to 2.0."""

    broker: int
    start: int
    end: int
    reason: str
    leader: int | None
    told_epoch: int | None
    """Epoch in the leader's answer."""
    right: bool | None
    """The leader's log, where the two part, is the partition's; None where the evidence does not tell."""
    evidence: tuple[Event, ...]


def of_batches(disk: Disk) -> list[tuple[int, int]]:
    """(epoch, first offset) by the batch headers, rising; batches of message format v0 and v1 have no epoch."""
    found: list[tuple[int, int]] = []
    for segment in disk.segments:
        for batch in segment.batches or ():
            if batch["leader_epoch"] >= 0 and (not found or batch["leader_epoch"] > found[-1][0]):
                found.append((batch["leader_epoch"], batch["base_offset"]))
    return found


def _rises(entries: Sequence[tuple[int, int]]) -> bool:
    return all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(entries))


def on_disk(disk: Disk) -> Lineage | None:
    """As the files tell it, None when none does. Batches count for more than the epoch file, which may be damaged; the file knows
    what retention took."""
    batches = of_batches(disk)
    ends = [b["last_offset"] + 1 for s in disk.segments for b in s.batches or ()]
    start = min((s.offset or 0 for s in disk.segments), default=0)
    if disk.log_start is not None and disk.log_start.offset is not None:
        start = max(start, disk.log_start.offset)
    if batches and ends:
        return Lineage(disk.broker, tuple(batches), max(start, batches[0][1]), max(ends), "batches", tuple(disk.segments[-1:]))
    if disk.epochs and _rises(disk.epochs):
        end = disk.log_end_offset
        if end is None:
            end = max(disk.epochs[-1][1], disk.high_watermark.offset or 0 if disk.high_watermark is not None else 0)
        return Lineage(disk.broker, tuple(disk.epochs), max(start, disk.epochs[0][1]), end, "epoch-file", tuple(disk.epoch_events[-2:]))
    return None


def of_lines(replica: Replica) -> Lineage | None:
    """As the broker's own lines tell it: the epochs it led, from the log end offset it began with, and those it noted."""
    entries: list[tuple[int, int]] = []
    evidence: list[Event] = []
    told = [(s.epoch, s.offset, s.event) for s in replica.leader_starts if s.exact and s.offset is not None and not s.restart]
    told += [
        (e.leader_epoch, e.offset, e)
        for e in replica.events
        if e.event == "epoch-assigned" and e.leader_epoch is not None and e.offset is not None
    ]
    for epoch, offset, event in sorted(told, key=lambda t: t[:2]):
        if not entries or (epoch > entries[-1][0] and offset >= entries[-1][1]):
            entries.append((epoch, offset))
            evidence.append(event)
    end = replica.log_end_offset
    if not entries or end is None:
        return None
    return Lineage(replica.broker, tuple(entries), entries[0][1], max(end, entries[-1][1]), "lines", tuple(evidence))


def lineages(timeline: PartitionTimeline) -> dict[int, Lineage]:
    """By broker, what is known best of each: its files, else its lines."""
    found: dict[int, Lineage] = {}
    for broker in sorted({*timeline.disks, *timeline.replicas}):
        disk, replica = timeline.disks.get(broker), timeline.replicas.get(broker)
        lineage = (on_disk(disk) if disk is not None else None) or (of_lines(replica) if replica is not None else None)
        if lineage is not None:
            found[broker] = lineage
    return found


def committed(timeline: PartitionTimeline) -> tuple[tuple[int, int], ...]:
    """The partition's own lineage, rising: a leader's epoch holds from its start offset on, whatever earlier ones had there."""
    found: list[tuple[int, int]] = []
    for term in timeline.terms:
        if term.restart or term.start_offset is None or not term.exact:
            continue
        while found and found[-1][1] >= term.start_offset:
            found.pop()
        found.append((term.epoch, term.start_offset))
    return tuple(found)


def part(one: Lineage, other: Lineage) -> int | None:
    """The first offset at which both hold a record, of different epochs."""
    low, high = max(one.start, other.start), min(one.end, other.end)
    for at in sorted({low, *(start for _, start in (*one.entries, *other.entries))}):
        if low <= at < high:
            a, b = one.epoch_at(at), other.epoch_at(at)
            if a is not None and b is not None and a != b:
                return at
    return None


def partings(timeline: PartitionTimeline) -> list[Parting]:
    """Pairs of replicas whose logs part, as they were when they were last seen. What a broker only said of epochs it led leaves
    out those it followed in, so only lineages from files are held against each other."""
    truth = committed(timeline)
    found = []
    for one, other in combinations([x for x in lineages(timeline).values() if x.source != "lines"], 2):
        at = part(one, other)
        if at is not None:
            found.append(Parting(one, other, at, _right(truth, at, one, other)))
    return found


def _right(truth: Sequence[tuple[int, int]], at: int, one: Lineage, other: Lineage) -> int | None:
    index = bisect_right(truth, at, key=lambda e: e[1]) - 1
    if index < 0:
        return None
    return next((x.broker for x in (one, other) if x.epoch_at(at) == truth[index][0]), None)


_TRUNCATIONS = frozenset({"leader-epoch", "high-watermark", "latest", "truncation"})


def cuts(timeline: PartitionTimeline) -> list[Cut]:
    """What followers gave up to follow a leader, and by which word; in the order of replicas and of their own lines."""
    return [
        _cut(removal, timeline) for replica in timeline.replicas.values() for removal in replica.removals if removal.cause in _TRUNCATIONS
    ]


def _cut(removal: Removal, timeline: PartitionTimeline) -> Cut:
    plan = next((e for e in removal.evidence if e.event in ("truncation-plan", "fetch-offset-reset")), None)
    leader = next((t.leader for t in reversed(timeline.terms) if t.epoch == removal.under_epoch), None)
    return Cut(
        broker=removal.broker,
        start=removal.start,
        end=removal.end,
        reason=removal.cause,
        leader=leader,
        told_epoch=plan.leader_epoch if plan is not None else None,
        right=_agrees(removal, timeline),
        evidence=removal.evidence,
    )


def _agrees(removal: Removal, timeline: PartitionTimeline) -> bool | None:
    """The cut lies where a later epoch of the partition began: what was cut is not of the partition's lineage."""
    starts: Iterable[int] = [
        start
        for epoch, start in committed(timeline)
        if removal.epoch is not None and removal.epoch < epoch <= (removal.under_epoch or epoch)
    ]
    first = min(starts, default=None)
    return None if first is None else removal.start >= first
