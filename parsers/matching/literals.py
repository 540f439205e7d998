"""The search for literals: one pass of Aho-Corasick over raw bytes finds those of all patterns at once.

Here: which text of each pattern is searched for, in each layout of the lines, and the names of the loggers that report replication: their
lines that no pattern matches are counted and shown. Not here: the walk over a file (parsers.catalogue), or which pattern matches a line
(messages).
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import itemgetter

import regex
from ahocorasick_rs import BytesAhoCorasick

from parsers.layouts import LOG4J, Layout, abbreviates, is_one_of, prefix
from parsers.matching.text import LOG_MARK, THROWN
from parsers.matching.tried import Tried
from parsers.patterns.in_force import PatternSet, pattern_set
from parsers.patterns.loggers import RELEVANT_LOGGERS
from parsers.patterns.pattern import Pattern

_MIN_LITERAL = 4
_WITHIN_WORD = regex.compile(r"\w\w")
_FULL = LOG4J.logged
_WRAPPED_FROM = (b"\n==> ", b'\n{"', b"\n[pod/")
"""Where the wrapped part of a file may begin; otherwise a line with a literal shows it."""
_LITERAL = itemgetter(0)
Hits = Sequence[tuple[int, int, int]]


class Literals:
    """The automaton over all literals and their meanings. `logged`: the text around a logger's name; `whole`: that text is always Kafka's `
    (logger)` after the message, which some literals include."""

    def __init__(self, patterns: Sequence[Pattern], logged: Iterable[tuple[str, str]], with_logger: bool) -> None:
        self.patterns = patterns
        by_literal: dict[bytes, list[int]] = {}
        for rank, pattern in enumerate(patterns):
            for literal in (pattern.literal,) if with_logger else _without_logger(pattern):
                by_literal.setdefault(literal.encode(), []).append(rank)
        self.ranks = list(by_literal.values())
        names = sorted({f"{before}{name}{after}" for before, after in logged for name in _names(before, after)})
        self.automaton = BytesAhoCorasick([*by_literal, *(name.encode() for name in names), *_WRAPPED_FROM])
        self._first_mark = len(by_literal) + len(names)
        full = {f"{_FULL[0]}{name}{_FULL[1]}": name for name in RELEVANT_LOGGERS}
        self.loggers = {hit: full[name] for hit, name in enumerate(names, len(by_literal)) if name in full}
        """Literals that are the name of a logger as Kafka's own layout prints it."""
        self.candidates = lru_cache(maxsize=1 << 14)(self._candidates)
        self.tried = lru_cache(maxsize=1 << 14)(self._tried)

    def find(self, data: bytes, base: int = 0) -> Hits:
        """(literal, start, end) of every occurrence from this position on, ordered by end; literals may overlap."""
        if not base:
            return self.find_all(data)[0]
        return [(hit, start + base, end + base) for hit, start, end in self.find(data[base:])]

    def find_all(self, data: bytes) -> tuple[Hits, Sequence[int]]:
        """The same, and the lines that may be the first wrapped ones."""
        hits = self.automaton.find_matches_as_indexes(data, overlapping=True)
        if max(map(_LITERAL, hits), default=0) < self._first_mark:
            return hits, ()
        marks = {hit: start + 1 for hit, start, _ in reversed(hits) if hit >= self._first_mark}
        return [hit for hit in hits if hit[0] < self._first_mark], sorted(marks.values())

    def names_logger(self, hits: Iterable[int]) -> bool:
        """Whether one of these literals is the name of a relevant logger."""
        return max(hits) >= len(self.ranks)

    def _candidates(self, hits: tuple[int, ...]) -> tuple[Pattern, ...]:
        """Patterns to try on a line with these literals, in the order of the catalogue."""
        ranks = {rank for hit in hits if hit < len(self.ranks) for rank in self.ranks[hit]}
        return tuple(self.patterns[rank] for rank in sorted(ranks))

    def _tried(self, hits: tuple[int, ...], logger: str) -> tuple[Tried, ...]:
        """The subset that this logger prints."""
        return tuple(Tried.of(pattern) for pattern in self.candidates(hits) if not pattern.loggers or is_one_of(logger, pattern.loggers))


