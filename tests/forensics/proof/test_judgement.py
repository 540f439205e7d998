"""The verdict on one partition with its proof: what it holds for, what contradicts it, and its reason in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forensics.exemplars import exemplars_of
from forensics.model.findings import Finding
from forensics.model.message import Range, said
from forensics.proof.judgement import judgement, note_of, why, with_contradictions
from forensics.proof.verdict import BEGIN, EITHER, END, INTACT, UNKNOWN, Cell, Handover, Interval, Verdict, verdict
from forensics.words import text
from tests.forensics.proof.staging import DESCRIBED, Staged, altered, begun, handed_over, judge, left, made, of_bundle, when
from tests.forensics.proof.tables import change, closed, exactly, only, table, tail
from tests.support import local
from tests.support.shapes import HEAD, bundle


def reason(*rows: Handover) -> str:
    whole = table(*rows)
    return text(why(whole, verdict(whole)))


# what contradicts it


@pytest.mark.parametrize(("name", "verdict_of"), [("compose", UNKNOWN), ("kept", INTACT)])
def test_the_only_replica_is_not_intact_if_its_directory_was_new_at_the_next_start(name: str, verdict_of: str) -> None:
    (exemplar,) = (e for e in exemplars_of("only-disk-emptied") if e.name == name)
    found = {p["topic"]: p["verdict"] for p in local.report(local.events_of_files(exemplar.files)).partitions}
    assert found["orders"] == verdict_of


def finding(kind: str = "log-divergence", severity: str = "high", **known: Any) -> Finding:
    return Finding(kind=kind, severity=severity, confidence="certain", evidence=(), brokers=(1,), **known)


DOUBTS = (
    "log-divergence",
    "log-wiped-at-load",
    "missed-epoch-change",
    "empty-replica-joins",
    "truncate-to-start",
    "checkpoint-inconsistent",
)


@pytest.mark.parametrize("kind", [*DOUBTS, "evidence-conflict"])
@pytest.mark.parametrize(("severity", "counts"), [("low", False), ("medium", True), ("high", True), ("critical", True)])
def test_findings_that_contradict_a_partition_that_is_intact(kind: str, severity: str, counts: bool) -> None:
    judged = judge(handed_over(), findings=[finding(kind, severity, offsets=(Range(0, 500),))])
    assert judged.verdict == (UNKNOWN if counts else INTACT)
    assert left(judged) == ([(END, "contradictions")] if counts else [])
    if counts:
        assert text(judged.why) == f"the evidence contradicts itself ({kind}) (after leader epoch 1; proof row 2, contradictions)"


def test_findings_of_other_kinds_do_not_contradict_it() -> None:
    for kind in ("unclean-election", "under-replicated", "zombie-leader"):
        assert judge(handed_over(), findings=[finding(kind, "critical")]).verdict == INTACT


@pytest.mark.parametrize(("severity", "counts"), [("low", False), ("medium", False), ("high", True), ("critical", True)])
def test_a_damaged_copy_counts_where_no_other_replica_has_it(severity: str, counts: bool) -> None:
    """Then it is severe."""
    assert judge(handed_over(), findings=[finding("segment-corrupt", severity)]).verdict == (UNKNOWN if counts else INTACT)


def test_findings_leave_a_loss_as_it_is() -> None:
    judged = judge(handed_over(end=205), findings=[finding()])
    assert (judged.verdict, left(judged)) == (UNKNOWN, [(END, "contradictions")])


def test_each_kind_is_named_once_after_what_contradicts_the_table_itself() -> None:
    rows = (change(), change(END, contradictions=("two leaders",)))
    found = with_contradictions(rows, ["log-divergence", "evidence-conflict", "log-divergence"])
    assert [row.contradictions for row in found] == [(), ("two leaders", "log-divergence", "evidence-conflict")]
    assert with_contradictions(rows, []) is rows
    assert with_contradictions((), ["log-divergence"]) == ()


def discarded(end: int | None, epoch: int = 1) -> str:
    claimed = finding("truncate-to-start", offsets=(Range(0, end),), leader_epoch=epoch)
    return judge(handed_over(), findings=[claimed]).verdict


def test_what_a_replica_discarded_and_its_leader_had_is_copied_again() -> None:
    """Broker 2 began leader epoch 1 with 200 offsets."""
    assert discarded(150) == INTACT
    assert discarded(200) == INTACT
    assert discarded(201) == UNKNOWN
    assert discarded(None) == UNKNOWN
    assert discarded(150, epoch=7) == UNKNOWN
    claimed = finding("log-divergence", offsets=(Range(0, 150),), leader_epoch=1)
    assert judge(handed_over(), findings=[claimed]).verdict == UNKNOWN, "of another kind"


# the time it holds for


def test_from_the_first_state_to_the_last_line_of_the_leader() -> None:
    s = begun()
    s.creates(1, -0.1)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.runs(1, 60)
    s.runs(2, 90)
    judged = judge(s)
    assert (judged.since, judged.until, judged.from_creation) == (when(0), when(60), True)


def test_to_the_last_line_of_the_process_that_led() -> None:
    """Nothing shows who led after its crash, until it says that it leads again."""
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.line(1, "server", 40, f"INFO [Log partition={s.name}, dir=/data] Rolled new log segment at offset 9 in 1 ms. (kafka.log.Log)")
    s.starts(1, 60)
    s.loads(1, 61, 0, unclean=True)
    s.runs(1, 70)
    assert judge(s).until == when(40)
    s.leads(1, 71, 0, 0, 0, [1, 2])
    s.runs(1, 80)
    assert judge(s).until == when(80)


def test_a_crash_that_was_before_the_remaining_logs_of_the_only_replica() -> None:
    """The logs of the run that crashed were rotated away. Partitions of a cluster of one broker stay in leader epoch 0."""
    files = {p: f for p, f in bundle("many-lives-2.1.1-zk").items() if "/data/" not in p}
    kept = altered(files, "/logs/", lambda records: (r for r in records if HEAD.match(r) and b"[2026-11-19 12" <= r < b"[2026-11-20"))
    judged = of_bundle("many-lives-2.1.1-zk", "photos-0", kept)
    assert (judged.verdict, judged.from_creation) == (UNKNOWN, False)
    assert "the evidence begins after an unclean stop of broker 1" in text(judged.why)


def test_to_the_last_line_of_the_last_leader_where_there_is_none_any_more() -> None:
    s = handed_over()
    s.runs(2, 50)
    s.runs(1, 60)
    s.describes("none")
    assert judge(s, {DESCRIBED: when(70)}).until == when(50)


def test_to_the_end_of_the_evidence_if_that_is_earlier() -> None:
    timeline, cluster = made(handed_over())
    cluster.until = when(5)
    assert judgement(timeline, cluster, ()).until == when(5)


def test_no_line_has_a_time() -> None:
    timeline, cluster = made(handed_over())
    cluster.__dict__.update({"_last_lines": {}, "until": None})
    assert judgement(timeline, cluster, ()).until is None


def test_states_of_an_unknown_leader_epoch_do_not_begin_it() -> None:
    timeline, cluster = made(handed_over())
    early = replace(timeline.states[0], leader_epoch=-1, at=when(-50))
    untimed = replace(timeline.states[0], at=None)
    timeline.states = [early, untimed, *timeline.states]
    assert judgement(timeline, cluster, ()).since == when(0)


def test_a_partition_that_was_there_before_the_evidence() -> None:
    s = begun(2)
    s.leads(2, 10, 3, 200, 200, [1, 2], previous=3)
    judged = judge(s)
    assert (judged.verdict, judged.from_creation, judged.since) == (INTACT, False, when(10))


def test_a_partition_without_a_leader_epoch() -> None:
    s = begun()
    s.loads(1, 5, 200, unclean=False)
    judged = judge(s)
    assert (judged.verdict, judged.rows, judged.since) == (UNKNOWN, (), None)
    assert judged.why == why((), verdict(()))


# words


def test_words_of_what_was_lost() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8), election=only(Cell.OUTSIDE))
    assert reason(row) == "offsets 5–7, which were committed, are gone (unclean-election)"


def test_words_name_only_what_was_committed_and_is_surely_gone() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=exactly(6), log=only(Cell.CUT))
    assert reason(row) == "offset 5, which was committed, is gone (hw-truncation)"
    possibly = change(removed=(tail(1, 3, written_before_handover=EITHER),), high_watermark=exactly(3), new_log_end=exactly(1))
    assert reason(possibly, row).startswith("offset 5, which")


def test_words_name_each_range_once() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8), election=only(Cell.OUTSIDE))
    assert reason(row, row).startswith("offsets 5–7, which")
    assert reason(row, replace(row, removed=(tail(6, 9),), high_watermark=exactly(9))).startswith("offsets 5–7, 6–8, which")


def test_words_name_the_cause_of_the_first_row_that_lost_something() -> None:
    intact = change()
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8), log=only(Cell.CUT))
    assert reason(intact, row, replace(row, election=only(Cell.OUTSIDE))).endswith("(hw-truncation)")


def test_words_of_a_loss_whose_end_is_unknown() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8), election=only(Cell.OUTSIDE), last_isr_member_lost_tail=EITHER)
    assert (
        reason(change(last_isr_member_lost_tail=EITHER), row) == "offsets 5–7 at least, which were committed, are gone (unclean-election)"
    )


def test_words_of_a_loss_whose_end_is_unknown_name_the_row_that_shows_it() -> None:
    """Not one that shows a tail, or records that are only possibly gone."""
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8), log=only(Cell.CUT), last_isr_member_lost_tail=EITHER)
    only_a_tail = change(removed=(tail(1, 3),), high_watermark=exactly(1), new_log_end=exactly(1))
    possibly = replace(row, removed=(tail(2, 4, written_before_handover=EITHER),))
    assert reason(only_a_tail, possibly, row) == "offsets 5–7 at least, which were committed, are gone (hw-truncation)"
    assert reason(replace(row, log=only(Cell.KEPT, Cell.RECOVERED))).endswith("(unflushed-log)")


def test_words_of_committed_records_say_that_the_log_lost_them() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=exactly(8), log=only(Cell.KEPT, Cell.RECOVERED))
    assert reason(row).endswith("(unflushed-log)")


def test_words_of_a_tail() -> None:
    assert reason(change(removed=(tail(5, 8),))) == "only offsets 5–7, which were never committed, are gone"


def test_words_of_an_intact_partition_count_its_leader_epochs() -> None:
    assert reason() == "1 leader epoch, begun by a replica that had all committed records"
    rows = [closed(BEGIN, 0), change(leader_epoch=1), change(leader_epoch=2), closed(END, 2)]
    assert text(why(rows, Verdict(INTACT))).startswith("3 leader epochs without a gap, each begun")


def test_words_of_records_that_may_have_been_committed() -> None:
    row = change(removed=(tail(5, 8),), high_watermark=Interval())
    assert reason(row) == "offsets 5–7 are gone; whether they were committed is unknown"
    both = replace(row, high_watermark=Interval(6))
    rows = [closed(BEGIN, 0), replace(both, removed=(tail(6, 8),)), closed(END)]
    assert text(why(rows, verdict(rows))).startswith("offsets 6–7 are gone")


def test_words_of_records_that_are_only_possibly_gone_name_what_is_open() -> None:
    assert reason(change(removed=(tail(5, 8, written_before_handover=EITHER),), high_watermark=Interval())).endswith(
        "; proof row 1, high watermark)"
    )
    assert reason(change(removed=(tail(5, 8),)), change(unexplained_truncations=EITHER)).endswith("; proof row 2, unexplained cuts)")


def test_words_of_what_leaves_it_open_name_the_row_and_the_cell() -> None:
    row = change(unexplained_truncations=EITHER).noted("unexplained_truncations", said("handover/no-server-log", leader=2))
    assert (
        reason(row) == "no server.log of broker 2, which led the partition, was collected (leader epoch 1; proof row 1, unexplained cuts)"
    )
    rows = [
        closed(BEGIN, 0, unseen=Interval()).noted("unseen", said("handover/no-epoch")),
        row,
        closed(END, 1, unseen=Interval()).noted("unseen", said("handover/mentioned", leader_epoch=2)),
    ]
    found = verdict(rows)
    assert (
        text(why(rows, found))
        == "the evidence does not show which broker led in which leader epoch (start of the evidence; proof row 0, unseen changes)"
    )
    assert [note_of(rows[left.row], left.cell).id for left in found.decides] == [
        "handover/no-epoch",
        "handover/no-server-log",
        "handover/mentioned",
    ]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("new_log_end", "a high watermark of 9 was seen"),
        ("high_watermark", "beyond the end of the new leader's log"),
        ("log", "may have lost records"),
        ("process", "how the process of the new leader ended"),
        ("old_log_end", "where the log of the old leader ended"),
    ],
)
def test_a_cell_without_a_note_has_words_of_its_own(cell: str, words: str) -> None:
    row = change(high_watermark=Interval(9))
    assert words in text(note_of(row, cell))
    note = said("handover/no-epoch")
    assert note_of(row.noted(cell, note), cell) == note


def test_a_contradiction_is_called_one() -> None:
    assert text(note_of(change(contradictions=("a", "b")), "contradictions")) == "the evidence contradicts itself (a, b)"
    row = change(log=only()).noted("log", said("handover/no-epoch"))
    assert text(note_of(row, "log")) == "the evidence about log contradicts itself"
    assert (
        text(note_of(change(removed=(tail(lost_in_this_handover=only()),)), "lost_in_this_handover"))
        == "the evidence about lost in this handover contradicts itself"
    )


def test_every_open_cell_of_a_story_has_a_note_or_words() -> None:
    """Broker 1 is elected again; its log begins after it had led, so it need not have been in the ISR."""
    s = Staged()
    s.runs(1, 5)
    s.runs(2, -1)
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(1, 10, 1, 200, 200, [1, 2], previous=-1)
    judged = judge(s)
    assert judged.verdict == UNKNOWN
    assert "contradicts itself" not in " ".join(text(note_of(judged.rows[left.row], left.cell)) for left in judged.decides)
