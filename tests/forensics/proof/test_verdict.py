"""The verdict of a table: less evidence never makes it surer, and each of its rules decides exactly where it says.

Examples are made by hand or at random (tests.forensics.proof.tables); what the evidence of real incidents comes to is tested elsewhere.
"""

from __future__ import annotations

import ast
import random
import subprocess
import sys
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from forensics.proof import verdict as module
from forensics.proof.judgement import Judgement
from forensics.proof.records import records
from forensics.proof.verdict import (
    ANY_LOG,
    BEGIN,
    CELLS,
    CERTAIN,
    CHANGE,
    EITHER,
    END,
    INTACT,
    LOST,
    POSSIBLE,
    PROBABLE,
    RESTART,
    TAIL_CUT,
    UNKNOWN,
    VERDICTS,
    Cell,
    Handover,
    Interval,
    Lost,
    Open,
    Possible,
    Removed,
    Verdict,
    conflicts,
    losses,
    open_cells,
    removed_range,
    rows_of,
    verdict,
)
from forensics.words.rows import words_in
from tests.forensics.proof.tables import (
    EXAMPLES,
    INTERVALS,
    LENGTH,
    PARTS,
    SETS,
    Choices,
    change,
    closed,
    contradicts,
    exactly,
    interval,
    only,
    rows_at_random,
    surer,
    table,
    tail,
    wider_interval,
    wider_row,
)

FILE = Path(module.__file__)
MANY = settings(max_examples=1500)


# less evidence never makes a verdict surer


@MANY
@given(EXAMPLES)
def test_a_wider_cell_never_makes_a_verdict_surer(c: Choices) -> None:
    """A row that contradicts itself is exempt, and only where the wider cell is in it: it claims nothing, and what resolves the contradiction
    may well be that less evidence is believed. (That a row without a contradiction stays without one is a test of its own.)"""
    rows = rows_at_random(c)
    number = c.among(range(len(rows)))
    wide = [*rows[:number], wider_row(c, rows[number]), *rows[number + 1 :]]
    before, after = verdict(rows), verdict(wide)
    event(f"{before.verdict} -> {after.verdict}")
    if contradicts(rows[number]):
        return
    assert after.verdict in (before.verdict, UNKNOWN)
    assert list(surer(before.lost, after.lost)) == []
    assert after.decides or not before.decides, "what left the verdict open still does"


@MANY
@given(EXAMPLES)
def test_a_wider_cell_brings_no_contradiction(c: Choices) -> None:
    """So the exemption of contradictions works in one direction only: from a contradiction to none, never the other way."""
    for row in rows_at_random(c):
        assert contradicts(row) or not contradicts(wider_row(c, row))


@MANY
@given(EXAMPLES)
def test_a_contradiction_leaves_a_verdict_open_and_its_row_claims_nothing(c: Choices) -> None:
    rows = rows_at_random(c)
    found = verdict(rows)
    for number, row in enumerate(rows):
        if contradicts(row):
            assert found.verdict in (UNKNOWN, LOST), "lost in another row"
            assert number in {left.row for left in found.decides}
        if conflicts(row):
            assert list(surer([], (lost for lost in found.lost if lost.row == number))) == []


def test_every_verdict_is_reached_often() -> None:
    """Of the tables of the tests above; else they would prove little of some verdicts. Tables with a contradiction are not counted."""
    bytes_of = random.Random(0)
    tables = (rows_at_random(Choices(bytes_of.randbytes(LENGTH))) for _ in range(2000))
    found = Counter(verdict(rows).verdict for rows in tables if not any(map(contradicts, rows)))
    assert {*found} == {*VERDICTS}
    assert min(found.values()) >= 100, found


@MANY
@given(EXAMPLES)
def test_only_what_a_removal_shows_is_lost(c: Choices) -> None:
    """An offset that no log is known to have had, and none of whose removals begins below it, is in no range that ends."""
    for row in (row for row in rows_at_random(c) if not conflicts(row)):
        proven = {offset for r in row.removed if r.start.at_most is not None for offset in range(r.start.at_most, r.end.at_least)}
        claimed = {offset for part in losses(0, row) if part.end is not None for offset in range(part.start, part.end)}
        assert claimed <= proven


