"""`kafka-forensics merge` as a user meets it: the stream, its filters, JSON lines, a reader that stops early, hostile text."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from forensics.views.merged import MergedLines, json_line, lines_of
from tests.conftest import Done
from tests.forensics.commands.test_cli import BUNDLE, COMMAND, ENVIRONMENT
from tests.support import local
from tests.support.shapes import bundle, put

LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (broker-\d) (\S+\.log:\d+) +\| (.*)")
ROW: dict[str, Any] = {
    "at": datetime(2026, 11, 21, 3, 1, 46, 941000),
    "broker": 2,
    "source": "broker-2/logs/state-change.log",
    "line": 20,
    "lines": 2,
    "byte": 512,
    "level": "ERROR",
    "logger": "state.change.logger",
    "event": None,
    "topic": None,
    "partition": None,
    "text": "first\n\tat second",
}
SHOWN = MergedLines({2: "broker-2"}, {ROW["source"]: "state-change.log"}, (8, 20), {})


def test_the_whole_stream(tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("merge", BUNDLE, "--traces", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = [LINE.fullmatch(line) for line in done.stdout.removesuffix("\n").split("\n")]
    assert all(found)
    logs = [f.content for path, f in bundle("unclean-election-2.8.2-zk").items() if "/logs/" in path]
    written = [line for log in logs for line in log.decode().split("\n")[:-1]]
    assert sorted(m[4] for m in found if m) == sorted(line.rstrip("\r") for line in written)
    assert {m[2] for m in found if m} == {"broker-1", "broker-2", "broker-3"}
    assert len({line.index(" | ") for line in done.stdout.split("\n")[:1000]}) == 1, "aligned"
    assert list(tmp_path.iterdir()) == []


def test_json_lines_of_one_partition(tmp_path: Path, called: Callable[..., Done]) -> None:
    file = tmp_path / "lines.jsonl"
    done = called("merge", BUNDLE, "--topic", "orders", "--partition", "0", "--event", "leader-start", "--json", file, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [list(row) for row in rows[:1]] == [
        ["time", "broker", "source", "line", "byte", "level", "logger", "event", "topic", "partition", "text"]
    ]
    assert {(row["topic"], row["partition"], row["event"]) for row in rows} == {("orders", 0, "leader-start")}
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    read = local.events_of(BUNDLE).to_pylist()
    expected = {(e["line"], e["byte"]) for e in read if (e["event"], e["topic"], e["partition"]) == ("leader-start", "orders", 0)}
    assert {(row["line"], row["byte"]) for row in rows} == expected


def test_a_reader_that_stops_early_is_no_error(tmp_path: Path) -> None:
    command = [*COMMAND, "merge", str(BUNDLE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=tmp_path) as running:
        assert running.stdout is not None and running.stderr is not None
        assert LINE.fullmatch(running.stdout.readline().rstrip("\n"))
        running.stdout.close()
        said = running.stderr.read()
    assert running.returncode == 0
    assert [line for line in said.splitlines() if not line.endswith("...")] == []


def test_nothing_asked_for_is_there(tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("merge", BUNDLE, "--grep", "no such words", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[-1] == "No log line matches."


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--event", "leader-strat"), "did you mean leader-start"), (("--level", "LOUD"), "LOUD"), (("--since", "noon"), "noon")],
)
def test_bad_options(options: tuple[str, ...], said: str, tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("merge", BUNDLE, *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_every_line_of_a_record_names_its_place() -> None:
    assert SHOWN(ROW) == (
        "2026-11-21T03:01:46.941Z broker-2 state-change.log:20  | first\n2026-11-21T03:01:46.941Z broker-2 state-change.log:21  | \tat second\n"
    )
    assert [line.split()[2] for line in SHOWN({**ROW, "lines": 1}).splitlines()] == ["state-change.log:20"] * 2


def test_frames_of_a_trace_are_one_line() -> None:
    trace = ["first", "java.io.IOException: disk", "\tat a", "\tat b", "Caused by: x", "\tat c", "\t... 12 more"]
    shown = [line.split(" | ")[1] for line in SHOWN({**ROW, "lines": 7, "text": "\n".join(trace)}).splitlines()]
    assert shown == ["first", "java.io.IOException: disk", "\t… 2 frames", "Caused by: x", "\t… 2 frames"]
    assert len(replace(SHOWN, traces=True)({**ROW, "lines": 7, "text": "\n".join(trace)}).splitlines()) == 7


def test_what_nobody_knows_is_a_dash() -> None:
    assert SHOWN({**ROW, "at": None, "broker": None, "text": "x"}).split() == ["-", "-", "state-change.log:20", "|", "x"]


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x07", "a\rb", "\x9b1m", "\u202e", "\u2028", "\x85"])
def test_a_terminal_obeys_no_log(hostile: str) -> None:
    for shown in (
        SHOWN({**ROW, "text": f"a{hostile}b"}),
        SHOWN({**ROW, "source": f"x\n{hostile}y", "text": ""}),
        json_line({**ROW, "text": hostile}),
    ):
        assert hostile not in shown
        assert len(shown.splitlines()) == 1


def test_colours_only_where_asked_for(tmp_path: Path) -> None:
    cluster, _ = local.gathered(local.events_of(put(tmp_path, bundle("unclean-election-2.8.2-zk"))))
    assert "\x1b" not in lines_of(cluster, coloured=False)(ROW)
    coloured = lines_of(cluster, coloured=True)
    starts = {coloured({**ROW, "broker": broker})[:5] for broker in (1, 2, 3)}
    assert len(starts) == 3
    assert all(start.startswith("\x1b[") for start in starts)


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    files = {path: f for path, f in bundle("unclean-election-2.8.2-zk").items() if path.startswith("broker-2/")}
    cluster, _ = local.gathered(
        local.events_of(put(tmp_path, {f"{day}/{p}": f for day in ("monday", "tuesday") for p, f in files.items()}))
    )
    assert {s for s in lines_of(cluster, coloured=False).files.values() if s.endswith("server.log")} == {
        "monday/broker-2/logs/server.log",
        "tuesday/broker-2/logs/server.log",
    }
