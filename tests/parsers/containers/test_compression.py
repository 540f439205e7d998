"""Compressed streams: joined, cut, damaged, and grown without bound."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from pathlib import Path

import pytest
import zstandard

from parsers.limits import DEFAULTS
from tests.support.archives import LINE, put, read, tar, walk


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


def test_compression_in_compression_is_bounded(tmp_path: Path) -> None:
    packed = LINE
    for _ in range(DEFAULTS.compressions):
        packed = gzip.compress(packed)
    assert read(put(tmp_path / "x.gz", packed)) == {"x.gz": LINE}
    contents, problems = walk(put(tmp_path / "y.gz", gzip.compress(packed)))
    assert contents == {}
    assert len(problems) == 1


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_a_decompression_bomb_ends_with_a_problem(tmp_path: Path, pack: object) -> None:
    packed = pack(bytes(2**24))  # type: ignore[operator]
    contents, problems = walk(put(tmp_path / "server.log.gz", packed), stream=2**20, ratio=10)
    assert len(contents["server.log.gz"]) < 2**23
    assert "bomb" in problems[0][1]


def test_many_small_bombs_in_one_archive_end_with_a_problem(tmp_path: Path) -> None:
    contents, problems = walk(
        put(tmp_path / "a.tar", tar({f"{n}.log.gz": gzip.compress(bytes(2**19)) for n in range(20)})), streams=2**20, ratio=10
    )
    assert 1 < sum(map(len, contents.values())) / 2**19 < 10
    assert "bomb" in problems[-1][1]


def test_ordinary_zeros_are_no_bomb(tmp_path: Path) -> None:
    zeros = {"t-0/00000000000000000000.log": bytes(2**24)}
    assert read(put(tmp_path / "a.tar.zst", zstandard.compress(tar(zeros)))) == zeros


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


@pytest.mark.parametrize("packed", [gzip.compress(b"1" * 200_000, mtime=0), bz2.compress(b"1" * 200_000), lzma.compress(b"1" * 200_000)])
def test_other_bytes_behind_compressed_ones_are_told_and_zeros_are_padding(tmp_path: Path, packed: bytes) -> None:
    contents, problems = walk(put(tmp_path / "a", packed + b"tail"))
    assert contents == {"a": b"1" * 200_000}
    assert [text.endswith("other bytes follow the compressed ones; they were not read") for _, text in problems] == [True]
    assert walk(put(tmp_path / "b", packed + bytes(70_000) + packed)) == ({"b": b"1" * 400_000}, [])


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


@pytest.mark.parametrize("magic", [b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07\x01\x00", b"\x04\x22\x4d\x18", b"Obj\x01\x00"])
def test_a_container_that_cannot_be_read_is_a_problem(tmp_path: Path, magic: bytes) -> None:
    contents, problems = walk(put(tmp_path / "logs.x", magic + bytes(100)))
    assert contents == {}
    assert "cannot be read here" in problems[0][1]


def test_a_text_that_begins_like_a_table_is_read(tmp_path: Path) -> None:
    contents, problems = walk(put(tmp_path / "server.log", b"ORC\n" + LINE))
    assert contents == {"server.log": b"ORC\n" + LINE}
    assert problems == []


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_streams_with_nothing_in_them_end_with_a_problem(pack: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.containers.compression.MAX_SHORT_STREAMS", 100)
    of_one, empty = pack(LINE), pack(b"")  # type: ignore[operator]
    whole = of_one * 150 + empty * 50
    assert read(put(tmp_path / "a.log", whole)) == {"a.log": LINE * 150}
    contents, problems = walk(put(tmp_path / "b.log", of_one + empty * 150 + of_one))
    assert contents == {"b.log": LINE} and "joined" in problems[0][1]
