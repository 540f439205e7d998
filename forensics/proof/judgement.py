"""The verdict on one partition with its proof: the table of hand-overs, the deciding row and cell, and the time for which it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from forensics.model.cluster.availability import spoken
from forensics.model.cluster.facts import Cluster
from forensics.model.message import Range
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.causes import cause
from forensics.proof.handovers import handovers
from forensics.proof.last_copies import last_copies_gone
from forensics.proof.verdict import (
    BEGIN,
    END,
    INTACT,
    LOST,
    POSSIBLE,
    TAIL_CUT,
    Handover,
    Lost,
    Open,
    Verdict,
    conflicts,
    verdict,
)
from parsers.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a partition from `since` to `until`. If it is not `from_creation`, it does not cover the time before."""

    verdict: str
    since: datetime | None
    until: datetime | None
    why: str
    from_creation: bool
    rows: tuple[Handover, ...]
    decides: tuple[Open, ...]


def judgement(timeline: PartitionTimeline, cluster: Cluster, contradictions: Sequence[str]) -> Judgement:
    """The verdict on one incarnation of a partition, from its hand-overs. `contradictions`: what its logs show that contradicts the verdict that
    no records are gone."""
    rows = with_contradictions(handovers(timeline, cluster), contradictions)
    found = verdict(rows)
    known = (s.at for s in timeline.states if s.known_epoch is not None and s.at is not None)
    return Judgement(
        verdict=found.verdict,
        since=next(known, None),
        until=min((at for at in (_last_seen(timeline, cluster), cluster.until) if at is not None), default=None),
        why=why(rows, found),
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
    since = max((at for at in (led.at, *(t.at for t in timeline.terms[-1:])) if at is not None), default=last)
    again = next(iter(cluster.availability(led.leader).begun(since, last)), None)
    return last if again is None else max((since, *_last_words(led.leader, again, timeline, cluster)))


def _last_words(broker: int, again: datetime, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[datetime]:
    """Times of signs of the process that had ended when the next one began at `again`."""
    yield from (o.since for o in cluster.availability(broker).outages if o.until == again and o.since is not None)
    own = timeline.replicas[broker].events if broker in timeline.replicas else ()
    yield from (e.at for e in own if spoken(e) and e.at is not None and e.at < again)


def with_contradictions(rows: tuple[Handover, ...], contradictions: Sequence[str]) -> tuple[Handover, ...]:
    """The last row with these contradictions."""
    odd = dict.fromkeys(contradictions)
    return (*rows[:-1], replace(rows[-1], contradictions=(*rows[-1].contradictions, *odd))) if rows and odd else rows


# words


def why(rows: Sequence[Handover], found: Verdict) -> str:
    """The reason for this verdict: the ranges, or the row and the cell that leave it open."""
    if found.verdict == LOST:
        return _lost_words(rows, found.lost)
    if found.verdict == TAIL_CUT:
        return f"only {_ranges(found.lost)}, which were never committed, are gone"
    if found.verdict == INTACT:
        epochs = len({row.leader_epoch for row in rows})
        count = "1 leader epoch, begun" if epochs == 1 else f"{epochs} leader epochs without a gap, each begun"
        return f"{count} by a replica that had all committed records"
    return _unknown_words(rows, found)


def _lost_words(rows: Sequence[Handover], lost: Sequence[Lost]) -> str:
    sure = [x for x in lost if x.committed and x.confidence != POSSIBLE]
    if sure:
        return f"{_ranges(sure)}, which were committed, are gone ({cause(rows[sure[0].row], True, any_committed=True)})"
    least = next(x for x in lost if x.committed and x.end is None and x.start < x.reached)
    reached = f"offsets {Range(least.start, least.reached)} at least"
    return f"{reached}, which were committed, are gone ({cause(rows[least.row], True, any_committed=True)})"


def _ranges(lost: Sequence[Lost]) -> str:
    return "offsets " + ", ".join(dict.fromkeys(str(Range(x.start, x.end)) for x in lost))


def _unknown_words(rows: Sequence[Handover], found: Verdict) -> str:
    if not rows:
        return "no leader epoch is in the evidence; state-change.log, server.log or the metadata log would show it"
    sure = [x for x in found.lost if x.committed is None and x.confidence != POSSIBLE]
    if sure:
        return f"{_ranges(sure)} are gone; whether they were committed is unknown"
    first = found.decides[0]
    return _open_cell(rows, first)


def _open_cell(rows: Sequence[Handover], left: Open) -> str:
    """What is missing, with the row of the proof that shows it."""
    return f"{note_of(rows[left.row], left.cell)} ({_place(rows[left.row])}; proof row {left.row}, {left.cell})"


_ROW = re.compile(r" \([^()]*; proof row \d+, \w+\)$")


def without_row(reason: str) -> str:
    """The reason for readers who do not look at the proof."""
    return _ROW.sub("", reason)


def _place(row: Handover) -> str:
    if row.kind == BEGIN:
        return "start of the evidence"
    if row.kind == END:
        return f"after leader epoch {row.leader_epoch}"
    return f"leader epoch {row.leader_epoch}"


_MEANINGS = {
    "contradictions": "the evidence contradicts itself ({})",
    "new_log_end": "a high watermark of {} was seen, and the log of the leader ends below",
    "high_watermark": "records beyond the end of the new leader's log may have been committed",
    "log": "the new leader may have lost records before it took over",
    "process": "how the process of the new leader ended before is unknown",
    "removed": "the exact range of removed records is unknown",
    "election": "whether the new leader was in the ISR when it was elected is unknown",
    "old_log_end": "where the log of the old leader ended is unknown",
}


def note_of(row: Handover, cell: str) -> str:
    if cell in conflicts(row):
        return f"the evidence about {cell} contradicts itself"
    if cell in row.notes:
        return row.notes[cell]
    meaning = _MEANINGS.get(cell, f"the evidence about {cell} contradicts itself")
    return meaning.format(", ".join(row.contradictions) if cell == "contradictions" else row.high_watermark.at_least)


def open_words(judged: Judgement) -> Iterator[str]:
    """Every cell that leaves the verdict open, a line each."""
    for left in judged.decides:
        yield _open_cell(judged.rows, left)
