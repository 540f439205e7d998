"""Learns unlisted layouts from a file's lines: the catalogue knows messages and loggers, and times and levels have few forms; the text
around them that is the same in line after line is the layout.

Here: from lines to a conversion pattern that prints them, and how well a layout explains them. Not here: the forms of times
(parsers.stamps), the compilation of patterns (parsers.log_pattern), or which layouts a file is in (layouts_in_use).

Deterministic and bounded: no more than HEAD bytes, TRIALS matches of a message, CANDIDATES patterns.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import regex

from parsers.layouts import LEVELS, LOG4J, Layout, Record, abbreviates, component_before, fitting, prefix, sniff
from parsers.log_pattern import compiled
from parsers.matching.literals import anywhere, relevant
from parsers.matching.messages import apply
from parsers.matching.text import text_of
from parsers.patterns.in_force import PatternSet, pattern_set
from parsers.patterns.pattern import Pattern
from parsers.stamps import Stamp, stamps

HEAD = 64 << 10
"""Bytes of a chunk that are examined to learn the layout."""
TRIALS = 20_000
CANDIDATES = 8
_CHANGED = 3
"""Records needed to accept that a file changes to an unlisted layout: a single line may just be damaged."""
_VARYING = 3
"""Texts of any length in a pattern, which an expression may try to end anywhere."""
_GUESSES = 3
"""Lines from which a layout is learned even if they contain no known message."""
_HITS = 120
"""Lines with words of Kafka that are examined."""
_LINES = 400
_FEW_HITS, _FEW_LINES = 20, 100
"""Number of such lines that a listed layout has to explain; small, because a listed layout mostly does."""
_TELLING = 3
"""Lines with words of Kafka that are informative."""
_MANY_LINES = 2000
"""Lines that are examined if the first ones are not informative, for example the settings that a broker prints at startup."""
_TEXT = 2048
_FIELDS_WITHIN = 400
"""Characters of a line that contain its fields."""
_TAIL = 200
_DATES = 2000
"""Lines whose dates are compared to distinguish day and month."""
_DAY, _NEAR, _FAR = timedelta(days=1), timedelta(hours=36), timedelta(days=25)


class Learned(NamedTuple):
    """The layout of a file's lines, or why there is none."""

    layout: Layout | None
    pattern: str | None = None
    """The conversion pattern, if no listed layout was good enough."""
    trouble: tuple[str, str] | None = None
    """Why the layout is unknown: reason and text of a problem."""


class _Hit(NamedTuple):
    """A line that contains words of Kafka."""

    text: str
    patterns: tuple[Pattern, ...]


class _Sample(NamedTuple):
    lines: Sequence[str]
    hits: Sequence[_Hit]


def layout_of(data: bytes, given: Sequence[Layout] = (), written: datetime | None = None, line: str | None = None) -> Learned:
    """The layout a chunk's first lines are in: one of `given` or of the listed ones if these explain the lines, else a learned one.

    `written`: approximate time of the chunk's last line, if known; it may distinguish day and month. `line`: has to be a record in this
    layout.
    """
    head = data[:HEAD]
    listed = sniff(head, given)
    if line is not None and (listed is None or not listed.fits(line)):
        listed = fitting(line, given)
    if listed is not None and any(listed is one for one in given):
        return Learned(listed)
    few = _sample(head, _FEW_LINES, _FEW_HITS)
    lines = _LINES if len(few.hits) >= _TELLING else _MANY_LINES
    if listed is not None and _explains(listed, few if lines == _LINES else _sample(head, lines, _HITS)):
        return Learned(listed)
    sample = _sample(head, lines, _HITS)
    best: list[_Line] | None = None
    most = _worth(listed, sample) if listed is not None else _Worth(0, 0, 0, 0, 0)
    guessed = [group for group in _groups(_guessed(sample.lines)) if len(group) >= _GUESSES]
    for group in (*_groups(_located(sample.hits)), *guessed):
        pattern = _pattern(group, _formats(group)[0])
        layout = _compiled(pattern) if pattern.count("%t") <= _VARYING else None
        if layout is None or (line is not None and not layout.fits(line)):
            continue
        worth = _worth(layout, sample)
        if (worth.known or worth.loggers) and worth.whole >= (_CHANGED if line is not None else 1) and worth > most:
            best, most = group, worth
            if worth.known == len(sample.hits) and worth.whole == worth.loggers == worth.levels:
                break
    return _dated(best, data, written) if best is not None else Learned(listed, trouble=_remainders(listed, sample))


