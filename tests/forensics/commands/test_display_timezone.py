"""`--display-timezone` changes all times that people read, and nothing else; `--since` and `--until` are in that zone, too."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forensics.cli import cli
from tests.forensics.case.test_case import make
from tests.support import recorded

ORDERS = ("--topic", "orders", "--partition", "0")
NINE_HOURS = timedelta(hours=9)
TOKYO = ("--display-timezone", "Asia/Tokyo")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("cases") / "a.case"
    make(directory, recorded.events("unclean-election-2.8.2-zk"))
    return str(directory)


def run(*words: str) -> Result:
    done = CliRunner().invoke(cli, words, env={"COLUMNS": "200"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def earlier(text: str) -> str:
    """Nine hours before, in the words of UTC: only times of the evidence's day and of the next one."""

    def moved(found: re.Match[str]) -> str:
        at = datetime.fromisoformat(found[0].replace(",", ".")) - NINE_HOURS
        return at.isoformat(" ", "milliseconds" if "." in found[0] else "seconds")

    return re.sub(r"2026-11-2\d \d\d:\d\d:\d\d(\.\d{3})?", moved, text)


@pytest.mark.parametrize(
    ("command", "zone"),
    [(("report",), " UTC\n"), (("timeline", *ORDERS), "UTC"), (("inspect",), "times in UTC"), (("checkpoints", "--all"), "written (UTC)")],
)
def test_no_time_of_ours_stays_in_utc(command: tuple[str, ...], zone: str, case: str) -> None:
    words = (command[0], case, *command[1:])
    plain, shown = run(*words), run(*words, *TOKYO)
    assert (plain.exit_code, shown.exit_code) == (0, 0)
    assert (
        zone in plain.stdout
        and zone not in shown.stdout
        and zone.replace("UTC", "Asia/Tokyo" if command[0] == "report" else "+09:00") in shown.stdout
    )
    times = [re.findall(r"\b(\d\d):\d\d:\d\d(?:\.\d{3})?\b", done.stdout) for done in (plain, shown)]
    assert len(times[0]) == len(times[1]) > 0
    quoted = {"01"} if command[0] == "timeline" else set()  # lines of logs are quoted as they are
    assert set(times[0]) == {"01"} and set(times[1]) == {"10"} | quoted


def test_markdown_is_in_the_zone_and_json_is_not(case: str) -> None:
    assert earlier(run("report", case, "--markdown", "-", *TOKYO).stdout).count("2026-11-21 01:53:40.751 +09:00") > 0
    assert run("report", case, "--json", "-", *TOKYO).stdout == run("report", case, "--json", "-").stdout


def test_a_time_of_the_command_line_is_in_the_zone(case: str) -> None:
    def findings(*words: str) -> str:
        return run("report", case, "--json", "-", *words).stdout

    in_utc = findings("--since", "2026-11-21T01:53:40", "--until", "01:53:45")
    assert '"since": "2026-11-21T01:53:40.000Z"' in in_utc
    in_tokyo = findings("--since", "2026-11-21T10:53:40", "--until", "10:53:45", *TOKYO)
    with_offset = findings("--since", "2026-11-21T01:53:40Z", "--until", "2026-11-21T01:53:45Z", *TOKYO)
    without_command = [re.sub(r'"command": \[.*?\]', "", text) for text in (in_utc, in_tokyo, with_offset)]
    assert len(set(without_command)) == 1


def test_an_unknown_zone_is_refused_before_anything_is_read() -> None:
    done = run("report", "nothing.case", "--display-timezone", "Mars/Olympus")
    assert done.exit_code == 2
    assert "'Mars/Olympus' is not a time zone; use for example Europe/Berlin, local or UTC" in done.stderr


@pytest.mark.parametrize(
    ("on", "code"),
    [("lost", 1), ("unknown", 1), ("critical", 1)],
)
def test_a_loss_fails(on: str, code: int, case: str) -> None:
    assert run("report", case, "--fail-on", on).exit_code == code


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("rolling-restart-3.9.1-kraft", {"lost": 0, "unknown": 0, "critical": 0, "info": 1}),
        ("last-replica-standing-unprovable-2.8.2-zk", {"lost": 0, "unknown": 1, "critical": 0}),
    ],
)
def test_what_is_unknown_fails_only_if_asked_for(name: str, codes: dict[str, int], tmp_path: Path) -> None:
    make(tmp_path / "a.case", recorded.events(name))
    assert {on: run("report", str(tmp_path / "a.case"), "--fail-on", on).exit_code for on in codes} == codes
