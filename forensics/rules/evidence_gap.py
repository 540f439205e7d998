"""evidence-gap: files that are missing or unreadable, and what they would show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Evidence, Finding, Rule, brokers_named, counted, moment, quote, some
from forensics.model.partition.floods import LEFT_OUT
from forensics.model.partition.log_coverage import log_coverage
from forensics.model.partition.timeline import PartitionTimeline

CORRUPT = frozenset({"checkpoint-corrupt", "epochs-not-rising"})


def judge_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    """Events that were left out because there were too many (forensics.model.partition.floods)."""
    gaps = timeline.of(LEFT_OUT)
    if gaps:
        first, last, count = gaps[0].at, gaps[-1].last_at, sum(e.count or 0 for e in gaps)
        yield Finding(
            kind="evidence-gap",
            severity="low",
            confidence="certain",
            start=first,
            end=last,
            summary=f"{timeline.name}: {count:,} events between {moment(first)} and {moment(last)} were left out as repetitive",
            explanation=(
                f"The evidence about {timeline.name} is too large for memory. {len(gaps)} periods with one leader in one leader epoch, and with no events "
                "other than ISR changes, refused writes and failed fetches, were judged by their first and last events; "
                f"{count:,} events in between were left out. The ISR in between is unknown, so reported durations and counts that include these "
                "periods are lower bounds."
            ),
            next_steps=(f"Analyze a shorter period of the logs of {timeline.name}, so that all events are judged.",),
            evidence=quote(gaps[:3]),
        )


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    yield from _unreadable(cluster)
    yield from _silent(cluster, partitions)
    yield from _premises(cluster, partitions)


def _premises(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Brokers whose logs were collected, but whose missing lines prove nothing."""
    named = {b for p in partitions for b in (*(p["replicas"] or ()), *(p["isr"] or ())) if b >= 0}
    for broker in sorted(named & cluster.collected):
        coverage = log_coverage(broker, cluster)
        if not coverage.reaches() or not coverage.reasons:
            continue
        reasons = "; ".join(coverage.reasons)
        yield Finding(
            kind="evidence-gap",
            severity="low",
            confidence="certain",
            brokers=(broker,),
            summary=f"a missing line in the logs of broker {broker} proves nothing: {coverage.reasons[0]}",
            explanation=(
                f"The logs of broker {broker} may lack lines: {reasons}. The existing lines are used. Events without a line, such as a "
                "restart or a truncation, may have happened anyway, so verdicts that depend on their absence are unknown."
            ),
            next_steps=(
                f"Collect the log files of broker {broker} from its disk, complete and unfiltered, and keep the loggers kafka.log, kafka.cluster, kafka.server "
                "and state.change.logger at INFO.",
            ),
            evidence=tuple(Evidence(s.path, None, None, f"{s.lines} lines") for s in cluster.sources_of(broker) if s.kind.endswith("-log"))[
                :3
            ],
        )


def _unreadable(cluster: Cluster) -> Iterator[Finding]:
    by_source: dict[str, list[Event]] = {}
    for event in cluster.of("problem"):
        if event.reason not in CORRUPT:
            by_source.setdefault(event.source, []).append(event)
    for source, events in sorted(by_source.items()):
        more = f" and {len(events) - 1} more" if len(events) > 1 else ""
        yield Finding(
            kind="evidence-gap",
            severity="low",
            confidence="certain",
            brokers=(events[0].writer,) if events[0].writer is not None else (),
            summary=f"{source}: {events[0].text}{more}",
            explanation=f"{source} could not be read completely: {'; '.join(e.text or '' for e in events[:5])}. The readable part is used.",
            next_steps=(f"Collect {source} again.",),
            evidence=quote(events[:3]),
        )


def _silent(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Brokers with replicas from which nothing was collected, or no log with lines about replicas."""
    named = {b for p in partitions for b in (*(p["replicas"] or ()), *(p["isr"] or ())) if b >= 0}
    absent = tuple(sorted(named - cluster.collected))
    mute = tuple(sorted(b for b in named & cluster.collected if not log_coverage(b, cluster).reaches()))
    for brokers, what in ((absent, "nothing"), (mute, "no server.log")):
        if brokers:
            yield _untold(brokers, what, cluster, partitions)


def _untold(brokers: tuple[int, ...], what: str, cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Finding:
    touched = [f"{p['topic']}-{p['partition']}" for p in partitions if set(brokers) & {*(p["replicas"] or ()), *(p["isr"] or ())}]
    names, hold = brokers_named(brokers), "holds" if len(brokers) == 1 else "hold"
    return Finding(
        kind="evidence-gap",
        severity="low",
        confidence="certain",
        brokers=brokers,
        summary=f"{what} was collected from {names}, which {hold} replicas of {counted(len(touched))}",
        explanation=(
            f"{what[0].upper() + what[1:]} was collected from {names}, which {hold} replicas ({some(touched)}). Their log end offsets and "
            "truncations are unknown, and losses that only their logs show are not detected."
        ),
        next_steps=(f"Collect server.log*, state-change.log*, the checkpoints and leader-epoch-checkpoint files of {names}.",),
        evidence=(
            Evidence(cluster.sources[0].path if cluster.sources else "", None, None, f"sources of nodes {sorted(cluster.collected)} only"),
        ),
    )


RULE = Rule(
    kind="evidence-gap",
    rank=510,
    level="low",
    meaning="Files are missing or unreadable; the report cannot use their content.",
    partition=judge_partition,
    cluster=detect,
    many=Aggregation(words=lambda first, group: "too many events for memory: repetitive ones were left out", whenever=True),
    of_evidence=True,
)
