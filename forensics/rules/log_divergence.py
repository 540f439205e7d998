"""log-divergence: logs have different records at the same offsets, and no truncation will remove the difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, Statement, quote, together, union
from forensics.model.message import Message, Range, Value, joined, said, values
from forensics.model.partition.replicas import Disk
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.elections import elections
from forensics.proof.foreign_logs import inherited
from forensics.proof.lineage import CopyConflict, Parting, copy_conflicts, partings, repacked_batches, same_batches, same_epoch_conflicts


@dataclass(frozen=True, slots=True)
class _Difference:
    """Offsets at which two logs differ."""

    start: int
    end: int
    proven: bool
    """The records differ, and the log cleaner did not cause the difference."""
    repacked: bool
    """The records may be equal, in batches that were compressed or batched again."""
    related: bool
    """The logs have records in common, or directories with one topic id: they are of one topic."""
    epoch: int | None
    """The leader epoch of both logs at the first of these offsets, if it excludes an election as the cause."""


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    brought = bool(inherited(timeline, cluster))  # a log from another cluster has that cluster's epochs
    found: dict[_Difference, list[tuple[Disk, Disk]]] = {}
    for one, other in combinations([d for _, d in sorted(timeline.collected_logs.items()) if d.segments], 2):
        in_sync = _in_sync({one.broker, other.broker}, timeline)
        difference = _difference(one, other, in_sync, timeline.cleaned, brought)
        if difference is not None:
            found.setdefault(difference, []).append((one, other))
    for difference, pairs in sorted(found.items(), key=lambda item: (item[0].start, item[0].end)):
        yield _finding(timeline, cluster, difference, pairs)
    if not found and not brought:
        yield from (_by_epochs(timeline, p) for p in partings(timeline) if _stays(p, timeline))
    if not brought:
        yield from (_of_copies(timeline, conflict) for conflict in copy_conflicts(timeline))


def _in_sync(brokers: set[int], timeline: PartitionTimeline) -> bool:
    """The brokers are in sync, and their disks were not saved before that: joining the ISR may have truncated the difference."""
    together = list(takewhile(lambda s: brokers <= {*s.isr}, reversed(timeline.states_with_describe)))
    if not brokers <= {*timeline.standing.isr} or not together or (since := together[-1].at) is None:
        return brokers <= {*timeline.standing.isr}
    return all((saved := timeline.collected_logs[b].as_of) is None or saved >= since for b in brokers)


def _stays(parting: Parting, timeline: PartitionTimeline) -> bool:
    """Both replicas are in sync and have the offset below their high watermarks, so no truncation will remove the difference. If both have
    batches, those were compared, and a difference of epochs alone is a damaged history."""
    pair = (parting.one, parting.other)
    if not _in_sync({x.broker for x in pair}, timeline) or all(x.source == "batches" for x in pair):
        return False
    marks = [timeline.collected_logs[x.broker].high_watermark for x in pair]
    return all(m is not None and m.offset is not None and m.offset > parting.offset for m in marks)


def _difference(one: Disk, other: Disk, in_sync: bool, cleaned: bool | None, brought: bool) -> _Difference | None:
    """The span of batches at the same base offset with different contents, if no truncation will remove the difference.

    A tail that differs is truncated when its replica rejoins, unless the same leader epoch wrote it; in a log that was brought from another
    cluster (`brought`) the same number may be an epoch of that cluster. Kafka never compares records again that are below records of both
    logs, or on in-sync replicas. The log cleaner may have caused the difference if the topic's cleanup.policy is unknown and the records
    are compressed: then it is not proven. Nor is it if the records may be equal, or if nothing shows that both directories are of one
    topic.
    """
    same = same_batches(one, other, cleaned)
    repacked = repacked_batches(one, other, cleaned)
    conflicts = {} if brought else {**same_epoch_conflicts(one, other, same), **repacked}
    lasting = _lasting(same, conflicts, in_sync)
    proven = [o for o in lasting if same[o] is False]
    differ = proven or [o for o in lasting if cleaned is None or o in repacked]
    if not differ:
        return None
    start, end = _span(differ, same, one, other)
    epoch = next((conflicts[o] for o in differ if o in conflicts), None)
    related = any(same.values()) or (one.topic_id is not None and one.topic_id == other.topic_id)
    return _Difference(start, end, bool(proven) and related, not proven and differ[0] in repacked, related, epoch)


def _lasting(same: Mapping[int, bool | None], conflicts: Mapping[int, int], in_sync: bool) -> list[int]:
    """The base offsets of batches that differ, and that no truncation will remove. `conflicts`: those of one leader epoch."""
    agreed = max((offset for offset, alike in same.items() if alike), default=-1)
    return [o for o, alike in same.items() if not alike and (in_sync or o < agreed or o in conflicts)]


def _span(differ: Sequence[int], same: Mapping[int, bool | None], one: Disk, other: Disk) -> tuple[int, int]:
    """The offsets between the identical batches before and after the batches that differ."""
    ends = [{b["base_offset"]: b["last_offset"] + 1 for b in d.batches()} for d in (one, other)]
    identical = [offset for offset, alike in same.items() if alike]
    start = max((ends[0][o] for o in identical if o < differ[0]), default=one.segments[0].offset or 0)
    end = next((o for o in identical if o > differ[-1]), max(end[differ[-1]] for end in ends))
    return min(start, differ[0]), end


def _by_epochs(timeline: PartitionTimeline, parting: Parting) -> Finding:
    one, other = parting.one, parting.other
    return Finding(
        severity="high",
        confidence="probable",
        brokers=(one.broker, other.broker),
        leader_epoch=timeline.standing.leader_epoch,
        offsets=(Range(parting.offset, min(one.end, other.end)),),
        message="epochs",
        values=values(
            offset=parting.offset,
            one=one.broker,
            one_epoch=one.epoch_at(parting.offset),
            other=other.broker,
            other_epoch=other.epoch_at(parting.offset),
            right=parting.right,
        ),
        evidence=quote(one.evidence, other.evidence),
    )


def _of_copies(timeline: PartitionTimeline, conflict: CopyConflict) -> Finding:
    one, other = conflict.one, conflict.other
    spans = joined(Range(*span) for span in conflict.spans)
    return Finding(
        severity="high" if conflict.proven else "medium",
        confidence="probable" if conflict.proven else "possible",
        brokers=tuple(dict.fromkeys(b for b in (one.broker, other.broker) if b is not None)),
        leader_epoch=timeline.standing.leader_epoch,
        offsets=spans,
        message="copies",
        values=values(
            logs=(one.said, other.said),
            spans=spans[:_MAX_LISTED],
            more=max(len(spans) - _MAX_LISTED, 0) or None,
            proven=conflict.proven,
            doubt=said(f"log-divergence/{'no-election' if conflict.proven else 'may-be-equal'}"),
            related=conflict.agree,
        ),
        evidence=quote(conflict.evidence),
    )


_MAX_LISTED = 5


def _case(timeline: PartitionTimeline, cluster: Cluster, difference: _Difference, brokers: tuple[int, ...]) -> Message | None:
    """The likely cause of the difference. KIP-101 describes two cases in which replicas without leader epochs diverge."""
    if difference.repacked:
        return None
    if difference.epoch is not None:
        return said("log-divergence/no-election")
    if timeline.has_epochs:
        return said("log-divergence/with-epochs")
    wrote = [t for t in timeline.terms if t.start_offset is not None and t.start_offset <= difference.start]
    unclean = next((e.term for e in elections(timeline, cluster) if e.unclean and e.term in wrote[-1:]), None)
    if unclean is not None:
        return said("log-divergence/unclean", leader=unclean.leader, elected=(unclean.at, None), log_end=unclean.start_offset)
    loads = [timeline.replicas[b].loads if b in timeline.replicas else [] for b in brokers]
    second = all(loads) and any(load.unclean for own in loads for load in own)
    return said("log-divergence/second-case" if second else "log-divergence/without-epochs")


def _finding(timeline: PartitionTimeline, cluster: Cluster, difference: _Difference, pairs: list[tuple[Disk, Disk]]) -> Finding:
    span, proven = Range(difference.start, difference.end), difference.proven
    brokers = tuple(sorted({d.broker for pair in pairs for d in pair}))
    odd = _odd(brokers, pairs) if len(brokers) > 2 else None
    segments: list[Event] = [e for pair in pairs for d in pair if (e := d.end_event()) is not None]
    leader = timeline.standing.leader if (timeline.standing.leader or 0) >= 0 else None
    return Finding(
        severity="critical" if proven else "high",
        confidence="certain" if proven else "possible",
        brokers=brokers if odd is None else tuple(dict.fromkeys((odd, *brokers))),
        leader_epoch=timeline.standing.leader_epoch,
        offsets=(span,),
        values=values(
            span=span,
            odd=odd,
            on=brokers,
            epoch=difference.epoch,
            proven=proven,
            repacked=difference.repacked,
            leader=leader,
            doubt=said(f"log-divergence/{_doubt(difference)}") if not proven else None,
            case=_case(timeline, cluster, difference, brokers),
            replacing=_replacing(brokers, odd, leader),
        ),
        evidence=quote(segments),
    )


def _doubt(difference: _Difference) -> str:
    return "may-be-equal" if difference.repacked else "if-compacted" if difference.related else "may-be-foreign"


def _replacing(brokers: tuple[int, ...], odd: int | None, leader: int | None) -> tuple[Message, ...]:
    """Steps after which all replicas have the same records. The log that is replaced may have the only copy of records that were lost."""
    follows = odd is not None and leader in brokers and odd != leader
    return (
        said("log-divergence/copy", on=(odd,) if follows else brokers),
        said("log-divergence/confirm"),
        said("log-divergence/replace-one", odd=odd, leader=leader) if follows else said("log-divergence/replace"),
    )


def _odd(brokers: Sequence[int], pairs: Sequence[tuple[Disk, Disk]]) -> int | None:
    """The only broker that differs in every pair; None if there is none, or several."""
    odd = [b for b in brokers if all(b in (one.broker, other.broker) for one, other in pairs)]
    return odd[0] if len(odd) == 1 else None


def merged(first: Finding, group: Sequence[Statement]) -> Mapping[str, Value]:
    """The number of offsets if they, or the brokers, differ: the offsets of each partition are in its place."""
    alike = len({(f.brokers, f.offsets) for f in group}) == 1
    differing = None if alike else sum(r.length or 0 for f in group for r in f.offsets)
    on = {b for b in union(group, "on") if isinstance(b, int)}
    return {"differing": differing, "on": tuple(sorted(on)), "replacing": together(group, "replacing")}
