"""The class of line patterns: a declaration with samples that prove it.

Here: the dataclass, the names of groups and how their text becomes column values. Not here: the patterns (the TOML files), or the search
for literals in a file (parsers.matching).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import regex
from regex import Pattern as Expression

from parsers.cached import cached_property
from parsers.expressions import Quick, quick
from parsers.patterns.loggers import ONLY_IN
from parsers.schemas import EVENTS, INT32, INT64, Row

_LIST_COLUMNS = {f.name for f in EVENTS if pa.types.is_list(f.type) and pa.types.is_int32(f.type.value_type)}
_RANGES = {f.name: INT32 if pa.types.is_int32(f.type) else INT64 for f in EVENTS if pa.types.is_integer(f.type)}
_COLUMNS = frozenset(EVENTS.names)
_NUMBER = regex.compile(r"-?\d+")


_BRACKETS = regex.compile(r"(?:\[(?P<component>[^\]]+)\][:,]? ?){0,2}")
_NOT_IN_NAME = regex.compile(r"(?<!\w)\w+=.*|[^A-Za-z]")
"""In brackets with a component's name: its id, and what differs between versions: `KafkaServer id=1` was `Kafka Server 1`."""
_AROUND = regex.compile(r"\[[^\]]*\] +[A-Z]+ +(?P<message>.*?) *\([\w.$]+\)")
"""Kafka's own layout."""
FEW_WORDS = 3
"""Several components print messages with no more words than this, such as `Starting` or `Shutting down`."""


@dataclass(frozen=True)
class Sample:
    """A line and the columns that it must give. Other columns are not compared."""

    line: str
    fields: Mapping[str, Any]
    origin: str
    """Where the line is from: 'real: BUNDLE', or 'source: VERSION CLASS' if it was composed from a statement in Kafka's source.
    'source: VERSION CLASS (LinkedIn)' names a source other than Apache Kafka's."""


