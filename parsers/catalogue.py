"""The search for Kafka's lines in a log file: literals first, over whole chunks; expressions only on the lines they hit.

Here: the tuple of all patterns, the walk of a log of any size in bounded memory, and the account of what was not recognised.
Not here: the lines themselves (parsers.patterns), how a record is laid out (parsers.layouts) or which file is a log.

One pass of Aho-Corasick over the raw bytes finds every literal; a line without one costs no Python at all. The names of the
loggers that tell of replication are literals too: a line of theirs that no pattern knows is counted and shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from io import BytesIO
from typing import Any, BinaryIO

import regex
from ahocorasick_rs import BytesAhoCorasick

from parsers.layouts import LOG4J, Layout, Record, prefix, sniff
from parsers.patterns import PATTERNS
from parsers.patterns.loggers import RELEVANT_LOGGERS, TRACED_BY_DEFAULT
from parsers.patterns.pattern import Pattern, check, column
from parsers.schemas import MAX_TEXT, Member, Row, problem

CHUNK = 4 << 20
"""Bytes searched at a time; also the longest line that is looked into as a whole."""
MAX_RECORD = 64 << 10
"""Bytes of a record of several lines that a multi-line pattern gets to see."""
MAX_SAMPLES = 5
LONG_MESSAGE = 2048
"""Characters from which on an expression gets a time limit: no line Kafka writes needs it, a hostile one may."""
_PATIENCE = 5.0
_LAST_LINES = 10_000
_IDENTITY_BYTES = 64 << 10

_NOISE = bytes(set(range(0x20)) - set(b"\t\n\r\x1b"))
_FIRST_NOISE = regex.compile(b"[" + b"".join(b"\\x%02x" % code for code in _NOISE) + b"]")
_NOISE_TEXT = _NOISE.decode() + "\r\ufeff"
_NODE = regex.compile(
    rb"(?m)^\[[^\]\n]{23}\] [A-Z]+ +\[(?:[\w, =]*?(?:\b(?:id|nodeId|brokerId|replicaId|controllerId|broker)=| on [Bb]roker )|"
    rb"(?:GroupCoordinator|Kafka Server) |KafkaApi-)(\d{1,9})[\], ]"
)
_LOGGER_LATER = regex.compile(r"(?m) \((?P<logger>[\w$]+(?:\.[\w$]+)+)\)$")


class _Literals:
    """The automaton over all literals and what each of them stands for."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.patterns = patterns
        by_literal: dict[bytes, list[int]] = {}
        for rank, pattern in enumerate(patterns):
            by_literal.setdefault(pattern.literal.encode(), []).append(rank)
        self.ranks = list(by_literal.values())
        self.logger_names = frozenset(RELEVANT_LOGGERS)
        self.automaton = BytesAhoCorasick([*by_literal, *(f" ({name})".encode() for name in RELEVANT_LOGGERS)])
        self.candidates = lru_cache(maxsize=1 << 14)(self._candidates)

    def find(self, data: bytes) -> list[tuple[int, int, int]]:
        """(literal, start, end) of every occurrence, by end; literals may overlap."""
        return self.automaton.find_matches_as_indexes(data, overlapping=True)

    def _candidates(self, hits: tuple[int, ...]) -> tuple[Pattern, ...]:
        """Patterns to try on a line with these literals, in the order of the catalogue."""
        ranks = {rank for hit in hits if hit < len(self.ranks) for rank in self.ranks[hit]}
        return tuple(self.patterns[rank] for rank in sorted(ranks))


_LITERALS = _Literals(PATTERNS)


def read_log(stream: BinaryIO, member: Member, kind: str) -> Iterator[Row]:
    """Events of one log file in file order, then one `source` row about the file as a whole.

    `byte` counts in the stream as given (decompressed), `line` from 1. `kind` is the name of the source's kind, kept in
    `collected`. Damage gives `problem` rows: 'out-of-range', 'long-line', 'slow-line', 'binary-noise', 'read-error'.
    """
    return _Reading(member, kind).rows(stream)


def search(line: str) -> Row | None:
    """The first event of one record (its first line and those after it), 'irrelevant' ones included; None if unknown."""
    return next(iter(search_all(line)), None)


def search_all(line: str) -> list[Row]:
    """All events of one record, 'irrelevant' ones included."""
    reading = _Reading(Member("", None, None), "", irrelevant=True)
    return [row for row in reading.rows(BytesIO(line.encode())) if row["event"] != "source"]


