"""Availability of a broker: the runs of its process, other nodes' reports about it, and the spans in which it was stopping or down.

Here: the only model of availability, built once per broker and cluster. All code that asks whether a broker was up, stopping, down or
fenced uses it. Not here: why a replica left an ISR (forensics.model.partition.absences), or which cluster a broker was in
(cluster_history).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from itertools import accumulate, takewhile
from typing import Generic, TypeVar

from forensics.model.events import Event
from forensics.model.message import Message, said
from forensics.model.times import Span, grouped, is_later, not_after, overlap, undated_first
from forensics.thresholds import (
    CLOCK_TOLERANCE,
    CONNECTION_FAILS_AT_ONCE,
    CONNECTION_RETRIED,
    CRASH_NOTICED,
    FAILED_START_ENDS,
    STOP_NOTICED_EARLY,
    STOPPED_AGAIN,
)
from parsers.cached import cached_property
from parsers.frozen import dataclass
from parsers.kinds import By, Role, named, of

S = TypeVar("S")


CONTROLLED, KILLED, PRESUMED_CRASHED = "controlled", "killed", "missed"
"""How a run ended: by a controlled shutdown, of which only `Outage.clean` says whether it is known to be complete; by a crash, shown by the
next start or the process's own halt, even if it was stopping; or only missed by others: its log ends without a shutdown, and other nodes
report that it was gone but not that it came back."""


@dataclass
class BrokerRun:
    """One run of a broker process, from its first line to its last."""

    node: int
    begin: Event | None
    """First event of this run; None if the log begins in the middle of the run."""
    end: Event | None = None
    """The event that closed the run: the end of a clean stop, or the start that follows a crash."""
    outcome: str = "running"
    """'running', 'stopped' (cleanly), 'crashed' (the next start found no clean stop, or the process halted), 'failed' (ended while it was
    starting)."""
    up: Event | None = None
    """The first line that it was up; a start that fails may print it, too."""
    halted: Event | None = None
    """Its own last event before it halted because of its disks or a fatal fault, without a shutdown; `end` is the start that follows, if
    there is one."""
    signal: Event | None = None
    """The signal to end that it received, or the error for which it called System.exit, which begins a shutdown."""
    stopping: Event | None = None
    controlled: Event | None = None
    last_seen: Event | None = None
    followed: Event | None = None
    """The first line that a later process printed, if the run ended without a stop."""
    evidence: list[Event] = field(default_factory=list)

    directories: set[str] = field(default_factory=set)
    """Its log directories, as far as its lines about their markers of a clean shutdown name them."""
    seen: dict[int | None, Event] = field(default_factory=dict)
    """The last line about the process in each cluster it was in: it may outlive a cluster."""

    @property
    def stop(self) -> Event | None:
        """The first event of its clean stop."""
        if self.outcome in ("crashed", "failed"):
            return None
        return self.stopping or (self.end if self.outcome == "stopped" else None)

    @property
    def asked(self) -> Event | None:
        """The first event of a stop, whether or not it was completed; None for a process that halted."""
        return self.stopping or self.controlled or self.signal if self.halted is None else None

    @property
    def ending(self) -> str:
        """How it ended without a complete stop: a phrase of forensics/words/end.toml."""
        if self.halted is not None:
            return "halted-on-directories" if self.halted.reason in HALTING else "halted-on-fault"
        return "crashed" if self.asked is None else "did-not-finish"

    @property
    def handed_over(self) -> Event | None:
        """The completed controlled shutdown: the broker handed over its leaderships and left the ISRs. None if a later start in the same
        cluster shows an unclean stop."""
        done = self.controlled
        if done is None or done.reason != "done" or self.halted is not None:
            return None
        after = self.evidence[self.evidence.index(done) :]
        return None if any(shows_unclean_stop(e) and e.cluster == done.cluster for e in after) else done

    @property
    def clusters(self) -> set[int]:
        """The known clusters of the run."""
        born = self.begin.cluster if self.begin is not None else None
        return {c for c in (born, *self.seen) if c is not None}

    def within(self, cluster: int) -> BrokerRun:
        """The part of the run within one of its clusters."""
        born = self.begin.cluster if self.begin is not None else None
        run = self if born in (cluster, None) else replace(self, begin=None)
        if cluster == max(self.clusters, default=cluster):
            return run
        before = [e for e in run.evidence if e.cluster == cluster]
        last = self.seen.get(cluster)
        return replace(run, end=None, outcome="running", halted=None, stopping=None, controlled=None, last_seen=last, evidence=before)

    @property
    def begin_at(self) -> datetime | None:
        return self.begin.at if self.begin else None

    @property
    def end_at(self) -> datetime | None:
        return self.end.at if self.end else None

    @property
    def span(self) -> Span:
        return Span(self.begin_at, self.end_at)


class Spans(Generic[S]):
    """Items with a beginning and an end, searchable by time span; an unknown end or beginning is open."""

    def __init__(self, of: Iterable[S], begin: Callable[[S], datetime | None], end: Callable[[S], datetime | None]) -> None:
        self.all = sorted(of, key=lambda one: begin(one) or datetime.min)
        self._begins = [begin(one) or datetime.min for one in self.all]
        self._ends = [end(one) or datetime.max for one in self.all]
        self._over = list(accumulate(self._ends, max))  # when this item and all before it had ended

    def latest(self, until: datetime, count: int) -> Sequence[S]:
        """The last `count` items that had begun by `until`, ascending by beginning."""
        place = bisect_right(self._begins, until)
        return self.all[max(place - count, 0) : place]

    def within(self, since: datetime, until: datetime) -> Iterator[S]:
        """Items that had begun by `until` and not ended before `since`, latest beginning first."""
        for place in range(bisect_right(self._begins, until) - 1, -1, -1):
            if self._over[place] < since:
                return
            if since <= self._ends[place]:
                yield self.all[place]


def of_controller(run: BrokerRun) -> BrokerRun:
    """The run of a node that is only a controller. It has no logs to close and prints no marker: a stop that it announced is clean."""
    asked = run.stopping or run.signal
    return replace(run, outcome="stopped", end=asked) if run.outcome == "crashed" and asked is not None else run


def by_time(runs: Iterable[BrokerRun]) -> Spans[BrokerRun]:
    """A node's runs, searchable by time."""
    return Spans(runs, lambda run: run.begin_at, lambda run: run.end_at)


