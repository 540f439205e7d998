"""records-outside-log: only files that Kafka renamed still have some records; the log itself does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, Range, said, values
from forensics.model.partition.salvageable import BEYOND, REPLACED, OutsideBatch, outside_logs, runs_of, salvageable_outside
from forensics.model.partition.timeline import PartitionTimeline
from forensics.rules import data_loss
from forensics.rules.topic_recreated import deletions
from forensics.thresholds import NAMED
from parsers.kinds import named

NEEDS = named("segment")


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    found = outside_logs(timeline)
    if not found or timeline.topic in deletions(cluster):
        return
    offered = _offered(timeline, cluster)
    left = [b for b in found if not any(epoch == b.epoch and offsets.covers(Range(b.start, b.end)) for epoch, offsets in offered)]
    for epoch, own in groupby(sorted(left, key=lambda b: b.epoch), lambda b: b.epoch):
        yield _finding(epoch, list(own), timeline)


def _offered(timeline: PartitionTimeline, cluster: Cluster) -> list[tuple[int, Range]]:
    """Leader epochs and offsets of lost records that collected files still have: a data-loss reports them."""
    lost = (f.salvageable for f in data_loss.of_partition(timeline, cluster))
    return [(h.leader_epoch, h.offsets) for saved in lost if saved is not None for h in saved.held]


def _finding(epoch: int, batches: Sequence[OutsideBatch], timeline: PartitionTimeline) -> Finding:
    runs = list(runs_of(batches))
    offsets = tuple(sorted({Range(run[0].start, run[-1].end) for run in runs}, key=lambda r: (r.start, r.end or 0)))
    brokers = tuple(sorted({b.segment.writer for b in batches if b.segment.writer is not None}))
    files = tuple(dict.fromkeys(b.segment.source for b in batches))
    leader = _leader_not_collected(timeline)
    other_topic = all(b.other_topic for b in batches)
    mark = _highest_mark(timeline)
    committed = mark if mark is not None and mark > min(b.start for b in batches) else None
    return Finding(
        severity="medium" if leader is None and not other_topic else "low",
        confidence="certain",
        brokers=brokers,
        leader_epoch=epoch if epoch >= 0 else None,
        offsets=offsets,
        cause=batches[0].difference,
        values=values(
            ranges=offsets[:NAMED],
            more=len(offsets) - NAMED if len(offsets) > NAMED else None,
            of_epoch=epoch if epoch >= 0 else None,
            files=files,
            differences=tuple(dict.fromkeys(_difference(b, timeline) for b in batches)),
            leader=leader,
            other_topic=other_topic,
            mark=committed,
        ),
        salvageable=salvageable_outside(batches, timeline),
        evidence=quote(
            *dict.fromkeys(b.segment for b in batches), *dict.fromkeys(e for b in batches if (e := b.log.end_event()) is not None)
        ),
    )


def _difference(batch: OutsideBatch, timeline: PartitionTimeline) -> Message:
    difference = batch.difference if batch.difference in (BEYOND, REPLACED) else "absent"
    log_end = batch.log.reached(timeline.cleaned) if difference == BEYOND else None
    return said(f"records-outside-log/{difference}", broker=batch.log.broker, log_end=log_end, topic=timeline.topic)


def _leader_not_collected(timeline: PartitionTimeline) -> int | None:
    """The last leader, if its log was not collected: it may have the records."""
    leader = timeline.standing.leader
    disk = timeline.collected_logs.get(leader) if leader is not None else None
    return leader if leader is not None and leader >= 0 and (disk is None or not disk.segments) else None


def _highest_mark(timeline: PartitionTimeline) -> int | None:
    seen = [o.offset for r in timeline.replicas.values() for o in r.observations if o.quantity == "high-watermark"]
    files = (disk.high_watermark for disk in timeline.collected_logs.values())
    return max([*seen, *(e.offset for e in files if e is not None and e.offset is not None)], default=None)
