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

    def groupdict(self, match: re.Match[str]) -> dict[str, str | None]:
        """The groups by name, as in the original expression."""
        names, first, several = self._places
        texts = dict(zip(names, match.group(*first)[1:], strict=True)) if names else {}
        for name, places in several:
            if texts[name] is None:
                for at in places:
                    text = match[at]
                    if text is not None:
                        texts[name] = text
                        break
        return texts


def quick(expression: str, flags: int = 0) -> Quick | None:
    """None if `re` does not support the syntax, or if it is unclear which group of a name matched last."""
    translation = _Translation()
    at = 0
    while at < len(expression):
        numbers = _TOKEN.match(expression, at)
        if numbers is None or expression.startswith("(?", at) != numbers[0].startswith("(?"):
            return None
        at = numbers.end()
        translation.add(numbers)
    if not translation.is_unique():
        return None
    try:
        return Quick(re.compile("".join(translation.pieces), flags), {name: numbers[::-1] for name, numbers in translation.places.items()})
    except re.error:
        return None


class _Translation:
    """An expression translated token by token: named groups become numbered ones."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.places: dict[str, list[int]] = defaultdict(list)
        """Numbers of the groups of each name."""
        self._paths: dict[str, list[_Path]] = defaultdict(list)
        self._again: set[str] = set()
        self._repeated: set[int] = set()
        self._path: list[tuple[int, int]] = [(0, 0)]
        self._opened = self._numbered = 0

    def add(self, token: re.Match[str]) -> None:
        piece = token[0]
        if name := token["again"]:
            self._again.add(name)
            piece = _again(self.places[name])
        elif piece == "|":
            self._path[-1] = (self._path[-1][0], self._path[-1][1] + 1)
        elif piece[0] == "(":
            piece = self._open(piece, token["name"])
        elif piece[0] == ")":
            group, _ = self._path.pop()
            if token["repeated"]:
                self._repeated.add(group)
        self.pieces.append(piece)

    def _open(self, piece: str, name: str | None) -> str:
        self._opened += 1
        self._path.append((self._opened, 0))
        if not name and piece != "(":
            return piece
        self._numbered += 1
        if name:
            self._paths[name].append(tuple(self._path))
            self.places[name].append(self._numbered)
        return "("

    def is_unique(self) -> bool:
        """Whether it is clear which group of each name matched last."""
        several = [found for found in self._paths.values() if len(found) > 1]
        if any(group in self._repeated for found in several for path in found for group, _ in path):
            return False
        return all(
            _in_turn(one, other, name in self._again) for name, found in self._paths.items() for one, other in combinations(found, 2)
        )


def quickest(expression: str) -> Quick:
    """The same for one of this project's expressions, which are known to have one."""
    translated = quick(expression)
    assert translated is not None, expression
    return translated


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
