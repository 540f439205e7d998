"""Units divide evidence without losing or doubling a member."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parsers.containers.units import Unit, units
from parsers.containers.walk import hands, members, read_unit
from tests.support.archives import FILES, LINE, put, spread, tar, zipped


def gathered(paths: list[Path]) -> tuple[list[str], list[Unit]]:
    planned = units([str(path) for path in paths])
    return [member.path for unit in planned for member, stream, _ in read_unit(unit) if stream is not None], planned


@pytest.mark.parametrize("form", ["dir", "tar", "zip", "tar.gz"])
def test_units_hold_every_member_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr("parsers.containers.units.UNIT_BYTES", range(40_000, 50_000))
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
    monkeypatch.setattr("parsers.containers.units.UNIT_BYTES", range(20_000, 20_001))
    whole = tar({f"{n}.log": os.urandom(5000) for n in range(40)})
    path = put(tmp_path / "a.tar", whole[:100_000])
    found = [(m.path, s is None) for unit in units([str(path)]) for m, s, _ in read_unit(unit)]
    assert found == [(m.path, s is None) for m, s, _ in members(path)]
    assert found[-1] == ("a.tar", True)


@pytest.mark.parametrize("damage", ["", "cut", "twice"])
@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w"])
def test_hands_of_a_compressed_tar_hold_every_member_once(tmp_path: Path, mode: str, damage: str) -> None:
    files = {f"{n}.log": os.urandom(1000 * n) for n in range(1, 30)}
    content = tar(files, mode)
    if damage == "cut":
        content = content[: len(content) * 2 // 3]
    if damage == "twice":
        content = tar(files, mode) + tar(dict(list(files.items())[:3]), mode)
    (unit,) = units([str(put(tmp_path / "a.tar", content))])
    dealt = hands(unit, 3)
    assert len(dealt) == (3 if mode == "w:gz" else 1)

    def stated(*shares: Unit) -> list[tuple[str, bytes | None, str | None]]:
        found = [(m.path, s.read() if s else None, p) for share in shares for m, s, p in read_unit(share)]
        return sorted(found, key=lambda one: (one[0], one[2] or ""))

    assert stated(*dealt) == stated(unit)
    sizes = [sum(len(content or b"") for _, content, _ in stated(hand)) for hand in dealt]
    assert max(sizes) - min(sizes) <= 60_000 or damage


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
