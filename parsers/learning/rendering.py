"""From pieces of text to a log4j conversion pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from parsers.layouts import LEVELS
from parsers.learning.pieces import LayoutPiece, Line
from parsers.learning.worth import THREAD


def formats_of(group: Sequence[Line]) -> list[str]:
    """The possible texts in the braces of %d, according to most of the lines."""
    counts = Counter(form for line in group for piece in line if piece.stamp is not None for form in piece.stamp.formats)
    return [form for form, count in counts.items() if count == max(counts.values())] or [""]


def pattern_of(group: Sequence[Line], form: str) -> str:
    return "".join(_rendered(list(zip(*group, strict=True)), form)) + "%n"


def _rendered(columns: Sequence[Sequence[LayoutPiece]], form: str) -> Iterator[str]:
    """The pieces as a conversion pattern."""
    for at, column in enumerate(columns):
        after = columns[at + 1][0] if at < len(columns) - 1 else None
        glued = after is not None and after.what in ("word", "sign") and after.text[:1].isalpha()
        if column[0].what == "time":
            yield f"%d{{{form}}}"
        elif column[0].what in ("level", "space"):
            yield _level(columns, at, glued) if column[0].what == "level" else _literal(_separator(columns, at))
        elif column[0].what == "logger":
            padded = len(set(_blanks(columns, at + 1))) > 1
            yield _logger(column, padded, glued)
        else:
            yield _other(column, glued)


def _logger(column: Sequence[LayoutPiece], padded: bool, glued: bool) -> str:
    pad = f"-{max(len(piece.text) for piece in column)}" if padded else ""
    return f"%{pad}{'logger' if glued else 'c'}"


def _other(column: Sequence[LayoutPiece], glued: bool) -> str:
    what, texts = column[0].what, list(dict.fromkeys(piece.text for piece in column))
    if what == "message":
        return "%message" if glued else "%m"
    if what == "box":
        return f"{_literal(texts[0][0])}%t{_literal(texts[0][-1])}"
    return _varying(texts, glued) if what == "word" else _literal(texts[0])


def _level(columns: Sequence[Sequence[LayoutPiece]], at: int, glued: bool) -> str:
    texts = [piece.text for piece in columns[at]]
    name, longest = "level" if glued else "p", max(map(len, texts))
    if _shortened(texts):
        return f"%.-{longest}{name}" if all(map(str.isupper, texts)) else f"%{name}{{length={longest},lowerCase=true}}"
    pad = {"left": "5", "right": "-5", "": ""}[_padded(columns, at)]
    return f"%{pad}{name}" + ("" if all(map(str.isupper, texts)) else "{lowerCase=true}")


def _shortened(texts: Sequence[str]) -> bool:
    """Lengths to which levels are cut; such levels are not padded."""
    longest, unshortened = max(map(len, texts)), LEVELS.split("|")
    return any(text.upper() not in unshortened for text in texts) and all(
        text.upper() in {level[:longest] for level in unshortened} for text in texts
    )


def _padded(columns: Sequence[Sequence[LayoutPiece]], at: int) -> str:
    """The side on which a level is padded to five characters, as far as the lines show."""
    if _shortened([level.text for level in columns[at]]):
        return ""
    before, after = _blanks(columns, at - 1), _blanks(columns, at + 1)
    if before and at == 1:
        return "left"
    if len({len(piece.text) for piece in columns[at]}) > 1:
        before, after = (blanks if len(set(blanks)) > 1 else [] for blanks in (before, after))
    if before and (
        len(set(before)) > 1 or (len(before[0]) > 1 and len(max(after, default="", key=len)) < 2) or _fills(columns, at, -1, "[({<")
    ):
        return "left"
    return "right" if after else ""


def _fills(columns: Sequence[Sequence[LayoutPiece]], at: int, side: int, signs: str) -> bool:
    """Whether the text between a level and one of these signs is only padding."""
    sign = columns[at + 2 * side][0] if 0 <= at + 2 * side < len(columns) else None
    filled = all(len(level.text) + len(blank.text) == 5 for level, blank in zip(columns[at], columns[at + side], strict=True))
    return sign is not None and sign.what == "sign" and sign.text in signs and filled


def _blanks(columns: Sequence[Sequence[LayoutPiece]], at: int) -> list[str]:
    """The blanks in a column; none if the column contains other text."""
    return [piece.text for piece in columns[at]] if 0 <= at < len(columns) and columns[at][0].what == "space" else []


def _separator(columns: Sequence[Sequence[LayoutPiece]], at: int) -> str:
    """The blanks of a column, minus the padding of a level next to it."""
    text = min(_blanks(columns, at), key=len)
    for level, side, padded, signs in ((at - 1, 1, "right", "])}>|:,;"), (at + 1, -1, "left", "[({<")):
        column = columns[level] if 0 <= level < len(columns) else None
        if column is not None and column[0].what == "level" and _padded(columns, level) == padded:
            return "" if at == 0 or _fills(columns, level, side, signs) else text[:1]
    return text


def _varying(texts: Sequence[str], glued: bool) -> str:
    if all(text.isdigit() for text in texts):
        return "%line" if glued else "%L"
    if len(texts) > 1 or THREAD.fullmatch(texts[0]):
        return "%threadName" if glued else "%t"
    return _literal(texts[0])


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "%%").replace("\t", "\\t")
