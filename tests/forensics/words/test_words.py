"""The words of recorded incidents are those of their snapshots, and no snapshot is left of what is gone."""

from __future__ import annotations

import pytest

from forensics.exemplars import exemplars_of
from forensics.rules import RULES
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