def broker_runs(node: int, events: Iterable[Event]) -> list[BrokerRun]:
    """A broker's runs from its own lines, in file order.

    A start without a completed stop before it means a crash (Kafka prints nothing when it is killed), unless the start itself found the
    marker of a clean shutdown: then the stop happened and only its lines are missing. A second process that finds the directories locked,
    or its broker id taken, is neither a start nor, when it ends, a stop.
    """
    reader = _RunReader(node)
    for event in events:
        reader.read(event)
    return reader.runs


class _RunReader:
    """Reads the runs of one broker from its lines."""

    def __init__(self, node: int) -> None:
        self.node = node
        self.runs: list[BrokerRun] = []
        self.current: BrokerRun | None = None
        self.phase = "up"
        """'announced': a line before "Starting broker" shows the start; 'starting'; 'up'; 'given up': the start failed."""
        self.announced: Event | None = None
        """The first line of a process that has not said yet that it starts a broker or controller."""
        self.first_after: Event | None = None
        """The first line of a process after the current run, even if that process ended before it said what it starts."""
        self.exited: datetime | None = None
        """When the last process ended that had not said what it starts."""
        self.second_exits_by: datetime | None = None
        self.hook_ends_by: datetime | None = None
        """Latest time of the last line of a second process that found the log directories locked or its broker id taken."""

    def read(self, event: Event) -> None:
        """Takes the next line of the broker."""
        take = _READERS.get(event.event)
        if take is not None and not take(self, event):
            return
        run = self.current
        if run is not None and (run.outcome == "running" or _halting(run, event)) and self.announced is None and is_own_log_line(event):
            run.last_seen = event
            run.seen[event.cluster] = event

    # Each reader returns whether the line may be the last line of the current run.

    def _fatal_error(self, event: Event) -> bool:
        if event.reason == "locked" and not_after(event.at, self.second_exits_by):
            return False  # its last error repeats the exception
        if event.reason == "locked" or (self.phase != "up" and ID_TAKEN.search(event.key or "") and self._previous_may_run()):
            if self.runs and self.phase != "up":
                self.current = _without_the_last(self.runs)
            self.announced = self.first_after = None
            self.phase, self.second_exits_by = "up", event.at + FAILED_START_ENDS if event.at is not None else None
            return False
        if self.announced is not None and event.reason in ENDS_PROCESS | HALTING:
            self.announced, self.exited = None, event.at  # this process ended before it said what it starts
            return False
        if (event.reason in HALTING | {"fatal"} or event.pattern == LAST_OF_HOOK) and self.phase not in _STARTING:
            if not self._of_second_process(event):
                run = self._run()
                run.outcome, run.end, run.halted, run.last_seen = "crashed", event, event, event
                run.evidence.append(event)
        elif self._of_second_process(event):
            if event.pattern in (LAST_ERROR, LAST_OF_HOOK) and event.at is not None:
                self.second_exits_by, self.hook_ends_by = event.at, event.at + STOPPED_AGAIN
            return False
        elif self._ends_start(event):
            self.phase = "given up"
            run = self._run()
            run.outcome, run.end, run.up = "failed", event, None
        return True

    def _ends_start(self, event: Event) -> bool:
        """Whether a process ended while it was starting. KRaft brokers print that they have started before they print why they have not
        (BrokerServer#startup). The last error of a process that was just stopped says that it was never up, if its start is not in evidence."""
        if event.reason not in ENDS_PROCESS | HALTING:
            return False
        run, at = self.current, event.at
        stopped = (
            run is not None and run.begin_at is None and run.end_at is not None and at is not None and at - run.end_at <= STOPPED_AGAIN
        )
        return self.phase in _STARTING or (
            self.phase == "up" and ((event.value or "").endswith("startup") or (stopped and event.pattern == LAST_ERROR))
        )

    def _last_line(self, event: Event) -> bool:
        exited = not_after(event.at, self.exited)
        return not exited and not self._of_second_process(event)

    def _process_starting(self, event: Event) -> bool:
        self.announced, self.first_after = event, self.first_after or event
        return False

    def _starting(self, event: Event) -> bool:
        if self.phase == "announced" and self.current is not None:
            self.phase = "starting"
            self.current.evidence.append(event)
        else:
            self._begin(event, "starting")
        return True

    def _controller_starting(self, event: Event) -> bool:
        """A process with both roles starts its controller before its broker: the lines in between belong to the new run."""
        self._begin(event, "announced")
        return True

    def _state(self, event: Event) -> bool:
        """KRaft brokers (3.1+) print "Transition from SHUTDOWN to STARTING" before, and their life cycle's STARTING after "Starting
        broker"."""
        if self._of_second_process(event):
            return False
        if event.reason != "STARTING":
            self._run()
        elif self.phase in ("up", "given up"):
            self._begin(event, "announced")
        else:
            return False
        return True

    def _ending(self, event: Event) -> bool:
        if self._of_second_process(event):
            return False
        run = self._up(event)
        if event.event in _STOPPING:
            run.stopping = run.stopping or (event if run.end is None else None)  # up to 0.11 an exit begins a second shutdown
        elif event.event == "broker-stopped":
            run.outcome, run.end = "failed" if self.phase == "given up" else "stopped", event
        elif event.event == "controlled-shutdown":
            run.controlled = event if event.reason != "retry" else run.controlled or event
        elif event.event in _ASKED:
            run.signal = run.signal or event
            return True
        else:
            return True
        run.evidence.append(event)
        return True

    def _process_stopped(self, event: Event) -> bool:
        """A controller's shutdown ends with this line. That of a broker has a line of its own, which may come later."""
        if self._of_second_process(event):
            return False
        run = self._up(event)
        if run.outcome == "running":
            run.outcome, run.end = "failed" if self.phase == "given up" else "stopped", event
            run.evidence.append(event)
        return True

    def _started(self, event: Event) -> bool:
        run = self._up(event)
        if self.phase == "up":
            run.up = run.up or event
        return True

    def _marker(self, event: Event) -> bool:
        if self.current is not None:
            _settle_by_marker(self.runs, self.current, event)
        return True

    def _logs_closed(self, event: Event) -> bool:
        """LogManager writes the file when it has closed its logs, and removes it at the next start."""
        run = self.current
        if run is not None and run.outcome == "running":
            run.outcome, run.end = "stopped", event
            run.evidence.append(event)
        return True

    def _refused(self, event: Event) -> bool:
        """The data of the node are those of another cluster or node: the process ends, or with KRaft tries again until it is killed."""
        if event.key is None and self.phase in (*_STARTING, "given up") and self.announced is None and not self._of_second_process(event):
            self.phase = "given up"
            run = self._run()
            run.outcome, run.end, run.up = "failed", event, None
        return True

    def _of_second_process(self, event: Event) -> bool:
        """Whether the line is from a second process that ends because the log directories are locked or its broker id is taken."""
        if event.event in _OF_HOOK and is_later(self.hook_ends_by, event.at):
            return True
        if self.second_exits_by is None or event.at is None or event.at >= self.second_exits_by:
            return False
        if event.event == "broker-stopped":
            self.second_exits_by = event.at + STOPPED_AGAIN
        return True

    def _begin(self, event: Event, phase: str) -> None:
        """Begins a run with the first line of its process; if the previous run has no stop, it crashed."""
        before, begin = self.current, self.announced or event
        if before is not None and (before.halted is not None or (before.outcome == "running" and _alive(before))):
            before.outcome, before.end = "crashed", begin
            before.followed = self.first_after or begin
            before.evidence.append(begin)
        self.phase, self.announced, self.first_after = phase, None, None
        self.current = BrokerRun(self.node, begin=begin, evidence=[event])
        self.runs.append(self.current)

    def _run(self) -> BrokerRun:
        """The current run; one without a beginning if the log has none."""
        if self.current is None:
            self.current = BrokerRun(self.node, begin=None)
            self.runs.append(self.current)
        return self.current

    def _up(self, event: Event) -> BrokerRun:
        if self.phase != "given up":
            self.phase = "up"
        ended = self.current.end_at if self.current is not None and self.current.outcome in ("stopped", "failed") else None
        if is_later(event.at, ended, FAILED_START_ENDS):
            self.phase, self.current = "up", None  # the start of this process is not in the log
        return self._run()

    def _previous_may_run(self) -> bool:
        """Whether the run before may go on: it neither stopped nor failed, and the current one did not find its log directories,
        unlocked."""
        if len(self.runs) < 2 or self.runs[-2].outcome in ("stopped", "failed"):
            return False
        return not self.runs[-2].directories & self.runs[-1].directories


