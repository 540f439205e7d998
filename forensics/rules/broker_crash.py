"""broker-crash: a broker process ended without a shutdown.

Here: also the words for the crash of any node. Not here: nodes that are only controllers (controller_crash).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster, Node
from forensics.model.coverage.log_coverage import CLOCK, COMPLETE, ORDER, would_show
from forensics.model.events import Event
from forensics.model.findings import Evidence, Finding, Statement, quote
from forensics.model.message import Message, said, values
from forensics.model.presence.availability import KILLED, PRESUMED_CRASHED, BrokerRun, Outage, shows_unclean_stop
from forensics.model.presence.crash_times import FACTS, CrashTime, CrashTimes
from forensics.model.presence.failed_starts import errors_of_starts
from forensics.model.presence.process_errors import ends_the_jvm, who
from forensics.model.times import Span, contains
from forensics.thresholds import CLOCK_TOLERANCE


@dataclass(frozen=True, slots=True)
class Crash:
    """`missing`: how other nodes noticed a crash that no later start shows; `memory`: what the JVM printed when it ended
    because it ran out of memory; `doubt`: why the lines of a shutdown may be missing."""

    node: int
    who: Message
    run: BrokerRun
    confidence: str
    evidence: Sequence[Evidence]
    time: CrashTime
    missing: Message | None = None
    memory: Event | None = None
    doubt: Message | None = None
    back: datetime | None = None
    """When the next process began, without starts that failed."""

    @property
    def end(self) -> datetime | None:
        """When the broker was restarted, if its own log shows that. Its clock may have been set back before: then, not before its last
        line."""
        return max(self.back, self.time.start or self.back) if self.missing is None and self.back is not None else None


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for crash in crashes([n for n in cluster.nodes.values() if n.broker], cluster, times):
        yield _finding(crash, times)


def crashes(nodes: Sequence[Node], cluster: Cluster, times: CrashTimes) -> Iterator[Crash]:
    for node in nodes:
        for outage in cluster.availability(node.id).outages:
            if (
                outage.run is not None
                and outage.how in (KILLED, PRESUMED_CRASHED)
                and id(outage.run.halted) not in errors_of_starts(cluster)
            ):
                yield _crash(node, outage, outage.run, cluster, times)


def _crash(node: Node, outage: Outage, run: BrokerRun, cluster: Cluster, times: CrashTimes) -> Crash:
    time, named, memory = times.of(outage, node.id), who(node.id, cluster), _out_of_memory(run, cluster)
    evidence = quote(outage.event, outage.noticed)
    if outage.how == PRESUMED_CRASHED:
        return Crash(node.id, named, run, _confidence_if_missed(node, outage, cluster), evidence, time, _missed(outage), memory)
    shown = memory is not None or run.halted is not None or bool(_unclean(run))
    doubt = None if shown else would_show(node.id, cluster, COMPLETE, ORDER, CLOCK).why_not
    lost = run.asked is not None and not shown  # a shutdown may be complete: the next start shows no recovery, and last lines may be lost
    confidence = "possible" if doubt or lost else "probable" if time.again is not None else "certain"
    return Crash(node.id, named, run, confidence, evidence, time, memory=memory, doubt=doubt, back=outage.until)


def _out_of_memory(run: BrokerRun, cluster: Cluster) -> Event | None:
    """The line of the JVM of this run that says that it ends because it ran out of memory."""
    last = run.followed or run.end
    span = Span(run.begin_at, last.at if last is not None else None)
    printed = (e for e in cluster.of("out-of-memory") if e.writer == run.node and ends_the_jvm(e))
    return next((e for e in printed if contains(span, e.at)), None)


def after_rules(
    cluster: Cluster, partitions: Sequence[Mapping[str, Any]], findings: Mapping[str, Sequence[Statement]]
) -> Iterator[Finding]:
    """Crashes of the last brokers: no controller was left to notice them."""
    times = CrashTimes(cluster, partitions)
    left_leaderless = [(f.start, f) for f in findings.get("offline-partition", ()) if f.end is None and f.start is not None]
    for node in cluster.nodes.values():
        availability = cluster.availability(node.id)
        left = dict(reversed([(at, f) for at, f in left_leaderless if node.id in f.brokers]))
        if node.broker and availability.running is not None and (since := availability.unreported_outage_start(left)) is not None:
            partition = left[since].name
            missing = said("broker-crash/last-replica", partition=partition, at=since)
            noticed = said("broker-crash/no-leader", partition=partition, at=since)
            time = CrashTime(cluster.last_own_line(node.id), since + CLOCK_TOLERANCE, noticed)
            crash = Crash(node.id, who(node.id, cluster), availability.running, "possible", left[since].evidence[:2], time, missing)
            yield _finding(crash, times)


def _confidence_if_missed(node: Node, outage: Outage, cluster: Cluster) -> str:
    """How sure the crash is. A controller that loses a broker it knew proves more than a later controller that does not find it, unless the
    files of the broker's log directories were collected: they would include the marker of a clean shutdown."""
    files = any(s.kind in _NEXT_TO_THE_MARKER for s in cluster.sources_of(node.id))
    return "probable" if outage.event.reason != "live" or files else "possible"


