"""The words of recorded incidents are those of their snapshots, and no snapshot is left of what is gone."""

from __future__ import annotations

import pytest

from forensics.exemplars import exemplars_of
from forensics.model.findings import Finding
from forensics.rules import RULES, declared
from forensics.words import step, summary
from tests.forensics.words import snapshots
from tests.support import recorded


@pytest.mark.parametrize("name", snapshots.RECORDED)
def test_words_of_a_recorded_incident(name: str) -> None:
    then = (snapshots.HERE / "recorded" / f"{name}.txt").read_text("utf-8")
    assert snapshots.of_report(recorded.report(name)) == then, "if these words are meant: python -m tests.forensics.words.snapshots"


def test_snapshots_are_of_the_exemplars_in_which_a_kind_is_found() -> None:
    found = {rule.kind: {e.name for e in exemplars_of(rule.kind) if e.found} for rule in RULES}
    assert {path.stem: {*snapshots.sections(path.stem)} for path in snapshots.HERE.glob("*.txt")} == found
    assert {path.stem for path in (snapshots.HERE / "recorded").iterdir()} == {*snapshots.RECORDED}


def test_no_finding_is_without_a_summary_even_if_nothing_else_is_known() -> None:
    said = [(kind, name) for kind, content in declared().items() for name in content.get("message", ())]
    made = (Finding(kind=kind, severity="low", confidence="certain", message=name) for kind, name in said)
    assert said and [f.message_id for f in made if not summary(f)] == []


def test_a_step_that_saves_directories_says_where_all_are_named() -> None:
    few, many = (step("data-loss/copy", tuple(f"t-{n}" for n in range(number)), on=(1,)).text for number in (4, 5))
    assert few.startswith("Copy the directories of t-0, t-1, t-2, t-3 (") and "--json" not in few
    assert "t-3 and 1 more (" in many and "`--json FILE`" in many
