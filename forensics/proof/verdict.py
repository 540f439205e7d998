"""The verdict on a partition and the cause of each loss: pure functions of its table of hand-overs. This file imports only the standard
library.

A row of the table is a hand-over: a new leader, a leader whose process was restarted within its leader epoch, or one end of the evidence.
A cell says what is still possible: offsets as an interval, everything else as a set of words. Evidence only narrows a cell; a cell that
nothing narrows allows everything, and an empty cell is a contradiction. The verdict asks of every cell "is nothing else possible?", so a
wider cell can only say less:

    lost      committed records are gone
    tail-cut  only records that were never committed are gone
    intact    every committed record of every leader was in the log of the next one
    unknown   a cell leaves it open, and `open_cells` names it

To check the verdicts of a case by hand: read its table `handovers`, group the rows by partition, and call `verdict(rows_of(records))`.

Why it is a proof: a replica in the ISR has all committed records (KIP-101, KIP-966), up to 2.0.0 with an exception
(forensics.proof.elections). So nothing committed is lost in a hand-over to a member of the ISR that kept its log. Where no such leader took
over, the ends of the logs and the high watermark decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from operator import attrgetter
from typing import Annotated, Any

LOST, TAIL_CUT, INTACT, UNKNOWN = "lost", "tail-cut", "intact", "unknown"
VERDICTS = (LOST, TAIL_CUT, INTACT, UNKNOWN)
CERTAIN, PROBABLE, POSSIBLE = "certain", "probable", "possible"
STRENGTH = (POSSIBLE, PROBABLE, CERTAIN)

BEGIN, CHANGE, RESTART, END = "begin", "leader-change", "restart", "end"
"""Kinds of rows: the first leader in evidence, another leader or leader epoch, the same leader after a restart, the end of the evidence."""


class Cell:
    """Words of the cells of a row."""

    YES, NO = "yes", "no"
    IN_ISR, ELIGIBLE, OUTSIDE = "in-isr", "eligible", "outside"
    RUNNING, STOPPED, CRASHED = "kept-running", "stopped", "crashed"
    KEPT, RECOVERED, DAMAGED, CUT, WIPED = "kept", "recovered", "damaged", "cut-to-high-watermark", "wiped"
    """States of a log: whole; without an unflushed tail; cut at damaged records below the flushed part; cut to its high watermark; empty."""
    NONE, CLEAN, UNCLEAN = "none", "clean", "unclean"
    BY_EPOCH, BY_HIGH_WATERMARK = "leader-epoch", "high-watermark"


# cells


@dataclass(frozen=True, slots=True)
class Interval:
    """Offsets from `at_least` to `at_most`, both included; `at_most` None: no upper bound. `low` and `high` are the evidence of each
    bound."""

    at_least: int = 0
    at_most: int | None = None
    low: tuple[Any, ...] = ()
    high: tuple[Any, ...] = ()

    @classmethod
    def exactly(cls, value: int, *evidence: Any) -> Interval:
        return cls(value, value, evidence, evidence)

    @property
    def conflict(self) -> bool:
        return self.at_most is not None and self.at_least > self.at_most

    @property
    def exact(self) -> bool:
        return self.at_least == self.at_most

    def __and__(self, other: Interval) -> Interval:
        low, lows = max((self.at_least, self.low), (other.at_least, other.low), key=lambda bound: bound[0])
        known = [(i.at_most, i.high) for i in (self, other) if i.at_most is not None]
        high, highs = min(known, key=lambda bound: bound[0], default=(None, ()))
        return Interval(low, high, lows, highs)

    def covers(self, other: Interval) -> bool:
        """Everything that `other` allows is allowed by this cell."""
        open_or_above = self.at_most is None or (other.at_most is not None and other.at_most <= self.at_most)
        return other.conflict or (self.at_least <= other.at_least and open_or_above)


@dataclass(frozen=True, slots=True)
class Possible:
    """The words that are still possible, with the evidence that excluded the others."""

    values: frozenset[str]
    evidence: tuple[Any, ...] = ()

    @classmethod
    def of(cls, *values: str, evidence: Iterable[Any] = ()) -> Possible:
        return cls(frozenset(values), tuple(evidence))

    @property
    def conflict(self) -> bool:
        return not self.values

    def __and__(self, other: Possible) -> Possible:
        return Possible(self.values & other.values, tuple(dict.fromkeys((*self.evidence, *other.evidence))))

    def covers(self, other: Possible) -> bool:
        """Everything that `other` allows is allowed by this cell."""
        return other.values <= self.values

    def only(self, *values: str) -> bool:
        """Nothing but these is possible. False for a contradiction."""
        return bool(self.values) and self.values <= {*values}


EITHER = Possible.of(Cell.YES, Cell.NO)
ANY_ELECTION = Possible.of(Cell.IN_ISR, Cell.ELIGIBLE, Cell.OUTSIDE)
ANY_PROCESS = Possible.of(Cell.RUNNING, Cell.STOPPED, Cell.CRASHED)
ANY_LOG = Possible.of(Cell.KEPT, Cell.RECOVERED, Cell.DAMAGED, Cell.CUT, Cell.WIPED)
ANY_RESTART = Possible.of(Cell.NONE, Cell.CLEAN, Cell.UNCLEAN)
ANY_TRUNCATION = Possible.of(Cell.BY_EPOCH, Cell.BY_HIGH_WATERMARK)


# rows


@dataclass(frozen=True, slots=True)
class Removed:
    """Records of earlier leaders that a log had and the new leader's log did not: from `start` to before `end`."""

    broker: Annotated[int, "broker of the log"]
    how: Annotated[
        str, "how they left the log: leader-epoch, high-watermark, truncation, restart, empty, left-behind, deleted or stray"
    ] = ""
    start: Annotated[Interval, "where the two logs diverge"] = Interval()
    end: Annotated[Interval, "where the log ended, exclusive; no upper bound if it may have gone on"] = Interval()
    exact_end: Annotated[bool, "the log is known to have ended there"] = False
    written_before_handover: Annotated[Possible, "yes: all were written before this hand-over, and in the log until then"] = EITHER
    lost_in_this_handover: Annotated[Possible, "yes: they were lost in this hand-over and not in a later one"] = EITHER
    from_other_topic: Annotated[Possible, "yes: they are records of another partition of this name, of an earlier topic or cluster"] = (
        EITHER
    )
    likely_start: Annotated[
        int | None, "two brokers agree that the high watermark was at this offset: the records from here on are probably gone"
    ] = None
    evidence: tuple[Any, ...] = ()
    removal: Any = None
    """The removal that it was made from; not part of the table."""