def _sample(head: bytes, most_lines: int, most_hits: int) -> _Sample:
    """The first lines, and those of them that contain words of Kafka."""
    raw = head.split(b"\n", most_lines)
    lines = [text_of(line)[:_TEXT] for line in (raw if len(raw) == 1 else raw[:-1] if len(head) == HEAD else raw)[:most_lines]]
    literals = anywhere()
    hits: list[_Hit] = []
    for text in lines:
        found = literals.find(text.encode()) if len(hits) < most_hits else ()
        if found:
            hits.append(_Hit(text, literals.candidates(tuple(one[0] for one in found))))
    return _Sample(lines, hits)


# how well a layout explains lines


def _known(layout: Layout, hits: Iterable[_Hit]) -> int:
    """Lines whose message a pattern of the catalogue claims."""
    count = 0
    for hit in hits:
        record = layout.read(hit.text)
        if record is not None and any(_claims(pattern, record, layout) for pattern in hit.patterns):
            count += 1
    return count


def _claims(pattern: Pattern, record: Record, layout: Layout) -> bool:
    try:
        message = prefix(record.message, record.logger)[1]
    except ValueError:
        return False
    return apply(pattern, message, record.logger, layout.bare and record.logger is None) is not None


_LEFTOVER = regex.compile(rf"\s*(?:[-|:;,>=~#*/\\]+(?:\s|$)|[|\t\]>}}]|[\[(<{{|]?(?:{LEVELS})\b|\S{{1,80}} (?:\S{{1,80}} )?[-|] |\w+=)")
"""How a message begins if the layout left a field or a separator in it."""
_PRINTED_LOGGER = regex.compile(r"(?:kafka|org\.apache\.kafka|state\.change)\.[\w$]+(?:\.[\w$]+)*")
_FIRST_NAME = regex.compile(r"[\[({<] ?([A-Za-z][\w$]*(?:\.[\w$]+)*) ?[\])}>]")
_LAST_NAME = regex.compile(r"[\[({<|\t] ?([A-Za-z][\w$]*(?:\.[\w$]+)*) ?[\])}>|\t]?(?:[\s\[({<|]+[\w.:/()-]+[\])}>]?)?\s*$")
_LAST_BOX = regex.compile(r"[\[({<|] ?([^\[\](){}<>|\s]+(?:\([\w.:-]*\)[\w.:-]*)?) ?[\])}>]\s*$")
"""A possible logger before or after a message, and a possible thread after it."""
_THREAD = regex.compile(r"main(?:-.*)?|.*(?:[Tt]hread|[Hh]andler|[Rr]eaper|[Ee]xecutor|[Aa]cceptor|[Pp]ool|[Ss]cheduler).*")
"""Names of Kafka's threads."""


def leaves_over(record: Record, layout: Layout) -> bool:
    """Whether the message still contains text that clearly belongs to the layout."""
    message = record.message
    if _LEFTOVER.match(message) is not None or (layout.bare and record.logger is not None):
        return True
    if record.logger is not None:
        return False
    names = (_FIRST_NAME.match(message), _LAST_NAME.search(message, max(0, len(message) - _TAIL))) if layout.bare else ()
    if any(name is not None and relevant(name[1]) is not None for name in names):
        return True
    box = _LAST_BOX.search(message, max(0, len(message) - _TAIL)) if layout.bare else None
    if box is not None and _THREAD.fullmatch(box[1]) is not None:
        return True
    return any(_PRINTED_LOGGER.search(part) for part in (message[:80], message[-_TAIL:]))


def _records(layout: Layout, sample: _Sample) -> list[Record]:
    return [record for line in sample.lines if (record := layout.read(line)) is not None]


def _explains(layout: Layout, sample: _Sample) -> bool:
    """Whether the layout is good enough, so that none has to be learned."""
    records = _records(layout, sample)
    marked = sum(_begins(line) for line in sample.lines)
    left = sum(leaves_over(record, layout) for record in records)
    if 2 * len(records) < marked or 4 * left > len(records):
        return False
    enough = 2 if layout.bare else 4
    return len(sample.hits) < _TELLING or enough * _known(layout, sample.hits) >= len(sample.hits)


