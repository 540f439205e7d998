"""Lines that a terminal shows and people copy: no trailing blanks, and wrapped lines are indented below the beginning.

Here: how parts become lines. Not here: the content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

Line = list[Segment]


def hung(lead: str, text: Text, style: str = "") -> RenderableType:
    """A text that begins after its lead, on every line."""
    grid = Table.grid()
    grid.add_column(width=len(lead), no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(lead, style=style), text)
    return grid


class WordTable:
    """A table without borders that cuts no word, as long as its columns have room for their longest words."""

    GAP = 2

    def __init__(self, header: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> None:
        self._titled, self._rows = header is not None, rows
        self._header = header if header is not None else [""] * len(rows[0])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=None, padding=(0, self.GAP, 0, 0), header_style="dim", show_header=self._titled)
        for name, width in zip(self._header, self._widths(options.max_width), strict=True):
            table.add_column(name, width=width, overflow="fold")
        for row in self._rows:
            table.add_row(*map(Text, row))
        yield table

    def _widths(self, room: int) -> Sequence[int | None]:
        columns = list(zip(self._header, *self._rows, strict=True))
        widths = [max(cell_len(word) for cell in column for word in (cell.split() or [""])) for column in columns]
        wanted = [max(map(cell_len, column)) for column in columns]
        spare = room - self.GAP * len(columns) - sum(widths)
        if spare < 0:
            return [None] * len(columns)
        for n in sorted(range(len(columns)), key=lambda n: wanted[n] - widths[n]):
            more = min(wanted[n] - widths[n], spare)
            widths[n] += more
            spare -= more
        return widths


def rendered(console: Console, parts: Iterable[RenderableType]) -> list[Line]:
    return [_trimmed(line) for line in console.render_lines(Group(*parts), pad=False)]


def put(console: Console, lines: Iterable[Line]) -> None:
    console.print(Segments([s for line in lines for s in (*line, Segment.line())]), end="")


def _trimmed(line: Line) -> Line:
    kept = [s for s in line if not s.control]
    while kept and not kept[-1].text.strip(" "):
        kept.pop()
    if kept:
        last = kept[-1]
        kept[-1] = Segment(last.text.rstrip(" "), last.style)
    return kept
