"""The epoch lineages of replicas compared: where two of them diverge, which was right, which was cut and for what reason.

Here: the offset at which two lineages diverge; the lineage of the partition itself, which decides which was right. Not here: the lineage of
one log from its files (forensics.model.partition.lineage), contradictions within it (forensics.rules.epoch_history_damaged), what was lost
by a divergence (losses).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, combinations
from typing import Any

from forensics.model.events import Event
from forensics.model.message import Message, said
from forensics.model.partition.lineage import Entry, Lineage
from forensics.model.partition.replicas import ASIDE, Disk, Removal, Replica
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.times import grouped
from parsers.frozen import dataclass
from parsers.kinds import Role, of
from parsers.schemas import INT64


@dataclass(frozen=True, slots=True)
class Parting:
    """Two logs hold records of different epochs from `offset` on. `right`: the broker whose epoch there is the partition's; None if neither
    or unknown."""

    one: Lineage
    other: Lineage
    offset: int
    right: int | None


@dataclass(frozen=True, slots=True)
class Cut:
    """A follower removed [start, end) of its log. `reason`: 'leader-epoch': the leader's answer to OffsetsForLeaderEpoch, or a diverging
    epoch in a fetch; 'high-watermark': its own, where no epoch was known; 'latest': the leader's log end offset; 'truncation': not printed,
    as by Kafka 0.11 to 2.0."""

    broker: int
    start: int
    end: int
    reason: str
    leader: int | None
    answered_epoch: int | None
    """Epoch in the leader's answer."""
    right: bool | None
    """Where the two logs diverge, the leader's is the partition's; None if the evidence does not show it."""
    evidence: tuple[Event, ...]


LINES = "lines"
"""Source of a lineage from the broker's own lines."""


def of_lines(replica: Replica) -> Lineage | None:
    """The lineage from the broker's own lines: the epochs it led, from the log end offset it began with, and those it noted."""
    entries: list[Entry] = []
    for epoch, offset, event in sorted(_epoch_starts(replica), key=lambda start: start[:2]):
        if not entries or (epoch > entries[-1].epoch and offset >= entries[-1].start):
            entries.append(Entry(epoch, offset, offset, event))
    end = replica.log_end_offset
    if not entries or end is None:
        return None
    evidence = tuple(e.event for e in entries if e.event is not None)
    return Lineage(replica.broker, tuple(entries), entries[0].start, max(end, entries[-1].start), LINES, evidence)


def _epoch_starts(replica: Replica) -> Iterator[tuple[int, int, Event]]:
    """Leader epochs with their start offsets and the lines that show them."""
    yield from ((s.epoch, s.offset, s.event) for s in replica.leader_starts if s.exact and s.offset is not None and not s.restart)
    for e in replica.events:
        if e.event == "epoch-assigned" and e.leader_epoch is not None and e.offset is not None:
            yield e.leader_epoch, e.offset, e


@cached_on_timeline
def lineages(timeline: PartitionTimeline) -> dict[int, Lineage]:
    """By broker, the best known lineage of each: from its files, else from its lines."""
    found: dict[int, Lineage] = {}
    for broker in sorted({*timeline.collected_logs, *timeline.replicas}):
        replica = timeline.replicas.get(broker)
        lineage = timeline.lineages.get(broker) or (of_lines(replica) if replica is not None else None)
        if lineage is not None:
            found[broker] = lineage
    return found


def committed(timeline: PartitionTimeline) -> tuple[tuple[int, int], ...]:
    """The partition's own lineage, rising: a leader's epoch is valid from its start offset on, whatever earlier leaders had there."""
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
    for at in sorted({low, *(e.start for e in (*one.entries, *other.entries))}):
        if low <= at < high:
            a, b = one.epoch_at(at), other.epoch_at(at)
            if a is not None and b is not None and a != b:
                return at
    return None


def same_batches(one: Disk, other: Disk, cleaned: bool | None) -> dict[int, bool | None]:
    """Each base offset at which both logs have a batch, with whether the batches are the same; None if the log cleaner may have made the
    difference, or if the records may be equal (`repacked_batches`). The cleaner rewrites some batches and copies others unchanged, at its
    own pace on each replica, and keeps their base offset, last offset and epoch (MemoryRecords.filterTo). A batch that lacks no records is
    as it was appended."""
    a, b = (_by_offset(d, cleaned) for d in (one, other))
    return {offset: _same(a[offset], b[offset], cleaned) for offset in sorted(a.keys() & b.keys())}


