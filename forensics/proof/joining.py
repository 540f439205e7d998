"""Whether a replica that joined the ISR had all committed records (KAFKA-7128, Partition#maybeExpandIsr).

Up to 2.0.0, a leader takes a replica into the ISR that has reached the leader's high watermark. A new leader's high watermark may be below
records that an earlier leader committed, until the ISR has fetched from the new leader up to where it began. Later versions also require
that the replica has reached where the leader began.

Here: what proves it for one change of the ISR. Not here: the hand-overs that rest on it (transition).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import takewhile

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import CLOCK, ORDER, would_show
from forensics.model.partition.continuity import Contiguous, between
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.settings.effective import effective, number
from forensics.model.settings.versions import Version, versions
from forensics.proof.verdict import RUNNING, Handover

LAST_UNCHECKED: Version = (2, 0, 0)
"""The last version whose leaders do not require that a replica has reached where they began."""
REMOVES_LAGGING: Version = (0, 9)
"""From this version on, a leader removes every member of the ISR that has not reached the leader's log end for replica.lag.time.max.ms
(KAFKA-1546). It checks that at least as often."""


def joined_with_all(joined: State, end: int, rows: Sequence[Handover], timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """A replica had all committed records since it joined the ISR with this state, or earlier in the same leader epoch. `end`: its log
    reached this offset later. `rows`: the hand-overs up to then."""
    known = versions(cluster, joined.leader, joined.at)
    if cluster.mode == "kraft" or (known and known[0] > LAST_UNCHECKED):
        return True
    led_alike = (s for s in timeline.states_of_epoch(joined.leader_epoch) if s.leader == joined.leader)
    before = [*takewhile(lambda s: s is not joined, led_alike)]
    if any(s.isr == (s.leader,) and s.doubt is None for s in before):
        return True  # the high watermark was the leader's log end
    if known and known[0] >= REMOVES_LAGGING and before and _isr_reached_end(before[-1], joined, timeline, cluster):
        return True
    return any(mark is not None and mark <= end for mark in _committed_before(joined, rows))


def _isr_reached_end(before: State, joined: State, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The ISR had been the same for so long that the leader had removed every member that had not reached its log end."""
    lag = effective(cluster, "replica.lag.time.max.ms", broker=joined.leader, at=before.at)
    limit = number(lag.value, None) if not lag.assumed else None
    if limit is None or before.at is None or joined.at is None or joined.event.event != "isr-expand":
        return False
    led = (e.at for t in timeline.terms if t.epoch == joined.leader_epoch for e in t.evidence if e.at is not None)
    stood = joined.at - max(before.at, *led) > 2 * timedelta(milliseconds=limit)
    whole = isinstance(between(before, joined, isr_observable=True), Contiguous)
    return stood and whole and bool(would_show(joined.leader, cluster, ORDER, CLOCK))


def _committed_before(joined: State, rows: Sequence[Handover]) -> Iterator[int | None]:
    """Upper bounds of the offsets that were committed when the leader of this state began to lead. A leader whose process led on in a later
    leader epoch kept its high watermark."""
    earlier = (r for r in reversed(rows) if r.leader_epoch <= joined.leader_epoch)
    began = next((r for r in earlier if r.old_leader != r.new_leader or not r.process.only(RUNNING) or r.unseen.at_most != 0), None)
    if began is not None and began.new_leader == joined.leader:
        yield from (began.high_watermark.at_most, began.new_log_end.at_most, 0 if began.leader_epoch == 0 else None)
