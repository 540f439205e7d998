"""Output of results: shared by the commands.

Here: `--json FILE`, its writing, and the console for other output. Not here: the content (forensics.views), or the checks of a path
(targets).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import IO, TYPE_CHECKING, Any

import click

from forensics.commands.options import Option
from forensics.commands.targets import STDOUT, OutputFile, noted

if TYPE_CHECKING:
    from rich.console import Console


def json_option(help: str) -> Option[Any]:
    """`--json FILE` as the parameter `json_file`."""
    return click.option("--json", "json_file", metavar="FILE", type=OutputFile(), help=help)


def force_option(what: str) -> Option[Any]:
    """`--force`, without which nothing that --case or --out names is replaced."""
    return click.option("--force", is_flag=True, help=f"Replace {what}.")


def write_text(text: str, file: str) -> bool:
    """Writes a text to a file or, for `-`, to stdout; returns whether that was stdout, so that nothing else is printed. A file that cannot
    be written is noted (targets.noted), and the result is then printed."""
    with noted(file):
        write_pieces([text], file)
    return file == STDOUT


def write_pieces(pieces: Iterable[str], file: str) -> None:
    """Writes a text in parts. Raises OSError."""
    if file == STDOUT:
        to_stdout(pieces)
        return
    with text_file(file) as out:
        out.writelines(pieces)


def console() -> Console:
    """Standard output for text that people read."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """rich would end with exit code 1, which means findings."""
            discard_stdout()

    return Output(highlight=False)


def discard_stdout() -> None:
    """For a reader that stopped early, such as `head`: the rest of the output goes nowhere, and the command ends with the same exit code as
    if all had been read."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def to_stdout(pieces: Iterable[str]) -> None:
    """In UTF-8, whatever the terminal's encoding."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    try:
        sys.stdout.writelines(pieces)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()


@contextmanager
def text_file(path: str) -> Iterator[IO[str]]:
    """A file for a result, in UTF-8. Raises OSError."""
    from forensics.output.files import whole_file

    with whole_file(path) as file:
        out = TextIOWrapper(file, encoding="utf-8", errors="replace")
        try:
            yield out
        finally:
            out.detach()
