"""Where results go: every file is listed at the end, and one that cannot be written does not cost the analysis."""

from __future__ import annotations

import errno
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forensics.cli import cli
from tests.conftest import Done
from tests.forensics.case.test_case import make
from tests.support import recorded
from tests.support.paths import BUNDLES

BUNDLE = BUNDLES / "unclean-election-2.8.2-zk.tar.gz"
FULL = "/dev/full"

pytestmark = pytest.mark.skipif(not Path(FULL).exists(), reason="needs a device that is always full")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("cases") / "a.case"
    make(directory, recorded.events("unclean-election-2.8.2-zk"))
    return str(directory)


def run(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(cli, list(words))


def command_in(stderr: str) -> list[str]:
    """The words after kafka-forensics in the command that says how to go on."""
    (line,) = (line for line in stderr.splitlines() if line.startswith("  kafka-forensics "))
    return shlex.split(line)[1:]


def test_every_written_file_is_listed_at_the_end(case: str, tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("a.json", "a.html", "tables")]
    done = run("report", case, "--json", files[0], "--html", files[1], "--parquet", files[2])
    assert done.exit_code == 0
    assert sorted(done.stderr.splitlines()) == sorted(f"Wrote {file}" for file in files)
    assert "Wrote" not in run("report", case, "--json", "-").output
    with_findings = run("report", case, "--json", files[0], "--fail-on", "critical")
    assert with_findings.exit_code == 1 and with_findings.stderr == f"Wrote {files[0]}\n"


@pytest.mark.parametrize(
    "words",
    [
        ("timeline", "--topic", "orders", "--partition", "0"),
        ("inspect",),
        ("checkpoints",),
        ("plan",),
        ("verify", "--proof"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_lists_its_file_and_prints_the_result_if_it_cannot_be_written(
    words: tuple[str, ...], case: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "result.json")
    good, bad = run(words[0], case, *words[1:], "--json", file), run(words[0], case, *words[1:], "--json", FULL)
    assert good.exit_code == 0 and good.stderr == f"Wrote {file}\n" and json.loads(Path(file).read_text())
    assert bad.exit_code == 2 and bad.stdout == good.stdout != ""
    assert bad.stderr.splitlines()[0] == f"Error: {FULL} could not be written: No space left on device"


def test_a_failed_write_costs_neither_the_other_files_nor_the_summary(case: str, tmp_path: Path) -> None:
    other = tmp_path / "review.md"
    done = run("report", case, "--json", FULL, "--markdown", str(other), "--topic", "orders", "--fail-on", "critical")
    assert done.exit_code == 2 and "316 committed records" in done.stdout and other.stat().st_size
    assert f"The analysis is kept in {case}." in done.stderr and done.stderr.splitlines()[0] == f"Wrote {other}"
    words = command_in(done.stderr)
    assert words == ["report", case, "--json", FULL, "--topic", "orders"]
    assert run(*[str(tmp_path / "report.json") if word == FULL else word for word in words]).exit_code == 0
    assert json.loads((tmp_path / "report.json").read_text())["scope"]["topics"] == ["orders"]


def test_an_analysis_that_cannot_be_written_is_kept_as_a_case(
    tmp_path: Path, called: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    done = called("analyze", BUNDLE, "--json", FULL, cwd=tmp_path)
    assert done.returncode == 2 and "316 committed records" in done.stdout
    kept = Path(command_in(done.stderr)[1])
    assert kept.is_relative_to(temporary) and f"The analysis is kept in {kept}." in done.stderr
    assert run("report", str(kept)).stdout.splitlines()[:3] == done.stdout.splitlines()[:3]


def test_a_case_that_cannot_be_written_is_kept_elsewhere(
    tmp_path: Path, called: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory for the case disappears while the evidence is read."""
    from forensics.commands import analyze

    (tmp_path / "gone").mkdir()
    opened = analyze.open_input

    def open_and_lose(*given: object) -> object:
        found = opened(*given)  # type: ignore[arg-type]
        (tmp_path / "gone").rmdir()
        (tmp_path / "gone").write_text("a file in its place")
        return found

    monkeypatch.setattr(analyze, "open_input", open_and_lose)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = called("analyze", BUNDLE, "--case", "gone/a.case", "--json", "report.json", cwd=tmp_path)
    assert done.returncode == 2 and "316 committed records" in done.stdout
    assert "Wrote report.json" in done.stderr and "gone/a.case could not be written: " in done.stderr
    (kept,) = tmp_path.glob("kafka-forensics-*/rescued.case")
    assert f"The analysis is kept in {kept}." in done.stderr and os.access(kept / "case.json", os.R_OK)


def test_without_room_for_a_temporary_case_the_other_formats_are_written(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from forensics.commands import analyze

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(analyze, "in_case", no_room)
    page, report = str(tmp_path / "report.html"), str(tmp_path / "report.json")
    done = run("report", case, "--html", page, "--json", report)
    assert done.exit_code == 2 and "316 committed records" in done.stdout
    assert f"{page} could not be written: a temporary case is needed for it" in done.stderr and f"Wrote {report}" in done.stderr
    assert command_in(done.stderr) == ["report", case, "--html", page]
