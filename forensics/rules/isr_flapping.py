"""isr-flapping: the same replica leaves the ISR and comes back again and again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from forensics.model import MAX_EVIDENCE, Finding, Rule, moment, quote
from forensics.windows import absence
from spark.cluster import Cluster
from spark.timeline import PartitionTimeline, State

TIMES = 3
"""A restart or two take a replica out and back; three times is a pattern."""


def exits(timeline: PartitionTimeline) -> dict[int, list[State]]:
    """For each broker the states at which it left the ISR without leaving the assignment."""
    left: dict[int, list[State]] = defaultdict(list)
    for before, after in zip(timeline.states, timeline.states[1:], strict=False):
        for broker in before.isr:
            if broker not in after.isr and (after.replicas is None or broker in after.replicas):
                left[broker].append(after)
    return left


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for broker, states in sorted(exits(timeline).items()):
        running = [s for s in states if absence(broker, s.at, timeline, cluster).why not in ("stop", "reassignment")]
        if len(running) >= TIMES:
            yield Finding(
                kind="isr-flapping",
                severity="medium",
                confidence="certain",
                topic=timeline.topic,
                partition=timeline.partition,
                brokers=(broker,),
                start=running[0].at,
                end=running[-1].at,
                summary=f"{timeline.name}: broker {broker} left the ISR {len(running)} times",
                explanation=f"{timeline.name}: {len(running)} times between {moment(running[0].at)} and {moment(running[-1].at)}.",
                evidence=quote(*(s.event for s in running[:MAX_EVIDENCE])),
            )


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
                + " It fell behind for replica.lag.time.max.ms, or stopped fetching, and then caught up: a stalled process, disk or network on that broker."
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