def _by_offset(disk: Disk, cleaned: bool | None) -> dict[int, Mapping[str, Any]]:
    """The batches by base offset, without those whose base offset may be wrong, because no checksum covers it: another batch of the log
    contradicts it, or it follows a hole that the log cleaner did not make."""
    batches = list(disk.batches())
    reached = accumulate((b["last_offset"] for b in batches), max, initial=-1)
    later = list(accumulate((b["base_offset"] for b in reversed(batches)), min, initial=INT64.stop))[-2::-1]
    end = disk.extent.unbroken if cleaned is False else None
    return {
        b["base_offset"]: b
        for b, before, after in zip(batches, reached, later, strict=False)
        if before < b["base_offset"] and b["last_offset"] < after and (end is None or b["base_offset"] < end)
    }


def _same(one: Mapping[str, Any], other: Mapping[str, Any], cleaned: bool | None) -> bool | None:
    if one["crc"] == other["crc"]:
        return True
    return False if _not_by_cleaner(one, other, cleaned) and not _repacked(one, other) else None


def _not_by_cleaner(one: Mapping[str, Any], other: Mapping[str, Any], cleaned: bool | None) -> bool:
    """Whether the log cleaner cannot have made the difference between these batches."""
    epochs = {one["leader_epoch"], other["leader_epoch"]}
    return bool(cleaned is False or (one["whole"] and other["whole"]) or (len(epochs) == 2 and min(epochs) >= 0))


_KEPT = ("leader_epoch", "producer_id", "producer_epoch", "base_sequence", "control", "append_time", "base_timestamp")
"""Header fields that stay the same if the first batch of a range is compressed or batched again."""


