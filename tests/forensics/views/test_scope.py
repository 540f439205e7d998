"""A narrowed report says what it is narrowed to, and what lies outside."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from forensics.cli import cli
from forensics.views.headline import EXCLUDED, FOUND, UNSETTLED, headline
from forensics.views.scope import Scope, Selection
from tests.forensics.case.test_case import make
from tests.forensics.views.test_headline import loss, state
from tests.support import found, recorded

INSIDE, OUTSIDE = [state("intact"), state("intact", 1)], [state("lost", 2), state("unknown", 3), state("intact", 4)]
ONLY_T = Scope(Selection(topics=("t",)), [], OUTSIDE, 0)


def test_an_intact_scope_is_not_green_if_data_was_lost_outside() -> None:
    found = headline([], INSIDE, ONLY_T)
    assert (found.loss, found.tone, found.title) == (EXCLUDED, UNSETTLED, "No committed data was lost in topic t")
    assert found.lines[0].sentence == "ONLY: topic t: 2 of 5 partitions."
    outside = "OUTSIDE: 1 partition lost data (t-2), 1 partition unknown (t-3), the others are proven intact."
    assert found.lines[-1].sentence == outside


def test_an_intact_scope_is_green_if_nothing_was_lost_outside() -> None:
    found = headline([], INSIDE, replace(ONLY_T, outside=[state("intact", 2)]))
    assert (found.tone, found.lines[-1].sentence) == (EXCLUDED, "OUTSIDE: the other partition is proven intact.")


def test_a_broker_or_a_time_hides_findings_and_not_the_verdict() -> None:
    scope = Scope(Selection(brokers=(2,)), [loss()], [], 1)
    found = headline([loss()], [state("lost")], scope)
    assert (found.loss, found.title) == (FOUND, "Committed data was lost: 4 committed offsets of t-0")
    assert found.lines[0].sentence == "ONLY: findings about broker 2 are shown; 1 other finding is not shown."


def test_a_partition_that_refuses_writes_is_in_the_title_and_not_green() -> None:
    now = found.found("under-min-isr", topic="t", partition=0)
    own = headline([now], [state("intact")])
    assert (own.loss, own.tone) == (EXCLUDED, "broken")
    assert own.title == (
        "Writes with acks=all to t-0 were refused: fewer replicas in sync than min.insync.replicas; no committed data was lost; 1 partition refuses writes"
    )


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("scope") / "a.case"
    make(directory, recorded.events("unclean-election-3.9.1-kraft"))
    return str(directory)


def report(case: str, *options: str) -> Result:
    return CliRunner(env={"COLUMNS": "300"}).invoke(cli, ["report", case, *options])


WRONG = [
    (("--topic", "ordrs"), "the evidence has no topic 'ordrs' (similar: orders)"),
    (("--topic", "ledger", "--partition", "7"), "ledger has no partition 7 (found: 0, 1, 2)"),
    (("--partition", "-1"), "'-1' is not a partition number"),
    (("--broker", "9"), "the evidence has no broker 9 (found: 1, 2, 3, 100)"),
    (("--since", "01:56", "--until", "01:55"), "is later than --until"),
    (("--since", "2099-01-01"), "--since 2099-01-01 is outside of the evidence"),
    (("--until", "2001-01-01T12:00+02:00"), "is outside of the evidence"),
    (("--since", "yesterday"), "'yesterday' is not a time; give for example 2026-01-31"),
    (("--since", "-999999999d"), "-999999999d is out of range"),
    (("--since", "-9999999999d"), "is not a time"),
]


@pytest.mark.parametrize(("options", "words"), WRONG, ids=[" ".join(options) for options, _ in WRONG])
def test_a_selection_without_evidence_is_refused(options: tuple[str, ...], words: str, case: str) -> None:
    done = report(case, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr


SAME_TIME = ["2026-11-21T01:55:30.259Z", "2026-11-21 02:55:30.259+01:00", "01:55:30.259", "-20s", "-0h20s"]


@pytest.mark.parametrize("since", SAME_TIME)
def test_forms_of_one_time_select_the_same(since: str, case: str) -> None:
    done = report(case, "--since", since)
    assert done.exit_code == 0, done.stderr
    shown, same = (
        [line for line in text.splitlines() if "kafka-forensics" not in line]
        for text in (done.stdout, report(case, "--since", SAME_TIME[0]).stdout)
    )
    assert shown == same
    assert shown[0].startswith("ONLY     findings since 01:55:30 are shown; ")
