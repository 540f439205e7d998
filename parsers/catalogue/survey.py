"""Summary of a source: the time it covers, who wrote it, noise in it, unrecognised lines.

Here: the counts, chunk by chunk. Not here: the events (reading) or the use of the summary (parsers.evidence).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime

import regex

from parsers.catalogue.layouts_in_use import LayoutsInUse
from parsers.catalogue.left_out import LeftOut
from parsers.catalogue.line_lengths import LineLengths
from parsers.layouts import LOG4J, LogRecord
from parsers.learning.sample import HEAD
from parsers.matching.text import EXCEPTION, first_noise, line_end, noise_in, text_of, without_quotes
from parsers.patterns.loggers import OF_OTHER_PROCESSES
from parsers.schemas import Row

MAX_SAMPLES = 5
_FRAME = regex.compile(rb"[ \t]{0,20}(?:at |\.\.\. )")
_THROWN_FROM = regex.compile(rb"\r?\n[ \t]{1,20}at [\w$./@-]{1,200}\(")
"""The first frame of a stack trace: the line before is what was thrown."""
REDACTED = "(redacted)"
"""Placeholder for the text of an unrecognised record (forensics.tools.redaction)."""
LAST_LINES = 10_000
"""Lines that are searched backwards for the last record."""
_SHOWN = 200
PASTE = 64 << 10
"""Bytes of a source that may be a paste: what it prints as an error is kept."""
_THROWN = regex.compile(EXCEPTION.decode())
_NODE_NAMED = (
    r"\[(?:[\w, =]*?(?:\b(?:id|nodeId|brokerId|replicaId|controllerId|broker)=| on [Bb]roker )|"
    r"(?:GroupCoordinator|Kafka Server) |KafkaApi-|RemoteLogManager=)(\d{1,9})[\], ]"
)
_NODE = regex.compile(rf"(?m)^\[[^\]\n]{{23}}\] [A-Z]+ +{_NODE_NAMED}".encode())
_NODE_FIRST = regex.compile(_NODE_NAMED)
_THREAD = regex.compile(
    rb"\[(?:kafka|quorum-controller|broker|controller)-(\d{1,9})-(?:raft|metadata|event-handler|lifecycle|to-controller|registration)"
)
"""Threads of KRaft nodes."""


def of_other_process(record: LogRecord) -> bool:
    """Whether another process than the broker wrote the record."""
    return record.logger is not None and record.logger.startswith(OF_OTHER_PROCESSES)


class Survey:
    """The summary of one source."""

    def __init__(self) -> None:
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.last_own: datetime | None = None
        """Time of the last record that no other process wrote."""
        self.utc: bool | None = None
        """Clock of these three."""
        self.nodes: Counter[int] = Counter()
        self.noise = 0
        self.noise_at: int | None = None
        self.noisy = False
        """The last chunk contains noise."""
        self.unrecognised = 0
        self.samples: list[str] = []
        self.hits = 0
        """Lines that contain a literal."""
        self.undated = 0
        """Of these, events and unrecognised records in a known layout, without a time."""
        self.unread = 0
        """Of these, lines that begin a record in no known layout."""
        self.unread_samples: list[str] = []
        self.tail: LogRecord | None = None
        """Last record of the chunks so far, which may go on in the next."""
        self.length = 0
        self.errors: list[str] = []
        """Messages of ERROR and FATAL with their exceptions, in a source of at most PASTE bytes."""
        self.thrown: list[str] = []
        """Its exceptions."""
        self._severe = False
        """The last record so far is an error of which no exception is known."""
        self.lengths = LineLengths()
        self.left_out = LeftOut()

    def chunk(self, data: bytes, layouts: LayoutsInUse, place: Callable[[int], int]) -> None:
        """Adds a chunk; `place` maps a byte of the chunk to the byte of the file."""
        self.noisy = (noise := noise_in(data)) > 0
        if noise:
            self.add_noise(noise, place(first_noise(data)))
        self._count_nodes(data, layouts)
        self.length += len(data)
        self._keep_errors(data, layouts)
        self.lengths.chunk(data, layouts)
        self.left_out.chunk(data)
        if self.first is None:
            self._pass_by(layouts.first_record(data))
        at, ended = len(data), False
        for _ in range(LAST_LINES):
            at = data.rfind(b"\n", 0, max(at - 1, 0)) + 1
            if layouts.begins(data, at):
                record = layouts.record_at(data, at)
                if not ended:
                    self.tail, ended = record, True
                    self._pass_by(record)
                if record is None or not of_other_process(record):
                    self.last_own = record.time if record is not None and record.utc == self.utc else self.last_own
                    return
            if at == 0:
                return

    def add_noise(self, count: int, at: int) -> None:
        """Counts control bytes, the first of which is at this byte of the file."""
        self.noise_at = at if self.noise_at is None else self.noise_at
        self.noise += count

    def leave_unread(self, text: str) -> None:
        """Counts a line in no known layout."""
        self.unread += 1
        if len(self.unread_samples) < MAX_SAMPLES:
            self.unread_samples.append(text[:_SHOWN])

    def unread_told(self) -> str:
        """The number of these lines, in words."""
        lines = "line" if self.unread == 1 else "lines"
        return f"{self.unread} {lines} of Kafka could not be read"

    def _keep_errors(self, data: bytes, layouts: LayoutsInUse) -> None:
        at = 0 if self.length <= PASTE else len(data)
        while at < len(data):
            end = line_end(data, at)
            record = layouts.record_at(data, at) if layouts.begins(data, at) else None
            if record is not None and record.level is not None:
                self._severe = record.level in ("ERROR", "FATAL")
                if self._severe:
                    self.errors.append(_short(record.message))
            elif line := _thrown(data, at, end):
                if self._severe:
                    self.errors[-1], self._severe = f"{self.errors[-1]} {_short(line)}", False
                self.thrown.append(_short(line))
            at = end + 1

    def _count_nodes(self, data: bytes, layouts: LayoutsInUse) -> None:
        self.nodes.update(int(node) for node in _THREAD.findall(data, 0, HEAD))
        if all(layout is LOG4J for layout in layouts.known):
            self.nodes.update(int(node) for node in _NODE.findall(data, 0, HEAD))
            return
        for layout in layouts.known:
            for head in layout.head.finditer(data, 0, HEAD):
                record = layout.read(text_of(data[head.start() : line_end(data, head.start())]))
                if record is not None and (match := _NODE_FIRST.match(record.message)):
                    self.nodes[int(match[1])] += 1

    def _pass_by(self, record: LogRecord | None) -> None:
        """Extends the time range covered. If only some lines are in UTC, the clock of the first line counts for the file."""
        if record is None or record.time is None or self.utc not in (None, record.utc):
            return
        self.utc = record.utc
        self.first = self.first or record.time
        self.last = record.time

    def take_over(self, other: Survey) -> None:
        """Adds the summary of a part of the source to this one."""
        self.hits += other.hits
        self.length += other.length
        self.errors, self.thrown = self.errors + other.errors, self.thrown + other.thrown
        self.undated += other.undated
        self.unread += other.unread
        self.unread_samples = (self.unread_samples + other.unread_samples)[:MAX_SAMPLES]
        self.noise += other.noise
        self.noise_at = other.noise_at if self.noise_at is None else self.noise_at
        self.unrecognised += other.unrecognised
        self.samples = (self.samples + other.samples)[:MAX_SAMPLES]
        self.nodes.update(other.nodes)
        self.lengths.take_over(other.lengths)
        self.left_out.take_over(other.left_out)
        if other.utc is not None and self.utc in (None, other.utc):
            self.utc, self.first, self.last = other.utc, self.first or other.first, other.last
            self.last_own = other.last_own or self.last_own

    def collected(self) -> Row:
        """Fields of schemas.COLLECTED."""
        return {
            "unrecognised": self.unrecognised + self.unread,
            "understood": max(self.hits - self.unread - self.unrecognised, 0),
            "errors": (self.errors or self.thrown)[:MAX_SAMPLES] if self.length <= PASTE else [],
            "samples": (self.samples + self.unread_samples)[:MAX_SAMPLES],
            "first": self.first,
            "last": self.last,
            "last_own": self.last_own,
            "clock": "utc" if self.utc else "line",
            "nodes": sorted(self.nodes, key=lambda node: (-self.nodes[node], node)),
            "cut_at": self.lengths.cut_at,
            **self.left_out.collected(),
        }


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"


def _thrown(data: bytes, at: int, end: int) -> str | None:
    """The line, if it is what was thrown."""
    line = without_quotes(text_of(data[at:end])).strip(" \t`")
    traced = _THROWN_FROM.match(data, end) is not None and not _FRAME.match(data, at)
    return line if _THROWN.match(line) or (line and traced) else None
