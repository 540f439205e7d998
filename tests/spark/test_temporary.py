"""Temporary directories are gone when the process ends, also by a signal."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SCRIPT = """
import os, signal, sys
from forensics.start import ended
from spark.temporary import temporary_directory
(temporary_directory() / "file").write_text("x")
assert len(os.listdir(os.environ["TMPDIR"])) == 1
number = int(sys.argv[1])
if number:
    signal.signal(number, ended)
    os.kill(os.getpid(), number)
"""


@pytest.mark.parametrize("number", [0, signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=["end", "SIGTERM", "SIGINT", "SIGHUP"])
def test_nothing_is_left(tmp_path: Path, number: int) -> None:
    environment = {"TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(int(number))], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == (128 + number if number else 0), done.stderr
    assert list(tmp_path.iterdir()) == []