# cells


@MANY
@given(EXAMPLES)
def test_narrowing_an_interval_is_monotone(c: Choices) -> None:
    """A cell that began wider stays wider when the same evidence narrows both."""
    narrow, evidence = interval(c), interval(c)
    wide = wider_interval(c, narrow)
    assert wide.covers(narrow)
    assert (wide & evidence).covers(narrow & evidence)


@MANY
@given(EXAMPLES)
def test_an_interval_that_evidence_narrowed_allows_what_both_allow(c: Choices) -> None:
    one, other = interval(c), interval(c)
    both = one & other
    allowed = [{n for n in range(40) if i.at_least <= n and (i.at_most is None or n <= i.at_most)} for i in (one, other, both)]
    assert allowed[2] == allowed[0] & allowed[1]
    assert both.conflict is (not allowed[2])
    assert one.covers(other) is (allowed[1] <= allowed[0] and (one.at_most is None or other.at_most is not None or not allowed[1]))


@given(st.sets(st.sampled_from("abc")), st.sets(st.sampled_from("abc")), st.sets(st.sampled_from("abc")))
def test_narrowing_a_set_is_monotone(narrow: set[str], more: set[str], by: set[str]) -> None:
    small, large, evidence = only(*narrow), only(*narrow, *more), only(*by)
    assert large.covers(small)
    assert small.covers(large) is (more <= narrow)
    assert (large & evidence).covers(small & evidence)
    assert (small & evidence).values == narrow & by


@MANY
@given(EXAMPLES)
def test_a_contradiction_stays_one_whatever_else_is_known(c: Choices) -> None:
    one, other = interval(c), interval(c)
    assert not one.conflict or (one & other).conflict
    assert (Possible(frozenset()) & EITHER).conflict


def test_bounds_keep_their_own_evidence() -> None:
    """The evidence of the tighter of two bounds; of equal bounds that of the first."""
    one, other = Interval(3, 9, ("low",), ("high",)), Interval(3, 7, ("other low",), ("other high",))
    assert one & other == Interval(3, 7, ("low",), ("other high",))
    assert other & one == Interval(3, 7, ("other low",), ("other high",))
    assert Interval(2, None) & one == one
    assert Interval(4, None, ("seen",)) & one == Interval(4, 9, ("seen",), ("high",))
    assert exactly(5, "line") == Interval(5, 5, ("line",), ("line",))
    assert Interval(0, 9, (), ("same",)) & Interval(0, 9, (), ("again",)) == Interval(0, 9, (), ("same",))


@pytest.mark.parametrize(
    ("cell", "exact", "conflict"),
    [(Interval(), False, False), (Interval(5, 5), True, False), (Interval(4, 5), False, False), (Interval(6, 5), False, True)],
)
def test_widths_of_intervals(cell: Interval, exact: bool, conflict: bool) -> None:
    assert (cell.exact, cell.conflict) == (exact, conflict)


def test_an_open_interval_is_not_covered_by_one_that_ends() -> None:
    assert Interval(3).covers(Interval(3, 9))
    assert not Interval(3, 9).covers(Interval(3))
    assert not Interval(3, 9).covers(Interval(3, 10))
    assert not Interval(3, 9).covers(Interval(2, 9))
    assert Interval(3, 9).covers(Interval(3, 9))
    assert Interval(3, 9).covers(Interval(8, 1)), "a contradiction allows nothing"


def test_evidence_that_excluded_words_is_kept_once() -> None:
    both = only(Cell.YES, Cell.NO, evidence=("a", "b")) & only(Cell.NO, evidence=("b", "c"))
    assert both == only(Cell.NO, evidence=("a", "b", "c"))


def test_only_is_false_of_a_contradiction() -> None:
    assert only(Cell.YES).only(Cell.YES)
    assert only(Cell.YES).only(Cell.YES, Cell.NO)
    assert not EITHER.only(Cell.YES)
    assert not only().only(Cell.YES, Cell.NO)