HALTING = frozenset({"log-dir", "disk"})
"""Reasons of errors for which Kafka calls Runtime.halt: no shutdown hook runs, nothing more is printed. A fatal fault does so, too, unless
lines of a shutdown follow (ProcessTerminatingFaultHandler)."""
LAST_ERROR, LAST_OF_HOOK = "process-exiting", "process-halting"
"""The patterns of the last error of a process, and of a shutdown hook that failed: main() prints them."""
ENDS_PROCESS = frozenset({"process", "fatal"})
"""Reasons of errors that end the process, not only a thread."""
_STARTING = ("starting", "announced")


ID_TAKEN = re.compile(r"NodeExists|A broker is already registered")
"""The exception of a broker whose id is registered in ZooKeeper: by a running process, or by an old session that has not expired."""
_STOPPING = named("broker-stopping", "controller-stopping")
_ASKED = named("broker-signal", "truncation-refused")
_OF_HOOK = _STOPPING | named("broker-stopped")
_ENDING = of(role=Role.ENDS | Role.LIFE_CYCLE)
_READERS: Mapping[str, Callable[[_RunReader, Event], bool]] = {
    **dict.fromkeys(of(role=Role.UP), _RunReader._started),
    **dict.fromkeys(_ENDING | _ASKED, _RunReader._ending),
    **dict.fromkeys(of(role=Role.MARKER), _RunReader._marker),
    "broker-state": _RunReader._state,
    "last-line": _RunReader._last_line,
    "process-starting": _RunReader._process_starting,
    "broker-starting": _RunReader._starting,
    "controller-starting": _RunReader._controller_starting,
    "process-stopped": _RunReader._process_stopped,
    "clean-shutdown-file": _RunReader._logs_closed,
    "fatal-error": _RunReader._fatal_error,
    "cluster-id-mismatch": _RunReader._refused,
    "broker-id-mismatch": _RunReader._refused,
}


