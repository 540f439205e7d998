"""Absences of replicas from the ISR: every interval in which an assigned replica was not in sync, and why.

Here: the intervals of one partition with their causes, and the facts (ABSENCES, SHORTS) in which they travel. A follower is caught
up when it has fetched up to the leader's log end offset of the fetch before, and is removed from the ISR when it was not caught up for
replica.lag.time.max.ms; it joins again at the leader's high watermark (kafka.cluster.Replica, Partition). Not here: intervals of
many partitions put together (failed_replicas), whether a broker was running at all (forensics.model.cluster.availability), or the findings (rules).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pyarrow as pa

from forensics.model.cluster.availability import CONTROLLED, DETECTION, KILLED, MISSED, SLACK, Outage
from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import EVIDENCE, Fact, moment, quote
from forensics.model.partition.isr_removal import PRINTED, IsrRemoval, lasting
from forensics.model.partition.log_coverage import isr_changes_observable
from forensics.model.partition.progress import SLOW as SLOW
from forensics.model.partition.progress import STUCK as STUCK
from forensics.model.partition.progress import Progress, Told
from forensics.model.partition.remembered import cached_on_timeline
from forensics.model.partition.states import State, not_after
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import Window, within_life
from parsers.kinds import ON_DISK

NEW, REASSIGNED = "new", "reassigned"
RESTARTED, STOPPED, CRASHED, GONE = "restarted", "stopped", "crashed", "gone"
LOG_DIR, SUSPENDED, NOT_TOLD, UNKNOWN = "log-dir", "suspended", "not-told", "unknown"
"""Causes of an absence. 'restarted': shut down cleanly and back; 'stopped': shut down cleanly and not back; 'gone': lost its session and
was not seen again; 'reassigned': being removed from the assignment; 'not-told': running, and the evidence does not show whether it was
stuck or slow; 'suspended': stopped together with all other brokers, like a machine that sleeps; 'unknown': nothing was collected from its
broker."""

EXPECTED = frozenset({NEW, REASSIGNED})
"""Absences by a reassignment: not a failure."""
IN_ORDER = frozenset({RESTARTED, STOPPED})
"""Absences by a clean shutdown."""

MAX_INTERVALS = 64
"""Maximum number of intervals of a partition that travel separately; of more, those of one broker and cause are folded into one."""
QUOTED, QUOTED_EACH = 8, 3
"""Number of intervals of a partition that travel with their evidence, and of pieces of each."""
MAX_WORDS = 400
LOST_SESSION = "lost its session although its process went on"
"""Words for a replica that was removed because its broker was fenced, or its ZooKeeper session expired, while its process was running."""

_CATCHING_UP = frozenset({STUCK, SLOW, NEW, NOT_TOLD})
"""Causes with which the process was running, so that it fetches again. With other causes it does so only after a restart."""


@dataclass(frozen=True, slots=True)
class Interval:
    """`start` None: since before the evidence; `end` None: still absent at its end. `back`: when the process was up again."""

    broker: int
    leader: int
    start: datetime | None
    end: datetime | None
    cause: str
    confidence: str
    words: str
    back: datetime | None
    told: bool
    """False: the leader's log was not collected, so the replica may have been in sync in between."""
    evidence: tuple[Event, ...]
    first: int
    """Index of the first state without the replica."""
    last: int
    """Index of the state that ends it; while it is open, that of the last state plus one."""
    elected: bool = False
    """It ended with the election of the replica as leader, from outside the ISR or as an eligible replica: it did not catch up."""


@dataclass(frozen=True, slots=True)
class UnderReplicatedWindow:
    """The partition was under-replicated under this leader. `planned`: only replicas being added or removed were missing."""

    leader: int
    start: datetime | None
    end: datetime | None
    planned: bool
    missing: tuple[int, ...]


