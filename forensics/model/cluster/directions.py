"""Logs whose newest line comes first, as Kibana, Loki and others export them.

Here: detecting the direction of a log from the time steps between its lines, and reversing its summary. Not here: the order of events
(partition.order).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from parsers.line_order import FEW, mostly_back


def straightened(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows about sources. Rows of newest-first logs are converted to oldest first and marked."""
    of_directory: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        if (steps := _steps(row["collected"])) is not None and sum(steps) >= FEW:
            of_directory[_directory(row)].append(mostly_back(*steps))
    return [{**row, "collected": _turned(row["collected"])} if _is_backwards(row, of_directory[_directory(row)]) else row for row in rows]


def _directory(row: Mapping[str, Any]) -> str:
    return str(row["source"]).rpartition("/")[0]


def _steps(collected: Mapping[str, Any] | None) -> tuple[int, int] | None:
    """Number of steps forward and back."""
    if collected is None or not (collected.get("kind") or "").endswith("-log"):
        return None
    return collected.get("ascents") or 0, collected.get("descents") or 0


def _is_backwards(row: Mapping[str, Any], others: Iterable[bool]) -> bool:
    """A log with few steps takes the direction of the other logs in its directory."""
    steps = _steps(row["collected"])
    if steps is None:
        return False
    if sum(steps) >= FEW:
        return mostly_back(*steps)
    known, (ascents, descents) = list(others), steps
    return descents >= ascents and bool(known) and all(known)


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
