"""Statements about one partition that cannot all be true, and what rests on them.

Here: the pairs that the timeline shows, without those that a restart, a missing line or a wrong order of lines explains; the hand-overs and
the findings that rest on one; and the refuters, each of which looks for what would contradict a finding before it is made: a rule names its
refuters in forensics/rules/KIND.toml, or says why it needs none. Not here: what becomes of a finding that is refuted
(forensics.incidents.judging), bounds of one cell that contradict each other (an empty cell of verdict), or the files of one replica (the
rules checkpoint-inconsistent and epoch-history-damaged).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import permutations

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import CLOCK, COMPLETE, LOG, ORDER, PLACED, PROCESS, denied_error, would_show
from forensics.model.events import Event
from forensics.model.findings import Finding
from forensics.model.message import Message, said
from forensics.model.partition.isr_removal import lag_time
from forensics.model.partition.lineage import began
from forensics.model.partition.replicas import Contradiction, Disk, Observation, Removal, Replica
from forensics.model.partition.timeline import PartitionTimeline, Term, cached_on_timeline
from forensics.model.times import not_after
from forensics.proof.observed import at_rest, exact_end
from forensics.proof.verdict import POSSIBLE, PROBABLE, Handover, Interval, Possible
from parsers.kinds import ON_DISK, named

_BEFORE = ON_DISK | named("truncation-below-hw")
"""What may be as it was before the last cut."""


CONFIDENCE = {
    **dict.fromkeys(("log-end", "load", "plan"), PROBABLE),
    **dict.fromkeys(("witness", "high-watermark", "controller-epoch", "start-time"), POSSIBLE),
}
"""Probable, if missing lines may explain both statements; possible, if something else may. The others are certain."""


def what(c: Contradiction) -> Message:
    """Both statements, with the place of each."""
    return said(
        f"contradiction/{c.about}",
        broker=c.one.writer,
        other=c.other.writer,
        epoch=c.one.leader_epoch,
        first=c.first,
        first_place=_place(c.one),
        second=c.second,
        second_place=_place(c.other),
    )


def _place(event: Event) -> str:
    return event.source if event.line is None else f"{event.source}:{event.line}"


@cached_on_timeline
def contradictions(timeline: PartitionTimeline, cluster: Cluster) -> tuple[Contradiction, ...]:
    """The pairs of statements: those of lines and records, by broker and line, then those with files."""
    of_lines = [c for c in timeline.contradictions if c.about == "state" or _of_one_process(c, timeline, cluster)]
    starts = (c for term in timeline.terms for c in _starts_elsewhere(term, timeline))
    known = {id(c.one) for c in of_lines}
    alone = (c for c in _unwitnessed(timeline) if id(c.one) not in known)
    return (*of_lines, *starts, *alone, *_against_disks(timeline, cluster), *_between_logs(timeline, cluster))


def _of_one_process(c: Contradiction, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The process that printed the one was not replaced before the other, and all its lines in between are in the evidence, in their
    order."""
    broker = c.one.writer
    if broker is None or not would_show(broker, cluster, ORDER, CLOCK, COMPLETE, of=timeline):
        return False
    if not would_show(broker, cluster, LOG, since=c.one.at, until=c.other.at):
        return False
    return not _restarted(c.one, c.other, cluster) and (c.about != "load" or all(map(_of_the_replica, (c.one, c.other))))


def _of_the_replica(load: Event) -> bool:
    """From 2.6 on the line about a load names the directory. One that waits for its deletion may be of an earlier topic of this name."""
    return load.pattern == "log-loaded" and "-delete, topic" not in (load.text or "")


def _restarted(one: Event, other: Event, cluster: Cluster) -> bool:
    if one.writer is None or one.at is None or other.at is None:
        return False
    return bool(cluster.availability(one.writer).begun(min(one.at, other.at), max(one.at, other.at)))


# leader epochs


def _starts_elsewhere(term: Term, timeline: PartitionTimeline) -> Iterator[Contradiction]:
    """The leader's own line about the start of its epoch, against the batches and epoch files of all brokers, and their lines about the
    epoch. Records from before its process knew a leader epoch may be of another cluster, and a leader that was restarted may have lost the
    first records of its epoch."""
    start = next((e for e in term.evidence if e.event == "leader-start" and e.writer == term.leader), None)
    offset = start.log_end_offset if start is not None else None
    again = any(t.restart and t.epoch == term.epoch for t in timeline.terms)
    if start is None or offset is None or again or (start.previous_leader_epoch or 0) < 0 or start.previous_leader_epoch is None:
        return
    filed = began(term.epoch, term.leader, timeline.lineages)
    bounds = [(filed.earliest, filed.start, filed.event)] if filed is not None and filed.event is not None else []
    noted = ((e, e.offset) for e in timeline.of("epoch-assigned") if e.leader_epoch == term.epoch and e.offset is not None)
    bounds += [(at if e.writer == term.leader else 0, at, e) for e, at in noted]
    for low, high, event in bounds:
        if not low <= offset <= high:
            yield Contradiction("start", start, offset, event, high if offset > high else low)
            return


