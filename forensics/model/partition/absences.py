"""Absences of replicas from the ISR: every interval in which an assigned replica was not in sync, and why.

Here: the intervals of one partition with their causes, and the facts (ABSENCES, UNDER_REPLICATED) with their rows. A follower is caught up
when it has fetched up to the leader's log end offset of the fetch before, and is removed from the ISR when it was not caught up for
replica.lag.time.max.ms; it joins again at the leader's high watermark (kafka.cluster.Replica, Partition). Not here: intervals of many
partitions put together (failed_replicas), whether a broker was running at all (forensics.model.presence.availability), or the findings
(forensics.rules).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from operator import attrgetter
from typing import Annotated, Any

import pyarrow as pa

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_directories import failures_of_replica, log_directory
from forensics.model.coverage.log_coverage import isr_changes_observable
from forensics.model.events import Event, lasting
from forensics.model.findings import EVIDENCE, Fact, lower, quote
from forensics.model.message import PACKED, Message, Value, said
from forensics.model.partition.fetch_failures import FAILED, GAVE_UP, hindered, says_hindered, unreachable
from forensics.model.partition.isr_removal import IsrRemoval
from forensics.model.partition.progress import SLOW as SLOW
from forensics.model.partition.progress import STUCK as STUCK
from forensics.model.partition.progress import AbsenceCause, LogProgress
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.partition.windows import Window, within_life
from forensics.model.presence.availability import KILLED, PRESUMED_CRASHED, Outage
from forensics.model.presence.process_errors import of_fetcher
from forensics.model.record import Int32, Record, struct
from forensics.model.settings.settings import is_directory_id, same_directory
from forensics.model.times import Span, contains, grouped, is_later, not_after, runs, undated_first
from forensics.thresholds import CRASH_NOTICED, SHRINK_TAKES_EFFECT, STOP_NOTICED_EARLY
from parsers.frozen import dataclass
from parsers.kinds import ON_DISK, named
from parsers.schemas import documented

NEW, REASSIGNED = "new", "reassigned"
RESTARTED, STOPPED, CRASHED, GONE = "restarted", "stopped", "crashed", "gone"
LOG_DIR, SUSPENDED, NOT_STATED, UNKNOWN = "log-dir", "suspended", "not-in-log", "unknown"
"""Causes of an absence. 'restarted': shut down cleanly and back; 'stopped': shut down cleanly and not back; 'gone': lost its session and
was not seen again; 'reassigned': being removed from the assignment; 'not-in-log': running, and the evidence does not show whether it was
stuck or slow; 'suspended': stopped together with all other brokers, like a machine that sleeps; 'unknown': nothing was collected from its
broker."""

ENDED = "absence/ended"
EXPECTED = frozenset({NEW, REASSIGNED})
"""Absences by a reassignment: not a failure."""
IN_ORDER = frozenset({RESTARTED, STOPPED})
"""Absences by a clean shutdown."""

MAX_INTERVALS = 64
"""Maximum number of intervals of a partition that travel separately; of more, those of one broker and cause are folded into one."""
QUOTED, QUOTED_EACH = 8, 3
"""Number of intervals of a partition that travel with their evidence, and of pieces of each."""
LOST_SESSION = "absence/lost-session"
"""Clause about a replica that was removed because its broker was fenced, or its ZooKeeper session expired, while its process was
running."""
LOG_ENDS = "absence/log-ends"
"""Clause about a replica whose broker others missed after the end of its log."""
MAY_HAVE_ENDED = "absence/may-have-ended"
NOT_SHOWN_RUNNING = frozenset({MAY_HAVE_ENDED, "absence/may-have-crashed"})
"""Clauses about a replica whose process is not shown to have run after it left the ISR."""
_THROTTLED = "absence/throttled-from-start"

_CATCHING_UP = frozenset({STUCK, SLOW, NEW, NOT_STATED})
"""Causes with which the process was running, so that it fetches again. With other causes it does so only after a restart."""


@dataclass(frozen=True, slots=True)
class AbsenceInterval(Record):
    broker: Annotated[Int32, "the absent replica"]
    leader: Annotated[Int32, "leader of the partition when it began"]
    start: Annotated[datetime | None, "null: since before the evidence"]
    end: Annotated[datetime | None, "null: still absent at the end of the evidence"]
    cause: Annotated[str, "restarted, stopped, crashed, gone, stuck, slow, new, reassigned, log-dir, suspended, not-in-log or unknown"]
    confidence: Annotated[str, "confidence in the cause: certain, probable or possible"]
    clauses: Annotated[tuple[Message, ...], PACKED, "why, as JSON of messages (forensics/words/absence.toml) and their values"]
    back: Annotated[datetime | None, "when the process was up again"]
    stated: Annotated[bool, "false: the leader's log was not collected, so the replica may have been in sync in between"]
    evidence: tuple[Event, ...]
    first: int
    """Index of the first state without the replica."""
    last: int
    """Index of the state that ends it; while it is open, that of the last state plus one."""
    elected: Annotated[
        bool, "it ended with the election of the replica as leader, from outside the ISR or as an eligible replica: it did not catch up"
    ] = False


@dataclass(frozen=True, slots=True)
class UnderReplicatedWindow(Record):
    """The partition was under-replicated under this leader."""

    leader: Annotated[Int32, "leader of the partition"]
    start: Annotated[datetime | None, "begin (UTC)"]
    end: Annotated[datetime | None, "end (UTC); null: the end of the evidence"]
    planned: Annotated[bool, "only replicas that are added or removed were missing"]
    missing: Annotated[tuple[Int32, ...], "replicas outside the ISR"]


class Absences:
    """The absences of one partition's replicas; `all` by their begin."""

    def __init__(self, timeline: PartitionTimeline, cluster: Cluster) -> None:
        states = timeline.states
        self._judge = judge = _Judge(timeline, cluster)
        self._place = {id(state.event): index for index, state in enumerate(states)}
        found: list[AbsenceInterval] = []
        since: dict[int, int] = {}
        last = timeline.assigned
        for index, state in enumerate(states):
            assigned = state.replicas or last
            for broker in [b for b in since if b in state.isr or b not in assigned]:
                found.append(judge.interval(broker, since.pop(broker), index))
            for broker in assigned:
                if broker not in state.isr and broker not in since:
                    since[broker] = index
        found.extend(own for broker, first in since.items() if (own := judge.to_end(broker, first)) is not None)
        self.all = sorted(found, key=lambda i: (i.first, i.broker))
        self._own = grouped((interval.broker, interval) for interval in self.all)

    def within(self, window: Window) -> list[AbsenceInterval]:
        """The first absence of each replica that was missing in the window; the replica missing in most of its states comes first."""
        counts: Counter[int] = Counter()
        first: dict[int, AbsenceInterval] = {}
        for state in window.states:
            index = self._place[id(state.event)]
            for broker in self._own:
                if (covering := self._covering(broker, index)) is not None:
                    first.setdefault(broker, covering)
                    counts[broker] += 1
        return sorted(first.values(), key=lambda i: (-counts[i.broker], i.broker))

    def of(self, broker: int, state: State, last: State | None = None) -> AbsenceInterval:
        """Why a broker was absent from a state up to `last`: its absence from the ISR. If the broker still counts as in sync, for example
        when it only stopped leading, an absence made by the same judgement."""
        index = self._place[id(state.event)]
        until = self._place[id(last.event)] if last is not None else index
        return self._covering(broker, index) or self._judge.interval(broker, index, until + 1)

    def _covering(self, broker: int, index: int) -> AbsenceInterval | None:
        own = self._own.get(broker, [])
        place = bisect_right(own, index, key=lambda i: i.first) - 1
        return own[place] if place >= 0 and index < own[place].last else None