_MARK = regex.compile(rf"(?i).{{0,80}}?(?:\d\d:\d\d:\d\d|\d{{13}}|\b(?:{LEVELS})\b)")


def _begins(line: str) -> bool:
    return line[:1] not in ("", " ", "\t") and _MARK.match(line) is not None


def begins_record(text: str) -> bool:
    """Whether a record seems to begin with this line, in whatever layout: there is a time near its beginning."""
    if text[:1] in ("", " ", "\t") or not _MAY_HOLD_TIME.search(text, 0, _BEGINNING):
        return False
    return next(stamps(text, 0, _BEGINNING), None) is not None


_BEGINNING = 120
_MAY_HOLD_TIME = regex.compile(r"\d([:.-])\d\d\1\d\d|\d{6}")
"""A part of every time format, which most lines of a stack trace do not contain."""


def goes_on(text: str) -> bool:
    """Whether a line is part of a stack trace, indented as by Throwable.printStackTrace, in whatever layout its record is."""
    return text.startswith("\tat ")


def _remainders(layout: Layout | None, sample: _Sample) -> tuple[str, str] | None:
    """Problem text for a layout that leaves extra text in most messages; no better layout was found."""
    read = [(line, record) for line in sample.lines if layout is not None and (record := layout.read(line)) is not None]
    left = [line for line, record in read if layout is not None and leaves_over(record, layout)]
    if layout is None or not sample.hits or 2 * len(left) <= len(read):
        return None
    text = f"a layout no list holds: of {len(read)} lines read as {layout.name!r} the messages of {len(left)} are not clean, such as {left[0][:_TAIL]!r}"
    return "unknown-layout", text


class _Worth(NamedTuple):
    """How well a layout explains the lines, most important criterion first."""

    known: int
    """Messages of the catalogue; somewhat less weight if no logger has to match."""
    whole: int
    """Records, minus those that leave extra text in their message."""
    loggers: int
    times: int
    levels: int


def _worth(layout: Layout, sample: _Sample) -> _Worth:
    records = _records(layout, sample)
    whole = sum(layout.fits(line) for line in sample.lines)
    left = sum(leaves_over(record, layout) for record in records)
    loggers = sum(record.logger is not None for record in records)
    times = sum(record.time is not None for record in records)
    known = _known(layout, sample.hits)
    return _Worth(
        known - known // 5 - (known > 1) if layout.bare else known,
        whole - left,
        loggers,
        times,
        sum(bool(record.level) for record in records),
    )


# from lines to a pattern


class _Piece(NamedTuple):
    """A part of the text around a message."""

    what: str
    """'time', 'level', 'logger', 'message'; 'box' for brackets, 'word', 'space' and 'sign' for what is between."""
    text: str
    stamp: Stamp | None = None


_Line = tuple[_Piece, ...]


def _groups(lines: Iterable[_Line]) -> list[list[_Line]]:
    """Lines with the same text around the message, largest group first."""
    groups: dict[tuple[str, ...], list[_Line]] = defaultdict(list)
    for line in lines:
        groups[tuple(map(_skeleton, line))].append(line)
    return sorted(groups.values(), key=len, reverse=True)[:CANDIDATES]


def _skeleton(piece: _Piece) -> str:
    if piece.stamp is not None:
        return "time" + str(regex.sub(r"dd|MM|yy+", "0", piece.stamp.formats[0]))
    return piece.text if piece.what == "sign" else piece.text[0] if piece.what == "box" else piece.what


def _located(hits: Iterable[_Hit]) -> Iterator[_Line]:
    """The text around known messages."""
    trials = 0
    for hit in hits:
        places, tried = _places(hit)
        trials += tried
        for pattern, place, end in places:
            begin = component_before(hit.text, place)
            bracketed = _BRACKETED.search(hit.text, 0, begin)
            for at in (begin, bracketed.start()) if bracketed is not None else (begin,):
                pieces = (*_around(hit.text[:at], pattern), _Piece("message", ""), *_around(hit.text[end:], pattern))
                if any(piece.what in ("time", "level") for piece in pieces):
                    yield _once(pieces)
        if trials > TRIALS:
            return


_BRACKETED = regex.compile(r"\[[^\[\]]+\][:,]? ?\Z")
"""A word that may be the layout's thread or the beginning of a message."""


