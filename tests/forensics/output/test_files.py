"""What a command writes is there whole or not at all: a disk that is full, a signal in the middle."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner

from forensics.cli import cli
from forensics.commands import salvage
from forensics.commands.evidence import Opened
from forensics.commands.inputs import EvidenceInput, Input
from forensics.output.files import resolved, whole_directory, whole_file
from forensics.output.sanitise import tolerate
from parsers.containers.units import units
from tests.bundles.test_bundles import BUNDLES
from tests.forensics.case.test_case import make
from tests.support import local, recorded
from tests.support.paths import ROOT

LINE = "[2026-11-21 02:15:38,147] INFO [Partition topic{}-0 broker=1] Shrinking ISR from 1,2 to 1. (kafka.cluster.Partition)\n"
FILES = ("json", "html", "sarif")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("cases") / "a.case"
    make(directory, recorded.events("reassignment-2.8.2-zk"))
    return str(directory)


@contextmanager
def full(limit: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes, as on a disk that is full."""
    was = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, was[1]))
    compiles, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # Python would keep half of a module that is imported here
    try:
        yield
    finally:
        sys.dont_write_bytecode = compiles
        resource.setrlimit(resource.RLIMIT_FSIZE, was)


@pytest.mark.parametrize("name", [*FILES, "parquet"])
def test_a_full_disk_leaves_what_was_there(case: str, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    with full(1000):
        new = CliRunner().invoke(cli, ["report", case, f"--{name}", str(out)])
    assert list(tmp_path.iterdir()) == []
    assert new.exit_code and "Error" in new.output and str(out) in new.output and ".part-" not in new.output
    if name != "parquet":
        out.write_text("what was there")
        out.chmod(0o640)
        with full(1000):
            CliRunner().invoke(cli, ["report", case, f"--{name}", str(out)])
        assert (out.read_text(), list(tmp_path.iterdir())) == ("what was there", [out])
        assert CliRunner().invoke(cli, ["report", case, f"--{name}", str(out)]).exit_code == 0
        assert out.stat().st_size > 1000 and out.stat().st_mode & 0o777 == 0o640


def test_a_plan_and_a_case_on_a_full_disk(case: str, tmp_path: Path) -> None:
    with full(100):
        done = CliRunner().invoke(cli, ["plan", case, "--gone", "3", "--out", str(tmp_path / "plan")])
        assert done.exit_code == 2 and f"{tmp_path / 'plan'} could not be written" in done.stderr and "replica" in done.stdout
        with pytest.raises(OSError):
            make(tmp_path / "other.case", recorded.events("reassignment-2.8.2-zk"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGINT, ["report", "--json", "out"]),
        (signal.SIGTERM, ["report", "--html", "out"]),
        (signal.SIGTERM, ["report", "--parquet", "out"]),
        (signal.SIGHUP, ["plan", "--gone", "3", "--out", "out"]),
        (signal.SIGTERM, ["salvage", "--out", "out"]),
        (signal.SIGTERM, ["redact", "--out", "out"]),
    ],
    ids=lambda value: value.name if isinstance(value, signal.Signals) else value[0] + value[1],
)
def test_a_signal_in_the_middle_leaves_nothing(case: str, tmp_path: Path, number: signal.Signals, words: list[str]) -> None:
    """All is written when it comes, but nothing is in its place yet."""
    (tmp_path / "server.log").write_text(LINE)
    there = {"redact": str(tmp_path / "server.log"), "salvage": str(LEFT_DOWN)}.get(words[0], case)
    code = f"""
import os, signal, sys
from forensics.cli import main
if {words[0]!r} == "salvage":
    from tests.forensics.output.test_files import without_spark
    without_spark()
def sync(_):
    print(*sorted({{name[:6] for name in os.listdir()}}), file=sys.stderr, flush=True)
    os.kill(os.getpid(), {int(number)})
os.fsync = sync
sys.argv[1:] = {[words[0], there, *words[1:]]!r}
main()
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
    said = {signal.SIGINT: "Interrupted.\n", signal.SIGTERM: "Terminated.\n", signal.SIGHUP: ""}[number]
    assert done.returncode == 128 + number and done.stderr.endswith(f".part- server\n{said}") and "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["server.log"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_what_cannot_be_printed_is_one_line(case: str) -> None:
    code = "from forensics.cli import main; main()"
    with open("/dev/full", "w") as nowhere:
        done = subprocess.run(
            [sys.executable, "-c", code, "checkpoints", case],
            check=False,
            stdout=nowhere,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, "Error: standard output: No space left on device")


LEFT_DOWN = BUNDLES / "producers-left-down-3.9.1-kraft.tar.gz"


class Read(EvidenceInput):
    """Evidence read in this process, without Spark."""

    def __init__(self, bundle: Path) -> None:
        table = local.events_of(bundle)
        Input.__init__(self, [str(bundle)], *local.gathered(table))
        self.opened = cast(Opened, SimpleNamespace(units=units(self.paths)))
        self.reported = local.report(table)

    def conclusion(self, asked: object = None) -> Any:
        return self.reported


@cache
def read(bundle: Path) -> Read:
    return Read(bundle)


def without_spark() -> None:
    """For a process that ends soon."""
    salvage.open_input = lambda *_: read(LEFT_DOWN)  # type: ignore[assignment]


def test_records_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(salvage, "open_input", lambda *_: read(LEFT_DOWN))
    words = ["salvage", str(LEFT_DOWN), "--out", str(tmp_path / "out")]
    with full(300):
        done = CliRunner().invoke(cli, words)
    assert done.exit_code == 2 and str(tmp_path / "out") in done.output and ".part-" not in done.output
    assert list(tmp_path.iterdir()) == []
    assert CliRunner().invoke(cli, words).exit_code == 0 and list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("limit", [100, 400])
def test_a_copy_on_a_full_disk(tmp_path: Path, limit: int) -> None:
    """Of the archive, and of the mapping, which is larger."""
    source = tmp_path / "server.log"
    source.write_text("".join(LINE.format(n) for n in range(40)))
    with full(limit):
        done = CliRunner().invoke(cli, ["redact", str(source), "--out", str(tmp_path / "copy.tar.gz")])
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 2) and str(tmp_path / "copy.tar.gz") in done.stderr
    assert list(tmp_path.iterdir()) == [source]


def test_what_is_no_file_is_written_as_it_is_and_links_are_followed(tmp_path: Path) -> None:
    with whole_file("/dev/null") as out:
        out.write(b"x")
    assert not Path("/dev/null").is_file()
    (tmp_path / "link").symlink_to(tmp_path / "aim")
    with whole_file(tmp_path / "link", 0o600) as out:
        out.write(b"x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "aim").read_bytes() == b"x"
    assert (tmp_path / "aim").stat().st_mode & 0o777 == 0o600


def test_the_directory_one_stands_in_is_filled_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with whole_directory(Path(".")) as to:
        (to / "a").write_text("x")
    assert [path.name for path in Path(".").iterdir()] == ["a"]


def test_nothing_written_is_no_directory(tmp_path: Path) -> None:
    with whole_directory(tmp_path / "deep" / "out", 0o700):
        pass
    assert [path.name for path in tmp_path.rglob("*")] == ["deep"]


def test_what_another_run_wrote_meanwhile_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def files() -> dict[str, str]:
        return {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}

    out, inside = tmp_path / "out", tmp_path / "inside"
    inside.mkdir()
    for directory, cwd in ((out, tmp_path), (inside, inside)):
        monkeypatch.chdir(cwd)
        with pytest.raises(OSError, match="another command"), whole_directory(directory) as second:
            with whole_directory(directory) as first:
                (first / "a").write_text("first")
            (second / "a").write_text("second")
    with pytest.raises(OSError, match="another command"), whole_file(tmp_path / "copy", new=True) as file:
        (tmp_path / "copy").write_text("first")
        file.write(b"second")
    assert files() == {"out/a": "first", "inside/a": "first", "copy": "first"}
    with whole_directory(out, replace=True) as to:
        (to / "b").write_text("with --force")
    assert files() == {"out/b": "with --force", "inside/a": "first", "copy": "first"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes links of another user")
@pytest.mark.parametrize("link", ["link", "way/file", "way/../link"])
def test_a_link_of_another_user_is_not_followed(case: str, tmp_path: Path, link: str) -> None:
    """As in /tmp, where the other user made the link before this one writes a report."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "file").write_text("what was there")
    (tmp_path / "link").symlink_to("own/file")
    (tmp_path / "way").symlink_to(own)
    for name in ("link", "way"):
        os.lchown(tmp_path / name, 54321, 54321)
    for words in (["report", case, "--json"], ["report", case, "--parquet"], ["plan", case, "--out"]):
        done = CliRunner().invoke(cli, [*words, str(tmp_path / link)])
        assert done.exit_code == 2 and "is a symbolic link of another user, which is not followed" in done.stderr
    with pytest.raises(OSError, match="of another user"), whole_file(tmp_path / link) as out:
        out.write(b"x")
    assert {path.name: path.read_text() for path in own.iterdir()} == {"file": "what was there"}
    for name in ("link", "way"):
        os.lchown(tmp_path / name, os.geteuid(), os.getegid())
    with whole_file(tmp_path / "link") as out:
        out.write(b"x")
    assert (own / "file").read_text() == "x"


