"""Pieces of a log give the rows of one reader, or are refused."""

from __future__ import annotations

import gzip
import random
import re
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parsers import evidence, pieces
from parsers.containers.units import LogPiece, Unit, units
from parsers.patterns import PATTERNS
from tests.support.archives import FILES, put, spread, tar
from tests.support.paths import BUNDLES

LINES = [sample.line.encode() for pattern in PATTERNS for sample in pattern.samples]
BUNDLE = BUNDLES / "busy-rolling-4.1.1-kraft.tar.gz"
CHUNK = 4096
CHANGES = {
    "trace": b"java.io.IOException: gone\n" + b"\tat org.apache.kafka.X.y(X.java:1)\n" * 30,
    "noise": b"\0" * 700,
    "undated": b"Truncating to offset 5\n",
    "other": b"2026-11-21T02:15:38.147Z INFO  [main] kafka.log.Log - [Log partition=clicks-0, dir=/data] Truncating to offset 7\n" * 3,
    "json": b'{"log":"[2026-11-21 02:15:38,147] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\\n","stream":"stdout"}\n' * 3,
    "long": b"x" * (3 * CHUNK) + b"\n",
    "back": b"[2020-01-01 00:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n",
}


@pytest.fixture(scope="module", autouse=True)
def small() -> Any:
    """Chunks of which many are in a file of a test, and records that fit into one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("parsers.catalogue.log_file.CHUNK", CHUNK)
        for module in ("layouts_in_use", "reading", "piece"):
            patch.setattr(f"parsers.catalogue.{module}.MAX_RECORD", 1000)
        patch.setattr(pieces, "PIECE_BYTES", 3 * CHUNK)
        yield


def rows_of(unit: Unit) -> list[dict[str, Any]]:
    return [row for batch in pieces.events(unit) for row in batch.to_pylist()]


def in_pieces(planned: list[Unit]) -> tuple[list[dict[str, Any]], list[Unit]]:
    """The rows as they come, and the units whose pieces do not fit."""
    planned = pieces.numbered(planned, map(pieces.line_feeds, planned))
    found = [row for unit in planned for row in rows_of(unit)]
    last, torn = pieces.put_together(planned, (row["value"] for row in found if row["event"] == pieces.EVENT))
    events = [row for batch in evidence.schemas.batches(last) for row in batch.to_pylist()]
    return [row for row in found if row["event"] != pieces.EVENT] + events, torn


def ascending(lines: Sequence[bytes]) -> list[bytes]:
    """The lines, each record 10 ms after the one before."""
    start = datetime(2026, 11, 21)
    stamps = (f"[{start + timedelta(milliseconds=10 * n):%Y-%m-%d %H:%M:%S},{n % 100:02}0]".encode() for n in count())
    return [re.sub(rb"^\[\d{4}-[^]]*\]", lambda _: next(stamps), line) for line in lines]


def cut_at(unit: Unit, cuts: list[int]) -> list[Unit]:
    return [replace(unit, piece=LogPiece(begin, end)) for begin, end in zip([0, *cuts], [*cuts, None], strict=True)]


@given(st.integers(0, 2**32), st.lists(st.sampled_from(sorted(CHANGES)), max_size=2), st.sets(st.integers(1, 14), min_size=1, max_size=6))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_cut_gives_the_rows_of_one_reader(tmp_path: Path, seed: int, changes: list[str], cuts: set[int]) -> None:
    """But for logs that begin to be wrapped, change their layout, go back in time, or have a line longer than a chunk: these are refused where a piece
    could not know of it."""
    choose = random.Random(seed)
    lines = ascending(choose.choices(choose.sample(LINES, 20), k=14 * CHUNK // 130))
    for change in changes:
        lines.insert(choose.randrange(len(lines)), CHANGES[change].rstrip(b"\n"))
    content = b"\n".join(lines)
    (unit,) = units([str(put(tmp_path / "server.log", content))])
    places = sorted(cut * CHUNK for cut in cuts if cut * CHUNK < len(content))
    rows, torn = in_pieces(cut_at(unit, places))
    assert not torn or not {"json", "other", "long", "back"}.isdisjoint(changes)
    assert [t.path for t in torn] == [unit.path] or rows == rows_of(unit)


def test_a_log_in_which_lines_come_again_is_read_whole(tmp_path: Path) -> None:
    content = b"".join(line + b"\n" for line in ascending(random.Random(1).choices(LINES[:20], k=7 * CHUNK // 130)))
    (unit,) = units([str(put(tmp_path / "server.log", content + content))])
    _, torn = in_pieces(cut_at(unit, [8 * CHUNK]))
    assert [t.path for t in torn] == [unit.path]
    source = rows_of(unit)[-1]
    assert (source["collected"]["steps_back"], source["collected"]["jumps"]) == (None, [])


def test_logs_of_a_cluster_fit_wherever_they_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tarfile.open(BUNDLE) as archive:
        logs = [
            archive.extractfile(m)
            for m in archive.getmembers()
            if m.isfile() and m.size > 60_000 and m.name.endswith(("server.log", "state-change.log"))
        ]
        contents = [log.read() for log in logs if log is not None]
    whole = 0
    for content in contents:
        monkeypatch.setattr("parsers.catalogue.log_file.CHUNK", 8 * CHUNK)  # a broker's settings are a record of 12 kB
        (unit,) = units([str(put(tmp_path / "server.log", content[: 60 * CHUNK]))])
        planned = pieces.cut(unit)
        rows, torn = in_pieces(planned)
        assert torn or rows == rows_of(unit)
        whole += not torn
    assert whole == len(contents)


def test_only_plain_logs_are_cut(tmp_path: Path) -> None:
    many = b"\n".join(LINES[:10] * 100) + b"\n"
    wrapped = b"".join(b'{"log":"%s\\n","stream":"stdout","time":"2026-11-21T02:15:38Z"}\n' % line for line in LINES[:2] * 200)
    root = spread(tmp_path / "e", {"server.log": many, "wrapped/server.log": wrapped, "data/a-0/00000000000000000000.log": b"\1" * 50_000})
    (root / "link.log").symlink_to("server.log")
    put(root / "utf16/server.log", b"\xff\xfe" + many.decode().encode("utf-16-le"))
    put(root / "a.tar", tar({**FILES, "server.log": many}))
    planned = [piece for unit in units([str(root)]) for piece in pieces.cut(replace(unit, select=None))]
    assert all(unit.piece is None for unit in planned)
    cut = {}
    for name in ("server.log", "wrapped/server.log", "data/a-0/00000000000000000000.log", "link.log", "utf16/server.log", "a.tar"):
        cut[name] = len(pieces.cut(Unit(str(root), (name,), 10**9)))
    assert cut == dict.fromkeys(cut, 1) | {"server.log": round(len(many) / (3 * CHUNK))}


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gzip", "zstd"])
def test_a_compressed_log_is_cut_where_its_content_is(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    content = b"\n".join(ascending(random.Random(1).choices(LINES[:20], k=14 * CHUNK // 130))) + b"\n"
    half = len(content) // 2
    path = put(tmp_path / "server.log.gz", pack(content[:half]) + pack(content[half:]))
    unit = replace(units([str(path)])[0], size=10**9)
    planned = pieces.cut(unit)
    assert [u.piece for u in planned] == [pieces.UNCUT]
    rows, torn = in_pieces(planned)
    assert len(pieces.numbered(planned, map(pieces.line_feeds, planned))) == pieces.MOST_OF_COMPRESSED
    assert not torn
    assert rows == rows_of(unit)
    put(path, path.read_bytes()[:-7])
    assert [u.piece for u in pieces.numbered(planned, map(pieces.line_feeds, planned))] == [None], (
        "whoever reads it whole says what is wrong"
    )
    put(path, pack(content[:CHUNK]))
    assert [u.piece for u in pieces.numbered(planned, map(pieces.line_feeds, planned))] == [None], "not worth it"
    put(path, pack(tar({**FILES, "server.log": content})))
    assert pieces.cut(unit) == [unit]


def test_a_file_that_grows_or_goes_while_it_is_read_is_not_put_together(tmp_path: Path) -> None:
    path = put(tmp_path / "server.log", b"\n".join(LINES[:10] * 100) + b"\n")
    (unit,) = units([str(path)])
    planned = pieces.numbered(pieces.cut(unit), [[0]] * len(pieces.cut(unit)))
    values = [row["value"] for unit in planned for row in rows_of(unit) if row["event"] == pieces.EVENT]
    assert pieces.put_together(planned, values)[1]  # lines were not counted
    assert pieces.put_together(planned, values[1:])[1]
    path.unlink()
    assert [list(pieces.events(unit)) for unit in planned] == [[]] * len(planned)
    assert [whole.path for whole in pieces.put_together(planned, [])[1]] == [str(path)]