def _places(hit: _Hit) -> tuple[list[tuple[Pattern, int, int]], int]:
    """Where a known message is in a line, if it can only begin there, and how many places were tried. A message that extends to the line's
    end may also end before its logger."""
    text, tried = hit.text, 0
    length = len(text.rstrip())
    shorter: list[tuple[Pattern, int, int]] = []
    for pattern in hit.patterns:
        if pattern.multiline:
            continue
        at = text.find(pattern.literal) if _says_literal(pattern_set())[pattern.name] else -1
        at, end = (at, at + len(pattern.literal)) if at >= 0 else (length, 0)
        begins = [b for b in range(min(at + 1, _FIELDS_WITHIN, length)) if not text[b].isspace() and (b == 0 or not text[b - 1].isalnum())]
        tried += len(begins)
        begins = [b for b in begins if pattern.compiled.match(text, b) is not None]
        ends = [e for e in range(length - 1, max(end - 1, length - _TAIL, 0), -1) if _may_end(text, e, pattern)] if begins else []
        tried += len(begins) * (1 + len(ends))
        whole = [b for b in begins if pattern.compiled.fullmatch(text, b, length) is not None]
        if len(whole) == 1 and whole[0] > 0:
            cut = next((e for e in ends if _names_printer(text[e:], pattern)), None)
            closed = cut is not None and pattern.compiled.fullmatch(text, whole[0], cut) is not None
            return [(pattern, whole[0], e) for e in ([length, cut] if closed and cut is not None else [length])], tried
        for e in ends if not whole else ():
            within = [b for b in begins if pattern.compiled.fullmatch(text, b, e) is not None]
            if within:
                shorter += [(pattern, within[0], e)] if len(within) == 1 and within[0] > 0 else []
                break
    return sorted(shorter, key=lambda place: place[1] - place[2])[:1], tried


def _may_end(text: str, at: int, pattern: Pattern) -> bool:
    """Whether a message may end here: what follows begins with a sign, or is the logger's name."""
    if text[at] not in _CLOSING or text[at - 1].isspace():
        return False
    rest = text[at:].lstrip()
    return not rest[0].isalnum() or ((name := _NAME.match(rest)) is not None and _logger_rank(name[0], pattern) == 0)


def _names_printer(text: str, pattern: Pattern) -> bool:
    return any(_logger_rank(name[0], pattern) == 0 for name in _NAME.finditer(text))


_CLOSING = " \t\"'|)]}<>;,"


def _guessed(lines: Iterable[str]) -> Iterator[_Line]:
    """The parts if no message is known: the text up to a known logger, and the text after the last field."""
    for text in lines:
        stamp = next(stamps(text, 0, _FIELDS_WITHIN), None)
        logger = next((found for found in _PRINTED_LOGGER.finditer(text[:_FIELDS_WITHIN])), None)
        if stamp is None or logger is None or relevant(logger[0]) is None:
            continue
        ends = [stamp.end, logger.end(), *(level.end() for level in _LEVEL_WORD.finditer(text, 0, max(stamp.end, logger.end()) + 20))]
        separator = _SEPARATOR.match(text, max(ends))
        if separator is not None:
            yield _once((*_around(text[: separator.end()], None), _Piece("message", "")))


_SEPARATOR = regex.compile(r"[^\w\[]*(?:\w+=\"?)?")


@lru_cache(maxsize=8)
def _printers(patterns: PatternSet) -> Mapping[str, tuple[str, ...]]:
    """The loggers that print each pattern, according to the pattern and its samples."""
    found = {}
    for pattern in patterns.patterns:
        sampled = (LOG4J.read(sample.line.partition("\n")[0]) for sample in pattern.samples)
        names = (*pattern.loggers, *(record.logger for record in sampled if record is not None and record.logger))
        found[pattern.name] = tuple(dict.fromkeys(names))
    return found


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