@cached_on_timeline
def absences(timeline: PartitionTimeline, cluster: Cluster) -> Absences:
    """The absences of the partition, computed once for all rules."""
    return Absences(timeline, cluster)


def intervals(timeline: PartitionTimeline, cluster: Cluster) -> list[AbsenceInterval]:
    """All absences of the partition's replicas, in the order they began."""
    return absences(timeline, cluster).all


@cached_on_timeline
def under_replicated_windows(timeline: PartitionTimeline, cluster: Cluster) -> list[UnderReplicatedWindow]:
    """Windows in which the partition was under-replicated, one for each leader and set of missing replicas."""
    out = grouped((interval.first, interval) for interval in intervals(timeline, cluster))
    now: list[AbsenceInterval] = []
    found: list[UnderReplicatedWindow] = []
    for index, state in enumerate(timeline.states):
        now = [i for i in now if i.last > index] + out.get(index, [])
        end = timeline.states[index + 1].at if index + 1 < len(timeline.states) else None
        if not now:
            continue
        planned = all(i.cause in EXPECTED for i in now)
        missing = tuple(sorted({i.broker for i in now if planned or i.cause not in EXPECTED}))
        found.append(UnderReplicatedWindow(state.leader, state.at, end, planned, missing))
    same = attrgetter("leader", "planned", "missing")
    joined = runs(found, lambda run, w: run[-1].end == w.start and same(run[-1]) == same(w))
    return [replace(run[0], end=run[-1].end) for run in joined]


