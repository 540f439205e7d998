"""`patterns`, and `--patterns` of the commands that read evidence."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from forensics.case.write import told_options
from forensics.cli import cli
from forensics.commands.evidence import reading_words
from forensics.model.clock.node_clocks import Options
from parsers.limits import DEFAULTS
from parsers.own_files import opened
from parsers.patterns import PATTERNS
from parsers.patterns.pattern_toml import read

READING = ("analyze", "audit", "checkpoints", "inspect", "merge", "plan", "salvage", "timeline")


def test_toml_of_one_pattern_and_of_a_kind() -> None:
    done = CliRunner().invoke(cli, ["patterns", "--toml", "leader-starts"])
    assert (done.exit_code, read(done.stdout, "-")) == (0, [p for p in PATTERNS if p.name == "leader-starts"])
    done = CliRunner().invoke(cli, ["patterns", "--toml", "--event", "log-corruption"])
    assert read(done.stdout, "-") == [p for p in PATTERNS if p.event == "log-corruption"]


def test_toml_and_json_exclude_each_other() -> None:
    assert CliRunner().invoke(cli, ["patterns", "--toml", "--json", "-"]).exit_code == 2


def test_every_command_that_reads_events_takes_patterns() -> None:
    assert isinstance(cli, click.Group)
    context = click.Context(cli)
    taking = {n for n in cli.list_commands(context) if "--patterns" in {o for p in cli.get_command(context, n).params for o in p.opts}}  # type: ignore[union-attr]
    assert taking == {*READING, "rules"}, "`rules --check` reads exemplars"


@pytest.mark.parametrize("name", READING)
def test_an_error_in_a_file_is_one_line_before_anything_is_read(name: str, tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    done = CliRunner().invoke(cli, ["patterns", "--toml", "leader-starts", "segment-corrupt"])
    file.write_text(done.stdout.replace("event = 'log-corruption'", "evnt = 'log-corruption'"))
    done = CliRunner().invoke(cli, [name, str(tmp_path / "no-evidence"), "--patterns", str(file)])
    assert (done.exit_code, done.stdout) == (2, "")
    stated = f"{file}: pattern 2 `segment-corrupt`: key `evnt` is not known (did you mean `event`?)"
    assert done.stderr.splitlines()[-1] == f"Error: Invalid value for '--patterns': {stated}"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["analyze", str(tmp_path), "--patterns", str(tmp_path / "no.toml")])
    assert done.exit_code == 2
    assert f"{tmp_path / 'no.toml'}: No such file or directory" in done.stderr
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    done = CliRunner().invoke(cli, ["analyze", str(tmp_path), "--patterns", str(tmp_path / "latin.toml")])
    assert "latin.toml: not UTF-8: " in done.stderr


def test_a_case_names_the_files_and_their_digests(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text("# my patterns\n")
    file = opened(str(tmp_path / "my.toml"))
    shown = json.loads(json.dumps(told_options(Options(), (), DEFAULTS, (file,))))
    assert shown["patterns"] == [{"path": str(tmp_path / "my.toml"), "sha256": file.sha256}]
    assert reading_words(shown) == ("--patterns", str(tmp_path / "my.toml"))
    del shown["patterns"]
    assert reading_words(shown) == (), "a case of an earlier version"
