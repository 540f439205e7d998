"""isr-flapping: the same replica leaves the ISR and comes back again and again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from forensics.absences import (
    CRASHED,
    EXPECTED,
    GONE,
    LOG_DIR,
    NOT_TOLD,
    RESTARTED,
    SLOW,
    STOPPED,
    STUCK,
    UNKNOWN,
    Interval,
    intervals,
)
from forensics.model import MAX_EVIDENCE, Finding, Rule, moment, quote
from spark.cluster import Cluster
from spark.timeline import PartitionTimeline

TIMES = 3
"""A restart or two take a replica out and back; three times is a pattern."""


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    left: dict[int, list[Interval]] = defaultdict(list)
    for interval in intervals(timeline, cluster):
        if interval.first > 0 and interval.cause not in EXPECTED and interval.cause not in (RESTARTED, STOPPED):
            left[interval.broker].append(interval)
    for broker, own in sorted(left.items()):
        if len(own) >= TIMES:
            yield _finding(broker, own, timeline)


def _finding(broker: int, own: Sequence[Interval], timeline: PartitionTimeline) -> Finding:
    causes = Counter(i.cause for i in own)
    return Finding(
        kind="isr-flapping",
        severity="medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(broker,),
        start=own[0].start,
        end=own[-1].start,
        summary=f"{timeline.name}: broker {broker} left the ISR {len(own)} times",
        explanation=f"{timeline.name}: {len(own)} times between {moment(own[0].start)} and {moment(own[-1].start)} "
        f"({', '.join(f'{_WORDS[cause]}: {count}' for cause, count in causes.most_common())}).",
        evidence=quote(*(timeline.states[i.first].event for i in own[:MAX_EVIDENCE])),
    )


_WORDS = {
    STUCK: "it fetched nothing",
    SLOW: "it fetched and did not catch up",
    CRASHED: "it had died",
    GONE: "it was gone",
    LOG_DIR: "its log directory had failed",
    NOT_TOLD: "stuck or slow, which is not told",
    UNKNOWN: "why is not in evidence",
}


def merge(findings: Sequence[Finding]) -> Iterator[Finding]:
    """One finding for each broker that flaps, over all its partitions."""
    by_broker: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_broker[finding.brokers[0]].append(finding)
    for broker, own in sorted(by_broker.items()):
        names = [f"{f.topic}-{f.partition}" for f in own]
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        starts, ends = [f.start for f in own if f.start], [f.end for f in own if f.end]
        yield replace(
            own[0],
            topic=own[0].topic if len(own) == 1 else None,
            partition=own[0].partition if len(own) == 1 else None,
            start=min(starts, default=None),
            end=max(ends, default=None),
            summary=f"broker {broker} keeps leaving the ISR and coming back, in {len(own)} partition{'s' if len(own) > 1 else ''}: {shown}",
            explanation=(
                f"Broker {broker} left the ISR at least {TIMES} times and came back each time while it was not being shut down. "
                + " ".join(f.explanation for f in own[:5])
                + " Each time it caught up soon after: a process, disk or network on that broker that stalls again and again."
            ),
            next_steps=(
                f"Look at broker {broker}: GC pauses, disk latency, network drops at these times.",
                "With min.insync.replicas near the replication factor, every such gap refuses writes.",
            ),
            evidence=tuple(dict.fromkeys(e for f in own for e in f.evidence))[:MAX_EVIDENCE],
        )


RULE = Rule(
    kind="isr-flapping",
    level="medium",
    meaning="One replica leaves the ISR and returns again and again: its broker stalls.",
    benign=("Restarts of the broker: each takes it out once.",),
    references=("KIP-16", "KAFKA-1407"),
    partition=judge,
    merge=merge,
)
