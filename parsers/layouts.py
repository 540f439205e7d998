"""How a log line is laid out, and what the component that wrote it says in front of its message.

Here: the log4j record grammar of Kafka's own configuration as a Layout chosen per file from its head, and the prefixes by
which Kafka's classes name themselves (LogContext, Logging.logIdent), turned into columns. Not here: what the messages mean
(parsers.patterns) or how a file is walked (parsers.catalogue).

A layout says two things: which line begins a record (on bytes, so that a whole chunk can be searched) and what a line
holds. Another pattern of log4j, JSON or a container runtime's line is one more Layout in LAYOUTS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import regex

from parsers.patterns.pattern import TOPIC, column

STATE_CHANGE = "state.change.logger"
_SNIFFED_LINES = 200
_LEVEL = "TRACE|DEBUG|INFO|WARN|ERROR|FATAL"


class Record(NamedTuple):
    """What one line holds; `logger` is None where the message goes on in the next line."""

    time: datetime | None
    level: str
    message: str
    logger: str | None


@dataclass(frozen=True)
class Layout:
    """One way of laying out log records."""

    name: str
    head: regex.Pattern[bytes]
    """Matches at the start of a line that begins a record, control characters before it included (torn writes)."""
    line: regex.Pattern[str]
    """Fullmatch of a first line; groups time, level, message and, if the message ends in this line, logger."""

    def begins(self, data: bytes, at: int) -> bool:
        """Whether a record begins at the line that starts at byte `at`."""
        return self.head.match(data, at) is not None

    def read(self, text: str) -> Record | None:
        """The record that begins with this line; None when the line belongs to the record before it."""
        found = self.line.fullmatch(text)
        if found is None:
            return None
        time, level, message, logger = found.group("time", "level", "message", "logger")
        return Record(timestamp(time), level, message, logger)


def timestamp(text: str) -> datetime | None:
    """Local wall-clock time of a line, naive; None for digits that are no date."""
    try:
        return datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        return None


LOG4J = Layout(
    name="log4j",
    head=regex.compile(rb"(?m)^[\x00-\x08\x0b-\x1f]*\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3}\] +[A-Z]{4,5} "),
    line=regex.compile(
        rf"\[(?P<time>\d{{4}}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{{3}})\] +(?P<level>{_LEVEL}) +"
        r"(?:(?P<message>.*) \((?P<logger>[^()\s]+)\)|(?P<message>.*))[ \t\r]*"
    ),
)
"""`[%d] %p %m (%c)%n` of every log4j.properties and log4j2.yaml Kafka ships; a level padded by `%-5p` is taken too. The
message may itself end in parentheses, so the last ones are the logger."""

LAYOUTS = (LOG4J,)


def sniff(head: bytes) -> Layout:
    """The layout most of the first lines begin a record in; Kafka's own where none does."""
    lines = head.split(b"\n", _SNIFFED_LINES)[:_SNIFFED_LINES]
    return max(LAYOUTS, key=lambda layout: sum(layout.begins(line, 0) for line in lines))


_BRACKETED = (
    rf"Partition (?P<topic>{TOPIC})-(?P<partition>\d+) broker=(?P<node>\d+)",
    rf"(?:Log|UnifiedLog|LocalLog|LogLoader|ProducerStateManager|MetadataLog) partition=(?P<topic>{TOPIC})-(?P<partition>\d+)"
    r"(?:, dir=(?P<directory>.*)|, nodeId=(?P<node>\d+))?",
    rf"LeaderEpochCache (?P<topic>{TOPIC})-(?P<partition>\d+)",
    r"ReplicaFetcher replicaId=(?P<node>\d+), leaderId=(?P<broker>-?\d+), fetcherId=\d+",
    r"ReplicaFetcherThread-\d+-(?P<broker>\d+)",
    r"Controller id=(?P<controller>(?P<node>\d+))(?: epoch=(?P<controller_epoch>\d+))?",
    r"(?:Channel manager on controller|(?:Broker|Topic|Partition)\w*Listener on|Replica state machine on controller|"
    r"Partition state machine on Controller|Topic Deletion Manager|Controller) ?(?:Controller )?(?P<node>\d+)",
    r"Controller-(?P<node>\d+)-to-broker-(?P<broker>\d+)-send-thread",
    r"KafkaApi-(?P<node>\d+)",
    r"(?:[A-Za-z ]+) on [Bb]roker (?P<node>\d+)",
    r"(?:Kafka Server|GroupCoordinator|Group Coordinator|Transaction Coordinator) (?P<node>\d+)",
    r"(?:[A-Za-z]+ )+?(?:listenerType=\w+, )?(?:(?:broker )?id|nodeId|brokerId|controllerId|broker)=(?P<node>\d+)(?:[ ,].*)?",
)
_CONTEXT = regex.compile("|".join(_BRACKETED))
_THREAD = regex.compile(r"[A-Za-z][\w$. :/=<>-]*")
_TEXT = regex.compile(
    rf"Partition \[(?P<topic>{TOPIC}),(?P<partition>\d+)\] on broker (?P<node>\d+): "
    r"|(?P<cleaner>Cleaner \d+: )"
)
_STATE_CHANGE_TEXT = regex.compile(
    r"Broker (?P<node>\d+) (?=[a-z])|Controller (?P<controller>(?P<node>\d+)) epoch (?P<controller_epoch>\d+) (?=[a-z])"
)
_EMPTY: Mapping[str, Any] = {}


def prefix(message: str, logger: str | None) -> tuple[Mapping[str, Any], str]:
    """What the component prefix of a message names, as columns, and the message without it.

    Raises ValueError when a number in the prefix fits no column.
    """
    if message[:1] == "[":
        end = message.find("]")
        context = _bracketed(message[1:end]) if end > 0 else None
        if context is None:
            return _EMPTY, message
        at = end + 2 if message[end + 1 : end + 2] in (":", ",") else end + 1
        return context, message[at + 1 :] if message[at : at + 1] == " " else message[at:]
    if message[:1] not in ("P", "C", "B"):
        return _EMPTY, message
    expression = _STATE_CHANGE_TEXT if logger == STATE_CHANGE else _TEXT
    found = expression.match(message)
    if found is None:
        return _EMPTY, message
    return _columns(found), message[found.end() :]


@lru_cache(maxsize=1 << 16)
def _bracketed(text: str) -> Mapping[str, Any] | None:
    """Columns of `[text]`; empty for a thread's name; None where the bracket is no prefix but part of the message."""
    found = _CONTEXT.fullmatch(text)
    if found is not None:
        return _columns(found)
    return _EMPTY if _THREAD.fullmatch(text) else None


def _columns(found: regex.Match[str]) -> Mapping[str, Any]:
    return {name: column(name, value) for name, value in found.groupdict().items() if value is not None and name != "cleaner"}
