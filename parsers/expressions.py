"""Expressions in two forms: `regex`, which supports everything that patterns and layouts need, and the standard library's `re`, which is
faster.

Here: the conversion to `re` where both mean the same. Not here: any expression.

On the recorded lines `re` takes half the time of `regex`, and between a third and an eighth of the time of RE2 to extract groups.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from parsers.cached import cached_property

_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P=(?P<again>\w+)\)|\((?:\?P<(?P<name>\w+)>|\?(?:i?:|>|<?[=!]))?|\)(?P<repeated>[*+{])?|[^\\\[()|]+|\|",
    re.DOTALL,
)
_Path = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Quick:
    """An expression that matches the same ASCII texts in the same way; each group occurs once."""

    expression: re.Pattern[str]
    groups: Mapping[str, Sequence[int]]
    """The groups of each name, last group first: the first in this order that took part in a match counts."""

    @cached_property
    def _places(self) -> tuple[Sequence[str], Sequence[int], Sequence[tuple[str, Sequence[int]]]]:
        """The names, the preferred group of each name, and the names with several groups."""
        several = [(name, places) for name, places in self.groups.items() if len(places) > 1]
        return tuple(self.groups), (0, *(places[0] for places in self.groups.values())), several

    def groupdict(self, found: re.Match[str]) -> dict[str, str | None]:
        """The groups by name, as in the original expression."""
        names, first, several = self._places
        told = dict(zip(names, found.group(*first)[1:], strict=True)) if names else {}
        for name, places in several:
            if told[name] is None:
                for at in places:
                    text = found[at]
                    if text is not None:
                        told[name] = text
                        break
        return told


def quick(expression: str, flags: int = 0) -> Quick | None:
    """None if `re` does not support the syntax, or if it is unclear which group of a name matched last."""
    places: dict[str, list[int]] = defaultdict(list)
    paths: dict[str, list[_Path]] = defaultdict(list)
    again: set[str] = set()
    repeated: set[int] = set()
    pieces: list[str] = []
    path: list[tuple[int, int]] = [(0, 0)]
    opened = numbered = at = 0
    while at < len(expression):
        found = _TOKEN.match(expression, at)
        if found is None or expression.startswith("(?", at) != found[0].startswith("(?"):
            return None
        at, piece = found.end(), found[0]
        if name := found["again"]:
            again.add(name)
            piece = _again(places[name])
        elif piece == "|":
            path[-1] = (path[-1][0], path[-1][1] + 1)
        elif piece[0] == "(":
            opened += 1
            path.append((opened, 0))
            if name := found["name"]:
                numbered += 1
                paths[name].append(tuple(path))
                places[name].append(numbered)
                piece = "("
            elif piece == "(":
                numbered += 1
        elif piece[0] == ")":
            group, _ = path.pop()
            if found["repeated"]:
                repeated.add(group)
        pieces.append(piece)
    if any(repeated & {group for path in found for group, _ in path} for found in paths.values() if len(found) > 1):
        return None
    if not all(_in_turn(one, other, name in again) for name, found in paths.items() for one, other in combinations(found, 2)):
        return None
    try:
        return Quick(re.compile("".join(pieces), flags), {name: found[::-1] for name, found in places.items()})
    except re.error:
        return None


def quickest(expression: str) -> Quick:
    """The same for one of this project's expressions, which are known to have one."""
    found = quick(expression)
    assert found is not None, expression
    return found


def _again(places: Sequence[int]) -> str:
    """The match of one of these groups, of which only one can have a match."""
    first, *others = places
    return f"(?({first})(?:\\{first})|{_again(others)})" if others else f"(?:\\{first})"


def _in_turn(one: _Path, other: _Path, exclude: bool) -> bool:
    """Whether the second group matches after the first or, if they exclude each other, in another branch."""
    for (group, branch), (of_other, another) in zip(one, other, strict=False):
        if group != of_other:
            return not exclude
        if branch != another:
            return True
    return False  # one contains the other
