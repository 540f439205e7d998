"""Start of the command: no code from the working directory runs, foreign packages are named, and signals are handled from the beginning."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import forensics
from forensics.cli import cli
from forensics.start import PACKAGES, safe
from tests.conftest import Done
from tests.support.hostile import command, executed, fill, python, run, without_java
from tests.support.paths import BUNDLES, ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUNDLE = BUNDLES / "producers-left-down-2.8.2-zk.tar.gz"
ONE = ("--topic", "orders", "--partition", "0")
WORDS: dict[str, tuple[str, ...]] = {
    "analyze": ("evidence.tar.gz", "--json", "out.json"),
    "audit": (".", "--out", "../tables"),
    "checkpoints": ("evidence.tar.gz", "--json", "out.json"),
    "inspect": ("evidence.tar.gz", "--json", "out.json"),
    "merge": ("evidence.tar.gz",),
    "plan": ("evidence.tar.gz", "--json", "out.json"),
    "salvage": ("evidence.tar.gz", "--json", "-", "--out", "../salvaged"),
    "timeline": ("evidence.tar.gz", *ONE, "--json", "out.json"),
}
"""Each command that starts Spark, with relative paths."""
WITH_JAVA = ("analyze", "audit")
"""All commands start Spark in one way; the others run without it."""
NOTEBOOK = "import forensics\nprint(forensics.analyze('evidence.tar.gz', case='../a.case').table('findings').to_pylist())\n"


@pytest.fixture(scope="module")
def modules(session: SparkSession) -> set[str]:
    """Names of the modules that a worker imports."""
    own = ("forensics.jobs", "forensics.audit.whole", "forensics.case.judge", "spark.audit", "parsers.evidence", "pyarrow.dataset")
    task = session.sparkContext.parallelize([0], 1).map(lambda _: [*map(__import__, own)] and [*__import__("sys").modules])
    imported = {name.partition(".")[0] for name in task.first()} - {"__main__", "__mp_main__"}
    assert {"pyspark", "uuid", "pyarrow", *PACKAGES} <= imported
    return imported


@pytest.fixture
def there(modules: set[str], tmp_path: Path) -> Path:
    """A directory with evidence and hostile files."""
    directory = tmp_path / "hostile" / "there"
    fill(directory, modules)
    shutil.copy(BUNDLE, directory / "evidence.tar.gz")
    return directory


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    directory = tmp_path / "clean" / "there"
    directory.mkdir(parents=True)
    shutil.copy(BUNDLE, directory / "evidence.tar.gz")
    return directory


def listing(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*")}


def test_every_command_that_starts_spark_is_known() -> None:
    import click

    commands = [cli.get_command(click.Context(cli), name) for name in cli.list_commands(click.Context(cli))]
    assert {c.name for c in commands if c is not None and "master" in {p.name for p in c.params}} == set(WORDS)


@pytest.mark.parametrize("name", WORDS)
def test_no_file_of_the_working_directory_is_executed_or_read_as_settings(
    name: str, there: Path, clean: Path, tmp_path: Path, called: Callable[..., Done]
) -> None:
    before = listing(there)
    if name == "audit":  # only the evidence is in both archives
        shutil.move(there / "evidence.tar.gz", there.parent / "evidence.tar.gz")
    words = tuple("../evidence.tar.gz" if name == "audit" and word == "." else word for word in WORDS[name])
    done = run([*command(tmp_path), name, *words], there, **({} if name in WITH_JAVA else without_java(tmp_path / "no-java")))
    assert executed(there) == []
    assert done.returncode in (0, 1), done.stderr
    if name == "audit":
        shutil.move(clean / "evidence.tar.gz", clean.parent / "evidence.tar.gz")
    same = called(name, *words, cwd=clean)
    assert (done.returncode, done.stdout) == (same.returncode, same.stdout)
    if "out.json" in words:
        assert (there / "out.json").read_bytes() == (clean / "out.json").read_bytes()
    assert listing(there) - {"out.json"} == before - ({"evidence.tar.gz"} if name == "audit" else set())


def test_nor_for_a_notebook(there: Path, clean: Path, tmp_path: Path, session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    before = listing(there)
    done = run(python(tmp_path, NOTEBOOK), there)
    assert executed(there) == []
    monkeypatch.chdir(clean)
    assert done.stdout == f"{forensics.analyze('evidence.tar.gz', session, case='../a.case').table('findings').to_pylist()}\n", done.stderr
    assert listing(there) == before


@pytest.mark.parametrize("named", ["", ":", ".", "sub:", "/elsewhere::/other"])
def test_the_working_directory_is_taken_off_the_search_path(named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", named)
    library, here = os.path.dirname(os.__file__), str(tmp_path)
    kept = [entry for entry in named.split(":") if os.path.isabs(entry)]
    assert safe(["", here, f"{here}/sub", *kept, library, here]) == [*([f"{here}/sub"] if "sub" not in named else []), *kept, library, here]


def test_a_directory_that_was_named_and_a_checkout_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = os.path.dirname(os.__file__)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert safe([str(tmp_path), library]) == [str(tmp_path), library]
    monkeypatch.chdir(ROOT)
    assert safe(["", library]) == ["", library]


@pytest.mark.parametrize("name", PACKAGES)
@pytest.mark.parametrize("form", ["{}/__init__.py", "{}.py"])
def test_a_package_of_another_program_is_named(name: str, form: str, tmp_path: Path) -> None:
    file = tmp_path / "other" / form.format(name)
    file.parent.mkdir(parents=True)
    file.write_text("raise SystemExit('it was imported')\n")
    done = run([sys.executable, ROOT / "forensics" / "start.py", "rules"], tmp_path, PYTHONPATH=f"{tmp_path / 'other'}:{ROOT}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {str(file)!r} belongs to another program") and len(done.stderr.splitlines()) == 1
    assert "PYTHONPATH" in done.stderr and "pipx" in done.stderr


def copied(to: Path) -> Path:
    """The packages, as a wheel installs them, with the entry point."""
    for name in PACKAGES:
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.move(to / "forensics" / "kafka_forensics.py", to)
    return to


def test_an_installation_that_another_one_changed_is_noticed(tmp_path: Path) -> None:
    site = copied(tmp_path / "site")

    def start(*options: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, *options, "-c", "from kafka_forensics import main; main()", "--version"]
        return run(words, tmp_path, PYTHONPATH=str(site))

    assert start().returncode == 0
    (site / "parsers" / "__init__.py").write_text('"""Parsers of another program."""\n')
    assert (start().returncode, str(site / "parsers" / "__init__.py") in start().stderr) == (2, True)
    (site / "parsers" / "__init__.py").unlink()
    without = start("-S")  # without the checkout that this environment has
    assert without.returncode == 2 and "the package 'parsers' of kafka-forensics is not complete" in without.stderr


def test_a_part_of_the_packages_from_elsewhere_is_noticed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "parsers", tmp_path / "other" / "parsers")
    done = run([sys.executable, ROOT / "forensics" / "start.py", "--version"], tmp_path, PYTHONPATH=f"{tmp_path / 'other'}:{ROOT}")
    assert done.returncode == 2 and str(tmp_path / "other" / "parsers") in done.stderr


def test_a_checkout_and_a_zip_start_with_python_m(tmp_path: Path) -> None:
    site = copied(tmp_path / "site")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as packed:
        for file in site.rglob("*"):
            packed.write(file, file.relative_to(site))
    for path in (ROOT, tmp_path / "all.zip"):
        done = run([sys.executable, "-m", "forensics", "--version"], tmp_path, PYTHONPATH=str(path))
        assert done.returncode == 0 and "version" in done.stdout, done.stderr


def test_a_program_that_imports_a_foreign_package_gets_the_same_sentence(tmp_path: Path) -> None:
    (tmp_path / "parsers.py").touch()
    done = run([sys.executable, "-c", "import forensics; forensics.analyze"], tmp_path, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert "ImportError: " in done.stderr.splitlines()[-1] and "belongs to another program" in done.stderr


def test_ctrl_c_while_modules_are_imported(tmp_path: Path) -> None:
    """The first module that the command imports after the guard waits."""
    (tmp_path / "click.py").write_text("import time\nprint('here', flush=True)\ntime.sleep(60)\n")
    words = command(tmp_path)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment) as running:
        assert running.stdout is not None and running.stderr is not None
        assert running.stdout.readline() == "here\n"
        running.send_signal(signal.SIGINT)
        assert (running.stderr.read(), running.wait()) == ("Interrupted.\n", 130)
