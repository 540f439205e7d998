"""isr-flapping: the same replica leaves the ISR and comes back again and again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

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
from forensics.model import MAX_EVIDENCE, Finding, Many, Rule, moment, quote
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
        summary=f"{timeline.name}: broker {broker} left the ISR {len(own)} times and came back",
        explanation=(
            f"Broker {broker} left the ISR of {timeline.name} {len(own)} times between {moment(own[0].start)} and {moment(own[-1].start)} "
            f"({', '.join(f'{_WORDS[cause]}: {count}' for cause, count in causes.most_common())}) and came back each time while it was not being shut "
            "down. Each time it caught up soon after: a process, disk or network on that broker that stalls again and again."
        ),
        next_steps=(
            f"Look at broker {broker}: GC pauses, disk latency, network drops at these times.",
            "With min.insync.replicas near the replication factor, every such gap refuses writes.",
        ),
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


def _many(group: Sequence[Finding]) -> str:
    return f"broker {group[0].brokers[0]} keeps leaving the ISR and coming back"


RULE = Rule(
    kind="isr-flapping",
    level="medium",
    meaning="One replica leaves the ISR and returns again and again: its broker stalls.",
    benign=("Restarts of the broker: each takes it out once.",),
    references=("KIP-16", "KAFKA-1407"),
    partition=judge,
    many=Many(words=_many, key=lambda f: f.brokers, whenever=True),
)