@dataclass(frozen=True, slots=True)
class Handover:
    """One row. Every cell begins as wide as it can be."""

    kind: Annotated[
        str, "begin (first leader in the evidence), leader-change, restart (same leader epoch, new process) or end (of the evidence)"
    ]
    leader_epoch: Annotated[int, "leader epoch that begins"]
    restart: Annotated[int, "number of the leader's process within this leader epoch, from 0"] = 0
    old_leader: Annotated[int | None, "leader before; null in the first row"] = None
    new_leader: Annotated[int | None, "leader from here on"] = None
    at: Annotated[Any, "time of the hand-over (UTC); null if unknown"] = None
    election: Annotated[Possible, "where the new leader was when it was elected: in-isr, eligible (ELR, KIP-966) or outside"] = ANY_ELECTION
    unseen: Annotated[Interval, "number of leader epochs and ISR changes since the row before that no evidence shows"] = Interval()
    old_log_end: Annotated[Interval, "log end offset of the old leader when it followed the new one; earlier cuts are in `removed`"] = (
        Interval()
    )
    new_log_end: Annotated[Interval, "log end offset of the new leader when it took over; in the last row: of the leader's log on disk"] = (
        Interval()
    )
    high_watermark: Annotated[Interval, "highest high watermark before the hand-over"] = Interval()
    removed: Annotated[
        tuple[Removed, ...],
        "records that a log had and the new leader's log did not have: offsets from `start` to before `end`, by which broker and how",
    ] = ()
    unexplained_truncations: Annotated[
        Possible, "yes: records were cut off a log, or may have been, and it is unknown whether the leader had them"
    ] = EITHER
    process: Annotated[
        Possible, "process of the new leader since it last had all committed records: kept-running, stopped (cleanly) or crashed"
    ] = ANY_PROCESS
    log: Annotated[
        Possible,
        "log of the new leader in that time: kept, recovered (an unflushed tail is gone), damaged (cut at damaged records below the flushed "
        "part), cut-to-high-watermark or wiped",
    ] = ANY_LOG
    had_all: Annotated[Possible, "yes: the new leader had every committed record when it took over"] = EITHER
    sole_commit: Annotated[Possible, "yes: the old leader was the whole ISR, so it committed everything that it appended"] = EITHER
    sole_restart: Annotated[
        Possible,
        "restarts of the only in-sync replica since the row before: none, clean or unclean; at the end, all in-sync replicas may be gone",
    ] = ANY_RESTART
    last_isr_member_lost_tail: Annotated[
        Possible, "yes: the only in-sync replica lost the end of its own log, and no evidence shows where that end was"
    ] = EITHER
    resent: Annotated[Possible, "yes: producers sent the removed records again, or never got an acknowledgement for them"] = EITHER
    truncation: Annotated[Possible, "how followers cut their logs: by leader-epoch (KIP-101), or to their high-watermark (before 0.11)"] = (
        ANY_TRUNCATION
    )
    resent_because: Annotated[object, "why the removed records were probably sent again"] = None
    premises: Annotated[
        Mapping[int, object],
        "premises about the logs of brokers that do not hold, with the reason; nothing that rests on them narrows a cell",
    ] = field(default_factory=dict)
    contradictions: Annotated[tuple[object, ...], "statements about the partition that cannot all be true"] = ()
    notes: Mapping[str, object] = field(default_factory=dict)
    """By name of a cell that stays wide: what is missing, and what would show it."""

    def noted(self, cell: str, note: object) -> Handover:
        """With the reason why a cell stays wide; the first one counts."""
        return self if cell in self.notes else replace(self, notes={**self.notes, cell: note})

    def narrowed(self, **cells: Interval | Possible) -> Handover:
        """With these cells intersected."""
        return replace(self, **{name: getattr(self, name) & cell for name, cell in cells.items()})