def _halting(run: BrokerRun, event: Event) -> bool:
    """Whether another thread printed the line while the process halted."""
    halted = run.halted.at if run.halted is not None else None
    return halted is not None and event.at is not None and halted <= event.at <= halted + STOPPED_AGAIN


def _without_the_last(found: list[BrokerRun]) -> BrokerRun | None:
    """Drops a second process that found the log directories locked or its broker id taken: the first is still running."""
    second = found.pop()
    first = found[-1] if found else None
    if first is not None and first.end is not None and first.end is second.begin:
        first.outcome, first.end = "running", None
        first.evidence.remove(second.begin)
    return first


_READ = of(by=By.FILE | By.RECORD | By.READER) | named("quorum-role")
"""Raft starts before the process prints that it starts, so a role in the quorum may be of the next run."""


def is_own_log_line(event: Event) -> bool:
    """Whether the process printed the line itself. Its copy of the metadata log has the controller's records, some fetched after its
    return."""
    return event.line is not None and event.event not in _READ


def _alive(run: BrokerRun) -> bool:
    return run.begin is not None or run.last_seen is not None


def _settle_by_marker(found: list[BrokerRun], current: BrokerRun, marker: Event) -> None:
    current.evidence.append(marker)
    tried = list(takewhile(lambda run: run.outcome == "failed", reversed(found[:-1])))
    before = next(iter(found[-2 - len(tried) : -1 - len(tried)]), None)
    if marker.directory is not None:
        current.directories.add(marker.directory)
        if before is not None and before.directories and marker.directory not in before.directories:
            return  # it was not a directory of the run before
    if any(marker.directory in (None, *run.directories) for run in tried if run.directories):
        return  # a failed start marks the logs that it was about to load as closed cleanly
    if marker.event == "clean-start" and before is not None and before.outcome == "crashed":
        before.outcome, before.end = "stopped", marker
    elif before is not None and before.outcome == "crashed" and shows_unclean_stop(marker):
        before.evidence.append(marker)


