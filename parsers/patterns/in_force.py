"""The line patterns of this process in the order in which they are tried: the user's, then the built-in ones.

Here: the place of the user's patterns among the built-in ones. Not here: the files that are in force (parsers.pattern_files) or how one is
read (pattern_toml).

The first pattern that matches a line reads it, so a user's pattern wins. A user's pattern with the name of a built-in one replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from parsers import pattern_files, patterns
from parsers.own_files import OwnFile
from parsers.patterns.pattern import Pattern
from parsers.patterns.pattern_toml import read


class PatternSet:
    """Patterns in the order in which they are tried. Each set is equal only to itself, so that what is made from it can be cached."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.patterns = tuple(patterns)


def pattern_set() -> PatternSet:
    """The patterns of this process. Raises ValueError if a file of patterns is not valid."""
    return _with(pattern_files.in_force())


@lru_cache(maxsize=8)
def _with(files: tuple[OwnFile, ...]) -> PatternSet:
    own = of_files(files)
    names = {pattern.name for pattern in own}
    return PatternSet([*own, *(pattern for pattern in patterns.PATTERNS if pattern.name not in names)])


def of_files(files: Sequence[OwnFile]) -> list[Pattern]:
    """The patterns of the user's files, in their order. Raises ValueError if a file is not valid, or two patterns have the same name."""
    file_of: dict[str, str] = {}
    found = []
    for file in files:
        for pattern in read(file.text, file.path):
            if pattern.name in file_of:
                raise ValueError(f"{file.path}: pattern `{pattern.name}`: {file_of[pattern.name]} has a pattern of this name already")
            file_of[pattern.name] = file.path
            found.append(pattern)
    return found
