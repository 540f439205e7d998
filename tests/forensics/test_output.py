"""What people read is made to be pasted."""

from __future__ import annotations

import io
import re
import sys

import pytest

from forensics.commands.output import console


@pytest.mark.parametrize("terminal", [False, True])
def test_no_line_ends_with_spaces(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.padding import Padding
    from rich.table import Table

    class Out(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    out = Out()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    table = Table("kind", "what", header_style="bold")
    table.add_row("[red]loss[/red]", "two  spaces within\nand a second line")
    console().print(Padding(table, (0, 0, 0, 2)), "\n", "  indented ")
    assert ("\x1b[31m" in out.getvalue()) is terminal
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()).split("\n")
    assert [line for line in lines if line != line.rstrip()] == []
    assert any("two  spaces" in line for line in lines)
    assert any(line.startswith("  ") for line in lines), "what is before a line stays"
