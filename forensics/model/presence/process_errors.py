"""Errors that end a process or a thread, grouped into failures, and the causes that their exceptions name.

Here: failures of one process, causes with their next steps. Not here: attempts to start (failed_starts), the runs of a process
(availability), or findings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter

from forensics.model.cluster.facts import Cluster, by_role
from forensics.model.events import Event
from forensics.model.findings import shortened
from forensics.model.message import Message, said
from forensics.model.times import grouped, runs, within
from forensics.thresholds import REFUSED_REPEATEDLY, SAME_FAILURE, UNREACHABLE
from parsers.package_data import table


@dataclass(frozen=True, slots=True)
class NamedCause:
    """A cause that an error names (causes.toml)."""

    name: str
    found: re.Pattern[str]
    of_starts: bool = False
    """A process that was up cannot have it: there the same exception means something else."""

    @property
    def why(self) -> Message:
        """Completes 'because …'."""
        return said(f"cause/{self.name}")

    @property
    def steps(self) -> tuple[Message, ...]:
        return (steps_of(self.name),)


def steps_of(cause: str) -> Message:
    """What to do about a cause."""
    return said(f"cause/{cause}/steps")


_DECLARED = table(__package__, "causes")["cause"]
PHRASES = {id: said for c in _DECLARED if "words" in c for id, said in ((c["name"], c["words"]), (f"{c['name']}/steps", c["next_steps"]))}
"""The words of causes, and their steps."""
_CAUSES = tuple(NamedCause(c["name"], re.compile(c["found"], re.IGNORECASE), c.get("of_starts", False)) for c in _DECLARED)
INTERRUPTED = "interrupted"
EXPRESSIONS = tuple(cause.found.pattern for cause in _CAUSES)
"""What the errors say."""
_NAMED = {cause.name: cause for cause in _CAUSES}
_EFFECTS = ("mapped-file", "log-dirs-failed", "corrupt-file")
"""Causes that say what a process could not do, not why."""
_REFUSED = {
    "full": "disk-full",
    "in-use": "file-in-use",
    "denied": "permission",
    "read-only": "permission",
    "handles": "too-many-open-files",
    "maps": "map-failed",
}
"""Causes by the reason of a log-file-refused."""


def cause_of(errors: Iterable[Event], *, starting: bool = False) -> NamedCause | None:
    """The cause that the exceptions of these errors name; the most specific one."""
    said = "\n".join(part for e in errors for part in (e.key, _message(e)) if part)
    return next((c for c in _CAUSES if c.found.search(said) and (starting or not c.of_starts)), None)


def narrowed(cause: NamedCause, node: int | None, at: datetime | None, cluster: Cluster) -> NamedCause:
    """The cause behind an error that names only an effect: what the system refused, by the node's last line about that since the node was
    up for the last time."""
    if cause.name not in _EFFECTS or node is None or at is None:
        return cause
    runs = cluster.availability(node).runs
    since = max((r.up.at for r in runs if r.up is not None and r.up.at is not None and r.up.at < at), default=datetime.min)
    refused = [e for e in cluster.of("log-file-refused") if e.writer == node and e.at is not None and since <= e.at <= at]
    reason = refused[-1].reason if refused else None
    if cause.name == "mapped-file" and reason != "full":
        return cause
    return _NAMED[_REFUSED[reason]] if reason in _REFUSED else cause


def _message(error: Event) -> str:
    """The error without its stack trace and logger, whose names of classes are not a cause."""
    return "\n".join(line.rpartition(" (")[0] or line for line in (error.text or "").split("\n") if line[:1].strip())


_SHOWN = 240
"""Characters of an exception that an explanation prints: some list all offsets of a batch."""


def exception(errors: Iterable[Event]) -> str | None:
    thrown = next((e.key.split("; Caused by: ")[-1].rstrip(".: ") for e in errors if e.key), None)
    return shortened(thrown, _SHOWN) if thrown is not None else None


def failures(
    events: Iterable[Event], key: Callable[[Event], object] = attrgetter("writer"), apart: timedelta | None = SAME_FAILURE
) -> Iterator[list[Event]]:
    """The errors that have `key` in common, and those further apart than `apart` separately; None: however far apart."""
    groups = grouped((key(e), e) for e in events)
    for _, own in sorted(groups.items(), key=lambda group: str(group[0])):
        yield from of_one_failure(own, apart) if apart is not None else (own,)


def of_one_failure(events: Iterable[Event], apart: timedelta = SAME_FAILURE) -> Iterator[list[Event]]:
    """Errors in order of time, split where there was none for longer than one failure allows."""
    return runs(events, within(apart, attrgetter("at"), attrgetter("last_at")))


def lasted(errors: Sequence[Event]) -> bool:
    """Whether they were repeated for longer than a leader change takes."""
    first, last = errors[0].at, errors[-1].last_at
    often = sum(e.repeats for e in errors) >= REFUSED_REPEATEDLY
    return often and first is not None and last is not None and last - first >= UNREACHABLE


def who(node: int | None, cluster: Cluster) -> Message:
    """A broker, or a node that is only a controller."""
    if node is None:
        return said("node/unknown")
    return said("node/controller" if node in cluster.controllers else "node/broker", id=node)


def who_all(nodes: Sequence[int], cluster: Cluster) -> Message:
    """The same for several nodes."""
    if len(nodes) < 2:
        return who(nodes[0] if nodes else None, cluster)
    return said("node/several", nodes=by_role(nodes, cluster.controllers))


def ends_the_jvm(memory: Event) -> bool:
    """Whether the JVM ended when it ran out of memory."""
    return memory.reason == "exit"


def of_thread(error: Event, name: str) -> bool:
    """Whether a thread of this name ended."""
    return error.event == "fatal-error" and error.reason == "thread" and name in (error.text or "").split("\n")[0]


def of_fetcher(error: Event) -> bool:
    """Whether a replica fetcher ended."""
    return of_thread(error, "ReplicaFetcher")


def span(events: Sequence[Event]) -> Message:
    """When it happened, and how often."""
    first, last, times = events[0].at, events[-1].last_at, sum(e.repeats for e in events)
    once = times == 1 or first == last
    return said("error/span", began=(first, None)) if once else said("error/span", times=times, period=(first, last))
