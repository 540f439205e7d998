"""A partition's timeline for a terminal, with a lane for each broker, and as JSON, schema kafka-forensics/timeline/1.

Here: columns, marks, wrapping and the document. Not here: the entries (forensics.views.story). Log text is hostile: control characters
never reach the terminal, text is never interpreted as markup, and text stays in its column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from forensics.model.message import timestamp
from forensics.output.display_times import UTC, DisplayZone
from forensics.output.json_text import encoded
from forensics.output.sanitise import clean
from forensics.output.version import version
from forensics.views import proof_lines
from forensics.views.proof import Proof
from forensics.views.story.step import incarnation

SCHEMA = "kafka-forensics/timeline/1"

Row = Mapping[str, Any]
"""A row of forensics.views.story.step.STORY."""

STYLES = {"loss": "bold white on red", "bad": "bold red", "warn": "yellow", "plain": "", "gap": "dim", "fold": "dim"}
LANE_STYLES = {"leader": "bold green", "in-sync": "green", "out-of-sync": "yellow", "down": "bold red"}
PLACES_FROM = 110
"""Terminal width from which each entry shows the place of its evidence."""
SIGNS = {"loss": "!! ", "gap": "-- ", "fold": "... "}
"""Printed before the text, so that a timeline without colours has them too."""
LEAST_TEXT = 20
"""Columns of text in the narrowest terminal; in a narrower one lines overflow."""
TEXT_BESIDE_PLACES = 56


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Marks for lanes of the entry, and the lines of other lanes."""

    marks: Mapping[str, str]
    lines: Mapping[str, str]
    cut: str


UNICODE = Glyphs(
    {"leader": "●", "in-sync": "○", "out-of-sync": "·", "down": "✗", "none": "-", "unknown": "?"},
    {"leader": "┃", "in-sync": "│", "out-of-sync": "┊", "down": " ", "none": " ", "unknown": " "},
    "…",
)
ASCII = Glyphs(
    {"leader": "@", "in-sync": "o", "out-of-sync": ".", "down": "x", "none": "-", "unknown": "?"},
    {"leader": "#", "in-sync": "|", "out-of-sync": ":", "down": " ", "none": " ", "unknown": " "},
    "~",
)


def document(rows: Sequence[Row], topic: str, partition: int, proof: Proof | None = None) -> dict[str, Any]:
    """The timeline and the proof as JSON values. `lanes` gives each broker's status after an entry."""
    return {
        "schema": SCHEMA,
        "tool": {"version": version()},
        "topic": topic,
        "partition": partition,
        "brokers": _brokers(rows),
        "entries": [
            {
                "time": timestamp(row["time"]),
                "cluster": row["cluster"],
                "generation": row["generation"],
                "topic_id": row["topic_id"],
                "epoch": row["epoch"],
                "partition_epoch": row["partition_epoch"],
                "kind": row["kind"],
                "broker": row["broker"],
                "text": row["text"],
                "repeats": row["repeats"],
                "first": timestamp(row["first"]),
                "last": timestamp(row["last"]),
                "lanes": {str(lane["broker"]): lane["status"] for lane in row["lanes"]},
                "evidence": [dict(e) for e in row["evidence"]],
            }
            for row in rows
        ],
        "proof": proof_lines.document(proof),
    }


def json_text(rows: Sequence[Row], topic: str, partition: int, proof: Proof | None = None) -> str:
    return encoded(document(rows, topic, partition, proof), indent=1) + "\n"


def table(rows: Sequence[Row], topic: str, partition: int) -> tuple[list[str], list[dict[str, Any]]]:
    """Columns and rows for a spreadsheet, with the first quote and each broker's status."""
    brokers = {f"broker {broker}": str(broker) for broker in _brokers(rows)}
    found = []
    for entry in document(rows, topic, partition)["entries"]:
        first = next(iter(entry["evidence"]), {"source": None, "line": None})
        quoted = {"topic": topic, "partition": partition, "source": first["source"], "line": first["line"]}
        found.append({**entry, **quoted, **{name: entry["lanes"].get(broker) for name, broker in brokers.items()}})
    own = ["topic", "partition", "time", "epoch", "partition_epoch", "kind", "broker", "text", "repeats", "first", "last", "source", "line"]
    return [*own, *brokers], found


def _brokers(rows: Sequence[Row]) -> list[int]:
    return sorted({lane["broker"] for row in rows for lane in row["lanes"]})


def show(
    rows: Sequence[Row],
    topic: str,
    partition: int,
    console: Console,
    proof: Proof | None = None,
    *,
    everything: bool = False,
    zone: DisplayZone = UTC,
) -> None:
    """Prints the timeline and the proof, in ASCII if the output supports no more."""
    page = _Columns(rows, console, zone)
    for line in page.lines(f"{topic}-{partition}"):
        console.print(line, soft_wrap=True)
    if proof is not None:
        console.print()
        for line in proof_lines.lines(proof, console, page.printable, everything=everything, zone=zone):
            console.print(line, soft_wrap=True)


