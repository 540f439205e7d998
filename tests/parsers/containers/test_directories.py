"""Directory trees: links, pipes, what may not be read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.support.archives import FILES, LINE, put, read, spread, walk


def test_a_directory_gives_relative_paths_sorted(tmp_path: Path) -> None:
    assert list(read(spread(tmp_path / "evidence"))) == sorted(FILES)


def test_links_in_a_directory(tmp_path: Path) -> None:
    root = spread(tmp_path / "evidence", {"logs/server.log": LINE})
    put(tmp_path / "outside.log", b"x")
    (root / "current.log").symlink_to("logs/server.log")
    (root / "loop").symlink_to("loop")
    (root / "logs/up").symlink_to("..")
    (root / "gone").symlink_to("nowhere")
    (root / "out").symlink_to(tmp_path / "outside.log")
    contents, problems = walk(root)
    assert contents == {"logs/server.log": LINE}
    assert [path for path, _ in problems] == ["gone", "logs/up", "loop", "out"]


def test_pipes_and_sockets_in_a_directory_are_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    contents, problems = walk(tmp_path)
    assert contents == {}
    assert [path for path, _ in problems] == ["pipe", "socket"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_a_problem(tmp_path: Path) -> None:
    spread(tmp_path, {"shut/server.log": LINE, "shut.log": LINE, "zopen.log": LINE})
    (tmp_path / "shut").chmod(0)
    (tmp_path / "shut.log").chmod(0)
    contents, problems = walk(tmp_path)
    (tmp_path / "shut").chmod(0o700)
    assert contents == {"zopen.log": LINE}
    assert {path for path, _ in problems} == {"shut", "shut.log"}


def test_what_is_not_there_is_a_problem(tmp_path: Path) -> None:
    contents, problems = walk(tmp_path / "nowhere")
    assert contents == {}
    assert [path for path, _ in problems] == ["nowhere"]
