"""The checkpoint and epoch files of a partition's replicas side by side: where they contradict themselves, each other, or the past.

Here: the comparison of one partition's copies (`compare`, run on Spark's tasks), the schema its rows travel in, and the joining
of two collections (`as_before`). Not here: reading the files (parsers), the command and its printing (commands.checkpoints), or
what a difference means for an incident (rules). KIP-101 defines offsets and leader epochs: replicas have the same record
at an offset exactly when the same leader epoch wrote it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.message import Range
from forensics.model.partition.lineage import Lineage, reach
from forensics.model.partition.replicas import Disk, disk
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.record import Int32, NamedColumn, Record, struct
from forensics.model.timelines import Judge
from forensics.model.times import grouped
from forensics.proof.lineage import part, same_batches
from forensics.proof.observed import cut_since
from parsers.kinds import ON_DISK

BEFORE = "against: "
"""Marks collections of the evidence that was given for comparison."""
NO_TIME = datetime(1970, 1, 1)
INTERNAL = "__cluster_metadata"
LISTS_PARTITIONS = "hw-checkpoint"
"""replication-offset-checkpoint names every partition in its log directory."""

ODD, DIFFER, AGREE, SINGLE = "odd", "differ", "agree", "single"
"""Verdicts: files contradict each other or lineages diverge; replicas only have different offsets; they agree; only one replica's files
were collected."""


@dataclass(frozen=True, slots=True)
class Remark(Record):
    """A remark about one broker's copy."""

    kind: Annotated[str, "kind of the remark"]
    odd: Annotated[bool, "the copy contradicts itself or the others; otherwise it is only worth knowing"]
    broker: Annotated[Int32, "broker of the copy"]
    text: Annotated[str, "the remark in words"]
    offset: Annotated[int | None, "the offset that it is about"] = None


@dataclass(frozen=True, slots=True)
class EpochOffset(Record):
    epoch: Annotated[Int32, "leader epoch"]
    start: Annotated[int, "its first offset"]


@dataclass(frozen=True, slots=True)
class CheckpointChange(Record):
    """A change between two collections of a broker."""

    broker: Annotated[Int32, "broker of the copies"]
    what: Annotated[str, "what changed: partition, leader_epoch, leader_epoch_entry or the name of an offset"]
    way: Annotated[str, "forward, back, appeared or vanished"]
    before: Annotated[int | None, "value in the earlier collection"]
    after: Annotated[int | None, "value in the later collection"]
    earlier: Annotated[str, NamedColumn("from"), "the earlier collection"]
    later: Annotated[str, NamedColumn("to"), "the later collection"]


@dataclass(frozen=True, slots=True)
class CopyRow(Record):
    """A copy of the partition's log."""

    broker: Annotated[Int32, "broker of the copy"]
    collection: Annotated[str, "collection of the broker's files"]
    latest: Annotated[bool, "it is from the broker's last collection"]
    state: Annotated[str | None, "null: the replica's; delete, future or stray: an additional directory"]
    directories: Annotated[tuple[str, ...], "log directories of its files"]
    taken: Annotated[datetime | None, "last modification time of its files (UTC)"]
    high_watermark: Annotated[int | None, "checkpointed high watermark"]
    recovery_point: Annotated[int | None, "checkpointed recovery point"]
    log_start_offset: Annotated[int | None, "checkpointed log start offset; Kafka leaves out logs that start at their first segment"]
    log_end_offset: Annotated[int | None, "log end offset by its segments"]
    epochs: Annotated[tuple[EpochOffset, ...], "entries of its epoch file"]
    topic_id: Annotated[str | None, "topic id"]


@dataclass(frozen=True, slots=True)
class CheckpointRow(Record):
    topic: Annotated[str, "topic name"]
    partition: Annotated[Int32, "partition index"]
    generation: Annotated[Int32, "number of the topic, if several had this name: 0 the last one, -1 the one deleted before it, and so on"]
    topic_id: Annotated[str | None, "topic id; null if unknown"]
    leader: Annotated[Int32 | None, "leader at the end; -1: no leader, null: unknown"]
    leader_epoch: Annotated[Int32 | None, "leader epoch"]
    isr: Annotated[tuple[Int32, ...] | None, "in-sync replicas at the end"]
    replicas: Annotated[tuple[Int32, ...], "assigned replicas, the preferred leader first; null or empty if unknown"]
    verdict: Annotated[str, "odd, differ, agree or single"]
    moved: Annotated[bool, "offsets or epochs changed between two collections"]
    copies: Annotated[tuple[CopyRow, ...], "the copies of the partition's log, one for each collection of each broker"]
    remarks: Annotated[tuple[Remark, ...], "remarks on a broker's copy"]
    changes: Annotated[tuple[CheckpointChange, ...], "changes between two collections of a broker"]