class _Columns:
    """The columns of one timeline on one console."""

    def __init__(self, rows: Sequence[Row], console: Console, zone: DisplayZone) -> None:
        self.rows, self.console, self.zone = rows, console, zone
        self.zone_label = zone.label([r["time"] for r in rows if r["time"] is not None])
        self.encoding = console.encoding
        self.glyphs = UNICODE if self.encoding.lower().replace("-", "").startswith("utf") else ASCII
        every = _brokers(rows)
        self.epoch_width = max((len(str(r["epoch"])) for r in rows if r["epoch"] is not None), default=1)
        self.epoch_width = max(self.epoch_width, len("epoch"))
        self.cell = max((len(str(b)) for b in every), default=1) + 2
        room = max(1, console.width // 3 // self.cell)
        self.brokers = every[:room]
        self.hidden = every[room:]
        self.prefix = len("00:00:00.000") + 2 + self.epoch_width + 2 + self.cell * len(self.brokers)
        self.places = self._places_width()
        self.text = max(LEAST_TEXT, console.width - self.prefix - (self.places + 2 if self.places else 0))

    def _places_width(self) -> int:
        if self.console.width < PLACES_FROM:
            return 0
        longest = max((cell_len(_place(row)) for row in self.rows), default=0)
        return max(0, min(longest, self.console.width - self.prefix - 2 - TEXT_BESIDE_PLACES))

    # lines

    def lines(self, name: str) -> Iterator[Text]:
        yield from self._aside(name, "bold")
        yield from self._legend()
        yield Text()
        yield self._titles()
        day: date | None = None
        before = self.rows[0] if self.rows else None
        for row in self.rows:
            if before is not None and incarnation(row) != incarnation(before):
                made = (
                    "the topic was deleted, and created again" if row["cluster"] == before["cluster"] else "the topic of the next cluster"
                )
                yield Text()
                yield from self._aside(f"{name}: {made}", "bold")
            before = row
            if row["time"] is not None and self.zone.wall(row["time"]).date() != day:
                day = self.zone.wall(row["time"]).date()
                yield Text(str(day), style="bold")
            yield from self._entry(row)

    def _legend(self) -> Iterator[Text]:
        marks, lines = self.glyphs.marks, self.glyphs.lines
        meanings = (("leader", "leads"), ("in-sync", "in sync"), ("out-of-sync", "out of sync"))
        words = " ".join(f"{marks[status]} {lines[status]} {name}," for status, name in meanings)
        words += f" {marks['down']} down; times are {self.zone_label}"
        yield from self._aside(words, "dim")
        if not self.places:
            yield from self._aside(f"--json, or a terminal of {PLACES_FROM} columns, names the evidence of each entry", "dim")
        if self.hidden:
            shown = ", ".join(map(str, self.hidden[:12])) + (" ..." if len(self.hidden) > 12 else "")
            yield from self._aside(f"no room for the lanes of {len(self.hidden)} more brokers: {shown}", "dim")

    def _titles(self) -> Text:
        line = f"{self.zone_label[:12]:<12}  {'epoch':>{self.epoch_width}}  " + "".join(str(b).ljust(self.cell) for b in self.brokers)
        return Text(line.rstrip(), style="bold")

    def _aside(self, text: str, style: str) -> Iterator[Text]:
        """Lines across all columns."""
        yield from Text(self.printable(text), style=style).wrap(self.console, max(LEAST_TEXT, self.console.width))

    def printable(self, text: str) -> str:
        """One line of text, without characters that the output cannot encode or that control the terminal."""
        shown = " ".join(self.zone.sentence(clean(text)).split())
        return shown.encode(self.encoding, "replace").decode(self.encoding, "replace")

    def _entry(self, row: Row) -> Iterator[Text]:
        style = STYLES.get(row["tone"], "")
        wrapped = Text(SIGNS.get(row["tone"], "") + self.printable(row["text"] + _repeated(row, self.zone)), style=style).wrap(
            self.console, self.text
        ) or [Text()]
        time = self.zone.wall(row["time"]).strftime("%H:%M:%S.%f")[:-3] if row["time"] is not None else ""
        epoch = str(row["epoch"]) if row["epoch"] is not None else ""
        for number, text in enumerate(wrapped):
            line = Text(f"{time if number == 0 else '':<12}  {epoch if number == 0 else '':>{self.epoch_width}}  ")
            line.append_text(self._lanes(row, marked=number == 0))
            text.rstrip()
            line.append_text(text)
            if number == 0 and self.places:
                line.append(" " * max(0, self.prefix + self.text + 2 - line.cell_len))
                line.append(self._cut(self.printable(_place(row))), style="dim")
            line.rstrip()
            yield line

    def _lanes(self, row: Row, *, marked: bool) -> Text:
        known = {lane["broker"]: lane for lane in row["lanes"]}
        cells = Text()
        for broker in self.brokers:
            lane = known.get(broker)
            status = lane["status"] if lane is not None else "unknown"
            glyphs = self.glyphs.marks if marked and lane is not None and lane["marked"] else self.glyphs.lines
            cells.append(glyphs.get(status, "?").ljust(self.cell), style=LANE_STYLES.get(status, ""))
        return cells

    def _cut(self, place: str) -> str:
        """A place shortened to its column: the end is the most informative part."""
        if cell_len(place) <= self.places:
            return place
        while place and cell_len(place) > self.places - 1:
            place = place[1:]
        return set_cell_size(self.glyphs.cut + place, self.places)


def _place(row: Row) -> str:
    if not row["evidence"]:
        return ""
    e = row["evidence"][0]
    where = f":{e['line']}" if e["line"] is not None else f"@{e['byte']}" if e["byte"] is not None else ""
    return f"{e['source']}{where}"


def _repeated(row: Row, zone: DisplayZone) -> str:
    if row["repeats"] <= 1 or row["tone"] == "fold":
        return ""
    until = f", until {zone.wall(row['last']):%H:%M:%S}" if row["last"] is not None and row["last"] != row["first"] else ""
    return f" ({row['repeats']} times{until})"
