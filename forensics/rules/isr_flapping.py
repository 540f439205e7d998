"""isr-flapping: a replica repeatedly leaves the ISR and comes back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import MAX_EVIDENCE, Finding, Statement, period, quote, raw
from forensics.model.partition.absences import (
    CRASHED,
    EXPECTED,
    GONE,
    LOG_DIR,
    NOT_STATED,
    RESTARTED,
    SLOW,
    STOPPED,
    STUCK,
    UNKNOWN,
    Interval,
    intervals,
)
from forensics.model.partition.floods import LEFT_OUT
from forensics.model.partition.timeline import PartitionTimeline
from forensics.thresholds import FLAPPING_PERIOD, MIN_FLAPS


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    left: dict[int, list[Interval]] = defaultdict(list)
    for interval in intervals(timeline, cluster):
        if interval.first > 0 and interval.cause not in EXPECTED and interval.cause not in (RESTARTED, STOPPED):
            left[interval.broker].append(interval)
    for broker, own in sorted(left.items()):
        if often := _often(own):
            yield _finding(broker, often, timeline)


def _often(own: Sequence[Interval]) -> list[Interval]:
    """The absences that follow each other fast enough for a pattern; an unknown start never separates two of them."""
    starts = [i.start for i in own]
    dense = {
        n
        for first in range(len(own) - MIN_FLAPS + 1)
        if (one := starts[first]) is None or (last := starts[first + MIN_FLAPS - 1]) is None or last - one <= FLAPPING_PERIOD
        for n in range(first, first + MIN_FLAPS)
    }
    return [own[n] for n in sorted(dense)]


def _finding(broker: int, own: Sequence[Interval], timeline: PartitionTimeline) -> Finding:
    causes = Counter(i.cause for i in own)
    times = f"{'at least ' if timeline.of(LEFT_OUT) else ''}{len(own):,} times"
    return raw(
        kind="isr-flapping",
        severity="medium",
        confidence="certain",
        brokers=(broker,),
        start=own[0].start,
        end=own[-1].start,
        summary=f"{timeline.name}: broker {broker} left the ISR {times} and came back",
        explanation=(
            f"Broker {broker} left the ISR of {timeline.name} {times} between {period(own[0].start, own[-1].start, 'and')} "
            f"({', '.join(f'{_WORDS[cause]}: {count}' for cause, count in causes.most_common())}) and came back each time, without a "
            "shutdown. Each time it caught up soon after: the process, the disk or the network of that broker stalls repeatedly."
        ),
        next_steps=(
            f"Check broker {broker} at the times when it left the ISR: GC pauses, disk latency, network drops.",
            f"Compare min.insync.replicas of {timeline.name} with its replication factor: if they are close, every such gap refuses writes.",
        ),
        evidence=quote(*(timeline.states[i.first].event for i in own[:MAX_EVIDENCE])),
    )


_WORDS = {
    STUCK: "it fetched nothing",
    SLOW: "it fetched and did not catch up",
    CRASHED: "it had crashed",
    GONE: "it was offline",
    LOG_DIR: "its log directory had failed",
    NOT_STATED: "stuck or slow, unknown which",
    UNKNOWN: "unknown cause",
}


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    return f"broker {first.brokers[0]} repeatedly left the ISR and came back"