def matching(line: str) -> list[Pattern]:
    """Every pattern whose literal and expression fit the record; more than one is a fault of the catalogue."""
    data = line.encode()
    hits = tuple(hit for hit, _, _ in _LITERALS.find(data))
    first, _, rest = line.partition("\n")
    record = LOG4J.read(first)
    return [p for p in _LITERALS.candidates(hits) if _matches(p, record, first, rest)]


def _matches(pattern: Pattern, record: Record | None, first: str, rest: str) -> bool:
    if record is not None and pattern.multiline:
        message, logger = _whole_message(record, rest)
    elif record is not None:
        message, logger = record.message, record.logger
    else:
        message, logger = first, None
    return _apply(pattern, prefix(message, logger)[1], logger) is not None


def _apply(pattern: Pattern, message: str, logger: str | None) -> regex.Match[str] | None:
    if pattern.loggers and (logger or "").rstrip("$") not in pattern.loggers and logger not in pattern.loggers:
        return None
    if len(message) > LONG_MESSAGE:
        return pattern.compiled.fullmatch(message, timeout=_PATIENCE)
    return pattern.compiled.fullmatch(message)


def _whole_message(record: Record, rest: str) -> tuple[str, str | None]:
    """Message and logger of a record of several lines; the logger may stand at the end of a later line than the first."""
    if not rest:
        return record.message, record.logger
    if record.logger is not None:
        return f"{record.message}\n{rest}", record.logger
    found = _LOGGER_LATER.search(rest)
    if found is None:
        return f"{record.message}\n{rest}", None
    return f"{record.message}\n{rest[: found.start()]}{rest[found.end() :]}", found["logger"]


def _leading_noise(line: bytes) -> int:
    return len(line) - len(line.lstrip(_NOISE))


@dataclass(slots=True)
class _Seen:
    """What is looked at: one line, or a record of several."""

    text: str
    message: str
    logger: str | None
    begin: int
    lines_before: int = 0
    """Lines between the record's first one and the one the literal was found in."""
    noise: int = 0
    """Control bytes in front of it."""


