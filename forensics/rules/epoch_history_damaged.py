"""epoch-history-damaged: a replica's leader-epoch-checkpoint does not tell the history its own records tell.

Here: the file against the batches beside it, and what Kafka says of a conflict. Not here: a file that cannot be read (checkpoint_corrupt),
replicas against each other (forensics.partition.lineage). Kafka's LeaderEpochFileCache notes every epoch in which a record was appended, so
an epoch among the records and not in the file was lost from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from forensics.model import Finding, Many, Rule, moment, quote
from forensics.partition.lineage import Cut, cuts
from forensics.partition.states_of_files import cut_since, taken_alive
from spark.cluster.facts import Cluster
from spark.cluster.versions import versions
from spark.events import Event
from spark.partition.lineage import Entry, of_batches
from spark.partition.replicas import Disk
from spark.partition.timeline import PartitionTimeline

LISTED = "epoch-checkpoint"
COPYING = timedelta(hours=1)
"""The files of a running broker are not copied at one moment; an epoch as young as this may lie between them."""
LATE_FILE = (3, 8)
"""From 3.8 on a truncation has the epoch file written later, and a start drops what lies beyond the log."""


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for broker, disk in sorted(timeline.disks.items()):
        for what, evidence in (*_against_batches(disk, timeline, cluster), *_beyond_the_log(disk, timeline, cluster)):
            yield _finding(broker, what, evidence, timeline)
    by_writer: dict[int | None, list[Event]] = {}
    for event in timeline.of("epoch-conflict"):
        if event.reason in ("conflict", "out-of-order"):
            by_writer.setdefault(event.writer, []).append(event)
    for writer, events in sorted(by_writer.items(), key=lambda item: (item[0] is None, item[0] or 0)):
        first = events[0]
        what = f"epoch {first.leader_epoch} was assigned from offset {first.offset} on, below what its history had for other epochs"
        yield _finding(writer, what, tuple(events), timeline)


Damage = tuple[str, tuple[Event, ...]]


def _against_batches(disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Damage]:
    """Epochs that records have and the file has not. Retention takes entries off its front, so only what lies above its first
    entry counts."""
    found = of_batches(disk)
    if not found or _old_format(disk, timeline):
        return
    in_file = dict(disk.epochs)
    low = min(in_file.values(), default=0)
    missing = [e for e in found if e.epoch not in in_file and (e.start >= low or not in_file)]
    missing = [m for m in missing if not _between_copies(m, disk, timeline, cluster)]
    segment = missing[0].event if missing else None
    if segment is None:
        return
    epochs = ", ".join(str(e.epoch) for e in missing[:8])
    held = f"its log holds records of epoch{'s' if len(missing) > 1 else ''} {epochs} (from offset {missing[0].start} on)"
    if disk.epoch_file is None:
        if _others_have_theirs(disk, cluster):
            yield f"{held} and no leader-epoch-checkpoint was collected, though the broker's other partitions have theirs", (segment,)
    elif not in_file:
        yield f"{held}, and its leader-epoch-checkpoint is empty", (disk.epoch_file, segment)
    else:
        last, start = disk.epochs[-1]
        short = f"ends with epoch {last} (from {start})" if missing[0].epoch > last else "leaves them out"
        yield f"{held}, and its leader-epoch-checkpoint {short}", (disk.epoch_events[-1], segment)


def _old_format(disk: Disk, timeline: PartitionTimeline) -> bool:
    """A log written in message format v0 or v1 again has no epochs any more: Kafka deletes the file (KAFKA-7959)."""
    if any(e.writer == disk.broker and e.reason == "message-format" for e in timeline.of("epoch-conflict")):
        return True
    last = next((b for s in reversed(disk.segments) for b in reversed(s.batches or ())), None)
    return last is not None and last["leader_epoch"] < 0


def _between_copies(entry: Entry, disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The epoch began while a running broker's files were copied."""
    if disk.epoch_file is None or not taken_alive(disk.broker, disk.epoch_file, cluster):
        return False
    running = cluster.presence(disk.broker).running
    last = running.last_seen if running is not None else None
    began = next((t.at for t in timeline.terms if t.epoch == entry.epoch), None)
    return began is None or last is None or last.at is None or last.at - began < COPYING


