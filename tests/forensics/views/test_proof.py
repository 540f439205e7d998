"""The proof in words: what cells say, which rows are shown, how it fits a terminal, and how much of it a JSON report has."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from rich.cells import cell_len
from rich.console import Console

from forensics.incidents.judging import PARTITION
from forensics.model.message import said
from forensics.model.rows import Rows
from forensics.output.sanitise import clean
from forensics.proof.judgement import Judgement, judgement
from forensics.proof.records import records
from forensics.proof.verdict import BEGIN, CHANGE, END, Cell, Handover, Interval, Open, Possible, Removed, verdict
from forensics.views import proof as words
from forensics.views.proof import Proof, ShownRow, Skipped, interval, of_report, section
from forensics.views.proof_lines import lines
from forensics.words import text
from forensics.words.rows import words_in
from tests.forensics.views.test_story import story_of
from tests.support import local

BEGUN = datetime(2026, 11, 21, 1, 53)
CLOSED = {
    "unexplained_truncations": Possible.of(Cell.NO),
    "sole_restart": Possible.of(Cell.NONE),
    "last_isr_member_lost_tail": Possible.of(Cell.NO),
    "resent": Possible.of(Cell.NO),
}


def row(number: int, kind: str = CHANGE, **cells: Any) -> Handover:
    """A hand-over from broker 1 to 2 or back in which nothing is lost."""
    base = Handover(
        kind, number, old_leader=1 + number % 2, new_leader=2 - number % 2, at=BEGUN + timedelta(hours=number), unseen=Interval.exactly(0)
    )
    ends = {"old_log_end": Interval.exactly(10 * number), "new_log_end": Interval.exactly(10 * number)}
    sound = {
        "election": Possible.of(Cell.IN_ISR),
        "process": Possible.of(Cell.RUNNING),
        "log": Possible.of(Cell.KEPT),
        "had_all": Possible.of(Cell.YES),
    }
    return replace(base, **{**CLOSED, **ends, **sound, **cells})


def lossy(number: int, offset: int = 200, end: int = 358, high_watermark: int = 358) -> Handover:
    sure = {
        "exact_end": True,
        "written_before_handover": Possible.of(Cell.YES),
        "lost_in_this_handover": Possible.of(Cell.YES),
        "from_other_topic": Possible.of(Cell.NO),
    }
    gone = Removed(1, "truncation", Interval.exactly(offset), Interval.exactly(end), **sure)
    ends = {"old_log_end": Interval.exactly(end), "new_log_end": Interval.exactly(offset), "high_watermark": Interval(high_watermark)}
    state = {"election": Possible.of(Cell.OUTSIDE), "process": Possible.of(Cell.CRASHED), "had_all": Possible.of(Cell.YES, Cell.NO)}
    return row(number, removed=(gone,), **ends, **state)


def table(rows: Sequence[Handover]) -> Proof:
    """The proof as a case gives it."""
    found = verdict(rows)
    judged = Judgement(found.verdict, BEGUN, None, said("verdict/no-epoch"), False, tuple(rows), found.decides)
    return {
        "verdict": found.verdict,
        "why": text(judged.why),
        "since": BEGUN,
        "until": None,
        "from_creation": False,
        "handovers": words_in(records(judged)),
    }


def printed(proof: Proof, width: int, *, everything: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    for line in lines(proof, console, lambda text: " ".join(clean(text).split()), everything=everything):
        console.print(line, soft_wrap=True)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (Interval(), "unknown"),
        (Interval(200), "200 or more"),
        (Interval.exactly(0), "0"),
        (Interval(200, 310), "200–310"),
        (Interval(300, 200), "contradictory: 300 or more, 200 or less"),
    ],
)
def test_an_interval_says_what_is_possible(cell: Interval, said: str) -> None:
    assert interval(cell) == said


def test_a_row_says_what_was_lost_and_what_is_open() -> None:
    proof = table(
        [
            row(0, BEGIN, old_leader=None),
            lossy(1, high_watermark=300),
            row(2, unexplained_truncations=Possible.of(Cell.YES, Cell.NO)),
            row(3, END),
        ]
    )
    begin, change, unclear, end = (r for r in section(proof).rows if isinstance(r, ShownRow))
    assert (change.election, change.process, change.log, change.high_watermark) == ("unclean", "crashed", "kept", "300 or more")
    assert change.removed == ("200–357 (broker 1, truncation)",)
    assert [g.words for g in change.lost] == ["offsets 200–299: committed, certain", "offsets 300–357: commit status unknown, certain"]
    assert [cell for cell, _ in unclear.open] == ["unexplained_truncations"] and not begin.open and not begin.lost
    assert (begin.leader, begin.process, end.election) == ("2", "-", "end of evidence")


def test_a_range_that_two_ways_show_is_named_once() -> None:
    found = lossy(1)
    same, longer = (replace(found.removed[0], how="overwritten", end=Interval.exactly(end)) for end in (358, 400))
    (_, change) = section(table([row(0, BEGIN, old_leader=None), replace(found, removed=(*found.removed, same, longer))])).rows
    assert isinstance(change, ShownRow)
    assert change.removed == ("200–357 (broker 1, truncation, overwritten)", "200–399 (broker 1, overwritten)")


def test_of_a_long_table_every_row_that_matters_is_shown() -> None:
    last = 400
    rows = [row(0, BEGIN, old_leader=None), *(row(n) for n in range(1, last)), row(last, END)]
    for number in (77, 200):
        rows[number] = lossy(number)
    shown = section(table(rows)).rows
    assert [r.row for r in shown if isinstance(r, ShownRow)] == [0, 77, 200, last]
    skipped = [(r.first, r.last, r.open) for r in shown if isinstance(r, Skipped)]
    assert skipped == [(1, 76, 0), (78, 199, 0), (201, last - 1, 0)]
    unclear = [replace(r, unexplained_truncations=Possible.of(Cell.YES, Cell.NO)) for r in rows]
    bounded = section(table(unclear))
    assert len(bounded.rows) < 2 * words.ALL and {77, 200} <= {r.row for r in bounded.rows if isinstance(r, ShownRow)}
    assert sum(r.open for r in bounded.rows if isinstance(r, Skipped)) + sum(isinstance(r, ShownRow) for r in bounded.rows) == last + 1
    assert len(section(table(rows), None).rows) == last + 1
    assert "rows 1 to 76: 76 hand-overs in which nothing was lost or left open" in printed(table(rows), 160)


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("offset", [200, 9_223_372_036_854_775_000])
def test_it_fits_the_terminal(width: int, offset: int) -> None:
    rows = [row(0, BEGIN, old_leader=None), lossy(1, offset, offset + 158, offset + 100), row(30, END)]
    text = printed(table(rows), width)
    assert max(map(cell_len, text.splitlines())) <= width
    said = " ".join(text.split())
    assert f"!! gone: offsets {offset}–{offset + 99}: committed, certain" in said
    assert said.count("2026-11-2") >= 2, "days"
    as_table = re.search(r"(?m)^row +UTC +epoch", text) is not None
    assert as_table == (width == 160 and offset == 200)
    if not as_table:
        assert f"old log end {offset + 158}, new log end {offset}, high watermark {offset + 100} or more" in said


def test_a_reason_is_stated_once_and_premises_are_listed() -> None:
    unclear = {
        "unexplained_truncations": Possible.of(Cell.YES, Cell.NO),
        "notes": {"unexplained_truncations": said("handover/no-server-log", leader=1)},
    }
    premises = {1: said("coverage/cut", path="server.log", characters=9)}
    shown = printed(table([row(n, BEGIN if not n else CHANGE, premises=premises, **unclear) for n in range(3)]), 120)
    assert shown.count("open: unexplained cuts: no server.log of broker 1, which led the partition, was collected") == 1
    assert shown.count("open: unexplained cuts: as in row 0") == 2
    assert shown.count("broker 1: the lines of server.log are cut at 9 characters") == 1


def test_a_partition_without_a_handover_has_no_table() -> None:
    shown = printed({**table([row(0, BEGIN)]), "handovers": []}, 200)
    assert shown.splitlines()[1].startswith("the evidence does not show which broker led") and "row  UTC" not in shown


# recorded evidence


def test_the_proof_of_a_recorded_loss_quotes_its_lines() -> None:
    events, truth = story_of("unclean-election-2.8.2-zk")
    timeline, cluster = next((t, c) for t, c in local.timelines(events) if t.name == "orders-0")
    judged = judgement(timeline, cluster, ())
    verdict_of = {n: getattr(judged, n) for n in ("verdict", "why", "since", "until", "from_creation")}
    proof = words_in({**verdict_of, "handovers": records(judged)})
    ((begin, end),) = truth["lost"]["orders-0"]["offsets"]
    for width in (80, 160):
        text = printed(proof, width)
        said = " ".join(text.split())
        assert text.startswith("The proof: lost\n")
        assert f"!! gone: offsets {begin}–{end - 1}: committed, certain" in said
        assert f"Truncating to offset {begin} (kafka.log.Log)" in said
        assert "removed: broker-2/logs/server.log:1345" in said
        assert max(map(cell_len, text.splitlines())) <= width


# JSON


def partitions(verdicts: Sequence[str], rows_each: int = 3) -> list[dict[str, Any]]:
    handovers = table([lossy(n) for n in range(rows_each)])["handovers"]
    assert handovers is not None
    quoted = [
        {**r, "high_watermark": {**r["high_watermark"], "evidence": [{"source": "a", "line": 1, "byte": 0, "text": "x"}]}}
        for r in handovers
    ]
    return [{"topic": "t", "partition": n, "verdict": v, "handovers": quoted} for n, v in enumerate(verdicts)]


def as_rows(statement: Sequence[Mapping[str, Any]]) -> Rows:
    return Rows(
        pa.Table.from_pylist(
            list(statement), schema=pa.schema([PARTITION.field(n) for n in ("topic", "partition", "verdict", "handovers")])
        )
    )


def test_json_leaves_out_cells_that_say_nothing_and_the_evidence_of_what_is_intact() -> None:
    (lost, intact), left_out = of_report(partitions(["lost", "intact"]))
    assert lost is not None and intact is not None and not left_out
    assert list(lost[0])[:7] == ["row", "kind", "at", "leader_epoch", "restart", "old_leader", "new_leader"]
    assert lost[0]["high_watermark"] == {"at_least": 358, "at_most": None, "evidence": [{"source": "a", "line": 1, "byte": 0, "text": "x"}]}
    assert "had_all" not in lost[0] and lost[0]["election"] == ["outside"]
    assert {*lost[0]} == {*intact[0]} and {"premises", "contradictions", "decides", "removed"} <= {*intact[0]}
    assert intact[0]["high_watermark"]["evidence"] is intact[0]["removed"][0]["start"]["evidence"] is None


def test_json_is_bounded_and_has_the_worst_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST", 7)
    stated = partitions(["intact", "tail-cut", "unknown", "lost"])
    for given in (stated, as_rows(stated)):
        found, left_out = of_report(given)
        assert ([rows is not None for rows in found], left_out) == ([False, False, True, True], 2)
    old, left_out = of_report(as_rows([{**p, "handovers": None} for p in stated]))
    assert (old, left_out) == ([None] * 4, 0)


def test_decides_names_every_open_cell_with_a_reason() -> None:
    rows = (row(0, BEGIN, notes={"unseen": said("handover/no-epoch")}, unseen=Interval()), row(1, END, high_watermark=Interval(90)))
    judged = Judgement("unknown", None, None, said("verdict/no-epoch"), False, rows, (Open(0, "unseen"), Open(1, "new_log_end")))
    assert [words_in(r["decides"]) for r in records(judged)] == [
        ["unseen: the evidence does not show which broker led in which leader epoch"],
        ["new_log_end: a high watermark of 90 was seen, and the log of the leader ends below"],
    ]