class Absences:
    """The absences of one partition's replicas; `all` by their begin."""

    def __init__(self, timeline: PartitionTimeline, cluster: Cluster) -> None:
        states = timeline.states
        self._judge = judge = _Judge(timeline, cluster)
        self._place = {id(state.event): index for index, state in enumerate(states)}
        found: list[Interval] = []
        since: dict[int, int] = {}
        last = timeline.assigned
        for index, state in enumerate(states):
            assigned = state.replicas or last
            for broker in [b for b in since if b in state.isr or b not in assigned]:
                found.append(judge.interval(broker, since.pop(broker), index))
            for broker in assigned:
                if broker not in state.isr and broker not in since:
                    since[broker] = index
        # If the assignment is unknown, a replica that did not come back may have been reassigned, unless its leader removed it from the
        # ISR.
        # Absences do not count while the topic is being deleted.
        still = (
            (b, first)
            for b, first in since.items()
            if (states[-1].replicas or judge.shrink(b, states[first]) is not None)
            and within_life(Window(states[first].at, None, tuple(states[first:])), timeline, cluster) is not None
        )
        found.extend(judge.interval(broker, first, len(states)) for broker, first in still)
        self.all = sorted(found, key=lambda i: (i.first, i.broker))
        self._own: dict[int, list[Interval]] = defaultdict(list)
        for interval in self.all:
            self._own[interval.broker].append(interval)

    def within(self, window: Window) -> list[Interval]:
        """The first absence of each replica that was missing in the window; the replica missing in most of its states comes first."""
        counts: Counter[int] = Counter()
        first: dict[int, Interval] = {}
        for state in window.states:
            index = self._place[id(state.event)]
            for broker in self._own:
                if (covering := self._covering(broker, index)) is not None:
                    first.setdefault(broker, covering)
                    counts[broker] += 1
        return sorted(first.values(), key=lambda i: (-counts[i.broker], i.broker))

    def of(self, broker: int, state: State, last: State | None = None) -> Interval:
        """Why a broker was absent from a state up to `last`: its absence from the ISR. If the broker still counts as in sync, for example
        when it only stopped leading, an absence made by the same judgement."""
        index = self._place[id(state.event)]
        until = self._place[id(last.event)] if last is not None else index
        return self._covering(broker, index) or self._judge.interval(broker, index, until + 1)

    def _covering(self, broker: int, index: int) -> Interval | None:
        own = self._own.get(broker, [])
        place = bisect_right(own, index, key=lambda i: i.first) - 1
        return own[place] if place >= 0 and index < own[place].last else None


@cached_on_timeline
def absences(timeline: PartitionTimeline, cluster: Cluster) -> Absences:
    """The absences of the partition, computed once for all rules."""
    return Absences(timeline, cluster)


def intervals(timeline: PartitionTimeline, cluster: Cluster) -> list[Interval]:
    """All absences of the partition's replicas, in the order they began."""
    return absences(timeline, cluster).all


@cached_on_timeline
def shorts(timeline: PartitionTimeline, cluster: Cluster) -> list[UnderReplicatedWindow]:
    """Windows in which the partition was under-replicated, one for each leader and set of missing replicas."""
    out: dict[int, list[Interval]] = defaultdict(list)
    for interval in intervals(timeline, cluster):
        out[interval.first].append(interval)
    now: list[Interval] = []
    found: list[UnderReplicatedWindow] = []
    for index, state in enumerate(timeline.states):
        now = [i for i in now if i.last > index] + out.get(index, [])
        end = timeline.states[index + 1].at if index + 1 < len(timeline.states) else None
        if not now:
            continue
        planned = all(i.cause in EXPECTED for i in now)
        missing = tuple(sorted({i.broker for i in now if planned or i.cause not in EXPECTED}))
        short = UnderReplicatedWindow(state.leader, state.at, end, planned, missing)
        before = found[-1] if found else None
        if (
            before is not None
            and before.end == short.start
            and (before.leader, before.planned, before.missing) == (short.leader, short.planned, short.missing)
        ):
            found[-1] = replace(before, end=end)
        else:
            found.append(short)
    return found