CELLS, REMOVED_CELLS = (tuple(f.name for f in fields(row) if isinstance(f.default, Interval | Possible)) for row in (Handover, Removed))
_cells = attrgetter(*CELLS)


def conflicts(row: Handover) -> list[str]:
    """Names of the row's empty cells, and `had_all` if committed records are known that the new leader did not have."""
    found = [name for name, cell in zip(CELLS, _cells(row), strict=True) if cell.conflict]
    found += [name for r in row.removed for name in REMOVED_CELLS if getattr(r, name).conflict]
    return [*found, "had_all"] if row.had_all.only(Cell.YES) and (_lacked_committed(row) or _old_kept_more(row)) else found


def _lacked_committed(row: Handover) -> bool:
    return any(
        _proven(r) and r.lost_in_this_handover.only(Cell.YES) and (r.start.at_most or 0) < row.high_watermark.at_least for r in row.removed
    )


def _old_kept_more(row: Handover) -> bool:
    """Before leader epochs the old leader keeps only committed records. If it is known to have cut its log, the end may be that before the
    cut."""
    end = row.new_log_end.at_most
    more = end is not None and end < row.old_log_end.at_least and not row.removed
    return more and row.kind == CHANGE and row.truncation.only(Cell.BY_HIGH_WATERMARK)


# verdict


