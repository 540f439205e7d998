"""The declaration of a kind of file: its name, how its files are recognised and read, and the events they give."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import repeat
from typing import BinaryIO, TypeAlias

from parsers.schemas import Member, Row

Reader: TypeAlias = "Callable[[BinaryIO, Member], Iterator[Row]]"
"""From an open file to its events, in file order. Errors in the file become `problem` events."""

AFTER_LOGS = 100
"""Kinds of this rank and above are recognised only in files without log lines."""


_NEWLINE = re.compile("\n")


@dataclass(frozen=True)
class Head:
    """The beginning of a file whose name does not determine its kind."""

    path: str
    name: str
    """File name without the suffix of a compression."""
    text: str

    @cached_property
    def line_starts(self) -> Sequence[int]:
        """Places in the text at which lines begin."""
        return [0, *(newline.end() for newline in _NEWLINE.finditer(self.text))]

    @property
    def is_json(self) -> bool:
        return self.text.lstrip()[:1] in ("{", "[")


@dataclass(frozen=True)
class FileKind:
    """One kind of file. At least one of `file_name`, `called` and `content` recognises its files, unless `topic` does."""

    name: str
    meaning: str
    """One line for documentation and messages."""
    read: Reader | None = None
    """None if such files give no events."""
    events: frozenset[str] = frozenset()
    """Kinds of events that the reader gives, besides `problem` and `source`."""
    file_name: str | None = None
    """Expression for names that determine the kind regardless of content: a damaged or empty file of this kind is itself evidence."""
    called: str | None = None
    """Kafka's name of such a file. A copy with another name is recognised, too, and counts only if the file itself is not there."""
    directory: str | None = None
    """Name of the directory that such a file lies in; None means any."""
    content: Callable[[Head], bool] | None = None
    """Whether a text with this beginning is of this kind."""
    rank: int = AFTER_LOGS
    """Contents are examined in the order of ranks, and the first kind that recognises the text counts."""
    topic: str | None = None
    """An internal topic: `read` then replaces the reader of that topic's files of the kind `name`."""

    binary: bool = False
    """Records in a binary encoding instead of text."""

    @property
    def expression(self) -> re.Pattern[str] | None:
        """What names of its files match."""
        return _compiled(self.file_name or _renamed(self.called)) if self.file_name or self.called else None


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


def with_line(expression: str) -> Callable[[Head], bool]:
    """Recognises a text that contains this from the beginning of a line on; `$` matches at every line. A search that tries every character
    takes five times as long: logs have hundreds of lines, and nine kinds are tried before a file is a log."""
    compiled = re.compile(expression, re.M)
    return lambda head: any(map(compiled.match, repeat(head.text), head.line_starts))


def _renamed(name: str | None) -> str:
    """Names of a file that Kafka calls `name`, also renamed: copied, rotated, or temporary."""
    return rf"(?:.*[^a-z])?{re.escape(name or '')}(?:[^a-z].*)?"


SEGMENT_SUFFIX = r"(?:\.(?:deleted|cleaned|swap|part))*"
"""Suffixes of the files of a segment."""
