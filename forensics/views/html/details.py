"""Partitions in detail: who led, who was in sync, how far each replica's log reached, and the timeline.

Here: which partitions are shown in detail, their lanes, and the data from which a script draws the rest. Not here: the events (the case),
or the rest of the page (page).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from forensics.incidents.folding import places
from forensics.model.findings import LEVELS, Finding, Place, Range
from forensics.model.partition.offsets import REMOVED
from forensics.proof.verdict import LOST, TAIL_CUT, UNKNOWN
from forensics.views.document import Report
from forensics.views.html.drawing import Drawn, Window
from forensics.views.proof import Section, Shown, proofs, section
from forensics.views.story.step import DOWN, IN_SYNC, LEADER, OUT, Wanted

MOST = 60
"""Partitions shown in detail, worst first."""
ROOM = 700_000
"""Characters of their data in total."""
ENTRIES = 120
"""Entries of one timeline; of longer ones the first and the last are shown."""
ROWS, AROUND = 16, 8
"""Rows of a proof that are shown; of longer ones, those that lost records or leave the verdict open, with this limit at either end."""
OF_ROW = 700
"""Characters of a row of a proof on the page, without its quotes."""
LOOKS = {LEADER: "p-leader", IN_SYNC: "p-in-sync", OUT: "p-out", DOWN: "p-down"}
WORDS = {LEADER: "leads", IN_SYNC: "in sync", OUT: "out of sync", DOWN: "down"}
QUANTITIES = {"log-end-offset": "e", "high-watermark": "h"}
BOUNDS = {"exact": 0, "at-least": 1, "at-most": 2}

Name = tuple[str, int]
Row = Mapping[str, Any]
T = TypeVar("T")


class Kept(Protocol):
    """Data from a case, in addition to the report."""

    def story(self, topic: str, partition: int, wanted: Wanted) -> Sequence[Row]: ...

    def offsets(self, topic: str, partition: int) -> Sequence[Row]: ...

    def around(self, places: Collection[tuple[str, int]], reach: int) -> Mapping[tuple[str, int], Sequence[tuple[int, str]]]: ...


@dataclass(frozen=True, slots=True)
class Lane:
    label: str
    spans: Sequence[Drawn]
    said: str
    """The same as text."""


@dataclass(frozen=True, slots=True)
class Detail:
    name: Name
    number: int
    """Index among the partitions of the report."""
    lanes: Sequence[Lane]
    data: Mapping[str, Any]
    proof: Section | None
    """None: the case has no proof."""


class Sources:
    """Paths by number: each is in the data once."""

    def __init__(self) -> None:
        self.paths: dict[str, int] = {}

    def number(self, path: str) -> int:
        return self.paths.setdefault(path, len(self.paths))


def gravity(findings: Sequence[Finding]) -> Mapping[Name, int]:
    """The highest severity for each partition, as an index in LEVELS."""
    worst: dict[Name, int] = {}
    for f in findings:
        if not f.cluster and f.severity != LEVELS[0]:
            for p in places(f):
                if p.topic is not None and p.partition is not None:
                    worst[p.topic, p.partition] = max(worst.get((p.topic, p.partition), 0), LEVELS.index(f.severity))
    return worst


def ranked(partitions: Sequence[Row], worst: Mapping[Name, int]) -> list[int]:
    """Indexes of all partitions, worst first."""
    verdicts = {LOST: 0, UNKNOWN: 1, TAIL_CUT: 2}

    def order(n: int) -> tuple[int, int, int]:
        p = partitions[n]
        return verdicts.get(p["verdict"], 3), -worst.get((p["topic"], p["partition"]), 0), n

    return sorted(range(len(partitions)), key=order)


def details(order: Sequence[int], report: Report, kept: Kept, window: Window, sources: Sources) -> Iterator[Detail]:
    """Details of the first ones, as many as fit."""
    partitions, findings = list(report.partitions), report.findings
    lost: dict[Name, list[tuple[Finding, Place]]] = {}
    for f in findings:
        if f.kind == "data-loss" and not f.cluster:
            for p in places(f):
                if p.topic is not None and p.partition is not None:
                    lost.setdefault((p.topic, p.partition), []).append((f, p))
    room = ROOM
    for number, proof in zip(order[:MOST], proofs(report.partitions, order[:MOST]), strict=True):
        name = (partitions[number]["topic"], partitions[number]["partition"])
        story = [r for r in kept.story(*name, Wanted()) if r["generation"] == 0]
        observed = [r for r in kept.offsets(*name) if r["generation"] == 0 and not r["cluster"]]
        told = Detail(
            name,
            number,
            list(_lanes(story, observed, lost.get(name, ()), window)),
            _data(story, observed, lost.get(name, ()), window, sources),
            section(proof, ROWS, AROUND) if proof["handovers"] is not None else None,
        )
        room -= len(json.dumps(told.data)) + _size(told.proof)
        if room < 0:
            return
        yield told


def _size(proof: Section | None) -> int:
    """Approximate number of characters of a table on the page."""
    if proof is None:
        return 0
    rows = [row for row in proof.rows if isinstance(row, Shown)]
    quoted = (len(q.text or "") for row in rows if row.on_bounds and proof.quoted for q in row.quotes)
    said = (
        len(words) for row in rows for words in (*row.removed, *(note for _, note in proof.opened(row)), *(q.place for q in row.quotes))
    )
    return len(rows) * OF_ROW + sum(quoted) + sum(said)


def _lanes(story: Sequence[Row], observed: Sequence[Row], lost: Sequence[tuple[Finding, Place]], window: Window) -> Iterator[Lane]:
    brokers = sorted({lane["broker"] for r in story for lane in r["lanes"]})
    leaders: list[tuple[datetime | None, tuple[int, int | None] | None]] = []
    changes: dict[int, list[tuple[datetime | None, str | None]]] = {b: [] for b in brokers}
    now: datetime | None = None
    epoch: int | None = None
    for r in story:
        if r["time"] is not None:
            now = max(now or r["time"], r["time"])
        epoch = r["epoch"] if r["epoch"] is not None and r["kind"] in ("leader-change", "isr-change", "epoch-change") else epoch
        status = {lane["broker"]: lane["status"] for lane in r["lanes"]}
        leader = next((b for b, s in status.items() if s == LEADER), None)
        _add(leaders, now, (leader, epoch) if leader is not None else None)
        for b in brokers:
            _add(changes[b], now, status.get(b) if status.get(b) in LOOKS else None)
    gone = [window.span("loss", at, at, f"lost: {_ranges(p.offsets)}", f"#f-{f.id}") for f, p in lost for at in (p.end or p.start,)]
    spans = [
        window.span(
            "p-term",
            a,
            b,
            f"broker {leader} leads in epoch {'?' if epoch is None else epoch}",
            label=f"{leader} \u00b7 e{'?' if epoch is None else epoch}",
        )
        for a, b, (leader, epoch) in _spans(leaders)
    ]
    yield Lane("leader", [*spans, *gone], "; ".join(s.title for s in (*spans, *gone)) or "not known")
    for b in brokers:
        spans = [window.span(LOOKS[s], start, end, f"broker {b} {WORDS[s]}") for start, end, s in _spans(changes[b])]
        cuts = [
            window.span("p-cut", r["time"], r["time"], f"broker {b} removed {_range(r)} ({r['cause']})")
            for r in observed
            if r["quantity"] == REMOVED and r["broker"] == b and r["time"] is not None
        ]
        yield Lane(f"broker {b}", [*spans, *cuts], "; ".join(s.title for s in (*spans, *cuts)))


def _add(changes: list[tuple[datetime | None, T | None]], at: datetime | None, status: T | None) -> None:
    if not changes or changes[-1][1] != status:
        changes.append((at, status))


def _spans(changes: Sequence[tuple[datetime | None, T | None]]) -> Iterator[tuple[datetime | None, datetime | None, T]]:
    for n, (start, status) in enumerate(changes):
        if status is not None:
            yield start, changes[n + 1][0] if n + 1 < len(changes) else None, status


def _ranges(offsets: Sequence[Range]) -> str:
    return ", ".join(map(str, offsets)) or "offsets not known"


def _range(r: Row) -> str:
    return str(Range(r["offset"], r["end"])) + ("" if r["bound"] == "exact" else " or beyond")


def _data(
    story: Sequence[Row], observed: Sequence[Row], lost: Sequence[tuple[Finding, Place]], window: Window, sources: Sources
) -> dict[str, Any]:
    half = ENTRIES // 2
    shown = list(story) if len(story) <= ENTRIES else [*story[:half], *story[-half:]]
    return {
        "s": [_entry(r, window, sources) for r in shown],
        "cut": [half, len(story) - len(shown)] if len(shown) < len(story) else None,
        "o": [
            [
                r["broker"],
                QUANTITIES[r["quantity"]],
                window.place(r["time"]),
                r["offset"],
                BOUNDS[r["bound"]],
                sources.number(r["source"]),
                r["line"],
            ]
            for r in observed
            if r["quantity"] in QUANTITIES and r["time"] is not None
        ],
        "r": [
            [r["broker"], window.place(r["time"]), r["offset"], r["end"], r["cause"]]
            for r in observed
            if r["quantity"] == REMOVED and r["time"] is not None
        ],
        "l": [[f.id, window.place(p.end or p.start), r.start, r.end, f.committed, f.confidence] for f, p in lost for r in p.offsets],
    }


def _entry(r: Row, window: Window, sources: Sources) -> list[Any]:
    repeats = r["repeats"] if r["tone"] != "fold" else 1
    quoted = [[sources.number(e["source"]), e["line"], e["byte"], e["text"][:300]] for e in (r["evidence"] or ())[:2]]
    return [window.place(r["time"]), r["epoch"], r["tone"], r["text"], repeats, quoted]