class _Judge:
    """Determines the causes of one partition's absences; what all of them need is computed once."""

    def __init__(self, timeline: PartitionTimeline, cluster: Cluster) -> None:
        self.timeline, self.cluster = timeline, cluster
        self.signs = _Signs(timeline)
        self.progress = Progress(timeline)
        self._tells: dict[int, bool] = {}
        self._leaving = _leaving(timeline)
        self._shrinks: dict[int, list[Event]] = defaultdict(list)
        for event in timeline.of("isr-shrink"):
            if event.at is not None and event.writer is not None:
                self._shrinks[event.writer].append(event)
        self._errors: dict[int, list[Event]] = defaultdict(list)
        for event in timeline.of("fetch-error", "partition-failed"):
            if event.at is not None and event.writer is not None:
                self._errors[event.writer].append(event)

    def interval(self, broker: int, first: int, last: int) -> Interval:
        states = self.timeline.states
        state, before = states[first], states[first - 1] if first else None
        end = states[last] if last < len(states) else None
        unassigned = end is not None and broker not in (end.replicas or self.timeline.assigned)
        left = IsrRemoval(broker, state, self.timeline, self.cluster)
        told = self._told(left, first, end, unassigned)
        self._held_back(told, left, end)
        if before is None and not self.timeline.created() and told.cause not in (NEW, REASSIGNED, UNKNOWN):
            told.words = f"it was out already when the evidence begins; {told.words}"
        return Interval(
            broker,
            state.leader,
            state.at,
            end.at if end is not None else None,
            told.cause,
            told.confidence,
            told.words,
            told.back,
            all(self.tells(leader) for leader in {s.leader for s in states[first:last]}),
            tuple(dict.fromkeys([state.event, *told.evidence, *([end.event] if end is not None else [])])),
            first,
            last,
            end is not None and broker in end.isr and end.leader == broker != states[last - 1].leader,
        )

    def _held_back(self, told: Told, left: IsrRemoval, end: State | None) -> None:
        """Names a replication throttle that was in force while the replica could have caught up."""
        if (told.cause not in _CATCHING_UP and told.back is None) or "throttled.rate" in told.words:
            return
        begin, until = told.back or left.at, end.at if end is not None else None
        for side, owner in (("follower", left.broker), ("leader", left.leader)):
            found = left.throttle(side, owner, begin, until)
            if found is not None:
                told.words += (
                    f"; while it is behind, {side}.replication.throttled.rate={found.value} of broker {owner} holds back its copying"
                )
                told.evidence = [*told.evidence, *([found.event] if found.event is not None else [])]
                return

    def tells(self, leader: int) -> bool:
        if leader not in self._tells:
            self._tells[leader] = leader < 0 or isr_changes_observable(leader, self.timeline, self.cluster)
        return self._tells[leader]

    def _told(self, left: IsrRemoval, first: int, end: State | None, unassigned: bool) -> Told:
        broker = left.broker
        state, before = self.timeline.states[first], self.timeline.states[first - 1] if first else None
        if broker in state.adding or (before is not None and before.replicas and broker not in before.replicas):
            return Told(NEW, "certain", f"broker {broker} was added to the replicas and had to copy the log first")
        created = before is None and self.timeline.created()
        if created and left.starting:
            return Told(NEW, "probable", f"broker {broker} was not yet known to the controller when the partition was created")
        outage = self._away(left)
        leaves = unassigned and before is not None and broker in before.isr and _soon(state, end) and outage is None
        if broker in self._leaving[first] or leaves:
            return Told(REASSIGNED, "certain", f"broker {broker} was on its way out of the assignment")
        failed = self._log_dir(left)
        if failed is not None and (outage is None or outage.life is None):
            return Told(LOG_DIR, "certain", f"a log directory of broker {broker} had failed", evidence=[failed])
        if outage is not None and not (created and outage.how == KILLED):
            return self._ended(left, outage, end)
        if created and left.heard:
            return Told(NEW, "probable", f"the partition was created while the controller did not count broker {broker} as alive")
        if not state.follows(before) and self.shrink(broker, state) is None:
            if (unseen := left.ended_since(before.at if before is not None else None)) is not None:
                ended = self._ended(left, unseen, end)
                ended.confidence = "probable"  # it may have been in sync again before it left for another reason
                return ended
            if before is None:
                return Told(UNKNOWN, "possible", f"when and why broker {broker} left is not in evidence")
        if not left.heard:
            return self._unheard(left, state)
        if (asleep := left.suspension) is not None:
            return Told(SUSPENDED, "probable", asleep.words, evidence=asleep.events)
        back = end.at if end is not None else None
        if (seen := self._fell_behind(left, state, back)) is not None:
            return seen
        if (taken := self._taken_out(broker, first)) is not None:
            words = f"the controller did not count broker {broker} as alive, and no end of its process is in evidence"
            return Told(GONE, "probable", words, evidence=[taken])
        return self._not_told(left, state)

    def _away(self, left: IsrRemoval) -> Outage | None:
        """The span in which its broker was stopping or gone. None if the broker showed activity in this partition after the replica left
        and before the broker began again: then the outage was not the reason."""
        outage, at, broker = left.outage, left.at, left.broker
        if outage is None or at is None or outage.how == MISSED:
            return None
        stopped = outage.life.end_at if outage.how == CONTROLLED and outage.life is not None else None
        if stopped is not None and at > stopped + DETECTION:
            return None if self.signs.between(broker, stopped, at) else outage  # it ran again, in a part of its log that was not collected
        lived = outage.how == KILLED and outage.until is not None and self.signs.between(broker, at, outage.until - SLACK)
        return None if lived else outage

    def _log_dir(self, left: IsrRemoval) -> Event | None:
        """The failure of the directory that contains this replica: its own partitions are named, or it failed within a minute."""
        for e in self.timeline.of("log-dir-partitions"):
            if e.writer == left.broker and (e.at is None or left.at is None or e.at <= left.at + DETECTION):
                return e
        return left.log_dir

    def _taken_out(self, broker: int, first: int) -> Event | None:
        """A controller's statement that the broker was not there: a controller removes a replica from an ISR, or takes its leadership away,
        when its broker is not registered (ReplicaStateMachine, PartitionStateMachine). With ZooKeeper, a removal by the leader does not
        change the leader epoch."""
        state, before = self.timeline.states[first], self.timeline.states[first - 1] if first else None
        for event in (state.event, *state.also):
            if event.value == "OfflineReplica" and event.broker == broker:
                return event
        if state.leader < 0 and (broker in state.isr or before is None or before.leader == broker):
            return state.event
        changed = before is not None and broker in before.isr and broker not in state.isr and _next(before, state)
        return state.event if changed and self.cluster.mode == "zookeeper" else None

    def _ended(self, left: IsrRemoval, outage: Outage, end: State | None) -> Told:
        broker, at = left.broker, left.at
        back = self._began(left, outage, end)
        ended = outage.life.end_at if outage.life is not None else None
        if outage.how == KILLED:
            before = " before" if at is not None and outage.until is not None and at > outage.until + SLACK else ""
            elsewhere = " and began again in the cluster after this one" if outage.event.cluster not in (None, self.cluster.number) else ""
            return Told(CRASHED, "certain", f"broker {broker} had died without a shutdown{before}{elsewhere}", back, [outage.event])
        words = f"broker {broker} was being shut down in order"
        if at is not None and ended is not None and at > ended + DETECTION:
            words = f"broker {broker} had been stopped in order at {moment(ended)}" + (
                " and was not started again before" if outage.covers(at) else ""
            )
        return Told(RESTARTED if back is not None else STOPPED, "certain", words, back, [outage.event])

    def _began(self, left: IsrRemoval, outage: Outage, end: State | None) -> datetime | None:
        """When the broker was started again after the stop or the crash, within the absence; the last time, if it ended again. None for a
        replica that was removed from the assignment."""
        if outage.until is None or (end is not None and left.broker not in (end.replicas or self.timeline.assigned)):
            return None
        begun = left.availability.begun
        if end is None or end.at is None:
            return max(begun(outage.until, datetime.max), default=None)
        return max(begun(outage.until, end.at) or begun(outage.until, end.at + SLACK)[:1], default=None)

    def _unheard(self, left: IsrRemoval, state: State) -> Told:
        """The cause for a broker from which nothing was collected: from what its leader knew of its fetching, and what the controller
        saw."""
        broker = left.broker
        seen = self._measured(left, state)
        lost = left.lost
        if lost is not None and (seen is None or seen.cause != SLOW):
            return Told(GONE, "probable", f"the controller saw broker {broker} go, and nothing was collected from it", evidence=[lost])
        if seen is not None:
            seen.words += "; nothing was collected from it to say whether it was dead, frozen or cut off" if seen.cause == STUCK else ""
            seen.confidence = "probable"
            return seen
        lives = left.availability.lives
        if lives and lives[0].begin is not None:
            words = f"the log of broker {broker} begins with its start at {moment(lives[0].begin_at)}, after that"
            return Told(UNKNOWN, "possible", words, evidence=[lives[0].begin])
        return Told(UNKNOWN, "possible", f"nothing was collected from broker {broker} to say why")

    def _silent(self, left: IsrRemoval) -> Told | None:
        """Its log ends, and no other broker saw it again: most likely it crashed, but only its next start would prove that."""
        missed = left.availability.missed
        if missed is None or left.at is None or not missed.covers(left.at):
            return None
        how = "did not find" if missed.event.reason == "live" else "saw"
        words = f"the controller {how} broker {left.broker}{'' if how != 'saw' else ' go'}, and it printed nothing more"
        return Told(GONE, "probable", words, evidence=[missed.event])

    def _fell_behind(self, left: IsrRemoval, state: State, end: datetime | None) -> Told | None:
        """Whether the replica was stuck or slow: from its offset on its leader, pauses, the session, and fetch errors."""
        at, broker, lag = left.at, left.broker, left.lag
        if at is None:
            return None
        seen = self._measured(left, state)
        if seen is not None and seen.cause == SLOW:
            return seen
        paused = self._paused(left)
        if paused is not None:
            return _join(paused, seen)
        kept = self._kept_back(left, state, at - lag * 1.5) if seen is not None else None
        if seen is not None and seen.confidence == "certain":
            return kept or seen
        silent = self._silent(left)
        lost = left.session_lost(end)
        if silent is None and lost is not None:
            if not left.availability.went_on(lost):
                words = f"the controller saw broker {broker} go, and whether its process went on is not in evidence"
                return Told(GONE, "probable", words, evidence=[lost])
            told = Told(STUCK, "certain", f"broker {broker} {LOST_SESSION}", evidence=[lost])
            return _join(told, seen)
        if silent is not None:
            return silent
        return kept or seen or self._failing(broker, at, lag)

    def _kept_back(self, left: IsrRemoval, state: State, since: datetime) -> Told | None:
        """A throttle exempts replicas in sync, but a fetcher knows that its replica is in sync only after its first records
        (ReplicaFetcherThread#shouldFollowerThrottle, PartitionFetchState#lag): a new fetcher may be throttled from the start."""
        broker = left.broker
        shrink = self.shrink(broker, state)
        end = _end_of(broker, shrink)
        begun = [e for e in self.timeline.of("fetcher-added") if e.writer == broker and e.at is not None and e.at <= (state.at or e.at)]
        rate = left.throttle("follower", broker, since, left.at)
        if shrink is None or end is None or rate is None or not begun or begun[-1].offset != end:
            return None
        words = (
            f"broker {broker} had got nothing since it began to fetch at offset {end} at {moment(begun[-1].at)}, while "
            f"follower.replication.throttled.rate={rate.value} held it back: a throttle spares a replica in sync only once it has fetched records"
        )
        return Told(SLOW, "probable", words, evidence=[*([rate.event] if rate.event is not None else []), shrink])

    def _measured(self, left: IsrRemoval, state: State) -> Told | None:
        shrink = self.shrink(left.broker, state)
        return self.progress.of(left.broker, shrink, left.lag, left.skew) if shrink is not None else None

    def shrink(self, broker: int, state: State) -> Event | None:
        """The leader's own line about the removal of the replica."""
        own = self._shrinks.get(state.leader, [])
        if state.at is None or not own:
            return None
        near = own[bisect_left(own, state.at - PRINTED, key=_when) : bisect_right(own, state.at + SLACK, key=_when)]
        fitting = [e for e in near if broker in (e.previous_isr or ()) and set(e.isr or ()) == set(state.isr)]
        return fitting[-1] if fitting else None

    def _paused(self, left: IsrRemoval) -> Told | None:
        if (worst := left.pause) is None:
            return None
        told = f"broker {left.broker} stood still for {lasting(worst).total_seconds():.1f} s from {moment(worst.at)} on ({worst.value or worst.reason})"
        return Told(STUCK, "certain", told, evidence=[worst])

    def _failing(self, broker: int, at: datetime, lag: timedelta) -> Told | None:
        own = self._errors.get(broker, [])
        near = own[bisect_left(own, at - lag * 1.5, key=_when) : bisect_right(own, at + SLACK, key=_when)]
        if not any(e.event == "partition-failed" or (e.last_at or at) >= at - lag / 2 for e in near):
            return None
        ended = next((e for e in near if e.event == "partition-failed"), None)
        words = (
            f"broker {broker} had given up fetching this partition"
            if ended is not None
            else f"broker {broker}'s fetches of this partition failed ({near[-1].reason or 'see the line'})"
        )
        return Told(STUCK, "certain" if ended is not None else "probable", words, evidence=[ended or near[-1]])

    def _not_told(self, left: IsrRemoval, state: State) -> Told:
        broker = left.broker
        shrink = self.shrink(broker, state)
        end = _end_of(broker, shrink)
        ended = f" (its log ended at {end})" if end is not None else ""
        words = f"broker {broker} was running and not in sync{ended}; nothing in the evidence tells whether it stood still or was too slow"
        if left.lag_by_messages:
            words += (
                ", or was more than replica.lag.max.messages behind after a burst (Kafka before 0.9 takes a replica out for that, however "
                "well it fetches)"
            )
        return Told(NOT_TOLD, "certain", words, evidence=[shrink] if shrink is not None else [])


