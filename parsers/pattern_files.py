"""The user's files of line patterns, as text: what a task gets with its units, and what is in force in this process.

Here: the files and their digests. Not here: the patterns in them (parsers.patterns.pattern_toml) or their place among the built-in ones
(parsers.patterns.in_force).
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from parsers.containers.storage import regular


class PatternFile(NamedTuple):
    """A file of patterns (`--patterns`)."""

    path: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def opened(path: str) -> PatternFile:
    """The file at this path. Raises ValueError if it cannot be read, or is not UTF-8."""
    try:
        with regular(path) as file:
            return PatternFile(path, file.read().decode("utf-8").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8: {error}") from None
    except OSError as error:
        raise ValueError(f"{path}: {error}; give an existing file") from None


_in_force: tuple[PatternFile, ...] = ()


def in_force() -> tuple[PatternFile, ...]:
    """The files in this process."""
    return _in_force


def put_in_force(files: tuple[PatternFile, ...]) -> None:
    """A process reads for one command only, with the patterns of that command."""
    global _in_force
    _in_force = files
