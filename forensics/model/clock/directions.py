"""Logs whose lines are not in the order in which they were written: exports whose newest line comes first, and files into which parts of
logs were joined, as `cat server.log*` does.

Here: detecting them, and changing their summaries to those of lines in order. Not here: the order of events (partition.order).

A joined file goes back in time like the log of a clock that was set back. But the leader epoch of a replica does not go back (KIP-101),
unless its topic is created again: where it does, parts were joined. They are put in order only if they continue each other, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple, TypeGuard

from forensics.thresholds import MAX_CLOCK_STEPS
from parsers.line_order import FEW, mostly_back

Collected = Mapping[str, Any]


class EpochLine(NamedTuple):
    """A line with the leader epoch of a replica."""

    line: int
    at: datetime
    replica: Hashable
    epoch: int


def reorder_joined_logs(
    rows: Sequence[Mapping[str, Any]], epochs_of: Callable[[Collection[str]], Mapping[str, Sequence[EpochLine]]]
) -> list[Mapping[str, Any]]:
    """The rows about sources. Rows of logs whose lines are not in order are converted and have the first lines of their `parts`: none if
    the newest line comes first. `epochs_of`: the lines with leader epochs in these sources."""
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
    turned = {row["source"] for row in rows if _is_backwards(row, backwards, of_directory)}
    parted = {row["source"]: row["collected"] for row in rows if row["source"] not in turned and _has_parts(row["collected"])}
    joined = _joined(parted, epochs_of(parted.keys()) if parted else {})
    return [
        {**row, "collected": _turned(row["collected"]) if row["source"] in turned else joined.get(row["source"], row["collected"])}
        for row in rows
    ]


def _file(row: Mapping[str, Any]) -> str:
    """The file of a source: a store sorts the lines of all writers in an export in the same way."""
    return str(row["source"]).partition("#")[0]


def _directory(file: str) -> str:
    return file.rpartition("/")[0]


def _is_log(collected: Collected | None) -> TypeGuard[Collected]:
    return collected is not None and (collected.get("kind") or "").endswith("-log")


def _steps(collected: Collected | None) -> tuple[int, int]:
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


def _turned(collected: Collected) -> dict[str, Any]:
    swapped = {"first": "last", "last": "first", "ascents": "descents", "descents": "ascents"}
    return {
        **collected,
        **{name: collected.get(other) for name, other in swapped.items()},
        "last_own": None,
        "jumps": [],
        "steps_back": [],
        "parts": (),
    }


def _has_parts(collected: Collected | None) -> bool:
    return _is_log(collected) and bool(collected.get("steps_back")) and len(collected.get("nodes") or ()) <= 1


def _joined(parted: Mapping[str, Collected], epochs: Mapping[str, Sequence[EpochLine]]) -> dict[str, Collected]:
    """The summaries of the joined logs among those that go back in time. Parts are in order if their times and epochs agree on it."""
    in_order = {s for s, own in parted.items() if own.get("consecutive") and not _go_back(epochs.get(s, ()), own, attrgetter("at"))}
    joined = {
        s
        for s, own in parted.items()
        if (s in in_order and len(own["steps_back"]) > MAX_CLOCK_STEPS) or _go_back(epochs.get(s, ()), own, attrgetter("line"))
    }
    directories = {_directory(s) for s in joined}
    joined |= {s for s in in_order if _directory(s) in directories}
    return {s: _put_together(parted[s], in_order=s in in_order) for s in joined}


def _put_together(collected: Collected, *, in_order: bool) -> Collected:
    steps = collected["steps_back"]
    return {
        **collected,
        "first": min(filter(None, (collected.get("first"), *(step["after"] for step in steps)))),
        "last": max(filter(None, (collected.get("last"), *(step["before"] for step in steps)))),
        "last_own": None,
        "jumps": [],
        "steps_back": [] if in_order else steps,
        "parts": _begins(collected),
    }


def _begins(collected: Collected) -> tuple[int, ...]:
    """The first lines of the parts, without that of the first part."""
    return tuple(step["line"] for step in collected["steps_back"])


def _go_back(lines: Iterable[EpochLine], collected: Collected, order: Callable[[EpochLine], Any]) -> bool:
    """Whether, in this order, the leader epoch of a replica goes back from one part of the log to another."""
    begins = _begins(collected)
    last: dict[Hashable, tuple[int, int]] = {}
    for e in sorted(lines, key=order):
        part = bisect_right(begins, e.line)
        epoch, before = last.get(e.replica, (e.epoch, part))
        if before != part and epoch > e.epoch:
            return True
        last[e.replica] = e.epoch, part
    return False
