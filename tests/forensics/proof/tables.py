"""Tables of hand-overs made by hand or at random, and what a verdict claims of each offset.

Here: rows that prove something by themselves, hypothesis strategies for rows and for wider cells, and claims of a verdict per offset. Not here:
tables of real evidence (staging).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from forensics.proof.verdict import (
    ANY_ELECTION,
    ANY_LOG,
    ANY_PROCESS,
    ANY_RESTART,
    ANY_TRUNCATION,
    BEGIN,
    CELLS,
    CERTAIN,
    CHANGE,
    EITHER,
    END,
    POSSIBLE,
    PROBABLE,
    RESTART,
    Cell,
    Handover,
    Interval,
    Lost,
    Possible,
    Removed,
    conflicts,
    open_cells,
)

SETS = {
    "election": ANY_ELECTION,
    "unexplained_truncations": EITHER,
    "process": ANY_PROCESS,
    "log": ANY_LOG,
    "had_all": EITHER,
    "sole_commit": EITHER,
    "sole_restart": ANY_RESTART,
    "last_isr_member_lost_tail": EITHER,
    "resent": EITHER,
    "truncation": ANY_TRUNCATION,
}
INTERVALS = ("unseen", "old_log_end", "new_log_end", "high_watermark")
PARTS = ("written_before_handover", "lost_in_this_handover", "from_other_topic")
assert {*SETS, *INTERVALS} == {*CELLS}

exactly = Interval.exactly
only = Possible.of
T = TypeVar("T")
NARROW = {
    "election": only(Cell.IN_ISR, Cell.ELIGIBLE),
    "unexplained_truncations": only(Cell.NO),
    "process": only(Cell.RUNNING, Cell.STOPPED),
    "log": only(Cell.KEPT),
    "had_all": only(Cell.YES),
    "sole_commit": only(Cell.NO),
    "sole_restart": only(Cell.NONE),
    "last_isr_member_lost_tail": only(Cell.NO),
    "resent": only(Cell.NO),
    "truncation": only(Cell.BY_EPOCH),
}
"""Cells of a row that proves that nothing is gone."""


# rows by hand


def closed(kind: str, leader_epoch: int = 1, **cells: Any) -> Handover:
    """A row in which nothing is open that a row of every kind must show."""
    narrow: dict[str, Any] = {name: NARROW[name] for name in ("unexplained_truncations", "sole_restart", "last_isr_member_lost_tail")}
    return replace(Handover(kind, leader_epoch, unseen=exactly(0), **narrow), **cells)


def change(kind: str = CHANGE, **cells: Any) -> Handover:
    """Broker 1 led to offset 5, and broker 2, which was in the ISR and had all committed records, led on from there. Where it may have lacked
    some, that it had all is open."""
    ends = {"old_log_end": exactly(5), "new_log_end": exactly(5), "high_watermark": Interval(0, 5)}
    row = closed(kind, **{"old_leader": 1, "new_leader": 2, **NARROW, **ends, **cells})
    mark = row.high_watermark.at_most
    lacked = any(mark is None or r.start.at_most is None or r.start.at_most < mark for r in row.removed)
    return replace(row, had_all=EITHER) if lacked and "had_all" not in cells else row


def tail(begin: int = 5, stop: int = 8, /, **cells: Any) -> Removed:
    """Offsets of broker 1 that the new leader did not have."""
    known: dict[str, Any] = {
        "written_before_handover": only(Cell.YES),
        "lost_in_this_handover": only(Cell.YES),
        "from_other_topic": only(Cell.NO),
        **cells,
    }
    return Removed(1, **{"start": exactly(begin), "end": exactly(stop), **known})


def table(*rows: Handover) -> list[Handover]:
    """The rows between the begin and the end of the evidence."""
    begin = closed(BEGIN, 0, new_leader=1)
    return [begin, *rows, closed(END, rows[-1].leader_epoch if rows else 0)]


# rows at random


class Choices:
    """Choices that the bytes of a hypothesis example make, one byte each: much faster than a strategy for each cell, and a shorter or smaller
    example makes the first, narrow choice. After the last byte it is the first choice, too."""

    def __init__(self, data: bytes) -> None:
        self._data = iter(data)

    def among(self, options: Sequence[T]) -> T:
        return options[next(self._data, 0) % len(options)]

    def once_in(self, times: int) -> bool:
        """True once in so many times."""
        return next(self._data, 0) % times == times - 1

    def some(self, of: Possible) -> frozenset[str]:
        chosen = next(self._data, 0)
        return frozenset(word for n, word in enumerate(sorted(of.values)) if not chosen >> n & 1)


def interval(c: Choices) -> Interval:
    """Of any width; sometimes a contradiction."""
    low = c.among(range(13))
    if c.once_in(12):
        return Interval(low, c.among(range(low)) if low else None)
    return Interval(low, c.among((low, low + 1, low + 3, None)))


def removal(c: Choices, end: int) -> Removed:
    """Mostly records right above `end`, known exactly, and of this hand-over."""
    start = c.among((end, end, end, end + 1, end + 2, max(0, end - 1)))
    reached = start + c.among((2, 1, 3, 4))
    return Removed(
        c.among((1, 2, 3)),
        start=interval(c) if c.once_in(6) else exactly(start),
        end=interval(c) if c.once_in(6) else exactly(reached),
        written_before_handover=Possible(c.some(EITHER)) if c.once_in(5) else only(Cell.YES),
        lost_in_this_handover=Possible(c.some(EITHER)) if c.once_in(5) else only(Cell.YES),
        from_other_topic=Possible(c.some(EITHER)) if c.once_in(5) else only(Cell.NO),
    )


def handover(c: Choices, kind: str, wide: int) -> Handover:
    """A row of which each cell is narrow, or any, once in `wide` times."""
    end = c.among(range(10))
    below, above = (Interval(0, end), exactly(end)), (Interval(end), Interval(end + 2), exactly(end + 1), Interval(0, end + 1))
    mark = c.among((*below, *below, *above))
    words: dict[str, Any] = {**NARROW, "truncation": only(c.among((Cell.BY_EPOCH, Cell.BY_EPOCH, Cell.BY_HIGH_WATERMARK)))}
    offsets: dict[str, Any] = {"unseen": exactly(0), "old_log_end": exactly(end), "new_log_end": exactly(end), "high_watermark": mark}
    if kind == END:
        offsets["high_watermark"] = Interval(0)
    cells: dict[str, Any] = {name: Possible(c.some(SETS[name])) if c.once_in(wide) else usual for name, usual in words.items()}
    if kind != END and mark not in below and not c.once_in(12):
        cells["had_all"] = EITHER
    cells |= {name: interval(c) if c.once_in(wide) else usual for name, usual in offsets.items()}
    return Handover(
        kind,
        1,
        old_leader=1,
        new_leader=c.among((2, 2, 1)),
        removed=tuple(removal(c, end) for _ in range(c.among((0, 1, 2, 3)) if kind != END and c.once_in(2) else 0)),
        **cells,
    )


def rows_at_random(c: Choices) -> list[Handover]:
    """Tables of which every verdict has a good share: most rows are narrow, some are of any width."""
    wide = c.among((250, 250, 100, 40, 8))
    middle = c.among(((CHANGE,), (RESTART,), (CHANGE, CHANGE), (CHANGE, RESTART)))
    return [handover(c, kind, wide) for kind in (BEGIN, *middle, END)]


LENGTH = 250
"""Bytes that make a table, and the choice of the cell that is widened."""
EXAMPLES = st.binary(min_size=LENGTH, max_size=LENGTH).map(Choices)


# wider cells


def wider_interval(c: Choices, cell: Interval) -> Interval:
    high = None if cell.at_most is None else c.among((None, cell.at_most, cell.at_most + 1, cell.at_most + 4))
    return Interval(c.among(range(cell.at_least + 1)), high)


def wider_set(c: Choices, cell: Possible, of: Possible) -> Possible:
    return Possible(cell.values | c.some(of))


def wider_removal(c: Choices, removed: Removed) -> Removed:
    part = c.among(("start", "end", "start", "end", *PARTS))
    cell = getattr(removed, part)
    wide: dict[str, Any] = {part: wider_set(c, cell, EITHER) if part in PARTS else wider_interval(c, cell)}
    return replace(removed, **wide)


def wider_row(c: Choices, row: Handover) -> Handover:
    """The row with one cell that allows more, or the same."""
    cell = c.among([*(["removed"] * len(CELLS) if row.removed else []), *CELLS])
    if cell == "removed":
        n = c.among(range(len(row.removed)))
        return replace(row, removed=(*row.removed[:n], wider_removal(c, row.removed[n]), *row.removed[n + 1 :]))
    was = getattr(row, cell)
    wide: dict[str, Any] = {cell: wider_interval(c, was) if cell in INTERVALS else wider_set(c, was, SETS[cell])}
    return replace(row, **wide)


# what a verdict claims


def contradicts(row: Handover) -> bool:
    """The evidence of the row cannot all be true: a cell is empty, or the last leader's log ends below a high watermark that was seen."""
    return bool(conflicts(row)) or (row.kind == END and "new_log_end" in open_cells(row))