def _join(told: Told, seen: Told | None) -> Told:
    if seen is not None and seen.cause == told.cause:
        told.words += f"; {seen.words}"
        told.evidence = [*told.evidence, *seen.evidence]
    return told


def _end_of(broker: int, shrink: Event | None) -> int | None:
    """The leader's log end offset in the line about the removal."""
    known = (shrink.replica_offsets or ()) if shrink is not None else ()
    return next((r.get("log_end_offset") for r in known if r.get("broker") == broker), None)


def _when(event: Event) -> datetime:
    return event.at or datetime.min


def _leaving(timeline: PartitionTimeline) -> list[frozenset[int]]:
    """For each state, the replicas that the running reassignment removes. Not every source of a state names them, but a ZooKeeper
    controller names its target while it waits for it."""
    found: list[frozenset[int]] = []
    steps = timeline.of("reassignment")
    for before, state in zip([None, *timeline.states], timeline.states, strict=False):
        same = before is not None and before.replicas == state.replicas
        last = next((e for e in reversed(steps) if not_after(e.at, state.at)), None) if not state.removing else None
        target = last.replicas if last is not None and last.reason == "waiting" else None
        taken = {*(state.replicas or ())} - {*target} if target else state.removing
        found.append(frozenset(taken) or (found[-1] if same else frozenset()))
    return found