@dataclass(frozen=True, slots=True)
class _Case:
    """One absence whose cause is to be found."""

    left: IsrRemoval
    first: int
    """Index of `state`."""
    state: State
    """The first state without the replica."""
    before: State | None
    end: State | None
    """The state that ends the absence."""
    unassigned: bool
    """The absence ends because the replica is no longer assigned."""
    created: bool
    """The partition was created with this state."""


@dataclass(frozen=True, slots=True)
class _FailedDirectory:
    """A failure of the log directory that contained the replica."""

    event: Event
    of_replica: bool
    """A line names the replica, or the directory that failed and contained the replica. False: a directory failed at that time."""
    path: str | None

    @property
    def directory(self) -> str | None:
        return _path(self.event.directory or self.path if self.of_replica else None)

    def before(self, outage: Outage) -> bool:
        """Whether the replica was offline before its broker ended."""
        at = self.event.at
        return self.of_replica and not_after(at, outage.since)


def _path(directory: str | None) -> str | None:
    return directory if directory is not None and not is_directory_id(directory) else None


class _Judge:
    """Determines the causes of one partition's absences; what all of them need is computed once."""

    def __init__(self, timeline: PartitionTimeline, cluster: Cluster) -> None:
        self.timeline, self.cluster = timeline, cluster
        self.signs = _SignsOfLife(timeline)
        self.progress = LogProgress(timeline)
        self._isr_observed: dict[int, bool] = {}
        self._leaving = _leaving(timeline)
        self._shrinks, self._errors = (
            grouped((e.writer, e) for e in timeline.of(*kinds) if e.at is not None)
            for kinds in (named("isr-shrink"), named("fetch-error", "partition-failed"))
        )

    def interval(self, broker: int, first: int, last: int) -> AbsenceInterval:
        """The absence of a broker from the state with index `first` to the one before `last`."""
        states = self.timeline.states
        state, before = states[first], states[first - 1] if first else None
        end = states[last] if last < len(states) else None
        unassigned = end is not None and broker not in (end.replicas or self.timeline.assigned)
        created = before is None and self.timeline.created()
        left = IsrRemoval(broker, state, self.timeline, self.cluster)
        cause = self._cause(_Case(left, first, state, before, end, unassigned, created))
        self._held_back(cause, left, end)
        if before is None and not created and cause.kind not in (NEW, REASSIGNED, UNKNOWN):
            cause.clauses = (said("absence/since-before", broker=broker), *cause.clauses)
        return AbsenceInterval(
            broker,
            state.leader,
            state.at,
            end.at if end is not None else None,
            cause.kind,
            cause.confidence,
            cause.clauses,
            cause.back,
            all(self.isr_observed(leader) for leader in {s.leader for s in states[first:last]}),
            tuple(dict.fromkeys([state.event, *cause.evidence, *([end.event] if end is not None else [])])),
            first,
            last,
            end is not None and broker in end.isr and end.leader == broker != states[last - 1].leader,
        )

    def _held_back(self, cause: AbsenceCause, left: IsrRemoval, end: State | None) -> None:
        """Names what kept the replica from catching up while its process was running: errors of its fetches, or a replication throttle."""
        if (cause.kind not in _CATCHING_UP and cause.back is None) or any(c.id == _THROTTLED for c in cause.clauses):
            return
        begin, until = cause.back or left.at, end.at if end is not None else None
        if begin is not None and not says_hindered(cause.clauses):
            since = begin if cause.back is not None else begin - left.lag * 1.5
            if (error := self._hindered(left, since, until or datetime.max)) is not None:
                cause.clauses, cause.evidence = (*cause.clauses, error[0]), [*cause.evidence, error[1]]
                return
        for side, owner in (("follower", left.broker), ("leader", left.leader)):
            rate = left.throttle(side, owner, begin, until)
            if rate is not None:
                cause.clauses = (*cause.clauses, said("absence/throttled", side=side, rate=rate.value, of=owner))
                cause.evidence = [*cause.evidence, *([rate.event] if rate.event is not None else [])]
                return

    def _hindered(self, left: IsrRemoval, begin: datetime, end: datetime) -> tuple[Message, Event] | None:
        """A clause about errors that kept the replica from fetching from its leader within this time, with its evidence."""
        own = [e for e in self.cluster.between("fatal-error", begin, end) if of_fetcher(e) and e.broker in (None, left.leader)]
        return hindered(left.broker, begin, end, own, self.timeline) or unreachable(left.broker, left.leader, begin, end, self.cluster)

    def isr_observed(self, leader: int) -> bool:
        """Whether the evidence shows the leader's ISR changes."""
        if leader not in self._isr_observed:
            self._isr_observed[leader] = leader < 0 or isr_changes_observable(leader, self.timeline, self.cluster)
        return self._isr_observed[leader]

    def _cause(self, case: _Case) -> AbsenceCause:
        added = self._added(case)
        if added is not None:
            return added
        outage = self._away(case.left)
        return (
            self._reassigned(case, outage)
            or self._by_failure(case, outage)
            or self._without_change(case)
            or (self._without_log(case) if not case.left.heard else self._while_running(case))
        )

    def _added(self, case: _Case) -> AbsenceCause | None:
        """The cause for a replica that was added to the assignment, or was missing when the partition was created."""
        broker, before = case.left.broker, case.before
        if broker in case.state.adding or (before is not None and before.replicas and broker not in before.replicas):
            return _cause(NEW, "certain", "added", broker)
        if case.created and case.left.starting:
            return _cause(NEW, "probable", "not-yet-known", broker)
        return None

    def _reassigned(self, case: _Case, outage: Outage | None) -> AbsenceCause | None:
        """The cause for a replica that was being removed from the assignment."""
        broker, before = case.left.broker, case.before
        leaves = case.unassigned and before is not None and broker in before.isr and _soon(case.state, case.end) and outage is None
        if broker in self._leaving[case.first] or leaves:
            return _cause(REASSIGNED, "certain", "being-removed", broker)
        return None

    def _by_failure(self, case: _Case, outage: Outage | None) -> AbsenceCause | None:
        """The cause for a replica whose log directory failed, or whose broker stopped or crashed."""
        left = case.left
        failed = self._log_dir(left)
        if failed is not None and (outage is None or outage.run is None or failed.before(outage)):
            sure = "certain" if failed.of_replica else "probable"
            return _cause(LOG_DIR, sure, "log-dir-failed", left.broker, [failed.event], directory=failed.directory)
        if outage is not None and not (case.created and outage.how == KILLED and case.end is not None):
            return self._ended(left, outage, case.end)
        if case.created and left.heard and case.end is not None:
            return _cause(NEW, "probable", "created-without", left.broker)
        return None

    def _without_change(self, case: _Case) -> AbsenceCause | None:
        """The cause for a replica whose removal is missing from the evidence."""
        left, before = case.left, case.before
        if case.state.follows(before) or self.shrink(left.broker, case.state) is not None:
            return None
        if (outage := left.ended_since(before.at if before is not None else None)) is not None:
            cause = self._ended(left, outage, case.end)
            cause.confidence = "probable"  # it may have been in sync again before it left for another reason
            return cause
        return _cause(UNKNOWN, "possible", "not-shown", left.broker) if before is None else None

    def _while_running(self, case: _Case) -> AbsenceCause:
        """The cause for a replica of a broker with a log and without an outage."""
        left, state = case.left, case.state
        if (asleep := left.suspension) is not None:
            return AbsenceCause(SUSPENDED, "probable", (asleep.clause,), evidence=asleep.events)
        behind = self._log_ended(left) or self._fell_behind(left, state, case.end.at if case.end is not None else None)
        if behind is None and (taken := self._taken_out(case)) is not None:
            return _cause(GONE, "probable", "not-alive", left.broker, [taken])
        alive, cause = self._alive(case), behind or self._stuck_or_slow(left, state)
        shown = case.before is None or state.follows(case.before) or self.shrink(left.broker, state) is not None
        if cause.kind == STUCK and cause.confidence == "probable" and not shown:
            cause.confidence = "possible"  # when it left is not in the evidence, nor what its process did then
        if alive or cause.kind not in (STUCK, SLOW, NOT_STATED):
            return cause
        if cause.kind == NOT_STATED:
            return _cause(UNKNOWN, "possible", "not-shown-running", left.broker, cause.evidence)
        cause.clauses, cause.confidence = (*cause.clauses, said(MAY_HAVE_ENDED, broker=left.broker)), lower(cause.confidence, "probable")
        return cause

    def _alive(self, case: _Case) -> bool:
        """Whether the process is shown to have run after the replica had left: it printed a line, or the replica returned without a start
        in between."""
        left, at = case.left, case.left.at
        if at is None or left.availability.ran(at):
            return True
        begun = left.availability.begun(at, datetime.max)[:1]
        until = min((begun or [datetime.max])[0], case.end.at if case.end is not None and case.end.at is not None else datetime.max)
        back = case.end is not None and left.broker in case.end.isr and case.end.at is not None and case.end.at == until
        return back or self.signs.between(left.broker, at, until)

    def to_end(self, broker: int, first: int) -> AbsenceInterval | None:
        """The absence from the state with index `first` to the last one, until the replica is described in sync, or the topic is deleted.
        None while the topic is being deleted, and if the assignment is unknown, unless its leader removed it from the ISR: it may have been
        reassigned."""
        states, described = self.timeline.states, self.timeline.states_with_describe
        if not states[-1].replicas and self.shrink(broker, states[first]) is None:
            return None
        back = next((s.at for s in described[len(states) :] if broker in s.isr), None)
        window = within_life(Window(states[first].at, back, tuple(states[first:])), self.timeline, self.cluster)
        return replace(self.interval(broker, first, len(states)), end=window.end) if window is not None else None

    def _away(self, left: IsrRemoval) -> Outage | None:
        """The span in which its broker was stopping or gone. None if the broker showed activity in this partition after the replica left
        and before the broker began again: then the outage was not the reason."""
        outage, at, broker = left.outage, left.at, left.broker
        if outage is None or at is None or outage.how == PRESUMED_CRASHED:
            return None
        if outage.stopped is not None and at > outage.stopped + CRASH_NOTICED:
            return (
                None if self.signs.between(broker, outage.stopped, at) else outage
            )  # it ran again, in a part of its log that was not collected
        again = outage.followed  # a start that failed prints lines about partitions, too
        lived = outage.sudden and again is not None and self.signs.between(broker, at, again - STOP_NOTICED_EARLY)
        return None if lived else outage

    def _log_dir(self, left: IsrRemoval) -> _FailedDirectory | None:
        """The failure of the directory that contained the replica: the broker or the controller named the replica, or a directory failed
        around that time that is not known to be another one."""
        known = log_directory(left.broker, left.at, self.timeline)
        own = known.directory if known is not None else None
        for e in failures_of_replica(left.broker, self.timeline):
            if (
                e.at is None
                or left.at is None
                or (e.at <= left.at + CRASH_NOTICED and not left.availability.begun(e.at, left.at - CRASH_NOTICED))
            ):
                return _FailedDirectory(e, True, own)
        for e in left.log_dirs:
            path = e.directory if e.directory is None or not is_directory_id(e.directory) else None
            if own is None or path is None or same_directory(path, own):
                return _FailedDirectory(e, own is not None and path is not None, own)
        return None

    def _offline_since_start(self, left: IsrRemoval, back: datetime | None, end: State | None) -> tuple[tuple[Message, ...], list[Event]]:
        """A clause about a log directory that was offline when its broker was up again, with the evidence."""
        if back is None:
            return (), []
        span = Span(back, end.at if end is not None else None)
        for e in failures_of_replica(left.broker, self.timeline):
            if contains(span, e.at):
                known = log_directory(left.broker, e.at, self.timeline)
                directory = _path(known.directory) if known is not None else None
                return (said("absence/offline-since-start", directory=directory),), [e]
        return (), []

    def _taken_out(self, case: _Case) -> Event | None:
        """A controller's statement that the broker was not there: a controller removes a replica from an ISR, or takes its leadership away,
        when its broker is not registered (ReplicaStateMachine, PartitionStateMachine). With ZooKeeper, a removal by the leader does not
        change the leader epoch."""
        state, before, broker = case.state, case.before, case.left.broker
        for event in (state.event, *state.also):
            if event.value == "OfflineReplica" and event.broker == broker:
                return event
        if state.leader < 0 and (broker in state.isr or before is None or before.leader == broker):
            return state.event
        changed = before is not None and broker in before.isr and broker not in state.isr and _next(before, state)
        return state.event if changed and self.cluster.mode == "zookeeper" else None

    def _ended(self, left: IsrRemoval, outage: Outage, end: State | None) -> AbsenceCause:
        broker, at = left.broker, left.at
        back = self._began(left, outage, end)
        offline, lines = self._offline_since_start(left, outage.until, end)
        evidence = [outage.event, *lines]
        killed = outage.how == KILLED
        long = is_later(at, outage.stopped, CRASH_NOTICED)
        clause = said(
            ENDED,
            broker=broker,
            how=outage.ending,
            before=killed and is_later(at, outage.until, STOP_NOTICED_EARLY),
            elsewhere=killed and outage.event.cluster not in (None, self.cluster.number),
            at=outage.stopped if long else None,
            not_back=long and at is not None and outage.covers(at),
        )
        kind = CRASHED if killed else RESTARTED if back is not None else STOPPED
        return AbsenceCause(kind, "certain", (clause, *offline), back, evidence)

    def _began(self, left: IsrRemoval, outage: Outage, end: State | None) -> datetime | None:
        """When the broker was started again after the stop or the crash, within the absence; the last time, if it ended again. None for a
        replica that was removed from the assignment."""
        if outage.until is None or (end is not None and left.broker not in (end.replicas or self.timeline.assigned)):
            return None
        begun = left.availability.begun
        if end is None or end.at is None:
            return max(begun(outage.until, datetime.max), default=None)
        return max(begun(outage.until, end.at) or begun(outage.until, end.at + STOP_NOTICED_EARLY)[:1], default=None)

    def _without_log(self, case: _Case) -> AbsenceCause:
        """The cause for a broker from which nothing was collected: from what its leader knew of its fetching, and what the controller
        saw."""
        left, broker = case.left, case.left.broker
        measured = self._measured(left, case.state)
        lost = left.lost
        if lost is not None and (measured is None or measured.kind != SLOW):
            return _cause(GONE, "probable", "lost-uncollected", broker, [lost], uncollected=self._uncollected(left))
        if measured is not None:
            if measured.kind == STUCK:
                measured.clauses = (*measured.clauses, said("absence/may-have-crashed", uncollected=self._uncollected(left)))
            measured.confidence = "probable"
            return measured
        runs = left.availability.runs
        if runs and runs[0].begin is not None:
            return _cause(UNKNOWN, "possible", "log-begins-after", broker, [runs[0].begin], at=runs[0].begin_at)
        return _cause(UNKNOWN, "possible", "reason-not-collected", broker)

    def _uncollected(self, left: IsrRemoval) -> Message:
        runs = left.availability.runs
        return said("absence/not-collected", broker=left.broker, begins=runs[0].begin_at if runs and runs[0].begin is not None else None)

    def _log_ended(self, left: IsrRemoval) -> AbsenceCause | None:
        """Its log ends, and no other broker saw it again: most likely it crashed, but only its next start would prove that. A process that
        was missed much later was running, unless only a new controller could miss it."""
        missed = left.availability.missed
        if missed is None or left.at is None or not missed.covers(left.at):
            return None
        if missed.event.reason != "live" and missed.latest is not None and missed.latest > left.at + CRASH_NOTICED:
            return None
        clause = said(LOG_ENDS, broker=left.broker, not_found=missed.event.reason == "live")
        return AbsenceCause(GONE, "probable", (clause,), evidence=[missed.event])

    def _fell_behind(self, left: IsrRemoval, state: State, end: datetime | None) -> AbsenceCause | None:
        """Whether the replica was stuck or slow: from its offset on its leader, pauses, the session, and fetch errors."""
        at, lag = left.at, left.lag
        if at is None:
            return None
        measured = self._measured(left, state)
        if measured is not None and measured.kind == SLOW:
            return measured
        paused = self._paused(left)
        if paused is not None:
            return _join(paused, measured)
        throttled = self._throttled(left, state, at - lag * 1.5) if measured is not None else None
        if measured is not None and measured.confidence == "certain":
            return throttled or measured
        return (
            self._session_lost(left, end, measured)
            or throttled
            or measured
            or self._failing(left.broker, at, lag)
            or self._not_fetching(left, end)
        )

    def _session_lost(self, left: IsrRemoval, end: datetime | None, measured: AbsenceCause | None) -> AbsenceCause | None:
        broker, lost = left.broker, left.session_lost(end)
        if lost is None:
            return None
        if not left.availability.survived_session_loss(lost):
            return _cause(GONE, "probable", "lost", broker, [lost])
        return _join(AbsenceCause(STUCK, "certain", (said(LOST_SESSION, broker=broker),), evidence=[lost]), measured)

    def _throttled(self, left: IsrRemoval, state: State, since: datetime) -> AbsenceCause | None:
        """A throttle exempts replicas in sync, but a fetcher knows that its replica is in sync only after its first records
        (ReplicaFetcherThread#shouldFollowerThrottle, PartitionFetchState#lag): a new fetcher may be throttled from the start."""
        broker = left.broker
        shrink = self.shrink(broker, state)
        end = _end_of(broker, shrink)
        begun = [e for e in self.timeline.of("fetcher-added") if e.writer == broker and e.at is not None and e.at <= (state.at or e.at)]
        rate = left.throttle("follower", broker, since, left.at)
        if shrink is None or end is None or rate is None or not begun or begun[-1].offset != end:
            return None
        clause = said(_THROTTLED, broker=broker, offset=end, at=begun[-1].at, rate=rate.value)
        return AbsenceCause(SLOW, "probable", (clause,), evidence=[*([rate.event] if rate.event is not None else []), shrink])

    def _measured(self, left: IsrRemoval, state: State) -> AbsenceCause | None:
        shrink = self.shrink(left.broker, state)
        return self.progress.of(left.broker, shrink, left.lag, left.skew) if shrink is not None else None

    def shrink(self, broker: int, state: State) -> Event | None:
        """The leader's own line about the removal of the replica."""
        own = self._shrinks.get(state.leader, [])
        if state.at is None or not own:
            return None
        near = own[
            bisect_left(own, state.at - SHRINK_TAKES_EFFECT, key=undated_first) : bisect_right(
                own, state.at + STOP_NOTICED_EARLY, key=undated_first
            )
        ]
        fitting = [e for e in near if broker in (e.previous_isr or ()) and set(e.isr or ()) == set(state.isr)]
        return fitting[-1] if fitting else None

    def _paused(self, left: IsrRemoval) -> AbsenceCause | None:
        if (worst := left.pause) is None:
            return None
        seconds, reason = lasting(worst).total_seconds(), worst.value or worst.reason
        return _cause(STUCK, "certain", "paused", left.broker, [worst], seconds=seconds, at=worst.at, reason=reason)

    def _failing(self, broker: int, at: datetime, lag: timedelta) -> AbsenceCause | None:
        own = self._errors.get(broker, [])
        near = own[bisect_left(own, at - lag * 1.5, key=undated_first) : bisect_right(own, at + STOP_NOTICED_EARLY, key=undated_first)]
        if not any(e.event == "partition-failed" or (e.last_at or at) >= at - lag / 2 for e in near):
            return None
        ended = next((e for e in near if e.event == "partition-failed"), None)
        why = said(GAVE_UP) if ended is not None else said(FAILED, reason=near[-1].reason)
        return _cause(STUCK, "certain" if ended is not None else "probable", "running", broker, [ended or near[-1]], why=why)

    def _not_fetching(self, left: IsrRemoval, end: datetime | None) -> AbsenceCause | None:
        """An error that began before the replica left the ISR."""
        if left.at is None:
            return None
        error = self._hindered(left, left.at - left.lag * 1.5, end or datetime.max)
        if error is None or error[1].at is None or error[1].at > left.at:
            return None
        return _cause(STUCK, "probable", "running", left.broker, [error[1]], why=error[0])

    def _stuck_or_slow(self, left: IsrRemoval, state: State) -> AbsenceCause:
        """The cause if the evidence does not show whether the replica was stuck or slow."""
        broker = left.broker
        shrink = self.shrink(broker, state)
        evidence = [shrink] if shrink is not None else []
        log_end, by_messages = _end_of(broker, shrink), left.lag_by_messages
        return _cause(NOT_STATED, "certain", "stuck-or-slow", broker, evidence, log_end=log_end, by_messages=by_messages)