# logs


def second_witness(removal: Removal, timeline: PartitionTimeline) -> int | None:
    """The offset that the log reached before a restart according to all but the one line that shows the end of the removed records; None if
    something else shows it, or if it is in a file: only a crash or a wrong number explains that a log begins again with less."""
    one = removal.evidence[0] if removal.evidence else None
    if removal.cause != "restart" or one is None or one.event in ON_DISK or one.log_end_offset != removal.end:
        return None
    reached = max((o.offset for r in timeline.replicas.values() for o in r.observations if _shows(o, one, removal)), default=0)
    return reached if reached < removal.end else None


def _shows(seen: Observation, one: Event, removal: Removal) -> bool:
    """Another line shows how far a log of this partition reached before the removal."""
    before = not_after(seen.at, removal.at) and seen.event is not removal.evidence[-1]
    older = seen.epoch is not None and removal.epoch is not None and seen.epoch <= removal.epoch
    other = (seen.event.source, seen.event.line) != (one.source, one.line)
    return other and (before or older) and seen.quantity != "log-start-offset"


def _unwitnessed(timeline: PartitionTimeline) -> Iterator[Contradiction]:
    for removal in (r for replica in timeline.replicas.values() for r in replica.removals):
        if second_witness(removal, timeline) is not None:
            yield Contradiction("witness", removal.evidence[0], removal.end, removal.evidence[-1], removal.start)


def _against_disks(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Contradiction]:
    """A log that was not written to when its files were copied, and lines of the same process that show more in it."""
    for broker, disk in sorted(timeline.collected_logs.items()):
        mark, end, segment, replica = at_rest(disk), exact_end(disk, timeline), disk.end_event(), timeline.replicas.get(broker)
        if mark is None or end is None or segment is None or replica is None:
            continue
        seen = max(_last_seen(replica), key=lambda o: o.offset, default=None)
        if (
            seen is None
            or seen.offset <= end
            or seen.at is None
            or mark.at is None
            or seen.at > mark.at
            or _restarted(seen.event, mark, cluster)
        ):
            continue
        if would_show(broker, cluster, LOG, PROCESS, *PLACED, since=seen.at):
            yield Contradiction("log-end", seen.event, seen.offset, segment, end)


def _last_seen(replica: Replica) -> Iterator[Observation]:
    """How far the log reached according to the lines since it was last cut or loaded."""
    if replica.reach is not None:
        last = replica.observations.index(replica.reach)
        yield from (o for o in replica.observations[last:] if o.quantity != "log-start-offset" and o.event.event not in _BEFORE)


def _between_logs(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Contradiction]:
    """Files of two in-sync replicas: a follower copies batches as they are, and has what its leader has had for a while."""
    disks = [timeline.collected_logs[b] for b in sorted({*timeline.standing.isr} & timeline.collected_logs.keys())]
    for one, other in permutations(disks, 2):
        if one.broker < other.broker:
            yield from _epochs_differ(one, other)
        yield from _ends_later(one, other, timeline, cluster)


def _epochs_differ(one: Disk, other: Disk) -> Iterator[Contradiction]:
    """No checksum covers the leader epoch of a batch."""
    marks = [d.high_watermark.offset or 0 for d in (one, other) if d.high_watermark is not None]
    theirs = {(b["base_offset"], b.get("crc")): (b["leader_epoch"], s) for s in other.segments for b in s.batches or () if len(marks) == 2}
    for segment, b in ((s, b) for s in one.segments for b in s.batches or ()):
        epoch, copied = theirs.get((b["base_offset"], b.get("crc")), (b["leader_epoch"], segment))
        if epoch != b["leader_epoch"] and b["last_offset"] < min(marks):
            first, second = (said("contradiction/batch-of", offset=b["base_offset"], epoch=e) for e in (b["leader_epoch"], epoch))
            yield Contradiction("batch", segment, first, copied, second)
            return


def _ends_later(one: Disk, other: Disk, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Contradiction]:
    """The log of the one has had more records, for longer than a replica may lag, than that of the other, which was not written to."""
    mark, ends, shorter, leader = at_rest(other), one.end_event(), other.end_event(), timeline.standing.leader
    if mark is None or mark.at is None or ends is None or ends.at is None or shorter is None or leader is None:
        return
    if (one.reach or 0) > (other.reach or 0) and ends.at + lag_time(cluster, leader, mark.at) < mark.at:
        yield Contradiction("copy", ends, one.reach or 0, shorter, other.reach or 0)


# what rests on them


def of_row(row: Handover, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Contradiction]:
    """The contradictions on which the row rests. The offset that one line shows is not in its cells."""
    known = [c for c in contradictions(timeline, cluster) if c.about != "witness"]
    used = set(map(id, _evidence(row))) if known else set()
    return (c for c in known if id(c.one) in used or id(c.other) in used)


