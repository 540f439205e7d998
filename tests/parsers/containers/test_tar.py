"""Tars: cut, damaged, joined, appended to; every entry is read once or named."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
from pathlib import Path

import pytest

from parsers.containers.units import units
from parsers.containers.walk import members, read_unit
from tests.support.archives import LINE, put, read, tar, walk, zipped


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz", "w"])
def test_half_a_tar_gives_what_it_holds_then_the_problem(tmp_path: Path, mode: str) -> None:
    noise = os.urandom(300_000)
    whole = tar({"first.log": LINE * 50, "second.log": noise, "third.log": LINE}, mode)
    contents, problems = walk(put(tmp_path / "half.tar", whole[: len(whole) // 2]))
    assert contents.get("first.log") == LINE * 50 or mode == "w:bz2"  # bzip2 packs 900 kB into one block
    assert noise.startswith(contents.get("second.log", b""))
    assert "third.log" not in contents
    assert [path for path, _ in problems][-1] == "half.tar"


def test_a_half_member_is_named_and_its_half_is_read(tmp_path: Path) -> None:
    whole = tar({"a/server.log": LINE * 5000})
    contents, problems = walk(put(tmp_path / "half.tar", whole[:100_000]))
    assert contents == {"a/server.log": (LINE * 5000)[: 100_000 - 512]}
    assert [path for path, _ in problems] == ["a/server.log", "half.tar"]


def test_a_tar_cut_between_members_is_a_problem(tmp_path: Path) -> None:
    whole = tar({"a": b"1" * 512, "b": b"2"})
    contents, problems = walk(put(tmp_path / "a.tar", whole[:1024]))
    assert contents == {"a": b"1" * 512}
    assert "cut off" in problems[0][1]


def test_a_damaged_header_in_a_tar_is_a_problem(tmp_path: Path) -> None:
    whole = bytearray(tar({"a": b"1" * 512, "b": b"2", "c": b"3"}))
    whole[1024:1100] = b"\xff" * 76
    contents, problems = walk(put(tmp_path / "a.tar", bytes(whole)))
    assert contents == {"a": b"1" * 512, "c": b"3"}
    assert "damaged header" in problems[0][1]


def test_a_tar_whose_first_header_is_damaged_is_still_a_tar(tmp_path: Path) -> None:
    whole = bytearray(tar({"a": b"1" * 512, "b": b"2"}))
    whole[10] ^= 1
    contents, problems = walk(put(tmp_path / "a.bin", bytes(whole)))
    assert contents == {"b": b"2"}
    assert "damaged header at byte 0" in problems[0][1]


def test_joined_tars_are_read_to_the_end(tmp_path: Path) -> None:
    assert read(put(tmp_path / "a.tar", tar({"a": b"1"}) + tar({"b": b"2"}))) == {"a": b"1", "b": b"2"}


def appended(*parts: dict[str, bytes]) -> bytes:
    """What `tar -r` makes: the later entries after the earlier ones, in one archive."""
    out = b"".join(tar(part)[: sum(512 + -(-len(c) // 512) * 512 for c in part.values())] for part in parts)
    return out + bytes(1024)


TWICE = appended({"b/server.log": b"old\n", "b/x": b"1"}, {"./b//server.log": b"old\nnew\n"})


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, lambda data: gzip.compress(bz2.compress(data))])
def test_the_last_of_two_entries_of_a_name_counts_as_for_tar(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    held, problems = walk(put(tmp_path / "a.tar", pack(TWICE)))
    assert held == {"b/server.log": b"old\nnew\n", "b/x": b"1"}
    assert problems == [("b/server.log", "b/server.log: replaced by a later entry of this name, not read")]


def test_entries_are_replaced_across_the_units_of_a_tar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.containers.units.UNIT_BYTES", range(20_000, 20_001))
    parts = [{f"{n % 15}.log": bytes([n]) * 5000} for n in range(40)]
    planned = units([str(put(tmp_path / "a.tar", appended(*parts)))])
    assert len(planned) > 3
    read_once = {m.path: s.read()[:1] for unit in planned for m, s, _ in read_unit(unit) if s is not None}
    rows = [p for unit in planned for _, s, p in read_unit(unit) if s is None]
    assert read_once == {f"{n % 15}.log": bytes([n]) for n in range(25, 40)}
    assert len(rows) == 25


def test_a_tar_in_an_archive_cannot_be_looked_ahead_in(tmp_path: Path) -> None:
    held, problems = walk(put(tmp_path / "a.zip", zipped({"in.tar": TWICE})))
    assert held == {"in.tar/b/server.log": b"old\n", "in.tar/b/x": b"1"}
    assert problems == [
        (
            "in.tar/b/server.log",
            "in.tar/b/server.log: replaces an earlier entry of this name, which was read already; not read",
        )
    ]


def test_a_large_compressed_tar_is_not_decompressed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.containers.tar.MAX_LOOKED_AHEAD", 10)
    held, problems = walk(put(tmp_path / "a.tgz", gzip.compress(TWICE)))
    assert held["b/server.log"] == b"old\n"
    assert [path for path, _ in problems] == ["b/server.log"]


def test_a_hard_link_to_an_earlier_entry_replaces_nothing(tmp_path: Path) -> None:
    out = io.BytesIO(tar({"b/server.log": b"old\n"}))
    with tarfile.open(fileobj=out, mode="a") as archive:
        link = tarfile.TarInfo("b/server.log")
        link.type, link.linkname = tarfile.LNKTYPE, "b/server.log"
        archive.addfile(link)
    held, problems = walk(put(tmp_path / "a.tar", out.getvalue()))
    assert held["b/server.log"] == b"old\n"
    assert "hard link" in problems[0][1]


def test_links_and_pipes_in_a_tar_are_problems(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind in (("soft", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("pipe", tarfile.FIFOTYPE), ("dir", tarfile.DIRTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/mnt/data"
            archive.addfile(info)
    contents, problems = walk(put(tmp_path / "a.tar", out.getvalue()))
    assert contents == {}
    assert [path for path, _ in problems] == ["soft", "hard", "pipe"]
    assert "/mnt/data" in problems[0][1]


def test_an_empty_tar_has_no_members(tmp_path: Path) -> None:
    assert read(put(tmp_path / "a.tar", bytes(10240))) == {}


def test_a_huge_pax_header_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 2**32
    contents, problems = walk(put(tmp_path / "a.tar", info.tobuf() + bytes(2048)))
    assert contents == {}
    assert "impossible size" in problems[0][1]


@pytest.mark.parametrize("size", ["-10000", "99999999999999999999", "x"])
def test_a_lying_pax_size_ends_the_walk(tmp_path: Path, size: str) -> None:
    path = put(tmp_path / "a.tar", tar({"a": b"1"}, "w", pax_headers={"size": size}))
    assert list(members(path))