def test_a_row_begins_with_cells_that_allow_everything() -> None:
    """What no evidence narrows must not decide."""
    row = Handover(CHANGE, 1)
    for name, of in SETS.items():
        assert getattr(row, name) == of, name
    for name in INTERVALS:
        assert getattr(row, name) == Interval(0, None), name
    removed = Removed(1)
    assert [getattr(removed, part) for part in PARTS] == [EITHER] * 3
    assert (removed.start, removed.end, removed.exact_end, removed.likely_start) == (Interval(), Interval(), False, None)
    assert (removed.how, removed.evidence, removed.removal) == ("", (), None)
    assert (row.restart, row.old_leader, row.new_leader, row.at, row.resent_because) == (0, None, None, None, None)
    assert (row.removed, row.premises, row.contradictions, row.notes) == ((), {}, (), {})
    assert ANY_LOG.values > {Cell.KEPT}


def test_narrowed_only_narrows() -> None:
    row = Handover(CHANGE, 1).narrowed(log=only(Cell.KEPT, Cell.CUT)).narrowed(log=only(Cell.CUT, Cell.RECOVERED), unseen=Interval(0, 3))
    assert (row.log, row.unseen, row.process) == (only(Cell.CUT), Interval(0, 3), SETS["process"])


def test_the_first_note_of_a_cell_counts() -> None:
    row = Handover(CHANGE, 1).noted("log", "first").noted("log", "second").noted("process", "other")
    assert row.notes == {"log": "first", "process": "other"}


@pytest.mark.parametrize("cell", sorted(SETS))
def test_an_empty_set_is_a_conflict_of_its_cell(cell: str) -> None:
    empty: Any = {cell: only()}
    row = change(**empty)
    assert conflicts(row) == [cell]
    assert cell in [left.cell for left in verdict(table(row)).decides]


@pytest.mark.parametrize("cell", INTERVALS)
def test_an_interval_without_offsets_is_a_conflict_of_its_cell(cell: str) -> None:
    empty: Any = {cell: Interval(6, 5)}
    row = change(**empty)
    assert conflicts(row) == [cell]
    assert cell in [left.cell for left in verdict(table(row)).decides]


@pytest.mark.parametrize(
    ("part", "empty"),
    [
        ("start", Interval(6, 5)),
        ("end", Interval(8, 7)),
        ("written_before_handover", only()),
        ("lost_in_this_handover", only()),
        ("from_other_topic", only()),
    ],
)
def test_a_conflict_in_a_removal_is_one_of_its_row(part: str, empty: Any) -> None:
    row = change(removed=(tail(), replace(tail(), **{part: empty})))
    assert conflicts(row) == [part]
    assert verdict(table(row)) == Verdict(UNKNOWN, (Lost(1, 5, 8, None, POSSIBLE),), (Open(1, part),))


def test_a_row_that_contradicts_itself_has_possible_losses_only() -> None:
    """So that a report does not pass over them in silence."""
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8), last_isr_member_lost_tail=only())
    assert list(losses(0, row)) == [Lost(0, 5, 8, None, POSSIBLE)]
    assert list(losses(0, change(process=only()))) == []


# what makes each verdict


def test_no_rows_prove_nothing() -> None:
    assert verdict([]) == Verdict(UNKNOWN, (), (Open(0, "leader_epoch"),))


def test_every_leader_had_all_committed_records_and_nothing_was_removed() -> None:
    assert verdict(table()) == Verdict(INTACT)
    assert verdict(table(change())) == Verdict(INTACT)


def test_records_below_the_high_watermark_are_gone() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8))
    assert verdict(table(row)) == Verdict(LOST, (Lost(1, 5, 8, True, CERTAIN),), (Open(1, "high_watermark"),))


def test_only_records_above_the_high_watermark_are_gone() -> None:
    row = change(removed=(tail(5, 8),))
    assert verdict(table(row)) == Verdict(TAIL_CUT, (Lost(1, 5, 8, False, CERTAIN),))


def test_whether_the_records_were_committed_is_unknown() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=Interval())
    assert verdict(table(row)) == Verdict(UNKNOWN, (Lost(1, 5, 8, None, CERTAIN),), (Open(1, "high_watermark"),))


def test_only_a_row_with_records_that_may_have_been_committed_leaves_it_open() -> None:
    rows = table(change(removed=(tail(5, 8),)), change(removed=(tail(5, 8),), high_watermark=Interval()))
    assert verdict(rows).decides == (Open(2, "high_watermark"),)