def _others_have_theirs(disk: Disk, cluster: Cluster) -> bool:
    return any(s.kind == LISTED and s.collection == disk.collection for s in cluster.sources_of(disk.broker))


def _beyond_the_log(disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Damage]:
    segment = disk.end_event()
    if disk.reach is None or segment is None or disk.tail_damaged:  # segment-corrupt reports the damage
        return
    for (epoch, start), event in zip(disk.epochs, disk.epoch_events, strict=False):
        if start <= disk.reach or cut_since(segment, event) or taken_alive(disk.broker, event, cluster):
            continue
        if _written_late(disk, start, timeline, cluster):
            continue
        yield (
            f"its leader-epoch-checkpoint says epoch {epoch} starts at {start}, but the log ends at {disk.reach}",
            (event, segment),
        )


def _written_late(disk: Disk, start: int, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    cut = any(e.writer == disk.broker and e.offset is not None and e.offset < start for e in timeline.of("truncation"))
    known = versions(cluster, disk.broker)
    return cut and (not known or known[-1] >= LATE_FILE)


def _followed(broker: int | None, timeline: PartitionTimeline) -> list[Cut]:
    """Truncations by high watermark although there are leader epochs: the leader, or the follower, did not know the epoch asked for."""
    return [c for c in cuts(timeline) if c.reason == "high-watermark" and broker is not None and broker in (c.broker, c.leader)]


def _finding(broker: int | None, what: str, evidence: tuple[Event, ...], timeline: PartitionTimeline) -> Finding:
    cut = _followed(broker, timeline)
    followed = "".join(
        f" Broker {c.broker} cut its log from {c.end} to {c.start} to follow broker {c.leader} at {moment(c.evidence[-1].at)}, by its high "
        "watermark and not by epoch: that is what such a damage leads to."
        for c in cut[:2]
    )
    return Finding(
        kind="epoch-history-damaged",
        severity="high" if cut else "medium",
        confidence="certain" if len(evidence) > 1 or evidence[0].event == "epoch-conflict" else "possible",
        brokers=(broker,) if broker is not None else (),
        start=evidence[0].at,
        summary=f"{timeline.name} on broker {broker}: {what}",
        explanation=(
            f"On broker {broker} {what}. Leaders and followers find by this file where their logs part (KIP-101). With a wrong one a leader "
            f"answers with too low an offset, or with none, and followers cut committed records or fall back to their high watermark.{followed}"
        ),
        next_steps=(
            "Keep a copy of the directory. Have another replica lead, then delete this one's directory while its broker is stopped, so that it "
            "copies log and history anew.",
            "See KAFKA-7897, KAFKA-7959, KAFKA-10432 and KAFKA-16541 for the versions that do this by themselves.",
        ),
        evidence=quote(evidence, *(c.evidence for c in cut[:2])),
    )


RULE = Rule(
    kind="epoch-history-damaged",
    rank=470,
    level="medium",
    meaning="A replica's leader epoch file lacks epochs its records have, or has epochs beyond its log: the next truncation may cut at the wrong place.",
    benign=(
        "Entries below the log start offset: retention drops them.",
        "A log in message format v0 or v1: it has no epochs, and Kafka deletes the file.",
        "From 3.8 on the file is written some time after a truncation; what lies beyond the log is dropped at the next start.",
        "A broker that ran while its files were copied: an epoch that began in between.",
    ),
    references=("KIP-101", "KAFKA-7897", "KAFKA-7959", "KAFKA-10432", "KAFKA-16541"),
    partition=judge,
    many=Many(),
)