def _cause(kind: str, confidence: str, phrase: str, broker: int, evidence: Sequence[Event] = (), **how: Value) -> AbsenceCause:
    return AbsenceCause(kind, confidence, (said(f"absence/{phrase}", broker=broker, **how),), evidence=evidence)


def _join(cause: AbsenceCause, measured: AbsenceCause | None) -> AbsenceCause:
    if measured is not None and measured.kind == cause.kind:
        cause.clauses = (*cause.clauses, *measured.clauses)
        cause.evidence = [*cause.evidence, *measured.evidence]
    return cause


def _end_of(broker: int, shrink: Event | None) -> int | None:
    """The leader's log end offset in the line about the removal."""
    known = (shrink.replica_offsets or ()) if shrink is not None else ()
    return next((r.get("log_end_offset") for r in known if r.get("broker") == broker), None)


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
    return end is not None and state.at is not None and end.at is not None and end.at - state.at <= CRASH_NOTICED


def _next(before: State, state: State) -> bool:
    """The state follows the other one directly, by a change that a controller made."""
    epochs = before.partition_epoch, state.partition_epoch
    follows = epochs[0] is None or epochs[1] is None or epochs[1] == epochs[0] + 1
    return before.known_epoch is not None and state.leader_epoch == before.leader_epoch + 1 and follows