def test_lost_stays_lost_with_another_row_open() -> None:
    """More evidence cannot bring the records back."""
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8), unexplained_truncations=EITHER)
    assert verdict(table(row)) == Verdict(
        LOST, (Lost(1, 5, 8, True, CERTAIN),), (Open(1, "unexplained_truncations"), Open(1, "high_watermark"))
    )


def test_a_loss_that_is_only_possible_is_not_a_lost_verdict() -> None:
    row = change(removed=(tail(5, 8, written_before_handover=EITHER),), high_watermark=exactly(8))
    assert verdict(table(row)) == Verdict(UNKNOWN, (Lost(1, 5, 8, True, POSSIBLE),), (Open(1, "high_watermark"),))


def test_a_loss_that_is_probable_is_a_lost_verdict() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8), new_log_end=Interval(5))
    assert verdict(table(row)) == Verdict(LOST, (Lost(1, 5, 8, True, PROBABLE),), (Open(1, "high_watermark"),))


def test_a_cut_tail_in_one_row_and_an_open_cell_in_another() -> None:
    rows = table(change(removed=(tail(5, 8),)), change(log=only(Cell.KEPT, Cell.CUT), had_all=EITHER, high_watermark=Interval()))
    assert verdict(rows).verdict == UNKNOWN
    assert verdict(rows).decides == (Open(2, "high_watermark" if rows[2].log.only(Cell.KEPT) else "log"),)


# losses: which offsets


def parts(row: Handover) -> list[tuple[int, int | None, bool | None]]:
    return [(part.start, part.end, part.committed) for part in losses(0, row)]


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        (exactly(5), [(5, 8, False)]),
        (exactly(6), [(5, 6, True), (6, 8, False)]),
        (exactly(7), [(5, 7, True), (7, 8, False)]),
        (exactly(8), [(5, 8, True)]),
        (exactly(9), [(5, 8, True)]),
        (exactly(4), [(5, 8, False)]),
        (Interval(0, 4), [(5, 8, False)]),
        (Interval(0, 5), [(5, 8, False)]),
        (Interval(0, 6), [(5, 6, None), (6, 8, False)]),
        (Interval(0, 8), [(5, 8, None)]),
        (Interval(0, 9), [(5, 8, None)]),
        (Interval(6), [(5, 6, True), (6, 8, None)]),
        (Interval(8), [(5, 8, True)]),
        (Interval(6, 7), [(5, 6, True), (6, 7, None), (7, 8, False)]),
        (Interval(), [(5, 8, None)]),
    ],
)
def test_the_high_watermark_divides_what_is_gone(mark: Interval, expected: list[tuple[int, int, bool | None]]) -> None:
    """The high watermark is exclusive: the record at its offset is not committed."""
    assert parts(change(removed=(tail(5, 8),), high_watermark=mark)) == expected


def test_records_lost_in_an_unknown_hand_over_are_not_measured_by_the_high_watermark_of_this_one() -> None:
    assert parts(change(removed=(tail(5, 8, lost_in_this_handover=EITHER),), high_watermark=exactly(8))) == [(5, 8, None)]
    assert parts(change(removed=(tail(5, 8, lost_in_this_handover=EITHER),), high_watermark=exactly(0))) == [(5, 8, None)]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (Interval(3, 5), exactly(8), [(5, 8, False)]),
        (exactly(5), Interval(6, 8), [(5, 6, False)]),
        (Interval(3), exactly(8), []),
        (exactly(8), exactly(8), []),
        (Interval(3, 8), exactly(8), []),
        (Interval(3, 7), exactly(8), [(7, 8, False)]),
        (exactly(5), Interval(5, 8), []),
    ],
)
def test_only_offsets_that_each_possible_start_and_end_includes_are_gone(start: Interval, end: Interval, expected: list[Any]) -> None:
    assert parts(change(removed=(tail(5, 8, start=start, end=end),))) == expected


def test_a_log_that_may_have_gone_on_loses_an_unknown_number_more() -> None:
    row = change(removed=(tail(5, 8, end=Interval(8)),))
    assert list(losses(3, row)) == [Lost(3, 5, 8, False, CERTAIN), Lost(3, 8, None, False, POSSIBLE)]


