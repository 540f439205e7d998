"""The replicas that were last in sync, if none of them is there at the end of the evidence: their committed records may be lost for good.

Here: whether all of them crashed or are on failed log directories. Not here: what a replica that came back had kept (handovers), or how
long the partition had no leader (forensics.model.partition.windows).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_directories import failures_of_replica
from forensics.model.events import Event
from forensics.model.message import Message, said
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.presence.availability import CONTROLLED
from forensics.thresholds import CRASH_NOTICED

CRASHED, FAILED_DIRECTORY = "handover/crashed", "handover/lost-directory"


class LastCopy(NamedTuple):
    broker: int
    how: str
    seen: datetime | None
    """When it was last seen with its log."""


@cached_on_timeline
def last_copies_gone(timeline: PartitionTimeline, cluster: Cluster) -> tuple[LastCopy, ...]:
    """The members of the last ISR that had any, if each of them is gone; else empty. Copies of a topic that was deleted are not needed, and
    those of a cluster that ended are in the next one."""
    lives_on = timeline.generation == 0 and cluster.number >= 0
    isr = next((s.isr for s in reversed(timeline.states) if s.isr), ()) if lives_on else ()
    gone = [g for b in isr if (g := _gone(b, timeline, cluster)) is not None]
    return tuple(gone) if len(gone) == len(isr) else ()


def gone_said(gone: Sequence[LastCopy]) -> Message:
    if len(gone) == 1:
        return said("handover/sole-gone", broker=gone[0].broker, how=said(gone[0].how))
    each = tuple(said("handover/gone", broker=g.broker, how=said(g.how)) for g in gone)
    return said("handover/all-gone", gone=each, brokers=tuple(g.broker for g in gone))


def _gone(broker: int, timeline: PartitionTimeline, cluster: Cluster) -> LastCopy | None:
    failed = failures_of_replica(broker, timeline)[-1:]
    if failed and not _resumed(broker, failed[0], timeline):
        return LastCopy(broker, FAILED_DIRECTORY, failed[0].at)
    return LastCopy(broker, CRASHED, cluster.last_line(broker)) if _crashed(broker, timeline, cluster) else None


def _resumed(broker: int, failed: Event, timeline: PartitionTimeline) -> bool:
    """The replica had a role, or its log was loaded, after its directory failed."""
    if failed.at is None:
        return True
    loads = timeline.replicas[broker].loads if broker in timeline.replicas else ()
    return timeline.resumed(broker, failed.at) is not None or any(load.at is not None and load.at > failed.at for load in loads)


def _crashed(broker: int, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """It ended without a clean stop, and nothing shows that it came back."""
    availability, final = cluster.availability(broker), timeline.states[-1]
    if (gone := availability.gone) is not None:
        return gone.how != CONTROLLED
    if not availability.runs:  # nothing of it was collected
        lost = next((e.at for e in availability.said("lost")[-1:]), None)
        stopped = lost is not None and availability.between("stop", lost - CRASH_NOTICED, lost + CRASH_NOTICED)
        return lost is not None and not stopped and availability.returned(lost) is None
    leaderless = (final.at,) if final.leader < 0 and final.at is not None and broker in final.isr else ()
    return availability.unreported_outage_start(leaderless) is not None