@dataclass(frozen=True, slots=True)
class Lost:
    """Offsets from `start` to before `end` are gone. `end` None: there may have been records from `start` on, and how far they went is
    unknown."""

    row: int
    start: int
    end: int | None
    committed: bool | None
    """None: not known."""
    confidence: str


@dataclass(frozen=True, slots=True)
class Open:
    """A cell that leaves the verdict open."""

    row: int
    cell: str


@dataclass(frozen=True, slots=True)
class Verdict:
    verdict: str
    lost: tuple[Lost, ...] = ()
    decides: tuple[Open, ...] = ()
    """The cells that leave it open, in the order of the rows."""


def verdict(rows: Sequence[Handover]) -> Verdict:
    """The verdict on a partition from all its rows, in order."""
    if not rows:
        return Verdict(UNKNOWN, (), (Open(0, "leader_epoch"),))
    lost = tuple(x for number, row in enumerate(rows) for x in losses(number, row))
    left = tuple(Open(number, cell) for number, row in enumerate(rows) for cell in open_cells(row))
    if any(map(_proves_loss, lost)):
        return Verdict(LOST, lost, left)
    maybe_committed = tuple(Open(x.row, "high_watermark") for x in lost if x.committed is not False)
    if left or maybe_committed:
        return Verdict(UNKNOWN, lost, left or maybe_committed)
    return Verdict(TAIL_CUT if lost else INTACT, lost)


def _proves_loss(lost: Lost) -> bool:
    return bool(lost.committed) and lost.confidence != POSSIBLE


def losses(number: int, row: Handover) -> Iterator[Lost]:
    """The losses that the row shows, by offset; each part with its commitment."""
    known = [r for r in row.removed if _proven(r)]
    if not known:
        return
    parts = _parts(number, row, known)
    if row.contradictions or conflicts(row):
        yield from (replace(part, committed=None, confidence=POSSIBLE) for part in parts)
        return
    yield from parts
    end, never = max(r.end.at_least for r in known), parts[-1].committed is False
    if _unbounded(row, known, end) or (not never and _old_leader_unseen(row)):
        yield Lost(number, end, None, False if never else None, POSSIBLE)


def _unbounded(row: Handover, known: Sequence[Removed], end: int) -> bool:
    """The lost log may have gone on: none of those that had the most is known to have ended there, or a crash of the only in-sync replica
    may have taken more than any log shows, even if the log that came back has an exact end. What it had before the crash may be known,
    too."""
    furthest = [r for r in known if r.end.at_least == end]
    if any(r.broker == row.old_leader and r.how in ("restart", "empty") and r.end.exact for r in furthest):
        return False
    crashed = not row.sole_restart.only(Cell.NONE, Cell.CLEAN) or not row.last_isr_member_lost_tail.only(Cell.NO)
    return crashed or all(r.end.at_most is None for r in furthest)


def _old_leader_unseen(row: Handover) -> bool:
    """Only logs of followers show the removed records: the old leader, whose log end is unknown, may have had more."""
    others = row.old_leader not in (None, row.new_leader, *(r.broker for r in row.removed))
    return row.kind == CHANGE and others and row.old_log_end.at_most is None


def _proven(removed: Removed) -> bool:
    """At least one offset of it is known."""
    return removed.start.at_most is not None and removed.start.at_most < removed.end.at_least


def _parts(number: int, row: Handover, known: Sequence[Removed]) -> list[Lost]:
    """Ranges of offsets with equal knowledge about them, rising. Every removal of an offset is evidence of it, and the strongest counts."""
    mark = row.high_watermark
    bounds = {b for r in known for b in (r.start.at_most, r.end.at_least)} | {mark.at_least, mark.at_most}
    found: list[Lost] = []
    for begin, stop in pairwise(sorted(b for b in bounds if b is not None)):
        claims = [_claim(row, r, begin) for r in known if _covers(r, begin, stop)]
        if not claims:
            continue
        part = Lost(number, begin, stop, _committed(claims), max((sure for _, sure in claims), key=STRENGTH.index))
        if found and found[-1].end == begin and replace(part, start=found[-1].start) == replace(found[-1], end=stop):
            part = replace(part, start=found.pop().start)
        found.append(part)
    return found