def test_what_a_log_may_have_had_beyond_is_as_committed_as_the_last_part() -> None:
    row = change(removed=(tail(5, 8, end=Interval(8)),), high_watermark=Interval(6))
    assert [(part.start, part.end, part.committed) for part in losses(0, row)] == [(5, 6, True), (6, 8, None), (8, None, None)]


def test_an_old_leader_of_which_nothing_was_collected_may_have_had_more_than_its_followers() -> None:
    row = change(removed=(replace(tail(5, 8), broker=3),), high_watermark=Interval(8), old_log_end=Interval())
    assert list(losses(0, row))[1:] == [Lost(0, 8, None, None, POSSIBLE)]
    own, known = replace(tail(5, 8), broker=row.old_leader or 0), exactly(8)
    assert len(list(losses(0, replace(row, removed=(own,))))) == len(list(losses(0, replace(row, old_log_end=known)))) == 1
    assert len(list(losses(0, replace(row, old_leader=row.new_leader)))) == 1, "its own log is another matter"


@pytest.mark.parametrize("alone", [EITHER, only(Cell.YES)])
def test_a_leader_that_lost_the_end_of_its_own_log_loses_an_unknown_number(alone: Possible) -> None:
    """Other logs prove the least that it lost; how far it went is on no disk."""
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8), last_isr_member_lost_tail=alone)
    assert list(losses(0, row)) == [Lost(0, 5, 8, True, CERTAIN), Lost(0, 8, None, None, POSSIBLE)]
    assert verdict(table(row)).verdict == LOST


def test_an_end_that_is_lost_of_records_that_are_only_possibly_gone_proves_nothing() -> None:
    row = change(removed=(tail(5, 8, written_before_handover=EITHER),), high_watermark=exactly(8), last_isr_member_lost_tail=EITHER)
    assert {part.confidence for part in losses(0, row)} == {POSSIBLE}
    assert verdict(table(row)).verdict == UNKNOWN


def test_an_end_that_is_lost_claims_as_committed_only_what_the_high_watermark_shows() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=Interval(6), last_isr_member_lost_tail=EITHER)
    assert [(x.start, x.end, x.committed) for x in losses(0, row)] == [(5, 6, True), (6, 8, None), (8, None, None)]


def test_an_end_that_is_lost_without_any_removal_shows_no_loss() -> None:
    assert list(losses(0, change(last_isr_member_lost_tail=EITHER))) == []


def test_removals_that_adjoin_are_one_range() -> None:
    row = change(removed=(tail(5, 7), tail(7, 9)))
    assert parts(row) == [(5, 9, False)]


def test_between_two_removals_nothing_is_lost() -> None:
    """Each log lost its own part; the new leader may have had what is in between."""
    assert parts(change(removed=(tail(2, 3), tail(5, 8)), high_watermark=exactly(2))) == [(2, 3, False), (5, 8, False)]


def test_the_surest_removal_of_an_offset_counts() -> None:
    """Another log that possibly had the same records does not make it less sure that this one had them."""
    row = change(removed=(tail(4, 8, written_before_handover=EITHER), tail(5, 8)), high_watermark=exactly(4))
    assert [(part.start, part.end, part.confidence) for part in losses(0, row)] == [(4, 5, POSSIBLE), (5, 8, CERTAIN)]


def test_the_range_that_bounds_what_is_gone() -> None:
    first, longest, inside = tail(5, 7), tail(6, 9), tail(6, 8)
    assert removed_range(change(removed=(inside, longest, first))) == (first, longest)
    assert removed_range(change()) is None
    assert removed_range(change(removed=(tail(8, 8),))) is None


def test_of_removals_that_begin_together_the_exact_one_is_first() -> None:
    exact, below = tail(5, 7), tail(5, 7, start=Interval(3, 5))
    found = removed_range(change(removed=(below, exact)))
    assert found is not None
    assert found[0] is exact


def test_of_removals_that_reach_as_far_the_one_whose_end_is_known_is_last() -> None:
    known, goes_on, later = tail(5, 8), tail(5, 8, end=Interval(8)), tail(6, 8)
    for removed in ((goes_on, later, known), (later, known)):
        found = removed_range(change(removed=removed))
        assert found is not None
        assert found[1] is known, "of two whose end is known the one that begins first"
    zero, one = tail(0, 8), tail(1, 8)
    found = removed_range(change(removed=(one, zero)))
    assert found is not None
    assert found[1] is zero