def shows_unclean_stop(event: Event) -> bool:
    """Whether the event shows that a log directory has no marker of a clean shutdown. For a directory without logs, LogManager does not
    print whether it has one (3.5+)."""
    return event.event == "unclean-start" and event.count != 0


def _place(event: Event) -> int:
    """Position of the event in its source."""
    return event.metadata_offset if event.metadata_offset is not None else event.line or 0


@dataclass(frozen=True, slots=True)
class Outage:
    """A span in which a broker was stopping or down."""

    how: str
    run: BrokerRun | None
    """The run that ended; None if only a controller reported it."""
    since: datetime | None
    """The first event of the stop; for a crash, which prints nothing, the last line in any of its logs: it ran at least until then. Lines
    about partitions, of which there may be millions, are added by forensics.model.presence.crash_times."""
    until: datetime | None
    """Time of the next start; None if no later start is known."""
    known: datetime | None
    """Latest time at which other nodes knew of it."""
    event: Event
    """The evidence: the first event of the stop, the start that shows the crash, or another node's report."""
    noticed: Event | None = None
    """For a crash, the first evidence that the process had ended: another node lost its connection to it or noticed its absence, or a new
    process began."""

    @property
    def begun(self) -> datetime | None:
        """From when on others may have noticed it: a process that was killed while it was stopping had left ISRs before it ended."""
        asked = self.run.asked.at if self.how == KILLED and self.run is not None and self.run.asked is not None else None
        return asked if asked is not None and (self.since is None or asked < self.since) else self.since

    @property
    def sudden(self) -> bool:
        """It ended without a stop, of which others would have known before."""
        return self.how != CONTROLLED and self.begun == self.since

    @property
    def clean(self) -> bool:
        """Whether the shutdown is known to be complete."""
        return self.how == CONTROLLED and self.run is not None and self.run.outcome == "stopped"

    @property
    def ending(self) -> Message:
        """How the process ended, in words that all use."""
        if self.how == CONTROLLED:
            return said(f"end/{'clean' if self.clean else 'asked'}")
        return said(f"end/{self.run.ending if self.run is not None else 'crashed'}")

    @property
    def stopped(self) -> datetime | None:
        """When a controlled shutdown was complete, if its own lines show that."""
        return self.run.end_at if self.how == CONTROLLED and self.run is not None else None

    @property
    def down_from(self) -> datetime | None:
        """When the node was down at the latest."""
        return self.latest or max((at for at in (self.since, self.stopped) if at is not None), default=None)

    @property
    def latest(self) -> datetime | None:
        """The latest time at which the process can have ended, by the clock of the node that noticed it."""
        if self.noticed is None or self.noticed.at is None:
            return None
        latest = self.noticed.at + (CLOCK_TOLERANCE if self.run is None or self.noticed.writer != self.run.node else timedelta(0))
        return latest if self.since is None else max(latest, self.since)

    @property
    def followed(self) -> datetime | None:
        """When the next process began, even if its start failed: from then on, lines are not of the process that ended."""
        after = self.run.followed if self.run is not None else None
        return after.at if after is not None else self.until

    def covers(self, at: datetime, slack: timedelta = STOP_NOTICED_EARLY) -> bool:
        early = slack if self.sudden else min(slack, CLOCK_TOLERANCE)  # leaders do not move before the stop begins
        return (self.begun is None or at >= self.begun - early) and (self.known is None or at <= self.known + slack)

    def overlaps(self, start: datetime, end: datetime | None) -> bool:
        return overlap(Span(self.since, self.until), Span(start, end))


