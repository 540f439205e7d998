"""Containers that somebody made to harm: nothing outside is opened, nothing waits, nothing grows without bound, and each says so."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from dataclasses import fields
from pathlib import Path

import pytest

from parsers.containers.units import Unit, units
from parsers.containers.walk import read_unit
from parsers.limits import DEFAULTS, Limits, given, in_force
from parsers.pieces import PIECE_BYTES, cut
from tests.support.archives import FILES, LINE, put, tar, walk, zipped
from tests.support.local import events_of
from tests.support.paths import ROOT

OUTSIDE = ("/etc/passwd", "../../outside.log", "a/../../outside.log", "C:\\Windows\\x.log", "..\\..\\outside.log", "//host/share/x.log")


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("pack", [tar, zipped])
def test_names_that_lead_out_are_names_only(tmp_path: Path, name: str, pack: object) -> None:
    outside = put(tmp_path / "outside.log", b"secret")
    evidence = put(tmp_path / "in" / "a.bin", pack({name: LINE}))  # type: ignore[operator]
    contents, problems = walk(evidence)
    assert (list(contents.values()), problems) == ([LINE], [])
    assert not any(path.startswith(("/", "\\")) for path in contents)
    assert outside.read_bytes() == b"secret" and {p.name for p in tmp_path.rglob("*")} == {"outside.log", "in", "a.bin"}


def test_links_of_archives_are_not_followed(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind, aim in (
            *(("passwd", tarfile.SYMTYPE, "/etc/passwd"), ("hard", tarfile.LNKTYPE, "/etc/passwd"), ("one", tarfile.SYMTYPE, "two")),
            *(
                ("two", tarfile.SYMTYPE, "one"),
                ("self", tarfile.LNKTYPE, "self"),
                ("disk", tarfile.BLKTYPE, ""),
                ("pipe", tarfile.FIFOTYPE, ""),
            ),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, aim
            archive.addfile(info)
    contents, problems = walk(put(tmp_path / "a.tar", out.getvalue()))
    assert contents == {} and len(problems) == 7


def test_trees_that_loop_or_wait_end(tmp_path: Path) -> None:
    root = tmp_path / "in"
    put(root / "a" / "server.log", LINE)
    (root / "a" / "up").symlink_to("..")
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "zero").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe")
    contents, problems = walk(root)
    assert contents == {"a/server.log": LINE}
    assert {path for path, _ in problems} == {"a/up", "one", "two", "zero", "pipe"}


@pytest.mark.parametrize("name", ["pipe", "/dev/zero"])
def test_what_is_no_file_is_refused_where_it_is_named_itself(tmp_path: Path, name: str) -> None:
    path = Path(name) if name.startswith("/") else tmp_path / name
    if path.name == "pipe":
        os.mkfifo(path)
    contents, ((_, problem),) = walk(path)
    assert contents == {} and "is not a regular file" in problem


@pytest.mark.parametrize("pack", [tar, zipped])
def test_too_many_members_are_a_problem(tmp_path: Path, pack: object) -> None:
    path = put(tmp_path / "a.bin", pack({f"{n}.log": LINE for n in range(300)}))  # type: ignore[operator]
    contents, problems = walk(path, members=200)
    assert len(contents) in (0, 200) and "--limit members" in problems[-1][1]
    assert len(walk(path, members=300)[0]) == 300


def test_members_of_nested_archives_count_together(tmp_path: Path) -> None:
    inner = tar({f"{n}.log": b"" for n in range(100)})
    contents, problems = walk(put(tmp_path / "a.tar", tar({f"{n}.tar": inner for n in range(10)})), members=500)
    assert len(contents) < 500 and any("--limit members" in problem for _, problem in problems)


def sparse(entries: int) -> bytes:
    """GNU's sparse file 1.0: its map stands in front of its content."""
    data = b"%d\n" % entries + b"0\n0\n" * entries
    info = tarfile.TarInfo("GNUSparseFile.0/x")
    info.size = len(data := data.ljust(-(-len(data) // 512) * 512, b"\0"))
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "x", "GNU.sparse.realsize": "10"}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info, io.BytesIO(data))
        after = tarfile.TarInfo("after")
        archive.addfile(after)
    return out.getvalue()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_sparse_file_is_read_and_one_with_an_endless_map_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: object) -> None:
    monkeypatch.setattr("parsers.containers.tar.MAX_TAR_HEADERS", 2**16)
    contents, problems = walk(put(tmp_path / "a.bin", pack(sparse(100))))  # type: ignore[operator]
    assert (contents, problems) == ({"x": bytes(10), "after": b""}, [])
    path = put(tmp_path / "b.bin", pack(sparse(100_000)))  # type: ignore[operator]
    assert "x" not in walk(path)[0] and "map of a sparse file" in walk(path)[1][-1][1]
    for unit in units([str(path)]):
        list(read_unit(unit))