# losses: how sure


def confidence(**cells: Any) -> str:
    removed = cells.pop("removed", (tail(5, 8),))
    (part,) = losses(0, change(removed=removed, **cells))
    return part.confidence


COMMITTED: dict[str, Any] = {"high_watermark": exactly(8)}


def test_committed_records_that_no_later_leader_had_are_certainly_lost() -> None:
    assert confidence(**COMMITTED) == CERTAIN


@pytest.mark.parametrize("earlier", [EITHER, only(Cell.NO)])
def test_records_that_may_be_younger_than_the_hand_over_are_only_possibly_lost(earlier: Possible) -> None:
    assert confidence(**COMMITTED, removed=(tail(5, 8, written_before_handover=earlier),)) == POSSIBLE


@pytest.mark.parametrize("earlier", [EITHER, only(Cell.NO)])
def test_offsets_of_which_only_younger_records_are_known_are_only_possibly_lost(earlier: Possible) -> None:
    row = change(removed=(tail(5, 8), tail(5, 9, written_before_handover=earlier)), **COMMITTED | {"high_watermark": exactly(9)})
    assert {part.confidence for part in losses(0, row) if part.end is not None and part.start <= 8 < part.end} == {POSSIBLE}


def test_without_the_end_of_the_new_leaders_log_a_loss_is_probable() -> None:
    assert confidence(**COMMITTED, new_log_end=Interval(5)) == PROBABLE
    assert confidence(**COMMITTED, new_log_end=Interval(0, 5)) == CERTAIN


def test_records_that_may_have_gone_in_a_later_hand_over_are_probably_lost() -> None:
    assert confidence(removed=(tail(5, 8, lost_in_this_handover=EITHER),)) == PROBABLE


@pytest.mark.parametrize(("mark", "expected"), [(exactly(8), CERTAIN), (Interval(), POSSIBLE), (Interval(0, 5), POSSIBLE)])
def test_records_that_producers_may_have_sent_again_are_possibly_lost_unless_committed(mark: Interval, expected: str) -> None:
    """Producers were told of what was committed: those with acks=all only of that."""
    assert confidence(high_watermark=mark, resent=EITHER) == expected
    assert confidence(high_watermark=mark, resent=only(Cell.YES)) == expected
    assert confidence(high_watermark=mark) == CERTAIN


# what leaves a row open


def left(row: Handover) -> list[str]:
    return list(open_cells(row))


@pytest.mark.parametrize("kind", [BEGIN, CHANGE, RESTART, END])
def test_a_row_in_which_nothing_is_open(kind: str) -> None:
    assert left(change(kind)) == []


@pytest.mark.parametrize("kind", [BEGIN, CHANGE, RESTART, END])
@pytest.mark.parametrize(
    ("cell", "wide", "narrow"),
    [
        ("unseen", Interval(), exactly(0)),
        ("unseen", Interval(0, 1), exactly(0)),
        ("sole_restart", only(Cell.NONE, Cell.UNCLEAN), only(Cell.NONE, Cell.CLEAN)),
        ("sole_restart", only(Cell.UNCLEAN), only(Cell.CLEAN)),
        ("unexplained_truncations", EITHER, only(Cell.NO)),
        ("unexplained_truncations", only(Cell.YES), only(Cell.NO)),
    ],
)
def test_cells_that_must_be_closed_in_every_row(kind: str, cell: str, wide: Any, narrow: Any) -> None:
    assert left(change(kind, **{cell: wide})) == [cell]
    assert left(change(kind, **{cell: narrow})) == []


@pytest.mark.parametrize("kind", [BEGIN, CHANGE, RESTART, END])
def test_findings_that_contradict_a_row_leave_it_open(kind: str) -> None:
    assert left(change(kind, contradictions=("log-divergence",))) == ["contradictions"]


