"""broker-crash: a broker process ended without a shutdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from forensics.model import Finding, Many, Rule, moment, quote, some
from forensics.windows import SLACK, words_of
from spark.cluster import Cluster, Incarnation, Node
from spark.events import Event

NOTICED = timedelta(seconds=60)


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in cluster.nodes.values():
        for life in node.lives:
            if life.outcome == "crashed" and not _left(life, node):
                yield _finding(node, life, cluster, partitions, certain=True)
        if (end := _never_back(node, cluster)) is not None:
            yield _finding(node, node.lives[-1], cluster, partitions, certain=False, noticed=end)


def _left(life: Incarnation, node: Node) -> bool:
    """A node that is only a controller prints nothing when it is stopped: what comes next in another cluster tells no crash."""
    return not node.broker and life.end is not None and life.end.cluster != life.cluster


def _never_back(node: Node, cluster: Cluster) -> Event | None:
    """The last life has no stop, others saw the broker go, and it printed nothing more."""
    if not node.lives or node.lives[-1].outcome != "running" or not node.broker:
        return None
    life = node.lives[-1]
    last = cluster.last_line(node.id)
    if last is None or life.stopping is not None or life.controlled is not None:
        return None
    gone = [e for e in cluster.events if e.at is not None and e.at >= last - timedelta(seconds=1) and _names(e, node.id)]
    back = [e for e in cluster.events if e.at is not None and _returns(e, node.id)]
    return next((e for e in gone if not any(b.at is not None and e.at is not None and b.at > e.at for b in back)), None)


def _names(event: Event, broker: int) -> bool:
    if event.event == "brokers-changed":
        return event.reason == "deleted" and broker in (event.brokers or ())
    if event.event == "broker-fenced":
        return event.broker == broker
    return event.event == "metadata-broker-change" and event.reason == "fenced" and event.broker == broker


def _returns(event: Event, broker: int) -> bool:
    if event.event == "brokers-changed":
        return event.reason in ("added", "bounced") and broker in (event.brokers or ())
    if event.event in ("broker-unfenced", "metadata-broker"):
        return event.broker == broker
    return event.event == "metadata-broker-change" and event.reason == "unfenced" and event.broker == broker


def _touched(broker: int, begin: datetime | None, end: datetime | None, partitions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Partitions whose ISR lost the broker between its last word and its return; one it was out of before, it did not leave now."""
    names = []
    for p in partitions:
        for a in p["absences"] or ():
            start = a["start"]
            if (
                a["broker"] == broker
                and start is not None
                and (begin is None or start >= begin - SLACK)
                and (end is None or start <= end + NOTICED)
            ):
                names.append(f"{p['topic']}-{p['partition']}")
                break
    return sorted(names)


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
            and (end is None or now["at"] <= end + NOTICED)
            for was, now in pairwise(p["steps"] or ())
        )
    )


def _missed(broker: int, last: datetime | None, end: datetime | None, cluster: Cluster) -> str:
    """When others first knew, which is nearer to its end than its return."""
    if last is None or end is None:
        return ""
    lost = next((e for e in words_of(cluster).between("lost", broker, last, end) if e.writer != broker), None)
    return f" The controller missed it at {moment(lost.at)}." if lost is not None else ""


def _finding(
    node: Node,
    life: Incarnation,
    cluster: Cluster,
    partitions: Sequence[Mapping[str, Any]],
    *,
    certain: bool,
    noticed: Event | None = None,
) -> Finding:
    last = life.last_seen.at if life.last_seen is not None else life.begin_at
    end = life.end_at if certain and life.end is not life.halted else None
    touched = _touched(node.id, last, end, partitions)
    headless = _headless(node.id, last, end, partitions)
    unclean = [e for e in life.evidence if e.event == "unclean-start"]
    count = len({*touched, *headless})
    back = (
        f"It was started again at {moment(end)} with no shutdown in its log before that."
        if end is not None
        else f"It printed nothing more, and {'the controller saw it go at ' + moment(noticed.at) if noticed is not None else 'it did not come back'}."
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
        confidence="certain" if certain else "probable",
        brokers=(node.id,),
        start=last,
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
        evidence=quote(life.halted, life.end if certain else noticed, unclean, life.last_seen, life.begin),
    )


RULE = Rule(
    kind="broker-crash",
    level="medium",
    meaning="A broker ended without a shutdown: what it had not flushed depends on why.",
    benign=("A stop whose last lines were not collected, if the next start found the clean shutdown marker.",),
    cluster=judge,
    many=Many(),
    root="ended without a shutdown",
)
