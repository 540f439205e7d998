"""The verdict on one partition with its proof: the table of hand-overs, the deciding row and cell, and the time for which it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from forensics.model.cluster.facts import Cluster
from forensics.model.message import Message, Range, said
from forensics.model.partition.emptied import new_again
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.presence.availability import is_own_log_line
from forensics.model.times import is_later, not_after
from forensics.proof.handovers import handovers
from forensics.proof.last_copies import last_copies_gone
from forensics.proof.verdict import (
    BEGIN,
    END,
    INTACT,
    LOST,
    POSSIBLE,
    TAIL_CUT,
    UNKNOWN,
    Handover,
    Lost,
    Open,
    Verdict,
    cause,
    conflicts,
    verdict,
)
from forensics.thresholds import ISR_TOLERANCE
from parsers.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a partition from `since` to `until`. If it is not `from_creation`, it does not cover the time before."""

    verdict: str
    since: datetime | None
    until: datetime | None
    why: Message
    from_creation: bool
    rows: tuple[Handover, ...]
    decides: tuple[Open, ...]


def judgement(timeline: PartitionTimeline, cluster: Cluster, contradictions: Sequence[str], doubt: Message | None = None) -> Judgement:
    """The verdict on one incarnation of a partition, from its hand-overs. `contradictions`: what its logs show that contradicts the verdict
    that no records are gone. `doubt`: what is known against the lines that all its losses rest on."""
    since = next((s.at for s in timeline.states if s.known_epoch is not None and s.at is not None), None)
    until = min((at for at in (_last_seen(timeline, cluster), cluster.until) if at is not None), default=None)
    backwards = is_later(since, until, ISR_TOLERANCE)
    reversed_ = (said("handover/ends-before-it-begins", since=since, until=until),) if backwards else ()
    rows = with_contradictions(handovers(timeline, cluster), (*contradictions, *reversed_, *_emptied(timeline, cluster)))
    found = verdict(rows)
    doubtful = doubt is not None and found.verdict == LOST
    return Judgement(
        verdict=UNKNOWN if doubtful else found.verdict,
        since=since,
        until=max(since, until) if since is not None and until is not None else until,
        why=said("verdict/doubted", offsets=_ranges(found.lost), doubt=doubt) if doubtful else why(rows, found),
        from_creation=timeline.created(),
        rows=rows,
        decides=found.decides,
    )


def _last_seen(timeline: PartitionTimeline, cluster: Cluster) -> datetime | None:
    """The last sign of the process that led, or of the last in-sync replicas if none of them is left."""
    if gone := last_copies_gone(timeline, cluster):
        return max((g.seen for g in gone if g.seen is not None), default=None)
    led = next((s for s in reversed(timeline.states_with_describe) if s.leader >= 0), None)
    last = cluster.last_line(led.leader) if led is not None else None
    if led is None or last is None:
        return last
    since, again = _next_process(led, timeline, cluster, last)
    return last if again is None else max((since, *_last_words(led.leader, again, timeline, cluster)))


def _next_process(led: State, timeline: PartitionTimeline, cluster: Cluster, last: datetime) -> tuple[datetime, datetime | None]:
    """When the last leader led, and when its next process began."""
    since = max((at for at in (led.at, *(t.at for t in timeline.terms[-1:])) if at is not None), default=last)
    return since, next(iter(cluster.availability(led.leader).begun(since, last)), None)


def _emptied(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Message]:
    """That the only in-sync replica found a log directory new in its next process, in which an earlier one had found it new, too."""
    led = next((s for s in reversed(timeline.states_with_describe) if s.leader >= 0), None)
    if led is None or {*led.isr} != {led.leader}:
        return
    new = [e for _, e in new_again(cluster) if e.writer == led.leader]
    if new and (last := cluster.last_line(led.leader)) is not None:
        _, again = _next_process(led, timeline, cluster, last)
        if (e := next((e for e in new if not_after(again, e.at)), None)) is not None:
            yield said("handover/directory-new", broker=led.leader, directory=e.directory, at=e.at)


def _last_words(broker: int, again: datetime, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[datetime]:
    """Times of signs of the process that had ended when the next one began at `again`."""
    ended = cluster.availability(broker).ended_before(again)
    yield from (at for at in (ended.since if ended is not None else None,) if at is not None)
    own = timeline.replicas[broker].events if broker in timeline.replicas else ()
    yield from (e.at for e in own if is_own_log_line(e) and e.at is not None and e.at < again)


def with_contradictions(rows: tuple[Handover, ...], contradictions: Sequence[Message | str]) -> tuple[Handover, ...]:
    """The last row with these contradictions."""
    odd = dict.fromkeys(contradictions)
    return (*rows[:-1], replace(rows[-1], contradictions=(*rows[-1].contradictions, *odd))) if rows and odd else rows


def why(rows: Sequence[Handover], found: Verdict) -> Message:
    """The reason for this verdict: the ranges, or the row and the cell that leave it open."""
    if found.verdict == LOST:
        return _lost(rows, found.lost)
    if found.verdict == TAIL_CUT:
        return _tail_cut(found.lost)
    if found.verdict == INTACT:
        epochs = len({row.leader_epoch for row in rows})
        return said("verdict/intact", epochs=epochs, several=epochs if epochs > 1 else None)
    return _unknown(rows, found)


def _tail_cut(lost: Sequence[Lost]) -> Message:
    """What is known to be gone, apart from what a log may have held beyond its known end."""
    known = [x for x in lost if x.end is not None]
    beyond = max((x.start for x in lost if x.end is None), default=None)
    maybe = Range(beyond, None) if beyond is not None else None
    return said("verdict/tail-cut", offsets=_ranges(known) or None, maybe=maybe)


def _lost(rows: Sequence[Handover], lost: Sequence[Lost]) -> Message:
    sure = [x for x in lost if x.committed and x.confidence != POSSIBLE]
    at_least = any(x.end is None and x.committed is not False for x in lost)
    because = cause(rows[sure[0].row], True, any_committed=True)
    return said("verdict/lost-at-least" if at_least else "verdict/lost", offsets=_ranges(sure), cause=because)


def _ranges(lost: Sequence[Lost]) -> tuple[Range, ...]:
    return tuple(dict.fromkeys(Range(x.start, x.end) for x in lost))


def _unknown(rows: Sequence[Handover], found: Verdict) -> Message:
    if not rows:
        return said("verdict/no-epoch")
    sure = [x for x in found.lost if x.committed is None and x.confidence != POSSIBLE]
    if sure:
        return said("verdict/gone", offsets=_ranges(sure))
    left = found.decides[0]
    row = rows[left.row]
    place = {BEGIN: "begin", END: "end"}.get(row.kind, "change")
    where = said(f"verdict/{place}", leader_epoch=row.leader_epoch)
    return said("verdict/open", note=note_of(row, left.cell), where=where, row=left.row, cell=left.cell)


_MEANT = frozenset({"contradictions", "new_log_end", "high_watermark", "log", "process", "removed", "election", "old_log_end"})
"""Cells with a phrase of their own."""


def note_of(row: Handover, cell: str) -> Message:
    """What is missing, or contradicts itself."""
    note = row.notes.get(cell)
    if cell not in conflicts(row) and isinstance(note, Message):
        return note
    if cell in conflicts(row) or cell not in _MEANT:
        return said("handover/conflict", cell=cell)
    found = tuple(c if isinstance(c, Message) else str(c) for c in row.contradictions)
    return said(f"handover/{cell}", found=found, high_watermark=row.high_watermark.at_least)
