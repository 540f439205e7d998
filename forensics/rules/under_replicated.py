"""under-replicated: assigned replicas were missing from the ISR."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model import Finding, Rule, brokers_named, moment, quote
from forensics.windows import Absence, Window, absence, condensed, lasted, missing, reassigning, windows
from spark.cluster import Cluster
from spark.timeline import PartitionTimeline, State

BRIEF_S = 1.0
_CAUSE = {
    "crash": "broker-crash",
    "stop": "controlled-shutdown",
    "log-dir": "log-dir-failure",
    "running": "not-in-sync",
    "unknown": "unknown",
}


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    short = [w for w in windows(timeline, _short) if w.seconds is None or w.seconds >= BRIEF_S]
    for window in condensed(short):
        yield _finding(window, timeline, cluster)


def _short(state: State) -> bool:
    """Replicas that a reassignment adds are not expected in the ISR yet."""
    expected = set(state.replicas or ()) - set(state.adding)
    return not expected <= set(state.isr)


def _finding(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    out = missing(window.states)
    why = [absence(b, window.start, timeline, cluster) for b in out]
    smallest: tuple[int, ...] = min((s.isr for s in window.states), key=len)
    planned = (bool(why) and all(a.why == "stop" for a in why)) or any(reassigning(s) for s in window.states)
    return Finding(
        kind="under-replicated",
        severity="low" if planned and window.end is not None else "medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=out,
        leader_epoch=window.states[0].known_epoch,
        start=window.start,
        end=window.end,
        cause=_cause(why),
        summary=f"{timeline.name}: {brokers_named(out)} missing from the ISR {lasted(window)}",
        explanation=(
            f"From {moment(window.start)} {'to ' + moment(window.end) if window.end else 'to the end of the evidence'} {brokers_named(out)} "
            f"{'was' if len(out) == 1 else 'were'} missing from the ISR of {timeline.name} (smallest ISR "
            f"{list(smallest)} of replicas {list(timeline.assigned)}): {'; '.join(a.words for a in why) or 'the evidence does not say why'}."
        ),
        next_steps=()
        if window.end is not None
        else (f"Find out why {brokers_named(out)} did not rejoin; its server.log tells of fetching and truncating.",),
        evidence=quote(window.states[0].event, *(a.event for a in why), *(s.event for s in window.states[1:2])),
    )


def _cause(why: list[Absence]) -> str | None:
    words = sorted({_CAUSE.get(a.why, a.why) for a in why})
    return words[0] if len(words) == 1 else "several" if words else None


RULE = Rule(
    kind="under-replicated",
    level="medium",
    meaning="Fewer replicas than assigned were in sync for a while; one more failure is nearer to a loss.",
    benign=(
        "A rolling restart: each broker's partitions are short of it until it is back (low).",
        "A reassignment that adds replicas (not counted until they are part of the assignment).",
    ),
    partition=judge,
)
