"""What a line pattern is: a declaration with its proof.

Here: the dataclass, the vocabulary of group names and how their text becomes column values. Not here: any Kafka line (the
sibling modules, one per family) or the search for literals in a file (parsers.catalogue).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
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

TOPIC = r"[a-zA-Z0-9._-]{1,249}"
TP = rf"(?:\[(?P<topic>{TOPIC}), ?(?P<partition>\d+)\]|(?P<topic>{TOPIC})-(?P<partition>\d+))"
"""`[t,p]` or `t-p`; a topic may itself hold '-', so the last one splits."""
WITHIN = r"(?P<directory>.*)[/\\]"
"""A log directory and the separator behind it, as the broker's own system writes them: `/data/`, `D:\\kafka (old)\\`."""
NAME = r"[^/\\]*"
"""What stands behind it: the path's last component. Names of replicas and files hold no separator of either kind, so the last one
splits on every system."""
IDS = r"(?:\w+\()?\[?[-\d, ]*\]?\)?"
"""Broker ids as `1,2`, `[1, 2]`, `List(1, 2)` or `Set()`."""
SETTING = regex.compile(r"(?:^|, ?)(?P<key>[\w.-]+)(?:=| -> )(?P<value>.*?)(?=, ?[\w.-]+(?:=| -> )|,?$)")
"""One of the settings in a printed map, Java's or Scala's; a value may be a list itself."""


@dataclass(frozen=True)
class Sample:
    """A real line and the columns it must give (a subset: columns not named here are not compared)."""

    line: str
    fields: Mapping[str, Any]
    origin: str
    """Where the line is from: 'real: BUNDLE' or 'source: VERSION CLASS' where it was composed after Kafka's statement."""


@dataclass(frozen=True)
class Pattern:
    """One statement of Kafka's, through all its spellings that one expression can hold.

    `regex` is applied (fullmatch) to the message after its component prefix (`[Partition t-p broker=1] `, `[Broker id=2] `,
    …) was taken off; what the prefix names (node, topic, partition, broker, directory, controller_epoch) is filled in by the
    catalogue and may be overridden by groups. A group is named after the column it fills; a group that is named after
    no column is only for `explode`. In state.change.logger lines of 0.8.2..0.11 the text's start `Broker 1 ` or
    `Controller 1 epoch 2 ` is such a prefix too, so that one expression beginning with `[Rr]eceived …` holds old and new.
    A line that begins no record (exception text) is its own message and has no logger.
    """

    name: str
    event: str
    """Kind of event, from parsers.kinds; or 'irrelevant' for a line that is known to tell nothing about replication."""
    literal: str
    """Text that occurs in every line the expression can match; what the catalogue searches for."""
    regex: str
    versions: tuple[str, str]
    """First and last Kafka minor that prints it, as '0.8.2', '4.3'."""
    samples: tuple[Sample, ...]
    loggers: tuple[str, ...] = ()
    """Loggers it is printed by; empty when any."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Columns whose value the statement itself tells, as {'reason': 'leader-epoch'}."""
    explode: Callable[[Row], Iterable[Row]] | None = None
    """Makes the events of one line where columns alone do not: several (maps of partitions), or with computed values. Gets what the
    line says, its time and level, and the raw text of all groups under '_groups'; may raise ValueError. See `events`."""
    multiline: bool = False
    """Needs the lines that follow, up to the next record."""
    note: str = ""
    """Why Kafka prints it so, with class or KIP, where that is not plain."""

    @cached_property
    def compiled(self) -> Expression[str]:
        return regex.compile(self.regex, regex.DOTALL if self.multiline else 0)

    @cached_property
    def quick(self) -> Quick | None:
        """The same for ASCII texts, where there is a faster one."""
        return quick(self.regex, re.DOTALL if self.multiline else 0)

    @cached_property
    def mode(self) -> str | None:
        """The mode of the clusters that have the loggers it is printed by; None where both have."""
        modes = {next((mode for mode, begins in ONLY_IN.items() if name.startswith(begins)), None) for name in self.loggers}
        return modes.pop() if len(modes) == 1 else None

    def events(self, groups: Mapping[str, str | None], context: Mapping[str, Any], time: datetime | None, level: str | None) -> list[Row]:
        """What a line says, row by row: the texts of its groups, what its component names, when and how loudly it was said. A row may
        tell another event or text than the line's. Raises ValueError on numbers out of range."""
        row: Row = {"time": time, "level": level, "mode": self.mode, **context}
        for name in self.columns:
            value = groups[name]
            if value is not None:
                row[name] = column(name, value)
        row.update(self.fixed)
        if self.explode is None:
            return [row]
        row["_groups"] = groups
        rows = [check(made) for made in self.explode(row)]
        for made in rows:
            made.pop("_groups", None)
        return rows

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Groups of the expression that are columns."""
        names = self.quick.groups if self.quick is not None else self.compiled.groupindex
        return tuple(name for name in names if name in _COLUMNS)


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


def check(row: Row) -> Row:
    """The row itself; raises ValueError when a number of it does not fit its column (rows made by `explode`)."""
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
