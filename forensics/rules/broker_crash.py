"""broker-crash: a broker process ended without a shutdown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Crash:
    """`noticed`: a clause that says how other nodes noticed a crash that no later start shows."""

    node: int
    run: BrokerRun
    confidence: str
    evidence: Sequence[Evidence]
    noticed: str | None = None

    @property
    def last(self) -> datetime | None:
        return self.run.last_seen.at if self.run.last_seen is not None else self.run.begin_at

    @property
    def end(self) -> datetime | None:
        """When the broker was restarted, if its own log shows that."""
        return self.run.end_at if self.noticed is None and self.run.end is not self.run.halted else None


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    effects = _Effects(partitions)
    for node in cluster.nodes.values():
        for outage in cluster.availability(node.id).outages:
            if node.broker and outage.life is not None and outage.how in (KILLED, MISSED):
                yield _finding(_crash(node, outage, outage.life, cluster), effects, cluster)


def _crash(node: Node, outage: Outage, run: BrokerRun, cluster: Cluster) -> _Crash:
    if outage.how == MISSED:
        return _Crash(node.id, run, _confidence_if_missed(node, outage, cluster), quote(outage.event), _noticed_words(outage))
    certain = _unclean(run) or not _begun(run)
    return _Crash(node.id, run, "certain" if certain else "probable", quote(outage.event))


def died_last(cluster: Cluster, partitions: Sequence[Mapping[str, Any]], findings: Mapping[str, Sequence[Statement]]) -> Iterator[Finding]:
    """Crashes of the last brokers: no controller was left to notice them."""
    effects = _Effects(partitions)
    headless = [(f.start, f) for f in findings.get("offline-partition", ()) if f.end is None and f.start is not None]
    for node in cluster.nodes.values():
        availability = cluster.availability(node.id)
        left = dict(reversed([(at, f) for at, f in headless if node.id in f.brokers]))
        if node.broker and availability.running is not None and (since := availability.unmissed(left)) is not None:
            noticed = f"{left[since].name}, whose last in-sync replica was on it, had no leader from {moment(since)} on"
            yield _finding(_Crash(node.id, availability.running, "possible", left[since].evidence[:2], noticed), effects, cluster)


def _confidence_if_missed(node: Node, outage: Outage, cluster: Cluster) -> str:
    """How sure the crash is. A controller that loses a broker it knew proves more than a later controller that does not find it, unless the
    files of the broker's log directories were collected: they would include the marker of a clean shutdown."""
    files = any(s.kind in _NEXT_TO_THE_MARKER for s in cluster.sources_of(node.id))
    return "probable" if outage.event.reason != "live" or files else "possible"


_NEXT_TO_THE_MARKER = frozenset({"hw-checkpoint", "recovery-point-checkpoint"})


def _begun(life: BrokerRun) -> Event | None:
    """The first line of a shutdown whose end is not in the log: the shutdown may be complete, and its last lines lost."""
    return life.stopping or life.controlled if life.halted is None else None


def _unclean(life: BrokerRun) -> list[Event]:
    return [e for e in life.evidence if e.event == "unclean-start"]


class _Effects:
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
        for absences in found.values():
            absences.sort(key=_start)
        return found

    @cached_property
    def _losses(self) -> Mapping[int, Sequence[tuple[str, datetime]]]:
        """Partitions that had no leader after the broker led them, sorted by the time of the loss."""
        found: dict[int, list[tuple[str, datetime]]] = defaultdict(list)
        for p in self._partitions:
            for was, now in pairwise(p["steps"] or ()):
                if now["leader"] == -1 and now["at"] is not None:
                    found[was["leader"]].append((f"{p['topic']}-{p['partition']}", now["at"]))
        for losses in found.values():
            losses.sort(key=_LOST)
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


def _start(absence: tuple[str, Mapping[str, Any]]) -> datetime:
    start: datetime = absence[1]["start"]
    return start


_LOST: Callable[[tuple[str, datetime]], datetime] = itemgetter(1)


