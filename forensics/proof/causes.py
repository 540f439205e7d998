"""Why records were lost in a hand-over: a pure function of its row."""

from __future__ import annotations

from forensics.proof.verdict import (
    CRASHED,
    CUT,
    DAMAGED,
    ELIGIBLE,
    IN_ISR,
    KEPT,
    OUTSIDE,
    RECOVERED,
    WIPED,
    YES,
    Handover,
)

UNCLEAN_ELECTION, UNFLUSHED, TAIL, HW_TRUNCATION = "unclean-election", "unflushed-log", "uncommitted-tail", "hw-truncation"
EMPTY, FOREIGN, CORRUPTION, UNKNOWN = "empty-replica", "inherited-log", "corruption", "unknown"
TAILS = (TAIL, UNKNOWN)
"""Causes with which no other replica is known to have had the records: only the producers' batches show whether the records were
acknowledged."""


def cause(row: Handover, committed: bool | None, *, any_committed: bool = False) -> str:
    """The cause of one part of the removed records. `any_committed`: another part of them was committed, so a leader in sync once had
    them."""
    foreign = any(r.from_other_topic.only(YES) for r in row.removed)
    if not foreign and any(not r.lost_in_this_handover.only(YES) for r in row.removed):
        return UNKNOWN
    if suspected_outside(row):
        return UNCLEAN_ELECTION
    return FOREIGN if foreign else _of_log(row, committed, any_committed=any_committed)


def _of_log(row: Handover, committed: bool | None, *, any_committed: bool) -> str:
    """The cause, by what happened to the new leader's log."""
    if row.log.only(WIPED):
        return EMPTY
    if row.log.only(CUT) and committed is not False:
        return HW_TRUNCATION
    if row.log.only(KEPT, RECOVERED, DAMAGED) and not row.log.only(KEPT):
        return _of_recovery(row, any_committed=any_committed)
    return TAIL if committed is False else _of_unknown_log(row, committed)


def _of_unknown_log(row: Handover, committed: bool | None) -> str:
    if any(r.how == "high-watermark" and r.broker == row.new_leader for r in row.removed):
        return HW_TRUNCATION
    in_sync = row.election.only(IN_ISR, ELIGIBLE) and not row.process.only(CRASHED)
    return TAIL if committed is None and in_sync else UNKNOWN


def _of_recovery(row: Handover, *, any_committed: bool) -> str:
    if row.log.only(DAMAGED):
        return CORRUPTION
    return UNFLUSHED if any_committed or row.log.only(RECOVERED) else UNKNOWN


def suspected_outside(row: Handover) -> bool:
    """The new leader was elected outside the ISR, for certain or according to the last known ISR."""
    return row.election.only(OUTSIDE) or row.election.values == {OUTSIDE, IN_ISR}
