"""planned-reassignment: a reassignment moved replicas."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Aggregation, Finding, Rule, quote
from forensics.model.partition.timeline import PartitionTimeline


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    assigned = [s for s in timeline.states if s.replicas]
    changes = [
        (a, b) for a, b in itertools.pairwise(assigned) if set(a.replicas or ()) != set(b.replicas or ()) or _order(a.replicas, b.replicas)
    ]
    marks = [s for s in timeline.states if s.adding or s.removing]
    lines = timeline.of("reassignment")
    if not changes and not marks and not lines:
        return
    states = [b for _, b in changes] + marks
    ended = [b for a, b in itertools.pairwise(timeline.states) if (a.adding or a.removing) and not (b.adding or b.removing)]
    told = () if cluster.mode == "kraft" and states else lines  # every KRaft controller replays the line, a restarted one much later
    times = [t for t in (*(s.at for s in (*states, *ended)), *(e.at for e in told)) if t is not None]
    before = assigned[0].replicas if assigned else None
    now = timeline.standing
    after = tuple(b for b in now.replicas if b not in now.removing)
    added = tuple(b for b in after or () if b not in (before or ()))
    yield Finding(
        kind="planned-reassignment",
        severity="info",
        confidence="certain",
        brokers=added or tuple(after or ()),
        start=min(times, default=None),
        end=max(times, default=None),
        summary=f"{timeline.name}: replicas {list(before or ())} -> {list(after or ())}",
        explanation=(
            f"A reassignment moved the replicas of {timeline.name} from {list(before or ())} to {list(after or ())}: it explains leader changes, "
            "a growing and shrinking ISR, and deleted directories at that time."
        ),
        evidence=quote(lines[:2], *(s.event for s in states[:2]), *(s.event for s in states[-1:]), lines[-1:]),
    )


def _order(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> bool:
    return bool(a and b) and a != b


RULE = Rule(
    kind="planned-reassignment",
    rank=340,
    level="info",
    meaning="A reassignment moved, added or removed replicas.",
    references=("KIP-455",),
    partition=detect,
    many=Aggregation(words=lambda first, group: "replicas moved by a reassignment"),
)
