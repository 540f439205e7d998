"""From lines to the text around their messages, in pieces: times, levels, loggers, and what is between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from parsers.layouts import LEVELS, LOG4J, abbreviates, component_before
from parsers.learning.sample import Hit
from parsers.learning.worth import PRINTED_LOGGER, TAIL
from parsers.matching.literals import relevant
from parsers.patterns.in_force import PatternSet, pattern_set
from parsers.patterns.pattern import Pattern
from parsers.stamps import Stamp, stamps

TRIALS = 20_000
CANDIDATES = 8
_FIELDS_WITHIN = 400
"""Characters of a line that contain its fields."""


class LayoutPiece(NamedTuple):
    """A part of the text around a message."""

    what: str
    """'time', 'level', 'logger', 'message'; 'box' for brackets, 'word', 'space' and 'sign' for what is between."""
    text: str
    stamp: Stamp | None = None


Line = tuple[LayoutPiece, ...]


def groups(lines: Iterable[Line]) -> list[list[Line]]:
    """Lines with the same text around the message, largest group first."""
    groups: dict[tuple[str, ...], list[Line]] = defaultdict(list)
    for line in lines:
        groups[tuple(map(_skeleton, line))].append(line)
    return sorted(groups.values(), key=len, reverse=True)[:CANDIDATES]


def _skeleton(piece: LayoutPiece) -> str:
    if piece.stamp is not None:
        return "time" + str(regex.sub(r"dd|MM|yy+", "0", piece.stamp.formats[0]))
    return piece.text if piece.what == "sign" else piece.text[0] if piece.what == "box" else piece.what


def located(hits: Iterable[Hit]) -> Iterator[Line]:
    """The text around known messages."""
    trials = 0
    for hit in hits:
        places, tried = _places(hit)
        trials += tried
        for pattern, place, end in places:
            begin = component_before(hit.text, place)
            bracketed = _BRACKETED.search(hit.text, 0, begin)
            for at in (begin, bracketed.start()) if bracketed is not None else (begin,):
                pieces = (*_around(hit.text[:at], pattern), LayoutPiece("message", ""), *_around(hit.text[end:], pattern))
                if any(piece.what in ("time", "level") for piece in pieces):
                    yield _once(pieces)
        if trials > TRIALS:
            return


_BRACKETED = regex.compile(r"\[[^\[\]]+\][:,]? ?\Z")
"""A word that may be the layout's thread or the beginning of a message."""

_Place = tuple[Pattern, int, int]
"""A pattern, and where its message begins and ends."""


def _places(hit: Hit) -> tuple[list[_Place], int]:
    """Where a known message is in a line, if it can only begin there, and how many places were tried. A message that extends to the line's
    end may also end before its logger."""
    text, tried = hit.text, 0
    length = len(text.rstrip())
    shorter: list[_Place] = []
    for pattern in hit.patterns:
        if pattern.multiline:
            continue
        begins, ends, count = _candidates(text, pattern)
        tried += count
        complete = [begin for begin in begins if pattern.compiled.fullmatch(text, begin, length) is not None]
        if len(complete) == 1 and complete[0] > 0:
            return [(pattern, complete[0], end) for end in _ends(text, pattern, complete[0], ends)], tried
        if not complete:
            shorter += _before_end(text, pattern, begins, ends)
    return sorted(shorter, key=lambda place: place[1] - place[2])[:1], tried


def _candidates(text: str, pattern: Pattern) -> tuple[list[int], list[int], int]:
    """Where a message of this pattern may begin, where it may end before the end of the line, and how many places were tried."""
    length = len(text.rstrip())
    at = text.find(pattern.literal) if _says_literal(pattern_set())[pattern.name] else -1
    at, end = (at, at + len(pattern.literal)) if at >= 0 else (length, 0)
    places = [b for b in range(min(at + 1, _FIELDS_WITHIN, length)) if not text[b].isspace() and (b == 0 or not text[b - 1].isalnum())]
    begins = [b for b in places if pattern.compiled.match(text, b) is not None]
    ends = [e for e in range(length - 1, max(end - 1, length - TAIL, 0), -1) if _may_end(text, e, pattern)] if begins else []
    return begins, ends, len(places) + len(begins) * (1 + len(ends))


def _ends(text: str, pattern: Pattern, begin: int, ends: Iterable[int]) -> list[int]:
    """Where a message that extends to the end of the line may end: there, and before its logger."""
    length = len(text.rstrip())
    cut = next((end for end in ends if _names_printer(text[end:], pattern)), None)
    return [length] if cut is None or pattern.compiled.fullmatch(text, begin, cut) is None else [length, cut]


def _before_end(text: str, pattern: Pattern, begins: Sequence[int], ends: Iterable[int]) -> list[_Place]:
    """The longest message that ends before the end of the line; none if it can begin at several places."""
    for end in ends:
        within = [begin for begin in begins if pattern.compiled.fullmatch(text, begin, end) is not None]
        if within:
            return [(pattern, within[0], end)] if len(within) == 1 and within[0] > 0 else []
    return []


def _may_end(text: str, at: int, pattern: Pattern) -> bool:
    """Whether a message may end here: what follows begins with a sign, or is the logger's name."""
    if text[at] not in _CLOSING or text[at - 1].isspace():
        return False
    rest = text[at:].lstrip()
    return not rest[0].isalnum() or ((name := _NAME.match(rest)) is not None and _logger_rank(name[0], pattern) == 0)


def _names_printer(text: str, pattern: Pattern) -> bool:
    return any(_logger_rank(name[0], pattern) == 0 for name in _NAME.finditer(text))


_CLOSING = " \t\"'|)]}<>;,"