@dataclass(frozen=True)
class Pattern:
    """A log statement of Kafka, in all its spellings that one expression can match.

    `regex` is applied (fullmatch) to the message after its component prefix (`[Partition t-p broker=1] `, `[Broker id=2] `,
    …) was taken off; what the prefix names (node, topic, partition, broker, directory, controller_epoch) is filled in by the
    catalogue and may be overridden by groups. A group is named after the column that it fills; groups with other names are for
    `expand` only. In state.change.logger lines of 0.8.2 to 0.11 the start `Broker 1 ` or `Controller 1 epoch 2 ` is such a prefix
    too, so that one expression beginning with `[Rr]eceived …` matches old and new lines. A line that begins no record (exception
    text) is a message without a logger.
    """

    name: str
    event: str
    """Kind of event, from parsers.kinds; or 'irrelevant' for a known line that is not evidence of replication."""
    literal: str
    """Text in every line that the expression can match; files are searched for it."""
    regex: str
    """The complete expression, with fragments in place of their names."""
    versions: tuple[str, str]
    """First and last minor version of Kafka that prints the line, as '0.8.2', '4.3'."""
    samples: tuple[Sample, ...]
    loggers: tuple[str, ...] = ()
    """Loggers that print the line; empty if any may."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Columns with the same value for every line, as {'reason': 'leader-epoch'}."""
    expand: Callable[[Row], Iterable[Row]] | None = None
    """Makes several events of one line (maps of partitions), or computes values. Gets the columns of the line, its time and level, and
    the text of all groups under '_groups'; may raise ValueError. See `events`."""
    multiline: bool = False
    """Whether the expression needs the lines after the first one, up to the next record."""
    match_continuation_lines: bool = False
    """Whether other patterns read the lines after the first one, too: the exceptions after an error."""
    first_of_process: bool = False
    """Whether a process begins with the line, so that the record before it, of whatever logger, is the last of the process before."""
    note: str = ""
    """Why Kafka prints the line, with class or KIP, if that is not obvious."""
    written: str = field(default="", compare=False)
    """`regex` as its file has it: with names of fragments, and in several lines."""

    @cached_property
    def compiled(self) -> Expression[str]:
        return regex.compile(self.regex, regex.DOTALL if self.multiline else 0)

    @cached_property
    def quick(self) -> Quick | None:
        """A faster expression for ASCII texts, or None."""
        return quick(self.regex, re.DOTALL if self.multiline else 0)

    @cached_property
    def mode(self) -> str | None:
        """The mode of the clusters that have these loggers; None if both modes have them."""
        modes = {next((mode for mode, begins in ONLY_IN.items() if name.startswith(begins)), None) for name in self.loggers}
        return modes.pop() if len(modes) == 1 else None

    @cached_property
    def printed_by(self) -> frozenset[str] | None:
        """The components that print the samples, as `components` names them, if the messages have few words; None if they have more, or
        lines."""
        messages = [match["message"] for sample in self.samples if (match := _AROUND.match(sample.line)) is not None]
        if not messages or any(len(_BRACKETS.sub("", message, count=1).split()) > FEW_WORDS for message in messages):
            return None
        return frozenset(name for message in messages for name in components(message))

    def events(self, groups: Mapping[str, str | None], context: Mapping[str, Any], time: datetime | None, level: str | None) -> list[Row]:
        """The events of a line: from the texts of its groups, the columns of its component's name, its time and its level. An event may
        have another kind or text than the line. Raises ValueError on numbers out of range."""
        row: Row = {"time": time, "level": level, "mode": self.mode, **context}
        for name in self.columns:
            value = groups[name]
            if value is not None:
                row[name] = column(name, value)
        row.update(self.fixed)
        if self.expand is None:
            return [row]
        row["_groups"] = groups
        rows = [check(made) for made in self.expand(row)]
        for made in rows:
            made.pop("_groups", None)
        return rows

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The groups of the expression that are columns."""
        names = self.quick.groups if self.quick is not None else self.compiled.groupindex
        return tuple(name for name in names if name in _COLUMNS)


def components(message: str) -> Collection[str]:
    """The names in brackets with which a message begins, only their letters: of its component, and perhaps of a thread before it; one empty
    name if there are none."""
    match = _BRACKETS.match(message)
    names = match.captures("component") if match is not None else []
    return [_NOT_IN_NAME.sub("", name).lower() for name in names] or [""]


def column(name: str, text: str | None) -> Any:
    """The value of a column from the text of its group; None stays None. Raises ValueError on a number out of range."""
    if text is None:
        return None
    if name in _RANGES:
        return _within(int(text), _RANGES[name])
    if name in _LIST_COLUMNS:
        return [_within(int(n), INT32) for n in _NUMBER.findall(text)]
    if name == "recovering":
        return text in ("RECOVERING", "1")
    if name == "unordered":
        return True
    return text


def numbers(name: str, texts: Sequence[str | None]) -> list[int] | None:
    """The values of a column of numbers from the texts of its group; None if one is missing or out of range, or if it has no numbers."""
    if name not in _RANGES or None in texts:
        return None
    found = [int(text) for text in texts if text is not None]
    return found if min(found, default=0) in _RANGES[name] and max(found, default=0) in _RANGES[name] else None


def check(row: Row) -> Row:
    """The row itself; raises ValueError when a number of it does not fit its column (rows made by `expand`)."""
    for name, value in row.items():
        if value is None or isinstance(value, str):
            continue
        if name in _RANGES:
            if value not in _RANGES[name]:
                raise ValueError(f"{value} does not fit")
        elif name in _LIST_COLUMNS:
            for number in value:
                _within(number, INT32)
        elif name == "replica_offsets":
            for replica in value:
                _within(replica["broker"], INT32)
                _within(replica["log_end_offset"] or 0, INT64)
                _within(replica["last_caught_up_ms"] or 0, INT64)
    return row


def _within(number: int, bounds: range) -> int:
    if number not in bounds:
        raise ValueError(f"{number} does not fit")
    return number