def _soon(state: State, end: State | None) -> bool:
    return end is not None and state.at is not None and end.at is not None and end.at - state.at <= DETECTION


def _next(before: State, state: State) -> bool:
    """The state follows the other one directly, by a change that a controller made."""
    epochs = before.partition_epoch, state.partition_epoch
    follows = epochs[0] is None or epochs[1] is None or epochs[1] == epochs[0] + 1
    return before.known_epoch is not None and state.leader_epoch == before.leader_epoch + 1 and follows


class _Signs:
    """When each broker showed activity in one partition: a line of its own, or its return to the ISR."""

    def __init__(self, timeline: PartitionTimeline) -> None:
        self._lines: dict[int, list[datetime]] = defaultdict(list)
        self._returns: dict[int, list[datetime]] = defaultdict(list)
        for event in timeline.events:
            if event.line is not None and event.event not in ON_DISK and event.writer is not None and event.at is not None:
                self._lines[event.writer].append(event.at)
        for before, state in pairwise(timeline.states):
            if state.at is not None:
                for broker in set(state.isr) - set(before.isr):
                    self._returns[broker].append(state.at)
        for own in (*self._lines.values(), *self._returns.values()):
            own.sort()

    def between(self, broker: int, left: datetime, end: datetime) -> bool:
        """Activity after it had left the ISR and before the end; clocks of two brokers differ a little."""
        return _any(self._returns.get(broker, ()), left, end) or _any(self._lines.get(broker, ()), left + SLACK, end)