class Availability:
    """The availability of one broker."""

    def __init__(self, broker: int, runs: Sequence[BrokerRun], said: Mapping[str, Sequence[Event]], last_lines: Sequence[datetime]) -> None:
        """`last_lines`: times of its own last line in each of its logs, ascending."""
        self.broker, self.runs = broker, runs
        self._said, self._last_lines, self._last_line = said, last_lines, last_lines[-1] if last_lines else None
        ran = [run for run in runs if run.outcome != "failed"]
        self._lived = by_time(ran)
        self._begun = sorted(run.begin_at for run in ran if run.begin_at is not None)
        self.unbegun = len(self._begun) < len(ran)
        """Whether some run has no beginning in the evidence."""
        own = [a for index, run in enumerate(runs) if (a := self._of_life(index, run)) is not None]
        missed = self._missed()
        self._away = _spans(own)
        asked = [self._asked(e, e.at) for e in self.said("stop") if e.at is not None and self.outage(e.at) is None]
        self._away = _spans([*own, *missed, *asked])
        self.outages = self._away.all

    @property
    def running(self) -> BrokerRun | None:
        """The run that continues at the end of the evidence."""
        last = self.runs[-1] if self.runs else None
        return last if last is not None and last.outcome == "running" and self.missed is None else None

    @property
    def gone(self) -> Outage | None:
        """The end of its last process, if no evidence shows a later one."""
        last = self.outages[-1] if self.outages else None
        return last if last is not None and last.until is None else None

    @property
    def missed(self) -> Outage | None:
        return next((a for a in self.outages if a.how == PRESUMED_CRASHED), None)

    def unreported_outage_start(self, leaderless: Iterable[datetime]) -> datetime | None:
        """Start of an outage that no other node reported, as when the last broker crashes: its log ends without a stop, and from then on
        the partitions it was last in sync with had no leader. `leaderless`: since when such partitions have had no leader until the end."""
        last = self._last_line
        if last is None or self.running is None or self.said("log-dir") or self.gone is not None:
            return None
        return min((at for at in leaderless if at > last), default=None)

    def said(self, word: str) -> Sequence[Event]:
        """Reports about the broker in order of time: 'lost' (fenced, or session gone), 'back', 'registered', 'unregistered', 'stop' (its
        controlled shutdown, as the controller saw it), 'uncounted' (not among the brokers a new controller finds), 'unreachable' (another
        node lost its connection to it, or could not connect), 'log-dir' or 'pause'."""
        return self._said.get(word, ())

    def between(self, word: str, start: datetime, end: datetime) -> Sequence[Event]:
        own = self.said(word)
        return own[bisect_left(own, start, key=undated_first) : bisect_right(own, end, key=undated_first)]

    def returned(self, after: datetime) -> Event | None:
        """The first report that it was back or registered."""
        first = (e for word in ("back", "registered") for e in self.between(word, after, datetime.max)[:1])
        return min(first, key=undated_first, default=None)

    def fenced(self, start: datetime, end: datetime) -> list[Event]:
        """The reports that it was lost, without those from times at which it was stopping or down."""
        return [
            e
            for e in self.between("lost", start, end)
            if e.at is not None and ((a := self.outage(e.at)) is None or a.how == PRESUMED_CRASHED)
        ]

    def survived_session_loss(self, lost: Event) -> bool:
        """Whether the process that lost its session kept running: it reports so itself, or returns with the same broker epoch. A
        restarted process registers again and gets a new one (KIP-631), so a report with another epoch is not about this process. Both
        reports must be from one source: a starting controller repeats old facts at its own time."""
        if lost.at is None:
            return False
        back = next(iter(self.between("back", lost.at, datetime.max)), None)
        until = back.at + STOP_NOTICED_EARLY if back is not None and back.at is not None else datetime.max
        until = min((until, *self.begun(lost.at, datetime.max)[:1]))
        of_process = {None, lost.broker_epoch} if lost.broker_epoch is not None else None
        gone = self.between("lost", lost.at - CONNECTION_FAILS_AT_ONCE, until)
        gone = [e for e in gone if of_process is None or e.broker_epoch in of_process]
        if any(e.event == "session-expired" for e in gone):
            return True
        returns = [b for b in self.between("back", lost.at, until) if b.broker_epoch is not None]
        return any((b.source, b.broker_epoch) == (e.source, e.broker_epoch) and _place(b) > _place(e) for b in returns for e in gone)

    def joining(self, lost: Event) -> bool:
        """Whether the process that was lost had registered and was not in service yet: it is fenced until it has caught up (KIP-631)."""
        if lost.broker_epoch is None or lost.at is None:
            return False
        before = (
            w for w in ("registered", "back") if any(e.broker_epoch == lost.broker_epoch for e in self.between(w, datetime.min, lost.at))
        )
        return [*before] == ["registered"]

    def latest(self, at: datetime | None) -> Sequence[BrokerRun]:
        """The last run that had begun by `at` (None: of all), and the run before it."""
        return self._lived.latest(at or datetime.max, 2)

    def living(self, since: datetime, until: datetime) -> Iterator[BrokerRun]:
        """The runs in a time span, latest beginning first."""
        return self._lived.within(since, until)

    def begun(self, after: datetime, until: datetime) -> list[datetime]:
        """The process starts in a time span, without those that failed."""
        return self._begun[bisect_left(self._begun, after) : bisect_right(self._begun, until)]

    def ran(self, at: datetime) -> bool:
        """Whether a process that had begun by then printed something at that time or later."""
        run = next(self.living(at, at), None)
        if run is None:
            return False
        until, place = next(iter(self.begun(at, datetime.max)), datetime.max), bisect_left(self._last_lines, at)
        logged = place < len(self._last_lines) and self._last_lines[place] < until
        return logged or (run.last_seen is not None and run.last_seen.at is not None and run.last_seen.at >= at)

    def moved(self, after: datetime, until: datetime) -> bool:
        """Whether the broker left or returned in a time span."""
        reported = any(self.between(word, after, until) for word in ("lost", "back", "registered", "stop"))
        return reported or bool(self.begun(after, until)) or self.away(after, until)

    def away(self, start: datetime, end: datetime | None) -> bool:
        """Whether it was stopping or down at some time between these."""
        return any(a.overlaps(start, end) for a in self.outages)

    def end_of(self, run: BrokerRun | None) -> Outage | None:
        return next((a for a in self.outages if run is not None and a.run is run), None)

    def ended_before(self, begin: datetime | None) -> Outage | None:
        """The end of the process before the process that began at a time."""
        return next((a for a in reversed(self.outages) if a.until == begin and a.run is not None and a.how != PRESUMED_CRASHED), None)

    def outage(self, at: datetime, slack: timedelta = STOP_NOTICED_EARLY) -> Outage | None:
        """The last outage that covers a time."""
        return next((a for a in self._away.within(at - slack, at + slack) if a.covers(at, slack)), None)

    def _of_life(self, index: int, run: BrokerRun) -> Outage | None:
        again = next((x for x in map(self.runs.__getitem__, range(index + 1, len(self.runs))) if x.outcome != "failed"), None)
        until = again.begin_at if again is not None else None
        last = run.last_seen.at if run.last_seen is not None else run.begin_at
        if (stop := run.stop) is not None:
            begun = stop if stop.event not in _UNDATED else run.controlled
            since = begun.at if begun is not None else last
            return Outage(CONTROLLED, run, since, until, max(until, run.end_at) if until and run.end_at else None, stop)
        if run.outcome == "running" and (asked := run.asked) is not None:
            return Outage(CONTROLLED, run, asked.at, until, until, asked)  # its log ends before the stop is complete
        if run.outcome != "crashed" or run.end is None:
            return None
        if run.handed_over is not None:
            return Outage(CONTROLLED, run, (run.stopping or run.handed_over).at, until, until, run.handed_over)
        return self._crash(run, last, until, run.end)

    def _crash(self, run: BrokerRun, last: datetime | None, until: datetime | None, shown: Event) -> Outage:
        followed = run.followed.at if run.followed is not None else None
        known = self._registered(until) if until is not None else None
        if run.halted is not None or last is None or followed is None:
            return Outage(KILLED, run, last, until, known, shown, noticed=run.followed if run.halted is None else None)
        of_logs = self._last_lines[: bisect_left(self._last_lines, followed)][-1:]
        last = max(last, *of_logs) if of_logs else last
        gone = [e for e in self.between("lost", last, followed) if e.writer != self.broker]
        back = [e for word in ("back", "registered") for e in self.between(word, last, followed - CLOCK_TOLERANCE)]
        lost = next((e for e in gone if not any(b.source == e.source and _place(b) > _place(e) for b in back)), run.followed)
        return Outage(KILLED, run, last, until, known, shown, noticed=self._unreachable(last, lost) or lost)

    def _unreachable(self, last: datetime, noticed: Event | None) -> Event | None:
        """When the first of the nodes that could not reach it from then on until `noticed` lost its connection. A connection that was lost
        before its last line shows nothing, and after a restored session it may have run on."""
        if noticed is None or noticed.at is None:
            return None
        first = (_last_attempts(own, last, noticed.at) for own in self._attempts)
        return min((e for e in first if e is not None), key=undated_first, default=None)

    @cached_property
    def _attempts(self) -> list[list[Event]]:
        """The failures of each other node to reach it, in order of time."""
        return [*grouped((e.writer, e) for e in self.said("unreachable") if e.writer != self.broker).values()]

    def _registered(self, restarted: datetime) -> datetime:
        """Latest time at which a controller knew of a crash. If the new process starts before the old session has ended, it can only
        register afterwards; the old registration is cleaned up then (ReplicationControlManager#handleBrokerUncleanShutdown)."""
        registered = self.between("registered", restarted, restarted + CRASH_NOTICED)
        return next((e.at for e in registered if e.at is not None), restarted)

    def _missed(self) -> Iterator[Outage]:
        """Outages of a run whose log ends without a stop, if other nodes reported it gone and not that it came back. The log of a broker
        that runs while its files are collected ends in the same way, but no node reports it gone."""
        run, last_line = self.runs[-1] if self.runs else None, self._last_line
        if run is None or run.outcome != "running" or last_line is None or run.asked is not None:
            return
        gone = [
            *self.between("lost", last_line - CONNECTION_FAILS_AT_ONCE, datetime.max),
            *self.between("uncounted", last_line + STOP_NOTICED_EARLY, datetime.max),
        ]
        stopped = self.between("stop", last_line - STOP_NOTICED_EARLY, datetime.max)[:1]
        for event in sorted((*gone, *stopped), key=undated_first):
            if event.writer != self.broker and event.at is not None and self.returned(event.at) is None:
                if event not in stopped:
                    yield Outage(PRESUMED_CRASHED, run, last_line, None, None, event, noticed=self._unreachable(last_line, event) or event)
                return

    def _asked(self, word: Event, at: datetime) -> Outage:
        """A shutdown that only the controller saw: its end is not certain."""
        back = self.returned(at)
        until = min((t for t in (back.at if back is not None else None, *self.begun(at, datetime.max)) if t is not None), default=None)
        return Outage(CONTROLLED, None, at, until, min(until or datetime.max, at + CRASH_NOTICED), word)


