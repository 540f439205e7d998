"""Wrong usages (wrong_usages.txt): each prints its message at once, without Spark, and writes nothing."""

from __future__ import annotations

import json
import shlex
import shutil
from collections import Counter
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from forensics.cli import cli
from tests.forensics.case.test_case import make
from tests.support import recorded

TABLE = Path(__file__).with_name("wrong_usages.txt")
LONG = "x" * 300


def usages() -> list[tuple[str, str]]:
    """Each command line with its message."""
    lines = TABLE.read_text("utf-8").splitlines()
    return [(line[2:], lines[n + 1].strip()) for n, line in enumerate(lines) if line.startswith("$ ")]


USAGES = usages()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working directory that the head of the table describes."""
    top = tmp_path_factory.mktemp("usages")
    for name in ("logs", "full", "tables/_audit"):
        (top / name).mkdir(parents=True)
    for name in ("logs/server.log", "b.log", "full/file", "notes.txt", "taken.tar.gz.mapping.json"):
        (top / name).write_text("a note\n")
    make(top / "a.case", recorded.events("unclean-election-2.8.2-zk"))
    shutil.copytree(top / "a.case", top / "b.case")
    old = shutil.copytree(top / "a.case", top / "old.case") / "case.json"
    old.write_text(json.dumps({**json.loads(old.read_text()), "schema": "kafka-forensics/case/2"}))
    of_audit = {"settings": {"archive": [], "layout": None, "records": False}, "files": "f.parquet"}
    audit = {"schema": "kafka-forensics/audit/3", **of_audit, "clusters": {"prod": "p.json", "test": "t.json"}}
    (top / "tables" / "_audit" / "manifest.json").write_text(json.dumps(audit))
    return top


def content(directory: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_mtime_ns) for path in directory.rglob("*"))


@pytest.mark.parametrize(("usage", "message"), USAGES, ids=[usage for usage, _ in USAGES])
def test_a_wrong_usage_is_refused_at_once(usage: str, message: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Never:
        def __init__(self, *_: object, **__: object) -> None:
            raise AssertionError("Spark was started")

    monkeypatch.setattr("spark.session.Starting", Never)
    monkeypatch.setattr("forensics.commands.evidence.QUIET_S", float("inf"))  # a slow machine prints progress before the message
    monkeypatch.chdir(directory)
    before = content(directory)

    def filled(text: str) -> str:
        return text.replace("{long}", LONG).replace("{here}", str(directory))

    done = CliRunner(env={"COLUMNS": "200"}).invoke(cli, list(map(filled, shlex.split(usage))))
    printed = [line for line in done.stderr.splitlines() if line and not line.startswith(("Usage: ", "Try "))]
    assert (done.exit_code, done.stdout) == (2, ""), done.exception
    assert printed == [f"Error: {filled(message)}"]
    assert content(directory) == before


def test_the_table_has_every_command_and_no_usage_twice() -> None:
    commands = Counter(usage.split()[0] for usage, _ in USAGES)
    assert len({usage for usage, _ in USAGES}) == len(USAGES) >= 90
    assert set(cli.list_commands(click.Context(cli))) <= set(commands)


def test_every_message_names_the_input() -> None:
    """With a word of the command line, unless a word is missing."""
    named = {usage: any(word and word in message for word in shlex.split(usage)) for usage, message in USAGES}
    missing = ("Missing ", "'' is not", "give the evidence")
    assert [usage for usage, message in USAGES if not named[usage] and not message.startswith(missing)] == []
