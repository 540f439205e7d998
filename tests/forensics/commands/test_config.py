"""kafka-forensics.toml: what it accepts, which defaults it has, and where it is taken from."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from forensics.audit.history import History
from forensics.cli import cli
from forensics.commands.config import Accepted
from forensics.model.findings import AGAIN, Fold
from tests.forensics.case.test_case import make
from tests.support import recorded
from tests.support.found import found

ENTRY = '[[accept]]\nkind = "{}"\nreason = "balanced on Sundays"\ndate = 2026-11-29\n'


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make(tmp_path / "a.case", recorded.events("unclean-election-2.8.2-zk"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(cli, ["report", *words])


def test_an_accepted_finding_is_shown_and_does_not_fail(there: Path) -> None:
    case = str(there / "a.case")
    levels = {f["kind"]: f["severity"] for f in json.loads(run(case, "--json", "-").stdout)["findings"]}
    low = sorted(kind for kind, severity in levels.items() if severity == "low")
    assert low and run(case, "--fail-on", "low").exit_code == 1
    Path("kafka-forensics.toml").write_text("".join(ENTRY.format(kind) for kind in levels if kind != "data-loss"))
    done = run(case, "--fail-on", "low")
    assert done.exit_code == 1, "a loss still fails"
    assert "Using kafka-forensics.toml of the working directory." in done.stderr
    assert "Accepted in kafka-forensics.toml: " in done.stderr and f"1 {low[0]}" in done.stderr
    Path("kafka-forensics.toml").write_text(ENTRY.format("*"))
    assert run(case, "--fail-on", "low").exit_code == 1, "no mask accepts a loss"
    assert run(case, "--fail-on", "lost").exit_code == 1
    assert run(case, "--fail-on", "low", "--json", "-").stdout == run(case, "--json", "-").stdout, "the report is the same"
    until = ENTRY.format(low[0]) + "until = 2026-01-01\n"
    Path("kafka-forensics.toml").write_text(until)
    assert "Accepted" not in run(case).stderr, "the entry has expired"


@pytest.mark.parametrize(
    ("entry", "span", "severity", "accepted"),
    [
        ({"shorter_than": timedelta(minutes=5)}, 299, "high", True),
        ({"shorter_than": timedelta(minutes=5)}, 300, "high", False),
        ({"shorter_than": timedelta(minutes=5)}, None, "high", False),
        ({"shorter_than": timedelta(minutes=5)}, 0, "high", False),
        ({"shorter_than": timedelta(minutes=5), "kind": "under-*"}, 1, "high", False),
        ({"below": "high"}, None, "medium", True),
        ({"below": "high"}, None, "high", False),
        ({"below": "high", "shorter_than": timedelta(minutes=5)}, 1, "high", False),
    ],
)
def test_what_is_small_does_not_fail_a_run(entry: dict[str, Any], span: int | None, severity: str, accepted: bool) -> None:
    at = datetime(2026, 11, 1, 3)
    own = found("broker-crash", start=at, end=at + timedelta(seconds=span) if span is not None else None, severity=severity)
    smaller = Accepted("not at night", at.date(), **entry)
    assert smaller.takes(own, None) is accepted
    ended = replace(own, severity="low", end=at + timedelta(seconds=1))
    wiped, lost = replace(ended, kind="cluster-recreated"), replace(ended, loss=True)
    assert not smaller.takes(wiped, None) and not smaller.takes(lost, None), "records are gone"
    often = replace(ended, folds=(Fold(AGAIN),))
    assert not Accepted("short", at.date(), shorter_than=timedelta(minutes=5)).takes(often, None)


def test_defaults_of_options(there: Path) -> None:
    Path("own.toml").write_text('display-timezone = "Asia/Tokyo"\nfail-on = "lost"\n')
    assert run(str(there / "a.case")).exit_code == 0
    done = run(str(there / "a.case"), "--config", "own.toml")
    assert done.exit_code == 1 and "Asia/Tokyo" in done.stdout
    assert "Asia/Tokyo" not in run(str(there / "a.case"), "--config", "own.toml", "--display-timezone", "UTC").stdout


@pytest.mark.parametrize("name", [".", "..", "../here"])
def test_a_file_in_the_evidence_is_not_used(there: Path, name: str) -> None:
    Path("kafka-forensics.toml").write_text('fail-on = "info"\n')
    done = CliRunner().invoke(cli, ["inspect", name])
    assert "kafka-forensics.toml in the working directory is not used: the directory lies in" in " ".join(done.stderr.split())


def test_a_file_that_others_can_write_is_not_used(there: Path) -> None:
    Path("kafka-forensics.toml").write_text('fail-on = "lost"\n')
    Path("kafka-forensics.toml").chmod(0o666)
    done = run(str(there / "a.case"))
    assert done.exit_code == 0 and "can be changed by another user" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x =", "Invalid value"),
        ('master = "local[1]"', "'master' is not one of display-timezone, fail-on, fail-on-new, weight, accept"),
        ('[[accept]]\nkind = "a"\nreason = "b"', "entry 1 of accept has no date"),
        ('[[accept]]\nreason = "b"\ndate = 2026-01-01', "entry 1 of accept names no finding, kind, topic, broker, shorter_than or below"),
        (ENTRY.format("a") + "broker = '1'", "broker = '1' is not a number"),
        (ENTRY.format("a") + "shorter_than = 'soon'", "shorter_than = 'soon' is not a duration; give for example 5m or 90s"),
        (ENTRY.format("a") + "below = 'loud'", "below = 'loud' is not one of low, medium, high, critical"),
        (ENTRY.format("a") + "id = '1'", "'id' is not one of reason, date"),
        ('fail-on = "loud"', "'loud' is not one of"),
    ],
)
def test_a_wrong_file_is_refused(there: Path, text: str, said: str) -> None:
    Path("own.toml").write_text(text)
    done = run(str(there / "a.case"), "--config", "own.toml")
    assert done.exit_code == 2 and said in done.stderr


def test_a_night_has_the_worst_finding_of_its_run(tmp_path: Path) -> None:
    history, first = History(tmp_path, None), datetime(2026, 11, 1, 3)
    nights = [first + timedelta(days=n) for n in range(4)]
    history.runs = [{"started": at, "ended": at} for at in nights]
    seen = [("a", "high", 1, 3), ("a", "low", 0, None), ("b", "medium", 2, None)]
    for n, (cluster, severity, begin, gone) in enumerate(seen):
        of = {"cluster": cluster, "severity": severity, "first_seen": nights[begin], "gone": nights[gone] if gone is not None else None}
        history.seen[cluster, str(n)] = of
    days, of_clusters = history.calendar()
    assert days == ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"]
    assert of_clusters == {"a": ["low", "high", "high", "low"], "b": [None, None, "medium", "medium"]}
