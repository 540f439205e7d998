"""Attempts to start that failed: each from the first line of its process to the errors that ended it.

Here: which lines belong to one attempt, and whether it was a second process next to a running one. Not here: the runs of a broker
(availability), or the causes that errors name (process_errors).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.presence.availability import ENDS_PROCESS, HALTING, ID_TAKEN, LAST_ERROR, LAST_OF_HOOK
from forensics.model.times import is_later
from forensics.thresholds import STOPPED_AGAIN
from parsers.kinds import Role, named, of

_FIRST = "process-starting"
_BEGINS = of(role=Role.BEGINS)
_MISMATCHES = named("cluster-id-mismatch", "broker-id-mismatch")
_UP = named("broker-started", "process-started")
_READ = _BEGINS | _MISMATCHES | named(_FIRST, "broker-state", *_UP, "fatal-error")
LOCKED = "locked"
_THROWN_ALONE = ("process-unformatted", "process-setting-refused", "process-directories-mixed", "process-not-bound")
"""The patterns of exceptions that the error of main() repeats."""
_ENDS = ENDS_PROCESS | HALTING | {LOCKED}
_OF_START = re.compile(r"start(?:ing|up)|Could not create the Java|while waiting for|unable to register|meta\.properties|ConfigException")
_THROWN = re.compile(r"Inconsistent(?:ClusterId|BrokerId|NodeId)Exception")
_OF_MAIN = re.compile(r"Exiting Kafka\b|Exception in thread \"main\"|(?:ERROR|FATAL)\s+\(kafka\.Kafka\$\)")
"""Kafka#main prints this about the process that it starts, never about a running one."""


@dataclass(frozen=True, slots=True)
class FailedStart:
    """One attempt: its first line, if in evidence, and its errors."""

    begin: Event | None
    errors: tuple[Event, ...]
    second: bool = False
    """Another process of the node was running and continued."""

    @property
    def at(self) -> datetime | None:
        return (self.begin or self.errors[0]).at

    @property
    def end(self) -> datetime | None:
        return self.errors[-1].at


@cached_on_cluster
def failed_starts(cluster: Cluster) -> dict[int | None, list[FailedStart]]:
    """The failed starts of each node, in order of time."""
    own: dict[int | None, list[Event]] = defaultdict(list)
    last: dict[str, Event] = {}
    for e in cluster.of(*_READ):
        if e.line is not None and (e.writer is not None or e.event == "fatal-error" or e.event in _MISMATCHES):
            own[_whose(e, last.get(e.source))].append(e)
            last[e.source] = e if e.writer is not None else last.get(e.source, e)
    found = {node: [_judged(a, node, cluster) for a in _attempts(events)] for node, events in own.items()}
    return {node: attempts for node, attempts in found.items() if attempts}


@cached_on_cluster
def errors_of_starts(cluster: Cluster) -> frozenset[int]:
    """The errors of failed starts, by identity."""
    return frozenset(id(e) for attempts in failed_starts(cluster).values() for a in attempts for e in a.errors)


def _whose(e: Event, last: Event | None) -> int | None:
    """The node of an error: in a log of several nodes, main() names none right after the error that names it."""
    if e.writer is None and last is not None and e.at is not None and last.at is not None and e.at - last.at <= STOPPED_AGAIN:
        return last.writer
    return e.writer


def up_again(node: int, after: datetime | None, cluster: Cluster) -> Event | None:
    """The first line that shows the node up after a time, in this cluster or a later one: by a process whose start did not fail. None if no
    evidence shows that it was up."""
    for later in (cluster, *cluster.later):
        for run in later.availability(node).runs:
            if run.outcome != "failed" and is_later(run.begin_at, after) and run.up is not None:
                return run.up
    known = cluster.nodes.get(node)
    return cluster.next_of(node, after, "broker-started") if known is not None and not known.broker else None


