"""Names that a user may misspell: of commands, kinds, patterns and files.

Here: suggestions of similar names. Not here: names in the evidence (selection).
"""

from __future__ import annotations

import difflib
import shutil
import sys
from collections.abc import Iterable

import click

CLOSE = 3
"""How many names are suggested."""


def similar(name: str, known: Iterable[str], otherwise: str) -> str:
    """'did you mean a, b?', or the other advice if no known name is similar."""
    close = difflib.get_close_matches(name, list(known), CLOSE)
    return f"did you mean {' or '.join(close)}?" if close else otherwise


def one_line(text: str) -> str:
    """A line of a list: cut on a terminal, whole in a pipe."""
    width = max(shutil.get_terminal_size().columns, 60) if sys.stdout.isatty() else len(text)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def check_kind(context: click.Context, option: click.Parameter, kind: str) -> None:
    """Raises click.BadParameter if this is not a kind of event."""
    from parsers.kinds import KINDS

    if kind not in KINDS:
        advice = similar(kind, KINDS, "`kafka-forensics patterns` lists all kinds")
        raise click.BadParameter(f"{kind!r} is not a kind of event; {advice}", context, option)