def _covers(removed: Removed, begin: int, stop: int) -> bool:
    return removed.start.at_most is not None and removed.start.at_most <= begin and stop <= removed.end.at_least


def _committed(claims: Iterable[tuple[bool | None, str]]) -> bool | None:
    return next((committed for committed, _ in claims if committed is not None), None)


def _claim(row: Handover, removed: Removed, offset: int) -> tuple[bool | None, str]:
    """Commitment and confidence by one removal: committed below the high watermark; never committed above its highest possible value, or
    if the new leader had all committed records."""
    mark, here = row.high_watermark, removed.lost_in_this_handover.only(Cell.YES)
    committed = None
    if here and offset < mark.at_least:
        committed = True
    elif here and (row.had_all.only(Cell.YES) or (mark.at_most is not None and offset >= mark.at_most)):
        committed = False
    if not removed.written_before_handover.only(Cell.YES) or (committed is not True and not row.resent.only(Cell.NO)):
        return committed, POSSIBLE
    return committed, CERTAIN if here and row.new_log_end.at_most is not None else PROBABLE


def removed_range(row: Handover) -> tuple[Removed, Removed] | None:
    """The removals that bound the lost range: the one with the lowest start, and the one with the highest end."""
    known = [r for r in row.removed if _proven(r)]
    if not known:
        return None
    first = min(known, key=lambda r: (r.start.at_most, not r.start.exact))
    return first, max(known, key=lambda r: (r.end.at_least, r.end.at_most is not None, -(r.start.at_most or 0)))


def open_cells(row: Handover) -> Iterator[str]:
    """The cells that keep the row from proving that no other records are gone."""
    yield from conflicts(row)
    if row.contradictions:
        yield "contradictions"
    if row.unseen.at_most != 0:
        yield "unseen"
    if not row.sole_restart.only(Cell.NONE, Cell.CLEAN):
        yield "sole_restart"
    if not row.unexplained_truncations.only(Cell.NO):
        yield "unexplained_truncations"
    if any(_more_removed(row, r) for r in row.removed):
        yield "removed"
    if row.kind == CHANGE or row.kind == RESTART:
        yield from _open_in_handover(row)
    if row.kind == END and row.new_log_end.at_most is not None and row.new_log_end.at_most < row.high_watermark.at_least:
        yield "new_log_end"


def _more_removed(row: Handover, removed: Removed) -> bool:
    """Besides the offsets that are known to be gone, others may be, and they may have been committed."""
    if not _proven(removed):
        return removed.end.at_most is None or removed.start.at_least < removed.end.at_most
    mark = row.high_watermark.at_most
    above = row.had_all.only(Cell.YES) or (mark is not None and removed.start.at_least >= mark)
    return not (removed.start.exact and removed.end.exact) and not (above and removed.lost_in_this_handover.only(Cell.YES))


def _open_in_handover(row: Handover) -> Iterator[str]:
    if row.old_leader == row.new_leader and row.log.only(Cell.KEPT):
        return  # it leads on with the log that it had
    if not row.had_all.only(Cell.YES) and not _ends_suffice(row):
        yield _undecided(row)
    if removed_range(row) is None and not _old_end_suffices(row):
        yield "old_log_end"


def _undecided(row: Handover) -> str:
    """The first open cell among those that `had_all` relies on."""
    if not row.election.only(Cell.IN_ISR, Cell.ELIGIBLE):
        return "election"
    if row.log.only(Cell.KEPT):
        return "high_watermark"
    return "log" if row.process.only(Cell.RUNNING, Cell.STOPPED) or row.process.only(Cell.CRASHED) else "process"


def _ends_suffice(row: Handover) -> bool:
    """The new leader's log reached the highest possible high watermark."""
    return row.high_watermark.at_most is not None and row.high_watermark.at_most <= row.new_log_end.at_least