def _judged(attempt: _Attempt, node: int | None, cluster: Cluster) -> FailedStart:
    start = FailedStart(attempt.begin, tuple(attempt.errors))
    locked = any(e.reason == LOCKED for e in attempt.errors)
    beside = locked or any(ID_TAKEN.search(e.key or "") for e in attempt.errors)
    return replace(start, second=beside and node is not None and _running(node, start, cluster, locked=locked))


def _running(node: int, attempt: FailedStart, cluster: Cluster, *, locked: bool) -> bool:
    """Whether a process of the node was running before the attempt, and after it. A lock is held by a process; an id may be registered for
    a session that has not expired."""
    first, last = attempt.at, attempt.end
    if first is None or last is None:
        return False
    before: datetime | None = None
    for run in cluster.availability(node).runs:
        begin = run.begin_at or before  # a run whose start is missing from the evidence began after the end of the run before
        if (locked if begin is None else begin < first) and (run.end_at is None or run.end_at > last):
            return True
        before = run.end_at or before
    return False


@dataclass
class _Attempt:
    begin: Event | None
    errors: list[Event] = field(default_factory=list)
    marks: set[tuple[str, str | None]] = field(default_factory=set)
    """Start lines seen so far: a KRaft node prints several, each once."""
    up: bool = False

    @property
    def failed(self) -> bool:
        """A process that found data of another cluster or node either ends or, with KRaft, tries again until it is killed."""
        return bool(self.errors)

    def refused(self, e: Event) -> None:
        """Keeps the first and the last of the same refusals: KRaft repeats its request many times a second."""
        same = [own for own in self.errors if own.event == e.event]
        if len(same) > 1:
            self.errors.remove(same[-1])
        self.errors.append(e)

    def continues(self, e: Event) -> bool:
        """Whether a start line belongs to this attempt."""
        ended = self.up or any(own.event == "fatal-error" for own in self.errors)
        return not ended and e.event != _FIRST and (e.event, e.pattern) not in self.marks

    def before(self, e: Event) -> bool:
        """Whether an error is of a later process whose start is missing from the evidence: one process prints each once. The text of an
        exception is repeated in each."""
        return (
            e.reason != LOCKED
            and e.pattern not in _THROWN_ALONE
            and any(own.pattern in (LAST_ERROR, LAST_OF_HOOK) or (own.pattern, own.value) == (e.pattern, e.value) for own in self.errors)
        )


def _attempts(events: Sequence[Event]) -> Iterator[_Attempt]:
    current: _Attempt | None = None
    for e in events:
        before = current
        if e.event == _FIRST or e.event in _BEGINS or (e.event == "broker-state" and e.reason == "STARTING"):
            current = _started(e, current)
        elif e.event in _UP and current is not None:
            current.up = current.up or not current.errors
        elif e.event in _MISMATCHES and e.key is None and (_THROWN.search(e.text or "") if current is None else not current.up):
            current = current or _Attempt(None)  # the exception alone, without the line of the start that failed
            current.refused(e)
        elif e.event == "fatal-error" and e.reason in _ENDS:
            current = _with_error(e, current)
        if before is not None and before is not current and before.failed:
            yield before
    if current is not None and current.failed:
        yield current


def _started(e: Event, current: _Attempt | None) -> _Attempt:
    if current is None or not current.continues(e):
        current = _Attempt(e)
    current.marks.add((e.event, e.pattern))
    return current


def _with_error(e: Event, current: _Attempt | None) -> _Attempt | None:
    """The attempt that the error belongs to. A process that is up has not failed to start, unless its error says so: KRaft brokers print
    that they have started before they print why they have not (BrokerServer#startup)."""
    said = f"{e.text} {e.key} {e.value}"
    of_main = _OF_MAIN.search(said) is not None
    of_start = of_main or _OF_START.search(said) is not None
    if current is None or current.before(e) or (of_main and current.up and not current.errors):
        current = _Attempt(None) if of_start or e.reason == LOCKED else None
    elif current.up and not of_start and e.reason != LOCKED:
        current = None
    if current is not None:
        current.errors.append(e)
    return current
