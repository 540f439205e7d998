"""Steps of a story before they have words, and the folding that limits their number.

Here: Step and its place in the order, the states of a lane, the rows that steps (STEPS) and stories (STORY) travel in, and which of many
equal steps are shown. Not here: the steps of a partition (assembly, runs), their words (words) or how they become a story (narration).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from forensics.model.events import Event
from forensics.model.findings import FINDING, Evidence, quote
from forensics.model.times import Span, contains
from parsers.schemas import documented

Key = tuple[datetime, int, int, int]
"""A step's place: the earliest time that its causes allow; then crashes, changes of state, brokers' own events, gaps."""

LEADER, IN_SYNC, OUT, DOWN, NONE, UNKNOWN = "leader", "in-sync", "out-of-sync", "down", "none", "unknown"
STATUSES = (LEADER, IN_SYNC, OUT, DOWN, NONE, UNKNOWN)
"""States of a lane. 'down': crashed, stopped, or lost to the controller; 'none': no replica; 'unknown': before the first known state."""

TONES = ("loss", "bad", "warn", "plain", "gap", "fold")

KEPT = (2, 1)
"""How many first and last entries are shown among those with the same words; the others are folded."""
MOST, MOST_OF_ALL = 1_000, 50_000
"""Maximum entries of one incarnation, folded and with --all; beyond it the middle is folded in any case."""

QUOTED = 3
"""Maximum pieces of evidence of an entry."""
MAX_TEXT = 500
"""Maximum characters of an entry's words; longer text is cut with a mark."""


_BROKERS = pa.list_(pa.int32())
STEPS = pa.schema(
    [
        documented(
            "generation", pa.int32(), "incarnation of the topic name: 0 for the last topic, -1 for the topic deleted before it, and so on"
        ),
        documented("topic_id", pa.string(), "id of the topic, if known"),
        documented("number", pa.int64(), "position in the story of this incarnation, from 0, in causal order"),
        documented("time", pa.timestamp("us"), "UTC after correction; null if unknown"),
        documented("last", pa.timestamp("us"), "last time of a repeated step, otherwise `time`"),
        documented("repeats", pa.int64(), "number of times the step happened"),
        documented("epoch", pa.int32(), "leader epoch of the step"),
        documented("partition_epoch", pa.int32(), "partition epoch, if the step is a new state of the partition"),
        documented("kind", pa.string(), "leader-change, isr-change, gap, the kind of an event, or the kind of a finding"),
        documented("tone", pa.string(), "loss, bad, warn, plain or gap"),
        documented("broker", pa.int32(), "the broker that the step is about"),
        documented("text", pa.string(), f"the step in words; at most {MAX_TEXT} characters"),
        documented("in_brief", pa.bool_(), "false: shown only with --all"),
        documented("kept", pa.bool_(), "shown even if it is repeated often"),
        documented("news_only", pa.bool_(), "shown only if it changes whether a broker is down"),
        documented("news_only_in_brief", pa.bool_(), "the same, but not with --all"),
        documented("like", pa.int64(), "`number` of the first step of this incarnation with the same words"),
        documented(
            "roles",
            pa.list_(pa.struct([("broker", pa.int32()), ("status", pa.string())])),
            "role of every replica after the step (leader, in-sync, out-of-sync, none, unknown); null if unchanged",
        ),
        documented("down", _BROKERS, "brokers that go down"),
        documented("up", _BROKERS, "brokers that start or return"),
        documented("evidence", FINDING.field("evidence").type, "quoted evidence: source, line, byte and text"),
    ]
)
"""All steps of a partition, without folding. Every story of the partition is made from these."""