def _last_attempts(of_one_node: Sequence[Event], after: datetime, until: datetime) -> Event | None:
    """The first of the failures of one node that follow each other up to `until`; None if they do not all come after `after`."""
    first = None
    for n in range(bisect_right(of_one_node, until, key=undated_first) - 1, -1, -1):
        e = of_one_node[n]
        if e.at is None or e.last_at is None or until - e.last_at > CONNECTION_RETRIED:
            break
        if e.at <= after:
            return None
        first, until = e, e.at
    return first


def _spans(outages: Iterable[Outage]) -> Spans[Outage]:
    return Spans(outages, lambda a: a.begun, lambda a: a.known)


_UNDATED = named("clean-start", "clean-shutdown-file", "broker-stopped")
"""These events show a clean stop, but not when it began."""


def availabilities(
    events: Iterable[Event], runs: Mapping[int, Sequence[BrokerRun]], last_lines: Mapping[int, Sequence[datetime]]
) -> dict[int, Availability]:
    """Availability of each broker that events name or that has runs; `events` are those of no partition, `last_lines` the times of the
    node's own last line in each log by node, ascending."""
    said: dict[int, dict[str, list[Event]]] = defaultdict(lambda: defaultdict(list))
    for event in events:
        if event.at is not None:
            for word, broker in availability_reports(event, runs.keys()):
                said[broker][word].append(event)
    for own in said.values():
        for reports in own.values():
            reports.sort(key=undated_first)
    return {b: Availability(b, runs.get(b, ()), said.get(b, {}), last_lines.get(b, ())) for b in sorted({*runs, *said})}


