"""How far the work is: what tasks tell while they read, and the line that shows it."""

from __future__ import annotations

import gzip
import io
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forensics.commands import evidence
from parsers.containers.units import units
from parsers.containers.walk import read_unit
from spark import progress
from spark.progress import DoneSoFar, Watch, announced, metered


class Tracker:
    """Spark's, of stages that are (tasks that are done, tasks)."""

    def __init__(self, **stages: tuple[int, int]) -> None:
        self.stages = stages

    def getActiveStageIds(self) -> list[str]:
        return list(self.stages)

    def getStageInfo(self, stage: str) -> Any:
        done, of = self.stages[stage]
        return SimpleNamespace(numCompletedTasks=done, numTasks=of)


def watch(directory: Path, **stages: tuple[int, int]) -> Watch:
    session: Any = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: Tracker(**stages)))
    return Watch(session, directory)


@pytest.mark.parametrize("name", ["server.log", "server.log.gz"])
@pytest.mark.parametrize("hands", [1, 4])
def test_half_a_file_is_half_of_its_bytes(name: str, hands: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of compressed ones, too, which count for more, and where several tasks read all of it."""
    monkeypatch.setattr(progress, "PERIOD_S", 0.0)
    file = tmp_path / name
    content = b"".join(b"%d %d\n" % (n, hash(n) * 7919 % 104729) for n in range(200_000))
    file.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    (unit,) = units([str(file)])
    unit = unit if hands == 1 else replace(unit, size=unit.size // hands, dealt=(0, hands))
    seen = watch(tmp_path)
    stated = announced(tmp_path, [unit])
    assert seen.seen() == DoneSoFar(0, unit.size, True)
    for read in metered([unit], stated):
        for _, stream, _ in read_unit(read):
            assert stream is not None
            stream.read(len(content) // 2)
            assert seen.seen().done / unit.size == pytest.approx(0.5, abs=0.15)
            assert seen.seen().files == (1, 1)
    assert seen.seen() == DoneSoFar(unit.size, unit.size, True)
    assert watch(tmp_path).seen() == DoneSoFar(0, 0, True), "what was read before is not this stage's"


def test_what_is_read_elsewhere_counts_by_its_tasks(tmp_path: Path) -> None:
    seen = watch(tmp_path, a=(3, 4), b=(0, 4))
    assert seen.seen() == DoneSoFar(3, 8, False)
    events = announced(tmp_path, [replace(unit, size=800) for unit in units([__file__])])
    assert seen.seen() == DoneSoFar(300, 800, True)
    assert [*metered(units([__file__]), events.with_name("elsewhere"))] == units([__file__])
    assert seen.seen() == DoneSoFar(300, 800, True)


def test_the_line_fits_a_terminal_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(evidence, "QUIET_S", 0.0)
    monkeypatch.setattr(evidence, "PERIOD_S", 0.01)
    monkeypatch.setattr(evidence, "_seen_of", lambda _: lambda: DoneSoFar(31_000_000, 264_000_000, True))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    with evidence.Progress().stage("Keeping the case in /var/tmp/incidents/2026-11-22"):
        end = time.monotonic() + 10
        while "31/264 MB" not in shown.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.getvalue()))
    assert any("31/264 MB" in line for line in lines)
    assert max(map(len, lines)) <= 80
    assert shown.getvalue().endswith("\x1b[2K"), "the line is erased"


@pytest.mark.parametrize(
    ("seen", "lately", "text"),
    [
        (DoneSoFar(31_000_000, 264_000_000, True), (1, 10**6), "31/264 MB"),
        (DoneSoFar(31_000_000, 264_000_000, True), (10, 23_300_000), "31/264 MB, 2.3 MB/s, 01:40 left"),
        (DoneSoFar(31_000_000, 264_000_000, True, (12, 550)), (1, 10**6), "12/550 files, 31/264 MB"),
        (DoneSoFar(31_000_000, 264_000_000, True, (1, 1)), (10, 233_000_000), "31/264 MB, 23 MB/s, 00:10 left"),
        (DoneSoFar(1_250_000_000, 10**12, True), (100, 10**9), "1.2/1000.0 GB, 10 MB/s, 1 day, 3:44:35 left"),
        (DoneSoFar(3, 12, False), (6, 2), "3/12 tasks, 00:27 left"),
        (DoneSoFar(12, 12, False), (6, 2), "12/12 tasks"),
    ],
)
def test_words(seen: DoneSoFar, lately: tuple[float, int], text: str) -> None:
    assert evidence.progress_text(seen, *lately) == text


def test_nothing_but_words_where_nobody_watches(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(evidence, "QUIET_S", 0.0)
    with evidence.Progress().stage("Reading evidence"):
        time.sleep(0.01)
    assert capsys.readouterr().err == "Reading evidence ...\n"