def _old_end_suffices(row: Handover) -> bool:
    """The old leader had no record that the new one lacked. Before leader epochs it cuts to its high watermark, and the new leader has
    everything below."""
    end = row.old_log_end.at_most
    if end is None:
        return False
    return end <= row.new_log_end.at_least or (row.truncation.only(Cell.BY_HIGH_WATERMARK) and row.had_all.only(Cell.YES))


# causes

UNCLEAN_ELECTION, UNFLUSHED, TAIL, HW_TRUNCATION = "unclean-election", "unflushed-log", "uncommitted-tail", "hw-truncation"
EMPTY, FOREIGN, CORRUPTION = "empty-replica", "inherited-log", "corruption"
TAILS = (TAIL, UNKNOWN)
"""Causes with which no other replica is known to have had the records: only the producers' batches show whether the records were
acknowledged."""


def cause(row: Handover, committed: bool | None, *, any_committed: bool = False) -> str:
    """The cause of one part of the removed records. `any_committed`: another part of them was committed, so a leader in sync once had
    them."""
    foreign = any(r.from_other_topic.only(Cell.YES) for r in row.removed)
    if not foreign and any(not r.lost_in_this_handover.only(Cell.YES) for r in row.removed):
        return UNKNOWN
    if suspected_outside(row):
        return UNCLEAN_ELECTION
    return FOREIGN if foreign else _of_log(row, committed, any_committed=any_committed)


def _of_log(row: Handover, committed: bool | None, *, any_committed: bool) -> str:
    """The cause, by what happened to the new leader's log."""
    if row.log.only(Cell.WIPED):
        return EMPTY
    if row.log.only(Cell.CUT) and committed is not False:
        return HW_TRUNCATION
    if row.log.only(Cell.KEPT, Cell.RECOVERED, Cell.DAMAGED) and not row.log.only(Cell.KEPT):
        return _of_recovery(row, any_committed=any_committed)
    return TAIL if committed is False else _of_unknown_log(row, committed)


def _of_unknown_log(row: Handover, committed: bool | None) -> str:
    if any(r.how == "high-watermark" and r.broker == row.new_leader for r in row.removed):
        return HW_TRUNCATION
    in_sync = row.election.only(Cell.IN_ISR, Cell.ELIGIBLE) and not row.process.only(Cell.CRASHED)
    return TAIL if committed is None and in_sync else UNKNOWN


def _of_recovery(row: Handover, *, any_committed: bool) -> str:
    if row.log.only(Cell.DAMAGED):
        return CORRUPTION
    return UNFLUSHED if any_committed or row.log.only(Cell.RECOVERED) else UNKNOWN


def suspected_outside(row: Handover) -> bool:
    """The new leader was elected outside the ISR, for certain or according to the last known ISR."""
    return row.election.only(Cell.OUTSIDE) or row.election.values == {Cell.OUTSIDE, Cell.IN_ISR}


# records of a case


def rows_of(records: Iterable[Mapping[str, Any]]) -> list[Handover]:
    """The rows of one partition from the records of a case's table `handovers`."""
    return [_row_of(record) for record in records]


def _row_of(record: Mapping[str, Any]) -> Handover:
    plain = ("kind", "leader_epoch", "restart", "old_leader", "new_leader")
    values: dict[str, Any] = {name: record[name] for name in plain} | {name: _cell_of(record[name]) for name in CELLS}
    removed = tuple(map(_removed_of, record["removed"] or ()))
    return Handover(**values, removed=removed, contradictions=tuple(record["contradictions"] or ()))


def _removed_of(record: Mapping[str, Any]) -> Removed:
    plain = ("broker", "how", "likely_start", "exact_end")
    values: dict[str, Any] = {name: record[name] for name in plain}
    return Removed(**values, **{name: _cell_of(record[name]) for name in REMOVED_CELLS})


def _cell_of(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Interval(value["at_least"], value["at_most"])
    return Possible(frozenset(value))
