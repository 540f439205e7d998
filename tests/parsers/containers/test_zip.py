"""Zips: their times, passwords, lost directories, and zips inside other containers."""

from __future__ import annotations

import io
import os
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from parsers.containers.walk import NAMELESS, members
from tests.support.archives import FILES, LINE, MTIME, put, read, tar, walk, zipped


def test_the_extended_timestamp_of_a_zip_goes_before_its_local_time(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("x", (1999, 1, 1, 0, 0, 0))
    info.extra = b"UT\x05\x00\x01" + MTIME.to_bytes(4, "little")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, b"1")
    assert [member.modified for member, _, _ in members(tmp_path / "a.zip")] == [datetime(2024, 5, 1, 13)]


def test_a_zip_larger_than_its_memory_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.containers.zip.SPOOLED_IN_MEMORY", 100)
    path = put(tmp_path / "all.tar.gz", tar({"in.zip": zipped(FILES)}, "w:gz"))
    assert read(path) == {f"in.zip/{name}": content for name, content in FILES.items()}


def test_a_nested_zip_beyond_the_bound_is_a_problem(tmp_path: Path) -> None:
    contents, problems = walk(put(tmp_path / "all.tar", tar({"in.zip": zipped(FILES), "x": b"1"})), zip=100)
    assert contents == {"x": b"1"}
    assert [path for path, _ in problems] == ["in.zip"]


def test_a_zip_bomb_of_many_members_ends_with_a_problem(tmp_path: Path) -> None:
    path = put(tmp_path / "a.zip", zipped({f"{n}.log": bytes(2**19) for n in range(20)}))
    contents, problems = walk(path, stream=2**20, ratio=10)
    assert 1 < len(contents) < 10
    assert "bomb" in problems[-1][1]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_a_name_that_comes_again_the_last_counts(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("server.log", b"first")
        archive.writestr("server.log", LINE)
    contents, problems = walk(put(tmp_path / "a.zip", out.getvalue()))
    assert contents == {"server.log": LINE}
    assert [path for path, _ in problems] == ["server.log"]


def test_a_zip_without_its_directory_is_read_from_the_start(tmp_path: Path) -> None:
    files = {"a.log": LINE * 10, "b.log": LINE * 20, "c.log": os.urandom(90_000)}
    whole = zipped(files)
    contents, problems = walk(put(tmp_path / "half.zip", whole[:50_000]))
    assert contents["a.log"] == LINE * 10
    assert contents["b.log"] == LINE * 20
    assert files["c.log"].startswith(contents["c.log"])
    assert [path for path, _ in problems] == ["c.log", "half.zip"]


def test_a_zip_with_a_password_names_each_member(tmp_path: Path) -> None:
    whole = bytearray(zipped({"secret.log": LINE}))
    whole[6] |= 1
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    contents, problems = walk(put(tmp_path / "a.zip", bytes(whole)))
    assert contents == {}
    assert "password" in problems[0][1]


def test_directory_of_a_windows_zip_is_no_file(tmp_path: Path) -> None:
    assert set(read(put(tmp_path / "a.zip", zipped({"a\\b\\": b"", "a\\b\\server.log": LINE})))) == {"a/b/server.log"}


def test_zip_that_keeps_no_times_has_none(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("server.log"), LINE)
    ((member, _, _),) = [(m, s, p) for m, s, p in members(put(tmp_path / "a.zip", out.getvalue()))]
    assert member.modified is None


@pytest.mark.parametrize("name", ["logs/", "logs\\"])
def test_content_under_the_name_of_a_directory_is_not_hidden(name: str, tmp_path: Path) -> None:
    data = zipped({"logs!": LINE}).replace(b"logs!", name.encode())
    contents, problems = walk(put(tmp_path / "a.zip", data))
    assert contents == {"logs": LINE} or [path for path, _ in problems] == ["logs"]


def test_a_member_without_a_name_gets_one(tmp_path: Path) -> None:
    assert read(put(tmp_path / "a.tar", tar({"./": LINE}))) == {NAMELESS: LINE}