def test_a_wrong_checksum_in_a_zip_is_a_problem_and_the_others_are_read(tmp_path: Path) -> None:
    data = bytearray(zipped(FILES, zipfile.ZIP_STORED))
    at = data.index(LINE)
    data[at] ^= 1
    contents, problems = walk(put(tmp_path / "a.zip", bytes(data)))
    assert set(contents) == set(FILES) and [path for path, _ in problems] == ["broker-1/logs/server.log"]


def test_a_zip64_is_read(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, archive.open("server.log", "w", force_zip64=True) as member:
        member.write(LINE)
    assert walk(put(tmp_path / "a.zip", out.getvalue())) == ({"server.log": LINE}, [])


@pytest.mark.parametrize("pack", [tar, zipped])
def test_a_name_that_no_file_system_has_is_a_problem(tmp_path: Path, pack: object) -> None:
    path = put(tmp_path / "a.bin", pack({"a" * 5000: LINE, "server.log": LINE}))  # type: ignore[operator]
    contents, ((name, problem),) = walk(path)
    assert contents == {"server.log": LINE} and len(name) == 4096 and "a name of 5000 characters" in problem


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("mode", ["zip", "tar"])
def test_problems_of_one_name_are_counted(tmp_path: Path, mode: str) -> None:
    out = io.BytesIO()
    if mode == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            for _ in range(300):
                archive.writestr("server.log", LINE)
    else:
        out.write(tar({"server.log": LINE}).rstrip(b"\0").ljust(1024, b"\0") * 300)
    printed = events_of(put(tmp_path / "a.bin", out.getvalue()))
    problems = [row for row in printed.to_pylist() if row["event"] == "problem" and row["source"] == "server.log"]
    assert len(problems) == 51 and problems[-1]["text"] == "249 more problems of this kind"


def test_a_hole_is_read_up_to_a_limit(tmp_path: Path) -> None:
    path = put(tmp_path / "server.log", LINE)
    os.truncate(path, 3 * 2**20)
    assert walk(path) == ({"server.log": LINE.ljust(3 * 2**20, b"\0")}, [])
    contents, ((_, problem),) = walk(path, stream=2**20)
    assert contents["server.log"].startswith(LINE) and len(contents["server.log"]) < 2 * 2**20
    assert f"is a sparse file of {3 * 2**20} bytes" in problem and "--limit stream" in problem
    assert not any(unit.piece for unit in cut(Unit(str(path), None, PIECE_BYTES, limits=Limits(stream=2**20))))


def test_little_may_become_much_only_if_it_is_zeros(tmp_path: Path) -> None:
    zeros, text = bytes(2**20), LINE * (2**20 // len(LINE))
    path = put(tmp_path / "a.tar.gz", gzip.compress(tar({"segment": zeros, "server.log": text})))
    assert walk(path, free=2**21, ratio=1) == ({"segment": zeros, "server.log": text}, [])
    contents, problems = walk(path, free=2**18, ratio=1)
    assert contents["segment"] == zeros and 0 < len(contents["server.log"]) < len(text)
    assert any("--limit free" in problem for _, problem in problems)


def test_zeros_between_joined_archives_are_passed_over(tmp_path: Path) -> None:
    path = put(tmp_path / "a.tar", tar({"1": LINE}) + bytes(5 * 2**20) + tar({"2": LINE}))
    assert walk(path) == ({"1": LINE, "2": LINE}, [])


# limits


def test_limits_are_given_by_name() -> None:
    assert given([]) == DEFAULTS
    assert given(["stream=16g", "members=5", "STREAM=1k"]) == Limits(stream=1024, members=5)
    for wrong in ("x=1", "stream", "stream=-1", "stream=0", "stream=1t", "stream=1.5g", "=5"):
        with pytest.raises(ValueError, match="stream"):
            given([wrong])


def test_the_page_of_limits_has_them_all() -> None:
    page = (ROOT / "docs" / "hostile.md").read_text("utf-8")
    rows = [line.strip("|").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    stated = {name.strip(" `"): (given([f"{name.strip(' `')}={value}"]), means.strip()) for name, value, means in rows}
    assert stated == {f.name: (DEFAULTS, f.metadata["means"]) for f in fields(Limits)}


def test_limits_go_with_the_units_to_whoever_reads_them(tmp_path: Path) -> None:
    put(tmp_path / "a.tar", tar({"1.tar": tar({"server.log": LINE})}))
    for limits, problems in ((Limits(archives=1), 1), (DEFAULTS, 0)):
        for unit in units([str(tmp_path / "a.tar")], limits):
            found = [problem for _, _, problem in read_unit(unit) if problem]
            assert len(found) == problems and all("--limit archives" in problem for problem in found)
        assert in_force() == limits