def _any(times: Sequence[datetime], start: datetime, end: datetime) -> bool:
    index = bisect_right(times, start)
    return index < len(times) and times[index] < end


# rows


def rows(found: Sequence[Interval]) -> list[dict[str, Any]]:
    """The intervals as rows; if there are too many, those of one broker and cause are folded into one."""
    if len(found) <= MAX_INTERVALS:
        return [_row(i, 1, index < QUOTED) for index, i in enumerate(found)]
    groups: dict[tuple[int, str], list[Interval]] = defaultdict(list)
    for interval in found:
        groups[interval.broker, interval.cause].append(interval)
    folded = [
        _row(replace(own[0], end=own[-1].end, told=all(i.told for i in own)), len(own), index < QUOTED)
        for index, own in enumerate(groups.values())
    ]
    return folded[:MAX_INTERVALS]


def _row(i: Interval, times: int, quoted: bool) -> dict[str, Any]:
    evidence = quote(i.evidence)[:QUOTED_EACH] if quoted else ()
    told = {name: getattr(i, name) for name in ("broker", "leader", "start", "end", "cause", "confidence", "back", "told", "elected")}
    return {**told, "times": times, "words": i.words[:MAX_WORDS], "evidence": [e.row() for e in evidence]}


def short_rows(found: Sequence[UnderReplicatedWindow]) -> list[dict[str, Any]]:
    """The windows as rows; at most MAX_INTERVALS, the first and the longest open ones."""
    told = found if len(found) <= MAX_INTERVALS else [*found[: MAX_INTERVALS - 1], found[-1]]
    return [{name: getattr(s, name) for name in ("leader", "start", "end", "planned", "missing")} for s in told]


