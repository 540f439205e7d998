"""isr-flapping: a replica repeatedly leaves the ISR and comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import MAX_EVIDENCE, Finding, quote
from forensics.model.message import said, values
from forensics.model.partition.absences import EXPECTED, IN_ORDER, AbsenceInterval, intervals
from forensics.model.partition.floods import LEFT_OUT
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.times import grouped
from forensics.thresholds import FLAPPING_PERIOD, MIN_FLAPS


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    left = grouped(
        (interval.broker, interval)
        for interval in intervals(timeline, cluster)
        if interval.first > 0 and interval.cause not in EXPECTED | IN_ORDER
    )
    yield from (_finding(broker, often, timeline) for broker, own in sorted(left.items()) if (often := _often(own)))


def _often(own: Sequence[AbsenceInterval]) -> list[AbsenceInterval]:
    """The absences that follow each other fast enough for a pattern; an unknown start never separates two of them."""
    starts = [i.start for i in own]
    dense = {
        n
        for first in range(len(own) - MIN_FLAPS + 1)
        if (one := starts[first]) is None or (last := starts[first + MIN_FLAPS - 1]) is None or last - one <= FLAPPING_PERIOD
        for n in range(first, first + MIN_FLAPS)
    }
    return [own[n] for n in sorted(dense)]


def _finding(broker: int, own: Sequence[AbsenceInterval], timeline: PartitionTimeline) -> Finding:
    causes = Counter(i.cause for i in own)
    known = [i.start for i in own if i.start is not None]  # in the order of epochs, which a wrong clock may contradict
    start, end = min(known) if own[0].start is not None else None, max(known, default=None)
    return Finding(
        confidence="certain",
        brokers=(broker,),
        start=start,
        end=end,
        values=values(
            times=len(own),
            at_least=bool(timeline.of(LEFT_OUT)),
            span=(start, end),
            causes=tuple(said(f"isr-flapping/{cause}", times=times) for cause, times in causes.most_common()),
        ),
        evidence=quote(*(timeline.states[i.first].event for i in own[:MAX_EVIDENCE])),
    )
