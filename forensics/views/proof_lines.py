"""The proof of a verdict in a terminal: a line for each hand-over where the terminal is wide enough for all cells, else a short block.

Here: columns, blocks and wrapping. Not here: what the cells say (proof). Log text is hostile: every text is printed on one line, without
control characters, and not as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from forensics.model.message import timestamp
from forensics.output.display_times import UTC, DisplayZone
from forensics.views import proof as words
from forensics.views.proof import Proof, Quote, Section, ShownRow, Skipped

LEAST_TEXT = 20
"""Columns of text in the narrowest terminal."""
LISTED = 6
"""Premises that are listed."""
TIME = "time"
COLUMNS = ("row", TIME, "epoch", "leader", "election", "old log end", "new log end", "high watermark", "removed", "process", "log")
RIGHT = frozenset({"row", "epoch"})
GAP = "  "
INDENT = "     "
STYLES = {"lost": "bold white on red", "open": "yellow", "quote": "dim", "place": "cyan"}


def document(proof: Proof | None) -> dict[str, Any] | None:
    """The proof as JSON values."""
    if proof is None:
        return None
    times = {name: timestamp(proof[name]) for name in ("since", "until")}
    return {**proof, **times, "handovers": [words.of_timeline(r) for r in proof["handovers"]]}


def lines(proof: Proof, console: Console, printable: Callable[[str], str], *, everything: bool, zone: DisplayZone = UTC) -> Iterator[Text]:
    """The section "The proof" of a story."""
    page = _ProofColumns(console, printable, zone)
    section = words.section(proof, None) if everything else words.section(proof)
    yield from page.hung("", f"The proof: {proof['verdict']}", "bold")
    yield from page.hung("", proof["why"])
    yield from page.hung("", section.period)
    if section.rows:
        yield from page.hung("", words.MEANING, "dim")
        yield Text()
        yield from page.table(section, everything=everything)
        yield from page.premises(section.premises)


class _ProofColumns:
    def __init__(self, console: Console, printable: Callable[[str], str], zone: DisplayZone) -> None:
        self.console, self.printable, self.zone = console, printable, zone
        self.width = max(LEAST_TEXT + len(INDENT), console.width)

    def hung(self, lead: str, text: str, style: str = "") -> Iterator[Text]:
        """Wrapped text; further lines begin below the text, not below the lead."""
        room = max(LEAST_TEXT, self.width - cell_len(lead))
        for number, line in enumerate(Text(self.printable(text)).wrap(self.console, room)):
            line.rstrip()
            yield Text.assemble((lead if number == 0 else " " * cell_len(lead), style), (line.plain, style))

    def table(self, section: Section, *, everything: bool) -> Iterator[Text]:
        rows = section.rows
        columns = tuple(self._label(rows) if name == TIME else name for name in COLUMNS)
        cells = {row.row: self._cells(row) for row in rows if isinstance(row, ShownRow)}
        widths = [max(len(name), *(cell_len(c[n]) for c in cells.values()), 0) for n, name in enumerate(columns)]
        wide = sum(widths) + len(GAP) * (len(widths) - 1) <= self.width
        if wide:
            yield Text(_line(columns, widths), style="bold")
        day: date | None = None
        for row in rows:
            if isinstance(row, Skipped):
                yield from self.hung("... ", f"{row}; --all shows them", "dim")
                continue
            if row.at is not None and self.zone.wall(row.at).date() != day:
                day = self.zone.wall(row.at).date()
                yield Text(str(day), style="bold")
            yield from [Text(_line(cells[row.row], widths))] if wide else self._block(row)
            yield from self._below(row, section, quoted=section.quoted and (row.on_bounds or everything))

    def _label(self, rows: Sequence[ShownRow | Skipped]) -> str:
        return self.zone.label([row.at for row in rows if isinstance(row, ShownRow) and row.at is not None])

    def _cells(self, row: ShownRow) -> tuple[str, ...]:
        at = self.zone.wall(row.at).strftime("%H:%M:%S.%f")[:-3] if row.at is not None else "unknown"
        ends = (row.old_log_end, row.new_log_end, row.high_watermark)
        return (str(row.row), at, row.epoch, row.leader, row.election, *ends, "; ".join(row.removed), row.process, row.log)

    def _block(self, row: ShownRow) -> Iterator[Text]:
        number, at, *_ = self._cells(row)
        leader = row.leader if " -> " in row.leader else f"broker {row.leader}"
        yield from self.hung(f"{number:>3}  ", f"{at} epoch {row.epoch}, {leader}, {row.election}", "bold")
        ends = (("old log end", row.old_log_end), ("new log end", row.new_log_end), ("high watermark", row.high_watermark))
        yield from self.hung(INDENT, ", ".join(f"{name} {cell}" for name, cell in ends if cell != words.UNUSED))
        if row.removed:
            yield from self.hung(INDENT, f"removed: {'; '.join(row.removed)}")
        if row.process != words.UNUSED:
            yield from self.hung(INDENT, f"new leader: process {row.process}, log {row.log}")

    def _below(self, row: ShownRow, section: Section, *, quoted: bool) -> Iterator[Text]:
        for lost in row.lost:
            yield from self.hung(INDENT, f"!! gone: {lost.words}", STYLES["lost" if lost.sure else "open"])
        for cell, note in section.opened(row):
            yield from self.hung(INDENT, f"open: {cell}: {note}", STYLES["open"])
        if quoted:
            yield from (line for quote in row.quotes for line in self._quote(quote))
        else:
            for cells, places in row.places.items():
                yield from self.hung(INDENT, f"{cells}: {', '.join(places)}", STYLES["quote"])

    def _quote(self, quote: Quote) -> Iterator[Text]:
        yield from self.hung(INDENT, f"{quote.cells}: {quote.place}", STYLES["place"])
        if quote.text:
            yield from self.hung(INDENT + "  ", quote.text.splitlines()[0], STYLES["quote"])

    def premises(self, found: Sequence[str]) -> Iterator[Text]:
        if not found:
            return
        yield Text()
        yield from self.hung("", "Premises that do not hold (nothing that rests on them is used):", "bold")
        for premise in found[:LISTED]:
            yield from self.hung("  - ", premise)
        if len(found) > LISTED:
            yield from self.hung("  - ", f"and {len(found) - LISTED} more; --json lists all")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        " " * (w - cell_len(c)) + c if name in RIGHT else c + " " * (w - cell_len(c))
        for name, c, w in zip(COLUMNS, cells, widths, strict=True)
    )
    return GAP.join(padded).rstrip()
