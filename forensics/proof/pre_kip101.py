"""Evidence from followers without leader epochs: such a follower cuts its log to its high watermark before it fetches (KIP-101).

Here: the high watermark that such a cut shows, how far a whole ISR had come when its next leader had cut its own log, and between which
offsets a leader's log ended at its start, which no line prints. Not here: what was lost (losses). Source:
kafka.server.ReplicaManager.makeFollowers and ReplicaFetcherThread.handleOffsetOutOfRange to 0.10.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.events import Event
from forensics.model.partition.replicas import OWN_LOSS, Disk, Removal, Replica, says_cut_before
from forensics.model.partition.timeline import PartitionTimeline, Term, cached_on_timeline
from forensics.model.times import not_after
from parsers.frozen import dataclass
from parsers.kinds import named


def high_watermark_of_cut(removal: Removal, timeline: PartitionTimeline) -> tuple[int, Event] | None:
    """The high watermark to which a follower last cut its log, with this removal or before it, and the line that says so; at most the end
    of the removed records. None with leader epochs.

    A cut to the leader's log end comes with a reset of the fetch offset; all others are to the high watermark.
    """
    mark = _marks_by_cut(timeline).get(removal.evidence[-1]) if removal.evidence and not timeline.has_epochs else None
    return (min(mark[0], removal.end), mark[1]) if mark is not None else None


@cached_on_timeline
def _marks_by_cut(timeline: PartitionTimeline) -> dict[Event, tuple[int, Event]]:
    """Every cut of a replica's log, each with the last cut up to it that was to the high watermark."""
    found: dict[Event, tuple[int, Event]] = {}
    for replica in timeline.replicas.values():
        last: tuple[int, Event] | None = None
        for cut, to_latest in _cuts(replica.events):
            if not to_latest:
                last = (cut.offset or 0, cut)
            if last is not None:
                found[cut] = last
    return found


def _cuts(events: Sequence[Event]) -> Iterator[tuple[Event, bool]]:
    """Cuts of a replica's log, and whether each was to its leader's log end."""
    lines = [e for e in events if e.event == "fetch-offset-reset" or (e.event == "truncation" and e.offset is not None)]
    for before, cut, after in zip([None, *lines], lines, [*lines[1:], None], strict=False):
        if cut.event == "truncation":
            yield cut, _reset_before(before) or (after is not None and says_cut_before(after) and after.offset == cut.offset)


def _reset_before(line: Event | None) -> bool:
    return line is not None and line.event == "fetch-offset-reset" and not says_cut_before(line)


def cut_further(removal: Removal, timeline: PartitionTimeline) -> bool:
    """A follower that cut its log to its high watermark cut the rest to its new leader's log end: one removal in two steps."""
    own = timeline.removals_of(removal.broker) if removal.cause in _by_high_watermark(timeline) else ()
    return any(r.cause == "latest" and r.end == removal.start and r.epoch == removal.epoch for r in own)


def cut_before_leading(term: Term, timeline: PartitionTimeline) -> Removal | None:
    """The part of its own log that the leader of a term had cut off, to its high watermark, if it began the term before it had fetched all
    of it again."""
    start = term.start_offset
    own = timeline.removals_of(term.leader)
    if start is None or any(r.cause in OWN_LOSS and r.start == start for r in own):
        return None
    causes = _by_high_watermark(timeline)
    return next((r for r in own if r.cause in causes and r.start <= start < r.end and (r.epoch is None or r.epoch <= term.epoch)), None)


def reached_by_isr(term: Term, timeline: PartitionTimeline) -> int | None:
    """Offset (exclusive) that each replica of the ISR before this term is seen to have reached. None if one of them does not show it, or if
    the leader had not cut its own log to its high watermark: only a cut log was once that of the whole ISR."""
    before = term.before
    if before is None or term.leader not in before.isr or cut_before_leading(term, timeline) is None:
        return None
    reached = [_reach(broker, term, timeline) for broker in before.isr]
    return min((end for end in reached if end is not None), default=None) if None not in reached else None


