"""The user's files of rules: what a task gets with a judge, and what is in force in this process.

Here: the files. Not here: the rules in them (forensics.rules), or whether they are valid (forensics.own_rules).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # every command imports this module, and pyarrow takes a fifth of a second
    from parsers.own_files import OwnFile

_in_force: tuple[OwnFile, ...] = ()
_known: dict[str, OwnFile] = {}


def in_force() -> tuple[OwnFile, ...]:
    """The files whose rules judge in this process."""
    return _in_force


def known() -> tuple[OwnFile, ...]:
    """The files whose findings have words in this process: all that were in force, the last one last. Two cases that are compared were
    judged by different files."""
    return tuple(_known.values())


def put_in_force(files: tuple[OwnFile, ...]) -> None:
    """A process judges for one command or one case at a time, with its rules."""
    global _in_force
    _in_force = files
    know(files)


@contextmanager
def only(files: tuple[OwnFile, ...]) -> Iterator[None]:
    """Inside, no other files are in force."""
    before = _in_force
    put_in_force(files)
    try:
        yield
    finally:
        put_in_force(before)


def know(files: Iterable[OwnFile]) -> None:
    """Gives the findings of these files words in this process."""
    for file in files:
        _known.pop(file.text, None)
        _known[file.text] = file


def rows() -> list[dict[str, str]]:
    """The files in force as a case keeps them, with their text."""
    return [{"path": file.path, "sha256": file.sha256, "text": file.text} for file in _in_force]