def test_links_lead_where_the_system_would_go(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "down").symlink_to("a/b")
    (tmp_path / "a" / "up").symlink_to("../down")
    (tmp_path / "round").symlink_to("round")
    for path in ("down/../x", "a/up/x", "a/up/../b/./x", "absent/x", "a/../down"):
        assert str(resolved(tmp_path / path)) == os.path.realpath(tmp_path / path), path
    with pytest.raises(OSError, match="evels of symbolic links"):
        resolved(tmp_path / "round")


def test_an_encoding_without_dashes_ends_no_command(case: str) -> None:
    stream = TextIOWrapper(BytesIO(), "latin-1")
    tolerate(stream)
    stream.write("offsets 200–334 · 東…")
    stream.flush()
    assert stream.buffer.getvalue() == b"offsets 200-334 \xb7 \\u6771..."  # type: ignore[attr-defined]
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT), "COLUMNS": "120"}
    command = [sys.executable, "-c", "from forensics.cli import main; main()", "report", case]
    done = subprocess.run(command, check=False, capture_output=True, env=environment)
    plain = CliRunner(env={"COLUMNS": "120"}).invoke(cli, ["report", case]).stdout
    assert "·" in plain and "–" in plain
    assert (done.returncode, done.stdout.decode("ascii")) == (0, plain.replace("·", "*").replace("–", "-")), done.stderr
