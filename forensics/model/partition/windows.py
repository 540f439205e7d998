"""Windows of time in which a condition on leader and ISR held, and how they ended.

Here: the windows over the chain of states, and how each ended; those without a leader, in which clients could not use the partition, the
fact with their rows, and which eligible leader replicas (KIP-966) can still be elected. Not here: why a replica was missing (absences),
which conditions are worth a finding (rules), or how many partitions had no leader at a time (forensics.model.cluster.under_replication).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise, starmap

import pyarrow as pa

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.coverage.log_coverage import COMPLETE, would_show
from forensics.model.findings import Fact, Statement
from forensics.model.message import Message, Value, said
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.presence.availability import CONTROLLED, is_own_log_line
from forensics.model.times import begins, not_after, undated_first
from forensics.thresholds import BRIEF_S, CRASH_NOTICED, MAX_SEPARATE_WINDOWS, STOP_NOTICED_EARLY, STOPPED_TOGETHER
from parsers.frozen import dataclass, replace


@dataclass(frozen=True, slots=True)
class Window:
    """`states` from `start` to `end`, each following the one before; `end` None: to the end of the evidence."""

    start: datetime | None
    end: datetime | None
    states: tuple[State, ...]
    times: int = 1
    """More than one: this many windows reported as one, with the states of the first and the last."""
    deleted: bool = False
    """It ended with the deletion of its topic; `end` None: the time is unknown."""
    seen: bool = False
    """`end` is the time at which --describe showed the end of the condition."""
    unseen: Message | None = None
    """Why the condition may have ended before `end`, a sentence."""

    @property
    def seconds(self) -> float | None:
        return (self.end - self.start).total_seconds() if self.start is not None and self.end is not None else None


def windows(timeline: PartitionTimeline, holds: Callable[[State], bool]) -> Iterator[Window]:
    """Maximal runs of states for which the condition holds."""
    run: list[State] = []
    for state in timeline.states:
        if holds(state):
            run.append(state)
        elif run:
            yield Window(run[0].at, state.at, tuple(run), unseen=_unseen([*run, state]))
            run = []
    if run:
        over = next((s for s in timeline.states_with_describe[len(timeline.states) :] if not holds(s)), None)
        yield Window(run[0].at, over.at if over is not None else None, tuple(run), seen=over is not None)


def _unseen(states: Sequence[State]) -> Message | None:
    if changes := sum(starmap(_changes, pairwise(states))):
        return said("window/changes-missing", changes=changes)
    last = states[-1]
    return said("window/end-cached", broker=last.event.writer) if last.source == "cached" else None


def _changes(before: State, after: State) -> int:
    """The number of changes between two states that no line shows. Each change of the leader epoch is also one of the partition epoch."""
    if before.partition_epoch is not None and after.partition_epoch is not None:
        return max(after.partition_epoch - before.partition_epoch - 1, 0)
    return max(after.leader_epoch - before.leader_epoch - 1, 0) if before.known_epoch is not None else 0


def condensed(found: Sequence[Window]) -> Sequence[Window]:
    """The windows, or one for all of them if there are too many to report separately."""
    if len(found) <= MAX_SEPARATE_WINDOWS:
        return found
    first, last = found[0], found[-1]
    smallest = min((s for w in found for s in w.states), key=lambda s: len(s.isr))
    return [Window(first.start, last.end, tuple(dict.fromkeys((first.states[0], smallest, last.states[-1]))), len(found))]


def said_of(window: Window, cluster: Cluster, **of_start: Value) -> dict[str, Value]:
    """What sentences about the window name: `span` begins them, `lasted` ends a summary, `unseen` is a sentence of its own."""
    once = window.times == 1
    how: dict[str, Value] = {"end": window.end, "deleted": window.deleted, "ended": cluster.number < 0}
    latest, seconds, times = window.unseen is not None, window.seconds if once else None, window.times if not once else None
    return {
        "lasted": said("window/lasted", times=times, seconds=seconds, latest=latest, **how),
        "span": said("window/span", start=window.start, **of_start, seen=window.seen, latest=latest and once, **how),
        "unseen": window.unseen if once else None,
        "open": window.end is None and not window.deleted,
    }


def together(group: Sequence[Statement]) -> dict[str, Value]:
    """What sentences about windows that are reported together name: the brokers, whether they were missing one after the other, and the
    longest duration."""
    lasted = [(f.end - f.start).total_seconds() if f.start is not None and f.end is not None else None for f in group]
    longest = None if None in lasted else max(seconds for seconds in lasted if seconds is not None)
    brokers = tuple(sorted({b for f in group for b in f.brokers}))
    turns = _turns(group) if len(brokers) > 1 else ()
    up_to = said("window/up-to", longest=longest, open=not all(f.over for f in group), ended=group[0].cluster < 0)
    return {"missing": turns or brokers, "by_turns": bool(turns), "up_to": up_to}


def _turns(group: Sequence[Statement]) -> tuple[int, ...]:
    """The brokers in the order of their windows, if the windows of each had ended before those of the next began; else none."""
    turns: list[int] = []
    ended = datetime.min
    for f in sorted(group, key=begins):
        if len(f.brokers) != 1 or f.start is None or f.end is None:
            return ()
        if f.brokers[0] not in turns[-1:]:
            if f.brokers[0] in turns or f.start < ended:
                return ()
            turns.append(f.brokers[0])
        ended = max(ended, f.end)
    return tuple(turns)


def lived(found: Iterable[Window], timeline: PartitionTimeline, cluster: Cluster) -> list[Window]:
    """The windows limited to the existence of their topic, without those that only show its deletion."""
    return [own for window in found if (own := within_life(window, timeline, cluster)) is not None]


def within_life(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> Window | None:
    """The window limited to the existence of its topic. None if it only shows the topic's deletion: a ZooKeeper controller takes the
    replicas of a topic that is being deleted offline one by one."""
    if window.end is not None or window.start is None:
        return window
    for at in _deletions(window.start, timeline, cluster):
        if not _lived_on(at, window.start, timeline):
            return None if at <= window.start + STOP_NOTICED_EARLY else replace(window, end=at, deleted=True)
    if timeline.generation >= 0:
        return window
    end = max(timeline.succeeded_by, window.start) if timeline.succeeded_by is not None else None
    return replace(window, end=end, deleted=True, unseen=said("window/deletion-missing"))


def _deletions(start: datetime, timeline: PartitionTimeline, cluster: Cluster) -> list[datetime]:
    """When the topic was being deleted, according to the controller; if no controller says so, according to its leaderless replica, or to
    all replicas: a replica that a reassignment removes is not among the last ones."""
    times = [at for at in cluster.recreated.get(timeline.topic, ()) if at is not None]
    last, gone = timeline.states[-1], discarded(start, timeline)
    by_replicas = {at for broker, at in gone.items() if at is not None and last.leader < 0 and broker in last.isr}
    return sorted({*times, *by_replicas, *((max(at for at in gone.values() if at is not None),) if all_discarded(timeline) else ())})


def discarded(start: datetime, timeline: PartitionTimeline) -> dict[int, datetime | None]:
    """The brokers that deleted their log of the partition from that time on, and when; None: only the name of its directory shows it."""
    found: dict[int, datetime | None] = {}
    for e in timeline.of("log-deleted", "log-created", "log-load"):
        if e.event != "log-deleted" and not (e.directory or "").endswith("-delete"):
            found.pop(e.writer or -1, None)
        elif e.reason != "stray" and e.writer is not None and e.at is not None and e.at >= start - STOP_NOTICED_EARLY:
            found[e.writer] = e.at
    named = {b for b, disks in timeline.stray_logs.items() if b not in timeline.collected_logs and any(d.state == "delete" for d in disks)}
    return {**dict.fromkeys(named), **found}


def all_discarded(timeline: PartitionTimeline) -> bool:
    """All of its last replicas deleted their logs, so its topic was deleted: a replica that a reassignment removes is not among the last
    ones."""
    last = timeline.standing
    gone = discarded(last.at or datetime.min, timeline)
    return bool(last.replicas) and {*last.replicas} <= gone.keys() and any(at is not None for at in gone.values())


def _lived_on(deleted: datetime, start: datetime, timeline: PartitionTimeline) -> bool:
    """The topic was created again between the deletion and the window, or had leaders: no leader is elected while a topic is being
    deleted."""
    between = [s for s in timeline.states if s.at is not None and deleted < s.at <= start]
    anew = timeline.created() and timeline.states[0] in between
    return anew or any(s.leader >= 0 and s.at is not None and s.at > deleted + CRASH_NOTICED for s in between)


def cluster_stopped(window: Window, gone: Sequence[int], cluster: Cluster) -> datetime | None:
    """When the last broker was stopped, if the window lasts to the end because the whole cluster was stopped cleanly then."""
    if window.end is not None or window.start is None or window.times > 1:
        return None
    all_stops = _stopped(cluster)
    replicas = {b for s in window.states for b in s.replicas or ()}
    stops = {b: at for b in {*gone, *replicas} if (at := _last_stop(b, cluster)) is not None}
    if all_stops is None or len(stops) < len({*gone, *replicas}) or any(stops[b] < window.start - STOPPED_TOGETHER for b in gone):
        return None
    last = max((*stops.values(), *all_stops), default=None)
    return last if last is not None and window.start - CRASH_NOTICED <= last <= window.start + STOPPED_TOGETHER else None


@cached_on_cluster
def _stopped(cluster: Cluster) -> list[datetime] | None:
    """When each of the brokers was stopped cleanly without a later start; None if one of them was not."""
    stops = [
        _last_stop(n.id, cluster) for n in cluster.nodes.values() if n.broker and n.id in cluster.named
    ]  # others may be of another cluster
    known = [at for at in stops if at is not None]
    return known if len(known) == len(stops) else None


def _last_stop(broker: int, cluster: Cluster) -> datetime | None:
    """When it was stopped cleanly without a later start."""
    gone = cluster.availability(broker).gone
    complete = gone is not None and (gone.run is None or gone.run.outcome != "running")
    return gone.since if gone is not None and gone.how == CONTROLLED and complete else None


def reassigning(state: State) -> bool:
    return bool(state.adding or state.removing)


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
    over = next((e for e in led if not_after(window.start, e.at)), None)
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