def guessed(lines: Iterable[str]) -> Iterator[Line]:
    """The parts if no message is known: the text up to a known logger, and the text after the last field."""
    for text in lines:
        stamp = next(stamps(text, 0, _FIELDS_WITHIN), None)
        logger = next((match for match in PRINTED_LOGGER.finditer(text[:_FIELDS_WITHIN])), None)
        if stamp is None or logger is None or relevant(logger[0]) is None:
            continue
        ends = [stamp.end, logger.end(), *(level.end() for level in _LEVEL_WORD.finditer(text, 0, max(stamp.end, logger.end()) + 20))]
        separator = _SEPARATOR.match(text, max(ends))
        if separator is not None:
            yield _once((*_around(text[: separator.end()], None), LayoutPiece("message", "")))


_SEPARATOR = regex.compile(r"[^\w\[]*(?:\w+=\"?)?")


@lru_cache(maxsize=8)
def _printers(patterns: PatternSet) -> Mapping[str, tuple[str, ...]]:
    """The loggers that print each pattern, according to the pattern and its samples."""
    printers = {}
    for pattern in patterns.patterns:
        sampled = (LOG4J.read(sample.line.partition("\n")[0]) for sample in pattern.samples)
        names = (*pattern.loggers, *(record.logger for record in sampled if record is not None and record.logger))
        printers[pattern.name] = tuple(dict.fromkeys(names))
    return printers


@lru_cache(maxsize=8)
def _says_literal(patterns: PatternSet) -> Mapping[str, bool]:
    """Whether each pattern's literal is part of its message; some literals are the logger's name."""
    return {
        pattern.name: all(
            (record := LOG4J.read(sample.line.partition("\n")[0])) is None or pattern.literal in record.message
            for sample in pattern.samples
        )
        for pattern in patterns.patterns
    }


_LEVEL_WORD = regex.compile(rf"(?<![\w.=-]|\w[-/])(?i:{LEVELS})(?![\w.=-])|(?<==)(?i:{LEVELS})(?![\w.=-])")


_LEVEL_CUT = regex.compile(r"(?<![\w.-])(?:(?i:TRAC?|DEBU?|INF|WAR|ERRO?|FATA?|TR|DE|IN|WA|ER|FA)|[TDIWEFtdiwef])(?![\w.=:/-](?! ))")


_NAME = regex.compile(r"(?<![\w.$/@-])[A-Za-z_][\w$]*(?:\.[\w$]+)*(?![\w$=/@-]|\.\w)")


_DOTTED = regex.compile(r"(?:kafka|org|com|io|net|state)\.\w")


_GAP = regex.compile(
    r"(?P<box>\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}|<[^<>]*>)|(?P<space>[ \t]+)|(?P<word>\w(?:(?:[\w.$/@#:+-]|\([\w.:-]*\))*[\w)])?(?!=))|(?P<sign>\w+=|.)",
    regex.DOTALL,
)


def _around(text: str, pattern: Pattern | None) -> Iterator[LayoutPiece]:
    """The pieces of the text before or after a message."""
    at = 0
    for begin, end, piece in sorted(_fields(text, pattern), key=lambda field: field[0]):
        yield from _gap(text[at:begin])
        yield piece
        at = end
    yield from _gap(text[at:])


def _fields(text: str, pattern: Pattern | None) -> list[tuple[int, int, LayoutPiece]]:
    """The time, the logger and the level, each with its place, as far as the text has them."""
    fields: list[tuple[int, int, LayoutPiece]] = []

    def free(match: regex.Match[str]) -> bool:
        return all(match.end() <= begin or end <= match.start() for begin, end, _ in fields)

    times = list(stamps(text))
    # Whatever copied a line puts its own time before that of the writer.
    if (stamp := next((s for s in reversed(times) if s.dated), times[0] if times else None)) is not None:
        fields.append((stamp.begin, stamp.end, LayoutPiece("time", text[stamp.begin : stamp.end], stamp)))
    names = [m for m in _NAME.finditer(text) if free(m) and _enclosed(text, m.start()) == _closed(text, m.end())]
    ranked = [(rank, m) for m in names if (rank := _logger_rank(m[0], pattern)) is not None]
    if ranked:
        name = min(ranked, key=lambda one: one[0])[1]
        fields.append((name.start(), name.end(), LayoutPiece("logger", name[0])))
    level = next((m for expression in (_LEVEL_WORD, _LEVEL_CUT) for m in expression.finditer(text) if free(m)), None)
    if level is not None:
        fields.append((level.start(), level.end(), LayoutPiece("level", level[0])))
    return fields


def _enclosed(text: str, at: int) -> int:
    """Which bracket is opened directly before this place; -1 for none. A name that shares its brackets with other words is not a field."""
    return "[({<".find(text[at - 1]) if at else -1


def _closed(text: str, at: int) -> int:
    return "])}>".find(text[at]) if at < len(text) else -1


def _gap(text: str) -> Iterator[LayoutPiece]:
    for match in _GAP.finditer(text):
        yield LayoutPiece(match.lastgroup or "", match[0])


def _logger_rank(name: str, pattern: Pattern | None) -> int | None:
    """How likely a word is the logger's name; None if it is not."""
    if pattern is not None and any(abbreviates(name, full) for full in _printers(pattern_set())[pattern.name]):
        return 0
    if relevant(name) is not None:
        return 1
    return 2 if _DOTTED.match(name) else None


def _once(pieces: Iterable[LayoutPiece]) -> Line:
    """Keeps the first piece of each field; a second one becomes varying text."""
    seen: set[str] = set()
    once = []
    for piece in pieces:
        if piece.what in ("time", "level", "logger") and piece.what in seen:
            piece = LayoutPiece("word", piece.text)
        seen.add(piece.what)
        once.append(piece)
    return tuple(once)
