"""What a terminal shows: help with examples that work, no blanks at the ends of lines, no colours where nobody sees them, completion."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from forensics.cli import Commands, cli
from forensics.commands.help import Command
from tests.forensics.case.test_case import make
from tests.support import recorded


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("cases") / "a.case"
    make(directory, recorded.events("unclean-election-2.8.2-zk"))
    return str(directory)


NAMES = cli.list_commands(click.Context(cli))


def command(name: str) -> Command:
    assert isinstance(cli, Commands)
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def test_every_module_with_a_command_is_listed() -> None:
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["--help"]).stdout
    assert NAMES[0] == "analyze" and len(NAMES) >= 13
    for name in NAMES:
        assert command(name).name == name
        assert f"\n  {name} " in shown
    assert cli.get_command(click.Context(cli), "evidence") is None, "a helper is not a command"


def test_help_and_completion_load_no_engine() -> None:
    """Both import every command and every format."""
    heavy = "pyarrow", "pyspark", "rich.table", "jinja2", "parsers.patterns"
    code = f"""
import sys, click
from forensics.cli import cli
names = cli.list_commands(click.Context(cli))
print([name for name in {heavy!r} if name in sys.modules])"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("name", NAMES)
def test_help_fits_and_its_examples_are_understood(name: str) -> None:
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(cli, [name, "--help"]).stdout
    examples = [line for line in shown.splitlines() if line.startswith(f"    kafka-forensics {name}")]
    assert len(examples) >= 2
    assert all(len(line) <= 80 for line in shown.splitlines() if line not in examples)
    for line in examples:
        words = shlex.split(line.split("|")[0])[2:]
        command(name).make_parser(click.Context(command(name), info_name=name)).parse_args(list(words))


def test_commands_options_and_kinds_are_completed() -> None:
    def completed(*words: str) -> list[str]:
        env = {"_KAFKA_FORENSICS_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
        done = CliRunner(env=env).invoke(cli, prog_name="kafka-forensics")
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert completed("kafka-forensics", "rep") == ["report"]
    assert completed("kafka-forensics", "analyze", "--mark") == ["--markdown"]
    assert completed("kafka-forensics", "analyze", "--fail-on", "cr") == ["critical"]
    assert completed("kafka-forensics", "diff", "a.case", "b.case", "--fail-on-new", "lo") == ["low", "lost"]
    assert completed("kafka-forensics", "schema", "fin") == ["findings", "finding_details"]


SHOWN = (("report",), ("inspect",), ("timeline", "--topic", "orders", "--partition", "0"), ("checkpoints", "--all"), ("plan",))


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("words", SHOWN, ids=[words[0] for words in SHOWN])
def test_what_is_piped_has_no_blanks_at_the_ends_of_its_lines_and_no_colours(words: tuple[str, ...], width: int, case: str) -> None:
    done = CliRunner(env={"COLUMNS": str(width)}).invoke(cli, [words[0], case, *words[1:]])
    assert done.exit_code == 0 and done.stdout
    assert [line for line in done.stdout.splitlines() if line != line.rstrip()] == []
    assert "\x1b" not in done.stdout
    assert all(len(line) <= width or "--bootstrap-server" in line for line in done.stdout.splitlines())


def test_options_show_more_or_less_of_a_report(case: str) -> None:
    def shown(*words: str) -> str:
        done = CliRunner(env={"COLUMNS": "200"}).invoke(cli, [*words[:1], case, *words[1:]])
        assert done.exit_code == 0, done.stderr
        return done.stdout

    screen, every = shown("report"), shown("report", "--all")
    assert len(screen.splitlines()) <= 28 and f"kafka-forensics report {case} --all\n" in screen
    assert len(every.splitlines()) > 100 and every.startswith(screen.partition("\n")[0])
    assert shown("report", "--quiet").splitlines() == screen.partition("\n\n")[0].splitlines()
    assert len(re.findall(r"(?m)^  (?:critical|high) +[0-9a-f]{12}  ", shown("report", "--all", "-n", "2"))) == 2
    (id,) = re.findall(r"(?m)^  critical +([0-9a-f]{12})  Unclean election: ", shown("report", "--all", "--kind", "unclean-election"))
    explained = shown("explain", id[:6])
    assert "from outside the ISR" in explained and "state-change.log:" in explained and "Find out who allowed" in explained


def test_the_extension_of_a_file_chooses_its_format(case: str, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("a.html", "a.json", "a.md", "a.csv")}
    words = [word for file in files.values() for word in ("-o", str(file))]
    assert CliRunner().invoke(cli, ["report", case, "-q", *words]).exit_code == 0
    ids = {f["id"] for f in json.loads(files["a.json"].read_text())["findings"]}
    assert {row["id"] for row in csv.DictReader(files["a.csv"].read_text().splitlines())} == ids
    assert all(id in files["a.html"].read_text() for id in ids) and files["a.md"].read_text().startswith("# ")
    done = CliRunner().invoke(cli, ["timeline", "orders-0", case, "-o", str(files["a.csv"])])
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(files["a.csv"].read_text().splitlines()))
    assert {(row["topic"], row["partition"]) for row in rows} == {("orders", "0")} and any(row["broker 1"] == "leader" for row in rows)


def test_a_terminal_shows_colours_unless_told_not_to(case: str) -> None:
    def shown(**env: str) -> str:
        ours, theirs = pty.openpty()
        words = [sys.executable, "-c", "from forensics.cli import main; main()", "report", case]
        with subprocess.Popen(
            words, stdout=theirs, stderr=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm-256color", **env}
        ) as running:
            os.close(theirs)
            encoded = b""
            try:
                while piece := os.read(ours, 65536):
                    encoded += piece
            except OSError:  # Linux's word for the end of it
                pass
            assert running.wait() == 0
        os.close(ours)
        return encoded.decode()

    coloured = re.compile(r"\x1b\[[0-9;]*(3[0-7]|4[0-7])[0-9;]*m")
    assert coloured.search(shown(NO_COLOR="")) and not coloured.search(shown(NO_COLOR="1"))
