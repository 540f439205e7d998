"""The fragments that expressions share: `{TP}` in an expression stands for the fragment TP of fragments.toml.

Here: the replacement of names by fragments. Not here: the fragments themselves, or expressions.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache

from parsers.package_data import table

_FRAGMENTS = table("parsers.patterns", "fragments")
_REFERENCE = re.compile(r"\\[pPN]\{|\\.|\{(?P<name>[A-Za-z]\w*)\}", re.DOTALL)
"""`{name}`, but not the braces of `\\{`, `\\p{Lu}` or `{3}`."""


def filled(expression: str) -> str:
    """The expression with each `{NAME}` replaced by the fragment of this name, and without line breaks. Raises ValueError if there is no
    such fragment."""
    return _REFERENCE.sub(_replaced, expression.replace("\n", ""))


def _replaced(match: re.Match[str]) -> str:
    name = match["name"]
    return _fragment(name) if name else match[0]


@cache
def _fragment(name: str) -> str:
    if name not in _FRAGMENTS:
        near = next(iter(get_close_matches(name.upper(), _FRAGMENTS, 1)), None)
        raise ValueError(
            f"there is no fragment `{{{name}}}`{f' (did you mean `{{{near}}}`?)' if near else ''}; write `\\{{` for a brace in the message"
        )
    return filled(_FRAGMENTS[name])
