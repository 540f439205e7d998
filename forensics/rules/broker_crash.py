"""broker-crash: a broker process ended without a shutdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from forensics.model import Evidence, Finding, Many, Rule, Statement, moment, quote, some
from forensics.partition.absences import ABSENCES
from forensics.partition.placement import STEPS
from spark.cluster.facts import Cluster, Node
from spark.cluster.presence import DETECTION, KILLED, MISSED, SLACK, Away, Incarnation


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in cluster.nodes.values():
        for away in cluster.presence(node.id).aways:
            if away.life is not None and (node.broker or not _left(away, cluster)) and away.how in (KILLED, MISSED):
                sure = _sure(node, away, cluster) if away.how == MISSED else "certain"
                yield _finding(node, away.life, cluster, partitions, sure, _seen(away) if away.how == MISSED else None, quote(away.event))


def died_last(cluster: Cluster, partitions: Sequence[Mapping[str, Any]], findings: Mapping[str, Sequence[Statement]]) -> Iterator[Finding]:
    """No controller was left to miss it."""
    headless = [(f.start, f) for f in findings.get("offline-partition", ()) if f.end is None and f.start is not None]
    for node in cluster.nodes.values():
        presence = cluster.presence(node.id)
        left = dict(reversed([(at, f) for at, f in headless if node.id in f.brokers]))
        if node.broker and presence.running is not None and (since := presence.unmissed(left)) is not None:
            words = f"{left[since].name}, which it was the last to hold in sync, had no leader from {moment(since)} on"
            yield _finding(node, presence.running, cluster, partitions, "possible", words, left[since].whole.evidence[:2])


def _sure(node: Node, away: Away, cluster: Cluster) -> str:
    """That a controller loses a broker it knew tells more than that a later one does not find it, unless the files in the broker's
    log directories, among which the marker of a clean shutdown would be, were collected."""
    files = any(s.kind in _BESIDE_THE_MARKER for s in cluster.sources_of(node.id))
    return "probable" if away.event.reason != "live" or files else "possible"


def _left(away: Away, cluster: Cluster) -> bool:
    """A node that is only a controller prints nothing when it is stopped: what comes next in another cluster tells no crash."""
    return away.event.cluster != cluster.number


def _touched(
    broker: int, begin: datetime | None, end: datetime | None, partitions: Sequence[Mapping[str, Any]]
) -> tuple[list[str], datetime | None]:
    """Partitions whose ISR lost the broker between its last word and its return; one it was out of before, it did not leave now. With the
    first time of those from which it had not come back when it returned: a process may say nothing of itself for months before it dies."""
    names = []
    times: list[datetime] = []
    for p in partitions:
        own = [
            a
            for a in p["absences"] or ()
            if a["broker"] == broker
            and a["start"] is not None
            and (begin is None or a["start"] >= begin - SLACK)
            and (end is None or a["start"] <= end + DETECTION)
        ]
        if own:
            names.append(f"{p['topic']}-{p['partition']}")
            times.extend(a["start"] for a in own if a["times"] == 1 and _lasted(a, end))
    return sorted(names), min(times, default=None)


def _lasted(absence: Mapping[str, Any], returned: datetime | None) -> bool:
    over = absence["end"]
    return over is None or (returned is not None and absence["start"] <= returned <= over)


def _headless(broker: int, begin: datetime | None, end: datetime | None, partitions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Partitions it led that had no leader after it."""
    return sorted(
        f"{p['topic']}-{p['partition']}"
        for p in partitions
        if any(
            was["leader"] == broker
            and now["leader"] == -1
            and now["at"] is not None
            and (begin is None or now["at"] >= begin - SLACK)
            and (end is None or now["at"] <= end + DETECTION)
            for was, now in pairwise(p["steps"] or ())
        )
    )


def _missed(broker: int, last: datetime | None, end: datetime | None, cluster: Cluster) -> str:
    """When others first knew, which is nearer to its end than its return."""
    if last is None or end is None:
        return ""
    lost = next((e for e in cluster.presence(broker).between("lost", last, end) if e.writer != broker), None)
    return f" The controller missed it at {moment(lost.at)}." if lost is not None else ""


def _seen(away: Away) -> str:
    found = "did not find it among the brokers that lived when it was elected" if away.event.reason == "live" else "saw it go"
    return f"the controller {found} at {moment(away.event.at)}"


def _finding(
    node: Node,
    life: Incarnation,
    cluster: Cluster,
    partitions: Sequence[Mapping[str, Any]],
    confidence: str,
    missed: str | None,
    told: Sequence[Evidence],
) -> Finding:
    """`missed`: how others knew of an end that no later start shows."""
    last = life.last_seen.at if life.last_seen is not None else life.begin_at
    end = life.end_at if missed is None and life.end is not life.halted else None
    touched, gone = _touched(node.id, last, end, partitions)
    headless = _headless(node.id, last, end, partitions)
    unclean = [e for e in life.evidence if e.event == "unclean-start"]
    count = len({*touched, *headless})
    back = (
        f"It was started again at {moment(end)} with no shutdown in its log before that."
        if end is not None
        else f"It printed nothing more, and {missed or 'it did not come back'}."
    )
    why = (
        "It halted because of its log directories, which skips the shutdown."
        if life.halted is not None
        else "Killed, out of memory, or the machine went down: Kafka prints nothing then."
    )
    marker = " Its log directories carried no marker of a clean shutdown." if unclean else ""
    return Finding(
        kind="broker-crash",
        severity="medium",
        confidence=confidence,
        brokers=(node.id,),
        start=last if gone is None or last is None else max(last, gone - DETECTION),  # a death is noticed within it
        end=end,
        summary=f"broker {node.id} {'halted over its log directories' if life.halted is not None else 'ended without a shutdown'}"
        + (f", back at {moment(end)}" if end else "")
        + (f"; {count} partition{'s' if count > 1 else ''} touched" if count else ""),
        explanation=(
            f"Broker {node.id} lived at {moment(last)}, by the last line about its process. {back}{_missed(node.id, last, end, cluster)}{marker} {why}"
            + (f" It dropped out of the ISR of {some(touched, 6)}." if touched else "")
            + (f" It left {some(headless, 6)} without a leader." if headless else "")
        ),
        next_steps=("See what its log directories refused (log-dir-failure).",)
        if life.halted is not None
        else (
            "Look at the system's journal for the OOM killer, a kernel panic or a power loss at that time.",
            "hs_err_pid*.log in its working directory tells of a JVM crash.",
        ),
        evidence=tuple(dict.fromkeys((*quote(life.halted), *told, *quote(unclean, life.last_seen, life.begin)))),
    )


_BESIDE_THE_MARKER = frozenset({"hw-checkpoint", "recovery-point-checkpoint"})

RULE = Rule(
    kind="broker-crash",
    rank=290,
    level="medium",
    meaning="A broker ended without a shutdown: what it had not flushed depends on why.",
    benign=("A stop whose last lines were not collected, if the next start found the clean shutdown marker.",),
    cluster=judge,
    facts=(ABSENCES, STEPS),
    hindsight=died_last,
    many=Many(),
    root="ended without a shutdown",
)