def availability_reports(event: Event, known: Iterable[int] = ()) -> Iterator[tuple[str, int]]:
    """The reports in an event, with the broker each is about."""
    brokers: Sequence[int | None]
    if event.event == "brokers-changed":
        if event.reason == "live":
            yield from (("uncounted", b) for b in set(known) - set(event.brokers or ()))
            return
        brokers, word = event.brokers or (), _CHANGES.get(event.reason or "")
    else:
        change = event.event == "metadata-broker-change"
        brokers = (event.writer if event.broker is None else event.broker,)
        word = _CHANGES.get(event.reason or "") if change else _WORDS.get(event.event)
    yield from ((word, b) for b in brokers if word is not None and b is not None)


_OF_ROLES = {
    Role.LOST: "lost",
    Role.BACK: "back",
    Role.REGISTERED: "registered",
    Role.STOP_SEEN: "stop",
    Role.LOG_DIR: "log-dir",
    Role.PAUSE: "pause",
    Role.UNREACHABLE: "unreachable",
}
_WORDS = {kind: word for role, word in _OF_ROLES.items() for kind in of(role=role)}
_CHANGES = {
    "deleted": "lost",
    "added": "back",
    "bounced": "back",
    "fenced": "lost",
    "unfenced": "back",
    "shutdown": "stop",
    "unregistered": "unregistered",
}