def _around(text: str, pattern: Pattern | None) -> Iterator[_Piece]:
    """The pieces of the text before or after a message."""
    found: list[tuple[int, int, _Piece]] = []

    def free(begin: int, end: int) -> bool:
        return all(end <= b or e <= begin for b, e, _ in found)

    times = list(stamps(text))
    if (stamp := next((s for s in times if s.dated), times[0] if times else None)) is not None:
        found.append((stamp.begin, stamp.end, _Piece("time", text[stamp.begin : stamp.end], stamp)))
    names = [m for m in _NAME.finditer(text) if free(m.start(), m.end()) and _enclosed(text, m.start()) == _closed(text, m.end())]
    ranked = [(rank, m) for m in names if (rank := _logger_rank(m[0], pattern)) is not None]
    if ranked:
        name = min(ranked, key=lambda one: one[0])[1]
        found.append((name.start(), name.end(), _Piece("logger", name[0])))
    for expression in (_LEVEL_WORD, _LEVEL_CUT):
        level = next((m for m in expression.finditer(text) if free(m.start(), m.end())), None)
        if level is not None:
            found.append((level.start(), level.end(), _Piece("level", level[0])))
            break
    at = 0
    for begin, end, piece in sorted(found, key=lambda one: one[0]):
        yield from _gap(text[at:begin])
        yield piece
        at = end
    yield from _gap(text[at:])


def _enclosed(text: str, at: int) -> int:
    """Which bracket is opened directly before this place; -1 for none. A name that shares its brackets with other words is not a field."""
    return "[({<".find(text[at - 1]) if at else -1


def _closed(text: str, at: int) -> int:
    return "])}>".find(text[at]) if at < len(text) else -1


def _gap(text: str) -> Iterator[_Piece]:
    for found in _GAP.finditer(text):
        yield _Piece(found.lastgroup or "", found[0])


def _logger_rank(name: str, pattern: Pattern | None) -> int | None:
    """How likely a word is the logger's name; None if it is not."""
    if pattern is not None and any(abbreviates(name, full) for full in _printers(pattern_set())[pattern.name]):
        return 0
    if relevant(name) is not None:
        return 1
    return 2 if _DOTTED.match(name) else None


def _once(pieces: Iterable[_Piece]) -> _Line:
    """Keeps the first piece of each field; a second one becomes varying text."""
    seen: set[str] = set()
    found = []
    for piece in pieces:
        if piece.what in ("time", "level", "logger") and piece.what in seen:
            piece = _Piece("word", piece.text)
        seen.add(piece.what)
        found.append(piece)
    return tuple(found)


def _dated(group: Sequence[_Line], data: bytes, written: datetime | None) -> Learned:
    """The layout of such lines, once the day and month of its dates are known."""
    made = [_compiled(_pattern(group, form)) for form in _formats(group)]
    layouts = [layout for layout in made if layout is not None]
    decided = _decided(layouts, data, written) if len(layouts) > 1 else layouts
    if len(decided) == 1:
        return Learned(decided[0], decided[0].name)
    names = " or ".join(repr(layout.name) for layout in decided)
    text = f"the day and the month of its dates cannot be told apart, so they are not read; --log-pattern says which: {names}"
    return Learned(replace(decided[0], when=_no_time), None, ("no-date", text))


def _no_time(text: str) -> tuple[datetime | None, bool]:
    return None, False


def _compiled(pattern: str) -> Layout | None:
    try:
        return compiled(pattern)
    except ValueError:
        return None


def _formats(group: Sequence[_Line]) -> list[str]:
    """The possible texts in the braces of %d, according to most of the lines."""
    counts = Counter(form for line in group for piece in line if piece.stamp is not None for form in piece.stamp.formats)
    return [form for form, count in counts.items() if count == max(counts.values())] or [""]


def _pattern(group: Sequence[_Line], form: str) -> str:
    return "".join(_rendered(list(zip(*group, strict=True)), form)) + "%n"


def _rendered(columns: Sequence[Sequence[_Piece]], form: str) -> Iterator[str]:
    """The pieces as a conversion pattern."""
    last = len(columns) - 1
    for at, column in enumerate(columns):
        what, texts = column[0].what, list(dict.fromkeys(piece.text for piece in column))
        after = columns[at + 1] if at < last else None
        glued = after is not None and after[0].what in ("word", "sign") and after[0].text[:1].isalpha()
        if what == "time":
            yield f"%d{{{form}}}"
        elif what == "level":
            yield _level(columns, at, glued)
        elif what == "logger":
            pad = f"-{max(map(len, texts))}" if len(set(_blanks(columns, at + 1))) > 1 else ""
            yield f"%{pad}{'logger' if glued else 'c'}"
        elif what == "message":
            yield "%message" if glued else "%m"
        elif what == "space":
            yield _literal(_separator(columns, at))
        elif what == "box":
            yield f"{_literal(texts[0][0])}%t{_literal(texts[0][-1])}"
        elif what == "word":
            yield _varying(texts, glued)
        else:
            yield _literal(texts[0])