def _without_logger(pattern: Pattern) -> Sequence[str]:
    """A pattern's literals if the logger is not printed after the message: the part of its literal that occurs in the messages of its
    samples; else the beginnings of these messages, and the names of its loggers."""
    texts = [
        "\n".join((sample.line.partition(" (kafka.")[0].partition(" (org.")[0], *sample.line.split("\n")[1:])) for sample in pattern.samples
    ]
    ends = [end for end in range(len(pattern.literal), _MIN_LITERAL - 1, -1) if not _WITHIN_WORD.match(pattern.literal, end - 1)]
    for end in ends:
        if all(pattern.literal[:end] in text for text in texts):
            return (pattern.literal[:end],)
    messages = [
        prefix(record.message, record.logger)[1] for sample in pattern.samples if (record := LOG4J.read(sample.line.partition("\n")[0]))
    ]
    names = {name.rpartition(".")[2].strip("( )$") for name in (*pattern.loggers, pattern.literal)}
    return sorted(names | {begin for message in messages if len(begin := _beginning(pattern, message)) >= 2 * _MIN_LITERAL}) or (
        pattern.literal,
    )


def _beginning(pattern: Pattern, message: str) -> str:
    """A message up to the first varying part."""
    match = pattern.compiled.fullmatch(message)
    return message[: min((at for at, _ in match.regs[1:] if at >= 0), default=len(message))] if match else ""


def _names(before: str, after: str) -> Iterable[str]:
    """Printed forms of the names of relevant loggers; Kafka's own layout prints them in full."""
    if (before, after) == _FULL:
        return RELEVANT_LOGGERS
    short = {".".join(["", *name.split(".")[at:]]).lstrip(".") for name in RELEVANT_LOGGERS for at in range(name.count(".") + 1)}
    initials = {".".join([*(part[:1] for part in name.split(".")[:-1]), name.split(".")[-1]]) for name in RELEVANT_LOGGERS}
    return short | initials


@lru_cache(maxsize=64)
def _made(patterns: PatternSet, logged: frozenset[tuple[str, str]], with_logger: bool) -> Literals:
    made = Literals(patterns.patterns, sorted(logged), with_logger)
    gc.freeze()
    return made


def literals_of(layouts: Iterable[Layout] = ()) -> Literals:
    """The search for lines of these layouts; Kafka's own is always included."""
    layouts = list(layouts)
    return _made(pattern_set(), frozenset((_FULL, *(layout.logged for layout in layouts))), all(layout is LOG4J for layout in layouts))


gc.freeze()
gc.set_threshold(1_000_000, 50, 100)
"""The catalogue lives as long as the process, and a chunk's hits and lines until the chunk is read. The garbage collector would traverse
them again and again and find nothing, which costs a tenth of the time of reading."""


def anywhere() -> Literals:
    """The search for lines of a layout that is not known yet."""
    return _made(pattern_set(), frozenset((_FULL,)), False)


@lru_cache(maxsize=1 << 12)
def relevant(logger: str) -> str | None:
    """The first relevant logger that may have been printed as this text."""
    return logger if logger in RELEVANT_LOGGERS else next((name for name in RELEVANT_LOGGERS if abbreviates(logger, name)), None)


def mentions(head: bytes) -> bool:
    """Whether a line with a time or a level, or the first line of an exception, contains a literal of the catalogue, or a line is, perhaps
    after the name of a container, the error with which a process ends, or there is a stack trace of Kafka: the file is a log, though in no
    known layout."""
    if _OF_KAFKA.search(head) is not None:
        return True
    literals = literals_of()
    for number, start, _ in literals.find(head):
        begin = head.rfind(b"\n", 0, start) + 1
        if LOG_MARK.search(head, begin, start) or _THROWN.match(head, begin):
            return True
        line = head[begin : head.find(b"\n", start) if b"\n" in head[start:] else None][:_LONGEST].decode("utf-8", "replace").strip()
        said = _CONTAINER.sub("", line)
        if any(p.event != "irrelevant" and p.compiled.fullmatch(said) for p in literals.candidates((number,))):
            return True
    return False


_OF_KAFKA = regex.compile(
    rb"(?m)^[ \t>`|]{0,20}(?:at (?:[\w.@-]{1,60}/)?(?:org\.apache\.)?kafka\.[a-z]"
    rb"|(?:[\w.$ :\"-]{0,160} )?(?:org\.apache\.)?kafka\.[a-z][\w.]{0,120}(?:Exception|Error)\b)"
)
"""A frame of a stack trace, or an exception."""
_LONGEST = 400
_CONTAINER = regex.compile(r"^(?:\[[\w./-]+\]|[\w.-]+ *\|) ")


_THROWN = regex.compile(rb"[^\w\n]{0,20}(?:" + THROWN + rb")")