class _SignsOfLife:
    """When each broker showed activity in one partition: a line of its own, or its return to the ISR."""

    def __init__(self, timeline: PartitionTimeline) -> None:
        shown = (e for e in timeline.events if e.line is not None and e.event not in ON_DISK)
        self._lines = grouped((e.writer, e.at) for e in shown if e.at is not None)
        later = ((before, state, state.at) for before, state in pairwise(timeline.states))
        self._returns = grouped((b, at) for before, s, at in later if at is not None for b in set(s.isr) - set(before.isr))
        for own in (*self._lines.values(), *self._returns.values()):
            own.sort()

    def between(self, broker: int, left: datetime, end: datetime) -> bool:
        """Activity after it had left the ISR and before the end; clocks of two brokers differ a little."""
        return _any(self._returns.get(broker, ()), left, end) or _any(self._lines.get(broker, ()), left + STOP_NOTICED_EARLY, end)


def _any(times: Sequence[datetime], start: datetime, end: datetime) -> bool:
    index = bisect_right(times, start)
    return index < len(times) and times[index] < end


# rows


def rows(found: Sequence[AbsenceInterval]) -> list[dict[str, Any]]:
    """The intervals as rows; if there are too many, those of one broker and cause are folded into one."""
    if len(found) <= MAX_INTERVALS:
        return [_row(i, 1, index < QUOTED) for index, i in enumerate(found)]
    groups = grouped(((interval.broker, interval.cause), interval) for interval in found)
    folded = [
        _row(replace(own[0], end=own[-1].end, stated=all(i.stated for i in own)), len(own), index < QUOTED)
        for index, own in enumerate(groups.values())
    ]
    return folded[:MAX_INTERVALS]