_NEXT_TO_THE_MARKER = frozenset({"hw-checkpoint", "recovery-point-checkpoint"})


def _unclean(run: BrokerRun) -> list[Event]:
    known = run.last_seen.cluster if run.last_seen is not None else None
    return [e for e in run.evidence if shows_unclean_stop(e) and known in (None, e.cluster)]


def _finding(crash: Crash, times: CrashTimes) -> Finding:
    dropped, left_leaderless = (of(crash.node, crash.time.start, crash.end) for of in (times.left, times.left_leaderless))
    effects = times.effects(crash.node, crash.time.start, crash.end)
    return finding(crash, tuple(effects), affected=len({*dropped, *left_leaderless}) or None)


def finding(crash: Crash, effects: tuple[Message, ...], affected: int | None = None) -> Finding:
    """The finding of one crash, which affected this number of partitions."""
    run, time, end, begun, later = crash.run, crash.time, crash.end, crash.run.asked, _later_start(crash)
    return Finding(
        confidence=crash.confidence,
        brokers=(crash.node,),
        start=time.start,
        start_latest=time.latest,
        end=end or _left_at(crash),
        message="broker-crash/found",
        values=values(
            who=crash.who,
            how=said(f"end/{_how(crash)}"),
            bracket=(time.start, time.latest) if time.latest is not None else None,
            back=end,
            affected=affected,
            last=time.start,
            wrote=time.wrote,
            again=time.again,
            begun=begun.at if begun is not None else None,
            later=later.at if end is None and later is not None else None,
            elsewhere=end is None and later is not None and _elsewhere(crash, later),
            missing=None if end is not None or later is not None else crash.missing or said("broker-crash/no-restart"),
            doubt_of_stop=crash.doubt,
            noticed_by=time.latest if time.noticed is not None else None,
            noticed=time.noticed,
            unclean=bool(_unclean(run)),
            cause=_cause(crash),
            effects=effects,
            steps=_steps(crash),
        ),
        evidence=tuple(
            dict.fromkeys((*quote(run.halted, crash.memory), *crash.evidence, *quote(begun, _unclean(run), run.last_seen, run.begin)))
        ),
    )


def _later_start(crash: Crash) -> Event | None:
    """The start that shows the crash, unless it is a return to this cluster."""
    run = crash.run
    return run.end if crash.missing is None and run.end is not run.halted else None


def _left_at(crash: Crash) -> datetime | None:
    """When the broker was started in another cluster."""
    start = _later_start(crash)
    return start.at if start is not None and _elsewhere(crash, start) else None


def _elsewhere(crash: Crash, start: Event) -> bool:
    known = crash.run.last_seen.cluster if crash.run.last_seen is not None else None
    return None not in (known, start.cluster) and known != start.cluster


def _missed(outage: Outage) -> Message:
    return said(f"broker-crash/{'not-found' if outage.event.reason == 'live' else 'absence-noticed'}", at=outage.event.at)


def _how(crash: Crash) -> str:
    """The name of the phrase that says how the process ended, or began to."""
    return "out-of-memory" if crash.memory is not None and crash.run.halted is None else crash.run.ending


def _cause(crash: Crash) -> Message:
    halted = crash.run.halted
    fault = {"fault": halted.value, "thrown": halted.key} if halted is not None else {}
    return said(f"broker-crash/cause-{_how(crash)}", who=crash.who, **fault)


def _steps(crash: Crash) -> tuple[Message, ...]:
    how = _how(crash)
    steps = ("search-journal", "look-for-jvm-crash") if how in ("crashed", "did-not-finish") else (f"see-{how}",)
    return tuple(said(f"broker-crash/{step}", who=crash.who) for step in steps)


READS = FACTS