ABSENCES = Fact(
    "absences",
    pa.list_(
        pa.struct(
            [
                ("broker", pa.int32()),
                ("leader", pa.int32()),
                ("start", pa.timestamp("us")),
                ("end", pa.timestamp("us")),
                ("cause", pa.string()),
                ("confidence", pa.string()),
                ("back", pa.timestamp("us")),
                ("told", pa.bool_()),
                ("times", pa.int32()),
                ("words", pa.string()),
                ("elected", pa.bool_()),
                ("evidence", pa.list_(EVIDENCE)),
            ]
        )
    ),
    "assigned replicas outside the ISR (Interval); `times` of them folded into one",
    lambda timeline, cluster: rows(intervals(timeline, cluster)),
)
SHORTS = Fact(
    "shorts",
    pa.list_(
        pa.struct(
            [
                ("leader", pa.int32()),
                ("start", pa.timestamp("us")),
                ("end", pa.timestamp("us")),
                ("planned", pa.bool_()),
                ("missing", pa.list_(pa.int32())),
            ]
        )
    ),
    "when it was under-replicated, under which leader (Short)",
    lambda timeline, cluster: short_rows(shorts(timeline, cluster)),
)
SHORTS_UNTOLD = Fact(
    "shorts_untold",
    pa.int32(),
    "so many windows more than `shorts` holds",
    lambda timeline, cluster: max(len(shorts(timeline, cluster)) - MAX_INTERVALS, 0),
)
TOLD_FROM = Fact(
    "told_from",
    pa.timestamp("us"),
    "when the evidence first tells of it",
    lambda timeline, _: timeline.states[0].at if timeline.states else None,
)
