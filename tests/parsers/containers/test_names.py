"""Names and times of members, whatever system gave them."""

from __future__ import annotations

import io
import tarfile
from datetime import datetime
from pathlib import Path

import pytest

from parsers.containers.walk import members
from tests.support.archives import FILES, LINE, put, read, spread, tar, zipped


def test_modification_times_are_naive_utc(tmp_path: Path) -> None:
    expected = datetime(2024, 5, 1, 13)
    spread(tmp_path / "dir")
    for path in (tmp_path / "dir", put(tmp_path / "a.tar", tar(FILES)), put(tmp_path / "a.zip", zipped(FILES))):
        assert {member.modified for member, _, _ in members(path)} == {expected}


def test_an_archive_that_keeps_no_time_gives_none(tmp_path: Path) -> None:
    path = put(tmp_path / "a.tar", tar({"x": b"1"}, mtime=0))
    assert [member.modified for member, _, _ in members(path)] == [None]


def test_what_macos_adds_is_skipped(tmp_path: Path) -> None:
    files = {"__MACOSX/logs/._server.log": b"x", "logs/._server.log": b"x", ".DS_Store": b"x", "logs/server.log": LINE}
    kept = {"logs/server.log": LINE}
    assert read(spread(tmp_path / "dir", files)) == kept
    assert read(put(tmp_path / "a.tar", tar(files))) == kept
    assert read(put(tmp_path / "a.zip", zipped(files))) == kept


def test_paths_are_printable(tmp_path: Path) -> None:
    name = b"logs/\xff\x1b[31m.log".decode("utf-8", "surrogateescape")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape") as archive:
        archive.addfile(tarfile.TarInfo(name))
    assert list(read(put(tmp_path / "a.tar", out.getvalue()))) == ["logs/\ufffd\ufffd[31m.log"]
    assert list(read(spread(tmp_path / "dir", {name: b""}))) == ["logs/\ufffd\ufffd[31m.log"]


def test_dots_and_doubled_slashes_of_archives_go(tmp_path: Path) -> None:
    assert list(read(put(tmp_path / "a.tar", tar({"./a//b/./server.log": LINE})))) == ["a/b/server.log"]


@pytest.mark.parametrize("name", ["a\\b\\server.log", ".\\a\\b\\server.log", "a/b\\server.log", "/a//b/server.log"])
def test_backslashes_part_names_in_every_container(tmp_path: Path, name: str) -> None:
    assert set(read(put(tmp_path / "a.zip", zipped({name: LINE})))) == {"a/b/server.log"}
    assert set(read(put(tmp_path / "a.tar", tar({name: LINE})))) == {"a/b/server.log"}


def test_backslashes_part_names_that_an_unpacker_left_whole(tmp_path: Path) -> None:
    (tmp_path / "a\\b\\server.log").write_bytes(LINE)
    (tmp_path / "a\\b\\._server.log").write_bytes(LINE)
    assert set(read(tmp_path)) == {"a/b/server.log"}


LITTER = [
    "PaxHeader/server.log",
    "PaxHeaders/server.log",
    "a/PaxHeaders.4711/server.log",
    "@PaxHeader",
    "a/@LongLink",
    "__MACOSX/a/._server.log",
    "a/.DS_Store",
    "a/Thumbs.db",
    "a/desktop.ini",
    "a/._server.log",
]


@pytest.mark.parametrize("name", LITTER)
def test_litter_is_no_evidence(tmp_path: Path, name: str) -> None:
    files = {name: b"30 mtime=1795222800.123456789\n", "a/server.log": LINE}
    assert set(read(put(tmp_path / "a.tar", tar(files)))) == {"a/server.log"}
    assert set(read(put(tmp_path / "a.zip", zipped(files)))) == {"a/server.log"}
    assert set(read(spread(tmp_path / "a", files))) == {"a/server.log"}


@pytest.mark.parametrize("name", ["PaxHeaders-of-orders-0/x.log", "a/my.DS_Store", "a._b/server.log", "thumbs/server.log"])
def test_what_only_looks_like_litter_is_read(tmp_path: Path, name: str) -> None:
    assert set(read(put(tmp_path / "a.tar", tar({name: LINE})))) == {name}
