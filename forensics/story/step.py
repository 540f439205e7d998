"""Steps of a story before they have words, and the folding that bounds it.

Here: Step and its place in the order, what a lane can show, the rows a story travels in (STORY), and which of many like steps
are told. Not here: what the steps of a partition are (assembly, lives) or what they say (words).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from forensics.model import FINDING, Evidence
from spark.events import Event
from spark.partition.states import State

Key = tuple[datetime, int, int, int]
"""A step's place: the time its causes allow at the earliest, then deaths, changes of state, brokers' own events, gaps."""

LEADER, IN_SYNC, OUT, DOWN, NONE, UNKNOWN = "leader", "in-sync", "out-of-sync", "down", "none", "unknown"
STATUSES = (LEADER, IN_SYNC, OUT, DOWN, NONE, UNKNOWN)
"""What a lane shows. 'down': dead, stopped, or lost to the controller; 'none': no replica; 'unknown': before the first known state."""

TONES = ("loss", "bad", "warn", "plain", "gap", "fold")

KEPT = (2, 1)
"""Of entries that say the same, the first and the last that are told; the others are folded."""
MOST, MOST_OF_ALL = 1_000, 50_000
"""Entries of one generation, folded and with --all; beyond it the middle is folded, whatever it says."""

LANE = pa.struct([("broker", pa.int32()), ("status", pa.string()), ("marked", pa.bool_())])
STORY = pa.schema(
    [
        ("generation", pa.int32()),
        ("topic_id", pa.string()),
        ("number", pa.int64()),
        ("time", pa.timestamp("us")),
        ("epoch", pa.int32()),
        ("partition_epoch", pa.int32()),
        ("kind", pa.string()),
        ("tone", pa.string()),
        ("broker", pa.int32()),
        ("text", pa.string()),
        ("repeats", pa.int64()),
        ("first", pa.timestamp("us")),
        ("last", pa.timestamp("us")),
        ("lanes", pa.list_(LANE)),
        ("evidence", FINDING.field("evidence").type),
    ]
)
"""An entry: `number` is its place in the generation's story, `marked` lanes are those it is about, times are UTC."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a story is asked for: a window of time (UTC, naive), and whether it is folded."""

    since: datetime | None = None
    until: datetime | None = None
    everything: bool = False

    def holds(self, at: datetime | None) -> bool:
        return (self.since is None or at is None or at >= self.since) and (self.until is None or at is None or at <= self.until)


@dataclass(slots=True)
class Step:
    """An entry before it has words. `down`: brokers that go down (True) or come up; `signature`: equal for steps that say the same."""

    kind: str
    at: datetime | None
    signature: tuple[object, ...]
    words: Callable[[], str]
    evidence: tuple[Event, ...] = ()
    quoted: tuple[Evidence, ...] = ()
    broker: int | None = None
    state: State | None = None
    down: Mapping[int, bool] = field(default_factory=dict)
    epoch: int | None = None
    tone: str = "plain"
    repeats: int = 1
    last: datetime | None = None
    kept: bool = False
    """Told however often it happened."""
    news_only: bool = False
    """Told only if it changes whether a broker is down."""
    key: Key = (datetime.min, 0, 0, 0)


def placed(step: Step, key: Key) -> Step:
    step.key = key
    return step


def said(words: str) -> Callable[[], str]:
    return lambda: words


def aside(
    kind: str, text: str, after: Mapping[int, str], *, repeats: int, first: datetime | None = None, last: datetime | None = None
) -> dict[str, Any]:
    """An entry about entries."""
    return {
        "time": first,
        "epoch": None,
        "partition_epoch": None,
        "kind": kind,
        "tone": "fold",
        "broker": None,
        "text": text,
        "repeats": repeats,
        "first": first,
        "last": last,
        "lanes": [{"broker": b, "status": status, "marked": False} for b, status in after.items()],
        "evidence": [],
    }


def folded(steps: Sequence[Step], *, everything: bool, limit: int) -> list[tuple[int, int]]:
    """Which steps are told, as (i, i), and which runs of them are folded, as (first, last)."""
    kept = [True] * len(steps) if everything else _kept(steps)
    runs: list[tuple[int, int]] = []
    for index, told in enumerate(kept):
        if not told and runs and not kept[index - 1]:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    if len(runs) <= limit:
        return runs
    half = limit // 2
    return [*runs[:half], (runs[half][0], runs[-half - 1][1]), *runs[-half:]]


def _kept(steps: Sequence[Step]) -> list[bool]:
    """The first and the last of steps that say the same, and all that are too few to fold."""
    total = Counter(s.signature for s in steps)
    seen: Counter[tuple[object, ...]] = Counter()
    kept = []
    first, last = KEPT
    for step in steps:
        n = total[step.signature]
        seen[step.signature] += 1
        kept.append(step.kept or n <= first + last + 1 or seen[step.signature] <= first or seen[step.signature] > n - last)
    return kept
