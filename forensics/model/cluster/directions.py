"""Logs whose newest line comes first, as Kibana, Loki and others export them.

Here: detecting the direction of a log from the time steps between its lines, and reversing its summary. Not here: the order of events
(partition.order).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from parsers.line_order import FEW, mostly_back


def straightened(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows about sources. Rows of newest-first logs are converted to oldest first and marked."""
    of_file: Counter[str] = Counter()
    back_of_file: Counter[str] = Counter()
    for row in rows:
        ascents, descents = _steps(row["collected"])
        of_file[_file(row)] += ascents + descents
        back_of_file[_file(row)] += descents
    backwards = {file: mostly_back(steps - back_of_file[file], back_of_file[file]) for file, steps in of_file.items() if steps >= FEW}
    of_directory: dict[str, set[bool]] = defaultdict(set)
    for file, is_backwards in backwards.items():
        of_directory[_directory(file)].add(is_backwards)
    return [{**row, "collected": _turned(row["collected"])} if _is_backwards(row, backwards, of_directory) else row for row in rows]


def _file(row: Mapping[str, Any]) -> str:
    """The file of a source: a store sorts the lines of all writers in an export in the same way."""
    return str(row["source"]).partition("#")[0]


def _directory(file: str) -> str:
    return file.rpartition("/")[0]


def _is_log(collected: Mapping[str, Any] | None) -> TypeGuard[Mapping[str, Any]]:
    return collected is not None and (collected.get("kind") or "").endswith("-log")


def _steps(collected: Mapping[str, Any] | None) -> tuple[int, int]:
    """Number of steps forward and back in a log."""
    if not _is_log(collected):
        return 0, 0
    return collected.get("ascents") or 0, collected.get("descents") or 0


def _is_backwards(row: Mapping[str, Any], of_file: Mapping[str, bool], of_directory: Mapping[str, set[bool]]) -> bool:
    """A file with few steps takes the direction of the others in its directory."""
    if not _is_log(row["collected"]):
        return False
    file, (ascents, descents) = _file(row), _steps(row["collected"])
    return of_file[file] if file in of_file else descents >= ascents and of_directory.get(_directory(file)) == {True}


def _turned(collected: Mapping[str, Any]) -> dict[str, Any]:
    swapped = {"first": "last", "last": "first", "ascents": "descents", "descents": "ascents"}
    return {
        **collected,
        **{name: collected.get(other) for name, other in swapped.items()},
        "last_own": None,
        "jumps": [],
        "steps_back": [],
        "newest_first": True,
    }
