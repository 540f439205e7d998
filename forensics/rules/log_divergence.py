"""log-divergence: replicas hold different records at the same offsets, for good."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, takewhile

from forensics.model import Finding, Many, Range, Rule, moment, quote
from forensics.partition.elections import elections
from forensics.partition.inheritance import inherited
from forensics.partition.lineage import Parting, partings, same_batches
from spark.cluster.facts import Cluster
from spark.events import Event
from spark.partition.replicas import Disk
from spark.partition.timeline import PartitionTimeline


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    parted: dict[tuple[int, int, bool], list[tuple[Disk, Disk]]] = {}
    for one, other in combinations([d for _, d in sorted(timeline.disks.items()) if d.segments], 2):
        in_sync = _in_sync({one.broker, other.broker}, timeline)
        found = _parted(one, other, in_sync, timeline.cleaned)
        if found is not None:
            parted.setdefault(found, []).append((one, other))
    for (start, end, proven), pairs in sorted(parted.items()):
        yield _finding(timeline, cluster, Range(start, end), pairs, proven)
    if not parted and not inherited(timeline, cluster):  # in a log that was brought from another cluster that cluster's epochs stand, too
        yield from (_by_epochs(timeline, p) for p in partings(timeline) if _stays(p, timeline))


def _in_sync(brokers: set[int], timeline: PartitionTimeline) -> bool:
    """They are in sync, and the disks were not saved before they came to be: then what parts would have been cut since."""
    together = list(takewhile(lambda s: brokers <= {*s.isr}, reversed(timeline.told)))
    if not brokers <= {*timeline.standing.isr} or not together or (since := together[-1].at) is None:
        return brokers <= {*timeline.standing.isr}
    return all((saved := timeline.disks[b].as_of) is None or saved >= since for b in brokers)


def _stays(parting: Parting, timeline: PartitionTimeline) -> bool:
    """Both count as in sync, and both call the offset committed: no truncation will come by it. Where both have batches, those were
    compared, and a difference of epochs alone is a damage of the history."""
    pair = (parting.one, parting.other)
    if not _in_sync({x.broker for x in pair}, timeline) or all(x.source == "batches" for x in pair):
        return False
    marks = [timeline.disks[x.broker].high_watermark for x in pair]
    return all(m is not None and m.offset is not None and m.offset > parting.offset for m in marks)


def _parted(one: Disk, other: Disk, in_sync: bool, cleaned: bool | None) -> tuple[int, int, bool] | None:
    """The span of batches at the same base offset with other content, if it is there for good, and whether that is proven: the log cleaner
    may have made the difference where the topic's cleanup.policy is not in evidence and only decompression would tell.

    A tail that parts is cut when its replica rejoins. What lies below records both have in common, or on a replica that was
    taken into the ISR with it, will never be looked at again by truncation.
    """
    same = same_batches(one, other, cleaned)
    proven = [o for o, alike in same.items() if alike is False]
    differ = proven or [o for o, alike in same.items() if alike is None and cleaned is None]
    if not differ:
        return None
    joined = [o for o in same if o > differ[-1] and same[o]]
    if not joined and not in_sync:
        return None
    ends = [{b["base_offset"]: b["last_offset"] + 1 for b in d.batches()} for d in (one, other)]
    first = max((ends[0][o] for o in same if o < differ[0] and same[o]), default=min(differ[0], one.segments[0].offset or 0))
    last = max(end[differ[-1]] for end in ends)
    return min(first, differ[0]), joined[0] if joined else last, bool(proven)


def _by_epochs(timeline: PartitionTimeline, parting: Parting) -> Finding:
    one, other = parting.one, parting.other
    right = f" The partition's own leaders say what broker {parting.right} has." if parting.right is not None else ""
    return Finding(
        kind="log-divergence",
        severity="high",
        confidence="probable",
        brokers=(one.broker, other.broker),
        leader_epoch=timeline.standing.leader_epoch,
        offsets=(Range(parting.offset, min(one.end, other.end)),),
        summary=f"{timeline.name}: by their leader epochs brokers {one.broker} and {other.broker} differ from offset {parting.offset} on",
        explanation=(
            f"At offset {parting.offset} of {timeline.name} the epoch history of broker {one.broker} has leader epoch {one.epoch_at(parting.offset)}, that of "
            f"broker {other.broker} epoch {other.epoch_at(parting.offset)}, although both are in sync and both high watermarks lie above: either they hold "
            f"different records there (KIP-279), or one of the histories is damaged.{right}"
        ),
        next_steps=("Collect the segments of both replicas: their record batches decide which of the two it is.",),
        evidence=quote(one.evidence, other.evidence),
    )


def _case(timeline: PartitionTimeline, cluster: Cluster, span: Range, brokers: tuple[int, ...]) -> str:
    """How it came about, as far as the evidence tells; KIP-101 has two cases in which replicas without leader epochs go wrong."""
    wrote = [t for t in timeline.terms if t.start_offset is not None and t.start_offset <= span.start]
    unclean = next((e for e in elections(timeline, cluster) if e.unclean and e.term in wrote[-1:]), None)
    if timeline.has_epochs:
        return (
            "With leader epochs (0.11 and later) this takes a fast succession of leaders before 2.0 (KIP-279), or a damaged epoch history."
        )
    if unclean is not None:
        return (
            f"Broker {unclean.term.leader}, elected from outside the ISR at {moment(unclean.term.at)} with a log that ended at "
            f"{unclean.term.start_offset}, wrote other records at these offsets, and a replica that had the old ones came back with a high watermark no "
            "lower than theirs: without leader epochs it cut nothing."
        )
    loads = [timeline.replicas[b].loads if b in timeline.replicas else [] for b in brokers]
    if all(loads) and any(load.unclean for own in loads for load in own):
        return (
            "This is the second case of KIP-101, possible before leader epochs (0.11): all replicas had stopped, the one with the shorter log came "
            "back first and led, new records took the same offsets, and the other's high watermark was not higher, so that nothing was cut."
        )
    return "Before leader epochs (0.11) this is what a shorter log leading first leaves behind (KIP-101)."


_IF_COMPACTED = (
    "Unless the topic is compacted, which the evidence does not tell: the log cleaner writes batches anew, each replica's by itself. "
)


def _finding(timeline: PartitionTimeline, cluster: Cluster, span: Range, pairs: list[tuple[Disk, Disk]], proven: bool) -> Finding:
    brokers = tuple(sorted({d.broker for pair in pairs for d in pair}))
    leader = timeline.standing.leader
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
        severity="critical" if proven else "high",
        confidence="certain" if proven else "possible",
        brokers=about,
        leader_epoch=timeline.standing.leader_epoch,
        offsets=(span,),
        summary=f"{timeline.name}: {who} at offsets {span}",
        explanation=(
            f"The record batches of {timeline.name} at offsets {span} have other checksums on {', '.join(f'broker {b}' for b in brokers)}, although "
            f"these replicas count as in sync or agree again after them. {'' if proven else _IF_COMPACTED}A consumer reads other records there depending on which replica leads"
            f"{f' (broker {leader} leads now)' if leader is not None and leader >= 0 else ''}. Replication will not mend it: a follower truncates only "
            "above the point where leader epochs or high watermarks part, and both lie beyond. " + _case(timeline, cluster, span, brokers)
        ),
        next_steps=(
            "Decide which replica is right, then delete the partition's directory on the others while they are stopped, so that they copy it anew.",
            "kafka-replica-verification shows the same while the cluster runs.",
        ),
        evidence=quote(segments),
    )


RULE = Rule(
    kind="log-divergence",
    rank=30,
    level="critical",
    meaning="Replicas hold different records at the same offsets now, below offsets they agree on.",
    benign=(
        "A replica that has not rejoined yet: its tail is cut when it does.",
        "A compacted topic: the log cleaner takes records on each replica by itself; what it wrote anew proves nothing.",
    ),
    references=("KIP-101", "KIP-279", "KAFKA-6361"),
    partition=judge,
    many=Many(),
)