def _within(items: Sequence[T], when: Callable[[T], datetime], begin: datetime | None, end: datetime | None) -> Sequence[T]:
    """The part of a list sorted by time between begin and end, with tolerances."""
    first = 0 if begin is None else bisect_left(items, begin - SLACK, key=when)
    return items[first : len(items) if end is None else bisect_right(items, end + DETECTION, key=when)]


def _lasted(absence: Mapping[str, Any], returned: datetime | None) -> bool:
    over = absence["end"]
    return over is None or (returned is not None and absence["start"] <= returned <= over)


def _finding(crash: _Crash, effects: _Effects, cluster: Cluster) -> Finding:
    run, last, end = crash.run, crash.last, crash.end
    dropped, gone = effects.touched(crash.node, last, end)
    headless = effects.headless(crash.node, last, end)
    count = len({*dropped, *headless})
    back = f", back at {moment(end)}" if end else ""
    affected = f"; {counted(count)} affected" if count else ""
    return Finding(
        kind="broker-crash",
        severity="medium",
        confidence=crash.confidence,
        brokers=(crash.node,),
        start=last if gone is None or last is None else max(last, gone - DETECTION),  # a crash is noticed within this time
        end=end,
        summary=f"broker {crash.node} {_ended(run)}{back}{affected}",
        explanation=" ".join(_sentences(crash, dropped, headless, cluster)),
        next_steps=_steps(crash),
        evidence=tuple(dict.fromkeys((*quote(run.halted), *crash.evidence, *quote(_begun(run), _unclean(run), run.last_seen, run.begin)))),
    )


def _sentences(crash: _Crash, dropped: Sequence[str], headless: Sequence[str], cluster: Cluster) -> Iterator[str]:
    who, begun = f"broker {crash.node}", _begun(crash.run)
    yield f"Broker {crash.node} was running at {moment(crash.last)} (last line about its process)."
    if begun is not None:
        yield f"The shutdown of {who} had begun at {moment(begun.at)}."
    if crash.end is not None:
        ended = "end of that shutdown" if begun is not None else "shutdown"
        yield f"Broker {crash.node} restarted at {moment(crash.end)}, and its log has no {ended} before that."
    else:
        yield f"The log of {who} ends there, and {crash.noticed or 'the broker did not restart'}."
    if crash.last is not None and crash.end is not None and (noticed := _controller_noticed(crash.node, crash.last, crash.end, cluster)):
        yield f"The controller noticed the absence of {who} at {moment(noticed)}."  # closer to the crash than the restart
    if _unclean(crash.run):
        yield f"The log directories of {who} had no marker of a clean shutdown."
    yield _cause(crash)
    if dropped:
        yield f"Broker {crash.node} dropped out of the ISR of {some(dropped, 6)}."
    if headless:
        yield f"Broker {crash.node} left {some(headless, 6)} without a leader."


def _controller_noticed(broker: int, last: datetime, end: datetime, cluster: Cluster) -> datetime | None:
    return next((e.at for e in cluster.availability(broker).between("lost", last, end) if e.writer != broker), None)


def _noticed_words(outage: Outage) -> str:
    how = (
        "did not find it among the live brokers when the controller was elected" if outage.event.reason == "live" else "noticed its absence"
    )
    return f"the controller {how} at {moment(outage.event.at)}"


def _cause(crash: _Crash) -> str:
    if crash.run.halted is not None:
        return f"Broker {crash.node} halted because its log directories failed, which skips the shutdown."
    if _begun(crash.run) is not None:
        return f"Possible causes: broker {crash.node} was killed during the shutdown, or its last lines are lost."
    return "Possible causes: a kill, the OOM killer, or a failed machine; Kafka prints nothing in these cases."


def _steps(crash: _Crash) -> tuple[str, ...]:
    if crash.run.halted is not None:
        return (f"See the log-dir-failure finding of broker {crash.node} for the failed log directories.",)
    return (
        f"Search the system journal of broker {crash.node} for the OOM killer, a kernel panic or a power loss at the time of the crash.",
        f"Look for hs_err_pid*.log in the working directory of broker {crash.node}: it shows a JVM crash.",
    )


def _ended(life: BrokerRun) -> str:
    if life.halted is not None:
        return "halted because its log directories failed"
    return "crashed" if _begun(life) is None else "began to shut down and did not finish"


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