def _level(columns: Sequence[Sequence[_Piece]], at: int, glued: bool) -> str:
    texts = [piece.text for piece in columns[at]]
    name, longest = "level" if glued else "p", max(map(len, texts))
    if _shortened(texts):
        return f"%.-{longest}{name}" if all(map(str.isupper, texts)) else f"%{name}{{length={longest},lowerCase=true}}"
    pad = {"left": "5", "right": "-5", "": ""}[_padded(columns, at)]
    return f"%{pad}{name}" + ("" if all(map(str.isupper, texts)) else "{lowerCase=true}")


def _shortened(texts: Sequence[str]) -> bool:
    """Lengths to which levels are cut; such levels are not padded."""
    longest, whole = max(map(len, texts)), LEVELS.split("|")
    return any(text.upper() not in whole for text in texts) and all(text.upper() in {level[:longest] for level in whole} for text in texts)


def _padded(columns: Sequence[Sequence[_Piece]], at: int) -> str:
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


def _fills(columns: Sequence[Sequence[_Piece]], at: int, side: int, signs: str) -> bool:
    """Whether the text between a level and one of these signs is only padding."""
    sign = columns[at + 2 * side][0] if 0 <= at + 2 * side < len(columns) else None
    whole = all(len(level.text) + len(blank.text) == 5 for level, blank in zip(columns[at], columns[at + side], strict=True))
    return sign is not None and sign.what == "sign" and sign.text in signs and whole


def _blanks(columns: Sequence[Sequence[_Piece]], at: int) -> list[str]:
    """The blanks in a column; none if the column contains other text."""
    return [piece.text for piece in columns[at]] if 0 <= at < len(columns) and columns[at][0].what == "space" else []


def _separator(columns: Sequence[Sequence[_Piece]], at: int) -> str:
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
    if len(texts) > 1 or _THREAD.fullmatch(texts[0]):
        return "%threadName" if glued else "%t"
    return _literal(texts[0])


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "%%").replace("\t", "\\t")


# which is the day, which the month


def _decided(layouts: Sequence[Layout], data: bytes, written: datetime | None) -> list[Layout]:
    """Those of several layouts whose dates can be right: valid, in order and near the time when the file was written."""
    texts = list(_spread(layouts[0], data))
    times = {layout.name: [record.time for text in texts if (record := layout.read(text)) is not None] for layout in layouts}
    least = min(sum(at is None for at in found) for found in times.values())
    left = [layout for layout in layouts if sum(at is None for at in times[layout.name]) == least]
    read = {layout.name: [at for at in times[layout.name] if at is not None] for layout in left}
    for wrong in (_from_other_times, _goes_back, _leaps):
        kept = [layout for layout in left if not wrong(read[layout.name])]
        left = kept or left
    if written is not None and len(left) > 1:
        near = [layout for layout in left if (found := read[layout.name]) and abs(found[-1] - written) <= _NEAR]
        left = near or left
    return left


def _from_other_times(times: Sequence[datetime]) -> bool:
    """Kafka's first release is from 2012."""
    return any(not 2012 <= at.year < 2090 for at in times)


def _goes_back(times: Sequence[datetime]) -> bool:
    return any(before - after > _DAY for before, after in pairwise(times))


def _leaps(times: Sequence[datetime]) -> bool:
    """Whether neighbouring lines are a month apart where they may be a day apart."""
    return any(after - before > _FAR for before, after in pairwise(times))


def _spread(layout: Layout, data: bytes) -> Iterator[str]:
    """Lines that begin records, evenly spread over a chunk, including its first and last."""
    count = 0
    step = max(1, len(data) // _DATES)
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if layout.begins(data, at):
            yield text_of(data[at:end])[:_TEXT]
            count += 1
            at = max(end + 1, at + step)
            at = at if at == end + 1 else data.find(b"\n", at - 1) + 1 or len(data)
        else:
            at = end + 1
    tail = data.rstrip()
    for _ in range(_LINES):
        begin = tail.rfind(b"\n") + 1
        if layout.begins(tail, begin):
            yield text_of(tail[begin:])[:_TEXT]
            return
        tail = tail[: max(begin - 1, 0)]
        if not tail:
            return
