"""The code does not grow unnoticed: lines of each room (`tool.ratchet` in pyproject.toml), spans of time only where their reasons are, each
class name once.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGES = ("parsers", "spark", "forensics")
ROOMS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ratchet"]["lines"]
SLACK = 100
"""A limit this far above its room is lowered."""


def lines(room: str) -> int:
    """Lines of Python in a room; rooms of forensics are its directories, and its own modules are `forensics`."""
    place = ROOT / room
    files = place.glob("*.py") if room == "forensics" else place.rglob("*.py")
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            yield file.relative_to(ROOT), ast.parse(file.read_text("utf-8"))


def test_each_room_has_a_limit() -> None:
    inside = {f"forensics/{p.name}" for p in (ROOT / "forensics").iterdir() if (p / "__init__.py").exists()}
    assert set(ROOMS) == {*PACKAGES, *inside}


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_grows(room: str) -> None:
    assert lines(room) <= ROOMS[room] <= lines(room) + SLACK, (
        "lower the limit in pyproject.toml, or raise it with a line in docs/decisions.md"
    )


def test_spans_of_time_are_in_thresholds() -> None:
    found = [
        f"{file}:{node.lineno}"
        for file, tree in modules()
        if file.name != "thresholds.py"
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and isinstance(node.value, ast.Call)
        if isinstance(node.value.func, ast.Name) and node.value.func.id == "timedelta"
    ]
    assert not found


def test_no_class_name_occurs_twice() -> None:
    names = Counter(node.name for _, tree in modules() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert not [name for name, number in names.items() if number > 1]
