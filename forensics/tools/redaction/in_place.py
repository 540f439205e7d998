"""What an expression fixes in the texts that it matches: Kafka's own words, at the places where a statement prints them.

Here: the constant text of a match, and what its groups name. Not here: what becomes of everything between (names).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
import regex

from parsers.schemas import EVENTS

VARIES = "_varies"
_ATOM = re.compile(
    r"(?P<varies>\[\^?\]?(?:\\.|[^\]\\])*\]|\\[dDwWsS]|\.|\(\?P=\w+\))(?P<times>(?:[*+?]|\{\d*,?\d*\})[?+]?)?"
    r"|(?P<look>\(\?<?[=!])|(?P<open>\((?:\?(?:P<(?P<name>\w+)>|[a-z]*:|>))?)|(?P<close>\))|\\.|[^\\\[().]+",
    re.DOTALL,
)
_FEW = re.compile(r"\[(?:\\[^dDwWsS]|[^\\^-]){1,3}\]")
"""`[Ee]`, `[(\\[]`: a choice between spellings."""
_DIGIT = (r"\d", "[0-9]", "[1-9]")
_ALONE = re.compile(r"-?\??\\d[^()]{0,9}\)")
"""The rest of a group that matches nothing but a number."""
_NUMBERS = frozenset(
    f.name for f in EVENTS if pa.types.is_integer(f.type) or (pa.types.is_list(f.type) and pa.types.is_integer(f.type.value_type))
)
"""Columns of numbers."""


class _Group(NamedTuple):
    looks: bool = False
    """It looks ahead or behind, and matches nothing itself."""
    taken: bool = False
    """A reader takes its text."""


@lru_cache(maxsize=1 << 12)
def marked(expression: str, flags: int = 0, *, numbers: bool = True) -> regex.Pattern[str]:
    """The expression with a group around everything in it that varies, except for numbers that a reader takes, `(?P<offset>\\d+)`, and
    for hexadecimal ones, which are hidden before. `numbers`: False if none is taken."""
    pieces, groups = [], [_Group()]
    for atom in _ATOM.finditer(expression):
        piece = atom[0]
        if atom["look"] or atom["open"]:
            taken = atom["open"] == "(" or atom["name"] in _NUMBERS
            alone = (atom["name"] or "_")[0] != "_" and _ALONE.match(expression, atom.end()) is not None
            groups.append(_Group(groups[-1].looks or atom["look"] is not None, groups[-1].taken or taken or alone))
        elif atom["close"]:
            groups.pop()
        elif atom["varies"] and not groups[-1].looks:
            either = _FEW.fullmatch(atom["varies"]) and (atom["times"] or "?")[0] == "?"
            number = (numbers and atom["varies"] in _DIGIT and groups[-1].taken) or (pieces and pieces[-1].endswith("0x"))
            piece = piece if either or number else f"(?P<{VARIES}>{piece})"
        pieces.append(piece)
    return regex.compile("".join(pieces), flags)


def fixed(match: regex.Match[str]) -> Iterator[tuple[int, int]]:
    """The parts of a match that are constant text."""
    at = match.start()
    for begin, end in sorted(match.spans(VARIES)) if VARIES in match.re.groupindex else ():
        if at < begin:
            yield at, begin
        at = max(at, end)
    if at < match.end():
        yield at, match.end()


def named(match: regex.Match[str], columns: Iterable[str]) -> Iterator[tuple[int, int]]:
    """The parts of a match that groups of these names have."""
    groups = match.re.groupindex
    yield from (span for column in columns if column in groups for span in match.spans(column) if span[0] < span[1])
