"""Walking of evidence: containers in containers, whole and damaged ones, and any bytes."""

from __future__ import annotations

import gzip
import os
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.containers.units import units
from parsers.containers.walk import members, read_unit
from parsers.limits import DEFAULTS
from tests.support.archives import FILES, LINE, put, read, spread, tar, walk, zipped


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


def test_content_wins_over_the_name(tmp_path: Path) -> None:
    assert read(put(tmp_path / "logs.tar.gz", LINE)) == {"logs.tar.gz": LINE}


def test_archives_in_archives_are_path_components(tmp_path: Path) -> None:
    inner = {"broker-1/logs/server.log": LINE}
    outer = {"kafka-1.tar.gz": tar(inner, "w:gz"), "sub/kafka-2.zip": zipped(inner), "kafka-3.tar": tar(inner)}
    expected = {f"{name}/broker-1/logs/server.log": LINE for name in outer}
    assert read(put(tmp_path / "all.tar.gz", tar(outer, "w:gz"))) == expected
    assert read(put(tmp_path / "all.zip", zipped(outer))) == expected
    assert read(spread(tmp_path / "dir", outer)) == expected


def test_nesting_is_followed_to_the_depth_and_no_deeper(tmp_path: Path) -> None:
    content = tar({"server.log": LINE})
    for depth in range(DEFAULTS.archives, 1, -1):
        content = tar({f"{depth}.tar": content})
    assert read(put(tmp_path / "five.tar", content)) == {"2.tar/3.tar/4.tar/5.tar/server.log": LINE}
    contents, problems = walk(put(tmp_path / "six.tar", tar({"1.tar": content, "after": b"1"})))
    assert contents == {"after": b"1"}
    assert [path for path, _ in problems] == ["1.tar/2.tar/3.tar/4.tar/5.tar"]


def test_an_empty_file_a_nul_file_and_noise_come_as_they_are(tmp_path: Path) -> None:
    files = {"empty": b"", "noise": os.urandom(5000), "nul.log": bytes(5000)}
    assert read(spread(tmp_path, files)) == files


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


WHOLES = [tar(FILES), tar(FILES, "w:gz"), tar(FILES, "w:xz"), zstandard.compress(tar(FILES)), zipped(FILES), gzip.compress(LINE)]


@settings(max_examples=150)
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


@settings(max_examples=100)
@given(st.binary(max_size=2000))
def test_any_bytes_come_out_or_are_named(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    assert list(members(put(tmp_path_factory.mktemp("any") / "x", content)))
