"""Windows in which a partition had no leader, so that producers and consumers could not use it.

Here: the windows, the fact with their rows, and which eligible leader replicas (KIP-966) can still be elected. Not here: the findings
(forensics.rules), or how many partitions had no leader at a time (forensics.model.cluster.under_replication).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from datetime import datetime

import pyarrow as pa

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import COMPLETE, would_show
from forensics.model.findings import Fact
from forensics.model.message import said
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.partition.windows import Window, lived, windows
from forensics.model.presence.availability import CONTROLLED, is_own_log_line
from forensics.model.times import undated_first
from forensics.thresholds import BRIEF_S, CRASH_NOTICED

MAX_WINDOWS = 64
"""Maximum number of windows in a partition's row; the last ones are kept."""


@cached_on_timeline
def leaderless(timeline: PartitionTimeline, cluster: Cluster) -> list[Window]:
    """The windows without a leader, except the short ones on the way from one leader to the next."""
    found = lived((_closed(w, timeline) for w in windows(timeline, without_leader)), timeline, cluster)
    return [own for w in found if (own := _at_most(w, cluster)).seconds is None or own.seconds >= BRIEF_S]


def without_leader(state: State) -> bool:
    return state.leader < 0


def _closed(window: Window, timeline: PartitionTimeline) -> Window:
    """A replica that starts to lead or follow in a later leader epoch has a leader again, even if the evidence does not show its
    election."""
    if window.end is not None:
        return window
    epoch = window.states[-1].leader_epoch
    begun = timeline.of("leader-start", "follower-start", "fetcher-added")
    led = (e for e in begun if e.leader_epoch is not None and e.leader_epoch > epoch and e.leader != -1)
    over = next((e for e in led if e.at is not None and window.start is not None and e.at >= window.start), None)
    return replace(window, end=over.at, seen=True) if over is not None else window


def _at_most(window: Window, cluster: Cluster) -> Window:
    """An open window ends at the latest when a broker of the ISR runs again, if lines are missing that would show the election."""
    if window.end is not None or window.deleted or window.start is None:
        return window
    again = min((line for b in window.states[-1].isr if (line := _running_again(b, window.start, cluster)) is not None), default=None)
    if again is None:
        return window
    at, broker = again
    return replace(window, end=at, unseen=said("window/broker-ran", broker=broker, at=at))


def _running_again(broker: int, since: datetime, cluster: Cluster) -> tuple[datetime, int] | None:
    if would_show(broker, cluster, COMPLETE):
        return None
    after = cluster.events[bisect_right(cluster.events, since + CRASH_NOTICED, key=undated_first) :]
    return next(((e.at, broker) for e in after if e.writer == broker and e.at is not None and is_own_log_line(e)), None)


OFFLINE = Fact(
    "offline",
    pa.list_(pa.struct([("start", pa.timestamp("us")), ("end", pa.timestamp("us")), ("deleted", pa.bool_())])),
    "when it had no leader, the last times; `end` null: to the end of the evidence, or (`deleted`) of its topic",
    lambda timeline, cluster: [
        {"start": w.start, "end": w.end, "deleted": w.deleted} for w in leaderless(timeline, cluster)[-MAX_WINDOWS:]
    ],
)


def named_eligible(state: State) -> tuple[int, ...]:
    """The eligible leader replicas that the state names, or kafka-topics --describe."""
    return state.eligible or tuple(state.event.eligible or ())


def eligible_leaders(state: State, until: datetime | None, timeline: PartitionTimeline, cluster: Cluster) -> tuple[int, ...]:
    """Eligible leader replicas of this state that did not crash up to `until`. When a broker registers again after an unclean shutdown, the
    controller removes it from all sets of eligible leader replicas (ClusterControlManager#registerBroker,
    ReplicationControlManager#handleBrokerUncleanShutdown): its log may lack records that were not flushed."""
    return tuple(b for b in named_eligible(state) if not _crashed(b, state, until or datetime.max, timeline, cluster))


def _crashed(broker: int, state: State, until: datetime, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The broker ended without a shutdown since the last state that has it in the ISR."""
    states = timeline.states_with_describe
    before = states[: next((n for n, s in enumerate(states) if s is state), len(states)) + 1]
    since = next((s.at for s in reversed(before) if broker in s.isr and s.at is not None), datetime.min)
    return any(a.how != CONTROLLED and a.overlaps(since, until) for a in cluster.availability(broker).outages)
