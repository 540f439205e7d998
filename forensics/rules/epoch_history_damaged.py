"""epoch-history-damaged: a replica's leader-epoch-checkpoint contradicts its own records.

Here: the file compared with the batches next to it, and Kafka's lines about conflicts. Not here: an unreadable file (checkpoint_corrupt),
replicas compared with each other (forensics.proof.lineage). Kafka's LeaderEpochFileCache adds every epoch in which a record is
appended, so an epoch that the records have and the file lacks was lost from the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import LOG, PROCESS, READ, would_show
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, Value, said, values
from forensics.model.partition.lineage import Entry, of_batches
from forensics.model.partition.replicas import Disk
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.settings.versions import versions
from forensics.model.times import grouped
from forensics.proof.foreign_logs import inherited
from forensics.proof.lineage import Cut, cuts
from forensics.proof.observed import at_rest, cut_since, taken_alive
from forensics.thresholds import AT_REST, COPY_DURATION
from parsers.kinds import ON_DISK, named

LISTED = "epoch-checkpoint"
LATE_FILE = (3, 8)
"""From 3.8 on the epoch file is written some time after a truncation, and a start drops entries beyond the log."""

NEEDS = ON_DISK | named("epoch-conflict")


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for broker, disk in sorted(timeline.collected_logs.items()):
        checks = (_against_batches(disk, timeline, cluster), _misplaced(disk, timeline, cluster), _beyond_the_log(disk, timeline, cluster))
        yield from (_finding(broker, what, evidence, timeline) for what, evidence in chain.from_iterable(checks))
    by_writer = grouped((event.writer, event) for event in timeline.of("epoch-conflict") if event.reason in ("conflict", "out-of-order"))
    for writer, events in sorted(by_writer.items(), key=lambda item: (item[0] is None, item[0] or 0)):
        first = events[0]
        what = said("epoch-history-damaged/conflict", epoch=first.leader_epoch, offset=first.offset)
        yield _finding(writer, what, tuple(events), timeline)


Damage = tuple[Message, tuple[Event, ...]]


def _against_batches(disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Damage]:
    """Epochs that the records have and the file lacks. Retention removes entries from its front, so only epochs after its first entry
    count."""
    missing = [] if _old_format(disk, timeline) else [m for m in _missing(disk) if not _between_copies(m, disk, timeline, cluster)]
    segment = missing[0].event if missing else None
    if segment is None:
        return
    known: dict[str, Value] = {"epochs": tuple(m.epoch for m in missing[:8]), "number": len(missing), "offset": missing[0].start}
    if disk.epoch_file is None:
        if any(s.kind == LISTED and s.collection == disk.collection for s in cluster.sources_of(disk.broker)):
            yield said("epoch-history-damaged/no-file", **known), (segment,)
    elif not disk.epochs:
        yield said("epoch-history-damaged/empty-file", **known), (disk.epoch_file, segment, *_resting(disk, disk.epoch_file, cluster))
    else:
        last, start = disk.epochs[-1]
        ends = {"last": last, "start": start} if missing[0].epoch > last else {"last": None, "start": None}
        event = disk.epoch_events[-1]
        yield said("epoch-history-damaged/short-file", **known | ends), (event, segment, *_resting(disk, event, cluster))


def _resting(disk: Disk, file: Event, cluster: Cluster) -> tuple[Event, ...]:
    """The checkpoint that shows that a running broker did not write to the log while its files were copied."""
    mark = at_rest(disk) if taken_alive(disk.broker, file, cluster) else None
    return (mark,) if mark is not None else ()


def _missing(disk: Disk) -> list[Entry]:
    in_file = dict(disk.epochs)
    low = min(in_file.values(), default=0)
    return [e for e in of_batches(disk) or () if e.epoch not in in_file and (e.start >= low or not in_file)]


def _old_format(disk: Disk, timeline: PartitionTimeline) -> bool:
    """A log that uses message format v0 or v1 again has no epochs: Kafka deletes the file (KAFKA-7959)."""
    if any(e.writer == disk.broker and e.reason == "message-format" for e in timeline.of("epoch-conflict")):
        return True
    last = next((b for s in reversed(disk.segments) for b in reversed(s.batches or ())), None)
    return last is not None and last["leader_epoch"] < 0


def _between_copies(entry: Entry, disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The epoch began while a running broker's files were copied."""
    if disk.epoch_file is None or not taken_alive(disk.broker, disk.epoch_file, cluster):
        return False
    running, mark = cluster.availability(disk.broker).running, at_rest(disk)
    last = running.last_seen if running is not None else None
    began = next((t.at for t in timeline.terms if t.epoch == entry.epoch), None)
    if mark is not None and mark.at is not None and (began is None or mark.at - began > AT_REST):
        return False
    return began is None or last is None or last.at is None or last.at - began < COPY_DURATION