def _evidence(row: Handover) -> Iterator[Event]:
    cells: tuple[Interval | Possible, ...] = (row.old_log_end, row.new_log_end, row.high_watermark, row.election)
    for cell in (*cells, *(x for r in row.removed for x in (r.start, r.end))):
        yield from (*cell.low, *cell.high) if isinstance(cell, Interval) else cell.evidence
    for removed in row.removed:
        yield from removed.evidence


def statements(finding: Finding, timeline: PartitionTimeline, cluster: Cluster) -> Contradiction | None:
    """A line or a file of a log directory that the finding quotes contradicts another statement."""
    known = [c for c in contradictions(timeline, cluster) if c.about != "witness"]
    quoted = {(e.source, e.line) for e in finding.evidence} if known else set()
    directories = {_directory(source) for source, line in quoted if line is None}

    def is_quoted(e: Event) -> bool:
        return (e.source, e.line) in quoted or (e.event in ON_DISK and _directory(e.source) in directories)

    return next((c for c in known if is_quoted(c.one) or is_quoted(c.other)), None)


def _directory(path: str) -> str:
    return path.rpartition("/")[0]


def high_watermarks(finding: Finding, timeline: PartitionTimeline, cluster: Cluster) -> Contradiction | None:
    """An in-sync follower has a higher high watermark than the leader, from which it got its own."""
    leader = finding.brokers[0]
    mark = timeline.collected_logs[leader].high_watermark
    for broker in sorted({*timeline.standing.isr} & timeline.collected_logs.keys() - {leader}):
        other = timeline.collected_logs[broker].high_watermark
        if mark is not None and other is not None and (mark.offset or 0) < (other.offset or 0):
            return Contradiction("high-watermark", mark, mark.offset or 0, other, other.offset or 0)
    return None


def records(finding: Finding, timeline: PartitionTimeline, cluster: Cluster) -> Contradiction | None:
    """The log that the last leader continued after the loss has the records from before it."""
    leader, epoch = timeline.standing.leader, finding.leader_epoch
    disk = timeline.collected_logs.get(leader) if leader is not None else None
    term = next((t for t in timeline.terms if t.epoch == epoch and t.evidence), None)
    if disk is None or epoch is None or term is None or all(b["leader_epoch"] < epoch for b in disk.batches()):
        return None
    for start, segment, b in ((r.start, s, b) for r in finding.offsets for s in disk.segments for b in s.batches or ()):
        if b["base_offset"] <= start <= b["last_offset"] and 0 <= b["leader_epoch"] < epoch:
            kept = said("contradiction/kept", offset=start, epoch=b["leader_epoch"])
            return Contradiction("records", term.evidence[0], said("contradiction/lost", offset=start, epoch=epoch), segment, kept)
    return None


OfPartition = Callable[[Finding, PartitionTimeline, Cluster], Contradiction | None]
OF_PARTITION: Mapping[str, OfPartition] = {"statements": statements, "high-watermarks": high_watermarks, "records": records}


def controller_epochs(finding: Finding, cluster: Cluster) -> Contradiction | None:
    """The controller epochs of the cluster that began continue those of the cluster that ended, as within one cluster."""
    before = next((c for c in cluster.whole if c.number == cluster.number - 1), None)
    if before is None or len({cluster.id, before.id} - {None}) > 1:
        return None
    then, now = ([e for e in c.events if e.controller_epoch is not None and e.line is not None] for c in (before, cluster))
    last, first = (of(own, key=lambda e: e.controller_epoch or 0, default=None) for of, own in ((max, then), (min, now)))
    if last is None or first is None or (first.controller_epoch or 0) <= (last.controller_epoch or 0):
        return None
    one, other = (said("contradiction/controller-epoch-of", epoch=e.controller_epoch) for e in (last, first))
    return Contradiction("controller-epoch", last, one, first, other)


def start_times(finding: Finding, cluster: Cluster) -> Contradiction | None:
    """A process printed the time in UTC by the clock that is said to be wrong, and shows no such error."""
    clock = cluster.nodes[finding.brokers[0]].clock
    denied = denied_error(finding.brokers[0], cluster) if finding.message == "found" and clock.evidence else None
    if denied is None:
        return None
    first, second = (said("contradiction/clock-of", seconds=ms / 1000) for ms in (clock.skew_ms, denied[1]))
    return Contradiction("start-time", clock.evidence[0], first, denied[0], second)


OfCluster = Callable[[Finding, Cluster], Contradiction | None]
OF_CLUSTER: Mapping[str, OfCluster] = {"controller-epochs": controller_epochs, "start-times": start_times}


def refuted(names: tuple[str, ...], finding: Finding, timeline: PartitionTimeline | None, cluster: Cluster) -> Contradiction | None:
    """The first contradiction that the refuters of these names find."""
    of_partition = (OF_PARTITION[name](finding, timeline, cluster) for name in names if name in OF_PARTITION and timeline is not None)
    of_cluster = (OF_CLUSTER[name](finding, cluster) for name in names if name in OF_CLUSTER)
    return next((found for asked in (of_partition, of_cluster) for found in asked if found is not None), None)