def _row(i: AbsenceInterval, times: int, quoted: bool) -> dict[str, Any]:
    evidence = quote(i.evidence)[:QUOTED_EACH] if quoted else ()
    return {**i.row(), "times": times, "evidence": [e.row() for e in evidence]}


def window_rows(found: Sequence[UnderReplicatedWindow]) -> list[dict[str, Any]]:
    """The windows as rows; at most MAX_INTERVALS, the first and the longest open ones."""
    kept = found if len(found) <= MAX_INTERVALS else [*found[: MAX_INTERVALS - 1], found[-1]]
    return [window.row() for window in kept]


_EVIDENCE = [documented("evidence", pa.list_(EVIDENCE), "quotes: source, line, byte and text")]
ABSENCES = Fact(
    "absences",
    pa.list_(
        pa.struct(
            [*struct(AbsenceInterval), documented("times", pa.int32(), "number of intervals that were folded into this one"), *_EVIDENCE]
        )
    ),
    "assigned replicas outside the ISR; `times` of them folded into one",
    lambda timeline, cluster: rows(intervals(timeline, cluster)),
)
UNDER_REPLICATED = Fact(
    "under_replicated_windows",
    pa.list_(struct(UnderReplicatedWindow)),
    "when it was under-replicated, under which leader",
    lambda timeline, cluster: window_rows(under_replicated_windows(timeline, cluster)),
)
UNDER_REPLICATED_OMITTED = Fact(
    "under_replicated_windows_omitted",
    pa.int32(),
    "number of windows that `under_replicated_windows` leaves out",
    lambda timeline, cluster: max(len(under_replicated_windows(timeline, cluster)) - MAX_INTERVALS, 0),
)
FIRST_STATE_AT = Fact(
    "first_state_at",
    pa.timestamp("us"),
    "time of the first state in the evidence",
    lambda timeline, _: timeline.states[0].at if timeline.states else None,
)
