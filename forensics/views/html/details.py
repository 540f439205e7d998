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
from forensics.model.findings import LEVELS, Finding
from forensics.model.message import Range
from forensics.model.partition.offsets import REMOVED
from forensics.model.presence.broker_states import ENDED, RECOVERING, STARTING
from forensics.model.times import grouped
from forensics.proof.verdict import LOST, TAIL_CUT, UNKNOWN
from forensics.views.document import Report
from forensics.views.html.drawing import Drawn, DrawnWindow
from forensics.views.losses import WORDS, LostRange, losses
from forensics.views.proof import Section, ShownRow, proofs, section
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
PRINTED = 12_000
"""Characters of the proofs on paper: the least severe ones are only on the screen."""
LOOKS = {LEADER: "p-leader", IN_SYNC: "p-in-sync", OUT: "p-out", DOWN: "p-down"}
STATUSES = {LEADER: "leads", IN_SYNC: "in sync", OUT: "out of sync", DOWN: "down"}
STATES = ("leader-change", "isr-change", "epoch-change")
LOG_END = "log-end-offset"
QUANTITIES = {LOG_END: "e", "high-watermark": "h"}
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
    text: str
    """The same as text."""


@dataclass(frozen=True, slots=True)
class Detail:
    name: Name
    number: int
    """Index among the partitions of the report."""
    lanes: Sequence[Lane]
    data: Mapping[str, Any]
    proof: Section


class SourcePaths:
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


def details(order: Sequence[int], report: Report, kept: Kept, window: DrawnWindow, sources: SourcePaths) -> Iterator[Detail]:
    """Details of the first ones, as many as fit."""
    partitions, lost = list(report.partitions), _losses(report)
    room = ROOM
    for number, proof in zip(order[:MOST], proofs(report.partitions, order[:MOST]), strict=True):
        name = (partitions[number]["topic"], partitions[number]["partition"])
        story = [r for r in kept.story(*name, Wanted()) if r["generation"] == 0]
        known = [r for r in kept.offsets(*name) if r["generation"] == 0 and not r["cluster"] and not _says_nothing(r)]
        observed = [*known, *_at_crashes(known, report)]
        detail = Detail(
            name,
            number,
            list(_lanes(story, observed, lost.get(name, ()), window)),
            _data(story, observed, lost.get(name, ()), window, sources),
            section(proof, ROWS, AROUND),
        )
        room -= len(json.dumps(detail.data)) + _size(detail.proof)
        if room < 0:
            return
        yield detail


def printed(shown: Sequence[Detail]) -> set[int]:
    """Numbers of the partitions whose proofs are on paper: the first ones, as many as fit."""
    numbers: set[int] = set()
    room = PRINTED
    for d in shown:
        room -= _size(d.proof)
        if room < 0 and numbers:
            break
        numbers.add(d.number)
    return numbers


def _at_crashes(observed: Sequence[Row], report: Report) -> Iterator[Row]:
    """The log end of each crashed broker, as far as its log reached while it was starting again: nothing is appended before it is up."""
    for broker, spans in report.states.items():
        loads = sorted(
            (r for r in observed if r["broker"] == broker and r["quantity"] == LOG_END and r["time"] is not None), key=lambda r: r["time"]
        )
        for crash in (s for s in spans if s.state == ENDED and s.start is not None):
            after = next((r for r in loads if r["time"] >= (crash.end or crash.start)), None)
            starting = after is not None and any(
                s.state in (STARTING, RECOVERING) and (s.start or after["time"]) <= after["time"] <= (s.end or after["time"]) for s in spans
            )
            if after is not None and starting and after["bound"] != "at-most":
                yield {**after, "time": crash.end or crash.start, "bound": "at-least"}


def _says_nothing(r: Row) -> bool:
    """Every log ends at offset 0 or above."""
    return bool(r["bound"] == "at-least" and r["offset"] == 0)


def _losses(report: Report) -> Mapping[Name, Sequence[LostRange]]:
    """The losses of each partition in the present cluster."""
    return grouped(
        ((r.place.topic, r.place.partition), r)
        for r in losses(report.findings)
        if not r.finding.cluster and r.place.topic is not None and r.place.partition is not None
    )


def _size(proof: Section) -> int:
    """Approximate number of characters of a table on the page."""
    rows = [row for row in proof.rows if isinstance(row, ShownRow)]
    quotes = (len(q.text or "") for row in rows if row.on_bounds and proof.quoted for q in row.quotes)
    return len(rows) * OF_ROW + sum(quotes) + sum(len(words) for row in rows for words in _words_of(row, proof))


def _words_of(row: ShownRow, proof: Section) -> Iterator[str]:
    yield from row.removed
    yield from (note for _, note in proof.opened(row))
    yield from (q.place for q in row.quotes)


