"""Hand-overs as records of a case: every cell with the evidence of its bounds, and what leaves the verdict open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from forensics.model.events import Event
from forensics.model.message import said
from forensics.proof.judgement import Judgement, why
from forensics.proof.records import HANDOVER, MAX_QUOTED, records
from forensics.proof.verdict import CELLS, EITHER, INTACT, UNKNOWN, Cell, Handover, Interval, rows_of, verdict
from forensics.words import text
from forensics.words.rows import words_in
from tests.forensics.proof.staging import handed_over, judge, when
from tests.forensics.proof.tables import change, closed, exactly, only, table, tail
from tests.forensics.proof.test_handovers import alone, back_before_leading, outside

CUT = said("coverage/cut", path="server.log", characters=9)
ENDS = said("handover/logs-end", leader=2, leader_epoch=3)


def judged(*rows: Handover) -> Judgement:
    found = verdict(rows)
    return Judgement(found.verdict, None, None, why(rows, found), True, rows, found.decides)


def line(number: int) -> Event:
    return Event(
        source="broker-1/logs/server.log", line=number, byte=10 * number, event="truncation", text=f"line {number}", at=when(number)
    )


def record(row: Handover) -> dict[str, Any]:
    *_, found = records(judged(closed("begin", 0), row))
    return words_in(found)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "story", [handed_over(), handed_over(end=205), outside(), outside(4), alone(clean=False), back_before_leading(recovers=True)]
)
def test_records_of_stories_fit_their_type_and_give_the_same_verdict(story: Any) -> None:
    known = judge(story)
    column = pa.array(words_in(records(known)), HANDOVER)
    again = rows_of(column.to_pylist())
    assert len(again) == len(known.rows)
    assert verdict(again).verdict == known.verdict
    assert [(left.row, left.cell) for left in verdict(again).decides] == [(left.row, left.cell) for left in known.decides]


def test_a_record_has_a_field_for_each_cell_and_no_other() -> None:
    found = record(change(removed=(tail(5, 8),)))
    assert {*found} == {field.name for field in HANDOVER}
    assert {*CELLS} <= {*found}
    (removed,) = found["removed"]
    assert {*removed} == {field.name for field in HANDOVER.field("removed").type.value_type}


def test_places_of_a_row() -> None:
    row = change("restart", leader_epoch=7, restart=2, at=when(5), resent_because="sent again")
    found = record(row)
    assert found["row"] == 1
    assert [found[name] for name in ("kind", "leader_epoch", "restart", "old_leader", "new_leader")] == ["restart", 7, 2, 1, 2]
    assert (found["at"], found["resent_because"]) == (when(5), "sent again")


def test_words_are_in_order() -> None:
    assert record(change(log=only(Cell.RECOVERED, Cell.KEPT)))["log"] == [Cell.KEPT, Cell.RECOVERED]


def test_an_interval_with_the_evidence_of_both_bounds() -> None:
    found = record(change(high_watermark=Interval(5, 9, (line(1), line(2)), (line(2),)), had_all=EITHER))["high_watermark"]
    assert (found["at_least"], found["at_most"]) == (5, 9)
    one, two = line(1), line(2)
    shared = Interval(5, 9, (one, two), (two, one))
    found = record(change(high_watermark=shared, had_all=EITHER))["high_watermark"]
    assert [e["line"] for e in found["evidence"]] == [1, 2], "each line once"
    assert found["evidence"][0] == {"source": "broker-1/logs/server.log", "line": 1, "byte": 10, "text": "line 1"}


def test_a_bound_keeps_a_few_pieces_of_evidence() -> None:
    many = Interval(5, 9, tuple(map(line, range(9))))
    found = record(change(high_watermark=many, had_all=EITHER))["high_watermark"]
    assert [e["line"] for e in found["evidence"]] == [0, 1, 2]
    assert MAX_QUOTED == 3


def test_texts_are_kept_only_of_partitions_that_somebody_will_ask_about() -> None:
    seen = Interval(0, 5, (), (line(1),))
    intact = records(judged(change(high_watermark=seen)))[0]
    assert judged(change(high_watermark=seen)).verdict == INTACT
    assert intact["high_watermark"]["evidence"][0]["text"] is None
    unknown = judged(change(high_watermark=seen, unexplained_truncations=EITHER))
    assert unknown.verdict == UNKNOWN
    assert records(unknown)[0]["high_watermark"]["evidence"][0]["text"] == "line 1"
    gone = judged(change(high_watermark=seen, removed=(tail(5, 8, start=Interval(5, 5, (line(3),))),)))
    assert records(gone)[0]["removed"][0]["start"]["evidence"][0]["text"] == "line 3"


def test_removals() -> None:
    removed = tail(5, 8, how="truncation", exact_end=True, likely_start=4, start=Interval(3, 5, (line(1),)), lost_in_this_handover=EITHER)
    (found,) = record(change(removed=(removed,)))["removed"]
    assert (found["broker"], found["how"], found["exact_end"], found["likely_start"]) == (1, "truncation", True, 4)
    assert (found["start"]["at_least"], found["start"]["at_most"], found["end"]["at_most"]) == (3, 5, 8)
    assert (found["written_before_handover"], found["lost_in_this_handover"], found["from_other_topic"]) == (["yes"], ["no", "yes"], ["no"])
    assert found["start"]["evidence"][0]["line"] == 1


def test_premises_and_contradictions() -> None:
    found = record(change(premises={1: CUT, 2: ENDS}, contradictions=(said("handover/two-leaders", leader_epoch=3), "b")))
    assert found["premises"] == [{"premise": "broker 1", "reason": text(CUT)}, {"premise": "broker 2", "reason": text(ENDS)}]
    assert found["contradictions"] == ["leader epoch 3 has two leaders", "b"]


def test_each_row_names_its_own_open_cells_with_what_is_missing() -> None:
    rows = table(
        change(unexplained_truncations=EITHER, unseen=Interval(0, 2)).noted("unexplained_truncations", CUT), change(old_log_end=exactly(9))
    )
    found = words_in([row["decides"] for row in records(judged(*rows))])
    assert (found[0], found[3]) == ([], [])
    assert [words.partition(":")[0] for words in found[1]] == ["unseen", "unexplained_truncations"]
    assert found[1][1] == f"unexplained_truncations: {text(CUT)}"
    assert found[2] == ["old_log_end: where the log of the old leader ended is unknown"]


def test_a_partition_without_rows_has_no_records() -> None:
    assert records(judged()) == []


def test_rows_read_back_keep_what_a_verdict_needs() -> None:
    rows = table(change(removed=(tail(5, 8),), high_watermark=Interval(6)), change(contradictions=("a",)))
    again = rows_of(records(judged(*rows)))
    assert again == [replace(row, premises={}, notes={}) for row in rows]