RANK = {POSSIBLE: 0, PROBABLE: 1, CERTAIN: 2}


def _claimed(part: Lost) -> range:
    """The offsets that are said to be gone; without an end none are."""
    return range(part.start, part.start if part.end is None else part.end)


def committed(lost: Iterable[Lost], value: bool) -> set[int]:
    return {offset for part in lost if part.committed is value for offset in _claimed(part)}


def confidences(lost: Iterable[Lost]) -> dict[int, int]:
    """Of each offset that is gone how sure that is. `Possible` is no claim: it is the same as not to be named."""
    found: dict[int, int] = {}
    for part in lost:
        for offset in _claimed(part):
            found[offset] = max(found.get(offset, 0), RANK[part.confidence])
    return {offset: rank for offset, rank in found.items() if rank}


def surer(before: Iterable[Lost], after: Iterable[Lost]) -> Iterator[str]:
    """What the second verdict claims of single offsets and the first does not."""
    before, after = list(before), list(after)
    for value in (True, False):
        if more := committed(after, value) - committed(before, value):
            yield f"{sorted(more)} committed: {value}"
    known = confidences(before)
    for offset, rank in confidences(after).items():
        if rank > known.get(offset, 0):
            yield f"{offset} is surer: {known.get(offset, 0)} -> {rank}"
