"""broker-crash: a broker process ended without a shutdown.

Here: also the words for the crash of any node. Not here: nodes that are only controllers (controller_crash).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.model.cluster.availability import CLOCK_TOLERANCE, HALTING, KILLED, MISSED, BrokerRun, Outage, shows_unclean_stop
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.cluster.process_errors import ends_the_jvm, named_node
from forensics.model.events import Event
from forensics.model.findings import Evidence, Finding, Statement, began, capital, counted, moment, quote, raw
from forensics.model.partition.crash_times import FACTS, CrashTime, CrashTimes
from forensics.model.partition.log_coverage import incomplete


@dataclass(frozen=True, slots=True)
class Crash:
    """`missing`: a clause that says how other nodes noticed a crash that no later start shows; `memory`: what the JVM printed when it ended
    because it ran out of memory; `doubt`: why the lines of a shutdown may be missing."""

    node: int
    who: str
    """'broker 1'."""
    run: BrokerRun
    confidence: str
    evidence: Sequence[Evidence]
    time: CrashTime
    missing: str | None = None
    memory: Event | None = None
    doubt: str | None = None
    back: datetime | None = None
    """When the next process began, without starts that failed."""

    @property
    def end(self) -> datetime | None:
        """When the broker was restarted, if its own log shows that."""
        return self.back if self.missing is None else None


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for crash in crashes([n for n in cluster.nodes.values() if n.broker], cluster, times):
        yield _finding(crash, times)


def crashes(nodes: Sequence[Node], cluster: Cluster, times: CrashTimes) -> Iterator[Crash]:
    """The crashes of these nodes."""
    for node in nodes:
        for outage in cluster.availability(node.id).outages:
            if outage.life is not None and outage.how in (KILLED, MISSED):
                yield _crash(node, outage, outage.life, cluster, times)


def _crash(node: Node, outage: Outage, run: BrokerRun, cluster: Cluster, times: CrashTimes) -> Crash:
    time, who, memory = times.of(outage, node.id), named_node(node.id, cluster), _out_of_memory(run, cluster)
    evidence = quote(outage.event, outage.noticed)
    if outage.how == MISSED:
        return Crash(node.id, who, run, _confidence_if_missed(node, outage, cluster), evidence, time, _missed(outage), memory)
    shown = memory is not None or run.halted is not None or bool(_unclean(run))
    doubt = None if shown else incomplete(node.id, cluster)
    confidence = "possible" if doubt else "certain" if shown or not _begun(run) else "probable"
    return Crash(node.id, who, run, confidence, evidence, time, memory=memory, doubt=doubt, back=outage.until)


def _out_of_memory(run: BrokerRun, cluster: Cluster) -> Event | None:
    """The line of the JVM of this run that says that it ends because it ran out of memory."""
    begin = run.begin.at if run.begin is not None else None
    last = run.followed or run.end
    end = last.at if last is not None else None
    said = (e for e in cluster.of("out-of-memory") if e.writer == run.node and ends_the_jvm(e))
    return next((e for e in said if e.at is not None and (begin is None or e.at >= begin) and (end is None or e.at <= end)), None)


def after_rules(
    cluster: Cluster, partitions: Sequence[Mapping[str, Any]], findings: Mapping[str, Sequence[Statement]]
) -> Iterator[Finding]:
    """Crashes of the last brokers: no controller was left to notice them."""
    times = CrashTimes(cluster, partitions)
    headless = [(f.start, f) for f in findings.get("offline-partition", ()) if f.end is None and f.start is not None]
    for node in cluster.nodes.values():
        availability = cluster.availability(node.id)
        left = dict(reversed([(at, f) for at, f in headless if node.id in f.brokers]))
        if node.broker and availability.running is not None and (since := availability.unmissed(left)) is not None:
            missing = f"{left[since].name}, whose last in-sync replica was on it, had no leader from {moment(since)} on"
            time = CrashTime(
                cluster.last_own_line(node.id), since + CLOCK_TOLERANCE, f"{left[since].name} had no leader from {moment(since)} on"
            )
            crash = Crash(node.id, f"broker {node.id}", availability.running, "possible", left[since].evidence[:2], time, missing)
            yield _finding(crash, times)


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
    known = life.last_seen.cluster if life.last_seen is not None else None
    return [e for e in life.evidence if shows_unclean_stop(e) and known in (None, e.cluster)]


def _finding(crash: Crash, times: CrashTimes) -> Finding:
    dropped, headless = (of(crash.node, crash.time.start, crash.end) for of in (times.left, times.headless))
    count = len({*dropped, *headless})
    affected = f"; {counted(count)} affected" if count else ""
    return finding(crash, "broker-crash", affected, times.effects(crash.node, crash.time.start, crash.end))


def finding(crash: Crash, kind: str, affected: str, effects: Iterable[str]) -> Finding:
    """The finding of one crash. `affected` ends the summary, `effects` the explanation."""
    run, time, end = crash.run, crash.time, crash.end
    between = f" {began(time.start, time.latest)}" if time.latest is not None else ""
    back = f", back at {moment(end)}" if end else ""
    return raw(
        kind=kind,
        severity="medium",
        confidence=crash.confidence,
        brokers=(crash.node,),
        start=time.start,
        start_latest=time.latest,
        end=end or _left_at(crash),
        summary=f"{crash.who} {_ended(crash)}{between}{back}{affected}",
        explanation=" ".join((*_sentences(crash), *effects)),
        next_steps=_steps(crash),
        evidence=tuple(
            dict.fromkeys((*quote(run.halted, crash.memory), *crash.evidence, *quote(_begun(run), _unclean(run), run.last_seen, run.begin)))
        ),
    )


def _sentences(crash: Crash) -> Iterator[str]:
    who, begun, time = crash.who, _begun(crash.run), crash.time
    named = capital(who)
    if time.wrote:
        yield f"The last record that {who} wrote to the metadata log is from {moment(time.start)}."
    else:
        yield f"The last line in the logs of {who} is from {moment(time.start)}."
    if begun is not None:
        yield f"The shutdown of {who} had begun at {moment(begun.at)}."
    if crash.end is not None:
        ended = "end of that shutdown" if begun is not None else "shutdown"
        yield f"{named} restarted at {moment(crash.end)}, and its log has no {ended} before that."
    elif (later := _later_start(crash)) is not None:
        yield f"{named} was started again at {moment(later.at)}{_fate(crash, later)}, and its log has no shutdown before that."
    else:
        yield f"Nothing follows in its logs, and {crash.missing or 'the process did not restart'}."
    if crash.doubt is not None:
        yield f"The lines of a clean shutdown may be missing: {crash.doubt}."
    if time.latest is not None and time.noticed:
        yield f"{named} had ended by {moment(time.latest)}: {time.noticed}."
    if _unclean(crash.run):
        yield f"The log directories of {who} had no marker of a clean shutdown."
    yield _cause(crash)


def _later_start(crash: Crash) -> Event | None:
    """The start that shows the crash, if it is no return to this cluster."""
    run = crash.run
    return run.end if crash.missing is None and run.end is not run.halted else None


def _left_at(crash: Crash) -> datetime | None:
    """When the broker was started in another cluster."""
    start = _later_start(crash)
    return start.at if start is not None and _elsewhere(crash, start) else None


def _elsewhere(crash: Crash, start: Event) -> bool:
    known = crash.run.last_seen.cluster if crash.run.last_seen is not None else None
    return None not in (known, start.cluster) and known != start.cluster


def _fate(crash: Crash, start: Event) -> str:
    return ", in another cluster" if _elsewhere(crash, start) else " and did not come up"


def _missed(outage: Outage) -> str:
    how = (
        "did not find it among the live brokers when the controller was elected" if outage.event.reason == "live" else "noticed its absence"
    )
    return f"the controller {how} at {moment(outage.event.at)}"


def _cause(crash: Crash) -> str:
    if (halted := crash.run.halted) is not None:
        why = (
            "its log directories failed"
            if halted.reason in HALTING
            else f"of a fatal fault ({halted.value}{f': {halted.key}' if halted.key else ''})"
        )
        return f"{capital(crash.who)} halted because {why}, which skips the shutdown."
    if crash.memory is not None:
        return f"The JVM of {crash.who} ran out of memory and ended, which skips the shutdown."
    if _begun(crash.run) is not None:
        return f"Possible causes: {crash.who} was killed during the shutdown, or its last lines are lost."
    return "Possible causes: a kill, the OOM killer, or a failed machine; Kafka prints nothing in these cases."


def _steps(crash: Crash) -> tuple[str, ...]:
    if (halted := crash.run.halted) is not None and halted.reason not in HALTING:
        return (f"See the fatal-error finding of {crash.who} for the fault that ended {crash.who}.",)
    if halted is not None:
        return (f"See the log-dir-failure finding of {crash.who} for the failed log directories.",)
    if crash.memory is not None:
        return (f"See the out-of-memory finding of {crash.who} for the memory that ran out.",)
    return (
        f"Search the system journal of {crash.who} for the OOM killer, a kernel panic or a power loss at the time of the crash.",
        f"Look for hs_err_pid*.log in the working directory of {crash.who}: it shows a JVM crash.",
    )


def _ended(crash: Crash) -> str:
    life = crash.run
    if life.halted is not None:
        return f"halted because {'its log directories failed' if life.halted.reason in HALTING else 'of a fatal fault'}"
    if crash.memory is not None:
        return "crashed because it ran out of memory"
    return "crashed" if _begun(life) is None else "began to shut down and did not finish"


READS = FACTS
