"""records-outside-log: only files that Kafka renamed still have some records; the log itself does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Aggregation, Finding, Range, Rule, Statement, Urgency, brokers_named, quote, some
from forensics.model.partition.outside_logs import BEYOND, REPLACED, OutsideBatch, outside_logs, runs_of
from forensics.model.partition.salvageable import salvageable_outside
from forensics.model.partition.timeline import PartitionTimeline
from forensics.output.shell import option
from forensics.rules import data_loss
from forensics.rules.topic_recreated import deletions


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    found = outside_logs(timeline)
    if not found or timeline.topic in deletions(cluster):
        return
    offered = _offered(timeline, cluster)
    left = [b for b in found if not any(epoch == b.epoch and _within(b, offsets) for epoch, offsets in offered)]
    for epoch, own in groupby(sorted(left, key=lambda b: b.epoch), lambda b: b.epoch):
        yield _finding(epoch, list(own), timeline)


def _offered(timeline: PartitionTimeline, cluster: Cluster) -> list[tuple[int, Range]]:
    """Leader epochs and offsets of lost records that collected files still have: a data-loss reports them."""
    lost = (f.salvageable for f in data_loss.detect(timeline, cluster))
    return [(h.leader_epoch, h.offsets) for saved in lost if saved is not None for h in saved.held]


def _within(batch: OutsideBatch, offsets: Range) -> bool:
    return offsets.start <= batch.start and (offsets.end is None or batch.end <= offsets.end)


def _finding(epoch: int, batches: Sequence[OutsideBatch], timeline: PartitionTimeline) -> Finding:
    runs = list(runs_of(batches))
    offsets = tuple(sorted({Range(run[0].start, run[-1].end) for run in runs}, key=lambda r: (r.start, r.end or 0)))
    brokers = tuple(sorted({b.segment.writer for b in batches if b.segment.writer is not None}))
    files = list(dict.fromkeys(b.segment.source for b in batches))
    of_epoch = f" (leader epoch {epoch})" if epoch >= 0 else ""
    leader = _leader_not_collected(timeline)
    other_topic = all(b.other_topic for b in batches)
    return Finding(
        kind="records-outside-log",
        severity="medium" if leader is None and not other_topic else "low",
        confidence="certain",
        brokers=brokers,
        leader_epoch=epoch if epoch >= 0 else None,
        offsets=offsets,
        cause=batches[0].difference,
        summary=f"{timeline.name}: offsets {some(list(map(str, offsets)))}{of_epoch} are only in files that Kafka renamed, and not in the log",
        explanation=(
            f"{some(files)} {'contains' if len(files) == 1 else 'contain'} batches with valid checksums at offsets {some(list(map(str, offsets)))}{of_epoch}. "
            f"{' '.join(dict.fromkeys(_difference(b, timeline) for b in batches))} No collected log of {timeline.name} contains these batches.{_not_compared(leader, timeline)}{_OTHER_TOPIC if other_topic else ''} "
            f"{_commitment(batches, timeline)}"
        ),
        next_steps=tuple(_steps(files, leader, timeline)),
        salvageable=salvageable_outside(batches, timeline),
        evidence=quote(
            *dict.fromkeys(b.segment for b in batches), *dict.fromkeys(e for b in batches if (e := b.log.end_event()) is not None)
        ),
    )


_OTHER_TOPIC = (
    " The files are in a directory that Kafka renamed to -delete and that has no topic id: they may be of a deleted topic of the same name."
)


def _difference(batch: OutsideBatch, timeline: PartitionTimeline) -> str:
    log = f"The log of broker {batch.log.broker}"
    if batch.difference == BEYOND:
        return f"{log} ends at offset {batch.log.reached(timeline.cleaned)}."
    if batch.difference == REPLACED:
        return f"{log} has records of other leader epochs at these offsets."
    return f"{log} has no records at these offsets, although the log cleaner does not work on {timeline.topic}."


def _leader_not_collected(timeline: PartitionTimeline) -> int | None:
    """The last leader, if its log was not collected: it may have the records."""
    leader = timeline.standing.leader
    disk = timeline.collected_logs.get(leader) if leader is not None else None
    return leader if leader is not None and leader >= 0 and (disk is None or not disk.segments) else None


def _not_compared(leader: int | None, timeline: PartitionTimeline) -> str:
    return (
        f" The log of broker {leader}, the leader of {timeline.name}, was not collected and may contain these batches."
        if leader is not None
        else ""
    )


def _commitment(batches: Sequence[OutsideBatch], timeline: PartitionTimeline) -> str:
    mark = _highest_mark(timeline)
    if mark is not None and mark > min(b.start for b in batches):
        return f"The evidence shows a high watermark of {mark}: if it is of the same leader epoch or a later one, records below offset {mark} were committed."
    return (
        "The collected files do not show whether these records were committed: a follower also cuts records that only an old leader had, and then producers "
        "got an error or resent the records."
    )


def _highest_mark(timeline: PartitionTimeline) -> int | None:
    seen = [o.offset for r in timeline.replicas.values() for o in r.observations if o.quantity == "high-watermark"]
    files = (disk.high_watermark for disk in timeline.collected_logs.values())
    return max([*seen, *(e.offset for e in files if e is not None and e.offset is not None)], default=None)


def _steps(files: Sequence[str], leader: int | None, timeline: PartitionTimeline) -> Iterator[str]:
    yield f"Keep the collected copy of {some(files)}: Kafka removes such files after file.delete.delay.ms, or when the broker starts."
    if leader is not None:
        yield f"Collect the log of {timeline.name} from broker {leader}, the leader, and analyze all evidence again: the log of the leader may contain these records."
    yield f"Recover these records from the collected files: `kafka-forensics salvage PATH {option('--topic', timeline.topic)} --out DIR` writes them. Compare them with the present records of {timeline.name} before you send any of them again."


def _key(finding: Statement) -> tuple[int, ...]:
    return finding.brokers


RULE = Rule(
    kind="records-outside-log",
    rank=454,
    level="medium",
    urgency=Urgency.LOST,
    meaning="Segment files that Kafka renamed (`.deleted`, `.swap`, `.cleaned`, or in a directory `-delete`, `-stray`, `-future`) contain valid batches that no "
    "collected log of the partition has, and no `data-loss` covers these batches. Low if the log of the leader was not collected, or if the files may be of a deleted topic.",
    benign=(
        "Records that retention or DeleteRecords removed, that the log cleaner may have removed, or of a deleted topic: not reported.",
        "A follower that truncated records which only an old leader had: these were never committed.",
    ),
    references=("KIP-101", "KIP-113", "KAFKA-6264", "KAFKA-15605"),
    partition=detect,
    many=Aggregation(words=lambda first, group: f"records only in files that Kafka renamed on {brokers_named(first.brokers)}", key=_key),
)
