"""Why records were lost: each cause from the least of a row that shows it, and never a cause that the row excludes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from forensics.proof.verdict import (
    ANY_ELECTION,
    ANY_LOG,
    CHANGE,
    CORRUPTION,
    EITHER,
    EMPTY,
    FOREIGN,
    HW_TRUNCATION,
    TAIL,
    TAILS,
    UNCLEAN_ELECTION,
    UNFLUSHED,
    UNKNOWN,
    Cell,
    Handover,
    Possible,
    Removed,
    cause,
    suspected_outside,
)
from tests.forensics.proof.tables import EXAMPLES, SETS, Choices, only, rows_at_random, tail

GONE = tail(5, 8)
COMMITTED, OPEN, NEVER = True, None, False


def row(*removed: Removed, **cells: Any) -> Handover:
    """Only what the cells say is known."""
    return Handover(CHANGE, 1, old_leader=1, new_leader=2, removed=removed or (GONE,), **cells)


# where the new leader was elected


@pytest.mark.parametrize("committed", [COMMITTED, OPEN, NEVER])
@pytest.mark.parametrize("election", [only(Cell.OUTSIDE), only(Cell.OUTSIDE, Cell.IN_ISR)])
def test_a_leader_from_outside_the_isr_lost_all_that_it_lacked(election: Possible, committed: bool | None) -> None:
    """Whatever its log went through: it need not have had the records, and the leader from the ISR had them."""
    assert cause(row(election=election), committed) == UNCLEAN_ELECTION
    assert cause(row(election=election, log=only(Cell.WIPED)), committed) == UNCLEAN_ELECTION
    assert suspected_outside(row(election=election))


@pytest.mark.parametrize(
    "election",
    [ANY_ELECTION, only(Cell.IN_ISR), only(Cell.ELIGIBLE), only(Cell.IN_ISR, Cell.ELIGIBLE), only(Cell.OUTSIDE, Cell.ELIGIBLE), only()],
)
def test_an_election_of_which_nothing_is_known_is_not_blamed(election: Possible) -> None:
    """Only the last ISR in evidence leaves `outside` and nothing else that is unusual."""
    assert not suspected_outside(row(election=election))
    assert cause(row(election=election), COMMITTED) == UNKNOWN


@settings(max_examples=500)
@given(EXAMPLES)
def test_the_election_is_never_blamed_where_it_cannot_have_been_outside(c: Choices) -> None:
    for found in rows_at_random(c):
        for committed in (COMMITTED, OPEN, NEVER):
            for election in (found.election, Possible(c.some(SETS["election"]))):
                blamed = cause(replace(found, election=election), committed) == UNCLEAN_ELECTION
                assert not blamed or Cell.OUTSIDE in election.values


# records of another partition


def test_records_of_another_partition_of_this_name() -> None:
    assert cause(row(tail(5, 8, from_other_topic=only(Cell.YES))), COMMITTED) == FOREIGN
    assert cause(row(tail(5, 8), tail(6, 8, from_other_topic=only(Cell.YES))), COMMITTED) == FOREIGN
    assert cause(row(tail(5, 8, from_other_topic=EITHER)), COMMITTED) == UNKNOWN


def test_foreign_records_count_as_such_in_whichever_hand_over_they_went() -> None:
    assert cause(row(tail(5, 8, from_other_topic=only(Cell.YES), lost_in_this_handover=EITHER)), COMMITTED) == FOREIGN


def test_an_unclean_election_is_blamed_before_a_log_from_elsewhere() -> None:
    assert cause(row(tail(5, 8, from_other_topic=only(Cell.YES)), election=only(Cell.OUTSIDE)), COMMITTED) == UNCLEAN_ELECTION


# in which hand-over


@pytest.mark.parametrize("here", [EITHER, only(Cell.NO)])
def test_records_that_may_have_gone_in_a_later_hand_over_have_no_known_cause(here: Possible) -> None:
    """This row's election and log need not be those that lost them."""
    unsure = tail(5, 8, lost_in_this_handover=here)
    assert cause(row(unsure, election=only(Cell.OUTSIDE)), COMMITTED) == UNKNOWN
    assert cause(row(GONE, unsure, log=only(Cell.WIPED)), COMMITTED) == UNKNOWN
    assert cause(row(unsure, election=only(Cell.IN_ISR), log=only(Cell.KEPT)), NEVER) == UNKNOWN


# what the new leader's log went through


@pytest.mark.parametrize("committed", [COMMITTED, OPEN, NEVER])
def test_a_leader_that_came_back_empty(committed: bool | None) -> None:
    assert cause(row(log=only(Cell.WIPED)), committed) == EMPTY


