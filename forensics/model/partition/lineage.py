"""The epoch lineage of a replica's log: which leader epoch wrote which offsets, as far as its files show.

Here: the lineage of one directory from batches and epoch file; the offset range in which an epoch began, from all lineages; whether the
log cleaner may have removed records. Not here: comparing lineages (forensics.proof.lineage), or a leader's own line (timeline).

KIP-101: two logs hold the same record at an offset exactly when the same leader epoch wrote it.

Not every entry is at the start of its epoch. A log's first entry is where its copy began, or the log start: retention rewrites it
(LeaderEpochFileCache#truncateFromStart). A follower records an epoch at the first batch it gets from it; in a cleaned log that is the
first batch the cleaner left. Only a leader records its own epoch at its log end (Partition#makeLeader). So an entry is an upper bound of
the epoch's start.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.replicas import Disk
from forensics.model.settings.settings import EFFECTIVE, INTERNAL_TOPICS, TOPIC
from parsers.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A leader epoch has records in a log from `start` on; the epoch began between `earliest` and `start`."""

    epoch: int
    start: int
    earliest: int
    event: Event | None = None

    @property
    def exact(self) -> bool:
        return self.earliest == self.start


@dataclass(frozen=True, slots=True)
class Lineage:
    """Epochs of a log, rising in number and in start; the log holds [start, end)."""

    broker: int
    entries: tuple[Entry, ...]
    start: int
    end: int
    source: str
    """'batches', 'epoch-file' or 'lines': the best available source."""
    evidence: tuple[Event, ...]

    def epoch_at(self, offset: int) -> int | None:
        """The epoch that wrote the record at this offset; None outside the log, and where the next epoch may already have begun."""
        if not self.start <= offset < self.end:
            return None
        after = bisect_right(self.entries, offset, key=lambda e: e.start)
        if not after or (after < len(self.entries) and self.entries[after].earliest <= offset):
            return None
        return self.entries[after - 1].epoch

    def entry(self, epoch: int) -> Entry | None:
        return next((e for e in self.entries if e.epoch == epoch), None)


def of_batches(disk: Disk) -> list[Entry]:
    """Entries from the batch headers, at each epoch's first batch; batches of message format v0 and v1 have no epoch. Batches before
    that one may have been cleaned or not collected, so the epoch may have begun after the end of the previous batch."""
    found: list[Entry] = []
    reached = 0
    for segment in disk.segments:
        for batch in segment.batches or ():
            epoch, base = batch["leader_epoch"], batch["base_offset"]
            if epoch >= 0 and (not found or epoch > found[-1].epoch):
                found.append(Entry(epoch, base, min(base, reached), segment))
            reached = max(reached, batch["last_offset"] + 1)
    return found


def rises(entries: Sequence[tuple[int, int]]) -> bool:
    return all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(entries))


def reach(disk: Disk) -> int:
    """An offset the log is known to have reached: its end, else the minimum that its valid batches, checkpoints and epochs require."""
    if disk.reach is not None and not disk.end_unknown:
        return disk.reach
    marks = [e.offset for e in (disk.high_watermark, disk.recovery_point) if e is not None and e.offset is not None]
    return max([disk.reach or 0, *marks, *(start for _, start in disk.epochs)])


def on_disk(disk: Disk, led: Container[int] = (), *, cleaned: bool | None = None) -> Lineage | None:
    """The lineage from a directory's files, None if they show none. Batches take precedence over the epoch file, which may be damaged:
    its entries count only if batches do not contradict them. `led`: epochs the broker led itself; `cleaned`: see `may_be_cleaned`."""
    batches = of_batches(disk)
    filed = [e for e in _of_file(disk, led, cleaned) if _fits(e, batches, disk)]
    known = {e.epoch: e for e in batches} | {e.epoch: _narrowed(e, batches) for e in filed}
    if not known:
        return None
    entries = tuple(known[epoch] for epoch in sorted(known))
    start = min((s.offset or 0 for s in disk.segments), default=0)
    if disk.log_start is not None and disk.log_start.offset is not None:
        start = max(start, disk.log_start.offset)
    evidence = disk.segments[-1:] if batches else disk.epoch_events[-2:]
    return Lineage(disk.broker, entries, max(start, entries[0].start), reach(disk), "batches" if batches else "epoch-file", tuple(evidence))


def _of_file(disk: Disk, led: Container[int], cleaned: bool | None) -> Iterator[Entry]:
    if not rises(disk.epochs):
        return
    begins = disk.log_start.offset if disk.log_start is not None else disk.segments[0].offset if disk.segments else None
    before: int | None = None
    for (epoch, start), event in zip_longest(disk.epochs, disk.epoch_events):
        own = epoch in led and (before is not None or (begins is not None and start > begins))
        followed = before is not None and cleaned is False
        yield Entry(epoch, start, start if own or followed else before or 0, event)
        before = start


def _fits(entry: Entry, batches: Sequence[Entry], disk: Disk) -> bool:
    """Whether the entry is between the last batch of earlier epochs and the first batch of this or a later one."""
    after = next((b for b in batches if b.epoch >= entry.epoch), None)
    if after is not None:
        return after.earliest <= entry.start <= after.start
    return not batches or entry.start >= (disk.reach or 0)


def _narrowed(entry: Entry, batches: Sequence[Entry]) -> Entry:
    earliest = next((b.earliest for b in batches if b.epoch == entry.epoch), 0)
    return replace(entry, earliest=min(entry.start, max(entry.earliest, earliest)))


def may_be_cleaned(topic: str, events: Iterable[Event], disks: Iterable[Disk], cluster: Cluster) -> bool | None:
    """Whether the log cleaner may have removed records from the middle of this log (cleanup.policy=compact), at its own pace on each
    replica. None if the topic's own settings are missing: the brokers' settings are only its defaults."""
    changes = cluster.settings.history("cleanup.policy", topic=topic)
    default = cluster.settings.value("log.cleanup.policy")
    printed = [e.value for e in events if e.event == "log-created" and e.key == "cleanup.policy"]
    policies = (*(c.value for c in changes), *printed, default)
    if topic in INTERNAL_TOPICS or any("compact" in (p or "") for p in policies):
        return True
    if any(b["whole"] is False for d in disks for b in d.batches()):
        return True
    return False if printed or any(c.source in (TOPIC, EFFECTIVE) for c in changes) else None


def began(epoch: int, leader: int, lineages: Mapping[int, Lineage]) -> Entry | None:
    """The start of a leader epoch from all lineages that contain it: at most the lowest start, at least the highest bound. If the
    lineages contradict each other: the leader's own entry if exact, else the highest start without a lower bound."""
    found = {broker: e for broker, own in sorted(lineages.items()) if (e := own.entry(epoch)) is not None}
    if not found:
        return None
    own = found.get(leader)
    lowest = min(found.values(), key=lambda e: (e.start, e is not own))
    earliest = max(e.earliest for e in found.values())
    if earliest <= lowest.start:
        return replace(lowest, earliest=earliest)
    highest = max(found.values(), key=lambda e: e.start)
    return own if own is not None and own.exact else replace(highest, earliest=0)
