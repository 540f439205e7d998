"""truncate-to-start: a replica truncated its whole log, although its records were the leader's.

Here: truncations to the start of a log whose records the leader has too. Not here: records that were lost by it (data_loss), a log that
was empty after a restart (empty_replica_joins), a follower behind the retention of its leader.
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, quote
from forensics.model.message import Range, said, values
from forensics.model.partition.replicas import Removal, Replica
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.times import not_after
from forensics.proof.losses import losses

_TRUNCATED = frozenset({"leader-epoch", "high-watermark", "truncation", "latest"})


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    found = [(replica, r) for replica in timeline.replicas.values() for r in replica.removals if _whole(r, replica)]
    gone = [part.offsets for loss in losses(timeline, cluster) for part in loss.parts] if found else []
    for _, removal in found:
        if not any(r.overlap(Range(removal.start, removal.end)) for r in gone):
            yield _finding(removal)


def _whole(removal: Removal, replica: Replica) -> bool:
    starts = [o.offset for o in replica.observations if o.quantity == "log-start-offset" and not_after(o.at, removal.at)]
    return removal.cause in _TRUNCATED and removal.start <= max(starts, default=0) and removal.end > removal.start


def _finding(removal: Removal) -> Finding:
    return Finding(
        confidence="certain",
        brokers=(removal.broker,),
        leader_epoch=removal.under_epoch,
        start=removal.at,
        end=removal.at,
        offsets=(Range(removal.start, removal.end),),
        values=values(
            log_start=removal.start,
            last=removal.end - 1,
            log_end=removal.end,
            count=removal.end - removal.start,
            why=said(f"truncate-to-start/{removal.cause}"),
        ),
        evidence=quote(removal.evidence),
    )


def refuted(finding: Finding, timeline: PartitionTimeline) -> bool:
    """The replica discarded records with which the leader that it followed had begun."""
    end = finding.offsets[0].end
    return end is not None and any(t.epoch == finding.leader_epoch and t.at_least >= end for t in timeline.terms)
