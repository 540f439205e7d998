"""Walking of evidence: every container, damaged ones, and units that divide it without losing or doubling a member."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import socket
import tarfile
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import containers
from parsers.containers import members, read_unit, units

LINE = b"[2024-05-01 13:00:00,123] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
FILES = {
    "broker-1/logs/server.log": LINE * 40,
    "broker-1/data/clicks-0/00000000000000000000.log": bytes(range(256)) * 20,
    "broker-1/data/clicks-0/leader-epoch-checkpoint": b"0\n1\n0 0\n",
    "broker-1/data/recovery-point-offset-checkpoint": b"",
}
MTIME = 1714568400  # 2024-05-01T13:00:00Z


def tar(files: dict[str, bytes], mode: str = "w", **header: object) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), MTIME
            for key, value in header.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 13, 0, 0)), content, compress_type=method)
    return out.getvalue()


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def spread(root: Path, files: dict[str, bytes] = FILES) -> Path:
    for name, content in files.items():
        os.utime(put(root / name, content), (MTIME, MTIME))
    return root


def read(path: Path) -> dict[str, bytes]:
    """Contents by path; any problem fails the test."""
    out = {}
    for member, stream, problem in members(path):
        assert problem is None
        assert stream is not None
        assert member.path not in out
        out[member.path] = stream.read()
    return out


def walk(path: Path) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    contents, problems = {}, []
    for member, stream, problem in members(path):
        assert (stream is None) != (problem is None)
        if stream is not None:
            contents[member.path] = stream.read()
        if problem is not None:
            assert problem.startswith(f"{member.path}: ")
            problems.append((member.path, problem))
    return contents, problems


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tar", tar(FILES)),
        ("a.tgz", tar(FILES, "w:gz")),
        ("a.tar.gz", tar(FILES, "w:gz")),
        ("a.tar.bz2", tar(FILES, "w:bz2")),
        ("a.tar.xz", tar(FILES, "w:xz")),
        ("a.tar.zst", zstandard.compress(tar(FILES))),
        ("a.zip", zipped(FILES)),
        ("stored.zip", zipped(FILES, zipfile.ZIP_STORED)),
        ("named-wrongly.txt", tar(FILES, "w:gz")),
        ("gnu.tar", tar(FILES, "w", pax_headers={})),
    ],
)
def test_every_kind_of_archive_gives_the_same_members(tmp_path: Path, name: str, content: bytes) -> None:
    assert read(put(tmp_path / name, content)) == FILES


def test_a_directory_gives_relative_paths_sorted(tmp_path: Path) -> None:
    assert list(read(spread(tmp_path / "evidence"))) == sorted(FILES)


def test_modification_times_are_naive_utc(tmp_path: Path) -> None:
    expected = datetime(2024, 5, 1, 13)
    spread(tmp_path / "dir")
    for path in (tmp_path / "dir", put(tmp_path / "a.tar", tar(FILES)), put(tmp_path / "a.zip", zipped(FILES))):
        assert {member.modified for member, _, _ in members(path)} == {expected}


def test_an_archive_that_keeps_no_time_gives_none(tmp_path: Path) -> None:
    path = put(tmp_path / "a.tar", tar({"x": b"1"}, mtime=0))
    assert [member.modified for member, _, _ in members(path)] == [None]


def test_the_extended_timestamp_of_a_zip_goes_before_its_local_time(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("x", (1999, 1, 1, 0, 0, 0))
    info.extra = b"UT\x05\x00\x01" + MTIME.to_bytes(4, "little")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, b"1")
    assert [member.modified for member, _, _ in members(tmp_path / "a.zip")] == [datetime(2024, 5, 1, 13)]


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", zstandard.compress)],
)
def test_a_compressed_file_keeps_its_name(tmp_path: Path, suffix: str, pack: object) -> None:
    packed = pack(LINE * 9)  # type: ignore[operator]
    name = f"server.log.2024-05-01-13.{suffix}"
    assert read(put(tmp_path / name, packed)) == {name: LINE * 9}
    put(tmp_path / "dir/logs" / name, packed)
    assert read(tmp_path / "dir") == {f"logs/{name}": LINE * 9}
    assert read(put(tmp_path / "a.tgz", tar({f"logs/{name}": packed}, "w:gz"))) == {f"logs/{name}": LINE * 9}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_joined_compressed_streams_are_read_to_the_end(tmp_path: Path, pack: object) -> None:
    joined = pack(LINE) + pack(LINE * 2)  # type: ignore[operator]
    assert read(put(tmp_path / "server.log.1", joined)) == {"server.log.1": LINE * 3}


def test_zeros_after_a_gzip_stream_are_padding(tmp_path: Path) -> None:
    assert read(put(tmp_path / "x.gz", gzip.compress(LINE) + bytes(5000))) == {"x.gz": LINE}


def test_content_wins_over_the_name(tmp_path: Path) -> None:
    assert read(put(tmp_path / "logs.tar.gz", LINE)) == {"logs.tar.gz": LINE}


def test_archives_in_archives_are_path_components(tmp_path: Path) -> None:
    inner = {"broker-1/logs/server.log": LINE}
    outer = {"kafka-1.tar.gz": tar(inner, "w:gz"), "sub/kafka-2.zip": zipped(inner), "kafka-3.tar": tar(inner)}
    expected = {f"{name}/broker-1/logs/server.log": LINE for name in outer}
    assert read(put(tmp_path / "all.tar.gz", tar(outer, "w:gz"))) == expected
    assert read(put(tmp_path / "all.zip", zipped(outer))) == expected
    assert read(spread(tmp_path / "dir", outer)) == expected


def test_a_zip_larger_than_its_memory_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "SPOOLED_IN_MEMORY", 100)
    path = put(tmp_path / "all.tar.gz", tar({"in.zip": zipped(FILES)}, "w:gz"))
    assert read(path) == {f"in.zip/{name}": content for name, content in FILES.items()}


def test_a_nested_zip_beyond_the_bound_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MAX_SPOOLED", 100)
    contents, problems = walk(put(tmp_path / "all.tar", tar({"in.zip": zipped(FILES), "x": b"1"})))
    assert contents == {"x": b"1"}
    assert [path for path, _ in problems] == ["in.zip"]


def test_nesting_is_followed_to_the_depth_and_no_deeper(tmp_path: Path) -> None:
    content = tar({"server.log": LINE})
    for depth in range(containers.MAX_DEPTH, 1, -1):
        content = tar({f"{depth}.tar": content})
    assert read(put(tmp_path / "five.tar", content)) == {"2.tar/3.tar/4.tar/5.tar/server.log": LINE}
    contents, problems = walk(put(tmp_path / "six.tar", tar({"1.tar": content, "after": b"1"})))
    assert contents == {"after": b"1"}
    assert [path for path, _ in problems] == ["1.tar/2.tar/3.tar/4.tar/5.tar"]


def test_compression_in_compression_is_bounded(tmp_path: Path) -> None:
    packed = LINE
    for _ in range(containers.MAX_LAYERS):
        packed = gzip.compress(packed)
    assert read(put(tmp_path / "x.gz", packed)) == {"x.gz": LINE}
    contents, problems = walk(put(tmp_path / "y.gz", gzip.compress(packed)))
    assert contents == {}
    assert len(problems) == 1


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_a_decompression_bomb_ends_with_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: object) -> None:
    monkeypatch.setattr(containers, "FREE_BYTES", 2**20)
    monkeypatch.setattr(containers, "MAX_RATIO", 10)
    packed = pack(bytes(2**24))  # type: ignore[operator]
    contents, problems = walk(put(tmp_path / "server.log.gz", packed))
    assert len(contents["server.log.gz"]) < 2**23
    assert "bomb" in problems[0][1]


def test_a_zip_bomb_of_many_members_ends_with_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "FREE_BYTES", 2**20)
    monkeypatch.setattr(containers, "MAX_RATIO", 10)
    path = put(tmp_path / "a.zip", zipped({f"{n}.log": bytes(2**19) for n in range(20)}))
    contents, problems = walk(path)
    assert 1 < len(contents) < 10
    assert "bomb" in problems[-1][1]


def test_ordinary_zeros_are_no_bomb(tmp_path: Path) -> None:
    zeros = {"t-0/00000000000000000000.log": bytes(2**24)}
    assert read(put(tmp_path / "a.tar.zst", zstandard.compress(tar(zeros)))) == zeros


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


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a.Z", b"\x1f\x9d\x90abc", "compress file"),
        ("a.sz", b"\xff\x06\0\0sNaPpY", "snappy file"),
        ("a.lz4", b"\x02\x21\x4c\x18abc", "lz4 file"),
        ("a.lz4", b"\x04\x22\x4d\x18abc", "lz4 file"),
        ("a.lzma", lzma.compress(b"x" * 99, format=lzma.FORMAT_ALONE), "lzma file"),
    ],
)
def test_compression_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes, form: str) -> None:
    contents, problems = walk(put(tmp_path / name, content))
    assert contents == {}
    assert [form in text for _, text in problems] == [True]


@pytest.mark.parametrize("packed", [gzip.compress(b"1" * 200_000), bz2.compress(b"1" * 200_000), lzma.compress(b"1" * 200_000)])
def test_other_bytes_behind_compressed_ones_are_told_and_zeros_are_padding(tmp_path: Path, packed: bytes) -> None:
    contents, problems = walk(put(tmp_path / "a", packed + b"tail"))
    assert contents == {"a": b"1" * 200_000}
    assert [text.endswith("other bytes follow the compressed ones; they were not read") for _, text in problems] == [True]
    assert walk(put(tmp_path / "b", packed + bytes(70_000) + packed)) == ({"b": b"1" * 400_000}, [])


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
    monkeypatch.setattr(containers, "UNIT_BYTES", range(20_000, 20_001))
    parts = [{f"{n % 15}.log": bytes([n]) * 5000} for n in range(40)]
    planned = units([str(put(tmp_path / "a.tar", appended(*parts)))])
    assert len(planned) > 3
    read_once = {m.path: s.read()[:1] for unit in planned for m, s, _ in read_unit(unit) if s is not None}
    told = [p for unit in planned for _, s, p in read_unit(unit) if s is None]
    assert read_once == {f"{n % 15}.log": bytes([n]) for n in range(25, 40)}
    assert len(told) == 25


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
    monkeypatch.setattr(containers, "MAX_LOOKED_AHEAD", 10)
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


def test_half_a_gzip_gives_its_half_then_the_problem(tmp_path: Path) -> None:
    text = b"".join(b"[2024-05-01 13:00:00,%03d] INFO %s (x)\n" % (n % 1000, os.urandom(9).hex().encode()) for n in range(20_000))
    packed = gzip.compress(text)
    contents, problems = walk(put(tmp_path / "server.log.gz", packed[: len(packed) // 2]))
    half = contents["server.log.gz"]
    assert text.startswith(half)
    assert len(half) > len(text) // 4
    assert "cut off" in problems[0][1]


def test_a_wrong_checksum_is_a_problem(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(LINE * 100))
    packed[-6] ^= 0xFF
    contents, problems = walk(put(tmp_path / "server.log.gz", bytes(packed)))
    assert (LINE * 100).startswith(contents["server.log.gz"])
    assert len(problems) == 1


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


@pytest.mark.parametrize("magic", [b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07\x01\x00", b"\x04\x22\x4d\x18"])
def test_a_container_that_cannot_be_read_is_a_problem(tmp_path: Path, magic: bytes) -> None:
    contents, problems = walk(put(tmp_path / "logs.x", magic + bytes(100)))
    assert contents == {}
    assert "cannot be read here" in problems[0][1]


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


def test_an_empty_file_a_nul_file_and_noise_come_as_they_are(tmp_path: Path) -> None:
    files = {"empty": b"", "noise": os.urandom(5000), "nul.log": bytes(5000)}
    assert read(spread(tmp_path, files)) == files


def test_an_empty_tar_has_no_members(tmp_path: Path) -> None:
    assert read(put(tmp_path / "a.tar", bytes(10240))) == {}


def test_a_stream_is_closed_once_the_walk_goes_on(tmp_path: Path) -> None:
    for path in (spread(tmp_path / "dir"), put(tmp_path / "a.tar", tar(FILES))):
        streams = [stream for _, stream, _ in members(path)]
        for stream in streams:
            assert stream is not None
            with pytest.raises(ValueError, match="closed"):
                stream.read(1)


def test_unread_members_are_skipped(tmp_path: Path) -> None:
    path = put(tmp_path / "a.tar.gz", tar(FILES, "w:gz"))
    assert [member.path for member, _, _ in members(path)] == list(FILES)


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


# --- units ---


def gathered(paths: list[Path]) -> tuple[list[str], list[containers.Unit]]:
    planned = units([str(path) for path in paths])
    return [member.path for unit in planned for member, stream, _ in read_unit(unit) if stream is not None], planned


@pytest.mark.parametrize("form", ["dir", "tar", "zip", "tar.gz"])
def test_units_hold_every_member_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr(containers, "UNIT_BYTES", range(40_000, 50_000))
    files = {f"broker-{n}/{'long/' * 40}server.log": os.urandom(5_000) for n in range(40)}
    path = tmp_path / "evidence"
    if form == "dir":
        spread(path, files)
    else:
        put(path, {"tar": lambda: tar(files), "zip": lambda: zipped(files), "tar.gz": lambda: tar(files, "w:gz")}[form]())
    names, planned = gathered([path])
    assert sorted(names) == sorted(files)
    assert (len(planned) > 3) == (form != "tar.gz")
    for unit in planned:
        for member, stream, problem in read_unit(unit):
            assert problem is None
            assert stream is not None
            assert stream.read() == files[member.path]


def test_units_of_a_damaged_tar_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "UNIT_BYTES", range(20_000, 20_001))
    whole = tar({f"{n}.log": os.urandom(5000) for n in range(40)})
    path = put(tmp_path / "a.tar", whole[:100_000])
    found = [(m.path, s is None) for unit in units([str(path)]) for m, s, _ in read_unit(unit)]
    assert found == [(m.path, s is None) for m, s, _ in members(path)]
    assert found[-1] == ("a.tar", True)


def test_problems_of_a_directory_are_in_one_unit(tmp_path: Path) -> None:
    spread(tmp_path, FILES)
    (tmp_path / "gone").symlink_to("nowhere")
    rows = [(m.path, p) for unit in units([str(tmp_path)]) for m, _, p in read_unit(unit)]
    assert len([p for _, p in rows if p]) == 1
    assert len(rows) == len(FILES) + 1


def test_several_arguments_are_told_apart(tmp_path: Path) -> None:
    spread(tmp_path / "node1/kafka", {"server.log": LINE})
    spread(tmp_path / "node2/kafka", {"server.log": LINE})
    put(tmp_path / "b.tar", tar({"server.log": LINE}))
    put(tmp_path / "lone.log", LINE)
    names, _ = gathered([tmp_path / "node1/kafka", tmp_path / "b.tar"])
    assert names == ["kafka/server.log", "b.tar/server.log"]
    names, _ = gathered([tmp_path / "node1/kafka", tmp_path / "node2/kafka"])
    assert names == ["node1/kafka/server.log", "node2/kafka/server.log"]
    names, _ = gathered([tmp_path / "lone.log", tmp_path / "b.tar"])
    assert names == ["lone.log", "b.tar/server.log"]


def test_the_same_argument_twice_is_read_once(tmp_path: Path) -> None:
    spread(tmp_path / "kafka", {"server.log": LINE})
    names, _ = gathered([tmp_path / "kafka", tmp_path / "kafka/"])
    assert names == ["server.log"]


# --- lines ---


def test_lines_know_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MAX_LINE", 4)
    found = list(containers.lines(io.BytesIO(b"ab\r\n\nabcdefghij\nz")))
    assert found == [(1, 0, b"ab"), (2, 4, b""), (3, 5, b"abcd"), (4, 16, b"z")]


# --- any bytes ---

WHOLES = [tar(FILES), tar(FILES, "w:gz"), tar(FILES, "w:xz"), zstandard.compress(tar(FILES)), zipped(FILES), gzip.compress(LINE)]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(WHOLES), st.lists(st.tuples(st.integers(0), st.integers(0, 255)), max_size=6), st.integers(0))
def test_damaged_containers_never_crash(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, hits: list[tuple[int, int]], cut: int
) -> None:
    damaged = bytearray(whole)
    for at, value in hits:
        damaged[at % len(damaged)] = value
    path = put(tmp_path_factory.mktemp("any") / "x", bytes(damaged[: cut % len(damaged) + 1]))
    for _, stream, problem in members(path):
        assert (stream is None) != (problem is None)
        if stream is not None:
            stream.read()
    for unit in units([str(path)]):
        list(read_unit(unit))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=2000))
def test_any_bytes_come_out_or_are_named(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    assert list(members(put(tmp_path_factory.mktemp("any") / "x", content)))


# names that other systems give


@pytest.mark.parametrize("name", ["a\\b\\server.log", ".\\a\\b\\server.log", "a/b\\server.log", "/a//b/server.log"])
def test_backslashes_part_names_in_every_container(tmp_path: Path, name: str) -> None:
    assert set(read(put(tmp_path / "a.zip", zipped({name: LINE})))) == {"a/b/server.log"}
    assert set(read(put(tmp_path / "a.tar", tar({name: LINE})))) == {"a/b/server.log"}


def test_backslashes_part_names_that_an_unpacker_left_whole(tmp_path: Path) -> None:
    (tmp_path / "a\\b\\server.log").write_bytes(LINE)
    (tmp_path / "a\\b\\._server.log").write_bytes(LINE)
    assert set(read(tmp_path)) == {"a/b/server.log"}


def test_directory_of_a_windows_zip_is_no_file(tmp_path: Path) -> None:
    assert set(read(put(tmp_path / "a.zip", zipped({"a\\b\\": b"", "a\\b\\server.log": LINE})))) == {"a/b/server.log"}


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


def test_zip_that_keeps_no_times_has_none(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("server.log"), LINE)
    ((member, _, _),) = [(m, s, p) for m, s, p in members(put(tmp_path / "a.zip", out.getvalue()))]
    assert member.modified is None