SCHEMA = pa.schema(list(struct(CheckpointRow)))
"""A row for each partition and incarnation of its topic with files in the evidence. `moved`: offsets or epochs changed between two
collections. For partitions that agree, copies are null unless all were requested."""


@dataclass
class Copy:
    """A broker's copy of the partition in one collection."""

    disk: Disk
    latest: bool
    topic_id: str | None = None
    directories: set[str] = field(default_factory=set)
    lineage: Lineage | None = None

    @property
    def broker(self) -> int:
        return self.disk.broker

    @property
    def high_watermark(self) -> int | None:
        return _offset(self.disk.high_watermark)

    @property
    def recovery_point(self) -> int | None:
        return _offset(self.disk.recovery_point)

    @property
    def log_start(self) -> int | None:
        """As checkpointed; Kafka leaves out logs that start at their first segment."""
        return _offset(self.disk.log_start)

    @property
    def log_end(self) -> int | None:
        return self.disk.reach

    @property
    def taken(self) -> datetime | None:
        times = [e.at for e in _events(self.disk) if e.at is not None and e.at != NO_TIME]
        return max(times, default=None)

    @property
    def shown(self) -> CopyRow:
        return CopyRow(
            self.broker,
            self.disk.collection,
            self.latest,
            self.disk.state,
            tuple(sorted(self.directories)),
            self.taken,
            self.high_watermark,
            self.recovery_point,
            self.log_start,
            self.log_end,
            tuple(EpochOffset(epoch, start) for epoch, start in self.disk.epochs),
            self.topic_id,
        )


def _offset(event: Event | None) -> int | None:
    return event.offset if event is not None else None


def _events(found: Disk) -> Iterator[Event]:
    yield from (e for e in (found.high_watermark, found.recovery_point, found.log_start) if e is not None)
    yield from found.epoch_events
    yield from found.segments


# the evidence


Listed = Mapping[int, Sequence[str]]
"""Collections, oldest first, that contain each broker's HW checkpoint: a partition that none of its files names was not on that broker
then."""


def comparison(cluster: Cluster, before: Cluster | None = None, *, everything: bool = False) -> Judge:
    """The judge for spark.pipeline.verdicts, rows of SCHEMA. `before`: which collections the events of as_before are from.
    `everything`: includes the copies of replicas that agree."""
    listed: dict[int, list[str]] = defaultdict(list)
    for evidence, mark in ((before, BEFORE), (cluster, "")):
        for node in evidence.nodes.values() if evidence is not None else ():
            have = {s.collection for s in evidence.sources if s.kind == LISTS_PARTITIONS and s.node == node.id} if evidence else set()
            listed[node.id].extend(mark + c for c in node.collections if c in have)
    return partial(compare, listed=dict(listed), everything=everything)


def as_before(events: pa.Table) -> pa.Table:
    """Identified events of checkpoint, epoch and segment files of other evidence, marked by their collection: together with the events of
    the present evidence, they are the earlier state."""
    files = events.filter(pc.is_in(events["event"], pa.array(sorted(ON_DISK))))
    before = {
        "collection": pc.binary_join_element_wise(BEFORE, files["collection"], ""),
        "at": pc.coalesce(files["at"], pa.scalar(NO_TIME, files.schema.field("at").type)),
    }
    for name, column in before.items():
        files = files.set_column(files.schema.get_field_index(name), files.schema.field(name), column)
    return files