def _repacked(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the headers allow that the batches hold the same records: tools that copy files outside of Kafka may compress or batch them
    again. Only their bodies would show it. Batches from two producers' requests have other timestamps or sequences."""
    if one["base_timestamp"] < 0 or one["leader_epoch"] < 0 or any(one[name] != other[name] for name in _KEPT):
        return False
    if one["last_offset"] != other["last_offset"]:
        return True
    return bool(one["max_timestamp"] == other["max_timestamp"] and {one["codec"], other["codec"]} != {"none"})


def repacked_batches(one: Disk, other: Disk, cleaned: bool | None) -> dict[int, int]:
    """By base offset, the leader epoch of batches with different checksums whose records may be equal, and which the log cleaner did not
    rewrite."""
    a, b = (_by_offset(d, cleaned) for d in (one, other))
    pairs = ((offset, a[offset], b[offset]) for offset in sorted(a.keys() & b.keys()) if a[offset]["crc"] != b[offset]["crc"])
    return {offset: x["leader_epoch"] for offset, x, y in pairs if _not_by_cleaner(x, y, cleaned) and _repacked(x, y)}


def same_epoch_conflicts(one: Disk, other: Disk, same: Mapping[int, bool | None]) -> dict[int, int]:
    """By base offset, the leader epoch in which both logs hold a batch there with different contents, which the log cleaner did not cause.

    An epoch has one leader, and followers copy its batches unchanged: no election explains it, and no truncation by leader epochs removes
    it. Batches of old formats have no epoch and do not count. `same`: the result of same_batches for the two logs.
    """
    differ = {offset for offset, alike in same.items() if alike is False}
    if not differ:
        return {}
    epochs = {b["base_offset"]: b["leader_epoch"] for b in one.batches() if b["base_offset"] in differ}
    equal = {b["base_offset"] for b in other.batches() if 0 <= b["leader_epoch"] == epochs.get(b["base_offset"], -1)}
    return {offset: epochs[offset] for offset in sorted(equal)}


_WHOLE = frozenset({None, "deleted", *ASIDE})
"""States of files with the contents that they had as part of a log."""


@dataclass(frozen=True, slots=True)
class StoredLog:
    """A log of the partition in one directory of one collection."""

    broker: int | None
    collection: str
    directory: str
    state: str | None = None
    """None: the current log. Otherwise what Kafka renamed its directory or its files for."""

    @property
    def said(self) -> Message:
        return said("log/stored", directory=self.directory, broker=self.broker, deleted=self.state == "deleted")


@dataclass(frozen=True, slots=True)
class CopyConflict:
    """Two stored logs hold different batches at the same offsets and in the same leader epochs."""

    one: StoredLog
    other: StoredLog
    spans: tuple[tuple[int, int], ...]
    """[start, end) of each batch, rising."""
    proven: bool
    """Their records differ. Otherwise they may be equal, in batches that were compressed or batched again."""
    agree: bool
    """Other batches of the two logs are identical, so that both are copies of one partition."""
    evidence: tuple[Event, ...]


def copy_conflicts(timeline: PartitionTimeline) -> list[CopyConflict]:
    """Conflicts between the logs that one broker has in several collections or directories; for logs that are not a broker's current one,
    also conflicts with other brokers: those of earlier collections, those that Kafka put aside, and those of unknown brokers. A log of a
    deleted or stray replica that has no batch in common with the other one is that of an earlier topic of this name."""
    logs = _stored_logs(timeline)
    earlier = {log.broker for log in logs} - {broker for broker, disk in timeline.collected_logs.items() if disk.segments}
    others = {log for log in logs if log.broker in earlier or log.broker is None or log.state is not None}
    pairs = ((a, b) for a, b in combinations(logs, 2) if a.broker == b.broker or not others.isdisjoint({a, b}))
    found = (_conflict(a, b, logs, timeline.cleaned) for a, b in pairs)
    return [c for c in found if c is not None and (c.agree or _REMOVED.isdisjoint({c.one.state, c.other.state}))]


_REMOVED = frozenset({"delete", "stray"})
"""States of the directories of replicas that were removed."""


def _stored_logs(timeline: PartitionTimeline) -> dict[StoredLog, list[Event]]:
    """Segments of each log; `reason` marks those that are put aside, replaced, or not complete yet, and the last two are left out."""
    whole = (s for s in timeline.segments if s.reason in _WHOLE)
    return grouped((StoredLog(s.writer, s.collection or "", s.source.rpartition("/")[0], s.reason), s) for s in whole)


def _conflict(one: StoredLog, other: StoredLog, logs: Mapping[StoredLog, Sequence[Event]], cleaned: bool | None) -> CopyConflict | None:
    a, b = (Disk(log.broker if log.broker is not None else -1, log.collection, segments=list(logs[log])) for log in (one, other))
    same = same_batches(a, b, cleaned)
    proven = same_epoch_conflicts(a, b, same)
    conflicts = proven or repacked_batches(a, b, cleaned)
    if not conflicts:
        return None
    spans = tuple((batch["base_offset"], batch["last_offset"] + 1) for batch in a.batches() if batch["base_offset"] in conflicts)
    return CopyConflict(one, other, spans, bool(proven), any(same.values()), (*logs[one][:1], *logs[other][:1]))


def partings(timeline: PartitionTimeline) -> list[Parting]:
    """Pairs of replicas whose logs diverge, in their last known state. A broker's lines name the epochs that it led, but not those in which
    it followed, so only lineages from files are compared."""
    truth = committed(timeline)
    pairs = combinations([x for x in lineages(timeline).values() if x.source != LINES], 2)
    return [Parting(*pair, at, _right(truth, at, *pair)) for pair in pairs if (at := part(*pair)) is not None]


def _right(truth: Sequence[tuple[int, int]], at: int, one: Lineage, other: Lineage) -> int | None:
    index = bisect_right(truth, at, key=lambda e: e[1]) - 1
    if index < 0:
        return None
    return next((x.broker for x in (one, other) if x.epoch_at(at) == truth[index][0]), None)


_PLANS = of(role=Role.PLAN)
_TRUNCATIONS = frozenset({"leader-epoch", "high-watermark", "latest", "truncation"})


def cuts(timeline: PartitionTimeline) -> list[Cut]:
    """The parts that followers removed to follow a leader, and the reasons; by replica and in the order of its own lines."""
    return [
        _cut(removal, timeline) for replica in timeline.replicas.values() for removal in replica.removals if removal.cause in _TRUNCATIONS
    ]


def _cut(removal: Removal, timeline: PartitionTimeline) -> Cut:
    plan = next((e for e in removal.evidence if e.event in _PLANS), None)
    leader = next((t.leader for t in reversed(timeline.terms) if t.epoch == removal.under_epoch), None)
    return Cut(
        broker=removal.broker,
        start=removal.start,
        end=removal.end,
        reason=removal.cause,
        leader=leader,
        answered_epoch=plan.leader_epoch if plan is not None else None,
        right=_agrees(removal, timeline),
        evidence=removal.evidence,
    )


def _agrees(removal: Removal, timeline: PartitionTimeline) -> bool | None:
    """The cut is where a later epoch of the partition began: the removed records are not in the partition's lineage."""
    starts: Iterable[int] = [
        start
        for epoch, start in committed(timeline)
        if removal.epoch is not None and removal.epoch < epoch <= (removal.under_epoch or epoch)
    ]
    first = min(starts, default=None)
    return None if first is None else removal.start >= first
