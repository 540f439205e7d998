"""under-replicated: assigned replicas were missing from the ISR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, brokers_named, moment, quote, raw
from forensics.model.partition.absences import (
    CRASHED,
    EXPECTED,
    GONE,
    IN_ORDER,
    LOG_DIR,
    NOT_STATED,
    RESTARTED,
    SLOW,
    STOPPED,
    STUCK,
    SUSPENDED,
    UNKNOWN,
    Interval,
    absences,
    intervals,
)
from forensics.model.partition.directories import OF_REPLICA
from forensics.model.partition.final_state import DESCRIBED
from forensics.model.partition.log_coverage import silence_words, silent_leaders
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import Window, closing, condensed, lasted, lived, missing, reassigning, until, up_to, windows
from forensics.thresholds import BRIEF_S


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    failed = [i for i in intervals(timeline, cluster) if i.cause not in EXPECTED]
    short = {id(s) for i in failed for s in timeline.states[i.first : i.last]}

    def holds(state: State) -> bool:
        return id(state) in short or (state.source == DESCRIBED and len(state.isr) < len(state.replicas or ()))

    found = lived(windows(timeline, holds), timeline, cluster)
    for window in condensed([w for w in found if w.seconds is None or w.seconds >= BRIEF_S]):
        yield _finding(window, timeline, cluster)


def _by_turns(out: Sequence[int], window: Window, timeline: PartitionTimeline) -> bool:
    """Never were all of these replicas missing at once."""
    return len(out) > max(len(s.replicas or timeline.assigned) - len(s.isr) for s in window.states)


def _excused(window: Window, why: Sequence[Interval], cluster: Cluster) -> bool:
    """It is over, and was a clean shutdown, a reassignment all the time, or a broker that printed nothing and came back; or the whole
    cluster was being stopped."""
    stopped = all(i.cause in IN_ORDER for i in why)
    if window.end is None:
        return bool(why) and stopped and bool(closing(window, [i.broker for i in why], cluster))
    unheard_of = all(i.cause == UNKNOWN or (i.cause == GONE and i.end is not None) for i in why)
    return (bool(why) and (stopped or unheard_of)) or all(reassigning(s) for s in window.states)


_CAUSE = {
    CRASHED: "broker-crash",
    GONE: "broker-crash",
    RESTARTED: "controlled-shutdown",
    STOPPED: "controlled-shutdown",
    LOG_DIR: "log-dir-failure",
    STUCK: "stuck-replica",
    SLOW: "slow-replica",
    NOT_STATED: "not-in-sync",
    SUSPENDED: "suspended",
    UNKNOWN: "unknown",
}


def _cause(why: Sequence[Interval]) -> str | None:
    """All causes, so that partitions with other causes are not reported as the same."""
    offline = {_CAUSE[LOG_DIR] for i in why if any(e.event in OF_REPLICA for e in i.evidence)}  # its broker had also crashed or stopped
    return " and ".join(sorted({_CAUSE[i.cause] for i in why} | offline)) or None


def _finding(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    why = [i for i in absences(timeline, cluster).within(window) if i.cause not in EXPECTED]
    out = tuple(i.broker for i in why)
    smallest = min(window.states, key=lambda s: len(s.isr))
    silent = silent_leaders(window.states, timeline, cluster)
    turns = ", never all at once" if _by_turns(out, window, timeline) else ""
    reasons = "; ".join(i.words for i in why) or "the evidence does not show why"
    were = "was" if len(out) == 1 else "were"
    return raw(
        kind="under-replicated",
        severity="low" if silent or _excused(window, why, cluster) else "medium",
        confidence="possible" if silent else "certain",
        brokers=out,
        leader_epoch=window.states[0].known_epoch,
        start=window.start,
        end=window.end,
        cause=_cause(why),
        summary=f"{timeline.name}: {brokers_named(out)} missing from the ISR{turns}{',' if turns else ''} {lasted(window, cluster)}",
        explanation=(
            f"From {moment(window.start)} {until(window, cluster)} {brokers_named(out)} "
            f"{were} missing from the ISR of {timeline.name}{turns} (smallest ISR "
            f"{list(smallest.isr) or 'empty,'} of replicas {list(smallest.replicas or timeline.assigned)}): {reasons}."
            f"{silence_words(silent)}"
        ),
        next_steps=tuple(_steps(window, why, timeline)),
        evidence=quote(window.states[0].event, *(e for i in why for e in i.evidence[:2]), *(s.event for s in window.states[1:2])),
    )


def _steps(window: Window, why: Sequence[Interval], timeline: PartitionTimeline) -> Iterator[str]:
    for i in why:
        if i.cause in (NOT_STATED, UNKNOWN):
            yield (
                f"Collect server.log and the GC log of broker {i.broker}: they show whether it was stuck or slow. From Kafka 2.2 on, the "
                f"leader's server.log shows this as well."
            )
    if window.end is not None or window.deleted:
        return
    failed = sorted({i.broker for i in why if i.cause == LOG_DIR and i.end is None})
    if failed:
        yield f"Repair the failed log directory of {brokers_named(failed)} and restart the broker: its replicas return only then."
    others = sorted({i.broker for i in why if i.cause != LOG_DIR and i.end is None})
    if others:
        yield f"Find out why {brokers_named(others)} did not rejoin the ISR of {timeline.name}: server.log of the broker shows fetches and truncations."


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    return f"{missing(group)} missing from the ISR {up_to(group)}"