LANE = pa.struct([("broker", pa.int32()), ("status", pa.string()), ("marked", pa.bool_())])
STORY = pa.schema(
    [
        ("cluster", pa.int32()),
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
"""An entry: `cluster` and `generation` name the incarnation of the topic, `number` is the place in its story, `marked` lanes are those it
is about, times are UTC."""


def incarnation(row: Mapping[str, Any]) -> tuple[int, int]:
    """The cluster and the topic of this name that a row belongs to; an earlier cluster may have had a topic of the same name."""
    return row["cluster"], row["generation"]


def in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of STORY, one incarnation after the other, the oldest first."""
    return sorted(rows, key=lambda row: (*incarnation(row), row["number"]))


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requested part of a story: a window of time (UTC, naive), and whether it is folded."""

    since: datetime | None = None
    until: datetime | None = None
    everything: bool = False

    def holds(self, at: datetime | None) -> bool:
        return at is None or contains(Span(self.since, self.until), at)


@dataclass(slots=True)
class StoryStep:
    """An entry before it has words. `down`: brokers that go down (True) or come up; `signature`: equal for steps with equal words."""

    kind: str
    at: datetime | None
    signature: object
    words: Callable[[], str]
    evidence: tuple[Event, ...] = ()
    quoted: tuple[Evidence, ...] = ()
    broker: int | None = None
    roles: Mapping[int, str] | None = None
    """The role of each replica from here on, if the step is a state of the partition."""
    down: Mapping[int, bool] = field(default_factory=dict)
    epoch: int | None = None
    partition_epoch: int | None = None
    tone: str = "plain"
    repeats: int = 1
    last: datetime | None = None
    kept: bool = False
    """Shown however often it happened."""
    in_brief: bool = True
    """Shown in the brief story."""
    news_only: bool = False
    """Shown only if it changes whether a broker is down."""
    news_only_in_brief: bool = False
    """Like `news_only`, but a story of everything shows it in any case."""
    key: Key = (datetime.min, 0, 0, 0)

    @property
    def text(self) -> str:
        words = self.words()
        return words if len(words) <= MAX_TEXT else words[:MAX_TEXT] + "..."

    @property
    def places(self) -> list[dict[str, Any]]:
        """The quoted evidence, as rows."""
        quotes = (self.quoted or quote(self.evidence))[:QUOTED]
        return [{"source": e.source, "line": e.line, "byte": e.byte, "text": e.text} for e in quotes]


def rows_of(steps: Sequence[StoryStep]) -> Iterator[dict[str, Any]]:
    """Steps of one incarnation as rows of STEPS, without the columns that name the incarnation."""
    first: dict[object, int] = {}
    for number, s in enumerate(steps):
        yield {
            "number": number,
            "time": s.at,
            "last": s.last or s.at,
            "repeats": s.repeats,
            "epoch": s.epoch,
            "partition_epoch": s.partition_epoch,
            "kind": s.kind,
            "tone": s.tone,
            "broker": s.broker,
            "text": s.text,
            "in_brief": s.in_brief,
            "kept": s.kept,
            "news_only": s.news_only,
            "news_only_in_brief": s.news_only_in_brief,
            "like": first.setdefault(s.signature, number),
            "roles": [{"broker": b, "status": status} for b, status in s.roles.items()] if s.roles is not None else None,
            "down": [b for b, is_down in s.down.items() if is_down],
            "up": [b for b, is_down in s.down.items() if not is_down],
            "evidence": s.places,
        }


def steps_of(rows: Iterable[Mapping[str, Any]]) -> list[StoryStep]:
    """The steps of one incarnation, read back from rows of STEPS."""
    return [
        StoryStep(
            kind=r["kind"],
            at=r["time"],
            signature=r["like"],
            words=said(r["text"]),
            quoted=tuple(Evidence(**e) for e in r["evidence"] or ()),
            broker=r["broker"],
            roles={lane["broker"]: lane["status"] for lane in r["roles"]} if r["roles"] is not None else None,
            down={**dict.fromkeys(r["down"] or (), True), **dict.fromkeys(r["up"] or (), False)},
            epoch=r["epoch"],
            partition_epoch=r["partition_epoch"],
            tone=r["tone"],
            repeats=r["repeats"],
            last=r["last"],
            kept=r["kept"],
            in_brief=r["in_brief"],
            news_only=r["news_only"],
            news_only_in_brief=r["news_only_in_brief"],
        )
        for r in sorted(rows, key=lambda r: r["number"])
    ]


def placed(step: StoryStep, key: Key) -> StoryStep:
    step.key = key
    return step


def said(words: str) -> Callable[[], str]:
    return lambda: words


def folded(steps: Sequence[StoryStep], *, everything: bool, limit: int) -> list[tuple[int, int]]:
    """The steps that are shown, as (i, i), and the runs that are folded, as (first, last)."""
    kept = [True] * len(steps) if everything else _kept(steps)
    runs: list[tuple[int, int]] = []
    for index, keep in enumerate(kept):
        if not keep and runs and not kept[index - 1]:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    if len(runs) <= limit:
        return runs
    half = limit // 2
    return [*runs[:half], (runs[half][0], runs[-half - 1][1]), *runs[-half:]]


def _kept(steps: Sequence[StoryStep]) -> list[bool]:
    """The first and the last of equal steps, and all of them if there are too few to fold."""
    total = Counter(s.signature for s in steps)
    seen: Counter[object] = Counter()
    kept = []
    first, last = KEPT
    for step in steps:
        n = total[step.signature]
        seen[step.signature] += 1
        kept.append(step.kept or n <= first + last + 1 or seen[step.signature] <= first or seen[step.signature] > n - last)
    return kept