OPEN = {"had_all": EITHER, "high_watermark": Interval()}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"election": only(Cell.OUTSIDE)}, "election"),
        ({"election": only(Cell.IN_ISR, Cell.OUTSIDE)}, "election"),
        ({"election": only(Cell.ELIGIBLE), "log": ANY_LOG, "process": only(Cell.CRASHED)}, "log"),
        ({"log": ANY_LOG, "process": only(Cell.CRASHED, Cell.RUNNING)}, "process"),
        ({"log": ANY_LOG, "process": only(Cell.RUNNING)}, "log"),
        ({"log": only(Cell.CUT), "process": only(Cell.STOPPED)}, "log"),
        ({"log": only(Cell.KEPT)}, "high_watermark"),
        ({"log": only(Cell.KEPT), "process": SETS["process"]}, "high_watermark"),
    ],
)
def test_the_first_open_cell_that_decides_whether_the_leader_had_all(cells: dict[str, Any], expected: str) -> None:
    """In the order in which evidence is asked for: where it was elected from, how its process ended, what its log lost, what was committed."""
    assert left(change(**{**OPEN, **cells})) == [expected]
    assert left(change(RESTART, **{**OPEN, **cells})) == [expected]
    assert left(change(BEGIN, **{**OPEN, **cells})) == [], "no hand-over in evidence"


@pytest.mark.parametrize(
    ("mark", "end", "suffices"),
    [
        (Interval(0, 5), exactly(5), True),
        (Interval(0, 6), exactly(5), False),
        (Interval(0, 5), Interval(5), True),
        (Interval(0, 5), Interval(4, 9), False),
        (Interval(), exactly(5), False),
        (Interval(0, 0), exactly(0), True),
    ],
)
def test_a_log_that_reached_the_highest_possible_high_watermark_had_all(mark: Interval, end: Interval, suffices: bool) -> None:
    row = change(had_all=EITHER, high_watermark=mark, new_log_end=end, old_log_end=exactly(0))
    assert left(row) == ([] if suffices else ["high_watermark"])


@pytest.mark.parametrize(
    ("old", "new", "suffices"),
    [
        (exactly(5), exactly(5), True),
        (exactly(6), exactly(5), False),
        (exactly(4), exactly(5), True),
        (exactly(5), Interval(5), True),
        (exactly(5), Interval(4, 9), False),
        (Interval(0, 5), exactly(5), True),
        (Interval(0, 6), exactly(5), False),
        (Interval(5), exactly(5), False),
        (Interval(0, 0), exactly(0), True),
    ],
)
def test_an_old_log_that_ended_where_the_new_one_did_had_nothing_more(old: Interval, new: Interval, suffices: bool) -> None:
    assert left(change(old_log_end=old, new_log_end=new)) == ([] if suffices else ["old_log_end"])


def test_what_the_old_log_had_more_is_among_the_removals() -> None:
    """Then where it ended is not asked for again."""
    assert left(change(old_log_end=Interval(), removed=(tail(5, 8),))) == []


@pytest.mark.parametrize("end", [exactly(5), Interval(), exactly(9)])
def test_a_removal_whose_range_is_not_proven_leaves_the_row_open(end: Interval) -> None:
    """Else less evidence about what was removed would make a partition intact."""
    assert left(change(old_log_end=end, removed=(tail(5, 8, start=Interval(5)),))) != []
    assert left(change(BEGIN, old_log_end=end, removed=(tail(5, 8, start=Interval(5, 8)),))) != []


@pytest.mark.parametrize("new", [exactly(7), Interval(7), exactly(8), Interval(3, 9), Interval()])
def test_before_leader_epochs_a_leader_with_all_committed_records_has_what_the_old_one_kept(new: Interval) -> None:
    """The old leader cut its log to its high watermark: what it kept was committed."""
    assert left(change(truncation=only(Cell.BY_HIGH_WATERMARK), old_log_end=exactly(7), new_log_end=new)) == []


@pytest.mark.parametrize(
    ("new", "suffices"),
    [(exactly(7), True), (Interval(7), True), (exactly(6), False), (Interval(6), False)],
)
def test_before_leader_epochs_an_old_log_is_not_longer_after_its_cut(new: Interval, suffices: bool) -> None:
    row = change(
        truncation=only(Cell.BY_HIGH_WATERMARK), old_log_end=exactly(7), new_log_end=new, high_watermark=Interval(0, 6), had_all=EITHER
    )
    assert left(row) == ([] if suffices else ["old_log_end"])