@dataclass(frozen=True, slots=True)
class EndsToday:
    """Offset (exclusive) at which the partition's log ended some time after a term began. When the term began, its leader's log ended there
    or below. `evidence`: the files that show it."""

    offset: int
    evidence: tuple[Event, ...]


def ends_today(term: Term, timeline: PartitionTimeline) -> EndsToday | None:
    """Where the log of a term's leader, who still leads, ended when it was collected. None if the files may be older than the term.

    The highest offset in any file of the cluster: a copy of a directory may be older than its checkpoints, or than those of its
    followers.
    """
    disk = timeline.collected_logs.get(term.leader)
    if disk is None or term != timeline.terms[-1] or not not_after(term.at, disk.as_of) or disk.reach is None or disk.end_unknown:
        return None
    disks = [disk, *(timeline.collected_logs[b] for b in timeline.standing.isr if b in timeline.collected_logs)]
    evidence = tuple(e for e in (disk.end_event(), disk.high_watermark) if e is not None)
    return EndsToday(max(offset for d in disks for offset in _offsets(d)), evidence)


def _offsets(disk: Disk) -> Iterator[int]:
    """The end of a log and its checkpoints."""
    checkpoints = (e.offset for e in (disk.high_watermark, disk.recovery_point) if e is not None)
    yield from (offset for offset in (disk.reach, *checkpoints) if offset is not None)


def marks_at_election(term: Term, timeline: PartitionTimeline) -> list[tuple[int, Event]]:
    """High watermarks to which running followers cut their logs when a term began, and the lines that say so.

    A running follower has its high watermark from the last answer of its leader (ReplicaFetcherThread.processPartitionData). A restarted
    process has the checkpointed one. A process that already knew of the term may have got a later one.
    """
    if timeline.has_epochs:
        return []
    found = (_cut_on_request(replica, term) for broker, replica in timeline.replicas.items() if broker != term.leader)
    return [(cut.offset, cut) for cut in found if cut is not None and cut.offset is not None]


_FETCHES = named("fetcher-added", "fetch-offset-reset")
_NEXT = _FETCHES | named("truncation", "log-load")


def _cut_on_request(replica: Replica, term: Term) -> Event | None:
    """The cut that a follower made on the request that announced a term, if its process had been running in an earlier term."""
    known: int | None = None
    """Latest leader epoch that the process has received."""
    announced = False
    """The last request announced the term, and the process has not fetched since."""
    restarts = {load.event for load in replica.loads}
    for event in replica.events:
        if event in restarts:
            known, announced = None, False
        elif event.event == "partition-state" and event.reason == "received" and event.leader_epoch is not None:
            if known is None or event.leader_epoch > known:
                announced = event.leader_epoch == term.epoch and event.leader == term.leader and known is not None
                known = event.leader_epoch
        elif event.event in _FETCHES:
            announced = False
        elif event.event == "truncation" and announced:
            return event
    return None


def cut_after(broker: int, followed: Event, timeline: PartitionTimeline) -> Event | None:
    """The line about the high watermark to which a leader cut its log when it became a follower."""
    events = timeline.replicas[broker].events
    after = events[events.index(followed) :] if followed in events else []
    line = next((e for e in after if e.event in _NEXT), None)
    return line if line is not None and line.event == "truncation" and line.offset is not None else None


def _by_high_watermark(timeline: PartitionTimeline) -> tuple[str, ...]:
    return ("high-watermark",) if timeline.has_epochs else ("high-watermark", "truncation")


def _reach(broker: int, term: Term, timeline: PartitionTimeline) -> int | None:
    """The offset that a replica's log reached before a term."""
    ends: list[int] = []
    replica, disk = timeline.replicas.get(broker), timeline.collected_logs.get(broker)
    if replica is not None:
        ends += [r.end for r in replica.removals if r.epoch is not None and r.epoch < term.epoch]
        ends += [load.offset for load in replica.loads if load.epoch is not None and load.epoch < term.epoch]
        if disk is not None and disk.reach is not None and replica.epoch is not None and replica.epoch < term.epoch:
            ends.append(disk.reach)
    return max(ends, default=None)
