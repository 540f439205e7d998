"""Output of results: shared by the commands.

Here: `--json FILE`, its writing, and the console for other output. Not here: the content (forensics.views).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])


def json_option(help: str) -> Callable[[F], F]:
    """`--json FILE` as the parameter `json_file`."""
    return click.option("--json", "json_file", metavar="FILE", type=click.Path(dir_okay=False, allow_dash=True), help=help)


def write_text(text: str, file: str) -> bool:
    """Writes a text to a file or, for `-`, to stdout; returns whether that was stdout, so that nothing else is printed. Raises
    click.FileError."""
    return write_pieces([text], file)


def write_pieces(pieces: Iterable[str], file: str) -> bool:
    """The same for a text in parts."""
    if file == "-":
        to_stdout(pieces)
        return True
    with opened_file(file) as out:
        out.writelines(pieces)
    return False


def console() -> Console:
    """Standard output for text that people read."""
    from rich.console import Console

    return Console(highlight=False)


def to_stdout(pieces: Iterable[str]) -> None:
    """In UTF-8, whatever the terminal's encoding."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout.writelines(pieces)


@contextmanager
def opened_file(path: str) -> Iterator[IO[str]]:
    """A file for a result; if it cannot be written, the user gets one line (click.FileError)."""
    from forensics.output.files import whole_file

    try:
        with whole_file(path) as file:
            out = TextIOWrapper(file, encoding="utf-8", errors="replace")
            try:
                yield out
            finally:
                out.detach()
    except OSError as error:
        raise click.FileError(path, error.strerror or str(error)) from None
