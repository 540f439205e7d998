"""start-failed: a broker or controller ended while it was starting, with the cause that its errors name.

Here: attempts to start, and what they did to partitions. Not here: errors of a process that was up (fatal_error), and how the id of another
cluster came to be on a disk (cluster_id_mismatch).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_starts import LOCKED, FailedStart, failed_starts, up_again
from forensics.model.cluster.process_errors import INTERRUPTED, Cause, cause_of, exception, named_node, narrowed
from forensics.model.events import Event
from forensics.model.findings import NAMED, Finding, Place, capital, counted, moment, period, quote, raw, some
from forensics.model.partition.absences import ABSENCES
from forensics.model.partition.leaderless import OFFLINE

Name = tuple[str, int]
"""Topic and partition."""


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, attempts in sorted(failed_starts(cluster).items(), key=str):
        found = [_Attempt(a, _cause(a, node, cluster)) for a in attempts]
        for _, same in groupby((a for a in found if a.start.second), key=lambda a: a.cause):
            yield _second_process(node, [a.start for a in same], cluster)
        first = [(a, up_again(node, a.start.end, cluster) if node is not None else None) for a in found if not a.start.second]
        for (back, _), period_of in groupby(first, key=lambda own: (own[1], own[0].cause if node is None else None)):
            yield _finding(node, [a for a, _ in period_of], back, cluster, partitions)


@dataclass(frozen=True, slots=True)
class _Attempt:
    start: FailedStart
    cause: Cause | None


def _cause(attempt: FailedStart, node: int | None, cluster: Cluster) -> Cause | None:
    cause = cause_of(attempt.errors, starting=True)
    return narrowed(cause, node, attempt.end, cluster) if cause is not None else None


def _finding(
    node: int | None, tried: Sequence[_Attempt], back: Event | None, cluster: Cluster, partitions: Sequence[Mapping[str, Any]]
) -> Finding:
    """The attempts of one period: until the node was up, whatever ended each of them."""
    attempts, causes = [a.start for a in tried], Counter(a.cause for a in tried)
    cause = next((c for c, _ in causes.most_common() if c is not None), None)
    first, last = attempts[0], attempts[-1]
    who, times = named_node(node, cluster), counted(len(attempts), "time") if len(attempts) > 1 else "once"
    named = capital(who)
    errors = [e for a in tried for e in a.start.errors if a.cause == cause]
    thrown = exception(e for e in errors if cause is None or cause.found.search(e.key or ""))
    why = _why(causes)
    end = back.at if back is not None else None
    missing, leaderless = _affected(node, first.at, end, partitions)
    affected = f"; {counted(len({*missing, *leaderless}))} affected" if missing or leaderless else ""
    steps = tuple(dict.fromkeys(step for c, _ in causes.most_common() if c is not None for step in c.next_steps))
    return raw(
        kind="start-failed",
        severity="medium" if all(c is not None and c.name == INTERRUPTED for c in causes) else "high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=first.at,
        end=end,
        cause=cause.name if cause is not None else None,
        places=tuple(
            Place(topic, n, None, first.at, end, (), None, (node,)) for topic, n in sorted({*missing, *leaderless}) if node is not None
        ),
        summary=f"{who} failed to start{f' {times}' if len(attempts) > 1 else ''}{why}"
        + (f"; up at {moment(back.at)}" if back is not None else "; not up since" if node is not None else "")
        + affected,
        explanation=" ".join(
            (
                f"{named} failed to start {times}, from {period(first.at, last.end)}{why}.",
                *([f"The error is: {thrown}."] if thrown else []),
                *_outcome(node, named, back),
                *(_effects(who, missing, leaderless) if node is not None else ()),
            )
        ),
        next_steps=steps[: 2 * NAMED] or (f"Read the exception and its causes in server.log of {who} at {moment(first.errors[0].at)}.",),
        evidence=quote([e for a in attempts[:2] for e in a.errors[:3]], last.errors[-1:], back),
    )


def _why(causes: Counter[Cause | None]) -> str:
    """The causes, the most frequent first, as a sentence continues after 'failed to start'."""
    if len(causes) == 1:
        (cause,) = causes
        return f", because {cause.words}" if cause is not None else ""
    each = (
        f"{counted(number, 'time')} {f'because {cause.words}' if cause is not None else 'for another reason'}"
        for cause, number in causes.most_common()
    )
    return f" ({'; '.join(each)})"


def _outcome(node: int | None, named: str, back: Event | None) -> Iterator[str]:
    if back is not None:
        yield f"{named} was up at {moment(back.at)}."
    elif node is not None:
        yield "No later successful start is in evidence."
    else:
        yield "The evidence does not show which broker it was, so whether it was up later is unknown."


def _affected(
    node: int | None, since: datetime | None, until: datetime | None, partitions: Sequence[Mapping[str, Any]]
) -> tuple[list[Name], list[Name]]:
    """Partitions whose ISR lacked the broker between the first attempt and its return, and those that had no leader meanwhile."""
    if node is None or since is None:
        return [], []
    missing: list[Name] = []
    leaderless: list[Name] = []
    for p in partitions:
        name = (p["topic"], p["partition"])
        if any(a["broker"] == node and _overlaps(a, since, until) for a in p["absences"] or ()):
            missing.append(name)
        if node in (p["isr"] or p["replicas"] or ()) and any(_overlaps(w, since, until) for w in p["offline"] or ()):
            leaderless.append(name)
    return missing, leaderless


def _overlaps(span: Mapping[str, Any], since: datetime, until: datetime | None) -> bool:
    begun = span["start"] is None or until is None or span["start"] < until
    return begun and (span["end"] is None or span["end"] > since)


def _effects(who: str, missing: Sequence[Name], leaderless: Sequence[Name]) -> Iterator[str]:
    if missing:
        yield f"Meanwhile {who} was missing from the ISR of {_named(missing)}."
    if leaderless:
        yield f"Meanwhile {_named(leaderless)} had no leader."
    if not missing and not leaderless:
        yield "The evidence shows no partition that was affected."


def _named(partitions: Sequence[Name]) -> str:
    return some([f"{topic}-{partition}" for topic, partition in partitions])


def _second_process(node: int | None, attempts: Sequence[FailedStart], cluster: Cluster) -> Finding:
    first, last = attempts[0], attempts[-1]
    who = named_node(node, cluster)
    cause, locked = cause_of(first.errors, starting=True), any(e.reason == LOCKED for e in first.errors)
    return raw(
        kind="start-failed",
        severity="low",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=first.at,
        end=last.end,
        cause=cause.name if cause is not None else None,
        summary=f"a second process of {who} ended while it was starting ({counted(len(attempts), 'time')}), because {who} was running",
        explanation=(
            f"From {period(first.at, last.end)} a second process of {who} was started and ended: it could not lock a log directory that the first "
            "process was using. The first process kept running." + (_OF_METADATA if locked and cluster.mode == "kraft" else "")
        ),
        next_steps=(f"Find out what started {who} twice: a supervisor with a wrong process id, or a command in a shell.",),
        evidence=quote([e for a in attempts[:2] for e in a.errors[:3]], last.errors[-1:]),
    )


_OF_METADATA = " A KRaft process opens the metadata log before it finds the log directories locked (SharedServer, LogManager): it may have damaged that log."


READS = (ABSENCES, OFFLINE)