class _Reading:
    """The state of one walk through one file."""

    def __init__(self, member: Member, kind: str, *, irrelevant: bool = False) -> None:
        self.member = member
        self.kind = kind
        self.irrelevant = irrelevant
        self.layout: Layout = LOG4J
        self.offset = 0  # of the chunk's first byte
        self.line = 1  # number of the chunk's first line
        self.unended = False
        self.cut_short = False
        self.unrecognised = 0
        self.samples: list[str] = []
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.nodes: Counter[int] = Counter()
        self.noise = 0
        self.noise_at: int | None = None
        self.problem: str | None = None
        self.slow = False
        self.tail: Record | None = None  # last record of the chunk, which may go on in the next
        self.owner: Record | None = None  # record the lines looked at last belong to
        self.owner_at = -1  # its place in the chunk; -1 where it began in an earlier one
        self.known = 0  # up to here in the chunk `owner` is known
        self.told = False  # a pattern of several lines has told all of `owner`

    def rows(self, stream: BinaryIO) -> Iterator[Row]:
        for data in self._chunks(stream):
            if self.offset == 0:
                self.layout = sniff(data[:_IDENTITY_BYTES])
            self._survey(data)
            yield from self._search(data)
            if self.cut_short:
                text = f"a line longer than {CHUNK} bytes; the rest of it was not read"
                yield self._problem("long-line", text, _Seen("", "", None, 0))
                self.cut_short = False
            self.owner = self.tail
            self.offset += len(data)
            self.unended = not data.endswith(b"\n")
        if self.noise:
            text = f"{self.noise} control bytes (NUL and the like), the first at byte {self.noise_at}"
            yield {**problem("binary-noise", text, byte=self.noise_at), "source": self.member.path}
        if self.problem:
            yield {**problem("read-error", self.problem, byte=self.offset), "source": self.member.path}
        yield self._source()

    def _source(self) -> Row:
        nodes = sorted(self.nodes, key=lambda node: (-self.nodes[node], node))
        collected = {
            "kind": self.kind,
            "bytes": self.offset,
            "modified": self.member.modified,
            "lines": self.line - 1 + self.unended,
            "unrecognised": self.unrecognised,
            "samples": self.samples,
            "first": self.first,
            "last": self.last,
            "nodes": nodes,
            "problem": self.problem,
        }
        return {"source": self.member.path, "event": "source", "pattern": "log", "collected": collected}

    def _chunks(self, stream: BinaryIO) -> Iterator[bytes]:
        """Pieces of whole lines, where possible of whole records; a line longer than CHUNK comes as its first CHUNK bytes."""
        pending = b""
        while block := self._block(stream, pending):
            pending = block
            if len(pending) < CHUNK:
                break
            cut = self._cut(pending)
            if cut:
                yield pending[:cut]
                pending = pending[cut:]
            else:
                self.cut_short = True
                yield pending[:CHUNK]
                pending = self._skip_line(stream, pending[CHUNK:])
        if pending:
            yield pending

    def _block(self, stream: BinaryIO, pending: bytes) -> bytes:
        """What is pending and as much more as makes a chunk; less only at the end. Decompressors give small pieces."""
        pieces, size = [pending], len(pending)
        while size < CHUNK and (piece := self._read(stream, CHUNK)):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def _read(self, stream: BinaryIO, size: int) -> bytes:
        if self.problem:
            return b""
        try:
            return stream.read(size)
        except Exception as error:  # whatever the container's decompressor raises on damaged data
            self.problem = f"reading stopped: {type(error).__name__}: {error}"
            return b""

    def _cut(self, data: bytes) -> int:
        """Where the last record begins, or else after the last whole line; 0 where there is none."""
        end = data.rfind(b"\n") + 1
        at = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
        while at > 0 and end - at <= MAX_RECORD:
            if self.layout.begins(data, at):
                return at
            at = data.rfind(b"\n", 0, at - 1) + 1
        return end

    def _skip_line(self, stream: BinaryIO, pending: bytes) -> bytes:
        """Drops the rest of a line that is too long, newline included."""
        while (end := pending.find(b"\n")) < 0:
            self.offset += len(pending)
            pending = self._read(stream, CHUNK)
            if not pending:
                return b""
        self.offset += end + 1
        self.line += 1
        self.unended = False
        return pending[end + 1 :]

    def _survey(self, data: bytes) -> None:
        """Noise, the first and the last time, and who wrote the chunk by a look at its beginning."""
        noise = len(data) - len(data.translate(None, _NOISE))
        if noise and self.noise_at is None:
            found = _FIRST_NOISE.search(data)
            self.noise_at = self.offset + found.start() if found else self.offset
        self.noise += noise
        self.nodes.update(int(node) for node in _NODE.findall(data, 0, _IDENTITY_BYTES))
        if self.first is None and (head := self.layout.head.search(data)):
            first = self._record_at(data, head.start())
            self.first = first.time if first else None
        at = len(data)
        for _ in range(_LAST_LINES):
            at = data.rfind(b"\n", 0, max(at - 1, 0)) + 1
            if self.layout.begins(data, at):
                self.tail = self._record_at(data, at)
                self.last = (self.tail.time if self.tail else None) or self.last
                return
            if at == 0:
                return

    def _record_at(self, data: bytes, at: int) -> Record | None:
        return self.layout.read(self._text(data, at, self._line_end(data, at)))

    def _line_end(self, data: bytes, at: int) -> int:
        end = data.find(b"\n", at)
        return len(data) if end < 0 else end

    def _text(self, data: bytes, begin: int, end: int) -> str:
        return data[begin:end].decode("utf-8", "replace").strip(_NOISE_TEXT)

    def _search(self, data: bytes) -> Iterator[Row]:
        hits = _LITERALS.find(data)
        self.owner_at, self.known = -1, 0
        at, count, floor = 0, len(hits), 0
        while at < count:
            start = hits[at][1]
            begin = data.rfind(b"\n", floor, start) + 1 or floor
            end = self._line_end(data, start)
            self.line += data.count(b"\n", floor, begin)
            after = at + 1
            while after < count and hits[after][1] < end:
                after += 1
            yield from self._look(data, begin, end, tuple([hit[0] for hit in hits[at:after]]))
            at, floor = after, end
        self.line += data.count(b"\n", floor)

    def _look(self, data: bytes, begin: int, end: int, ids: tuple[int, ...]) -> Iterator[Row]:
        """Events of the line at [begin, end), which holds these literals."""
        raw = data[begin:end]
        text = raw.decode("utf-8", "replace").strip(_NOISE_TEXT)
        noise = _leading_noise(raw) if self.noise else 0
        record = self.layout.read(text)
        if record is None:
            self._find_owner(data, begin)
            if self.told:
                return
            seen = _Seen(text, text.strip(), None, begin, noise=noise)
        else:
            self.owner, self.owner_at, self.told = record, begin, False
            seen = _Seen(text, record.message, record.logger, begin, noise=noise)
        self.known = end
        if len(text) > LONG_MESSAGE and self.slow:
            return
        try:
            yield from self._try(data, seen, end, ids)
        except TimeoutError:
            self.slow = True
            yield self._problem("slow-line", "a very long line could not be read in time; such lines are left out from here on", seen)
        except ValueError as error:
            yield self._problem("out-of-range", f"{error}: {text}", seen)

    def _try(self, data: bytes, seen: _Seen, end: int, ids: tuple[int, ...]) -> Iterator[Row]:
        context, message = prefix(seen.message, seen.logger)
        if "node" in context:
            self.nodes[context["node"]] += 1
        for pattern in _LITERALS.candidates(ids):
            if pattern.multiline:
                whole = self._whole(data, seen, end)
                found = _apply(pattern, prefix(whole.message, whole.logger)[1], whole.logger)
                if found is not None:
                    self.told = True
                    yield from self._events(pattern, found, context, whole)
                    return
            else:
                found = _apply(pattern, message, seen.logger)
                if found is not None:
                    yield from self._events(pattern, found, context, seen)
                    return
        if max(ids) >= len(_LITERALS.ranks):
            self._count_unrecognised(seen)

    def _events(self, pattern: Pattern, found: regex.Match[str], context: Mapping[str, Any], seen: _Seen) -> Iterable[Row]:
        if pattern.event == "irrelevant" and not self.irrelevant:
            return ()
        row: Row = {
            "source": self.member.path,
            "line": self.line - seen.lines_before,
            "byte": self._byte(seen),
            "time": self.owner.time if self.owner else None,
            "clock": "line",
            "event": pattern.event,
            "pattern": pattern.name,
            "level": self.owner.level if self.owner else None,
            "text": seen.text[:MAX_TEXT],
            **context,
        }
        for name in pattern.columns:
            value = found[name]
            if value is not None:
                row[name] = column(name, value)
        row.update(pattern.fixed)
        if pattern.explode is None:
            return (row,)
        row["_groups"] = found.groupdict()
        rows = [check(made) for made in pattern.explode(row)]
        for made in rows:
            made.pop("_groups", None)
        return rows

    def _byte(self, seen: _Seen) -> int:
        return self.offset + seen.begin + seen.noise

    def _problem(self, reason: str, text: str, seen: _Seen) -> Row:
        return {**problem(reason, text, line=self.line, byte=self._byte(seen)), "source": self.member.path}

    def _find_owner(self, data: bytes, begin: int) -> None:
        """The record a line that begins none belongs to, looked for backwards as far as it is not known yet."""
        at = begin
        while at > self.known:
            at = data.rfind(b"\n", self.known, at - 1) + 1 or self.known
            if self.layout.begins(data, at):
                self.owner = self._record_at(data, at)
                self.owner_at, self.told = at, False
                return

    def _whole(self, data: bytes, seen: _Seen, end: int) -> _Seen:
        """All lines of the record `seen` is in, as far as they lie in this chunk and within MAX_RECORD."""
        if self.owner is None or self.owner_at < 0:
            return seen
        begin, at = self.owner_at, end + 1
        limit = min(len(data), begin + MAX_RECORD)
        while at < limit and not self.layout.begins(data, at):
            end = self._line_end(data, at)
            at = end + 1
        first_end = self._line_end(data, begin)
        rest = "\n".join(self._text(data, first_end + 1, end).splitlines()) if end > first_end else ""
        message, logger = _whole_message(self.owner, rest)
        text = self._text(data, begin, min(end, begin + 4 * MAX_TEXT))
        noise = _leading_noise(data[begin:first_end]) if self.noise else 0
        return _Seen(text, message, logger, begin, lines_before=data.count(b"\n", begin, seen.begin), noise=noise)

    def _count_unrecognised(self, seen: _Seen) -> None:
        logger, level = seen.logger, self.owner.level if self.owner else "INFO"
        if logger is None:
            logger = next((name for name in RELEVANT_LOGGERS if seen.text.endswith(f" ({name})")), None)
        if logger is None or logger not in _LITERALS.logger_names:
            return
        if level in ("TRACE", "DEBUG") and not logger.startswith(TRACED_BY_DEFAULT):
            return
        self.unrecognised += 1
        if len(self.samples) < MAX_SAMPLES:
            self.samples.append(seen.text[:MAX_TEXT])
