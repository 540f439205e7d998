"""The first lines of a file, and those among them that contain words of Kafka."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from parsers.matching.literals import anywhere
from parsers.matching.text import text_of
from parsers.patterns.pattern import Pattern

HEAD = 64 << 10
"""Bytes of a chunk that are examined to learn the layout."""
TEXT = 2048
LINES = 400
"""Lines that are examined, or searched at each end for a date."""


class Hit(NamedTuple):
    """A line that contains words of Kafka."""

    text: str
    patterns: tuple[Pattern, ...]


class LogSample(NamedTuple):
    lines: Sequence[str]
    hits: Sequence[Hit]


def sample_of(head: bytes, most_lines: int, most_hits: int) -> LogSample:
    """The first lines, and those of them that contain words of Kafka."""
    raw = head.split(b"\n", most_lines)
    lines = [text_of(line)[:TEXT] for line in (raw if len(raw) == 1 else raw[:-1] if len(head) == HEAD else raw)[:most_lines]]
    literals = anywhere()
    hits: list[Hit] = []
    for text in lines:
        matched = literals.find(text.encode()) if len(hits) < most_hits else ()
        if matched:
            hits.append(Hit(text, literals.candidates(tuple(one[0] for one in matched))))
    return LogSample(lines, hits)
