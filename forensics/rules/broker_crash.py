"""broker-crash: a broker process ended without a shutdown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeVar

from forensics.model.cluster.availability import DETECTION, KILLED, MISSED, SLACK, BrokerRun, Outage
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Evidence, Finding, Rule, Statement, counted, moment, quote, some
from forensics.model.partition.absences import ABSENCES
from forensics.model.partition.placement import STEPS
from parsers.cached import cached_property

T = TypeVar("T")


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    told = _Told(partitions)
    for node in cluster.nodes.values():
        for outage in cluster.availability(node.id).outages:
            if outage.life is not None and (node.broker or not _left(outage, cluster)) and outage.how in (KILLED, MISSED):
                sure = (
                    _sure(node, outage, cluster)
                    if outage.how == MISSED
                    else "probable"
                    if _begun(outage.life) and not _unclean(outage.life)
                    else "certain"
                )
                yield _finding(node, outage.life, cluster, told, sure, _seen(outage) if outage.how == MISSED else None, quote(outage.event))


def died_last(cluster: Cluster, partitions: Sequence[Mapping[str, Any]], findings: Mapping[str, Sequence[Statement]]) -> Iterator[Finding]:
    """Crashes of the last brokers: no controller was left to notice them."""
    told = _Told(partitions)
    headless = [(f.start, f) for f in findings.get("offline-partition", ()) if f.end is None and f.start is not None]
    for node in cluster.nodes.values():
        availability = cluster.availability(node.id)
        left = dict(reversed([(at, f) for at, f in headless if node.id in f.brokers]))
        if node.broker and availability.running is not None and (since := availability.unmissed(left)) is not None:
            words = f"{left[since].name}, whose last in-sync replica was on it, had no leader from {moment(since)} on"
            yield _finding(node, availability.running, cluster, told, "possible", words, left[since].evidence[:2])


def _sure(node: Node, outage: Outage, cluster: Cluster) -> str:
    """How sure the crash is. A controller that loses a broker it knew proves more than a later controller that does not find it, unless the
    files of the broker's log directories were collected: they would include the marker of a clean shutdown."""
    files = any(s.kind in _BESIDE_THE_MARKER for s in cluster.sources_of(node.id))
    return "probable" if outage.event.reason != "live" or files else "possible"


def _begun(life: BrokerRun) -> Event | None:
    """The first line of a shutdown whose end is not in the log: the shutdown may be complete, and its last lines lost."""
    return life.stopping or life.controlled if life.halted is None else None


def _unclean(life: BrokerRun) -> list[Event]:
    return [e for e in life.evidence if e.event == "unclean-start"]


def _left(outage: Outage, cluster: Cluster) -> bool:
    """The next event is of another cluster. A node that is only a controller prints nothing when it is stopped, so this shows no crash."""
    return outage.event.cluster != cluster.number


class _Told:
    """Absences and lost leaderships from the partitions, grouped by broker once for all crashes."""

    def __init__(self, partitions: Sequence[Mapping[str, Any]]) -> None:
        self._partitions = partitions

    @cached_property
    def _absences(self) -> Mapping[int, Sequence[tuple[str, Mapping[str, Any]]]]:
        """Absences from an ISR, sorted by their start."""
        found: dict[int, list[tuple[str, Mapping[str, Any]]]] = defaultdict(list)
        for p in self._partitions:
            for a in p["absences"] or ():
                if a["start"] is not None:
                    found[a["broker"]].append((f"{p['topic']}-{p['partition']}", a))
        for told in found.values():
            told.sort(key=_start)
        return found

    @cached_property
    def _losses(self) -> Mapping[int, Sequence[tuple[str, datetime]]]:
        """Partitions that had no leader after the broker led them, sorted by the time of the loss."""
        found: dict[int, list[tuple[str, datetime]]] = defaultdict(list)
        for p in self._partitions:
            for was, now in pairwise(p["steps"] or ()):
                if now["leader"] == -1 and now["at"] is not None:
                    found[was["leader"]].append((f"{p['topic']}-{p['partition']}", now["at"]))
        for told in found.values():
            told.sort(key=_LOST)
        return found

    def touched(self, broker: int, begin: datetime | None, end: datetime | None) -> tuple[list[str], datetime | None]:
        """Partitions whose ISR lost the broker between its last line and its restart, and the first time of those that it had not rejoined
        by then: a process may print nothing about itself for months before it crashes."""
        own = _within(self._absences.get(broker, ()), _start, begin, end)
        times = [a["start"] for _, a in own if a["times"] == 1 and _lasted(a, end)]
        return sorted({name for name, _ in own}), min(times, default=None)

    def headless(self, broker: int, begin: datetime | None, end: datetime | None) -> list[str]:
        """Partitions that had no leader after the broker led them."""
        return sorted({name for name, _ in _within(self._losses.get(broker, ()), _LOST, begin, end)})


