"""The user's files of line patterns: what a task gets with its units, and what is in force in this process.

Here: the files that are in force. Not here: the patterns in them (parsers.patterns.pattern_toml) or their place among the built-in ones
(parsers.patterns.in_force).
"""

from __future__ import annotations

from parsers.own_files import OwnFile

_in_force: tuple[OwnFile, ...] = ()


def in_force() -> tuple[OwnFile, ...]:
    """The files in this process."""
    return _in_force


def put_in_force(files: tuple[OwnFile, ...]) -> None:
    """A process reads for one command only, with the patterns of that command."""
    global _in_force
    _in_force = files
