"""log-divergence: replicas hold different records at the same offsets, for good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from forensics.model import Finding, Range, Rule, quote
from spark.cluster import Cluster
from spark.events import Event
from spark.replicas import Disk
from spark.timeline import PartitionTimeline

Batch = Mapping[str, Any]


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if "compact" in cluster.setting(timeline.topic, "cleanup.policy", "delete"):
        return
    parted: dict[tuple[int, int], list[tuple[Disk, Disk]]] = {}
    for one, other in combinations([d for _, d in sorted(timeline.disks.items()) if d.segments], 2):
        in_sync = timeline.final is not None and {one.broker, other.broker} <= set(timeline.final.isr)
        span = _parted(one, other, in_sync)
        if span is not None:
            parted.setdefault(span, []).append((one, other))
    for span, pairs in sorted(parted.items()):
        yield _finding(timeline, Range(*span), pairs)


def _batches(disk: Disk) -> dict[int, Batch]:
    return {b["base_offset"]: b for s in disk.segments for b in s.batches or ()}


def _parted(one: Disk, other: Disk, in_sync: bool) -> tuple[int, int] | None:
    """The span of batches at the same base offset with other content, if it is there for good.

    A tail that parts is cut when its replica rejoins. What lies below records both have in common, or on a replica that was
    taken into the ISR with it, will never be looked at again by truncation.
    """
    a, b = _batches(one), _batches(other)
    shared = sorted(a.keys() & b.keys())
    differ = [o for o in shared if a[o]["crc"] != b[o]["crc"]]
    if not differ:
        return None
    joined = [o for o in shared if o > differ[-1] and a[o]["crc"] == b[o]["crc"]]
    if not joined and not in_sync:
        return None
    first = max(
        (a[o]["last_offset"] + 1 for o in shared if o < differ[0] and a[o]["crc"] == b[o]["crc"]),
        default=min(differ[0], one.segments[0].offset or 0),
    )
    last = max(a[differ[-1]]["last_offset"], b[differ[-1]]["last_offset"]) + 1
    return min(first, differ[0]), joined[0] if joined else last


def _finding(timeline: PartitionTimeline, span: Range, pairs: list[tuple[Disk, Disk]]) -> Finding:
    brokers = tuple(sorted({d.broker for pair in pairs for d in pair}))
    leader = timeline.final.leader if timeline.final is not None else None
    odd = [b for b in brokers if all(b in (x.broker, y.broker) for x, y in pairs)]
    about = tuple(dict.fromkeys([*(odd if len(odd) == 1 else []), *brokers]))
    segments: list[Event] = [e for pair in pairs for d in pair if (e := d.end_event()) is not None]
    who = (
        f"broker {odd[0]} differs from the others"
        if len(odd) == 1 and len(brokers) > 2
        else f"brokers {', '.join(map(str, brokers))} differ"
    )
    return Finding(
        kind="log-divergence",
        severity="critical",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=about,
        leader_epoch=timeline.final.known_epoch if timeline.final else None,
        offsets=(span,),
        summary=f"{timeline.name}: {who} at offsets {span}",
        explanation=(
            f"The record batches of {timeline.name} at offsets {span} have other checksums on {', '.join(f'broker {b}' for b in brokers)}, although "
            f"these replicas count as in sync or agree again after them. A consumer reads other records there depending on which replica leads"
            f"{f' (broker {leader} leads now)' if leader is not None and leader >= 0 else ''}. Replication will not mend it: a follower truncates only "
            "above the point where leader epochs or high watermarks part, and both lie beyond. Before leader epochs (0.11) this is what a shorter "
            "log leading first leaves behind (KIP-101)."
        ),
        next_steps=(
            "Decide which replica is right, then delete the partition's directory on the others while they are stopped, so that they copy it anew.",
            "kafka-replica-verification shows the same while the cluster runs.",
        ),
        evidence=quote(segments),
    )


RULE = Rule(
    kind="log-divergence",
    level="critical",
    meaning="Replicas hold different records at the same offsets now, below offsets they agree on.",
    benign=(
        "A replica that has not rejoined yet: its tail is cut when it does.",
        "A compacted topic: the cleaner works on each replica by itself.",
    ),
    references=("KIP-101", "KIP-279", "KAFKA-6361"),
    partition=judge,
)
