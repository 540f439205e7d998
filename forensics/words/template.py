"""Sentences from templates. A sentence, or a part in `[[…]]`, that names something unknown is left out.

    {name}            the value; {Name} with a capital letter, as a sentence begins
    {name:format}     the value in this format (forensics.words.formats), such as {lost:count offset} or {at:moment}
    {?name} {!name}   nothing; the sentence or part is left out unless the value is known, or unless it is unknown
    [[, at {at}]]     a part

Here: reading and filling templates. Not here: formats, or which templates there are (catalogue).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from forensics.model.message import Value

_PIECE = re.compile(r"\[\[|\]\]|\{([?!]?)(\w+)(?::([^{}]*))?\}")
Known = Mapping[str, Value]
Format = Callable[[Value, str], str]
"""A value in the format of this name; an empty name is the usual format of its type."""


class _Hole(NamedTuple):
    guard: str
    name: str
    format: str


_Piece = str | _Hole | tuple  # type: ignore[type-arg]
"""Text, a value, or a part."""


@lru_cache(4096)
def _read(template: str) -> tuple[_Piece, ...]:
    stack: list[list[_Piece]] = [[]]
    at = 0
    for found in _PIECE.finditer(template):
        if found.start() > at:
            stack[-1].append(template[at : found.start()])
        at = found.end()
        if found[0] == "[[":
            stack.append([])
        elif found[0] == "]]":
            part = tuple(stack.pop())
            stack[-1].append(part)
        else:
            stack[-1].append(_Hole(found[1], found[2], found[3] or ""))
    if at < len(template):
        stack[-1].append(template[at:])
    (pieces,) = stack
    return tuple(pieces)


def holes(template: str) -> list[tuple[str, str]]:
    """The values that a template names, each with its format. Raises ValueError if the template is not valid."""
    try:
        _read(template)
    except (IndexError, ValueError):
        raise ValueError("`[[` and `]]` do not match") from None
    if stray := re.search(r".{,20}[{}].{,20}", _PIECE.sub("", template)):
        raise ValueError(f"`{stray[0]}` has a brace that is not part of {{name}} or {{name:format}}")
    return [(found[2][:1].lower() + found[2][1:], found[3] or "") for found in _PIECE.finditer(template) if found[2]]


def names(template: str) -> set[str]:
    return {found[2][:1].lower() + found[2][1:] for found in _PIECE.finditer(template) if found[2]}


def unknown(value: Value) -> bool:
    return value is None or value is False or value == "" or value == ()


def filled(template: str, values: Known, format: Format) -> str | None:
    """The sentence; None if it names something unknown."""
    return _filled(_read(template), values, format)


def _filled(pieces: Iterable[_Piece], values: Known, format: Format) -> str | None:
    text: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            text.append(piece)
        elif isinstance(piece, _Hole):
            name = piece.name if piece.name in values else piece.name[:1].lower() + piece.name[1:]
            value = values.get(name)
            if unknown(value) is not (piece.guard == "!"):
                return None
            if not piece.guard:
                shown = format(value, piece.format)
                text.append(shown if name == piece.name else shown[:1].upper() + shown[1:])
        else:
            text.append(_filled(piece, values, format) or "")
    return "".join(text)


def outline(template: str) -> str | None:
    """The template as a reader sees it: names in capitals, no brackets and guards; None if it is nothing but a name."""
    text = _PIECE.sub(lambda found: "" if found[1] or not found[2] else found[2].upper(), template)
    return None if alone(template) else text


def alone(template: str) -> str | None:
    """The name of the value, if the template is nothing else: a list of sentences then gives one sentence each."""
    pieces = _read(template)
    return pieces[0].name if len(pieces) == 1 and isinstance(pieces[0], _Hole) and not pieces[0].guard else None


def sentences(templates: Iterable[str], values: Known, format: Format) -> Iterator[str]:
    for template in templates:
        if (name := alone(template)) is not None and isinstance(own := values.get(name), tuple):
            yield from (format(value, "") for value in own)
        elif (text := filled(template, values, format)) is not None:
            yield text
