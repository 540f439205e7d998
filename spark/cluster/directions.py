"""Which logs stand with their newest line first, as Kibana, Loki and others export them.

Here: the direction of a log by the steps between its lines, and its account turned round. Not here: the order of events (partition.order).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

FEW = 5
"""Steps between lines; a log with fewer goes as the other logs of its directory do."""
MOSTLY = 4
"""As many times more steps back than forward. Threads print milliseconds out of order, so some steps back are in every log."""


def straightened(told: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows about sources, those of logs that stand newest first as if they stood oldest first, and marked."""
    of_directory: dict[str, list[bool]] = defaultdict(list)
    for row in told:
        if (steps := _steps(row["collected"])) is not None and sum(steps) >= FEW:
            of_directory[_directory(row)].append(_backwards(*steps))
    return [{**row, "collected": _turned(row["collected"])} if _is_backwards(row, of_directory[_directory(row)]) else row for row in told]


def _directory(row: Mapping[str, Any]) -> str:
    return str(row["source"]).rpartition("/")[0]


def _steps(collected: Mapping[str, Any] | None) -> tuple[int, int] | None:
    """Forward and back."""
    if collected is None or not (collected.get("kind") or "").endswith("-log"):
        return None
    return collected.get("ascents") or 0, collected.get("descents") or 0


def _backwards(ascents: int, descents: int) -> bool:
    return descents > MOSTLY * ascents


def _is_backwards(row: Mapping[str, Any], others: Iterable[bool]) -> bool:
    steps = _steps(row["collected"])
    if steps is None:
        return False
    if sum(steps) >= FEW:
        return _backwards(*steps)
    known = list(others)
    return _backwards(*steps) and bool(known) and all(known)


def _turned(collected: Mapping[str, Any]) -> dict[str, Any]:
    swapped = {"first": "last", "last": "first", "ascents": "descents", "descents": "ascents"}
    return {
        **collected,
        **{name: collected.get(other) for name, other in swapped.items()},
        "jumps": [],
        "steps_back": [],
        "largest_step_back_ms": None,
        "newest_first": True,
    }
