"""Lines that a terminal shows and people copy: no trailing blanks, and wrapped lines are indented below the beginning.

Here: how parts become lines. Not here: the content.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
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


def rendered(console: Console, parts: Iterable[RenderableType]) -> list[Line]:
    return [_trimmed(line) for line in console.render_lines(Group(*parts), pad=False)]


def put(console: Console, lines: Iterable[Line]) -> None:
    console.print(Segments([s for line in lines for s in (*line, Segment.line())]), end="")


def indent(line: Line) -> int:
    """Blanks before its first word; for a blank line, more than any other line has."""
    text = "".join(s.text for s in line)
    return len(text) - len(text.lstrip()) if text.strip() else len(text) + 1000


def _trimmed(line: Line) -> Line:
    kept = [s for s in line if not s.control]
    while kept and not kept[-1].text.strip(" "):
        kept.pop()
    if kept:
        last = kept[-1]
        kept[-1] = Segment(last.text.rstrip(" "), last.style)
    return kept