def test_with_either_way_of_cutting_an_old_log_must_not_be_longer() -> None:
    row = change(truncation=SETS["truncation"], old_log_end=exactly(7), new_log_end=Interval(5, 9))
    assert left(row) == ["old_log_end"]


def test_a_leader_that_leads_on_with_its_log_needs_no_proof_of_the_old_one() -> None:
    open_ends: dict[str, Any] = {"new_leader": 1, "old_log_end": Interval(), "new_log_end": Interval(), **OPEN}
    assert left(change(**open_ends)) == []
    assert left(change(RESTART, **open_ends)) == []
    assert left(change(**{**open_ends, "new_leader": 2})) == ["high_watermark", "old_log_end"]
    assert left(change(**open_ends, log=only(Cell.KEPT, Cell.RECOVERED))) == ["log", "old_log_end"]


@pytest.mark.parametrize(
    ("mark", "end", "expected"),
    [
        (Interval(6), Interval(0, 5), ["new_log_end"]),
        (Interval(5), Interval(0, 5), []),
        (Interval(6), Interval(), []),
        (Interval(6), Interval(0, 0), ["new_log_end"]),
        (Interval(0), Interval(0, 0), []),
    ],
)
def test_the_last_leaders_log_ends_below_a_high_watermark_that_was_seen(mark: Interval, end: Interval, expected: list[str]) -> None:
    row = closed(END, high_watermark=mark, new_log_end=end)
    assert left(row) == expected
    assert left(replace(row, kind=BEGIN)) == []


# records of a case


def judged(rows: list[Handover]) -> Judgement:
    found = verdict(rows)
    return Judgement(found.verdict, None, None, "", True, tuple(rows), found.decides)


@MANY
@given(EXAMPLES)
def test_records_of_a_table_read_back_are_the_same_table(c: Choices) -> None:
    """Whoever has a case can compute its verdicts again."""
    rows = rows_at_random(c)
    again = rows_of(records(judged(rows)))
    for row, read in zip(rows, again, strict=True):
        for name in [f.name for f in fields(Handover) if f.name not in ("removed",)]:
            assert getattr(read, name) == getattr(row, name), name
        assert read.removed == row.removed
    assert verdict(again) == verdict(rows)


def test_records_keep_contradictions_and_places() -> None:
    row = change(
        RESTART,
        leader_epoch=7,
        restart=2,
        contradictions=("a", "b"),
        removed=(tail(5, 8, how="truncation", likely_start=4, exact_end=True),),
    )
    (read,) = rows_of(records(judged([row])))
    assert (read.kind, read.leader_epoch, read.restart, read.old_leader, read.new_leader) == (RESTART, 7, 2, 1, 2)
    assert read.contradictions == ("a", "b")
    assert (read.removed[0].broker, read.removed[0].how, read.removed[0].likely_start, read.removed[0].exact_end) == (
        1,
        "truncation",
        4,
        True,
    )


def test_records_that_another_tool_wrote_may_lack_lists_that_are_empty() -> None:
    (record,) = records(judged([change()]))
    assert rows_of([{**record, "removed": None, "contradictions": None}]) == rows_of([record])


def test_every_cell_is_read_back() -> None:
    assert {*CELLS} == {*SETS, *INTERVALS}


# by itself


def test_the_verdict_imports_only_the_standard_library() -> None:
    """So that anybody can check the verdicts of a case with this file alone."""
    tree = ast.parse(FILE.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "__future__"}


def test_the_verdict_runs_in_an_interpreter_without_any_package() -> None:
    rows = [change(removed=(tail(5, 8),), high_watermark=exactly(8))]
    found = [{key: value for key, value in record.items() if key != "at"} for record in words_in(records(judged(rows)))]
    script = (
        f"import importlib.util, sys; spec = importlib.util.spec_from_file_location('verdict', {str(FILE)!r});"
        "module = importlib.util.module_from_spec(spec); sys.modules['verdict'] = module; spec.loader.exec_module(module);"
        f"print(module.verdict(module.rows_of({found!r})).verdict, *[n for n in ('pyarrow', 'forensics') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-S", "-I", "-c", script], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout.split() == [LOST]