def _start(told: tuple[str, Mapping[str, Any]]) -> datetime:
    began: datetime = told[1]["start"]
    return began


_LOST: Callable[[tuple[str, datetime]], datetime] = itemgetter(1)


def _within(told: Sequence[T], when: Callable[[T], datetime], begin: datetime | None, end: datetime | None) -> Sequence[T]:
    """The part of a list sorted by time between begin and end, with tolerances."""
    first = 0 if begin is None else bisect_left(told, begin - SLACK, key=when)
    return told[first : len(told) if end is None else bisect_right(told, end + DETECTION, key=when)]


def _lasted(absence: Mapping[str, Any], returned: datetime | None) -> bool:
    over = absence["end"]
    return over is None or (returned is not None and absence["start"] <= returned <= over)


def _missed(broker: int, last: datetime | None, end: datetime | None, cluster: Cluster) -> str:
    """A sentence with the time at which the controller noticed the crash, which is closer to it than the restart."""
    if last is None or end is None:
        return ""
    lost = next((e for e in cluster.availability(broker).between("lost", last, end) if e.writer != broker), None)
    return f" The controller noticed its absence at {moment(lost.at)}." if lost is not None else ""


def _seen(outage: Outage) -> str:
    found = (
        "did not find it among the live brokers when the controller was elected" if outage.event.reason == "live" else "noticed its absence"
    )
    return f"the controller {found} at {moment(outage.event.at)}"


def _finding(
    node: Node,
    life: BrokerRun,
    cluster: Cluster,
    partitions: _Told,
    confidence: str,
    missed: str | None,
    told: Sequence[Evidence],
) -> Finding:
    """`missed`: how other nodes noticed a crash that no later start shows."""
    last = life.last_seen.at if life.last_seen is not None else life.begin_at
    end = life.end_at if missed is None and life.end is not life.halted else None
    touched, gone = partitions.touched(node.id, last, end)
    headless = partitions.headless(node.id, last, end)
    unclean, begun = _unclean(life), _begun(life)
    count = len({*touched, *headless})
    began = f" Its shutdown had begun at {moment(begun.at)}." if begun is not None else ""
    back = (
        f"It restarted at {moment(end)}, and its log has no {'end of that shutdown' if begun is not None else 'shutdown'} before that."
        if end is not None
        else f"Its log ends there, and {missed or 'it did not restart'}."
    )
    why = (
        "It halted because its log directories failed, which skips the shutdown."
        if life.halted is not None
        else "Possible causes: it was killed during the shutdown, or its last lines are lost."
        if begun is not None
        else "Possible causes: a kill, the OOM killer, or a failed machine; Kafka prints nothing in these cases."
    )
    marker = " Its log directories had no marker of a clean shutdown." if unclean else ""
    return Finding(
        kind="broker-crash",
        severity="medium",
        confidence=confidence,
        brokers=(node.id,),
        start=last if gone is None or last is None else max(last, gone - DETECTION),  # a crash is noticed within this time
        end=end,
        summary=f"broker {node.id} {_ended(life)}"
        + (f", back at {moment(end)}" if end else "")
        + (f"; {counted(count)} affected" if count else ""),
        explanation=(
            f"Broker {node.id} was running at {moment(last)} (last line about its process).{began} {back}{_missed(node.id, last, end, cluster)}{marker} {why}"
            + (f" It dropped out of the ISR of {some(touched, 6)}." if touched else "")
            + (f" It left {some(headless, 6)} without a leader." if headless else "")
        ),
        next_steps=(f"See the log-dir-failure finding of broker {node.id} for the failed log directories.",)
        if life.halted is not None
        else (
            f"Search the system journal of broker {node.id} for the OOM killer, a kernel panic or a power loss at the time of the crash.",
            f"Look for hs_err_pid*.log in the working directory of broker {node.id}: it shows a JVM crash.",
        ),
        evidence=tuple(dict.fromkeys((*quote(life.halted), *told, *quote(begun, unclean, life.last_seen, life.begin)))),
    )


def _ended(life: BrokerRun) -> str:
    if life.halted is not None:
        return "halted because its log directories failed"
    return "crashed" if _begun(life) is None else "began to shut down and did not finish"


_BESIDE_THE_MARKER = frozenset({"hw-checkpoint", "recovery-point-checkpoint"})

RULE = Rule(
    kind="broker-crash",
    rank=290,
    level="medium",
    meaning="A broker crashed: it ended without a shutdown. The cause decides whether its unflushed records are lost.",
    benign=("A clean stop whose last lines were not collected, if the next start found the clean shutdown marker.",),
    cluster=detect,
    facts=(ABSENCES, STEPS),
    post_rule=died_last,
    many=Aggregation(),
    root="crashed",
)