@pytest.mark.parametrize(("committed", "expected"), [(COMMITTED, HW_TRUNCATION), (OPEN, HW_TRUNCATION), (NEVER, TAIL)])
def test_a_leader_that_had_cut_its_own_log_to_its_high_watermark(committed: bool | None, expected: str) -> None:
    """Below the high watermark of the leader before; what was never committed no cut of a follower can have lost."""
    assert cause(row(log=only(Cell.CUT)), committed) == expected


@pytest.mark.parametrize("committed", [COMMITTED, OPEN, NEVER])
def test_a_leader_whose_own_cut_shows_the_loss(committed: bool | None) -> None:
    own = replace(GONE, how="high-watermark", broker=2)
    assert cause(row(own), committed) == (TAIL if committed is NEVER else HW_TRUNCATION)
    assert cause(row(GONE, own), COMMITTED) == HW_TRUNCATION, "other logs show it as well"
    assert cause(row(replace(own, broker=1)), COMMITTED) == UNKNOWN, "a follower cut it"
    assert cause(row(replace(own, how="restart")), COMMITTED) == UNKNOWN


@pytest.mark.parametrize("committed", [COMMITTED, OPEN, NEVER])
def test_a_log_that_was_cut_below_what_was_flushed_is_corrupt(committed: bool | None) -> None:
    assert cause(row(log=only(Cell.DAMAGED)), committed) == CORRUPTION
    assert cause(row(log=only(Cell.DAMAGED)), committed, any_committed=True) == CORRUPTION


@pytest.mark.parametrize("committed", [COMMITTED, OPEN, NEVER])
def test_a_log_without_what_was_not_flushed(committed: bool | None) -> None:
    assert cause(row(log=only(Cell.RECOVERED)), committed) == UNFLUSHED


@pytest.mark.parametrize(
    "log",
    [
        only(Cell.KEPT, Cell.RECOVERED),
        only(Cell.RECOVERED, Cell.DAMAGED),
        only(Cell.KEPT, Cell.DAMAGED),
        only(Cell.KEPT, Cell.RECOVERED, Cell.DAMAGED),
    ],
)
def test_a_log_that_may_have_lost_its_tail_is_blamed_if_a_part_was_committed(log: Possible) -> None:
    """A leader from the ISR once had what was committed, so its own log lost it."""
    assert cause(row(log=log), OPEN) == UNKNOWN
    assert cause(row(log=log), NEVER) == UNKNOWN
    assert cause(row(log=log), OPEN, any_committed=True) == UNFLUSHED


@pytest.mark.parametrize("log", [ANY_LOG, only(Cell.RECOVERED, Cell.CUT), only(Cell.KEPT, Cell.WIPED), only()])
def test_a_log_of_which_too_little_is_known_is_not_blamed(log: Possible) -> None:
    assert cause(row(log=log), COMMITTED, any_committed=True) == UNKNOWN


# tails


@pytest.mark.parametrize("log", [only(Cell.KEPT), ANY_LOG, only(Cell.CUT)])
@pytest.mark.parametrize("election", [only(Cell.IN_ISR), only(Cell.ELIGIBLE), ANY_ELECTION])
def test_what_was_never_committed_is_a_tail(log: Possible, election: Possible) -> None:
    assert cause(row(log=log, election=election), NEVER) == TAIL


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"election": only(Cell.IN_ISR)}, TAIL),
        ({"election": only(Cell.ELIGIBLE)}, TAIL),
        ({"election": only(Cell.IN_ISR), "process": only(Cell.RUNNING, Cell.STOPPED)}, TAIL),
        ({"election": only(Cell.IN_ISR), "process": only(Cell.RUNNING, Cell.CRASHED)}, TAIL),
        ({"election": only(Cell.IN_ISR), "process": only(Cell.CRASHED)}, UNKNOWN),
        ({"election": ANY_ELECTION, "process": only(Cell.RUNNING)}, UNKNOWN),
        ({}, UNKNOWN),
    ],
)
def test_what_a_leader_from_the_isr_lacked_is_probably_a_tail(cells: dict[str, Any], expected: str) -> None:
    """If its process is not known to have crashed; then it may have lost them itself."""
    assert cause(row(**cells), OPEN) == expected


def test_committed_records_that_a_leader_from_the_isr_lacked_are_no_tail() -> None:
    """It must have had them: why it had not is unknown."""
    assert cause(row(election=only(Cell.IN_ISR), process=only(Cell.RUNNING), log=only(Cell.KEPT)), COMMITTED) == UNKNOWN


def test_causes_for_which_producers_batches_show_whether_anybody_misses_the_records() -> None:
    assert {*TAILS} == {TAIL, UNKNOWN}