def compare(
    timeline: PartitionTimeline, cluster: Cluster, *, listed: Listed = MappingProxyType({}), everything: bool = False
) -> Iterator[Mapping[str, Any]]:
    """A row of SCHEMA; none if the evidence has no such files."""
    if timeline.topic == INTERNAL:
        return
    by_broker = copies(timeline, cluster)
    latest = {broker: found[-1] for broker, found in by_broker.items() if found and found[-1].latest}
    changes = list(_changes(by_broker, listed))
    stray = _stray_copies(timeline)
    if not latest and not changes and not stray:
        return
    remarks = [
        *_contradictions(latest.values(), timeline),
        *_between(latest, timeline),
        *_places(latest, timeline, cluster, listed),
        *(_put_aside(c) for c in stray if c.disk.state != "delete" or not latest),  # after a reassignment one awaits its deletion
    ]
    every = [*(c for _, found in sorted(by_broker.items()) for c in found), *stray]
    row = _row(timeline, _verdict(latest.values(), remarks, changes), every, remarks, changes)
    yield row if everything else brief(row)


def _stray_copies(timeline: PartitionTimeline) -> list[Copy]:
    """Directories that are not, or not yet, the replica's own."""
    disks = (disk for _, found in sorted(timeline.stray_logs.items()) for disk in found)
    return [Copy(disk, True, disk.topic_id, {disk.directory} if disk.directory else set()) for disk in disks]


def _row(
    timeline: PartitionTimeline, verdict: str, every: Iterable[Copy], remarks: Iterable[Remark], changes: Sequence[CheckpointChange]
) -> dict[str, Any]:
    state = timeline.standing
    return CheckpointRow(
        timeline.topic,
        timeline.partition,
        timeline.generation,
        timeline.topic_id,
        state.leader,
        state.leader_epoch,
        tuple(state.isr) if state.leader is not None else None,
        tuple(timeline.assigned),
        verdict,
        bool(changes),
        tuple(c.shown for c in every),
        tuple(remarks),
        tuple(changes),
    ).row()


