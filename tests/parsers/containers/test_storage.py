"""Evidence in an object store is read as on a disk, and what goes wrong there is named."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from forensics.commands.evidence import InvalidInput, Opened, Progress, open_evidence
from forensics.commands.inputs import EvidenceInput
from forensics.model.clock.node_clocks import Options
from parsers import evidence
from parsers.containers.storage import READ_AHEAD, held, storage, without_secrets
from parsers.containers.units import units
from parsers.containers.walk import read_unit
from tests.support import local, recorded
from tests.support.archives import FILES, LINE, put, spread, tar, zipped
from tests.support.objects import SECRET, Objects
from tests.support.paths import BUNDLES

BUNDLE = BUNDLES / "unclean-election-3.9.1-kraft.tar.gz"


def contents(*paths: str | Path) -> dict[str, tuple[bytes, int | None] | str | None]:
    """What each member holds, and its size as told; what is wrong with it otherwise."""
    found: dict[str, tuple[bytes, int | None] | str | None] = {}
    for unit in units([str(p) for p in paths]):
        for member, stream, problem in read_unit(unit):
            assert member.path not in found or stream is None
            found[member.path] = (stream.read(), member.size) if stream is not None else problem
    return found


MANY = {f"broker-{n}/{'long/' * 40}server é+%20 {n}.log": os.urandom(5_000) for n in range(40)}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tar", tar(MANY) + b"\0" * 10_240 + tar(FILES)),
        ("a.tar.gz", tar(FILES, "w:gz")),
        ("a.zip", zipped(MANY)),
        ("b.tar", tar(MANY)[:90_000]),
    ],
)
def test_archives_are_read_in_shares_as_from_a_disk(
    name: str, content: bytes, objects: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parsers.containers.units.UNIT_BYTES", range(40_000, 50_000))
    assert contents(objects.put(name, content)) == contents(put(tmp_path / name, content))


def test_trees_are_read_as_from_a_disk(objects: Objects, tmp_path: Path) -> None:
    files = {**FILES, "broker-1/a b/%41é+.log": LINE, "broker-1/a-b.log": LINE, "broker-10/.DS_Store": b"x"}
    uri, root = objects.spread("tree/evidence", files), spread(tmp_path / "evidence", files)
    assert list(contents(uri)) == list(contents(root))
    assert contents(uri) == contents(root)
    lone = objects.put("lone/server.log", LINE)
    assert contents(uri, lone) == contents(root, put(tmp_path / "lone/server.log", LINE))
    assert contents(lone) == {"server.log": (LINE, len(LINE))}


def test_a_file_uri_is_the_file(tmp_path: Path) -> None:
    path = put(tmp_path / "a b.log", LINE)
    assert contents(path.as_uri(), path) == contents(path)


def test_what_changed_since_it_was_listed_is_named(objects: Objects) -> None:
    planned = units([objects.spread("moving", {"a.log": LINE, "b.log": LINE, "c.log": LINE, "d.log": LINE})])
    objects.put("moving/b.log", LINE * 2)
    objects.delete("moving/c.log")
    read = {member.path: problem for unit in planned for member, _, problem in read_unit(unit)}
    assert read == {
        "a.log": None,
        "b.log": f"b.log: cannot be opened: was changed since it was listed: it had {len(LINE)} bytes and has {2 * len(LINE)}",
        "c.log": "c.log: cannot be opened: is gone since it was listed",
        "d.log": None,
    }


def test_what_changes_while_it_is_read_is_named(objects: Objects) -> None:
    size = 4 * READ_AHEAD.start
    uri = objects.put("torn.log", b"a" * size)
    (unit,) = units([uri])
    read = read_unit(unit)
    _, stream, _ = next(read)
    assert stream is not None
    stream.read(10)
    objects.put("torn.log", b"b" * size)
    assert stream.read() == b"a" * (READ_AHEAD.start - 10) + b"b" * (size - READ_AHEAD.start)
    (after,) = read
    assert after[1] is None
    assert after[2] == "torn.log: was changed while it was read: what was read of it may be of both"


def test_an_object_takes_two_requests(objects: Objects) -> None:
    uri = objects.spread("requests", {f"broker-{n}/server.log": b"[2026-11-21 01:53:00,000] INFO starting (k)\n" * 100 for n in range(5)})
    storage(uri).is_directory()
    objects.requests.clear()
    for leaf in storage(uri).leaves():
        with storage(uri).open(leaf.name, leaf.version) as file:
            assert len(file.read()) == leaf.size
            assert file.changed() is None
    of_objects = [method for method, path in objects.requests if path.endswith("server.log")]
    assert sorted(of_objects) == ["GET"] * 5 + ["HEAD"] * 5
    assert len(objects.requests) - len(of_objects) == 1, "the list"


def test_an_object_that_is_held_is_requested_once_for_two_readings(objects: Objects) -> None:
    content = os.urandom(READ_AHEAD.start * 5)
    uri = objects.spread("held", {"a": content, "b": content})
    (first, second), place = storage(uri).leaves(), storage(uri)
    objects.requests.clear()
    with held(len(content) + 10):
        for _ in range(2):
            for leaf in (first, second):
                with place.open(leaf.name, leaf.version) as file:
                    assert (file.read(10), file.seek(-7, os.SEEK_END)) == (content[:10], len(content) - 7)
                    assert (file.read(), file.read(), file.seek(0)) == (content[-7:], b"", 0)
                    assert (b"".join(iter(lambda file=file: file.read(1 << 16), b"")), file.changed()) == (content, None)  # type: ignore[misc]
    asked = Counter(path.rsplit("/", 1)[-1] for _, path in objects.requests)
    assert asked["a"] == 2 and asked["b"] > 4, "there is no room for the second"
    objects.before["held/a"] = lambda: 403
    with held(len(content)), place.open("a", first.version) as file, pytest.raises(OSError, match="ACCESS_DENIED"):
        file.read()


def test_what_the_store_refuses_is_a_row_that_names_it(objects: Objects) -> None:
    uri = objects.spread("refused", {"server.log": LINE, "shut.log": LINE})
    objects.before["refused/shut.log"] = lambda: 403
    rows = [row for unit in units([uri]) for batch in evidence.events(unit) for row in batch.to_pylist()]
    assert {row["source"] for row in rows if row["event"] == "source"} == {"server.log", "shut.log"}
    (stated,) = [row["text"] for row in rows if row["event"] == "problem"]
    assert stated.startswith("shut.log: ")
    assert "ACCESS_DENIED" in stated or "403" in stated
    assert "\n" not in stated
    assert SECRET not in str(rows)


@pytest.mark.parametrize(
    "uri",
    [
        "s3://key:a%2Fb@bucket/p?secret=1",
        "s3://key:a/b@bucket/p",
        "s3://key@bucket/p",
        "abfs://bucket/p?client_secret=1",
        "hdfs://bucket:8020/p@b",
    ],
)
def test_secrets_of_a_uri_are_not_shown(uri: str) -> None:
    assert without_secrets(f"When reading {uri} it failed").split()[2] in (
        uri.split(":")[0] + "://bucket/p",
        "hdfs://bucket:8020/p@b",
    )


def test_the_same_report_from_a_store(objects: Objects) -> None:
    there = local.report(local.events_of(objects.put(BUNDLE.name, BUNDLE.read_bytes()))).document()
    assert there == recorded.report("unclean-election-3.9.1-kraft").document()


def test_no_secret_is_in_what_a_command_says(objects: Objects) -> None:
    uri = objects.put("server.log", LINE)
    read = local.events_of(uri)
    opened = Opened([uri], Options(), lambda: read, *local.gathered(read), MagicMock(), MagicMock(), [])
    assert EvidenceInput(opened).paths == ["s3://evidence/server.log"]
    with pytest.raises(InvalidInput, match=r"^s3://evidence/nowhere: no such object or prefix; check the path$"):
        open_evidence([objects.uri("nowhere")], Progress())
    lost = storage("s3://key:secret@bucket/a b").trouble()
    assert lost is not None
    assert "secret" not in lost