def _misplaced(disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Damage]:
    """Records before the start of their epoch, or after the start of a later one, by the epoch file; records whose epochs fall. Retention
    moves the first entry of the file to the log start offset. In a log from another cluster epochs begin again."""
    replica, segment = timeline.replicas.get(disk.broker), disk.end_event()
    if inherited(timeline, cluster) or disk.tail_damaged or segment is None:
        return
    seen = (o.offset for o in (replica.observations if replica is not None else ()) if o.quantity == "log-start-offset")
    begins = max((timeline.log_start(disk.broker) or 0, *seen))
    batches = [b for b in disk.batches() if b["leader_epoch"] >= 0]
    for event in disk.epoch_events:
        epoch, start = event.leader_epoch or 0, event.offset or 0
        early = (b for b in batches if b["base_offset"] < start and (b["leader_epoch"] >= epoch or event is disk.epoch_events[0]))
        late = (b for b in batches if b["base_offset"] >= start and b["leader_epoch"] < epoch)
        odd = next((b for b in (*early, *late) if b["base_offset"] >= begins), None)
        if odd is not None:
            record = {"own": odd["leader_epoch"], "offset": odd["base_offset"]}
            yield said("epoch-history-damaged/misplaced", epoch=epoch, start=start, **record), (event, segment)
    for before, b in pairwise(batches):
        if b["leader_epoch"] < before["leader_epoch"]:
            fall = {"epoch": b["leader_epoch"], "offset": b["base_offset"], "before": before["leader_epoch"]}
            yield said("epoch-history-damaged/falls", **fall), (segment, *disk.epoch_events[-1:])
            return


def _beyond_the_log(disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Damage]:
    segment = disk.end_event()
    if disk.reach is None or segment is None or disk.tail_damaged:  # segment-corrupt reports the damage
        return
    for (epoch, start), event in zip(disk.epochs, disk.epoch_events, strict=False):
        if start <= disk.reach or _written_late(disk, start, timeline, cluster):
            continue
        if not cut_since(segment, event) and taken_alive(disk.broker, event, cluster) and not cut_since(at_rest(disk), event):
            continue  # the log was copied first
        if cut_since(segment, event) and not would_show(disk.broker, cluster, LOG, PROCESS, READ):
            continue  # nothing would show that the log was cut
        what = said("epoch-history-damaged/beyond", epoch=epoch, start=start, log_end=disk.reach)
        mark = disk.high_watermark.offset if disk.high_watermark is not None else None
        yield what, (event, segment) if mark is None or mark < start else (event,)  # else a copy of the log may have been cut off


def _written_late(disk: Disk, start: int, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    cut = any(e.writer == disk.broker and e.offset is not None and e.offset < start for e in timeline.of("truncation"))
    known = versions(cluster, disk.broker)
    return cut and (not known or known[-1] >= LATE_FILE)


def _followed(broker: int | None, timeline: PartitionTimeline) -> list[Cut]:
    """Truncations by high watermark despite leader epochs: the leader or the follower did not know the requested epoch."""
    return [c for c in cuts(timeline) if c.reason == "high-watermark" and broker is not None and broker in (c.broker, c.leader)]


def _finding(broker: int | None, what: Message, evidence: tuple[Event, ...], timeline: PartitionTimeline) -> Finding:
    cut = _followed(broker, timeline)
    return Finding(
        severity="high" if cut else "medium",
        confidence=_confidence(evidence),
        brokers=(broker,) if broker is not None else (),
        start=evidence[0].at,
        values=values(
            who=said("node/broker", id=broker) if broker is not None else said("node/unknown"),
            what=what,
            followed=tuple(
                said("epoch-history-damaged/followed", broker=c.broker, end=c.end, start=c.start, leader=c.leader, at=c.evidence[-1].at)
                for c in cut[:2]
            ),
        ),
        evidence=quote(evidence, *(c.evidence for c in cut[:2])),
    )


def _confidence(evidence: Sequence[Event]) -> str:
    if any(e.event == "hw-checkpoint" for e in evidence):
        return "probable"
    return "certain" if len(evidence) > 1 or evidence[0].event == "epoch-conflict" else "possible"