def brief(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of SCHEMA without the copies of replicas that agree."""
    return row if row["verdict"] in (ODD, DIFFER) else {**row, "copies": None, "remarks": None, "changes": None}


def copies(timeline: PartitionTimeline, cluster: Cluster) -> dict[int, list[Copy]]:
    """Each broker's copies, oldest collection first."""
    found: dict[int, list[Copy]] = defaultdict(list)
    earlier = grouped(
        ((e.writer, e.collection or ""), e) for e in timeline.events if e.event in ON_DISK and e.writer is not None and e.reason is None
    )
    for (broker, collection), events in sorted(earlier.items(), key=lambda item: _age(item[0][1], item[0][0], cluster)):
        found[broker].append(_copy(disk(broker, collection, events), False, events))
    for broker, own in sorted(timeline.collected_logs.items()):
        found[broker].append(replace(_copy(own, True, _events(own)), lineage=timeline.lineages.get(broker)))
    return dict(found)


def _copy(own: Disk, latest: bool, events: Iterable[Event]) -> Copy:
    directories = {_log_directory(e) for e in events if e.event != "cleaner-checkpoint"}
    return Copy(own, latest, own.topic_id, directories - {""})


def _log_directory(event: Event) -> str:
    """The log directory a file was collected from: that of a checkpoint, the one above a partition's."""
    directory = event.source.rpartition("/")[0]
    return directory if event.event.endswith(("checkpoint", "recovery-point")) else directory.rpartition("/")[0]


def _age(collection: str, broker: int, cluster: Cluster) -> tuple[int, int, str]:
    """The evidence given for comparison is the oldest; the rest is in the order of the collections."""
    node = cluster.nodes.get(broker)
    known = node.collections if node is not None else []
    return (not collection.startswith(BEFORE), known.index(collection) if collection in known else -1, collection)


# problems of one copy


def _contradictions(found: Iterable[Copy], timeline: PartitionTimeline) -> Iterator[Remark]:
    for copy in found:
        yield from _beyond_the_end(copy)
        yield from _below_the_start(copy)
        yield from _epoch_file(copy)
        if copy.topic_id and timeline.topic_id and copy.topic_id != timeline.topic_id:
            text = f"its directory is of topic id {copy.topic_id}, the topic's is {timeline.topic_id}"
            yield Remark("topic-id", True, copy.broker, text)
        if timeline.generation < 0:
            text = f"its directory is of an older topic of this name{f' (id {copy.topic_id})' if copy.topic_id else ''}"
            yield Remark("old-generation", True, copy.broker, text)
        if len(copy.directories) > 1:
            text = f"the partition lies in {len(copy.directories)} log directories: {', '.join(sorted(copy.directories))}"
            yield Remark("two-directories", True, copy.broker, text)


def _beyond_the_end(copy: Copy) -> Iterator[Remark]:
    end, segment = copy.log_end, copy.disk.end_event()
    if end is None or copy.disk.tail_damaged:
        return
    for kind, name, event in (
        ("hw-beyond-log", "high watermark", copy.disk.high_watermark),
        ("recovery-point-beyond-log", "recovery point", copy.disk.recovery_point),
        ("start-beyond-log", "log start offset", copy.disk.log_start),
    ):
        if event is not None and event.offset is not None and event.offset > end:
            cut = cut_since(segment, event)
            text = f"{name} {event.offset} lies beyond the log, which ends at {end}"
            yield Remark(kind, not cut, copy.broker, text + ("; the log was cut after it was written" if cut else ""), event.offset)


def _below_the_start(copy: Copy) -> Iterator[Remark]:
    start, hw = copy.log_start, copy.high_watermark
    if start is not None and hw is not None and start > hw:
        yield Remark("start-above-hw", True, copy.broker, f"log start offset {start} is above the high watermark {hw}", start)


def _epoch_file(copy: Copy) -> Iterator[Remark]:
    for (epoch, start), (later, begin) in pairwise(copy.disk.epochs):
        if later <= epoch or begin < start:
            text = f"epochs do not rise: epoch {later} from offset {begin} follows epoch {epoch} from {start}"
            yield Remark("epochs-not-rising", True, copy.broker, text, begin)
    end = copy.log_end
    for (epoch, start), event in zip(copy.disk.epochs, copy.disk.epoch_events, strict=False):
        if end is not None and start > end and not copy.disk.tail_damaged:
            cut = cut_since(copy.disk.end_event(), event)
            text = f"epoch {epoch} starts at {start}, beyond the log, which ends at {end}"
            yield Remark("epoch-beyond-log", not cut, copy.broker, text + ("; the log was cut after it was written" if cut else ""), start)


# differences between replicas


def _between(latest: Mapping[int, Copy], timeline: PartitionTimeline) -> Iterator[Remark]:
    reference = reference_of(latest, timeline)
    if reference is None:
        return
    for broker, copy in sorted(latest.items()):
        if copy is reference:
            continue
        if (at := parting(reference, copy)) is not None:
            yield _parted(reference, copy, at)
        elif (at := _records_part(reference, copy, timeline)) is not None:
            same = ", though by the leader epochs they are the same" if copy.lineage and reference.lineage else ""
            text = f"other record batches than broker {reference.broker} from offset {at} on{same}"
            yield Remark("records-differ", True, broker, text, at)
        if copy.log_end is not None and reference.log_end is not None and copy.log_end != reference.log_end:
            gap = copy.log_end - reference.log_end
            where = f"{abs(gap)} {'ahead of' if gap > 0 else 'behind'} broker {reference.broker}"
            yield Remark("log-end-differs", False, broker, f"log ends at {copy.log_end}, {where}", copy.log_end)


def reference_of(latest: Mapping[int, Copy], timeline: PartitionTimeline) -> Copy | None:
    """The copy that the others are compared with: the leader's, because followers make theirs equal to it; else that with the latest
    epoch."""
    if len(latest) < 2:
        return None
    leader = timeline.standing.leader
    if leader is not None and leader in latest and (latest[leader].lineage or latest[leader].log_end is not None):
        return latest[leader]
    return max(latest.values(), key=lambda c: (c.lineage.entries[-1].epoch if c.lineage is not None else -1, reach(c.disk), -c.broker))


def parting(one: Copy, other: Copy) -> int | None:
    """The first offset at which both have a record, of different leader epochs; None if no such offset is known."""
    return part(one.lineage, other.lineage) if one.lineage is not None and other.lineage is not None else None


def _parted(reference: Copy, copy: Copy, at: int) -> Remark:
    assert copy.lineage is not None and reference.lineage is not None
    mine, theirs = copy.lineage.epoch_at(at), reference.lineage.epoch_at(at)
    end = reach(copy.disk)
    count = end - at
    known = "" if copy.log_end is not None else " or more"
    text = (
        f"parts from broker {reference.broker} at offset {at}: epoch {mine} here, epoch {theirs} there; "
        f"offsets {Range(at, end)} ({count}{known}) are not the ones broker {reference.broker} has"
    )
    return Remark("lineage-parts", True, copy.broker, text, at)


def _records_part(one: Copy, other: Copy, timeline: PartitionTimeline) -> int | None:
    return min((offset for offset, same in same_batches(one.disk, other.disk, timeline.cleaned).items() if same is False), default=None)


def _places(latest: Mapping[int, Copy], timeline: PartitionTimeline, cluster: Cluster, listed: Listed) -> Iterator[Remark]:
    """Replicas that are missing, and unexpected ones; only if the assignment is known, and the disk was collected."""
    assigned = timeline.standing.replicas
    if not assigned or timeline.generation < 0:
        return
    for broker in assigned:
        node = cluster.nodes.get(broker)
        if broker not in latest and node is not None and node.collections[-1:] == list(listed.get(broker, ()))[-1:] != []:
            yield Remark("replica-missing", False, broker, "is assigned a replica, but none of its collected files knows of it")
    for broker in sorted(set(latest) - set(assigned)):
        yield Remark("not-assigned", False, broker, f"holds the partition, but is not one of its replicas {list(assigned)}")


def _put_aside(copy: Copy) -> Remark:
    end = f"its log ends at {copy.log_end}" if copy.log_end is not None else "no segment of it was collected"
    return Remark(
        f"directory-{copy.disk.state}", False, copy.broker, f"{_ASIDE[copy.disk.state or '']} ({copy.disk.directory}); {end}", copy.log_end
    )


_ASIDE = {
    "delete": "has a directory of the partition that was renamed to be deleted",
    "future": "has an unfinished copy, which a move between log directories fills",
    "stray": "has a stray directory of the partition (renamed by Kafka), which stays until an operator deletes it",
}


def _verdict(latest: Iterable[Copy], remarks: Sequence[Remark], changes: Sequence[CheckpointChange]) -> str:
    found = list(latest)
    if any(r.odd for r in remarks) or any(c.way == "back" for c in changes):
        return ODD
    apart = [len({getattr(c, name) for c in found} - {None}) > 1 for name in ("high_watermark", "log_end", "log_start")]
    if remarks or any(apart) or any(c.way in ("appeared", "vanished") for c in changes):
        return DIFFER
    return AGREE if len(found) > 1 else SINGLE


# changes between two collections of a broker


def _changes(by_broker: Mapping[int, Sequence[Copy]], listed: Listed) -> Iterator[CheckpointChange]:
    for broker, found in sorted(by_broker.items()):
        for before, after in pairwise(found):
            yield from _moved(before, after)
        yield from _come_or_gone(broker, found, listed)


def _moved(before: Copy, after: Copy) -> Iterator[CheckpointChange]:
    for what in ("high_watermark", "log_end", "log_start", "recovery_point"):
        old, new = getattr(before, what), getattr(after, what)
        if old is not None and new is not None and old != new:
            yield _change(before, after, what, old, new)
    old_epochs, new_epochs = before.disk.epochs, after.disk.epochs
    if not old_epochs or not new_epochs or old_epochs == new_epochs:
        return
    if lost := _lost_entries(before, new_epochs):
        yield _change(before, after, "leader_epoch_entry", lost[0][0], new_epochs[-1][0], way="back")
    elif new_epochs[-1][0] != old_epochs[-1][0]:
        yield _change(before, after, "leader_epoch", old_epochs[-1][0], new_epochs[-1][0])


def _lost_entries(before: Copy, new: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Entries that are gone although the log still starts below them: a truncation removed them, not retention. An entry without records is
    not a loss: a leader notes its epoch before it has any."""
    return [entry for entry in before.disk.epochs if entry not in new and new[0][1] < entry[1] < reach(before.disk)]


def _come_or_gone(broker: int, found: Sequence[Copy], listed: Listed) -> Iterator[CheckpointChange]:
    held = {c.disk.collection for c in found}
    for before, after in pairwise(listed.get(broker, ())):
        if (before in held) != (after in held):
            way = "vanished" if before in held else "appeared"
            yield CheckpointChange(broker, "partition", way, None, None, before, after)


def _change(before: Copy, after: Copy, what: str, old: int, new: int, way: str | None = None) -> CheckpointChange:
    name = {"log_end": "log_end_offset", "log_start": "log_start_offset"}.get(what, what)
    way = way or ("forward" if new > old else "back")
    return CheckpointChange(after.broker, name, way, old, new, before.disk.collection, after.disk.collection)