def _lanes(story: Sequence[Row], observed: Sequence[Row], lost: Sequence[LostRange], window: DrawnWindow) -> Iterator[Lane]:
    """A lane for the leader, and one for each broker."""
    changes = _changes(story)
    terms = [window.span("p-term", start, end, term.title, label=term.label) for start, end, term in _spans(changes.terms)]
    gone = [window.span(f"l-{r.kind}", r.at, r.at, f"{WORDS[r.kind]}: offsets {r.extent}", f"#f-{r.finding.id}") for r in lost]
    yield Lane("leader", [*terms, *gone], "; ".join(s.title for s in (*terms, *gone)) or "unknown")
    removals = [r for r in observed if r["quantity"] == REMOVED and r["time"] is not None]
    for b, statuses in changes.statuses.items():
        spans = [window.span(LOOKS[s], start, end, f"broker {b} {STATUSES[s]}") for start, end, s in _spans(statuses)]
        cuts = [
            window.span("p-cut", r["time"], r["time"], f"broker {b} removed {_range(r)} ({r['cause']})")
            for r in removals
            if r["broker"] == b
        ]
        yield Lane(f"broker {b}", [*spans, *cuts], "; ".join(s.title for s in (*spans, *cuts)))


@dataclass(frozen=True, slots=True)
class _Term:
    """A leader in an epoch."""

    leader: int
    epoch: int | None

    @property
    def title(self) -> str:
        return f"broker {self.leader} leads in epoch {self._epoch}"

    @property
    def label(self) -> str:
        return f"{self.leader} \u00b7 e{self._epoch}"

    @property
    def _epoch(self) -> str:
        return "?" if self.epoch is None else str(self.epoch)


@dataclass(frozen=True, slots=True)
class _Changes:
    """Times at which leader and epoch, and the status of each broker, became another."""

    terms: Sequence[tuple[datetime | None, _Term | None]]
    statuses: Mapping[int, Sequence[tuple[datetime | None, str | None]]]


def _changes(story: Sequence[Row]) -> _Changes:
    terms: list[tuple[datetime | None, _Term | None]] = []
    statuses: dict[int, list[tuple[datetime | None, str | None]]] = {
        b: [] for b in sorted({lane["broker"] for r in story for lane in r["lanes"]})
    }
    now: datetime | None = None
    epoch: int | None = None
    for r in story:
        if r["time"] is not None:
            now = max(now or r["time"], r["time"])
        if r["epoch"] is not None and r["kind"] in STATES:
            epoch = r["epoch"]
        status = {lane["broker"]: lane["status"] for lane in r["lanes"]}
        leader = next((b for b, s in status.items() if s == LEADER), None)
        _add(terms, now, _Term(leader, epoch) if leader is not None else None)
        for b, changes in statuses.items():
            _add(changes, now, status.get(b) if status.get(b) in LOOKS else None)
    return _Changes(terms, statuses)


def _add(changes: list[tuple[datetime | None, T | None]], at: datetime | None, status: T | None) -> None:
    if not changes or changes[-1][1] != status:
        changes.append((at, status))


def _spans(changes: Sequence[tuple[datetime | None, T | None]]) -> Iterator[tuple[datetime | None, datetime | None, T]]:
    for n, (start, status) in enumerate(changes):
        if status is not None:
            yield start, changes[n + 1][0] if n + 1 < len(changes) else None, status


def _range(r: Row) -> str:
    return str(Range(r["offset"], r["end"])) + ("" if r["bound"] == "exact" else " or beyond")


def _data(
    story: Sequence[Row], observed: Sequence[Row], lost: Sequence[LostRange], window: DrawnWindow, sources: SourcePaths
) -> dict[str, Any]:
    half = ENTRIES // 2
    shown = list(story) if len(story) <= ENTRIES else [*story[:half], *story[-half:]]
    timed = [r for r in observed if r["time"] is not None]
    return {
        "s": [_entry(r, window, sources) for r in shown],
        "cut": [half, len(story) - len(shown)] if len(shown) < len(story) else None,
        "o": [_offset(r, window, sources) for r in timed if r["quantity"] in QUANTITIES],
        "r": [[r["broker"], window.place(r["time"]), r["offset"], r["end"], r["cause"]] for r in timed if r["quantity"] == REMOVED],
        "l": [[r.kind, window.place(r.at), o.start, o.end] for r in lost for o in r.offsets],
    }


def _offset(r: Row, window: DrawnWindow, sources: SourcePaths) -> list[Any]:
    bound, quantity = BOUNDS[r["bound"]], QUANTITIES[r["quantity"]]
    return [r["broker"], quantity, window.place(r["time"]), r["offset"], bound, sources.number(r["source"]), r["line"]]


def _entry(r: Row, window: DrawnWindow, sources: SourcePaths) -> list[Any]:
    repeats = r["repeats"] if r["tone"] != "fold" else 1
    quoted = [[sources.number(e["source"]), e["line"], e["byte"], e["text"][:300]] for e in (r["evidence"] or ())[:2]]
    return [window.place(r["time"]), r["epoch"], r["tone"], r["text"], repeats, quoted]
