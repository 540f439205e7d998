"""log-divergence: logs have different records at the same offsets, and no truncation will remove the difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, Statement, brokers_named, counted, moment, offsets_in, quote, raw, raw_of
from forensics.model.message import Range
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
    logs, or on in-sync replicas. The log cleaner may have caused the difference if the topic's cleanup.policy is unknown and the records are
    compressed: then it is not proven. Nor is it if the records may be equal.
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
    return _Difference(start, end, bool(proven), not proven and differ[0] in repacked, epoch)


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
    right = f" The leader changes of the partition agree with broker {parting.right}." if parting.right is not None else ""
    return raw(
        kind="log-divergence",
        severity="high",
        confidence="probable",
        brokers=(one.broker, other.broker),
        leader_epoch=timeline.standing.leader_epoch,
        offsets=(Range(parting.offset, min(one.end, other.end)),),
        summary=f"{timeline.name}: the leader epochs of brokers {one.broker} and {other.broker} differ from offset {parting.offset} on",
        explanation=(
            f"At offset {parting.offset} of {timeline.name} the epoch history of broker {one.broker} has leader epoch {one.epoch_at(parting.offset)}, that of "
            f"broker {other.broker} epoch {other.epoch_at(parting.offset)}, although both are in sync and both high watermarks are above. Either they have "
            f"different records there (KIP-279), or one of the histories is damaged.{right}"
        ),
        next_steps=(
            f"Collect the segments of {timeline.name} from brokers {one.broker} and {other.broker}: their record batches show which cause is right.",
        ),
        evidence=quote(one.evidence, other.evidence),
    )


_MIXED = "Check in meta.properties and partition.metadata that the files of {} are from the same cluster and topic, and were not changed or restored."


def _of_copies(timeline: PartitionTimeline, conflict: CopyConflict) -> Finding:
    one, other = conflict.one, conflict.other
    spans = _joined(conflict.spans)
    related = (
        "Other batches of the two logs are identical, so both are logs of this partition."
        if conflict.agree
        else "The two logs have no identical batch, so one of them may be from another cluster or another topic of this name."
    )
    return raw(
        kind="log-divergence",
        severity="high" if conflict.proven else "medium",
        confidence="probable" if conflict.proven else "possible",
        brokers=tuple(dict.fromkeys(b for b in (one.broker, other.broker) if b is not None)),
        leader_epoch=timeline.standing.leader_epoch,
        offsets=spans,
        summary=f"{timeline.name}: {one} and {other} have different {'records' if conflict.proven else 'batches'} at offsets {_listed(spans)} in the same leader epoch",
        explanation=(
            f"{one} and {other} contain batches of {timeline.name} at offsets {_listed(spans)} with the same leader epochs, valid checksums and different "
            f"contents. {_NO_ELECTION if conflict.proven else _MAY_BE_EQUAL} {related}"
        ),
        next_steps=(
            *(() if conflict.proven else (_COMPARE.format(timeline.name, f"{one} and {other}"),)),
            _MIXED.format(f"{one} and {other}"),
            f"Do not restore records of {timeline.name} from either log before the difference is explained.",
        ),
        evidence=quote(conflict.evidence),
    )


_MAY_BE_EQUAL = (
    "The headers of the batches agree in producer, sequence and timestamps, so the records may be equal: a tool that copied the files may have compressed "
    "or batched the records again. The records were not compared."
)
_COMPARE = "Compare the records of {} in the segments of {} with kafka-dump-log --print-data-log: equal records need no action."


def _joined(spans: Sequence[tuple[int, int]]) -> tuple[Range, ...]:
    """Adjacent spans as one range."""
    found: list[Range] = []
    for start, end in spans:
        if found and found[-1].end == start:
            found[-1] = Range(found[-1].start, end)
        else:
            found.append(Range(start, end))
    return tuple(found)


_MAX_LISTED = 5


def _listed(ranges: Sequence[Range]) -> str:
    more = f" and {len(ranges) - _MAX_LISTED} more ranges" if len(ranges) > _MAX_LISTED else ""
    return ", ".join(map(str, ranges[:_MAX_LISTED])) + more


_NO_ELECTION = (
    "A leader epoch has one leader, and followers copy its batches unchanged, so no election causes this. Possible causes: a leader lost unflushed records "
    "in a restart and continued in the same epoch, files were changed or restored, or the evidence mixes files of different clusters or topics."
)


def _case(timeline: PartitionTimeline, cluster: Cluster, difference: _Difference, brokers: tuple[int, ...]) -> str:
    """The likely cause of the difference."""
    if difference.epoch is not None:
        return _NO_ELECTION
    if timeline.has_epochs:
        return "With leader epochs (0.11 and later) possible causes are a fast succession of leaders before 2.0 (KIP-279) or a damaged epoch history."
    return _case_without_epochs(timeline, cluster, difference, brokers)


def _case_without_epochs(timeline: PartitionTimeline, cluster: Cluster, difference: _Difference, brokers: tuple[int, ...]) -> str:
    """KIP-101 describes two cases in which replicas without leader epochs diverge."""
    wrote = [t for t in timeline.terms if t.start_offset is not None and t.start_offset <= difference.start]
    unclean = next((e for e in elections(timeline, cluster) if e.unclean and e.term in wrote[-1:]), None)
    if unclean is not None:
        return (
            f"Broker {unclean.term.leader}, elected from outside the ISR at {moment(unclean.term.at)} with a log that ended at "
            f"{unclean.term.start_offset}, wrote other records at these offsets. A replica that had the old records returned with a high watermark "
            "above them: without leader epochs it truncated nothing."
        )
    loads = [timeline.replicas[b].loads if b in timeline.replicas else [] for b in brokers]
    if all(loads) and any(load.unclean for own in loads for load in own):
        return (
            "This is the second case of KIP-101, possible before leader epochs (0.11): all replicas had stopped, the one with the shorter log "
            "restarted first and led, new records got the same offsets, and the other replica truncated only to its high watermark, which removed nothing."
        )
    return "Before leader epochs (0.11) a possible cause is that the replica with the shorter log led first (KIP-101)."


_IF_COMPACTED = (
    "If the topic is compacted, which is unknown, this may be harmless: the log cleaner rewrites batches on each replica separately. "
)


def _finding(timeline: PartitionTimeline, cluster: Cluster, difference: _Difference, pairs: list[tuple[Disk, Disk]]) -> Finding:
    span, proven = Range(difference.start, difference.end), difference.proven
    brokers = tuple(sorted({d.broker for pair in pairs for d in pair}))
    odd = _odd(brokers, pairs)
    segments: list[Event] = [e for pair in pairs for d in pair if (e := d.end_event()) is not None]
    return raw(
        kind="log-divergence",
        severity="critical" if proven else "high",
        confidence="certain" if proven else "possible",
        brokers=brokers if odd is None else tuple(dict.fromkeys((odd, *brokers))),
        leader_epoch=timeline.standing.leader_epoch,
        offsets=(span,),
        summary=f"{timeline.name}: {_who(brokers, odd)} at offsets {span}",
        explanation=(
            f"The record batches of {timeline.name} at offsets {span} have different checksums on {_each(brokers)}, {_although(difference)}. "
            f"{_unproven(difference)}A consumer {'reads' if proven else 'may read'} different records there depending on which replica leads"
            f"{_leads_now(timeline)}. Replication does not repair this: a follower truncates only "
            "above the offset where leader epochs or high watermarks differ, and both differ only beyond these offsets, if at all. "
            + ("" if difference.repacked else _case(timeline, cluster, difference, brokers))
        ).rstrip(),
        next_steps=(
            *([_COMPARE.format(timeline.name, _each(brokers))] if difference.repacked else []),
            *([_MIXED.format(_each(brokers))] if difference.epoch is not None else []),
            *_replacing(timeline, brokers, odd),
        ),
        evidence=quote(segments),
    )


def _replacing(timeline: PartitionTimeline, brokers: Sequence[int], odd: int | None) -> Iterator[str]:
    """Steps after which all replicas have the same records. The log that is replaced may have the only copy of records that were lost."""
    name, leader = timeline.name, timeline.standing.leader
    follows = odd is not None and len(brokers) > 2 and leader in brokers and odd != leader
    yield f"Copy the directories of {name} from {brokers_named([odd] if follows and odd is not None else brokers)} before a log is deleted: it may hold the only copy of lost records."
    yield f"Confirm the difference in {name} with kafka-replica-verification while the cluster runs."
    if follows:
        yield f"When the directories of {name} on broker {odd} are copied, delete them while broker {odd} is stopped: after its start broker {odd} copies {name} from broker {leader}, the leader."
        return
    yield (
        f"When the directories of {name} are copied, decide which log of {name} is right, and make its broker the leader. Then delete the directories of {name} on the "
        "other brokers, each while it is stopped: after its start it copies the leader's log."
    )


def _unproven(difference: _Difference) -> str:
    if difference.proven:
        return ""
    return f"{_MAY_BE_EQUAL} " if difference.repacked else _IF_COMPACTED


def _odd(brokers: Sequence[int], pairs: Sequence[tuple[Disk, Disk]]) -> int | None:
    """The only broker that differs in every pair; None if there is none, or several."""
    odd = [b for b in brokers if all(b in (one.broker, other.broker) for one, other in pairs)]
    return odd[0] if len(odd) == 1 else None


def _who(brokers: Sequence[int], odd: int | None) -> str:
    if odd is not None and len(brokers) > 2:
        return f"broker {odd} differs from the others"
    return f"{brokers_named(brokers)} differ"


def _each(brokers: Sequence[int]) -> str:
    return ", ".join(f"broker {b}" for b in brokers)


def _although(difference: _Difference) -> str:
    if difference.epoch is not None:
        return f"although all of them are from leader epoch {difference.epoch}"
    return "although these replicas are in sync or agree again after these offsets"


def _leads_now(timeline: PartitionTimeline) -> str:
    leader = timeline.standing.leader
    return f" (broker {leader} leads now)" if leader is not None and leader >= 0 else ""


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    """The words of the first if they are true for all; else the offsets of each partition are in its place."""
    alike = len({(f.brokers, f.offsets) for f in group}) == 1
    return (
        raw_of(first, "summary").removeprefix(f"{first.name}: ")
        if alike
        else f"replicas differ at {counted(offsets_in((f, f.place) for f in group), 'offset')}"
    )
